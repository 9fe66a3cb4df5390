/*
 * duplex/peer.h: one conversation in JSON-RPC 2.0, in both directions, as a pure machine.
 *
 *     feed(bytes, now)   finish(now)   tick(now)   call / notify / cancel   reply / refuse
 *                  \__________\____________|____________/__________/
 *                                       dx_peer
 *                  ________________________|________________________
 *                 /                        |                        \
 *           next() -> event         output() -> bytes        deadline() -> time
 *
 * The machine does no I/O and reads no clock: you give it the bytes that came and the time, and
 * take from it events and the bytes to be written. Around it goes any loop:
 *
 *     dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
 *     dx_peer *peer;
 *     dx_peer_new(&config, &peer);
 *     while ((n = read(0, piece, sizeof piece)) > 0) {
 *         dx_peer_feed(peer, piece, n, now_ms(), NULL);
 *         const dx_event *ev;
 *         while (dx_peer_next(peer, &ev) == DX_OK)
 *             if (ev->kind == DX_EVENT_REQUEST)
 *                 dx_peer_reply(peer, ev->request, dx_json_checked(ev->body));
 *         dx_text out = dx_peer_output(peer);
 *         if ((n = write(1, out.at, out.len)) > 0)
 *             dx_peer_sent(peer, n);
 *     }
 *     dx_peer_free(peer);
 *
 * What it promises:
 *   - Every call ends exactly once, with one DX_EVENT_DONE, whatever happens.
 *   - Every request that came is answered exactly once. One that you neither answer nor keep
 *     before the following next() is answered with an internal error for you. (The one exception
 *     is a request the peer cancelled under a style that wants no answer.)
 *   - Requests, notifications, progress and answers come in the order of the wire. An answer
 *     disarms its call's timer when it is fed, not when it is handed out.
 *   - A fault of the other side is an event, counted, answered where JSON-RPC says so; it ends the
 *     conversation only when the stream can't be framed any more or a limit is passed.
 *   - When memory runs out, the operation returns DX_ERR_NOMEM and can be repeated.
 *   - A peer is used by one thread at a time.
 */
#ifndef DUPLEX_PEER_H
#define DUPLEX_PEER_H

#include <duplex/base.h>
#include <duplex/frame.h>
#include <duplex/protocol.h>
#include <duplex/rpc.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_peer dx_peer;
typedef struct dx_event dx_event;

/* A call that we made, a request that the other side made. Never 0, never used twice: a stale one
 * is DX_GONE, not a crash, and so is one of another peer, if the two have different seeds. */
typedef uint64_t dx_call;
typedef uint64_t dx_request;

/* Configuration */

enum {
    DX_PEER_TEXT = 1 << 0,  /* don't parse: events carry text only (proxies) */
    DX_PEER_BATCH = 1 << 1, /* take batches; without it they are refused as one invalid request */
    DX_PEER_ID_ABSENT = 1 << 2,    /* an error about no known request has no id, instead of null */
    DX_PEER_PARAMS_NULL = 1 << 3,  /* a message without params is sent with "params": null */
    DX_PEER_LINES_FIRST = 1 << 11, /* headers: the input is lines, unless the first is a header's;
                                     for a program that may print its log instead of answering */
    DX_PEER_NO_STRAY = 1 << 5,  /* lines: what is no message was meant to be one, and is answered */
    DX_PEER_BATCH_LAX = 1 << 4, /* what is no request in a batch gets no answer; a batch of nothing
                                   else is one invalid request */
    DX_PEER_TELL_ROOM = 1 << 6, /* notify() has room that answers can't take: three times out_max */
    DX_PEER_ID_SILENT = 1 << 7, /* an error about no known request is not sent at all */
    DX_PEER_ANSWER_UNREADABLE = 1 << 8, /* a host, too, answers what it can't read at all */
    DX_PEER_ID_EARLY = 1 << 10, /* what can't be read is answered with its id if that stands before
                                   the place where it can't (see dx_refusal.no_id) */
    DX_PEER_NO_ERRORS =
        1 << 9 /* what is invalid or not in the protocol gets no error, whatever its
                  id is: the other side takes everything with an id for a response */
};

/*
 * How a request is cancelled: by a notification `method` whose params carry the request's id in
 * `id_member` and, if there is one, a text in `reason_member`. method NULL: there is no such thing.
 *
 *   answered   the cancelled request is still to be answered: our cancelled call waits for that
 *              (at most grace_ms), and a cancelled request of the other side stays yours to answer.
 *              Otherwise both are over at once and an answer that still comes is late.
 *   code       the error code of such an answer
 *   mutual     the notification may also come from the side that has to answer: it gives the
 *              request up, which ends our call as DX_OUTCOME_CANCELLED with DX_FAULT_GIVEN_UP
 */
typedef struct dx_cancel_style {
    const char *method;
    const char *id_member;
    const char *reason_member;
    int answered;
    int64_t code;
    uint64_t grace_ms;
    int mutual;
} dx_cancel_style;

/* How progress is told: by a notification `method` whose params carry, in `token_member`, the token
 * that was given with the call. One with a token that no call has is dropped and counted, unless
 * pass_unknown makes it an ordinary notification. */
typedef struct dx_progress_style {
    const char *method;
    const char *token_member;
    int pass_unknown;
} dx_progress_style;

/* The answer to what can't be understood as a message, or not as a valid one. */
typedef struct dx_refusal {
    dx_fault fault;  /* what is wrong with it */
    int64_t code;    /* 0: no answer */
    dx_text message; /* absent: the code's own; must be UTF-8 and stay until it was called again */
    int no_data;     /* without the phrase about the fault */
    int no_id;       /* as if its id were not known */
} dx_refusal;

/* How much of what the protocol says is checked. */
typedef enum dx_checking {
    DX_CHECKING_OFF = 0,
    DX_CHECKING_INCOMING, /* what comes */
    DX_CHECKING_BOTH      /* and what is sent */
} dx_checking;

typedef struct dx_peer_config {
    dx_framing framing;
    dx_side side;     /* a plugin answers what it can't read at all with an error of id null, a host
                         only with DX_PEER_ANSWER_UNREADABLE; in all else the two are alike */
    unsigned flags;   /* DX_PEER_… */
    unsigned lenient; /* DX_LENIENT_… */
    const char *content_type; /* sent as a Content-Type field when not NULL (header framing) */
    dx_cancel_style cancel;
    dx_progress_style progress;
    /* The protocol that is spoken; NULL: any. What comes and does not fit it is a violation, and a
     * request is answered for you: DX_CODE_METHOD for one that the protocol does not have,
     * DX_CODE_PARAMS with {"pointer", "reason"} as its data, or the code of the state it may not
     * come in. A result that does not fit ends its call as DX_OUTCOME_INVALID, with the body and
     * value still there. What you send and does not fit is DX_MISFIT, and dx_peer_why() says why.
     */
    dx_protocol *protocol;
    dx_checking checking;
    dx_ids ids; /* how the ids of calls look (counter) */
    /* Asked before a request, a notification or a result is handed out and checked: the protocol
     * that is spoken from here on, for those who learn the revision from the first message or from
     * a handshake; NULL: the same as before. The state stays the one of that name, if the chosen
     * one has it. All that are chosen must outlive the peer. Nothing of the peer may be called from
     * it, and `user` of the event means nothing there. May be NULL; only with a protocol. */
    dx_protocol *(*choose)(void *user, const dx_event *event);
    void *choose_user;

    /* Asked before such an answer is sent: it may be changed. Nothing of the peer may be called
     * from it. May be NULL. */
    void (*refuse)(void *user, dx_refusal *refusal);
    void *refuse_user;

    /* limits: what goes beyond is refused, never stored */
    size_t message_max;  /* bytes of one message, in and out (64 MiB) */
    size_t header_max;   /* bytes of a header block (16 KiB) */
    unsigned fields_max; /* fields of a header block (64) */
    dx_fields fields;    /* … and what they look like (as in HTTP) */
    size_t stray_max;    /* bytes of stray text between two messages (64 KiB) */
    unsigned stray_rate; /* stray lines in a minute (1000) */
    unsigned depth_max;  /* nesting of a message (1000; at most DX_DEPTH_MAX) */
    size_t values_max;   /* values and names in one message (4,000,000); each costs 16 bytes */
    size_t batch_max;    /* elements of a batch (1000); a longer one is one invalid request */
    size_t tree_max;     /* bytes of a body that is parsed and checked (no limit); a longer one is
                            handed out as text, its `value` NULL, unchecked by the protocol */
    size_t id_max;       /* bytes of an id or token that the other side chose (1024) */
    size_t calls_max;    /* our calls that are pending (100,000) */
    size_t requests_max; /* requests that you were handed and have not answered (10,000) */
    size_t in_max;       /* bytes of events not yet taken; then feed() takes no more (16 MiB) */
    size_t out_max;      /* bytes of output not yet sent; then call() is DX_BUSY (64 MiB). Replies
                            have as much again: at most 128 MiB wait, and nothing more is read */

    /* timers, in ms; DX_NEVER switches one off */
    uint64_t timeout_ms; /* a call's time for an answer, or for progress where it resets (30 s) */
    uint64_t total_ms;   /* a call's time in all, progress or not (10 min) */
    uint64_t handle_ms;  /* time to answer a request of the other side (never) */
    uint64_t stall_ms;   /* time for the next byte inside a message (10 s) */
    uint64_t idle_ms;    /* time after which an idle peer gives its memory back (5 s) */

    /* Sees every message and every stray text as it crosses, `out` being 1 for what is sent,
     * `framed` how many bytes that is with its framing: for traces. Nothing of the peer may be
     * called from it. May be NULL. */
    void (*observe)(void *user, int out, dx_text text, size_t framed);
    void *observe_user;

    uint64_t first_id; /* id of the first call (1); ids count up to 2^53-1, then start at 1 again */
    uint64_t seed;     /* any number the other side can't guess: keeps its ids from colliding, and
                          makes random ones of ours; a link takes one from the system for 0 */
    const dx_allocator *allocator; /* copied; NULL: malloc */
} dx_peer_config;

/* The values in brackets above, no cancel style, no progress style. Strings that you put in must
 * outlive the peer. */
DX_API dx_peer_config dx_peer_defaults(dx_framing framing, dx_side side);

/* The same, and all that the protocol says: framing, leniencies, limits, ids, deadlines,
 * cancellation and progress; everything is checked. */
DX_API dx_peer_config dx_peer_for(dx_protocol *protocol, dx_side side);

/* DX_ERR_INVALID for values that can't work, DX_ERR_NOMEM. The configuration is copied. */
DX_API dx_status dx_peer_new(const dx_peer_config *config, dx_peer **ret_peer);
/* Ends everything without a word: no events, no answers. Kept events stay readable. */
DX_API dx_peer *dx_peer_free(dx_peer *peer);

/* Bytes and time */

/*
 * Bytes that came. *ret_used is always set and says how many were taken: all with DX_OK, fewer with
 * DX_BUSY (take events, or send output, then feed the rest) and DX_ERR_NOMEM (feed the rest again).
 * Who passes NULL gives up what was not taken. After the end everything is taken and ignored. An
 * event that is lent stays valid.
 */
DX_API dx_status dx_peer_feed(dx_peer *peer, const void *bytes, size_t len, uint64_t now_ms,
                              size_t *ret_used);

/* The same without a copy: at least one and at most `want` bytes of room to read into, then
 * commit() what was read. DX_BUSY: do not read now. */
DX_API dx_status dx_peer_reserve(dx_peer *peer, size_t want, void **ret_room, size_t *ret_len);
DX_API void dx_peer_commit(dx_peer *peer, size_t len, uint64_t now_ms);

/* Nothing more will come, because of `why` (NULL: the stream ended). What was fed is still handed
 * out, then every pending call ends as DX_OUTCOME_LOST, then comes DX_EVENT_CLOSED. Requests that
 * came can still be answered. */
DX_API void dx_peer_finish(dx_peer *peer, const dx_error *why, uint64_t now_ms);

/* The time is now. Call it when deadline() is reached; more often does no harm. */
DX_API void dx_peer_tick(dx_peer *peer, uint64_t now_ms);
/* When tick() is wanted next, or DX_NEVER. */
DX_API uint64_t dx_peer_deadline(const dx_peer *peer);

/* The bytes to be written, lent until the next call on this peer; then say how many were. */
DX_API dx_text dx_peer_output(const dx_peer *peer);
DX_API void dx_peer_sent(dx_peer *peer, size_t len);

/* Events */

typedef enum dx_event_kind {
    DX_EVENT_REQUEST = 1,  /* request, id, method, body = params */
    DX_EVENT_NOTIFICATION, /* method, body = params */
    DX_EVENT_DONE,         /* call, user, outcome, body = result or error */
    DX_EVENT_PROGRESS,     /* call, user, method, body = params */
    DX_EVENT_CANCEL,       /* request: the other side no longer wants it; body = params; error is
                              set if it does not fit the protocol */
    DX_EVENT_OVERDUE,      /* request: handle_ms passed; it was answered with an error */
    DX_EVENT_STRAY,        /* message = text that is not part of a message */
    DX_EVENT_VIOLATION,    /* error, message = what broke the rule (or the beginning of it) */
    DX_EVENT_CLOSED        /* error.fault = DX_FAULT_NONE for a plain end; comes once, last */
} dx_event_kind;

typedef enum dx_outcome {
    DX_OUTCOME_RESULT = 1, /* body, value */
    DX_OUTCOME_ERROR,      /* the other side said no: code, body = the error object, value */
    DX_OUTCOME_TIMED_OUT,  /* error says which timer */
    DX_OUTCOME_CANCELLED,
    DX_OUTCOME_LOST,   /* the conversation ended first: error says why */
    DX_OUTCOME_INVALID /* an answer came that is none: error, message */
} dx_outcome;

/*
 * What happened. Lent by next() until the following next(); every text and value in it, too.
 * Members that the kind does not name are 0 or absent.
 */
struct dx_event {
    dx_event_kind kind;
    dx_outcome outcome;
    dx_call call;
    dx_request request;
    void *user;        /* DONE, PROGRESS: what was given with the call */
    dx_text id;        /* REQUEST, DONE: the id as it stands on the wire */
    dx_text method;    /* its characters */
    dx_text body;      /* params, result or error as JSON text; may be absent */
    yyjson_val *value; /* the same, parsed, to be read only (who answers with it sends the body as
                          it came); NULL when absent, longer than tree_max or under DX_PEER_TEXT */
    dx_text message;   /* the whole message as it came; absent if nothing came */
    unsigned mended; /* DX_MENDED_…: where `value` is not what `body` says, which stays as it came;
                        only under DX_LENIENT_VALUE */
    int64_t code;    /* OUTCOME_ERROR: its code, 0 if it has no usable one */
    const dx_method *rule; /* what the protocol says about it; NULL without one */
    dx_error error;        /* set (fault is not NONE) where the kind or outcome names it */
};

/* The next event; DX_AGAIN when there is none now; DX_ERR_NOMEM (repeat it). */
DX_API dx_status dx_peer_next(dx_peer *peer, const dx_event **ret_event);

/* Takes the event that next() lent last: it is yours until dx_event_free(), and a request in it
 * stays unanswered until you answer it. Freeing it unanswered answers it with an internal error.
 * Take values and texts from the event that you got, not from the one that was lent: they may have
 * moved. */
DX_API dx_status dx_peer_keep(dx_peer *peer, dx_event **ret_event);
DX_API dx_event *dx_event_free(dx_event *event);

/* Speaking */

typedef struct dx_call_options {
    uint64_t timeout_ms; /* 0: the peer's */
    uint64_t total_ms;   /* 0: the peer's */
    int reset;           /* progress starts timeout_ms anew (total_ms still holds) */
    int no_cancel;       /* never say on the wire that it was cancelled or timed out */
    dx_text token;       /* the progress token as JSON text, if your params carry one */
    void *user;
} dx_call_options;

/*
 * Asks. options may be NULL. DX_BUSY: calls_max calls are pending or out_max bytes wait; DX_CLOSED;
 * DX_ERR_LIMIT: longer than message_max; DX_ERR_INVALID: a method that is not UTF-8, params that
 * are neither object, array nor none, a token that is no string or integer or is in use; DX_MISFIT:
 * the protocol does not allow it.
 */
DX_API dx_status dx_peer_call(dx_peer *peer, dx_text method, dx_json params,
                              const dx_call_options *options, uint64_t now_ms, dx_call *ret_call);
DX_API dx_status dx_peer_notify(dx_peer *peer, dx_text method, dx_json params);
/* Any text as one message, framed and nothing more, for those who want to see what the other side
 * makes of it. The books and the protocol know nothing of it: an answer to it is one to nothing
 * (DX_FAULT_ID_UNKNOWN). As for call(), but DX_ERR_INVALID is a line's end where messages are
 * lines. */
DX_API dx_status dx_peer_send(dx_peer *peer, dx_text text);
/* What was wrong with what DX_MISFIT was last said of, or what last came and did not fit. */
DX_API const dx_misfit *dx_peer_why(const dx_peer *peer);
/* Where the conversation is in the protocol's lifecycle: the name of a state; NULL without one. */
DX_API const char *dx_peer_state(const dx_peer *peer);

/* No longer wanted. The call still ends with one DX_EVENT_DONE. reason may be absent. DX_GONE: it
 * has ended, or its answer is here already. */
DX_API dx_status dx_peer_cancel(dx_peer *peer, dx_call call, dx_text reason, uint64_t now_ms);
/* Calls that have not ended and whose answer is not here. */
DX_API size_t dx_peer_pending(const dx_peer *peer);
/* The id of such a call on the wire, as JSON text in `room`; absent: it has
 * ended. */
enum { DX_CALL_ID_ROOM = 40 };
DX_API dx_text dx_peer_call_id(const dx_peer *peer, dx_call call, char room[DX_CALL_ID_ROOM]);
/* Such a call by its id, to cancel it; 0: there is none. */
DX_API dx_call dx_peer_find(const dx_peer *peer, dx_text id);

/* Answers. The message of a refusal may be absent: then it is the code's own ("Method not found"
 * for DX_CODE_METHOD). DX_GONE: answered or no longer wanted; DX_BUSY: too much output waits, try
 * again when it was sent (keep the event meanwhile); DX_ERR_LIMIT, DX_ERR_INVALID as for call():
 * the request is still unanswered. */
DX_API dx_status dx_peer_reply(dx_peer *peer, dx_request request, dx_json result);
DX_API dx_status dx_peer_refuse(dx_peer *peer, dx_request request, int64_t code, dx_text message,
                                dx_json data);

/* Books */

typedef struct dx_peer_stats {
    uint64_t bytes_in, bytes_out;       /* taken in before the end; told by sent() */
    uint64_t messages_in, messages_out; /* framed */
    uint64_t calls, requests, notifications;
    uint64_t results, errors;                           /* calls that ended so … */
    uint64_t timed_out, cancelled, lost, invalid;       /* … or so */
    uint64_t replies, refusals;                         /* requests that we answered */
    uint64_t dropped, overdue, cancelled_by_peer, busy; /* … or that ended otherwise */
    uint64_t violations, stray_lines, stray_bytes, lf_lines;
    uint64_t unknown_ids, late, progress, progress_dropped;
    uint64_t early; /* messages that the protocol's state lets through all the same */
} dx_peer_stats;

DX_API dx_peer_stats dx_peer_statistics(const dx_peer *peer);

#ifdef __cplusplus
}
#endif

#endif
