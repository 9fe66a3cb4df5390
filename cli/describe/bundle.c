#include "cli/describe/bundle.h"

#include "cli/describe/parts.h"
#include "cli/say.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DRAFT "https://json-schema.org/draft/2020-12/schema"

/* What stands under a keyword. */
enum kind { PLAIN, SCHEMA, LIST, MAP };

static const struct {
    const char *name;
    enum kind kind;
} keywords[] = {
    {"additionalProperties", SCHEMA},
    {"allOf", LIST},
    {"anyOf", LIST},
    {"contains", SCHEMA},
    {"contentSchema", SCHEMA},
    {"$defs", MAP},
    {"dependentSchemas", MAP},
    {"else", SCHEMA},
    {"if", SCHEMA},
    {"items", SCHEMA},
    {"not", SCHEMA},
    {"oneOf", LIST},
    {"patternProperties", MAP},
    {"prefixItems", LIST},
    {"properties", MAP},
    {"propertyNames", SCHEMA},
    {"then", SCHEMA},
    {"unevaluatedItems", SCHEMA},
    {"unevaluatedProperties", SCHEMA},
};

/* A schema that is referred to, and what it is called here. */
struct def {
    yyjson_val *target;
    const char *name; /* the document's */
};

struct bundle {
    yyjson_mut_doc *doc;
    yyjson_val *root;
    struct def *defs;
    size_t count;
    size_t room;
    bool failed; /* no memory */
};

static enum kind kind_of(const char *name) {
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(keywords[i].name, name) == 0)
            return keywords[i].kind;
    return PLAIN;
}

static bool is_taken(const struct bundle *bundle, const char *name) {
    for (size_t i = 0; i < bundle->count; i++)
        if (strcmp(bundle->defs[i].name, name) == 0)
            return true;
    return false;
}

/* A name of letters that need no care in a reference, and that no other has. */
static const char *make_name(struct bundle *bundle, const char *wanted) {
    enum { LONGEST = 200 };
    char name[LONGEST + 24];
    size_t len = 0;
    for (; wanted[len] && len < LONGEST; len++)
        name[len] =
            isalnum((unsigned char)wanted[len]) || strchr("._-", wanted[len]) ? wanted[len] : '_';
    name[len] = '\0';
    for (size_t i = 2; is_taken(bundle, name); i++)
        snprintf(name + len, sizeof name - len, "-%zu", i);
    yyjson_mut_val *kept = yyjson_mut_strcpy(bundle->doc, name);
    return yyjson_mut_get_str(kept);
}

/* NULL: no memory. */
static const char *name_of(struct bundle *bundle, yyjson_val *target, const char *wanted) {
    for (size_t i = 0; i < bundle->count; i++)
        if (bundle->defs[i].target == target)
            return bundle->defs[i].name;
    if (bundle->count == bundle->room) {
        size_t room = bundle->room ? bundle->room * 2 : 32;
        struct def *more = realloc(bundle->defs, room * sizeof *more);
        if (!more)
            return NULL;
        bundle->defs = more;
        bundle->room = room;
    }
    const char *name = make_name(bundle, wanted);
    if (name)
        bundle->defs[bundle->count++] = (struct def){target, name};
    return name;
}

static yyjson_mut_val *reference_to(struct bundle *bundle, yyjson_val *target, const char *wanted) {
    const char *name = name_of(bundle, target, wanted);
    char text[256];
    snprintf(text, sizeof text, "#/$defs/%s", name ? name : "");
    bundle->failed |= !name;
    return yyjson_mut_strcpy(bundle->doc, text);
}

static yyjson_mut_val *copy(struct bundle *bundle, yyjson_val *schema);

static yyjson_mut_val *copy_list(struct bundle *bundle, yyjson_val *list) {
    yyjson_mut_val *made = yyjson_mut_arr(bundle->doc);
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        bundle->failed |= !yyjson_mut_arr_append(made, copy(bundle, it));
    return made;
}

static yyjson_mut_val *copy_map(struct bundle *bundle, yyjson_val *map) {
    yyjson_mut_val *made = yyjson_mut_obj(bundle->doc);
    yyjson_obj_iter iter = yyjson_obj_iter_with(map);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        bundle->failed |= !yyjson_mut_obj_add(made, yyjson_val_mut_copy(bundle->doc, key),
                                              copy(bundle, yyjson_obj_iter_get_val(key)));
    return made;
}

static yyjson_mut_val *copy_member(struct bundle *bundle, const char *name, yyjson_val *value) {
    enum kind kind = kind_of(name);
    const char *reference = strcmp(name, "$ref") == 0 ? yyjson_get_str(value) : NULL;
    yyjson_val *target = reference ? cli_resolve(bundle->root, reference) : NULL;
    if (target)
        return reference_to(bundle, target, cli_reference_name(reference));
    if (kind == SCHEMA)
        return copy(bundle, value);
    if (kind == LIST && yyjson_is_arr(value))
        return copy_list(bundle, value);
    if (kind == MAP && yyjson_is_obj(value))
        return copy_map(bundle, value);
    return yyjson_val_mut_copy(bundle->doc, value);
}

static void copy_members(struct bundle *bundle, yyjson_val *schema, yyjson_mut_val *made) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(schema);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        bundle->failed |= !yyjson_mut_obj_add(
            made, yyjson_val_mut_copy(bundle->doc, key),
            copy_member(bundle, yyjson_get_str(key), yyjson_obj_iter_get_val(key)));
}

/* Documents are not deeper than 256, so neither is this. */
static yyjson_mut_val *copy(struct bundle *bundle, yyjson_val *schema) {
    if (!yyjson_is_obj(schema) || yyjson_obj_get(schema, "$id")) /* which counts from itself */
        return yyjson_val_mut_copy(bundle->doc, schema);
    yyjson_mut_val *made = yyjson_mut_obj(bundle->doc);
    copy_members(bundle, schema, made);
    return made;
}

/* Params of a message that has none may be empty. */
static void fill_none(struct bundle *bundle, yyjson_mut_val *made, bool may_be_null) {
    const char *types[] = {"object", "array", "null"};
    yyjson_mut_val *list = yyjson_mut_arr_with_str(bundle->doc, types, may_be_null ? 3 : 2);
    yyjson_mut_obj_add_val(bundle->doc, made, "type", list);
    yyjson_mut_obj_add_int(bundle->doc, made, "maxProperties", 0);
    yyjson_mut_obj_add_int(bundle->doc, made, "maxItems", 0);
}

static void fill_schema(struct bundle *bundle, yyjson_mut_val *made, yyjson_val *schema,
                        bool may_be_null, const char *name) {
    bool plain = yyjson_is_obj(schema) && !yyjson_obj_get(schema, "$defs") &&
                 !yyjson_obj_get(schema, "$schema") && !yyjson_obj_get(schema, "$id");
    if (plain && !may_be_null) {
        copy_members(bundle, schema, made);
        return;
    }
    yyjson_mut_val *reference = reference_to(bundle, schema, name);
    if (!may_be_null) {
        yyjson_mut_obj_add_val(bundle->doc, made, "$ref", reference);
        return;
    }
    yyjson_mut_val *either = yyjson_mut_obj_add_arr(bundle->doc, made, "anyOf");
    yyjson_mut_obj_add_str(bundle->doc, yyjson_mut_arr_add_obj(bundle->doc, either), "type",
                           "null");
    yyjson_mut_obj_add_val(bundle->doc, yyjson_mut_arr_add_obj(bundle->doc, either), "$ref",
                           reference);
}

/* What was made is a schema: CLI_OK, or what is wrong with it is told. */
static int check(yyjson_mut_val *made) {
    dx_schemas *schemas = NULL;
    dx_schema *schema;
    dx_misfit why = {.phrase = ""};
    char *text = yyjson_mut_val_write(made, YYJSON_WRITE_NOFLAG, NULL);
    yyjson_doc *doc = text ? yyjson_read(text, strlen(text), YYJSON_READ_NOFLAG) : NULL;
    dx_status status = doc ? dx_schemas_new(NULL, &schemas) : DX_ERR_NOMEM;
    if (status == DX_OK)
        status = dx_schemas_add(schemas, dx_str(""), yyjson_doc_get_root(doc), &why);
    if (status == DX_OK)
        status = dx_schemas_compile(schemas, dx_str(""), &schema, &why);
    dx_schemas_free(schemas);
    yyjson_doc_free(doc);
    free(text);
    if (status == DX_OK)
        return CLI_OK;
    return status == DX_ERR_NOMEM ? cli_fail(CLI_NO_START, "out of memory")
                                  : cli_fail(CLI_MISFIT, "invalid schema: %s", why.phrase);
}

static void add_defs(struct bundle *bundle, yyjson_mut_val *made) {
    if (!bundle->count)
        return;
    yyjson_mut_val *defs = yyjson_mut_obj_add_obj(bundle->doc, made, "$defs");
    for (size_t i = 0; i < bundle->count; i++) /* which may add more */
        bundle->failed |= !yyjson_mut_obj_add_val(bundle->doc, defs, bundle->defs[i].name,
                                                  copy(bundle, bundle->defs[i].target));
}

yyjson_mut_val *cli_bundle(yyjson_mut_doc *doc, const dx_protocol *protocol,
                           const dx_method *method, dx_side from, dx_part part, int *ret_code) {
    struct bundle bundle = {.doc = doc, .root = dx_protocol_document(protocol)};
    yyjson_val *schema = cli_schema_of(protocol, method, from, part);
    yyjson_mut_val *made = yyjson_mut_obj(doc);
    bool params = part == DX_PART_PARAMS;
    bool may_be_null = params && (!schema || method->optional[from]) &&
                       dx_protocol_facts_of(protocol)->lenient & DX_LENIENT_NULL_PARAMS;
    yyjson_mut_obj_add_str(doc, made, "$schema", DRAFT);
    if (schema)
        fill_schema(&bundle, made, schema, may_be_null, params ? "params" : "result");
    else if (params)
        fill_none(&bundle, made, may_be_null);
    add_defs(&bundle, made);
    free(bundle.defs);
    *ret_code = bundle.failed ? cli_fail(CLI_NO_START, "out of memory") : check(made);
    return *ret_code == CLI_OK ? made : NULL;
}
