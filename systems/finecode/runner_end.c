/* How a runner ends: asked, by itself, or because it is of no use. */
#include "systems/finecode/runner.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* How long a process may live after its conversation, before it is killed; what SIGTERM has. */
enum { GRACE_MS = 250, TERM_MS = 2000 };

void dx__finecode_runner_lose_link(dx_finecode_runner *runner) {
    dx_link *link = runner->link;
    if (!link)
        return;
    runner->link = NULL;
    runner->has_documents = false;
    if (runner->is_tcp)
        dx_link_free(link);
    dx__finecode_back_forget(runner);
    dx__finecode_runner_calls_lost(runner);
}

/* At once, and without a word of it. */
static void kill_process(dx_finecode_runner *runner) {
    dx_child *child = runner->child;
    dx__finecode_runner_lose_link(runner);
    runner->child = NULL;
    dx_child_free(child);
    dx__finecode_runner_forget_lines(runner);
    dx__finecode_runner_let_go(runner);
    dx_timer_set(runner->limit, DX_NEVER);
}

/* There is no process any more, and the state is what follows from that. */
static void be_gone(dx_finecode_runner *runner, dx_finecode_runner_state state) {
    dx_finecode_wm *wm = runner->wm;
    bool restart = runner->restart;
    dx__finecode_runner_unqueue(runner);
    dx__finecode_runner_release(runner);
    dx_timer_set(runner->limit, DX_NEVER);
    runner->step = FINECODE_IDLE;
    runner->leaving = runner->dying = false;
    runner->debug_port = 0;
    if (runner->state != state)
        dx__finecode_runner_set_state(runner, state);
    dx__finecode_runner_log(runner, state == DX_FINECODE_RUNNER_FAILED ? "runner.failed"
                                                                       : "runner.stopped");
    if (restart)
        dx__finecode_runner_begin(runner);
    dx__finecode_wm_wake(wm); /* for those who wait, and for the end of all */
}

void dx__finecode_runner_fail(dx_finecode_runner *runner, const char *before, const char *after) {
    char text[300] = "";
    /* The reason may lie in what goes now. */
    dx__say_str(text, sizeof text, after);
    kill_process(runner);
    dx__finecode_runner_set_why(runner, before, text);
    dx__finecode_runner_say_lines(runner);
    be_gone(runner, DX_FINECODE_RUNNER_FAILED);
}

/* Its input is closed, and it has its time to leave. */
static void stop_process(dx_finecode_runner *runner) {
    runner->step = FINECODE_EXITING;
    if (runner->is_tcp || runner->is_either)
        dx_timer_set(runner->limit, dx__finecode_time(runner->wm->config.stop_ms));
    dx_child_stop(runner->child);
}

/* By itself. */

void dx__finecode_runner_broke(dx_finecode_runner *runner, const char *before, const char *after) {
    char reason[300] = "";
    if (after[0])
        dx__say_str(reason, sizeof reason, ": ");
    dx__say_str(reason, sizeof reason, after);
    dx__finecode_runner_lose_link(runner);
    if (runner->leaving) {
        if (runner->step == FINECODE_SHUTDOWN)
            stop_process(runner);
        return;
    }
    runner->dying = true;
    dx__finecode_runner_set_why(runner, before, reason);
    dx_timer_set(runner->limit, GRACE_MS);
    if (runner->state == DX_FINECODE_RUNNING)
        dx__finecode_runner_set_state(runner, DX_FINECODE_EXITED);
}

static void say_end(dx_finecode_runner *runner, const dx_gone *gone) {
    char text[100];
    if (!gone->known)
        snprintf(text, sizeof text, "it exited for an unknown reason");
    else if (gone->signal)
        snprintf(text, sizeof text, "it was killed by signal %d (%s)", gone->signal,
                 sigabbrev_np(gone->signal) ? sigabbrev_np(gone->signal) : "?");
    else
        snprintf(text, sizeof text, "it exited with code %d", gone->code);
    dx__finecode_runner_set_why(
        runner, text,
        runner->step == FINECODE_PORT && runner->is_open ? " before it responded or reported a port"
        : runner->step == FINECODE_PORT && runner->is_tcp ? " before it reported its port"
                                                          : "");
}

void dx__finecode_runner_on_gone(dx_child *child, const dx_gone *gone, void *user) {
    dx_finecode_runner *runner = user;
    bool asked = runner->leaving;
    bool was_starting = runner->state == DX_FINECODE_INITIALIZING;
    if (asked)
        dx__finecode_runner_set_why(runner, "it was stopped",
                                    gone->signal ? ", and killed because it did not exit" : "");
    else
        say_end(runner, gone);
    dx__finecode_runner_lose_link(runner);
    runner->child = NULL;
    dx_child_free(child);
    dx__finecode_runner_forget_lines(runner);
    dx__finecode_runner_let_go(runner);
    if (!asked)
        dx__finecode_runner_say_lines(runner);
    be_gone(runner, was_starting && !asked ? DX_FINECODE_RUNNER_FAILED : DX_FINECODE_EXITED);
}

/* Asked. */

/* Whatever it said to it. The end of the connection follows the last word. */
static void on_shutdown(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    (void)event;
    if (runner->step != FINECODE_SHUTDOWN)
        return;
    (void)dx_link_notify(link, dx_str("exit"), dx_json_none());
    dx_link_close(link);
    stop_process(runner);
}

/* The child itself says good-bye to those whose conversation is its own. */
static void say_goodbye(dx_finecode_runner *runner) {
    uint64_t ms = runner->wm->config.stop_ms;
    runner->step = FINECODE_SHUTDOWN;
    if (!runner->is_tcp || !runner->link ||
        dx__finecode_runner_ask(runner, "shutdown", dx_json_none(), ms, on_shutdown) != DX_OK)
        stop_process(runner);
}

void dx__finecode_runner_stop(dx_finecode_runner *runner) {
    bool has_begun = runner->step > FINECODE_INITIALIZE;
    if (runner->leaving || (!runner->child && runner->step == FINECODE_IDLE))
        return;
    dx_timer_set(runner->limit, DX_NEVER);
    if (!runner->child || !has_begun || runner->dying) {
        kill_process(runner);
        dx__finecode_runner_set_why(runner, "it was stopped", "");
        be_gone(runner, runner->run ? DX_FINECODE_EXITED : DX_FINECODE_NOT_STARTED);
        return;
    }
    runner->leaving = true;
    say_goodbye(runner);
}

static void terminate(dx_finecode_runner *runner) {
    pid_t pid = dx_child_pid(runner->child);
    runner->step = FINECODE_TERMINATED;
    if (pid > 0)
        kill(-pid, SIGTERM);
    dx_timer_set(runner->limit, TERM_MS);
}

void dx__finecode_runner_on_limit(dx_timer *timer, void *user) {
    dx_finecode_runner *runner = user;
    char text[64];
    (void)timer;
    if (runner->leaving && runner->step == FINECODE_EXITING) {
        terminate(runner);
    } else if (runner->leaving) {
        kill_process(runner);
        dx__finecode_runner_set_why(runner, "it was stopped",
                                    ", and killed because it did not exit");
        be_gone(runner, DX_FINECODE_EXITED);
    } else if (runner->dying) {
        bool was_starting = runner->state == DX_FINECODE_INITIALIZING;
        kill_process(runner);
        dx__say_str(runner->why, sizeof runner->why, "; its process was killed");
        dx__finecode_runner_say_lines(runner);
        be_gone(runner, was_starting ? DX_FINECODE_RUNNER_FAILED : DX_FINECODE_EXITED);
    } else if (runner->step == FINECODE_PORT) {
        snprintf(text, sizeof text, "it did not %s within %.1f s",
                 runner->is_open ? "respond or report a port" : "report its port",
                 (double)runner->wm->config.port_ms / 1000);
        dx__finecode_runner_fail(runner, text, "");
    }
}

dx_status dx_finecode_wm_restart(dx_finecode_wm *wm, dx_finecode_runner *runner) {
    if (wm->stopping)
        return DX_CLOSED;
    runner->restart = runner->child || runner->step != FINECODE_IDLE;
    if (runner->restart)
        dx__finecode_runner_stop(runner);
    else
        dx__finecode_runner_begin(runner);
    return DX_OK;
}
