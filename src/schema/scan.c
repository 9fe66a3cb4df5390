#include "base/buf.h"
#include "schema/set.h"

#include <string.h>

struct item {
    yyjson_val *value;
    dx__resource *resource;
    unsigned depth;
};

static dx_status push(dx_schemas *set, yyjson_val *value, const struct item *above) {
    if (!yyjson_is_obj(value))
        return DX_OK;
    if (above->depth >= set->config.nesting_max)
        return dx__blame_limit(set, (dx__place){value, above->resource}, DX__WORD__COUNT,
                               "schemas are nested too deep");
    struct item one = {value, above->resource, above->depth + 1};
    if (dx__buf_put(&set->stack, (const char *)&one, sizeof one) != DX_OK)
        return dx__blame_memory(set);
    return DX_OK;
}

static dx_status push_all(dx_schemas *set, yyjson_val *container, const struct item *above) {
    bool map = yyjson_is_obj(container);
    yyjson_val *at = unsafe_yyjson_get_first(container);
    for (size_t left = unsafe_yyjson_get_len(container); left; left--) {
        at += map;
        dx_status status = push(set, at, above);
        if (status != DX_OK)
            return status;
        at = unsafe_yyjson_get_next(at);
    }
    return DX_OK;
}

static dx_status push_below(dx_schemas *set, const dx__words *words, const struct item *above) {
    for (unsigned word = 0; word < DX__WORD__COUNT; word++) {
        yyjson_val *value = words->at[word];
        if (!value)
            continue;
        dx__holds holds = dx__word_holds((dx__word)word);
        bool list = holds == DX__HOLDS_LIST || holds == DX__HOLDS_EITHER;
        bool one = holds == DX__HOLDS_ONE || holds == DX__HOLDS_EITHER;
        dx_status status = DX_OK;
        if ((list && yyjson_is_arr(value)) || (holds == DX__HOLDS_MAP && yyjson_is_obj(value)))
            status = push_all(set, value, above);
        else if (one)
            status = push(set, value, above);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

static bool is_anchor(dx_text text) {
    if (!text.len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
        bool other = (c >= '0' && c <= '9') || c == '-' || c == '.';
        if (!letter && !(i && other))
            return false;
    }
    return true;
}

static dx_status add_anchor(dx_schemas *set, const struct item *at, dx__word word,
                            yyjson_val *value) {
    dx__place place = {at->value, at->resource};
    if (!value)
        return DX_OK;
    if (!yyjson_is_str(value))
        return dx__blame(set, place, word, "must be a string", (dx_text){0});
    dx_text name = dx__text_of(value);
    if (!is_anchor(name))
        return dx__blame(set, place, word, "not a name for an anchor", name);
    return dx__anchor_add(set, at->resource, name, word == DX__WORD_DYNAMIC_ANCHOR, at->value);
}

static dx_status name_resource(dx_schemas *set, const struct item *at, dx_text uri) {
    dx_status status = dx__resource_name(set, at->resource, uri);
    if (status == DX_GONE)
        return dx__blame(set, (dx__place){at->value, at->resource}, DX__WORD_ID,
                         "another schema has the same URI", uri);
    at->resource->uri = uri;
    return status;
}

/* "$id" begins a resource here, unless this is the root of one. */
static dx_status begin_resource(dx_schemas *set, struct item *at, const dx__uri *id,
                                yyjson_val *schema_word) {
    if (dx__uri_resolve(at->resource->uri, id, &set->uri) != DX_OK)
        return dx__blame_memory(set);
    dx_text uri = {set->uri.data, set->uri.len};
    uri.at = dx__store_copy(&set->store, uri);
    if (!uri.at)
        return dx__blame_memory(set);
    if (at->resource->root != at->value) {
        dx__resource *parent = at->resource;
        at->resource = dx__resource_new(set, at->value, uri, parent->document, parent);
        if (!at->resource)
            return dx__blame_memory(set);
        at->resource->schema_word = schema_word;
    }
    return name_resource(set, at, uri);
}

/* Nobody says which draft it is: then an anchor may be written in the old way, too. */
static bool is_unsaid(const dx__resource *resource) {
    while (resource && !resource->schema_word)
        resource = resource->parent;
    return !resource;
}

static dx_status look_at_id(dx_schemas *set, struct item *at, const dx__words *words, bool draft7) {
    yyjson_val *value = words->at[DX__WORD_ID];
    if (!value || (draft7 && words->at[DX__WORD_REF]))
        return DX_OK;
    dx__place place = {at->value, at->resource};
    if (!yyjson_is_str(value))
        return dx__blame(set, place, DX__WORD_ID, "must be a string", (dx_text){0});
    dx_text text = dx__text_of(value);
    dx__uri id = dx__uri_split(text);
    if (!dx__uri_is_sound(text))
        return dx__blame(set, place, DX__WORD_ID, "not a URI", text);
    bool only_fragment = id.fragment.len && id.fragment.len + 1 == text.len;
    if (id.fragment.len && !draft7 && !(only_fragment && is_unsaid(at->resource)))
        return dx__blame(set, place, DX__WORD_ID, "may not have a fragment", text);
    if (!only_fragment) {
        dx_status status = begin_resource(set, at, &id, words->at[DX__WORD_SCHEMA]);
        if (status != DX_OK)
            return status;
    }
    if (id.fragment.len && id.fragment.at[0] != '/')
        return dx__anchor_add(set, at->resource, id.fragment, false, at->value);
    return DX_OK;
}

/* Whether a schema is of draft 7. Its metaschema may be added later: then it is of those that come
 * with vocabularies. */
static bool is_draft7(dx_schemas *set, const struct item *at, yyjson_val *schema_word) {
    dx__resource probe = {.parent = at->resource, .schema_word = schema_word};
    dx__dialect dialect = {DX__DRAFT_2020, 0};
    dx_misfit *why = set->why;
    set->why = NULL;
    dx_status status = dx__dialect_of(set, schema_word ? &probe : at->resource, &dialect);
    set->why = why;
    return status == DX_OK && dialect.draft == DX__DRAFT_7;
}

static dx_status look_at(dx_schemas *set, struct item at) {
    dx__words words;
    if (!dx__words_gather(at.value, &words))
        return DX_OK;
    bool root = at.resource->root == at.value;
    if (root && !at.resource->schema_word)
        at.resource->schema_word = words.at[DX__WORD_SCHEMA];
    bool begins = root || words.at[DX__WORD_ID];
    bool draft7 = is_draft7(set, &at, begins ? words.at[DX__WORD_SCHEMA] : NULL);
    dx__words_keep(&words, draft7);
    dx__resource *known = root ? at.resource : dx__resource_at(set, at.value);
    if (known)
        at.resource = known;
    dx_status status = DX_OK;
    if (!known || !known->identified)
        status = look_at_id(set, &at, &words, draft7);
    if (at.resource->root == at.value)
        at.resource->identified = true;
    if (status == DX_OK)
        status = add_anchor(set, &at, DX__WORD_ANCHOR, words.at[DX__WORD_ANCHOR]);
    if (status == DX_OK)
        status = add_anchor(set, &at, DX__WORD_DYNAMIC_ANCHOR, words.at[DX__WORD_DYNAMIC_ANCHOR]);
    return status == DX_OK ? push_below(set, &words, &at) : status;
}

dx_status dx__scan(dx_schemas *set, yyjson_val *schema, dx__resource *resource) {
    struct item first = {schema, resource, 0};
    size_t floor = set->stack.len;
    dx_status status = push(set, schema, &first);
    while (status == DX_OK && set->stack.len > floor) {
        struct item at;
        set->stack.len -= sizeof at;
        memcpy(&at, set->stack.data + set->stack.len, sizeof at);
        status = look_at(set, at);
    }
    set->stack.len = floor;
    return status;
}
