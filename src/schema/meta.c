#include "schema/set.h"

#include <string.h>

/* The metaschemas, each as what it asks; titles and defaults are nobody's business here. */
#define DRAFT "https://json-schema.org/draft/2020-12/"
#define HEAD(name) "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT name "\","
#define VOCABULARY(name) "\"$vocabulary\":{\"" DRAFT "vocab/" name "\":true},"
#define META(name)     \
    HEAD("meta/" name) \
    VOCABULARY(name) "\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"],"
#define SELF "{\"$dynamicRef\":\"#meta\"}"
#define MAP_OF(what) "{\"type\":\"object\",\"additionalProperties\":" what "}"
#define LIST "{\"$ref\":\"#/$defs/list\"}"
#define NATURAL "{\"$ref\":\"#/$defs/natural\"}"
#define STRINGS "{\"$ref\":\"#/$defs/strings\"}"
#define IS(type) "{\"type\":\"" type "\"}"

static const char schema[] =
    HEAD("schema") "\"$vocabulary\":{\"" DRAFT "vocab/core\":true,\"" DRAFT
                   "vocab/applicator\":true,\"" DRAFT "vocab/unevaluated\":true,\"" DRAFT
                   "vocab/validation\":true,\"" DRAFT "vocab/meta-data\":true,\"" DRAFT
                   "vocab/format-annotation\":true,\"" DRAFT
                   "vocab/content\":true},\"$dynamicAnchor\":\"meta\",\"allOf\":["
                   "{\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},{\"$ref\":\"meta/"
                   "unevaluated\"},"
                   "{\"$ref\":\"meta/validation\"},{\"$ref\":\"meta/meta-data\"},"
                   "{\"$ref\":\"meta/format-annotation\"},{\"$ref\":\"meta/content\"}],"
                   "\"type\":[\"object\",\"boolean\"],\"properties\":{"
                   "\"definitions\":" MAP_OF(
                       SELF) ","
                             "\"dependencies\":" MAP_OF(
                                 "{\"anyOf\":[" SELF ",{\"$ref\":\"meta/validation#/$defs/"
                                 "strings\"}]}") ","
                                                 "\"$recursiveAnchor\":{\"$ref\":"
                                                 "\"meta/core#/$defs/anchor\"},"
                                                 "\"$recursiveRef\":{\"$ref\":"
                                                 "\"meta/core#/$defs/"
                                                 "reference\"}}}";

static const char core[] = META(
    "core") "\"properties\":{"
            "\"$id\":{\"$ref\":\"#/$defs/reference\",\"pattern\":\"^[^#]*#?$\"},"
            "\"$schema\":{\"$ref\":\"#/$defs/uri\"},"
            "\"$ref\":{\"$ref\":\"#/$defs/reference\"},\"$anchor\":{\"$ref\":\"#/$defs/anchor\"},"
            "\"$dynamicRef\":{\"$ref\":\"#/$defs/reference\"},"
            "\"$dynamicAnchor\":{\"$ref\":\"#/$defs/anchor\"},"
            "\"$vocabulary\":{\"type\":\"object\",\"propertyNames\":{\"$ref\":\"#/$defs/uri\"},"
            "\"additionalProperties\":" IS(
                "boolean") "},"
                           "\"$comment\":" IS("string") ",\"$defs\":" MAP_OF(
                               SELF) "},"
                                     "\"$defs\":{\"anchor\":{\"type\":\"string\",\"pattern\":\"^[A-"
                                     "Za-z_][-A-Za-z0-9._]*$\"},"
                                     "\"uri\":{\"type\":\"string\",\"format\":\"uri\"},"
                                     "\"reference\":{\"type\":\"string\",\"format\":\"uri-"
                                     "reference\"}}}";

static const char applicator[] =
    META("applicator") "\"properties\":{\"prefixItems\":" LIST ",\"items\":" SELF
                       ",\"contains\":" SELF ",\"additionalProperties\":" SELF
                       ",\"properties\":" MAP_OF(
                           SELF) ",\"patternProperties\":{\"type\":\"object\","
                                 "\"additionalProperties\":" SELF
                                 ",\"propertyNames\":{\"format\":\"regex\"}},"
                                 "\"dependentSchemas\":" MAP_OF(
                                     SELF) ",\"propertyNames\":" SELF ",\"if\":" SELF
                                           ",\"then\":" SELF ",\"else\":" SELF ",\"allOf\":" LIST
                                           ",\"anyOf\":" LIST ",\"oneOf\":" LIST ",\"not\":" SELF
                                           "},"
                                           "\"$defs\":{\"list\":{\"type\":\"array\",\"minItems\":1,"
                                           "\"items\":" SELF "}}}";

static const char unevaluated[] = META("unevaluated") "\"properties\":{\"unevaluatedItems\":" SELF
                                                      ",\"unevaluatedProperties\":" SELF "}}";

#define VALIDATION_COMMON                                                                                                                                                                            \
    "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":" IS(                                                                                                                   \
        "number") ",\"exclusiveMaximum\":" IS("number") ",\"minimum\":" IS("number") ",\"exclusiv"                                                                                                   \
                                                                                     "eMinimum\""                                                                                                    \
                                                                                     ":" IS(                                                                                                         \
                                                                                         "numb"                                                                                                      \
                                                                                         "er") ","                                                                                                   \
                                                                                               "\"maxLength\":" NATURAL                                                                              \
                                                                                               ","                                                                                                   \
                                                                                               "\"minLength\":" NATURAL                                                                              \
                                                                                               ","                                                                                                   \
                                                                                               "\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},\"maxItems\":" NATURAL                        \
                                                                                               ","                                                                                                   \
                                                                                               "\"minItems\":" NATURAL                                                                               \
                                                                                               ","                                                                                                   \
                                                                                               "\"uniqueItems\":" IS(                                                                                \
                                                                                                   "boolean") ",\"maxProperties\":" NATURAL                                                          \
                                                                                                              ",\"minProperties\":" NATURAL                                                          \
                                                                                                              ",\"required\":" STRINGS                                                               \
                                                                                                              ",\"const\":true,"                                                                     \
                                                                                                              "\"enum\":{\"type\":\"array\"},"                                                       \
                                                                                                              "\"type\":{\"anyOf\":[{\"$ref\":\"#/$defs/type\"},{\"type\":\"array\",\"minItems\":1," \
                                                                                                              "\"uniqueItems\":true,\"items\":{\"$ref\":\"#/$defs/type\"}}]}"
#define VALIDATION_DEFS                                                                      \
    "\"natural\":{\"type\":\"integer\",\"minimum\":0},"                                      \
    "\"strings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}," \
    "\"type\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\","  \
    "\"string\"]}"

static const char validation[] =
    META("validation") "\"properties\":{" VALIDATION_COMMON ",\"maxContains\":" NATURAL
                       ",\"minContains\":" NATURAL
                       ",\"dependentRequired\":" MAP_OF(STRINGS) "},\"$defs\":{" VALIDATION_DEFS
                                                                 "}}";

#define META_DATA_COMMON                                              \
    "\"title\":" IS("string") ",\"description\":" IS(                 \
        "string") ",\"default\":true,"                                \
                  "\"readOnly\":" IS("boolean") ",\"writeOnly\":" IS( \
                      "boolean") ",\"examples\":" IS("array")

static const char meta_data[] =
    META("meta-data") "\"properties\":{" META_DATA_COMMON ",\"deprecated\":" IS("boolean") "}}";

static const char format_annotation[] =
    META("format-annotation") "\"properties\":{\"format\":" IS("string") "}}";

static const char format_assertion[] =
    META("format-assertion") "\"properties\":{\"format\":" IS("string") "}}";

static const char content[] = META("content") "\"properties\":{\"contentEncoding\":" IS(
    "string") ",\"contentMediaType\":" IS("string") ",\"contentSchema\":" SELF "}}";

#define ROOT "{\"$ref\":\"#\"}"

/* The names of the definitions are as in the published one, as others may refer to them. */
static const char draft7[] =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
    "\"$id\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{"
    "\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":" ROOT "},"
    "\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},"
    "\"nonNegativeIntegerDefault0\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"simpleTypes\":{\"$ref\":\"#/$defs/type\"},\"stringArray\":" STRINGS "},"
    "\"$defs\":{\"list\":{\"$ref\":\"#/definitions/schemaArray\"}," VALIDATION_DEFS "},"
    "\"type\":[\"object\",\"boolean\"],\"properties\":{"
    "\"$id\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
    "\"$schema\":{\"type\":\"string\",\"format\":\"uri\"},"
    "\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
    "\"$comment\":" IS(
        "string") "," META_DATA_COMMON "," VALIDATION_COMMON ",\"additionalItems\":" ROOT
                  ",\"items\":{\"anyOf\":[" ROOT "," LIST "]},\"contains\":" ROOT
                  ",\"additionalProperties\":" ROOT
                  ",\"definitions\":" MAP_OF(ROOT) ",\"properties\":" MAP_OF(
                      ROOT) ",\"patternProperties\":{\"type\":\"object\","
                            "\"additionalProperties\":" ROOT
                            ",\"propertyNames\":{\"format\":\"regex\"}},\"dependencies\":" MAP_OF(
                                "{\"anyOf\":[" ROOT "," STRINGS
                                "]}") ",\"propertyNames\":" ROOT
                                      ",\"format\":" IS("string") ",\"contentMediaType\":" IS(
                                          "string") ",\"contentEncoding\":" IS("string") ",\"if\""
                                                                                         ":" ROOT
                                                                                         ",\"then\""
                                                                                         ":" ROOT
                                                                                         ",\"else\""
                                                                                         ":" ROOT
                                                                                         ",\"allOf"
                                                                                         "\":" LIST
                                                                                         ",\"anyOf"
                                                                                         "\":" LIST
                                                                                         ",\"oneOf"
                                                                                         "\":" LIST
                                                                                         ",\"not\""
                                                                                         ":" ROOT
                                                                                         "}}";

dx_text dx__metaschema(dx_text uri) {
    static const struct {
        const char *uri;
        const char *text;
    } rows[] = {
        {DRAFT "schema", schema},
        {DRAFT "meta/core", core},
        {DRAFT "meta/applicator", applicator},
        {DRAFT "meta/unevaluated", unevaluated},
        {DRAFT "meta/validation", validation},
        {DRAFT "meta/meta-data", meta_data},
        {DRAFT "meta/format-annotation", format_annotation},
        {DRAFT "meta/format-assertion", format_assertion},
        {DRAFT "meta/content", content},
        {"http://json-schema.org/draft-07/schema", draft7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (dx_text_is(uri, rows[i].uri))
            return dx_str(rows[i].text);
    return (dx_text){0};
}
