/* Lists, page by page. A cursor names the last item that was handed out by its serial number, so it
 * holds whatever comes and goes in the meantime. */
#include "systems/mcp/server_parts.h"

#include <stdio.h>
#include <string.h>

static void write_tool(const dx__mcp_item *item, dx__mcp_rev rev, dx__mcp_out *out) {
    dx__mcp_out_json_member(out, "inputSchema", item->input);
    if (rev >= DX__MCP_2026_07 || (rev >= DX__MCP_2025_06 && item->output_is_object))
        dx__mcp_out_json_member(out, "outputSchema", item->output);
    if (rev >= DX__MCP_2025_03)
        dx__mcp_out_json_member(out, "annotations", item->annotations);
    if (rev == DX__MCP_2025_11 && item->task != DX_MCP_TASK_NEVER)
        dx__mcp_out_json_member(out, "execution",
                                item->task == DX_MCP_TASK_MUST ? "{\"taskSupport\":\"required\"}"
                                                               : "{\"taskSupport\":\"optional\"}");
}

static void write_resource(const dx__mcp_item *item, dx__mcp_out *out) {
    dx__mcp_out_text_member(out, "mimeType", item->mime);
    dx__mcp_out_json_member(out, "annotations", item->annotations);
    if (item->kind == DX_MCP_RESOURCES && item->size && item->size <= INT64_MAX) {
        dx__mcp_out_key(out, dx_str("size"));
        dx__mcp_out_integer(out, (int64_t)item->size);
    }
}

/* Arguments have had titles since 2025-06-18. */
static void write_arguments(const dx__mcp_item *item, dx__mcp_rev rev, dx__mcp_out *out) {
    size_t i;
    size_t n;
    yyjson_val *argument;
    if (!item->arguments)
        return;
    if (rev >= DX__MCP_2025_06) {
        dx__mcp_out_json_member(out, "arguments", item->arguments);
        return;
    }
    dx__mcp_out_key(out, dx_str("arguments"));
    dx__mcp_out_open(out, '[');
    yyjson_arr_foreach(yyjson_doc_get_root(item->arguments_doc), i, n, argument) {
        static const char *const known[] = {"name", "description", "required"};
        dx__mcp_out_open(out, '{');
        for (size_t j = 0; j < sizeof known / sizeof *known; j++) {
            yyjson_val *value = yyjson_obj_get(argument, known[j]);
            if (!value)
                continue;
            dx__mcp_out_key(out, dx_str(known[j]));
            dx__mcp_out_json(out, dx_json_value(value));
        }
        dx__mcp_out_close(out, '}');
    }
    dx__mcp_out_close(out, ']');
}

void dx__mcp_item_write(const dx__mcp_item *item, dx__mcp_rev rev, dx__mcp_out *out) {
    dx__mcp_out_open(out, '{');
    dx__mcp_out_text_member(out, item->kind == DX_MCP_TEMPLATES ? "uriTemplate" : "uri", item->uri);
    dx__mcp_out_text_member(out, "name", item->name);
    if (rev >= DX__MCP_2025_06)
        dx__mcp_out_text_member(out, "title", item->title);
    dx__mcp_out_text_member(out, "description", item->description);
    if (item->kind == DX_MCP_TOOLS)
        write_tool(item, rev, out);
    else if (item->kind == DX_MCP_PROMPTS)
        write_arguments(item, rev, out);
    else
        write_resource(item, out);
    if (rev >= DX__MCP_2025_06)
        dx__mcp_out_json_member(out, "_meta", item->meta);
    if (rev >= DX__MCP_2025_11)
        dx__mcp_out_json_member(out, "icons", item->icons);
    dx__mcp_out_close(out, '}');
}

/* "after-" and the serial number in hexadecimal: nothing else is a cursor of ours. */
static const char after[] = "after-";

bool dx__mcp_cursor_read(dx_text cursor, uint64_t last, uint64_t *ret_serial) {
    size_t skip = sizeof after - 1;
    uint64_t serial = 0;
    if (cursor.len <= skip || cursor.len > skip + 16 || memcmp(cursor.at, after, skip) != 0)
        return false;
    for (size_t i = skip; i < cursor.len; i++) {
        char c = cursor.at[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16)
            return false;
        serial = serial << 4 | digit;
    }
    *ret_serial = serial;
    return serial && serial <= last;
}

static const char *const members[DX__MCP_KINDS] = {NULL, "tools", "resources", "resourceTemplates",
                                                   "prompts"};

/* The items behind that one; returns the last that found room if there are more, else 0. */
static uint64_t write_page(const dx_mcp_server *server, const dx__mcp_item *item, dx__mcp_rev rev,
                           dx__mcp_out *out) {
    size_t count = 0;
    for (; item && count < server->config.page; item = item->next, count++) {
        dx__mcp_item_write(item, rev, out);
        if (item->next && count + 1 == server->config.page)
            return item->serial;
    }
    return 0;
}

void dx__mcp_cursor_write(dx__mcp_out *out, uint64_t serial) {
    char cursor[32];
    (void)snprintf(cursor, sizeof cursor, "%s%llx", after, (unsigned long long)serial);
    dx__mcp_out_text_member(out, "nextCursor", cursor);
}

/* Those that are not declared come after those that are; "more" asks for their first page, and
 * "more-" stands before a cursor of their own. */
static bool is_more(dx_mcp_session *session, const dx_event *event, dx_mcp_kind kind,
                    dx_text cursor) {
    static const char more[] = "more";
    dx_mcp_server *server = session->server;
    if (kind != DX_MCP_RESOURCES || !server->list_more)
        return false;
    if (!cursor.at && !server->items[kind].first) {
        dx__mcp_page_more(session, event, dx_str(NULL));
        return true;
    }
    if (!cursor.at || cursor.len < 4 || memcmp(cursor.at, more, 4) != 0 ||
        (cursor.len > 4 && cursor.at[4] != '-'))
        return false;
    dx__mcp_page_more(session, event,
                      cursor.len > 4 ? (dx_text){cursor.at + 5, cursor.len - 5} : dx_str(NULL));
    return true;
}

void dx__mcp_list(dx_mcp_session *session, const dx_event *event, dx_mcp_kind kind) {
    dx_mcp_server *server = session->server;
    dx__mcp_items *items = &server->items[kind];
    const dx__mcp_item *item = items->first;
    dx_text cursor = dx__mcp_member(event->value, "cursor");
    uint64_t serial = 0;
    dx__mcp_out out;
    if (is_more(session, event, kind, cursor))
        return;
    if (cursor.at && !dx__mcp_cursor_read(cursor, items->last_serial, &serial)) {
        dx__mcp_refuse(session, event->request, DX_CODE_PARAMS, "Unknown cursor");
        return;
    }
    while (item && item->serial <= serial)
        item = item->next;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_key(&out, dx_str(members[kind]));
    dx__mcp_out_open(&out, '[');
    serial = write_page(server, item, session->rev, &out);
    dx__mcp_out_close(&out, ']');
    if (serial)
        dx__mcp_cursor_write(&out, serial);
    else if (kind == DX_MCP_RESOURCES && server->list_more)
        dx__mcp_out_text_member(&out, "nextCursor", "more");
    if (dx__mcp_is_modern(session))
        dx__mcp_modern_write(server, true, &out);
    dx__mcp_out_close(&out, '}');
    dx__mcp_answer(session, event->request, &out);
}
