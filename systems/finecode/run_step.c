/* A step: a runner that has to be there, and one call of it. */
#include "systems/finecode/run_parts.h"

static void over(dx__finecode_step *step) {
    step->state = DX__FINECODE_OVER;
    step->runner = NULL;
    step->call = 0;
    if (step->leg)
        dx__finecode_leg_advance(step->leg, step);
    else
        dx__finecode_find_done(step);
}

static void fail(dx__finecode_step *step, dx_finecode_cause cause, const char *before,
                 const char *after) {
    dx__finecode_end_set(&step->end, DX_FINECODE_FAILED, cause, before, after);
    over(step);
}

static void on_done(dx_finecode_runner *runner, const dx_event *event, void *user) {
    dx__finecode_step *step = user;
    step->state = DX__FINECODE_IDLE;
    if (step->run->is_cancelled)
        dx__finecode_back_run_orphans(runner);
    dx__finecode_step_read(step, event);
    dx__finecode_tell_step(step, step->end.status == DX_FINECODE_SUCCESS ||
                                         step->end.status == DX_FINECODE_STREAMED
                                     ? "done"
                                     : dx_finecode_status_name(step->end.status));
    if (step->state != DX__FINECODE_OVER)
        over(step);
}

static void on_progress(dx_finecode_runner *runner, const dx_event *event, void *user) {
    (void)runner;
    dx__finecode_partial_take(user, event);
}

static uint64_t time_of(const dx__finecode_step *step) {
    const dx_finecode_wm_config *config = &step->run->wm->config;
    switch (step->kind) {
    case DX__FINECODE_SOURCE:
        return config->info_ms;
    case DX__FINECODE_MERGE:
    case DX__FINECODE_SCHEMAS:
        return config->config_ms;
    default:
        return config->run_ms;
    }
}

/* A token for each call, since each call ends by itself. */
static void make_token(dx__finecode_step *step) {
    char number[24];
    char *at = number + sizeof number;
    unsigned left = ++step->run->tokens;
    *--at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10));
    step->token[0] = '\0';
    dx__say_str(step->token, sizeof step->token, "\"");
    dx__say_str(step->token, sizeof step->token, step->run->id);
    dx__say_str(step->token, sizeof step->token, "/");
    dx__say_str(step->token, sizeof step->token, at);
    dx__say_str(step->token, sizeof step->token, "\"");
}

static dx_status send(dx__finecode_step *step) {
    yyjson_alc alc = dx__finecode_alc(&step->run->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    dx__finecode_call_options options = {
        .ms = time_of(step), .reset = true, .on_done = on_done, .user = step};
    if (!doc)
        return DX_ERR_NOMEM;
    if (dx__finecode_step_is_tracked(step)) {
        make_token(step);
        options.token = dx_str(step->token);
        options.on_progress = on_progress;
    }
    dx_json params;
    dx_status status = DX_ERR_NOMEM;
    if (dx__finecode_step_params(step, doc, &params))
        status = dx__finecode_runner_call(step->runner, dx__finecode_step_method(step), params,
                                          &options, &step->call);
    yyjson_mut_doc_free(doc);
    return status;
}

static void cannot_send(dx__finecode_step *step, dx_status status) {
    const dx_link *link = step->runner->link;
    dx_finecode_cause cause = status == DX_CLOSED ? DX_FINECODE_ENDED : DX_FINECODE_REFUSED;
    const char *why =
        status == DX_MISFIT && link ? dx_link_why(link)->phrase : dx_status_name(status);
    step->state = DX__FINECODE_IDLE;
    fail(step, cause, "cannot send a request to the runner: ", why);
}

static void ready(dx__finecode_step *step) {
    if (step->kind == DX__FINECODE_GATE) {
        step->end = (dx__finecode_end){.status = DX_FINECODE_SUCCESS};
        over(step);
        return;
    }
    dx__finecode_tell_step(step, "started");
    if (step->state == DX__FINECODE_OVER) /* its project was removed */
        return;
    if (step->run->is_cancelled) {
        dx__finecode_end_set(&step->end, DX_FINECODE_GIVEN_UP, DX_FINECODE_REFUSED, "cancelled",
                             "");
        over(step);
        return;
    }
    if (step->leg && step->part) {
        dx__finecode_tell_run(step->run, step->leg, "runner.selected", step);
        dx__finecode_tell_run(step->run, step->leg, "run.dispatched", step);
    }
    step->state = DX__FINECODE_CALLING;
    step->runner->has_edited &= step->runner->calls != NULL;
    dx_status status = send(step);
    if (status != DX_OK)
        cannot_send(step, status);
}

static void on_ready(dx_finecode_runner *runner, bool is_ready, void *user) {
    dx__finecode_step *step = user;
    char before[100] = "env ";
    step->state = DX__FINECODE_IDLE;
    if (is_ready) {
        ready(step);
        return;
    }
    dx__say_str(before, sizeof before, runner->env);
    dx__say_str(before, sizeof before, " has no runner: ");
    fail(step, DX_FINECODE_NO_RUNNER, before, runner->why[0] ? runner->why : "it failed to start");
}

void dx__finecode_step_start(dx__finecode_step *step) {
    dx_finecode_wm *wm = step->run->wm;
    dx_finecode_runner *runner = dx__finecode_wm_need_runner(wm, step->project, step->env);
    step->runner = runner;
    if (!runner) {
        fail(step, DX_FINECODE_NO_RUNNER, "out of memory for a runner", "");
        return;
    }
    step->env = runner->env;
    runner->is_urgent |= step->run->nested != NULL;
    if (dx__finecode_runner_is_ready(runner)) {
        ready(step);
        return;
    }
    step->state = DX__FINECODE_WAITING;
    if (dx__finecode_runner_need(runner, on_ready, step) == DX_OK)
        return;
    step->state = DX__FINECODE_IDLE;
    fail(step, DX_FINECODE_NO_RUNNER, "out of memory while waiting for a runner", "");
}

void dx__finecode_step_drop(dx__finecode_step *step) {
    if (step->state == DX__FINECODE_WAITING || step->state == DX__FINECODE_CALLING)
        dx__finecode_runner_forget(step->runner, step);
    step->state = DX__FINECODE_OVER;
    step->runner = NULL;
}

void dx__finecode_step_cancel(dx__finecode_step *step) {
    if (step->state == DX__FINECODE_WAITING)
        dx__finecode_step_drop(step);
    else if (step->state == DX__FINECODE_CALLING)
        dx__finecode_runner_cancel(step->runner, step->call);
}

void dx__finecode_step_done(dx__finecode_step *step) {
    dx__finecode_step_drop(step);
    yyjson_doc_free(step->result);
    yyjson_doc_free(step->context);
    yyjson_doc_free(step->by_format);
    step->result = step->context = step->by_format = NULL;
}
