/*
 * memory: a peer that was never used, and one that was used in every way, then drained and left
 * alone for as long as its configuration says, holds under 4 KiB.
 */
#include "model/counting.h"

#include <duplex/duplex.h>

#include <stdio.h>

enum { HOLDS_MAX = 4096, BIG = 1 << 20, MANY = 500 };

static int failures;

static void check(int condition, const char *what) {
    if (condition)
        return;
    fprintf(stderr, "memory: not true: %s\n", what);
    failures++;
}

#define CHECK(condition) check(condition, #condition)

static void check_holds(const char *what, dx_framing framing, const struct counting *memory) {
    printf("%-30s %-6s %zu bytes\n", what, dx_framing_name(framing), memory->live);
    if (memory->live < HOLDS_MAX)
        return;
    fprintf(stderr, "memory: %s holds %zu bytes, not under %d\n", what, memory->live, HOLDS_MAX);
    failures++;
}

/* Answers everything with what came, keeps every third for a while. */
static void serve(dx_peer *peer) {
    const dx_event *ev;
    dx_event *kept[MANY];
    size_t count = 0;
    while (dx_peer_next(peer, &ev) == DX_OK) {
        if (ev->kind != DX_EVENT_REQUEST)
            continue;
        if (ev->request % 3 == 0 && count < MANY)
            CHECK(dx_peer_keep(peer, &kept[count++]) == DX_OK);
        else
            CHECK(dx_peer_reply(peer, ev->request, dx_json_checked(ev->body)) == DX_OK);
    }
    while (count--) {
        CHECK(dx_peer_reply(peer, kept[count]->request, dx_json_value(kept[count]->value)) ==
              DX_OK);
        dx_event_free(kept[count]);
    }
}

static void move(dx_peer *from, dx_peer *to, uint64_t now) {
    dx_text out = dx_peer_output(from);
    CHECK(dx_peer_feed(to, out.at, out.len, now, NULL) == DX_OK);
    dx_peer_sent(from, out.len);
}

static void exchange(dx_peer *one, dx_peer *two, uint64_t now) {
    for (int round = 0; round < 3; round++) {
        move(one, two, now);
        serve(two);
        move(two, one, now);
        serve(one);
    }
}

static void call_many(dx_peer *peer, uint64_t now) {
    for (unsigned i = 0; i < MANY; i++) {
        char token[16];
        dx_text text = {token, (size_t)snprintf(token, sizeof token, "\"t%u\"", i)};
        dx_call_options options = {.token = text};
        dx_call call;
        CHECK(dx_peer_call(peer, dx_str("m\"ethod"), dx_json_text("[1,2]", 5), &options, now,
                           &call) == DX_OK);
        if (i % 7 == 0)
            CHECK(dx_peer_cancel(peer, call, dx_str("changed"), now) == DX_OK);
    }
}

static void call_big(dx_peer *peer, uint64_t now) {
    char *big = malloc(BIG);
    if (!big)
        abort();
    memset(big, ' ', BIG);
    memcpy(big, "[\"", 2);
    memcpy(big + BIG - 2, "\"]", 2);
    CHECK(dx_peer_call(peer, dx_str("big"), dx_json_text(big, BIG), NULL, now, NULL) == DX_OK);
    free(big);
}

static void feed_batch(dx_peer *peer, dx_framing framing, uint64_t now) {
    dx_buf batch;
    dx_buf stream;
    dx_buf_init(&batch, SIZE_MAX / 4, NULL);
    dx_buf_init(&stream, SIZE_MAX / 4, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        char id[60];
        int len = snprintf(id, sizeof id, "\"an id that is longer than a number is %u\"", i);
        CHECK(dx_rpc_write_batch(&batch, i ? DX_BATCH_NEXT : DX_BATCH_OPEN) == DX_OK);
        CHECK(dx_rpc_write_request(&batch, (dx_text){id, (size_t)len}, dx_str("m"),
                                   dx_json_text("{}", 2)) == DX_OK);
    }
    CHECK(dx_rpc_write_batch(&batch, DX_BATCH_CLOSE) == DX_OK);
    CHECK(dx_frame_write(&stream, framing, NULL, (dx_text){batch.data, batch.len}) == DX_OK);
    CHECK(dx_peer_feed(peer, stream.data, stream.len, now, NULL) == DX_OK);
    serve(peer);
    dx_peer_sent(peer, dx_peer_output(peer).len);
    dx_buf_done(&batch);
    dx_buf_done(&stream);
}

static dx_peer *make(dx_framing framing, dx_side side, struct counting *memory) {
    dx_peer_config config = dx_peer_defaults(framing, side);
    dx_allocator allocator = counting_allocator(memory);
    dx_peer *peer = NULL;
    config.allocator = &allocator;
    config.flags = DX_PEER_BATCH;
    config.cancel = (dx_cancel_style){.method = "cancel", .id_member = "id"};
    config.progress = (dx_progress_style){.method = "progress", .token_member = "token"};
    if (dx_peer_new(&config, &peer) != DX_OK)
        abort();
    return peer;
}

/* Time passes as a loop sees it: tick() when the deadline has come. */
static void wait_until(dx_peer *peer, uint64_t now) {
    for (uint64_t when; (when = dx_peer_deadline(peer)) <= now;) {
        dx_peer_tick(peer, when);
        CHECK(dx_peer_deadline(peer) > when);
        if (failures)
            return;
    }
}

static void use(dx_framing framing) {
    struct counting memories[2] = {{0}, {0}};
    uint64_t now = 1000;
    dx_peer *host = make(framing, DX_SIDE_HOST, &memories[0]);
    dx_peer *plugin = make(framing, DX_SIDE_PLUGIN, &memories[1]);
    check_holds("never used", framing, &memories[0]);
    for (int round = 0; round < 2; round++) {
        call_many(host, now);
        call_many(plugin, now);
        call_big(host, now);
        exchange(host, plugin, now);
        feed_batch(plugin, framing, now);
        CHECK(dx_peer_pending(host) == 0 && dx_peer_pending(plugin) == 0);
        now += 5000;
        wait_until(host, now);
        wait_until(plugin, now);
        check_holds(round ? "used again, idle for 5 s" : "used, idle for 5 s", framing,
                    &memories[0]);
        check_holds(round ? "used again, the other side" : "used, the other side", framing,
                    &memories[1]);
    }
    dx_peer_free(host);
    dx_peer_free(plugin);
    CHECK(memories[0].live == 0 && memories[1].live == 0);
}

int main(void) {
    use(DX_FRAMING_HEADER);
    use(DX_FRAMING_LINE);
    return failures != 0;
}
