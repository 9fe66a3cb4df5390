/* What is offered: added, found, taken back. */
#include "systems/mcp/server_parts.h"

#include <string.h>

static const char default_input[] = "{\"type\":\"object\",\"properties\":{}}";

dx__mcp_item *dx__mcp_item_release(dx__mcp_item *item) {
    if (!item || --item->refs)
        return NULL;
    dx_allocator alloc = item->alloc;
    char *texts[] = {item->uri,   item->name,        item->title,    item->description,
                     item->mime,  item->annotations, item->icons,    item->meta,
                     item->input, item->output,      item->arguments};
    dx_schemas_free(item->schemas);
    yyjson_doc_free(item->input_doc);
    yyjson_doc_free(item->output_doc);
    yyjson_doc_free(item->arguments_doc);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        dx__free(&alloc, texts[i]);
    dx__free(&alloc, item);
    return NULL;
}

dx__mcp_item *dx__mcp_item_find(dx_mcp_server *server, dx_mcp_kind kind, dx_text key) {
    return dx__mcp_table_find(&server->items[kind].by_key, key);
}

static void unlink_item(dx_mcp_server *server, dx__mcp_item *item) {
    dx__mcp_items *items = &server->items[item->kind];
    *(item->prev ? &item->prev->next : &items->first) = item->next;
    *(item->next ? &item->next->prev : &items->last) = item->prev;
    dx__mcp_table_drop(&items->by_key, item->key);
    server->completers -= item->complete != NULL;
    server->taskers -= item->task != DX_MCP_TASK_NEVER;
    dx__mcp_item_release(item);
}

void dx__mcp_items_done(dx_mcp_server *server) {
    for (int kind = DX_MCP_TOOLS; kind < DX__MCP_KINDS; kind++) {
        while (server->items[kind].first)
            unlink_item(server, server->items[kind].first);
        dx__mcp_table_done(&server->items[kind].by_key);
    }
}

/* Texts that are there are copied; a failure shows in the item's status. */
static dx_status copy_text(dx__mcp_item *item, char **to, const char *text) {
    if (!text)
        return DX_OK;
    *to = dx__mcp_copy(&item->alloc, dx_str(text));
    return *to ? DX_OK : DX_ERR_NOMEM;
}

static dx_status take_json(dx__mcp_item *item, const char *what, const char *text, char **to,
                           yyjson_doc **ret_doc, dx_misfit *reterr) {
    yyjson_doc *doc = NULL;
    if (!text)
        return DX_OK;
    dx_status status = dx__mcp_item_json(item, what, text, &doc, to, reterr);
    if (ret_doc)
        *ret_doc = doc;
    else
        yyjson_doc_free(doc);
    return status;
}

static dx__mcp_item *item_new(dx_mcp_server *server, dx_mcp_kind kind) {
    dx__mcp_item *item = dx__malloc(&server->alloc, sizeof *item);
    if (item)
        *item = (dx__mcp_item){.alloc = server->alloc, .kind = kind, .refs = 1};
    return item;
}

/* The last step: if it fits, it is there. Gives the item back if not. */
static dx_status add(dx_mcp_server *server, dx__mcp_item *item, dx_status status,
                     dx_misfit *reterr) {
    dx__mcp_items *items = &server->items[item->kind];
    if (status == DX_OK) {
        item->key = dx_str(item->uri ? item->uri : item->name);
        if (dx__mcp_table_find(&items->by_key, item->key))
            status = dx__mcp_wrong(reterr, item->key.at, "already declared");
    }
    if (status == DX_OK)
        status = dx__mcp_item_fits(server, item, reterr);
    if (status == DX_OK)
        status = dx__mcp_table_put(&items->by_key, item->key, item);
    if (status != DX_OK) {
        dx__mcp_item_release(item);
        return status;
    }
    item->serial = ++items->last_serial;
    item->prev = items->last;
    *(items->last ? &items->last->next : &items->first) = item;
    items->last = item;
    server->completers += item->complete != NULL;
    server->taskers += item->task != DX_MCP_TASK_NEVER;
    dx_mcp_server_changed(server, item->kind);
    return DX_OK;
}

static bool is_tool_name(const char *name) {
    size_t len = strlen(name);
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./";
    return len >= 1 && len <= 128 && strspn(name, good) == len;
}

static dx_status fill_tool(dx__mcp_item *item, const dx_mcp_tool *tool, dx_misfit *reterr) {
    const char *input = tool->input ? tool->input : default_input;
    item->task = tool->task;
    item->call = tool->call;
    item->user = tool->user;
    if (copy_text(item, &item->name, tool->name) || copy_text(item, &item->title, tool->title) ||
        copy_text(item, &item->description, tool->description))
        return DX_ERR_NOMEM;
    dx_status status = take_json(item, "input", input, &item->input, &item->input_doc, reterr);
    if (status == DX_OK)
        status = take_json(item, "output", tool->output, &item->output, &item->output_doc, reterr);
    if (status == DX_OK)
        status =
            take_json(item, "annotations", tool->annotations, &item->annotations, NULL, reterr);
    if (status == DX_OK)
        status = take_json(item, "icons", tool->icons, &item->icons, NULL, reterr);
    if (status == DX_OK)
        status = take_json(item, "meta", tool->meta, &item->meta, NULL, reterr);
    if (status == DX_OK)
        status = dx__mcp_item_schema(item, "input", yyjson_doc_get_root(item->input_doc),
                                     &item->input_schema, reterr);
    if (status == DX_OK && item->output)
        status = dx__mcp_item_schema(item, "output", yyjson_doc_get_root(item->output_doc),
                                     &item->output_schema, reterr);
    yyjson_val *type = yyjson_obj_get(yyjson_doc_get_root(item->output_doc), "type");
    item->output_is_object = yyjson_equals_str(type, "object");
    return status;
}

dx_status dx_mcp_server_add_tool(dx_mcp_server *server, const dx_mcp_tool *tool,
                                 dx_misfit *reterr) {
    if (!tool->name || !is_tool_name(tool->name))
        return dx__mcp_wrong(reterr, "the name of a tool",
                             "expected 1 to 128 of the characters A-Z a-z 0-9 _ - . /");
    if (!tool->call)
        return dx__mcp_wrong(reterr, tool->name, "the call function is missing");
    dx__mcp_item *item = item_new(server, DX_MCP_TOOLS);
    return item ? add(server, item, fill_tool(item, tool, reterr), reterr) : DX_ERR_NOMEM;
}

static dx_status fill_resource(dx__mcp_item *item, const dx_mcp_resource *resource,
                               dx_misfit *reterr) {
    item->size = resource->size;
    item->read = resource->read;
    item->complete = resource->complete;
    item->user = resource->user;
    if (copy_text(item, &item->uri, resource->uri) ||
        copy_text(item, &item->name, resource->name) ||
        copy_text(item, &item->title, resource->title) ||
        copy_text(item, &item->description, resource->description) ||
        copy_text(item, &item->mime, resource->mime))
        return DX_ERR_NOMEM;
    dx_status status =
        take_json(item, "annotations", resource->annotations, &item->annotations, NULL, reterr);
    if (status == DX_OK)
        status = take_json(item, "icons", resource->icons, &item->icons, NULL, reterr);
    if (status == DX_OK)
        status = take_json(item, "meta", resource->meta, &item->meta, NULL, reterr);
    return status;
}

static dx_status add_resource(dx_mcp_server *server, dx_mcp_kind kind,
                              const dx_mcp_resource *resource, dx_misfit *reterr) {
    if (!resource->uri || !resource->name || !resource->read)
        return dx__mcp_wrong(reterr, resource->uri ? resource->uri : "a resource",
                             "uri, name and read are required");
    dx__mcp_item *item = item_new(server, kind);
    return item ? add(server, item, fill_resource(item, resource, reterr), reterr) : DX_ERR_NOMEM;
}

dx_status dx_mcp_server_add_resource(dx_mcp_server *server, const dx_mcp_resource *resource,
                                     dx_misfit *reterr) {
    return add_resource(server, DX_MCP_RESOURCES, resource, reterr);
}

dx_status dx_mcp_server_add_template(dx_mcp_server *server, const dx_mcp_resource *resource,
                                     dx_misfit *reterr) {
    if (resource->uri && !dx__mcp_template_is_good(dx_str(resource->uri)))
        return dx__mcp_wrong(reterr, resource->uri, "only {name} and {+name} are supported");
    return add_resource(server, DX_MCP_TEMPLATES, resource, reterr);
}

static dx_status fill_prompt(dx__mcp_item *item, const dx_mcp_prompt *prompt, dx_misfit *reterr) {
    item->call = prompt->get;
    item->complete = prompt->complete;
    item->user = prompt->user;
    if (copy_text(item, &item->name, prompt->name) ||
        copy_text(item, &item->title, prompt->title) ||
        copy_text(item, &item->description, prompt->description))
        return DX_ERR_NOMEM;
    dx_status status = take_json(item, "arguments", prompt->arguments, &item->arguments,
                                 &item->arguments_doc, reterr);
    if (status == DX_OK)
        status = take_json(item, "icons", prompt->icons, &item->icons, NULL, reterr);
    return status;
}

dx_status dx_mcp_server_add_prompt(dx_mcp_server *server, const dx_mcp_prompt *prompt,
                                   dx_misfit *reterr) {
    if (!prompt->name || !prompt->get)
        return dx__mcp_wrong(reterr, prompt->name ? prompt->name : "a prompt",
                             "name and get are required");
    dx__mcp_item *item = item_new(server, DX_MCP_PROMPTS);
    return item ? add(server, item, fill_prompt(item, prompt, reterr), reterr) : DX_ERR_NOMEM;
}

dx_status dx_mcp_server_remove(dx_mcp_server *server, dx_mcp_kind kind, dx_text name) {
    dx__mcp_item *item = kind >= DX_MCP_TOOLS && kind <= DX_MCP_PROMPTS
                             ? dx__mcp_item_find(server, kind, name)
                             : NULL;
    if (!item)
        return DX_GONE;
    unlink_item(server, item);
    dx_mcp_server_changed(server, kind);
    return DX_OK;
}

void dx_mcp_server_on_resources(
    dx_mcp_server *server, void (*list)(dx_mcp_work *work, dx_text cursor, void *user),
    void (*read)(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user), void *user) {
    server->list_more = list;
    server->read_more = read;
    server->more_user = user;
}
