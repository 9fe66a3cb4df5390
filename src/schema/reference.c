#include "base/buf.h"
#include "schema/set.h"

#include <string.h>

/* Objects with more members than that are searched by a table. */
enum { MANY = 24 };

static const uint64_t seed = UINT64_C(0xbb67ae8584caa73b);

typedef struct member {
    dx__entry entry;
    yyjson_val *object;
    yyjson_val *key;
} member;

static uint64_t member_key(yyjson_val *object, dx_text name) {
    return dx__hash(seed, name) ^ dx__store_key(object, NULL);
}

static dx_status put_member(dx_schemas *set, yyjson_val *object, yyjson_val *key) {
    member *entry = dx__store_take(&set->store, sizeof *entry, 1);
    if (!entry)
        return dx__blame_memory(set);
    entry->object = object;
    entry->key = key;
    uint64_t at = key ? member_key(object, dx__text_of(key)) : dx__store_key(object, object);
    if (dx__store_put(&set->store, DX__KIND_MEMBER, at, &entry->entry) != DX_OK)
        return dx__blame_memory(set);
    return DX_OK;
}

/* The entry without a key says that the members of an object are all there. */
static dx_status index_members(dx_schemas *set, yyjson_val *object) {
    size_t cursor = 0;
    uint64_t mark = dx__store_key(object, object);
    for (member *it; (it = dx__store_find(&set->store, DX__KIND_MEMBER, mark, &cursor));)
        if (it->object == object && !it->key)
            return DX_OK;
    yyjson_val *key = unsafe_yyjson_get_first(object);
    for (size_t left = unsafe_yyjson_get_len(object); left; left--) {
        dx_status status = put_member(set, object, key);
        if (status != DX_OK)
            return status;
        key = unsafe_yyjson_get_next(key + 1);
    }
    return put_member(set, object, NULL);
}

static yyjson_val *search_index(const dx_schemas *set, yyjson_val *object, dx_text name) {
    size_t cursor = 0;
    uint64_t at = member_key(object, name);
    for (member *it; (it = dx__store_find(&set->store, DX__KIND_MEMBER, at, &cursor));)
        if (it->object == object && it->key &&
            unsafe_yyjson_equals_strn(it->key, name.at, name.len))
            return it->key + 1;
    return NULL;
}

static dx_status find_member(dx_schemas *set, yyjson_val *object, dx_text name,
                             yyjson_val **ret_value) {
    if (unsafe_yyjson_get_len(object) <= MANY) {
        *ret_value = yyjson_obj_getn(object, name.at, name.len);
        return DX_OK;
    }
    dx_status status = index_members(set, object);
    if (status == DX_OK)
        *ret_value = search_index(set, object, name);
    return status;
}

static dx_status find_item(dx_schemas *set, yyjson_val *array, dx_text token,
                           yyjson_val **ret_value) {
    size_t index = 0;
    *ret_value = NULL;
    if (!token.len || token.len > 9 || (token.len > 1 && token.at[0] == '0'))
        return DX_OK;
    for (size_t i = 0; i < token.len; i++) {
        if (token.at[i] < '0' || token.at[i] > '9')
            return DX_OK;
        index = index * 10 + (size_t)(token.at[i] - '0');
    }
    if (index >= unsafe_yyjson_get_len(array))
        return DX_OK;
    *ret_value = yyjson_arr_get(array, index);
    return dx__effort(set, index);
}

/* Cuts the next token off a pointer, in place: what is unescaped is never longer. */
static dx_text next_token(char **at, char *end) {
    char *from = ++*at;
    char *to = from;
    for (; *at < end && **at != '/'; (*at)++) {
        char c = **at;
        if (c == '~' && *at + 1 < end && ((*at)[1] == '0' || (*at)[1] == '1')) {
            (*at)++;
            c = **at == '0' ? '~' : '/';
        }
        *to++ = c;
    }
    return (dx_text){from, (size_t)(to - from)};
}

/* What a value on the way of a pointer is, which says whether what lies below has been scanned. */
typedef enum position { LOST, SCHEMA, LIST, MAP, EITHER } position;

static position below(position here, const dx__place *place, dx_text token) {
    if (here == LIST || here == MAP || (here == EITHER && yyjson_is_arr(place->value)))
        return SCHEMA;
    if (here == EITHER)
        here = SCHEMA;
    if (here != SCHEMA)
        return LOST;
    dx__word word = dx__word_of(token);
    dx__resource *speaker = place->resource;
    while (!speaker->dialect_known && speaker->parent)
        speaker = speaker->parent;
    if (word == DX__WORD__COUNT ||
        !dx__word_is_in(word, speaker->dialect_known && speaker->dialect.draft == DX__DRAFT_7))
        return LOST;
    static const position positions[] = {
        [DX__HOLDS_NOTHING] = LOST, [DX__HOLDS_ONE] = SCHEMA,    [DX__HOLDS_LIST] = LIST,
        [DX__HOLDS_MAP] = MAP,      [DX__HOLDS_EITHER] = EITHER,
    };
    return positions[dx__word_holds(word)];
}

typedef struct seen {
    dx__entry entry;
    yyjson_val *value;
} seen;

/* A schema that lies where no keyword is: nobody has looked yet what is in it. */
static dx_status scan_once(dx_schemas *set, dx__place *place) {
    size_t cursor = 0;
    uint64_t key = dx__store_key(place->value, NULL);
    seen *it = NULL;
    while ((it = dx__store_find(&set->store, DX__KIND_SEEN, key, &cursor)))
        if (it->value == place->value)
            break;
    if (!it) {
        it = dx__store_take(&set->store, sizeof *it, 1);
        if (!it)
            return dx__blame_memory(set);
        it->value = place->value;
        if (dx__store_put(&set->store, DX__KIND_SEEN, key, &it->entry) != DX_OK)
            return dx__blame_memory(set);
        yyjson_val *word = yyjson_obj_get(place->value, "$schema");
        dx__resource *resource = place->resource;
        if (word && !dx__resource_at(set, place->value)) {
            /* It stands for itself, but for its URI. */
            resource =
                dx__resource_new(set, place->value, resource->uri, resource->document, resource);
            if (!resource)
                return dx__blame_memory(set);
            resource->schema_word = word;
        }
        dx_status status = dx__scan(set, place->value, resource);
        if (status != DX_OK)
            return status;
    }
    dx__resource *resource = dx__resource_at(set, place->value);
    if (resource)
        place->resource = resource;
    return DX_OK;
}

static dx_status follow(dx_schemas *set, dx__place *place, bool *ret_found) {
    char *at = set->fragment.data;
    char *end = at + set->fragment.len;
    position here = SCHEMA;
    *ret_found = true;
    while (at < end) {
        dx_text token = next_token(&at, end);
        here = below(here, place, token);
        yyjson_val *next = NULL;
        dx_status status = DX_OK;
        if (yyjson_is_obj(place->value))
            status = find_member(set, place->value, token, &next);
        else if (yyjson_is_arr(place->value))
            status = find_item(set, place->value, token, &next);
        if (status != DX_OK)
            return status;
        if (!next) {
            *ret_found = false;
            return DX_OK;
        }
        place->value = next;
        dx__resource *resource = dx__resource_at(set, next);
        if (resource)
            place->resource = resource;
    }
    bool known = here == SCHEMA || (here == EITHER && yyjson_is_obj(place->value));
    return known || !yyjson_is_obj(place->value) ? DX_OK : scan_once(set, place);
}

/* A fragment alone is of the same document. A resource that only has a draft of its own is none. */
static dx__resource *same_document(dx__resource *resource) {
    while (resource->parent && resource->uri.at == resource->parent->uri.at)
        resource = resource->parent;
    return resource;
}

static dx_status find_document(dx_schemas *set, const dx__uri *parts, dx__place from, dx__word word,
                               dx__resource **ret_resource) {
    static const dx_text no_base = {"", 0};
    dx_text base = from.resource ? from.resource->uri : no_base;
    dx_status status = dx__effort(set, (base.len + parts->path.len) / 8 + 1);
    if (status != DX_OK)
        return status;
    if (dx__uri_resolve(base, parts, &set->uri) != DX_OK)
        return dx__blame_memory(set);
    dx_text uri = {set->uri.data, set->uri.len};
    *ret_resource = dx__resource_named(set, uri, &status);
    if (status == DX_OK && !*ret_resource)
        return dx__blame(set, from, word, "no document has the URI", uri);
    return status;
}

dx_status dx__reference(dx_schemas *set, dx_text reference, dx__place from, dx__word word,
                        dx__place *ret_place, const dx__anchor **ret_anchor) {
    dx__uri parts = dx__uri_split(reference);
    dx__resource *resource = NULL;
    dx_status status = dx__uri_decode(parts.fragment, &set->fragment);
    if (status == DX_ERR_INVALID)
        return dx__blame(set, from, word, "a % without two hex digits in", reference);
    if (status != DX_OK)
        return dx__blame_memory(set);
    if (from.resource && parts.fragment.at && reference.len == parts.fragment.len + 1)
        resource = same_document(from.resource);
    else
        status = find_document(set, &parts, from, word, &resource);
    if (status != DX_OK || !resource)
        return status;
    *ret_place = (dx__place){resource->root, resource};
    *ret_anchor = NULL;
    bool found = true;
    if (set->fragment.len && set->fragment.data[0] == '/') {
        status = follow(set, ret_place, &found);
    } else if (set->fragment.len) {
        dx_text name = {set->fragment.data, set->fragment.len};
        *ret_anchor = dx__anchor_named(set, resource, name);
        found = *ret_anchor != NULL;
        if (found)
            ret_place->value = (*ret_anchor)->value;
    }
    if (status == DX_OK && !found)
        return dx__blame(set, from, word, "leads nowhere:", reference);
    return status;
}
