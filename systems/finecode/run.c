/* A run as a whole: its birth, its turns, and cancelling it. */
#include "systems/finecode/run_parts.h"

#include <stdio.h>

void dx__finecode_end_set(dx__finecode_end *end, dx_finecode_status status, dx_finecode_cause cause,
                          const char *before, const char *after) {
    *end = (dx__finecode_end){.status = status, .cause = cause};
    if (status == DX_FINECODE_GIVEN_UP)
        end->code = DX_FINECODE_CANCELLED;
    dx__say_str(end->why, sizeof end->why, before);
    dx__say_str(end->why, sizeof end->why, after);
}

void dx__finecode_run_look(dx_finecode_run *run) {
    dx_timer_set(run->turn, 0);
}

void dx__finecode_run_fail(dx_finecode_run *run, const dx__finecode_end *end) {
    if (run->is_over)
        return;
    run->end = *end;
    run->is_over = true;
    dx__finecode_run_look(run);
}

/* Its turns. */

static bool is_calling(const dx__finecode_step *steps, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (steps[i].state == DX__FINECODE_CALLING)
            return true;
    return false;
}

static void give_up(dx_finecode_run *run) {
    dx__finecode_end end;
    dx__finecode_end_set(&end, DX_FINECODE_GIVEN_UP, DX_FINECODE_REFUSED, "cancelled", "");
    for (size_t i = 0; i < run->leg_count; i++) {
        dx__finecode_leg *leg = &run->legs[i];
        if (leg->state != DX__FINECODE_LEG_OVER && !is_calling(leg->steps, leg->step_count))
            dx__finecode_leg_end(leg, &end);
    }
    if (!run->leg_count && !is_calling(run->finders, run->finder_count))
        dx__finecode_run_fail(run, &end);
}

/* One that a runner asks for does not wait for a new configuration: the leg that it is for goes on
 * with the old one. */
static bool has_to_wait(const dx_finecode_run *run, const dx__finecode_leg *leg) {
    return !run->nested && !dx__finecode_project_is_fresh(leg->project);
}

static void begin_legs(dx_finecode_run *run) {
    for (size_t i = 0; i < run->leg_count; i++) {
        dx__finecode_leg *leg = &run->legs[i];
        bool is_new = leg->state == DX__FINECODE_LEG_NEW;
        if (is_new && !dx__finecode_leg_may_begin(run))
            return;
        if (is_new && !has_to_wait(run, leg))
            dx__finecode_leg_begin(leg);
        if (run->ask.one_by_one && leg->state != DX__FINECODE_LEG_OVER)
            return;
    }
}

unsigned dx__finecode_runs_width(const dx_finecode_wm *wm) {
    unsigned count = 0;
    for (const dx_finecode_run *run = wm->runs; run; run = run->next)
        for (size_t i = 0; i < run->leg_count && !run->nested; i++) {
            count += run->legs[i].state != DX__FINECODE_LEG_OVER;
            if (run->ask.one_by_one || count >= wm->config.max_jobs)
                break;
        }
    return count > wm->config.max_jobs ? wm->config.max_jobs : count ? count : 1;
}

static bool is_done(const dx_finecode_run *run) {
    for (size_t i = 0; i < run->leg_count; i++)
        if (run->legs[i].state != DX__FINECODE_LEG_OVER)
            return false;
    return run->leg_count != 0;
}

static void on_turn(dx_timer *timer, void *user) {
    dx_finecode_run *run = user;
    (void)timer;
    if (!run->began) /* what the loop calls now outside of a dispatch may be long ago */
        run->began = dx_loop_now(run->wm->loop);
    if (!run->is_over && run->is_cancelled)
        give_up(run);
    else if (!run->is_over && run->stage != DX__FINECODE_GOING && !run->finding)
        dx__finecode_find(run);
    if (!run->is_over && !run->is_cancelled && run->stage == DX__FINECODE_GOING)
        begin_legs(run);
    if (!run->is_over && is_done(run))
        dx__finecode_run_sum(run);
    if (run->is_over)
        dx__finecode_run_finish(run);
}

/* Its birth. */

static dx_status check_origin(const dx_finecode_ask *ask, dx_error *reterr) {
    if (!ask->action || !ask->action[0])
        return dx__finecode_fail(reterr, "the name of the action is missing", "");
    if (!dx_finecode_is_trigger(dx_str(ask->origin.trigger)))
        return dx__finecode_fail(
            reterr, "unknown trigger:", ask->origin.trigger ? ask->origin.trigger : "(none)");
    if (!dx_finecode_is_dev_env(dx_str(ask->origin.dev_env)))
        return dx__finecode_fail(reterr, "unknown development environment:",
                                 ask->origin.dev_env ? ask->origin.dev_env : "(none)");
    return DX_OK;
}

static dx_status check_depth(const dx_finecode_wm *wm, const dx_finecode_ask *ask,
                             dx_error *reterr) {
    char text[100];
    if (ask->origin.depth < wm->config.max_depth)
        return DX_OK;
    snprintf(text, sizeof text,
             "Orchestration depth %u reached limit %u. Action source:", ask->origin.depth,
             wm->config.max_depth);
    (void)dx__finecode_fail(reterr, text, ask->action);
    return DX_ERR_LIMIT;
}

static dx_status copy_payload(dx_finecode_run *run, dx_json payload, dx_error *reterr) {
    if (payload.form == dx_json_none().form)
        return DX_OK;
    dx_status status = dx__finecode_doc_of_json(&run->alloc, payload, &run->payload);
    if (status == DX_ERR_NOMEM)
        return status;
    if (status != DX_OK || !yyjson_is_obj(yyjson_doc_get_root(run->payload)))
        return dx__finecode_fail(reterr, "the payload of an action must be an object", "");
    return DX_OK;
}

static dx_status copy_projects(dx_finecode_run *run, const dx__finecode_start *start,
                               dx_error *reterr) {
    size_t size = start->project_count * sizeof(dx_finecode_project *);
    if (!start->projects)
        return DX_OK;
    for (size_t i = 0; i < start->project_count; i++)
        if (!dx__finecode_wm_has(run->wm, start->projects[i]))
            return dx__finecode_fail(reterr, "the project was removed", "");
    run->projects = dx__malloc(&run->alloc, size ? size : 1);
    if (!run->projects)
        return DX_ERR_NOMEM;
    if (size)
        memcpy(run->projects, start->projects, size);
    run->project_count = start->project_count;
    return DX_OK;
}

static dx_status equip(dx_finecode_run *run, const dx__finecode_start *start, dx_error *reterr) {
    const char **places[] = {&run->ask.action, &run->ask.origin.trigger, &run->ask.origin.dev_env};
    run->words = dx__keep_strings(&run->alloc, places, sizeof places / sizeof *places);
    if (!run->words)
        return DX_ERR_NOMEM;
    dx_status status = copy_payload(run, run->ask.payload, reterr);
    run->ask.payload = dx_json_none();
    if (status == DX_OK)
        status = copy_projects(run, start, reterr);
    if (status == DX_OK)
        status = dx_timer_new(run->wm->loop, on_turn, run, &run->turn);
    return status;
}

static dx_status make(dx_finecode_wm *wm, const dx_finecode_ask *ask,
                      const dx__finecode_start *start, dx_finecode_run **ret_run,
                      dx_error *reterr) {
    dx_finecode_run *run = dx__malloc(&wm->alloc, sizeof *run);
    if (!run)
        return DX_ERR_NOMEM;
    *run = (dx_finecode_run){.wm = wm,
                             .alloc = wm->alloc,
                             .kind = start->kind,
                             .ask = *ask,
                             .on_value = start->on_value,
                             .is_canonical = start->is_canonical};
    dx__finecode_uuid(run->id);
    dx_status status = equip(run, start, reterr);
    if (status == DX_OK && start->kind == DX__FINECODE_ACTION)
        status = dx__finecode_find_check(run, reterr);
    if (status != DX_OK) {
        dx__finecode_run_free(run);
        return status;
    }
    *ret_run = run;
    return DX_OK;
}

static dx_status begin(dx_finecode_wm *wm, const dx_finecode_ask *ask,
                       const dx__finecode_start *start, dx_finecode_run **ret_run,
                       dx_error *reterr) {
    dx_finecode_run *run = NULL;
    dx_status status = DX_OK;
    if (wm->stopping)
        return DX_CLOSED;
    if (start->kind == DX__FINECODE_ACTION)
        status = check_origin(ask, reterr);
    if (status == DX_OK && start->kind == DX__FINECODE_ACTION)
        status = check_depth(wm, ask, reterr);
    if (status == DX_OK)
        status = make(wm, ask, start, &run, reterr);
    if (status != DX_OK)
        return status;
    run->nested = start->nested;
    run->next = wm->runs;
    wm->runs = run;
    dx__finecode_run_look(run);
    if (ret_run)
        *ret_run = run;
    return DX_OK;
}

dx_status dx__finecode_run_start(dx_finecode_wm *wm, const dx_finecode_ask *ask,
                                 const dx__finecode_start *start, dx_finecode_run **ret_run,
                                 dx_error *reterr) {
    dx_error why = {.fault = DX_FAULT_NONE};
    dx_status status = begin(wm, ask, start, ret_run, &why);
    if (status == DX_OK)
        return DX_OK;
    if (start->kind == DX__FINECODE_ACTION)
        dx__finecode_tell_refused(wm, ask, *why.phrase ? why.phrase : dx_status_name(status));
    if (reterr)
        *reterr = why;
    return status;
}

dx_status dx_finecode_wm_run(dx_finecode_wm *wm, const dx_finecode_ask *ask,
                             dx_finecode_run **ret_run, dx_error *reterr) {
    dx__finecode_start start = {.kind = DX__FINECODE_ACTION};
    if (ask->project) {
        start.projects = &ask->project;
        start.project_count = 1;
    }
    return dx__finecode_run_start(wm, ask, &start, ret_run, reterr);
}

void dx_finecode_wm_cancel(dx_finecode_wm *wm, dx_finecode_run *run) {
    (void)wm;
    if (run->is_cancelled || run->is_over)
        return;
    run->is_cancelled = true;
    for (size_t i = 0; i < run->finder_count; i++)
        dx__finecode_step_cancel(&run->finders[i]);
    for (size_t i = 0; i < run->leg_count; i++)
        for (size_t k = 0; k < run->legs[i].step_count; k++)
            dx__finecode_step_cancel(&run->legs[i].steps[k]);
    dx__finecode_run_look(run);
}
