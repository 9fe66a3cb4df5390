/* Small things about text and JSON. */
#include "systems/mcp/client_parts.h"

#include <string.h>

yyjson_alc dx__mcp_client_alc(const dx_mcp_client *client) {
    const dx_allocator *alloc = &client->alloc;
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

const char **dx__mcp_client_copy_list(const dx_allocator *alloc, const char *const *list) {
    size_t count = 0;
    size_t bytes = 0;
    for (; list[count]; count++)
        bytes += strlen(list[count]) + 1;
    const char **copy = dx__malloc(alloc, (count + 1) * sizeof *copy + bytes);
    if (!copy)
        return NULL;
    char *to = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(list[i]) + 1;
        memcpy(to, list[i], len);
        copy[i] = to;
        to += len;
    }
    copy[count] = NULL;
    return copy;
}

void dx__mcp_client_error(dx_error *error, dx_fault fault, const char *before, dx_text after) {
    *error = (dx_error){.fault = fault};
    dx__say(error->phrase, sizeof error->phrase, dx_str(before));
    dx__say(error->phrase, sizeof error->phrase, after);
}

dx_text dx__mcp_client_string(yyjson_val *object, const char *member) {
    yyjson_val *value = yyjson_obj_get(object, member);
    return dx_json_string(value);
}

int dx__mcp_client_revision_of(dx_text name) {
    const char *revision;
    for (int i = 0; name.at && (revision = dx_mcp_revision((size_t)i)); i++)
        if (dx_text_is(name, revision))
            return i;
    return DX__MCP_UNKNOWN;
}

void dx__mcp_client_buf(const dx_mcp_client *client, dx_buf *buf) {
    dx_buf_init(buf, SIZE_MAX / 4, &client->alloc);
}

dx_status dx__mcp_client_parse(const dx_mcp_client *client, dx_text text, yyjson_read_flag flags,
                               yyjson_doc **ret_doc) {
    yyjson_alc alc = dx__mcp_client_alc(client);
    yyjson_read_err error = {0};
    if (dx_json_check(text, 1000, NULL) != DX_FAULT_NONE)
        return DX_ERR_INVALID;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len, flags, &alc, &error);
    if (!doc)
        return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? DX_ERR_NOMEM : DX_ERR_INVALID;
    *ret_doc = doc;
    return DX_OK;
}

dx_status dx__mcp_client_misfit(dx_mcp_client *client, const char *before, dx_text after) {
    client->why[0] = '\0';
    dx__say(client->why, sizeof client->why, dx_str(before));
    dx__say(client->why, sizeof client->why, after);
    return DX_MISFIT;
}

dx_status dx__mcp_client_explain(dx_mcp_client *client, dx_status status) {
    dx_link *link = dx__mcp_client_link(client);
    if (status == DX_MISFIT && link)
        return dx__mcp_client_misfit(client, dx_link_why(link)->phrase, dx_str(""));
    return status;
}
