#include "systems/reginald/command/file.h"

#include "cli/input.h"
#include "cli/say.h"

#include <duplex/toml.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 100000 };

const char *file_kind(yyjson_val *value) {
    if (dx_toml_kind_of(value) != DX_TOML_OTHER)
        return "a date or time";
    if (yyjson_is_str(value))
        return "a string";
    if (yyjson_is_bool(value))
        return "a boolean";
    if (yyjson_is_int(value))
        return "an integer";
    if (yyjson_is_real(value))
        return "a float";
    return yyjson_is_arr(value) ? "an array" : "a table";
}

const char *file_text(yyjson_val *value) {
    const char *text = dx_toml_kind_of(value) == DX_TOML_OTHER ? yyjson_get_str(value) : NULL;
    return text && strlen(text) == yyjson_get_len(value) ? text : NULL;
}

yyjson_val *file_table(yyjson_val *tables, const char *name) {
    return yyjson_obj_get(tables, name);
}

static int misfit(const struct file *file, const char *place, const char *expected,
                  yyjson_val *value) {
    return cli_fail(CLI_USAGE, "%s: %s: expected %s, got %s", file->path, place, expected,
                    file_kind(value));
}

static int check_logging(const struct file *file) {
    static const char *const names[] = {"level", "format", "enabled", "output"};
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(file->logging, index, max, key, value) {
        char place[64];
        size_t i = 0;
        while (i < 4 && !yyjson_equals_str(key, names[i]))
            i++;
        if (i == 4)
            return cli_fail(CLI_USAGE, "%s: logging.%s: unknown setting", file->path,
                            yyjson_get_str(key));
        snprintf(place, sizeof place, "logging.%s", names[i]);
        if (i != 2 && !file_text(value))
            return misfit(file, place, "a string", value);
        if (i == 3)
            cli_warn("%s: %s has no effect: logs are printed to stderr", file->path, place);
        if (i == 2 && !yyjson_is_bool(value))
            return misfit(file, place, "a boolean", value);
    }
    return CLI_OK;
}

static int check_tables(const struct file *file, const char *name, yyjson_val *tables) {
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(tables, index, max, key, value) {
        if (!yyjson_is_obj(value))
            return cli_fail(CLI_USAGE, "%s: %s.%s: expected a table, got %s", file->path, name,
                            yyjson_get_str(key), file_kind(value));
    }
    return CLI_OK;
}

static int check_tasks(const struct file *file) {
    size_t index;
    size_t max;
    yyjson_val *value;
    yyjson_arr_foreach(file->tasks, index, max, value) {
        char place[64];
        snprintf(place, sizeof place, "tasks[%zu]", index);
        if (!yyjson_is_obj(value))
            return misfit(file, place, "a table", value);
    }
    return CLI_OK;
}

/* What may stand at the top besides the tables of plugins and commands. */
static const struct {
    const char *name;
    enum { TABLE, TASKS, PATH, IDLE } kind;
    size_t at; /* in struct file */
} known[] = {
    {"logging", TABLE, offsetof(struct file, logging)},
    {"plugins", TABLE, offsetof(struct file, plugins)},
    {"commands", TABLE, offsetof(struct file, commands)},
    {"defaults", TABLE, offsetof(struct file, defaults)},
    {"tasks", TASKS, offsetof(struct file, tasks)},
    {"directory", PATH, offsetof(struct file, directory)},
    {"plugin-dir", PATH, offsetof(struct file, plugin_dir)},
    {"plugin_dir", PATH, offsetof(struct file, plugin_dir)},
    {"pluginDir", PATH, offsetof(struct file, plugin_dir)},
    /* The real program's. */
    {"color", IDLE, 0},
    {"quiet", IDLE, 0},
    {"verbose", IDLE, 0},
};
enum { KNOWN = sizeof known / sizeof *known };

static size_t known_at(const char *name) {
    size_t i = 0;
    while (i < KNOWN && strcmp(name, known[i].name) != 0)
        i++;
    return i;
}

/* The other name under which the file gives the same setting; NULL: none. */
static const char *other_name(const struct file *file, size_t at) {
    for (size_t i = 0; i < KNOWN; i++)
        if (i != at && known[i].kind == known[at].kind && known[i].at == known[at].at &&
            yyjson_obj_get(yyjson_doc_get_root(file->doc), known[i].name))
            return known[i].name;
    return NULL;
}

static int take_known(struct file *file, size_t at, yyjson_val *value) {
    static const char *const expected[] = {"a table", "[[tasks]]", "a path"};
    const char *name = known[at].name;
    if (known[at].kind == IDLE) {
        cli_warn("%s: '%s' has no effect", file->path, name);
        return CLI_OK;
    }
    const char *other = other_name(file, at);
    if (other)
        return cli_fail(CLI_USAGE, "%s: %s and %s are the same setting", file->path, name, other);
    bool fits = known[at].kind == TABLE   ? yyjson_is_obj(value)
                : known[at].kind == TASKS ? yyjson_is_arr(value)
                                          : file_text(value) && *file_text(value);
    if (!fits)
        return misfit(file, name, expected[known[at].kind], value);
    memcpy((char *)file + known[at].at, &value, sizeof value);
    return CLI_OK;
}

yyjson_val *file_own_table(const struct file *file, const char *name) {
    return known_at(name) == KNOWN ? yyjson_obj_get(yyjson_doc_get_root(file->doc), name) : NULL;
}

const char *file_own_name(const struct file *file, size_t index) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_doc_get_root(file->doc));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        if (known_at(yyjson_get_str(key)) == KNOWN && !index--)
            return yyjson_get_str(key);
    return NULL;
}

/* Takes what stands at the top of it apart. */
static int take(struct file *file) {
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    int code = CLI_OK;
    yyjson_obj_foreach(yyjson_doc_get_root(file->doc), index, max, key, value) {
        size_t at = known_at(yyjson_get_str(key));
        if (code == CLI_OK && at < KNOWN)
            code = take_known(file, at, value);
        else if (code == CLI_OK && !yyjson_is_obj(value))
            code = cli_fail(CLI_USAGE, "%s: unknown key '%s'", file->path, yyjson_get_str(key));
    }
    if (code == CLI_OK)
        code = check_logging(file);
    if (code == CLI_OK)
        code = check_tables(file, "defaults", file->defaults);
    if (code == CLI_OK)
        code = check_tables(file, "plugins", file->plugins);
    if (code == CLI_OK)
        code = check_tables(file, "commands", file->commands);
    return code == CLI_OK ? check_tasks(file) : code;
}

static char *folder_of(const char *path) {
    char *whole = strcmp(path, "-") == 0 ? realpath(".", NULL) : realpath(path, NULL);
    char *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash && strcmp(path, "-") != 0)
        slash[slash == whole] = '\0';
    return whole;
}

char *file_path(const char *base, const char *path) {
    const char *home = getenv("HOME");
    char *whole = NULL;
    if (path[0] == '/')
        return strdup(path);
    bool is_home = path[0] == '~' && (path[1] == '/' || !path[1]) && home && *home;
    int len = is_home ? asprintf(&whole, "%s%s", home, path + 1)
                      : asprintf(&whole, "%s/%s", strcmp(base, "/") == 0 ? "" : base, path);
    return len < 0 ? NULL : whole;
}

int file_read(const char *path, struct file *ret_file) {
    dx_toml_config config = dx_toml_defaults();
    dx_toml_error why;
    size_t len;
    *ret_file = (struct file){.path = path};
    if (!path)
        return CLI_OK;
    char *text = cli_read_file(path, &len);
    if (!text)
        return CLI_USAGE;
    config.values_max = VALUES_MAX;
    dx_status status = dx_toml_read((dx_text){text, len}, &config, &ret_file->doc, &why);
    free(text);
    if (status != DX_OK) {
        ret_file->doc = NULL;
        return cli_fail(CLI_USAGE, "%s:%s", path, why.phrase);
    }
    ret_file->folder = folder_of(path);
    if (!ret_file->folder)
        return cli_fail(CLI_USAGE, "cannot read %s: %s", path, strerror(errno));
    return take(ret_file);
}

int file_task_folder(const struct file *file, const char *dir, char **ret_folder) {
    const char *directory = file_text(file->directory);
    char *base = directory ? file_path(file->folder, directory) : strdup(file->folder);
    if (base && dir) {
        *ret_folder = file_path(base, dir);
        free(base);
    } else {
        *ret_folder = base;
    }
    return *ret_folder ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
}

void file_done(struct file *file) {
    yyjson_doc_free(file->doc);
    free(file->folder);
    *file = (struct file){NULL};
}
