/* Messages that are parsed when they are taken in: that shows nowhere but in what they cost. */
#include "unit/talk.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 40000, LIMIT = 20 };

/* A message whose content is `depth` arrays deep and, with a text in the innermost, `len` long. The
 * whole is one level deeper. */
static char *deep(const char *head, unsigned depth, size_t len) {
    size_t room = strlen(head) + 2 * depth + len + 16;
    char *text = malloc(room);
    assert_non_null(text);
    char *at = text + sprintf(text, "%s", head);
    memset(at, '[', depth);
    at += depth;
    *at++ = '"';
    memset(at, 'x', len);
    at += len;
    *at++ = '"';
    memset(at, ']', depth);
    at += depth;
    memcpy(at, "}\n", 3);
    return text;
}

static dx_peer *shallow_peer(void) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    config.depth_max = LIMIT;
    return talk_new(&config);
}

static void depth_counts_for_short_and_large(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 100, 2000, LARGE};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (unsigned depth = LIMIT - 2; depth <= LIMIT; depth++) {
            dx_peer *peer = shallow_peer();
            char *text = deep(V ",\"id\":1,\"method\":\"m\",\"params\":", depth, lengths[i]);
            talk_feed(peer, text, 0);
            bool good = depth < LIMIT;
            const dx_event *event = talk_next(peer, good ? DX_EVENT_REQUEST : DX_EVENT_VIOLATION);
            assert_int_equal(event->error.fault, good ? DX_FAULT_NONE : DX_FAULT_JSON_DEPTH);
            dx_peer_free(peer);
            free(text);
        }
}

static size_t innermost(yyjson_val *value) {
    while (yyjson_is_arr(value))
        value = yyjson_arr_get_first(value);
    return yyjson_get_len(value);
}

/* Many of all sizes in one piece: each event has its own tree, in order. */
static void trees_do_not_mix(void **state) {
    (void)state;
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    dx_peer *peer = talk_new(&config);
    dx_buf buf;
    dx_buf_init(&buf, SIZE_MAX / 4, NULL);
    static const size_t lengths[] = {1, 300, LARGE, 7, 900, 1200, 17000, 3};
    for (int round = 0; round < 4; round++) {
        buf.len = 0;
        for (size_t i = 0; i < 400; i++) {
            char *text = deep(V ",\"method\":\"m\",\"params\":", 1 + i % 5, lengths[i % 8]);
            assert_int_equal(dx_buf_append(&buf, text, strlen(text)), DX_OK);
            free(text);
        }
        assert_int_equal(dx_peer_feed(peer, buf.data, buf.len, 0, NULL), DX_OK);
        for (size_t i = 0; i < 400; i++) {
            const dx_event *event = talk_next(peer, DX_EVENT_NOTIFICATION);
            assert_int_equal(innermost(event->value), lengths[i % 8]);
        }
        talk_silence(peer);
    }
    dx_buf_done(&buf);
    dx_peer_free(peer);
}

/* What nobody hears of leaves no tree behind; the sanitizer looks. */
static void trees_that_nobody_wants(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    char *late = deep(V ",\"id\":1,\"result\":", 2, LARGE);
    char *unknown = deep(V ",\"id\":77,\"result\":", 2, LARGE);
    talk_call(peer, "m", 0);
    dx_peer_tick(peer, 1000000);
    assert_int_equal(talk_next(peer, DX_EVENT_DONE)->outcome, DX_OUTCOME_TIMED_OUT);
    talk_feed(peer, late, 1000000);
    talk_silence(peer);
    talk_feed(peer, unknown, 1000000);
    assert_int_equal(talk_next(peer, DX_EVENT_VIOLATION)->error.fault, DX_FAULT_ID_UNKNOWN);
    talk_feed(peer, unknown, 1000000); /* still there when all ends */
    dx_peer_free(peer);
    free(late);
    free(unknown);
}

/* A kept event outlives its peer, with its tree, wherever that was made. */
static void trees_that_are_kept(void **state) {
    (void)state;
    static const size_t lengths[] = {10, 900, 5000, LARGE};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        dx_peer *peer = talk_plain();
        char *text = deep(V ",\"method\":\"m\",\"params\":", 3, lengths[i]);
        talk_feed(peer, text, 0);
        talk_next(peer, DX_EVENT_NOTIFICATION);
        dx_event *kept = talk_keep(peer);
        talk_feed(peer, text, 0);
        talk_next(peer, DX_EVENT_NOTIFICATION);
        dx_peer_free(peer);
        assert_int_equal(innermost(kept->value), lengths[i]);
        dx_event_free(kept);
        free(text);
    }
}

/* Broken in ways that only one who reads the content sees. */
static void content_that_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text;
        dx_fault fault;
    } cases[] = {
        {V ",\"id\":1,\"method\":\"m\",\"params\":[1,]}\n", DX_FAULT_JSON_SYNTAX},
        {V ",\"id\":1,\"method\":\"m\",\"params\":[1]]}\n", DX_FAULT_JSON_SYNTAX},
        {V ",\"id\":1,\"method\":\"m\",\"params\":[\"\xff\"]}\n", DX_FAULT_JSON_UTF8},
        {V ",\"id\":1,\"method\":\"m\",\"params\":[1]} x\n", DX_FAULT_JSON_TRAILING},
        {V ",\"id\":1,\"method\":\"m\",\"params\":[1e999]}\n", DX_FAULT_JSON_VALUE},
        {V ",\"id\":1,\"method\":\"m\",\"params\":[1],\"id\":2}\n", DX_FAULT_MEMBER_REPEATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dx_peer *peer = shallow_peer();
        talk_feed(peer, cases[i].text, 0);
        const dx_event *event = talk_next(peer, DX_EVENT_VIOLATION);
        assert_int_equal(event->error.fault, cases[i].fault);
        dx_peer_free(peer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_counts_for_short_and_large),
        cmocka_unit_test(trees_do_not_mix),
        cmocka_unit_test(trees_that_nobody_wants),
        cmocka_unit_test(trees_that_are_kept),
        cmocka_unit_test(content_that_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
