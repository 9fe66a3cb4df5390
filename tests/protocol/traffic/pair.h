/* pair.h: two joined peers, and what is to be seen at both when a message goes as it should. */
#ifndef TRAFFIC_PAIR_H
#define TRAFFIC_PAIR_H

#include "protocol/traffic/ways.h"

#include <duplex/peer.h>
#include <duplex/trace.h>

struct pair;

struct end {
    struct pair *pair;
    dx_side side;
    dx_checking checking;
    dx_peer *peer;
    dx_buf seen; /* everything that this end observed, with who sent it */
    size_t last; /* where the last of that begins */
};

struct pair {
    struct book *book;
    struct end ends[DX_SIDE_PLUGIN + 1]; /* by side; the first is not used */
    bool alike;                          /* both ends must be in the same state */
    unsigned state;                      /* … which is this one */
    struct step left;                    /* the request that waits for its answer … */
    dx_event *waiting;                   /* … and how it was handed out */
    dx_call call;                        /* the last one */
    dx_buf wire;                         /* what was carried last */
    dx_trace_writer *trace;              /* NULL: nothing is recorded */
    uint64_t run;
    const char *what; /* what is tried, for people */
};

static inline void complain(const struct pair *pair, const dx_method *method, dx_side from,
                            const char *detail) {
    failed("%s: %s of the %s in state %s: %s: %s", pair->book->name,
           method ? method->name : "(not listed)", side_name(from),
           dx_protocol_state_name(pair->book->protocol, pair->state), pair->what, detail);
}

static inline bool expect(const struct pair *pair, const struct step *step, bool good,
                          const char *detail) {
    if (!good)
        complain(pair, step->method, step->from, detail);
    return good;
}

/* The host records; that the other end sees the same is found out when they part. */
static inline void observe(void *user, int out, dx_text text, size_t framed) {
    struct end *end = user;
    struct pair *pair = end->pair;
    dx_side from = out ? end->side : other_side(end->side);
    must(dx_buf_append(&end->seen, from == DX_SIDE_HOST ? "\nH" : "\nP", 2) == DX_OK);
    end->last = end->seen.len;
    must(dx_buf_append(&end->seen, text.at, text.len) == DX_OK);
    if (end->side != DX_SIDE_HOST || !pair->trace)
        return;
    dx_trace_record record = {.kind = DX_TRACE_MESSAGE,
                              .from = (dx_trace_from)from,
                              .time_us = pair->run,
                              .peer = dx_str(pair->book->name),
                              .run = pair->run,
                              .bytes = framed,
                              .text = text};
    must(dx_trace_write(pair->trace, &record) == DX_OK);
}

static inline void pair_open(struct pair *pair, struct book *book, dx_checking host,
                             dx_checking plugin, dx_trace_writer *trace, const char *what) {
    *pair = (struct pair){.book = book, .alike = true, .trace = trace, .what = what};
    pair->run = ++book->conversations;
    dx_buf_init(&pair->wire, SIZE_MAX / 4, NULL);
    for (dx_side side = DX_SIDE_HOST; side <= DX_SIDE_PLUGIN; side++) {
        struct end *end = &pair->ends[side];
        dx_peer_config config = dx_peer_for(book->protocol, side);
        config.checking = side == DX_SIDE_HOST ? host : plugin;
        config.observe = observe;
        config.observe_user = end;
        config.seed = 1 + side;
        *end = (struct end){.pair = pair, .side = side, .checking = config.checking};
        dx_buf_init(&end->seen, SIZE_MAX / 4, NULL);
        must(dx_peer_new(&config, &end->peer) == DX_OK);
    }
}

static inline dx_peer *peer_of(const struct pair *pair, dx_side side) {
    return pair->ends[side].peer;
}

/* The message that an end saw last. */
static inline dx_text last_seen(const struct pair *pair, dx_side side) {
    const struct end *end = &pair->ends[side];
    return (dx_text){end->seen.data + end->last, end->seen.len - end->last};
}

/* The output of one goes to the other, and is kept to be looked at. */
static inline dx_text carry(struct pair *pair, dx_side from) {
    dx_text out = dx_peer_output(peer_of(pair, from));
    pair->wire.len = 0;
    must(dx_buf_append(&pair->wire, out.at, out.len) == DX_OK);
    dx_peer_sent(peer_of(pair, from), out.len);
    must(dx_peer_feed(peer_of(pair, other_side(from)), pair->wire.data, pair->wire.len, 1, NULL) ==
         DX_OK);
    return (dx_text){pair->wire.data, pair->wire.len};
}

/* The one event that is there, to be freed; NULL if there is none or more than one. */
static inline dx_event *take(struct pair *pair, dx_side side) {
    const dx_event *event;
    dx_event *kept;
    if (dx_peer_next(peer_of(pair, side), &event) != DX_OK)
        return NULL;
    must(dx_peer_keep(peer_of(pair, side), &kept) == DX_OK);
    return dx_peer_next(peer_of(pair, side), &event) == DX_AGAIN ? kept : dx_event_free(kept);
}

static inline bool is_quiet(struct pair *pair, dx_side side) {
    const dx_event *event;
    return dx_peer_next(peer_of(pair, side), &event) == DX_AGAIN &&
           dx_peer_output(peer_of(pair, side)).len == 0;
}

static inline bool in_state(const struct pair *pair, dx_side side, unsigned state) {
    return is_same(dx_peer_state(peer_of(pair, side)),
                   dx_protocol_state_name(pair->book->protocol, state));
}

/* The conversation has come to where the document says. */
static inline bool moved(struct pair *pair, const struct step *step, dx_move move) {
    pair->state =
        dx_protocol_after(pair->book->protocol, pair->state, step->method, step->from, move);
    return !pair->alike || expect(pair, step,
                                  in_state(pair, DX_SIDE_HOST, pair->state) &&
                                      in_state(pair, DX_SIDE_PLUGIN, pair->state),
                                  "the two ends are not where the document says");
}

static inline dx_status say(struct pair *pair, dx_side from, const char *method, bool is_request,
                            const char *params) {
    return is_request ? dx_peer_call(peer_of(pair, from), dx_str(method), json_of(params), NULL, 1,
                                     &pair->call)
                      : dx_peer_notify(peer_of(pair, from), dx_str(method), json_of(params));
}

/* What the protocol lets through, and what it lets through early, is handed out with its params. */
static inline bool came(struct pair *pair, const struct step *step, const char *params,
                        dx_event **ret_event) {
    const char *name = step->method->name;
    bool is_request = !step->method->notification;
    dx_event *event = take(pair, other_side(step->from));
    *ret_event = NULL;
    if (is_swallowed(pair->book, name))
        return expect(pair, step, !event, "was handed out");
    bool good = expect(pair, step, event, "did not come") &&
                expect(pair, step,
                       event->kind == (is_request ? DX_EVENT_REQUEST : DX_EVENT_NOTIFICATION) &&
                           event->rule == step->method && dx_text_is(event->method, name),
                       "came as something else") &&
                expect(pair, step,
                       params ? dx_text_is(event->body, params) && event->value : !event->body.at,
                       "came with other params");
    if (good && is_request)
        *ret_event = event;
    else
        dx_event_free(event);
    return good;
}

/* Sends the message of a step; a request is then handed out and waits. */
static inline bool send_step(struct pair *pair, const struct step *step, const char *params,
                             dx_event **ret_event) {
    dx_peer *sender = peer_of(pair, step->from);
    dx_peer *receiver = peer_of(pair, other_side(step->from));
    bool early = dx_protocol_may_send(pair->book->protocol, pair->state, step->method, step->from,
                                      NULL, NULL) == DX_LEAVE_EARLY;
    bool sender_counts = pair->ends[step->from].checking == DX_CHECKING_BOTH;
    bool receiver_counts = pair->ends[other_side(step->from)].checking != DX_CHECKING_OFF;
    uint64_t sent_early = dx_peer_statistics(sender).early + (early && sender_counts);
    uint64_t came_early = dx_peer_statistics(receiver).early + (early && receiver_counts);
    dx_status status =
        say(pair, step->from, step->method->name, !step->method->notification, params);
    *ret_event = NULL;
    if (!expect(pair, step, status == DX_OK, dx_peer_why(sender)->phrase))
        return false;
    carry(pair, step->from);
    bool good = came(pair, step, params, ret_event);
    pair->book->sent += good && pair->trace;
    return expect(pair, step,
                  dx_peer_statistics(sender).early == sent_early &&
                      dx_peer_statistics(receiver).early == came_early,
                  "was not counted as early, or was") &&
           good && moved(pair, step, DX_MOVE_SENT);
}

/* Answers what send_step() handed out. */
static inline bool answer_step(struct pair *pair, const struct step *step, dx_event *event,
                               bool is_result) {
    dx_side to = step->from;
    const char *result = smallest_result(pair->book, step->method, step->from);
    dx_peer *peer = peer_of(pair, other_side(to));
    dx_status status = is_result ? dx_peer_reply(peer, event->request, json_of(result))
                                 : dx_peer_refuse(peer, event->request, DX_CODE_INTERNAL,
                                                  dx_str("no"), dx_json_none());
    dx_event_free(event);
    if (!expect(pair, step, status == DX_OK, dx_peer_why(peer)->phrase))
        return false;
    carry(pair, other_side(to));
    dx_event *done = take(pair, to);
    bool good =
        expect(pair, step,
               done && done->kind == DX_EVENT_DONE && done->rule == step->method &&
                   done->error.fault == DX_FAULT_NONE,
               "was not answered") &&
        expect(pair, step,
               is_result ? done->outcome == DX_OUTCOME_RESULT && dx_text_is(done->body, result) &&
                               done->value
                         : done->outcome == DX_OUTCOME_ERROR && done->code == DX_CODE_INTERNAL,
               "has another answer");
    dx_event_free(done);
    pair->book->sent += good && pair->trace;
    return good && moved(pair, step, is_result ? DX_MOVE_RESULT : DX_MOVE_ERROR);
}

static inline bool take_step_with(struct pair *pair, const struct step *step, const char *params) {
    dx_event *event;
    if (step->how == HOW_RESULT_LATE || step->how == HOW_ERROR_LATE) {
        event = pair->waiting;
        pair->waiting = NULL;
        return event && answer_step(pair, step, event, step->how == HOW_RESULT_LATE);
    }
    if (!send_step(pair, step, params, &event))
        return false;
    if (step->how == HOW_LEFT) {
        pair->left = *step;
        pair->waiting = event;
    }
    return step->how == HOW_TOLD || step->how == HOW_LEFT ||
           answer_step(pair, step, event, step->how == HOW_RESULT);
}

static inline bool take_step(struct pair *pair, const struct step *step) {
    return take_step_with(pair, step, smallest_params(pair->book, step->method, step->from));
}

static inline bool walk_to(struct pair *pair, unsigned state) {
    struct step steps[STEPS_MAX];
    size_t count = 0;
    bool good = way_to(pair->book, state, steps, &count);
    for (size_t i = 0; good && i < count; i++)
        good = take_step(pair, &steps[i]);
    return good && pair->state == state;
}

/* What still waits is answered, and the two have seen the same. */
static inline void pair_close(struct pair *pair) {
    if (pair->waiting)
        answer_step(pair, &pair->left, pair->waiting, true);
    const dx_buf *host = &pair->ends[DX_SIDE_HOST].seen;
    const dx_buf *plugin = &pair->ends[DX_SIDE_PLUGIN].seen;
    if (host->len != plugin->len || (host->len && memcmp(host->data, plugin->data, host->len) != 0))
        failed("%s: %s: the two ends did not see the same", pair->book->name, pair->what);
    for (dx_side side = DX_SIDE_HOST; side <= DX_SIDE_PLUGIN; side++) {
        if (!is_quiet(pair, side))
            failed("%s: %s: the %s has more to say", pair->book->name, pair->what, side_name(side));
        dx_buf_done(&pair->ends[side].seen);
        dx_peer_free(peer_of(pair, side));
    }
    dx_buf_done(&pair->wire);
}

#endif
