#include "systems/finecode/command/work.h"

#include "systems/finecode/command/live.h"
#include "systems/finecode/command/preview.h"

#include "cli/input.h"
#include "cli/record.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"
#include "systems/finecode/processors.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long runners have to leave when the user wants an end; and how much later than it should be
 * the end is still waited for. */
enum { HURRY_MS = 2000, SLACK_MS = 10000 };

void work_clear(struct work *work) {
    cli_flush();
    live_hide(work->live);
}

void work_wait(struct work *work, uint64_t until) {
    uint64_t next = live_next(work->live);
    cli_wait(work->loop, next < until ? next : until);
    live_draw(work->live);
}

static void on_stopped(dx_finecode_wm *wm, void *user) {
    struct work *work = user;
    (void)wm;
    work->stopped = true;
}

/* A server keeps more runners than run at the same time: what a user does next mostly needs the
 * same ones again. */
enum { COUNT_MAX = 1 << 20, SERVED_MIN = 16, SERVED_FACTOR = 4 };

static unsigned number_of(uint64_t given, unsigned otherwise) {
    return given == FINECODE_UNSAID ? otherwise : given < COUNT_MAX ? (unsigned)given : COUNT_MAX;
}

static void set_jobs(dx_finecode_wm_config *config, const struct work *work) {
    config->max_jobs = number_of(work->options->jobs, dx__finecode_processors());
    unsigned kept = SERVED_FACTOR * config->max_jobs;
    config->max_runners = !work->serves ? config->max_jobs : kept > SERVED_MIN ? kept : SERVED_MIN;
}

static void set_times(dx_finecode_wm_config *config, const struct finecode_options *options) {
    const struct {
        uint64_t given;
        uint64_t *place;
    } times[] = {
        {options->port_ms, &config->port_ms}, {options->initialize_ms, &config->initialize_ms},
        {options->info_ms, &config->info_ms}, {options->config_ms, &config->config_ms},
        {options->run_ms, &config->run_ms},   {options->stop_ms, &config->stop_ms},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (times[i].given)
            *times[i].place = times[i].given;
}

static dx_finecode_wm_config configure(struct work *work) {
    const struct finecode_options *options = work->options;
    dx_finecode_wm_config config = dx_finecode_wm_defaults();
    config.revision = options->revision;
    config.runner = options->runner;
    if (work->program)
        config.er_program = work->program;
    set_times(&config, options);
    set_jobs(&config, work);
    config.max_fanout = number_of(options->fanout, config.max_fanout);
    config.wal_folder = options->wal;
    config.debug_env = options->debug;
    config.overrides = work->overrides;
    config.recorder = work->recorder;
    config.on_stopped = on_stopped;
    config.user = work;
    news_listen(work, &config);
    if (options->dry_run)
        preview_listen(&config);
    work->stop_ms = config.stop_ms;
    return config;
}

/* ACTION.[HANDLER.]PARAM=JSON: what it means is the projects' matter, but not whether it is that.
 */
static int check_override(const char *word) {
    const char *equals = strchr(word, '=');
    const char *dot = strchr(word, '.');
    bool has_form = equals && dot && dot > word && dot + 1 < equals && equals[-1] != '.';
    yyjson_doc *doc =
        has_form ? yyjson_read(equals + 1, strlen(equals + 1), YYJSON_READ_NUMBER_AS_RAW) : NULL;
    bool fits = doc != NULL;
    yyjson_doc_free(doc);
    if (fits)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "--set: expected ACTION.[HANDLER.]PARAM=JSON, got '%s'", word);
}

static int take_overrides(struct work *work) {
    const cli_list *set = &work->options->set;
    int code = CLI_OK;
    work->overrides = calloc(set->count + 1, sizeof *work->overrides);
    if (!work->overrides)
        return cli_fail(CLI_NO_START, "out of memory");
    for (size_t i = 0; code == CLI_OK && i < set->count; i++) {
        work->overrides[i] = set->at[i];
        code = check_override(set->at[i]);
    }
    return code;
}

static char *own_program(void) {
    char path[4096];
    return cli_own_path(path, sizeof path) ? strdup(path) : NULL;
}

static int add_folder(struct work *work, const char *folder) {
    dx_error error = {.fault = DX_FAULT_NONE};
    work->folder = realpath(folder, NULL);
    if (!work->folder)
        return cli_fail(CLI_USAGE, "cannot read %s: %s", folder, strerror(errno));
    dx_status status = dx_finecode_wm_add_dir(work->wm, work->folder, &error);
    if (status == DX_OK)
        return CLI_OK;
    return cli_fail(status == DX_ERR_NOMEM ? CLI_NO_START : CLI_USAGE,
                    "cannot list the projects below %s: %s", work->folder,
                    error.phrase[0] ? error.phrase : dx_status_name(status));
}

/* As git does, a command in a folder of a project is about that project. */
static int add_above(struct work *work) {
    char *folder = dx_finecode_wm_project(work->wm, 0) ? NULL : work_project_above(work->folder);
    if (!folder)
        return CLI_OK;
    free(work->folder);
    int code = add_folder(work, folder);
    free(folder);
    work->above_name = work->folder;
    work->above = *work->options;
    if (!work->above.projects.count)
        work->above.projects = (cli_list){(const char **)&work->above_name, 1};
    work->options = &work->above;
    return code;
}

int work_open(struct work *work, const struct finecode_options *options, const char *folder) {
    dx_error error = {.fault = DX_FAULT_NONE};
    work->options = options;
    work->began_us = dx_recorder_now_us();
    work->began_ms = cli_now();
    work->program = own_program();
    int code = take_overrides(work);
    if (code == CLI_OK)
        code = cli_record_open(options->record, &work->recorder);
    if (code != CLI_OK)
        return code;
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* whoever started us may ignore it */
    dx_finecode_wm_config config = configure(work);
    if (cli_loop_new(options->keep_daemons, &work->loop, &error) != DX_OK ||
        dx_finecode_wm_new(work->loop, &config, &work->wm, &error) != DX_OK)
        return cli_fail(CLI_NO_START, "%s", error.phrase[0] ? error.phrase : "out of memory");
    work->limiter = dx__log_limiter_new(work->loop, news_on_summary, work);
    if (options->log_level)
        dx_finecode_wm_forward_logs(work->wm, options->log_level);
    code = folder ? add_folder(work, folder) : CLI_OK;
    if (code == CLI_OK && folder && !options->folder)
        code = add_above(work);
    return folder && code == CLI_OK ? pick_check_overrides(work) : code;
}

/* A signal makes it short, a second one shorter. What is still there then is killed. */
static void stop_all(struct work *work) {
    int first = cli_interrupts();
    uint64_t began = cli_now();
    dx_finecode_wm_stop(work->wm);
    while (!work->stopped && cli_interrupts() < 2) {
        /* A runner has that long twice: to answer, and to leave. */
        uint64_t most = cli_interrupts() ? HURRY_MS
                        : work->stop_ms < (DX_NEVER - began) / 2 - SLACK_MS
                            ? 2 * work->stop_ms + SLACK_MS
                            : DX_NEVER - began;
        if (cli_interrupts() > first) {
            first = cli_interrupts();
            began = cli_now();
        }
        if (cli_now() - began >= most)
            break;
        cli_wait(work->loop, began + most);
    }
}

int work_leave(struct work *work, int code) {
    int before = cli_interrupts();
    work->leaving = true;
    work_clear(work);
    if (work->wm)
        stop_all(work);
    if (cli_interrupts() > before && code == CLI_OK)
        code = cli_fail(CLI_INTERRUPTED, "interrupted");
    dx_finecode_wm_free(work->wm);
    dx__log_limiter_free(work->limiter);
    cli_loop_free(work->loop);
    cli_record_close(work->recorder);
    preview_done(&work->preview);
    free(work->overrides);
    free(work->program);
    free(work->folder);
    return code;
}
