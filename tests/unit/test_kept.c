/* Events: lent until the next one, or kept for as long as one likes. */
#include "unit/talk.h"

#include <stdbool.h>
#include <stdio.h>

static const char request[] = V ",\"id\":\"\\u0041\",\"method\":\"do\\u002fit\",\"params\":{"
                                "\"list\":[1,2,3],\"s\":\"x\\ny\"}}\n";

static void expect_request(const dx_event *event) {
    assert_int_equal(event->kind, DX_EVENT_REQUEST);
    assert_true(event->request != 0);
    assert_text(event->id, "\"\\u0041\"");
    assert_text(event->method, "do/it");
    assert_text(event->body, "{\"list\":[1,2,3],\"s\":\"x\\ny\"}");
    unit_same(event->message, (dx_text){request, sizeof request - 2});
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(event->value, "list")), 3);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(event->value, "s")), "x\ny");
    assert_int_equal(event->error.fault, DX_FAULT_NONE);
}

static const char refusal[] =
    V ",\"id\":\"\\u0041\",\"error\":{\"code\":-32603,\"message\":\"Internal error\"}}\n";

static dx_peer *new_counting(const dx_allocator *alloc) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.allocator = alloc;
    return talk_new(&config);
}

/* The receive buffer moves and grows meanwhile; the allocator always moves what grows. */
static void lent_event_survives_feeding(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = new_counting(&alloc);
    talk_feed(peer, V ",\"method\":\"first\"}\n", 0);
    talk_feed(peer, request, 0);
    talk_next(peer, DX_EVENT_NOTIFICATION);
    const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
    char line[3000];
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof line, V ",\"method\":\"%02900d\"}\n", i);
        talk_feed(peer, line, 1);
        void *room;
        size_t len;
        assert_int_equal(dx_peer_reserve(peer, 10000, &room, &len), DX_OK);
        memset(room, '#', len);
        expect_request(event);
    }
    dx_peer_commit(peer, 0, 1);
    expect_request(event);
    assert_int_equal(dx_peer_notify(peer, TEXT("n"), dx_json_none()), DX_OK);
    talk_call(peer, "c", 2);
    dx_peer_tick(peer, 29000); /* past the time when an idle peer gives memory back */
    expect_request(event);
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_checked(event->body)), DX_OK);
    expect_request(event);
    for (int i = 0; i < 100; i++)
        assert_int_equal(talk_next(peer, DX_EVENT_NOTIFICATION)->method.len, 2900);
    talk_silence(peer);
    dx_peer_free(peer);
    assert_int_equal(memory.blocks, 0);
}

static void lent_request_is_answered_by_the_next_next(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    talk_feed(peer, request, 0);
    const dx_event *event = talk_next(peer, DX_EVENT_REQUEST);
    dx_request handle = event->request;
    assert_int_equal(dx_peer_output(peer).len, 0);
    talk_silence(peer);
    talk_said(peer, refusal);
    assert_int_equal(dx_peer_reply(peer, handle, dx_json_none()), DX_GONE);
    dx_peer_free(peer);
}

static void kept_request_outlives_everything(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = new_counting(&alloc);
    talk_feed(peer, request, 0);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_event *event = talk_keep(peer);
    expect_request(event);
    for (int i = 0; i < 50; i++) {
        talk_feed(peer, V ",\"method\":\"other/method\",\"params\":[9,9,9,9,9,9,9,9,9]}\n", 1);
        talk_next(peer, DX_EVENT_NOTIFICATION);
    }
    talk_silence(peer);
    dx_peer_tick(peer, 100000);
    expect_request(event);
    dx_peer_free(peer);
    expect_request(event);
    assert_null(dx_event_free(event));
    assert_int_equal(memory.blocks, 0);
}

static void kept_request_is_answered_once(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    talk_feed(peer, request, 0);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_event *event = talk_keep(peer);
    talk_silence(peer);
    assert_int_equal(dx_peer_output(peer).len, 0); /* it waits */
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_value(event->value)), DX_OK);
    talk_said(peer, V ",\"id\":\"\\u0041\",\"result\":{\"list\":[1,2,3],\"s\":\"x\\ny\"}}\n");
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_none()), DX_GONE);
    dx_event_free(event);
    assert_int_equal(dx_peer_output(peer).len, 0);
    dx_peer_free(peer);
}

static void kept_request_that_is_freed_is_refused(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    talk_feed(peer, request, 0);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_event_free(talk_keep(peer));
    talk_said(peer, refusal);
    dx_peer_free(peer);
}

/* In any order, the peer among them. */
static void freed_in_every_order(void **state) {
    (void)state;
    static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 2, 3}, {1, 3, 0, 2},
                                    {2, 0, 3, 1}, {0, 3, 1, 2}, {1, 2, 0, 3}, {2, 1, 3, 0}};
    for (size_t i = 0; i < LENGTH(orders); i++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_peer *peer = new_counting(&alloc);
        dx_event *events[3];
        for (size_t k = 0; k < 3; k++) {
            char line[100];
            snprintf(line, sizeof line, V ",\"id\":%zu,\"method\":\"a\",\"params\":[%zu]}\n", k, k);
            talk_feed(peer, line, 0);
            talk_next(peer, DX_EVENT_REQUEST);
            events[k] = talk_keep(peer);
        }
        for (size_t k = 0; k < 4; k++) {
            int which = orders[i][k];
            if (which == 3) {
                dx_peer_free(peer);
                continue;
            }
            assert_int_equal(yyjson_get_int(yyjson_arr_get_first(events[which]->value)), which);
            dx_event_free(events[which]);
        }
        assert_int_equal(memory.blocks, 0);
    }
}

static void nothing_to_keep(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    dx_event *event;
    assert_int_equal(dx_peer_keep(peer, &event), DX_GONE);
    talk_feed(peer, request, 0);
    assert_int_equal(dx_peer_keep(peer, &event), DX_GONE);
    talk_next(peer, DX_EVENT_REQUEST);
    event = talk_keep(peer);
    dx_event *second;
    assert_int_equal(dx_peer_keep(peer, &second), DX_GONE);
    talk_silence(peer);
    assert_int_equal(dx_peer_keep(peer, &second), DX_GONE);
    dx_event_free(event);
    assert_null(dx_event_free(NULL));
    dx_peer_free(peer);
}

static void other_kinds_can_be_kept(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    int user;
    dx_call_options options = {.user = &user};
    dx_call call;
    assert_int_equal(dx_peer_call(peer, TEXT("a"), dx_json_none(), &options, 0, &call), DX_OK);
    talk_feed(peer, V ",\"id\":1,\"result\":{\"x\":[true]}}\nsome log\n" V ",\"method\":\"n\"}\n",
              1);
    dx_event *kept[4];
    talk_next(peer, DX_EVENT_DONE);
    kept[0] = talk_keep(peer);
    talk_next(peer, DX_EVENT_STRAY);
    kept[1] = talk_keep(peer);
    talk_next(peer, DX_EVENT_NOTIFICATION);
    kept[2] = talk_keep(peer);
    dx_peer_finish(peer, NULL, 2);
    talk_next(peer, DX_EVENT_CLOSED);
    kept[3] = talk_keep(peer);
    dx_peer_free(peer);
    assert_int_equal(kept[0]->outcome, DX_OUTCOME_RESULT);
    assert_true(kept[0]->call == call);
    assert_ptr_equal(kept[0]->user, &user);
    assert_text(kept[0]->id, "1");
    assert_text(kept[0]->body, "{\"x\":[true]}");
    assert_true(yyjson_is_true(yyjson_arr_get_first(yyjson_obj_get(kept[0]->value, "x"))));
    assert_text(kept[1]->message, "some log");
    assert_text(kept[2]->method, "n");
    assert_null(kept[2]->body.at);
    assert_null(kept[2]->value);
    assert_null(kept[3]->message.at);
    assert_int_equal(kept[3]->error.fault, DX_FAULT_NONE);
    for (size_t i = 0; i < LENGTH(kept); i++)
        dx_event_free(kept[i]);
}

/* Small trees lie in an arena that is used again, large ones do not; a small one after a larger
 * one must not take all that room with it. */
static void trees_of_every_size(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 5000, 6000, 1, 20000, 1, 7000, 8000, 100};
    static const bool keep[] = {true, true, false, true, true, true, false, true, true};
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = new_counting(&alloc);
    dx_event *events[LENGTH(sizes)] = {NULL};
    static char line[50000];
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        int len = snprintf(line, sizeof line, V ",\"method\":\"a\",\"params\":[%zu", i);
        for (size_t k = 1; k < sizes[i]; k++)
            len += snprintf(line + len, 3, ",7");
        snprintf(line + len, 4, "]}\n");
        talk_feed(peer, line, 0);
        talk_next(peer, DX_EVENT_NOTIFICATION);
        if (keep[i])
            events[i] = talk_keep(peer);
    }
    dx_peer_free(peer);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        if (!keep[i])
            continue;
        assert_int_equal(yyjson_arr_size(events[i]->value), sizes[i]);
        assert_int_equal(yyjson_get_int(yyjson_arr_get_first(events[i]->value)), i);
        size_t before = memory.bytes;
        dx_event_free(events[i]);
        if (sizes[i] == 1)
            assert_true(before - memory.bytes < 3000);
    }
    assert_int_equal(memory.blocks, 0);
}

static void keep_without_memory_can_be_repeated(void **state) {
    (void)state;
    dx_status status = DX_ERR_NOMEM;
    for (size_t fail = 1; status != DX_OK; fail++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_peer *peer = new_counting(&alloc);
        /* A larger one first, so that the tree has to be built again for keeping. */
        char line[4000];
        snprintf(line, sizeof line, V ",\"method\":\"n\",\"params\":[\"%02000d\"]}\n", 1);
        talk_feed(peer, line, 0);
        talk_next(peer, DX_EVENT_NOTIFICATION);
        talk_feed(peer, request, 0);
        const dx_event *lent = talk_next(peer, DX_EVENT_REQUEST);
        dx_event *event = NULL;
        memory.fail_at = memory.count + fail;
        status = dx_peer_keep(peer, &event);
        memory.fail_at = 0;
        if (status != DX_OK) {
            assert_int_equal(status, DX_ERR_NOMEM);
            expect_request(lent);
            assert_int_equal(dx_peer_keep(peer, &event), DX_OK);
        } else {
            assert_true(fail > 1);
        }
        expect_request(event);
        dx_peer_free(peer);
        dx_event_free(event);
        assert_int_equal(memory.blocks, 0);
    }
}

/* There is no memory for the answer when it is freed: the next tick has. */
static void freeing_without_memory_still_answers(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = new_counting(&alloc);
    talk_feed(peer, request, 0);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_event *event = talk_keep(peer);
    dx_request handle = event->request;
    memory.fail_at = memory.count + 1;
    dx_event_free(event);
    assert_int_equal(dx_peer_output(peer).len, 0);
    assert_true(dx_peer_deadline(peer) == 0); /* now */
    dx_peer_tick(peer, 0);
    assert_int_equal(dx_peer_output(peer).len, 0);
    memory.fail_at = 0;
    assert_int_equal(dx_peer_reply(peer, handle, dx_json_none()), DX_GONE);
    dx_peer_tick(peer, 0);
    talk_said(peer, refusal);
    dx_peer_free(peer);
    assert_int_equal(memory.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lent_event_survives_feeding),
        cmocka_unit_test(lent_request_is_answered_by_the_next_next),
        cmocka_unit_test(kept_request_outlives_everything),
        cmocka_unit_test(kept_request_is_answered_once),
        cmocka_unit_test(kept_request_that_is_freed_is_refused),
        cmocka_unit_test(freed_in_every_order),
        cmocka_unit_test(nothing_to_keep),
        cmocka_unit_test(other_kinds_can_be_kept),
        cmocka_unit_test(trees_of_every_size),
        cmocka_unit_test(keep_without_memory_can_be_repeated),
        cmocka_unit_test(freeing_without_memory_still_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
