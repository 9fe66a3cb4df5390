/* Folders that the server may work in. */
#include "systems/mcp/client_parts.h"

#include <string.h>

static dx__mcp_client_root *drop(const dx_mcp_client *client, dx__mcp_client_root *root) {
    dx__mcp_client_root *next = root->next;
    dx__free(&client->alloc, root->uri);
    dx__free(&client->alloc, root->name);
    dx__free(&client->alloc, root);
    return next;
}

void dx__mcp_client_roots_free(dx_mcp_client *client) {
    while (client->roots)
        client->roots = drop(client, client->roots);
}

yyjson_mut_val *dx__mcp_client_roots(const dx_mcp_client *client, yyjson_mut_doc *doc) {
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_val *list = result ? yyjson_mut_obj_add_arr(doc, result, "roots") : NULL;
    bool done = list;
    for (const dx__mcp_client_root *root = client->roots; done && root; root = root->next) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        done = one && yyjson_mut_obj_add_str(doc, one, "uri", root->uri) &&
               (!root->name || yyjson_mut_obj_add_str(doc, one, "name", root->name));
    }
    return done ? result : NULL;
}

/* In the modern era the server asks when it wants to know. Without memory it is not told, which is
 * no worse than a notification that is lost. */
static void tell(dx_mcp_client *client) {
    if (client->phase == DX__MCP_READY && !client->modern)
        (void)dx_link_notify(dx__mcp_client_link(client),
                             dx_str("notifications/roots/list_changed"), dx_json_none());
}

static bool is_text(const dx_mcp_client *client, dx_text text) {
    dx_buf buf;
    dx__mcp_client_buf(client, &buf);
    bool good = dx_json_write_string(&buf, text) != DX_ERR_INVALID && !memchr(text.at, 0, text.len);
    dx_buf_done(&buf);
    return good;
}

static dx__mcp_client_root **find(dx_mcp_client *client, dx_text uri) {
    dx__mcp_client_root **root = &client->roots;
    while (*root && !dx_text_is(uri, (*root)->uri))
        root = &(*root)->next;
    return root;
}

static dx_status add(dx_mcp_client *client, dx__mcp_client_root **place, dx_text uri, char *name) {
    dx__mcp_client_root *root = dx__malloc(&client->alloc, sizeof *root);
    char *copy = dx__text_copy(&client->alloc, uri);
    if (!root || !copy) {
        dx__free(&client->alloc, root);
        dx__free(&client->alloc, copy);
        return DX_ERR_NOMEM;
    }
    *root = (dx__mcp_client_root){.uri = copy, .name = name};
    *place = root;
    return DX_OK;
}

dx_status dx_mcp_client_add_root(dx_mcp_client *client, dx_text uri, dx_text name) {
    static const char scheme[] = "file://";
    size_t len = sizeof scheme - 1;
    if (!client->config.roots || !uri.at || uri.len <= len || memcmp(uri.at, scheme, len) != 0 ||
        !is_text(client, uri) || (name.at && !is_text(client, name)))
        return DX_ERR_INVALID;
    char *copy = name.at ? dx__text_copy(&client->alloc, name) : NULL;
    if (name.at && !copy)
        return DX_ERR_NOMEM;
    dx__mcp_client_root **place = find(client, uri);
    if (*place) { /* it may have another name now */
        dx__free(&client->alloc, (*place)->name);
        (*place)->name = copy;
    } else if (add(client, place, uri, copy) != DX_OK) {
        dx__free(&client->alloc, copy);
        return DX_ERR_NOMEM;
    }
    dx__mcp_client_enter(client);
    tell(client);
    dx__mcp_client_leave(client);
    return DX_OK;
}

dx_status dx_mcp_client_remove_root(dx_mcp_client *client, dx_text uri) {
    dx__mcp_client_root **place = find(client, uri);
    if (!*place)
        return DX_GONE;
    *place = drop(client, *place);
    dx__mcp_client_enter(client);
    tell(client);
    dx__mcp_client_leave(client);
    return DX_OK;
}

void dx_mcp_client_clear_roots(dx_mcp_client *client) {
    if (!client->roots)
        return;
    dx__mcp_client_roots_free(client);
    dx__mcp_client_enter(client);
    tell(client);
    dx__mcp_client_leave(client);
}
