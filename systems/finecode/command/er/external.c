/* Handlers that are commands: from a job to its end. */
#include "systems/finecode/command/er/external.h"
#include "systems/finecode/command/er/tools.h"

#include "cli/say.h"
#include "src/base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* How long the answer to a cancelled request waits for the death of the command; lines of its
 * standard error are cut there. */
enum { LAST_MS = 50, ERROR_LINE = 8 << 10 };

struct binding {
    struct runner *runner;
    const struct spec_handler *handler;
};

static void external_free(struct external *external) {
    struct external **at = &external->runner->externals;
    while (*at && *at != external)
        at = &(*at)->next;
    if (*at)
        *at = external->next;
    /* The runner is freed only when all its jobs have ended. */
    if (external->job)
        dx_finecode_job_cancel(external->job);
    if (external->program) {
        external->program->on_output = NULL;
        external->program->on_errors = NULL;
        external->program->on_end = NULL;
        cli_program_stop(external->program, CLI_PROGRAM_STOPPED);
    }
    dx_timer_free(external->timer);
    dx_buf_done(&external->errors);
    yyjson_doc_free(external->result);
    yyjson_mut_doc_free(external->files);
    free(external);
}

/* One line a record. */
static void log_errors(struct external *external, dx_text bytes) {
    dx_buf *line = &external->errors;
    for (size_t i = 0; i < bytes.len; i++) {
        bool ends = bytes.at[i] == '\n';
        if (!ends)
            dx_buf_append(line, bytes.at + i, 1);
        if ((ends || line->len >= ERROR_LINE) && line->len) {
            dx_finecode_er_log(external->runner->er, "INFO", external->handler->source,
                               (dx_text){line->data, line->len});
            external->last[0] = '\0';
            dx__say(external->last, sizeof external->last, (dx_text){line->data, line->len});
            line->len = 0;
        }
    }
}

static void on_errors(struct cli_program *program, dx_text bytes) {
    log_errors(program->user, bytes);
}

static void on_output(struct cli_program *program) {
    lines_take(program->user);
}

static void tell_result(struct external *external) {
    dx_finecode_job *job = external->job;
    yyjson_val *root = yyjson_doc_get_root(external->result);
    yyjson_val *result = external->handler->full ? yyjson_obj_get(root, "result") : root;
    dx_json json = yyjson_is_obj(result) ? dx_json_value(result) : dx_json_none();
    int status = external->program->status;
    int code = external->has_code ? external->code : status;
    bool stop = external->stop || (status && status == external->handler->stop_code);
    external->job = NULL;
    dx_finecode_job_finish(job, "");
    if (external->files) {
        struct replacement replacement = {.files = yyjson_mut_doc_get_root(external->files),
                                          .since = external->began,
                                          .result = yyjson_is_obj(result) ? result : NULL,
                                          .stop = stop,
                                          .code = code};
        work_replace(external->runner, job, &replacement);
    } else if (stop) {
        dx_finecode_job_stop(job, json, code);
    } else {
        dx_finecode_job_done(job, json, code);
    }
}

/* An exit code alone is a return code, but with a complaint and no result it is that of a command
 * that broke down. */
static void judge_silence(struct external *external) {
    const struct cli_program *program = external->program;
    bool said = external->result || external->parts || external->has_code || external->stop;
    if (!external->why[0] && !said && program->status && external->last[0] &&
        program->status != external->handler->stop_code)
        snprintf(external->why, sizeof external->why, "%s exited with code %d and no result: %s",
                 external->plan.argv[0], program->status, external->last);
}

/* A command that broke down halfway has not seen to it that its texts are complete. */
static void judge_files(struct external *external) {
    int status = external->program->status;
    if (!external->why[0] && external->files && status && status != external->handler->stop_code)
        snprintf(external->why, sizeof external->why,
                 "%s exited with code %d, so no file was changed", external->plan.argv[0], status);
}

static void on_end(struct cli_program *program) {
    struct external *external = program->user;
    dx_finecode_job *job = external->job;
    log_errors(external, dx_str("\n"));
    if (program->end != CLI_PROGRAM_EXITED && !external->why[0])
        cli_program_why(program, &external->plan, external->why, sizeof external->why);
    if (job && !external->cancelled) {
        lines_end(external);
        judge_silence(external);
        judge_files(external);
    }
    if (!job) {
        /* It has been ended already. */
    } else if (external->cancelled) {
        external->job = NULL;
        dx_finecode_job_cancel(job);
    } else if (external->why[0]) {
        external->job = NULL;
        dx_finecode_job_fail(job, external->why);
    } else {
        tell_result(external);
    }
    external->program = NULL;
    external_free(external);
}

static void on_time(dx_timer *timer, void *user) {
    struct external *external = user;
    dx_finecode_job *job = external->job;
    (void)timer;
    if (!external->cancelled) {
        lines_release(external);
        return;
    }
    external->job = NULL;
    if (job)
        dx_finecode_job_cancel(job);
}

/* The job is ended when the command is dead, or a moment later; that goes on without it. */
static void on_cancel(dx_finecode_job *job, void *user) {
    struct external *external = user;
    (void)job;
    external->cancelled = true;
    cli_program_stop(external->program, CLI_PROGRAM_STOPPED);
    dx_timer_set(external->timer, LAST_MS);
}

/* False: `why` says it. */
static bool start(struct external *external) {
    const struct spec_handler *handler = external->handler;
    char *text = NULL;
    size_t len = 0;
    char **env = input_env(external);
    bool has_input = env && input_text(external, &text, &len);
    external->plan = (struct cli_program_plan){
        .argv = handler->argv,
        .env = env,
        .cwd = handler->cwd ? handler->cwd : external->runner->project,
        .input = {text, len},
        .timeout_ms = handler->timeout_ms,
        .output_max = handler->output_max,
    };
    const char *why = "out of memory";
    if (has_input)
        why = cli_program_start(&external->runner->programs, &external->plan, external->why,
                                sizeof external->why, &external->program);
    if (why && !external->why[0])
        snprintf(external->why, sizeof external->why, "%s", why);
    external->plan.env = NULL;
    external->plan.input = (dx_text){NULL, 0};
    input_env_free(env);
    free(text);
    return !why;
}

static void run(dx_finecode_job *job, void *user) {
    const struct binding *binding = user;
    struct runner *runner = binding->runner;
    struct external *external = calloc(1, sizeof *external);
    if (!external) {
        dx_finecode_job_fail(job, "out of memory");
        return;
    }
    external->runner = runner;
    external->handler = binding->handler;
    external->job = job;
    dx_buf_init(&external->errors, ERROR_LINE + 1, NULL);
    clock_gettime(CLOCK_REALTIME_COARSE, &external->began); /* as files get their times */
    bool timed = dx_timer_new(runner->loop, on_time, external, &external->timer) == DX_OK;
    if (timed && er_is_dry_run() && !external->handler->dry_run)
        snprintf(external->why, sizeof external->why,
                 "--dry-run: the command may write files; if it does not, or not with "
                 "FINECODE_DRY_RUN, give it dry_run = true in finecode-handlers.toml");
    if (!timed || external->why[0] || !start(external)) {
        external->job = NULL;
        dx_finecode_job_fail(job, timed ? external->why : "out of memory");
        external_free(external);
        return;
    }
    external->next = runner->externals;
    runner->externals = external;
    external->program->on_output = on_output;
    external->program->on_errors = on_errors;
    external->program->on_end = on_end;
    external->program->user = external;
    dx_finecode_job_keep(job);
    dx_finecode_job_on_cancel(job, on_cancel, external);
}

void externals_drop(struct runner *runner) {
    while (runner->externals) {
        struct external *first = runner->externals;
        runner->externals = first->next;
        external_free(first);
    }
    for (size_t i = 0; i < runner->spec.handler_count; i++)
        free(runner->spec.handlers[i].user);
}

static int tell(const struct runner *runner, const char *what, const dx_error *error) {
    return cli_fail(CLI_MISFIT, "%s: %s: %s", runner->spec.path, what,
                    error->phrase[0] ? error->phrase : "out of memory");
}

static int add_action(struct runner *runner, const struct spec_action *spec) {
    dx_error error = {.fault = DX_FAULT_NONE};
    dx_finecode_action action = {
        .source = spec->source,
        .canonical_source = spec->canonical,
        .runs_concurrently = spec->runs_concurrently,
        .workspace = spec->workspace,
        .parent = spec->parent,
        .language = spec->language,
        .payload = spec->payload,
        .merge = spec->merge,
        .fails_if = spec->fails_if,
        .format = text_format,
        .user = (void *)(uintptr_t)spec,
    };
    if (dx_finecode_er_add_action(runner->er, &action, &error) != DX_OK)
        return tell(runner, spec->source, &error);
    yyjson_arr_iter iter = yyjson_arr_iter_with(spec->aliases);
    for (yyjson_val *alias; (alias = yyjson_arr_iter_next(&iter));)
        if (dx_finecode_er_add_alias(runner->er, yyjson_get_str(alias), spec->source) != DX_OK)
            return tell(runner, yyjson_get_str(alias), &error);
    return CLI_OK;
}

static int add_handler(struct runner *runner, struct spec_handler *spec) {
    dx_error error = {.fault = DX_FAULT_NONE};
    struct binding *binding = spec->user = calloc(1, sizeof *binding);
    if (!binding)
        return tell(runner, spec->source, &error);
    *binding = (struct binding){runner, spec};
    dx_finecode_handler handler = {.source = spec->source, .run = run, .user = binding};
    if (dx_finecode_er_add_handler(runner->er, &handler, &error) != DX_OK)
        return tell(runner, spec->source, &error);
    return CLI_OK;
}

/* Relative paths count from the project. */
static int add_package(struct runner *runner, yyjson_val *package) {
    const char *name = yyjson_get_str(yyjson_obj_get(package, "name"));
    const char *path = yyjson_get_str(yyjson_obj_get(package, "path"));
    dx_error error = {.fault = DX_FAULT_NONE};
    char *whole;
    if (asprintf(&whole, "%s%s%s", *path == '/' ? "" : runner->project, *path == '/' ? "" : "/",
                 path) < 0)
        return tell(runner, name, &error);
    dx_status status = dx_finecode_er_add_package(runner->er, name, whole);
    free(whole);
    return status == DX_OK ? CLI_OK : tell(runner, name, &error);
}

int externals_add(struct runner *runner) {
    struct spec *spec = &runner->spec;
    yyjson_arr_iter packages = yyjson_arr_iter_with(spec->packages);
    int code = CLI_OK;
    for (size_t i = 0; i < spec->action_count && code == CLI_OK; i++)
        code = add_action(runner, &spec->actions[i]);
    for (size_t i = 0; i < spec->handler_count && code == CLI_OK; i++)
        code = add_handler(runner, &spec->handlers[i]);
    for (yyjson_val *package; code == CLI_OK && (package = yyjson_arr_iter_next(&packages));)
        code = add_package(runner, package);
    return code;
}
