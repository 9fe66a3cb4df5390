/*
 * The inside of a peer. Who does what:
 *
 *   peer.c      birth, death, bytes, time, memory
 *   intake.c    frames -> events: what each message means
 *   parse.c     texts -> trees
 *   queue.c     events that wait to be taken
 *   events.c    next() and keep()
 *   calls.c     our calls: one function ends each of them
 *   ids.c       their ids
 *   requests.c  the other side's requests: one function answers each of them
 *   rules.c     what the protocol says about them
 *   output.c    messages -> bytes
 *
 * Memory can run out at any allocation. So every step first makes sure of all the room it needs,
 * and only then changes anything; a step that fails leaves things as they were and is repeated.
 */
#ifndef DX_PEER_PEER_H
#define DX_PEER_PEER_H

#include "base/heap.h"
#include "base/map.h"
#include "base/pool.h"
#include "frame/framer.h"
#include "rpc/scan.h"

#include <duplex/peer.h>

#include <stdbool.h>

enum call_state { CALL_PENDING, CALL_CANCELLING, CALL_ANSWERED, CALL_ENDED };

typedef struct dx__call {
    dx__pooled pooled;
    dx__timer timer;
    struct dx__call *prev; /* in the list of its state */
    struct dx__call *next;
    uint64_t id; /* on the wire */
    uint64_t timeout_ms;
    uint64_t total_ms;
    uint64_t total_at;
    void *user;
    const dx_method *rule;
    char *token; /* canonical text, or NULL */
    size_t token_len;
    uint64_t token_hash;
    enum call_state state;
    dx_outcome outcome;
    dx_fault fault;
    bool reset;
    bool no_cancel;
    bool steady; /* in the list of these */
} dx__call;

typedef struct dx__calls {
    dx__call *first;
    dx__call *last;
    size_t count;
} dx__calls;

/* The replies to one batch, gathered until the last is there. */
typedef struct dx__batch {
    struct dx__batch *prev;
    struct dx__batch *next;
    dx_buf replies;
    size_t waiting; /* requests that are unanswered */
    bool reading;   /* its elements are still being taken in */
    bool complete;
} dx__batch;

enum request_state { REQUEST_QUEUED, REQUEST_GIVEN, REQUEST_DROPPED, REQUEST_OVERDUE };

typedef struct dx__request {
    dx__pooled pooled;
    dx__timer timer;
    dx__batch *batch;
    const dx_method *rule;
    char *id;
    size_t id_len;
    uint64_t id_hash;
    enum request_state state;
    bool cancelled; /* before it was handed out */
    char id_room[24];
} dx__request;

/* An event that waits: places instead of pointers, since the receive buffer may move. */
typedef struct dx__queued {
    dx_event_kind kind;
    dx_fault fault;
    uint64_t found;
    uint64_t expected;
    uint64_t offset; /* of the frame in the stream */
    uint32_t len;
    dx_message message;
    dx__call *call;
    dx__request *request;
    dx_request handle; /* CANCEL: the request may be gone by then */
    yyjson_doc *doc;   /* if it was parsed already */
} dx__queued;

typedef struct dx__queue {
    dx__queued *ring;
    size_t cap; /* 0 or a power of two */
    size_t head;
    size_t count;
    size_t bytes;
} dx__queue;

/* An event that was kept. `event` comes first: the user holds a pointer to it. */
typedef struct dx__kept {
    dx_event event;
    dx_allocator alloc;
    dx_peer *peer; /* NULL once that is gone */
    struct dx__kept *prev;
    struct dx__kept *next;
    yyjson_doc *doc;
    void *arena;
    char text[];
} dx__kept;

/* Where a tree lives: in memory of its own, in the arena, among the trees. */
enum dx__home { DX__HOME_OWN, DX__HOME_ARENA, DX__HOME_TREES };
enum { DX__SPARES = 2 };

enum { TIMER_CALL, TIMER_REQUEST };
enum { DX__ID_ROOM = DX_CALL_ID_ROOM }; /* for an id of ours as JSON text */
enum { TOMBSTONES = 128 };

struct dx_peer {
    dx_peer_config config;
    dx_allocator alloc;
    dx_framer framer;
    dx_peer_stats stats;
    uint64_t now;
    void (*spoke)(void *user); /* there is output that nobody asked for just now; may be NULL */
    void *spoke_user;

    /* intake */
    dx_frame frame;  /* the one being taken in, if has_frame */
    uint64_t framed; /* where in the stream the last one ended */
    dx__batch *reading;
    dx_message batch_message;
    dx__rpc_scan *scan; /* of a message that takes several steps; NULL until there was one */
    size_t step;        /* bytes of such a message that one step scans; SIZE_MAX: all */
    size_t left;        /* … and what is left of that */
    uint64_t short_at;  /* where a message lies that may have been cut off by its length */
    size_t stray_bytes;
    uint64_t stray_since;
    unsigned stray_lines;
    uint32_t short_len;
    uint32_t batch_cursor;
    bool has_frame;
    bool may_be_short;
    bool behind; /* more can be taken in than was: memory ran out, the end came, or … */
    bool paused; /* … a step is over */
    bool scanning;

    /* events */
    dx__queue queue;
    dx_event event;
    dx__kept *kept;
    yyjson_doc *doc; /* of the event that is lent */
    enum dx__home home;
    void *arena; /* for the tree of one event */
    size_t arena_cap;
    void *spares[DX__SPARES]; /* of the trees of large messages */
    char *trees;              /* for those of short messages, one behind the other */
    size_t trees_cap;
    size_t trees_used;
    char *room; /* for a method that was written with escapes */
    size_t room_cap;
    char id_text[DX__ID_ROOM];
    bool lent;
    bool silent; /* next() had nothing, and nothing came since */

    /* calls */
    dx__pool calls;
    dx__calls pending; /* whose times are in the heap */
    dx__calls steady;  /* with the peer's own times: the first of them is due first */
    dx__calls ended;
    dx__call **by_id; /* slot id % cap: we choose the ids, so that no two meet in one */
    size_t by_id_cap; /* 0 or a power of two */
    dx__map by_token;
    uint64_t next_id;
    uint64_t sent_id; /* the last one, and its text */
    char sent_text[DX__ID_ROOM];
    size_t sent_len;
    uint64_t *tombstones;
    unsigned tombstone;

    /* requests */
    dx__pool requests;
    dx__map by_request_id;
    size_t given; /* handed out and unanswered */
    dx__batch *batches;
    size_t unsent;   /* batches that are complete and could not go out for lack of memory */
    size_t gathered; /* bytes of replies to batches that are not complete */

    dx__heap heap;
    dx_buf out;
    size_t out_sent;

    unsigned state;     /* of the protocol's lifecycle */
    bool is_early;      /* what was judged last is let through, but early */
    bool chose;         /* another protocol: what is pending may have rules of one before */
    dx_misfit *why_not; /* only with a protocol */
    const dx_method *last_rule;
    size_t last_rule_len;

    uint64_t last_byte;
    uint64_t last_use;
    bool stall_told;
    bool warm;   /* holds memory that an idle peer gives back */
    bool ending; /* everything that came was taken in; what is left is to tell the end */
    bool closed;
    bool given_why; /* by finish() */
    dx_error why;
    /* What the stream ended in if that could not be read, whatever was given as `why`. */
    dx_fault broke;
    uint64_t broke_found;
    uint64_t broke_expected;
};

/* Nothing new can be said any more. */
static inline bool dx__is_over(const dx_peer *peer) {
    return peer->ending || peer->framer.finished;
}

static inline size_t dx__out_waiting(const dx_peer *peer) {
    return peer->out.len - peer->out_sent;
}

/* All output that takes memory. */
static inline size_t dx__out_held(const dx_peer *peer) {
    return dx__out_waiting(peer) + peer->gathered;
}

static inline dx_text dx__part(dx_text text, dx_slice slice) {
    return (dx_text){slice.len ? text.at + slice.at : NULL, slice.len};
}

/* output.c: a message into the output, or into the replies of a batch. `beyond` are the bytes that
 * may wait already: DX_BUSY past them (never when nothing waits). With SIZE_MAX there is no limit,
 * not even message_max: that is for the few words that Duplex says by itself. */
typedef enum dx__what { DX__REQUEST, DX__NOTIFICATION, DX__RESULT, DX__ERROR, DX__ANY } dx__what;
typedef struct dx__outgoing {
    dx__what what;
    dx_text id;
    dx_text method;
    dx_text message; /* of an error; all of what is DX__ANY */
    int64_t code;
    dx_json body; /* params, result or data */
    bool is_line; /* it came as part of a line, so that no line ends in it */
} dx__outgoing;
dx_status dx__send(dx_peer *peer, dx__batch *batch, const dx__outgoing *outgoing, size_t beyond);
/* An error of our own, with the phrase of the fault as its data. */
dx_status dx__send_error(dx_peer *peer, dx__batch *batch, dx_text id, int64_t code,
                         const dx_error *error);
/* The reply to a request of a batch; if it is the one that was missing, they all go out with it. */
dx_status dx__send_last(dx_peer *peer, dx__batch *batch, const dx__outgoing *outgoing,
                        size_t beyond);
/* Nothing is missing any more: what a batch has gathered goes out, and it is gone. Without memory
 * it waits to be flushed. */
void dx__batch_complete(dx_peer *peer, dx__batch *batch);
void dx__flush_batches(dx_peer *peer);

/* rules.c, all of it only with a protocol. Why something is not allowed stands in why_not. */
typedef struct dx__refusal {
    dx_fault fault;
    int64_t code; /* what a request is answered with */
    const char *message;
} dx__refusal;
/* Before any of the following: is another protocol spoken from this message on? */
void dx__rules_choose(dx_peer *peer, const dx_event *ev);
/* A request or notification whose turn has come: DX_MISFIT with *ret, DX_ERR_NOMEM. */
dx_status dx__rules_came(dx_peer *peer, const dx_event *ev, bool is_request,
                         const dx_method **ret_rule, dx__refusal *ret);
/* And once it was refused because of that fault. */
void dx__rules_refused(dx_peer *peer, const dx_event *ev, bool is_request, dx_fault fault);
/* The answer to a call, when it is handed out: DX_MISFIT, DX_ERR_NOMEM. */
dx_status dx__rules_answered(dx_peer *peer, const dx__call *call, dx_event *ev);
/* Before something is sent: DX_MISFIT, DX_ERR_INVALID, DX_ERR_NOMEM; and when it was. */
dx_status dx__rules_say(dx_peer *peer, dx_text method, bool is_request, dx_json params,
                        const dx_method **ret_rule);
void dx__rules_said(dx_peer *peer, const dx_method *rule);
/* The same for an answer. */
dx_status dx__rules_answer(dx_peer *peer, const dx__request *request, dx_json result);
void dx__rules_gave(dx_peer *peer, const dx_method *rule, bool is_result);
/* May this side tell the other one that a request is cancelled? Also without a protocol. */
bool dx__rules_may_cancel(dx_peer *peer);
/* why_not as an error, and as the data of an error answer. */
void dx__rules_explain(const dx_peer *peer, dx_text method, dx_fault fault, dx_error *error);
dx_status dx__rules_data(const dx_peer *peer, dx_fault fault, dx_buf *buf);

/* intake.c: takes in all frames that are there. DX_AGAIN: one of them takes another step. */
dx_status dx__intake(dx_peer *peer);
/* From where on the stream is still needed. An event that has no text of its own carries this, so
 * that the head of the queue is always the earliest. */
uint64_t dx__needed_from(const dx_peer *peer);
void dx__end(dx_peer *peer, dx_fault fault, uint64_t found, uint64_t expected);

/* calls.c: every call carries so many bytes for whoever drives the peer; `user` points to them. To
 * be said before the first call. */
void dx__calls_carry(dx_peer *peer, size_t bytes);
/* dx_peer_call() for who fills what the call carries. */
dx_status dx__call_new(dx_peer *peer, dx_text method, dx_json params,
                       const dx_call_options *options, uint64_t now_ms, dx__call **ret_call);

/* peer.c: what a protocol says of batches, cancellation and progress. */
void dx__peer_style(const dx_protocol_facts *facts, dx_peer_config *config);
/* Everything that is empty gives its memory back. */
void dx__trim(dx_peer *peer);
/* How many bytes of the message under way are known to be missing. */
static inline size_t dx__peer_missing(const dx_peer *peer) {
    const dx_framer *framer = &peer->framer;
    size_t have = framer->in.len - framer->pos;
    return framer->in_body && framer->need > have ? framer->need - have : 0;
}
/* Does so much wait that nothing more should be read? */
bool dx__peer_is_full(const dx_peer *peer);

/* queue.c: room for one more. */
dx_status dx__queue_grow(dx_peer *peer);
static inline dx_status dx__queue_reserve(dx_peer *peer) {
    return peer->queue.count < peer->queue.cap ? DX_OK : dx__queue_grow(peer);
}
static inline dx__queued *dx__queue_head(const dx__queue *queue) {
    return queue->count ? &queue->ring[queue->head] : NULL;
}
/* The place of a new event, which holds on to so many bytes; it counts with these and with the
 * place it takes. Room must have been reserved, and everything in it is to be set. */
static inline dx__queued *dx__queue_place(dx_peer *peer, size_t len) {
    dx__queue *queue = &peer->queue;
    queue->bytes += len + sizeof(dx__queued);
    peer->silent = false;
    return &queue->ring[(queue->head + queue->count++) & (queue->cap - 1)];
}
static inline void dx__queue_push(dx_peer *peer, const dx__queued *queued) {
    *dx__queue_place(peer, queued->len) = *queued;
}
/* Is this the tree of the event that was put in last? */
static inline bool dx__queue_has(const dx__queue *queue, const yyjson_doc *doc) {
    return queue->count &&
           queue->ring[(queue->head + queue->count - 1) & (queue->cap - 1)].doc == doc;
}
static inline void dx__queue_pop(dx_peer *peer) {
    dx__queue *queue = &peer->queue;
    queue->bytes -= queue->ring[queue->head].len + sizeof *queue->ring;
    queue->head = (queue->head + 1) & (queue->cap - 1);
    queue->count--;
}

/* parse.c */
/* A message of the usual form that is short, or large and alone, is scanned and parsed in one go,
 * when it is taken in; its tree counts once *ret_end goes to trees_used. False: nothing was done,
 * see dx_rpc_scan(). */
bool dx__parse_ahead(dx_peer *peer, dx_text text, dx_message *ret_message, yyjson_doc **ret_doc,
                     size_t *ret_end);
/* Parses the body of the event at hand. DX_ERR_INVALID: the library can't hold it, error set. */
dx_status dx__parse(dx_peer *peer, dx_event *ev);
/* The tree of the event at hand goes along with it. */
dx_status dx__parse_keep(dx_peer *peer, dx__kept *kept);
void dx__parse_free(dx_peer *peer);
/* Where the tree of an event that waits lives; and its end, if nobody wants it any more. */
enum dx__home dx__parse_home(const dx_peer *peer, const yyjson_doc *doc);
void dx__parse_drop(const dx_peer *peer, yyjson_doc *doc);
/* Gives back what was kept for the next one. */
void dx__parse_trim(dx_peer *peer);

/* events.c */
void dx__event_done(dx_peer *peer);

/* calls.c */
static inline dx__call *dx__call_by_id(const dx_peer *peer, uint64_t id) {
    dx__call *call = peer->by_id_cap ? peer->by_id[id & (peer->by_id_cap - 1)] : NULL;
    return call && call->id == id ? call : NULL;
}
dx__call *dx__call_by_token(dx_peer *peer, dx_text token);
bool dx__call_is_tombstone(const dx_peer *peer, uint64_t id);
/* Ends a call: the one place where that happens. With an answer it waits in the event that carries
 * it, else in the list of the ended, until it is told and given back. */
void dx__call_end(dx_peer *peer, dx__call *call, dx_outcome outcome, dx_fault fault,
                  bool by_answer);
void dx__call_progress(dx_peer *peer, dx__call *call);
void dx__call_due(dx_peer *peer, dx__call *call);
/* The one of our calls that was made first and has not ended; NULL if there is none. */
dx__call *dx__calls_first(const dx_peer *peer);
dx__call *dx__calls_take(dx__calls *list);

/* ids.c: the JSON text of an id of ours, and the id of such a text, if it is none of digits. */
size_t dx__id_write(const dx_peer *peer, uint64_t id, char room[DX__ID_ROOM]);
bool dx__id_read(const dx_peer *peer, dx_text text, uint64_t *ret_id);

/* requests.c */
dx__request *dx__request_by_id(const dx_peer *peer, dx_text id, uint64_t hash);
/* Enters a request into the books; room in the queue is up to the caller. NULL: no memory. */
dx__request *dx__request_add(dx_peer *peer, dx_text id, uint64_t hash, dx__batch *batch);
/* Answers a request and closes its book: the one place where that happens. With NULL it is
 * forgotten without an answer. */
dx_status dx__request_end(dx_peer *peer, dx__request *request, const dx__outgoing *answer,
                          size_t beyond);
/* Nobody will answer, or nobody did in time: an internal error does. */
dx_status dx__request_drop(dx_peer *peer, dx__request *request);
dx_status dx__request_overdue(dx_peer *peer, dx__request *request);
void dx__request_due(dx_peer *peer, dx__request *request);

#endif
