/* A client from its birth to its end. */
#include "systems/mcp/client_parts.h"

#include <string.h>

dx_mcp_client_config dx_mcp_client_defaults(const char *name, const char *version) {
    return (dx_mcp_client_config){
        .name = name,
        .version = version,
        .in = -1,
        .out = -1,
        .ladder = {.farewell_ms = 2000, .close_ms = 2000, .term_ms = 2000},
        .errors_max = (size_t)64 << 10,
        .ids = DX_IDS_RANDOM,
        .start_ms = 30000,
        .probe_ms = 10000,
        .timeout_ms = 30000,
        .total_ms = DX_NEVER,
        .rounds_max = 16,
        .pages_max = 10000,
        .message_max = (size_t)64 << 20,
    };
}

/* The end of its memory. */

static void free_texts(dx_mcp_client *client) {
    const dx_mcp_client_config *config = &client->config;
    const void *texts[] = {config->name, config->version, config->title,   config->argv,
                           config->env,  config->cwd,     config->address, config->revision};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        dx__free(&client->alloc, (void *)(uintptr_t)texts[i]);
}

/* The link goes first, so that what is still kept of it is given back in silence; the protocols go
 * last, since all of that refers to them. */
static void destroy(dx_mcp_client *client) {
    dx_allocator alloc = client->alloc;
    client->freed = true;
    dx__mcp_client_probe_end(client);
    client->child = dx_child_free(client->child);
    client->link = dx_link_free(client->link);
    dx_timer_free(client->timer);
    dx__mcp_client_asks *asks[] = {&client->asks, &client->ended, &client->orphans};
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        while (asks[i]->first)
            dx__mcp_client_ask_free(asks[i]->first);
    while (client->questions)
        dx__mcp_client_question_free(client->questions);
    dx__mcp_client_duties_free(client);
    dx__mcp_client_listens_free(client);
    dx__mcp_client_roots_free(client);
    dx_event_free(client->facts);
    for (size_t i = 0; i < DX__MCP_REVISIONS; i++)
        dx_protocol_free(client->protocols[i]);
    dx_protocol_free(client->either);
    free_texts(client);
    dx__free(&alloc, client->slots);
    dx__free(&alloc, client);
}

void dx__mcp_client_enter(dx_mcp_client *client) {
    client->depth++;
}

void dx__mcp_client_leave(dx_mcp_client *client) {
    dx_link *link = dx__mcp_client_link(client);
    if (link)
        client->stats = dx_link_statistics(link);
    if (--client->depth == 0 && client->freed)
        destroy(client);
}

dx_mcp_client *dx_mcp_client_free(dx_mcp_client *client) {
    if (!client || client->freed)
        return NULL;
    client->freed = true;
    if (client->depth == 0)
        destroy(client);
    return NULL;
}

/* Birth. */

static dx_status invalid(dx_error *reterr, const char *phrase, const char *what) {
    if (reterr)
        dx__mcp_client_error(reterr, DX_FAULT_START, phrase, dx_str(what));
    return DX_ERR_INVALID;
}

static dx_status check(const dx_mcp_client_config *config, dx_error *reterr) {
    int places = (config->argv && config->argv[0]) + (config->address != NULL) +
                 (config->in >= 0 && config->out >= 0);
    int revision = dx__mcp_client_revision_of(dx_str(config->revision));
    if (!config->name || !config->version)
        return invalid(reterr, "a client needs a name and a version", "");
    if (places != 1)
        return invalid(reterr,
                       "a client needs one server: a program, an address or file descriptors", "");
    if (config->revision && revision == DX__MCP_UNKNOWN)
        return invalid(reterr, "unsupported protocol revision: ", config->revision);
    if (config->revision && config->mode != DX_MCP_AUTO &&
        (revision == DX__MCP_2026_07_28) != (config->mode == DX_MCP_MODERN))
        return invalid(reterr, "this protocol revision does not belong to the chosen mode: ",
                       config->revision);
    if (!config->message_max || config->message_max >= UINT32_MAX)
        return invalid(reterr, "message_max is out of range", "");
    return DX_OK;
}

static bool copy(const dx_mcp_client *client, const char **text) {
    if (*text)
        *text = dx__text_copy(&client->alloc, dx_str(*text));
    return *text;
}

/* What can't be copied becomes NULL, so that the rest can be given back. */
static dx_status copy_texts(dx_mcp_client *client) {
    dx_mcp_client_config *config = &client->config;
    const dx_mcp_client_config given = *config;
    const char **texts[] = {&config->name, &config->version, &config->title,
                            &config->cwd,  &config->address, &config->revision};
    bool done = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        done = (!*texts[i] || copy(client, texts[i])) && done;
    if (given.argv)
        config->argv = dx__mcp_client_copy_list(&client->alloc, given.argv);
    if (given.env)
        config->env = dx__mcp_client_copy_list(&client->alloc, given.env);
    done = done && !config->argv == !given.argv && !config->env == !given.env;
    config->ladder.farewell_call = config->ladder.farewell_notify = NULL;
    config->ladder.farewell_params = NULL;
    return done ? DX_OK : DX_ERR_NOMEM;
}

static void on_time(dx_timer *timer, void *user) {
    dx_mcp_client *client = user;
    (void)timer;
    dx__mcp_client_enter(client);
    if (!client->freed)
        dx__mcp_client_ask_settle(client);
    if (!client->freed && client->phase == DX__MCP_CLOSING && !client->child && !client->link)
        dx__mcp_client_over(client, NULL);
    dx__mcp_client_leave(client);
}

void dx__mcp_client_soon(dx_mcp_client *client) {
    dx_timer_set(client->timer, 0);
}

static void set_defaults(dx_mcp_client *client) {
    dx_mcp_client_config *config = &client->config;
    config->timeout_ms = config->timeout_ms ? config->timeout_ms : 30000;
    config->start_ms = config->start_ms ? config->start_ms : 30000;
    config->probe_ms = config->probe_ms ? config->probe_ms : 10000;
    config->total_ms = config->total_ms ? config->total_ms : DX_NEVER;
    client->modern = config->mode == DX_MCP_MODERN;
    client->revision = DX__MCP_UNKNOWN;
    client->wanted = client->modern ? DX__MCP_2026_07_28 : DX__MCP_2025_11_25;
    int revision = dx__mcp_client_revision_of(dx_str(config->revision));
    if (revision != DX__MCP_UNKNOWN)
        client->wanted = revision;
}

dx_status dx_mcp_client_open(dx_loop *loop, const dx_mcp_client_config *config,
                             dx_mcp_client **ret_client, dx_error *reterr) {
    dx_error error = {0};
    dx_buf buf; /* which knows what malloc() is */
    dx_buf_init(&buf, 0, config->allocator);
    dx_status status = check(config, reterr);
    if (status != DX_OK)
        return status;
    dx_mcp_client *client = dx__malloc(&buf.alloc, sizeof *client);
    if (!client)
        return DX_ERR_NOMEM;
    *client = (dx_mcp_client){.config = *config, .alloc = buf.alloc, .loop = loop};
    client->config.allocator = &client->alloc;
    client->depth = 1; /* who frees it in on_traffic, which may come already, frees it below */
    status = copy_texts(client);
    set_defaults(client);
    if (status == DX_OK)
        status = dx_timer_new(loop, on_time, client, &client->timer);
    if (status == DX_OK)
        status = config->mode == DX_MCP_AUTO ? dx__mcp_client_probe(client, &error)
                                             : dx__mcp_client_start(client, &error);
    if (status == DX_OK) {
        if (config->in >= 0 && config->out >= 0)
            dx__mcp_client_close_given(config->in, config->out);
        *ret_client = client->freed ? NULL : client;
        dx__mcp_client_leave(client);
        return DX_OK;
    }
    if (reterr && error.fault == DX_FAULT_NONE)
        dx__mcp_client_error(&error, DX_FAULT_START,
                             "cannot start the client: ", dx_str(dx_status_name(status)));
    if (reterr)
        *reterr = error;
    destroy(client);
    return status;
}

/* The end of the conversation. */

void dx_mcp_client_close(dx_mcp_client *client) {
    bool was_ready = client->phase == DX__MCP_READY;
    if (client->phase == DX__MCP_OVER || client->freed)
        return;
    client->by_us = true;
    if (client->phase == DX__MCP_CLOSING)
        return;
    dx__mcp_client_enter(client);
    if (client->phase == DX__MCP_PROBING)
        dx__mcp_client_probe_end(client);
    if (was_ready)
        (void)dx_mcp_client_cancel_all(client, dx_str("client closed"), NULL, 0, NULL);
    client->phase = DX__MCP_CLOSING;
    dx__mcp_client_questions_end(client);
    dx__mcp_client_hang_up(client);
    dx__mcp_client_leave(client);
}

void dx__mcp_client_lose(dx_mcp_client *client) {
    dx_event lost = {.kind = DX_EVENT_DONE, .outcome = DX_OUTCOME_LOST, .error = client->error};
    if (lost.error.fault == DX_FAULT_NONE)
        dx__mcp_client_error(&lost.error, DX_FAULT_ENDED,
                             "the connection closed before the response arrived", dx_str(""));
    dx__mcp_client_ask_settle(client);
    while (client->asks.first && !client->freed)
        dx__mcp_client_ask_done(client->asks.first, &lost);
}

void dx__mcp_client_over(dx_mcp_client *client, const dx_gone *gone) {
    if (client->phase == DX__MCP_OVER)
        return;
    client->phase = DX__MCP_OVER;
    if (client->error.fault == DX_FAULT_NONE && gone && !client->by_us)
        client->error = gone->error;
    if (client->error.fault == DX_FAULT_NONE && !client->was_ready && !client->by_us)
        dx__mcp_client_error(&client->error, DX_FAULT_ENDED,
                             "the server exited before it was ready", dx_str(""));
    dx__mcp_client_lose(client);
    dx__mcp_client_questions_end(client);
    dx__mcp_client_duties_free(client);
    dx_mcp_end end = {.by_us = client->by_us,
                      .was_ready = client->was_ready,
                      .no_revision = client->no_revision,
                      .gone = gone,
                      .error = client->error,
                      .refused = client->refused};
    if (!client->freed && client->config.on_closed)
        client->config.on_closed(client, &end, client->config.user);
}

/* What is known of it. */

void *dx_mcp_client_user(const dx_mcp_client *client) {
    return client->config.user;
}

const char *dx_mcp_client_revision(const dx_mcp_client *client) {
    return client->was_ready ? dx_mcp_revision((size_t)client->revision) : NULL;
}

int dx_mcp_client_is_modern(const dx_mcp_client *client) {
    return client->was_ready && client->modern;
}

yyjson_val *dx_mcp_client_server(const dx_mcp_client *client) {
    if (!client->facts)
        return NULL;
    if (!client->modern)
        return yyjson_obj_get(client->facts->value, "serverInfo");
    return yyjson_obj_get(yyjson_obj_get(client->facts->value, "_meta"),
                          "io.modelcontextprotocol/serverInfo");
}

yyjson_val *dx_mcp_client_capabilities(const dx_mcp_client *client) {
    return client->facts ? yyjson_obj_get(client->facts->value, "capabilities") : NULL;
}

dx_text dx_mcp_client_instructions(const dx_mcp_client *client) {
    return client->facts ? dx__mcp_client_string(client->facts->value, "instructions")
                         : dx_str(NULL);
}

const dx_event *dx_mcp_client_hello(const dx_mcp_client *client) {
    return client->facts;
}

dx_peer_stats dx_mcp_client_statistics(const dx_mcp_client *client) {
    const dx_link *link = dx__mcp_client_link(client);
    return link ? dx_link_statistics(link) : client->stats;
}

const char *dx_mcp_client_why(const dx_mcp_client *client) {
    return client->why;
}
