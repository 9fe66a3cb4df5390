/* Reading the file, and what is wrong with it. */
#include "systems/mcp/command/serve/spec.h"

#include "cli/input.h"
#include "cli/options.h"
#include "cli/say.h"

#include <duplex/schema.h>

#include <stdlib.h>
#include <string.h>

enum { OUTPUT_DEFAULT = 1 << 20, OUTPUT_LIMIT = 32 << 20, TIMEOUT_DEFAULT = 30000 };

#define NON_EMPTY "{\"type\":\"string\",\"minLength\":1}"
#define ANY_TEXT "{\"type\":\"string\"}"
static const char spec_schema[] =
    "{\"type\":\"object\",\"properties\":{\"$schema\":" ANY_TEXT ",\"name\":" NON_EMPTY
    ",\"version\":" NON_EMPTY ",\"title\":" ANY_TEXT ",\"instructions\":" ANY_TEXT
    ",\"tools\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/tool\"}}},"
    "\"required\":[\"name\",\"version\",\"tools\"],\"additionalProperties\":false,\"$defs\":{"
    "\"tool\":{\"type\":\"object\",\"properties\":{\"name\":" NON_EMPTY ",\"title\":" ANY_TEXT
    ",\"description\":" ANY_TEXT ",\"input\":{\"type\":\"object\"},"
    "\"output\":{\"type\":[\"string\",\"object\"],\"if\":{\"type\":\"string\"},"
    "\"then\":{\"enum\":[\"text\",\"json\"]}},"
    "\"command\":{\"type\":\"array\",\"minItems\":1,\"prefixItems\":[" NON_EMPTY "],"
    "\"items\":{\"$ref\":\"#/$defs/word\"}},"
    "\"cwd\":" NON_EMPTY
    ",\"env\":{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[^=]+$\"},"
    "\"additionalProperties\":" ANY_TEXT "},\"stdin\":" ANY_TEXT ",\"timeout\":" NON_EMPTY
    ",\"maxOutput\":" NON_EMPTY
    ",\"success\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"integer\",\"minimum\":0,"
    "\"maximum\":255}},\"annotations\":{\"type\":\"object\"}},"
    "\"required\":[\"name\",\"command\"],\"additionalProperties\":false},"
    "\"word\":{\"type\":[\"string\",\"object\"],\"properties\":{\"if\":" NON_EMPTY
    ",\"each\":" NON_EMPTY ",\"words\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/word\"}},"
    "\"dash\":{\"type\":\"boolean\"}},\"required\":[\"words\"],\"additionalProperties\":false}}}";

static int tell(const char *path, const char *what) {
    return cli_fail(CLI_MISFIT, "%s: %s", path, what);
}

/* Where in the file something is, and whose arguments may be named there. */
struct place {
    const char *path;
    size_t tool;
    const char *member;
    yyjson_val *properties;
    int code;
};

static bool check_part(void *user, dx_text part, bool is_name) {
    struct place *place = user;
    if (!is_name || yyjson_obj_getn(place->properties, part.at, part.len))
        return true;
    place->code = cli_fail(CLI_MISFIT, "%s: /tools/%zu/%s: input has no property '%.*s'",
                           place->path, place->tool, place->member, (int)part.len, part.at);
    return false;
}

static int check_word(struct place *place, yyjson_val *word) {
    dx_text text = dx_json_string(word);
    if (memchr(text.at, '\0', text.len))
        return cli_fail(CLI_MISFIT, "%s: /tools/%zu/%s: contains a NUL byte", place->path,
                        place->tool, place->member);
    if (spec_parts(text, check_part, place))
        return CLI_OK;
    if (place->code != CLI_OK)
        return place->code;
    return cli_fail(CLI_MISFIT, "%s: /tools/%zu/%s: expected {name}, {{ or }} in '%s'", place->path,
                    place->tool, place->member, text.at);
}

static int check_named(struct place *place, yyjson_val *name) {
    if (!name || check_part(place, dx_json_string(name), true))
        return CLI_OK;
    return place->code;
}

static int check_words(struct place *place, yyjson_val *list, int depth) {
    size_t i;
    size_t count;
    yyjson_val *word;
    int code = CLI_OK;
    if (depth == SPEC_DEPTH)
        return cli_fail(CLI_MISFIT, "%s: /tools/%zu/%s: words are nested more than %d levels deep",
                        place->path, place->tool, place->member, SPEC_DEPTH);
    yyjson_arr_foreach(list, i, count, word) {
        if (code == CLI_OK && yyjson_is_str(word))
            code = check_word(place, word);
        if (code != CLI_OK || yyjson_is_str(word))
            continue;
        code = check_named(place, yyjson_obj_get(word, "if"));
        if (code == CLI_OK)
            code = check_named(place, yyjson_obj_get(word, "each"));
        if (code == CLI_OK)
            code = check_words(place, yyjson_obj_get(word, "words"), depth + 1);
    }
    return code;
}

static bool is_literal(void *user, dx_text part, bool is_name) {
    (void)user;
    (void)part;
    return !is_name;
}

/* Which program runs is not for the client to say. */
static int check_command(struct place *place, yyjson_val *tool) {
    yyjson_val *command = yyjson_obj_get(tool, "command");
    yyjson_val *first = yyjson_arr_get_first(command);
    yyjson_val *input = yyjson_obj_get(tool, "stdin");
    place->member = "command";
    int code = check_words(place, command, 0);
    if (code == CLI_OK && !spec_parts(dx_json_string(first), is_literal, NULL))
        code = cli_fail(CLI_MISFIT,
                        "%s: /tools/%zu/command/0: the program's name cannot come from an argument",
                        place->path, place->tool);
    place->member = "stdin";
    if (code == CLI_OK && input)
        code = check_word(place, input);
    return code;
}

static int read_limits(const char *path, size_t index, struct spec_tool *tool) {
    yyjson_val *timeout = yyjson_obj_get(tool->value, "timeout");
    yyjson_val *most = yyjson_obj_get(tool->value, "maxOutput");
    uint64_t size = OUTPUT_DEFAULT;
    tool->timeout_ms = TIMEOUT_DEFAULT;
    if (timeout && !cli_parse_time(yyjson_get_str(timeout), &tool->timeout_ms))
        return cli_fail(
            CLI_MISFIT,
            "%s: /tools/%zu/timeout: expected a time such as 30s, 500ms or 5m, or never", path,
            index);
    if (most && (!cli_parse_size(yyjson_get_str(most), &size) || !size || size > OUTPUT_LIMIT))
        return cli_fail(CLI_MISFIT,
                        "%s: /tools/%zu/maxOutput: expected a size such as 64k or 1M, at most"
                        " 32M",
                        path, index);
    tool->output_max = (size_t)size;
    return CLI_OK;
}

static int read_env(const char *path, size_t index, struct spec_tool *tool) {
    yyjson_val *env = yyjson_obj_get(tool->value, "env");
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    tool->env = calloc(yyjson_obj_size(env) + 1, sizeof *tool->env);
    if (!tool->env)
        return tell(path, "out of memory");
    yyjson_obj_foreach(env, i, count, key, value) {
        if (strlen(yyjson_get_str(key)) != yyjson_get_len(key) ||
            strlen(yyjson_get_str(value)) != yyjson_get_len(value))
            return cli_fail(CLI_MISFIT, "%s: /tools/%zu/env: contains a NUL byte", path, index);
        if (asprintf(&tool->env[i], "%s=%s", yyjson_get_str(key), yyjson_get_str(value)) < 0) {
            tool->env[i] = NULL;
            return tell(path, "out of memory");
        }
    }
    return CLI_OK;
}

static int read_tool(const char *path, size_t index, yyjson_val *value, struct spec_tool *tool) {
    yyjson_val *output = yyjson_obj_get(value, "output");
    yyjson_val *input = yyjson_obj_get(value, "input");
    struct place place = {.path = path,
                          .tool = index,
                          .properties = yyjson_obj_get(input, "properties"),
                          .code = CLI_OK};
    tool->value = value;
    tool->name = yyjson_get_str(yyjson_obj_get(value, "name"));
    tool->is_json = yyjson_is_obj(output) || yyjson_equals_str(output, "json");
    int code = check_command(&place, value);
    if (code == CLI_OK)
        code = read_limits(path, index, tool);
    return code == CLI_OK ? read_env(path, index, tool) : code;
}

char *spec_path(const struct spec *spec, const char *path) {
    char *whole = NULL;
    int len = path[0] == '/' ? asprintf(&whole, "%s", path)
                             : asprintf(&whole, "%s/%s", spec->folder, path);
    return len < 0 ? NULL : whole;
}

/* NULL without memory. What comes by the standard input lies here. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

int spec_read(struct spec *spec, const char *path) {
    int code;
    size_t i;
    size_t count;
    yyjson_val *tool;
    spec->doc = cli_read_json(path, CLI_MISFIT, &code);
    if (!spec->doc)
        return code;
    spec->folder = folder_of(path);
    if (!spec->folder)
        return tell(path, "out of memory");
    yyjson_val *root = yyjson_doc_get_root(spec->doc);
    yyjson_val *tools = yyjson_obj_get(root, "tools");
    code = cli_check_form(path, root, dx_str(spec_schema), CLI_MISFIT);
    if (code != CLI_OK)
        return code;
    spec->tools = calloc(yyjson_arr_size(tools) + 1, sizeof *spec->tools);
    if (!spec->tools)
        return tell(path, "out of memory");
    yyjson_arr_foreach(tools, i, count, tool) {
        spec->count = i + 1;
        if (code == CLI_OK)
            code = read_tool(path, i, tool, &spec->tools[i]);
    }
    return code;
}

void spec_done(struct spec *spec) {
    for (size_t i = 0; i < spec->count; i++) {
        for (char **one = spec->tools[i].env; one && *one; one++)
            free(*one);
        free(spec->tools[i].env);
    }
    free(spec->tools);
    free(spec->folder);
    yyjson_doc_free(spec->doc);
    *spec = (struct spec){.doc = NULL};
}
