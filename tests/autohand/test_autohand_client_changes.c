/* Changes that an agent proposes, and what a client decides. */
#include "autohand/client_talk.h"

#define CHANGE(id, before, after)                                                               \
    "n changesBatchUpdate {\"batchId\": \"BATCH\", \"change\": {\"id\": \"" id                  \
    "\", \"filePath\": \"f" id "\", \"changeType\": \"modify\", \"originalContent\": \"" before \
    "\", \"proposedContent\": \"" after                                                         \
    "\", \"description\": \"Modify\", \"toolId\": \"\", \"toolName\": \"\"}}"
#define TWO CHANGE("1", "a", "b") " ;; " CHANGE("2", "c", "d")

/* 50, 51: all, none, one of them, in each form. */
static void test_decide(void **state) {
    static const struct {
        int reject;
        size_t only;
        const char *sent;
    } rows[] = {
        {0, 0, "{\"action\": \"accept_all\", \"selectedChangeIds\": null}"},
        {1, 0, "{\"action\": \"reject_all\", \"selectedChangeIds\": null}"},
        {0, 2, "{\"action\": \"accept_selected\", \"selectedChangeIds\": [\"2\"]}"},
        {1, 2, "{\"action\": \"accept_selected\", \"selectedChangeIds\": [\"1\"]}"},
    };
    static const char *const forms[] = {"doc", "0.6", "0.8", "later"};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char script[2048];
        struct talk *talk = talk_new();
        talk->reject = rows[i].reject;
        talk->only = rows[i].only;
        snprintf(script, sizeof script,
                 "start\nturn 2 " TWO "\n< changesDecision %s\na changesDecision {\"success\": "
                 "true, \"appliedCount\": 1, \"skippedCount\": 1}",
                 rows[i].sent);
        talk_once(talk, forms[i], script);
        talk_until_told(talk, "answer ");
        must_tell(talk, "change 1 f1\nchange 2 f2\n");
        must_tell(talk, "changes changes_2 modify:a:b:kept modify:c:d:kept\nover 1 0 0\n");
        must_tell(talk, "answer {\"success\":true,\"appliedCount\":1,\"skippedCount\":1}\n");
        assert_string_equal(talk->batch, ""); /* it was decided in on_changes */
        assert_int_equal(talk->violations, 0);
        talk_end(talk);
    }
}

/* Later, twice, another one, and after the next prompt. */
static void test_later(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->keep = 1;
    talk_once(talk, "0.8",
              "start\nturn 2 " TWO "\n< changesDecision {\"batchId\": \"changes_2\"}\na "
              "changesDecision {\"success\": false}\nturn 3 " TWO "\nturn 4");
    assert_string_equal(talk->batch, "changes_2");
    dx_autohand_client *client = talk->client;
    dx_text batch = dx_str("changes_2");
    assert_int_equal(dx_autohand_client_decide(client, dx_str("x"), 1, NULL, 0, NULL, NULL),
                     DX_GONE);
    assert_int_equal(dx_autohand_client_decide(client, dx_str(NULL), 1, NULL, 0, NULL, NULL),
                     DX_GONE);
    assert_int_equal(dx_autohand_client_decide(client, batch, 1, NULL, 0, talk_answer, talk),
                     DX_OK);
    assert_int_equal(dx_autohand_client_decide(client, batch, 1, NULL, 0, NULL, NULL), DX_GONE);
    talk_until_told(talk, "answer {\"success\":false}\n");
    talk_prompt(talk, "two");
    talk_until(talk, &talk->turns, 2);
    assert_string_equal(talk->batch, "changes_3");
    talk_prompt(talk, "three");
    assert_int_equal(dx_autohand_client_decide(client, dx_str("changes_3"), 1, NULL, 0, NULL, NULL),
                     DX_GONE);
    talk_until(talk, &talk->turns, 3);
    assert_string_equal(talk->batch, "");
    talk_end(talk);
}

/* Nobody who could decide: rejected. */
static void test_nobody(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->config.on_changes = NULL;
    talk_once(talk, "doc",
              "start\nturn 2 " TWO "\n< changesDecision {\"action\": \"reject_all\"}\n"
              "a changesDecision {\"success\": true}\nn ping {}");
    assert_string_equal(talk->batch, "");
    talk_until_told(talk, "ping");
    talk_end(talk);
}

/* More than is to be kept: at first the texts are left out, then all is rejected. */
static void test_limit(void **state) {
    /* Five letters a change: id, path and type besides. */
    const size_t one = sizeof(dx_autohand_change) + 1 + 2 + 6 + 10 + 6;
    (void)state;
    for (int row = 0; row < 3; row++) {
        struct talk *talk = talk_new();
        talk->config.batch_max = row == 0 ? 2 * one : row == 1 ? 2 * one - 1 : 2 * one - 11;
        talk->keep = row < 2;
        talk_once(talk, "doc",
                  row < 2 ? "start\nturn 2 " CHANGE("1", "aaaaa",
                                                    "bbbbb") " ;; " CHANGE("2", "ccccc", "ddddd")
                          : "start\nturn 2 " CHANGE("1", "aaaaa", "bbbbb") " ;; " CHANGE(
                                "2", "ccccc", "ddddd") "\n< changesDecision {\"action\": "
                                                       "\"reject_all\"}\na changesDecision "
                                                       "{\"success\": true}\nn ping {}");
        if (row == 2) {
            talk_until_told(talk, "ping");
            must_not_tell(talk, "changes changes_2");
            assert_string_equal(talk->batch, "");
            assert_int_equal(talk->violations, 1 + 1); /* and the ping that lacks its members */
        } else {
            must_tell(talk, row ? "changes changes_2 modify:aaaaa:bbbbb:kept modify:::gone\n"
                                : "modify:aaaaa:bbbbb:kept modify:ccccc:ddddd:kept\n");
            assert_string_equal(talk->batch, "changes_2");
            assert_int_equal(talk->violations, 0);
        }
        talk_end(talk);
    }
}

/* A batch that was never begun, one that is miscounted, one without an end, changes without an
 * id. */
static void test_odd(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->keep = 1;
    talk_once(talk, "doc",
              "start\n< prompt\nn turnStart {\"turnId\": \"t\"}\nn changesBatchUpdate "
              "{\"batchId\": \"b\", \"change\": {\"filePath\": \"f\", \"changeType\": \"create\", "
              "\"proposedContent\": \"x\"}}\nn changesBatchEnd {\"batchId\": \"b\", "
              "\"changeCount\": 7}\nn changesBatchUpdate {\"batchId\": \"b\", \"change\": {}}\nn "
              "turnEnd {\"turnId\": \"t\"}\na prompt {\"success\": true}\n< prompt\nn turnStart "
              "{\"turnId\": \"u\"}\nn changesBatchStart {\"batchId\": \"c\", \"turnId\": \"u\"}\nn "
              "changesBatchUpdate {\"batchId\": \"c\", \"change\": {\"id\": \"1\"}}\nn turnEnd "
              "{\"turnId\": \"u\", \"reason\": \"aborted\"}\na prompt {\"success\": true}");
    must_tell(talk, "changes b create::x:kept\nover 1 0 0\n");
    assert_string_equal(talk->batch, "b");
    assert_true(talk->violations >= 3);
    talk_prompt(talk, "two");
    talk_until(talk, &talk->turns, 2);
    must_not_tell(talk, "changes c");
    assert_string_equal(talk->batch, "");
    talk_end(talk);
}

/* Changes that get lost are told: those without an end, and those before another batch. */
static void test_lost(void **state) {
    static const char *const ends[][2] = {
        {"", "changesBatchEnd"},
        {"n changesBatchStart {\"batchId\": \"c\", \"turnId\": \"t\"}\n", "second batch"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(ends); i++) {
        char script[1024];
        struct talk *talk = talk_new();
        snprintf(script, sizeof script,
                 "start\n< prompt\nn turnStart {\"turnId\": \"t\"}\nn changesBatchStart "
                 "{\"batchId\": \"b\", \"turnId\": \"t\"}\nn changesBatchUpdate {\"batchId\": "
                 "\"b\", \"change\": {\"id\": \"1\", \"filePath\": \"f\", \"changeType\": "
                 "\"create\", \"originalContent\": \"\", \"proposedContent\": \"x\", "
                 "\"description\": \"\", \"toolId\": \"\", \"toolName\": \"\"}}\n%sn turnEnd "
                 "{\"turnId\": \"t\", \"tokensUsed\": 1, \"durationMs\": 1, "
                 "\"contextPercent\": 1}\na prompt {\"success\": true}",
                 ends[i][0]);
        talk_once(talk, "doc", script);
        assert_int_equal(talk->violations, 1);
        assert_non_null(strstr(talk->phrase, ends[i][1]));
        assert_string_equal(talk->batch, "");
        talk_end(talk);
    }
}

/* What was not shown is not accepted. */
static void test_unseen(void **state) {
    static const char *const sent[] = {
        "{\"action\": \"reject_all\", \"selectedChangeIds\": null}",
        "{\"action\": \"accept_selected\", \"selectedChangeIds\": [\"1\"]}"};
    (void)state;
    for (int seen = 0; seen < 2; seen++) {
        char script[2048];
        struct talk *talk = talk_new();
        snprintf(script, sizeof script,
                 "start\n< prompt\nn turnStart {\"turnId\": \"t\"}\nn changesBatchStart "
                 "{\"batchId\": \"b\", \"turnId\": \"t\"}\nrepeat %d n changesBatchUpdate "
                 "{\"batchId\": \"b\", \"change\": {\"id\": \"1\", \"proposedContent\": "
                 "\"x\"}}\nn changesBatchEnd {\"batchId\": \"b\", \"changeCount\": 2}\nn turnEnd "
                 "{\"turnId\": \"t\"}\na prompt {\"success\": true}\n< changesDecision %s\na "
                 "changesDecision {\"success\": true}",
                 seen, sent[seen]);
        talk_once(talk, "doc", script);
        talk_until_told(talk, "answer {\"success\":true}\n");
        assert_non_null(strstr(talk->told, seen ? "changes b ::x:kept\n" : "changes b\n"));
        talk_end(talk);
    }
}

/* Many. */
static void test_many(void **state) {
    struct talk *talk = talk_new();
    (void)state;
    talk->keep = 1;
    talk_once(talk, "doc",
              "start\n< prompt\nn turnStart {\"turnId\": \"t\"}\nn changesBatchStart {\"batchId\": "
              "\"b\", \"turnId\": \"t\"}\nrepeat 400 n changesBatchUpdate {\"batchId\": \"b\", "
              "\"change\": {\"id\": \"i\", \"filePath\": \"f\", \"changeType\": \"create\", "
              "\"originalContent\": \"\", \"proposedContent\": \"x\", \"description\": \"d\", "
              "\"toolId\": \"\", \"toolName\": \"\"}}\nn changesBatchEnd {\"batchId\": \"b\", "
              "\"changeCount\": 400}\nn turnEnd {\"turnId\": \"t\", \"contextPercent\": 9, "
              "\"tokensUsed\": 1, \"durationMs\": 2}\na prompt {\"success\": true}");
    assert_string_equal(talk->batch, "b");
    assert_string_equal(talk->phrase, "");
    assert_int_equal(talk->violations, 0);
    talk_end(talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decide), cmocka_unit_test(test_later), cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_limit),  cmocka_unit_test(test_odd),   cmocka_unit_test(test_many),
        cmocka_unit_test(test_unseen), cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
