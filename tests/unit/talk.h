/* Short words for tests that talk to a peer, in line framing. */
#ifndef UNIT_TALK_H
#define UNIT_TALK_H

#include "unit/unit.h"

#include <duplex/peer.h>

#define V "{\"jsonrpc\":\"2.0\""

static inline dx_peer *talk_new(const dx_peer_config *config) {
    dx_peer *peer = NULL;
    assert_int_equal(dx_peer_new(config, &peer), DX_OK);
    assert_non_null(peer);
    return peer;
}

static inline dx_peer *talk_plain(void) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    return talk_new(&config);
}

static inline void talk_feed(dx_peer *peer, const char *text, uint64_t now) {
    size_t used = 0;
    assert_int_equal(dx_peer_feed(peer, text, strlen(text), now, &used), DX_OK);
    assert_int_equal(used, strlen(text));
}

static inline const dx_event *talk_next(dx_peer *peer, dx_event_kind kind) {
    const dx_event *event = NULL;
    assert_int_equal(dx_peer_next(peer, &event), DX_OK);
    assert_int_equal(event->kind, kind);
    return event;
}

static inline void talk_silence(dx_peer *peer) {
    const dx_event *event;
    assert_int_equal(dx_peer_next(peer, &event), DX_AGAIN);
}

static inline dx_event *talk_keep(dx_peer *peer) {
    dx_event *event = NULL;
    assert_int_equal(dx_peer_keep(peer, &event), DX_OK);
    assert_non_null(event);
    return event;
}

/* The output is exactly this, and is sent. */
static inline void talk_said(dx_peer *peer, const char *expected) {
    dx_text output = dx_peer_output(peer);
    unit_same(output, dx_str(expected));
    dx_peer_sent(peer, output.len);
    assert_int_equal(dx_peer_output(peer).len, 0);
}

static inline dx_call talk_call(dx_peer *peer, const char *method, uint64_t now) {
    dx_call call = 0;
    assert_int_equal(dx_peer_call(peer, dx_str(method), dx_json_none(), NULL, now, &call), DX_OK);
    assert_true(call != 0);
    return call;
}

#endif
