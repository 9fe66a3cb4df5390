/* misfits.h: params and results that do not fit. */
#ifndef TRAFFIC_MISFITS_H
#define TRAFFIC_MISFITS_H

#include "protocol/traffic/changes.h"
#include "protocol/traffic/refusal.h"

/* A peer for each side; `unchecked` is the one that does not check. */
static inline void open_unchecked(struct pair *pair, struct book *book, dx_side unchecked,
                                  const char *what) {
    pair_open(pair, book, unchecked == DX_SIDE_HOST ? DX_CHECKING_OFF : DX_CHECKING_BOTH,
              unchecked == DX_SIDE_PLUGIN ? DX_CHECKING_OFF : DX_CHECKING_BOTH, NULL, what);
}

/* What the engine says of a change, which must be at the place where it was made. */
static inline bool explain(const struct book *book, const struct step *step, dx_part part,
                           const struct change *change, char reason[512]) {
    dx_misfit why = {.phrase = ""};
    yyjson_doc *doc = change->text ? yyjson_read(change->text, strlen(change->text), 0) : NULL;
    dx_status status = dx_protocol_check(book->protocol, step->method, step->from, part,
                                         yyjson_doc_get_root(doc), DX_CHECK_OPEN, &why);
    yyjson_doc_free(doc);
    size_t place = strlen(why.instance);
    snprintf(reason, 512, "%s", why.phrase + (place ? place + 2 : 0));
    if (status == DX_MISFIT && is_same(why.instance, change->pointer) &&
        (!change->reason[0] || is_same(reason, change->reason)))
        return true;
    failed("%s: %s of the %s: %s: should be told at \"%s\" (%s), but \"%s\" is said", book->name,
           step->method->name, side_name(step->from), change->text ? change->text : "(absent)",
           change->pointer, change->reason, why.phrase);
    return false;
}

static inline void try_params(struct book *book, const struct step *step, unsigned state,
                              const struct change *change) {
    struct pair pair;
    char reason[512];
    bool is_request = !step->method->notification;
    if (!explain(book, step, DX_PART_PARAMS, change, reason))
        return;
    book->tried[TRIAL_PARAMS]++;
    struct refusal refusal = {DX_FAULT_PARAMS_FIT, DX_CODE_PARAMS, "Invalid params",
                              change->pointer, reason};
    open_unchecked(&pair, book, step->from, change->text ? change->text : "without params");
    if (expect(&pair, step, walk_to(&pair, state), "the way to its state is blocked")) {
        expect_refused(&pair, step, step->method->name, is_request, change->text, &refusal);
        if (dx_protocol_may_send(book->protocol, pair.state, step->method, step->from, NULL,
                                 NULL) != DX_LEAVE_NO)
            take_step(&pair, step); /* it goes on */
    }
    pair_close(&pair);
    pair_open(&pair, book, DX_CHECKING_BOTH, DX_CHECKING_BOTH, NULL, pair.what);
    if (walk_to(&pair, state)) {
        expect_unsent(&pair, step, step->method->name, is_request, change->text, &refusal);
        take_step(&pair, step);
    }
    pair_close(&pair);
}

/* The call ends as invalid, and shows what came. */
static inline void expect_invalid(struct pair *pair, const struct step *step, dx_event *asked,
                                  const struct change *change, const char *reason) {
    struct refusal refusal = {.pointer = change->pointer, .reason = reason};
    char phrase[200];
    dx_side to = other_side(step->from);
    expect(pair, step,
           dx_peer_reply(peer_of(pair, to), asked->request, json_of(change->text)) == DX_OK,
           "its answer could not be sent");
    carry(pair, to);
    pair->state = dx_protocol_after(pair->book->protocol, pair->state, step->method, step->from,
                                    DX_MOVE_RESULT);
    write_phrase(phrase, step->method->name, "/result", &refusal);
    dx_event *done = take(pair, step->from);
    if (expect(pair, step,
               done && done->kind == DX_EVENT_DONE && done->outcome == DX_OUTCOME_INVALID &&
                   done->error.fault == DX_FAULT_RESULT_FIT && done->rule == step->method,
               "its result was taken")) {
        expect(pair, step, is_same(done->error.phrase, phrase), done->error.phrase);
        expect(pair, step, dx_text_is(done->body, change->text) && done->value,
               "its result is not there");
    }
    dx_event_free(done);
    dx_peer_stats stats = dx_peer_statistics(peer_of(pair, step->from));
    expect(pair, step, stats.invalid == 1 && stats.violations == 1, "is counted otherwise");
    expect(pair, step, in_state(pair, step->from, pair->state) && in_state(pair, to, pair->state),
           "the two ends are not where the document says");
}

static inline void try_result(struct book *book, const struct step *step, unsigned state,
                              const struct change *change) {
    struct pair pair;
    dx_event *asked = NULL;
    char reason[512];
    const char *params = smallest_params(book, step->method, step->from);
    if (!explain(book, step, DX_PART_RESULT, change, reason))
        return;
    book->tried[TRIAL_RESULT]++;
    open_unchecked(&pair, book, other_side(step->from), change->text);
    if (walk_to(&pair, state) && send_step(&pair, step, params, &asked))
        expect_invalid(&pair, step, asked, change, reason);
    dx_event_free(asked);
    pair_close(&pair);
    pair_open(&pair, book, DX_CHECKING_BOTH, DX_CHECKING_BOTH, NULL, pair.what);
    asked = NULL;
    if (walk_to(&pair, state) && send_step(&pair, step, params, &asked)) {
        dx_peer *peer = peer_of(&pair, other_side(step->from));
        expect(&pair, step,
               dx_peer_reply(peer, asked->request, json_of(change->text)) == DX_MISFIT &&
                   is_same(dx_peer_why(peer)->instance, change->pointer) &&
                   !dx_peer_output(peer).len,
               "its result was sent");
        answer_step(&pair, step, asked, true);
    }
    pair_close(&pair);
}

/* Everything that can be wrong with the params and with the result of a message. */
static inline void try_misfits(struct book *book, const dx_method *method, dx_side from) {
    struct step step = {method, from, method->notification ? HOW_TOLD : HOW_RESULT};
    unsigned state;
    if (!state_for(book, method, from, &state))
        return; /* that it cannot be sent is told elsewhere */
    for (dx_part part = DX_PART_PARAMS; part <= DX_PART_RESULT; part++) {
        const char *smallest = *smallest_at(book, method, from, part);
        yyjson_doc *doc = smallest ? yyjson_read(smallest, strlen(smallest), 0) : NULL;
        struct changes changes;
        changes_find(&changes, book, method, from, part, doc);
        for (size_t i = 0; i < changes.count; i++)
            if (part == DX_PART_PARAMS)
                try_params(book, &step, state, &changes.list[i]);
            else if (!method->notification)
                try_result(book, &step, state, &changes.list[i]);
        changes_done(&changes);
        yyjson_doc_free(doc);
    }
}

#endif
