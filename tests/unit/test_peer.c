/* What a transcript cannot show of a peer: configuration, bytes without a copy, stale handles, the
 * books. */
#include "peer/peer.h"
#include "unit/talk.h"

#include <stdio.h>

static void expect_refused(const dx_peer_config *config) {
    dx_peer *peer = NULL;
    assert_int_equal(dx_peer_new(config, &peer), DX_ERR_INVALID);
    assert_null(peer);
}

static void senseless_configurations(void **state) {
    (void)state;
    const dx_peer_config good = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    dx_peer_config bad[] = {good, good, good, good, good, good, good, good, good, good, good, good};
    size_t i = 0;
    bad[i++].framing = (dx_framing)0;
    bad[i++].framing = (dx_framing)3;
    bad[i++].side = (dx_side)0;
    bad[i++].message_max = 0;
    bad[i++].message_max = (size_t)1 << 32;
    bad[i++].depth_max = 0;
    bad[i++].depth_max = DX_DEPTH_MAX + 1;
    bad[i++].in_max = 0;
    bad[i++].first_id = 0;
    bad[i++].first_id = UINT64_C(1) << 53;
    bad[i++].cancel.method = "cancel"; /* and no id_member */
    bad[i++].progress.method = "progress";
    assert_int_equal(i, LENGTH(bad));
    for (i = 0; i < LENGTH(bad); i++)
        expect_refused(&bad[i]);
}

static void sensible_configurations(void **state) {
    (void)state;
    for (dx_framing framing = DX_FRAMING_HEADER; framing <= DX_FRAMING_LINE; framing++)
        for (dx_side side = DX_SIDE_HOST; side <= DX_SIDE_PLUGIN; side++) {
            dx_peer_config config = dx_peer_defaults(framing, side);
            assert_null(dx_peer_free(talk_new(&config)));
            config.depth_max = DX_DEPTH_MAX;
            config.first_id = (UINT64_C(1) << 53) - 1;
            config.in_max = 1;
            dx_peer_free(talk_new(&config));
        }
    assert_null(dx_peer_free(NULL));
    struct unit_memory memory = {.fail_at = 1};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.allocator = &alloc;
    dx_peer *peer;
    assert_int_equal(dx_peer_new(&config, &peer), DX_ERR_NOMEM);
}

static void no_limit_is_a_limit(void **state) {
    (void)state;
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.message_max = 1000;
    /* Large numbers must not add up to small ones. */
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1000, SIZE_MAX - (1 << 20),
                                   SIZE_MAX - (1 << 20) - 3000 + 20};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t k = 0; k < LENGTH(sizes); k++) {
            config.in_max = sizes[i];
            config.out_max = sizes[k];
            config.header_max = i % 2 ? 1000 : sizes[k];
            dx_peer *peer = talk_new(&config);
            talk_call(peer, "a", 0);
            talk_feed(peer, V ",\"id\":1,\"result\":7}\n", 0);
            talk_next(peer, DX_EVENT_DONE);
            dx_peer_free(peer);
        }
}

static void bytes_without_a_copy(void **state) {
    (void)state;
    static const char stream[] = V ",\"id\":1,\"method\":\"a\"}\n" V ",\"method\":\"b\"}\n";
    dx_peer *peer = talk_plain();
    for (size_t done = 0; done < sizeof stream - 1;) {
        void *room = NULL;
        size_t len = 0;
        assert_int_equal(dx_peer_reserve(peer, 10, &room, &len), DX_OK);
        assert_in_range(len, 1, 10);
        if (len > sizeof stream - 1 - done)
            len = sizeof stream - 1 - done;
        memcpy(room, stream + done, len);
        dx_peer_commit(peer, len, 0);
        done += len;
    }
    assert_text(talk_next(peer, DX_EVENT_REQUEST)->method, "a");
    assert_text(talk_next(peer, DX_EVENT_NOTIFICATION)->method, "b");
    talk_silence(peer);
    assert_true(dx_peer_statistics(peer).bytes_in == sizeof stream - 1);
    dx_peer_free(peer);
}

static void expect_number(dx_text text, int number) {
    char digits[20];
    snprintf(digits, sizeof digits, "%d", number);
    unit_same(text, dx_str(digits));
}

/* What was not taken is told, and comes again when there is room. */
static void busy_until_events_are_taken(void **state) {
    (void)state;
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.in_max = 4000;
    dx_peer *peer = talk_new(&config);
    enum { LINES = 20000 };
    char *stream = malloc((size_t)LINES * 40);
    size_t len = 0;
    for (int i = 0; i < LINES; i++)
        len += (size_t)sprintf(stream + len, V ",\"method\":\"%d\"}\n", i);
    size_t fed = 0;
    size_t busy = 0;
    int seen = 0;
    while (fed < len) {
        size_t used = SIZE_MAX;
        dx_status status = dx_peer_feed(peer, stream + fed, len - fed, 0, &used);
        assert_true(used <= len - fed);
        assert_int_equal(status, used == len - fed ? DX_OK : DX_BUSY);
        fed += used;
        busy += status == DX_BUSY;
        if (status == DX_BUSY) {
            void *room;
            size_t room_len;
            assert_int_equal(dx_peer_reserve(peer, 1, &room, &room_len), DX_BUSY);
        }
        for (const dx_event *event; dx_peer_next(peer, &event) == DX_OK; seen++)
            expect_number(event->method, seen);
    }
    assert_int_equal(seen, LINES);
    assert_true(busy > 1);
    free(stream);
    dx_peer_free(peer);
}

/* Whatever was fed is handed out, however the conversation ends. */
static void finish_with_a_reason_loses_nothing(void **state) {
    (void)state;
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    dx_peer *peer = talk_new(&config);
    talk_feed(peer, V ",\"method\":\"a\"}\n" V ",\"method\":\"b\"}\n" V ",\"method\":\"c\"}\n", 0);
    dx_error why = {.fault = DX_FAULT_ENDED, .phrase = "the child exited with 1"};
    dx_peer_finish(peer, &why, 1);
    assert_text(talk_next(peer, DX_EVENT_NOTIFICATION)->method, "a");
    assert_text(talk_next(peer, DX_EVENT_NOTIFICATION)->method, "b");
    assert_text(talk_next(peer, DX_EVENT_NOTIFICATION)->method, "c");
    const dx_event *event = talk_next(peer, DX_EVENT_CLOSED);
    assert_int_equal(event->error.fault, DX_FAULT_ENDED);
    assert_string_equal(event->error.phrase, "the child exited with 1");
    talk_silence(peer);
    dx_peer_free(peer);
}

static void output_is_sent_in_parts(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    static const char expected[] = V ",\"method\":\"a\"}\n" V ",\"method\":\"b\"}\n";
    assert_int_equal(dx_peer_output(peer).len, 0);
    assert_non_null(dx_peer_output(peer).at);
    assert_int_equal(dx_peer_notify(peer, TEXT("a"), dx_json_none()), DX_OK);
    size_t at = 0;
    for (; at < 20; at++) {
        assert_int_equal(*dx_peer_output(peer).at, expected[at]);
        dx_peer_sent(peer, 1);
    }
    assert_int_equal(dx_peer_notify(peer, TEXT("b"), dx_json_none()), DX_OK);
    unit_same(dx_peer_output(peer), dx_str(expected + at));
    dx_peer_sent(peer, SIZE_MAX); /* no more than there was */
    assert_int_equal(dx_peer_output(peer).len, 0);
    assert_true(dx_peer_statistics(peer).bytes_out == sizeof expected - 1);
    dx_peer_free(peer);
}

static void stale_handles_are_gone(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    dx_text none = {NULL, 0};
    const uint64_t never[] = {0, 1, UINT64_MAX, UINT64_C(1) << 24, 12345};
    for (size_t i = 0; i < LENGTH(never); i++) {
        assert_int_equal(dx_peer_cancel(peer, never[i], none, 0), DX_GONE);
        assert_int_equal(dx_peer_reply(peer, never[i], dx_json_none()), DX_GONE);
        assert_int_equal(dx_peer_refuse(peer, never[i], 1, TEXT("x"), dx_json_none()), DX_GONE);
    }
    dx_call call = talk_call(peer, "a", 0);
    talk_feed(peer, V ",\"id\":1,\"result\":1}\n" V ",\"id\":5,\"method\":\"b\"}\n", 0);
    assert_int_equal(dx_peer_cancel(peer, call, none, 0), DX_GONE); /* its answer is here */
    assert_true(talk_next(peer, DX_EVENT_DONE)->call == call);
    dx_request request = talk_next(peer, DX_EVENT_REQUEST)->request;
    assert_int_equal(dx_peer_refuse(peer, request, 1, TEXT("x"), dx_json_none()), DX_OK);
    size_t said = dx_peer_output(peer).len;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dx_peer_cancel(peer, call, none, 0), DX_GONE);
        assert_int_equal(dx_peer_reply(peer, request, dx_json_none()), DX_GONE);
        assert_int_equal(dx_peer_refuse(peer, request, 1, TEXT("x"), dx_json_none()), DX_GONE);
        assert_true(talk_call(peer, "a", 0) != call); /* the place is used again, the handle not */
        assert_true(dx_peer_output(peer).len > said);
        said = dx_peer_output(peer).len;
    }
    dx_peer_free(peer);
}

static void handle_of_a_request_is_not_one_of_a_call(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    dx_call call = talk_call(peer, "a", 0);
    assert_int_equal(dx_peer_reply(peer, call, dx_json_none()), DX_GONE);
    assert_int_equal(dx_peer_pending(peer), 1);
    assert_int_equal(dx_peer_cancel(peer, call, (dx_text){NULL, 0}, 0), DX_OK);
    assert_int_equal(dx_peer_pending(peer), 0);
    dx_peer_free(peer);
}

/* Nobody was ever asked under id 0, so an answer to it is not late. */
static void answer_to_an_id_that_never_was(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    talk_call(peer, "a", 0);
    talk_feed(peer, V ",\"id\":0,\"result\":1}\n", 0);
    assert_int_equal(talk_next(peer, DX_EVENT_VIOLATION)->error.fault, DX_FAULT_ID_UNKNOWN);
    assert_true(dx_peer_statistics(peer).late == 0);
    assert_true(dx_peer_statistics(peer).unknown_ids == 1);
    dx_peer_free(peer);
}

static void take_all(dx_peer *peer) {
    for (const dx_event *event; dx_peer_next(peer, &event) == DX_OK;)
        if (event->kind == DX_EVENT_REQUEST && event->method.at[0] == 'r')
            dx_peer_reply(peer, event->request, dx_json_none());
        else if (event->kind == DX_EVENT_REQUEST && event->method.at[0] == 'e')
            dx_peer_refuse(peer, event->request, 1, TEXT("no"), dx_json_none());
}

static dx_peer *busy_peer(void) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.cancel = (dx_cancel_style){.method = "cancel", .id_member = "id"};
    config.progress = (dx_progress_style){.method = "progress", .token_member = "token"};
    config.timeout_ms = 100;
    return talk_new(&config);
}

static void statistics_count_everything(void **state) {
    (void)state;
    dx_peer *peer = busy_peer();
    dx_call_options options = {.token = TEXT("\"t\"")};
    dx_call calls[7];
    for (size_t i = 0; i < LENGTH(calls); i++)
        assert_int_equal(
            dx_peer_call(peer, TEXT("c"), dx_json_none(), i ? NULL : &options, 0, &calls[i]),
            DX_OK);
    static const char stream[] =
        V ",\"method\":\"progress\",\"params\":{\"token\":\"t\"}}\n" V
          ",\"method\":\"progress\",\"params\":{\"token\":\"u\"}}\n" V ",\"id\":1,\"result\":1}\n" V
          ",\"id\":2,\"error\":{\"code\":1,\"message\":\"\"}}\n" V ",\"id\":3}\n" V
          ",\"id\":4,\"result\":1e400}\n" V ",\"id\":99,\"result\":1}\n" V
          ",\"id\":1,\"method\":\"r\"}\n" V ",\"id\":2,\"method\":\"e\"}\n" V
          ",\"id\":3,\"method\":\"dropped\"}\n" V ",\"method\":\"n\"}\n"
          "stray\n";
    talk_feed(peer, stream, 1);
    take_all(peer);
    assert_int_equal(dx_peer_cancel(peer, calls[4], (dx_text){NULL, 0}, 2), DX_OK);
    talk_feed(peer, V ",\"id\":5,\"result\":1}\n", 3); /* late */
    dx_peer_tick(peer, 100);                           /* 6 and 7 */
    talk_call(peer, "c", 100);
    dx_peer_finish(peer, NULL, 101);
    take_all(peer);
    dx_peer_sent(peer, 50);
    dx_peer_stats stats = dx_peer_statistics(peer);
    dx_peer_stats expected = {
        .bytes_in = sizeof stream - 1 + strlen(V ",\"id\":5,\"result\":1}\n"),
        .bytes_out = 50,
        .messages_in = 13, /* a stray line is framed like a message */
        .messages_out = 14,
        .calls = 8,
        .requests = 3,
        .notifications = 1,
        .results = 1,
        .errors = 1,
        .timed_out = 2,
        .cancelled = 1,
        .lost = 1,
        .invalid = 2,
        .replies = 1,
        .refusals = 1,
        .dropped = 1,
        .violations = 3,
        .stray_lines = 1,
        .stray_bytes = 5,
        .unknown_ids = 1,
        .late = 1,
        .progress = 1,
        .progress_dropped = 1,
    };
    const uint64_t *got = &stats.bytes_in;
    const uint64_t *want = &expected.bytes_in;
    for (size_t i = 0; i < sizeof stats / sizeof *got; i++)
        if (got[i] != want[i])
            fail_msg("counter %zu: %ju, expected %ju", i, (uintmax_t)got[i], (uintmax_t)want[i]);
    dx_peer_free(peer);
}

/* Every call ended in one way, every request in one way. */
static void statistics_add_up(void **state) {
    (void)state;
    dx_peer *peer = busy_peer();
    uint64_t seed = 9;
    char line[100];
    for (uint64_t now = 0; now < 3000; now++) {
        dx_call call = talk_call(peer, "c", now);
        size_t id = 1 + unit_random(&seed, now + 1);
        switch (unit_random(&seed, 5)) {
        case 0:
            snprintf(line, sizeof line, V ",\"id\":%zu,\"result\":[]}\n", id);
            talk_feed(peer, line, now);
            break;
        case 1:
            snprintf(line, sizeof line, V ",\"id\":%zu,\"error\":{}}\n", id);
            talk_feed(peer, line, now);
            break;
        case 2:
            snprintf(line, sizeof line, V ",\"id\":%zu,\"method\":\"%c\"}\n", id, "rex"[now % 3]);
            talk_feed(peer, line, now);
            break;
        case 3:
            dx_peer_cancel(peer, call, (dx_text){NULL, 0}, now);
            break;
        default:
            dx_peer_tick(peer, now);
        }
        take_all(peer);
    }
    dx_peer_finish(peer, NULL, 3000);
    take_all(peer);
    dx_peer_stats s = dx_peer_statistics(peer);
    assert_true(s.calls == 3000);
    assert_true(s.calls == s.results + s.errors + s.timed_out + s.cancelled + s.lost + s.invalid);
    assert_true(s.requests == s.replies + s.refusals + s.dropped && s.requests > 100);
    assert_true(s.results && s.errors && s.timed_out && s.cancelled && s.lost);
    assert_int_equal(dx_peer_pending(peer), 0);
    dx_peer_free(peer);
}

/* It takes 2^53 calls to get there, so the counter is put back by hand. */
static void counter_passes_over_pending_ids(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    for (int i = 0; i < 3; i++)
        assert_int_equal(dx_peer_call(peer, TEXT("m"), dx_json_none(), NULL, 0, NULL), DX_OK);
    talk_feed(peer, V ",\"id\":2,\"result\":1}\n", 0);
    dx_peer_sent(peer, SIZE_MAX);
    peer->next_id = 1;
    assert_int_equal(dx_peer_call(peer, TEXT("m"), dx_json_none(), NULL, 0, NULL), DX_OK);
    assert_int_equal(dx_peer_call(peer, TEXT("m"), dx_json_none(), NULL, 0, NULL), DX_OK);
    unit_same(dx_peer_output(peer),
              dx_str(V ",\"id\":2,\"method\":\"m\"}\n" V ",\"id\":4,\"method\":\"m\"}\n"));
    dx_peer_free(peer);
}

/* Handles of another peer, which may be the one before in the same place, mean nothing here. */
static void handles_of_others(void **state) {
    (void)state;
    enum { PEERS = 40 };
    dx_peer *peers[PEERS];
    dx_request requests[PEERS];
    dx_call calls[PEERS];
    for (unsigned i = 0; i < PEERS; i++) {
        dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
        config.seed = i < PEERS / 2 ? i : UINT64_MAX - i;
        peers[i] = talk_new(&config);
        talk_feed(peers[i], V ",\"id\":1,\"method\":\"m\"}\n", 0);
        requests[i] = talk_next(peers[i], DX_EVENT_REQUEST)->request;
        dx_event_free(talk_keep(peers[i]));
        talk_feed(peers[i], V ",\"id\":1,\"method\":\"m\"}\n", 0);
        requests[i] = talk_next(peers[i], DX_EVENT_REQUEST)->request;
        calls[i] = talk_call(peers[i], "m", 0);
    }
    assert_int_equal(calls[0], 1 << 24); /* without a seed they are what they always were */
    for (unsigned i = 0; i < PEERS; i++)
        for (unsigned k = 0; k < PEERS; k++)
            if (k != i) {
                assert_int_equal(dx_peer_reply(peers[i], requests[k], dx_json_none()), DX_GONE);
                assert_int_equal(dx_peer_cancel(peers[i], calls[k], dx_str(NULL), 0), DX_GONE);
            }
    for (unsigned i = 0; i < PEERS; i++) {
        assert_int_equal(dx_peer_reply(peers[i], requests[i], dx_json_none()), DX_OK);
        assert_int_equal(dx_peer_cancel(peers[i], calls[i], dx_str(NULL), 0), DX_OK);
        dx_peer_free(peers[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senseless_configurations),
        cmocka_unit_test(handles_of_others),
        cmocka_unit_test(sensible_configurations),
        cmocka_unit_test(no_limit_is_a_limit),
        cmocka_unit_test(bytes_without_a_copy),
        cmocka_unit_test(busy_until_events_are_taken),
        cmocka_unit_test(finish_with_a_reason_loses_nothing),
        cmocka_unit_test(output_is_sent_in_parts),
        cmocka_unit_test(stale_handles_are_gone),
        cmocka_unit_test(handle_of_a_request_is_not_one_of_a_call),
        cmocka_unit_test(answer_to_an_id_that_never_was),
        cmocka_unit_test(statistics_count_everything),
        cmocka_unit_test(statistics_add_up),
        cmocka_unit_test(counter_passes_over_pending_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
