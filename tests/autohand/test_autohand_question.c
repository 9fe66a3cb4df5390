/* Permissions that the client is asked for: answers, time limits, and what is remembered. */
#include "autohand/guard.h"

struct heard {
    struct guard *guard;
    size_t count;
    dx__autohand_answer answer;
    char alternative[64];
    uint64_t when;
};

static void on_answer(void *user, dx__autohand_answer answer, dx_text alternative) {
    struct heard *heard = user;
    heard->count++;
    heard->answer = answer;
    heard->when = guard_now();
    (void)snprintf(heard->alternative, sizeof heard->alternative, "%.*s",
                   alternative.at ? (int)alternative.len : 1,
                   alternative.at ? alternative.at : "-");
    dx_loop_stop(heard->guard->loop);
}

static const struct dx__autohand_asking about_make = {.tool = "run_command",
                                                      .description = "Run this command?",
                                                      .command = {"make all", 8},
                                                      .subject = {"make all", 8}};

/* Asks, and finds out under which id. */
static struct dx__autohand_question *ask(struct guard *guard, struct heard *heard, char id[64]) {
    struct dx__autohand_question *question = NULL;
    *heard = (struct heard){.guard = guard};
    assert_int_equal(
        dx__autohand_question_open(&guard->agent, &about_make, on_answer, heard, &question), DX_OK);
    guard_run(guard, 1);
    const char *told = guard_told(guard);
    assert_non_null(strstr(told, "\"autohand.permissionRequest\""));
    const char *at = strstr(told, "\"requestId\":\"");
    assert_non_null(at);
    size_t len = strcspn(at + 13, "\"");
    assert_true(len && len < 64);
    memcpy(id, at + 13, len);
    id[len] = '\0';
    return question;
}

static bool answer(struct guard *guard, const char *id, const char *members) {
    char text[300];
    int len = snprintf(text, sizeof text, "{\"requestId\":\"%s\"%s}", id, members);
    yyjson_doc *doc = yyjson_read(text, (size_t)len, 0);
    assert_non_null(doc);
    bool taken = dx__autohand_question_answer(&guard->agent, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return taken;
}

static void test_yes_and_no(void **state) {
    struct guard guard;
    struct heard heard;
    char id[64];
    (void)state;
    guard_begin(&guard, NULL);
    for (int yes = 0; yes < 2; yes++) {
        ask(&guard, &heard, id);
        assert_int_equal(dx__autohand_questions(&guard.agent), 1);
        assert_true(answer(&guard, id, yes ? ",\"allowed\":true" : ",\"allowed\":false"));
        /* It is settled, but nobody hears of it before the answer to that message is out. */
        assert_int_equal(dx__autohand_questions(&guard.agent), 0);
        assert_int_equal(heard.count, 0);
        assert_false(answer(&guard, id, ",\"allowed\":true"));
        assert_false(dx__autohand_question_acknowledge(&guard.agent, dx_str(id)));
        guard_run(&guard, 1000);
        assert_int_equal(heard.count, 1);
        assert_int_equal(heard.answer, yes ? DX__ANSWER_ALLOWED : DX__ANSWER_DENIED);
        assert_false(answer(&guard, id, ",\"allowed\":true"));
        assert_null(guard.agent.questions);
    }
    assert_int_equal(
        dx__autohand_rules_judge(guard.agent.rules, "run_command", TEXT("make all"), (dx_text){0}),
        DX__VERDICT_ASK);
    guard_done(&guard);
}

static void test_decisions(void **state) {
    static const struct {
        const char *members;
        dx__autohand_answer answer;
        dx__autohand_verdict verdict; /* of the same call afterwards */
        dx__autohand_verdict later;   /* … in another session */
        dx__autohand_verdict anew;    /* … in another process */
    } rows[] = {
        {",\"decision\":\"allow_once\"", DX__ANSWER_ALLOWED, DX__VERDICT_ASK, DX__VERDICT_ASK,
         DX__VERDICT_ASK},
        {",\"decision\":\"deny_once\"", DX__ANSWER_DENIED, DX__VERDICT_ASK, DX__VERDICT_ASK,
         DX__VERDICT_ASK},
        {",\"decision\":\"allow_session\"", DX__ANSWER_ALLOWED, DX__VERDICT_ALLOW, DX__VERDICT_ASK,
         DX__VERDICT_ASK},
        {",\"decision\":\"deny_session\"", DX__ANSWER_DENIED, DX__VERDICT_DENY, DX__VERDICT_ASK,
         DX__VERDICT_ASK},
        {",\"decision\":\"allow_always_project\"", DX__ANSWER_ALLOWED, DX__VERDICT_ALLOW,
         DX__VERDICT_ALLOW, DX__VERDICT_ALLOW},
        {",\"decision\":\"deny_always_project\"", DX__ANSWER_DENIED, DX__VERDICT_DENY,
         DX__VERDICT_DENY, DX__VERDICT_DENY},
        {",\"decision\":\"allow_always_user\"", DX__ANSWER_ALLOWED, DX__VERDICT_ALLOW,
         DX__VERDICT_ALLOW, DX__VERDICT_ALLOW},
        {",\"decision\":\"deny_always_user\"", DX__ANSWER_DENIED, DX__VERDICT_DENY,
         DX__VERDICT_DENY, DX__VERDICT_DENY},
        {",\"decision\":\"allow_everything\"", DX__ANSWER_DENIED, DX__VERDICT_ASK, DX__VERDICT_ASK,
         DX__VERDICT_ASK},
        {",\"decision\":\"yes\",\"allowed\":true", DX__ANSWER_DENIED, DX__VERDICT_ASK,
         DX__VERDICT_ASK, DX__VERDICT_ASK},
        {",\"decision\":\"allow_always_user\",\"allowed\":false", DX__ANSWER_DENIED,
         DX__VERDICT_ASK, DX__VERDICT_ASK, DX__VERDICT_ASK},
        {",\"decision\":\"deny_session\",\"allowed\":true", DX__ANSWER_DENIED, DX__VERDICT_DENY,
         DX__VERDICT_ASK, DX__VERDICT_ASK},
        {",\"allowed\":true,\"remember\":true", DX__ANSWER_ALLOWED, DX__VERDICT_ALLOW,
         DX__VERDICT_ASK, DX__VERDICT_ASK},
        {",\"decision\":null,\"allowed\":true", DX__ANSWER_ALLOWED, DX__VERDICT_ASK,
         DX__VERDICT_ASK, DX__VERDICT_ASK},
        {",\"decision\":5,\"allowed\":true,\"remember\":true", DX__ANSWER_DENIED, DX__VERDICT_ASK,
         DX__VERDICT_ASK, DX__VERDICT_ASK},
        {",\"decision\":\"alternative\",\"alternative\":\"x\",\"allowed\":true", DX__ANSWER_OTHER,
         DX__VERDICT_ASK, DX__VERDICT_ASK, DX__VERDICT_ASK},
        /* To those that know no alternatives it says no. */
        {",\"decision\":\"alternative\",\"alternative\":\"x\",\"allowed\":false", DX__ANSWER_OTHER,
         DX__VERDICT_ASK, DX__VERDICT_ASK, DX__VERDICT_ASK},
        {",\"allowed\":\"true\"", DX__ANSWER_DENIED, DX__VERDICT_ASK, DX__VERDICT_ASK,
         DX__VERDICT_ASK},
        {"", DX__ANSWER_DENIED, DX__VERDICT_ASK, DX__VERDICT_ASK, DX__VERDICT_ASK},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct guard guard;
        struct heard heard;
        char id[64];
        guard_begin(&guard, NULL);
        ask(&guard, &heard, id);
        assert_true(answer(&guard, id, rows[i].members));
        guard_run(&guard, 1000);
        assert_int_equal(heard.count, 1);
        assert_int_equal(heard.answer, rows[i].answer);
        assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "run_command",
                                                  TEXT("make all"), (dx_text){0}),
                         rows[i].verdict);
        /* Bound to that very call. */
        assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "run_command",
                                                  TEXT("make all "), (dx_text){0}),
                         DX__VERDICT_ASK);
        dx__autohand_rules_forget_session(guard.agent.rules);
        assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "run_command",
                                                  TEXT("make all"), (dx_text){0}),
                         rows[i].later);
        guard_again(&guard);
        assert_int_equal(dx__autohand_rules_judge(guard.agent.rules, "run_command",
                                                  TEXT("make all"), (dx_text){0}),
                         rows[i].anew);
        guard_done(&guard);
    }
}

static void test_alternative(void **state) {
    static const struct {
        const char *members;
        dx__autohand_answer answer;
        const char *alternative;
    } rows[] = {
        {",\"decision\":\"alternative\",\"alternative\":\"make test\"", DX__ANSWER_OTHER,
         "make test"},
        {",\"decision\":\"alternative\",\"alternative\":\"\"", DX__ANSWER_DENIED, "-"},
        {",\"decision\":\"alternative\",\"alternative\":\"a\\u0000b\"", DX__ANSWER_DENIED, "-"},
        {",\"decision\":\"alternative\",\"alternative\":7", DX__ANSWER_DENIED, "-"},
        {",\"decision\":\"alternative\"", DX__ANSWER_DENIED, "-"},
    };
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct heard heard;
        char id[64];
        ask(&guard, &heard, id);
        assert_true(answer(&guard, id, rows[i].members));
        guard_run(&guard, 1000);
        assert_int_equal(heard.answer, rows[i].answer);
        assert_string_equal(heard.alternative, rows[i].alternative);
    }
    guard_done(&guard);
}

static void test_no_sign_of_life(void **state) {
    struct guard guard;
    struct heard heard;
    char id[64];
    (void)state;
    guard_begin(&guard, NULL);
    guard.agent.config.ack_ms = 150;
    guard.agent.config.answer_ms = 20;
    uint64_t start = guard_now();
    ask(&guard, &heard, id);
    guard_run(&guard, 5000);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.answer, DX__ANSWER_UNSEEN);
    assert_true(heard.when - start >= 150 && heard.when - start < 5000);
    assert_false(answer(&guard, id, ",\"allowed\":true"));
    guard_done(&guard);
}

static void test_no_answer(void **state) {
    struct guard guard;
    struct heard heard;
    char id[64];
    (void)state;
    guard_begin(&guard, NULL);
    guard.agent.config.ack_ms = 200;
    guard.agent.config.answer_ms = 1000;
    uint64_t start = guard_now();
    ask(&guard, &heard, id);
    assert_true(dx__autohand_question_acknowledge(&guard.agent, dx_str(id)));
    guard_run(&guard, 500);
    assert_int_equal(heard.count, 0);
    /* Saying it again gives no more time. */
    assert_true(dx__autohand_question_acknowledge(&guard.agent, dx_str(id)));
    assert_int_equal(dx__autohand_questions(&guard.agent), 1);
    guard_run(&guard, 5000);
    assert_int_equal(heard.answer, DX__ANSWER_LATE);
    assert_true(heard.when - start >= 1000 && heard.when - start < 1480);
    guard_done(&guard);
}

static void test_unknown_ids(void **state) {
    struct guard guard;
    struct heard heard;
    char id[64];
    (void)state;
    guard_begin(&guard, NULL);
    struct dx__autohand_question *question = ask(&guard, &heard, id);
    assert_false(answer(&guard, "perm_9", ",\"allowed\":true"));
    assert_false(answer(&guard, "", ",\"allowed\":true"));
    assert_false(dx__autohand_question_acknowledge(&guard.agent, TEXT("perm_")));
    assert_false(dx__autohand_question_acknowledge(&guard.agent, (dx_text){id, strlen(id) - 1}));
    assert_int_equal(dx__autohand_questions(&guard.agent), 1);
    dx__autohand_question_drop(question);
    dx__autohand_question_drop(NULL);
    guard_done(&guard);
}

static void test_two_in_reverse_order(void **state) {
    struct guard guard;
    struct heard first;
    struct heard second;
    char id[2][64];
    (void)state;
    guard_begin(&guard, NULL);
    ask(&guard, &first, id[0]);
    ask(&guard, &second, id[1]);
    assert_string_not_equal(id[0], id[1]);
    assert_int_equal(dx__autohand_questions(&guard.agent), 2);
    assert_true(answer(&guard, id[1], ",\"allowed\":true"));
    guard_run(&guard, 1000);
    assert_int_equal(second.count, 1);
    assert_int_equal(first.count, 0);
    assert_int_equal(dx__autohand_questions(&guard.agent), 1);
    assert_true(answer(&guard, id[0], ",\"allowed\":false"));
    guard_run(&guard, 1000);
    assert_int_equal(first.answer, DX__ANSWER_DENIED);
    assert_int_equal(second.answer, DX__ANSWER_ALLOWED);
    guard_done(&guard);
}

/* Open, or settled and not yet told: nothing is heard of it any more. */
static void test_dropped(void **state) {
    struct guard guard;
    struct heard heard;
    char id[64];
    (void)state;
    guard_begin(&guard, NULL);
    guard.agent.config.ack_ms = 50;
    dx__autohand_question_drop(ask(&guard, &heard, id));
    assert_false(answer(&guard, id, ",\"allowed\":true"));
    guard_run(&guard, 100);
    assert_int_equal(heard.count, 0);
    struct dx__autohand_question *question = ask(&guard, &heard, id);
    assert_true(answer(&guard, id, ",\"allowed\":true"));
    dx__autohand_question_drop(question);
    guard_run(&guard, 100);
    assert_int_equal(heard.count, 0);
    guard_done(&guard);
}

/* Who drops it while being told hurts nobody. */
static struct dx__autohand_question *telling;
static void on_answer_drop(void *user, dx__autohand_answer got, dx_text alternative) {
    dx__autohand_question_drop(telling);
    on_answer(user, got, alternative);
}

static void test_dropped_while_told(void **state) {
    struct guard guard;
    struct heard heard = {.guard = &guard};
    (void)state;
    guard_begin(&guard, NULL);
    guard.agent.config.ack_ms = 1;
    assert_int_equal(
        dx__autohand_question_open(&guard.agent, &about_make, on_answer_drop, &heard, &telling),
        DX_OK);
    guard_run(&guard, 1000);
    assert_int_equal(heard.count, 1);
    guard_done(&guard);
}

static void test_memory(void **state) {
    dx_status status = DX_ERR_NOMEM;
    (void)state;
    for (size_t at = 1; status != DX_OK; at++) {
        struct guard guard;
        struct heard heard = {.guard = &guard};
        struct dx__autohand_question *question = NULL;
        guard_begin(&guard, NULL);
        guard.memory.fail_at = guard.memory.count + at;
        guard.memory.fails = 1;
        status =
            dx__autohand_question_open(&guard.agent, &about_make, on_answer, &heard, &question);
        assert_int_equal(dx__autohand_questions(&guard.agent), status == DX_OK ? 1 : 0);
        dx__autohand_question_drop(question);
        guard_done(&guard);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yes_and_no),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_alternative),
        cmocka_unit_test(test_no_sign_of_life),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_unknown_ids),
        cmocka_unit_test(test_two_in_reverse_order),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_dropped_while_told),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
