/* The documents that a server speaks, and which of them a conversation begins with. */
#include "systems/mcp/server_parts.h"

#include <string.h>

/* A client that opened in the modern way may still try `initialize`: it is told what is spoken
 * here, and not that there is no such thing. The one state has the name of the first one of the
 * legacy era, so that a client whose modern attempt was refused can go on there. */
static const char modern_document[] =
    "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"MCP, modern server\",\"version\":\"2026-07-28\"},"
    "\"x-duplex\":{\"name\":\"mcp\",\"revision\":\"2026-07-28-server\","
    "\"extends\":\"mcp@2026-07-28\","
    "\"lifecycle\":{\"start\":\"new\",\"states\":{\"new\":{}},\"moves\":[]}},"
    "\"methods\":[{\"name\":\"initialize\",\"summary\":\"Refused with the supported revisions.\","
    "\"paramStructure\":\"by-name\",\"params\":[],"
    "\"result\":{\"name\":\"result\",\"schema\":{\"type\":\"object\"}},"
    "\"x-duplex\":{\"from\":\"host\",\"params\":{\"type\":\"object\"},\"optional\":true}}],"
    "\"components\":{\"schemas\":{}}}";

static dx_status open_one(const dx_protocol_config *config, const char *name, dx_protocol **ret,
                          dx_misfit *reterr) {
    return dx_protocol_open(dx_str(name), config, ret, reterr);
}

/* The newest legacy revision, in which requests before `initialize` are let through. */
static dx_status open_early(dx_mcp_server *server, const dx_protocol_config *config,
                            dx_misfit *reterr) {
    yyjson_alc alc = dx__mcp_alc(&server->alloc);
    yyjson_val *facts = yyjson_obj_get(
        dx_protocol_document(server->speech->protocols[DX__MCP_2025_11]), "x-duplex");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *root = yyjson_mut_obj(doc); /* all of these are NULL without memory */
    yyjson_mut_val *own = yyjson_mut_obj(doc);
    yyjson_mut_val *life = yyjson_val_mut_copy(doc, yyjson_obj_get(facts, "lifecycle"));
    yyjson_mut_val *first = yyjson_mut_obj_get(yyjson_mut_obj_get(life, "states"), "new");
    yyjson_mut_val *info = yyjson_mut_obj(doc);
    yyjson_mut_obj_remove_key(first, "code");
    yyjson_mut_obj_remove_key(first, "message");
    bool built = yyjson_mut_obj_add_str(doc, first, "early", "deliver") &&
                 yyjson_mut_obj_add_str(doc, info, "title", "MCP, early requests") &&
                 yyjson_mut_obj_add_str(doc, info, "version", "2025-11-25") &&
                 yyjson_mut_obj_add_str(doc, own, "name", "mcp") &&
                 yyjson_mut_obj_add_str(doc, own, "revision", "2025-11-25-early") &&
                 yyjson_mut_obj_add_str(doc, own, "extends", "mcp") &&
                 yyjson_mut_obj_add_val(doc, own, "lifecycle", life) &&
                 yyjson_mut_obj_add_str(doc, root, "openrpc", "1.3.2") &&
                 yyjson_mut_obj_add_val(doc, root, "info", info) &&
                 yyjson_mut_obj_add_val(doc, root, "x-duplex", own) &&
                 yyjson_mut_obj_add_val(doc, root, "methods", yyjson_mut_arr(doc));
    size_t len = 0;
    char *text = built ? yyjson_mut_val_write_opts(root, 0, &alc, &len, NULL) : NULL;
    dx_status status = text ? dx_protocol_read((dx_text){text, len}, dx_str("early"), config,
                                               &server->speech->start, reterr)
                            : DX_ERR_NOMEM;
    dx__free(&server->alloc, text);
    yyjson_mut_doc_free(doc);
    return status;
}

void dx__mcp_speech_release(dx__mcp_speech *speech) {
    if (!speech || --speech->refs)
        return;
    dx_allocator alloc = speech->alloc;
    for (int i = 0; i < DX__MCP_REVS; i++)
        dx_protocol_free(speech->protocols[i]);
    dx_protocol_free(speech->start);
    dx__free(&alloc, speech);
}

dx_status dx__mcp_speech_new(dx_mcp_server *server, dx_misfit *reterr) {
    static const char *const names[] = {"mcp@2024-11-05", "mcp@2025-03-26", "mcp@2025-06-18",
                                        "mcp"};
    dx_protocol_config config = dx_protocol_defaults();
    config.allocator = &server->alloc;
    dx_status status = DX_OK;
    server->speech = dx__malloc(&server->alloc, sizeof *server->speech);
    if (!server->speech)
        return DX_ERR_NOMEM;
    *server->speech = (dx__mcp_speech){.alloc = server->alloc, .refs = 1};
    for (int i = 0; status == DX_OK && i < DX__MCP_2026_07; i++)
        status = open_one(&config, names[i], &server->speech->protocols[i], reterr);
    if (status == DX_OK)
        status = dx_protocol_read((dx_text){modern_document, sizeof modern_document - 1},
                                  dx_str("modern"), &config,
                                  &server->speech->protocols[DX__MCP_2026_07], reterr);
    if (status == DX_OK && server->config.serve_early)
        status = open_early(server, &config, reterr);
    return status;
}

static dx__mcp_rev legacy_named(yyjson_val *name) {
    for (int i = 0; i < DX__MCP_2026_07; i++)
        if (yyjson_equals_str(name, dx__mcp_rev_name((dx__mcp_rev)i)))
            return (dx__mcp_rev)i;
    return DX__MCP_2025_11;
}

static bool is_modern(const dx_event *event) {
    return dx_text_is(event->method, "server/discover") ||
           dx__mcp_meta(event->value, "protocolVersion");
}

/* Only a request tells which era the client is of; and once one was served (or `initialize`
 * answered), that is settled. */
dx_protocol *dx__mcp_choose(void *user, const dx_event *event) {
    dx_mcp_session *session = user;
    dx_mcp_server *server = session->server;
    dx__mcp_speech *speech = session->speech;
    if (!server || session->opened || event->kind != DX_EVENT_REQUEST)
        return NULL;
    if (dx_text_is(event->method, "initialize")) {
        session->rev = legacy_named(yyjson_obj_get(event->value, "protocolVersion"));
        return speech->protocols[session->rev];
    }
    if (!server->config.legacy_only && is_modern(event)) {
        session->rev = DX__MCP_2026_07;
        return speech->protocols[DX__MCP_2026_07];
    }
    session->rev = DX__MCP_2025_11;
    return speech->start ? speech->start : speech->protocols[DX__MCP_2025_11];
}
