/* A peer that speaks a protocol: what comes and what is sent must fit the document. */
#include "unit/rules.h"

#include <stdbool.h>

static const char document[] =
    "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"Test\",\"version\":\"1\"},"
    "\"methods\":["
    "{\"name\":\"hello\",\"summary\":\"Begins.\",\"params\":[{\"name\":\"who\",\"required\":true,"
    "\"schema\":{\"type\":\"string\"}}],"
    "\"result\":{\"name\":\"greeting\",\"schema\":{\"type\":\"object\",\"required\":[\"text\"],"
    "\"properties\":{\"text\":{\"type\":\"string\"}},\"additionalProperties\":false}},"
    "\"x-duplex\":{\"from\":\"host\",\"deadline\":700,\"params\":{\"type\":\"object\",\"required\":"
    "[\"who\"],"
    "\"properties\":{\"who\":{\"type\":\"string\"}},\"additionalProperties\":false}}},"
    "{\"name\":\"work\",\"summary\":\"Works.\",\"params\":[],"
    "\"result\":{\"name\":\"done\",\"schema\":{\"type\":\"boolean\"}},"
    "\"x-duplex\":{\"from\":\"both\"}},"
    "{\"name\":\"log\",\"summary\":\"Tells.\",\"params\":[{\"name\":\"line\",\"required\":true,"
    "\"schema\":{\"type\":\"string\"}}],"
    "\"x-duplex\":{\"from\":\"plugin\",\"notification\":true,\"params\":{\"type\":\"object\","
    "\"required\":[\"line\"],\"properties\":{\"line\":{\"type\":\"string\"}}}}},"
    "{\"name\":\"bye\",\"summary\":\"Ends.\",\"params\":[],"
    "\"x-duplex\":{\"from\":\"host\",\"notification\":true}}"
    "],"
    "\"x-duplex\":{\"name\":\"test\",\"framing\":\"line\",\"deadline\":4000,\"host\":\"boss\","
    "\"lifecycle\":{\"start\":\"new\",\"states\":{"
    "\"new\":{\"host\":[\"hello\"],\"plugin\":[\"log\"],\"code\":-32002,\"message\":\"say hello "
    "first\"},"
    "\"ready\":{\"never\":[\"hello\"]},\"over\":{\"host\":[],\"plugin\":[]}},"
    "\"moves\":[{\"in\":\"new\",\"message\":\"hello\",\"by\":\"host\",\"outcome\":\"result\","
    "\"to\":\"ready\"},"
    "{\"in\":\"ready\",\"message\":\"bye\",\"by\":\"host\",\"outcome\":\"sent\",\"to\":\"over\"}]}}"
    "}";

static int load(void **state) {
    (void)state;
    return load_document(document);
}

static dx_peer *new_peer(dx_side side, dx_checking checking) {
    dx_peer_config config = dx_peer_for(protocol, side);
    dx_peer *peer;
    assert_int_equal(config.framing, DX_FRAMING_LINE);
    assert_int_equal(config.timeout_ms, 4000);
    config.checking = checking;
    assert_int_equal(dx_peer_new(&config, &peer), DX_OK);
    return peer;
}

static const dx_event *feed(dx_peer *peer, const char *line) {
    const dx_event *event;
    assert_int_equal(dx_peer_feed(peer, line, strlen(line), 1, NULL), DX_OK);
    return dx_peer_next(peer, &event) == DX_OK ? event : NULL;
}

static void expect_output(dx_peer *peer, const char *expected) {
    dx_text out = dx_peer_output(peer);
    unit_same(out, dx_str(expected));
    dx_peer_sent(peer, out.len);
}

static void expect_violation(const dx_event *event, dx_fault fault, const char *phrase) {
    assert_non_null(event);
    assert_int_equal(event->kind, DX_EVENT_VIOLATION);
    assert_int_equal(event->error.fault, fault);
    assert_string_equal(event->error.phrase, phrase);
}

static void make_ready(dx_peer *peer) {
    const dx_event *event = feed(
        peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"who\":\"me\"}}\n");
    assert_int_equal(event->kind, DX_EVENT_REQUEST);
    assert_string_equal(event->rule->summary, "Begins.");
    assert_string_equal(dx_peer_state(peer), "new");
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_text("{\"text\":\"hi\"}", 13)),
                     DX_OK);
    assert_string_equal(dx_peer_state(peer), "ready");
    dx_peer_sent(peer, SIZE_MAX);
}

static void requests_that_do_not_fit_are_answered(void **state) {
    (void)state;
    static const struct {
        const char *request;
        const char *answer;
        dx_fault fault;
        const char *phrase;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"hello\",\"params\":{\"who\":7}}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32602,\"message\":\"Invalid params\","
         "\"data\":{\"pointer\":\"/params/who\",\"reason\":\"expected string, found number\"}}}\n",
         DX_FAULT_PARAMS_FIT, "hello: /params/who: expected string, found number"},
        {"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"nothing\"}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":6,\"error\":{\"code\":-32601,\"message\":\"Method not "
         "found\","
         "\"data\":\"nothing is not a method of test\"}}\n",
         DX_FAULT_METHOD_UNKNOWN, "nothing is not a method of test"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"log\",\"params\":{\"line\":\"x\"}}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,\"message\":\"Method not "
         "found\","
         "\"data\":\"log may not be sent by the boss\"}}\n",
         DX_FAULT_METHOD_UNKNOWN, "log may not be sent by the boss"},
        {"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"bye\"}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":8,\"error\":{\"code\":-32600,\"message\":\"Invalid Request\","
         "\"data\":\"bye is a notification, not a request\"}}\n",
         DX_FAULT_METHOD_KIND, "bye is a notification, not a request"},
        {"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"work\"}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32002,\"message\":\"say hello first\","
         "\"data\":\"work is not allowed now: the state is \\\"new\\\"\"}}\n",
         DX_FAULT_STATE, "work is not allowed now: the state is \"new\""},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_peer *peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_INCOMING);
        expect_violation(feed(peer, rows[i].request), rows[i].fault, rows[i].phrase);
        expect_output(peer, rows[i].answer);
        assert_int_equal(dx_peer_statistics(peer).violations, 1);
        make_ready(peer); /* it goes on */
        dx_peer_free(peer);
    }
}

static void notifications_that_do_not_fit_are_dropped(void **state) {
    (void)state;
    dx_peer *peer = new_peer(DX_SIDE_HOST, DX_CHECKING_BOTH);
    expect_violation(
        feed(peer, "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"line\":1}}\n"),
        DX_FAULT_PARAMS_FIT, "log: /params/line: expected string, found number");
    expect_violation(feed(peer, "{\"jsonrpc\":\"2.0\",\"method\":\"work\"}\n"),
                     DX_FAULT_METHOD_KIND, "work is a request, not a notification");
    expect_violation(feed(peer, "{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}\n"),
                     DX_FAULT_METHOD_UNKNOWN, "bye may not be sent by the plugin");
    expect_output(peer, "");
    const dx_event *event = feed(
        peer, "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"line\":\"a\",\"new\":1}}\n");
    assert_int_equal(event->kind, DX_EVENT_NOTIFICATION);
    dx_peer_free(peer);
}

static void unknown_members_may_come_but_are_not_sent(void **state) {
    (void)state;
    dx_peer *plugin = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_BOTH);
    const dx_event *event = feed(plugin, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\","
                                         "\"params\":{\"who\":\"me\",\"since\":2031}}\n");
    assert_int_equal(event->kind, DX_EVENT_REQUEST);
    assert_int_equal(
        dx_peer_reply(plugin, event->request, dx_json_text("{\"text\":\"hi\",\"more\":1}", 22)),
        DX_MISFIT);
    assert_string_equal(dx_peer_why(plugin)->instance, "/more");
    assert_int_equal(dx_peer_reply(plugin, event->request, dx_json_none()), DX_MISFIT);
    assert_int_equal(dx_peer_reply(plugin, event->request, dx_json_text("{\"text\":\"hi\"}", 13)),
                     DX_OK);
    dx_peer_free(plugin);
}

static void what_is_sent_must_fit(void **state) {
    (void)state;
    dx_peer *peer = new_peer(DX_SIDE_HOST, DX_CHECKING_BOTH);
    dx_json bad = dx_json_text("{\"who\":[]}", 10);
    yyjson_doc *doc = yyjson_read("{\"who\":\"x\"}", 11, 0);
    assert_int_equal(dx_peer_call(peer, dx_str("hello"), bad, NULL, 0, NULL), DX_MISFIT);
    assert_string_equal(dx_peer_why(peer)->phrase, "/who: expected string, found array");
    assert_int_equal(dx_peer_call(peer, dx_str("hello"), dx_json_none(), NULL, 0, NULL), DX_MISFIT);
    assert_int_equal(dx_peer_call(peer, dx_str("else"), dx_json_none(), NULL, 0, NULL), DX_MISFIT);
    assert_int_equal(dx_peer_call(peer, dx_str("work"), dx_json_none(), NULL, 0, NULL), DX_MISFIT);
    assert_int_equal(dx_peer_notify(peer, dx_str("log"), bad), DX_MISFIT);
    assert_int_equal(dx_peer_notify(peer, dx_str("hello"), bad), DX_MISFIT);
    expect_output(peer, "");
    assert_int_equal(dx_peer_pending(peer), 0);
    dx_json good = dx_json_value(yyjson_doc_get_root(doc));
    assert_int_equal(dx_peer_call(peer, dx_str("hello"), good, NULL, 0, NULL), DX_OK);
    assert_int_equal(dx_peer_deadline(peer), 700);
    expect_output(
        peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"who\":\"x\"}}\n");
    yyjson_doc_free(doc);
    dx_peer_free(peer);
}

static void results_that_do_not_fit_are_told(void **state) {
    (void)state;
    for (dx_checking checking = DX_CHECKING_OFF; checking <= DX_CHECKING_BOTH; checking++) {
        dx_peer *peer = new_peer(DX_SIDE_HOST, checking);
        dx_json params = dx_json_text("{\"who\":\"x\"}", 11);
        assert_int_equal(dx_peer_call(peer, dx_str("hello"), params, NULL, 0, NULL), DX_OK);
        const dx_event *event =
            feed(peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":null}}\n");
        assert_int_equal(event->kind, DX_EVENT_DONE);
        assert_text(event->body, "{\"text\":null}");
        assert_true(yyjson_is_obj(event->value));
        if (checking == DX_CHECKING_OFF) {
            assert_int_equal(event->outcome, DX_OUTCOME_RESULT);
        } else {
            assert_int_equal(event->outcome, DX_OUTCOME_INVALID);
            assert_int_equal(event->error.fault, DX_FAULT_RESULT_FIT);
            assert_string_equal(event->error.phrase,
                                "hello: /result/text: expected string, found null");
            assert_int_equal(dx_peer_statistics(peer).invalid, 1);
            assert_int_equal(dx_peer_statistics(peer).results, 0);
        }
        assert_string_equal(dx_peer_state(peer), "ready");
        dx_peer_free(peer);
    }
}

static void an_error_does_not_make_ready(void **state) {
    (void)state;
    dx_peer *peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_BOTH);
    const dx_event *event = feed(
        peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"who\":\"me\"}}\n");
    assert_int_equal(dx_peer_refuse(peer, event->request, 1, dx_str("no"), dx_json_none()), DX_OK);
    assert_string_equal(dx_peer_state(peer), "new");
    make_ready(peer);
    expect_violation(
        feed(peer,
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"hello\",\"params\":{\"who\":\"me\"}}\n"),
        DX_FAULT_STATE, "hello is not allowed now: the state is \"ready\"");
    assert_int_equal(feed(peer, "{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}\n")->kind,
                     DX_EVENT_NOTIFICATION);
    assert_string_equal(dx_peer_state(peer), "over");
    dx_json line = dx_json_text("{\"line\":\"x\"}", 12);
    assert_int_equal(dx_peer_notify(peer, dx_str("log"), line), DX_MISFIT);
    dx_peer_free(peer);
}

static void messages_in_one_piece_are_judged_in_their_order(void **state) {
    (void)state;
    dx_peer *peer = new_peer(DX_SIDE_PLUGIN, DX_CHECKING_BOTH);
    const dx_event *event = feed(
        peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"who\":\"me\"}}\n"
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"work\"}\n");
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_text("{\"text\":\"\"}", 11)),
                     DX_OK);
    assert_int_equal(dx_peer_next(peer, &event), DX_OK);
    assert_int_equal(event->kind, DX_EVENT_REQUEST);
    assert_int_equal(dx_peer_reply(peer, event->request, dx_json_text("true", 4)), DX_OK);
    dx_peer_free(peer);
}

/* Each allocation fails once; nothing is lost, and all goes on when there is memory again. */
static void without_memory_it_can_be_repeated(void **state) {
    (void)state;
    for (size_t fail_at = 1;; fail_at++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        dx_peer_config config = dx_peer_for(protocol, DX_SIDE_PLUGIN);
        config.allocator = &alloc;
        dx_peer *peer;
        assert_int_equal(dx_peer_new(&config, &peer), DX_OK);
        static const char line[] =
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"hello\",\"params\":{\"who\":7}}\n";
        memory.fail_at = memory.count + fail_at;
        size_t used;
        bool failed = dx_peer_feed(peer, line, sizeof line - 1, 1, &used) != DX_OK;
        const dx_event *event;
        dx_status status = failed ? DX_ERR_NOMEM : dx_peer_next(peer, &event);
        failed = status != DX_OK;
        memory.fail_at = 0;
        if (used < sizeof line - 1)
            assert_int_equal(dx_peer_feed(peer, line + used, sizeof line - 1 - used, 1, NULL),
                             DX_OK);
        if (failed)
            assert_int_equal(dx_peer_next(peer, &event), DX_OK);
        expect_violation(event, DX_FAULT_PARAMS_FIT,
                         "hello: /params/who: expected string, found number");
        expect_output(peer, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32602,\"message\":"
                            "\"Invalid params\",\"data\":{\"pointer\":\"/params/who\",\"reason\":"
                            "\"expected string, found number\"}}}\n");
        dx_peer_free(peer);
        assert_int_equal(memory.blocks, 0);
        if (!failed)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_do_not_fit_are_answered),
        cmocka_unit_test(notifications_that_do_not_fit_are_dropped),
        cmocka_unit_test(unknown_members_may_come_but_are_not_sent),
        cmocka_unit_test(what_is_sent_must_fit),
        cmocka_unit_test(results_that_do_not_fit_are_told),
        cmocka_unit_test(an_error_does_not_make_ready),
        cmocka_unit_test(messages_in_one_piece_are_judged_in_their_order),
        cmocka_unit_test(without_memory_it_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
