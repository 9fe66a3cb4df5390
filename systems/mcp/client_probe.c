/* Which era the server is of: a copy of it is asked, since some leave when they are asked what they
 * don't know. */
#include "systems/mcp/client_parts.h"

#include <string.h>

void dx__mcp_client_probe_end(dx_mcp_client *client) {
    client->probe_child = dx_child_free(client->probe_child);
    client->probe_link = dx_link_free(client->probe_link);
}

/* What is known then. A failure ends the client, as one of dx_mcp_client_open() would have. */
static void go_on(dx_mcp_client *client, bool modern, int revision) {
    dx_error error = {0};
    dx__mcp_client_probe_end(client);
    client->modern = modern;
    if (modern)
        client->wanted = DX__MCP_2026_07_28;
    else if (revision > DX__MCP_2026_07_28)
        client->wanted = revision;
    else if (client->wanted == DX__MCP_2026_07_28)
        client->wanted = DX__MCP_2025_11_25;
    dx_status status = dx__mcp_client_start(client, &error);
    if (status != DX_OK)
        dx__mcp_client_fail(client, DX_FAULT_START,
                            error.phrase[0] ? error.phrase : "cannot start the server: ",
                            dx_str(error.phrase[0] ? "" : dx_status_name(status)));
}

static bool is_modern(const dx_event *event) {
    if (event->outcome == DX_OUTCOME_RESULT) {
        yyjson_val *versions = yyjson_obj_get(event->value, "supportedVersions");
        yyjson_arr_iter iter;
        yyjson_arr_iter_init(versions, &iter);
        yyjson_val *one;
        while ((one = yyjson_arr_iter_next(&iter)))
            if (yyjson_equals_str(one, dx_mcp_revision(DX__MCP_2026_07_28)))
                return true;
        return false;
    }
    return event->outcome == DX_OUTCOME_ERROR && event->code == DX_MCP_CODE_UNSUPPORTED &&
           dx__mcp_client_pick(event, DX__MCP_2026_07_28) <= DX__MCP_2026_07_28;
}

static void on_answer(dx_link *link, const dx_event *event, void *user) {
    dx_mcp_client *client = user;
    (void)link;
    dx__mcp_client_enter(client);
    if (!client->freed && client->phase == DX__MCP_PROBING) {
        bool unsupported =
            event->outcome == DX_OUTCOME_ERROR && event->code == DX_MCP_CODE_UNSUPPORTED;
        go_on(client, is_modern(event),
              unsupported ? dx__mcp_client_pick(event, DX__MCP_2026_07_28) : DX__MCP_UNKNOWN);
    }
    dx__mcp_client_leave(client);
}

/* The call has ended before, and with it the copy. */
static void on_event(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    if (event->kind == DX_EVENT_REQUEST)
        (void)dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
}

static dx_status ask(dx_mcp_client *client, dx_link *link) {
    dx_link_call_options options = {.on_done = on_answer};
    yyjson_mut_doc *doc = NULL;
    options.peer.timeout_ms = client->config.probe_ms;
    options.peer.no_cancel = 1;
    options.peer.user = client;
    client->modern = true;
    dx_status status = dx__mcp_client_params(client, dx_json_none(), &doc);
    if (status == DX_OK)
        status = dx__mcp_client_meta(client, doc, 0, DX_MCP_NO_LEVEL);
    if (status == DX_OK)
        status = dx_link_call(link, dx_str("server/discover"),
                              dx_json_built(yyjson_mut_doc_get_root(doc)), &options, NULL);
    yyjson_mut_doc_free(doc);
    return status;
}

/* With only one connection: the legacy protocol, and one method more that may come first. */

static bool write_either(yyjson_mut_doc *doc, yyjson_mut_val *root, yyjson_val *legacy) {
    static const char *const names[] = {"x-duplex", "lifecycle", "states", "new", "host"};
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, root, "info");
    yyjson_mut_val *own = yyjson_mut_obj_add_obj(doc, root, names[0]);
    yyjson_val *rules = yyjson_obj_get(yyjson_obj_get(legacy, names[0]), names[1]);
    yyjson_mut_val *value = yyjson_val_mut_copy(doc, rules);
    if (!info || !own || !value || !yyjson_mut_obj_add_str(doc, root, "openrpc", "1.3.2") ||
        !yyjson_mut_obj_add_str(doc, info, "title", "Model Context Protocol") ||
        !yyjson_mut_obj_add_str(doc, info, "version", "2025-11-25") ||
        !yyjson_mut_obj_add_str(doc, own, "name", "mcp") ||
        !yyjson_mut_obj_add_str(doc, own, "revision", "either") ||
        !yyjson_mut_obj_add_str(doc, own, "extends", "mcp") ||
        !yyjson_mut_obj_add_val(doc, own, names[1], value))
        return false;
    for (size_t i = 2; i < sizeof names / sizeof *names; i++)
        value = yyjson_mut_obj_get(value, names[i]);
    return yyjson_mut_arr_add_str(doc, value, "server/discover");
}

static bool write_discover(yyjson_mut_doc *doc, yyjson_mut_val *root) {
    yyjson_mut_val *methods = yyjson_mut_obj_add_arr(doc, root, "methods");
    yyjson_mut_val *method = methods ? yyjson_mut_arr_add_obj(doc, methods) : NULL;
    if (!method || !yyjson_mut_obj_add_str(doc, method, "name", "server/discover") ||
        !yyjson_mut_obj_add_str(doc, method, "summary",
                                "The protocol revisions that the server supports.") ||
        !yyjson_mut_obj_add_arr(doc, method, "params"))
        return false;
    yyjson_mut_val *result = yyjson_mut_obj_add_obj(doc, method, "result");
    yyjson_mut_val *schema = result ? yyjson_mut_obj_add_obj(doc, result, "schema") : NULL;
    yyjson_mut_val *own = yyjson_mut_obj_add_obj(doc, method, "x-duplex");
    yyjson_mut_val *params = own ? yyjson_mut_obj_add_obj(doc, own, "params") : NULL;
    return schema && params && yyjson_mut_obj_add_str(doc, params, "type", "object") &&
           yyjson_mut_obj_add_str(doc, result, "name", "result") &&
           yyjson_mut_obj_add_str(doc, schema, "type", "object") &&
           yyjson_mut_obj_add_str(doc, own, "from", "host");
}

static dx_status read_either(dx_mcp_client *client) {
    yyjson_mut_doc *doc = NULL;
    dx_protocol *legacy = NULL;
    dx_buf text;
    dx_protocol_config config = dx_protocol_defaults();
    config.allocator = &client->alloc;
    dx__mcp_client_buf(client, &text);
    dx_status status = dx__mcp_client_protocol(client, DX__MCP_2025_11_25, &legacy);
    if (status == DX_OK)
        status = dx__mcp_client_params(client, dx_json_none(), &doc);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    if (status == DX_OK &&
        (!write_either(doc, root, dx_protocol_document(legacy)) || !write_discover(doc, root)))
        status = DX_ERR_NOMEM;
    if (status == DX_OK)
        status = dx_json_write(&text, dx_json_built(root));
    if (status == DX_OK)
        status = dx_protocol_read((dx_text){text.data, text.len}, dx_str("mcp"), &config,
                                  &client->either, NULL);
    dx_buf_done(&text);
    yyjson_mut_doc_free(doc);
    return status;
}

static dx_status ask_on_the_spot(dx_mcp_client *client, dx_error *reterr) {
    dx_status status = read_either(client);
    if (status != DX_OK)
        return status;
    client->modern = true;
    return dx__mcp_client_start(client, reterr);
}

dx_status dx__mcp_client_probe(dx_mcp_client *client, dx_error *reterr) {
    const dx_mcp_client_config *config = &client->config;
    dx_protocol *protocol;
    if (!config->argv && !config->address)
        return ask_on_the_spot(client, reterr);
    client->phase = DX__MCP_PROBING;
    dx_status status = dx__mcp_client_protocol(client, DX__MCP_2026_07_28, &protocol);
    if (status != DX_OK)
        return status;
    if (config->argv) {
        dx_child_config child = dx__mcp_client_child_config(client, protocol);
        child.on_gone = NULL;
        child.on_closed = NULL;
        child.on_errors = NULL;
        child.link.on_event = on_event;
        status = dx_child_start(client->loop, &child, &client->probe_child, reterr);
        return status == DX_OK ? ask(client, dx_child_link(client->probe_child)) : status;
    }
    dx_link_config link = dx__mcp_client_link_config(client, protocol);
    link.on_event = on_event;
    link.on_closed = NULL;
    status = dx_link_connect(client->loop, config->address, &link, &client->probe_link, reterr);
    return status == DX_OK ? ask(client, client->probe_link) : status;
}
