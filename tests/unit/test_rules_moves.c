/* What is refused for its params was sent all the same: both ends go on from the same state. */
#include "unit/rules.h"
#include "unit/talk.h"

#include <stdbool.h>

#define PARAMS                                                                             \
    "\"params\":{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\"" \
    ":\"integer\"}}}"
#define LIST "\"params\":[{\"name\":\"n\",\"required\":true,\"schema\":{\"type\":\"integer\"}}]"
#define MOVE(in, message, outcome, to)                                                      \
    "{\"in\":\"" in "\",\"message\":\"" message "\",\"by\":\"host\",\"outcome\":\"" outcome \
    "\",\"to\":\"" to "\"}"

static const char document[] =
    "{\"openrpc\":\"1.3.2\",\"info\":{\"title\":\"Test\",\"version\":\"1\"},"
    "\"methods\":["
    "{\"name\":\"open\",\"summary\":\"S\"," LIST ",\"x-duplex\":{\"from\":\"host\"," PARAMS "}},"
    "{\"name\":\"tell\",\"summary\":\"S\"," LIST
    ",\"x-duplex\":{\"from\":\"host\",\"notification\":true," PARAMS "}},"
    "{\"name\":\"work\",\"summary\":\"S\",\"params\":[],\"x-duplex\":{\"from\":\"host\"}}"
    "],"
    "\"x-duplex\":{\"name\":\"test\",\"framing\":\"line\","
    "\"lifecycle\":{\"start\":\"new\",\"states\":{"
    "\"new\":{\"host\":[\"open\",\"tell\"]},\"opening\":{\"host\":[]},"
    "\"failed\":{\"host\":[\"open\"]},\"ready\":{},\"told\":{}},"
    "\"moves\":[" MOVE("new", "open", "sent", "opening") "," MOVE("opening", "open", "error",
                                                                  "failed") "," //
    MOVE("opening", "open", "result", "ready") "," MOVE("new", "tell", "sent", "told") "]}}}";

static int load(void **state) {
    (void)state;
    return load_document(document);
}

/* A host that does not check what it sends, and a plugin that checks what comes. */
struct ends {
    dx_peer *host;
    dx_peer *plugin;
};

static struct ends new_ends(dx_checking of_plugin) {
    dx_peer_config host = dx_peer_for(protocol, DX_SIDE_HOST);
    dx_peer_config plugin = dx_peer_for(protocol, DX_SIDE_PLUGIN);
    host.checking = DX_CHECKING_INCOMING;
    plugin.checking = of_plugin;
    host.idle_ms = DX_NEVER;
    return (struct ends){talk_new(&host), talk_new(&plugin)};
}

static void free_ends(struct ends *ends) {
    dx_peer_free(ends->host);
    dx_peer_free(ends->plugin);
}

static void carry(dx_peer *from, dx_peer *to) {
    dx_text output = dx_peer_output(from);
    assert_true(output.len > 0);
    assert_int_equal(dx_peer_feed(to, output.at, output.len, 1, NULL), DX_OK);
    dx_peer_sent(from, output.len);
}

static void expect_states(const struct ends *ends, const char *host, const char *plugin) {
    assert_string_equal(dx_peer_state(ends->host), host);
    assert_string_equal(dx_peer_state(ends->plugin), plugin);
}

#define GOOD dx_json_text("{\"n\":1}", 7)
#define BAD dx_json_text("{\"n\":\"one\"}", 11)

static void a_refused_request_moves_both_ends(void **state) {
    (void)state;
    struct ends ends = new_ends(DX_CHECKING_INCOMING);
    assert_int_equal(dx_peer_call(ends.host, dx_str("open"), BAD, NULL, 1, NULL), DX_OK);
    expect_states(&ends, "opening", "new");
    carry(ends.host, ends.plugin);
    assert_int_equal(talk_next(ends.plugin, DX_EVENT_VIOLATION)->error.fault, DX_FAULT_PARAMS_FIT);
    expect_states(&ends, "opening", "failed");
    carry(ends.plugin, ends.host);
    const dx_event *event = talk_next(ends.host, DX_EVENT_DONE);
    assert_int_equal(event->outcome, DX_OUTCOME_ERROR);
    assert_int_equal(event->code, DX_CODE_PARAMS);
    expect_states(&ends, "failed", "failed");
    /* From there both go on alike: a second try is allowed, other work is not. */
    talk_call(ends.host, "work", 1);
    carry(ends.host, ends.plugin);
    assert_int_equal(talk_next(ends.plugin, DX_EVENT_VIOLATION)->error.fault, DX_FAULT_STATE);
    expect_states(&ends, "failed", "failed");
    free_ends(&ends);
}

/* The same as when the handler refuses. */
static void a_handler_that_refuses_moves_alike(void **state) {
    (void)state;
    struct ends ends = new_ends(DX_CHECKING_OFF);
    assert_int_equal(dx_peer_call(ends.host, dx_str("open"), BAD, NULL, 1, NULL), DX_OK);
    carry(ends.host, ends.plugin);
    dx_request request = talk_next(ends.plugin, DX_EVENT_REQUEST)->request;
    expect_states(&ends, "opening", "opening");
    assert_int_equal(
        dx_peer_refuse(ends.plugin, request, DX_CODE_PARAMS, dx_str(NULL), dx_json_none()), DX_OK);
    carry(ends.plugin, ends.host);
    talk_next(ends.host, DX_EVENT_DONE);
    expect_states(&ends, "failed", "failed");
    free_ends(&ends);
}

static void a_notification_with_bad_params_moves_both_ends(void **state) {
    (void)state;
    struct ends ends = new_ends(DX_CHECKING_INCOMING);
    assert_int_equal(dx_peer_notify(ends.host, dx_str("tell"), BAD), DX_OK);
    expect_states(&ends, "told", "new");
    carry(ends.host, ends.plugin);
    assert_int_equal(talk_next(ends.plugin, DX_EVENT_VIOLATION)->error.fault, DX_FAULT_PARAMS_FIT);
    expect_states(&ends, "told", "told");
    free_ends(&ends);
}

/* What is refused for another reason than its params moves nothing. */
static void other_refusals_leave_the_state(void **state) {
    (void)state;
    static const char *const lines[] = {
        V ",\"id\":1,\"method\":\"nothing\"}\n",
        V ",\"id\":1,\"method\":\"work\"}\n",
        V ",\"id\":1,\"method\":\"tell\",\"params\":{\"n\":1}}\n",
        V ",\"method\":\"open\",\"params\":{\"n\":1}}\n",
    };
    for (size_t i = 0; i < LENGTH(lines); i++) {
        struct ends ends = new_ends(DX_CHECKING_INCOMING);
        talk_feed(ends.plugin, lines[i], 1);
        talk_next(ends.plugin, DX_EVENT_VIOLATION);
        expect_states(&ends, "new", "new");
        free_ends(&ends);
    }
}

/* Nor does what is of the other kind, whoever checks. */
static void the_other_kind_leads_nowhere(void **state) {
    (void)state;
    for (dx_checking checking = DX_CHECKING_OFF; checking <= DX_CHECKING_INCOMING; checking++) {
        bool checks = checking != DX_CHECKING_OFF;
        struct ends ends = new_ends(checking);
        assert_int_equal(dx_peer_notify(ends.host, dx_str("open"), GOOD), DX_OK);
        expect_states(&ends, "new", "new");
        carry(ends.host, ends.plugin);
        const dx_event *event =
            talk_next(ends.plugin, checks ? DX_EVENT_VIOLATION : DX_EVENT_NOTIFICATION);
        assert_null(event->rule);
        expect_states(&ends, "new", "new");
        assert_int_equal(dx_peer_call(ends.host, dx_str("tell"), GOOD, NULL, 1, NULL), DX_OK);
        assert_int_equal(dx_peer_deadline(ends.host), 30001); /* not that of a notification */
        expect_states(&ends, "new", "new");
        carry(ends.host, ends.plugin);
        talk_next(ends.plugin, checks ? DX_EVENT_VIOLATION : DX_EVENT_REQUEST);
        talk_silence(ends.plugin); /* which answers it */
        carry(ends.plugin, ends.host);
        assert_int_equal(talk_next(ends.host, DX_EVENT_DONE)->outcome, DX_OUTCOME_ERROR);
        expect_states(&ends, "new", "new");
        free_ends(&ends);
    }
}

/* The answer may not be sent for want of memory: until it is, the state stays, too. */
static void the_state_moves_once(void **state) {
    (void)state;
    static const char line[] = V ",\"id\":5,\"method\":\"open\",\"params\":{\"n\":\"one\"}}\n";
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
        if (failed)
            assert_string_equal(dx_peer_state(peer), "new");
        if (used < sizeof line - 1)
            talk_feed(peer, line + used, 1);
        if (failed)
            event = talk_next(peer, DX_EVENT_VIOLATION);
        assert_int_equal(event->error.fault, DX_FAULT_PARAMS_FIT);
        assert_string_equal(dx_peer_state(peer), "failed");
        dx_peer_free(peer);
        assert_int_equal(memory.blocks, 0);
        if (!failed)
            break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_request_moves_both_ends),
        cmocka_unit_test(a_handler_that_refuses_moves_alike),
        cmocka_unit_test(a_notification_with_bad_params_moves_both_ends),
        cmocka_unit_test(other_refusals_leave_the_state),
        cmocka_unit_test(the_other_kind_leads_nowhere),
        cmocka_unit_test(the_state_moves_once),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
