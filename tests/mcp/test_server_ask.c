/* Questions to the client: as requests in the legacy era, as rounds of input in the modern one. */
#include "mcp/server_talk.h"

static const char form[] =
    "{\"message\":\"who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"n\":{"
    "\"type\":\"string\"}}}}";

static int replies;
static int cancels;
static dx_mcp_work *kept;

static void say(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error) {
    char text[600];
    char *json = value ? yyjson_val_write(value, 0, NULL) : NULL;
    replies++;
    (void)snprintf(text, sizeof text, "%s %lld %.*s", json ? json : "none", (long long)code,
                   (int)error.len, error.at ? error.at : "");
    free(json);
    dx_mcp_work_text(work, dx_str(text));
}

static void on_reply(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                     void *user) {
    assert_string_equal(user, "u");
    say(work, value, code, error);
    dx_mcp_work_done(work);
}

static char u[] = "u";

static void on_cancel(dx_mcp_work *work, void *user) {
    (void)user;
    assert_true(dx_mcp_work_is_cancelled(work));
    cancels++;
}

static void ask(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    const char *method = yyjson_get_str(yyjson_obj_get(arguments, "method"));
    yyjson_val *params = yyjson_obj_get(arguments, "params");
    (void)user;
    kept = work;
    dx_mcp_work_on_cancel(work, on_cancel, NULL);
    dx_mcp_work_ask(work, "k", method, dx_json_value(params), on_reply, u);
}

static void on_reply_fail(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                          void *user) {
    (void)user;
    if (value)
        on_reply(work, value, code, error, u);
    else
        dx_mcp_work_fail(work, error);
}

static void ask_fail(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_mcp_work_ask(work, "k", yyjson_get_str(yyjson_obj_get(arguments, "method")), JSON("{}"),
                    yyjson_obj_get(arguments, "none") ? NULL : on_reply_fail, NULL);
}

static void on_second(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                      void *user) {
    on_reply(work, value, code, error, user);
}

static void on_first(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                     void *user) {
    say(work, value, code, error);
    dx_text state = dx_mcp_work_state(work);
    dx_mcp_work_text(work, state.at ? state : dx_str("no state"));
    dx_mcp_work_set_state(work, dx_str("was at \"two\""));
    dx_mcp_work_ask(work, "two", "roots/list", dx_json_none(), on_second, user);
}

static void two(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_ask(work, "one", "elicitation/create", JSON(form), on_first, u);
}

static void at_once(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_put(work, "one", "elicitation/create", JSON(form));
    dx_mcp_work_put(work, "two", "roots/list", dx_json_none());
    dx_mcp_work_ask(work, "one", "elicitation/create", JSON(form), on_first, u);
}

static void keep(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    kept = work;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, NULL);
}

static void may(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    static const char *const methods[] = {"sampling/createMessage", "roots/list",
                                          "elicitation/create", "elicitation/create url", "other"};
    (void)arguments;
    (void)user;
    for (size_t i = 0; i < LENGTH(methods); i++)
        dx_mcp_work_text(work, dx_mcp_work_may_ask(work, methods[i]) ? TEXT("1") : TEXT("0"));
    dx_mcp_work_done(work);
}

static void begin(struct talk *talk) {
    static const dx_mcp_tool tools[] = {
        {.name = "ask", .call = ask}, {.name = "askfail", .call = ask_fail},
        {.name = "two", .call = two}, {.name = "atonce", .call = at_once},
        {.name = "may", .call = may}, {.name = "keep", .call = keep},
    };
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.ask_ms = 100;
    config.state_ms = 200;
    replies = cancels = 0;
    kept = NULL;
    talk_new(talk, config);
    for (size_t i = 0; i < LENGTH(tools); i++)
        assert_int_equal(dx_mcp_server_add_tool(talk->server, &tools[i], NULL), DX_OK);
}

/* The id of a request of the server, with its quotes. */
static void id_of(const char *line, char *to) {
    const char *at = strstr(line, "\"id\":");
    assert_non_null(at);
    (void)snprintf(to, 64, "%.*s", (int)strcspn(at + 5, ",}"), at + 5);
}

static void answer(struct talk *talk, const char *id, const char *rest) {
    char line[600];
    (void)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, rest);
    talk_say(talk, line);
}

static void test_legacy(void **state) {
    struct talk talk;
    char id[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{\"roots\":{},\"elicitation\":{}}");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}");
    const char *line = talk_hear(&talk);
    assert_has(line, "\"method\":\"roots/list\"}");
    id_of(line, id);
    talk_ask(&talk, 2, "ping", "");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    answer(&talk, id, "\"result\":{\"roots\":[]}");
    assert_has(talk_hear(&talk), "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
                                 "\"{\\\"roots\\\":[]} 0 \"}]}");
    talk_ask(&talk, 3, "tools/call", "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}");
    id_of(talk_hear(&talk), id);
    answer(&talk, id, "\"error\":{\"code\":-5,\"message\":\"never\"}");
    assert_has(talk_hear(&talk), "\"text\":\"none -5 never\"");
    /* A result that does not fit is none. */
    talk_ask(&talk, 4, "tools/call", "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}");
    id_of(talk_hear(&talk), id);
    answer(&talk, id, "\"result\":{}");
    assert_has(talk_hear(&talk), "\"text\":\"none 0 roots/list: /result: missing");
    /* S16: nobody waits for a client that does not answer, and it ends in time. */
    talk_ask(&talk, 5, "tools/call", "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}");
    talk_hear(&talk);
    talk_ask(&talk, 6, "tools/call", "\"name\":\"may\"");
    assert_has(talk_hear(&talk), "\"id\":6,\"result\"");
    assert_has(talk_hear(&talk), "notifications/cancelled");
    assert_has(talk_hear(&talk), "\"text\":\"none 0 ");
    /* What the client lacks, and params that do not fit. */
    talk_ask(&talk, 7, "tools/call",
             "\"name\":\"ask\",\"arguments\":{\"method\":\"sampling/createMessage\"}");
    assert_has(talk_hear(&talk), "none 0 the client does not support");
    talk_ask(&talk, 8, "tools/call",
             "\"name\":\"ask\",\"arguments\":{\"method\":\"elicitation/create\",\"params\":{}}");
    assert_has(talk_hear(&talk), "none 0 ");
    talk_ask(&talk, 9, "tools/call",
             "\"name\":\"askfail\",\"arguments\":{\"method\":\"sampling/createMessage\"}");
    assert_has(talk_hear(&talk), "\"isError\":true");
    assert_int_equal(cancels, 0);
    talk_end(&talk);
}

static void test_may_ask(void **state) {
    static const struct {
        const char *revision;
        const char *capabilities;
        const char *may;
    } rows[] = {
        {"2024-11-05", "{\"roots\":{},\"sampling\":{},\"elicitation\":{\"url\":{}}}", "11000"},
        {"2025-06-18", "{\"elicitation\":{}}", "00100"},
        {"2025-11-25", "{\"elicitation\":{}}", "00100"},
        {"2025-11-25", "{\"elicitation\":{\"url\":{}}}", "00010"},
        {"2025-11-25", "{\"elicitation\":{\"url\":{},\"form\":{}}}", "00110"},
        {"2025-11-25", "{}", "00000"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk talk;
        begin(&talk);
        talk_open(&talk, rows[i].revision, rows[i].capabilities);
        talk_ask(&talk, 1, "tools/call", "\"name\":\"may\"");
        const char *line = talk_hear(&talk);
        for (size_t j = 0; j < 5; j++) {
            line = strstr(line, "\"text\":\"");
            assert_non_null(line);
            line += 8;
            assert_int_equal(*line, rows[i].may[j]);
        }
        talk_end(&talk);
    }
}

/* A question of a request that is cancelled, or whose client leaves, ends too. */
static void test_cancelled(void **state) {
    struct talk talk;
    char id[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{\"roots\":{}}");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}");
    id_of(talk_hear(&talk), id);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                    "\"requestId\":1}}");
    const char *line = talk_hear(&talk);
    assert_has(line, "notifications/cancelled");
    assert_has(line, id);
    talk_silence(&talk, 30);
    assert_int_equal(cancels, 1);
    assert_int_equal(replies, 1);
    talk_ask(&talk, 2, "tools/call", "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}");
    talk_hear(&talk);
    /* Ended by its owner while the question is open: the client is told that it may stop. */
    dx_mcp_work_done(kept);
    assert_has(talk_hear(&talk), "notifications/cancelled");
    assert_has(talk_hear(&talk), "\"id\":2,\"result\"");
    assert_int_equal(replies, 1);
    talk_ask(&talk, 3, "tools/call", "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}");
    talk_hear(&talk);
    talk_leave(&talk);
    assert_int_equal(replies, 2);
    talk_end(&talk);
}

/* Who asks when the client is gone is told so; who ends the work first is not. */
static void test_ask_late(void **state) {
    struct talk talk;
    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        begin(&talk);
        talk_open(&talk, "2025-11-25", "{\"roots\":{}}");
        talk_ask(&talk, 1, "tools/call", "\"name\":\"keep\"");
        while (!kept)
            talk_turn(&talk, 10);
        talk_leave(&talk);
        assert_int_equal(cancels, 1);
        dx_mcp_work_ask(kept, "k", "roots/list", dx_json_none(), on_reply, u);
        if (ends)
            dx_mcp_work_done(kept);
        talk_turn(&talk, 0);
        assert_int_equal(replies, !ends);
        talk_end(&talk);
    }
}

/* The requestState of a line, and the request that is repeated with it. */
static void again(struct talk *talk, int id, const char *line, const char *request,
                  const char *responses) {
    char params[4000];
    const char *at = strstr(line, "\"requestState\":\"");
    assert_non_null(at);
    (void)snprintf(params, sizeof params, "%s,%.*s\",\"inputResponses\":{%s}", request,
                   (int)strcspn(at + 16, "\"") + 16, at, responses);
    talk_modern(talk, id, "tools/call", params, "\"roots\":{},\"elicitation\":{}");
}

/* M5, from the server's side: two rounds, and what was answered in the first is not lost. */
static void test_rounds(void **state) {
    struct talk talk;
    char line[3000];
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/call", "\"name\":\"two\"", "\"roots\":{},\"elicitation\":{}");
    (void)snprintf(line, sizeof line, "%s", talk_hear(&talk));
    assert_has(line,
               "\"id\":1,\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{"
               "\"one\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"who?\",");
    /* Another session may go on: what is needed is in the state. Unknown keys do no harm. */
    talk_leave(&talk);
    talk_connect(&talk);
    again(&talk, 2, line, "\"name\":\"two\"",
          "\"one\":{\"action\":\"accept\",\"content\":{\"n\":\"x\"}},\"x\":{\"roots\":[]}");
    (void)snprintf(line, sizeof line, "%s", talk_hear(&talk));
    assert_has(line, "\"inputRequests\":{\"two\":{\"method\":\"roots/list\"}}");
    again(&talk, 3, line, "\"name\":\"two\"", "\"two\":{\"roots\":[]}");
    assert_has(talk_hear(&talk),
               "\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"action\\\":"
               "\\\"accept\\\",\\\"content\\\":{\\\"n\\\":\\\"x\\\"}} 0 \"},{\"type\":\"text\","
               "\"text\":\"was at \\\"two\\\"\"},{\"type\":\"text\",\"text\":\"{\\\"roots\\\":[]} "
               "0 \"}],\"resultType\":\"complete\"");
    talk_end(&talk);
}

/* An answer to another question than was asked is none; the question comes again. */
static void test_wrong_answer(void **state) {
    struct talk talk;
    char line[3000];
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/call", "\"name\":\"two\"", "\"roots\":{},\"elicitation\":{}");
    (void)snprintf(line, sizeof line, "%s", talk_hear(&talk));
    again(&talk, 2, line, "\"name\":\"two\"", "\"one\":{\"roots\":[]}");
    (void)snprintf(line, sizeof line, "%s", talk_hear(&talk));
    assert_has(line, "\"inputRequests\":{\"one\":{");
    again(&talk, 3, line, "\"name\":\"two\"", "\"one\":{\"action\":\"decline\"}");
    assert_has(talk_hear(&talk), "\"inputRequests\":{\"two\":{");
    talk_end(&talk);
}

static void test_put(void **state) {
    struct talk talk;
    char line[3000];
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/call", "\"name\":\"atonce\"", "\"roots\":{},\"elicitation\":{}");
    (void)snprintf(line, sizeof line, "%s", talk_hear(&talk));
    assert_has(line, "\"inputRequests\":{\"one\":{\"method\":\"elicitation/create\"");
    assert_has(line, "\"two\":{\"method\":\"roots/list\"}}");
    again(&talk, 2, line, "\"name\":\"atonce\"",
          "\"one\":{\"action\":\"decline\"},\"two\":{\"roots\":[]}");
    assert_has(talk_hear(&talk), "\"id\":2,\"result\":{\"content\"");
    talk_end(&talk);
}

/* A state that was changed, is of another request, or too old, is refused. */
static void test_state(void **state) {
    struct talk talk;
    char line[3000];
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/call", "\"name\":\"two\"", "\"roots\":{},\"elicitation\":{}");
    (void)snprintf(line, sizeof line, "%s", talk_hear(&talk));
    again(&talk, 2, line, "\"name\":\"atonce\"", "\"one\":{\"action\":\"decline\"}");
    assert_has(talk_hear(&talk), "\"id\":2,\"error\":{\"code\":-32602");
    again(&talk, 3, line, "\"name\":\"two\",\"arguments\":{\"a\":1}",
          "\"one\":{\"action\":\"decline\"}");
    assert_has(talk_hear(&talk), "\"id\":3,\"error\":{\"code\":-32602");
    char *at = strstr(line, "\"requestState\":\"") + 40;
    *at = *at == 'A' ? 'B' : 'A';
    again(&talk, 4, line, "\"name\":\"two\"", "\"one\":{\"action\":\"decline\"}");
    assert_has(talk_hear(&talk), "\"id\":4,\"error\":{\"code\":-32602");
    talk_modern(&talk, 5, "tools/call", "\"name\":\"two\"", "\"roots\":{},\"elicitation\":{}");
    (void)snprintf(line, sizeof line, "%s", talk_hear(&talk));
    talk_silence(&talk, 250);
    again(&talk, 6, line, "\"name\":\"two\"", "\"one\":{\"action\":\"decline\"}");
    assert_has(talk_hear(&talk), "\"id\":6,\"error\":{\"code\":-32602");
    assert_int_equal(replies, 0);
    talk_end(&talk);
}

/* Modern: what the client lacks is named, unless the handler knows a way without it. */
static void test_lacks(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "tools/call",
                "\"name\":\"askfail\",\"arguments\":{\"method\":\"sampling/createMessage\"}", "");
    assert_has(talk_hear(&talk), "\"id\":1,\"error\":{\"code\":-32021");
    talk_modern(&talk, 2, "tools/call",
                "\"name\":\"askfail\",\"arguments\":{\"method\":\"sampling/createMessage\","
                "\"none\":1}",
                "");
    assert_has(talk_hear(&talk), "\"data\":{\"requiredCapabilities\":{\"sampling\":{}}}");
    talk_modern(&talk, 3, "tools/call",
                "\"name\":\"ask\",\"arguments\":{\"method\":\"sampling/createMessage\"}", "");
    assert_has(talk_hear(&talk), "none 0 the client does not support");
    /* The work of a run that could not go on is told, and not answered. */
    talk_modern(&talk, 4, "tools/call",
                "\"name\":\"ask\",\"arguments\":{\"method\":\"roots/list\"}", "\"roots\":{}");
    assert_has(talk_hear(&talk), "input_required");
    assert_int_equal(cancels, 1);
    assert_int_equal(replies, 1);
    talk_end(&talk);
}

static int roots_seen;

static void on_roots(dx_mcp_session *session, yyjson_val *roots, void *user) {
    (void)session;
    assert_string_equal(user, "u");
    roots_seen = roots ? (int)yyjson_arr_size(roots) : -1;
}

static void test_session_roots(void **state) {
    struct talk talk;
    char id[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{\"roots\":{}}");
    assert_int_equal(dx_mcp_session_roots(talk.session, on_roots, u), DX_OK);
    id_of(talk_hear(&talk), id);
    answer(&talk, id, "\"result\":{\"roots\":[{\"uri\":\"file:///a\"}]}");
    talk_ask(&talk, 1, "ping", "");
    talk_hear(&talk);
    assert_int_equal(roots_seen, 1);
    assert_int_equal(dx_mcp_session_roots(talk.session, on_roots, u), DX_OK);
    talk_hear(&talk);
    talk_leave(&talk);
    assert_int_equal(roots_seen, -1);
    talk_open(&talk, "2025-11-25", "{}");
    assert_int_equal(dx_mcp_session_roots(talk.session, on_roots, u), DX_MISFIT);
    dx_mcp_session_elicited(talk.session, TEXT("e1"));
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/elicitation/complete\","
                       "\"params\":{\"elicitationId\":\"e1\"}}");
    talk_end(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),        cmocka_unit_test(test_may_ask),
        cmocka_unit_test(test_cancelled),     cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_wrong_answer),  cmocka_unit_test(test_put),
        cmocka_unit_test(test_state),         cmocka_unit_test(test_lacks),
        cmocka_unit_test(test_session_roots), cmocka_unit_test(test_ask_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
