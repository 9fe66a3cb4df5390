/* The keywords of JSON Schema, and the members of one schema by keyword. */
#ifndef DX_SCHEMA_WORDS_H
#define DX_SCHEMA_WORDS_H

#include <duplex/base.h>

#include <stdbool.h>
#include <yyjson.h>

/* In the order of their bytes, which is how they are searched. */
#define DX__WORDS(X)                                        \
    X(ANCHOR, "$anchor", NOTHING)                           \
    X(DEFS, "$defs", MAP)                                   \
    X(DYNAMIC_ANCHOR, "$dynamicAnchor", NOTHING)            \
    X(DYNAMIC_REF, "$dynamicRef", NOTHING)                  \
    X(ID, "$id", NOTHING)                                   \
    X(REF, "$ref", NOTHING)                                 \
    X(SCHEMA, "$schema", NOTHING)                           \
    X(VOCABULARY, "$vocabulary", NOTHING)                   \
    X(ADDITIONAL_ITEMS, "additionalItems", ONE)             \
    X(ADDITIONAL_PROPERTIES, "additionalProperties", ONE)   \
    X(ALL_OF, "allOf", LIST)                                \
    X(ANY_OF, "anyOf", LIST)                                \
    X(CONST, "const", NOTHING)                              \
    X(CONTAINS, "contains", ONE)                            \
    X(CONTENT_ENCODING, "contentEncoding", NOTHING)         \
    X(CONTENT_MEDIA_TYPE, "contentMediaType", NOTHING)      \
    X(CONTENT_SCHEMA, "contentSchema", ONE)                 \
    X(DEFINITIONS, "definitions", MAP)                      \
    X(DEPENDENCIES, "dependencies", MAP)                    \
    X(DEPENDENT_REQUIRED, "dependentRequired", NOTHING)     \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", MAP)           \
    X(ELSE, "else", ONE)                                    \
    X(ENUM, "enum", NOTHING)                                \
    X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", NOTHING)       \
    X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", NOTHING)       \
    X(FORMAT, "format", NOTHING)                            \
    X(IF, "if", ONE)                                        \
    X(ITEMS, "items", EITHER)                               \
    X(MAX_CONTAINS, "maxContains", NOTHING)                 \
    X(MAX_ITEMS, "maxItems", NOTHING)                       \
    X(MAX_LENGTH, "maxLength", NOTHING)                     \
    X(MAX_PROPERTIES, "maxProperties", NOTHING)             \
    X(MAXIMUM, "maximum", NOTHING)                          \
    X(MIN_CONTAINS, "minContains", NOTHING)                 \
    X(MIN_ITEMS, "minItems", NOTHING)                       \
    X(MIN_LENGTH, "minLength", NOTHING)                     \
    X(MIN_PROPERTIES, "minProperties", NOTHING)             \
    X(MINIMUM, "minimum", NOTHING)                          \
    X(MULTIPLE_OF, "multipleOf", NOTHING)                   \
    X(NOT, "not", ONE)                                      \
    X(ONE_OF, "oneOf", LIST)                                \
    X(PATTERN, "pattern", NOTHING)                          \
    X(PATTERN_PROPERTIES, "patternProperties", MAP)         \
    X(PREFIX_ITEMS, "prefixItems", LIST)                    \
    X(PROPERTIES, "properties", MAP)                        \
    X(PROPERTY_NAMES, "propertyNames", ONE)                 \
    X(REQUIRED, "required", NOTHING)                        \
    X(THEN, "then", ONE)                                    \
    X(TYPE, "type", NOTHING)                                \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", ONE)           \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", ONE) \
    X(UNIQUE_ITEMS, "uniqueItems", NOTHING)

typedef enum dx__word {
#define X(name, text, holds) DX__WORD_##name,
    DX__WORDS(X)
#undef X
        DX__WORD__COUNT,
} dx__word;

/* What lies under a keyword: which values there are schemas. */
typedef enum dx__holds {
    DX__HOLDS_NOTHING,
    DX__HOLDS_ONE,
    DX__HOLDS_LIST,
    DX__HOLDS_MAP,
    DX__HOLDS_EITHER, /* one, or a list of them */
} dx__holds;

const char *dx__word_name(dx__word word);
/* DX__WORD__COUNT if it is none. */
dx__word dx__word_of(dx_text text);
dx__holds dx__word_holds(dx__word word);

/* The members of a schema that are keywords; NULL for those that are not there. Of several with one
 * name the last counts. */
typedef struct dx__words {
    yyjson_val *at[DX__WORD__COUNT];
} dx__words;
/* How many there are. The value must be an object. */
unsigned dx__words_gather(yyjson_val *schema, dx__words *ret_words);

/* Forgets those that draft 7 (or else 2020-12) does not have. */
void dx__words_keep(dx__words *words, bool draft7);
bool dx__word_is_in(dx__word word, bool draft7);

static inline dx_text dx__text_of(yyjson_val *string) {
    return (dx_text){unsafe_yyjson_get_str(string), unsafe_yyjson_get_len(string)};
}

#endif
