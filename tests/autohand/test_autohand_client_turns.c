/* Turns as a client sees them, in the forms of all versions. */
#include "autohand/client_talk.h"

static const char *const forms[] = {"doc", "0.6", "0.8", "later"};

/* 66: whatever the agent's version is, the same is told. */
static void test_plain(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(forms); i++) {
        struct talk *talk = talk_once(talk_new(), forms[i], "start\nturn 2");
        assert_int_equal(talk->violations, 0);
        assert_int_equal(talk->turn.success, 1);
        assert_int_equal(talk->turn.aborted, 0);
        assert_int_equal(talk->turn.code, 0);
        assert_int_equal(talk->turn.tokens, 30);
        assert_true(talk->turn.duration_ms == 25);
        assert_true(talk->turn.context_percent == 93);
        assert_string_equal(talk->content, "All done.");
        assert_string_equal(talk->why, "");
        must_tell(talk, "start session_1 fake 96\n");
        must_tell(talk, "turn turn_2\nmessage msg_2\nbatch changes_2\ntext All ");
        must_tell(talk, "batch-end 0\n");
        must_tell(talk, "message-end All done.\nturn-end turn_2 30 25 93\nover 1 0 0\n");
        must_not_tell(talk, "late");
        must_not_tell(talk, "changes changes");
        talk_end(talk);
    }
}

/* The next prompt can be given when on_turn comes, and any number of them. */
static void test_many(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->next = "again";
    assert_int_equal(talk_go(talk, "0.8", "start\nturn 2\nturn 5\nturn 8"), DX_OK);
    talk_prompt(talk, "hi");
    assert_int_equal(dx_autohand_client_prompt(talk->client,
                                               &(dx_autohand_prompt){.message = dx_str("x")}, NULL),
                     DX_BUSY);
    talk_until(talk, &talk->turns, 2);
    talk_prompt(talk, "third");
    talk_until(talk, &talk->turns, 3);
    must_tell(talk, "turn-end turn_8 30 25 93\nover 1 0 0\n");
    must_not_tell(talk, "late");
    talk_end(talk);
}

/* Tools, thoughts, hooks, errors and what is not known. */
static void test_events(void **state) {
    (void)state;
    struct talk *talk = talk_once(
        talk_new(), "doc",
        "start\nturn 2 n messageUpdate {\"messageId\": \"MESSAGE\", \"delta\": \"\", \"thought\": "
        "\"hm\"} ;; n messageUpdate {\"messageId\": \"MESSAGE\", \"delta\": \"x\", \"thought\": "
        "\"ho\"} ;; n toolStart {\"toolId\": \"t\", \"toolName\": \"run_command\", \"args\": "
        "{\"command\": \"ls\"}} ;; n toolUpdate {\"toolId\": \"t\", \"output\": \"a\", "
        "\"stream\": \"stdout\"} ;; n toolUpdate {\"toolId\": \"t\", \"output\": \"b\", "
        "\"stream\": \"stderr\"} ;; n toolEnd {\"toolId\": \"t\", \"toolName\": \"run_command\", "
        "\"success\": false, \"error\": \"bad\"} ;; n toolStart {\"toolId\": \"u\", \"toolName\": "
        "\"read_file\", \"args\": {}} ;; n toolEnd {\"toolId\": \"u\", \"toolName\": "
        "\"read_file\", \"success\": true, \"output\": \"o\"} ;; n error {\"code\": 429, "
        "\"message\": \"slow down\", \"errorType\": \"rate_limit\", \"recoverable\": true} ;; n "
        "ping {\"status\": \"processing\", \"turnId\": \"turn_2\"} ;; n hook.preTool {\"toolId\": "
        "\"t\", \"toolName\": \"x\", \"args\": {}} ;; n automode.status {\"a\": 1}");
    must_tell(talk, "thought hm\nthought ho\ntext x\ntool t run_command\noutput a\noutput err b\n"
                    "tool-end t 0 bad\ntool u read_file\ntool-end u 1 o\n"
                    "error 429 slow down 1 rate_limit\nping\nhook preTool\n"
                    "other autohand.automode.status\n");
    assert_int_equal(talk->violations, 0);
    assert_int_equal(talk->turn.tool_calls, 2);
    assert_int_equal(talk->turn.tool_failures, 1);
    assert_int_equal(talk->turn.success, 1);
    assert_string_equal(talk->why, "slow down");
    talk_end(talk);
}

/* An answer without deltas, deltas without an end, and several messages. */
static void test_content(void **state) {
    static const struct {
        const char *steps;
        const char *content;
    } rows[] = {
        {"n messageEnd {\"messageId\": \"m\", \"content\": \"whole\"}", "whole"},
        {"n messageUpdate {\"messageId\": \"m\", \"delta\": \"a\"}\nn messageUpdate "
         "{\"messageId\": \"m\", \"delta\": \"b\"}",
         "ab"},
        {"n messageUpdate {\"messageId\": \"m\", \"delta\": \"a\"}\nn messageEnd {\"messageId\": "
         "\"m\", \"content\": \"last\"}",
         "last"},
        {"n messageEnd {\"messageId\": \"m\", \"content\": \"one\"}\nn messageStart "
         "{\"messageId\": \"k\"}\nn messageEnd {\"messageId\": \"k\", \"content\": \"two\"}",
         "one\ntwo"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char script[1024];
        snprintf(script, sizeof script,
                 "start\n< prompt\nn turnStart {\"turnId\": \"t\"}\nn messageStart "
                 "{\"messageId\": \"m\"}\n%s\nn turnEnd {\"turnId\": \"t\"}\na prompt "
                 "{\"success\": true}",
                 rows[i].steps);
        struct talk *talk = talk_once(talk_new(), "doc", script);
        assert_string_equal(talk->content, rows[i].content);
        assert_int_equal(talk->turn.success, 1);
        assert_int_equal(talk->turn.tokens, -1);
        assert_true(talk->turn.duration_ms == -1);
        talk_end(talk);
    }
}

/* How a turn went: told by the answer that follows it, or else by what came. */
static void test_failures(void **state) {
    static const struct {
        const char *form;
        const char *script;
        int success, code;
        const char *why;
    } rows[] = {
        {"doc", "< prompt\ne prompt -32003 Agent is busy", 0, -32003, "Agent is busy"},
        {"0.6", "< prompt\ne prompt -32603 Agent is already processing", 0, -32603,
         "Agent is already processing"},
        /* The model failed: doc, 0.6, later. */
        {"doc",
         "< prompt\nn turnStart {\"turnId\": \"t\"}\nn error {\"code\": -32000, \"message\": "
         "\"model\", \"recoverable\": false}\nn turnEnd {\"turnId\": \"t\"}\ne prompt -32000 model",
         0, -32000, "model"},
        {"0.6",
         "< prompt\nn turnStart {\"turnId\": \"t\"}\nn error {\"code\": -32000, \"message\": "
         "\"429 Too Many\", \"recoverable\": true}\nn turnEnd {\"turnId\": \"t\"}\na prompt "
         "{\"success\": false}",
         0, -32000, "429 Too Many"},
        {"later",
         "< prompt\na prompt {\"success\": true}\nn turnStart {\"turnId\": \"t\"}\nn error "
         "{\"code\": 401, \"message\": \"who?\", \"recoverable\": false}\nn turnEnd {\"turnId\": "
         "\"t\"}",
         0, 401, "who?"},
        {"later",
         "< prompt\na prompt {\"success\": true}\nn turnStart {\"turnId\": \"t\"}\nn turnEnd "
         "{\"turnId\": \"t\", \"reason\": \"error\"}",
         0, 0, ""},
        /* A slash command that is not there. */
        {"0.8",
         "< prompt\nn turnStart {\"turnId\": \"t\"}\nn turnEnd {\"turnId\": \"t\"}\na prompt "
         "{\"success\": false}",
         0, 0, ""},
        /* It is refused without a turn, and an answer that is none. */
        {"later", "< prompt\na prompt {\"success\": false}", 0, 0,
         "the agent did not start a turn"},
        {"doc",
         "< prompt\nn turnStart {\"turnId\": \"t\"}\nn turnEnd {\"turnId\": \"t\"}\nraw "
         "{\"jsonrpc\":\"2.0\",\"id\":1}",
         0, 0, "neither"},
        /* No answer at all behind turnEnd. */
        {"doc", "< prompt\nn turnStart {\"turnId\": \"t\"}\nn turnEnd {\"turnId\": \"t\"}", 1, 0,
         ""},
        /* A tool that failed does not fail the turn. */
        {"later",
         "< prompt\na prompt {\"success\": true}\nn turnStart {\"turnId\": \"t\"}\nn messageStart "
         "{\"messageId\": \"m\"}\nn error {\"code\": -32000, \"message\": \"tool\", "
         "\"recoverable\": true}\nn messageUpdate {\"messageId\": \"m\", \"delta\": \"x\"}\nn "
         "turnEnd {\"turnId\": \"t\"}",
         1, 0, "tool"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char script[1024];
        snprintf(script, sizeof script, "start\n%s", rows[i].script);
        struct talk *talk = talk_once(talk_new(), rows[i].form, script);
        if (talk->turn.success != rows[i].success || talk->turn.code != rows[i].code ||
            !strstr(talk->why, rows[i].why) || (!rows[i].why[0] && talk->why[0]))
            fail_msg("row %zu: %d %lld '%s'\n%s", i, talk->turn.success, (long long)talk->turn.code,
                     talk->why, talk->told);
        assert_int_equal(talk->turns, 1);
        talk_end(talk);
    }
}

/* Ids that are none, and a turnEnd that is lost: the turn is understood, and ends. */
static void test_odd(void **state) {
    static const struct {
        const char *script;
        size_t violations; /* at least */
        const char *content;
    } rows[] = {
        {"n turnStart {}\nn messageStart {}\nn messageUpdate {\"delta\": \"a\"}\nn messageEnd "
         "{\"content\": \"ab\"}\nn turnEnd {}\na prompt {\"success\": true}",
         5, "ab"},
        {"n turnStart {\"turnId\": 5}\nn messageStart {\"messageId\": [], \"role\": "
         "\"assistant\"}\nn messageUpdate {\"messageId\": [], \"delta\": \"ab\"}\nn turnEnd "
         "{\"turnId\": 5}\na prompt {\"success\": true}",
         4, "ab"},
        {"a prompt {\"success\": true}\nn turnStart {\"turnId\": null}\nn messageStart "
         "{\"messageId\": null}\nn messageUpdate {\"messageId\": null, \"delta\": \"ab\"}\nn "
         "turnEnd {\"turnId\": null}",
         2, "ab"},
        {"n turnStart {\"turnId\": \"t\"}\nn messageStart {\"messageId\": \"m\", \"role\": "
         "\"assistant\"}\nn messageEnd {\"messageId\": \"m\", \"content\": \"ab\"}\na prompt "
         "{\"success\": true}",
         1, "ab"},
        /* Another message shows that it was not the end. */
        {"n turnStart {\"turnId\": \"t\"}\nn messageStart {\"messageId\": \"m\", \"role\": "
         "\"assistant\"}\nn messageEnd {\"messageId\": \"m\", \"content\": \"a\"}\na prompt "
         "{\"success\": true}\nn messageStart {\"messageId\": \"k\", \"role\": "
         "\"assistant\"}\nsleep 2.2\nn messageEnd {\"messageId\": \"k\", \"content\": "
         "\"b\"}\nn turnEnd {\"turnId\": \"t\", \"tokensUsed\": 1, \"durationMs\": 1, "
         "\"contextPercent\": 1}",
         0, "a\nb"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char script[1024];
        snprintf(script, sizeof script, "start\n< prompt\n%s", rows[i].script);
        struct talk *talk = talk_once(talk_new(), "doc", script);
        if (!talk->turn.success || strcmp(talk->content, rows[i].content) != 0 ||
            talk->violations < rows[i].violations)
            fail_msg("row %zu: %zu violations, '%s'\n%s", i, talk->violations, talk->content,
                     talk->told);
        must_not_tell(talk, "late");
        talk_end(talk);
    }
}

/* 66: what an aborted turn of 0.6 and 0.8 still says, in the next one and behind it. */
static void test_stragglers(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->abort_at = DX_AUTOHAND_MESSAGE_START;
    assert_int_equal(
        talk_go(talk, "0.8",
                "start\n< prompt\nn turnStart {\"turnId\": \"t1\"}\nn messageStart "
                "{\"messageId\": \"m1\", \"role\": \"assistant\"}\n< abort\nn messageEnd "
                "{\"messageId\": \"m1\", \"content\": \"\", \"aborted\": true}\nn turnEnd "
                "{\"turnId\": \"t1\"}\na abort {\"success\": true}\nsleep 0.3\nn messageUpdate "
                "{\"messageId\": \"m1\", \"delta\": \"late\"}\nn toolStart {\"toolId\": \"t\", "
                "\"toolName\": \"x\", \"args\": {}}\n"
                "< getState\na getState {\"status\": \"idle\"}\nturn 2 n messageUpdate "
                "{\"messageId\": null, \"delta\": \"late\"} ;; n messageUpdate {\"messageId\": "
                "\"m1\", \"delta\": \"late\"} ;; n messageEnd {\"messageId\": null, \"content\": "
                "\"late\"} ;; n turnEnd {\"turnId\": null} ;; n turnEnd {\"turnId\": \"t1\"} ;; n "
                "changesBatchEnd {\"batchId\": \"other\", \"changeCount\": 1}\nn turnEnd "
                "{\"turnId\": null}\nraw {\"jsonrpc\":\"2.0\",\"result\":{\"success\":true},"
                "\"id\":1}"),
        DX_OK);
    talk_prompt(talk, "hi");
    talk_until(talk, &talk->turns, 1);
    assert_int_equal(talk->turn.aborted, 1);
    assert_int_equal(talk->turn.success, 0);
    assert_int_equal(talk->turn.code, -32004);
    talk_until_told(talk, "late autohand.toolStart\n");
    must_tell(talk, "over 0 1 -32004\nlate autohand.messageUpdate\n");
    talk->abort_at = 0;
    assert_int_equal(dx_autohand_client_state(talk->client, talk_answer, talk), DX_OK);
    talk_prompt(talk, "again");
    talk_until(talk, &talk->turns, 2);
    assert_string_equal(talk->content, "All done.");
    assert_int_equal(talk->turn.success, 1);
    must_tell(talk, "answer {\"status\":\"idle\"}\n");
    must_tell(talk, "late autohand.messageUpdate\nlate autohand.messageUpdate\nlate "
                    "autohand.messageEnd\nlate autohand.turnEnd\nlate autohand.turnEnd\nlate "
                    "autohand.changesBatchEnd\ntext All done.\n");
    talk_for(talk, 100);
    must_tell(talk, "over 1 0 0\nlate autohand.turnEnd\n");
    assert_int_equal(talk->turns, 2);
    talk_end(talk);
}

static void count_prompts(void *user, int out, dx_text text, size_t framed) {
    (void)framed;
    *(size_t *)user += out && memmem(text.at, text.len, "autohand.prompt", 15);
}

/* What is aborted before the agent is ready is never sent, even if it is at the last moment. */
static void test_held_abort(void **state) {
    struct talk *talk = talk_new();
    size_t prompts = 0;
    (void)state;
    talk->abort_at = DX_AUTOHAND_AGENT_START;
    talk->config.child.link.peer.observe = count_prompts;
    talk->config.child.link.peer.observe_user = &prompts;
    talk_once(talk, "doc", "start\neof");
    assert_int_equal(talk->turn.aborted, 1);
    assert_int_equal(talk->turn.success, 0);
    talk_for(talk, 100);
    assert_int_equal(prompts, 0);
    assert_int_equal(talk->turns, 1);
    talk_end(talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_many),
        cmocka_unit_test(test_events),     cmocka_unit_test(test_content),
        cmocka_unit_test(test_failures),   cmocka_unit_test(test_stragglers),
        cmocka_unit_test(test_held_abort), cmocka_unit_test(test_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
