/* Resources: which of what is declared a URI means. */
#include "systems/mcp/server_parts.h"

/* The first template that fits. DX_AGAIN: none does. */
static dx_status find_template(dx_mcp_session *session, dx_text uri, dx__mcp_item **ret_item,
                               yyjson_doc **ret_values) {
    dx_status status = DX_AGAIN;
    dx__mcp_item *item = session->server->items[DX_MCP_TEMPLATES].first;
    for (; item && status == DX_AGAIN; item = item->next) {
        status = dx__mcp_template_match(&session->alloc, item->key, uri, ret_values);
        if (status == DX_OK)
            *ret_item = item;
    }
    return status;
}

static void run(dx_mcp_work *work, dx_text uri, yyjson_val *variables,
                void (*read)(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user),
                void *user) {
    if (!read)
        dx_mcp_work_no_resource(work, uri);
    else if (dx__mcp_round_begin(work) == DX_OK)
        read(work, uri, variables, user);
}

void dx__mcp_read(dx_mcp_session *session, const dx_event *event) {
    dx_mcp_server *server = session->server;
    dx_text uri = dx__mcp_member(event->value, "uri");
    dx__mcp_item *item = dx__mcp_item_find(server, DX_MCP_RESOURCES, uri);
    yyjson_doc *values = NULL;
    if (!item && find_template(session, uri, &item, &values) == DX_ERR_NOMEM)
        return; /* which the engine answers as an internal error */
    dx_mcp_work *work = dx__mcp_work_new(session, event, DX__MCP_READ, item);
    if (!work) {
        yyjson_doc_free(values);
        return;
    }
    work->extra = values;
    dx__mcp_work_enter(work);
    uri = dx__mcp_member(work->event->value, "uri"); /* it has moved */
    if (item)
        run(work, uri, yyjson_doc_get_root(values), item->read, item->user);
    else
        run(work, uri, NULL, server->read_more, server->more_user);
    dx__mcp_work_ran(work);
}

void dx__mcp_page_more(dx_mcp_session *session, const dx_event *event, dx_text cursor) {
    dx_mcp_server *server = session->server;
    dx_mcp_work *work = dx__mcp_work_new(session, event, DX__MCP_PAGE, NULL);
    if (!work)
        return;
    dx__mcp_work_enter(work);
    dx_text moved = dx__mcp_member(work->event->value, "cursor");
    if (cursor.at)
        cursor.at = moved.at + (moved.len - cursor.len);
    server->list_more(work, cursor, server->more_user);
    dx__mcp_work_ran(work);
}
