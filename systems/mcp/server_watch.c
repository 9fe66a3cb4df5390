/* Who wants to hear of which changes. */
#include "systems/mcp/server_parts.h"

#include <string.h>

/* Counts one more who watches it; *ret_first: nobody did. */
dx_status dx__mcp_watch_add(dx_mcp_server *server, dx_text uri, bool *ret_first) {
    dx__mcp_watched *watched = dx__mcp_table_find(&server->watched, uri);
    if (!watched) {
        watched = dx__malloc(&server->alloc, sizeof *watched + uri.len + 1);
        if (!watched)
            return DX_ERR_NOMEM;
        char *copy = (char *)(watched + 1);
        if (uri.len)
            memcpy(copy, uri.at, uri.len);
        *watched = (dx__mcp_watched){0, {copy, uri.len}};
        if (dx__mcp_table_put(&server->watched, watched->uri, watched) != DX_OK) {
            dx__free(&server->alloc, watched);
            return DX_ERR_NOMEM;
        }
    }
    *ret_first = !watched->count++;
    return DX_OK;
}

static void tell(dx_mcp_server *server, dx_text uri, int on) {
    if (server->config.on_subscribe)
        server->config.on_subscribe(server, uri, on, server->config.user);
}

void dx__mcp_watch(dx_mcp_server *server, dx_text uri) {
    tell(server, uri, 1);
}

void dx__mcp_unwatch(dx_mcp_server *server, dx_text uri) {
    dx__mcp_watched *watched = dx__mcp_table_find(&server->watched, uri);
    if (!watched || --watched->count)
        return;
    dx_allocator alloc = server->alloc;
    dx__mcp_table_drop(&server->watched, uri);
    tell(server, watched->uri, 0);
    dx__free(&alloc, watched);
}

static void answer_empty(dx_mcp_session *session, dx_request request) {
    (void)dx_link_reply(session->link, request, dx_json_checked(dx_str("{}")));
}

static dx_status subscribe(dx_mcp_session *session, dx_text uri, bool *ret_first) {
    char *copy = dx__mcp_copy(&session->alloc, uri);
    if (!copy)
        return DX_ERR_NOMEM;
    dx_status status = dx__mcp_table_put(&session->watches, (dx_text){copy, uri.len}, copy);
    if (status == DX_OK) {
        status = dx__mcp_watch_add(session->server, uri, ret_first);
        if (status != DX_OK)
            dx__mcp_table_drop(&session->watches, uri);
    }
    if (status != DX_OK)
        dx__free(&session->alloc, copy);
    else
        session->watch_count++;
    return status;
}

void dx__mcp_subscribe(dx_mcp_session *session, const dx_event *event) {
    dx_text uri = dx__mcp_member(event->value, "uri");
    bool first = false;
    if (!session->server->config.subscribe) {
        dx__mcp_refuse(session, event->request, DX_CODE_METHOD, NULL);
        return;
    }
    if (!dx__mcp_table_find(&session->watches, uri)) {
        if (session->watch_count >= DX__MCP_WATCHES_MAX) {
            dx__mcp_refuse(session, event->request, DX_CODE_BUSY, "Too many subscriptions");
            return;
        }
        if (subscribe(session, uri, &first) != DX_OK)
            return; /* which the engine answers as an internal error */
    }
    answer_empty(session, event->request);
    if (first)
        dx__mcp_watch(session->server, uri);
}

void dx__mcp_unsubscribe(dx_mcp_session *session, const dx_event *event) {
    dx_text uri = dx__mcp_member(event->value, "uri");
    char *copy = dx__mcp_table_find(&session->watches, uri);
    if (!session->server->config.subscribe) {
        dx__mcp_refuse(session, event->request, DX_CODE_METHOD, NULL);
        return;
    }
    answer_empty(session, event->request);
    if (!copy)
        return;
    dx__mcp_table_drop(&session->watches, uri);
    session->watch_count--;
    dx__free(&session->alloc, copy);
    dx__mcp_unwatch(session->server, uri);
}

/* The server may be freed when it is told that nobody cares any more. */
void dx__mcp_watches_done(dx_mcp_session *session) {
    dx__mcp_table watches = session->watches;
    session->watches.cap = session->watches.count = 0;
    session->watches.slots = NULL;
    for (size_t i = 0; i < watches.cap; i++) {
        if (!watches.slots[i].value)
            continue;
        if (session->server)
            dx__mcp_unwatch(session->server, watches.slots[i].key);
        dx__free(&watches.alloc, watches.slots[i].value);
    }
    dx__mcp_table_done(&watches);
}

void dx_mcp_server_updated(dx_mcp_server *server, dx_text uri) {
    dx__mcp_out out;
    if (!dx__mcp_table_find(&server->watched, uri))
        return;
    dx__mcp_out_init(&out, &server->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_key(&out, dx_str("uri"));
    dx__mcp_out_string(&out, uri);
    dx__mcp_out_close(&out, '}');
    for (dx_mcp_session *session = server->sessions; session; session = session->next) {
        if (!session->link || out.status != DX_OK)
            continue;
        if (dx__mcp_table_find(&session->watches, uri))
            (void)dx_link_notify(session->link, dx_str("notifications/resources/updated"),
                                 dx_json_checked(dx__mcp_out_text(&out)));
        dx__mcp_listens_updated(session, uri);
    }
    dx__mcp_out_done(&out);
}

/* Templates are told of as resources. */
void dx_mcp_server_changed(dx_mcp_server *server, dx_mcp_kind kind) {
    if (kind == DX_MCP_TEMPLATES)
        kind = DX_MCP_RESOURCES;
    if (!server->config.list_changed || kind < DX_MCP_TOOLS || kind > DX_MCP_PROMPTS)
        return;
    for (dx_mcp_session *session = server->sessions; session; session = session->next) {
        if (!session->link || (!session->ready && !dx__mcp_is_modern(session)))
            continue;
        session->changed |= 1U << kind;
        dx__mcp_session_soon(session, 0);
    }
}

static const char *const methods[DX__MCP_KINDS] = {NULL, "notifications/tools/list_changed",
                                                   "notifications/resources/list_changed", NULL,
                                                   "notifications/prompts/list_changed"};

bool dx__mcp_changes_tell(dx_mcp_session *session) {
    for (int kind = DX_MCP_TOOLS; kind < DX__MCP_KINDS; kind++) {
        unsigned bit = 1U << kind;
        if (!(session->changed & bit))
            continue;
        dx_status status = DX_OK;
        if (dx__mcp_is_modern(session))
            status = dx__mcp_listens_changed(session, (dx_mcp_kind)kind) ? DX_BUSY : DX_OK;
        else if (session->offered & bit)
            status = dx_link_notify(session->link, dx_str(methods[kind]), dx_json_none());
        if (status != DX_BUSY && status != DX_ERR_NOMEM)
            session->changed &= ~bit;
    }
    return session->changed != 0;
}
