#include "schema/set.h"
#include "base/alloc.h"
#include "base/buf.h"

#include <string.h>

static const uint64_t seed = UINT64_C(0x6a09e667f3bcc909);

dx_schemas_config dx_schemas_defaults(void) {
    return (dx_schemas_config){.nodes_max = 100000,
                               .pattern_max = 4096,
                               .memory_max = (size_t)64 << 20,
                               .nesting_max = 512};
}

dx_status dx_schemas_new(const dx_schemas_config *config, dx_schemas **ret_schemas) {
    dx_schemas_config defaults = dx_schemas_defaults();
    if (!config)
        config = &defaults;
    dx_allocator alloc = dx__allocator(config->allocator);
    dx_schemas *set = dx__malloc(&alloc, sizeof *set);
    if (!set)
        return DX_ERR_NOMEM;
    *set = (dx_schemas){.config = *config};
    dx__store_init(&set->store, &alloc, config->memory_max);
    dx_buf_init(&set->uri, config->memory_max, &set->store.alloc);
    dx_buf_init(&set->fragment, config->memory_max, &set->store.alloc);
    dx_buf_init(&set->stack, config->memory_max, &set->store.alloc);
    *ret_schemas = set;
    return DX_OK;
}

dx_schemas *dx_schemas_free(dx_schemas *set) {
    if (!set)
        return NULL;
    dx_allocator alloc = set->store.budget.base;
    dx_buf_done(&set->uri);
    dx_buf_done(&set->fragment);
    dx_buf_done(&set->stack);
    dx__store_done(&set->store);
    dx__free(&alloc, set);
    return NULL;
}

dx__resource *dx__resource_at(const dx_schemas *set, yyjson_val *root) {
    size_t cursor = 0;
    uint64_t key = dx__store_key(root, NULL);
    for (dx__resource *it; (it = dx__store_find(&set->store, DX__KIND_RESOURCE, key, &cursor));)
        if (it->root == root)
            return it;
    return NULL;
}

dx__resource *dx__resource_new(dx_schemas *set, yyjson_val *root, dx_text uri,
                               const dx__document *document, dx__resource *parent) {
    dx__resource *resource = dx__store_take(&set->store, sizeof *resource, 1);
    if (!resource)
        return NULL;
    resource->root = root;
    resource->uri = uri;
    resource->document = document;
    resource->parent = parent;
    uint64_t key = dx__store_key(root, NULL);
    if (dx__store_put(&set->store, DX__KIND_RESOURCE, key, &resource->entry) != DX_OK)
        return NULL;
    return resource;
}

static dx__uri_name *find_name(const dx_schemas *set, dx_text uri) {
    size_t cursor = 0;
    uint64_t key = dx__hash(seed, uri);
    for (dx__uri_name *it; (it = dx__store_find(&set->store, DX__KIND_NAME, key, &cursor));)
        if (it->uri.len == uri.len && (!uri.len || memcmp(it->uri.at, uri.at, uri.len) == 0))
            return it;
    return NULL;
}

dx_status dx__resource_name(dx_schemas *set, dx__resource *resource, dx_text uri) {
    const dx__uri_name *known = find_name(set, uri);
    if (known)
        return known->resource == resource ? DX_OK : DX_GONE;
    dx__uri_name *name = dx__store_take(&set->store, sizeof *name, 1);
    if (!name)
        return dx__blame_memory(set);
    name->uri = uri;
    name->resource = resource;
    if (dx__store_put(&set->store, DX__KIND_NAME, dx__hash(seed, uri), &name->entry) != DX_OK)
        return dx__blame_memory(set);
    return DX_OK;
}

/* Reads a metaschema and adds it as a document like others. */
static dx_status read_metaschema(dx_schemas *set, dx_text uri, dx_text text) {
    dx__entry *entry = dx__store_take(&set->store, sizeof *entry, 1);
    if (!entry)
        return dx__blame_memory(set);
    char *copy = dx__store_copy(&set->store, text);
    if (!copy)
        return dx__blame_memory(set);
    for (size_t i = 0; i < text.len; i++)
        copy[i] = copy[i] == '\'' ? '"' : copy[i];
    yyjson_alc alc = {set->store.alloc.malloc, set->store.alloc.realloc, set->store.alloc.free,
                      set->store.alloc.ctx};
    entry->owned = yyjson_read_opts(copy, text.len, YYJSON_READ_NOFLAG, &alc, NULL);
    if (!entry->owned)
        return dx__blame_memory(set);
    yyjson_val *root = yyjson_doc_get_root(entry->owned);
    dx__store_put(&set->store, DX__KIND_PARSED, 0, entry);
    return dx__document_add(set, uri, root);
}

dx__resource *dx__resource_named(dx_schemas *set, dx_text uri, dx_status *ret_status) {
    *ret_status = DX_OK;
    const dx__uri_name *name = find_name(set, uri);
    if (name)
        return name->resource;
    dx_text text = dx__metaschema(uri);
    if (!text.at)
        return NULL;
    /* The buffer that holds the URI, the walk and the document that is named are in use already. */
    char *copy = dx__store_copy(&set->store, uri);
    dx_buf stack = set->stack;
    dx_buf_init(&set->stack, stack.max, &stack.alloc);
    *ret_status =
        copy ? read_metaschema(set, (dx_text){copy, uri.len}, text) : dx__blame_memory(set);
    dx_buf_done(&set->stack);
    set->stack = stack;
    if (*ret_status != DX_OK)
        return NULL;
    name = find_name(set, (dx_text){copy, uri.len});
    return name ? name->resource : NULL;
}

static uint64_t anchor_key(const dx__resource *resource, dx_text name) {
    return dx__hash(seed, name) ^ dx__store_key(resource, NULL);
}

dx__anchor *dx__anchor_named(const dx_schemas *set, const dx__resource *resource, dx_text name) {
    size_t cursor = 0;
    uint64_t key = anchor_key(resource, name);
    for (dx__anchor *it; (it = dx__store_find(&set->store, DX__KIND_ANCHOR, key, &cursor));)
        if (it->resource == resource && it->name.len == name.len &&
            (!name.len || memcmp(it->name.at, name.at, name.len) == 0))
            return it;
    return NULL;
}

/* A value may have the same name as $anchor and as $dynamicAnchor. */
dx_status dx__anchor_add(dx_schemas *set, dx__resource *resource, dx_text name, bool dynamic,
                         yyjson_val *schema) {
    dx__anchor *anchor = dx__anchor_named(set, resource, name);
    dx__place place = {schema, resource};
    dx__word word = dynamic ? DX__WORD_DYNAMIC_ANCHOR : DX__WORD_ANCHOR;
    if (anchor && anchor->value != schema)
        return dx__blame(set, place, word, "another schema has the same anchor", name);
    if (!anchor) {
        anchor = dx__store_take(&set->store, sizeof *anchor, 1);
        if (!anchor)
            return dx__blame_memory(set);
        anchor->resource = resource;
        anchor->name = name;
        anchor->value = schema;
        uint64_t key = anchor_key(resource, name);
        if (dx__store_put(&set->store, DX__KIND_ANCHOR, key, &anchor->entry) != DX_OK)
            return dx__blame_memory(set);
    }
    if (dynamic && !anchor->dynamic) {
        anchor->dynamic = true;
        anchor->next = resource->dynamic;
        resource->dynamic = anchor;
    }
    return DX_OK;
}

dx_status dx__document_add(dx_schemas *set, dx_text uri, yyjson_val *root) {
    dx__document *document = dx__store_take(&set->store, sizeof *document, 1);
    if (!document)
        return dx__blame_memory(set);
    document->root = root;
    document->uri = uri;
    dx__resource *resource = dx__resource_new(set, root, uri, document, NULL);
    if (!resource)
        return dx__blame_memory(set);
    dx_status status = dx__resource_name(set, resource, uri);
    if (status == DX_GONE) {
        dx__place place = {root, resource};
        return dx__blame(set, place, DX__WORD__COUNT, "another document has the same URI", uri);
    }
    return status == DX_OK ? dx__scan(set, root, resource) : status;
}

static dx_status add(dx_schemas *set, dx_text uri, yyjson_val *document) {
    dx__place nowhere = {document, NULL};
    dx__uri parts = dx__uri_split(uri);
    if (!document || !dx__uri_is_sound(uri) || parts.fragment.len)
        return dx__blame(set, nowhere, DX__WORD__COUNT,
                         document ? "not a URI without a fragment" : "no document", uri);
    if (dx__resource_at(set, document))
        return dx__blame(set, nowhere, DX__WORD__COUNT, "a document that was added before", uri);
    static const dx_text no_base = {"", 0};
    if (dx__uri_resolve(no_base, &parts, &set->uri) != DX_OK)
        return dx__blame_memory(set);
    dx_text whole = {set->uri.data, set->uri.len};
    const char *copy = dx__store_copy(&set->store, whole);
    if (!copy)
        return dx__blame_memory(set);
    return dx__document_add(set, (dx_text){copy, whole.len}, document);
}

void dx__set_undo(dx_schemas *set, dx__mark mark) {
    /* A resource that stays may have got anchors; the newest are first in its list. */
    for (dx__entry *entry = set->store.newest; entry != mark.newest; entry = entry->older) {
        dx__anchor *anchor = (dx__anchor *)(void *)entry;
        if (entry->kind == DX__KIND_ANCHOR && anchor->dynamic)
            anchor->resource->dynamic = anchor->next;
    }
    dx__store_undo(&set->store, mark);
}

dx_status dx_schemas_add(dx_schemas *set, dx_text uri, yyjson_val *document, dx_misfit *reterr) {
    dx__mark mark = dx__store_mark(&set->store);
    set->why = reterr;
    set->effort = DX__EFFORT_MAX;
    set->home = NULL;
    dx_status status = add(set, uri, document);
    if (status != DX_OK)
        dx__set_undo(set, mark);
    set->why = NULL;
    dx_buf_done(&set->stack);
    return status;
}
