/* What is declared is taken apart and checked once, so that no client ever sees what does not fit.
 */
#include "systems/mcp/server_parts.h"

#include <string.h>

dx_status dx__mcp_item_json(dx__mcp_item *item, const char *what, const char *text,
                            yyjson_doc **ret_doc, char **ret_text, dx_misfit *reterr) {
    yyjson_alc alc = dx__mcp_alc(&item->alloc);
    yyjson_read_err error = {0};
    size_t len = strlen(text);
    if (dx_json_check((dx_text){text, len}, 256, NULL) != DX_FAULT_NONE)
        return dx__mcp_wrong(reterr, what, "not JSON");
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)text, len, YYJSON_READ_NOFLAG, &alc, &error);
    if (!doc)
        return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION
                   ? DX_ERR_NOMEM
                   : dx__mcp_wrong(reterr, what, error.msg ? error.msg : "not JSON");
    char *compact = yyjson_write_opts(doc, YYJSON_WRITE_NOFLAG, &alc, NULL, NULL);
    if (!compact) {
        yyjson_doc_free(doc);
        return DX_ERR_NOMEM;
    }
    *ret_doc = doc;
    *ret_text = compact;
    return DX_OK;
}

dx_status dx__mcp_item_schema(dx__mcp_item *item, const char *what, yyjson_val *root,
                              dx_schema **ret_schema, dx_misfit *reterr) {
    dx_schemas_config config = dx_schemas_defaults();
    config.allocator = &item->alloc;
    dx_misfit why = {.phrase = "not a schema"};
    dx_status status = DX_OK;
    if (!yyjson_is_obj(root))
        return dx__mcp_wrong(reterr, what, "not an object");
    if (!item->schemas)
        status = dx_schemas_new(&config, &item->schemas);
    char uri[64] = "duplex:";
    strncat(uri, what, sizeof uri - 8);
    if (status == DX_OK)
        status = dx_schemas_add(item->schemas, dx_str(uri), root, &why);
    if (status == DX_OK)
        status = dx_schemas_compile(item->schemas, dx_str(uri), ret_schema, &why);
    if (status == DX_ERR_INVALID || status == DX_ERR_LIMIT)
        return dx__mcp_wrong(reterr, what, why.phrase);
    return status;
}

static const char *const methods[DX__MCP_KINDS] = {NULL, "tools/list", "resources/list",
                                                   "resources/templates/list", "prompts/list"};
static const char *const members[DX__MCP_KINDS] = {NULL, "tools", "resources", "resourceTemplates",
                                                   "prompts"};

static dx_status fits_in(dx_mcp_server *server, const dx__mcp_item *item, dx__mcp_rev rev,
                         dx_misfit *reterr) {
    dx__mcp_out out;
    yyjson_doc *doc = NULL;
    dx_protocol *protocol = server->speech->protocols[rev];
    const dx_method *method = dx_protocol_find(protocol, dx_str(methods[item->kind]));
    dx__mcp_out_init(&out, &server->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_key(&out, dx_str(members[item->kind]));
    dx__mcp_out_open(&out, '[');
    dx__mcp_item_write(item, rev, &out);
    dx__mcp_out_close(&out, ']');
    if (rev == DX__MCP_2026_07)
        dx__mcp_modern_write(server, true, &out);
    dx__mcp_out_close(&out, '}');
    dx_status status = dx__mcp_out_parse(&out, &doc);
    if (status == DX_OK)
        status = dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_RESULT,
                                   yyjson_doc_get_root(doc), 0, reterr);
    else if (status == DX_ERR_INVALID)
        dx__mcp_wrong(reterr, item->name, "a string is not valid UTF-8");
    yyjson_doc_free(doc);
    dx__mcp_out_done(&out);
    return status == DX_MISFIT ? DX_ERR_INVALID : status;
}

dx_status dx__mcp_item_fits(dx_mcp_server *server, const dx__mcp_item *item, dx_misfit *reterr) {
    dx_misfit why;
    dx_misfit *to = reterr ? reterr : &why;
    dx_status status = fits_in(server, item, DX__MCP_2025_11, to);
    return status == DX_OK ? fits_in(server, item, DX__MCP_2026_07, to) : status;
}
