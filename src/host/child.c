#include "base/alloc.h"
#include "base/line.h"
#include "base/utf8.h"
#include "host/crash.h"
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One read of the standard error; the longest line that is handed out in one piece; how long a
 * process may take to die of SIGKILL. */
enum { PIECE = 16 << 10, LINE = 8 << 10, KILL_MS = 2000 };

/* Where on the ladder it stands. */
enum step { RUNNING, FAREWELL, CLOSING, TERMINATING, KILLING };

struct dx_child {
    dx__thing thing;
    dx_child_config config;
    struct dx__process process;
    dx_link *link;
    dx__watch exit; /* the pidfd */
    dx__watch errors;
    dx__due due;
    dx__turn turn;
    dx_buf tail; /* the last of its standard error */
    dx_buf line;
    enum step step;
    uint64_t ladder_at; /* when the next step comes */
    uint64_t drain_at;  /* when its output, or its exit after that, is no longer waited for */
    bool stopping;
    bool exited;
    bool output_ended; /* nothing more comes from it */
    bool link_ended;   /* … and the conversation is over */
    bool is_going;
    bool is_gone;
    bool freed;
    bool escaped;
    bool group_killed;
    bool status_known;
    bool has_spoken;
    bool survived; /* SIGKILL: it has other rights than we, or the kernel holds it */
    siginfo_t status;
    dx_error broken; /* what its output ended in */
};

dx_child_config dx_child_defaults(dx_framing framing, const char *const *argv) {
    return (dx_child_config){
        .argv = argv,
        .link = dx_link_defaults(framing, DX_SIDE_HOST),
        .ladder = {.farewell_ms = 2000, .close_ms = 2000, .term_ms = 2000},
        .errors_max = 64 << 10,
        .drain_ms = 50,
    };
}

dx_child_config dx_child_for(dx_protocol *protocol, const char *const *argv) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    dx_child_config config = dx_child_defaults(facts->framing, argv);
    config.link = dx_link_for(protocol, DX_SIDE_HOST);
    config.ladder.farewell_call = facts->stop_call;
    config.ladder.farewell_params = facts->stop_params;
    config.ladder.farewell_notify = facts->stop_notify;
    if (facts->stop_call_ms != DX_NEVER)
        config.ladder.farewell_ms = facts->stop_call_ms;
    if (facts->stop_close_ms != DX_NEVER)
        config.ladder.close_ms = facts->stop_close_ms;
    if (facts->stop_term_ms != DX_NEVER)
        config.ladder.term_ms = facts->stop_term_ms;
    return config;
}

static uint64_t later(const dx_child *child, uint64_t ms) {
    return dx__loop_later(child->thing.loop, ms);
}

static void set_due(dx_child *child) {
    uint64_t when = child->ladder_at < child->drain_at ? child->ladder_at : child->drain_at;
    dx__due_set(child->thing.loop, &child->due, when);
}

static void signal_group(const dx_child *child, int number) {
    if (child->is_gone || !dx__loop_is_ours(child->thing.loop))
        return;
    if (!child->exited)
        dx__process_signal(&child->process, number);
    dx__process_signal_group(&child->process, number);
}

/* The standard error. */

static void keep_tail(dx_child *child, const char *bytes, size_t len) {
    dx_buf *tail = &child->tail;
    size_t max = child->config.errors_max;
    if (len > max) {
        bytes += len - max;
        len = max;
    }
    if (tail->len + len > max) {
        size_t drop = tail->len + len - max;
        memmove(tail->data, tail->data + drop, tail->len - drop);
        tail->len -= drop;
    }
    (void)dx_buf_append(tail, bytes, len); /* without memory a piece is missing, no more */
}

static void end_line(dx_child *child) {
    dx_text line = {child->line.data, child->line.len};
    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    child->line.len = 0;
    if (!child->freed && child->config.on_errors)
        child->config.on_errors(child, line, child->config.user);
}

static void cut_lines(dx_child *child, const char *bytes, size_t len) {
    while (len && child->config.on_errors && !child->freed) {
        const char *newline = memchr(bytes, '\n', len);
        size_t part = newline ? (size_t)(newline - bytes) : len;
        if (part > LINE - child->line.len) {
            part = LINE - child->line.len;
            newline = NULL;
        }
        (void)dx_buf_append(&child->line, bytes, part);
        if (newline || child->line.len == LINE)
            end_line(child);
        part += newline != NULL;
        bytes += part;
        len -= part;
    }
}

static void read_errors(dx_child *child, int most) {
    char piece[PIECE];
    while (most-- > 0 && child->errors.fd >= 0) {
        ssize_t n = read(child->errors.fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            dx__watch_close(&child->errors);
            if (child->line.len)
                end_line(child);
            return;
        }
        keep_tail(child, piece, (size_t)n);
        cut_lines(child, piece, (size_t)n);
    }
}

/* The end. */

/* What a shell or `env` exits with instead of running the program. */
bool dx__child_never_ran(const dx_child *child) {
    return child->status_known && child->status.si_code == CLD_EXITED && !child->has_spoken &&
           (child->status.si_status == 126 || child->status.si_status == 127);
}

/* One line about how it ended, with what its standard error says about it. */
__attribute__((cold, noinline)) static void describe(const dx_child *child, dx_error *error) {
    const siginfo_t *status = &child->status;
    bool by_signal = child->status_known && status->si_code != CLD_EXITED;
    dx__error_set(error, by_signal ? DX_FAULT_KILLED : DX_FAULT_EXITED, 0,
                  (uint64_t)status->si_status, 0);
    dx__line line = {error->phrase, strlen(error->phrase), sizeof error->phrase};
    if (!child->status_known) {
        line = dx__line_on(error->phrase, sizeof error->phrase);
        dx__line_str(&line, child->survived ? "the program cannot be killed"
                                            : "the program exited and was reaped elsewhere");
    }
    if (dx__child_never_ran(child))
        dx__line_str(&line, status->si_status == 127 ? " (command not found)"
                                                     : " (command cannot be executed)");
    dx_text said = {child->tail.data ? child->tail.data : "", child->tail.len};
    said = dx__crash_line(said);
    if (said.len)
        dx__line_str(&line, "; stderr: ");
    char text[sizeof error->phrase];
    size_t len = said.len < sizeof text ? said.len : sizeof text;
    for (size_t i = 0; i < len; i++)
        text[i] = said.at[i] == '\n' ? ' ' : said.at[i];
    dx__say(error->phrase, sizeof error->phrase, (dx_text){text, len});
}

/* False if it lives on in spite of SIGKILL. */
static bool wait_for_exit(const dx_child *child) {
    return !dx__loop_is_ours(child->thing.loop) ||
           dx__process_reap(&child->process, child->survived ? 0 : KILL_MS);
}

static void reap(dx_child *child) {
    if (child->process.pidfd < 0)
        return;
    signal_group(child, SIGKILL);
    if (wait_for_exit(child) && !child->config.no_guardian)
        dx__guardian_remove(child->thing.loop, child->process.pid);
    dx__watch_stop(&child->exit);
    close(child->process.pidfd);
    child->process.pidfd = -1;
    close(child->process.in_other);
}

static void tell_gone(dx_child *child) {
    dx_gone gone = {.stopped = child->stopping, .escaped = child->escaped};
    dx__gone_set(&gone, child->status_known, &child->status);
    gone.broken = child->broken;
    gone.errors = (dx_text){child->tail.data ? child->tail.data : "", child->tail.len};
    if (child->survived || (!child->stopping && (!gone.known || gone.code || gone.signal)))
        describe(child, &gone.error);
    if (child->config.on_gone)
        child->config.on_gone(child, &gone, child->config.user);
}

/* It has exited, and its output has ended or is no longer waited for. In this order: the group
 * dies, what it still said is read, pending calls end, its number is given back, and `gone` comes.
 */
static void be_gone(dx_child *child) {
    if (child->is_going)
        return;
    child->is_going = true;
    dx_error why;
    child->escaped =
        child->survived || !(child->output_ended || child->link_ended) || child->errors.fd >= 0;
    signal_group(child, SIGKILL);
    read_errors(child, 1 << 10);
    dx_link *link = child->link;
    child->has_spoken = link && dx__link_has_spoken(link);
    describe(child, &why);
    if (link && !child->freed)
        dx__link_finish_now(link, &why);
    if (link)
        dx__link_broke(link, &child->broken);
    dx__watch_close(&child->errors);
    reap(child);
    child->is_gone = true;
    child->link = NULL;
    dx__due_set(child->thing.loop, &child->due, DX_NEVER);
    dx_link_free(link);
    if (!child->freed)
        tell_gone(child);
}

static void check_gone(dx_child *child) {
    if (child->exited && (child->output_ended || child->link_ended) && child->errors.fd < 0)
        be_gone(child);
}

/* Seen, not reaped: the number of its group stays ours until that is dead. */
static bool exit_ready(dx__watch *watch, uint32_t events) {
    dx_child *child = DX__OWNER(watch, dx_child, exit);
    (void)events;
    if (child->exited ||
        !dx__process_has_exited(&child->process, &child->status, &child->status_known))
        return false;
    child->exited = true;
    child->ladder_at = DX_NEVER;
    child->drain_at = later(child, child->config.drain_ms);
    dx__watch_stop(watch); /* the descriptor is needed for the reaping */
    read_errors(child, 1 << 10);
    if (child->freed)
        return true;
    set_due(child);
    check_gone(child);
    return true;
}

static bool errors_ready(dx__watch *watch, uint32_t events) {
    dx_child *child = DX__OWNER(watch, dx_child, errors);
    (void)events;
    read_errors(child, 2); /* many short lines take their time */
    if (!child->freed)
        check_gone(child);
    return true;
}

/* The ladder. */

static void step_to(dx_child *child, enum step step);

static void after_farewell(dx_link *link, const dx_event *event, void *user) {
    dx_child *child = user;
    (void)link;
    (void)event;
    if (child->step == FAREWELL && !child->freed)
        step_to(child, CLOSING);
}

static bool say_farewell(dx_child *child) {
    const dx_ladder *ladder = &child->config.ladder;
    if (!ladder->farewell_call || child->link_ended || !dx__link_has_spoken(child->link))
        return false;
    dx_link_call_options options = {.on_done = after_farewell};
    options.peer.timeout_ms = ladder->farewell_ms;
    options.peer.no_cancel = 1;
    options.peer.user = child;
    dx_text params = dx_str(ladder->farewell_params);
    return dx_link_call(child->link, dx_str(ladder->farewell_call),
                        dx_json_text(params.at, params.len), &options, NULL) == DX_OK;
}

/* Each step follows when the time of the one before is over. */
static void step_to(dx_child *child, enum step step) {
    const dx_ladder *ladder = &child->config.ladder;
    if (step == FAREWELL && !say_farewell(child))
        step = CLOSING;
    child->step = step;
    switch (step) {
    case RUNNING:
        break;
    case FAREWELL:
        child->ladder_at = later(child, ladder->farewell_ms);
        break;
    case CLOSING:
        if (ladder->farewell_notify && !child->link_ended && dx__link_has_spoken(child->link))
            (void)dx_link_notify(child->link, dx_str(ladder->farewell_notify), dx_json_none());
        if (!child->link_ended)
            dx__link_half_close(child->link);
        child->ladder_at = later(child, ladder->close_ms);
        break;
    case TERMINATING:
        signal_group(child, SIGTERM);
        child->ladder_at = later(child, ladder->term_ms);
        break;
    case KILLING:
        signal_group(child, SIGKILL);
        child->ladder_at = later(child, KILL_MS);
        break;
    }
    set_due(child);
}

/* It closed its output and lives on. */
static void give_up_talking(dx_child *child) {
    dx_error why;
    dx__error_set(&why, DX_FAULT_ENDED, 0, 0, 0);
    child->drain_at = DX_NEVER;
    if (!child->link_ended)
        dx__link_finish_now(child->link, &why);
}

/* Most often it has exited, or is about to, and that is the better reason to tell. */
static void output_ended(void *owner) {
    dx_child *child = owner;
    child->output_ended = true;
    if (child->exited) {
        check_gone(child);
        return;
    }
    child->drain_at = later(child, child->config.drain_ms);
    set_due(child);
}

static void on_due(dx__due *due) {
    dx_child *child = DX__OWNER(due, dx_child, due);
    uint64_t now = child->thing.loop->now;
    if (child->drain_at <= now && child->exited && child->group_killed) {
        be_gone(child);
        return;
    }
    if (child->drain_at <= now && child->exited) {
        /* Somebody holds its output: whoever of its group it is will not do so for long. */
        child->group_killed = true;
        signal_group(child, SIGKILL);
        child->drain_at = later(child, child->config.drain_ms);
        set_due(child);
        return;
    }
    if (child->ladder_at <= now && child->step == KILLING) {
        child->survived = true;
        be_gone(child);
        return;
    }
    if (child->drain_at <= now)
        give_up_talking(child);
    if (child->freed)
        return;
    if (child->ladder_at <= now)
        step_to(child, child->step + 1);
    set_due(child);
}

void dx__child_kill(dx_child *child) {
    if (!child->exited)
        step_to(child, KILLING);
}

/* The time of a step begins when it is taken, and that is in a dispatch. */
static void on_turn(dx__turn *turn) {
    dx_child *child = DX__OWNER(turn, dx_child, turn);
    if (child->step == RUNNING && !child->exited)
        step_to(child, FAREWELL);
    else
        check_gone(child);
}

void dx_child_stop(dx_child *child) {
    /* Whoever stops it because a call was lost comes too late: it has ended by itself. */
    if (child->stopping || child->is_going)
        return;
    child->stopping = true;
    dx__turn_want(child->thing.loop, &child->turn);
}

/* The conversation ended by itself: without it the child is of no use. */
static void too_late(void *owner) {
    dx__child_kill(owner);
}

static void link_closed(void *owner, const dx_error *why) {
    dx_child *child = owner;
    child->link_ended = true;
    if (child->exited) {
        check_gone(child);
    } else if (child->step == RUNNING) {
        step_to(child, CLOSING);
        if (child->config.on_closed && !child->stopping && !child->freed)
            child->config.on_closed(child, why, child->config.user);
    }
}

/* Whoever frees it has no more to say, and wants to hear no more of it: the same end, without a
 * word about it. */
static void link_freed(void *owner) {
    dx_child *child = owner;
    child->link = NULL;
    child->link_ended = true;
    if (!child->freed && !child->is_gone)
        dx__turn_want(child->thing.loop, &child->turn);
}

/* Birth and death. */

static void release(dx__thing *thing) {
    dx_child *child = DX__OWNER(thing, dx_child, thing);
    dx_allocator alloc = thing->loop->alloc;
    dx_buf_done(&child->tail);
    dx_buf_done(&child->line);
    dx__free(&alloc, child);
}

dx_child *dx_child_free(dx_child *child) {
    if (!child || child->freed)
        return NULL;
    child->freed = true;
    if (!child->is_gone) {
        signal_group(child, SIGKILL);
        dx__watch_close(&child->errors);
        dx_link_free(child->link);
        reap(child);
        child->is_gone = true;
    }
    child->link = NULL;
    dx__turn_drop(child->thing.loop, &child->turn);
    dx__due_done(child->thing.loop, &child->due);
    dx__thing_end(&child->thing);
    return NULL;
}

static void kill_child(dx__thing *thing) {
    dx_child_free(DX__OWNER(thing, dx_child, thing));
}

static void guard(dx__thing *thing) {
    const dx_child *child = DX__OWNER(thing, dx_child, thing);
    if (!child->is_gone && !child->config.no_guardian)
        dx__guardian_add(thing->loop, child->process.pid);
}

static dx_status watch_process(dx_child *child, dx_error *reterr) {
    dx_loop *loop = child->thing.loop;
    struct dx__process *process = &child->process;
    struct dx__link_owner owner = {
        .closed = link_closed,
        .freed = link_freed,
        .input_ended = output_ended,
        .too_late = too_late,
        .owner = child,
        .never_breaks = true,
    };
    child->config.link.on_closed = NULL; /* the end that counts is on_gone */
    if (fcntl(process->errors, F_SETFL, O_NONBLOCK) < 0)
        return dx__system_error(reterr, DX_FAULT_START, "watch", child->config.argv[0], errno);
    dx_status status = dx__link_new(loop, process->out, process->in, &child->config.link, &owner,
                                    &child->link, reterr);
    if (status != DX_OK)
        return status;
    if (dx__watch_start(loop, &child->exit, process->pidfd, EPOLLIN) != DX_OK ||
        dx__watch_start(loop, &child->errors, process->errors, EPOLLIN) != DX_OK)
        return dx__system_error(reterr, DX_FAULT_START, "watch", child->config.argv[0], errno);
    return DX_OK;
}

dx_status dx_child_start(dx_loop *loop, const dx_child_config *config, dx_child **ret_child,
                         dx_error *reterr) {
    if (!config->argv || !config->argv[0])
        return dx__refused(reterr, DX_ERR_INVALID, "start a child without a command");
    dx_child *child = dx__malloc(&loop->alloc, sizeof *child);
    if (!child)
        return dx__refused(reterr, DX_ERR_NOMEM, "start a child");
    *child = (dx_child){.config = *config, .ladder_at = DX_NEVER, .drain_at = DX_NEVER};
    child->thing =
        (dx__thing){.loop = loop, .release = release, .kill = kill_child, .guard = guard};
    child->thing.process = &child->process;
    child->exit = (dx__watch){.fd = -1, .ready = exit_ready};
    child->errors = (dx__watch){.fd = -1, .ready = errors_ready};
    child->turn.take = on_turn;
    dx_buf_init(&child->tail, config->errors_max, &loop->alloc);
    dx_buf_init(&child->line, LINE, &loop->alloc);
    dx_status status = dx__due_init(loop, &child->due, on_due);
    if (status != DX_OK) {
        dx__free(&loop->alloc, child);
        return dx__refused(reterr, status, "start a child");
    }
    status = dx__spawn(loop, config, NULL, &child->process, reterr);
    if (status != DX_OK) {
        dx__due_done(loop, &child->due);
        dx__free(&loop->alloc, child);
        return status;
    }
    guard(&child->thing);
    dx__thing_add(loop, &child->thing);
    status = watch_process(child, reterr);
    if (status != DX_OK) {
        if (!child->link) {
            close(child->process.in);
            close(child->process.out);
        }
        if (child->errors.fd < 0)
            close(child->process.errors);
        dx_child_free(child);
        return status;
    }
    *ret_child = child;
    return DX_OK;
}

dx_link *dx_child_link(const dx_child *child) {
    return child->link;
}

pid_t dx_child_pid(const dx_child *child) {
    return child->process.pid;
}

void *dx_child_user(const dx_child *child) {
    return child->config.user;
}
