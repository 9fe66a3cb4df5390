#include "cli/run/relay.h"

#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A response of the peer with its envelope. */
enum { MESSAGE_MAX = (64 << 20) + 4096 };

/* Progress tokens. */

/* The member of `params` at a JSON Pointer without escapes; absent if there is none. */
static dx_text member_at(dx_text params, const char *pointer) {
    while (params.at && *pointer == '/') {
        size_t len = strcspn(++pointer, "/");
        params = dx_rpc_member(params, (dx_text){pointer, len});
        pointer += len;
    }
    return params;
}

/* The progress token that the client wants to hear of; absent if there is none. */
static dx_text token_of(const dx_protocol_facts *facts, dx_text params) {
    for (const char *const *place = facts->progress_places; place && *place && params.at; place++) {
        dx_text token = member_at(params, *place);
        bool is_string = token.len > 1 && token.at[0] == '"';
        bool is_number =
            token.len && (token.at[0] == '-' || (token.at[0] >= '0' && token.at[0] <= '9'));
        if (is_string || is_number)
            return token;
    }
    return dx_str(NULL);
}

/* A copy of `whole` with `with` instead of `part`, which is a part of it. */
static char *replace(dx_text whole, dx_text part, dx_text with, size_t *ret_len) {
    size_t before = (size_t)(part.at - whole.at);
    size_t after = whole.len - before - part.len;
    char *made = malloc(before + with.len + after + 1);
    if (!made)
        return NULL;
    memcpy(made, whole.at, before);
    memcpy(made + before, with.at, with.len);
    memcpy(made + before + with.len, part.at + part.len, after);
    *ret_len = before + with.len + after;
    return made;
}

static dx_json json_of(dx_text text) {
    return text.at ? dx_json_checked(text) : dx_json_none();
}

/* From the peer to the client. */

/* A client that leaves so much unread is not waited for. */
static void send_or_cut(struct desk_client *client, dx_text method, dx_text params) {
    if (dx_link_notify(client->link, method, json_of(params)) == DX_BUSY)
        client->cut = true;
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    const struct errand *errand = user;
    const dx_protocol_facts *facts = dx_protocol_facts_of(errand->peer->config->protocol);
    dx_text token = dx_rpc_member(event->body, dx_str(facts->progress_token));
    size_t len;
    (void)link;
    if (!errand->client || !token.at)
        return;
    char *params = replace(event->body, token, dx_str(errand->token), &len);
    if (params)
        send_or_cut(errand->client, event->method, (dx_text){params, len});
    free(params);
}

/* The error of the peer as it came. */
static void pass_error(struct errand *errand, const dx_event *event) {
    dx_text message = dx_json_string(yyjson_obj_get(event->value, "message"));
    dx_text data = dx_rpc_member(event->body, dx_str("data"));
    struct desk_client *client = errand->client;
    if (dx_link_refuse(client->link, errand->event->request, event->code, message, json_of(data)) ==
        DX_BUSY)
        client->cut = true;
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct errand *errand = user;
    struct desk_client *client = errand->client;
    (void)link;
    if (client && event->outcome == DX_OUTCOME_LOST) {
        /* The end of the connection is the answer. The request is freed with the client: freed
         * here, it would be answered with an error. */
        errand->kind = ERRAND_OVER;
        dx_link_close(client->link);
        return;
    }
    /* A result that does not fit the protocol is passed on, too: the client judges for itself. */
    if (client && event->outcome != DX_OUTCOME_ERROR && event->body.at)
        errand_reply(errand, dx_json_checked(event->body));
    else if (client && event->outcome != DX_OUTCOME_ERROR)
        errand_fail(errand, DX_CODE_INTERNAL, "%s", event->error.phrase);
    else {
        if (client)
            pass_error(errand, event);
        errand_free(errand);
    }
}

void relay_notify(const struct desk *desk, const struct crew_peer *peer, const dx_event *event) {
    for (struct desk_client *client = desk->clients; client; client = client->next)
        if (client->peer == peer && client->has_spoken)
            send_or_cut(client, event->method, event->body);
}

void relay_close(const struct desk *desk, const struct crew_peer *peer) {
    for (struct desk_client *client = desk->clients; client; client = client->next)
        if (client->peer == peer)
            dx_link_close(client->link);
}

/* From the client to the peer. */

/* The step of the handshake that has this method; NULL if there is none. */
static const dx_step *step_of(const struct crew_peer *peer, dx_text method, size_t *ret_index) {
    const dx_step *step = dx_protocol_facts_of(peer->config->protocol)->start;
    for (*ret_index = 0; step && step->method; step++, ++*ret_index)
        if (dx_text_is(method, step->method))
            return step;
    return NULL;
}

static int code_of(dx_status status) {
    return status == DX_MISFIT ? DX_CODE_PARAMS
           : status == DX_BUSY ? DX_CODE_BUSY
                               : DX_CODE_INTERNAL;
}

static void call(struct errand *errand) {
    const struct crew_peer *peer = errand->peer;
    const dx_protocol_facts *facts = dx_protocol_facts_of(peer->config->protocol);
    dx_text params = errand->event->body;
    dx_text token = token_of(facts, params);
    dx_link *link = dx_supervisor_link(peer->supervisor);
    dx_link_call_options options = {
        .peer = {.timeout_ms = DX_NEVER, .total_ms = DX_NEVER, .user = errand},
        .on_done = on_done,
        .on_progress = on_progress};
    char own[48];
    char *made = NULL;
    if (token.at) {
        size_t len = 0;
        snprintf(own, sizeof own, "\"duplex-relay-%llu\"",
                 (unsigned long long)++errand->desk->last_token);
        errand->token = strndup(token.at, token.len);
        made = errand->token ? replace(params, token, dx_str(own), &len) : NULL;
        params = (dx_text){made, len};
        options.peer.token = dx_str(own);
    }
    dx_status status = token.at && !made ? DX_ERR_NOMEM
                                         : dx_link_call(link, errand->event->method,
                                                        json_of(params), &options, &errand->call);
    free(made);
    errand->peer->calls++;
    if (status != DX_OK)
        errand_fail(errand, code_of(status), "%s",
                    status == DX_MISFIT ? dx_link_why(link)->phrase : dx_status_name(status));
}

static void on_request(struct desk_client *client, const dx_event *event) {
    struct crew_peer *peer = client->peer;
    const dx_protocol_facts *facts = dx_protocol_facts_of(peer->config->protocol);
    size_t index;
    const dx_step *step = step_of(peer, event->method, &index);
    if (step && peer->hello[index].at) {
        desk_reply(client, event, dx_json_checked(peer->hello[index]));
        return;
    }
    if (facts->stop_call && dx_text_is(event->method, facts->stop_call)) {
        desk_refuse(client, event, DX_CODE_REQUEST,
                    "%s would stop '%s' for all its clients: use 'duplex restart %s' or 'duplex"
                    " down %s'",
                    facts->stop_call, peer->config->name, peer->config->name, peer->config->name);
        return;
    }
    struct errand *errand = errand_new(client, ERRAND_CALL, peer);
    if (errand)
        call(errand);
}

static void on_notification(const struct desk_client *client, const dx_event *event) {
    const struct crew_peer *peer = client->peer;
    const dx_protocol_facts *facts = dx_protocol_facts_of(peer->config->protocol);
    size_t index;
    bool is_ours = step_of(peer, event->method, &index) ||
                   (facts->stop_notify && dx_text_is(event->method, facts->stop_notify));
    if (!is_ours)
        (void)dx_link_notify(dx_supervisor_link(peer->supervisor), event->method,
                             json_of(event->body));
}

static void on_cancel(const struct desk_client *client, const dx_event *event) {
    const struct errand *errand = client->desk->errands;
    while (errand && (errand->client != client || errand->kind != ERRAND_CALL ||
                      errand->event->request != event->request))
        errand = errand->next;
    if (errand)
        (void)dx_link_cancel(dx_supervisor_link(errand->peer->supervisor), errand->call,
                             dx_str(NULL));
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    struct desk_client *client = user;
    (void)link;
    client->has_spoken = true;
    if (event->kind == DX_EVENT_REQUEST)
        on_request(client, event);
    else if (event->kind == DX_EVENT_NOTIFICATION)
        on_notification(client, event);
    else if (event->kind == DX_EVENT_CANCEL)
        on_cancel(client, event);
    else if (event->kind == DX_EVENT_VIOLATION && event->error.fault == DX_FAULT_UNREAD)
        client->cut = true;
}

/* The beginning. */

/* Says yes, without a link: the old one is gone, and the new one is the peer's. */
static bool answer(int fd, dx_text id, const struct crew_peer *peer) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "jsonrpc", "2.0");
    yyjson_mut_obj_add_val(doc, root, "id", yyjson_mut_rawn(doc, id.at, id.len));
    yyjson_mut_val *result = yyjson_mut_obj_add_obj(doc, root, "result");
    yyjson_mut_obj_add_str(doc, result, "protocol", peer->config->protocol_source);
    yyjson_mut_obj_add_int(doc, result, "pid", dx_supervisor_pid(peer->supervisor));
    if (peer->noise[0])
        cli_add_text(doc, result, "noise", dx_str(peer->noise));
    size_t len;
    char *line = yyjson_mut_write(doc, YYJSON_WRITE_NEWLINE_AT_END, &len);
    yyjson_mut_doc_free(doc);
    bool sent = line && send(fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
    free(line);
    return sent;
}

void relay_open(struct errand *errand) {
    struct desk_client *client = errand->client;
    struct crew_peer *peer = errand->peer;
    dx_link_config config = dx_link_for(peer->config->protocol, DX_SIDE_PLUGIN);
    config.peer.framing = DX_FRAMING_LINE;
    config.peer.protocol = NULL; /* the link to the peer checks what goes there */
    config.peer.checking = DX_CHECKING_OFF;
    config.peer.content_type = NULL;
    config.peer.flags |= DX_PEER_TEXT;
    config.peer.message_max = MESSAGE_MAX;
    config.peer.stall_ms = DESK_UNREAD_MS;
    config.on_event = on_event;
    config.on_closed = desk_on_closed;
    config.user = client;
    int fd = fcntl(client->fd, F_DUPFD_CLOEXEC, 3);
    client->link = dx_link_free(client->link); /* closes its descriptor, not the copy */
    client->fd = fd;
    client->peer = peer;
    bool opened = fd >= 0 && answer(fd, errand->event->id, peer) &&
                  dx_link_open(peer->crew->loop, fd, fd, &config, &client->link, NULL) == DX_OK;
    if (!opened && fd >= 0)
        close(fd);
    client->cut |= !opened;
    errand_free(errand);
}
