/* Deadlines, and what an idle peer gives back. */
#include "unit/talk.h"

#include <stdio.h>

enum { IDLE_MAX = 4096 };

static dx_peer_config no_idle(void) {
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.idle_ms = DX_NEVER;
    return config;
}

#define assert_deadline(peer, when) assert_true(dx_peer_deadline(peer) == (uint64_t)(when))

static void of_calls(void **state) {
    (void)state;
    dx_peer_config config = no_idle();
    dx_peer *peer = talk_new(&config);
    dx_call_options early = {.timeout_ms = 50};
    dx_call_options total = {.timeout_ms = 5000, .total_ms = 20};
    dx_call_options never = {.timeout_ms = DX_NEVER, .total_ms = DX_NEVER};
    assert_deadline(peer, DX_NEVER);
    dx_peer_call(peer, TEXT("a"), dx_json_none(), &never, 1000, NULL);
    assert_deadline(peer, DX_NEVER);
    talk_call(peer, "b", 1000);
    assert_deadline(peer, 31000);
    dx_peer_call(peer, TEXT("c"), dx_json_none(), &early, 1001, NULL);
    assert_deadline(peer, 1051);
    dx_peer_call(peer, TEXT("d"), dx_json_none(), &total, 1002, NULL);
    assert_deadline(peer, 1022);
    dx_peer_tick(peer, 1021);
    talk_silence(peer);
    dx_peer_tick(peer, 1022);
    assert_deadline(peer, 1051);
    const dx_event *event = talk_next(peer, DX_EVENT_DONE);
    assert_int_equal(event->outcome, DX_OUTCOME_TIMED_OUT);
    assert_int_equal(event->error.fault, DX_FAULT_TOTAL);
    /* An answer disarms when it is fed, not when it is taken. */
    talk_feed(peer, V ",\"id\":3,\"result\":1}\n", 1030);
    assert_deadline(peer, 31000);
    talk_feed(peer, V ",\"id\":2,\"result\":1}\n", 1031);
    assert_deadline(peer, DX_NEVER);
    dx_peer_free(peer);
}

static void of_calls_at_the_end_of_time(void **state) {
    (void)state;
    dx_peer_config config = no_idle();
    dx_peer *peer = talk_new(&config);
    talk_call(peer, "a", DX_NEVER - 10); /* must not come around to the past */
    assert_deadline(peer, DX_NEVER);
    dx_peer_tick(peer, DX_NEVER - 5);
    talk_silence(peer);
    dx_peer_free(peer);
}

static void of_stalled_messages(void **state) {
    (void)state;
    dx_peer_config config = no_idle();
    for (int header = 0; header < 2; header++) {
        config.framing = header ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
        dx_peer *peer = talk_new(&config);
        talk_feed(peer, header ? "Content-Length: 90\r\n\r\n{" : V, 100);
        assert_deadline(peer, 10100);
        talk_feed(peer, ",", 200);
        assert_deadline(peer, 10200);
        dx_peer_tick(peer, 10199);
        talk_silence(peer);
        dx_peer_tick(peer, 10200);
        assert_int_equal(talk_next(peer, DX_EVENT_VIOLATION)->error.fault, DX_FAULT_STALLED);
        assert_deadline(peer, DX_NEVER); /* told once */
        talk_silence(peer);
        dx_peer_free(peer);
    }
}

static void of_requests(void **state) {
    (void)state;
    dx_peer_config config = no_idle();
    config.handle_ms = 70;
    dx_peer *peer = talk_new(&config);
    talk_feed(peer, V ",\"id\":1,\"method\":\"a\"}\n", 100);
    assert_deadline(peer, 170);
    dx_request request = talk_next(peer, DX_EVENT_REQUEST)->request;
    assert_int_equal(dx_peer_reply(peer, request, dx_json_none()), DX_OK);
    assert_deadline(peer, DX_NEVER);
    talk_feed(peer, V ",\"id\":1,\"method\":\"a\"}\n", 200);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_event *kept = talk_keep(peer);
    dx_peer_tick(peer, 270);
    assert_true(talk_next(peer, DX_EVENT_OVERDUE)->request == kept->request);
    assert_int_equal(dx_peer_reply(peer, kept->request, dx_json_none()), DX_GONE);
    assert_deadline(peer, DX_NEVER);
    dx_event_free(kept);
    dx_peer_free(peer);
}

static void of_idling(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    assert_deadline(peer, DX_NEVER); /* nothing to give back */
    talk_feed(peer, V ",\"method\":\"a\"}\n", 100);
    talk_next(peer, DX_EVENT_NOTIFICATION);
    talk_silence(peer);
    assert_deadline(peer, 5100);
    dx_peer_tick(peer, 5100);
    assert_deadline(peer, DX_NEVER);
    dx_peer_free(peer);
}

/* A loop that sleeps until deadline() must not find the same deadline again. */
static void the_past_is_no_deadline(void **state) {
    (void)state;
    dx_peer *peer = talk_plain();
    talk_feed(peer, V ",\"id\":1,\"method\":\"a\"}\n{", 100);
    talk_call(peer, "b", 100);
    talk_next(peer, DX_EVENT_REQUEST); /* stays lent */
    for (int i = 0; i < 10; i++) {
        uint64_t when = dx_peer_deadline(peer);
        if (when == DX_NEVER)
            break;
        dx_peer_tick(peer, when);
        assert_true(dx_peer_deadline(peer) > when);
    }
    assert_deadline(peer, DX_NEVER);
    dx_peer_free(peer);
}

static dx_peer *counting(const dx_allocator *alloc, dx_framing framing) {
    dx_peer_config config = dx_peer_defaults(framing, DX_SIDE_HOST);
    config.allocator = alloc;
    return talk_new(&config);
}

static void a_new_peer_is_small(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = counting(&alloc, DX_FRAMING_HEADER);
    assert_true(memory.bytes < IDLE_MAX);
    dx_peer_free(peer);
    assert_int_equal(memory.blocks, 0);
}

static void take_all(dx_peer *peer) {
    for (const dx_event *event; dx_peer_next(peer, &event) == DX_OK;)
        if (event->kind == DX_EVENT_REQUEST)
            dx_peer_reply(peer, event->request, dx_json_checked(event->body));
}

/* Sleeps and ticks as a loop does, until there is nothing to wait for. */
static void run_dry(dx_peer *peer) {
    for (int i = 0; dx_peer_deadline(peer) != DX_NEVER; i++) {
        assert_true(i < 100);
        dx_peer_tick(peer, dx_peer_deadline(peer));
        take_all(peer);
    }
}

/* Traffic in all directions that makes everything grow. */
static void use_much(dx_peer *peer, uint64_t now) {
    static char line[100000];
    for (int i = 0; i < 200; i++)
        talk_call(peer, "some/method", now);
    int len = sprintf(line, V ",\"id\":\"x\",\"method\":\"esc\\u0061ped\",\"params\":[");
    memset(line + len, '1', 50000);
    memcpy(line + len + 50000, "]}\n", 4);
    talk_feed(peer, line, now);
    for (int i = 0; i < 200; i++) {
        sprintf(line, V ",\"id\":%d,\"method\":\"m\",\"params\":[%d]}\n", i, i);
        talk_feed(peer, line, now);
    }
}

static void idle_peer_is_small_and_works(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = counting(&alloc, DX_FRAMING_LINE);
    dx_call stale = talk_call(peer, "first", 0);
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t now = round * 1000000;
        use_much(peer, now);
        take_all(peer);
        for (unsigned id = 1 + 201 * (unsigned)round; id <= 201 * (round + 1); id++) {
            char line[100];
            sprintf(line, V ",\"id\":%u,\"result\":[]}\n", id);
            talk_feed(peer, line, now + 1);
        }
        take_all(peer);
        assert_int_equal(dx_peer_pending(peer), 0);
        dx_peer_sent(peer, SIZE_MAX);
        assert_true(memory.bytes > 20000);
        dx_peer_tick(peer, now + 5000);
        assert_true(memory.bytes > 20000);
        dx_peer_tick(peer, now + 5001);
        assert_true(memory.bytes < IDLE_MAX);
        assert_deadline(peer, DX_NEVER);
        assert_int_equal(dx_peer_cancel(peer, stale, (dx_text){NULL, 0}, now), DX_GONE);
        dx_call next = talk_call(peer, "again", now + 6000);
        assert_true(next != stale);
        stale = next;
        dx_peer_sent(peer, SIZE_MAX);
    }
    dx_peer_free(peer);
    assert_int_equal(memory.blocks, 0);
}

/* Half of a message, a call, an event that was kept: what is in use stays. */
static void idling_spares_what_is_in_use(void **state) {
    (void)state;
    dx_peer_config config = dx_peer_defaults(DX_FRAMING_LINE, DX_SIDE_HOST);
    config.timeout_ms = config.total_ms = config.stall_ms = DX_NEVER;
    dx_peer *peer = talk_new(&config);
    dx_call call = talk_call(peer, "a", 0);
    talk_feed(peer, V ",\"id\":7,\"method\":\"a\"}\n" V ",\"id\":1,\"res", 0);
    talk_next(peer, DX_EVENT_REQUEST);
    dx_event *kept = talk_keep(peer);
    talk_silence(peer);
    dx_peer_tick(peer, 100000);
    talk_said(peer, V ",\"id\":1,\"method\":\"a\"}\n");
    dx_peer_tick(peer, 200000);
    talk_feed(peer, "ult\":5}\n", 300000);
    const dx_event *event = talk_next(peer, DX_EVENT_DONE);
    assert_true(event->call == call);
    assert_int_equal(yyjson_get_int(event->value), 5);
    assert_int_equal(dx_peer_reply(peer, kept->request, dx_json_text("8", 1)), DX_OK);
    talk_said(peer, V ",\"id\":7,\"result\":8}\n");
    dx_event_free(kept);
    dx_peer_free(peer);
}

/* What could not be given back at the time is given back later, without new traffic. */
static void memory_goes_back_after_a_timeout(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = counting(&alloc, DX_FRAMING_LINE);
    for (int i = 0; i < 200; i++)
        talk_call(peer, "a", 0);
    dx_peer_sent(peer, SIZE_MAX);
    dx_peer_tick(peer, 5000);
    run_dry(peer);
    assert_int_equal(dx_peer_pending(peer), 0);
    assert_true(memory.bytes < IDLE_MAX);
    dx_peer_free(peer);
    assert_int_equal(memory.blocks, 0);
}

static void memory_goes_back_after_slow_output(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = counting(&alloc, DX_FRAMING_LINE);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(dx_peer_notify(peer, TEXT("some/method"), dx_json_none()), DX_OK);
    run_dry(peer);
    assert_true(memory.bytes > 20000);
    dx_peer_sent(peer, SIZE_MAX);
    run_dry(peer);
    assert_true(memory.bytes < IDLE_MAX);
    dx_peer_free(peer);
}

static void memory_goes_back_after_a_kept_request(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_peer *peer = counting(&alloc, DX_FRAMING_LINE);
    dx_event *kept[100];
    for (int i = 0; i < 100; i++) {
        char line[100];
        sprintf(line, V ",\"id\":%d,\"method\":\"a\"}\n", i);
        talk_feed(peer, line, 0);
        talk_next(peer, DX_EVENT_REQUEST);
        kept[i] = talk_keep(peer);
    }
    run_dry(peer);
    for (int i = 0; i < 100; i++) {
        dx_peer_reply(peer, kept[i]->request, dx_json_none());
        dx_event_free(kept[i]);
    }
    dx_peer_sent(peer, SIZE_MAX);
    run_dry(peer);
    assert_true(memory.bytes < IDLE_MAX);
    dx_peer_free(peer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_calls),
        cmocka_unit_test(of_calls_at_the_end_of_time),
        cmocka_unit_test(of_stalled_messages),
        cmocka_unit_test(of_requests),
        cmocka_unit_test(of_idling),
        cmocka_unit_test(the_past_is_no_deadline),
        cmocka_unit_test(a_new_peer_is_small),
        cmocka_unit_test(idle_peer_is_small_and_works),
        cmocka_unit_test(idling_spares_what_is_in_use),
        cmocka_unit_test(memory_goes_back_after_a_timeout),
        cmocka_unit_test(memory_goes_back_after_slow_output),
        cmocka_unit_test(memory_goes_back_after_a_kept_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
