/* pair.h: two joined peers from birth to the last check. */
#ifndef MODEL_PAIR_H
#define MODEL_PAIR_H

#include "model/acts.h"

static inline void set_styles(struct pair *pair, dx_peer_config *config, unsigned style) {
    if (style == 1)
        config->cancel = (dx_cancel_style){.method = "$/cancelRequest",
                                           .id_member = "id",
                                           .answered = 1,
                                           .code = -32800,
                                           .grace_ms = pair->no_time ? DX_NEVER : 2000};
    if (style == 2)
        config->cancel = (dx_cancel_style){.method = "notifications/cancelled",
                                           .id_member = "requestId",
                                           .reason_member = "reason"};
    config->progress = (dx_progress_style){
        .method = "progress", .token_member = "token", .pass_unknown = once_in(&pair->chance, 4)};
    if (once_in(&pair->chance, 4))
        config->content_type = "application/vscode-jsonrpc; charset=utf-8";
}

/* Limits so small that they are met all the time. */
static inline void set_limits(struct pair *pair, dx_peer_config *config) {
    struct chance *chance = &pair->chance;
    if (once_in(chance, 4))
        config->calls_max = 1 + pick(chance, 5);
    if (once_in(chance, 4))
        config->requests_max = 1 + pick(chance, 5);
    if (once_in(chance, 4))
        config->in_max = 1 + pick(chance, 2000);
    if (once_in(chance, 4))
        config->out_max = pick(chance, 2000);
    if (once_in(chance, 2)) /* memory comes and goes */
        config->idle_ms = pick(chance, 50);
    if (once_in(chance, 4) && !pair->no_time)
        config->stall_ms = 1 + pick(chance, 50);
}

static inline void side_init(struct pair *pair, unsigned index, dx_framing framing) {
    struct side *side = &pair->sides[index];
    struct chance *chance = &pair->chance;
    side->pair = pair;
    side->other = &pair->sides[!index];
    side->name = index ? "plugin" : "host";
    side->memory.chance = chance_of_seed(pair->seed + index);
    side->config = dx_peer_defaults(framing, index ? DX_SIDE_PLUGIN : DX_SIDE_HOST);
    side->config.first_id = once_in(chance, 8) ? (UINT64_C(1) << 53) - 20 : 1;
    side->config.seed = pair->seed;
    side->config.flags = DX_PEER_BATCH | (once_in(chance, 6) ? DX_PEER_TEXT : 0);
    if (pair->no_time)
        side->config.timeout_ms = side->config.total_ms = side->config.stall_ms = DX_NEVER;
    else if (once_in(chance, 2))
        side->config.handle_ms = 1 + pick(chance, 4000);
    dx_allocator allocator = counting_allocator(&side->memory);
    side->config.allocator = &allocator;
    side->calls = calloc(CALLS_MAX + 1, sizeof *side->calls);
    CHECK(pair, side->calls != NULL);
    set_limits(pair, &side->config);
    set_styles(pair, &side->config, pair->style);
    if (pair->message_max)
        side->config.message_max = pair->message_max;
    CHECK(pair, dx_peer_new(&side->config, &side->peer) == DX_OK);
    side->config.allocator = NULL;
}

static inline void pair_init(struct pair *pair, uint64_t seed, struct chance chance) {
    *pair = (struct pair){.chance = chance, .seed = seed, .now = 1000};
    dx_framing framing = once_in(&pair->chance, 2) ? DX_FRAMING_LINE : DX_FRAMING_HEADER;
    pair->no_time = once_in(&pair->chance, 2);
    pair->style = pick(&pair->chance, 3);
    bool meddles = once_in(&pair->chance, 2);
    unsigned failures = once_in(&pair->chance, 4) ? 2 + pick(&pair->chance, 60) : 0;
    /* What one side may say, the other must be able to hear; a batch would be longer. */
    if (!meddles && once_in(&pair->chance, 4))
        pair->message_max = 300 + pick(&pair->chance, 600);
    for (unsigned i = 0; i < 2; i++) {
        side_init(pair, i, framing);
        wire_init(&pair->sides[i].wire, framing, meddles);
        pair->sides[i].memory.fail_one_in = failures;
    }
}

/* Things between messages that a peer has to bear. */
static inline void act_meddle(struct side *side) {
    static const char *const strangers[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"result\":true}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":true}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"progress\",\"params\":{\"token\":\"no\",\"step\":1}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\"no\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"?\"}}",
        "[]",
        "{\"broken\":",
    };
    struct wire *wire = &side->wire;
    struct chance *chance = &side->pair->chance;
    if (!wire->meddles || side->finished || side->pair->cut)
        return;
    unsigned what = pick(chance, 11);
    if (what < 4) {
        wire->gather = 2 + pick(chance, 4);
        return;
    }
    wire_flush_batch(wire);
    const char *stranger = strangers[what - 4];
    /* Without a style of its own the peer takes the foreign cancellation for a message. */
    bool unknown = what == 7 && (!side->config.cancel.method || !side->config.cancel.answered);
    if (unknown)
        wire_add(&wire->ready, "a line of a log\n", 16);
    else
        wire_write(wire, dx_str(stranger));
}

static inline void pair_act(struct pair *pair) {
    struct chance *chance = &pair->chance;
    struct side *side = &pair->sides[pick(chance, 2)];
    switch (pick(chance, 32)) {
    case 0 ... 4:
        act_call(side);
        break;
    case 5 ... 6:
        act_notify(side);
        break;
    case 7:
        act_cancel(side);
        break;
    case 8 ... 9:
        act_answer_kept(side);
        break;
    case 10:
        act_free_kept(side);
        break;
    case 11:
        act_progress(side);
        break;
    case 12:
        act_nonsense(side);
        break;
    case 13:
        act_meddle(side);
        break;
    case 14 ... 15:
        pair->now += pick(chance, 8) ? pick(chance, 20) : pick(chance, 4000);
        act_tick(side);
        break;
    case 16 ... 20:
        act_send(side, some(chance, dx_peer_output(side->peer).len));
        break;
    case 21 ... 25:
        act_feed(side, some(chance, wire_waiting(&side->wire).len));
        break;
    default:
        act_next(side, 1 + pick(chance, 6));
        break;
    }
    check_books(side);
}

/* One round of everything that is under way; false if nothing was. */
static inline bool drain(struct side *side) {
    bool moved = false;
    wire_flush_batch(&side->wire);
    size_t in = wire_waiting(&side->wire).len;
    size_t out = dx_peer_output(side->peer).len;
    uint64_t before = dx_peer_statistics(side->peer).messages_out;
    act_send(side, SIZE_MAX);
    act_feed(side, SIZE_MAX);
    act_next(side, UINT32_MAX);
    while (side->kept_count && !side->pair->cut) {
        unsigned had = side->kept_count;
        act_answer_kept(side);
        if (side->kept_count == had) /* too much output waits */
            act_send(side, SIZE_MAX);
        moved = true;
    }
    moved |= in || out || before != dx_peer_statistics(side->peer).messages_out;
    check_books(side);
    return moved;
}

static inline void drain_all(struct pair *pair) {
    for (unsigned i = 0; i < 2; i++)
        pair->sides[i].memory.fail_one_in = 0;
    for (unsigned rounds = 0;; rounds++) {
        CHECK(pair, rounds < 100000);
        for (unsigned i = 0; i < 2; i++) /* what was dropped without memory */
            dx_peer_tick(pair->sides[i].peer, pair->now);
        bool first = drain(&pair->sides[0]);
        if (!drain(&pair->sides[1]) && !first)
            return;
    }
}

/* Everything was said and heard: the books are empty, and agree. */
static inline void check_empty(const struct side *side) {
    const struct pair *pair = side->pair;
    dx_peer_stats s = dx_peer_statistics(side->peer);
    uint64_t odd = 0;
    CHECK(pair, dx_peer_pending(side->peer) == 0);
    for (unsigned n = 1; n <= side->call_count; n++) {
        CHECK(pair, side->calls[n].ended);
        const struct call *call = &side->calls[n];
        odd += call->odd && !call->delivered;
    }
    CHECK(pair, side->notes_heard == side->notes_sent);
    CHECK(pair, s.stray_lines == side->strays);
    CHECK(pair, s.progress == side->progress);
    CHECK(pair, s.violations == side->violations + s.invalid);
    CHECK(pair, s.unknown_ids <= s.violations);
    dx_peer_stats o = dx_peer_statistics(side->other->peer);
    uint64_t answered =
        o.replies + o.refusals + o.dropped + o.overdue + o.cancelled_by_peer + o.busy;
    CHECK(pair, o.requests >= answered && o.requests <= answered + odd);
    CHECK(pair, s.calls == o.requests);
    if (!side->wire.meddles) {
        CHECK(pair, s.messages_in == o.messages_out);
        CHECK(pair, s.bytes_in == o.bytes_out);
    }
}

/* The line breaks, somewhere in a message perhaps, and both sides notice. */
static inline void pair_break(struct pair *pair) {
    struct chance *chance = &pair->chance;
    unsigned first = pick(chance, 2);
    for (unsigned i = 0; i < 2; i++) {
        struct wire *wire = &pair->sides[i].wire;
        wire_cut(wire, some(chance, wire->ready.len - wire->fed + wire->raw.len));
    }
    pair->cut = true;
    act_finish(&pair->sides[first]);
    for (unsigned i = pick(chance, 30); i > 0; i--) {
        pair->operation++;
        pair_act(pair);
    }
    act_finish(&pair->sides[!first]);
    drain_all(pair);
    for (unsigned i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        dx_peer_tick(side->peer, pair->now);
        act_next(side, UINT32_MAX);
        CHECK(pair, side->closed && dx_peer_pending(side->peer) == 0);
        for (unsigned n = 1; n <= side->call_count; n++)
            CHECK(pair, side->calls[n].ended);
        CHECK(pair, dx_peer_notify(side->peer, dx_str("note"), dx_json_none()) == DX_CLOSED);
    }
}

/* Kept events outlive their peer. */
static inline void side_done(struct side *side) {
    struct pair *pair = side->pair;
    bool early = once_in(&pair->chance, 2);
    if (early)
        while (side->kept_count)
            act_free_kept(side);
    pair->totals[side == &pair->sides[1]] = dx_peer_statistics(side->peer);
    pair->failed += side->memory.failed;
    CHECK(pair, dx_peer_free(side->peer) == NULL);
    for (unsigned i = 0; i < side->kept_count; i++) {
        const dx_event *ev = side->kept[i].event;
        if (!pair->hostile)
            CHECK(pair, number_in(ev->body, "n") == side->kept[i].number);
        dx_event_free(side->kept[i].event);
    }
    CHECK(pair, side->memory.live == 0);
    wire_done(&side->wire);
}

/* All that was said is heard, the line breaks, or both are just freed in the middle of it. */
enum ending { ENDING_DRAINED, ENDING_BROKEN, ENDING_ABRUPT, ENDINGS };

static inline void pair_end(struct pair *pair, enum ending ending) {
    if (ending == ENDING_BROKEN)
        pair_break(pair);
    if (ending == ENDING_DRAINED) {
        drain_all(pair);
        check_empty(&pair->sides[0]);
        check_empty(&pair->sides[1]);
    }
    side_done(&pair->sides[0]);
    side_done(&pair->sides[1]);
    free(pair->sides[0].calls);
    free(pair->sides[1].calls);
}

#endif
