/* Calls: each ends once. */
#include "mcp/client_script.h"

static void begin(script *s) {
    dx_mcp_client_config config = script_config(s);
    script_begin(s, &config);
}

static dx_mcp_call call_tool(script *s, const dx_mcp_call_options *options) {
    dx_mcp_call call = 0;
    assert_int_equal(dx_mcp_client_tool(s->client, dx_str("t"), json("{\"a\":1}"), options,
                                        script_answer, s, &call),
                     DX_OK);
    assert_true(call != 0);
    return call;
}

static void test_methods(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    assert_int_equal(dx_mcp_client_ping(s.client, NULL, script_answer, &s, NULL), DX_OK);
    script_result(&s, script_hear(&s, "ping"), "{}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);

    dx_mcp_call call = call_tool(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_string_equal(text_at(doc, "/params/name"), "t");
    assert_int_equal(yyjson_get_int(at(doc, "/params/arguments/a")), 1);
    assert_null(at(doc, "/params/_meta"));
    script_result(&s, doc, "{\"content\":[]}");
    script_until(&s, &s.answers, 2);
    assert_string_equal(s.body, "{\"content\":[]}");
    assert_true(s.call == call);

    assert_int_equal(
        dx_mcp_client_read(s.client, dx_str("file:///x"), NULL, script_answer, &s, NULL), DX_OK);
    doc = script_hear(&s, "resources/read");
    assert_string_equal(text_at(doc, "/params/uri"), "file:///x");
    script_error(&s, doc, "{\"code\":-32002,\"message\":\"none\"}");
    script_until(&s, &s.answers, 3);
    assert_int_equal(s.outcome, DX_OUTCOME_ERROR);
    assert_int_equal(s.code, DX_MCP_CODE_NO_RESOURCE);

    assert_int_equal(dx_mcp_client_prompt(s.client, dx_str("p"), json("{\"k\":\"v\"}"), NULL,
                                          script_answer, &s, NULL),
                     DX_OK);
    doc = script_hear(&s, "prompts/get");
    assert_string_equal(text_at(doc, "/params/arguments/k"), "v");
    script_result(&s, doc, "{\"messages\":[]}");
    assert_int_equal(dx_mcp_client_complete(s.client, DX_MCP_TEMPLATES, dx_str("file:///{x}"),
                                            dx_str("x"), dx_str("a"), json("{\"y\":\"b\"}"), NULL,
                                            script_answer, &s, NULL),
                     DX_OK);
    doc = script_hear(&s, "completion/complete");
    assert_string_equal(text_at(doc, "/params/ref/type"), "ref/resource");
    assert_string_equal(text_at(doc, "/params/ref/uri"), "file:///{x}");
    assert_string_equal(text_at(doc, "/params/argument/value"), "a");
    assert_string_equal(text_at(doc, "/params/context/arguments/y"), "b");
    script_result(&s, doc, "{\"completion\":{\"values\":[]}}");
    assert_int_equal(dx_mcp_client_log(s.client, DX_MCP_ERROR, script_answer, &s, NULL), DX_OK);
    doc = script_hear(&s, "logging/setLevel");
    assert_string_equal(text_at(doc, "/params/level"), "error");
    script_result(&s, doc, "{}");
    assert_int_equal(
        dx_mcp_client_subscribe(s.client, dx_str("file:///x"), script_answer, &s, NULL), DX_OK);
    script_result(&s, script_hear(&s, "resources/subscribe"), "{}");
    assert_int_equal(
        dx_mcp_client_unsubscribe(s.client, dx_str("file:///x"), script_answer, &s, NULL), DX_OK);
    script_result(&s, script_hear(&s, "resources/unsubscribe"), "{}");
    assert_int_equal(
        dx_mcp_client_page(s.client, DX_MCP_PROMPTS, dx_str("c"), NULL, script_answer, &s, NULL),
        DX_OK);
    doc = script_hear(&s, "prompts/list");
    assert_string_equal(text_at(doc, "/params/cursor"), "c");
    script_result(&s, doc, "{\"prompts\":[]}");
    script_until(&s, &s.answers, 9);
    assert_int_equal(dx_mcp_client_pending(s.client), 0);
    script_end(&s);
}

static void test_R1_both_sides_use_one_id(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    char line[200];
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}",
             yyjson_get_int(at(doc, "/id")));
    script_say(&s, line);
    script_skip(&s, "(none)");
    assert_int_equal(s.answers, 0);
    script_result(&s, doc, "{\"content\":[]}");
    script_until(&s, &s.answers, 1);
    script_end(&s);
}

static void test_R2_R3_out_of_order(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call one = call_tool(&s, NULL);
    dx_mcp_call two = call_tool(&s, NULL);
    yyjson_doc *first = script_hear(&s, "tools/call");
    yyjson_doc *second = script_hear(&s, "tools/call");
    script_say(&s, "{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{\"content\":[]}}");
    script_result(&s, second, "{\"content\":[]}");
    script_until(&s, &s.answers, 1);
    assert_true(s.call == two);
    script_result(&s, first, "{\"content\":[]}");
    script_until(&s, &s.answers, 2);
    assert_true(s.call == one);
    script_end(&s);
}

static void test_R5_both_members(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    char line[200];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[]},\"error\":{\"code\":1,"
             "\"message\":\"m\"}}",
             yyjson_get_int(at(doc, "/id")));
    yyjson_doc_free(doc);
    script_say(&s, line);
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    script_end(&s);
}

static void test_R6_R7_timeout(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call_options options = {.timeout_ms = 80};
    uint64_t begun = script_now();
    (void)call_tool(&s, &options);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    script_until(&s, &s.answers, 1);
    uint64_t took = script_now() - begun;
    assert_true(took >= 75 && took < 3000);
    assert_int_equal(s.outcome, DX_OUTCOME_TIMED_OUT);
    assert_int_equal(s.fault, DX_FAULT_TIMEOUT);
    assert_int_equal(dx_mcp_client_pending(s.client), 0);
    yyjson_doc *cancelled = script_hear(&s, "notifications/cancelled");
    assert_int_equal(yyjson_get_int(at(cancelled, "/params/requestId")),
                     yyjson_get_int(at(doc, "/id")));
    assert_true(strlen(text_at(cancelled, "/params/reason")) > 0);
    yyjson_doc_free(cancelled);
    script_result(&s, doc, "{\"content\":[]}");
    script_for(&s, 40);
    assert_int_equal(s.answers, 1);
    assert_int_equal(dx_mcp_client_statistics(s.client).late, 1);
    assert_int_equal(dx_mcp_client_statistics(s.client).timed_out, 1);
    script_end(&s);
}

static void test_R8_cancel(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call call = call_tool(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str(NULL)), DX_OK);
    assert_int_equal(s.answers, 0); /* the end comes from the loop */
    yyjson_doc *cancelled = script_hear(&s, "notifications/cancelled");
    assert_int_equal(yyjson_get_int(at(cancelled, "/params/requestId")),
                     yyjson_get_int(at(doc, "/id")));
    assert_string_equal(text_at(cancelled, "/params/reason"), "client cancelled");
    yyjson_doc_free(cancelled);
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    assert_int_equal(s.fault, DX_FAULT_CANCELLED);
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str("again")), DX_GONE);
    assert_int_equal(dx_mcp_client_cancel(s.client, 12345, dx_str(NULL)), DX_GONE);
    assert_int_equal(dx_mcp_client_cancel(s.client, 0, dx_str(NULL)), DX_GONE);
    script_result(&s, doc, "{\"content\":[]}");
    script_for(&s, 30);
    assert_int_equal(s.answers, 1);
    script_end(&s);
}

static void test_R9_cancel_all(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call calls[2] = {0};
    size_t count = 9;
    assert_int_equal(dx_mcp_client_cancel_all(s.client, dx_str("x"), calls, 2, &count), DX_OK);
    assert_int_equal(count, 0);
    dx_mcp_call one = call_tool(&s, NULL);
    dx_mcp_call two = call_tool(&s, NULL);
    (void)call_tool(&s, NULL);
    assert_int_equal(dx_mcp_client_pending(s.client), 3);
    assert_int_equal(dx_mcp_client_cancel_all(s.client, dx_str("enough"), calls, 2, &count), DX_OK);
    assert_int_equal(count, 3);
    assert_true(calls[0] == one && calls[1] == two);
    script_until(&s, &s.answers, 3);
    for (int i = 0; i < 3; i++)
        script_skip(&s, "tools/call");
    for (int i = 0; i < 3; i++) {
        yyjson_doc *doc = script_hear(&s, "notifications/cancelled");
        assert_string_equal(text_at(doc, "/params/reason"), "enough");
        yyjson_doc_free(doc);
    }
    assert_int_equal(dx_mcp_client_pending(s.client), 0);
    script_end(&s);
}

static void test_pending_calls(void **state) {
    (void)state;
    for (dx_ids ids = DX_IDS_COUNTER; ids <= DX_IDS_UUID; ids++) {
        script s = {0};
        dx_mcp_client_config config = script_config(&s);
        config.ids = ids;
        script_begin(&s, &config);
        dx_mcp_pending list[3] = {0};
        dx_mcp_call one = call_tool(&s, NULL);
        assert_int_equal(dx_mcp_client_ping(s.client, NULL, script_answer, &s, NULL), DX_OK);
        yyjson_doc *first = script_hear(&s, "tools/call");
        yyjson_doc *second = script_hear(&s, "ping");
        script_for(&s, 30);
        assert_int_equal(dx_mcp_client_calls(s.client, NULL, 0), 2);
        assert_int_equal(dx_mcp_client_calls(s.client, list, 1), 2);
        assert_string_equal(list[1].id, "");
        assert_int_equal(dx_mcp_client_calls(s.client, list, 3), 2);
        assert_true(list[0].call == one && list[1].call != one);
        assert_string_equal(list[0].method, "tools/call");
        assert_string_equal(list[1].method, "ping");
        assert_true(list[0].age_ms >= 30 && list[0].age_ms < 600000);
        char *id = yyjson_val_write(at(first, "/id"), 0, NULL);
        assert_string_equal(list[0].id, id);
        free(id);
        id = yyjson_val_write(at(second, "/id"), 0, NULL);
        assert_true(dx_mcp_client_find(s.client, dx_str(id)) == list[1].call);
        assert_int_equal(dx_mcp_client_cancel(s.client, dx_mcp_client_find(s.client, dx_str(id)),
                                              dx_str("enough")),
                         DX_OK);
        yyjson_doc *cancelled = script_hear(&s, "notifications/cancelled");
        assert_true(yyjson_equals(at(cancelled, "/params/requestId"), at(second, "/id")));
        yyjson_doc_free(cancelled);
        script_until(&s, &s.answers, 1);
        assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
        const char *const wrong[] = {id,
                                     "",
                                     "0",
                                     "07",
                                     "99",
                                     "1x",
                                     "1e0",
                                     "\"1\"",
                                     "null",
                                     "-1",
                                     "18446744073709551617",
                                     "\"req_\"",
                                     "99999999999999999999"};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            assert_true(dx_mcp_client_find(s.client, dx_str(wrong[i])) == 0);
        assert_true(dx_mcp_client_find(s.client, dx_str(list[0].id)) == one);
        assert_int_equal(dx_mcp_client_cancel(s.client, 0, dx_str(NULL)), DX_GONE);
        free(id);
        yyjson_doc_free(second);
        script_result(&s, first, "{\"content\":[]}");
        script_until(&s, &s.answers, 2);
        assert_int_equal(dx_mcp_client_calls(s.client, list, 3), 0);
        script_end(&s);
    }
}

static void test_R10_close(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    (void)call_tool(&s, NULL);
    script_skip(&s, "tools/call");
    script_skip(&s, "tools/call");
    dx_mcp_client_close(s.client);
    assert_int_equal(dx_mcp_client_ping(s.client, NULL, NULL, NULL, NULL), DX_CLOSED);
    for (int i = 0; i < 2; i++) {
        yyjson_doc *doc = script_hear(&s, "notifications/cancelled");
        assert_string_equal(text_at(doc, "/params/reason"), "client closed");
        yyjson_doc_free(doc);
    }
    script_until(&s, &s.closed, 1);
    assert_string_equal(s.notes, "raaz");
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    assert_int_equal(s.end.by_us, 1);
    assert_int_equal(s.end.was_ready, 1);
    assert_int_equal(s.end.error.fault, DX_FAULT_NONE);
    script_end(&s);
}

static void test_T16_lost(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    (void)call_tool(&s, NULL);
    script_skip(&s, "tools/call");
    uint64_t begun = script_now();
    close(s.fd);
    s.fd = -1;
    script_until(&s, &s.closed, 1);
    assert_true(script_now() - begun < 3000);
    assert_string_equal(s.notes, "raaz");
    assert_int_equal(s.outcome, DX_OUTCOME_LOST);
    assert_int_equal(s.end.by_us, 0);
    script_end(&s);
}

static void say_progress(script *s, yyjson_doc *doc, double progress) {
    char line[300];
    char *token = yyjson_val_write(at(doc, "/params/_meta/progressToken"), 0, NULL);
    assert_non_null(token);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
             "{\"progressToken\":%s,\"progress\":%g,\"total\":8,\"message\":\"m\"}}",
             token, progress);
    free(token);
    script_say(s, line);
}

static void test_R11_R12_progress(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call_options options = {.on_progress = script_progress};
    (void)call_tool(&s, &options);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_string_equal(text_at(doc, "/params/name"), "t");
    say_progress(&s, doc, 1);
    say_progress(&s, doc, 2.5);
    char *copy = yyjson_write(doc, 0, NULL);
    yyjson_doc *again = yyjson_read(copy, strlen(copy), 0);
    free(copy);
    script_result(&s, doc, "{\"content\":[]}");
    say_progress(&s, again, 3);
    yyjson_doc_free(again);
    script_until(&s, &s.answers, 1);
    script_for(&s, 30);
    assert_string_equal(s.notes, "rppa");
    assert_true(s.last_progress == 2.5);
    assert_string_equal(s.text, "m");
    assert_int_equal(s.others, 0);
    script_end(&s);
}

static void test_R13_reset(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call_options options = {.timeout_ms = 500, .reset = 1};
    (void)call_tool(&s, &options);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_non_null(at(doc, "/params/_meta/progressToken")); /* R14: without on_progress, too */
    for (int i = 1; i <= 6; i++) {
        script_for(&s, 120);
        say_progress(&s, doc, i);
    }
    assert_int_equal(s.answers, 0);
    script_result(&s, doc, "{\"content\":[]}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);

    options.total_ms = 600;
    uint64_t begun = script_now();
    (void)call_tool(&s, &options);
    doc = script_hear(&s, "tools/call");
    for (int i = 1; s.answers < 2 && i < 100; i++) {
        script_for(&s, 40);
        if (s.answers < 2)
            say_progress(&s, doc, i);
    }
    yyjson_doc_free(doc);
    uint64_t took = script_now() - begun;
    assert_true(took >= 590 && took < 5000);
    assert_int_equal(s.outcome, DX_OUTCOME_TIMED_OUT);
    assert_int_equal(s.fault, DX_FAULT_TOTAL);
    script_end(&s);
}

static void test_meta_of_the_user_stays(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call_options options = {.on_progress = script_progress};
    assert_int_equal(dx_mcp_client_call(s.client, dx_str("tools/call"),
                                        json("{\"name\":\"t\",\"_meta\":{\"mine\":1}}"), &options,
                                        script_answer, &s, NULL),
                     DX_OK);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    assert_int_equal(yyjson_get_int(at(doc, "/params/_meta/mine")), 1);
    assert_non_null(at(doc, "/params/_meta/progressToken"));
    script_result(&s, doc, "{\"content\":[]}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(dx_mcp_client_call(s.client, dx_str("tools/call"), json("[1]"), &options,
                                        script_answer, &s, NULL),
                     DX_ERR_INVALID);
    assert_int_equal(dx_mcp_client_call(s.client, dx_str("tools/call"), json("{oops"), &options,
                                        script_answer, &s, NULL),
                     DX_ERR_INVALID);
    assert_int_equal(dx_mcp_client_pending(s.client), 0);
    script_end(&s);
}

static void test_R15_cancelled_by_the_server(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    yyjson_doc *doc = script_hear(&s, "tools/call");
    char line[200];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
             "{\"requestId\":%d,\"reason\":\"tired\"}}",
             yyjson_get_int(at(doc, "/id")));
    yyjson_doc_free(doc);
    script_say(&s, line);
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    assert_int_equal(s.fault, DX_FAULT_GIVEN_UP);
    script_end(&s);
}

static void check_gate(const char *capabilities, const char *method, dx_status expected) {
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_open(&s, &config);
    script_greet(&s, "2025-11-25", capabilities);
    dx_status status =
        dx_mcp_client_call(s.client, dx_str(method), dx_json_none(), NULL, script_answer, &s, NULL);
    /* The params do not fit either: what the gate says comes first. */
    assert_int_equal(status, DX_MISFIT);
    int gated = strstr(dx_mcp_client_why(s.client), "does not offer") != NULL;
    assert_int_equal(gated, expected == DX_MISFIT);
    script_silence(&s, 5);
    assert_int_equal(dx_mcp_client_pending(s.client), 0);
    script_end(&s);
}

static void test_R21_gate(void **state) {
    (void)state;
    check_gate("{}", "tools/call", DX_MISFIT);
    check_gate("{\"tools\":{}}", "tools/call", DX_OK);
    check_gate("{}", "resources/read", DX_MISFIT);
    check_gate("{\"resources\":{}}", "resources/read", DX_OK);
    check_gate("{\"resources\":{}}", "resources/subscribe", DX_MISFIT);
    check_gate("{\"resources\":{\"subscribe\":false}}", "resources/subscribe", DX_MISFIT);
    check_gate("{\"resources\":{\"subscribe\":true}}", "resources/subscribe", DX_OK);
    check_gate("{}", "prompts/get", DX_MISFIT);
    check_gate("{\"prompts\":{}}", "completion/complete", DX_MISFIT);
    check_gate("{\"completions\":{}}", "completion/complete", DX_OK);
    check_gate("{}", "logging/setLevel", DX_MISFIT);
    check_gate("{\"logging\":{}}", "logging/setLevel", DX_OK);
    check_gate("{}", "tasks/get", DX_MISFIT);
    check_gate("{\"tasks\":{}}", "tasks/get", DX_OK);
    check_gate("{\"tasks\":{}}", "tasks/cancel", DX_MISFIT);
    check_gate("{}", "no/such/method", DX_OK);
    check_gate("{}", "initialize", DX_OK);
}

static void test_params_that_do_not_fit(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    assert_int_equal(dx_mcp_client_call(s.client, dx_str("tools/call"), json("{\"name\":1}"), NULL,
                                        script_answer, &s, NULL),
                     DX_MISFIT);
    assert_non_null(strstr(dx_mcp_client_why(s.client), "/name"));
    script_silence(&s, 10);
    (void)call_tool(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"content\":7}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    assert_int_equal(s.fault, DX_FAULT_RESULT_FIT);
    assert_string_equal(s.body, "{\"content\":7}");
    script_end(&s);
}

/* Lists. */

static void page(script *s, const char *cursor, const char *result) {
    yyjson_doc *doc = script_hear(s, "tools/list");
    assert_string_equal(text_at(doc, "/params/cursor"), cursor);
    script_result(s, doc, result);
}

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

static void test_R20_pages(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, NULL),
                     DX_OK);
    page(&s, "(none)", "{\"tools\":[" TOOL("a") "," TOOL("b") "],\"nextCursor\":\"1\"}");
    page(&s, "1", "{\"tools\":[],\"nextCursor\":\"2\"}");
    page(&s, "2", "{\"tools\":[" TOOL("c") "]}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    assert_string_equal(s.body, "{\"tools\":[" TOOL("a") "," TOOL("b") "," TOOL("c") "]}");
    assert_int_equal(dx_mcp_client_pending(s.client), 0);

    assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, NULL),
                     DX_OK);
    page(&s, "(none)", "{\"tools\":[],\"nextCursor\":\"1\"}");
    page(&s, "1", "{\"tools\":[],\"nextCursor\":\"2\"}");
    page(&s, "2", "{\"tools\":[],\"nextCursor\":\"1\"}");
    script_until(&s, &s.answers, 2);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    assert_non_null(strstr(s.phrase, "cursor"));
    script_silence(&s, 20);

    assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, NULL),
                     DX_OK);
    page(&s, "(none)", "{\"tools\":[],\"nextCursor\":\"1\"}");
    script_error(&s, script_hear(&s, "tools/list"), "{\"code\":-32602,\"message\":\"m\"}");
    script_until(&s, &s.answers, 3);
    assert_int_equal(s.outcome, DX_OUTCOME_ERROR);
    script_end(&s);
}

static void test_R20_too_many_pages(void **state) {
    (void)state;
    for (size_t max = 2; max <= 3; max++) {
        script s = {0};
        dx_mcp_client_config config = script_config(&s);
        config.pages_max = max;
        script_begin(&s, &config);
        assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, NULL),
                         DX_OK);
        page(&s, "(none)", "{\"tools\":[],\"nextCursor\":\"1\"}");
        page(&s, "1", "{\"tools\":[],\"nextCursor\":\"2\"}");
        if (max == 3)
            page(&s, "2", "{\"tools\":[]}");
        script_until(&s, &s.answers, 1);
        assert_int_equal(s.outcome, max == 3 ? DX_OUTCOME_RESULT : DX_OUTCOME_INVALID);
        script_end(&s);
    }
}

/* JavaScript servers cut an emoji in two. */
static void test_half_a_pair(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    (void)call_tool(&s, NULL);
    script_result(
        &s, script_hear(&s, "tools/call"),
        "{\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d\"}],\"_meta\":{\"n\":1E400}}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    assert_int_equal(s.mended, DX_MENDED_STRING | DX_MENDED_NUMBER);
    assert_non_null(strstr(s.body, "\\ud83d"));
    (void)call_tool(&s, NULL);
    script_error(&s, script_hear(&s, "tools/call"), "{\"code\":3,\"message\":\"\\udc00\"}");
    script_until(&s, &s.answers, 2);
    assert_int_equal(s.outcome, DX_OUTCOME_ERROR);
    assert_int_equal(s.mended, DX_MENDED_STRING);
    assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, NULL),
                     DX_OK);
    script_result(&s, script_hear(&s, "tools/list"),
                  "{\"tools\":[{\"name\":\"a\\ud83d\",\"inputSchema\":{\"type\":\"object\"}}],"
                  "\"nextCursor\":\"2\"}");
    script_result(&s, script_hear(&s, "tools/list"), "{\"tools\":[ ],\"nextCursor\":\"3\"}");
    script_result(&s, script_hear(&s, "tools/list"), "{\"_meta\":{\"n\":1.50},\"tools\":[]}");
    script_until(&s, &s.answers, 3);
    assert_int_equal(s.outcome, DX_OUTCOME_RESULT);
    assert_int_equal(s.mended, DX_MENDED_STRING);
    assert_string_equal(s.body, "{\"_meta\":{\"n\":1.50},\"tools\":[{\"name\":\"a\\ud83d\","
                                "\"inputSchema\":{\"type\":\"object\"}}]}");
    script_end(&s);
    s = (script){0};
    dx_mcp_client_config config = script_config(&s);
    config.strict = 1;
    script_begin(&s, &config);
    (void)call_tool(&s, NULL);
    script_result(&s, script_hear(&s, "tools/call"), "{\"content\":[],\"_meta\":{\"n\":1E400}}");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_INVALID);
    assert_int_equal(s.fault, DX_FAULT_JSON_VALUE);
    script_end(&s);
}

static void test_a_list_is_cancelled(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    dx_mcp_call call = 0;
    assert_int_equal(dx_mcp_client_list(s.client, DX_MCP_TOOLS, NULL, script_answer, &s, &call),
                     DX_OK);
    page(&s, "(none)", "{\"tools\":[],\"nextCursor\":\"1\"}");
    script_skip(&s, "tools/list");
    assert_int_equal(dx_mcp_client_cancel(s.client, call, dx_str(NULL)), DX_OK);
    script_skip(&s, "notifications/cancelled");
    script_until(&s, &s.answers, 1);
    assert_int_equal(s.outcome, DX_OUTCOME_CANCELLED);
    assert_true(s.call == call);
    script_end(&s);
}

static void test_freed_in_an_answer(void **state) {
    (void)state;
    script s = {.free_at_answer = 1};
    begin(&s);
    (void)call_tool(&s, NULL);
    (void)call_tool(&s, NULL);
    script_skip(&s, "tools/call");
    script_result(&s, script_hear(&s, "tools/call"), "{\"content\":[]}");
    script_until(&s, &s.answers, 1);
    script_for(&s, 20);
    assert_int_equal(s.answers, 1);
    assert_int_equal(s.closed, 0);
    script_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_R1_both_sides_use_one_id),
        cmocka_unit_test(test_R2_R3_out_of_order),
        cmocka_unit_test(test_R5_both_members),
        cmocka_unit_test(test_R6_R7_timeout),
        cmocka_unit_test(test_R8_cancel),
        cmocka_unit_test(test_R9_cancel_all),
        cmocka_unit_test(test_pending_calls),
        cmocka_unit_test(test_R10_close),
        cmocka_unit_test(test_T16_lost),
        cmocka_unit_test(test_R11_R12_progress),
        cmocka_unit_test(test_R13_reset),
        cmocka_unit_test(test_meta_of_the_user_stays),
        cmocka_unit_test(test_R15_cancelled_by_the_server),
        cmocka_unit_test(test_R21_gate),
        cmocka_unit_test(test_params_that_do_not_fit),
        cmocka_unit_test(test_R20_pages),
        cmocka_unit_test(test_R20_too_many_pages),
        cmocka_unit_test(test_half_a_pair),
        cmocka_unit_test(test_a_list_is_cancelled),
        cmocka_unit_test(test_freed_in_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
