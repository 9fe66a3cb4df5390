/* good.h: every message as it should go, in every state that lets it through. */
#ifndef TRAFFIC_GOOD_H
#define TRAFFIC_GOOD_H

#include "protocol/traffic/pair.h"

static inline void send_in_state(struct book *book, dx_trace_writer *trace, unsigned state,
                                 struct step step, const char *params) {
    struct pair pair;
    pair_open(&pair, book, DX_CHECKING_BOTH, DX_CHECKING_BOTH, trace, "sent");
    if (!walk_to(&pair, state))
        complain(&pair, step.method, step.from, "the way to its state is blocked");
    else
        take_step_with(&pair, &step, params);
    pair_close(&pair);
}

/* In its first state a request is also answered with an error, and params that may be absent are.
 */
static inline void send_message(struct book *book, dx_trace_writer *trace, const dx_method *method,
                                dx_side from) {
    struct step step = {method, from, method->notification ? HOW_TOLD : HOW_RESULT};
    const char *params = smallest_params(book, method, from);
    struct step way[STEPS_MAX];
    size_t count;
    bool first = true;
    for (unsigned state = 0; state < book->states; state++) {
        if (dx_protocol_may_send(book->protocol, state, method, from, NULL, NULL) == DX_LEAVE_NO ||
            !way_to(book, state, way, &count))
            continue;
        send_in_state(book, trace, state, step, params);
        if (first && params && method->optional[from])
            send_in_state(book, trace, state, step, NULL);
        if (first && !method->notification)
            send_in_state(book, trace, state, (struct step){method, from, HOW_ERROR}, params);
        first = false;
    }
}

/* Does it leave the conversation where it is? */
static inline bool stays(const struct book *book, unsigned state, const struct step *step) {
    for (dx_move move = DX_MOVE_SENT; move <= DX_MOVE_ERROR; move++)
        if (dx_protocol_after(book->protocol, state, step->method, step->from, move) != state)
            return false;
    return true;
}

#endif
