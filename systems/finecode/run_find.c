/* Which action a run means, in which projects. Who asks from outside may name it in any way, also
 * by an alias that only a runner can resolve; runners themselves by its canonical source alone.
 * What nobody has resolved yet is resolved first, by starting the runners that can. */
#include "systems/finecode/run_parts.h"

#include <stdio.h>

/* What presets say has to be resolved after them; and once more, if another env has to do it. */
enum { ROUNDS_MAX = 3 };

dx__finecode_action *dx__finecode_find_canonical(const dx_finecode_project *project,
                                                 dx_text source) {
    for (size_t i = 0; i < project->action_count; i++)
        if (project->actions[i].canonical && dx_text_is(source, project->actions[i].canonical))
            return &project->actions[i];
    return NULL;
}

static size_t candidates(const dx_finecode_run *run) {
    return run->projects ? run->project_count : run->wm->project_count;
}

static dx_finecode_project *candidate(const dx_finecode_run *run, size_t index) {
    return run->projects ? run->projects[index] : run->wm->projects[index];
}

static dx__finecode_action *find_in(const dx_finecode_project *project, dx_text word,
                                    bool canonical) {
    if (project->state != DX_FINECODE_VALID)
        return NULL;
    return canonical ? dx__finecode_find_canonical(project, word)
                     : dx__finecode_project_find(project, word);
}

struct found {
    size_t count;
    const dx__finecode_action *first;
    const dx_finecode_project *missing; /* the first without it */
};

static struct found look(const dx_finecode_run *run, dx_text word, bool canonical) {
    struct found found = {0};
    for (size_t i = 0; i < candidates(run); i++) {
        const dx_finecode_project *project = candidate(run, i);
        const dx__finecode_action *action = find_in(project, word, canonical);
        if (action && !found.count++)
            found.first = action;
        if (!action && !found.missing)
            found.missing = project;
    }
    /* What is for the workspace as a whole runs once. */
    if (!run->projects && found.count && found.first->workspace)
        found.count = 1;
    return found;
}

/* Of projects that are named, all have to have it. */
static bool is_found(const dx_finecode_run *run, const struct found *found) {
    return found->count && (!run->projects || !found->missing);
}

static bool has_presets(const dx_finecode_run *run, const dx_finecode_project *project) {
    if (project->state != DX_FINECODE_VALID || !dx__finecode_project_preset(project, 0))
        return false;
    const dx_finecode_runner *runner =
        dx_finecode_wm_find_runner(run->wm, project, DX__FINECODE_BOOTSTRAP);
    return !runner || (!runner->is_bootstrapped && runner->state != DX_FINECODE_RUNNER_FAILED &&
                       runner->state != DX_FINECODE_NO_VENV);
}

static bool has_any_presets(const dx_finecode_run *run) {
    for (size_t i = 0; i < candidates(run); i++)
        if (has_presets(run, candidate(run, i)))
            return true;
    return false;
}

/* Only runners are limited: who asks for the whole workspace gets it. */
static dx_status check_fanout(const dx_finecode_run *run, size_t count, dx_error *reterr) {
    char text[100];
    if (!run->is_canonical || count <= run->wm->config.max_fanout)
        return DX_OK;
    snprintf(text, sizeof text, "Project fan-out %zu exceeds limit %u. Action source:", count,
             run->wm->config.max_fanout);
    (void)dx__finecode_fail(reterr, text, run->ask.action);
    return DX_ERR_LIMIT;
}

static dx_status not_found(const dx_finecode_run *run, const struct found *found,
                           dx_error *reterr) {
    char text[200] = DX__FINECODE_UNKNOWN;
    dx__say_str(text, sizeof text, run->ask.action);
    dx__say_str(text, sizeof text, "'");
    if (!run->projects || !found->missing)
        return dx__finecode_fail(reterr, text, "");
    dx__say_str(text, sizeof text, " in ");
    dx__say_str(text, sizeof text, found->missing->path);
    if (found->missing->state == DX_FINECODE_INVALID) {
        dx__say_str(text, sizeof text, ":");
        return dx__finecode_fail(reterr, text, found->missing->why);
    }
    return dx__finecode_fail(reterr, text, "");
}

dx_status dx__finecode_find_check(const dx_finecode_run *run, dx_error *reterr) {
    struct found found = look(run, dx_str(run->ask.action), run->is_canonical);
    size_t count = run->projects ? run->project_count : found.count;
    dx_status status = check_fanout(run, count, reterr);
    if (status != DX_OK || run->is_canonical || is_found(run, &found))
        return status;
    /* A name without a dot is nothing that could be imported. */
    if (strchr(run->ask.action, '.') || has_any_presets(run))
        return DX_OK;
    return not_found(run, &found, reterr);
}

/* Runners that have to say what they know. */

static dx_status add(dx_finecode_run *run, dx_finecode_project *project, const char *env,
                     enum dx__finecode_step_kind kind) {
    const dx_finecode_runner *runner = dx__finecode_wm_need_runner(run->wm, project, env);
    if (!runner)
        return DX_ERR_NOMEM;
    for (size_t i = 0; i < run->finder_count; i++)
        if (run->finders[i].env == runner->env)
            return DX_OK;
    size_t size = run->finder_count * sizeof(dx__finecode_step);
    dx__finecode_step *finders =
        dx__realloc(&run->alloc, run->finders, size, size + sizeof(dx__finecode_step));
    if (!finders)
        return DX_ERR_NOMEM;
    run->finders = finders;
    finders[run->finder_count++] =
        (dx__finecode_step){.run = run, .kind = kind, .project = project, .env = runner->env};
    return DX_OK;
}

/* It has said what it knows, or can't. */
static bool is_tried(const dx_finecode_run *run, const dx_finecode_project *project,
                     const char *env) {
    const dx_finecode_runner *runner = dx_finecode_wm_find_runner(run->wm, project, env);
    return runner && (dx__finecode_runner_is_good(runner) ||
                      (run->rounds > 1 && runner->state != DX_FINECODE_NOT_STARTED &&
                       runner->state != DX_FINECODE_INITIALIZING));
}

/* The env of its first handler; if that has nothing to say, of the next. */
static dx_status add_for(dx_finecode_run *run, dx_finecode_project *project,
                         const dx__finecode_action *action) {
    for (size_t i = 0; !action->canonical && i < action->handler_count; i++)
        if (!is_tried(run, project, action->handlers[i].env))
            return add(run, project, action->handlers[i].env, DX__FINECODE_GATE);
    return DX_OK;
}

static dx_status add_project(dx_finecode_run *run, dx_finecode_project *project) {
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < project->action_count; i++)
        status = add_for(run, project, &project->actions[i]);
    return status;
}

/* A runner means all projects that have it: also those that could not say so yet. */
static dx_status add_likely(dx_finecode_run *run, dx_finecode_project *project,
                            const char *source) {
    for (size_t i = 0; project->state == DX_FINECODE_VALID && i < project->action_count; i++)
        if (strcmp(project->actions[i].source, source) == 0)
            return add_for(run, project, &project->actions[i]);
    return DX_OK;
}

/* All that is unresolved; or, if the action was found, what says whether it is the workspace's. */
static dx_status add_gates(dx_finecode_run *run, const struct found *found) {
    dx_status status = DX_OK;
    bool all = run->kind == DX__FINECODE_RESOLVE || !is_found(run, found);
    for (size_t i = 0; status == DX_OK && i < candidates(run); i++) {
        dx_finecode_project *project = candidate(run, i);
        if (has_presets(run, project))
            status = add(run, project, DX__FINECODE_BOOTSTRAP, DX__FINECODE_GATE);
        if (status == DX_OK && all && project->state == DX_FINECODE_VALID)
            status = add_project(run, project);
        if (status == DX_OK && !all && !run->projects && run->is_canonical)
            status = add_likely(run, project, found->first->source);
        if (status == DX_OK && !all && !run->projects && found->count > 1 &&
            find_in(project, dx_str(run->ask.action), run->is_canonical) == found->first)
            status = add_for(run, project, found->first);
    }
    return status;
}

static dx_status add_sources(dx_finecode_run *run) {
    dx_status status = DX_OK;
    const dx_finecode_runner *runner = run->wm->runners;
    for (; status == DX_OK && runner; runner = runner->next)
        for (size_t i = 0; status == DX_OK && i < candidates(run); i++)
            if (candidate(run, i) == runner->project && dx__finecode_runner_is_good(runner))
                status = add(run, runner->project, runner->env, DX__FINECODE_SOURCE);
    return status;
}

static void clear(dx_finecode_run *run) {
    for (size_t i = 0; i < run->finder_count; i++)
        dx__finecode_step_done(&run->finders[i]);
    dx__free(&run->alloc, run->finders);
    run->finders = NULL;
    run->finder_count = 0;
}

/* The first runner that could not say what it knows. */
static void note_failure(dx_finecode_run *run) {
    for (size_t i = 0; i < run->finder_count; i++)
        if (run->finders[i].end.status == DX_FINECODE_FAILED && !run->end.why[0])
            run->end = run->finders[i].end;
}

/* They are all there before the first begins: none moves in memory any more. */
static void start_all(dx_finecode_run *run) {
    run->finding = run->finder_count;
    for (size_t i = 0; i < run->finder_count; i++)
        dx__finecode_step_start(&run->finders[i]);
}

void dx__finecode_find_done(dx__finecode_step *step) {
    step->run->finding--;
    dx__finecode_run_look(step->run);
}

/* What comes of it. */

static dx_status make_legs(dx_finecode_run *run, dx_text word, bool canonical, size_t count) {
    run->legs = dx__malloc(&run->alloc, count * sizeof(dx__finecode_leg));
    if (!run->legs)
        return DX_ERR_NOMEM;
    for (size_t i = 0; i < candidates(run) && run->leg_count < count; i++) {
        dx_finecode_project *project = candidate(run, i);
        const dx__finecode_action *action = find_in(project, word, canonical);
        if (!action)
            continue;
        dx_status status =
            dx__finecode_leg_init(&run->legs[run->leg_count], run, project, action->name);
        if (status != DX_OK)
            return status;
        run->leg_count++;
    }
    run->stage = DX__FINECODE_GOING;
    return DX_OK;
}

static void fail(dx_finecode_run *run, dx_status status, const dx_error *why) {
    dx__finecode_end end;
    dx__finecode_end_set(&end, DX_FINECODE_FAILED, run->end.cause,
                         status == DX_ERR_NOMEM ? "out of memory" : why->phrase, "");
    if (run->end.why[0]) {
        dx__say_str(end.why, sizeof end.why, "; ");
        dx__say_str(end.why, sizeof end.why, run->end.why);
    }
    for (size_t i = 0; i < run->leg_count; i++)
        dx__finecode_leg_done(&run->legs[i]);
    run->leg_count = 0;
    dx__finecode_run_fail(run, &end);
}

static void go(dx_finecode_run *run, dx_text word, bool canonical, const struct found *found) {
    dx_error error = {0};
    dx_status status = check_fanout(run, found->count, &error);
    if (status == DX_OK)
        status = make_legs(run, word, canonical, found->count);
    if (status != DX_OK)
        fail(run, status, &error);
}

/* Has one of the runners that were asked named an action that there is? */
static bool take_sources(dx_finecode_run *run) {
    for (size_t i = 0; i < run->finder_count; i++) {
        yyjson_val *answer =
            run->finders[i].result ? yyjson_doc_get_root(run->finders[i].result) : NULL;
        dx_text source = dx__finecode_string(answer, "canonicalSource");
        struct found found = source.at ? look(run, source, true) : (struct found){0};
        if (is_found(run, &found)) {
            go(run, source, true, &found);
            return true;
        }
    }
    return false;
}

static void end_resolve(dx_finecode_run *run) {
    note_failure(run);
    dx__finecode_end end = run->end;
    if (!end.status)
        end.status = DX_FINECODE_SUCCESS;
    dx__finecode_run_fail(run, &end);
}

static void resolve(dx_finecode_run *run, const struct found *found) {
    run->rounds++;
    note_failure(run);
    clear(run);
    dx_status status = add_gates(run, found);
    if (status != DX_OK) {
        fail(run, status, NULL);
        return;
    }
    if (run->finder_count) {
        start_all(run);
        return;
    }
    run->rounds = ROUNDS_MAX;
    dx__finecode_find(run);
}

static void ask_runners(dx_finecode_run *run, const struct found *found) {
    dx_error error = {0};
    dx_status status = DX_OK;
    bool is_first = run->stage == DX__FINECODE_FINDING;
    run->stage = DX__FINECODE_ASKING;
    if (is_first)
        note_failure(run);
    clear(run);
    if (is_first && !run->is_canonical)
        status = add_sources(run);
    if (status == DX_OK && run->finder_count) {
        start_all(run);
        return;
    }
    if (status == DX_OK)
        status = not_found(run, found, &error);
    fail(run, status, &error);
}

void dx__finecode_find(dx_finecode_run *run) {
    dx_text word = dx_str(run->ask.action);
    struct found found = {0};
    if (run->kind == DX__FINECODE_RESOLVE) {
        if (run->rounds == ROUNDS_MAX)
            end_resolve(run);
        else
            resolve(run, &found);
        return;
    }
    if (run->stage == DX__FINECODE_ASKING && take_sources(run))
        return;
    found = look(run, word, run->is_canonical);
    if (run->stage == DX__FINECODE_FINDING &&
        (!run->rounds || (run->rounds < ROUNDS_MAX && !is_found(run, &found))))
        resolve(run, &found);
    else if (is_found(run, &found))
        go(run, word, run->is_canonical, &found);
    else
        ask_runners(run, &found);
}
