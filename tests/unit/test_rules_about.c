/* Notifications that are about other messages, cancellation and progress, fit the document, too:
 * whether there is something that they are about or not. */
#include "unit/rules.h"
#include "unit/talk.h"

static const char document[] =
    "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"Test\",\"version\":\"1\"},"
    "\"methods\":["
    "{\"name\":\"work\",\"summary\":\"Works.\",\"params\":[],\"x-duplex\":{\"from\":\"both\"}},"
    "{\"name\":\"drop\",\"summary\":\"Cancels.\",\"params\":[{\"name\":\"id\",\"required\":true,"
    "\"schema\":true},{\"name\":\"why\",\"schema\":{\"type\":\"string\"}}],"
    "\"x-duplex\":{\"from\":\"host\",\"notification\":true,\"params\":{\"type\":\"object\","
    "\"required\":[\"id\"],\"properties\":{\"id\":true,\"why\":{\"type\":\"string\"}}}}},"
    "{\"name\":\"steam\",\"summary\":\"Tells.\",\"params\":[{\"name\":\"of\",\"required\":true,"
    "\"schema\":true},{\"name\":\"hot\",\"required\":true,\"schema\":{\"type\":\"integer\"}}],"
    "\"x-duplex\":{\"from\":\"plugin\",\"notification\":true,\"params\":{\"type\":\"object\","
    "\"required\":[\"of\",\"hot\"],\"properties\":{\"of\":true,\"hot\":{\"type\":\"integer\"}}}}}"
    "],"
    "\"x-duplex\":{\"name\":\"test\",\"framing\":\"line\","
    "\"cancel\":{\"method\":\"drop\",\"id\":\"id\",\"reason\":\"why\",\"answered\":true,"
    "\"code\":7},"
    "\"progress\":{\"method\":\"steam\",\"token\":\"of\",\"place\":[\"/of\"]}}}";

static int load(void **state) {
    (void)state;
    return load_document(document);
}

static dx_peer *new_peer(dx_side side, dx_checking checking) {
    dx_peer_config config = dx_peer_for(protocol, side);
    config.checking = checking;
    return talk_new(&config);
}

static void expect_violation(dx_peer *peer, dx_fault fault, const char *phrase) {
    const dx_event *event = talk_next(peer, DX_EVENT_VIOLATION);
    assert_int_equal(event->error.fault, fault);
    assert_string_equal(event->error.phrase, phrase);
    assert_int_equal(dx_peer_statistics(peer).violations, 1);
    talk_silence(peer);
    dx_peer_free(peer);
}

#define DROP(params) V ",\"method\":\"drop\",\"params\":" params "}\n"
#define STEAM(params) V ",\"method\":\"steam\",\"params\":" params "}\n"

/* About a request that never came. */
static void an_idle_cancel_must_fit(void **state) {
    (void)state;
    static const struct {
        const char *message;
        const char *phrase;
    } rows[] = {
        {DROP("{\"id\":9,\"why\":1}"), "drop: /params/why: expected string, found number"},
        {DROP("{}"), "drop: /params: missing member \"id\""},
        {V ",\"method\":\"drop\"}\n", "drop: /params: the params are missing"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_peer *peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_INCOMING);
        talk_feed(peer, rows[i].message, 1);
        expect_violation(peer, DX_FAULT_PARAMS_FIT, rows[i].phrase);
    }
    /* Nor may it come from who does not cancel. */
    dx_peer *peer = new_peer(DX_SIDE_HOST, DX_CHECKING_INCOMING);
    talk_feed(peer, DROP("{\"id\":9}"), 1);
    expect_violation(peer, DX_FAULT_METHOD_UNKNOWN, "drop may not be sent by the plugin");
}

static void an_idle_cancel_that_fits_is_nothing(void **state) {
    (void)state;
    for (dx_checking checking = DX_CHECKING_OFF; checking <= DX_CHECKING_BOTH; checking++) {
        dx_peer *peer = new_peer(DX_SIDE_PLUGIN, checking);
        talk_feed(peer, DROP("{\"id\":9,\"why\":\"late\"}"), 1);
        talk_silence(peer);
        if (checking == DX_CHECKING_OFF) /* nobody looks */
            talk_feed(peer, DROP("{\"id\":9,\"why\":1}"), 1);
        talk_silence(peer);
        talk_said(peer, "");
        assert_int_equal(dx_peer_statistics(peer).violations, 0);
        /* What follows comes. */
        talk_feed(peer, V ",\"id\":1,\"method\":\"work\"}\n", 1);
        talk_next(peer, DX_EVENT_REQUEST);
        dx_peer_free(peer);
    }
}

/* A second one for the same request, and one for a request whose turn has not come, say nothing to
 * the user, but must fit. */
static void a_cancel_that_changes_nothing_must_fit(void **state) {
    (void)state;
    for (int fits = 0; fits <= 1; fits++) {
        dx_peer *peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_INCOMING);
        talk_feed(peer, V ",\"id\":1,\"method\":\"work\"}\n", 1);
        dx_request request = talk_next(peer, DX_EVENT_REQUEST)->request;
        dx_event *kept = talk_keep(peer);
        talk_feed(peer, DROP("{\"id\":1}"), 1);
        assert_int_equal(talk_next(peer, DX_EVENT_CANCEL)->request, request);
        talk_feed(peer, fits ? DROP("{\"id\":1,\"why\":\"x\"}") : DROP("{\"id\":1,\"why\":[]}"), 1);
        if (!fits)
            talk_next(peer, DX_EVENT_VIOLATION);
        talk_silence(peer);
        assert_int_equal(dx_peer_refuse(peer, request, 7, dx_str("no"), dx_json_none()), DX_OK);
        dx_event_free(kept);
        dx_peer_free(peer);
    }
    dx_peer *peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_INCOMING);
    talk_feed(peer, V ",\"id\":1,\"method\":\"work\"}\n" DROP("{\"id\":1,\"why\":2}"), 1);
    expect_violation(peer, DX_FAULT_PARAMS_FIT, "drop: /params/why: expected string, found number");
}

static void a_cancel_that_does_not_fit_still_cancels(void **state) {
    (void)state;
    dx_peer *peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_INCOMING);
    talk_feed(peer, V ",\"id\":1,\"method\":\"work\"}\n", 1);
    dx_request request = talk_next(peer, DX_EVENT_REQUEST)->request;
    dx_event *kept = talk_keep(peer);
    talk_feed(peer, DROP("{\"id\":1,\"why\":1}"), 1);
    const dx_event *event = talk_next(peer, DX_EVENT_CANCEL);
    assert_int_equal(event->request, request);
    assert_int_equal(event->error.fault, DX_FAULT_PARAMS_FIT);
    assert_string_equal(event->error.phrase, "drop: /params/why: expected string, found number");
    assert_text(event->body, "{\"id\":1,\"why\":1}");
    assert_int_equal(dx_peer_statistics(peer).violations, 1);
    dx_event_free(kept);
    dx_peer_free(peer);
    /* One that fits has no error. */
    peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_INCOMING);
    talk_feed(peer, V ",\"id\":1,\"method\":\"work\"}\n", 1);
    talk_next(peer, DX_EVENT_REQUEST);
    kept = talk_keep(peer);
    talk_feed(peer, DROP("{\"id\":1}"), 1);
    assert_int_equal(talk_next(peer, DX_EVENT_CANCEL)->error.fault, DX_FAULT_NONE);
    assert_int_equal(dx_peer_statistics(peer).violations, 0);
    dx_event_free(kept);
    dx_peer_free(peer);
}

static void call_with_token(dx_peer *peer) {
    dx_call_options options = {.token = TEXT("5")};
    assert_int_equal(dx_peer_call(peer, dx_str("work"), dx_json_none(), &options, 1, NULL), DX_OK);
}

static void progress_must_fit(void **state) {
    (void)state;
    dx_peer *peer = new_peer(DX_SIDE_HOST, DX_CHECKING_INCOMING);
    call_with_token(peer);
    talk_feed(peer, STEAM("{\"of\":5,\"hot\":90}"), 1);
    assert_int_equal(talk_next(peer, DX_EVENT_PROGRESS)->error.fault, DX_FAULT_NONE);
    talk_silence(peer);
    talk_feed(peer, STEAM("{\"of\":5,\"hot\":\"very\"}"), 1);
    expect_violation(peer, DX_FAULT_PARAMS_FIT,
                     "steam: /params/hot: expected integer, found string");
}

/* Of no call of ours. */
static void idle_progress_must_fit(void **state) {
    (void)state;
    dx_peer *peer = new_peer(DX_SIDE_HOST, DX_CHECKING_INCOMING);
    talk_feed(peer, STEAM("{\"of\":6,\"hot\":90}"), 1);
    talk_silence(peer);
    assert_int_equal(dx_peer_statistics(peer).progress_dropped, 1);
    assert_int_equal(dx_peer_statistics(peer).violations, 0);
    talk_feed(peer, STEAM("{\"of\":6}"), 1);
    expect_violation(peer, DX_FAULT_PARAMS_FIT, "steam: /params: missing member \"hot\"");
}

/* Each allocation fails once: the violation is told all the same, and once. */
static void without_memory_it_can_be_repeated(void **state) {
    (void)state;
    static const char line[] = DROP("{\"id\":9,\"why\":1}");
    for (size_t fail_at = 1;; fail_at++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_peer_config config = dx_peer_for(protocol, DX_SIDE_PLUGIN);
        config.allocator = &alloc;
        dx_peer *peer = talk_new(&config);
        memory.fail_at = memory.count + fail_at;
        size_t used = 0;
        const dx_event *event = NULL;
        dx_status status = dx_peer_feed(peer, line, sizeof line - 1, 1, &used);
        if (status == DX_OK)
            status = dx_peer_next(peer, &event);
        int failed = status != DX_OK;
        memory.fail_at = 0;
        if (used < sizeof line - 1)
            talk_feed(peer, line + used, 1);
        if (failed)
            event = talk_next(peer, DX_EVENT_VIOLATION);
        assert_int_equal(event->kind, DX_EVENT_VIOLATION);
        assert_int_equal(event->error.fault, DX_FAULT_PARAMS_FIT);
        assert_int_equal(dx_peer_statistics(peer).violations, 1);
        talk_silence(peer);
        dx_peer_free(peer);
        assert_int_equal(memory.blocks, 0);
        if (!failed)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_cancel_must_fit),
        cmocka_unit_test(an_idle_cancel_that_fits_is_nothing),
        cmocka_unit_test(a_cancel_that_changes_nothing_must_fit),
        cmocka_unit_test(a_cancel_that_does_not_fit_still_cancels),
        cmocka_unit_test(progress_must_fit),
        cmocka_unit_test(idle_progress_must_fit),
        cmocka_unit_test(without_memory_it_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
