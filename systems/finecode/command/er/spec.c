/* Reads finecode-handlers.toml. */
#include "systems/finecode/command/er/spec.h"

#include "cli/input.h"
#include "cli/options.h"
#include "cli/say.h"

#include <duplex/toml.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4 << 20, WORDS_MAX = 1024 };
#define TIMEOUT_MS ((uint64_t)600000)
#define OUTPUT_MAX ((uint64_t)16 << 20)
/* A buffer may be as long as this; what is merged and sent has limits of its own. */
#define OUTPUT_MOST ((uint64_t)1 << 30)

/* Where something is, for messages. */
struct place {
    const struct spec *spec;
    const char *kind; /* "action", "handler" */
    size_t number;    /* from 1 */
    const char *source;
};

static bool wrong(const struct place *place, const char *member, const char *why) {
    cli_fail(CLI_MISFIT, "%s: %s %zu%s%s%s: %s: %s", place->spec->path, place->kind, place->number,
             place->source ? " (" : "", place->source ? place->source : "",
             place->source ? ")" : "", member, why);
    return false;
}

/* All members are known, so that a misspelt one is seen. */
static bool are_known(const struct place *place, yyjson_val *table, const char *const *names) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(table);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        const char *const *name = names;
        while (*name && !yyjson_equals_str(key, *name))
            name++;
        if (!*name)
            return wrong(place, yyjson_get_str(key), "unknown key");
    }
    return true;
}

static bool take_text(const struct place *place, yyjson_val *table, const char *name,
                      const char **to) {
    yyjson_val *value = yyjson_obj_get(table, name);
    if (!value)
        return true;
    if (!yyjson_is_str(value) || !yyjson_get_len(value) ||
        strlen(yyjson_get_str(value)) != yyjson_get_len(value))
        return wrong(place, name, "expected a non-empty string");
    *to = yyjson_get_str(value);
    return true;
}

static bool take_bool(const struct place *place, yyjson_val *table, const char *name, bool *to) {
    yyjson_val *value = yyjson_obj_get(table, name);
    if (value && !yyjson_is_bool(value))
        return wrong(place, name, "expected true or false");
    if (value)
        *to = yyjson_get_bool(value);
    return true;
}

/* A table becomes JSON text. */
static bool take_table(const struct place *place, yyjson_val *table, const char *name, char **to) {
    yyjson_val *value = yyjson_obj_get(table, name);
    if (!value)
        return true;
    if (!yyjson_is_obj(value))
        return wrong(place, name, "expected a table");
    *to = yyjson_val_write(value, 0, NULL);
    return *to || wrong(place, name, "cannot be converted to JSON");
}

/* What a payload may hold is what its schema names, unless that says otherwise. */
static bool close_payload(char **text) {
    yyjson_doc *doc = yyjson_read(*text, strlen(*text), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    bool is_open = !yyjson_obj_get(root, "properties") ||
                   yyjson_obj_get(root, "additionalProperties") ||
                   yyjson_obj_get(root, "patternProperties");
    yyjson_mut_doc *closed = is_open ? NULL : yyjson_doc_mut_copy(doc, NULL);
    yyjson_doc_free(doc);
    if (is_open)
        return doc != NULL;
    char *written = NULL;
    if (yyjson_mut_obj_add_bool(closed, yyjson_mut_doc_get_root(closed), "additionalProperties",
                                false))
        written = yyjson_mut_write(closed, 0, NULL);
    yyjson_mut_doc_free(closed);
    if (written) {
        free(*text);
        *text = written;
    }
    return written != NULL;
}

static bool are_texts(yyjson_val *array) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(array);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter));)
        if (!yyjson_is_str(one) || strlen(yyjson_get_str(one)) != yyjson_get_len(one))
            return false;
    return yyjson_is_arr(array);
}

/* {NAME: value}: names that an environment can have. */
static bool is_environment(yyjson_val *table) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(table);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        const char *name = yyjson_get_str(key);
        if (!*name || strchr(name, '=') || strlen(name) != yyjson_get_len(key) ||
            !yyjson_is_str(value) || strlen(yyjson_get_str(value)) != yyjson_get_len(value))
            return false;
    }
    return yyjson_is_obj(table);
}

/* A number of seconds, or a text like "500ms". */
static bool take_timeout(const struct place *place, yyjson_val *value, uint64_t *to) {
    *to = TIMEOUT_MS;
    if (!value)
        return true;
    if (yyjson_is_uint(value) && yyjson_get_uint(value) > 0 && yyjson_get_uint(value) < 1000000000)
        *to = yyjson_get_uint(value) * 1000;
    else if (!yyjson_is_str(value) || !cli_parse_time(yyjson_get_str(value), to))
        return wrong(place, "timeout", "expected seconds or a time (2s, 500ms, 5m, never)");
    return true;
}

static bool take_size(const struct place *place, yyjson_val *value, size_t *to) {
    uint64_t size = OUTPUT_MAX;
    if (yyjson_is_uint(value))
        size = yyjson_get_uint(value);
    else if (value && (!yyjson_is_str(value) || !cli_parse_size(yyjson_get_str(value), &size)))
        size = 0;
    if (size == 0 || size > OUTPUT_MOST)
        return wrong(place, "output_max", "expected a size up to 1G (4096, 64k, 16M)");
    *to = size;
    return true;
}

static bool take_action(const struct place *at, yyjson_val *table, struct spec_action *action) {
    static const char *const names[] = {"source",
                                        "canonical_source",
                                        "runs_concurrently",
                                        "scope",
                                        "parent",
                                        "language",
                                        "fails_if",
                                        "payload",
                                        "merge",
                                        "aliases",
                                        "text",
                                        NULL};
    struct place place = *at;
    const char *scope = "project";
    if (!take_text(&place, table, "source", &action->source))
        return false;
    if (!action->source)
        return wrong(&place, "source", "missing");
    place.source = action->source;
    action->aliases = yyjson_obj_get(table, "aliases");
    if (action->aliases && !are_texts(action->aliases))
        return wrong(&place, "aliases", "expected an array of strings");
    if (!are_known(&place, table, names) ||
        !take_text(&place, table, "canonical_source", &action->canonical) ||
        !take_text(&place, table, "parent", &action->parent) ||
        !take_text(&place, table, "language", &action->language) ||
        !take_text(&place, table, "fails_if", &action->fails_if) ||
        !take_text(&place, table, "text", &action->text) ||
        !take_text(&place, table, "scope", &scope) ||
        !take_bool(&place, table, "runs_concurrently", &action->runs_concurrently) ||
        !take_table(&place, table, "payload", &action->payload) ||
        !take_table(&place, table, "merge", &action->merge))
        return false;
    if (action->payload && !close_payload(&action->payload))
        return wrong(&place, "payload", "out of memory");
    if (action->text && action->text[0] != '/')
        return wrong(&place, "text", "expected a JSON Pointer (\"/summary\")");
    action->workspace = strcmp(scope, "workspace") == 0;
    if (!action->workspace && strcmp(scope, "project") != 0)
        return wrong(&place, "scope", "expected \"project\" or \"workspace\"");
    return true;
}

static bool take_command(const struct place *place, yyjson_val *words,
                         struct spec_handler *handler) {
    size_t count = yyjson_arr_size(words);
    size_t at = 0;
    if (!are_texts(words) || !count || count > WORDS_MAX ||
        !yyjson_get_len(yyjson_arr_get_first(words)))
        return wrong(place, "command", "expected an array of strings: a program and its arguments");
    handler->argv = calloc(count + 1, sizeof *handler->argv);
    if (!handler->argv)
        return wrong(place, "command", "out of memory");
    yyjson_arr_iter iter = yyjson_arr_iter_with(words);
    for (yyjson_val *word; (word = yyjson_arr_iter_next(&iter));)
        handler->argv[at++] = (char *)(uintptr_t)yyjson_get_str(word);
    return true;
}

static bool take_handler(const struct place *at, yyjson_val *table, struct spec_handler *handler) {
    static const char *const names[] = {"source",     "command", "cwd",       "env",     "timeout",
                                        "output_max", "form",    "stop_code", "dry_run", NULL};
    struct place place = *at;
    const char *form = "plain";
    yyjson_val *stop = yyjson_obj_get(table, "stop_code");
    if (!take_text(&place, table, "source", &handler->source))
        return false;
    if (!handler->source)
        return wrong(&place, "source", "missing");
    place.source = handler->source;
    handler->env = yyjson_obj_get(table, "env");
    if (handler->env && !is_environment(handler->env))
        return wrong(&place, "env", "expected a table of strings");
    if (stop && (!yyjson_is_uint(stop) || yyjson_get_uint(stop) < 1 || yyjson_get_uint(stop) > 255))
        return wrong(&place, "stop_code", "expected an exit code from 1 to 255");
    handler->stop_code = stop ? (int)yyjson_get_uint(stop) : 0;
    if (!are_known(&place, table, names) || !take_text(&place, table, "cwd", &handler->cwd) ||
        !take_text(&place, table, "form", &form) ||
        !take_bool(&place, table, "dry_run", &handler->dry_run) ||
        !take_timeout(&place, yyjson_obj_get(table, "timeout"), &handler->timeout_ms) ||
        !take_size(&place, yyjson_obj_get(table, "output_max"), &handler->output_max) ||
        !take_command(&place, yyjson_obj_get(table, "command"), handler))
        return false;
    handler->full = strcmp(form, "full") == 0;
    handler->text = strcmp(form, "text") == 0;
    if (!handler->full && !handler->text && strcmp(form, "plain") != 0)
        return wrong(&place, "form", "expected \"plain\", \"full\" or \"text\"");
    return true;
}

/* [[package]] name, path: where packages/resolvePath finds one. */
static bool take_package(const struct place *place, yyjson_val *table) {
    static const char *const names[] = {"name", "path", NULL};
    const char *name = NULL;
    const char *path = NULL;
    if (!are_known(place, table, names) || !take_text(place, table, "name", &name) ||
        !take_text(place, table, "path", &path))
        return false;
    return name && path ? true : wrong(place, name ? "path" : "name", "missing");
}

/* The tables of one kind, in their order. */
static bool take_all(struct spec *spec, const char *kind) {
    yyjson_val *tables = yyjson_obj_get(yyjson_doc_get_root(spec->doc), kind);
    yyjson_arr_iter iter = yyjson_arr_iter_with(tables);
    struct place place = {spec, kind, 0, NULL};
    if (tables && !yyjson_is_arr(tables))
        return wrong(&place, kind, "expected tables in double brackets");
    for (yyjson_val *table; (table = yyjson_arr_iter_next(&iter));) {
        bool taken;
        place.number++;
        if (!yyjson_is_obj(table))
            return wrong(&place, kind, "expected a table");
        if (*kind == 'a')
            taken = take_action(&place, table, &spec->actions[spec->action_count++]);
        else if (*kind == 'h')
            taken = take_handler(&place, table, &spec->handlers[spec->handler_count++]);
        else
            taken = take_package(&place, table);
        if (!taken)
            return false;
    }
    return true;
}

static int take_root(struct spec *spec) {
    yyjson_val *root = yyjson_doc_get_root(spec->doc);
    yyjson_obj_iter iter = yyjson_obj_iter_with(root);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        if (!yyjson_equals_str(key, "action") && !yyjson_equals_str(key, "handler") &&
            !yyjson_equals_str(key, "package"))
            return cli_fail(CLI_MISFIT, "%s: %s: expected action, handler or package", spec->path,
                            yyjson_get_str(key));
    size_t actions = yyjson_arr_size(yyjson_obj_get(root, "action"));
    size_t handlers = yyjson_arr_size(yyjson_obj_get(root, "handler"));
    spec->actions = calloc(actions + 1, sizeof *spec->actions);
    spec->handlers = calloc(handlers + 1, sizeof *spec->handlers);
    if (!spec->actions || !spec->handlers)
        return cli_fail(CLI_NO_START, "out of memory");
    spec->packages = yyjson_obj_get(root, "package");
    return take_all(spec, "action") && take_all(spec, "handler") && take_all(spec, "package")
               ? CLI_OK
               : CLI_MISFIT;
}

/* NULL with errno. */
static char *read_text(const char *path, size_t *ret_len) {
    FILE *file = cli_open_file(path);
    char *text = file ? malloc(TEXT_MAX + 1) : NULL;
    *ret_len = text ? fread(text, 1, TEXT_MAX + 1, file) : 0;
    bool failed = text && ferror(file);
    int number = errno;
    if (file)
        fclose(file);
    if (failed) {
        free(text);
        text = NULL;
    }
    errno = number;
    return text;
}

int spec_read(struct spec *spec, const char *path) {
    dx_toml_error why;
    size_t len;
    *spec = (struct spec){.path = strdup(path)};
    char *text = spec->path ? read_text(path, &len) : NULL;
    if (!text)
        return cli_fail(CLI_USAGE, "cannot read %s: %s", path, strerror(errno));
    dx_status status =
        len > TEXT_MAX ? DX_ERR_LIMIT : dx_toml_read((dx_text){text, len}, NULL, &spec->doc, &why);
    free(text);
    if (len > TEXT_MAX)
        return cli_fail(CLI_MISFIT, "%s: longer than %d bytes", path, TEXT_MAX);
    if (status != DX_OK)
        return cli_fail(CLI_MISFIT, "%s:%s", path, why.phrase);
    return take_root(spec);
}

void spec_done(struct spec *spec) {
    for (size_t i = 0; i < spec->action_count; i++) {
        free(spec->actions[i].payload);
        free(spec->actions[i].merge);
    }
    for (size_t i = 0; i < spec->handler_count; i++)
        free(spec->handlers[i].argv);
    free(spec->actions);
    free(spec->handlers);
    yyjson_doc_free(spec->doc);
    free(spec->path);
    *spec = (struct spec){0};
}
