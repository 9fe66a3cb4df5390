/* A client from its birth to its end. */
#include "systems/autohand/client_parts.h"

dx_autohand_client_config dx_autohand_client_defaults(const char *const *argv) {
    dx_autohand_client_config config = {
        .child = dx_child_defaults(DX_FRAMING_LINE, argv),
        .start_ms = 30000,
        .call_ms = 30000,
        .silence_ms = DX_NEVER,
        .batch_max = (size_t)64 << 20,
    };
    config.child.ladder.close_ms = 3000; /* agents take up to 2.5 s to close a turn */
    config.child.ladder.term_ms = 1000;
    return config;
}

/* Small things. */

yyjson_alc dx__autohand_client_alc(const dx_autohand_client *client) {
    const dx_allocator *alloc = &client->alloc;
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

void dx__autohand_client_set_error(dx_error *error, dx_fault fault, const char *phrase) {
    *error = (dx_error){.fault = fault};
    dx__say_str(error->phrase, sizeof error->phrase, phrase);
}

bool dx__autohand_client_copy(dx_autohand_client *client, char **place, dx_text text) {
    char *copy = dx__text_copy(&client->alloc, text);
    if (!copy)
        return false;
    dx__free(&client->alloc, *place);
    *place = copy;
    return true;
}

/* The end of its memory. */

static void destroy(dx_autohand_client *client) {
    dx_allocator alloc = client->alloc;
    client->freed = true;
    client->child = dx_child_free(client->child);
    dx_timer_free(client->starting);
    dx_timer_free(client->settle);
    dx_timer_free(client->silence);
    dx__autohand_client_calls_free(client);
    dx__autohand_client_questions_free(client);
    dx__autohand_client_batch_free(client);
    dx__autohand_client_turn_free(client);
    dx__free(&alloc, client->last_turn);
    dx__free(&alloc, client->last_message);
    dx_protocol_free(client->protocol);
    dx__free(&alloc, client);
}

void dx__autohand_client_enter(dx_autohand_client *client) {
    client->depth++;
}

void dx__autohand_client_leave(dx_autohand_client *client) {
    if (--client->depth == 0 && client->freed)
        destroy(client);
}

dx_autohand_client *dx_autohand_client_free(dx_autohand_client *client) {
    if (!client || client->freed)
        return NULL;
    client->freed = true;
    if (client->depth == 0)
        destroy(client);
    return NULL;
}

/* Birth. */

static dx_status open_protocol(dx_autohand_client *client) {
    dx_protocol_config config = dx_protocol_defaults();
    config.allocator = &client->alloc;
    return dx_protocol_open(dx_str("autohand"), &config, &client->protocol, NULL);
}

static void on_starting(dx_timer *timer, void *user) {
    dx_autohand_client *client = user;
    (void)timer;
    dx__autohand_client_fail(client, DX_FAULT_TIMEOUT,
                             "timed out waiting for agentStart from the agent");
}

static dx_status start(dx_autohand_client *client, dx_error *reterr) {
    dx_status status = open_protocol(client);
    if (status == DX_OK)
        status = dx_timer_new(client->loop, on_starting, client, &client->starting);
    if (status == DX_OK)
        status = dx_timer_new(client->loop, dx__autohand_client_on_settle, client, &client->settle);
    if (status == DX_OK)
        status =
            dx_timer_new(client->loop, dx__autohand_client_on_silence, client, &client->silence);
    if (status != DX_OK)
        return status;
    dx_child_config child = dx__autohand_client_child(client);
    status = dx_child_start(client->loop, &child, &client->child, reterr);
    if (status == DX_OK)
        dx_timer_set(client->starting, client->config.start_ms);
    return status;
}

static void set_defaults(dx_autohand_client_config *config) {
    const dx_autohand_client_config usual = dx_autohand_client_defaults(NULL);
    config->start_ms = config->start_ms ? config->start_ms : usual.start_ms;
    config->call_ms = config->call_ms ? config->call_ms : usual.call_ms;
    config->silence_ms = config->silence_ms ? config->silence_ms : usual.silence_ms;
    config->batch_max = config->batch_max ? config->batch_max : usual.batch_max;
}

dx_status dx_autohand_client_start(dx_loop *loop, const dx_autohand_client_config *config,
                                   dx_autohand_client **ret_client, dx_error *reterr) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_buf buf; /* which knows what malloc() is */
    dx_buf_init(&buf, 0, config->child.link.peer.allocator);
    if (!config->child.argv || !config->child.argv[0]) {
        if (reterr)
            dx__autohand_client_set_error(reterr, DX_FAULT_START,
                                          "the command that starts the agent is missing");
        return DX_ERR_INVALID;
    }
    dx_autohand_client *client = dx__malloc(&buf.alloc, sizeof *client);
    if (!client) {
        if (reterr)
            dx__autohand_client_set_error(reterr, DX_FAULT_START, "out of memory");
        return DX_ERR_NOMEM;
    }
    *client = (dx_autohand_client){.config = *config, .alloc = buf.alloc, .loop = loop};
    set_defaults(&client->config);
    dx_status status = start(client, &error);
    if (status == DX_OK) {
        *ret_client = client;
        return DX_OK;
    }
    if (error.fault == DX_FAULT_NONE)
        dx__autohand_client_set_error(&error, DX_FAULT_START, "out of memory");
    if (reterr)
        *reterr = error;
    destroy(client);
    return status;
}

/* The end. */

void dx_autohand_client_stop(dx_autohand_client *client) {
    if (client->stopping || client->gone || client->freed)
        return;
    client->stopping = true;
    dx_child_stop(client->child);
}

void dx__autohand_client_fail(dx_autohand_client *client, dx_fault fault, const char *phrase) {
    if (client->error.fault == DX_FAULT_NONE)
        dx__autohand_client_set_error(&client->error, fault, phrase);
    dx_autohand_client_stop(client);
}

void dx__autohand_client_no_memory(dx_autohand_client *client) {
    dx__autohand_client_fail(client, DX_FAULT_SYSTEM, "out of memory");
}

/* What is known of it. */

void *dx_autohand_client_user(const dx_autohand_client *client) {
    return client->config.user;
}

dx_link *dx_autohand_client_link(const dx_autohand_client *client) {
    return client->child ? dx_child_link(client->child) : NULL;
}
