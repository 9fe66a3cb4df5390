/* How the ids of calls look, and that every answer still finds its call. */
#include "unit/unit.h"

#include "peer/peer.h"

#include <stdbool.h>
#include <stdio.h>

static dx_peer *new_peer(dx_ids ids, uint64_t seed) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    dx_peer *peer;
    config.ids = ids;
    config.seed = seed;
    config.cancel = (dx_cancel_style){.method = "stop", .id_member = "id"};
    assert_int_equal(dx_peer_new(&config, &peer), DX_OK);
    return peer;
}

/* The id of the message that was just sent, with its quotes. */
static dx_text sent_id(dx_peer *peer, char room[256]) {
    dx_text out = dx_peer_output(peer);
    assert_true(out.len < 256);
    memcpy(room, out.at, out.len);
    dx_peer_sent(peer, out.len);
    dx_text id = dx_rpc_member((dx_text){room, out.len}, dx_str("id"));
    if (!id.at)
        id = dx_rpc_member(dx_rpc_member((dx_text){room, out.len}, dx_str("params")), dx_str("id"));
    assert_non_null(id.at);
    return id;
}

static const dx_event *answer(dx_peer *peer, dx_text id) {
    char message[256];
    const dx_event *event;
    int len = snprintf(message, sizeof message, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":1}\n",
                       (int)id.len, id.at);
    assert_int_equal(dx_peer_feed(peer, message, (size_t)len, 1, NULL), DX_OK);
    return dx_peer_next(peer, &event) == DX_OK ? event : NULL;
}

static bool looks_random(dx_text id) {
    bool good = id.len == 19 && memcmp(id.at, "\"req_", 5) == 0 && id.at[18] == '"';
    for (size_t i = 5; good && i < 18; i++)
        good = strchr("abcdefghijklmnopqrstuvwxyz234567", id.at[i]);
    return good;
}

static bool looks_like_uuid(dx_text id) {
    static const char form[] = "\"xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx\"";
    bool good = id.len == sizeof form - 1;
    for (size_t i = 0; good && i < id.len; i++)
        good = form[i] == 'x'   ? strchr("0123456789abcdef", id.at[i]) != NULL
               : form[i] == 'y' ? strchr("89ab", id.at[i]) != NULL
                                : form[i] == id.at[i];
    return good;
}

static void answers_find_their_calls(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    for (dx_ids ids = DX_IDS_COUNTER; ids <= DX_IDS_UUID; ids++) {
        dx_peer *peer = new_peer(ids, 12345);
        dx_call calls[COUNT];
        char rooms[COUNT][256];
        dx_text texts[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(dx_peer_call(peer, dx_str("m"), dx_json_none(), NULL, 0, &calls[i]),
                             DX_OK);
            texts[i] = sent_id(peer, rooms[i]);
            if (ids == DX_IDS_RANDOM)
                assert_true(looks_random(texts[i]));
            if (ids == DX_IDS_UUID)
                assert_true(looks_like_uuid(texts[i]));
            for (size_t other = 0; other < i; other += 97)
                assert_true(texts[i].len != texts[other].len ||
                            memcmp(texts[i].at, texts[other].at, texts[i].len) != 0);
        }
        for (size_t i = COUNT; i-- > 0;) {
            const dx_event *event = answer(peer, texts[i]);
            assert_non_null(event);
            assert_int_equal(event->kind, DX_EVENT_DONE);
            assert_int_equal(event->outcome, DX_OUTCOME_RESULT);
            assert_true(event->call == calls[i]);
            unit_same(event->id, texts[i]);
        }
        dx_peer_free(peer);
    }
}

static void nothing_else_is_an_answer(void **state) {
    (void)state;
    for (dx_ids ids = DX_IDS_RANDOM; ids <= DX_IDS_UUID; ids++) {
        dx_peer *peer = new_peer(ids, 7);
        char room[256];
        char changed[64];
        assert_int_equal(dx_peer_call(peer, dx_str("m"), dx_json_none(), NULL, 0, NULL), DX_OK);
        dx_text id = sent_id(peer, room);
        static const char *const others[] = {"1",
                                             "\"1\"",
                                             "1.0",
                                             "\"req_\"",
                                             "\"\"",
                                             "\"req_aaaaaaaaaaaaa\"",
                                             "\"req_7777777777777\"",
                                             "\"00000000-0000-4000-8000-000000000000\""};
        for (size_t i = 0; i < LENGTH(others); i++) {
            const dx_event *event = answer(peer, dx_str(others[i]));
            assert_int_equal(event->kind, DX_EVENT_VIOLATION);
            assert_int_equal(event->error.fault, DX_FAULT_ID_UNKNOWN);
        }
        for (size_t i = 1; i < id.len - 1; i++) { /* each of its characters counts */
            memcpy(changed, id.at, id.len);
            changed[i] = changed[i] == 'b' ? 'c' : 'b';
            const dx_event *event = answer(peer, (dx_text){changed, id.len});
            assert_int_equal(event->kind, DX_EVENT_VIOLATION);
        }
        assert_int_equal(dx_peer_pending(peer), 1);
        assert_int_equal(answer(peer, id)->outcome, DX_OUTCOME_RESULT);
        dx_peer_free(peer);
    }
}

static void a_cancellation_names_the_same_id(void **state) {
    (void)state;
    for (dx_ids ids = DX_IDS_COUNTER; ids <= DX_IDS_UUID; ids++) {
        dx_peer *peer = new_peer(ids, 99);
        dx_call call;
        char room[256];
        char other_room[256];
        assert_int_equal(dx_peer_call(peer, dx_str("m"), dx_json_none(), NULL, 0, &call), DX_OK);
        dx_text id = sent_id(peer, room);
        assert_int_equal(dx_peer_cancel(peer, call, dx_str(NULL), 0), DX_OK);
        unit_same(sent_id(peer, other_room), id);
        assert_int_equal(answer(peer, id)->outcome, DX_OUTCOME_CANCELLED);
        dx_peer_free(peer);
    }
}

static void the_seed_makes_them_differ(void **state) {
    (void)state;
    char rooms[2][256];
    dx_text texts[2];
    for (size_t i = 0; i < 2; i++) {
        dx_peer *peer = new_peer(DX_IDS_RANDOM, 1000 + i);
        assert_int_equal(dx_peer_call(peer, dx_str("m"), dx_json_none(), NULL, 0, NULL), DX_OK);
        texts[i] = sent_id(peer, rooms[i]);
        dx_peer_free(peer);
    }
    assert_memory_not_equal(texts[0].at, texts[1].at, texts[0].len);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_find_their_calls),
        cmocka_unit_test(nothing_else_is_an_answer),
        cmocka_unit_test(a_cancellation_names_the_same_id),
        cmocka_unit_test(the_seed_makes_them_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
