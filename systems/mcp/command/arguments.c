#include "systems/mcp/command/arguments.h"

#include "systems/mcp/command/fields.h"
#include "systems/mcp/command/put.h"

#include "cli/describe/nearest.h"
#include "cli/params.h"
#include "cli/say.h"

#include <duplex/rpc.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Schemas come from the server: only so much of one is printed. */
enum { SHOWN_MAX = 12, CHOICES_MAX = 5, TEXT_MAX = 60 };

struct arguments {
    const char *tool;
    yyjson_val *root;   /* the whole input schema */
    yyjson_val *object; /* the schema with "properties" and "required" */
    yyjson_val *properties;
    char *const *words;
};

/* Messages. */

static FILE *open_text(char **text, size_t *len) {
    *text = NULL;
    return open_memstream(text, len);
}

/* The text, to be freed; NULL: no memory. */
static char *close_text(FILE *out, char **text) {
    if (fclose(out) == 0)
        return *text;
    free(*text);
    return NULL;
}

/* The first type that a schema names. */
static const char *type_of(yyjson_val *schema) {
    yyjson_val *type = yyjson_obj_get(schema, "type");
    yyjson_val *either = yyjson_obj_get(schema, "anyOf");
    if (!either)
        either = yyjson_obj_get(schema, "oneOf");
    if (yyjson_is_arr(type))
        type = yyjson_arr_get_first(type);
    if (!type)
        type = yyjson_obj_get(yyjson_arr_get_first(either), "type");
    return yyjson_is_str(type) ? yyjson_get_str(type) : "";
}

static bool is_type(yyjson_val *schema, const char *type) {
    return strcmp(type_of(schema), type) == 0;
}

/* Strings that stand for themselves on a command line: "red|green". */
static bool put_choices(FILE *out, yyjson_val *schema) {
    yyjson_val *values = yyjson_obj_get(schema, "enum");
    size_t i;
    size_t max;
    yyjson_val *value;
    if (!yyjson_arr_size(values) || yyjson_arr_size(values) > CHOICES_MAX)
        return false;
    yyjson_arr_foreach(values, i, max, value) {
        fputs(i ? "|" : "", out);
        put_value(out, value);
    }
    return true;
}

/* "days=NUMBER". */
static void put_form(FILE *out, yyjson_val *name, yyjson_val *schema) {
    cli_put_safe(out, dx_json_string(name));
    if (is_type(schema, "array"))
        fputs(":='[…]'", out);
    else if (is_type(schema, "object"))
        fputs(":='{…}'", out);
    else if (is_type(schema, "boolean"))
        fputs("=true|false", out);
    else if (is_type(schema, "number") || is_type(schema, "integer"))
        fputs(is_type(schema, "number") ? "=NUMBER" : "=INTEGER", out);
    else {
        putc('=', out);
        if (!put_choices(out, schema))
            fputs("TEXT", out);
    }
}

static bool is_required(const struct arguments *arguments, yyjson_val *name) {
    size_t i;
    size_t max;
    yyjson_val *one;
    yyjson_arr_foreach(yyjson_obj_get(arguments->object, "required"), i, max, one) {
        if (yyjson_equals(one, name))
            return true;
    }
    return false;
}

/* "'add' takes a=NUMBER b=NUMBER [round=true|false]", to be freed. */
static char *usage_of(const struct arguments *arguments) {
    char *text;
    size_t len;
    size_t i;
    size_t max;
    yyjson_val *name;
    yyjson_val *schema;
    FILE *out = open_text(&text, &len);
    if (!out)
        return NULL;
    fprintf(out, "'%s' takes%s", arguments->tool,
            yyjson_obj_size(arguments->properties) ? "" : " no arguments");
    yyjson_obj_foreach(arguments->properties, i, max, name, schema) {
        bool required = is_required(arguments, name);
        if (i == SHOWN_MAX) {
            fputs(" …", out);
            break;
        }
        fputs(required ? " " : " [", out);
        put_form(out, name, fields_resolve(arguments->root, schema));
        fputs(required ? "" : "]", out);
    }
    return close_text(out, &text);
}

/* Unknown and missing arguments. */

static int fail_unknown(const struct arguments *arguments, const char *name) {
    char *hint = put_suggestion(cli_nearest_of(cli_key_at, arguments->properties, name));
    if (!hint)
        hint = usage_of(arguments);
    int code = cli_fail_hint(CLI_MISFIT, hint, "the tool '%s' has no argument '%s'",
                             arguments->tool, name);
    free(hint);
    return code;
}

static void warn_unknown(const struct arguments *arguments, const char *name) {
    char *near = put_suggestion(cli_nearest_of(cli_key_at, arguments->properties, name));
    cli_warn("warning: the tool's schema has no argument '%s'%s%s", name, near ? "; " : "",
             near ? near : "");
    free(near);
}

/* Does the schema say nothing of arguments that are not among its properties? */
static bool is_silent(const struct arguments *arguments) {
    static const char *const keywords[] = {"additionalProperties",
                                           "patternProperties",
                                           "unevaluatedProperties",
                                           "dependentSchemas",
                                           "allOf",
                                           "anyOf",
                                           "oneOf",
                                           "if"};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (yyjson_obj_get(arguments->object, keywords[i]))
            return false;
    return yyjson_is_obj(arguments->properties);
}

/* Only a schema that says so has no other arguments; but what it does not mention is often a typo,
 * which the server would ignore. */
static int find_unknown(const struct arguments *arguments, yyjson_val *given) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(given);
    bool closed = yyjson_is_false(yyjson_obj_get(arguments->object, "additionalProperties")) &&
                  !yyjson_obj_get(arguments->object, "patternProperties");
    size_t warnings = is_silent(arguments) ? SHOWN_MAX : 0;
    for (yyjson_val *key; (closed || warnings) && (key = yyjson_obj_iter_next(&iter));) {
        if (yyjson_obj_getn(arguments->properties, yyjson_get_str(key), yyjson_get_len(key)))
            continue;
        if (closed)
            return fail_unknown(arguments, yyjson_get_str(key));
        warn_unknown(arguments, yyjson_get_str(key));
        warnings--;
    }
    return CLI_OK;
}

static bool is_given(yyjson_val *given, yyjson_val *name) {
    return yyjson_obj_getn(given, yyjson_get_str(name), yyjson_get_len(name));
}

static int find_missing(const struct arguments *arguments, yyjson_val *given) {
    char *names;
    size_t len;
    size_t i;
    size_t max;
    size_t count = 0;
    yyjson_val *name;
    FILE *out = open_text(&names, &len);
    if (!out)
        return CLI_OK;
    yyjson_arr_foreach(yyjson_obj_get(arguments->object, "required"), i, max, name) {
        if (!yyjson_is_str(name) || is_given(given, name))
            continue;
        if (count++ < SHOWN_MAX)
            fprintf(out, "%s'%s'", count > 1 ? ", " : "", yyjson_get_str(name));
    }
    if (!close_text(out, &names))
        return CLI_OK;
    char *hint = count ? usage_of(arguments) : NULL;
    int code = count ? cli_fail_hint(CLI_MISFIT, hint, "the tool '%s' requires the argument%s %s",
                                     arguments->tool, count > 1 ? "s" : "", names)
                     : CLI_OK;
    free(hint);
    free(names);
    return code;
}

/* Values. */

struct checker {
    const dx_schema *schema;
    dx_check *check;
};

/* What is unknown or missing is looked for apart. */
static dx_status check_object(void *user, yyjson_val *object, dx_misfit *reterr) {
    const struct checker *checker = user;
    return dx_schema_check(checker->schema, object, DX_CHECK_OPEN, checker->check, reterr);
}

/* Would this JSON text do as the argument? What else the object lacks does not matter. */
static bool fits(const struct checker *checker, dx_text key, const char *sample) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add(object, yyjson_mut_strncpy(doc, key.at, key.len),
                       yyjson_mut_rawcpy(doc, sample));
    char *text = yyjson_mut_val_write(object, 0, NULL);
    yyjson_doc *read = text ? yyjson_read(text, strlen(text), 0) : NULL;
    void *user = (void *)(uintptr_t)checker;
    dx_misfit why = {.instance = ""};
    bool good = read && (check_object(user, yyjson_doc_get_root(read), &why) == DX_OK ||
                         why.instance[0] != '/');
    yyjson_doc_free(read);
    free(text);
    yyjson_mut_doc_free(doc);
    return good;
}

/* The list that holds only the text that was given. */
static char *list_of(const char *text) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    yyjson_mut_arr_add_str(doc, list, text);
    char *sample = strlen(text) < TEXT_MAX ? yyjson_mut_val_write(list, 0, NULL) : NULL;
    yyjson_mut_doc_free(doc);
    return sample;
}

static bool means_no(const char *text) {
    return strcasecmp(text, "no") == 0 || strcasecmp(text, "n") == 0 ||
           strcasecmp(text, "off") == 0 || strcmp(text, "0") == 0;
}

/* A number beside the one that the keyword names, to be freed. */
static char *number_beside(yyjson_val *schema, const char *keyword, int step) {
    yyjson_val *limit = yyjson_obj_get(schema, keyword);
    char *sample = NULL;
    return yyjson_is_num(limit) && asprintf(&sample, "%.15g", yyjson_get_num(limit) + step) >= 0
               ? sample
               : NULL;
}

/* The first of them that fits, to be freed; frees the others. */
static char *first_fitting(const struct checker *checker, dx_text key, char *samples[],
                           size_t count) {
    char *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (!best && samples[i] && fits(checker, key, samples[i]))
            best = samples[i];
        else
            free(samples[i]);
    return best;
}

/* A value that would do, as JSON: the schema's own, if it has one. To be freed. */
static char *sample_of(const struct checker *checker, dx_text key, yyjson_val *schema,
                       const char *text) {
    static const char *const keywords[] = {"default", "const", "minimum", "maximum", "multipleOf"};
    enum { OWN = sizeof keywords / sizeof keywords[0], ALL = OWN + 6 };
    yyjson_val *either = yyjson_obj_get(schema, "anyOf");
    yyjson_val *first = yyjson_arr_get_first(either ? either : yyjson_obj_get(schema, "oneOf"));
    bool is_number = is_type(schema, "number") || is_type(schema, "integer");
    char *samples[ALL] = {NULL};
    schema = first ? first : schema;
    samples[0] = yyjson_val_write(yyjson_arr_get_first(yyjson_obj_get(schema, "enum")), 0, NULL);
    for (size_t i = 0; i < OWN; i++)
        samples[i + 1] = yyjson_val_write(yyjson_obj_get(schema, keywords[i]), 0, NULL);
    char **more = samples + OWN + 1;
    if (is_number) {
        more[0] = strdup("2");
        more[1] = number_beside(schema, "exclusiveMinimum", 1);
        more[2] = number_beside(schema, "exclusiveMaximum", -1);
    } else {
        more[0] = strdup(means_no(text) ? "false" : "true");
        more[1] = list_of(text);
        more[2] = strdup("null");
    }
    char *sample = first_fitting(checker, key, samples, ALL);
    const char *form = is_number                   ? "NUMBER"
                       : is_type(schema, "object") ? "{…}"
                       : is_type(schema, "array")  ? "[…]"
                                                   : NULL;
    return sample || !form ? sample : strdup(form);
}

/* Does a shell take it as it is? */
static bool is_plain(dx_text word) {
    for (size_t i = 0; i < word.len; i++)
        if (!isalnum((unsigned char)word.at[i]) && !strchr(".+-_/", word.at[i]))
            return false;
    return true;
}

/* "write days:=2", to be freed; NULL: there is nothing that would help. */
static char *hint_for(const struct checker *checker, dx_text key, yyjson_val *schema,
                      const char *text) {
    char *sample = sample_of(checker, key, schema, text);
    char *hint = NULL;
    size_t size;
    dx_text value = {sample, sample ? strlen(sample) : 0};
    bool is_string = value.len > 2 && sample[0] == '"' && !strchr(sample, '\\');
    bool whole = !is_plain(key); /* all of it is quoted */
    if (is_string)
        value = (dx_text){sample + 1, value.len - 2};
    bool part = !whole && !is_plain(value);
    FILE *out = sample && !memchr(value.at, '\'', value.len) && !memchr(key.at, '\'', key.len)
                    ? open_text(&hint, &size)
                    : NULL;
    if (out) {
        fprintf(out, "write %s%.*s%s%s%.*s%s", whole ? "'" : "", (int)key.len, key.at,
                is_string ? "=" : ":=", part ? "'" : "", (int)value.len, value.at,
                whole || part ? "'" : "");
        hint = close_text(out, &hint);
    }
    free(sample);
    return hint;
}

static int fail_value(const struct arguments *arguments, const struct checker *checker,
                      const dx_misfit *why) {
    char room[sizeof why->instance];
    dx_text key = cli_params_key(why, room);
    yyjson_val *property = yyjson_obj_getn(arguments->properties, key.at, key.len);
    yyjson_val *schema = fields_resolve(arguments->root, property);
    const char *text = cli_params_text(arguments->words, key);
    bool is_inside = strchr(why->instance + 1, '/'); /* an array or object has a wrong part */
    if (is_inside || !schema || !text)
        return cli_fail(CLI_MISFIT, "%s", why->phrase);
    char *expected;
    size_t len;
    FILE *out = open_text(&expected, &len);
    if (!out)
        return cli_fail(CLI_NO_START, "out of memory");
    fields_put_expected(out, schema);
    if (!close_text(out, &expected))
        return cli_fail(CLI_NO_START, "out of memory");
    char *hint = hint_for(checker, key, schema, text);
    bool is_long = strlen(text) > TEXT_MAX;
    int code = cli_fail_hint(CLI_MISFIT, hint, "'%.*s': expected %s, got \"%.*s%s\"", (int)key.len,
                             key.at, expected, TEXT_MAX, text, is_long ? "…" : "");
    free(hint);
    free(expected);
    return code;
}

/* A schema that can't be compiled is not reported: the server checks the arguments, too. */
static int convert(const struct arguments *arguments, char **text) {
    struct checker checker = {.schema = NULL};
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    dx_misfit why = {.instance = ""};
    int code = CLI_OK;
    if (dx_schemas_new(NULL, &schemas) == DX_OK &&
        dx_schemas_add(schemas, dx_str(""), arguments->root, NULL) == DX_OK &&
        dx_schemas_compile(schemas, dx_str(""), &schema, NULL) == DX_OK &&
        dx_check_new(NULL, &checker.check) == DX_OK) {
        checker.schema = schema;
        dx_status status = cli_params_convert(arguments->words, check_object, &checker, text, &why);
        if (status == DX_MISFIT)
            code = fail_value(arguments, &checker, &why);
        else if (status == DX_ERR_NOMEM)
            code = cli_fail(CLI_NO_START, "out of memory");
    }
    dx_check_free(checker.check);
    dx_schemas_free(schemas);
    return code;
}

int arguments_fit(yyjson_val *tool, char *const *words, char **text) {
    yyjson_val *root = yyjson_obj_get(tool, "inputSchema");
    struct arguments arguments = {.tool = yyjson_get_str(yyjson_obj_get(tool, "name")),
                                  .root = root,
                                  .object = fields_resolve(root, root),
                                  .words = words};
    arguments.properties = yyjson_obj_get(arguments.object, "properties");
    yyjson_doc *doc = *text ? yyjson_read(*text, strlen(*text), YYJSON_READ_NUMBER_AS_RAW) : NULL;
    yyjson_val *given = yyjson_doc_get_root(doc);
    int code = find_unknown(&arguments, given);
    if (code == CLI_OK && *text)
        code = convert(&arguments, text);
    if (code == CLI_OK)
        code = find_missing(&arguments, given);
    yyjson_doc_free(doc);
    return code;
}
