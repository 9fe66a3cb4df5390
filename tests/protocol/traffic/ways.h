/*
 * ways.h: how to get from the beginning of a conversation to each state of its lifecycle.
 *
 * Some states exist only while a request waits for its answer. So a place on the way is a state and
 * the request that waits, if there is one.
 */
#ifndef TRAFFIC_WAYS_H
#define TRAFFIC_WAYS_H

#include "protocol/traffic/book.h"

enum { STEPS_MAX = 16, NO_WAY = 1 << 20 };

enum how {
    HOW_TOLD = 1, /* a notification is sent */
    HOW_RESULT,   /* a request is sent and answered */
    HOW_ERROR,
    HOW_LEFT,        /* a request is sent and waits */
    HOW_RESULT_LATE, /* and now it is answered */
    HOW_ERROR_LATE
};

struct step {
    const dx_method *method;
    dx_side from;
    enum how how;
};

struct way {
    unsigned cost; /* NO_WAY: none is known */
    size_t before; /* the place before the last step */
    struct step last;
};

static inline size_t ways_width(const struct book *book) {
    return 1 + book->methods * DX__SIDES;
}

static inline size_t place_of(const struct book *book, unsigned state, size_t waiting) {
    return state * ways_width(book) + waiting;
}

static inline void offer(struct book *book, size_t before, size_t place, unsigned cost,
                         struct step step) {
    cost += book->ways[before].cost;
    if (cost < book->ways[place].cost)
        book->ways[place] = (struct way){cost, before, step};
}

static inline void offer_message(struct book *book, size_t place, const dx_method *method,
                                 dx_side from) {
    /* What comes early is let through, but a way without that is better. */
    static const unsigned costs[] = {[DX_LEAVE_YES] = 10, [DX_LEAVE_EARLY] = 1000};
    unsigned state = (unsigned)(place / ways_width(book));
    size_t waiting = place % ways_width(book);
    dx_leave leave = dx_protocol_may_send(book->protocol, state, method, from, NULL, NULL);
    if (leave == DX_LEAVE_NO)
        return;
    unsigned cost = costs[leave];
    unsigned sent = dx_protocol_after(book->protocol, state, method, from, DX_MOVE_SENT);
    if (method->notification) {
        offer(book, place, place_of(book, sent, waiting), cost,
              (struct step){method, from, HOW_TOLD});
        return;
    }
    unsigned result = dx_protocol_after(book->protocol, sent, method, from, DX_MOVE_RESULT);
    unsigned error = dx_protocol_after(book->protocol, sent, method, from, DX_MOVE_ERROR);
    offer(book, place, place_of(book, result, waiting), cost,
          (struct step){method, from, HOW_RESULT});
    offer(book, place, place_of(book, error, waiting), cost + 1,
          (struct step){method, from, HOW_ERROR});
    if (!waiting && sent != state)
        offer(book, place, place_of(book, sent, 1 + method->index * DX__SIDES + dx__column(from)),
              cost + 5, (struct step){method, from, HOW_LEFT});
}

static inline void offer_answer(struct book *book, size_t place) {
    unsigned state = (unsigned)(place / ways_width(book));
    size_t waiting = place % ways_width(book) - 1;
    const dx_method *method = dx_protocol_method(book->protocol, waiting / DX__SIDES);
    dx_side from = waiting % DX__SIDES ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
    unsigned result = dx_protocol_after(book->protocol, state, method, from, DX_MOVE_RESULT);
    unsigned error = dx_protocol_after(book->protocol, state, method, from, DX_MOVE_ERROR);
    offer(book, place, place_of(book, result, 0), 1, (struct step){method, from, HOW_RESULT_LATE});
    offer(book, place, place_of(book, error, 0), 2, (struct step){method, from, HOW_ERROR_LATE});
}

/* There are so few places that all of them are looked at until nothing gets better. */
static inline void ways_find(struct book *book) {
    size_t count = ways_width(book) * book->states;
    book->ways = malloc(count * sizeof *book->ways);
    must(book->ways != NULL);
    for (size_t i = 0; i < count; i++)
        book->ways[i] = (struct way){.cost = i ? NO_WAY : 0};
    unsigned long before = 0;
    for (unsigned long sum = 1; sum != before;) {
        for (size_t place = 0; place < count; place++) {
            if (book->ways[place].cost == NO_WAY)
                continue;
            if (place % ways_width(book))
                offer_answer(book, place);
            for (size_t i = 0; i < book->methods; i++)
                for (dx_side from = DX_SIDE_HOST; from <= DX_SIDE_PLUGIN; from++)
                    offer_message(book, place, dx_protocol_method(book->protocol, i), from);
        }
        before = sum;
        sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += book->ways[i].cost;
    }
}

/* The steps from the beginning to a state; false if there is no way. */
static inline bool way_to(const struct book *book, unsigned state, struct step steps[STEPS_MAX],
                          size_t *ret_count) {
    size_t best = place_of(book, state, 0);
    for (size_t i = 0; i < ways_width(book); i++)
        if (book->ways[place_of(book, state, i)].cost < book->ways[best].cost)
            best = place_of(book, state, i);
    if (book->ways[best].cost == NO_WAY)
        return false;
    size_t count = 0;
    for (size_t place = best; place; place = book->ways[place].before)
        count++;
    if (count > STEPS_MAX)
        return false;
    *ret_count = count;
    for (size_t place = best; place; place = book->ways[place].before)
        steps[--count] = book->ways[place].last;
    return true;
}

/* The state in which a message is best sent: one that allows it, or else one that lets it through.
 * False if there is none. */
static inline bool state_for(const struct book *book, const dx_method *method, dx_side from,
                             unsigned *ret_state) {
    static const dx_leave leaves[] = {DX_LEAVE_YES, DX_LEAVE_EARLY};
    struct step steps[STEPS_MAX];
    size_t count;
    for (size_t i = 0; i < 2; i++)
        for (unsigned state = 0; state < book->states; state++)
            if (dx_protocol_may_send(book->protocol, state, method, from, NULL, NULL) ==
                    leaves[i] &&
                way_to(book, state, steps, &count)) {
                *ret_state = state;
                return true;
            }
    return false;
}

#endif
