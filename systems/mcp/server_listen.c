/* Modern subscriptions: a request that stays open, and notifications that carry its id. */
#include "systems/mcp/server_parts.h"

#include <string.h>

static const struct {
    const char *member;
    dx_mcp_kind kind;
    const char *method;
} lists[] = {
    {"toolsListChanged", DX_MCP_TOOLS, "notifications/tools/list_changed"},
    {"promptsListChanged", DX_MCP_PROMPTS, "notifications/prompts/list_changed"},
    {"resourcesListChanged", DX_MCP_RESOURCES, "notifications/resources/list_changed"},
};
enum { LISTS = sizeof lists / sizeof *lists };

static void write_meta(const dx__mcp_listen *listen, dx__mcp_out *out) {
    dx__mcp_out_json_member(out, "_meta", "{\"" DX__MCP_META "subscriptionId\":");
    dx__mcp_out_raw(out, listen->event->id);
    dx__mcp_out_close(out, '}');
}

static dx_status say(dx_mcp_session *session, const char *method, dx__mcp_out *out) {
    dx__mcp_out_close(out, '}');
    dx_status status = out->status;
    if (status == DX_OK)
        status =
            dx_link_notify(session->link, dx_str(method), dx_json_checked(dx__mcp_out_text(out)));
    dx__mcp_out_done(out);
    return status;
}

/* What is listened to is only what is offered. */
static dx_status acknowledge(dx_mcp_session *session, const dx__mcp_listen *listen) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_raw(&out, dx_str("{\"notifications\":{"));
    for (int i = 0; i < LISTS; i++)
        if (listen->kinds & 1U << lists[i].kind)
            dx__mcp_out_json_member(&out, lists[i].member, "true");
    if (listen->count) {
        dx__mcp_out_json_member(&out, "resourceSubscriptions", "[");
        for (size_t i = 0; i < listen->count; i++)
            dx__mcp_out_string(&out, listen->uris[i]);
        dx__mcp_out_close(&out, ']');
    }
    dx__mcp_out_close(&out, '}');
    write_meta(listen, &out);
    return say(session, "notifications/subscriptions/acknowledged", &out);
}

static void free_listen(dx_mcp_session *session, dx__mcp_listen *listen) {
    dx_event_free(listen->event);
    dx__free(&session->alloc, listen->uris);
    dx__free(&session->alloc, listen);
}

/* The URIs are parts of the kept event. */
static dx_status take_filter(dx_mcp_session *session, dx__mcp_listen *listen) {
    const dx_mcp_server_config *config = &session->server->config;
    yyjson_val *filter = yyjson_obj_get(listen->event->value, "notifications");
    yyjson_val *uris = yyjson_obj_get(filter, "resourceSubscriptions");
    size_t n = config->subscribe ? yyjson_arr_size(uris) : 0;
    size_t i;
    size_t max;
    yyjson_val *uri;
    for (i = 0; config->list_changed && i < LISTS; i++)
        if (yyjson_is_true(yyjson_obj_get(filter, lists[i].member)))
            listen->kinds |= 1U << lists[i].kind;
    if (!n)
        return DX_OK;
    if (session->watch_count + n > DX__MCP_WATCHES_MAX)
        return DX_BUSY;
    listen->uris = dx__malloc(&session->alloc, n * sizeof *listen->uris);
    if (!listen->uris)
        return DX_ERR_NOMEM;
    yyjson_arr_foreach(uris, i, max, uri) {
        listen->uris[i] = dx_json_string(uri);
    }
    listen->count = n;
    return DX_OK;
}

static void unwatch_all(dx_mcp_session *session, dx__mcp_listen *listen, size_t count) {
    for (size_t i = 0; i < count && session->server; i++)
        dx__mcp_unwatch(session->server, listen->uris[i]);
}

/* Counts the URIs in, all or none. */
static dx_status watch_all(dx_mcp_session *session, dx__mcp_listen *listen) {
    bool first;
    for (size_t i = 0; i < listen->count; i++) {
        if (dx__mcp_watch_add(session->server, listen->uris[i], &first) != DX_OK) {
            unwatch_all(session, listen, i);
            return DX_ERR_NOMEM;
        }
        if (first)
            dx__mcp_watch(session->server, listen->uris[i]);
        if (!session->server)
            return DX_CLOSED;
    }
    return DX_OK;
}

static void link_listen(dx_mcp_session *session, dx__mcp_listen *listen) {
    listen->next = session->listens;
    if (listen->next)
        listen->next->prev = listen;
    session->listens = listen;
    session->listen_count++;
    session->watch_count += listen->count;
}

static void unlink_listen(dx_mcp_session *session, dx__mcp_listen *listen) {
    *(listen->prev ? &listen->prev->next : &session->listens) = listen->next;
    if (listen->next)
        listen->next->prev = listen->prev;
    session->listen_count--;
    session->watch_count -= listen->count;
}

void dx__mcp_listen_open(dx_mcp_session *session, const dx_event *event) {
    if (session->listen_count >= DX__MCP_LISTENS_MAX) {
        dx__mcp_refuse(session, event->request, DX_CODE_BUSY, "Too many subscriptions");
        return;
    }
    dx__mcp_listen *listen = dx__malloc(&session->alloc, sizeof *listen);
    if (!listen)
        return; /* here and below the engine answers with an internal error */
    *listen = (dx__mcp_listen){.event = NULL};
    if (dx_link_keep(session->link, &listen->event) != DX_OK) {
        dx__free(&session->alloc, listen);
        return;
    }
    dx_status status = take_filter(session, listen);
    if (status == DX_BUSY)
        dx__mcp_refuse(session, listen->event->request, DX_CODE_BUSY, "Too many subscriptions");
    if (status == DX_OK)
        status = acknowledge(session, listen);
    if (status == DX_OK)
        status = watch_all(session, listen);
    if (status != DX_OK || !session->link) {
        free_listen(session, listen);
        return;
    }
    link_listen(session, listen);
}

static void end_listen(dx_mcp_session *session, dx__mcp_listen *listen) {
    unlink_listen(session, listen);
    unwatch_all(session, listen, listen->count);
    free_listen(session, listen);
}

bool dx__mcp_listen_cancel(dx_mcp_session *session, dx_request request) {
    for (dx__mcp_listen *listen = session->listens; listen; listen = listen->next)
        if (listen->event->request == request) {
            end_listen(session, listen);
            return true;
        }
    return false;
}

static bool listens_to(const dx__mcp_listen *listen, dx_text uri) {
    for (size_t i = 0; i < listen->count; i++)
        if (listen->uris[i].len == uri.len && memcmp(listen->uris[i].at, uri.at, uri.len) == 0)
            return true;
    return false;
}

void dx__mcp_listens_updated(dx_mcp_session *session, dx_text uri) {
    for (dx__mcp_listen *listen = session->listens; listen; listen = listen->next) {
        dx__mcp_out out;
        if (!listens_to(listen, uri))
            continue;
        dx__mcp_out_init(&out, &session->alloc);
        dx__mcp_out_raw(&out, dx_str("{\"uri\":"));
        dx__mcp_out_string(&out, uri);
        write_meta(listen, &out);
        (void)say(session, "notifications/resources/updated", &out);
    }
}

bool dx__mcp_listens_changed(dx_mcp_session *session, dx_mcp_kind kind) {
    bool failed = false;
    const char *method = NULL;
    for (int i = 0; i < LISTS; i++)
        if (lists[i].kind == kind)
            method = lists[i].method;
    for (dx__mcp_listen *listen = session->listens; method && listen; listen = listen->next) {
        dx__mcp_out out;
        if (!(listen->kinds & 1U << kind))
            continue;
        dx__mcp_out_init(&out, &session->alloc);
        dx__mcp_out_raw(&out, dx_str("{"));
        write_meta(listen, &out);
        dx_status status = say(session, method, &out);
        failed |= status == DX_BUSY || status == DX_ERR_NOMEM;
    }
    return failed;
}

void dx__mcp_listens_close(dx_mcp_session *session) {
    while (session->listens) {
        dx__mcp_listen *listen = session->listens;
        dx__mcp_out out;
        dx__mcp_out_init(&out, &session->alloc);
        dx__mcp_out_raw(&out, dx_str("{\"resultType\":\"complete\""));
        write_meta(listen, &out);
        dx__mcp_out_close(&out, '}');
        dx__mcp_answer(session, listen->event->request, &out);
        end_listen(session, listen);
    }
}

void dx__mcp_listens_done(dx_mcp_session *session) {
    while (session->listens)
        end_listen(session, session->listens);
}
