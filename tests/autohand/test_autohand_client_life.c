/* How a client begins and ends, whatever the agent does. */
#include "autohand/client_talk.h"

#include <signal.h>

/* What cannot be started at all. */
static void test_no_start(void **state) {
    const char *argv[] = {"/nowhere/agent", NULL};
    dx_loop *loop;
    dx_autohand_client *client = NULL;
    dx_error error;
    dx_autohand_client_config config = dx_autohand_client_defaults(argv);
    (void)state;
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_autohand_client_start(loop, &config, &client, &error), DX_ERR_SYSTEM);
    assert_non_null(strstr(error.phrase, "/nowhere/agent"));
    config = dx_autohand_client_defaults(NULL);
    assert_int_equal(dx_autohand_client_start(loop, &config, &client, &error), DX_ERR_INVALID);
    assert_true(error.phrase[0]);
    assert_null(client);
    dx_loop_free(loop);
}

/* An error for nobody is no end: who is ready behind it is, and its death is told as it is. */
static void test_ready_nevertheless(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk_once(talk, "doc",
              "raw {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"No "
              "theme\"},\"id\":null}\nstart\nturn 2\ndie");
    assert_int_equal(talk->turn.success, 1);
    assert_int_equal(talk->violations, 1);
    assert_non_null(strstr(talk->phrase, "No theme"));
    talk_until(talk, &talk->gone, 1);
    assert_int_equal(talk->how.error.fault, DX_FAULT_KILLED);
    talk_end(talk);
}

/* Agents that are never ready: each with the reason, and with the end of the prompt before that. */
static void test_not_ready(void **state) {
    static const struct {
        const char *script;
        const char *phrase;
        dx_fault fault;
    } rows[] = {
        {"raw {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32011,\"message\":\"Login "
         "required\"},\"id\":null}\nexit 1",
         "cannot start: Login required", DX_FAULT_START},
        {"err no config\nexit 1", "no config", DX_FAULT_EXITED},
        {"exit 0", "before it was ready", DX_FAULT_ENDED},
        {"die", "signal", DX_FAULT_KILLED},
        {"close\nsleep 5", "ended", DX_FAULT_ENDED},
        {"eof", "timed out waiting for agentStart from the agent", DX_FAULT_TIMEOUT},
        {"big error message 9000\nsleep 5", "", DX_FAULT_MESSAGE_LIMIT},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk *talk = talk_new();
        talk->config.start_ms = i == 5 ? 400 : 20000;
        talk->config.child.link.peer.message_max = 8192;
        assert_int_equal(talk_go(talk, "doc", rows[i].script), DX_OK);
        talk_prompt(talk, "hi");
        talk_until(talk, &talk->gone, 1);
        if (talk->how.error.fault != rows[i].fault ||
            !strstr(talk->how.error.phrase, rows[i].phrase))
            fail_msg("row %zu: %s: '%s'", i, dx_fault_name(talk->how.error.fault),
                     talk->how.error.phrase);
        assert_int_equal(talk->turns, 1);
        assert_int_equal(talk->turn.success, 0);
        assert_string_equal(talk->why, talk->how.error.phrase);
        dx_autohand_prompt prompt = {.message = dx_str("hi")};
        assert_int_equal(dx_autohand_client_prompt(talk->client, &prompt, &talk->error), DX_CLOSED);
        assert_int_equal(dx_autohand_client_state(talk->client, talk_answer, talk), DX_CLOSED);
        assert_int_equal(dx_autohand_client_abort(talk->client), DX_GONE);
        assert_null(dx_autohand_client_link(talk->client));
        dx_autohand_client_stop(talk->client);
        talk_end(talk);
    }
}

#define BEGUN "start\n< prompt\nn turnStart {\"turnId\": \"t\"}\n"

/* Agents that end in the middle of a turn: it ends, then all calls, then the agent is gone. */
static void test_death(void **state) {
    static const struct {
        const char *script;
        const char *phrase;
        dx_fault fault;
    } rows[] = {
        {BEGUN "die", "signal 9", DX_FAULT_KILLED},
        {BEGUN "exit 3", "code 3", DX_FAULT_EXITED},
        {BEGUN "exit 0", "", DX_FAULT_NONE},
        {BEGUN "n agentEnd {\"sessionId\": \"s\", \"reason\": \"error\"}\nexit 0", "",
         DX_FAULT_NONE},
        {BEGUN "close\nsleep 5", "ended", DX_FAULT_ENDED},
        {BEGUN "big ping x 9000\nsleep 5", "", DX_FAULT_MESSAGE_LIMIT},
        {BEGUN "big ping x 9000\nexit 0", "", DX_FAULT_MESSAGE_LIMIT},
        {"start\n< prompt\na prompt {\"success\": true}\nn turnStart {\"turnId\": \"t\"}\ndie",
         "signal 9", DX_FAULT_KILLED},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk *talk = talk_new();
        talk->config.child.link.peer.message_max = 8192;
        talk_once(talk, "doc", rows[i].script);
        assert_int_equal(talk->turn.success, 0);
        assert_int_equal(talk->turn.aborted, 0);
        talk_until(talk, &talk->gone, 1);
        if (talk->how.error.fault != rows[i].fault ||
            !strstr(talk->how.error.phrase, rows[i].phrase))
            fail_msg("row %zu: %s: '%s'", i, dx_fault_name(talk->how.error.fault),
                     talk->how.error.phrase);
        assert_true(talk->why[0]);
        assert_int_equal(talk->turns, 1);
        talk_end(talk);
    }
}

/* Calls that are open when it ends, late answers, error answers. */
static void test_calls(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->config.call_ms = 400;
    assert_int_equal(
        talk_go(talk, "doc",
                "start\n< getState\ne getState -32603 broken\n< getMessages {\"limit\": 3}\na "
                "getMessages {\"messages\": []}\n< getMessages {\"limit\": null}\nsleep 0.6\na "
                "getMessages {}\n< reset\nn agentStart {\"sessionId\": \"session_2\", \"model\": "
                "\"m\", \"workspace\": \"/\"}\na reset {\"sessionId\": \"session_2\"}\n< "
                "getState\ndie"),
        DX_OK);
    talk_until_told(talk, "start session_1");
    assert_int_equal(dx_autohand_client_state(talk->client, talk_answer, talk), DX_OK);
    talk_until_told(talk, "answer broken (-32603)\n");
    assert_int_equal(dx_autohand_client_messages(talk->client, 3, talk_answer, talk), DX_OK);
    talk_until_told(talk, "answer {\"messages\":[]}\n");
    assert_int_equal(dx_autohand_client_messages(talk->client, 0, talk_answer, talk), DX_OK);
    talk_until_told(talk, "answer no response within 400 ms");
    assert_int_equal(dx_autohand_client_reset(talk->client, talk_answer, talk), DX_OK);
    talk_until_told(talk, "start session_2 m -1\nanswer {\"sessionId\":\"session_2\"}\n");
    assert_int_equal(dx_autohand_client_state(talk->client, talk_answer, talk), DX_OK);
    talk_until(talk, &talk->gone, 1);
    assert_int_equal(talk->how.signal, SIGKILL);
    const char *last = strrchr(talk->told, 'a');
    assert_non_null(last);
    must_tell(talk, "signal 9");
    assert_int_equal(talk->turns, 0);
    talk_end(talk);
}

/* Asked to leave in the middle of a turn, and one that does not want to. */
static void test_stop(void **state) {
    (void)state;
    for (int stubborn = 0; stubborn < 2; stubborn++) {
        struct talk *talk = talk_new();
        assert_int_equal(talk_go(talk, "doc", stubborn ? BEGUN "sleep 20" : BEGUN), DX_OK);
        talk_prompt(talk, "hi");
        talk_until_told(talk, "turn t\n");
        uint64_t before = talk_now();
        dx_autohand_client_stop(talk->client);
        dx_autohand_client_stop(talk->client);
        dx_autohand_prompt prompt = {.message = dx_str("hi")};
        assert_int_equal(dx_autohand_client_prompt(talk->client, &prompt, NULL), DX_CLOSED);
        talk_until(talk, &talk->gone, 1);
        assert_true(talk_now() - before < 4000);
        assert_int_equal(talk->how.signal != 0, stubborn);
        assert_int_equal(talk->turns, 1);
        assert_int_equal(talk->turn.success, 0);
        assert_true(talk->how.stopped);
        talk_end(talk);
    }
}

/* Freed in each callback. */
static void test_freed(void **state) {
    static const char script[] =
        "start\nturn 2 n permissionRequest {\"requestId\": \"p\", \"tool\": \"x\", "
        "\"description\": \"d\"} ;; < permissionResponse ;; a permissionResponse {\"success\": "
        "true} ;; n messageUpdate {\"messageId\": \"MESSAGE\", \"delta\": \"d\", \"thought\": "
        "\"t\"} ;; n changesBatchUpdate {\"batchId\": \"BATCH\", \"change\": {\"id\": \"1\", "
        "\"filePath\": \"f\", \"changeType\": \"create\", \"originalContent\": \"\", "
        "\"proposedContent\": \"x\", \"description\": \"d\", \"toolId\": \"\", \"toolName\": "
        "\"\"}}\n< changesDecision\na changesDecision {\"success\": true}";
    static const dx_autohand_event_kind kinds[] = {
        DX_AUTOHAND_AGENT_START, DX_AUTOHAND_TURN_START,  DX_AUTOHAND_PERMISSION,
        DX_AUTOHAND_THOUGHT,     DX_AUTOHAND_TEXT,        DX_AUTOHAND_BATCH_CHANGE,
        DX_AUTOHAND_BATCH_END,   DX_AUTOHAND_MESSAGE_END, DX_AUTOHAND_TURN_END};
    (void)state;
    for (size_t i = 0; i < LENGTH(kinds) + 4; i++) {
        struct talk *talk = talk_new();
        if (i < LENGTH(kinds))
            talk->free_at = kinds[i];
        talk->free_at_permission = i == LENGTH(kinds);
        talk->free_at_changes = i == LENGTH(kinds) + 1;
        talk->free_at_turn = i == LENGTH(kinds) + 2;
        talk->free_at_gone = i == LENGTH(kinds) + 3;
        assert_int_equal(talk_go(talk, "doc", script), DX_OK);
        talk_prompt(talk, "hi");
        uint64_t end = talk_now() + 20000;
        while (talk->client && talk_now() < end) {
            talk_for(talk, 5);
            if (talk->free_at_gone && talk->turns && talk->client)
                dx_autohand_client_stop(talk->client);
        }
        assert_null(talk->client);
        talk_for(talk, 20);
        talk_end(talk);
    }
}

/* Text that is none of the protocol, and what does not fit it: told, and the turn goes on. */
static void test_strange(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk_once(
        talk, "0.8",
        "err hello\nraw Debug: starting\nstart {\"contextPercent\": \"much\"}\nraw "
        "{\"jsonrpc\":\"2.0\",\"method\":\"x/y\",\"id\":77}\nraw "
        "{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":99}\nraw []\nraw {}\nraw "
        "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.toolEnd\"}\nraw "
        "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.hook.\"}\nraw "
        "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.\"}\nraw "
        "[{\"jsonrpc\":\"2.0\",\"method\":\"autohand.ping\",\"params\":{}},{\"jsonrpc\":\"2.0\","
        "\"method\":\"a\"}]\nturn 2 n toolStart {\"toolId\": 7, \"args\": []} ;; raw "
        "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.toolEnd\",\"params\":[]} ;; n "
        "error {\"code\": 1e300, \"message\": 5} ;; n permissionRequest {\"requestId\": 5} ;; n "
        "turnStart {} ;; n messageUpdate {\"messageId\": \"MESSAGE\"}");
    assert_string_equal(talk->errors, "hello");
    assert_string_equal(talk->stray, "Debug: starting");
    assert_true(talk->violations >= 8);
    must_tell(talk, "start session_1 fake -1\n");
    must_tell(talk, "tool-end  -1 \nother autohand.hook.\nother autohand.\nping\nother a\n");
    must_tell(talk, "tool  \ntool-end  -1 \nerror -1  -1 \npermission  \nturn \ntext \n");
    assert_int_equal(talk->turn.success, 1);
    assert_string_equal(talk->content, "All done.");
    talk_end(talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_start),
        cmocka_unit_test(test_not_ready),
        cmocka_unit_test(test_ready_nevertheless),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_strange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
