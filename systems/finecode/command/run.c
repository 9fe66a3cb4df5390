/* duplex finecode run: actions, one after the other, each in every project that has it or in those
 * that are named. */
#include "cli/event.h"
#include "cli/say.h"
#include "cli/wait.h"
#include "systems/finecode/command/files.h"
#include "systems/finecode/command/live.h"
#include "systems/finecode/command/preview.h"
#include "systems/finecode/command/put.h"
#include "systems/finecode/command/report.h"
#include "systems/finecode/command/schema.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a run has to end once it was cancelled. */
enum { CANCEL_MS = 3000 };

struct run;

/* One run of the manager: of all projects, or of one that is named. */
struct errand {
    struct run *run;
    dx_finecode_project *project; /* NULL: all */
    const char *payload;
    dx_finecode_run *handle; /* NULL: not begun, or over */
    bool begun;
    bool over;
    bool told; /* that it has failed */
    bool ran;  /* something of it */
};

struct run {
    struct work *work;
    char **actions;
    size_t action_count;
    const char *action; /* the one at hand */
    char *payload;
    bool json; /* the format */
    struct rows rows;
    dx_finecode_project **projects; /* that are meant, NULL at the end */
    struct errand *errands;
    size_t count;
    char **payloads; /* of each project, if files were named; else NULL */
    int code;        /* of what is no project's failure */
    bool leaving;    /* what still comes is not told any more */
};

/* What comes. */

static void on_project(dx_finecode_wm *wm, dx_finecode_run *handle, dx_finecode_project *project,
                       const dx_finecode_result *result, void *user) {
    struct errand *errand = user;
    struct run *run = errand->run;
    struct row *row = run->leaving ? NULL : rows_of(&run->rows, project);
    (void)wm;
    (void)handle;
    /* One that had not begun when the user wanted an end was not run. */
    if (!row || (result->status == DX_FINECODE_GIVEN_UP && row->state == ROW_WAITING))
        return;
    bool whole = !run->work->options->stream || !row->has_parts;
    row->state = ROW_OVER;
    row->return_code = result->return_code;
    row->code = report_code(result);
    errand->told |= row->code != CLI_OK;
    errand->ran = true;
    if (whole && !cli_voice.json) {
        work_clear(run->work);
        put_result(run->work->options->dry_run ? stderr : stdout, project, result->by_format,
                   run->json, run->rows.count - run->rows.from > 1 || run->action_count > 1,
                   run->action_count > 1 ? run->action : NULL);
    }
    report_project(run->work, row, row->action, result, whole);
}

static void on_partial(dx_finecode_wm *wm, dx_finecode_run *handle, dx_finecode_project *project,
                       yyjson_val *by_format, void *user) {
    struct run *run = ((struct errand *)user)->run;
    struct row *row = run->leaving ? NULL : rows_of(&run->rows, project);
    (void)wm;
    (void)handle;
    if (!row)
        return;
    row->has_parts = true;
    if (!cli_voice.json) {
        work_clear(run->work);
        put_result(run->work->options->dry_run ? stderr : stdout, project, by_format, run->json,
                   run->rows.count - run->rows.from > 1 || run->action_count > 1,
                   run->action_count > 1 ? run->action : NULL);
        return;
    }
    yyjson_mut_doc *event = cli_event_new("partial");
    news_add_project(event, project);
    cli_event_add(event, "action", run->action);
    cli_event_add_value(event, "result", yyjson_val_mut_copy(event, by_format));
    cli_event_put(event);
}

static void on_progress(dx_finecode_wm *wm, dx_finecode_run *handle, dx_finecode_project *project,
                        yyjson_val *value, void *user) {
    struct run *run = ((struct errand *)user)->run;
    struct row *row = run->leaving ? NULL : rows_of(&run->rows, project);
    (void)wm;
    (void)handle;
    if (!row)
        return;
    row_progress(row, value);
    if (!cli_voice.json)
        return;
    yyjson_mut_doc *event = cli_event_new("progress");
    news_add_project(event, project);
    cli_event_add(event, "action", run->action);
    cli_event_add_value(event, "value", yyjson_val_mut_copy(event, value));
    cli_event_put(event);
}

static void on_step(dx_finecode_wm *wm, dx_finecode_run *handle, dx_finecode_project *project,
                    const char *env, const char *handlers, const char *state, void *user) {
    struct run *run = ((struct errand *)user)->run;
    struct row *row = run->leaving ? NULL : rows_of(&run->rows, project);
    (void)wm;
    (void)handle;
    if (!row)
        return;
    row_step(row, env, handlers, state);
    if (!cli_voice.json)
        return;
    yyjson_mut_doc *event = cli_event_new("step");
    news_add_project(event, project);
    cli_event_add(event, "action", run->action);
    cli_event_add(event, "env", env);
    cli_event_add(event, "handlers", handlers);
    cli_event_add(event, "state", state);
    cli_event_put(event);
}

/* Whoever has the action may be one whose configuration is wrong. */
static bool has_invalid(const struct rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].code == CLI_MISFIT)
            return true;
    return false;
}

static int refuse(struct run *run, dx_status status, const char *why) {
    char *near = status == DX_ERR_INVALID ? pick_nearest(run->projects, run->action) : NULL;
    int code = status == DX_ERR_NOMEM    ? CLI_NO_START
               : has_invalid(&run->rows) ? CLI_MISFIT
                                         : CLI_USAGE;
    work_clear(run->work);
    char *hint = pick_hint(near);
    if (!hint && access(run->action, F_OK) == 0 &&
        asprintf(&hint, "files come after --: duplex finecode run ACTION -- %s", run->action) < 0)
        hint = NULL;
    cli_fail_hint(code, hint ? hint : "'duplex finecode list' shows all actions", "%s", why);
    free(hint);
    free(near);
    return code;
}

static void on_done(dx_finecode_wm *wm, dx_finecode_run *handle, const dx_finecode_result *result,
                    void *user) {
    struct errand *errand = user;
    struct run *run = errand->run;
    int code = report_code(result);
    const char *why = result->why && *result->why ? result->why : "no reason given";
    (void)wm;
    (void)handle;
    errand->over = true;
    errand->handle = NULL;
    if (run->leaving || errand->told || code == CLI_OK || code == CLI_INTERRUPTED)
        return;
    /* That there is no such action may be known only once runners were asked. */
    if (code == CLI_BROKEN && !errand->ran) {
        run->code = refuse(run, DX_ERR_INVALID, why);
        return;
    }
    work_clear(run->work);
    run->code = cli_fail(code, "%s failed: %s", run->action, why);
}

/* Runs of the manager. */

static void begin(struct run *run, struct errand *errand) {
    const struct finecode_options *options = run->work->options;
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_finecode_ask ask = {
        .action = run->action,
        .project = errand->project,
        .payload = dx_json_text(errand->payload, strlen(errand->payload)),
        .formats = run->json ? DX_FINECODE_JSON : DX_FINECODE_STRING,
        .origin = {options->trigger ? options->trigger : "user",
                   options->dev_env ? options->dev_env : "cli", 0},
        .one_by_one = options->one_by_one,
        .streamed = options->stream,
        .progress = cli_voice.json || run->work->live,
        .on_project = on_project,
        .on_partial = on_partial,
        .on_progress = on_progress,
        .on_step = on_step,
        .on_done = on_done,
        .user = errand,
    };
    errand->begun = true;
    dx_status status = dx_finecode_wm_run(run->work->wm, &ask, &errand->handle, &error);
    if (status == DX_OK)
        return;
    errand->over = true;
    errand->handle = NULL;
    const char *why = error.phrase[0] ? error.phrase : dx_status_name(status);
    struct row *row = errand->project ? rows_of(&run->rows, errand->project) : NULL;
    if (row && run->count > 1) {
        row->state = ROW_OVER;
        row->code = status == DX_ERR_NOMEM ? CLI_NO_START : CLI_USAGE;
        report_invalid(run->work, row, run->action, why);
    } else {
        run->code = refuse(run, status, why);
    }
}

/* Those that can be begun now; 0: all are over. */
static size_t begin_more(struct run *run) {
    size_t open = 0;
    for (size_t i = 0; i < run->count; i++) {
        struct errand *errand = &run->errands[i];
        if (!errand->begun && !cli_interrupts() && (!open || !run->work->options->one_by_one))
            begin(run, errand);
        open += errand->begun && !errand->over;
    }
    return open;
}

static void cancel_all(struct run *run) {
    for (size_t i = 0; i < run->count; i++)
        if (run->errands[i].handle)
            dx_finecode_wm_cancel(run->work->wm, run->errands[i].handle);
}

static void attend(struct run *run) {
    uint64_t until = DX_NEVER;
    while (begin_more(run) && cli_interrupts() < 2 && cli_now() < until) {
        work_wait(run->work, until);
        if (!cli_interrupts() || until != DX_NEVER)
            continue;
        until = cli_now() + CANCEL_MS;
        cancel_all(run);
    }
}

/* Which projects. */

/* 1: it has a row and is run, 0: not; or its configuration is wrong, which is told. */
static bool look_at(struct run *run, dx_finecode_project *project, bool named) {
    dx_finecode_project_state state = dx_finecode_project_get_state(project);
    dx_finecode_action_view action;
    bool meant = named;
    if (state == DX_FINECODE_INVALID) {
        struct row *row = run->rows.from ? NULL : rows_of(&run->rows, project);
        if (row) {
            row->state = ROW_OVER;
            row->code = CLI_MISFIT;
            report_invalid(run->work, row, run->action, dx_finecode_project_why(project));
        }
        return false;
    }
    if (state != DX_FINECODE_VALID)
        return false;
    for (size_t i = 0; !meant && dx_finecode_project_action(project, i, &action); i++)
        meant = pick_is_action(&action, run->action);
    if (meant)
        rows_of(&run->rows, project);
    return true;
}

/* Files that are named for ready-made handlers: projects without any do not run. */
static int share_files(struct run *run) {
    bool any = false;
    for (size_t i = 0; run->projects[i]; i++)
        any |= schema_is_ready_made(run->projects[i], run->action);
    if (!any || !files_are_named(run->payload))
        return CLI_OK;
    return files_share(run->work, run->projects, run->action, run->payload, &run->payloads);
}

static int pick(struct run *run) {
    int code = pick_projects(run->work, &run->projects);
    for (size_t i = 0; code == CLI_OK && run->projects[i]; i++)
        if (run->work->options->projects.count > 0 &&
            dx_finecode_project_get_state(run->projects[i]) == DX_FINECODE_NO_CONFIG)
            code = cli_fail(CLI_USAGE, "%s has no FineCode configuration",
                            dx_finecode_project_path(run->projects[i]));
    return code;
}

/* A file is no action, even if its name looks like a source. */
static bool may_be_source(const char *word) {
    return strchr(word, '.') && !strchr(word, '/') && access(word, F_OK) != 0;
}

/* Of several actions none runs if one of them can't. */
static int check(struct run *run) {
    bool known = run->action_count == 1 || may_be_source(run->action);
    char why[300] = "unknown action '";
    for (size_t i = 0; !known && run->projects[i]; i++)
        known = schema_has_action(run->projects[i], run->action);
    dx__say_str(why, sizeof why - 2, run->action);
    dx__say_str(why, sizeof why, "'");
    int code = known ? CLI_OK : refuse(run, DX_ERR_INVALID, why);
    if (code == CLI_OK)
        code = schema_check(run->work, run->projects, run->action, run->payload);
    if (code == CLI_OK && run->work->options->dry_run)
        code = preview_check(run->work, run->projects, run->action);
    if (code == CLI_OK)
        code = share_files(run);
    return code;
}

static void clear(struct run *run) {
    if (run->projects)
        files_drop(run->payloads, run->projects);
    free(run->errands);
    run->payloads = NULL;
    run->errands = NULL;
    run->count = 0;
}

static int choose(struct run *run) {
    bool named = run->work->options->projects.count > 0;
    size_t count = 0;
    bool any = false;
    int code = share_files(run);
    if (code != CLI_OK)
        return code;
    while (run->projects[count])
        count++;
    run->errands = calloc(count + 1, sizeof *run->errands);
    if (!run->errands)
        return cli_fail(CLI_NO_START, "out of memory");
    named |= run->payloads != NULL;
    for (size_t i = 0; i < count; i++) {
        if (run->payloads && !run->payloads[i])
            continue;
        bool valid = look_at(run, run->projects[i], named);
        if (valid && named)
            run->errands[run->count++] = (struct errand){
                .run = run,
                .project = run->projects[i],
                .payload = run->payloads ? run->payloads[i] : run->payload,
            };
        any |= valid;
    }
    if (any && !named)
        run->errands[run->count++] = (struct errand){.run = run, .payload = run->payload};
    if (!any && run->rows.count == run->rows.from && !run->payloads)
        return cli_fail(CLI_USAGE, "no FineCode project in or below %s", run->work->folder);
    return CLI_OK;
}

/* An action of the whole workspace has run in one project only: the others were not meant. */
static void forget_others(struct rows *rows) {
    size_t kept = rows->from;
    for (size_t i = rows->from; i < rows->count; i++) {
        struct row row = rows->at[i];
        if (row.state != ROW_WAITING) {
            rows->at[i] = rows->at[kept];
            rows->at[kept++] = row;
        }
    }
    for (size_t i = kept; i < rows->count; i++)
        free(rows->at[i].message);
    rows->count = kept;
}

static int run_one(struct run *run) {
    int code = choose(run);
    if (code != CLI_OK)
        return code;
    attend(run);
    work_clear(run->work);
    if (!cli_interrupts())
        forget_others(&run->rows);
    return run->code;
}

static void begin_action(struct run *run, const char *action) {
    clear(run);
    run->action = run->rows.action = action;
    run->rows.from = run->rows.count;
}

static int run_all(struct run *run, struct live *live) {
    int code = pick(run);
    for (size_t i = 0; code == CLI_OK && i < run->action_count; i++) {
        begin_action(run, run->actions[i]);
        code = check(run);
    }
    for (size_t i = 0; code == CLI_OK && i < run->action_count && !cli_interrupts(); i++) {
        begin_action(run, run->actions[i]);
        live->action = run->action;
        code = run_one(run);
    }
    return code;
}

static int go(struct run *run) {
    struct live live = {.wm = run->work->wm,
                        .action = "",
                        .rows = &run->rows,
                        .began_ms = run->work->began_ms,
                        .drawn_ms = cli_now()}; /* what is over at once does not flicker */
    run->work->live = live_can() ? &live : NULL;
    int code = run_all(run, &live);
    work_clear(run->work);
    run->work->live = NULL;
    run->leaving = true;
    bool interrupted = cli_interrupts() > 0;
    if (code != CLI_OK && !(interrupted && code == run->code))
        return code;
    int shown = preview_put(run->work);
    return report_summary(run->work, &run->rows, interrupted, shown);
}

/* Words before the payload: that begins with NAME=VALUE, JSON, @FILE or -. */
static size_t count_actions(char **words) {
    size_t count = 0;
    while (words[count] && !strchr(words[count], '=') && !strchr("{[@", words[count][0]) &&
           strcmp(words[count], "-") != 0)
        count++;
    return count;
}

int verb_run(const struct finecode_options *options, char **words, char **files) {
    struct work work = {.loop = NULL};
    struct run run = {.work = &work, .actions = words};
    const char *format = options->format ? options->format : cli_voice.json ? "json" : "string";
    run.json = strcmp(format, "json") == 0;
    run.action_count = count_actions(words);
    if (!run.action_count)
        return cli_fail_hint(CLI_USAGE, "'duplex finecode list' shows all actions",
                             "missing ACTION");
    if (!payload_read(options, words + run.action_count, files, &run.payload))
        return CLI_USAGE;
    int code = work_open(&work, options, options->folder ? options->folder : ".");
    if (code == CLI_OK)
        code = go(&run);
    code = work_leave(&work, code);
    rows_done(&run.rows);
    clear(&run);
    free(run.projects);
    free(run.payload);
    return code;
}
