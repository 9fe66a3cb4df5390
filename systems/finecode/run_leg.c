/* A leg: an action in one project. Its runners are started first, all of them, so that a chain does
 * not end half way for a runner that there is not. */
#include "systems/finecode/run_parts.h"

dx_status dx__finecode_leg_init(dx__finecode_leg *leg, dx_finecode_run *run,
                                dx_finecode_project *project, const char *action) {
    *leg = (dx__finecode_leg){.run = run, .project = project};
    leg->action = dx__text_copy(&run->alloc, dx_str(action));
    return leg->action ? DX_OK : DX_ERR_NOMEM;
}

/* How many run at the same time. What a runner asks for is not counted with the others: the leg
 * that waits for it may have the last place. */

bool dx__finecode_leg_may_begin(const dx_finecode_run *run) {
    return (run->nested ? run->busy : run->wm->busy) < run->wm->config.max_jobs;
}

static void count(dx__finecode_leg *leg) {
    leg->is_counted = true;
    leg->project->legs++;
    leg->run->busy++;
    leg->run->wm->busy += !leg->run->nested;
}

/* If all of its runners have room, they stay until it is over. */
static bool hold(dx__finecode_leg *leg) {
    dx_finecode_wm *wm = leg->run->wm;
    unsigned most = wm->config.max_runners;
    if (!most)
        return true;
    if (leg->group_count * dx__finecode_runs_width(wm) > most || wm->held + leg->group_count > most)
        return false;
    leg->holds = (unsigned)leg->group_count;
    leg->project->holders++;
    wm->held += leg->holds;
    return true;
}

static bool holds(const dx__finecode_leg *leg, const dx_finecode_runner *runner) {
    for (size_t i = 0; leg->holds && leg->project == runner->project && i < leg->group_count; i++)
        if (strcmp(leg->groups[i].env, runner->env) == 0)
            return true;
    return false;
}

bool dx__finecode_runs_hold(const dx_finecode_runner *runner) {
    if (!runner->project->holders)
        return false;
    for (const dx_finecode_run *run = runner->wm->runs; run; run = run->next)
        for (size_t i = 0; i < run->leg_count; i++)
            if (holds(&run->legs[i], runner))
                return true;
    return false;
}

static void release(dx__finecode_leg *leg) {
    dx_finecode_wm *wm = leg->run->wm;
    if (!leg->is_counted)
        return;
    leg->is_counted = false;
    leg->project->legs--;
    leg->run->busy--;
    wm->busy -= !leg->run->nested;
    if (leg->holds)
        leg->project->holders--;
    wm->held -= leg->holds;
    leg->holds = 0;
    for (dx_finecode_run *run = wm->runs; run; run = run->next)
        if (run->stage == DX__FINECODE_GOING && !run->is_over)
            dx__finecode_run_look(run);
    dx__finecode_wm_wake(wm);
}

void dx__finecode_leg_done(dx__finecode_leg *leg) {
    const dx_allocator *alloc = &leg->run->alloc;
    release(leg);
    for (size_t i = 0; i < leg->step_count; i++)
        dx__finecode_step_done(&leg->steps[i]);
    yyjson_doc_free(leg->by_format);
    dx__free(alloc, leg->steps);
    dx__free(alloc, leg->groups);
    dx__free(alloc, leg->segments);
    dx__free(alloc, leg->action);
}

static void fail(dx__finecode_leg *leg, const char *before, const char *after) {
    dx__finecode_end end;
    dx__finecode_end_set(&end, DX_FINECODE_FAILED, DX_FINECODE_REFUSED, before, after);
    dx__finecode_leg_end(leg, &end);
}

/* Only while none of those that there are is under way. */
dx_status dx__finecode_leg_steps(dx__finecode_leg *leg, size_t count) {
    const dx_allocator *alloc = &leg->run->alloc;
    for (size_t i = 0; i < leg->step_count; i++)
        dx__finecode_step_done(&leg->steps[i]);
    dx__free(alloc, leg->steps);
    leg->step_count = 0;
    leg->steps = dx__malloc(alloc, count * sizeof(dx__finecode_step));
    if (!leg->steps)
        return DX_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        leg->steps[i] = (dx__finecode_step){
            .run = leg->run, .leg = leg, .project = leg->project, .kind = DX__FINECODE_GATE};
    leg->step_count = count;
    return DX_OK;
}

void dx__finecode_leg_start(dx__finecode_leg *leg, dx__finecode_step *step,
                            enum dx__finecode_step_kind kind, const dx__finecode_part *part,
                            const char *env) {
    (void)leg;
    step->kind = kind;
    step->part = part;
    step->env = env;
    dx__finecode_step_start(step);
}

/* Its beginning. */

static dx_status lay_out(dx__finecode_leg *leg, const dx__finecode_action *action) {
    const dx_allocator *alloc = &leg->run->alloc;
    dx__free(alloc, leg->groups);
    leg->groups = NULL;
    dx_status status = dx__finecode_groups(alloc, action, &leg->groups, &leg->group_count);
    if (status == DX_OK && leg->group_count > 1 && !action->runs_concurrently &&
        leg->state != DX__FINECODE_LEG_NEW)
        status = dx__finecode_segments(alloc, action, &leg->segments, &leg->segment_count);
    if (status == DX_OK)
        status = dx__finecode_leg_steps(leg, action->handler_count + 2);
    return status;
}

static const dx__finecode_action *look(const dx__finecode_leg *leg) {
    return dx__finecode_project_find(leg->project, dx_str(leg->action));
}

/* One for each env of the project. */
static void begin_schemas(dx__finecode_leg *leg) {
    size_t count = 0;
    while (dx__finecode_project_env(leg->project, count))
        count++;
    if (!count) {
        dx__finecode_leg_end(leg, &(dx__finecode_end){.status = DX_FINECODE_NO_HANDLERS});
        return;
    }
    if (dx__finecode_leg_steps(leg, count) != DX_OK) {
        fail(leg, "out of memory", "");
        return;
    }
    leg->state = DX__FINECODE_LEG_GROUPS;
    leg->pending = count;
    for (size_t i = 0; i < count && leg->state != DX__FINECODE_LEG_OVER; i++)
        dx__finecode_leg_start(leg, &leg->steps[i], DX__FINECODE_SCHEMAS, NULL,
                               dx__finecode_project_env(leg->project, i));
}

/* What can be known of runners that are not started yet. */
static bool have_programs(dx__finecode_leg *leg) {
    const dx_finecode_wm_config *config = &leg->run->wm->config;
    for (size_t i = 1; i < leg->group_count; i++) {
        const char *env = leg->groups[i].env;
        dx__finecode_way way = {0};
        char reason[200] = "";
        char before[100] = "env ";
        dx_status status = dx__finecode_project_way(leg->project, env, config, &way, reason);
        if (status == DX_OK)
            dx__free(&leg->project->alloc, way.argv);
        if (status != DX_MISFIT)
            continue;
        dx__finecode_end end;
        dx__say_str(before, sizeof before, env);
        dx__say_str(before, sizeof before, " has no runner: ");
        dx__finecode_end_set(&end, DX_FINECODE_FAILED, DX_FINECODE_NO_RUNNER, before, reason);
        dx__finecode_leg_end(leg, &end);
        return false;
    }
    return true;
}

/* Without room for all of them only the first, which says whether its handlers run at the same
 * time. */
static void begin_runners(dx__finecode_leg *leg) {
    bool all = hold(leg);
    if (!all && !have_programs(leg))
        return;
    leg->state = DX__FINECODE_LEG_STARTING;
    leg->pending = all ? leg->group_count : 1;
    for (size_t i = 0, most = leg->pending; i < most && leg->state == DX__FINECODE_LEG_STARTING;
         i++)
        dx__finecode_leg_start(leg, &leg->steps[i], DX__FINECODE_GATE, NULL, leg->groups[i].env);
}

void dx__finecode_leg_begin(dx__finecode_leg *leg) {
    leg->began = dx_loop_now(leg->run->wm->loop);
    count(leg);
    if (leg->run->kind == DX__FINECODE_SCHEMA) {
        begin_schemas(leg);
        return;
    }
    dx__finecode_tell_run(leg->run, leg, "run.accepted", NULL);
    const dx__finecode_action *action = look(leg);
    if (!action)
        fail(leg, "unknown action: ", leg->action);
    else if (!action->handler_count)
        dx__finecode_leg_end(leg, &(dx__finecode_end){.status = DX_FINECODE_NO_HANDLERS});
    else if (lay_out(leg, action) != DX_OK)
        fail(leg, "out of memory", "");
    else
        begin_runners(leg);
}

static void begin_groups(dx__finecode_leg *leg) {
    leg->state = DX__FINECODE_LEG_GROUPS;
    leg->pending = leg->group_count;
    for (size_t i = 0; i < leg->group_count && leg->state == DX__FINECODE_LEG_GROUPS; i++)
        dx__finecode_leg_start(leg, &leg->steps[i], DX__FINECODE_HANDLERS, &leg->groups[i],
                               leg->groups[i].env);
}

static void begin_segment(dx__finecode_leg *leg) {
    const dx__finecode_part *part = leg->segments ? &leg->segments[leg->at] : &leg->groups[0];
    leg->state = DX__FINECODE_LEG_CHAIN;
    leg->pending = 1;
    dx__finecode_leg_start(leg, &leg->steps[leg->at],
                           leg->segments ? DX__FINECODE_HANDLERS : DX__FINECODE_RUN, part,
                           part->env);
}

/* All runners are there, and have said whether its handlers run at the same time. */
static void begin_work(dx__finecode_leg *leg) {
    const dx__finecode_action *action = look(leg);
    if (!action || !action->handler_count)
        fail(leg, "the action no longer exists: ", leg->action);
    else if (lay_out(leg, action) != DX_OK)
        fail(leg, "out of memory", "");
    else if (leg->group_count > 1 && action->runs_concurrently)
        begin_groups(leg);
    else
        begin_segment(leg);
}

/* A chain. */

static yyjson_val *root_of(yyjson_doc *doc) {
    return doc ? yyjson_doc_get_root(doc) : NULL;
}

static void take_formats(dx__finecode_leg *leg, dx__finecode_step *step) {
    leg->by_format = step->by_format;
    step->by_format = NULL;
}

/* The result of one that stopped early, which was not asked for formats, of one that streamed what
 * could not be given on, or of one that gave none of the formats that it was asked for. */
static void format(dx__finecode_leg *leg, dx__finecode_step *step) {
    if (leg->run->ask.formats == DX_FINECODE_JSON || !dx__finecode_leg_formats(leg, step->env)) {
        dx__finecode_leg_wrap(leg, root_of(step->result));
        dx__finecode_leg_end(leg, &leg->end);
        return;
    }
    leg->state = DX__FINECODE_LEG_FORMATTING;
    leg->pending = 1;
    dx__finecode_leg_start(leg, step + 1, DX__FINECODE_FORMAT, NULL, step->env);
}

static void end_chain(dx__finecode_leg *leg, dx__finecode_step *step, yyjson_val *base) {
    bool is_bare = step->result && !step->by_format;
    if (leg->is_told && leg->segments)
        dx__finecode_partial_cover(step, base);
    if (leg->state == DX__FINECODE_LEG_OVER)
        return;
    leg->end = step->end;
    if (leg->segments && leg->end.status != DX_FINECODE_STOPPED)
        leg->end.return_code = dx__finecode_leg_code(leg, leg->at + 1);
    take_formats(leg, step);
    if (is_bare && leg->run->ask.formats)
        format(leg, step);
    else
        dx__finecode_leg_end(leg, &leg->end);
}

static void advance_chain(dx__finecode_leg *leg, dx__finecode_step *step) {
    yyjson_val *base = leg->segments && leg->at ? root_of(leg->steps[leg->at - 1].result) : NULL;
    bool is_last = !leg->segments || leg->at + 1 == leg->segment_count;
    if (!dx__finecode_is_good(step)) {
        dx__finecode_leg_end(leg, &step->end);
        return;
    }
    if (is_last || step->end.status == DX_FINECODE_STOPPED) {
        end_chain(leg, step, base);
        return;
    }
    dx__finecode_partial_cover(step, base);
    if (leg->state == DX__FINECODE_LEG_OVER) /* its project was removed meanwhile */
        return;
    leg->at++;
    begin_segment(leg);
}

void dx__finecode_leg_advance(dx__finecode_leg *leg, dx__finecode_step *step) {
    dx__finecode_end end;
    if (leg->state == DX__FINECODE_LEG_OVER)
        return;
    leg->pending--;
    if (leg->run->is_cancelled) {
        dx__finecode_run_look(leg->run);
        return;
    }
    switch (leg->state) {
    case DX__FINECODE_LEG_STARTING:
        end = step->end;
        if (!dx__finecode_is_good(step))
            dx__finecode_leg_end(leg, &end);
        else if (!leg->pending)
            begin_work(leg);
        break;
    case DX__FINECODE_LEG_CHAIN:
        advance_chain(leg, step);
        break;
    default:
        dx__finecode_groups_advance(leg, step);
        break;
    }
}

void dx__finecode_leg_end(dx__finecode_leg *leg, const dx__finecode_end *end) {
    dx_finecode_run *run = leg->run;
    if (leg->state == DX__FINECODE_LEG_OVER)
        return;
    leg->end = *end;
    bool is_bad = end->status == DX_FINECODE_FAILED || end->status == DX_FINECODE_GIVEN_UP;
    for (size_t i = 0; i < leg->step_count; i++)
        dx__finecode_step_drop(&leg->steps[i]);
    if (!is_bad)
        dx__finecode_partial_end(leg);
    if (leg->state == DX__FINECODE_LEG_OVER)
        return;
    leg->state = DX__FINECODE_LEG_OVER;
    release(leg);
    dx__finecode_tell_run(run, leg,
                          !leg->began ? "run.rejected"
                          : is_bad    ? "run.failed"
                                      : "run.completed",
                          NULL);
    dx_finecode_result result = {.status = leg->end.status,
                                 .return_code = leg->end.return_code,
                                 .by_format = root_of(leg->by_format),
                                 .code = leg->end.code,
                                 .why = leg->end.why,
                                 .cause = leg->end.cause,
                                 .ms = leg->began ? dx_loop_now(run->wm->loop) - leg->began : 0};
    if (run->ask.on_project)
        run->ask.on_project(run->wm, run, leg->project, &result, run->ask.user);
    dx__finecode_run_look(run);
}
