/* Who may start when: only some at once, and nobody before the presets of the project are known. */
#include "systems/finecode/runner.h"

#include <string.h>

/* Processes: those that stay, those that are leaving, and of the idle ones the one that was used
 * longest ago. */
struct places {
    unsigned taken;
    unsigned leaving;
    dx_finecode_runner *idle;
};

static bool is_idle(const dx_finecode_runner *runner) {
    return runner->step == FINECODE_READY && dx__finecode_runner_is_ready(runner) &&
           !runner->calls && !runner->waiters && !runner->starts_others &&
           !dx__finecode_runs_hold(runner);
}

static struct places look(const dx_finecode_wm *wm) {
    struct places places = {0};
    for (dx_finecode_runner *one = wm->runners; one; one = one->next) {
        places.taken += one->child && !one->leaving && !one->dying;
        places.leaving += one->child && (one->leaving || one->dying);
        if (is_idle(one) && (!places.idle || one->last_use < places.idle->last_use))
            places.idle = one;
    }
    return places;
}

static dx_finecode_runner *find_urgent(const dx_finecode_wm *wm) {
    dx_finecode_runner *one = wm->first_queued;
    while (one && !one->is_urgent)
        one = one->next_queued;
    return one;
}

/* One that leaves takes its time: as many as may stay may be about to leave. */
static bool make_room(const dx_finecode_wm *wm) {
    unsigned most = wm->config.max_runners;
    struct places places = look(wm);
    if (!most || (places.taken < most && places.leaving < most))
        return true;
    if (!places.idle || places.leaving >= most)
        return false;
    places.idle->is_idled = true;
    dx__finecode_runner_stop(places.idle);
    return places.taken <= most;
}

/* More are let through when these have started. */
static dx_finecode_runner *next_to_start(const dx_finecode_wm *wm) {
    if (!wm->first_queued || wm->starting >= wm->config.max_jobs)
        return NULL;
    dx_finecode_runner *urgent = find_urgent(wm);
    return make_room(wm) || urgent ? (urgent ? urgent : wm->first_queued) : NULL;
}

static void queue(dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    runner->step = FINECODE_QUEUED;
    runner->queued = true;
    runner->next_queued = NULL;
    *(wm->first_queued ? &wm->last_queued->next_queued : &wm->first_queued) = runner;
    wm->last_queued = runner;
    dx__finecode_wm_wake(wm);
}

static void take_out(dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    dx_finecode_runner *before = NULL;
    for (dx_finecode_runner *one = wm->first_queued; one != runner; one = one->next_queued)
        before = one;
    *(before ? &before->next_queued : &wm->first_queued) = runner->next_queued;
    if (wm->last_queued == runner)
        wm->last_queued = before;
    runner->queued = false;
    runner->next_queued = NULL;
}

void dx__finecode_runner_unqueue(dx_finecode_runner *runner) {
    dx_finecode_runner *bootstrap = NULL;
    if (runner->queued)
        take_out(runner);
    if (runner->step == FINECODE_WAITS)
        bootstrap = dx_finecode_wm_find_runner(runner->wm, runner->project, FINECODE_BOOTSTRAP);
    if (bootstrap)
        dx__finecode_runner_forget(bootstrap, runner);
}

/* Whether they were found or not: without them it has at least what its own files say. */
static void on_bootstrapped(dx_finecode_runner *bootstrap, bool ready, void *user) {
    dx_finecode_runner *runner = user;
    if (!ready)
        dx__finecode_wm_note(bootstrap->wm, bootstrap, "WARNING",
                             "cannot find presets without " FINECODE_BOOTSTRAP ": ",
                             bootstrap->why);
    if (runner->step == FINECODE_WAITS)
        queue(runner);
}

/* Waits for the one that finds presets; false: there is nothing to wait for. */
static bool wait_for_presets(dx_finecode_runner *runner) {
    if (strcmp(runner->env, FINECODE_BOOTSTRAP) == 0 ||
        !dx__finecode_project_preset(runner->project, 0))
        return false;
    dx_finecode_runner *bootstrap =
        dx__finecode_wm_need_runner(runner->wm, runner->project, FINECODE_BOOTSTRAP);
    if (!bootstrap || bootstrap->is_bootstrapped ||
        dx__finecode_runner_need(bootstrap, on_bootstrapped, runner) != DX_OK)
        return false;
    bootstrap->is_urgent |= runner->is_urgent;
    runner->step = FINECODE_WAITS;
    return true;
}

void dx__finecode_runner_begin(dx_finecode_runner *runner) {
    if (runner->wm->stopping || runner->child || runner->step != FINECODE_IDLE)
        return;
    runner->why[0] = '\0';
    runner->restart = runner->is_idled = runner->is_stale = false;
    runner->lines.len = 0;
    dx__finecode_runner_set_state(runner, DX_FINECODE_INITIALIZING);
    if (!wait_for_presets(runner))
        queue(runner);
}

void dx__finecode_runner_starts(dx_finecode_wm *wm) {
    dx_finecode_runner *runner;
    while ((runner = next_to_start(wm))) {
        dx__finecode_runner_unqueue(runner);
        runner->is_urgent = false;
        runner->is_starting = true;
        wm->starting++;
        dx__finecode_runner_start(runner);
    }
}
