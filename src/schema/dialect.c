#include "schema/set.h"

#include <string.h>

enum {
    ALL = DX__VOCABULARY_APPLICATOR | DX__VOCABULARY_UNEVALUATED | DX__VOCABULARY_VALIDATION |
          DX__VOCABULARY_CONTENT,
    HOPS = 8, /* of metaschemas that have metaschemas */
};

static bool is_uri(dx_text text, const char *uri) {
    if (text.len && text.at[text.len - 1] == '#')
        text.len--;
    static const char *const schemes[] = {"http://", "https://"};
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i]);
        if (text.len > len && memcmp(text.at, schemes[i], len) == 0)
            return dx_text_is((dx_text){text.at + len, text.len - len}, uri);
    }
    return false;
}

static bool is_known(dx_text uri, dx__dialect *ret_dialect) {
    if (is_uri(uri, "json-schema.org/draft/2020-12/schema"))
        *ret_dialect = (dx__dialect){DX__DRAFT_2020, ALL};
    else if (is_uri(uri, "json-schema.org/draft-07/schema"))
        *ret_dialect = (dx__dialect){DX__DRAFT_7, ALL};
    else
        return false;
    return true;
}

/* Those that are only annotations are known, and mean nothing here. */
static const struct vocabulary {
    const char *name;
    unsigned bits;
} vocabularies[] = {
    {"core", 0},
    {"applicator", DX__VOCABULARY_APPLICATOR},
    {"unevaluated", DX__VOCABULARY_UNEVALUATED},
    {"validation", DX__VOCABULARY_VALIDATION},
    {"meta-data", 0},
    {"format-annotation", 0},
    {"format-assertion", DX__VOCABULARY_FORMAT},
    {"content", DX__VOCABULARY_CONTENT},
};

static const struct vocabulary *vocabulary_named(dx_text uri) {
    static const char prefix[] = "https://json-schema.org/draft/2020-12/vocab/";
    size_t len = sizeof prefix - 1;
    if (uri.len < len || memcmp(uri.at, prefix, len) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++)
        if (dx_text_is((dx_text){uri.at + len, uri.len - len}, vocabularies[i].name))
            return &vocabularies[i];
    return NULL;
}

static dx_status read_vocabularies(dx_schemas *set, dx__resource *meta, yyjson_val *words,
                                   dx__dialect *ret_dialect) {
    dx__place place = {meta->root, meta};
    if (!yyjson_is_obj(words))
        return dx__blame(set, place, DX__WORD_VOCABULARY, "must be an object", (dx_text){0});
    *ret_dialect = (dx__dialect){DX__DRAFT_2020, 0};
    size_t at;
    size_t count;
    yyjson_val *key;
    yyjson_val *needed;
    yyjson_obj_foreach(words, at, count, key, needed) {
        const struct vocabulary *known = vocabulary_named(dx__text_of(key));
        if (known)
            ret_dialect->vocabularies |= known->bits;
        else if (yyjson_is_true(needed))
            return dx__blame(set, place, DX__WORD_VOCABULARY, "unknown vocabulary",
                             dx__text_of(key));
    }
    return DX_OK;
}

/* The resource above that says of which metaschema it is. */
static dx__resource *speaker(dx__resource *resource) {
    while (!resource->schema_word && resource->parent)
        resource = resource->parent;
    return resource;
}

static dx_status find_dialect(dx_schemas *set, dx__resource *resource, dx__dialect *ret_dialect) {
    for (int hop = 0; hop < HOPS; hop++) {
        resource = speaker(resource);
        dx__place place = {resource->root, resource};
        if (!resource->schema_word) {
            *ret_dialect = (dx__dialect){DX__DRAFT_2020, ALL};
            return DX_OK;
        }
        if (!yyjson_is_str(resource->schema_word))
            return dx__blame(set, place, DX__WORD_SCHEMA, "must be a string", (dx_text){0});
        dx_text uri = dx__text_of(resource->schema_word);
        if (is_known(uri, ret_dialect))
            return DX_OK;
        if (uri.len && uri.at[uri.len - 1] == '#')
            uri.len--;
        dx_status status;
        dx__resource *meta = dx__resource_named(set, uri, &status);
        if (status != DX_OK)
            return status;
        if (!meta)
            return dx__blame(set, place, DX__WORD_SCHEMA, "unknown metaschema", uri);
        yyjson_val *words = yyjson_obj_get(meta->root, "$vocabulary");
        if (words)
            return read_vocabularies(set, meta, words, ret_dialect);
        resource = meta;
    }
    return dx__blame(set, (dx__place){resource->root, resource}, DX__WORD_SCHEMA,
                     "metaschemas that refer to each other", (dx_text){0});
}

dx_status dx__dialect_of(dx_schemas *set, dx__resource *resource, dx__dialect *ret_dialect) {
    resource = speaker(resource);
    if (!resource->dialect_known) {
        dx_status status = find_dialect(set, resource, &resource->dialect);
        if (status != DX_OK)
            return status;
        resource->dialect_known = true;
    }
    *ret_dialect = resource->dialect;
    return DX_OK;
}
