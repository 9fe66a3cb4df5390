/* What tables may hold: a JSON Schema, written as TOML. */
#include "systems/finecode/config_parts.h"

#include <duplex/schema.h>
#include <duplex/toml.h>

#include <string.h>

/* Members that are not named are let pass: FineCode has more of them, and newer ones. */
static const char shapes[] =
    "[table]\n"
    "type = 'object'\n"
    "[table.properties]\n"
    "presets = {type = 'array', maxItems = 64, items = {'$ref' = '#/preset'}}\n"
    "action = {type = 'object', maxProperties = 1024, propertyNames = {'$ref' = '#/word'},"
    " additionalProperties = {'$ref' = '#/action'}}\n"
    "action_handler = {type = 'array', maxItems = 1024, items = {'$ref' = '#/action_handler'}}\n"
    "service = {type = 'array', maxItems = 256, items = {'$ref' = '#/service'}}\n"
    "er = {'$ref' = '#/er'}\n"
    "env = {type = 'object', additionalProperties = {'$ref' = '#/env'}}\n"
    "extension = {type = 'object', additionalProperties = {'$ref' = '#/extension'}}\n"

    "[word]\n"
    "type = 'string'\n"
    "pattern = '^[^\\u0000-\\u001f\\u007f]+$'\n"
    "[words]\n"
    "type = 'array'\n"
    "maxItems = 1024\n"
    "items = {'$ref' = '#/word'}\n"
    /* It becomes a part of a path. */
    "[env_name]\n"
    "type = 'string'\n"
    "maxLength = 64\n"
    "pattern = '^[A-Za-z0-9_][A-Za-z0-9_.@-]*$'\n"

    "[preset]\n"
    "type = 'object'\n"
    "required = ['source']\n"
    "properties = {source = {'$ref' = '#/word'}}\n"

    "[action]\n"
    "type = 'object'\n"
    "[action.properties]\n"
    "source = {'$ref' = '#/word'}\n"
    "config = {type = 'object'}\n"
    "handlers_mode = {enum = ['merge', 'replace']}\n"
    "[action.properties.handlers]\n"
    "type = ['array', 'object']\n"
    "maxItems = 256\n"
    "maxProperties = 256\n"
    "items = {'$ref' = '#/handler', required = ['name']}\n"
    "propertyNames = {'$ref' = '#/word'}\n"
    "additionalProperties = {'$ref' = '#/handler'}\n"

    "[handler]\n"
    "type = 'object'\n"
    "[handler.properties]\n"
    "name = {'$ref' = '#/word'}\n"
    "source = {'$ref' = '#/word'}\n"
    "env = {'$ref' = '#/env_name'}\n"
    "dependencies = {'$ref' = '#/words'}\n"
    "dependencies_override = {'$ref' = '#/words'}\n"
    "config = {type = 'object'}\n"
    "enabled = {type = 'boolean'}\n"

    "[action_handler]\n"
    "type = 'object'\n"
    "required = ['source']\n"
    "properties = {source = {'$ref' = '#/word'}, config = {type = 'object'}}\n"

    "[service]\n"
    "type = 'object'\n"
    "required = ['interface']\n"
    "[service.properties]\n"
    "interface = {'$ref' = '#/word'}\n"
    "source = {'$ref' = '#/word'}\n"
    "env = {'$ref' = '#/env_name'}\n"
    "dependencies = {'$ref' = '#/words'}\n"
    "config = {type = 'object'}\n"

    "[er]\n"
    "type = 'object'\n"
    "[er.properties]\n"
    "runner = {'$ref' = '#/runner'}\n"
    "transport = {'$ref' = '#/transport'}\n"
    "logging = {'$ref' = '#/logging'}\n"
    "envs = {type = 'object', propertyNames = {'$ref' = '#/env_name'},"
    " additionalProperties = {'$ref' = '#/er_env'}}\n"
    "[er_env]\n"
    "type = 'object'\n"
    "[er_env.properties]\n"
    "runner = {'$ref' = '#/runner'}\n"
    "transport = {'$ref' = '#/transport'}\n"
    "logging = {'$ref' = '#/logging'}\n"
    "debug = {type = 'boolean'}\n"
    "[runner]\n"
    "type = ['string', 'array']\n"
    "minItems = 1\n"
    "maxItems = 256\n"
    "items = {'$ref' = '#/argument'}\n"
    "if = {type = 'string'}\n"
    "then = {enum = ['venv', 'duplex']}\n"
    "[argument]\n"
    "type = 'string'\n"
    "pattern = '^[^\\u0000]*$'\n"
    "[transport]\n"
    "enum = ['tcp', 'stdio']\n"
    "[logging]\n"
    "type = 'object'\n"
    "[logging.properties]\n"
    "default_level = {'$ref' = '#/word'}\n"
    "log_groups = {type = 'object', additionalProperties = {'$ref' = '#/word'}}\n"

    "[env]\n"
    "type = 'object'\n"
    "properties = {interpreters = {'$ref' = '#/words'}, install_project = {type = 'boolean'}}\n"
    "[extension]\n"
    "type = 'object'\n"
    "properties = {dependencies_override = {'$ref' = '#/words'}}\n"

    "[workspace]\n"
    "type = 'object'\n"
    "[workspace.properties]\n"
    "projects = {type = 'array', maxItems = 10000, items = {'$ref' = '#/word'}}\n"
    "er = {'$ref' = '#/er'}\n"
    "wm = {type = 'object', properties = {wal = {type = 'object',"
    " properties = {enabled = {type = 'boolean'}}}}}\n";

static const char uri[] = "urn:finecode";

/* "/action/lint/handlers/0/name" behind "finecode" becomes "finecode.action.lint.handlers[0].name".
 */
static void write_place(char *to, size_t room, const char *place, const char *pointer) {
    dx__say_str(to, room, place);
    while (*pointer == '/') {
        const char *word = ++pointer;
        pointer += strcspn(word, "/");
        size_t len = (size_t)(pointer - word);
        bool item = len && strspn(word, "0123456789") >= len;
        dx__say_str(to, room, item ? "[" : to[0] ? "." : "");
        for (size_t i = 0; i < len; i++) {
            char c = word[i];
            if (c == '~' && i + 1 < len)
                c = word[++i] == '1' ? '/' : '~';
            /* Bytes of one character must come together. */
            size_t bytes = dx__utf8(word + i, len - i);
            dx__say(to, room, bytes > 1 ? (dx_text){word + i, bytes} : (dx_text){&c, 1});
            i += bytes > 1 ? bytes - 1 : 0;
        }
        dx__say_str(to, room, item ? "]" : "");
    }
}

static dx_status tell(const dx_misfit *misfit, const char *label, const char *place,
                      char why[DX__FINECODE_WHY]) {
    char where[DX__FINECODE_WHY] = "";
    const char *phrase = misfit->phrase;
    size_t len = strlen(misfit->instance);
    write_place(where, sizeof where / 2, place, misfit->instance);
    if (len && strncmp(phrase, misfit->instance, len) == 0 && strncmp(phrase + len, ": ", 2) == 0)
        phrase += len + 2;
    return dx__finecode_why(why, label, where, phrase);
}

static dx_status compile(dx_schemas *schemas, yyjson_doc *doc, const char *shape,
                         dx_schema **ret_schema) {
    char where[64] = "";
    dx__say_str(where, sizeof where, uri);
    dx__say_str(where, sizeof where, "#/");
    dx__say_str(where, sizeof where, shape);
    dx_status status = dx_schemas_add(schemas, dx_str(uri), yyjson_doc_get_root(doc), NULL);
    return status == DX_OK ? dx_schemas_compile(schemas, dx_str(where), ret_schema, NULL) : status;
}

dx_status dx__finecode_shape_check(const dx_allocator *alloc, yyjson_val *table, const char *shape,
                                   const char *label, const char *place,
                                   char why[DX__FINECODE_WHY]) {
    dx_toml_config toml = dx_toml_defaults();
    dx_schemas_config config = dx_schemas_defaults();
    dx_check_config limits = dx_check_defaults();
    dx_misfit misfit = {.phrase = ""};
    yyjson_doc *doc = NULL;
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    dx_check *check = NULL;
    toml.allocator = config.allocator = limits.allocator = alloc;
    dx_status status = dx_toml_read(dx_str(shapes), &toml, &doc, NULL);
    if (status == DX_OK)
        status = dx_schemas_new(&config, &schemas);
    if (status == DX_OK)
        status = compile(schemas, doc, shape, &schema);
    if (status == DX_OK)
        status = dx_check_new(&limits, &check);
    if (status == DX_OK)
        status = dx_schema_check(schema, table, 0, check, &misfit);
    if (status == DX_MISFIT || status == DX_ERR_LIMIT)
        status = tell(&misfit, label, place, why);
    dx_check_free(check);
    dx_schemas_free(schemas);
    yyjson_doc_free(doc);
    return status;
}
