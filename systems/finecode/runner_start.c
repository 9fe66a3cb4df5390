/* From a configuration to a process that can be talked to. */
#include "systems/finecode/runner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The second step of the good-bye, when SIGTERM was sent. */
enum { TERM_MS = 2000 };

static void observe(void *user, int out, dx_text text, size_t framed) {
    dx_finecode_runner *runner = user;
    const dx_finecode_wm_config *config = &runner->wm->config;
    (void)framed;
    config->on_traffic(runner->wm, runner, out, text, config->user);
}

static void record(dx_finecode_runner *runner, int out, dx_text text, size_t framed,
                   uint64_t time_us) {
    const dx_finecode_wm_config *config = &runner->wm->config;
    dx_trace_record record = {.kind = DX_TRACE_MESSAGE,
                              .from = out ? DX_TRACE_HOST : DX_TRACE_PLUGIN,
                              .time_us = time_us,
                              .peer = dx_str(runner->label),
                              .run = runner->run,
                              .bytes = framed,
                              .text = text};
    if (config->recorder)
        (void)dx_recorder_write(config->recorder, &record);
    if (config->on_traffic)
        config->on_traffic(runner->wm, runner, out, text, config->user);
}

struct dx__finecode_held {
    uint64_t time_us;
    size_t framed;
    size_t len;
    char text[];
};

static void hold(dx_finecode_runner *runner, dx_text text, size_t framed) {
    struct dx__finecode_held *held =
        runner->held ? NULL : dx__malloc(&runner->wm->alloc, sizeof *held + text.len);
    if (!held)
        return;
    *held = (struct dx__finecode_held){dx_recorder_now_us(), framed, text.len};
    memcpy(held->text, text.at, text.len);
    runner->held = held;
}

void dx__finecode_runner_let_go(dx_finecode_runner *runner) {
    dx__free(&runner->wm->alloc, runner->held);
    runner->held = NULL;
    runner->is_open = false;
}

/* A program with a port never reads the initialize on its input: it does not count then. */
static void observe_pipes(void *user, int out, dx_text text, size_t framed) {
    dx_finecode_runner *runner = user;
    const struct dx__finecode_held *held = runner->held;
    if (runner->is_tcp)
        return;
    if (runner->is_open && out) {
        hold(runner, text, framed);
        return;
    }
    if (runner->is_open && dx_link_framing(runner->link) == DX_FRAMING_LINE)
        return; /* a line of its log */
    if (held)
        record(runner, 1, (dx_text){held->text, held->len}, held->framed, held->time_us);
    dx__finecode_runner_let_go(runner);
    record(runner, out, text, framed, dx_recorder_now_us());
}

static void tell_violation(dx_finecode_runner *runner, const char *before, dx_text text) {
    const dx_finecode_wm_config *config = &runner->wm->config;
    char phrase[300] = "";
    dx__say_str(phrase, sizeof phrase, before);
    dx__say(phrase, sizeof phrase, text);
    if (config->on_violation)
        config->on_violation(runner->wm, runner, phrase, config->user);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    dx_finecode_runner *runner = user;
    bool is_log =
        runner->is_tcp || runner->step == FINECODE_PORT || runner->step == FINECODE_DEBUGGER;
    if (is_log && runner->child && link == dx_child_link(runner->child)) {
        dx__finecode_runner_output(link, event, runner);
        return;
    }
    if (runner->link != link)
        return; /* it is given up */
    if (event->kind == DX_EVENT_STRAY) {
        dx__finecode_runner_look_for_debugger(runner, event->message);
        tell_violation(runner, "text on stdout that is not JSON-RPC: ", event->message);
    } else if (event->kind == DX_EVENT_VIOLATION) {
        tell_violation(runner, "", dx_str(event->error.phrase));
    } else {
        dx__finecode_back(link, event, runner);
    }
}

/* What holds for the conversation, wherever it takes place. */
static void equip(dx_finecode_runner *runner, dx_link_config *link) {
    const dx_finecode_wm_config *config = &runner->wm->config;
    link->on_event = on_event;
    link->user = runner;
    link->recorder = config->recorder;
    link->name = runner->label;
    link->run = runner->run;
    if (config->on_traffic) {
        link->peer.observe = observe;
        link->peer.observe_user = runner;
    }
}

static bool is_real(const dx_finecode_runner *runner) {
    const char *revision = runner->wm->config.revision;
    return revision ? strcmp(revision, "real") == 0 : runner->is_tcp;
}

static dx_protocol *protocol_of(const dx_finecode_runner *runner) {
    return runner->is_real ? runner->wm->real : runner->wm->seed;
}

/* The conversation. */

static void on_link_closed(dx_link *link, const dx_error *why, void *user) {
    dx_finecode_runner *runner = user;
    if (runner->link == link)
        dx__finecode_runner_broke(runner, "its connection closed",
                                  why->fault != DX_FAULT_NONE ? why->phrase : "");
}

void dx__finecode_runner_connect(dx_finecode_runner *runner, unsigned port) {
    char address[32];
    dx_error error = {0};
    if (runner->is_either) {
        dx__finecode_runner_let_go(runner);
        runner->link = NULL;
        runner->is_tcp = true;
        runner->is_debugged = false;
        runner->is_real = is_real(runner);
    }
    dx_link_config config = dx_link_for(protocol_of(runner), DX_SIDE_HOST);
    equip(runner, &config);
    config.on_closed = on_link_closed;
    snprintf(address, sizeof address, "tcp:%u", port);
    dx_status status = dx_link_connect(runner->wm->loop, address, &config, &runner->link, &error);
    dx_timer_set(runner->limit, DX_NEVER);
    if (status == DX_OK)
        dx__finecode_runner_greet(runner);
    else
        dx__finecode_runner_fail(runner, "cannot connect to its port: ",
                                 error.phrase[0] ? error.phrase : dx_status_name(status));
}

/* One that talks elsewhere may do without, but what it writes must be taken from it. */
static void on_output_closed(dx_child *child, const dx_error *why, void *user) {
    dx_finecode_runner *runner = user;
    bool is_plain = why->fault == DX_FAULT_NONE || why->fault == DX_FAULT_ENDED;
    (void)child;
    if (!runner->is_tcp)
        dx__finecode_runner_broke(runner, "it closed its output", is_plain ? "" : why->phrase);
    else if (!is_plain)
        dx__finecode_runner_broke(runner, "cannot read its output", why->phrase);
    else if (!runner->link)
        dx__finecode_runner_broke(runner, "it closed its output before it reported its port", "");
}

/* The process. */

/* Lines, most of which mean nothing: there may be any number of them, in any form. */
static dx_child_config tcp_child(dx_finecode_runner *runner, const char *const *argv) {
    dx_child_config child = dx_child_defaults(DX_FRAMING_LINE, argv);
    dx_peer_config *peer = &child.link.peer;
    peer->lenient = DX_LENIENT_DEFAULT | DX_LENIENT_NO_VERSION;
    peer->flags = DX_PEER_TEXT;
    peer->stray_max = SIZE_MAX;
    peer->stray_rate = UINT_MAX;
    peer->stall_ms = DX_NEVER;
    child.link.on_event = dx__finecode_runner_output;
    child.link.user = runner;
    /* That its output ends says nothing, so nothing follows from it by itself. */
    child.ladder.close_ms = DX_NEVER;
    return child;
}

static dx_child_config pipe_child(dx_finecode_runner *runner, const char *const *argv) {
    dx_child_config child = dx_child_for(protocol_of(runner), argv);
    uint64_t ms = dx__finecode_time(runner->wm->config.stop_ms);
    equip(runner, &child.link);
    child.ladder.farewell_ms = ms;
    child.ladder.close_ms = ms;
    child.ladder.term_ms = TERM_MS;
    return child;
}

/* One that may do either: by the document it reads its input and answers there; the program leaves
 * that alone, writes lines of a log, and its port in one of them. */
static dx_child_config either_child(dx_finecode_runner *runner, const char *const *argv) {
    dx_child_config child = pipe_child(runner, argv);
    dx_peer_config *peer = &child.link.peer;
    child.link.recorder = NULL;
    peer->observe = observe_pipes;
    peer->observe_user = runner;
    peer->flags |= DX_PEER_LINES_FIRST;
    peer->lenient |= DX_LENIENT_DEFAULT;
    peer->stray_max = SIZE_MAX;
    peer->stray_rate = UINT_MAX;
    peer->stall_ms = DX_NEVER;
    child.ladder.close_ms = DX_NEVER;
    return child;
}

/* Ours without VIRTUAL_ENV, which would send Python elsewhere, and with how many processes it
 * should start at the same time. NULL without memory. */
static const char **environment(const dx_allocator *alloc, const char *jobs) {
    size_t count = 2;
    size_t used = 0;
    for (char **one = environ; one && *one; one++)
        count++;
    const char **env = dx__malloc(alloc, count * sizeof *env);
    if (!env)
        return NULL;
    for (char **one = environ; one && *one; one++)
        if (strncmp(*one, "VIRTUAL_ENV=", 12) != 0 && strncmp(*one, "FINECODE_JOBS=", 14) != 0)
            env[used++] = *one;
    env[used++] = jobs;
    env[used] = NULL;
    return env;
}

static dx_status start_process(dx_finecode_runner *runner, const char *const *argv,
                               dx_error *reterr) {
    dx_finecode_wm *wm = runner->wm;
    dx_child_config child = runner->is_either ? either_child(runner, argv)
                            : runner->is_tcp  ? tcp_child(runner, argv)
                                              : pipe_child(runner, argv);
    char jobs[32];
    snprintf(jobs, sizeof jobs, "FINECODE_JOBS=%u",
             wm->config.max_jobs / dx__finecode_runs_width(wm));
    const char **env = environment(&wm->alloc, jobs);
    if (!env)
        return DX_ERR_NOMEM;
    child.env = env;
    child.cwd = runner->project->path;
    child.on_gone = dx__finecode_runner_on_gone;
    child.on_errors = dx__finecode_runner_errors;
    child.on_closed = on_output_closed;
    child.user = runner;
    dx_status status = dx_child_start(wm->loop, &child, &runner->child, reterr);
    dx__free(&wm->alloc, env);
    return status;
}

static void no_program(dx_finecode_runner *runner, const char *reason) {
    dx__finecode_runner_set_why(runner, reason, "");
    dx__finecode_runner_release(runner);
    runner->step = FINECODE_IDLE;
    dx__finecode_runner_set_state(runner, DX_FINECODE_NO_VENV);
    dx__finecode_runner_log(runner, "runner.failed");
}

void dx__finecode_runner_start(dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    dx__finecode_way way = {0};
    dx_error error = {0};
    char reason[200] = "";
    if (runner->project->state != DX_FINECODE_VALID) {
        dx__finecode_runner_fail(runner, "the project is invalid: ", runner->project->why);
        return;
    }
    dx_status status =
        dx__finecode_project_way(runner->project, runner->env, &wm->config, &way, reason);
    if (status == DX_MISFIT) {
        no_program(runner, reason);
        return;
    }
    if (status == DX_OK) {
        runner->run++;
        runner->round = 0;
        runner->is_tcp = way.tcp;
        runner->is_either = runner->is_open = way.either;
        runner->is_debugged = way.debug && !way.tcp; /* the others say when they wait */
        runner->is_real = is_real(runner);
        runner->step = FINECODE_PORT;
        status = start_process(runner, way.argv, &error);
        dx__free(&runner->project->alloc, way.argv);
    }
    if (status != DX_OK) {
        dx__finecode_runner_fail(runner, "",
                                 error.phrase[0] ? error.phrase : dx_status_name(status));
        return;
    }
    if (runner->is_tcp || runner->is_open)
        dx_timer_set(runner->limit, dx__finecode_time(wm->config.port_ms));
    if (!runner->is_tcp) {
        runner->link = dx_child_link(runner->child);
        dx__finecode_runner_greet(runner);
    }
}
