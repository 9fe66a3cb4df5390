/* The end of a run, and what goes with a project or with the manager. */
#include "systems/finecode/run_parts.h"

/* Of several projects the worst counts. */
static int rank(dx_finecode_status status) {
    switch (status) {
    case DX_FINECODE_NO_HANDLERS:
        return 0;
    case DX_FINECODE_STREAMED:
        return 1;
    case DX_FINECODE_SUCCESS:
        return 2;
    case DX_FINECODE_STOPPED:
        return 3;
    case DX_FINECODE_GIVEN_UP:
        return 4;
    default:
        return 5;
    }
}

void dx__finecode_run_sum(dx_finecode_run *run) {
    const dx__finecode_leg *worst = &run->legs[0];
    int64_t code = worst->end.return_code;
    for (size_t i = 1; i < run->leg_count; i++) {
        const dx__finecode_leg *leg = &run->legs[i];
        if (rank(leg->end.status) > rank(worst->end.status))
            worst = leg;
        if (leg->end.return_code > code)
            code = leg->end.return_code;
    }
    run->end = worst->end;
    run->end.return_code = code;
    if (run->leg_count > 1 && worst->end.why[0] && worst->project) {
        run->end.why[0] = '\0';
        dx__say_str(run->end.why, sizeof run->end.why, dx_finecode_project_label(worst->project));
        dx__say_str(run->end.why, sizeof run->end.why, ": ");
        dx__say_str(run->end.why, sizeof run->end.why, worst->end.why);
    }
    run->is_over = true;
}

static void unlink_run(dx_finecode_run *run) {
    dx_finecode_run **at = &run->wm->runs;
    while (*at && *at != run)
        at = &(*at)->next;
    if (*at)
        *at = run->next;
}

static yyjson_val *value_of(const dx_finecode_run *run) {
    yyjson_doc *doc = run->leg_count == 1 ? run->legs[0].by_format : NULL;
    return doc ? yyjson_doc_get_root(doc) : NULL;
}

void dx__finecode_run_finish(dx_finecode_run *run) {
    dx_finecode_wm *wm = run->wm;
    const dx__finecode_end *end = &run->end;
    dx_finecode_result result = {.status = end->status,
                                 .return_code = end->return_code,
                                 .by_format = value_of(run),
                                 .code = end->code,
                                 .why = end->why,
                                 .cause = end->cause,
                                 .ms = dx_loop_now(wm->loop) - run->began};
    unlink_run(run);
    dx__finecode_wm_settle(wm);
    if (run->kind == DX__FINECODE_ACTION && !run->leg_count)
        dx__finecode_tell_run(run, NULL, "run.rejected", NULL);
    if (run->on_value)
        run->on_value(wm, value_of(run), end->why[0] ? end->why : NULL, run->ask.user);
    else if (run->ask.on_done)
        run->ask.on_done(wm, run, &result, run->ask.user);
    dx__finecode_run_free(run);
}

dx_finecode_run *dx__finecode_run_free(dx_finecode_run *run) {
    if (!run)
        return NULL;
    dx_allocator alloc = run->alloc;
    for (size_t i = 0; i < run->finder_count; i++)
        dx__finecode_step_done(&run->finders[i]);
    for (size_t i = 0; i < run->leg_count; i++)
        dx__finecode_leg_done(&run->legs[i]);
    dx_timer_free(run->turn);
    dx__finecode_nested_free(&alloc, run->nested);
    yyjson_doc_free(run->payload);
    dx__free(&alloc, run->finders);
    dx__free(&alloc, run->legs);
    dx__free(&alloc, run->projects);
    dx__free(&alloc, run->words);
    dx__free(&alloc, run);
    return NULL;
}

void dx__finecode_runs_free(dx_finecode_wm *wm) {
    while (wm->runs) {
        dx_finecode_run *run = wm->runs;
        wm->runs = run->next;
        dx__finecode_run_free(run);
    }
}

void dx__finecode_runs_forget(dx_finecode_wm *wm, void *user) {
    for (dx_finecode_run *run = wm->runs; run; run = run->next) {
        if (run->nested || run->ask.user != user)
            continue;
        run->on_value = NULL;
        run->ask.on_project = NULL;
        run->ask.on_partial = NULL;
        run->ask.on_progress = NULL;
        run->ask.on_step = NULL;
        run->ask.on_done = NULL;
        dx_finecode_wm_cancel(wm, run);
    }
}

/* What the run has to do with the project ends now, while there still is one. */
static void drop(dx_finecode_run *run, const dx_finecode_project *project) {
    dx__finecode_end end;
    dx__finecode_end_set(&end, DX_FINECODE_FAILED, DX_FINECODE_NO_RUNNER,
                         "the project was removed: ", project->path);
    for (size_t i = 0; i < run->leg_count; i++) {
        dx__finecode_leg *leg = &run->legs[i];
        if (leg->project != project)
            continue;
        for (size_t k = 0; k < leg->step_count; k++)
            dx__finecode_step_drop(&leg->steps[k]);
        if (leg->state != DX__FINECODE_LEG_OVER)
            dx__finecode_leg_end(leg, &end);
        leg->project = NULL;
    }
    for (size_t i = 0; i < run->project_count && !run->leg_count; i++)
        if (run->projects[i] == project)
            dx__finecode_run_fail(run, &end);
    for (size_t i = 0; i < run->finder_count; i++)
        if (run->finders[i].project == project) {
            bool was_under_way = run->finders[i].state == DX__FINECODE_WAITING ||
                                 run->finders[i].state == DX__FINECODE_CALLING;
            dx__finecode_step_drop(&run->finders[i]);
            run->finders[i].project = NULL;
            if (was_under_way)
                dx__finecode_find_done(&run->finders[i]);
        }
}

void dx__finecode_runs_drop(dx_finecode_wm *wm, const dx_finecode_project *project) {
    /* Callbacks may start others, in front of those that are here. */
    for (dx_finecode_run *run = wm->runs; run; run = run->next)
        drop(run, project);
}
