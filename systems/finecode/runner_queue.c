/* Who may start when: only some at once, and nobody before the presets of the project are known. */
#include "systems/finecode/runner.h"

#include <string.h>

/* More are let through when these have started. */
static bool may_start(const dx_finecode_wm *wm) {
    return wm->first_queued && wm->starting < (wm->config.max_starts ? wm->config.max_starts : 1);
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
    runner->step = FINECODE_WAITS;
    return true;
}

void dx__finecode_runner_begin(dx_finecode_runner *runner) {
    if (runner->wm->stopping || runner->child || runner->step != FINECODE_IDLE)
        return;
    runner->why[0] = '\0';
    runner->restart = false;
    runner->lines.len = 0;
    dx__finecode_runner_set_state(runner, DX_FINECODE_INITIALIZING);
    if (!wait_for_presets(runner))
        queue(runner);
}

void dx__finecode_runner_starts(dx_finecode_wm *wm) {
    while (may_start(wm)) {
        dx_finecode_runner *runner = wm->first_queued;
        dx__finecode_runner_unqueue(runner);
        runner->is_starting = true;
        wm->starting++;
        dx__finecode_runner_start(runner);
    }
}
