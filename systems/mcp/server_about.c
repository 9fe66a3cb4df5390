/* What the server says of itself, and what the client said. */
#include "systems/mcp/server_parts.h"

#include <string.h>

void dx__mcp_info_write(const dx_mcp_server *server, dx__mcp_rev rev, dx__mcp_out *out) {
    const dx_mcp_server_config *config = &server->config;
    dx__mcp_out_open(out, '{');
    dx__mcp_out_text_member(out, "name", config->name);
    dx__mcp_out_text_member(out, "version", config->version);
    if (rev >= DX__MCP_2025_06)
        dx__mcp_out_text_member(out, "title", config->title);
    if (rev >= DX__MCP_2025_11) {
        dx__mcp_out_text_member(out, "description", config->description);
        dx__mcp_out_text_member(out, "websiteUrl", config->website);
        dx__mcp_out_json_member(out, "icons", config->icons);
    }
    dx__mcp_out_close(out, '}');
}

void dx__mcp_modern_write(const dx_mcp_server *server, bool cached, dx__mcp_out *out) {
    dx__mcp_out_text_member(out, "resultType", "complete");
    if (cached) {
        uint64_t ttl = server->config.ttl_ms;
        dx__mcp_out_key(out, dx_str("ttlMs"));
        dx__mcp_out_integer(out, ttl > INT32_MAX ? INT32_MAX : (int64_t)ttl);
        dx__mcp_out_text_member(out, "cacheScope", "private");
    }
    dx__mcp_out_key(out, dx_str("_meta"));
    dx__mcp_out_open(out, '{');
    dx__mcp_out_key(out, dx_str(DX__MCP_META "serverInfo"));
    dx__mcp_info_write(server, DX__MCP_2026_07, out);
    dx__mcp_out_close(out, '}');
}

static void write_list_capability(dx_mcp_session *session, const char *name, dx_mcp_kind kind,
                                  dx__mcp_out *out) {
    const dx_mcp_server_config *config = &session->server->config;
    session->offered |= 1U << kind;
    dx__mcp_out_key(out, dx_str(name));
    dx__mcp_out_open(out, '{');
    if (kind == DX_MCP_RESOURCES && config->subscribe)
        dx__mcp_out_json_member(out, "subscribe", "true");
    if (config->list_changed)
        dx__mcp_out_json_member(out, "listChanged", "true");
    dx__mcp_out_close(out, '}');
}

static void write_capabilities(dx_mcp_session *session, dx__mcp_out *out) {
    dx_mcp_server *server = session->server;
    const dx__mcp_items *items = server->items;
    dx__mcp_out_key(out, dx_str("capabilities"));
    dx__mcp_out_open(out, '{');
    session->offered = 0;
    if (items[DX_MCP_TOOLS].first)
        write_list_capability(session, "tools", DX_MCP_TOOLS, out);
    if (items[DX_MCP_RESOURCES].first || items[DX_MCP_TEMPLATES].first || server->list_more ||
        server->read_more)
        write_list_capability(session, "resources", DX_MCP_RESOURCES, out);
    if (items[DX_MCP_PROMPTS].first)
        write_list_capability(session, "prompts", DX_MCP_PROMPTS, out);
    dx__mcp_out_json_member(out, "logging", "{}");
    if (server->completers && session->rev >= DX__MCP_2025_03)
        dx__mcp_out_json_member(out, "completions", "{}");
    if (server->taskers && session->rev == DX__MCP_2025_11)
        dx__mcp_out_json_member(
            out, "tasks", "{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}");
    if (session->rev >= DX__MCP_2026_07)
        dx__mcp_out_json_member(out, "extensions", server->config.extensions);
    dx__mcp_out_close(out, '}');
}

/* What the client says of itself is kept as {"info", "capabilities"}. */
static void note_client(dx_mcp_session *session, yyjson_val *info, yyjson_val *capabilities) {
    yyjson_val *old = yyjson_doc_get_root(session->client);
    yyjson_val *old_info = yyjson_obj_get(old, "info");
    if (old && yyjson_equals(yyjson_obj_get(old, "capabilities"), capabilities) &&
        (info ? yyjson_equals(old_info, info) : !old_info))
        return;
    dx__mcp_out out;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_open(&out, '{');
    if (info) {
        dx__mcp_out_key(&out, dx_str("info"));
        dx__mcp_out_json(&out, dx_json_value(info));
    }
    if (capabilities) {
        dx__mcp_out_key(&out, dx_str("capabilities"));
        dx__mcp_out_json(&out, dx_json_value(capabilities));
    }
    dx__mcp_out_close(&out, '}');
    yyjson_doc *doc = NULL;
    dx_status status = dx__mcp_out_parse(&out, &doc);
    dx__mcp_out_done(&out);
    if (status == DX_OK) {
        yyjson_doc_free(session->client);
        session->client = doc;
    }
}

/* Who asks in the modern way should know that there is no such method any more. */
static void refuse_initialize(dx_mcp_session *session, const dx_event *event) {
    if (dx__mcp_meta(event->value, "protocolVersion"))
        dx__mcp_refuse(session, event->request, DX_CODE_METHOD, NULL);
    else
        dx__mcp_unsupported(session, event->request,
                            yyjson_obj_get(event->value, "protocolVersion"));
}

void dx__mcp_initialize(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_out out;
    if (dx__mcp_is_modern(session)) {
        refuse_initialize(session, event);
        return;
    }
    note_client(session, yyjson_obj_get(event->value, "clientInfo"),
                yyjson_obj_get(event->value, "capabilities"));
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_text_member(&out, "protocolVersion", dx__mcp_rev_name(session->rev));
    write_capabilities(session, &out);
    dx__mcp_out_key(&out, dx_str("serverInfo"));
    dx__mcp_info_write(session->server, session->rev, &out);
    dx__mcp_out_text_member(&out, "instructions", session->server->config.instructions);
    dx__mcp_out_close(&out, '}');
    session->opened = session->client && out.status == DX_OK;
    if (!session->client)
        out.status = DX_ERR_NOMEM;
    dx__mcp_answer(session, event->request, &out);
}

void dx__mcp_discover(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_json_member(&out, "supportedVersions", "[\"2026-07-28\"]");
    write_capabilities(session, &out);
    dx__mcp_out_text_member(&out, "instructions", session->server->config.instructions);
    dx__mcp_modern_write(session->server, true, &out);
    dx__mcp_out_close(&out, '}');
    dx__mcp_answer(session, event->request, &out);
}

yyjson_val *dx__mcp_meta(yyjson_val *params, const char *name) {
    char key[64] = DX__MCP_META;
    strncat(key, name, sizeof key - sizeof DX__MCP_META);
    return yyjson_obj_get(yyjson_obj_get(params, "_meta"), key);
}

dx_status dx__mcp_unsupported(dx_mcp_session *session, dx_request request, yyjson_val *asked) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_json_member(&out, "supported", "[\"2026-07-28\"]");
    dx__mcp_out_key(&out, dx_str("requested"));
    dx_text text = dx_json_string(asked);
    dx__mcp_out_string(&out, text.at ? text : dx_str(""));
    dx__mcp_out_close(&out, '}');
    dx_status status = out.status;
    if (status == DX_OK)
        status = dx_link_refuse(session->link, request, DX_MCP_CODE_UNSUPPORTED,
                                dx_str("Unsupported protocol version"),
                                dx_json_checked(dx__mcp_out_text(&out)));
    dx__mcp_out_done(&out);
    return status;
}

bool dx__mcp_greet(dx_mcp_session *session, const dx_event *event) {
    yyjson_val *asked = dx__mcp_meta(event->value, "protocolVersion");
    if (dx_text_is(event->method, "initialize"))
        return true;
    if (!yyjson_equals_str(asked, dx__mcp_rev_name(DX__MCP_2026_07))) {
        dx__mcp_unsupported(session, event->request, asked);
        return false;
    }
    session->opened = true;
    note_client(session, dx__mcp_meta(event->value, "clientInfo"),
                dx__mcp_meta(event->value, "clientCapabilities"));
    return true;
}
