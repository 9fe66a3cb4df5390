/* A runner as others see it: its names and its state, and who waits for it. */
#include "systems/finecode/runner.h"

#include <string.h>

/* So much of what it last wrote is kept. */
enum { LINES_MAX = 8 << 10 };

const char *dx_finecode_runner_state_name(dx_finecode_runner_state state) {
    static const char *const names[] = {"",        "NO_VENV", "INITIALIZING", "FAILED",
                                        "RUNNING", "EXITED",  "NOT_STARTED"};
    return names[state];
}

const dx_finecode_project *dx_finecode_runner_project(const dx_finecode_runner *runner) {
    return runner->project;
}

const char *dx_finecode_runner_env(const dx_finecode_runner *runner) {
    return runner->env;
}

dx_finecode_runner_state dx_finecode_runner_get_state(const dx_finecode_runner *runner) {
    return runner->state;
}

const char *dx_finecode_runner_why(const dx_finecode_runner *runner) {
    return runner->state == DX_FINECODE_RUNNING ? "" : runner->why;
}

const char *dx_finecode_runner_log(const dx_finecode_runner *runner) {
    return runner->log_path ? runner->log_path : "";
}

pid_t dx_finecode_runner_pid(const dx_finecode_runner *runner) {
    return runner->child ? dx_child_pid(runner->child) : 0;
}

const char *dx_finecode_runner_revision(const dx_finecode_runner *runner) {
    return runner->is_real ? "real" : "seed";
}

void dx__finecode_runner_set_state(dx_finecode_runner *runner, dx_finecode_runner_state state) {
    runner->state = state;
    runner->untold = true;
    dx__finecode_wm_wake(runner->wm);
}

void dx__finecode_runner_set_why(dx_finecode_runner *runner, const char *before,
                                 const char *after) {
    runner->why[0] = '\0';
    dx__say_str(runner->why, sizeof runner->why, before);
    dx__say_str(runner->why, sizeof runner->why, after);
}

void dx__finecode_runner_release(dx_finecode_runner *runner) {
    if (!runner->is_starting)
        return;
    runner->is_starting = false;
    runner->wm->starting--;
    dx__finecode_wm_wake(runner->wm);
}

bool dx__finecode_runner_is_ready(const dx_finecode_runner *runner) {
    return runner->state == DX_FINECODE_RUNNING && runner->link && !runner->leaving;
}

bool dx__finecode_runner_is_good(const dx_finecode_runner *runner) {
    return runner->state == DX_FINECODE_RUNNING || runner->is_idled;
}

void dx__finecode_runner_log(dx_finecode_runner *runner, const char *type) {
    dx__finecode_wal_event event = {
        .type = type, .project_path = runner->project->path, .env_name = runner->env};
    dx__finecode_wm_log(runner->wm, &event);
}

/* Birth and death. */

static char *label_of(const dx_allocator *alloc, const char *env, const char *project) {
    size_t first = strlen(env);
    size_t second = strlen(project);
    char *label = dx__malloc(alloc, first + second + 2);
    if (!label)
        return NULL;
    memcpy(label, env, first);
    label[first] = '@';
    memcpy(label + first + 1, project, second + 1);
    return label;
}

dx_finecode_runner *dx__finecode_runner_new(dx_finecode_wm *wm, dx_finecode_project *project,
                                            const char *env) {
    dx_finecode_runner *runner = dx__malloc(&wm->alloc, sizeof *runner);
    if (!runner)
        return NULL;
    *runner = (dx_finecode_runner){
        .wm = wm, .project = project, .state = DX_FINECODE_NOT_STARTED, .step = FINECODE_IDLE};
    dx_buf_init(&runner->lines, LINES_MAX, &wm->alloc);
    runner->env = dx__text_copy(&wm->alloc, dx_str(env));
    runner->label = label_of(&wm->alloc, env, project->name);
    if (!runner->env || !runner->label ||
        dx_timer_new(wm->loop, dx__finecode_runner_on_limit, runner, &runner->limit) != DX_OK)
        return dx__finecode_runner_free(runner);
    return runner;
}

dx_finecode_runner *dx__finecode_runner_free(dx_finecode_runner *runner) {
    if (!runner)
        return NULL;
    dx_finecode_wm *wm = runner->wm;
    dx_allocator alloc = wm->alloc;
    dx__finecode_runner_unqueue(runner);
    dx__finecode_runner_release(runner);
    dx__finecode_runner_lose_link(runner);
    dx_child_free(runner->child);
    dx__finecode_runner_forget_lines(runner);
    dx__finecode_runner_let_go(runner);
    dx_timer_free(runner->limit);
    dx__finecode_runner_calls_free(runner);
    while (runner->waiters) {
        dx__finecode_waiter *waiter = runner->waiters;
        runner->waiters = waiter->next;
        dx__free(&alloc, waiter);
    }
    dx__finecode_runner_presets_free(runner);
    dx__finecode_wm_forget_notes(wm, runner);
    dx_buf_done(&runner->lines);
    dx__free(&alloc, runner->env);
    dx__free(&alloc, runner->label);
    dx__free(&alloc, runner->log_path);
    dx__free(&alloc, runner);
    return NULL;
}

/* Those who wait. */

dx_status dx__finecode_runner_need(dx_finecode_runner *runner,
                                   void (*on_ready)(dx_finecode_runner *runner, bool ready,
                                                    void *user),
                                   void *user) {
    dx__finecode_waiter *waiter = dx__malloc(&runner->wm->alloc, sizeof *waiter);
    dx__finecode_waiter **end = &runner->waiters;
    if (!waiter)
        return DX_ERR_NOMEM;
    *waiter = (dx__finecode_waiter){.on_ready = on_ready, .user = user, .run = runner->run};
    while (*end)
        end = &(*end)->next;
    *end = waiter;
    if (!dx__finecode_runner_is_ready(runner))
        dx__finecode_runner_begin(runner);
    dx__finecode_wm_wake(runner->wm);
    return DX_OK;
}

void dx__finecode_runner_forget(dx_finecode_runner *runner, void *user) {
    dx__finecode_waiter **at = &runner->waiters;
    dx__finecode_runner_calls_forget(runner, user);
    while (*at) {
        dx__finecode_waiter *waiter = *at;
        if (waiter->user == user) {
            *at = waiter->next;
            dx__free(&runner->wm->alloc, waiter);
        } else {
            at = &waiter->next;
        }
    }
}
