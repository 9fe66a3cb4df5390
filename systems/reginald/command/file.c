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
    static const char *const names[] = {"level", "format", "enabled"};
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(file->logging, index, max, key, value) {
        char place[64];
        size_t i = 0;
        while (i < 3 && !yyjson_equals_str(key, names[i]))
            i++;
        if (i == 3)
            return cli_fail(CLI_USAGE, "%s: logging.%s: unknown setting", file->path,
                            yyjson_get_str(key));
        snprintf(place, sizeof place, "logging.%s", names[i]);
        if (i < 2 && !file_text(value))
            return misfit(file, place, "a string", value);
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

/* Takes what stands at the top of it apart. */
static int take(struct file *file) {
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(yyjson_doc_get_root(file->doc), index, max, key, value) {
        yyjson_val **place = yyjson_equals_str(key, "logging")    ? &file->logging
                             : yyjson_equals_str(key, "plugins")  ? &file->plugins
                             : yyjson_equals_str(key, "commands") ? &file->commands
                             : yyjson_equals_str(key, "tasks")    ? &file->tasks
                                                                  : NULL;
        if (!place)
            return cli_fail(CLI_USAGE,
                            "%s: unknown table '%s'; expected logging, plugins, commands or tasks",
                            file->path, yyjson_get_str(key));
        if (place == &file->tasks ? !yyjson_is_arr(value) : !yyjson_is_obj(value))
            return misfit(file, yyjson_get_str(key),
                          place == &file->tasks ? "[[tasks]]" : "a table", value);
        *place = value;
    }
    int code = check_logging(file);
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

void file_done(struct file *file) {
    yyjson_doc_free(file->doc);
    free(file->folder);
    *file = (struct file){NULL};
}
