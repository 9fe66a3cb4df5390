/* What the configuration of a ready-made handler may say. */
#include "systems/finecode/command/er/tools.h"

#include "cli/options.h"
#include "systems/finecode/processors.h"

#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 64 };
#define TIMEOUT_MS ((uint64_t)300000)

static bool wrong(const char *name, const char *why, char *room, size_t room_len) {
    snprintf(room, room_len, "config: %s: %s", name, why);
    return false;
}

static bool are_texts(yyjson_val *array) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(array);
    for (yyjson_val *one; (one = yyjson_arr_iter_next(&iter));)
        if (!yyjson_is_str(one) || strlen(yyjson_get_str(one)) != yyjson_get_len(one))
            return false;
    return !array || yyjson_is_arr(array);
}

static bool are_known(const struct tool *tool, yyjson_val *config, char *room, size_t room_len) {
    static const char *const all[] = {"pattern", "columns", "severity", "files",   "dry_run",
                                      "program", "args",    "include",  "exclude", "jobs",
                                      "timeout", "build",   NULL};
    const char *const *names = tool == &tool_pattern ? all : all + 5;
    yyjson_obj_iter iter = yyjson_obj_iter_with(config);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        const char *const *name = names;
        while (*name && !yyjson_equals_str(key, *name))
            name++;
        if (!*name)
            return wrong(yyjson_get_str(key), "unknown key", room, room_len);
    }
    return true;
}

static bool take_text(yyjson_val *config, const char *name, const char **to, char *room,
                      size_t room_len) {
    yyjson_val *value = yyjson_obj_get(config, name);
    if (!value)
        return true;
    if (!yyjson_is_str(value) || !yyjson_get_len(value) ||
        strlen(yyjson_get_str(value)) != yyjson_get_len(value))
        return wrong(name, "expected a non-empty string", room, room_len);
    *to = yyjson_get_str(value);
    return true;
}

static bool name_has(const char *word, size_t len, const char *const *parts) {
    for (; *parts; parts++)
        if (memmem(word, len, *parts, strlen(*parts)))
            return true;
    return false;
}

/* May this argument make the program write files by itself? A program may have more options than
 * are known here, so the parts of names say more than is needed. */
static bool may_write(const struct tool *tool, const char *word) {
    static const char *const all[] = {"fix",  "write",     "output", "cache", "dump",
                                      "init", "build-dir", "export", "store", "checkers-report",
                                      NULL};
    static const char *const clang[] = {"fix", "export", "output", "dump", "store", NULL};
    bool is_clang = strncmp(tool->program, "clang", 5) == 0;
    size_t dashes = strspn(word, "-");
    const char *name = word + dashes;
    size_t len = strcspn(name, "=");
    if (is_clang) /* which takes a dash for two, and "@file" for the options in a file */
        return word[0] == '@' || (dashes && (name_has(name, len, clang) ||
                                             (len == 1 && (*name == 'i' || *name == 'o'))));
    if (tool->npm && dashes == 1)
        return strcspn(name, "wfio") < strlen(name);
    return dashes && (name_has(name, len, all) || (tool->npm && memmem(name, len, "suppress", 8)));
}

static bool args_write(const struct tool *tool, yyjson_val *args, char *room, size_t room_len) {
    char why[200];
    yyjson_arr_iter iter = yyjson_arr_iter_with(args);
    for (yyjson_val *arg; (arg = yyjson_arr_iter_next(&iter));)
        if (may_write(tool, yyjson_get_str(arg))) {
            snprintf(why, sizeof why,
                     "with --dry-run, the program must not write files, and '%.100s' may do so",
                     yyjson_get_str(arg));
            return !wrong("args", why, room, room_len);
        }
    return false;
}

static bool take_timeout(yyjson_val *value, uint64_t *to) {
    *to = TIMEOUT_MS;
    if (yyjson_is_uint(value) && yyjson_get_uint(value) < 1000000000)
        *to = yyjson_get_uint(value) * 1000;
    else if (value && (!yyjson_is_str(value) || !cli_parse_time(yyjson_get_str(value), to)))
        return false;
    return *to > 0;
}

/* Its share of what the manager runs at the same time. */
static size_t usual_jobs(void) {
    const char *said = getenv("FINECODE_JOBS");
    unsigned long jobs = said ? strtoul(said, NULL, 10) : 0;
    if (!jobs)
        jobs = dx__finecode_processors();
    return jobs > JOBS_MAX ? JOBS_MAX : jobs;
}

/* The number of one of the names; `count` if it is none. */
static size_t choice(yyjson_val *value, const char *const *names, size_t count) {
    size_t i = 0;
    while (i < count && !yyjson_equals_str(value, names[i]))
        i++;
    return i;
}

static bool take_pattern(yyjson_val *config, struct settings *settings, char *room,
                         size_t room_len) {
    static const char *const columns[] = {"bytes", "characters", "utf16"};
    static const char *const severities[] = {"error", "warning", "info", "hint"};
    yyjson_val *column = yyjson_obj_get(config, "columns");
    yyjson_val *severity = yyjson_obj_get(config, "severity");
    yyjson_val *files = yyjson_obj_get(config, "files");
    yyjson_val *dry_run = yyjson_obj_get(config, "dry_run");
    size_t number = choice(severity, severities, 4);
    settings->columns = column ? choice(column, columns, 3) : COLUMNS_CHARACTERS;
    settings->severity = severity ? (int)number + MESSAGE_ERROR : MESSAGE_WARNING;
    settings->whole = yyjson_is_false(files);
    if (settings->columns > COLUMNS_UTF16)
        return wrong("columns", "expected bytes, characters or utf16", room, room_len);
    if (settings->severity > MESSAGE_HINT)
        return wrong("severity", "expected error, warning, info or hint", room, room_len);
    if (files && !yyjson_is_bool(files))
        return wrong("files", "expected true or false", room, room_len);
    if (dry_run && !yyjson_is_bool(dry_run))
        return wrong("dry_run", "expected true or false", room, room_len);
    if (er_is_dry_run() && !yyjson_get_bool(dry_run))
        return wrong("dry_run",
                     "with --dry-run, the program must not write files; if it does not, or not "
                     "with FINECODE_DRY_RUN, set dry_run = true",
                     room, room_len);
    if (!settings->program)
        return wrong("program", "missing", room, room_len);
    if (!settings->include && !settings->whole)
        return wrong("include", "missing; name the files (\"*.py\"), or set files = false", room,
                     room_len);
    if (!take_text(config, "pattern", &settings->pattern, room, room_len))
        return false;
    return settings->pattern ? pattern_check(settings->pattern, room, room_len)
                             : wrong("pattern", "missing", room, room_len);
}

bool settings_read(const struct tool *tool, yyjson_val *config, struct settings *settings,
                   char *room, size_t room_len) {
    yyjson_val *jobs = yyjson_obj_get(config, "jobs");
    *settings = (struct settings){
        .program = tool->program,
        .args = yyjson_obj_get(config, "args"),
        .include = yyjson_obj_get(config, "include"),
        .exclude = yyjson_obj_get(config, "exclude"),
        .jobs = usual_jobs(),
    };
    if (!are_known(tool, config, room, room_len) ||
        !take_text(config, "program", &settings->program, room, room_len) ||
        !take_text(config, "build", &settings->build, room, room_len))
        return false;
    if (!are_texts(settings->args))
        return wrong("args", "expected an array of strings", room, room_len);
    if (er_is_dry_run() && tool != &tool_pattern &&
        args_write(tool, settings->args, room, room_len))
        return false;
    if (!are_texts(settings->include) || !are_texts(settings->exclude))
        return wrong("include, exclude", "expected arrays of strings", room, room_len);
    if (jobs &&
        (!yyjson_is_uint(jobs) || yyjson_get_uint(jobs) < 1 || yyjson_get_uint(jobs) > JOBS_MAX))
        return wrong("jobs", "expected a number from 1 to 64", room, room_len);
    if (jobs)
        settings->jobs = yyjson_get_uint(jobs);
    if (!take_timeout(yyjson_obj_get(config, "timeout"), &settings->timeout_ms))
        return wrong("timeout", "expected seconds or a time (2s, 500ms, 5m, never)", room,
                     room_len);
    return tool != &tool_pattern || take_pattern(config, settings, room, room_len);
}
