#include "systems/hermes/command/settings.h"

#include "systems/hermes/command/store.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

enum { SETTINGS_MAX = 16 << 20 };

static void free_texts(char **texts) {
    for (char **text = texts; text && *text; text++)
        free(*text);
    free(texts);
}

/* A string of a program's words or environment can't hold a NUL. */
static const char *text_of(yyjson_val *value) {
    const char *text = yyjson_get_str(value);
    return text && strlen(text) == yyjson_get_len(value) ? text : NULL;
}

/* What is wrong with it, or NULL. */
static const char *take_args(yyjson_val *list, char ***ret_args) {
    size_t count = yyjson_arr_size(list);
    size_t index;
    size_t max;
    yyjson_val *one;
    if (!list || (yyjson_is_arr(list) && !count))
        return NULL;
    if (!yyjson_is_arr(list))
        return "args: expected an array of strings";
    char **args = *ret_args = calloc(count + 1, sizeof *args);
    if (!args)
        return "out of memory";
    yyjson_arr_foreach(list, index, max, one) {
        const char *text = text_of(one);
        if (!text)
            return "args: expected an array of strings";
        args[index] = strdup(text);
        if (!args[index])
            return "out of memory";
    }
    return NULL;
}

static const char *take_env(yyjson_val *object, char ***ret_env) {
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *one;
    if (!object)
        return NULL;
    if (!yyjson_is_obj(object))
        return "env: expected an object of strings";
    char **env = *ret_env = calloc(yyjson_obj_size(object) + 1, sizeof *env);
    if (!env)
        return "out of memory";
    yyjson_obj_foreach(object, index, max, key, one) {
        const char *name = text_of(key);
        const char *text = text_of(one);
        if (!text)
            return "env: expected an object of strings";
        if (!name || !*name || strchr(name, '='))
            return "env: invalid variable name";
        if (asprintf(&env[index], "%s=%s", name, text) < 0) {
            env[index] = NULL;
            return "out of memory";
        }
    }
    return NULL;
}

static void forget_last(struct settings *settings) {
    struct setting *setting = &settings->at[--settings->count];
    free(setting->path);
    free_texts(setting->args);
    free_texts(setting->env);
    *setting = (struct setting){NULL, NULL, NULL};
}

static const char *take_entry(yyjson_val *entry, struct settings *settings) {
    struct setting *setting = &settings->at[settings->count];
    yyjson_val *enabled = yyjson_obj_get(entry, "enabled");
    const char *path = text_of(yyjson_obj_get(entry, "path"));
    if (!yyjson_is_obj(entry))
        return "expected an object";
    if (enabled && !yyjson_is_bool(enabled))
        return "enabled: expected true or false";
    if (!path || !*path)
        return "path: expected a string";
    settings->count++; /* what is half built is freed with the rest */
    setting->path = strdup(path);
    const char *why =
        setting->path ? take_args(yyjson_obj_get(entry, "args"), &setting->args) : "out of memory";
    if (!why)
        why = take_env(yyjson_obj_get(entry, "env"), &setting->env);
    if (!why && enabled && !yyjson_get_bool(enabled)) {
        forget_last(settings);
    }
    return why;
}

static int take_all(const char *path, yyjson_val *root, struct settings *settings) {
    yyjson_val *list = yyjson_obj_get(root, "extensions");
    size_t index;
    size_t max;
    yyjson_val *entry;
    if (!yyjson_is_arr(list))
        return cli_fail(CLI_USAGE, "%s: expected an object with an array \"extensions\"", path);
    settings->at = calloc(yyjson_arr_size(list) + 1, sizeof *settings->at);
    if (!settings->at)
        return cli_fail(CLI_NO_START, "out of memory");
    yyjson_arr_foreach(list, index, max, entry) {
        size_t before = settings->count;
        const char *why = take_entry(entry, settings);
        /* One that is wrong is no reason to do without the others. */
        if (why && settings->count > before)
            forget_last(settings);
        if (why)
            cli_note("%s: ignoring extensions[%zu]: %s", path, index, why);
        settings->wrong += why != NULL;
    }
    return CLI_OK;
}

int settings_read(const char *path, struct settings *ret_settings) {
    dx_buf text;
    yyjson_read_err error = {0};
    int code;
    *ret_settings = (struct settings){NULL, 0, 0};
    dx_buf_init(&text, SETTINGS_MAX, NULL);
    const char *why = store_read(path, false, &text);
    yyjson_doc *doc = why ? NULL : yyjson_read_opts(text.data, text.len, 0, NULL, &error);
    if (why)
        code = cli_fail(CLI_USAGE, "cannot read %s: %s", path, why);
    else if (!doc)
        code = cli_fail(CLI_USAGE, "%s: invalid JSON at byte %zu: %s", path, error.pos,
                        text.len ? error.msg : "the file is empty");
    else
        code = take_all(path, yyjson_doc_get_root(doc), ret_settings);
    yyjson_doc_free(doc);
    dx_buf_done(&text);
    return code;
}

void settings_done(struct settings *settings) {
    for (size_t i = 0; i < settings->count; i++) {
        free(settings->at[i].path);
        free_texts(settings->at[i].args);
        free_texts(settings->at[i].env);
    }
    free(settings->at);
    *settings = (struct settings){NULL, 0, 0};
}
