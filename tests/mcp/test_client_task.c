/* Tools that run as tasks of the server. */
#include "mcp/client_script.h"

#define TASK(status)                                                                          \
    "\"taskId\":\"T\",\"status\":\"" status "\",\"createdAt\":\"c\",\"lastUpdatedAt\":\"u\"," \
    "\"ttl\":null,\"pollInterval\":1"

static dx_mcp_call begin(script *s, const dx_mcp_call_options *options) {
    dx_mcp_call call = 0;
    dx_mcp_client_config config = script_config(s);
    script_begin(s, &config);
    assert_int_equal(dx_mcp_client_task(s->client, dx_str("t"), json("{\"a\":1}"), 5000, options,
                                        script_answer, s, &call),
                     DX_OK);
    return call;
}

static void test_to_its_end(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_call call = begin(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_string_equal(text_at(doc, "/params/name"), "t");
    assert_int_equal(yyjson_get_int(at(doc, "/params/arguments/a")), 1);
    assert_int_equal(yyjson_get_int(at(doc, "/params/task/ttl")), 5000);
    script_result(&s, doc, "{\"task\":{" TASK("working") "}}");
    script_until(&s, &s.tasks, 1);
    uint64_t begun = script_now();
    doc = script_hear(&s, "tasks/get");
    assert_true(script_now() - begun >= 30); /* not as often as it asks for */
    assert_string_equal(text_at(doc, "/params/taskId"), "T");
    script_result(&s, doc, "{" TASK("working") "}");
    script_result(&s, script_hear(&s, "tasks/get"), "{" TASK("completed") "}");
    script_until(&s, &s.tasks, 3);
    assert_string_equal(s.text, "completed");
    assert_int_equal(dx_mcp_client_pending(s.client), 1);
    script_result(&s, script_hear(&s, "tasks/result"), "{\"content\":[],\"isError\":false}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    assert_true(s.call == call);
    assert_string_equal(s.body, "{\"content\":[],\"isError\":false}");
    script_end(&s);
}

static void test_done_on_the_spot(void **state) {
    (void)state;
    script s = {0};
    (void)begin(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"content\":[]}");
    script_until(&s, &s.answers, 1);
    assert_string_equal(s.body, "{\"content\":[]}");
    script_end(&s);
}

/* The result is asked for at once, and may take as long as the user does. */
static void test_input_required(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_call_options options = {.timeout_ms = 400};
    (void)begin(&s, &options);
    script_result(&s, script_hear(&s, "tools/call"), "{\"task\":{" TASK("input_required") "}}");
    yyjson_doc *doc = script_hear(&s, "tasks/result");
    script_for(&s, 600);
    assert_int_equal(s.answers, 0);
    script_error(&s, doc, "{\"code\":-32000,\"message\":\"m\"}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_ERROR);
    script_end(&s);
}

static void test_told(void **state) {
    (void)state;
    script s = {0};
    (void)begin(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"),
                  "{\"task\":{\"taskId\":\"T\",\"status\":\"working\",\"createdAt\":\"c\","
                  "\"lastUpdatedAt\":\"u\",\"ttl\":null,\"pollInterval\":60000}}");
    script_until(&s, &s.tasks, 1);
    script_silence(&s, 30);
    script_say(&s,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/status\",\"params\":{" TASK(
                   "completed") "}}");
    script_until(&s, &s.tasks, 2);
    assert_string_equal(s.text, "completed");
    script_skip(&s, "tasks/get"); /* long before it is time */
    script_end(&s);
}

static void test_cancelled_while_it_runs(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_call call = begin(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"task\":{" TASK("working") "}}");
    script_until(&s, &s.tasks, 1);
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str("enough")), DX_OK);
    assert_int_equal(s.answers, 0);
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str("enough")), DX_GONE);
    yyjson_doc *doc = script_hear(&s, "tasks/cancel");
    assert_string_equal(text_at(doc, "/params/taskId"), "T");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    script_result(&s, doc, "{" TASK("cancelled") "}");
    script_silence(&s, 100);
    assert_int_equal(s.answers, 1);
    script_end(&s);
}

static void test_cancelled_while_it_is_asked_for(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_call call = begin(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"task\":{" TASK("completed") "}}");
    script_skip(&s, "tasks/result");
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str("enough")), DX_OK);
    script_skip(&s, "tasks/cancel");
    script_skip(&s, "notifications/cancelled");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    script_end(&s);
}

/* The task has no name yet: it is cancelled when it has one. */
static void test_cancelled_before_it_has_a_name(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_call call = begin(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str("enough")), DX_OK);
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    assert_int_equal(dx_mcp_client_pending(s.client), 0);
    script_silence(&s, 20);
    script_result(&s, doc, "{\"task\":{" TASK("working") "}}");
    doc = script_hear(&s, "tasks/cancel");
    assert_string_equal(text_at(doc, "/params/taskId"), "T");
    yyjson_doc_free(doc);
    script_silence(&s, 80);
    assert_int_equal(s.answers, 1);
    script_end(&s);
}

static void test_total(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_call_options options = {.total_ms = 500};
    (void)begin(&s, &options);
    script_result(&s, script_hear(&s, "tools/call"),
                  "{\"task\":{\"taskId\":\"T\",\"status\":\"working\",\"createdAt\":\"c\","
                  "\"lastUpdatedAt\":\"u\",\"ttl\":null,\"pollInterval\":60000}}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_TIMED_OUT);
    assert_int_equal(s.fault, DX_FAULT_TOTAL);
    script_skip(&s, "tasks/cancel");
    script_end(&s);
}

static void test_no_answer_about_it(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_call_options options = {.timeout_ms = 400};
    (void)begin(&s, &options);
    script_result(&s, script_hear(&s, "tools/call"), "{\"task\":{" TASK("working") "}}");
    script_skip(&s, "tasks/get");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_TIMED_OUT);
    script_skip(&s, "notifications/cancelled");
    script_skip(&s, "tasks/cancel");
    script_end(&s);
}

static void test_closed_while_it_runs(void **state) {
    (void)state;
    script s = {0};
    (void)begin(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"task\":{" TASK("working") "}}");
    script_until(&s, &s.tasks, 1);
    dx_mcp_client_close(s.client);
    script_until(&s, &s.closed, 1);
    assert_string_equal(s.notes, "raz");
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    script_skip(&s, "tasks/cancel");
    script_end(&s);
}

static void test_lost_while_it_runs(void **state) {
    (void)state;
    script s = {0};
    (void)begin(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"task\":{" TASK("working") "}}");
    script_until(&s, &s.tasks, 1);
    shutdown(s.fd, SHUT_WR);
    script_until(&s, &s.closed, 1);
    assert_string_equal(s.notes, "raz");
    assert_int_equal(s.outcome, DX_OUTCOME_LOST);
    script_end(&s);
}

static void test_not_offered(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_open(&s, &config);
    script_greet(&s, "2025-11-25", "{\"tools\":{},\"tasks\":{}}");
    assert_int_equal(
        dx_mcp_client_task(s.client, dx_str("t"), dx_json_none(), 0, NULL, script_answer, &s, NULL),
        DX_MISFIT);
    assert_non_null(strstr(dx_mcp_client_why(s.client), "tasks"));
    script_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_its_end),
        cmocka_unit_test(test_done_on_the_spot),
        cmocka_unit_test(test_input_required),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_cancelled_while_it_runs),
        cmocka_unit_test(test_cancelled_while_it_is_asked_for),
        cmocka_unit_test(test_cancelled_before_it_has_a_name),
        cmocka_unit_test(test_total),
        cmocka_unit_test(test_no_answer_about_it),
        cmocka_unit_test(test_closed_while_it_runs),
        cmocka_unit_test(test_lost_while_it_runs),
        cmocka_unit_test(test_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
