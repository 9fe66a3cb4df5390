#include "systems/reginald/command/work.h"

#include "systems/reginald/command/attend.h"
#include "systems/reginald/command/option.h"
#include "systems/reginald/command/tasks.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

void work_wait(struct work *work) {
    cli_wait(work->loop, DX_NEVER);
}

/* On one line, with its numbers as they came. NULL: no JSON, or no memory. */
static char *compact(dx_text json) {
    yyjson_doc *doc = json.at ? yyjson_read(json.at, json.len, YYJSON_READ_NUMBER_AS_RAW) : NULL;
    char *text = doc ? yyjson_write(doc, 0, NULL) : NULL;
    yyjson_doc_free(doc);
    return text;
}

void work_ended(dx_reginald *host, const dx_reginald_offer *offer, dx_outcome outcome, int64_t code,
                const char *why, void *user) {
    struct ending *ending = user;
    (void)offer;
    free(ending->why);
    free(ending->result);
    *ending = (struct ending){true, outcome, code, strdup(why ? why : ""),
                              compact(dx_reginald_result_text(host))};
}

/* Was it ended for what it sent? */
static bool is_thrown_out(const struct work *work, const dx_reginald_guest *guest) {
    return dx_reginald_guest_errors(guest) >= work->errors_max;
}

int work_code(const struct work *work, dx_reginald_guest *guest, dx_outcome outcome) {
    switch (outcome) {
    case DX_OUTCOME_RESULT:
        return CLI_OK;
    case DX_OUTCOME_ERROR:
        return CLI_REFUSED;
    case DX_OUTCOME_TIMED_OUT:
        return CLI_LATE;
    case DX_OUTCOME_INVALID:
        return CLI_VIOLATION;
    default:
        return is_thrown_out(work, guest) ? CLI_VIOLATION : CLI_ENDED;
    }
}

/* Whoever has it may be one that has failed. */
int work_missing_code(const struct work *work) {
    dx_reginald_guest *guest;
    bool failed = false;
    bool ready = false;
    for (size_t i = 0; (guest = dx_reginald_guest_at(work->host, i)); i++) {
        failed |= dx_reginald_guest_state(guest) == DX_REGINALD_FAILED;
        ready |= dx_reginald_guest_state(guest) == DX_REGINALD_READY;
    }
    return work->misfit ? CLI_MISFIT : failed || !ready ? CLI_NO_START : CLI_USAGE;
}

static bool is_plugin(const struct work *work, const char *name) {
    dx_reginald_guest *guest;
    for (size_t i = 0; (guest = dx_reginald_guest_at(work->host, i)); i++)
        if (strcmp(dx_reginald_guest_name(guest), name) == 0)
            return true;
    return false;
}

static bool is_command(const struct work *work, const char *name) {
    return dx_reginald_find(work->host, 0, dx_str(name));
}

static bool is_task(const struct work *work, const char *name) {
    return dx_reginald_find(work->host, 1, dx_str(name));
}

static bool is_either(const struct work *work, const char *name) {
    return is_plugin(work, name) || is_command(work, name);
}

/* A table that is called like nothing there is: a mistake, unless a plugin that failed has it. */
static int refuse_table(const struct work *work, const char *group, const char *name,
                        const char *what) {
    const char *dot = *group ? "." : "";
    if (work_missing_code(work) == CLI_USAGE)
        return cli_fail(CLI_USAGE, "%s: unknown table '%s%s%s': no %s is called so",
                        work->file.path, group, dot, name, what);
    cli_warn("%s: the table '%s%s%s' is not used: no %s of a plugin that started is called so",
             work->file.path, group, dot, name, what);
    return CLI_OK;
}

static int check_group(const struct work *work, const char *group, yyjson_val *tables,
                       const char *what, bool (*is_known)(const struct work *, const char *)) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(tables);
    int code = CLI_OK;
    for (yyjson_val *key; code == CLI_OK && (key = yyjson_obj_iter_next(&iter));)
        if (!is_known(work, yyjson_get_str(key)))
            code = refuse_table(work, group, yyjson_get_str(key), what);
    return code;
}

static int check_tables(const struct work *work) {
    const struct file *file = &work->file;
    const char *name;
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && (name = file_own_name(file, i)); i++)
        if (!is_either(work, name))
            code = refuse_table(work, "", name, "plugin or command");
    if (code == CLI_OK)
        code = check_group(work, "plugins", file->plugins, "plugin", is_plugin);
    if (code == CLI_OK)
        code = check_group(work, "commands", file->commands, "command", is_command);
    return code == CLI_OK && work_attends(work->word)
               ? check_group(work, "defaults", file->defaults, "task type", is_task)
               : code;
}

/* Flags of plugins came first: which word after them is the command is known only now. */
static int find_word(struct work *work, struct tasks *tasks) {
    const char *unknown;
    const char *word = flags_find_command(&work->flags, &unknown);
    if (unknown && strcmp(unknown, "--") == 0)
        return option_refuse_dashes();
    if (unknown)
        return option_refuse(work, unknown);
    if (!word)
        return cli_fail_hint(CLI_USAGE,
                             "the commands are attend, plugins, and those of your plugins",
                             "missing command");
    work->word = word;
    work->quiet = strcmp(word, "plugins") == 0;
    return work_attends(word) ? tasks_read(&work->file, tasks) : CLI_OK;
}

static int do_word(struct work *work, struct tasks *tasks) {
    int code = work->word[0] ? CLI_OK : find_word(work, tasks);
    if (code == CLI_OK)
        code = check_tables(work);
    if (code != CLI_OK)
        return code;
    return work_attends(work->word) ? attend_run(work, tasks)
           : work->quiet            ? plugins_run(work)
                                    : command_run(work, work->word);
}

/* Lives as long as the host: the end of a call that nobody waits for any more still comes. */
int work_run(const struct reginald_options *options, const char *letters, const char *word,
             char **flags) {
    struct work work = {
        .options = options, .letters = letters, .word = word, .began_us = dx_recorder_now_us()};
    struct tasks tasks = {.count = 0};
    const char *path = options->config ? options->config : getenv("REGINALD_CONFIG");
    int code = flags_init(&work.flags, flags) ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
    work.quiet = strcmp(word, "plugins") == 0;
    if (code == CLI_OK)
        code = file_read(path && *path ? path : NULL, &work.file);
    if (code == CLI_OK)
        code = logs_init(&work.logs, options, &work.file);
    if (code == CLI_OK && work_attends(word))
        code = tasks_read(&work.file, &tasks);
    cli_catch_signals();
    if (code == CLI_OK)
        code = crew_open(&work);
    if (code == CLI_OK) {
        crew_wait_ready(&work);
        option_warn_letters(&work);
        code = cli_interrupts() ? cli_fail(CLI_INTERRUPTED, "interrupted") : do_word(&work, &tasks);
    }
    code = crew_leave(&work, code);
    tasks_done(&tasks);
    file_done(&work.file);
    flags_done(&work.flags);
    free(work.ending.why);
    free(work.ending.result);
    return code;
}

bool work_attends(const char *word) {
    return strcmp(word, "attend") == 0 || strcmp(word, "apply") == 0 || strcmp(word, "tend") == 0;
}
