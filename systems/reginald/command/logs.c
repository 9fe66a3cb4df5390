#include "systems/reginald/command/logs.h"

#include "cli/say.h"

#include <duplex/reginald.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *choose(const char *option, const char *variable, const struct file *file,
                          const char *key, const char **ret_source) {
    const char *env = getenv(variable);
    yyjson_val *value = yyjson_obj_get(file->logging, key);
    *ret_source = NULL;
    if (option)
        return option;
    if (env && *env) {
        *ret_source = variable;
        return env;
    }
    if (value)
        *ret_source = file->path;
    return value ? yyjson_get_str(value) : NULL;
}

int logs_init(struct logs *logs, const struct reginald_options *options, const struct file *file) {
    const char *source;
    const char *level = choose(options->log_level, "REGINALD_LOG_LEVEL", file, "level", &source);
    *logs = (struct logs){.level = DX_REGINALD_INFO};
    if (level && !dx_reginald_level_read(dx_str(level), &logs->level))
        return cli_fail(
            CLI_USAGE,
            "%s%s: expected trace, debug, info, warn or error, or an offset as in info+2,"
            " got '%s'",
            source ? source : "--log-level",
            source == file->path && source ? ": logging.level" : "", level);
    const char *format =
        choose(options->log_format, "REGINALD_LOG_FORMAT", file, "format", &source);
    logs->json = format && strcmp(format, "json") == 0;
    if (format && !logs->json && strcmp(format, "text") != 0)
        return cli_fail(CLI_USAGE, "%s%s: expected text or json, got '%s'",
                        source ? source : "--log-format",
                        source == file->path && source ? ": logging.format" : "", format);
    yyjson_val *enabled = yyjson_obj_get(file->logging, "enabled");
    logs->off = enabled && !yyjson_get_bool(enabled) && !options->log_level;
    return CLI_OK;
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *root) {
    struct timespec now;
    struct tm parts;
    char text[64];
    clock_gettime(CLOCK_REALTIME, &now);
    if (!gmtime_r(&now.tv_sec, &parts))
        return;
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, sizeof text - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
    yyjson_mut_obj_add_strcpy(doc, root, "time", text);
}

static void put_json(const char *plugin, const char *level, const char *kind, dx_text text,
                     yyjson_val *fields) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    size_t len = 0;
    if (doc) {
        yyjson_mut_doc_set_root(doc, root);
        put_time(doc, root);
        yyjson_mut_obj_add_str(doc, root, "level", level);
        cli_add_text(doc, root, "plugin", dx_str(plugin));
        if (kind)
            yyjson_mut_obj_add_str(doc, root, "kind", kind);
        cli_add_text(doc, root, "msg", text);
        if (fields)
            yyjson_mut_obj_add_val(doc, root, "fields", yyjson_val_mut_copy(doc, fields));
    }
    char *line = doc ? yyjson_mut_write(doc, 0, &len) : NULL;
    cli_put_line(stderr, line ? (dx_text){line, len} : dx_str("{}"));
    fputc('\n', stderr);
    free(line);
    yyjson_mut_doc_free(doc);
}

/* A word as it is, everything else as JSON. */
static void put_value(yyjson_val *value) {
    dx_text text = dx_json_string(value);
    bool plain = text.at && text.len && text.len < 1000;
    for (size_t i = 0; plain && i < text.len; i++)
        plain = !strchr(" \t\"=\\{}[]", text.at[i]); /* NUL, too */
    size_t len = 0;
    char *json = plain ? NULL : yyjson_val_write(value, 0, &len);
    if (plain)
        cli_put_safe(stderr, text);
    else if (json)
        cli_put_safe(stderr, (dx_text){json, len});
    free(json);
}

static void put_text(const char *plugin, int number, const char *level, const char *kind,
                     dx_text text, yyjson_val *fields) {
    cli_colour colour = number >= DX_REGINALD_ERROR  ? CLI_RED
                        : number >= DX_REGINALD_WARN ? CLI_YELLOW
                        : number >= DX_REGINALD_INFO ? CLI_GREEN
                                                     : CLI_DIM;
    size_t index;
    size_t max;
    yyjson_val *key;
    yyjson_val *value;
    fprintf(stderr, "%s%-5s%s %s", cli_paint(stderr, colour), level, cli_paint(stderr, CLI_PLAIN),
            cli_paint(stderr, CLI_BOLD));
    cli_put_safe(stderr, dx_str(plugin));
    fprintf(stderr, ":%s %s%s", cli_paint(stderr, CLI_PLAIN), kind ? kind : "", kind ? ": " : "");
    cli_put_safe(stderr, text);
    yyjson_obj_foreach(fields, index, max, key, value) {
        fprintf(stderr, " %s", cli_paint(stderr, CLI_CYAN));
        cli_put_safe(stderr, dx_json_string(key));
        fprintf(stderr, "=%s", cli_paint(stderr, CLI_PLAIN));
        put_value(value);
    }
    fputc('\n', stderr);
}

void logs_put(const struct logs *logs, const char *plugin, int level, const char *kind,
              dx_text text, yyjson_val *fields) {
    char room[24];
    const char *name = dx_reginald_level_write(level, room);
    cli_flush();
    if (logs->json)
        put_json(plugin, name, kind, text, fields);
    else
        put_text(plugin, level, name, kind, text, fields);
}
