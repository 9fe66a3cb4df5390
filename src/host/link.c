#include "base/alloc.h"
#include "base/line.h"
#include "base/map.h"
#include "host/host.h"
#include "peer/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* One read; how many reads before others have their turn; how much output before it is written in
 * the middle of a turn; how many reads at the end, for what is still on its way. */
enum { PIECE = 64 << 10, READS = 16, GATHER = 6 << 10, REST = 1 << 10 };
/* How often reading again at once is not tried after it was in vain. */
enum { HOLD_OFF = 31 };
/* From when on a message is large, and how wide its pipe then is. */
enum { LARGE = 256 << 10, WIDE = 1 << 20 };
/* When what failed for lack of memory is tried again. */
enum { RETRY_MS = 10 };
/* In one dispatch a link works so long and then others have their turn. It looks at the clock after
 * so many events or bytes. A large message is scanned in steps of this length; so much is written
 * in one go. */
enum { SLICE_US = 1000, LOOK_EVENTS = 32, LOOK_BYTES = 64 << 10, STEP = 64 << 10, BURST = 1 << 20 };

struct dx_link {
    dx__thing thing;
    dx_link_config config;
    dx_peer *peer;
    dx__watch in;
    uint32_t in_events; /* what it is watched for while there is room */
    dx__watch out;
    dx__due due;
    dx__turn turn;
    dx__map handlers;
    const dx_handler *usual; /* the last one, whose method has so many bytes */
    size_t usual_len;
    struct dx__link_owner owner;
    uint64_t give_up_at; /* when what can't be sent is given up, or DX_NEVER */
    uint64_t unread_at;  /* when it is told that the peer does not read, or DX_NEVER */
    bool reading;
    bool out_is_socket;
    bool out_is_silent; /* a plain write() raises no SIGPIPE */
    bool in_is_left;    /* reading ended before all was read, and nobody will tell us again */
    bool is_left;       /* so did handing out */
    bool in_is_wide;
    bool out_is_wide;
    bool masked;      /* the kernel can't write without SIGPIPE: see write_masked() */
    bool half_closed; /* the output goes when it is empty */
    bool closing;     /* so does the conversation */
    bool over;        /* the peer has said its last word */
    bool told;        /* … and so have we */
    bool freed;
    bool unread_told;
    bool unwatched;    /* there was no memory for being told when more can be written */
    unsigned hold_off; /* so many times more, reading again at once is not tried */
    unsigned events;   /* since the clock was looked at … */
    size_t bytes;
    uint64_t slice_end; /* … which was set to that, in us; 0: not yet */
    uint64_t slice_of;  /* the dispatch that it belongs to */
    bool spent;         /* it is over */
    char *first;        /* what was read before there was a link, and how much of it is taken */
    size_t first_len;
    size_t first_at;
    dx_error why;
};

/* What a call of ours comes back to. */
struct link_call {
    void (*on_done)(dx_link *link, const dx_event *event, void *user);
    void (*on_progress)(dx_link *link, const dx_event *event, void *user);
    void *user;
};

dx_link_config dx_link_defaults(dx_framing framing, dx_side side) {
    return (dx_link_config){.peer = dx_peer_defaults(framing, side), .drain_ms = 2000};
}

dx_link_config dx_link_for(dx_protocol *protocol, dx_side side) {
    dx_link_config config = dx_link_defaults(dx_protocol_facts_of(protocol)->framing, side);
    config.peer = dx_peer_for(protocol, side);
    return config;
}

/* Writing. */

/* A pipe whose reader is gone raises SIGPIPE, and whether that is fatal is not ours to change.
 * Linux 6.18 can be asked not to; before that, the signal is held back for this thread, and taken
 * away again if it came. */
static ssize_t write_masked(int fd, const char *bytes, size_t len) {
    sigset_t pipe_only;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    /* Only one that was held back before can be waiting, and that is somebody else's. */
    bool held = sigismember(&before, SIGPIPE);
    bool waiting = held && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE);
    ssize_t n = write(fd, bytes, len);
    int number = errno;
    if (n < 0 && number == EPIPE && !waiting) {
        struct timespec none = {0, 0};
        while (sigtimedwait(&pipe_only, NULL, &none) < 0 && errno == EINTR)
            ;
    }
    if (!held)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return n;
}

__attribute__((noinline)) ssize_t dx__write_quietly(int fd, dx_text bytes, bool *masked) {
    enum { NOSIGNAL = 0x100 }; /* RWF_NOSIGNAL, which older headers don't have */
    struct iovec piece = {(void *)(uintptr_t)bytes.at, bytes.len};
    if (!*masked) {
        ssize_t n = pwritev2(fd, &piece, 1, -1, NOSIGNAL);
        if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS))
            return n;
        *masked = true;
    }
    return write_masked(fd, bytes.at, bytes.len);
}

static ssize_t write_some(dx_link *link, dx_text bytes) {
    if (link->out_is_socket)
        return send(link->out.fd, bytes.at, bytes.len, MSG_NOSIGNAL);
    if (link->out_is_silent)
        return write(link->out.fd, bytes.at, bytes.len);
    return dx__write_quietly(link->out.fd, bytes, &link->masked);
}

/* For a socket, closing one of its two descriptors says nothing to the other side. */
static void close_output(dx_link *link) {
    if (link->out_is_socket && link->out.fd >= 0)
        shutdown(link->out.fd, SHUT_WR);
    dx__watch_close(&link->out);
}

static uint64_t later(const dx_link *link, uint64_t ms) {
    return dx__loop_later(link->thing.loop, ms);
}

static void give_up_after(dx_link *link, uint64_t ms) {
    if (link->give_up_at == DX_NEVER)
        link->give_up_at = later(link, ms);
}

/* What can't be written will never be. What was sent to us until now may still be read. */
__attribute__((cold, noinline)) static void output_broke(dx_link *link, int number) {
    dx__system_error(&link->why, DX_FAULT_SYSTEM, "write to the peer", NULL, number);
    dx__watch_close(&link->out);
    dx_peer_sent(link->peer, SIZE_MAX);
    link->give_up_at = later(link, 0);
}

/* Large messages go faster through larger pipes. What is no pipe, or may not be larger, stays as it
 * is. */
static void widen(int fd, bool *is_wide) {
    if (!*is_wide)
        (void)fcntl(fd, F_SETPIPE_SZ, WIDE);
    *is_wide = true;
}

static void flush(dx_link *link) {
    size_t written = 0;
    if (dx__out_waiting(link->peer) > LARGE)
        widen(link->out.fd, &link->out_is_wide);
    while (dx__out_waiting(link->peer) && written < BURST) {
        dx_text bytes = dx_peer_output(link->peer);
        if (link->out.fd < 0) {
            dx_peer_sent(link->peer, bytes.len);
            break;
        }
        ssize_t n = write_some(link, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN) {
            output_broke(link, errno);
            return;
        }
        if (n < 0)
            break;
        dx_peer_sent(link->peer, (size_t)n);
        written += (size_t)n;
        link->unread_at = DX_NEVER;
        link->unread_told = false;
    }
    bool waits = dx__out_waiting(link->peer) != 0;
    if (waits && link->unread_at == DX_NEVER && !link->unread_told)
        link->unread_at = later(link, link->config.peer.stall_ms);
    link->unwatched = !dx__watch_set(&link->out, waits ? EPOLLOUT : 0);
    if (!waits && link->half_closed)
        close_output(link);
}

/* Handing out. */

static const dx_handler *find_handler(dx_link *link, dx_text method) {
    if (link->usual && link->usual_len == method.len &&
        memcmp(link->usual->method, method.at, method.len) == 0)
        return link->usual;
    uint64_t hash = dx__hash(link->config.peer.seed, method);
    size_t cursor = 0;
    const dx_handler *handler;
    while ((handler = dx__map_find(&link->handlers, hash, &cursor)))
        if (strncmp(handler->method, method.at, method.len) == 0 && !handler->method[method.len]) {
            link->usual = handler;
            link->usual_len = method.len;
            return handler;
        }
    return NULL;
}

/* A call that is done has been given back, and the next one may take its place: hence the copy. */
static void on_call_event(dx_link *link, const dx_event *event) {
    struct link_call was = *(struct link_call *)event->user;
    /* The user shall see what the user gave. */
    ((dx_event *)(uintptr_t)event)->user = was.user;
    if (event->kind == DX_EVENT_DONE && was.on_done)
        was.on_done(link, event, was.user);
    if (event->kind == DX_EVENT_PROGRESS && was.on_progress)
        was.on_progress(link, event, was.user);
}

/* Some answers are so important to a protocol that who does not give them is ended. */
static bool is_too_late(const dx_link *link, const dx_event *event) {
    return event->kind == DX_EVENT_DONE && event->outcome == DX_OUTCOME_TIMED_OUT && event->rule &&
           event->rule->late[link->config.peer.side] == DX_LATE_KILL;
}

static void on_too_late(dx_link *link) {
    if (link->owner.too_late)
        link->owner.too_late(link->owner.owner);
    else
        link->give_up_at = later(link, 0);
}

static void on_event(dx_link *link, const dx_event *event) {
    const dx_handler *handler = NULL;
    bool late;
    switch (event->kind) {
    case DX_EVENT_DONE:
    case DX_EVENT_PROGRESS:
        late = is_too_late(link, event);
        on_call_event(link, event);
        if (late && !link->freed)
            on_too_late(link);
        return;
    case DX_EVENT_CLOSED:
        link->over = true;
        if (link->why.fault == DX_FAULT_NONE)
            link->why = event->error;
        return;
    case DX_EVENT_REQUEST:
    case DX_EVENT_NOTIFICATION:
        handler = find_handler(link, event->method);
        break;
    default:
        break;
    }
    if (handler)
        handler->handle(link, event, link->config.user);
    else if (link->config.on_event)
        link->config.on_event(link, event, link->config.user);
    else if (event->kind == DX_EVENT_REQUEST)
        dx_peer_refuse(link->peer, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
}

/* True if there is time left in this dispatch. */
static bool has_slice(dx_link *link) {
    if (link->slice_of == link->thing.loop->dispatches)
        return !link->spent;
    link->slice_of = link->thing.loop->dispatches;
    link->events = 0;
    link->bytes = 0;
    link->slice_end = 0;
    link->spent = false;
    return true;
}

/* Is it time for others? The clock is seldom looked at, so that short turns cost nothing. */
static bool is_slice_over(dx_link *link, size_t bytes) {
    link->bytes += bytes;
    if (++link->events < LOOK_EVENTS && link->bytes < LOOK_BYTES)
        return false;
    uint64_t now = dx__clock_us();
    link->events = 0;
    link->bytes = 0;
    if (!link->slice_end)
        link->slice_end = now + SLICE_US;
    link->spent = now >= link->slice_end;
    return link->spent;
}

/* Events, until there are none or the slice is over; with `all`, until there are none. False if the
 * link was freed in a callback. */
static bool hand_out(dx_link *link, bool all) {
    const dx_event *event;
    dx_status status = DX_AGAIN;
    if (link->peer->silent) {
        link->is_left = false;
        return true;
    }
    bool over = !has_slice(link) && !all;
    while (!over) {
        status = dx_peer_next(link->peer, &event);
        if (status != DX_OK && !(status == DX_AGAIN && link->peer->paused))
            break;
        size_t bytes = STEP;
        if (status == DX_OK) {
            bytes = event->message.len;
            on_event(link, event);
            if (link->freed)
                return false;
            if (dx__out_waiting(link->peer) >= GATHER)
                flush(link);
        }
        over = is_slice_over(link, bytes) && !all;
    }
    link->is_left = over;
    if (status == DX_ERR_NOMEM) /* again in a moment, when there may be some */
        dx__due_set(link->thing.loop, &link->due, link->thing.loop->now + RETRY_MS);
    return true;
}

__attribute__((cold, noinline)) static void tell_closed(dx_link *link) {
    dx__due_set(link->thing.loop, &link->due, DX_NEVER);
    dx__watch_close(&link->in);
    close_output(link);
    if (link->told)
        return;
    link->told = true;
    if (link->config.on_closed)
        link->config.on_closed(link, &link->why, link->config.user);
    if (link->owner.closed)
        link->owner.closed(link->owner.owner, &link->why);
}

static bool read_all(dx_link *link, int most, bool to_the_end);

__attribute__((cold, noinline)) static bool feed_rest_of_first(dx_link *link) {
    size_t used = 0;
    (void)dx_peer_feed(link->peer, link->first + link->first_at, link->first_len - link->first_at,
                       link->thing.loop->now, &used);
    link->first_at += used;
    return link->first_at == link->first_len;
}

/* What was read before comes before all that is read, but not before whoever opened the link has
 * had a chance to speak. True: all of it is taken. */
static bool feed_first(dx_link *link) {
    return link->first_at == link->first_len || feed_rest_of_first(link);
}

/* Nobody tells when there is more in a file: there is until it ends, so it is read bit by bit. */
static bool is_file_to_read(const dx_link *link) {
    return link->in.fd >= 0 && link->in.always_ready && link->in.events;
}

/* A message that is half here when we close is no fault of anybody's. */
__attribute__((cold, noinline)) static void finish(dx_link *link) {
    dx_error why = link->why;
    if (why.fault == DX_FAULT_NONE)
        dx__error_set(&why, DX_FAULT_NONE, 0, 0, 0);
    bool ours = link->closing || why.fault != DX_FAULT_NONE;
    dx_peer_finish(link->peer, ours ? &why : NULL, link->thing.loop->now);
}

/* Everything that follows from what happened: events out, bytes out, what next. */
static void take_turn(dx_link *link) {
    dx_loop *loop = link->thing.loop;
    if (link->freed || link->told)
        return;
    bool is_first_in = feed_first(link);
    if (!hand_out(link, false))
        return;
    flush(link);
    bool empty = !dx__out_waiting(link->peer);
    if (link->closing && empty && !link->over) {
        finish(link);
        if (!hand_out(link, false))
            return;
        flush(link);
    }
    if (link->over && empty) {
        tell_closed(link);
        return;
    }
    if (link->over || link->closing)
        give_up_after(link, link->config.drain_ms);
    bool watched = dx__watch_set(&link->in, dx__peer_is_full(link->peer) ? 0 : link->in_events);
    uint64_t deadline = dx_peer_deadline(link->peer);
    if (is_file_to_read(link) && loop->now < deadline)
        deadline = loop->now + 1;
    bool again = !watched || link->unwatched || link->in_is_left || !is_first_in;
    if (again && loop->now + RETRY_MS < deadline)
        deadline = loop->now + RETRY_MS;
    if (link->give_up_at < deadline)
        deadline = link->give_up_at;
    if (link->is_left && loop->now < deadline)
        deadline = loop->now + 1; /* which is over when the others have had their turn */
    dx__due_set(loop, &link->due, link->unread_at < deadline ? link->unread_at : deadline);
}

static void on_turn(dx__turn *turn) {
    take_turn(DX__OWNER(turn, dx_link, turn));
}

/* While input is read, what follows from it is done on the spot: see in_ready(). */
static void want_turn(dx_link *link) {
    if (!link->reading)
        dx__turn_want(link->thing.loop, &link->turn);
}

/* Once for each time it stops. False if the link was freed. */
static bool tell_unread(dx_link *link) {
    dx_event event = {.kind = DX_EVENT_VIOLATION};
    dx__error_set(&event.error, DX_FAULT_UNREAD, 0, dx_peer_output(link->peer).len,
                  link->config.peer.stall_ms);
    link->unread_at = DX_NEVER;
    link->unread_told = true;
    if (link->config.on_event)
        link->config.on_event(link, &event, link->config.user);
    return !link->freed;
}

static void on_due(dx__due *due) {
    dx_link *link = DX__OWNER(due, dx_link, due);
    uint64_t now = link->thing.loop->now;
    /* What came in time counts, even where nobody tells of it: a file, a pipe in packet mode. */
    bool untold = link->in.always_ready || link->in_is_left || link->in_events & EPOLLET;
    if (link->in.events && (untold || now >= link->give_up_at))
        read_all(link, now >= link->give_up_at ? REST : READS, true);
    if (link->freed)
        return;
    dx_peer_tick(link->peer, now);
    if (now >= link->unread_at && !tell_unread(link))
        return;
    if (now >= link->give_up_at) {
        dx_peer_sent(link->peer, SIZE_MAX);
        finish(link);
    }
    want_turn(link);
}

/* Recording. */

static void record(void *user, int out, dx_text text, size_t framed) {
    const dx_link *link = user;
    const dx_link_config *config = &link->config;
    bool by_host = (config->peer.side == DX_SIDE_HOST) == (out != 0);
    dx_trace_record record = {
        .kind = DX_TRACE_MESSAGE,
        .from = by_host ? DX_TRACE_HOST : DX_TRACE_PLUGIN,
        .time_us = dx_recorder_now_us(),
        .peer = dx_str(config->name),
        .run = config->run,
        .bytes = framed,
        .text = text,
        .checked = out,
    };
    (void)dx_recorder_write(config->recorder, &record);
    if (config->peer.observe)
        config->peer.observe(config->peer.observe_user, out, text, framed);
}

/* Reading. */

/* Whoever wants to speak on after the end of the input is told of it instead. A newline brings out
 * a last line that has none, and means nothing else. */
static void tell_ended(dx_link *link) {
    if (link->peer->config.framing == DX_FRAMING_LINE)
        (void)dx_peer_feed(link->peer, "\n", 1, link->thing.loop->now, NULL);
    if (hand_out(link, true) && !link->over && !link->closing)
        link->config.on_ended(link, link->config.user);
}

__attribute__((cold, noinline)) static void input_ended(dx_link *link, int number) {
    dx_error why;
    dx__watch_close(&link->in);
    if (link->owner.input_ended) {
        link->owner.input_ended(link->owner.owner);
        return;
    }
    if (link->config.on_ended && !number) {
        tell_ended(link);
        return;
    }
    if (number)
        dx__system_error(&why, DX_FAULT_SYSTEM, "read from the peer", NULL, number);
    dx_peer_finish(link->peer, number ? &why : NULL, link->thing.loop->now);
}

/* Reads until there should be nothing more (or, to the end, until that is sure), the link is full,
 * or others should have their turn. False if nothing came. */
static bool read_all(dx_link *link, int most, bool to_the_end) {
    bool came = false;
    bool again = false; /* there may well be nothing */
    bool whole = most > READS;
    if (!feed_first(link)) {
        link->in_is_left = true;
        return false;
    }
    bool is_over = !has_slice(link) && !whole;
    if (is_over || (link->is_left && (!hand_out(link, whole) || link->is_left))) {
        link->in_is_left = true;
        return !is_over;
    }
    while (most-- > 0 && link->in.fd >= 0) {
        link->in_is_left = true;
        void *room;
        size_t len;
        size_t missing = dx__peer_missing(link->peer);
        if (missing > LARGE)
            widen(link->in.fd, &link->in_is_wide);
        /* What a header promises is not made room for before it comes. */
        size_t want = missing < PIECE ? PIECE : missing < WIDE ? missing : WIDE;
        if (dx_peer_reserve(link->peer, want, &room, &len) != DX_OK)
            return came;
        ssize_t n = read(link->in.fd, room, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            link->hold_off = again ? HOLD_OFF : link->hold_off;
            link->in_is_left = false;
            return came;
        }
        came = true;
        if (n <= 0) {
            input_ended(link, n < 0 ? errno : 0);
            break;
        }
        uint64_t before = link->peer->stats.messages_in;
        dx_peer_commit(link->peer, (size_t)n, link->thing.loop->now);
        if (!hand_out(link, whole))
            break;
        flush(link);
        if (!whole && (link->is_left || is_slice_over(link, (size_t)n)))
            return true;
        /* That was all, as a rule. But in the middle of a message the rest is near; and where
         * several come at once, the next are often here already: looking is cheaper than being
         * told. */
        again = (size_t)n < len;
        uint64_t got = link->peer->stats.messages_in - before;
        if (!again || to_the_end || !got || (got > 1 && !link->hold_off))
            continue;
        link->hold_off -= got > 1;
        link->in_is_left = false;
        break;
    }
    return came;
}

/* Most often everything was handed out, answered and sent; and a time that is set too early does no
 * harm. */
static bool has_more_to_do(const dx_link *link) {
    return link->closing || link->half_closed || link->over || link->in.fd < 0 ||
           link->in_is_left || link->is_left || link->give_up_at != DX_NEVER ||
           dx__out_waiting(link->peer) || dx__peer_is_full(link->peer) ||
           dx_peer_deadline(link->peer) < link->due.timer.when || !link->due.timer.place;
}

static bool in_ready(dx__watch *watch, uint32_t events) {
    dx_link *link = DX__OWNER(watch, dx_link, in);
    link->reading = true;
    bool came = read_all(link, READS, events & (EPOLLHUP | EPOLLERR));
    link->reading = false;
    if (link->in_is_left && !link->freed)
        link->in_is_left = !dx__watch_again(watch);
    if (!link->freed && (came ? has_more_to_do(link) : dx__peer_is_full(link->peer)))
        want_turn(link);
    return came;
}

static bool out_ready(dx__watch *watch, uint32_t events) {
    dx_link *link = DX__OWNER(watch, dx_link, out);
    if (events & (EPOLLERR | EPOLLHUP) && dx__out_waiting(link->peer))
        output_broke(link, EPIPE); /* nobody reads any more */
    want_turn(link);
    return true;
}

/* Birth and death. */

static void release(dx__thing *thing) {
    dx_link *link = DX__OWNER(thing, dx_link, thing);
    dx_allocator alloc = thing->loop->alloc;
    dx_peer_free(link->peer);
    dx__map_done(&link->handlers);
    dx__free(&alloc, link->first);
    dx__free(&alloc, link);
}

static void stop(dx_link *link) {
    dx_loop *loop = link->thing.loop;
    link->freed = true;
    dx__watch_close(&link->in);
    dx__watch_close(&link->out);
    dx__turn_drop(loop, &link->turn);
    dx__due_done(loop, &link->due);
}

dx_link *dx_link_free(dx_link *link) {
    if (link && !link->freed) {
        stop(link);
        if (link->owner.freed)
            link->owner.freed(link->owner.owner);
        dx__thing_end(&link->thing);
    }
    return NULL;
}

static void kill_link(dx__thing *thing) {
    dx_link_free(DX__OWNER(thing, dx_link, thing));
}

static dx_status add_handlers(dx_link *link) {
    for (const dx_handler *row = link->config.handlers; row && row->method; row++) {
        if (dx__map_reserve(&link->handlers) != DX_OK)
            return DX_ERR_NOMEM;
        dx__map_put(&link->handlers, dx__hash(link->config.peer.seed, dx_str(row->method)),
                    (void *)(uintptr_t)row);
    }
    return DX_OK;
}

static bool set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) >= 0;
}

bool dx__ignores_sigpipe(void) {
    struct sigaction action;
    return sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static dx_status start(dx_link *link, int in, int out, dx_error *reterr) {
    dx_loop *loop = link->thing.loop;
    struct stat stat;
    link->out_is_socket = fstat(out, &stat) == 0 && S_ISSOCK(stat.st_mode);
    link->out_is_silent = link->owner.never_breaks || dx__ignores_sigpipe();
    /* A pipe that gave less than was asked for is empty, and need not be looked at again. */
    bool is_pipe = fstat(in, &stat) == 0 && S_ISFIFO(stat.st_mode);
    link->in_events = is_pipe ? EPOLLIN | EPOLLET : EPOLLIN;
    if (!set_nonblocking(in) || !set_nonblocking(out) ||
        dx__watch_start(loop, &link->in, in, link->in_events) != DX_OK)
        return dx__system_error(reterr, DX_FAULT_SYSTEM, "watch a descriptor", NULL, errno);
    if (dx__watch_start(loop, &link->out, out, 0) != DX_OK) {
        int number = errno;
        dx__watch_stop(&link->in);
        return dx__system_error(reterr, DX_FAULT_SYSTEM, "watch a descriptor", NULL, number);
    }
    return DX_OK;
}

/* A pair of sockets, which has no addresses, is as good as two pipes: only the two programs that
 * hold it can write to it. */
static bool is_connection(int fd) {
    union dx__address ends[2] = {{.any = {0}}, {.any = {0}}};
    socklen_t lens[2] = {sizeof ends[0], sizeof ends[1]};
    return getsockname(fd, &ends[0].any, &lens[0]) == 0 &&
           getpeername(fd, &ends[1].any, &lens[1]) == 0 &&
           (ends[0].any.sa_family != AF_UNIX || lens[0] > sizeof(sa_family_t) ||
            lens[1] > sizeof(sa_family_t));
}

/* A request that was kept is dropped, maybe outside of any dispatch. */
static void spoke(void *user) {
    dx_link *link = user;
    if (!link->freed)
        want_turn(link);
}

dx_status dx__link_new(dx_loop *loop, int in, int out, const dx_link_config *config,
                       const struct dx__link_owner *owner, dx_link **ret, dx_error *reterr) {
    dx_link *link = dx__malloc(&loop->alloc, sizeof *link);
    if (!link)
        return dx__refused(reterr, DX_ERR_NOMEM, "make a link");
    *link = (dx_link){.config = *config, .give_up_at = DX_NEVER, .unread_at = DX_NEVER};
    link->thing = (dx__thing){.loop = loop, .release = release, .kill = kill_link};
    link->in = (dx__watch){.fd = -1, .may_be_hot = true, .ready = in_ready};
    link->out = (dx__watch){.fd = -1, .ready = out_ready};
    link->turn.take = on_turn;
    if (owner)
        link->owner = *owner;
    dx__map_init(&link->handlers, &loop->alloc);
    dx_status status = dx__due_init(loop, &link->due, on_due);
    if (status != DX_OK) {
        dx__free(&loop->alloc, link);
        return dx__refused(reterr, status, "make a link");
    }
    if (!link->config.peer.seed && getrandom(&link->config.peer.seed, 8, 0) != 8)
        link->config.peer.seed = dx__clock_us() ^ (uintptr_t)link;
    dx_peer_config peer = link->config.peer;
    /* Nobody prints into a connection by mistake, but a web page can have a browser send HTTP,
     * whose header passes as stray text and whose body may be a message. */
    if (is_connection(in))
        peer.lenient &= ~(unsigned)(DX_LENIENT_STRAY | DX_LENIENT_LONG_LINE | DX_LENIENT_FOLLOW);
    if (!peer.allocator)
        peer.allocator = &loop->alloc;
    if (config->recorder) {
        peer.observe = record;
        peer.observe_user = link;
    }
    /* One socket in two roles: two descriptors, so that each is watched for itself. */
    int second = in == out ? fcntl(out, F_DUPFD_CLOEXEC, 3) : out;
    status = second < 0
                 ? dx__system_error(reterr, DX_FAULT_SYSTEM, "copy a descriptor", NULL, errno)
                 : dx_peer_new(&peer, &link->peer);
    if (status == DX_OK) {
        link->peer->step = STEP;
        link->peer->spoke = spoke;
        link->peer->spoke_user = link;
        dx__calls_carry(link->peer, sizeof(struct link_call));
        status = add_handlers(link);
    }
    link->config.first = (dx_text){NULL, 0};
    if (status == DX_OK && config->first.len) {
        link->first = dx__text_copy(&loop->alloc, config->first);
        link->first_len = config->first.len;
        status = link->first ? DX_OK : DX_ERR_NOMEM;
    }
    if (status == DX_OK)
        status = start(link, in, second, reterr);
    if (status == DX_ERR_INVALID || status == DX_ERR_NOMEM)
        (void)dx__refused(reterr, status, "make a link with this configuration");
    if (status != DX_OK) {
        if (second != out && second >= 0)
            close(second);
        dx__due_done(loop, &link->due);
        release(&link->thing);
        return status;
    }
    dx__thing_add(loop, &link->thing);
    if (link->in.always_ready || config->first.len)
        want_turn(link);
    *ret = link;
    return DX_OK;
}

dx_status dx_link_open(dx_loop *loop, int in, int out, const dx_link_config *config,
                       dx_link **ret_link, dx_error *reterr) {
    return dx__link_new(loop, in, out, config, NULL, ret_link, reterr);
}

void dx_link_close(dx_link *link) {
    if (!link)
        return;
    link->closing = true;
    want_turn(link);
}

void dx__link_half_close(dx_link *link) {
    link->half_closed = true;
    want_turn(link);
}

void dx__link_finish_now(dx_link *link, const dx_error *why) {
    if (!link->over) {
        read_all(link, REST, true);
        if (link->freed)
            return;
        dx__watch_close(&link->in);
        dx_peer_finish(link->peer, why, link->thing.loop->now);
        link->why = *why;
    }
    if (hand_out(link, true))
        tell_closed(link);
}

bool dx__link_has_spoken(const dx_link *link) {
    dx_peer_stats stats = dx_peer_statistics(link->peer);
    return stats.results || stats.errors || stats.requests || stats.notifications;
}

/* A header block that has no Content-Length may as well be text that somebody printed last. */
static bool is_last_text(const dx_peer *peer) {
    const dx_framer *framer = &peer->framer;
    return peer->broke == DX_FAULT_TRUNCATED && !peer->broke_expected && framer->fields &&
           !framer->has_length;
}

void dx__link_broke(const dx_link *link, dx_error *ret_error) {
    const dx_peer *peer = link->peer;
    dx_fault fault = is_last_text(peer) ? DX_FAULT_NONE : peer->broke;
    dx__error_set(ret_error, fault, peer->frame.offset, peer->broke_found, peer->broke_expected);
}

/* Speaking. */

dx_loop *dx_link_loop(const dx_link *link) {
    return link ? link->thing.loop : NULL;
}

void *dx_link_user(const dx_link *link) {
    return link ? link->config.user : NULL;
}

size_t dx_link_waiting(const dx_link *link) {
    return link && !link->told ? dx__out_waiting(link->peer) : 0;
}

size_t dx_link_unread(const dx_link *link) {
    int count = 0;
    if (!link || link->told)
        return 0;
    if (link->out.fd < 0 ||
        ioctl(link->out.fd, link->out_is_socket ? SIOCOUTQ : FIONREAD, &count) != 0 || count < 0)
        count = 0;
    return dx_link_waiting(link) + (size_t)count;
}

dx_framing dx_link_framing(const dx_link *link) {
    if (!link)
        return (dx_framing)0;
    const dx_peer *peer = link->peer;
    /* The framer also reports another framing that the peer does not follow. */
    return peer->config.flags & DX_PEER_LINES_FIRST ? peer->framer.config.framing
                                                    : peer->config.framing;
}

dx_peer_stats dx_link_statistics(const dx_link *link) {
    return link ? dx_peer_statistics(link->peer) : (dx_peer_stats){0};
}

const dx_misfit *dx_link_why(const dx_link *link) {
    static const dx_misfit nothing = {{0}, {0}, {0}, {0}};
    return link ? dx_peer_why(link->peer) : &nothing;
}

static dx_status turned(dx_link *link, dx_status status) {
    if (status == DX_OK)
        want_turn(link);
    return status;
}

/* May anything be said? Not in a fork: what it sent would mix with what the original sends. */
static bool can_speak(const dx_link *link) {
    return link && !link->closing && !link->half_closed && dx__loop_is_ours(link->thing.loop);
}

/* Answers may still be given while the link closes. */
static bool can_answer(const dx_link *link) {
    return link && !link->told && dx__loop_is_ours(link->thing.loop);
}

dx_status dx_link_call(dx_link *link, dx_text method, dx_json params,
                       const dx_link_call_options *options, dx_call *ret_call) {
    if (!can_speak(link))
        return DX_CLOSED;
    dx__call *call;
    dx_status status = dx__call_new(link->peer, method, params, options ? &options->peer : NULL,
                                    dx__loop_later(link->thing.loop, 0), &call);
    if (status != DX_OK)
        return status;
    *(struct link_call *)call->user =
        options ? (struct link_call){options->on_done, options->on_progress, options->peer.user}
                : (struct link_call){NULL, NULL, NULL};
    if (ret_call)
        *ret_call = dx__pool_handle(&call->pooled);
    want_turn(link);
    return DX_OK;
}

dx_status dx_link_notify(dx_link *link, dx_text method, dx_json params) {
    if (!can_speak(link))
        return DX_CLOSED;
    return turned(link, dx_peer_notify(link->peer, method, params));
}

dx_status dx_link_send(dx_link *link, dx_text text) {
    if (!can_speak(link))
        return DX_CLOSED;
    return turned(link, dx_peer_send(link->peer, text));
}

dx_status dx_link_cancel(dx_link *link, dx_call call, dx_text reason) {
    if (!link || !dx__loop_is_ours(link->thing.loop))
        return DX_CLOSED;
    return turned(link,
                  dx_peer_cancel(link->peer, call, reason, dx__loop_later(link->thing.loop, 0)));
}

dx_text dx_link_call_id(const dx_link *link, dx_call call, char room[DX_CALL_ID_ROOM]) {
    return link ? dx_peer_call_id(link->peer, call, room) : dx_str(NULL);
}

dx_call dx_link_find(const dx_link *link, dx_text id) {
    return link ? dx_peer_find(link->peer, id) : 0;
}

dx_status dx_link_reply(dx_link *link, dx_request request, dx_json result) {
    if (!can_answer(link))
        return DX_CLOSED;
    return turned(link, dx_peer_reply(link->peer, request, result));
}

dx_status dx_link_refuse(dx_link *link, dx_request request, int64_t code, dx_text message,
                         dx_json data) {
    if (!can_answer(link))
        return DX_CLOSED;
    return turned(link, dx_peer_refuse(link->peer, request, code, message, data));
}

dx_status dx_link_keep(dx_link *link, dx_event **ret_event) {
    return link ? dx_peer_keep(link->peer, ret_event) : DX_CLOSED;
}
