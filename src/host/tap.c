#include <duplex/tap.h>

#include "base/alloc.h"
#include "base/line.h"
#include "host/cutter.h"
#include "host/relay.h"

#include <duplex/rpc.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* How long a process may take to die of SIGKILL; how long the last of its standard error is offered
 * once everything else is done; how long nobody may take anything of what it left if it was told to
 * end; when a file is read on, or what failed for lack of memory is tried again. */
enum { KILL_MS = 2000, ERRORS_MS = 1000, LEFT_MS = 500, PUMP_MS = 1 };
enum { MESSAGE_MIN = 64 << 10, MESSAGE_MAX = 1 << 30 };

enum way { TO_PLUGIN, FROM_PLUGIN, ERRORS, WAYS };

/* Where on the ladder it stands. */
enum step { RUNNING, CLOSING, TERMINATING, KILLING };

struct way_of {
    dx__relay relay;
    dx__recorder_wire *wire; /* NULL if there is no recorder */
    dx__cutter cutter;       /* for who looks on */
    bool finished;           /* what was left of it is in the record */
    dx_tap *tap;
};

struct dx_tap {
    dx__thing thing;
    dx_tap_config config;
    struct dx__process process;
    struct way_of ways[WAYS];
    dx__watch exit; /* the pidfd */
    dx__due due;
    dx__turn turn;
    enum step step;
    uint64_t ladder_at;
    uint64_t drain_at;  /* when who else holds its output is no longer waited for */
    uint64_t errors_at; /* when the last of what it wrote is no longer offered */
    uint64_t now_us;    /* of the records at hand */
    bool exited;
    bool told; /* by a signal that we handed on, to end */
    bool stopping;
    bool group_killed;
    bool escaped;
    bool survived;
    bool status_known;
    bool is_gone;
    bool freed;
    siginfo_t status;
    char *pieces;
};

dx_tap_config dx_tap_defaults(const char *const *argv) {
    return (dx_tap_config){.argv = argv,
                           .out = 1,
                           .errors = 2,
                           .message_max = 8 << 20,
                           .close_ms = 2000,
                           .term_ms = 2000,
                           .drain_ms = 50};
}

static uint64_t later(const dx_tap *tap, uint64_t ms) {
    return dx__loop_later(tap->thing.loop, ms);
}

static uint64_t sooner(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void set_due(dx_tap *tap) {
    uint64_t when = sooner(sooner(tap->ladder_at, tap->drain_at), tap->errors_at);
    for (int i = 0; i < WAYS; i++)
        if (dx__relay_wants_pump(&tap->ways[i].relay))
            when = sooner(when, later(tap, PUMP_MS));
    dx__due_set(tap->thing.loop, &tap->due, when);
}

static void signal_group(const dx_tap *tap, int number) {
    if (tap->is_gone || !dx__loop_is_ours(tap->thing.loop))
        return;
    if (!tap->exited)
        dx__process_signal(&tap->process, number);
    dx__process_signal_group(&tap->process, number);
}

/* Recording. */

static bool has_watchers(const dx_tap *tap) {
    return tap->config.watchers && dx_watchers_count(tap->config.watchers);
}

static dx_trace_from from_of(const struct way_of *way) {
    return way == &way->tap->ways[TO_PLUGIN] ? DX_TRACE_HOST : DX_TRACE_PLUGIN;
}

static void tell(void *user, dx_trace_kind kind, dx_text text, size_t bytes) {
    struct way_of *way = user;
    dx_trace_record record = {
        .kind = kind,
        .from = from_of(way),
        .time_us = way->tap->now_us,
        .peer = dx_str(way->tap->config.name),
        .run = way->tap->config.run,
        .bytes = bytes,
        .text = text,
        .count = kind == DX_TRACE_DROPPED,
    };
    dx_watchers_write(way->tap->config.watchers, &record);
}

static void tell_event(dx_tap *tap, const char *event, dx_text facts) {
    dx_trace_record record = {
        .kind = DX_TRACE_EVENT,
        .time_us = dx__clock_us(),
        .peer = dx_str(tap->config.name),
        .run = tap->config.run,
        .event = dx_str(event),
        .text = facts,
    };
    if (tap->config.recorder)
        (void)dx_recorder_write(tap->config.recorder, &record);
    dx_watchers_write(tap->config.watchers, &record);
}

static void tell_start(dx_tap *tap) {
    dx_buf facts;
    char number[48];
    bool good = true;
    dx_buf_init(&facts, 1 << 20, &tap->thing.loop->alloc);
    for (const char *const *word = tap->config.argv; good && *word; word++) {
        const char *before = word == tap->config.argv ? "{\"argv\":[" : ",";
        good = dx_buf_append(&facts, before, strlen(before)) == DX_OK;
        dx_status status = good ? dx_json_write_string(&facts, dx_str(*word)) : DX_OK;
        if (status == DX_ERR_INVALID) /* no text */
            status = dx_buf_append(&facts, "null", 4);
        good = good && status == DX_OK;
    }
    int len = snprintf(number, sizeof number, "],\"pid\":%ld}", (long)tap->process.pid);
    good = good && dx_buf_append(&facts, number, (size_t)len) == DX_OK;
    tell_event(tap, "start", good ? (dx_text){facts.data, facts.len} : dx_str(NULL));
    dx_buf_done(&facts);
}

static void tell_exit(dx_tap *tap, const dx_gone *gone) {
    char facts[48];
    snprintf(facts, sizeof facts, "{\"%s\":%d}", gone->signal ? "signal" : "code",
             gone->signal ? gone->signal : gone->code);
    tell_event(tap, "exit", gone->known ? dx_str(facts) : dx_str(NULL));
}

static void passed(dx__relay *relay, dx_text bytes) {
    struct way_of *way = DX__OWNER(relay, struct way_of, relay);
    dx_tap *tap = way->tap;
    const dx_tap_config *config = &tap->config;
    if (tap->told && tap->errors_at != DX_NEVER)
        tap->errors_at = later(tap, LEFT_MS);
    if (config->on_bytes)
        config->on_bytes(tap, from_of(way), way == &tap->ways[ERRORS], bytes, config->user);
    if (way->wire && !tap->freed)
        dx__recorder_pass(way->wire, bytes);
    /* Who looks on from the middle of a message sees the rest of it as stray text; so it is framed
     * also while nobody does. */
    if (config->watchers && !tap->freed) {
        tap->now_us = dx__clock_us();
        dx__cutter_feed(&way->cutter, bytes);
    }
}

/* When the way has ended, so that a last line without an end stands before what it led to. */
static void finish_record(struct way_of *way) {
    if (way->finished)
        return;
    way->finished = true;
    way->tap->now_us = dx__clock_us();
    if (way->wire)
        dx__recorder_pass(way->wire, (dx_text){NULL, 0});
    if (has_watchers(way->tap))
        dx__cutter_finish(&way->cutter);
}

static void close_way(struct way_of *way) {
    dx__relay_close(&way->relay);
    finish_record(way);
}

/* The end. */

static void reap(dx_tap *tap) {
    if (tap->process.pidfd < 0)
        return;
    signal_group(tap, SIGKILL);
    bool ours = dx__loop_is_ours(tap->thing.loop);
    if (!ours || dx__process_reap(&tap->process, tap->survived ? 0 : KILL_MS))
        dx__guardian_remove(tap->thing.loop, tap->process.pid);
    dx__watch_stop(&tap->exit);
    close(tap->process.pidfd);
    tap->process.pidfd = -1;
}

static void tell_gone(dx_tap *tap) {
    dx_gone gone = {.stopped = tap->stopping, .escaped = tap->escaped, .errors = {"", 0}};
    dx__gone_set(&gone, tap->status_known, &tap->status);
    if (!tap->stopping && (!gone.known || gone.code || gone.signal))
        dx__error_set(&gone.error, gone.signal ? DX_FAULT_KILLED : DX_FAULT_EXITED, 0,
                      (uint64_t)tap->status.si_status, 0);
    tell_exit(tap, &gone);
    if (tap->config.on_gone)
        tap->config.on_gone(tap, &gone, tap->config.user);
}

static void be_gone(dx_tap *tap) {
    if (tap->is_gone)
        return;
    tap->escaped |= tap->survived;
    for (int i = 0; i < WAYS; i++)
        close_way(&tap->ways[i]);
    reap(tap);
    tap->is_gone = true;
    dx__due_set(tap->thing.loop, &tap->due, DX_NEVER);
    tell_gone(tap);
}

/* The three facts: it has exited, and its output and its standard error were passed on. */
static void check_gone(dx_tap *tap) {
    if (tap->is_gone || !tap->exited || !tap->ways[FROM_PLUGIN].relay.over)
        return;
    if (tap->ways[ERRORS].relay.over)
        be_gone(tap);
    else if (tap->errors_at == DX_NEVER)
        tap->errors_at = later(tap, ERRORS_MS);
}

static bool exit_ready(dx__watch *watch, uint32_t events) {
    dx_tap *tap = DX__OWNER(watch, dx_tap, exit);
    (void)events;
    if (tap->exited || !dx__process_has_exited(&tap->process, &tap->status, &tap->status_known))
        return false;
    tap->exited = true;
    tap->ladder_at = DX_NEVER;
    tap->drain_at = later(tap, tap->config.drain_ms);
    if (tap->told)
        tap->errors_at = later(tap, LEFT_MS);
    dx__watch_stop(watch); /* the descriptor is needed for the reaping */
    close_way(&tap->ways[TO_PLUGIN]);
    check_gone(tap);
    if (!tap->is_gone)
        set_due(tap);
    return true;
}

/* The ladder. */

static void step_to(dx_tap *tap, enum step step) {
    tap->step = step;
    switch (step) {
    case RUNNING:
        break;
    case CLOSING:
        dx__relay_finish(&tap->ways[TO_PLUGIN].relay);
        tap->ladder_at = later(tap, tap->config.close_ms);
        break;
    case TERMINATING:
        close_way(&tap->ways[TO_PLUGIN]);
        signal_group(tap, SIGTERM);
        tap->ladder_at = later(tap, tap->config.term_ms);
        break;
    case KILLING:
        signal_group(tap, SIGKILL);
        tap->ladder_at = later(tap, KILL_MS);
        break;
    }
}

/* Somebody holds its output after its exit: whoever of its group it is will not do so for long; and
 * whoever is then left has escaped. */
static void stop_draining(dx_tap *tap) {
    if (!tap->group_killed) {
        tap->group_killed = true;
        signal_group(tap, SIGKILL);
        tap->drain_at = later(tap, tap->config.drain_ms);
        return;
    }
    tap->drain_at = DX_NEVER;
    for (int i = FROM_PLUGIN; i < WAYS; i++) {
        /* What waits to be taken is no sign of others. */
        dx__relay *relay = &tap->ways[i].relay;
        tap->escaped |= !relay->over && relay->in.events;
        dx__relay_finish(relay);
    }
}

static void pump_all(dx_tap *tap) {
    for (int i = 0; i < WAYS && !tap->freed; i++)
        if (dx__relay_wants_pump(&tap->ways[i].relay))
            dx__relay_pump(&tap->ways[i].relay);
}

static void on_due(dx__due *due) {
    dx_tap *tap = DX__OWNER(due, dx_tap, due);
    uint64_t now = tap->thing.loop->now;
    pump_all(tap);
    if (tap->ladder_at <= now && tap->step == KILLING)
        tap->survived = true;
    if (tap->survived || (tap->errors_at <= now && tap->exited))
        be_gone(tap);
    if (!tap->is_gone && tap->drain_at <= now)
        stop_draining(tap);
    if (!tap->is_gone && tap->ladder_at <= now)
        step_to(tap, tap->step + 1);
    if (!tap->is_gone)
        set_due(tap);
}

static void begin_ladder(dx_tap *tap) {
    tap->stopping = true;
    if (tap->step == RUNNING && !tap->exited)
        step_to(tap, CLOSING);
}

static void ended(dx__relay *relay, bool broken) {
    struct way_of *way = DX__OWNER(relay, struct way_of, relay);
    dx_tap *tap = way->tap;
    finish_record(way);
    if (broken && way == &tap->ways[FROM_PLUGIN])
        begin_ladder(tap);
    check_gone(tap);
    if (!tap->is_gone && !tap->freed)
        set_due(tap);
}

static void stuck(dx__relay *relay) {
    set_due(DX__OWNER(relay, struct way_of, relay)->tap);
}

static void on_turn(dx__turn *turn) {
    dx_tap *tap = DX__OWNER(turn, dx_tap, turn);
    begin_ladder(tap);
    if (!tap->is_gone)
        set_due(tap);
}

void dx_tap_stop(dx_tap *tap) {
    if (!tap->is_gone)
        dx__turn_want(tap->thing.loop, &tap->turn);
}

void dx_tap_signal(dx_tap *tap, int number, int group) {
    if (tap->is_gone || !dx__loop_is_ours(tap->thing.loop))
        return;
    tap->told |= number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
    if (tap->exited)
        dx__due_set(tap->thing.loop, &tap->due, tap->errors_at = later(tap, ERRORS_MS));
    else if (group)
        dx__process_signal_group(&tap->process, number);
    else
        dx__process_signal(&tap->process, number);
}

/* Birth and death. */

static void release(dx__thing *thing) {
    dx_tap *tap = DX__OWNER(thing, dx_tap, thing);
    dx_allocator alloc = thing->loop->alloc;
    for (int i = 0; i < WAYS; i++)
        dx__cutter_done(&tap->ways[i].cutter);
    dx__free(&alloc, tap->pieces);
    dx__free(&alloc, tap);
}

dx_tap *dx_tap_free(dx_tap *tap) {
    if (!tap || tap->freed)
        return NULL;
    tap->freed = true;
    for (int i = 0; i < WAYS; i++)
        dx__relay_close(&tap->ways[i].relay);
    if (!tap->is_gone)
        reap(tap);
    tap->is_gone = true;
    dx__turn_drop(tap->thing.loop, &tap->turn);
    dx__due_done(tap->thing.loop, &tap->due);
    dx__thing_end(&tap->thing);
    return NULL;
}

static void kill_tap(dx__thing *thing) {
    dx_tap_free(DX__OWNER(thing, dx_tap, thing));
}

static void guard(dx__thing *thing) {
    const dx_tap *tap = DX__OWNER(thing, dx_tap, thing);
    if (!tap->is_gone)
        dx__guardian_add(thing->loop, tap->process.pid);
}

static bool start_way(dx_tap *tap, enum way way, int in, int out) {
    if (in >= 0 && out >= 0 &&
        dx__relay_start(tap->thing.loop, &tap->ways[way].relay, in, out) == DX_OK)
        return true;
    int number = errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    errno = number;
    return false;
}

/* The relays have the descriptors of the process, or they are closed. */
static dx_status start_ways(dx_tap *tap, dx_error *reterr) {
    const dx_tap_config *config = &tap->config;
    struct dx__process *process = &tap->process;
    dx__relay *to = &tap->ways[TO_PLUGIN].relay;
    dx__relay *from = &tap->ways[FROM_PLUGIN].relay;
    dx__relay *errors = &tap->ways[ERRORS].relay;
    int ours[] = {process->in, process->out, process->errors};
    bool good = true;
    /* That it no longer reads is to be seen. */
    close(process->in_other);
    for (int i = 0; i < WAYS; i++)
        good = fcntl(ours[i], F_SETFL, O_NONBLOCK) == 0 && good;
    errors->goes_on = true;
    good = start_way(tap, TO_PLUGIN, dx__relay_fd(config->in, true, &to->in_flags), process->in) &&
           good;
    good = start_way(tap, FROM_PLUGIN, process->out,
                     dx__relay_fd(config->out, false, &from->out_flags)) &&
           good;
    good = start_way(tap, ERRORS, process->errors,
                     dx__relay_fd(config->errors, false, &errors->out_flags)) &&
           good;
    if (!good || dx__watch_start(tap->thing.loop, &tap->exit, process->pidfd, EPOLLIN) != DX_OK)
        return dx__system_error(reterr, DX_FAULT_START, "watch", config->argv[0], errno);
    return DX_OK;
}

static bool have_wires(dx_tap *tap) {
    const dx_tap_config *config = &tap->config;
    for (int i = 0; i < WAYS && config->recorder; i++) {
        struct way_of *way = &tap->ways[i];
        dx_trace_record form = {
            .from = from_of(way), .peer = dx_str(config->name), .run = config->run};
        way->wire =
            dx__recorder_wire_new(config->recorder, way->cutter.cut, config->message_max, &form);
        if (!way->wire)
            return false;
    }
    return true;
}

static dx_status spawn(dx_tap *tap, dx_error *reterr) {
    dx_child_config child = {.argv = tap->config.argv,
                             .cwd = tap->config.cwd,
                             .env = tap->config.env,
                             .inherit_env = !tap->config.small_env};
    return dx__spawn(tap->thing.loop, &child, NULL, &tap->process, reterr);
}

static dx_tap *new_tap(dx_loop *loop, const dx_tap_config *config) {
    dx_tap *tap = dx__malloc(&loop->alloc, sizeof *tap);
    char *pieces = tap ? dx__malloc(&loop->alloc, (size_t)WAYS * DX__RELAY_PIECE) : NULL;
    if (!pieces) {
        dx__free(&loop->alloc, tap);
        return NULL;
    }
    *tap = (dx_tap){.config = *config, .pieces = pieces, .turn = {.take = on_turn}};
    tap->ladder_at = tap->drain_at = tap->errors_at = DX_NEVER;
    tap->thing = (dx__thing){.loop = loop, .release = release, .kill = kill_tap, .guard = guard};
    tap->thing.process = &tap->process;
    tap->exit = (dx__watch){.fd = -1, .ready = exit_ready};
    for (int i = 0; i < WAYS; i++) {
        struct way_of *way = &tap->ways[i];
        dx__cut cut = i == ERRORS ? DX__CUT_TEXT : (dx__cut)config->framing;
        dx__cutter_init(&way->cutter, cut, config->message_max, &loop->alloc);
        way->cutter.tell = tell;
        way->cutter.user = way;
        way->tap = tap;
        way->relay = (dx__relay){.in = {.fd = -1}, .out = {.fd = -1}};
        way->relay.in_flags = way->relay.out_flags = -1;
        way->relay.piece = pieces + (size_t)i * DX__RELAY_PIECE;
        way->relay.passed = passed;
        way->relay.ended = ended;
        way->relay.stuck = stuck;
    }
    return tap;
}

dx_status dx_tap_start(dx_loop *loop, const dx_tap_config *config, dx_tap **ret_tap,
                       dx_error *reterr) {
    if (!config->argv || !config->argv[0] || config->message_max < MESSAGE_MIN ||
        config->message_max > MESSAGE_MAX || config->framing > DX_FRAMING_LINE)
        return dx__refused(reterr, DX_ERR_INVALID, "make a tap with this configuration");
    dx_tap *tap = new_tap(loop, config);
    if (!tap)
        return dx__refused(reterr, DX_ERR_NOMEM, "make a tap");
    dx_status status = have_wires(tap) ? dx__due_init(loop, &tap->due, on_due) : DX_ERR_NOMEM;
    if (status != DX_OK) {
        (void)dx__refused(reterr, status, "make a tap");
    } else {
        status = spawn(tap, reterr);
        if (status != DX_OK)
            dx__due_done(loop, &tap->due);
    }
    if (status != DX_OK) {
        release(&tap->thing);
        return status;
    }
    guard(&tap->thing);
    dx__thing_add(loop, &tap->thing);
    status = start_ways(tap, reterr);
    if (status != DX_OK) {
        dx_tap_free(tap);
        return status;
    }
    tell_start(tap);
    set_due(tap);
    *ret_tap = tap;
    return DX_OK;
}

pid_t dx_tap_pid(const dx_tap *tap) {
    return tap->process.pid;
}
