/* Tools: from the call to the answer, and what may happen in between. */
#include "mcp/server_talk.h"

static const char two_numbers[] = "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":{"
                                  "\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"number\"}}}";
static const char sum_schema[] =
    "{\"type\":\"object\",\"required\":[\"sum\"],\"properties\":{\"sum\":{\"type\":\"number\"}}}";

static void add(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    char text[64];
    (void)user;
    (void)snprintf(text, sizeof text, "{\"sum\":%g}",
                   yyjson_get_num(yyjson_obj_get(arguments, "a")) +
                       yyjson_get_num(yyjson_obj_get(arguments, "b")));
    dx_mcp_work_structured(work, dx_json_text(text, strlen(text)));
    dx_mcp_work_done(work);
}

static void fail_it(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_text(work, TEXT("so far"));
    dx_mcp_work_fail(work, TEXT("broken"));
}

static void forget(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)work;
    (void)arguments;
    (void)user;
}

static void misfit(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    const char *how = yyjson_get_str(yyjson_obj_get(arguments, "how"));
    if (strcmp(how, "utf8") == 0)
        dx_mcp_work_text(work, TEXT("\xff"));
    else if (strcmp(how, "item") == 0)
        dx_mcp_work_content(work, JSON("{\"type\":\"text\"}"));
    else if (strcmp(how, "json") == 0)
        dx_mcp_work_content(work, JSON("{"));
    else if (strcmp(how, "value") == 0)
        dx_mcp_work_value(work, TEXT("v"));
    else if (strcmp(how, "message") == 0)
        dx_mcp_work_message(work, "user", dx_json_none());
    else if (strcmp(how, "bytes") == 0)
        dx_mcp_work_bytes(work, TEXT("abc"), "text/plain");
    else if (strcmp(how, "large") == 0)
        dx_mcp_work_structured(work, JSON("{\"sum\":1e999}"));
    else if (strcmp(how, "reply") == 0) {
        dx_mcp_work_reply(work, JSON("{\"content\":5}"));
        return;
    } else if (strcmp(how, "array") == 0) {
        dx_mcp_work_reply(work, JSON("[]"));
        return;
    } else if (strcmp(how, "refuse") == 0) {
        dx_mcp_work_refuse(work, -32042, TEXT("go there"), JSON("{\"a\":1}"));
        return;
    }
    dx_mcp_work_done(work);
}

static void many(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_text(work, TEXT("\"q\"\n\xe2\x80\xa8"));
    dx_mcp_work_bytes(work, TEXT("\0\1\2\3"), "image/png");
    dx_mcp_work_bytes(work, TEXT("ab"), "audio/wav");
    dx_mcp_work_content(work, JSON("{\"type\":\"resource\",\n\"resource\":{\"uri\":\"a:b\","
                                   "\"text\":\"t\"}}"));
    dx_mcp_work_done(work);
}

static dx_mcp_work *kept;
static int cancelled;
static bool end_in_cancel;

static void on_cancel(dx_mcp_work *work, void *user) {
    assert_string_equal(user, "mine");
    assert_true(dx_mcp_work_is_cancelled(work));
    cancelled++;
    if (end_in_cancel) {
        dx_mcp_work_done(work);
        kept = NULL;
    }
}

static void keep(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    kept = work;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, (void *)(uintptr_t) "mine");
}

static void wrong_sum(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    if (yyjson_obj_get(arguments, "large"))
        dx_mcp_work_structured(work, JSON("{\"sum\":1e999}"));
    else if (yyjson_obj_get(arguments, "value"))
        dx_mcp_work_structured(work, JSON("{\"sum\":\"five\"}"));
    else
        dx_mcp_work_text(work, TEXT("5"));
    dx_mcp_work_done(work);
}

static void begin(struct talk *talk) {
    static const dx_mcp_tool tools[] = {
        {.name = "add", .input = two_numbers, .output = sum_schema, .call = add},
        {.name = "fail", .call = fail_it},
        {.name = "forget", .call = forget},
        {.name = "misfit", .call = misfit},
        {.name = "many", .call = many},
        {.name = "keep", .call = keep},
        {.name = "wrong", .output = sum_schema, .call = wrong_sum},
    };
    talk_new(talk, dx_mcp_server_defaults("s", "1"));
    kept = NULL;
    cancelled = 0;
    end_in_cancel = false;
    for (size_t i = 0; i < LENGTH(tools); i++)
        assert_int_equal(dx_mcp_server_add_tool(talk->server, &tools[i], NULL), DX_OK);
}

static void open_at(struct talk *talk, const char *revision) {
    begin(talk);
    talk_open(talk, revision, "{}");
}

/* S4, S15, by revision. */
static void test_calls(void **state) {
    static const char *const revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    (void)state;
    for (size_t i = 0; i < LENGTH(revisions); i++) {
        struct talk talk;
        open_at(&talk, revisions[i]);
        talk_ask(&talk, 1, "tools/call", "\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2}");
        if (i < 2)
            talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":"
                               "\"text\",\"text\":\"{\\\"sum\\\":3}\"}]}}");
        else
            talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":"
                               "\"text\",\"text\":\"{\\\"sum\\\":3}\"}],\"structuredContent\":"
                               "{\"sum\":3}}}");
        talk_ask(&talk, 2, "tools/call", "\"name\":\"add\",\"arguments\":{\"a\":1}");
        const char *line = talk_hear(&talk);
        assert_has(line, "missing member \\\"b\\\"");
        assert_has(line, i < 3 ? "\"error\":{\"code\":-32602" : "\"isError\":true");
        talk_ask(&talk, 3, "tools/call", "\"name\":\"add\"");
        assert_has(talk_hear(&talk), i < 3 ? "\"error\":{\"code\":-32602" : "\"isError\":true");
        talk_ask(&talk, 4, "tools/call", "\"name\":\"nix\"");
        talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32602,\"message\":"
                           "\"Unknown tool: nix\"}}");
        talk_ask(&talk, 5, "tools/call", "\"name\":\"fail\"");
        talk_expect(&talk,
                    "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[{\"type\":\"text\","
                    "\"text\":\"so far\"},{\"type\":\"text\",\"text\":\"broken\"}],"
                    "\"isError\":true}}");
        talk_end(&talk);
    }
}

/* S18: and the server lives. */
static void test_forgotten(void **state) {
    struct talk talk;
    (void)state;
    open_at(&talk, "2025-11-25");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"forget\"");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32603");
    talk_ask(&talk, 2, "ping", "");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    talk_end(&talk);
}

/* Whatever a handler says wrongly becomes an error, and never silence. */
static void test_misfits(void **state) {
    static const char *const hows[] = {"utf8",    "large", "item",  "json", "value",
                                       "message", "bytes", "reply", "array"};
    struct talk talk;
    char params[100];
    (void)state;
    open_at(&talk, "2025-11-25");
    for (size_t i = 0; i < LENGTH(hows); i++) {
        (void)snprintf(params, sizeof params, "\"name\":\"misfit\",\"arguments\":{\"how\":\"%s\"}",
                       hows[i]);
        talk_ask(&talk, (int)i, "tools/call", params);
        assert_has(talk_hear(&talk), "\"error\":{\"code\":-32603");
    }
    talk_ask(&talk, 50, "tools/call", "\"name\":\"misfit\",\"arguments\":{\"how\":\"refuse\"}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":50,\"error\":{\"code\":-32042,\"message\":"
                       "\"go there\",\"data\":{\"a\":1}}}");
    talk_ask(&talk, 51, "tools/call", "\"name\":\"wrong\"");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32603");
    talk_ask(&talk, 52, "tools/call", "\"name\":\"wrong\",\"arguments\":{\"value\":1}");
    assert_has(talk_hear(&talk), "/sum: expected number, found string");
    talk_ask(&talk, 53, "tools/call", "\"name\":\"wrong\",\"arguments\":{\"large\":1}");
    assert_has(talk_hear(&talk), "a number is out of range");
    talk_end(&talk);
}

/* Audio is not known before 2025-03-26: an error there, and never silence. */
static void test_contents(void **state) {
    struct talk talk;
    (void)state;
    open_at(&talk, "2025-03-26");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"many\"");
    talk_expect(
        &talk,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
        "\"\\\"q\\\"\\n\xe2\x80\xa8\"},{\"type\":\"image\",\"data\":\"AAECAw==\",\"mimeType\":"
        "\"image/png\"},{\"type\":\"audio\",\"data\":\"YWI=\",\"mimeType\":\"audio/wav\"},"
        "{\"type\":\"resource\", \"resource\":{\"uri\":\"a:b\",\"text\":\"t\"}}]}}");
    talk_end(&talk);
    open_at(&talk, "2024-11-05");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"many\"");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32603");
    talk_end(&talk);
}

static void cancel(struct talk *talk, int id) {
    char line[200];
    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                   "\"requestId\":%d}}",
                   id);
    talk_say(talk, line);
}

static void ping(struct talk *talk, int id) {
    char line[100];
    talk_ask(talk, id, "ping", "");
    (void)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", id);
    talk_expect(talk, line);
}

/* S5, S6, S7. */
static void test_cancel(void **state) {
    struct talk talk;
    (void)state;
    open_at(&talk, "2025-11-25");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\",\"_meta\":{\"progressToken\":1}");
    ping(&talk, 2);
    assert_non_null(kept);
    cancel(&talk, 99);
    cancel(&talk, 2);
    ping(&talk, 3);
    assert_int_equal(cancelled, 0);
    cancel(&talk, 1);
    ping(&talk, 4);
    assert_int_equal(cancelled, 1);
    dx_mcp_work_progress(kept, 1, 2, TEXT("m"));
    dx_mcp_work_log(kept, DX_MCP_ERROR, dx_str(NULL), JSON("1"));
    dx_mcp_work_text(kept, TEXT("late"));
    dx_mcp_work_done(kept);
    cancel(&talk, 1);
    talk_silence(&talk, 50);
    assert_int_equal(cancelled, 1);
    end_in_cancel = true;
    talk_ask(&talk, 5, "tools/call", "\"name\":\"keep\"");
    ping(&talk, 6);
    cancel(&talk, 5);
    ping(&talk, 7);
    assert_null(kept);
    assert_int_equal(cancelled, 2);
    talk_end(&talk);
}

/* S8. */
static void test_progress(void **state) {
    struct talk talk;
    (void)state;
    open_at(&talk, "2025-11-25");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
    ping(&talk, 2);
    dx_mcp_work_progress(kept, 1, 2, TEXT("m"));
    dx_mcp_work_done(kept);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}");
    talk_ask(&talk, 3, "tools/call", "\"name\":\"keep\",\"_meta\":{\"progressToken\":\"p\"}");
    ping(&talk, 4);
    dx_mcp_work_progress(kept, 0, -1, dx_str(NULL));
    dx_mcp_work_progress(kept, 0, -1, dx_str(NULL));
    dx_mcp_work_progress(kept, -1, -1, dx_str(NULL));
    dx_mcp_work_progress(kept, 0.5, 2, TEXT("half"));
    dx_mcp_work_progress(kept, 1.0 / 0.0, 2, TEXT("no number"));
    dx_mcp_work_progress(kept, 0.25, 2, TEXT("back"));
    dx_mcp_work_progress(kept, 1e300, 1e300, dx_str(NULL));
    dx_mcp_work_done(kept);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                       "\"progressToken\":\"p\",\"progress\":0}}");
    talk_expect(&talk,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                "\"progressToken\":\"p\",\"progress\":0.5,\"total\":2,\"message\":\"half\"}}");
    assert_has(talk_hear(&talk), "\"progress\":1e300");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}");
    talk_end(&talk);
    /* The first revision has no message there. */
    open_at(&talk, "2024-11-05");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\",\"_meta\":{\"progressToken\":7}");
    ping(&talk, 2);
    dx_mcp_work_progress(kept, 1, 2, TEXT("m"));
    dx_mcp_work_done(kept);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                       "\"progressToken\":7,\"progress\":1,\"total\":2}}");
    talk_hear(&talk);
    talk_end(&talk);
}

/* S9. */
static void test_log(void **state) {
    struct talk talk;
    (void)state;
    open_at(&talk, "2025-11-25");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
    ping(&talk, 2);
    talk_ask(&talk, 3, "logging/setLevel", "\"level\":\"loud\"");
    assert_has(talk_hear(&talk), "\"id\":3,\"error\":{\"code\":-32602");
    talk_ask(&talk, 4, "logging/setLevel", "\"level\":\"warning\"");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
    dx_mcp_work_log(kept, DX_MCP_NOTICE, dx_str(NULL), JSON("1"));
    dx_mcp_server_log(talk.server, DX_MCP_NOTICE, dx_str(NULL), JSON("2"));
    dx_mcp_work_log(kept, DX_MCP_WARNING, TEXT("l"), JSON("{\"a\":1}"));
    dx_mcp_server_log(talk.server, DX_MCP_ERROR, dx_str(NULL), JSON("\"x\""));
    dx_mcp_server_log(talk.server, DX_MCP_NO_LEVEL, dx_str(NULL), JSON("3"));
    dx_mcp_server_log(talk.server, DX_MCP_ERROR, dx_str(NULL), JSON("{"));
    dx_mcp_work_done(kept);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                       "\"level\":\"warning\",\"logger\":\"l\",\"data\":{\"a\":1}}}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                       "\"level\":\"error\",\"data\":\"x\"}}");
    assert_has(talk_hear(&talk), "\"id\":1,\"result\"");
    talk_end(&talk);
}

/* M7. */
static void test_log_modern(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/call", "\"name\":\"keep\"", "");
    while (!kept)
        talk_turn(&talk, 10);
    dx_mcp_work_log(kept, DX_MCP_EMERGENCY, dx_str(NULL), JSON("1"));
    dx_mcp_server_log(talk.server, DX_MCP_EMERGENCY, dx_str(NULL), JSON("1"));
    dx_mcp_work_done(kept);
    assert_has(talk_hear(&talk), "\"id\":1,\"result\"");
    kept = NULL;
    talk_ask(&talk, 2, "tools/call",
             "\"name\":\"keep\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
             "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{},"
             "\"io.modelcontextprotocol/logLevel\":\"error\"}");
    while (!kept)
        talk_turn(&talk, 10);
    dx_mcp_work_log(kept, DX_MCP_WARNING, dx_str(NULL), JSON("1"));
    dx_mcp_work_log(kept, DX_MCP_ERROR, dx_str(NULL), JSON("2"));
    dx_mcp_work_done(kept);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                       "\"level\":\"error\",\"data\":2}}");
    assert_has(talk_hear(&talk), "\"id\":2,\"result\"");
    talk_end(&talk);
}

/* A duplicate id under way is refused, and the first one is answered (S17). */
static void test_duplicate(void **state) {
    struct talk talk;
    (void)state;
    open_at(&talk, "2025-11-25");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
    talk_ask(&talk, 1, "ping", "");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32600");
    dx_mcp_work_done(kept);
    assert_has(talk_hear(&talk), "\"id\":1,\"result\"");
    talk_end(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),     cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_misfits),   cmocka_unit_test(test_contents),
        cmocka_unit_test(test_cancel),    cmocka_unit_test(test_progress),
        cmocka_unit_test(test_log),       cmocka_unit_test(test_log_modern),
        cmocka_unit_test(test_duplicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
