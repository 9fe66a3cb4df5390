/*
 * books.h: two joined peers, and beside them what must be true of them.
 *
 * Every call has a number; its params carry it, the other side sends it back. So whatever happens
 * can be checked against what was done.
 */
#ifndef MODEL_BOOKS_H
#define MODEL_BOOKS_H

#include "model/chance.h"
#include "model/counting.h"
#include "model/wire.h"

#include <duplex/duplex.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CALLS_MAX
#define CALLS_MAX 4096 /* of one side in one conversation */
#endif

enum { KEPT_MAX = 64 };

enum answer { ANSWER_NONE, ANSWER_REPLY, ANSWER_REFUSAL, ANSWER_DROP, ANSWER_OVERDUE };

/* A call that one side made, and what became of it on the other. */
struct call {
    dx_call handle;
    bool ended;
    bool cancelled; /* cancel() said yes */
    bool no_cancel; /* … but told nobody */
    bool odd;       /* its params are JSON that cannot be parsed */
    bool odd_answer;
    bool has_token;
    bool delivered;
    bool withdrawn; /* the other side was told that it is no longer wanted */
    enum answer answer;
    int64_t code;
    unsigned progress_sent;
    unsigned progress_seen;
};

struct kept {
    dx_event *event;
    unsigned number; /* of the other side's call; 0: a stranger's */
};

struct side {
    struct pair *pair;
    struct side *other;
    const char *name;
    dx_peer *peer;
    dx_peer_config config;
    struct counting memory;
    struct wire wire; /* to this side */

    struct call *calls; /* [1 … call_count] */
    unsigned call_count;
    unsigned sequence; /* of what this side sent: requests and notifications together */
    unsigned heard;    /* … and the other heard last */
    unsigned notes_sent;
    unsigned notes_heard;

    struct kept kept[KEPT_MAX];
    unsigned kept_count;
    const dx_event *loan; /* what next() lent … */
    uint64_t loan_sum;    /* … and what it said */
    const dx_event *lent; /* a request that next() lent and that is unanswered */
    unsigned lent_number;

    uint64_t violations; /* events seen */
    uint64_t strays;
    uint64_t progress;
    bool finished;
    bool closed;
};

struct pair {
    struct chance chance;
    struct side sides[2];
    uint64_t seed;
    unsigned operation;
    uint64_t now;
    bool hostile;   /* bytes of any kind were put on the wire: what arrives may be anything */
    bool cut;       /* the connection broke */
    bool no_time;   /* timers may not end anything here */
    unsigned style; /* of cancelling */
    size_t message_max;
    dx_peer_stats totals[2]; /* when all was over */
    uint64_t failed;         /* allocations */
};

#define CHECK(pair, condition) \
    ((condition) ? (void)0 : pair_fail(pair, __FILE__, __LINE__, #condition))

static inline _Noreturn void pair_fail(const struct pair *pair, const char *file, int line,
                                       const char *what) {
    fflush(stdout);
    fprintf(stderr, "%s:%d: seed %" PRIu64 ", operation %u: not true: %s\n", file, line, pair->seed,
            pair->operation, what);
    abort();
}

/* The number of a member of an event's body; 0 if there is none. */
static inline unsigned number_in(dx_text body, const char *member) {
    dx_text text = dx_rpc_member(body, dx_str(member));
    unsigned number = 0;
    for (size_t i = 0; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        number = number * 10 + (unsigned)(text.at[i] - '0');
    return number;
}

static inline struct call *call_of(const struct side *side, unsigned number) {
    return number && number <= side->call_count ? &side->calls[number] : NULL;
}

static inline bool same_text(dx_text text, const char *string) {
    return text.len == strlen(string) && (!text.len || memcmp(text.at, string, text.len) == 0);
}

static inline uint64_t sum_text(uint64_t sum, dx_text text) {
    for (size_t i = 0; i < text.len; i++)
        sum = (sum ^ (unsigned char)text.at[i]) * UINT64_C(0x100000001b3);
    return sum ^ text.len;
}

static inline uint64_t sum_event(const dx_event *ev) {
    uint64_t sum = sum_text(sum_text(ev->kind, ev->message), ev->body);
    sum = sum_text(sum_text(sum, ev->method), ev->id);
    return ev->value ? sum + yyjson_get_len(ev->value) : sum;
}

static inline void check_books(const struct side *side) {
    const struct pair *pair = side->pair;
    dx_peer_stats s = dx_peer_statistics(side->peer);
    uint64_t ended = s.results + s.errors + s.timed_out + s.cancelled + s.lost + s.invalid;
    CHECK(pair, s.calls == ended + dx_peer_pending(side->peer));
    CHECK(pair, s.calls == side->call_count);
    CHECK(pair, s.requests >=
                    s.replies + s.refusals + s.dropped + s.overdue + s.cancelled_by_peer + s.busy);
    CHECK(pair, dx_peer_pending(side->peer) <= side->config.calls_max);
    if (side->loan) /* whatever else was done, it is still there */
        CHECK(pair, sum_event(side->loan) == side->loan_sum);
}

static inline void check_error_code(const struct side *side, const struct call *call,
                                    int64_t code) {
    const struct pair *pair = side->pair;
    const dx_peer_config *other = &side->other->config;
    bool overdue = other->handle_ms != DX_NEVER;
    switch (code) {
    case DX_CODE_INTERNAL:
        CHECK(pair, call->answer == ANSWER_DROP || call->answer == ANSWER_OVERDUE ||
                        (overdue && !call->answer));
        return;
    case DX_CODE_BUSY:
        CHECK(pair, !call->delivered && other->requests_max < 1000);
        return;
    case DX_CODE_PARSE:
        CHECK(pair, call->odd && !call->delivered);
        return;
    default:
        CHECK(pair, call->answer == ANSWER_REFUSAL && code == call->code);
    }
}

static inline void check_outcome(const struct side *side, const struct call *call, unsigned number,
                                 const dx_event *ev) {
    const struct pair *pair = side->pair;
    bool answered = side->config.cancel.answered;
    switch (ev->outcome) {
    case DX_OUTCOME_RESULT:
        CHECK(pair, call->answer == ANSWER_REPLY && number_in(ev->body, "n") == number);
        CHECK(pair, !call->cancelled || answered);
        if (!(side->config.flags & DX_PEER_TEXT)) {
            yyjson_val *n = yyjson_obj_get(ev->value, "n");
            CHECK(pair, yyjson_get_uint(n) == number);
        }
        return;
    case DX_OUTCOME_ERROR:
        CHECK(pair, !call->cancelled);
        check_error_code(side, call, ev->code);
        return;
    case DX_OUTCOME_TIMED_OUT:
        CHECK(pair, !call->cancelled && !pair->no_time);
        CHECK(pair, ev->error.fault == DX_FAULT_TIMEOUT || ev->error.fault == DX_FAULT_TOTAL);
        return;
    case DX_OUTCOME_CANCELLED:
        CHECK(pair, call->cancelled);
        return;
    case DX_OUTCOME_LOST:
        CHECK(pair, side->finished && ev->error.fault != DX_FAULT_NONE);
        return;
    case DX_OUTCOME_INVALID:
        CHECK(pair, call->odd_answer && ev->error.fault == DX_FAULT_JSON_VALUE);
        return;
    }
    CHECK(pair, !"an outcome that is none");
}

static inline void on_done(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    unsigned number = (unsigned)(uintptr_t)ev->user;
    struct call *call = call_of(side, number);
    CHECK(pair, call && call->handle == ev->call);
    CHECK(pair, !call->ended); /* ends exactly once */
    call->ended = true;
    CHECK(pair, dx_peer_cancel(side->peer, ev->call, dx_str(NULL), 0) == DX_GONE);
    if (!pair->hostile)
        check_outcome(side, call, number, ev);
}

static inline void on_progress(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    struct call *call = call_of(side, (unsigned)(uintptr_t)ev->user);
    side->progress++;
    CHECK(pair, call && call->handle == ev->call && call->has_token);
    CHECK(pair, !call->ended); /* after its end nobody hears of a call */
    if (pair->hostile)
        return;
    unsigned step = number_in(ev->body, "step");
    CHECK(pair, step > call->progress_seen && step <= call->progress_sent);
    call->progress_seen = step;
}

/* Order: requests and notifications have one sequence. */
static inline void heard(struct side *side, dx_text body) {
    struct pair *pair = side->pair;
    struct side *sender = side->other;
    unsigned sequence = number_in(body, "s");
    if (pair->hostile)
        return;
    CHECK(pair, sequence > sender->heard && sequence <= sender->sequence);
    sender->heard = sequence;
}

static inline void on_note(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    if (pair->hostile)
        return;
    if (same_text(ev->method, "progress")) { /* of a call that has ended */
        CHECK(pair, side->config.progress.pass_unknown);
        return;
    }
    CHECK(pair, same_text(ev->method, "note"));
    heard(side, ev->body);
    CHECK(pair, number_in(ev->body, "n") == side->other->notes_heard + 1);
    side->other->notes_heard++;
}

static inline void on_cancel(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    CHECK(pair, ev->request != 0);
    for (unsigned i = 0; i < side->kept_count; i++) {
        struct call *call = call_of(side->other, side->kept[i].number);
        if (side->kept[i].event->request == ev->request && call)
            call->withdrawn = true;
    }
}

static inline void on_overdue(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    CHECK(pair, side->config.handle_ms != DX_NEVER && ev->error.fault == DX_FAULT_OVERDUE);
    CHECK(pair, dx_peer_reply(side->peer, ev->request, dx_json_none()) == DX_GONE);
}

static inline void on_closed(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    CHECK(pair, !side->closed);
    side->closed = true;
    if (!pair->hostile)
        CHECK(pair, side->finished);
    for (unsigned n = 1; n <= side->call_count; n++)
        CHECK(pair, side->calls[n].ended);
    CHECK(pair, ev->error.fault == DX_FAULT_NONE || ev->error.phrase[0]);
}

#endif
