#include "systems/hermes/command/work.h"

#include "systems/hermes/command/store.h"

#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "cli/waiting.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STOP_MS = 5000, BUSY_MS = 60000 };

bool work_wait(struct work *work, uint64_t until, bool input) {
    struct pollfd fds[2 + OPENERS_MAX] = {
        [1] = {.fd = input ? STDIN_FILENO : -1, .events = POLLIN}};
    for (size_t i = 0; i < work->opener_count; i++)
        fds[2 + i] = (struct pollfd){.fd = work->openers[i].fd, .events = POLLIN};
    int count = cli_poll(work->loop, fds, 2 + work->opener_count, until);
    dx_loop_dispatch(work->loop);
    windows_reap(work);
    return count > 0 && fds[1].revents;
}

static void on_stopped(dx_hermes *editor, void *user) {
    struct work *work = user;
    (void)editor;
    work->stopped = true;
}

/* Where extensions may keep their data; NULL if that was told. */
static char *data_folder(const struct hermes_options *options, int *ret_code) {
    const char *share = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    int len = 0;
    *ret_code = CLI_USAGE;
    if (options->data)
        len = asprintf(&path, "%s", options->data);
    else if (share && share[0] == '/')
        len = asprintf(&path, "%s/duplex/hermes", share);
    else if (home && home[0] == '/')
        len = asprintf(&path, "%s/.local/share/duplex/hermes", home);
    else
        return cli_fail_hint(CLI_USAGE, "pass --data FOLDER",
                             "no data folder for extensions: HOME is not set"),
               NULL;
    if (len < 0)
        return *ret_code = cli_fail(CLI_NO_START, "out of memory"), NULL;
    const char *why = store_make_folder(path);
    char *whole = why ? NULL : realpath(path, NULL);
    if (!whole)
        cli_fail(CLI_USAGE, "cannot create %s: %s", path, why ? why : strerror(errno));
    free(path);
    return whole;
}

static dx_hermes_config configure(struct work *work, const char *data) {
    const struct hermes_options *options = work->options;
    dx_hermes_config config = dx_hermes_defaults();
    config.revision = options->revision;
    if (options->shape)
        config.shape = strcmp(options->shape, "keys") == 0 ? DX_HL7_KEYS : DX_HL7_SEGMENTS;
    if (data)
        config.data_directory = data;
    config.inherit_env = options->inherit_env && !options->clean_env;
    config.cwd = options->cwd;
    config.start_ms = options->start_ms;
    config.stop_ms = options->stop_ms == HERMES_STOP_USUAL ? STOP_MS : options->stop_ms;
    /* A command has no time limit: one that is still at work does not read shutdown. */
    if (options->stop_ms == HERMES_STOP_USUAL && (options->runs.count || options->write))
        config.busy_ms = BUSY_MS;
    config.changed_ms = options->debounce_ms;
    config.recorder = work->recorder;
    config.on_state = crew_on_state;
    config.on_message = news_on_message;
    config.open_window = windows_on_open;
    config.close_window = windows_on_close;
    config.on_dialog = answers_on_dialog;
    config.on_dialog_gone = answers_on_gone;
    config.on_log = news_on_log;
    config.on_answered = crew_on_answered;
    config.on_violation = news_on_violation;
    config.on_traffic = news_on_traffic;
    config.on_stopped = on_stopped;
    config.user = work;
    return config;
}

static int open_editor(struct work *work) {
    const struct hermes_options *options = work->options;
    dx_error error = {.fault = DX_FAULT_NONE};
    char *data = NULL;
    int code = cli_record_open(work->options->record, &work->recorder);
    if (code == CLI_OK && (options->extensions.count || options->settings))
        data = data_folder(options, &code);
    if (data)
        code = CLI_OK;
    if (code != CLI_OK)
        return code;
    dx_hermes_config config = configure(work, data);
    if (cli_loop_new(options->keep_daemons, &work->loop, &error) != DX_OK ||
        dx_hermes_new(work->loop, &config, &work->editor, &error) != DX_OK)
        code = cli_fail(CLI_NO_START, "%s", error.fault ? error.phrase : "out of memory");
    else
        work->limiter = dx__log_limiter_new(work->loop, news_on_summary, work);
    free(data);
    return code;
}

/* Without --run: the console. */

static int told_interrupt(void) {
    return cli_fail(CLI_INTERRUPTED, "interrupted");
}

/* One that was asked for and does not get to work is not done without: what it would have done to
 * the message would be missing. */
static int check_started(struct work *work) {
    if (cli_interrupts())
        return told_interrupt();
    for (size_t i = 0; i < work->member_count; i++) {
        const struct member *member = &work->members[i];
        const char *name = dx_hermes_guest_name(member->guest);
        if (dx_hermes_guest_is_late(member->guest))
            return cli_fail_hint(CLI_LATE, "--start-timeout sets the limit",
                                 "%s timed out: no response to initialize", name);
        if (member->started && dx_hermes_guest_state(member->guest) != DX_HERMES_RUNNING)
            return cli_fail(CLI_ENDED, "%s did not start: it %s", name, crew_why(member->guest));
    }
    return CLI_OK;
}

static int run_one(struct work *work, const char *command) {
    dx_hermes_guest *guest = NULL;
    dx_status status = dx_hermes_run(work->editor, dx_str(command), &guest);
    if (status == DX_GONE)
        return cli_fail(CLI_REFUSED, "no extension has the command '%s'", command);
    if (status != DX_OK)
        return cli_fail(CLI_REFUSED, "cannot run '%s': %s", command, dx_status_name(status));
    struct member *member = crew_member(work, guest);
    if (!member)
        return cli_fail(CLI_NO_START, "out of memory");
    member->told_ms = cli_now();
    member->failed = false;
    work->running = command;
    work->runner = guest;
    cli_waiting_begin(&(cli_waiting){.what = command,
                                     .who = "the extensions have",
                                     .most_ms = DX_NEVER,
                                     .written = &work->written});
    for (uint64_t until; !crew_is_quiet(work, member, &until); work_wait(work, until, false))
        if (cli_interrupts() || dx_hermes_guest_state(guest) != DX_HERMES_RUNNING)
            break;
    cli_waiting_end();
    member->done = true;
    if (cli_interrupts())
        return told_interrupt();
    if (dx_hermes_guest_state(guest) != DX_HERMES_RUNNING)
        return cli_fail(CLI_ENDED, "%s did not finish: %s %s", command, dx_hermes_guest_name(guest),
                        crew_why(guest));
    if (dx_hermes_guest_lost(guest))
        return cli_fail(CLI_VIOLATION, "%s: %s sent a message that could not be read", command,
                        dx_hermes_guest_name(guest));
    if (member->failed)
        return cli_fail(CLI_REFUSED, "%s failed", command);
    return CLI_OK;
}

/* A file is written before the extensions leave, so that they hear of it, and again if one of them
 * changes the message on its way out. The standard output can't be written twice. */
static int deliver_first(struct work *work) {
    work->deliver = true;
    int code = message_has_file(work) ? message_deliver(work) : CLI_OK;
    work->deliver &= code == CLI_OK;
    return code;
}

static int deliver_last(struct work *work) {
    bool is_wanted = !message_has_file(work) || dx_hermes_is_changed(work->editor);
    return work->deliver && is_wanted ? message_deliver(work) : CLI_OK;
}

static int run_all(struct work *work) {
    int code = check_started(work);
    for (size_t i = 0; i < work->options->runs.count && code == CLI_OK; i++)
        code = run_one(work, work->options->runs.at[i]);
    work->running = NULL;
    return code == CLI_OK ? deliver_first(work) : code;
}

static int run_console(struct work *work) {
    int code = console_run(work);
    if (work->prompted)
        news_begin(work, NULL); /* what follows has a line of its own */
    if (cli_interrupts())
        code = told_interrupt();
    bool lost = dx_hermes_is_changed(work->editor);
    if (work->options->write && code != CLI_INTERRUPTED) {
        int delivered = deliver_first(work);
        return delivered == CLI_OK ? code : delivered;
    }
    if (lost)
        cli_warn("warning: unsaved changes to the message were discarded");
    return code;
}

/* The message is there before any extension can ask for it. */
static int work_on(struct work *work, const char *path, struct message *message) {
    size_t count;
    const char *why = path ? message_open(work, path, message) : NULL;
    if (why) /* "message": it is not HL7 */
        return cli_fail(strcmp(message->error.place, "message") == 0 ? CLI_MISFIT : CLI_USAGE,
                        "cannot open %s: %s", path, why);
    if (!path) {
        dx_hermes_set_file(work->editor, message->file);
        message->file = NULL;
    }
    int code = crew_start(work, &count);
    if (code != CLI_OK)
        return code;
    crew_wait_started(work);
    if (cli_interrupts())
        return told_interrupt();
    return work->options->runs.count ? run_all(work) : run_console(work);
}

/* A second signal ends it at once. */
static int leave(struct work *work, int code) {
    if (work->editor) {
        work->leaving = true;
        dx_hermes_stop(work->editor, "closing");
        cli_waiting_begin(&(cli_waiting){.what = "the extensions to end",
                                         .who = "the extensions have",
                                         .most_ms = DX_NEVER,
                                         .written = &work->written});
        while (!work->stopped && cli_interrupts() < 2)
            work_wait(work, DX_NEVER, false);
        cli_waiting_end();
        if (cli_interrupts() && code == CLI_OK)
            code = told_interrupt();
        if (code != CLI_INTERRUPTED) {
            int delivered = deliver_last(work);
            code = delivered == CLI_OK ? code : delivered;
        }
        if (code == CLI_OK)
            code = crew_check_end(work);
    }
    dx_hermes_free(work->editor);
    dx__log_limiter_free(work->limiter);
    cli_loop_free(work->loop);
    cli_record_close(work->recorder);
    windows_reap(work);
    for (size_t i = 0; i < work->member_count; i++)
        unfinished_forget(&work->members[i]);
    free(work->members);
    free(work->dialogs);
    news_done(work);
    return code;
}

/* The message that the command line names, the one of that number in its file. */
static int read_first(const struct work *work, const char *path, struct message *message) {
    size_t number = work->options->message == CLI_NEVER ? 0 : (size_t)work->options->message;
    const char *why = message_read(work, path, false, number, message);
    if (!why)
        return CLI_OK;
    return cli_fail_hint(CLI_USAGE,
                         strcmp(message->error.place, "encoding") == 0
                             ? "pass --encoding NAME if you know it, for example windows-1252"
                             : NULL,
                         "cannot read %s: %s", path ? path : "the message", why);
}

int work_run(const struct hermes_options *options, const char *path) {
    struct work *work = calloc(1, sizeof *work);
    struct message message;
    if (!work)
        return cli_fail(CLI_NO_START, "out of memory");
    work->options = options;
    work->began_us = dx_recorder_now_us();
    work->settle_ms = options->settle_ms;
    work->interactive = !options->runs.count && !cli_voice.json && isatty(STDIN_FILENO);
    message_init(&message);
    int code = read_first(work, path, &message);
    cli_catch_signals();
    if (code == CLI_OK)
        code = open_editor(work);
    if (code == CLI_OK)
        code = work_on(work, path, &message);
    message_done(&message);
    code = leave(work, code);
    free(work);
    return code;
}
