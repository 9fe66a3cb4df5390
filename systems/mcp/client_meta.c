/* The params of a request: what the user gave, and what every request says besides. */
#include "systems/mcp/client_parts.h"

#include <string.h>

static dx_status copy_object(const dx_mcp_client *client, dx_text text, yyjson_read_flag flags,
                             yyjson_mut_doc *doc) {
    yyjson_doc *read = NULL;
    dx_status status = dx__mcp_client_parse(client, text, flags, &read);
    if (status != DX_OK)
        return status;
    yyjson_val *root = yyjson_doc_get_root(read);
    yyjson_mut_val *copy = NULL;
    if (!yyjson_is_obj(root))
        status = DX_ERR_INVALID;
    else if (!(copy = yyjson_val_mut_copy(doc, root)))
        status = DX_ERR_NOMEM;
    yyjson_mut_doc_set_root(doc, copy);
    yyjson_doc_free(read);
    return status;
}

static dx_status read_params(const dx_mcp_client *client, dx_json params, yyjson_read_flag flags,
                             yyjson_mut_doc **ret_doc) {
    yyjson_alc alc = dx__mcp_client_alc(client);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    if (!doc)
        return DX_ERR_NOMEM;
    dx_buf text;
    dx__mcp_client_buf(client, &text);
    dx_status status = dx_json_write(&text, params);
    if (status == DX_OK && text.len) {
        status = copy_object(client, (dx_text){text.data, text.len}, flags, doc);
    } else if (status == DX_OK) {
        yyjson_mut_val *root = yyjson_mut_obj(doc);
        yyjson_mut_doc_set_root(doc, root);
        status = root ? DX_OK : DX_ERR_NOMEM;
    }
    dx_buf_done(&text);
    if (status == DX_OK)
        *ret_doc = doc;
    else
        yyjson_mut_doc_free(doc);
    return status;
}

dx_status dx__mcp_client_params(const dx_mcp_client *client, dx_json params,
                                yyjson_mut_doc **ret_doc) {
    return read_params(client, params, YYJSON_READ_NOFLAG, ret_doc);
}

dx_status dx__mcp_client_params_exact(const dx_mcp_client *client, dx_json params,
                                      yyjson_mut_doc **ret_doc) {
    return read_params(client, params, DX__MCP_EXACT, ret_doc);
}

/* A value under a name that may be taken: ours counts. */
static bool put(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                yyjson_mut_val *value) {
    yyjson_mut_val *key = yyjson_mut_str(doc, name);
    return value && key && yyjson_mut_obj_put(object, key, value);
}

static bool add_era(const dx_mcp_client *client, yyjson_mut_doc *doc, yyjson_mut_val *meta,
                    dx_mcp_level level) {
    int revision = DX__MCP_2026_07_28; /* the only one of its era */
    const char *name = dx_mcp_level_name(level ? level : client->level);
    return put(doc, meta, "io.modelcontextprotocol/protocolVersion",
               yyjson_mut_str(doc, dx_mcp_revision((size_t)revision))) &&
           put(doc, meta, "io.modelcontextprotocol/clientCapabilities",
               dx__mcp_client_offer(client, doc, revision)) &&
           put(doc, meta, "io.modelcontextprotocol/clientInfo", dx__mcp_client_info(client, doc)) &&
           (!name || put(doc, meta, "io.modelcontextprotocol/logLevel", yyjson_mut_str(doc, name)));
}

dx_status dx__mcp_client_meta(const dx_mcp_client *client, yyjson_mut_doc *params, uint64_t token,
                              dx_mcp_level level) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(params);
    yyjson_mut_val *meta = yyjson_mut_obj_get(root, "_meta");
    if (!token && !client->modern)
        return DX_OK;
    if (meta && !yyjson_mut_is_obj(meta))
        return DX_ERR_INVALID;
    if (!meta)
        meta = yyjson_mut_obj_add_obj(params, root, "_meta");
    if (!meta || (client->modern && !add_era(client, params, meta, level)) ||
        (token && !put(params, meta, "progressToken", yyjson_mut_uint(params, token))))
        return DX_ERR_NOMEM;
    return DX_OK;
}
