/* Clients of a manager's server, in the same loop. */
#ifndef TESTS_FINECODE_SERVER_TALK_H
#define TESTS_FINECODE_SERVER_TALK_H

#include "finecode/manager.h"

#include "systems/finecode/server_parts.h"

struct client {
    struct world *world;
    dx_link *link;
    struct book heard;   /* "METHOD params" of notifications and requests */
    struct book answers; /* "TAG result" or "TAG error" as JSON */
    size_t count;        /* of answers */
    const char *edited;  /* the answer to workspace/applyEdit; NULL: none comes */
    dx_event *unanswered;
    bool closed;
};

struct tag {
    struct client *client;
    char name[16];
};

static inline void client_event(dx_link *link, const dx_event *event, void *user) {
    struct client *client = user;
    char method[64] = "";
    dx__say(method, sizeof method, event->method);
    note(&client->heard, method, "", event->body);
    if (event->kind != DX_EVENT_REQUEST)
        return;
    if (client->edited)
        (void)dx_link_reply(link, event->request,
                            dx_json_text(client->edited, strlen(client->edited)));
    else
        assert_int_equal(dx_link_keep(link, &client->unanswered), DX_OK);
}

static inline void client_closed(dx_link *link, const dx_error *why, void *user) {
    struct client *client = user;
    (void)link;
    (void)why;
    client->closed = true;
}

static inline struct client *client_new(struct world *world, const dx_finecode_server *server) {
    struct client *client = calloc(1, sizeof *client);
    assert_non_null(client);
    client->world = world;
    char address[32];
    (void)snprintf(address, sizeof address, "tcp:%u", dx_finecode_server_port(server));
    dx_link_config config = dx_link_defaults(DX_FRAMING_HEADER, DX_SIDE_HOST);
    config.on_event = client_event;
    config.on_closed = client_closed;
    config.user = client;
    config.peer.cancel = (dx_cancel_style){.method = "$/cancelRequest",
                                           .id_member = "id",
                                           .answered = 1,
                                           .code = DX_FINECODE_CANCELLED,
                                           .grace_ms = 5000};
    assert_int_equal(dx_link_connect(world->loop, address, &config, &client->link, NULL), DX_OK);
    return client;
}

static inline void client_free(struct client *client) {
    (void)dx_link_free(client->link);
    (void)dx_event_free(client->unanswered);
    free(client);
}

static inline void client_done(dx_link *link, const dx_event *event, void *user) {
    struct tag *tag = user;
    (void)link;
    note(&tag->client->answers, tag->name, "", event->body.at ? event->body : dx_str("none"));
    tag->client->count++;
    free(tag);
}

/* Asks; the answer gets that name. */
static inline dx_call client_ask(struct client *client, const char *name, const char *method,
                                 const char *params) {
    struct tag *tag = calloc(1, sizeof *tag);
    assert_non_null(tag);
    tag->client = client;
    (void)snprintf(tag->name, sizeof tag->name, "%s", name);
    dx_link_call_options options = {.peer = {.user = tag}, .on_done = client_done};
    dx_call made = 0;
    assert_int_equal(dx_link_call(client->link, dx_str(method),
                                  params ? dx_json_text(params, strlen(params)) : dx_json_none(),
                                  &options, &made),
                     DX_OK);
    return made;
}

static inline void client_tell(struct client *client, const char *method, const char *params) {
    assert_int_equal(
        dx_link_notify(client->link, dx_str(method), dx_json_text(params, strlen(params))), DX_OK);
}

/* Asks, and waits for the answer: its JSON. %s in the params is the folder. */
static inline const char *client_get(struct client *client, const char *method,
                                     const char *params) {
    static char text[8192];
    size_t used = 0;
    for (const char *at = params; at && *at; at++) {
        bool folder = at[0] == '%' && at[1] == 's';
        size_t len = folder ? strlen(client->world->folder) : 1;
        assert_true(used + len < sizeof text);
        memcpy(text + used, folder ? client->world->folder : at, len);
        used += len;
        at += folder;
    }
    text[used] = '\0';
    size_t before = client->answers.len;
    size_t count = client->count;
    (void)client_ask(client, "-", method, params ? text : NULL);
    WAIT(client->world, client->count > count);
    return client->answers.text + before + 2;
}

static inline void client_gets(struct client *client, const char *method, const char *params,
                               const char *part) {
    must_have(client_get(client, method, params), part);
}

/* Turns for a while. */
static inline void linger(struct world *world, uint64_t ms) {
    for (uint64_t end = now_ms() + ms; now_ms() < end;)
        turn(world, 5);
}

#endif
