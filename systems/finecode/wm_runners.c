/* All runners of the manager. */
#include "systems/finecode/runner.h"

#include <string.h>

dx_finecode_runner *dx_finecode_wm_runner(const dx_finecode_wm *wm, size_t index) {
    dx_finecode_runner *runner = wm->runners;
    while (runner && index--)
        runner = runner->next;
    return runner;
}

dx_finecode_runner *dx_finecode_wm_find_runner(const dx_finecode_wm *wm,
                                               const dx_finecode_project *project,
                                               const char *env) {
    for (dx_finecode_runner *runner = wm->runners; runner; runner = runner->next)
        if (runner->project == project && strcmp(runner->env, env) == 0)
            return runner;
    return NULL;
}

dx_finecode_runner *dx__finecode_wm_need_runner(dx_finecode_wm *wm, dx_finecode_project *project,
                                                const char *env) {
    dx_finecode_runner *runner = dx_finecode_wm_find_runner(wm, project, env);
    dx_finecode_runner **end = &wm->runners;
    if (runner)
        return runner;
    runner = dx__finecode_runner_new(wm, project, env);
    while (*end)
        end = &(*end)->next;
    *end = runner;
    return runner;
}

void dx__finecode_wm_remove_runner(dx_finecode_wm *wm, dx_finecode_runner *runner) {
    dx_finecode_runner **at = &wm->runners;
    while (*at != runner)
        at = &(*at)->next;
    *at = runner->next;
    dx__finecode_runner_free(runner);
}

static void start_env(dx_finecode_wm *wm, dx_finecode_project *project, const char *env) {
    dx_finecode_runner *runner = dx__finecode_wm_need_runner(wm, project, env);
    if (runner && !dx__finecode_runner_is_ready(runner))
        dx__finecode_runner_begin(runner);
}

/* Presets may bring further envs: those are started when they are known. */
static void start_bootstrap(dx_finecode_wm *wm, dx_finecode_project *project) {
    dx_finecode_runner *runner;
    if (!dx__finecode_project_preset(project, 0))
        return;
    runner = dx__finecode_wm_need_runner(wm, project, FINECODE_BOOTSTRAP);
    if (!runner || runner->is_bootstrapped)
        return;
    runner->starts_others = true;
    if (!dx__finecode_runner_is_ready(runner))
        dx__finecode_runner_begin(runner);
}

void dx_finecode_wm_start_runners(dx_finecode_wm *wm, const dx_finecode_project *project) {
    for (size_t i = 0; i < wm->project_count; i++) {
        dx_finecode_project *one = wm->projects[i];
        const char *env;
        if ((project && one != project) || one->state != DX_FINECODE_VALID)
            continue;
        start_bootstrap(wm, one);
        for (size_t k = 0; (env = dx__finecode_project_env(one, k)); k++)
            start_env(wm, one, env);
    }
}
