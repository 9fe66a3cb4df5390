/* Results that are given whole, and the errors that have a form of their own. */
#include "systems/mcp/server_parts.h"

#include <string.h>

/* A member of the object that is to be there, unless it is. */
static void add_missing(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                        yyjson_mut_val *value) {
    if (!yyjson_mut_obj_get(object, key))
        yyjson_mut_obj_add_val(doc, object, key, value);
}

static void add_modern(const dx_mcp_work *work, yyjson_mut_doc *doc, yyjson_mut_val *root) {
    const dx_mcp_server *server = work->session->server;
    uint64_t ttl = server->config.ttl_ms;
    dx__mcp_out info;
    add_missing(doc, root, "resultType", yyjson_mut_str(doc, "complete"));
    if (dx__mcp_is_cached(work->purpose)) {
        add_missing(doc, root, "ttlMs", yyjson_mut_uint(doc, ttl > INT32_MAX ? INT32_MAX : ttl));
        add_missing(doc, root, "cacheScope", yyjson_mut_str(doc, "private"));
    }
    add_missing(doc, root, "_meta", yyjson_mut_obj(doc));
    dx__mcp_out_init(&info, &work->session->alloc);
    dx__mcp_info_write(server, DX__MCP_2026_07, &info);
    yyjson_doc *read = NULL;
    if (dx__mcp_out_parse(&info, &read) == DX_OK)
        add_missing(doc, yyjson_mut_obj_get(root, "_meta"), DX__MCP_META "serverInfo",
                    yyjson_val_mut_copy(doc, yyjson_doc_get_root(read)));
    yyjson_doc_free(read);
    dx__mcp_out_done(&info);
}

/* A page of resources that are not declared has cursors of its own: see dx__mcp_list(). */
static void mark_cursor(yyjson_mut_doc *doc, yyjson_mut_val *root, const dx_allocator *alloc) {
    yyjson_mut_val *cursor = yyjson_mut_obj_get(root, "nextCursor");
    dx_buf text;
    if (!yyjson_mut_is_str(cursor))
        return;
    dx_buf_init(&text, SIZE_MAX / 4, alloc);
    if (dx_buf_append(&text, "more-", 5) == DX_OK &&
        dx_buf_append(&text, yyjson_mut_get_str(cursor), yyjson_mut_get_len(cursor)) == DX_OK)
        yyjson_mut_obj_put(root, yyjson_mut_str(doc, "nextCursor"),
                           yyjson_mut_strncpy(doc, text.data, text.len));
    dx_buf_done(&text);
}

dx_status dx__mcp_decorate(const dx_mcp_work *work, dx_json result, dx__mcp_out *out) {
    yyjson_alc alc = dx__mcp_alc(&work->session->alloc);
    dx__mcp_out text;
    dx__mcp_out_init(&text, &work->session->alloc);
    dx__mcp_out_json(&text, result);
    yyjson_doc *doc = NULL;
    dx_status status = dx__mcp_out_parse(&text, &doc);
    if (doc && !yyjson_is_obj(yyjson_doc_get_root(doc)))
        status = DX_ERR_INVALID;
    yyjson_mut_doc *made = status == DX_OK ? yyjson_doc_mut_copy(doc, &alc) : NULL;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(made);
    if (made) {
        if (work->purpose == DX__MCP_PAGE)
            mark_cursor(made, root, &work->session->alloc);
        if (dx__mcp_is_modern(work->session) && work->session->server)
            add_modern(work, made, root);
        dx__mcp_out_json(out, dx_json_built(root));
        status = out->status;
    } else if (status == DX_OK) {
        status = DX_ERR_NOMEM;
    }
    yyjson_mut_doc_free(made);
    yyjson_doc_free(doc);
    dx__mcp_out_done(&text);
    return status;
}

void dx_mcp_work_reply(dx_mcp_work *work, dx_json result) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &work->session->alloc);
    dx_status status = dx__mcp_decorate(work, result, &out);
    if (status != DX_OK)
        out.status = status;
    dx__mcp_work_finish(work, &out);
}

void dx_mcp_work_no_resource(dx_mcp_work *work, dx_text uri) {
    bool modern = dx__mcp_is_modern(work->session);
    dx__mcp_out data;
    dx__mcp_out_init(&data, &work->session->alloc);
    dx__mcp_out_open(&data, '{');
    dx__mcp_out_key(&data, dx_str("uri"));
    dx__mcp_out_string(&data, uri.at ? uri : dx_str(""));
    dx__mcp_out_close(&data, '}');
    dx_json json = data.status == DX_OK ? dx_json_checked(dx__mcp_out_text(&data)) : dx_json_none();
    dx__mcp_work_refused(work, modern ? DX_CODE_PARAMS : DX_MCP_CODE_NO_RESOURCE,
                         dx_str("Resource not found"), json);
    dx__mcp_out_done(&data);
}
