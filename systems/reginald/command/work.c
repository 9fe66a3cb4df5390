#include "systems/reginald/command/work.h"

#include "systems/reginald/command/attend.h"
#include "systems/reginald/command/tasks.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <stdlib.h>
#include <string.h>

void work_wait(struct work *work) {
    cli_wait(work->loop, DX_NEVER);
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

/* Lives as long as the host: the end of a call that nobody waits for any more still comes. */
int work_run(const struct reginald_options *options, const char *word, char **flags) {
    struct work work = {.options = options, .word = word, .began_us = dx_recorder_now_us()};
    struct tasks tasks = {.count = 0};
    const char *path = options->config ? options->config : getenv("REGINALD_CONFIG");
    bool attends = work_attends(word);
    int code = flags_init(&work.flags, flags) ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
    work.quiet = strcmp(word, "plugins") == 0;
    if (code == CLI_OK)
        code = file_read(path && *path ? path : NULL, &work.file);
    if (code == CLI_OK)
        code = logs_init(&work.logs, options, &work.file);
    if (code == CLI_OK && attends)
        code = tasks_read(&work.file, &tasks);
    cli_catch_signals();
    if (code == CLI_OK)
        code = crew_open(&work);
    if (code == CLI_OK) {
        crew_wait_ready(&work);
        code = cli_interrupts() ? cli_fail(CLI_INTERRUPTED, "interrupted")
               : attends        ? attend_run(&work, &tasks)
               : work.quiet     ? plugins_run(&work)
                                : command_run(&work, word);
    }
    code = crew_leave(&work, code);
    tasks_done(&tasks);
    file_done(&work.file);
    flags_done(&work.flags);
    free(work.ending.why);
    return code;
}

bool work_attends(const char *word) {
    return strcmp(word, "attend") == 0 || strcmp(word, "apply") == 0 || strcmp(word, "tend") == 0;
}
