#include "schema/set.h"

#include <string.h>

/*
 * The metaschemas, each as what it asks; titles and defaults are nobody's business here. The names
 * of their definitions are the published ones, as others may refer to them. Quotes are single ones
 * until they are read, so that people can read them, too.
 */
#define DRAFT "https://json-schema.org/draft/2020-12/"

/* How each part of 2020-12 ends: with what it is. */
#define PART(name)                                                                      \
    "'$schema':'" DRAFT "schema','$id':'" DRAFT "meta/" name "','$vocabulary':{'" DRAFT \
    "vocab/" name "':true},'$dynamicAnchor':'meta','type':['object','boolean']}"

static const char schema[] =
    "{'$schema':'" DRAFT "schema','$id':'" DRAFT "schema','$vocabulary':{"
    "'" DRAFT "vocab/core':true,'" DRAFT "vocab/applicator':true,"
    "'" DRAFT "vocab/unevaluated':true,'" DRAFT "vocab/validation':true,"
    "'" DRAFT "vocab/meta-data':true,'" DRAFT "vocab/format-annotation':true,"
    "'" DRAFT "vocab/content':true},"
    "'$dynamicAnchor':'meta','type':['object','boolean'],"
    "'allOf':[{'$ref':'meta/core'},{'$ref':'meta/applicator'},{'$ref':'meta/unevaluated'},"
    "{'$ref':'meta/validation'},{'$ref':'meta/meta-data'},{'$ref':'meta/format-annotation'},"
    "{'$ref':'meta/content'}],"
    "'properties':{'definitions':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}},"
    "'dependencies':{'type':'object','additionalProperties':{'anyOf':[{'$dynamicRef':'#meta'},"
    "{'$ref':'meta/validation#/$defs/stringArray'}]}},"
    "'$recursiveAnchor':{'$ref':'meta/core#/$defs/anchorString'},"
    "'$recursiveRef':{'$ref':'meta/core#/$defs/uriReferenceString'}}}";

static const char core[] =
    "{'properties':{'$id':{'$ref':'#/$defs/uriReferenceString','pattern':'^[^#]*#?$'},"
    "'$schema':{'$ref':'#/$defs/uriString'},'$ref':{'$ref':'#/$defs/uriReferenceString'},"
    "'$anchor':{'$ref':'#/$defs/anchorString'},"
    "'$dynamicRef':{'$ref':'#/$defs/uriReferenceString'},"
    "'$dynamicAnchor':{'$ref':'#/$defs/anchorString'},'$vocabulary':{'type':'object',"
    "'propertyNames':{'$ref':'#/$defs/uriString'},"
    "'additionalProperties':{'type':'boolean'}},'$comment':{'type':'string'},"
    "'$defs':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'}}},"
    "'$defs':{'anchorString':{'type':'string','pattern':'^[A-Za-z_][-A-Za-z0-9._]*$'},"
    "'uriString':{'type':'string','format':'uri'},'uriReferenceString':{'type':'string',"
    "'format':'uri-reference'}}," PART("core");

static const char applicator[] =
    "{'properties':{'prefixItems':{'$ref':'#/$defs/schemaArray'},"
    "'items':{'$dynamicRef':'#meta'},'contains':{'$dynamicRef':'#meta'},"
    "'additionalProperties':{'$dynamicRef':'#meta'},'properties':{'type':'object',"
    "'additionalProperties':{'$dynamicRef':'#meta'}},"
    "'patternProperties':{'type':'object','additionalProperties':{'$dynamicRef':'#meta'},"
    "'propertyNames':{'format':'regex'}},'dependentSchemas':{'type':'object',"
    "'additionalProperties':{'$dynamicRef':'#meta'}},"
    "'propertyNames':{'$dynamicRef':'#meta'},'if':{'$dynamicRef':'#meta'},"
    "'then':{'$dynamicRef':'#meta'},'else':{'$dynamicRef':'#meta'},"
    "'allOf':{'$ref':'#/$defs/schemaArray'},'anyOf':{'$ref':'#/$defs/schemaArray'},"
    "'oneOf':{'$ref':'#/$defs/schemaArray'},'not':{'$dynamicRef':'#meta'}},"
    "'$defs':{'schemaArray':{'type':'array','minItems':1,"
    "'items':{'$dynamicRef':'#meta'}}}," PART("applicator");

static const char unevaluated[] =
    "{'properties':{'unevaluatedItems':{'$dynamicRef':'#meta'},"
    "'unevaluatedProperties':{'$dynamicRef':'#meta'}}," PART("unevaluated");

/* What both drafts ask of a value; `defs` is where their definitions lie. */
#define VALIDATION(defs)                                                               \
    "'type':{'anyOf':[{'$ref':'#/" defs "/simpleTypes'},{'type':'array','minItems':1," \
    "'uniqueItems':true,'items':{'$ref':'#/" defs "/simpleTypes'}}]},"                 \
    "'const':true,'enum':{'type':'array'},"                                            \
    "'multipleOf':{'type':'number','exclusiveMinimum':0},"                             \
    "'maximum':{'type':'number'},'exclusiveMaximum':{'type':'number'},"                \
    "'minimum':{'type':'number'},'exclusiveMinimum':{'type':'number'},"                \
    "'maxLength':{'$ref':'#/" defs "/nonNegativeInteger'},"                            \
    "'minLength':{'$ref':'#/" defs "/nonNegativeInteger'},"                            \
    "'pattern':{'type':'string','format':'regex'},"                                    \
    "'maxItems':{'$ref':'#/" defs "/nonNegativeInteger'},"                             \
    "'minItems':{'$ref':'#/" defs "/nonNegativeInteger'},"                             \
    "'uniqueItems':{'type':'boolean'},"                                                \
    "'maxProperties':{'$ref':'#/" defs "/nonNegativeInteger'},"                        \
    "'minProperties':{'$ref':'#/" defs "/nonNegativeInteger'},"                        \
    "'required':{'$ref':'#/" defs "/stringArray'}"

#define VALIDATION_DEFINITIONS                                                                \
    "'nonNegativeInteger':{'type':'integer','minimum':0},"                                    \
    "'nonNegativeIntegerDefault0':{'type':'integer','minimum':0},"                            \
    "'simpleTypes':{'enum':['array','boolean','integer','null','number','object','string']}," \
    "'stringArray':{'type':'array','items':{'type':'string'},'uniqueItems':true}"

static const char validation[] =
    "{'properties':{" VALIDATION("$defs") ",'maxContains':{'$ref':'#/$defs/nonNegativeInteger'},"
                                          "'minContains':{'$ref':'#/$defs/nonNegativeInteger'},"
                                          "'dependentRequired':{'type':'object',"
                                          "'additionalProperties':{'$ref':'#/$defs/"
                                          "stringArray'}}},'$defs':{" VALIDATION_DEFINITIONS
                                          "}," PART("validation");

#define META_DATA                                                               \
    "'title':{'type':'string'},'description':{'type':'string'},'default':true," \
    "'readOnly':{'type':'boolean'},'writeOnly':{'type':'boolean'},'examples':{'type':'array'}"

static const char meta_data[] =
    "{'properties':{" META_DATA ",'deprecated':{'type':'boolean'}}," PART("meta-data");

static const char format_annotation[] =
    "{'properties':{'format':{'type':'string'}}," PART("format-annotation");

static const char format_assertion[] =
    "{'properties':{'format':{'type':'string'}}," PART("format-assertion");

static const char content[] =
    "{'properties':{'contentEncoding':{'type':'string'},"
    "'contentMediaType':{'type':'string'},'contentSchema':{'$dynamicRef':'#meta'}}," PART(
        "content");

static const char draft7[] =
    "{'$schema':'http://json-schema.org/draft-07/schema#',"
    "'$id':'http://json-schema.org/draft-07/schema#',"
    "'definitions':{'schemaArray':{'type':'array','minItems':1,'items':{'$ref':'#'}}"
    "," VALIDATION_DEFINITIONS "},'type':['object','boolean'],'properties':{'$id':{'type':'string',"
    "'format':'uri-reference'},'$schema':{'type':'string','format':'uri'},"
    "'$ref':{'type':'string','format':'uri-reference'},'$comment':{'type':'string'}," META_DATA
    "," VALIDATION(
        "definitions") ",'additionalItems':{'$ref':'#'},'contains':{'$ref':'#'},"
                       "'items':{'anyOf':[{'$ref':'#'},{'$ref':'#/definitions/schemaArray'}]},"
                       "'additionalProperties':{'$ref':'#'},'propertyNames':{'$ref':'#'},"
                       "'definitions':{'type':'object','additionalProperties':{'$ref':'#'}},"
                       "'properties':{'type':'object','additionalProperties':{'$ref':'#'}},"
                       "'patternProperties':{'type':'object','additionalProperties':{'$ref':'#'},"
                       "'propertyNames':{'format':'regex'}},'dependencies':{'type':'object',"
                       "'additionalProperties':{'anyOf':[{'$ref':'#'},"
                       "{'$ref':'#/definitions/stringArray'}]}},'format':{'type':'string'},"
                       "'contentMediaType':{'type':'string'},'contentEncoding':{'type':'string'},"
                       "'if':{'$ref':'#'},'then':{'$ref':'#'},'else':{'$ref':'#'},'not':{'$ref':'#'"
                       "},"
                       "'allOf':{'$ref':'#/definitions/schemaArray'},"
                       "'anyOf':{'$ref':'#/definitions/schemaArray'},"
                       "'oneOf':{'$ref':'#/definitions/schemaArray'}}}";

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
