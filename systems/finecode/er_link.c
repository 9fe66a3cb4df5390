/* The conversation with the manager: pipes, or a port of the loopback address. */
#include "systems/finecode/er_parts.h"

#include <errno.h>
#include <unistd.h>

static void on_time(dx_timer *timer, void *user) {
    (void)timer;
    dx_finecode_er *er = user;
    uint64_t now = dx_loop_now(er->loop);
    uint64_t next = DX_NEVER;
    er->timer_due = DX_NEVER;
    dx__finecode_er_hold(er);
    for (dx__finecode_er_run *run = er->first_run; run; run = er->cursor) {
        er->cursor = run->next_run;
        if (run->due <= now)
            dx__finecode_er_run_tick(run);
    }
    for (dx__finecode_er_run *run = er->first_run; run; run = run->next_run)
        next = run->due < next ? run->due : next;
    dx__finecode_er_wake(er, next);
    dx__finecode_er_release(er);
}

void dx__finecode_er_wake(dx_finecode_er *er, uint64_t at) {
    if (!er->timer || at >= er->timer_due)
        return;
    uint64_t now = dx_loop_now(er->loop);
    er->timer_due = at;
    dx_timer_set(er->timer, at > now ? at - now : 0);
}

/* One that quits closes both directions at once, and then it is chance which end is noticed first.
 */
static bool is_plain_end(const dx_error *why) {
    return why->fault == DX_FAULT_NONE ||
           (why->fault == DX_FAULT_SYSTEM && (why->system == EPIPE || why->system == ECONNRESET));
}

/* The conversation is over, or will never begin. */
static void leave(dx_finecode_er *er, int code) {
    dx__finecode_er_hold(er);
    er->code = code;
    er->is_done = true;
    er->listener = dx_listener_free(er->listener);
    er->waiting = dx_timer_free(er->waiting);
    er->link = dx_link_free(er->link);
    dx__finecode_er_raw_done(er);
    dx__finecode_er_questions_lost(er);
    dx__finecode_er_runs_over(er);
    er->timer = dx_timer_free(er->timer);
    if (er->runs)
        dx_loop_stop(er->loop);
    if (!er->freed && er->config.on_left)
        er->config.on_left(er, code, er->config.user);
    dx__finecode_er_release(er);
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    bool plain = er->leaving || is_plain_end(why);
    if (!plain && er->config.on_violation)
        er->config.on_violation(er, why->phrase, er->config.user);
    if (!er->freed)
        leave(er, plain ? 0 : 1);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_finecode_er *er = user;
    char stray[200] = "text that is not JSON-RPC: ";
    if (event->kind == DX_EVENT_CANCEL) {
        dx__finecode_er_run_cancel(er, event->request);
    } else if (event->kind == DX_EVENT_VIOLATION && er->config.on_violation) {
        er->config.on_violation(er, event->error.phrase, er->config.user);
    } else if (event->kind == DX_EVENT_STRAY && er->config.on_violation) {
        dx__say(stray, sizeof stray, event->message);
        er->config.on_violation(er, stray, er->config.user);
    } else if (event->kind == DX_EVENT_REQUEST) {
        (void)dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
    }
}

/* Nothing of an earlier conversation counts in a new one. */
static void start_anew(dx_finecode_er *er) {
    dx__finecode_er_setup_release(er->setup);
    er->setup = NULL;
    dx__finecode_documents_done(&er->documents);
    dx__finecode_documents_init(&er->documents, &er->alloc);
    er->leaving = er->forwards = er->is_done = false;
    er->run_count = 0;
}

static dx_status prepare(dx_finecode_er *er, dx_loop *loop, bool is_real, dx_error *reterr) {
    if (er->link || er->listener)
        return dx__finecode_fail(reterr, "the runner is already open", "");
    if (er->config.revision)
        is_real = strcmp(er->config.revision, "real") == 0;
    er->loop = loop;
    er->is_real = is_real;
    er->timer = dx_timer_free(er->timer);
    er->timer_due = DX_NEVER;
    dx_status status = dx__finecode_er_protocol_open(er, is_real);
    if (status == DX_OK)
        status = dx_timer_new(loop, on_time, er, &er->timer);
    if (status != DX_OK) {
        (void)dx__finecode_fail(
            reterr, status == DX_ERR_NOMEM ? "out of memory" : "the protocol finecode is missing",
            "");
        return status;
    }
    start_anew(er);
    return DX_OK;
}

static dx_link_config link_config(dx_finecode_er *er) {
    dx_link_config config = dx_link_for(er->protocol, DX_SIDE_PLUGIN);
    config.peer.allocator = &er->alloc;
    config.handlers = dx__finecode_er_handlers;
    config.on_event = on_event;
    config.on_closed = on_closed;
    config.user = er;
    config.recorder = er->config.recorder;
    config.name = "manager";
    return config;
}

dx_status dx_finecode_er_open(dx_finecode_er *er, dx_loop *loop, int in, int out,
                              dx_error *reterr) {
    dx_status status = prepare(er, loop, false, reterr);
    if (status != DX_OK)
        return status;
    dx_link_config config = link_config(er);
    return dx_link_open(loop, in, out, &config, &er->link, reterr);
}

dx_status dx__finecode_er_open_stdio(dx_finecode_er *er, dx_loop *loop, dx_error *reterr) {
    dx_status status = prepare(er, loop, false, reterr);
    if (status != DX_OK)
        return status;
    dx_link_config config = link_config(er);
    return dx_link_stdio(loop, &config, &er->link, reterr);
}

/* The first one is served, and nobody else can connect any more. */
static void on_connect(dx_listener *listener, int fd, void *user) {
    dx_finecode_er *er = user;
    dx_link_config config = link_config(er);
    if (dx_link_open(er->loop, fd, fd, &config, &er->link, NULL) != DX_OK) {
        close(fd);
        return;
    }
    er->listener = dx_listener_free(listener);
    er->waiting = dx_timer_free(er->waiting);
}

static void on_refused(dx_listener *listener, const char *why, void *user) {
    dx_finecode_er *er = user;
    (void)listener;
    if (er->config.on_violation)
        er->config.on_violation(er, why, er->config.user);
}

static void on_nobody(dx_timer *timer, void *user) {
    (void)timer;
    dx_finecode_er *er = user;
    if (er->config.on_violation)
        er->config.on_violation(er, "no client connected", er->config.user);
    if (!er->freed)
        leave(er, 1);
}

dx_status dx_finecode_er_listen(dx_finecode_er *er, dx_loop *loop, unsigned *ret_port,
                                dx_error *reterr) {
    dx_listener_config config = {.on_connect = on_connect,
                                 .on_refused = on_refused,
                                 .user = er,
                                 .framing = DX_FRAMING_HEADER,
                                 .any_user = er->config.any_user};
    dx_status status = prepare(er, loop, true, reterr);
    if (status == DX_OK && dx_timer_new(loop, on_nobody, er, &er->waiting) != DX_OK) {
        (void)dx__finecode_fail(reterr, "out of memory", "");
        return DX_ERR_NOMEM;
    }
    if (status == DX_OK)
        status = dx_listener_open(loop, "tcp:0", &config, &er->listener, reterr);
    if (status != DX_OK) {
        er->waiting = dx_timer_free(er->waiting);
        return status;
    }
    dx_timer_set(er->waiting, er->config.connect_ms);
    *ret_port = dx_listener_port(er->listener);
    return DX_OK;
}
