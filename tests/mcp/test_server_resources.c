/* Resources, prompts, completion, and who is told of changes. */
#include "mcp/server_talk.h"

static char plain[] = "plain";
static char one[] = "one";
static char two[] = "two";
static char dyn[] = "dyn";

static void read_text(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    char text[200];
    if (variables) {
        char *json = yyjson_val_write(variables, 0, NULL);
        (void)snprintf(text, sizeof text, "%s %.*s %s", (char *)user, (int)uri.len, uri.at, json);
        free(json);
    } else {
        (void)snprintf(text, sizeof text, "%s %.*s", (char *)user, (int)uri.len, uri.at);
    }
    dx_mcp_work_text(work, dx_str(text));
    dx_mcp_work_done(work);
}

static void read_bytes(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    (void)uri;
    (void)variables;
    (void)user;
    dx_mcp_work_bytes(work, TEXT("\0\xff"), NULL);
    dx_mcp_work_bytes(work, TEXT("abc"), "x/y");
    dx_mcp_work_content(work, JSON("{\"uri\":\"a:c\",\"text\":\"\"}"));
    dx_mcp_work_done(work);
}

static void read_other(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    assert_null(variables);
    if (dx_text_is(uri, "dyn:1"))
        read_text(work, uri, NULL, user);
    else if (dx_text_is(uri, "dyn:fail"))
        dx_mcp_work_fail(work, TEXT("disk on fire"));
    else
        dx_mcp_work_no_resource(work, uri);
}

static void complete(dx_mcp_work *work, dx_text argument, dx_text value, yyjson_val *context,
                     void *user) {
    char text[32];
    (void)user;
    yyjson_val *other = yyjson_obj_get(context, "other");
    assert_true(dx_text_is(argument, "x"));
    if (other)
        dx_mcp_work_value(work, dx_str(yyjson_get_str(other)));
    for (int i = 0; i < atoi(value.at); i++) {
        (void)snprintf(text, sizeof text, "v%d", i);
        dx_mcp_work_value(work, dx_str(text));
    }
    dx_mcp_work_done(work);
}

static void get(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    dx_mcp_work_description(work, TEXT("what it is"));
    dx_mcp_work_text(work, dx_str(yyjson_get_str(yyjson_obj_get(arguments, "x"))));
    dx_mcp_work_message(work, "assistant", JSON("{\"type\":\"text\",\"text\":\"yes\"}"));
    dx_mcp_work_bytes(work, TEXT("a"), "image/png");
    dx_mcp_work_done(work);
}

static void get_none(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    assert_int_equal(yyjson_obj_size(arguments), 0);
    assert_true(yyjson_is_obj(arguments));
    dx_mcp_work_fail(work, TEXT("no"));
}

static char watch_log[200];

static void on_subscribe(dx_mcp_server *server, dx_text uri, int on, void *user) {
    char line[64];
    (void)server;
    (void)user;
    (void)snprintf(line, sizeof line, "%c%.*s ", on ? '+' : '-', (int)uri.len, uri.at);
    strcat(watch_log, line);
}

static void begin(struct talk *talk) {
    static const dx_mcp_resource simple = {
        .uri = "a:b", .name = "n", .mime = "text/plain", .read = read_text, .user = plain};
    static const dx_mcp_resource bytes = {
        .uri = "a:c", .name = "n", .mime = "image/png", .read = read_bytes};
    static const dx_mcp_resource templates[] = {
        {.uri = "t://{x}/data", .name = "n", .read = read_text, .complete = complete, .user = one},
        {.uri = "t://{+x}", .name = "n", .read = read_text, .user = two},
    };
    static const dx_mcp_prompt prompts[] = {
        {.name = "p",
         .arguments = "[{\"name\":\"x\",\"required\":true},{\"name\":\"y\"}]",
         .get = get,
         .complete = complete},
        {.name = "q", .get = get_none},
    };
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.subscribe = 1;
    config.on_subscribe = on_subscribe;
    talk_new(talk, config);
    watch_log[0] = '\0';
    assert_int_equal(dx_mcp_server_add_resource(talk->server, &simple, NULL), DX_OK);
    assert_int_equal(dx_mcp_server_add_resource(talk->server, &bytes, NULL), DX_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dx_mcp_server_add_template(talk->server, &templates[i], NULL), DX_OK);
        assert_int_equal(dx_mcp_server_add_prompt(talk->server, &prompts[i], NULL), DX_OK);
    }
    dx_mcp_server_on_resources(talk->server, NULL, read_other, dyn);
}

/* S11 and the ways to a resource. */
static void test_read(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "resources/read", "\"uri\":\"a:b\"");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"contents\":[{\"uri\":\"a:b\","
                       "\"mimeType\":\"text/plain\",\"text\":\"plain a:b\"}]}}");
    talk_ask(&talk, 2, "resources/read", "\"uri\":\"a:c\"");
    talk_expect(&talk,
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"contents\":[{\"uri\":\"a:c\","
                "\"mimeType\":\"image/png\",\"blob\":\"AP8=\"},{\"uri\":\"a:c\","
                "\"mimeType\":\"x/y\",\"blob\":\"YWJj\"},{\"uri\":\"a:c\",\"text\":\"\"}]}}");
    talk_ask(&talk, 3, "resources/read", "\"uri\":\"t://4%205/data\"");
    assert_has(talk_hear(&talk), "\"text\":\"one t://4%205/data {\\\"x\\\":\\\"4 5\\\"}\"");
    talk_ask(&talk, 4, "resources/read", "\"uri\":\"t://4/5/data\"");
    assert_has(talk_hear(&talk), "\"text\":\"two t://4/5/data {\\\"x\\\":\\\"4/5/data\\\"}\"");
    talk_ask(&talk, 5, "resources/read", "\"uri\":\"dyn:1\"");
    assert_has(talk_hear(&talk), "{\"uri\":\"dyn:1\",\"text\":\"dyn dyn:1\"}");
    talk_ask(&talk, 6, "resources/read", "\"uri\":\"dyn:2\"");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":6,\"error\":{\"code\":-32002,\"message\":"
                       "\"Resource not found\",\"data\":{\"uri\":\"dyn:2\"}}}");
    talk_ask(&talk, 7, "resources/read", "\"uri\":\"dyn:fail\"");
    assert_has(talk_hear(&talk), "{\"code\":-32603,\"message\":\"disk on fire\"}");
    talk_leave(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 8, "resources/read", "\"uri\":\"dyn:2\"", "");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":8,\"error\":{\"code\":-32602,\"message\":"
                       "\"Resource not found\",\"data\":{\"uri\":\"dyn:2\"}}}");
    talk_modern(&talk, 9, "resources/read", "\"uri\":\"a:b\"", "");
    assert_has(talk_hear(&talk), "\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":");
    talk_end(&talk);
}

static void test_prompts(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "prompts/get", "\"name\":\"p\",\"arguments\":{\"x\":\"hi\"}");
    talk_expect(&talk,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"description\":\"what it is\","
                "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}},"
                "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"yes\"}},"
                "{\"role\":\"user\",\"content\":{\"type\":\"image\",\"data\":\"YQ==\","
                "\"mimeType\":\"image/png\"}}]}}");
    talk_ask(&talk, 2, "prompts/get", "\"name\":\"p\",\"arguments\":{\"y\":\"hi\"}");
    assert_has(talk_hear(&talk), "{\"code\":-32602,\"message\":\"Missing argument: x\"}");
    talk_ask(&talk, 3, "prompts/get", "\"name\":\"p\"");
    assert_has(talk_hear(&talk), "-32602");
    talk_ask(&talk, 4, "prompts/get", "\"name\":\"r\"");
    assert_has(talk_hear(&talk), "{\"code\":-32602,\"message\":\"Unknown prompt: r\"}");
    talk_ask(&talk, 5, "prompts/get", "\"name\":\"q\"");
    assert_has(talk_hear(&talk), "{\"code\":-32603,\"message\":\"no\"}");
    talk_end(&talk);
}

/* S14. */
static void test_complete(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "completion/complete",
             "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"x\","
             "\"value\":\"2\"},\"context\":{\"arguments\":{\"other\":\"o\"}}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"completion\":{\"values\":["
                       "\"o\",\"v0\",\"v1\"],\"total\":3,\"hasMore\":false}}}");
    for (int n = 99; n <= 101; n++) {
        char params[200];
        char expected[64];
        (void)snprintf(params, sizeof params,
                       "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"t://{x}/data\"},"
                       "\"argument\":{\"name\":\"x\",\"value\":\"%d\"}",
                       n);
        talk_ask(&talk, n, "completion/complete", params);
        (void)snprintf(expected, sizeof expected, "\"v%d\"],\"total\":%d,\"hasMore\":%s}",
                       n < 100 ? n - 1 : 99, n, n > 100 ? "true" : "false");
        assert_has(talk_hear(&talk), expected);
    }
    talk_ask(&talk, 2, "completion/complete",
             "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"q\"},\"argument\":{\"name\":\"x\","
             "\"value\":\"2\"}");
    assert_has(talk_hear(&talk), "{\"values\":[],\"total\":0,\"hasMore\":false}");
    talk_ask(&talk, 3, "completion/complete",
             "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"z\"},\"argument\":{\"name\":\"x\","
             "\"value\":\"2\"}");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32602");
    talk_ask(&talk, 4, "completion/complete",
             "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"t://\"},\"argument\":{\"name\":\"x\","
             "\"value\":\"2\"}");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32602");
    talk_end(&talk);
}

/* S12. */
static void test_subscribe(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    dx_mcp_server_updated(talk.server, TEXT("a:b"));
    talk_ask(&talk, 1, "resources/subscribe", "\"uri\":\"a:b\"");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    talk_ask(&talk, 2, "resources/subscribe", "\"uri\":\"a:b\"");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    assert_string_equal(watch_log, "+a:b ");
    dx_mcp_server_updated(talk.server, TEXT("a:b"));
    dx_mcp_server_updated(talk.server, TEXT("a:c"));
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                       "\"params\":{\"uri\":\"a:b\"}}");
    talk_ask(&talk, 3, "resources/unsubscribe", "\"uri\":\"a:c\"");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
    talk_ask(&talk, 4, "resources/unsubscribe", "\"uri\":\"a:b\"");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
    dx_mcp_server_updated(talk.server, TEXT("a:b"));
    talk_silence(&talk, 30);
    assert_string_equal(watch_log, "+a:b -a:b ");
    talk_ask(&talk, 5, "resources/subscribe", "\"uri\":\"a:c\"");
    talk_hear(&talk);
    talk_leave(&talk);
    assert_string_equal(watch_log, "+a:b -a:b +a:c -a:c ");
    talk_end(&talk);
}

static void test_subscribe_limit(void **state) {
    struct talk talk;
    char params[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    for (int i = 0; i < 10001; i++) {
        (void)snprintf(params, sizeof params, "\"uri\":\"u:%d\"", i);
        watch_log[0] = '\0';
        talk_ask(&talk, i, "resources/subscribe", params);
        assert_has(talk_hear(&talk), i < 10000 ? "\"result\":{}" : "\"code\":-32000");
    }
    talk_ask(&talk, 1, "resources/unsubscribe", "\"uri\":\"u:1\"");
    talk_hear(&talk);
    talk_ask(&talk, 1, "resources/subscribe", params);
    assert_has(talk_hear(&talk), "\"result\":{}");
    close(talk.fd);
    talk.fd = -1;
    watch_log[0] = '\0';
    dx_mcp_server_free(talk.server);
    talk.server = NULL;
    talk_end(&talk);
}

static void test_no_subscribe(void **state) {
    struct talk talk;
    (void)state;
    talk_new(&talk, dx_mcp_server_defaults("s", "1"));
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "resources/subscribe", "\"uri\":\"a:b\"");
    assert_has(talk_hear(&talk), "-32601");
    talk_ask(&talk, 2, "resources/unsubscribe", "\"uri\":\"a:b\"");
    assert_has(talk_hear(&talk), "-32601");
    talk_end(&talk);
}

/* M6. */
static void test_listen(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    talk_modern(&talk, 1, "subscriptions/listen",
                "\"notifications\":{\"promptsListChanged\":true,\"toolsListChanged\":false,"
                "\"resourceSubscriptions\":[\"a:b\",\"a:c\"]}",
                "");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
                       "acknowledged\",\"params\":{\"notifications\":{\"promptsListChanged\":true,"
                       "\"resourceSubscriptions\":[\"a:b\",\"a:c\"]},\"_meta\":{"
                       "\"io.modelcontextprotocol/subscriptionId\":1}}}");
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":\"l:2\",\"method\":\"subscriptions/listen\","
                    "\"params\":{\"notifications\":{\"resourceSubscriptions\":[\"a:b\"]}," TALK_META
                    "}}}}");
    assert_has(talk_hear(&talk), "\"io.modelcontextprotocol/subscriptionId\":\"l:2\"");
    assert_string_equal(watch_log, "+a:b +a:c ");
    dx_mcp_server_updated(talk.server, TEXT("a:b"));
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                       "\"params\":{\"uri\":\"a:b\",\"_meta\":{"
                       "\"io.modelcontextprotocol/subscriptionId\":\"l:2\"}}}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                       "\"params\":{\"uri\":\"a:b\",\"_meta\":{"
                       "\"io.modelcontextprotocol/subscriptionId\":1}}}");
    assert_int_equal(dx_mcp_server_remove(talk.server, DX_MCP_PROMPTS, TEXT("q")), DX_OK);
    assert_int_equal(dx_mcp_server_remove(talk.server, DX_MCP_TEMPLATES, TEXT("t://{+x}")), DX_OK);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\","
                       "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}");
    talk_silence(&talk, 30);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                    "\"requestId\":1}}");
    talk_modern(&talk, 3, "tools/list", "", "");
    assert_has(talk_hear(&talk), "\"id\":3");
    assert_string_equal(watch_log, "+a:b +a:c -a:c ");
    dx_mcp_server_updated(talk.server, TEXT("a:c"));
    dx_mcp_server_updated(talk.server, TEXT("a:b"));
    assert_has(talk_hear(&talk), "\"l:2\"");
    dx_mcp_session_close(talk.session);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":\"l:2\",\"result\":{\"resultType\":"
                       "\"complete\",\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":"
                       "\"l:2\"}}}");
    assert_null(talk_wait(&talk, 1000));
    assert_string_equal(watch_log, "+a:b +a:c -a:c -a:b ");
    talk_end(&talk);
}

static void test_listen_limit(void **state) {
    struct talk talk;
    (void)state;
    begin(&talk);
    talk_connect(&talk);
    for (int i = 0; i < 1025; i++) {
        talk_modern(&talk, i, "subscriptions/listen", "\"notifications\":{}", "");
        assert_has(talk_hear(&talk), i < 1024 ? "acknowledged" : "\"code\":-32000");
    }
    talk_leave(&talk);
    talk_end(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_prompts),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_subscribe),
        cmocka_unit_test(test_subscribe_limit),
        cmocka_unit_test(test_no_subscribe),
        cmocka_unit_test(test_listen),
        cmocka_unit_test(test_listen_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
