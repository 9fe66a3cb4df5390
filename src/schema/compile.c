#include "schema/set.h"

#include <string.h>

/*
 * A scope is the way by which a schema was reached, as far as $dynamicRef can tell: the resources
 * on it that bring a $dynamicAnchor that none before had. As all ways are known when schemas are
 * compiled, a place that is reached on different ones is compiled for each, and to a check a
 * $dynamicRef is a reference like others.
 */
struct dx__scope {
    dx__entry entry;
    const dx__scope *outer;
    const dx__resource *resource;
    const dx__scope *whole; /* what it comes to: itself, or outer if it brings nothing */
    unsigned depth;
};

const dx__node dx__node_true = {.types = DX__TYPE_ALL};

/* The outermost that has a dynamic anchor of that name. */
static const dx__anchor *outermost(const dx_schemas *set, const dx__scope *scope, dx_text name) {
    const dx__anchor *found = NULL;
    for (; scope; scope = scope->outer) {
        const dx__anchor *anchor = dx__anchor_named(set, scope->resource, name);
        if (anchor && anchor->dynamic)
            found = anchor;
    }
    return found;
}

static dx_status brings_something(dx_schemas *set, const dx__scope *scope,
                                  const dx__resource *resource, bool *ret_does) {
    *ret_does = false;
    for (const dx__anchor *anchor = resource->dynamic; anchor && !*ret_does;
         anchor = anchor->next) {
        dx_status status = dx__effort(set, scope ? scope->depth : 1);
        if (status != DX_OK)
            return status;
        *ret_does = !outermost(set, scope, anchor->name);
    }
    return DX_OK;
}

/* The scope in a resource that was reached from another scope. */
static dx_status enter(dx_schemas *set, dx__place place, const dx__scope *outer,
                       const dx__scope **ret_scope) {
    const dx__resource *resource = place.resource;
    *ret_scope = outer;
    if (!resource->dynamic || (outer && outer->resource == resource))
        return DX_OK;
    size_t cursor = 0;
    uint64_t key = dx__store_key(outer, resource);
    for (dx__scope *it; (it = dx__store_find(&set->store, DX__KIND_SCOPE, key, &cursor));)
        if (it->outer == outer && it->resource == resource) {
            *ret_scope = it->whole;
            return DX_OK;
        }
    dx__scope *scope = dx__store_take(&set->store, sizeof *scope, 1);
    if (!scope)
        return dx__blame_memory(set);
    scope->outer = outer;
    scope->resource = resource;
    scope->depth = outer ? outer->depth + 1 : 1;
    bool does;
    dx_status status = brings_something(set, outer, resource, &does);
    if (status != DX_OK)
        return status;
    scope->whole = does ? scope : outer;
    if (scope->depth > set->config.nesting_max)
        return dx__blame_limit(set, place, DX__WORD__COUNT, "dynamic scopes are nested too deep");
    if (dx__store_put(&set->store, DX__KIND_SCOPE, key, &scope->entry) != DX_OK)
        return dx__blame_memory(set);
    *ret_scope = scope->whole;
    return DX_OK;
}

static dx__node *find_node(const dx_schemas *set, dx__place place, const dx__scope *scope) {
    size_t cursor = 0;
    uint64_t key = dx__store_key(place.value, scope);
    for (dx__node *it; (it = dx__store_find(&set->store, DX__KIND_NODE, key, &cursor));)
        if (it->schema == place.value && it->scope == scope)
            return it;
    return NULL;
}

static dx_status new_node(dx_schemas *set, dx__place place, const dx__scope *scope,
                          const dx__node **ret_node) {
    if (set->node_count >= set->config.nodes_max)
        return dx__blame_limit(set, place, DX__WORD__COUNT, "more schemas than are allowed");
    dx__node *node = dx__store_take(&set->store, sizeof *node, 1);
    if (!node)
        return dx__blame_memory(set);
    node->schema = place.value;
    node->resource = place.resource;
    node->scope = scope;
    uint64_t key = dx__store_key(place.value, scope);
    if (dx__store_put(&set->store, DX__KIND_NODE, key, &node->entry) != DX_OK)
        return dx__blame_memory(set);
    set->node_count++;
    node->next = set->waiting;
    set->waiting = node;
    *ret_node = node;
    return DX_OK;
}

/* Whether a schema says nothing but where another lies; then that is handed out. */
static dx_status is_reference(dx_schemas *set, dx__place place, dx__word *ret_word,
                              yyjson_val **ret_reference) {
    *ret_reference = NULL;
    dx__words words;
    if (!yyjson_is_obj(place.value) || !dx__words_gather(place.value, &words))
        return DX_OK;
    if (!words.at[DX__WORD_REF] && !words.at[DX__WORD_DYNAMIC_REF])
        return DX_OK;
    dx__dialect dialect;
    dx_status status = dx__dialect_of(set, place.resource, &dialect);
    if (status != DX_OK)
        return status;
    *ret_word = words.at[DX__WORD_REF] ? DX__WORD_REF : DX__WORD_DYNAMIC_REF;
    if (dialect.draft == DX__DRAFT_7) {
        *ret_reference = words.at[DX__WORD_REF];
        return DX_OK;
    }
    for (unsigned word = 0; word < DX__WORD__COUNT; word++)
        if (words.at[word] && word != *ret_word && word != DX__WORD_DEFS &&
            word != DX__WORD_DEFINITIONS && word != DX__WORD_ANCHOR &&
            word != DX__WORD_DYNAMIC_ANCHOR && word != DX__WORD_ID && word != DX__WORD_SCHEMA)
            return DX_OK;
    *ret_reference = words.at[*ret_word];
    return DX_OK;
}

/* One step of a reference: from a place in a scope to another. */
static dx_status step(dx_schemas *set, dx__place *place, const dx__scope **scope, dx__word word,
                      yyjson_val *reference) {
    if (!yyjson_is_str(reference))
        return dx__blame(set, *place, word, "must be a string", (dx_text){0});
    const dx__anchor *anchor;
    dx__place from = *place;
    dx_status status = dx__reference(set, dx__text_of(reference), from, word, place, &anchor);
    if (status != DX_OK)
        return status;
    if (word == DX__WORD_DYNAMIC_REF && anchor && anchor->dynamic) {
        const dx__anchor *first = outermost(set, *scope, anchor->name);
        if (first)
            *place = (dx__place){first->value, first->resource};
    }
    if (!yyjson_is_obj(place->value) && !yyjson_is_bool(place->value))
        return dx__blame(set, from, word,
                         "refers to something that is not a schema:", dx__text_of(reference));
    return enter(set, *place, *scope, scope);
}

dx_status dx__declare(dx_schemas *set, dx__place place, const dx__scope *scope,
                      const dx__node **ret_node) {
    dx__place start = place;
    const dx__scope *start_scope = scope;
    for (unsigned hops = 0;; hops++) {
        if (yyjson_is_true(place.value)) {
            *ret_node = &dx__node_true;
            return DX_OK;
        }
        const dx__node *node = find_node(set, place, scope);
        if (node) {
            *ret_node = node;
            return DX_OK;
        }
        dx__word word;
        yyjson_val *reference;
        dx_status status = is_reference(set, place, &word, &reference);
        if (status != DX_OK)
            return status;
        if (!reference)
            return new_node(set, place, scope, ret_node);
        if (hops > set->config.nesting_max)
            return dx__blame_limit(set, start, word, "goes through too many other references");
        status = step(set, &place, &scope, word, reference);
        if (status != DX_OK)
            return status;
        /* From a place that lies on a loop the way comes back; others see it at the limit, or one
         * of those that lie on it is compiled for itself. */
        if (place.value == start.value && scope == start_scope)
            return dx__blame(set, start, word, "refers to itself", (dx_text){0});
        if ((hops & (hops - 1)) == 0) {
            start = place;
            start_scope = scope;
        }
    }
}

dx_status dx__declare_below(dx_schemas *set, const dx__node *node, yyjson_val *value,
                            const dx__node **ret_node) {
    dx__place place = {value, dx__resource_at(set, value)};
    if (!place.resource) {
        place.resource = node->resource;
        return dx__declare(set, place, node->scope, ret_node);
    }
    const dx__scope *scope;
    dx_status status = enter(set, place, node->scope, &scope);
    return status == DX_OK ? dx__declare(set, place, scope, ret_node) : status;
}

dx_status dx__declare_reference(dx_schemas *set, const dx__node *node, dx__word word,
                                yyjson_val *reference, const dx__node **ret_node) {
    dx__place place = dx__place_of(node);
    const dx__scope *scope = node->scope;
    dx_status status = step(set, &place, &scope, word, reference);
    return status == DX_OK ? dx__declare(set, place, scope, ret_node) : status;
}

static dx_schema *find_schema(const dx_schemas *set, yyjson_val *value) {
    size_t cursor = 0;
    uint64_t key = dx__store_key(value, NULL);
    for (dx_schema *it; (it = dx__store_find(&set->store, DX__KIND_SCHEMA, key, &cursor));)
        if (it->value == value)
            return it;
    return NULL;
}

static dx_status new_schema(dx_schemas *set, yyjson_val *value, dx_schema **ret_schema) {
    dx_schema *schema = dx__store_take(&set->store, sizeof *schema, 1);
    if (!schema)
        return dx__blame_memory(set);
    schema->document = set->home;
    schema->value = value;
    uint64_t key = dx__store_key(value, NULL);
    if (dx__store_put(&set->store, DX__KIND_SCHEMA, key, &schema->entry) != DX_OK)
        return dx__blame_memory(set);
    *ret_schema = schema;
    return DX_OK;
}

static dx_status compile(dx_schemas *set, dx_text uri, dx__mark mark, dx_schema **ret_schema) {
    dx__place nowhere = {NULL, NULL};
    dx__place place;
    const dx__anchor *anchor;
    dx_status status = dx__reference(set, uri, nowhere, DX__WORD__COUNT, &place, &anchor);
    if (status != DX_OK)
        return status;
    set->home = place.resource->document;
    if (!yyjson_is_obj(place.value) && !yyjson_is_bool(place.value))
        return dx__blame(set, place, DX__WORD__COUNT, "not a schema", (dx_text){0});
    dx_schema *schema = find_schema(set, place.value);
    if (schema) {
        *ret_schema = schema;
        return DX_OK;
    }
    status = new_schema(set, place.value, &schema);
    if (status != DX_OK)
        return status;
    const dx__scope *scope;
    status = enter(set, place, NULL, &scope);
    if (status == DX_OK)
        status = dx__declare(set, place, scope, &schema->node);
    while (status == DX_OK && set->waiting) {
        dx__node *node = set->waiting;
        set->waiting = node->next;
        status = dx__fill(set, node);
    }
    if (status == DX_OK)
        status = dx__finish(set, mark);
    if (status == DX_OK)
        *ret_schema = schema;
    return status;
}

dx_status dx_schemas_compile(dx_schemas *set, dx_text uri, dx_schema **ret_schema,
                             dx_misfit *reterr) {
    dx__mark mark = dx__store_mark(&set->store);
    size_t node_count = set->node_count;
    set->why = reterr;
    set->effort = DX__EFFORT_MAX;
    set->home = NULL;
    dx_status status = compile(set, uri, mark, ret_schema);
    if (status != DX_OK) {
        dx__set_undo(set, mark);
        set->node_count = node_count;
        set->waiting = NULL;
    }
    set->why = NULL;
    return status;
}
