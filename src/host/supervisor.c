#include "base/alloc.h"
#include "base/line.h"
#include "host/host.h"

#include <duplex/supervisor.h>

#include <errno.h>
#include <string.h>

enum { DEATHS_MAX = 64 };
enum { WISH_START = 1, WISH_STOP = 2, WISH_READY = 4, WISH_FAIL = 8 };

struct dx_supervisor {
    dx__thing thing;
    dx_supervisor_config config;
    dx_child *child;
    dx__due due;
    dx__turn turn;
    unsigned wishes;
    dx_state state;
    unsigned incarnation;
    uint64_t ready_since;
    uint64_t pause_ms;           /* before the next restart */
    uint64_t deaths[DEATHS_MAX]; /* when the last ones were, as a ring */
    unsigned death;
    uint64_t heard;  /* bytes that had come when we last looked */
    unsigned missed; /* pings in a row without a word */
    bool pinging;
    bool again; /* it was told to start while it was stopping */
    bool freed;
    int *exit_code;   /* of dx_supervisor_run(), which ends with it; else NULL */
    dx_error why;     /* the reason for its death that is known before it */
    dx_error failure; /* what dx_supervisor_fail() was told */
};

const char *dx_state_name(dx_state state) {
    static const char *const names[] = {"stopped", "starting", "ready",   "degraded",
                                        "backoff", "failed",   "stopping"};
    return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "unknown state";
}

dx_supervisor_config dx_supervisor_defaults(dx_framing framing, const char *const *argv) {
    return (dx_supervisor_config){
        .child = dx_child_defaults(framing, argv),
        .restart = DX_RESTART_ON_FAILURE,
        .start_ms = 10000,
        .backoff_ms = 100,
        .backoff_max_ms = 30000,
        .steady_ms = 60000,
        .tries = 5,
        .window_ms = 180000,
        .ping_ms = 30000,
        .ping_wait_ms = 10000,
        .misses = 3,
    };
}

dx_supervisor_config dx_supervisor_for(dx_protocol *protocol, const char *const *argv) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    dx_supervisor_config config = dx_supervisor_defaults(facts->framing, argv);
    config.child = dx_child_for(protocol, argv);
    return config;
}

static uint64_t later(const dx_supervisor *supervisor, uint64_t ms) {
    return dx__loop_later(supervisor->thing.loop, ms);
}

/* It is at an end, and nobody has asked for another beginning. */
static bool is_over(const dx_supervisor *supervisor) {
    return (supervisor->state == DX_STATE_STOPPED || supervisor->state == DX_STATE_FAILED) &&
           !supervisor->again && !(supervisor->wishes & WISH_START);
}

static void end_run(dx_supervisor *supervisor, int code) {
    if (supervisor->exit_code) {
        *supervisor->exit_code = code;
        dx_loop_stop(supervisor->thing.loop);
    }
}

/* False if the supervisor was freed by whoever was told. */
static bool enter(dx_supervisor *supervisor, dx_state state, const dx_error *why) {
    static const dx_error nothing = {.fault = DX_FAULT_NONE};
    uint64_t when = DX_NEVER;
    supervisor->state = state;
    if (state == DX_STATE_STARTING)
        when = later(supervisor, supervisor->config.start_ms);
    else if (state == DX_STATE_BACKOFF)
        when = later(supervisor, supervisor->pause_ms ? supervisor->pause_ms : 1); /* not in here */
    else if (state == DX_STATE_READY && supervisor->config.ping)
        when = later(supervisor, supervisor->config.ping_ms);
    if (state != DX_STATE_DEGRADED)
        dx__due_set(supervisor->thing.loop, &supervisor->due, when);
    if (supervisor->config.on_state)
        supervisor->config.on_state(supervisor, state, why ? why : &nothing,
                                    supervisor->config.user);
    if (supervisor->freed)
        return false;
    if (is_over(supervisor))
        end_run(supervisor, state == DX_STATE_FAILED);
    return true;
}

/* Too many deaths in the window? The one of now is entered. */
static bool worn_out(dx_supervisor *supervisor) {
    const dx_supervisor_config *config = &supervisor->config;
    uint64_t now = supervisor->thing.loop->now;
    unsigned tries = config->tries < DEATHS_MAX ? config->tries : DEATHS_MAX;
    supervisor->deaths[supervisor->death++ % DEATHS_MAX] = now;
    if (!tries || supervisor->death < tries)
        return false;
    uint64_t first = supervisor->deaths[(supervisor->death - tries) % DEATHS_MAX];
    return now - first <= config->window_ms;
}

/* Another attempt would fail in the same way: the program or its folder is missing, or the program
 * can't be executed; a shell reports that with an exit code (`never_ran`). Only for the first
 * attempt: a program that has run before may be missing for a moment because it is being replaced.
 */
static bool can_never_start(const dx_supervisor *supervisor, bool never_ran, const dx_error *why) {
    static const int numbers[] = {ENOENT,  ENOTDIR, EACCES,       EPERM, EISDIR,
                                  ENOEXEC, ELOOP,   ENAMETOOLONG, E2BIG};
    if (supervisor->death)
        return false;
    if (why->fault != DX_FAULT_START)
        return never_ran && why->fault == DX_FAULT_EXITED;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (why->system == numbers[i])
            return true;
    return false;
}

static void died(dx_supervisor *supervisor, bool well, bool never_ran, const dx_error *why) {
    const dx_supervisor_config *config = &supervisor->config;
    uint64_t now = supervisor->thing.loop->now;
    bool again =
        config->restart == DX_RESTART_ALWAYS || (config->restart == DX_RESTART_ON_FAILURE && !well);
    if (!again) {
        enter(supervisor, well ? DX_STATE_STOPPED : DX_STATE_FAILED, why);
        return;
    }
    if (can_never_start(supervisor, never_ran, why) || worn_out(supervisor)) {
        enter(supervisor, DX_STATE_FAILED, why);
        return;
    }
    bool steady =
        supervisor->ready_since != DX_NEVER && now - supervisor->ready_since >= config->steady_ms;
    if (!supervisor->pause_ms || steady)
        supervisor->pause_ms = config->backoff_ms;
    else
        supervisor->pause_ms *= 2;
    if (supervisor->pause_ms > config->backoff_max_ms)
        supervisor->pause_ms = config->backoff_max_ms;
    enter(supervisor, DX_STATE_BACKOFF, why);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    dx_supervisor *supervisor = user;
    dx_error why = supervisor->why.fault != DX_FAULT_NONE ? supervisor->why : gone->error;
    bool never_ran = dx__child_never_ran(child);
    supervisor->child = NULL;
    dx_child_free(child);
    if (supervisor->state == DX_STATE_STOPPING) {
        if (enter(supervisor, DX_STATE_STOPPED, &why) && supervisor->again)
            dx_supervisor_start(supervisor);
    } else
        died(supervisor, gone->known && !gone->code && !gone->signal && !why.fault, never_ran,
             &why);
}

/* What it sends can't be read any more: that is what it dies of, however it goes when it is asked
 * to leave. Whoever only closes its output may still leave well. */
static void on_closed(dx_child *child, const dx_error *why, void *user) {
    dx_supervisor *supervisor = user;
    bool is_plain = why->fault == DX_FAULT_NONE || why->fault == DX_FAULT_SYSTEM ||
                    why->fault == DX_FAULT_ENDED || why->fault == DX_FAULT_TRUNCATED;
    if (!is_plain && supervisor->why.fault == DX_FAULT_NONE)
        supervisor->why = *why;
    if (supervisor->config.child.on_closed)
        supervisor->config.child.on_closed(child, why, supervisor);
}

static void be_ready(dx_supervisor *supervisor) {
    supervisor->ready_since = supervisor->thing.loop->now;
    enter(supervisor, DX_STATE_READY, NULL);
}

static void incarnate(dx_supervisor *supervisor) {
    dx_child_config config = supervisor->config.child;
    dx_error error = {.fault = DX_FAULT_NONE};
    config.on_gone = on_gone;
    config.on_closed = on_closed;
    config.user = supervisor;
    supervisor->ready_since = DX_NEVER;
    supervisor->heard = 0;
    supervisor->missed = 0;
    supervisor->pinging = false;
    supervisor->why.fault = DX_FAULT_NONE;
    supervisor->wishes &= ~(unsigned)(WISH_READY | WISH_FAIL); /* meant for the one before */
    config.link.run = ++supervisor->incarnation;
    if (!enter(supervisor, DX_STATE_STARTING, NULL) || supervisor->state != DX_STATE_STARTING)
        return;
    dx_status status = dx_child_start(supervisor->thing.loop, &config, &supervisor->child, &error);
    if (status != DX_OK) {
        if (status != DX_ERR_SYSTEM)
            dx__error_set(&error, DX_FAULT_START, 0, 0, 0);
        died(supervisor, false, false, &error);
        return;
    }
    if (supervisor->config.on_start)
        supervisor->config.on_start(supervisor, dx_child_link(supervisor->child),
                                    supervisor->config.user);
    else
        be_ready(supervisor);
}

/* Dies by our hand: what we know is the better reason than the signal. Its calls end as ever. */
static void put_down(dx_supervisor *supervisor, const dx_error *why) {
    supervisor->why = *why;
    dx__due_set(supervisor->thing.loop, &supervisor->due, DX_NEVER);
    dx__child_kill(supervisor->child);
}

/* Has anything come since we last looked? Who works hard may answer late, and is well. */
static bool has_word(dx_supervisor *supervisor) {
    dx_link *link = dx_child_link(supervisor->child);
    uint64_t bytes = link ? dx_link_statistics(link).bytes_in : 0;
    bool word = bytes != supervisor->heard;
    supervisor->heard = bytes;
    return word;
}

static void ping(dx_supervisor *supervisor) {
    dx_link_call_options options = {.peer = {.timeout_ms = supervisor->config.ping_wait_ms}};
    /* Who can't even be asked, because he does not read, has not answered either. */
    (void)dx_link_call(dx_child_link(supervisor->child), dx_str(supervisor->config.ping),
                       dx_json_none(), &options, NULL);
    supervisor->pinging = true;
    dx__due_set(supervisor->thing.loop, &supervisor->due,
                later(supervisor, supervisor->config.ping_wait_ms));
}

static void look_after(dx_supervisor *supervisor) {
    dx_error why;
    bool word = has_word(supervisor);
    bool pinged = supervisor->pinging;
    supervisor->pinging = false;
    if (word) {
        supervisor->missed = 0;
        dx__due_set(supervisor->thing.loop, &supervisor->due,
                    later(supervisor, supervisor->config.ping_ms));
        if (supervisor->state == DX_STATE_DEGRADED)
            enter(supervisor, DX_STATE_READY, NULL);
        return;
    }
    dx__error_set(&why, DX_FAULT_TIMEOUT, 0, 0, supervisor->config.ping_wait_ms);
    if (pinged && ++supervisor->missed >= supervisor->config.misses) {
        put_down(supervisor, &why);
        return;
    }
    if (pinged && supervisor->state == DX_STATE_READY &&
        !enter(supervisor, DX_STATE_DEGRADED, &why))
        return;
    if (supervisor->child)
        ping(supervisor);
}

static void on_due(dx__due *due) {
    dx_supervisor *supervisor = DX__OWNER(due, dx_supervisor, due);
    dx_error why;
    switch (supervisor->state) {
    case DX_STATE_STARTING:
        dx__error_set(&why, DX_FAULT_TIMEOUT, 0, 0, supervisor->config.start_ms);
        put_down(supervisor, &why);
        break;
    case DX_STATE_BACKOFF:
        incarnate(supervisor);
        break;
    case DX_STATE_READY:
    case DX_STATE_DEGRADED:
        look_after(supervisor);
        break;
    default:
        break;
    }
}

static void start(dx_supervisor *supervisor) {
    supervisor->again = supervisor->state == DX_STATE_STOPPING;
    if (supervisor->child)
        return;
    supervisor->death = 0;
    supervisor->pause_ms = 0;
    incarnate(supervisor);
}

static void stop(dx_supervisor *supervisor) {
    if (supervisor->child) {
        dx_child_stop(supervisor->child);
        if (supervisor->state != DX_STATE_STOPPING)
            enter(supervisor, DX_STATE_STOPPING, NULL);
    } else if (supervisor->state != DX_STATE_STOPPED && supervisor->state != DX_STATE_FAILED) {
        enter(supervisor, DX_STATE_STOPPED, NULL);
    }
}

/* What was asked for is done in the next turn: callbacks come only from a dispatch. */
static void on_turn(dx__turn *turn) {
    dx_supervisor *supervisor = DX__OWNER(turn, dx_supervisor, turn);
    unsigned wishes = supervisor->wishes;
    bool starting = supervisor->state == DX_STATE_STARTING && supervisor->child;
    supervisor->wishes = 0;
    if (wishes & WISH_STOP) {
        supervisor->again = wishes & WISH_START;
        stop(supervisor);
        if (supervisor->again && !supervisor->freed)
            start(supervisor);
    } else if (wishes & WISH_START && !starting)
        start(supervisor);
    else if (wishes & WISH_FAIL && starting)
        put_down(supervisor, &supervisor->failure);
    else if (wishes & WISH_READY && starting && supervisor->why.fault == DX_FAULT_NONE)
        be_ready(supervisor);
}

static void wish(dx_supervisor *supervisor, unsigned what) {
    supervisor->wishes |= what;
    dx__turn_want(supervisor->thing.loop, &supervisor->turn);
}

/* What was to stop it before stays: then this is the beginning after that end. */
void dx_supervisor_start(dx_supervisor *supervisor) {
    wish(supervisor, WISH_START);
}

void dx_supervisor_stop(dx_supervisor *supervisor) {
    supervisor->wishes &= ~(unsigned)WISH_START;
    supervisor->again = false;
    wish(supervisor, WISH_STOP);
}

void dx_supervisor_ready(dx_supervisor *supervisor) {
    wish(supervisor, WISH_READY);
}

void dx_supervisor_fail(dx_supervisor *supervisor, const dx_error *why) {
    supervisor->failure = *why;
    wish(supervisor, WISH_FAIL);
}

static void release(dx__thing *thing) {
    dx_allocator alloc = thing->loop->alloc;
    dx__free(&alloc, DX__OWNER(thing, dx_supervisor, thing));
}

dx_supervisor *dx_supervisor_free(dx_supervisor *supervisor) {
    if (supervisor && !supervisor->freed) {
        supervisor->freed = true;
        end_run(supervisor, 0);
        dx_child_free(supervisor->child);
        supervisor->child = NULL;
        dx__turn_drop(supervisor->thing.loop, &supervisor->turn);
        dx__due_done(supervisor->thing.loop, &supervisor->due);
        dx__thing_end(&supervisor->thing);
    }
    return NULL;
}

static void kill_supervisor(dx__thing *thing) {
    dx_supervisor_free(DX__OWNER(thing, dx_supervisor, thing));
}

dx_status dx_supervisor_new(dx_loop *loop, const dx_supervisor_config *config,
                            dx_supervisor **ret_supervisor) {
    dx_supervisor *supervisor = dx__malloc(&loop->alloc, sizeof *supervisor);
    if (!supervisor)
        return DX_ERR_NOMEM;
    *supervisor = (dx_supervisor){.config = *config, .ready_since = DX_NEVER};
    supervisor->thing = (dx__thing){.loop = loop, .release = release, .kill = kill_supervisor};
    supervisor->turn.take = on_turn;
    dx_status status = dx__due_init(loop, &supervisor->due, on_due);
    if (status != DX_OK) {
        dx__free(&loop->alloc, supervisor);
        return status;
    }
    dx__thing_add(loop, &supervisor->thing);
    *ret_supervisor = supervisor;
    return DX_OK;
}

int dx_supervisor_run(const dx_supervisor_config *config) {
    dx_loop *loop;
    dx_supervisor *supervisor;
    int told = 2;
    bool freed = false;
    if (dx_loop_new(config->child.link.peer.allocator, &loop, NULL) != DX_OK)
        return told;
    if (dx_supervisor_new(loop, config, &supervisor) == DX_OK) {
        supervisor->exit_code = &told;
        dx_supervisor_start(supervisor);
        dx__loop_run(loop, &freed);
    }
    int code = told; /* the loop frees what is left, which would tell once more */
    if (!freed)
        dx_loop_free(loop);
    return code;
}

dx_state dx_supervisor_state(const dx_supervisor *supervisor) {
    return supervisor->state;
}

unsigned dx_supervisor_incarnation(const dx_supervisor *supervisor) {
    return supervisor->incarnation;
}

dx_link *dx_supervisor_link(const dx_supervisor *supervisor) {
    return supervisor->child ? dx_child_link(supervisor->child) : NULL;
}

pid_t dx_supervisor_pid(const dx_supervisor *supervisor) {
    return supervisor->child ? dx_child_pid(supervisor->child) : 0;
}

void *dx_supervisor_user(const dx_supervisor *supervisor) {
    return supervisor->config.user;
}
