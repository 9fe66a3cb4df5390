/* styles.h: a request is cancelled, and progress is told, in the way that the document says. */
#ifndef TRAFFIC_STYLES_H
#define TRAFFIC_STYLES_H

#include "protocol/traffic/good.h"

/* Where the token of progress stands in params that fit; to be freed. NULL: nowhere. */
static inline char *with_token(const struct book *book, const dx_method *method, dx_side from,
                               const char *token) {
    const char *params = smallest_params(book, method, from);
    yyjson_doc *plain = params ? yyjson_read(params, strlen(params), 0) : NULL;
    yyjson_doc *value = yyjson_read(token, strlen(token), 0);
    char *text = NULL;
    for (const char *const *place = book->facts->progress_places; plain && place && *place && !text;
         place++) {
        yyjson_mut_doc *doc = yyjson_doc_mut_copy(plain, NULL);
        yyjson_mut_doc_ptr_set(doc, *place, yyjson_val_mut_copy(doc, yyjson_doc_get_root(value)));
        yyjson_doc *whole = yyjson_mut_doc_imut_copy(doc, NULL);
        if (dx_protocol_check(book->protocol, method, from, DX_PART_PARAMS,
                              yyjson_doc_get_root(whole), 0, NULL) == DX_OK)
            text = yyjson_mut_write(doc, 0, NULL);
        yyjson_doc_free(whole);
        yyjson_mut_doc_free(doc);
    }
    yyjson_doc_free(plain);
    yyjson_doc_free(value);
    return text;
}

/* A request that `from` can make, and the state for it; better one that leads nowhere else. False
 * if there is none. */
static inline bool find_request(const struct book *book, dx_side from, struct step *ret_step,
                                unsigned *ret_state) {
    for (int any = 0; any <= 1; any++)
        for (size_t i = 0; i < book->methods; i++) {
            *ret_step = (struct step){dx_protocol_method(book->protocol, i), from, HOW_LEFT};
            if (!ret_step->method->notification && is_from(ret_step->method, from) &&
                state_for(book, ret_step->method, from, ret_state) &&
                (any || stays(book, *ret_state, ret_step)))
                return true;
        }
    return false;
}

/* The same with a token in its params, if any request has a place for that. The params are to be
 * freed. */
static inline bool find_with_token(const struct book *book, dx_side from, const char *token,
                                   struct step *ret_step, unsigned *ret_state, char **ret_params) {
    for (size_t i = 0; i < book->methods; i++) {
        const dx_method *method = dx_protocol_method(book->protocol, i);
        *ret_step = (struct step){method, from, HOW_LEFT};
        if (method->notification || !is_from(method, from) ||
            !state_for(book, method, from, ret_state))
            continue;
        *ret_params = with_token(book, method, from, token);
        if (*ret_params)
            return true;
    }
    if (!find_request(book, from, ret_step, ret_state))
        return false;
    const char *params = smallest_params(book, ret_step->method, from);
    *ret_params = params ? strdup(params) : NULL;
    return true;
}

static inline void cancelled(struct pair *pair, const struct step *step, dx_event *asked) {
    const dx_protocol_facts *facts = pair->book->facts;
    dx_side to = other_side(step->from);
    dx_peer *caller = peer_of(pair, step->from);
    expect(pair, step, dx_peer_cancel(caller, pair->call, dx_str("why"), 1) == DX_OK, "cancel");
    carry(pair, step->from);
    pair->book->sent++;
    pair->book->styles++;
    dx_event *event = take(pair, to);
    expect(pair, step, event && event->kind == DX_EVENT_CANCEL && event->request == asked->request,
           "that it is cancelled was not told");
    dx_event_free(event);
    dx_status status = dx_peer_refuse(peer_of(pair, to), asked->request, facts->cancel_code,
                                      dx_str("cancelled"), dx_json_none());
    expect(pair, step, status == (facts->cancel_answered ? DX_OK : DX_GONE), "its answer");
    pair->book->sent += facts->cancel_answered != 0;
    carry(pair, to);
    event = take(pair, step->from);
    expect(pair, step,
           event && event->kind == DX_EVENT_DONE && event->outcome == DX_OUTCOME_CANCELLED &&
               event->error.fault == DX_FAULT_CANCELLED,
           "did not end as cancelled");
    dx_event_free(event);
    if (facts->cancel_answered)
        moved(pair, step, DX_MOVE_ERROR);
}

static inline const dx_method *rule_named(const struct book *book, const char *name) {
    return name ? dx_protocol_find(book->protocol, dx_str(name)) : NULL;
}

/* Who may not say so only stops waiting; the other side answers all the same. */
static inline void forgotten(struct pair *pair, const struct step *step, dx_event *asked) {
    dx_side to = other_side(step->from);
    dx_peer *caller = peer_of(pair, step->from);
    const char *result = smallest_result(pair->book, step->method, step->from);
    expect(pair, step, dx_peer_cancel(caller, pair->call, dx_str("why"), 1) == DX_OK, "cancel");
    expect(pair, step, dx_peer_output(caller).len == 0, "said what it may not");
    dx_event *event = take(pair, step->from);
    expect(pair, step,
           event && event->kind == DX_EVENT_DONE && event->outcome == DX_OUTCOME_CANCELLED,
           "did not end as cancelled");
    dx_event_free(event);
    expect(pair, step, dx_peer_reply(peer_of(pair, to), asked->request, json_of(result)) == DX_OK,
           "answer");
    carry(pair, to);
    pair->book->sent++;
    pair->book->styles++;
    expect(pair, step, dx_peer_statistics(caller).late == 1, "the late answer is not counted");
}

/* Each side cancels a request. */
static inline void send_cancel(struct book *book, dx_trace_writer *trace) {
    const dx_method *rule = rule_named(book, book->facts->cancel_method);
    for (dx_side from = DX_SIDE_HOST; rule && from <= DX_SIDE_PLUGIN; from++) {
        struct step step;
        struct pair pair;
        unsigned state;
        dx_event *asked = NULL;
        if (!find_request(book, from, &step, &state))
            continue;
        pair_open(&pair, book, DX_CHECKING_BOTH, DX_CHECKING_BOTH, trace, "cancelled");
        const char *params = smallest_params(book, step.method, from);
        if (walk_to(&pair, state) && send_step(&pair, &step, params, &asked))
            (is_from(rule, from) ? cancelled : forgotten)(&pair, &step, asked);
        dx_event_free(asked);
        pair_close(&pair);
    }
}

/* The caller gave a token, and hears of it. */
static inline void progressed(struct pair *pair, const struct step *step, const char *token) {
    const dx_protocol_facts *facts = pair->book->facts;
    dx_side to = other_side(step->from);
    const dx_method *rule = dx_protocol_find(pair->book->protocol, dx_str(facts->progress_method));
    const char *smallest = smallest_params(pair->book, rule, to);
    yyjson_doc *plain = yyjson_read(smallest, strlen(smallest), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(plain, NULL);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_put(root, yyjson_mut_str(doc, facts->progress_token),
                       yyjson_mut_raw(doc, token));
    char *params = yyjson_mut_write(doc, 0, NULL);
    dx_status status = say(pair, to, rule->name, false, params);
    if (expect(pair, step, status == DX_OK, dx_peer_why(peer_of(pair, to))->phrase)) {
        carry(pair, to);
        pair->book->sent++;
        pair->book->styles++;
        dx_event *event = take(pair, step->from);
        expect(pair, step,
               event && event->kind == DX_EVENT_PROGRESS && event->call == pair->call &&
                   dx_text_is(event->body, params),
               "progress was not told");
        dx_event_free(event);
    }
    free(params);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(plain);
}

static inline void call_with_token(struct book *book, dx_trace_writer *trace,
                                   const struct step *step, unsigned state, const char *params,
                                   const char *token) {
    struct pair pair;
    dx_event *asked = NULL;
    dx_call_options options = {.token = dx_str(token)};
    pair_open(&pair, book, DX_CHECKING_BOTH, DX_CHECKING_BOTH, trace, "progress");
    if (walk_to(&pair, state) &&
        expect(&pair, step,
               dx_peer_call(peer_of(&pair, step->from), dx_str(step->method->name), json_of(params),
                            &options, 1, &pair.call) == DX_OK,
               "could not be called")) {
        carry(&pair, step->from);
        book->sent++;
        if (came(&pair, step, params, &asked) && moved(&pair, step, DX_MOVE_SENT)) {
            progressed(&pair, step, token);
            answer_step(&pair, step, asked, true);
        }
    }
    pair_close(&pair);
}

/* Each side that may tells progress of a request of the other one. */
static inline void send_progress(struct book *book, dx_trace_writer *trace) {
    static const char token[] = "\"token\"";
    const dx_method *rule = rule_named(book, book->facts->progress_method);
    for (dx_side from = DX_SIDE_HOST; rule && from <= DX_SIDE_PLUGIN; from++) {
        struct step step;
        unsigned state;
        char *params = NULL;
        if (!is_from(rule, from) ||
            !find_with_token(book, other_side(from), token, &step, &state, &params))
            continue;
        call_with_token(book, trace, &step, state, params, token);
        free(params);
    }
}

#endif
