/* What the server asks and tells. */
#include "mcp/client_script.h"

static void begin(script *s) {
    dx_mcp_client_config config = script_config(s);
    config.roots = 1;
    config.on_sampling = script_sampling;
    config.on_elicitation = script_elicitation;
    script_begin(s, &config);
}

static void ask(script *s, int id, const char *method, const char *params) {
    char line[2048];
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}",
             id, method, params);
    script_say(s, line);
}

static void tell(script *s, const char *method, const char *params) {
    char line[2048];
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}", method,
             params);
    script_say(s, line);
}

/* The next message is the answer to that request. */
static yyjson_doc *answer_to(script *s, int id) {
    yyjson_doc *doc = script_hear(s, "(none)");
    assert_int_equal(yyjson_get_int(at(doc, "/id")), id);
    return doc;
}

static void refused(script *s, int id, int code) {
    yyjson_doc *doc = answer_to(s, id);
    assert_int_equal(yyjson_get_int(at(doc, "/error/code")), code);
    yyjson_doc_free(doc);
}

#define SAMPLING "{\"messages\":[],\"maxTokens\":5}"
#define SAID \
    "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"hi\"},\"model\":\"m\"}"
#define FORM                                                                                   \
    "{\"message\":\"who\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"name\":{" \
    "\"type\":\"string\"},\"age\":{\"type\":\"integer\",\"minimum\":3,\"default\":30},"        \
    "\"mail\":{\"type\":\"string\",\"format\":\"email\"}},\"required\":[\"name\"]}}"

static void test_ping_and_unknown(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    ask(&s, 0, "ping", "{}");
    yyjson_doc *doc = answer_to(&s, 0);
    assert_true(yyjson_is_obj(at(doc, "/result")));
    yyjson_doc_free(doc);
    ask(&s, 1, "no/such", "{}"); /* R16 */
    refused(&s, 1, DX_CODE_METHOD);
    ask(&s, 2, "tools/list", "{}");
    refused(&s, 2, DX_CODE_METHOD);
    tell(&s, "notifications/nothing", "{}");
    script_silence(&s, 30);
    assert_int_equal(s.closed, 0);
    script_end(&s);
}

static void test_R17_roots(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("file:///a"), dx_str("A")), DX_OK);
    script_skip(&s, "notifications/roots/list_changed");
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("file:///b"), dx_str(NULL)), DX_OK);
    script_skip(&s, "notifications/roots/list_changed");
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("http://b"), dx_str(NULL)),
                     DX_ERR_INVALID);
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("file:///\xff"), dx_str(NULL)),
                     DX_ERR_INVALID);
    ask(&s, 7, "roots/list", "{}");
    yyjson_doc *doc = answer_to(&s, 7);
    assert_int_equal(yyjson_arr_size(at(doc, "/result/roots")), 2);
    assert_string_equal(text_at(doc, "/result/roots/0/uri"), "file:///a");
    assert_string_equal(text_at(doc, "/result/roots/0/name"), "A");
    assert_null(at(doc, "/result/roots/1/name"));
    yyjson_doc_free(doc);
    assert_int_equal(dx_mcp_client_remove_root(s.client, dx_str("file:///a")), DX_OK);
    script_skip(&s, "notifications/roots/list_changed");
    assert_int_equal(dx_mcp_client_remove_root(s.client, dx_str("file:///a")), DX_GONE);
    dx_mcp_client_clear_roots(s.client);
    script_skip(&s, "notifications/roots/list_changed");
    dx_mcp_client_clear_roots(s.client);
    script_silence(&s, 20);
    ask(&s, 8, "roots/list", "{}");
    doc = answer_to(&s, 8);
    assert_int_equal(yyjson_arr_size(at(doc, "/result/roots")), 0);
    yyjson_doc_free(doc);
    script_end(&s);
}

static void test_R17_roots_before_ready(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.roots = 1;
    script_open(&s, &config);
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("file:///a"), dx_str("A")), DX_OK);
    script_greet(&s, "2025-11-25", "{}");
    script_silence(&s, 20);
    script_end(&s);
}

static void test_nothing_is_offered(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    script_begin(&s, &config);
    assert_int_equal(dx_mcp_client_add_root(s.client, dx_str("file:///a"), dx_str("A")),
                     DX_ERR_INVALID);
    ask(&s, 1, "roots/list", "{}");
    refused(&s, 1, DX_CODE_METHOD);
    ask(&s, 2, "sampling/createMessage", SAMPLING); /* R18 */
    refused(&s, 2, DX_CODE_METHOD);
    ask(&s, 3, "elicitation/create", FORM);
    refused(&s, 3, DX_CODE_METHOD);
    ask(&s, 4, "tasks/list", "{}");
    refused(&s, 4, DX_CODE_METHOD);
    script_end(&s);
}

static void test_R18_sampling(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    ask(&s, 1, "sampling/createMessage",
        "{\"messages\":[],\"maxTokens\":5,\"_meta\":{\"progressToken\":\"t\"}}");
    script_until(&s, &s.asked, 1);
    assert_int_equal(s.is_sampling, 1);
    assert_non_null(strstr(s.params, "maxTokens"));
    dx_mcp_progress progress = {.progress = 1, .has_total = 1, .total = 2, .message = dx_str("m")};
    assert_int_equal(dx_mcp_question_progress(s.question, &progress), DX_OK);
    yyjson_doc *doc = script_hear(&s, "notifications/progress");
    assert_string_equal(text_at(doc, "/params/progressToken"), "t");
    assert_string_equal(text_at(doc, "/params/message"), "m");
    yyjson_doc_free(doc);
    assert_int_equal(dx_mcp_question_answer(s.question, json("{\"role\":\"assistant\"}")),
                     DX_MISFIT);
    assert_true(strlen(dx_mcp_client_why(s.client)) > 0);
    script_silence(&s, 20);
    assert_int_equal(dx_mcp_question_answer(s.question, json(SAID)), DX_OK);
    doc = answer_to(&s, 1);
    assert_string_equal(text_at(doc, "/result/content/text"), "hi");
    yyjson_doc_free(doc);

    ask(&s, 2, "sampling/createMessage", SAMPLING);
    script_until(&s, &s.asked, 2);
    assert_int_equal(dx_mcp_question_progress(s.question, &progress), DX_OK); /* no token */
    assert_int_equal(dx_mcp_question_refuse(s.question, -1, dx_str("no")), DX_OK);
    doc = answer_to(&s, 2);
    assert_int_equal(yyjson_get_int(at(doc, "/error/code")), -1);
    assert_string_equal(text_at(doc, "/error/message"), "no");
    yyjson_doc_free(doc);
    ask(&s, 3, "sampling/createMessage",
        "{\"messages\":[],\"maxTokens\":5,\"tools\":[]}"); /* not offered */
    refused(&s, 3, DX_CODE_PARAMS);
    ask(&s, 4, "sampling/createMessage", "{\"messages\":[]}");
    refused(&s, 4, DX_CODE_PARAMS);
    assert_int_equal(s.gone, 0);
    script_end(&s);
}

static void test_elicitation(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    ask(&s, 1, "elicitation/create", FORM);
    script_until(&s, &s.asked, 1);
    assert_int_equal(s.is_sampling, 0);
    static const char *const bad[] = {
        "{\"action\":\"accept\"}", /* the name is missing */
        "{\"action\":\"accept\",\"content\":{\"name\":1}}",
        "{\"action\":\"accept\",\"content\":{\"name\":\"A\",\"age\":2}}",
        "{\"action\":\"accept\",\"content\":{\"name\":\"A\",\"mail\":\"x\"}}",
        "{\"action\":\"accept\",\"content\":3}",
        "{\"action\":\"maybe\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(dx_mcp_question_answer(s.question, json(bad[i])), DX_MISFIT);
        assert_true(strlen(dx_mcp_client_why(s.client)) > 0);
    }
    assert_int_equal(dx_mcp_question_answer(s.question, json("{oops")), DX_ERR_INVALID);
    assert_int_equal(dx_mcp_question_answer(
                         s.question, json("{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}")),
                     DX_OK);
    yyjson_doc *doc = answer_to(&s, 1);
    assert_string_equal(text_at(doc, "/result/action"), "accept");
    assert_string_equal(text_at(doc, "/result/content/name"), "A");
    assert_int_equal(yyjson_get_int(at(doc, "/result/content/age")), 30);
    assert_null(at(doc, "/result/content/mail"));
    yyjson_doc_free(doc);
    ask(&s, 2, "elicitation/create", FORM);
    script_until(&s, &s.asked, 2);
    assert_int_equal(dx_mcp_question_answer(s.question, json("{\"action\":\"decline\"}")), DX_OK);
    doc = answer_to(&s, 2);
    assert_string_equal(text_at(doc, "/result/action"), "decline");
    assert_null(at(doc, "/result/content"));
    yyjson_doc_free(doc);
    ask(&s, 3, "elicitation/create",
        "{\"mode\":\"url\",\"message\":\"m\",\"elicitationId\":\"e\",\"url\":\"http://x/\"}");
    refused(&s, 3, DX_CODE_PARAMS);
    tell(&s, "notifications/elicitation/complete", "{\"elicitationId\":\"e\"}");
    script_until(&s, &s.elicited, 1);
    assert_string_equal(s.text, "e");
    script_end(&s);
}

static void test_a_form_of_too_many_fields(void **state) {
    (void)state;
    static char line[100000];
    for (int count = 1000; count <= 1001; count++) {
        script s = {0};
        begin(&s);
        size_t len =
            (size_t)snprintf(line, sizeof line,
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/"
                             "create\",\"params\":{\"message\":"
                             "\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{");
        for (int i = 0; i < count; i++)
            len += (size_t)snprintf(line + len, sizeof line - len,
                                    "%s\"f%d\":{\"type\":\"boolean\",\"default\":true}",
                                    i ? "," : "", i);
        snprintf(line + len, sizeof line - len, "}}}}");
        script_say(&s, line);
        if (count == 1000) {
            script_until(&s, &s.asked, 1);
            assert_int_equal(dx_mcp_question_answer(s.question, json("{\"action\":\"accept\"}")),
                             DX_OK);
            yyjson_doc *doc = answer_to(&s, 1);
            assert_int_equal(yyjson_obj_size(at(doc, "/result/content")), 1000);
            yyjson_doc_free(doc);
        } else {
            refused(&s, 1, DX_CODE_PARAMS);
            assert_int_equal(s.asked, 0);
        }
        script_end(&s);
    }
}

static void test_elicitation_by_url(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.on_elicitation = script_elicitation;
    config.elicitation_url = 1;
    script_begin(&s, &config);
    ask(&s, 3, "elicitation/create",
        "{\"mode\":\"url\",\"message\":\"m\",\"elicitationId\":\"e\",\"url\":\"http://x/\"}");
    script_until(&s, &s.asked, 1);
    assert_int_equal(dx_mcp_question_answer(s.question, json("{\"action\":\"accept\"}")), DX_OK);
    yyjson_doc *doc = answer_to(&s, 3);
    assert_null(at(doc, "/result/content"));
    yyjson_doc_free(doc);
    script_end(&s);
}

static void test_a_question_is_cancelled(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    ask(&s, 1, "sampling/createMessage", SAMPLING);
    ask(&s, 2, "sampling/createMessage", SAMPLING);
    script_until(&s, &s.asked, 2);
    tell(&s, "notifications/cancelled", "{\"requestId\":2}");
    script_until(&s, &s.gone, 1);
    assert_null(s.question);
    script_silence(&s, 30); /* which is not answered */
    dx_mcp_client_close(s.client);
    assert_int_equal(s.gone, 2);
    script_until(&s, &s.closed, 1);
    script_end(&s);
}

static void answer_at_once(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                           void *user) {
    script *s = user;
    (void)client;
    (void)params;
    s->asked++;
    assert_int_equal(dx_mcp_question_answer(question, json(SAID)), DX_OK);
}

static void free_at_once(dx_mcp_client *client, dx_mcp_question *question, yyjson_val *params,
                         void *user) {
    script *s = user;
    (void)question;
    (void)params;
    s->asked++;
    s->client = dx_mcp_client_free(client);
}

static void test_answered_at_once(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.on_sampling = answer_at_once;
    script_begin(&s, &config);
    ask(&s, 1, "sampling/createMessage", SAMPLING);
    yyjson_doc *doc = answer_to(&s, 1);
    assert_non_null(at(doc, "/result/model"));
    yyjson_doc_free(doc);
    script_end(&s);
}

static void test_freed_in_a_question(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.on_sampling = free_at_once;
    script_begin(&s, &config);
    ask(&s, 1, "sampling/createMessage", SAMPLING);
    ask(&s, 2, "sampling/createMessage", SAMPLING);
    script_until(&s, &s.asked, 1);
    script_for(&s, 20);
    assert_int_equal(s.asked, 1);
    assert_int_equal(s.gone, 0);
    script_end(&s);
}

static void test_R19_log(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    for (int level = DX_MCP_DEBUG; level <= DX_MCP_EMERGENCY; level++) {
        char params[200];
        snprintf(params, sizeof params, "{\"level\":\"%s\",\"data\":\"d\"%s}",
                 dx_mcp_level_name((dx_mcp_level)level), level % 2 ? ",\"logger\":\"l\"" : "");
        tell(&s, "notifications/message", params);
        script_until(&s, &s.logs, level);
        assert_int_equal(s.level, level);
        assert_string_equal(s.text, level % 2 ? "l" : "(none)");
        assert_string_equal(s.body, "d");
    }
    tell(&s, "notifications/message", "{\"level\":\"loud\",\"data\":1}");
    script_until(&s, &s.violations, 1);
    assert_int_equal(s.logs, 8);
    script_end(&s);
}

static void test_changes(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    tell(&s, "notifications/tools/list_changed", "{}");
    script_until(&s, &s.changed, 1);
    assert_int_equal(s.kind, DX_MCP_TOOLS);
    tell(&s, "notifications/resources/list_changed", "{}");
    script_until(&s, &s.changed, 2);
    assert_int_equal(s.kind, DX_MCP_RESOURCES);
    tell(&s, "notifications/prompts/list_changed", "{}");
    script_until(&s, &s.changed, 3);
    assert_int_equal(s.kind, DX_MCP_PROMPTS);
    tell(&s, "notifications/resources/updated", "{\"uri\":\"file:///x\"}");
    script_until(&s, &s.updated, 1);
    assert_string_equal(s.text, "file:///x");
    script_say(&s, "Listening on port 1");
    script_until(&s, &s.violations, 1);
    script_end(&s);
}

/* Tasks that the server gives us. */

static void give_task(script *s, int id, char *task, size_t room) {
    ask(s, id, "sampling/createMessage",
        "{\"messages\":[],\"maxTokens\":5,\"task\":{\"ttl\":60000}}");
    yyjson_doc *doc = answer_to(s, id);
    assert_string_equal(text_at(doc, "/result/task/status"), "working");
    assert_int_equal(yyjson_get_int(at(doc, "/result/task/ttl")), 60000);
    snprintf(task, room, "%s", text_at(doc, "/result/task/taskId"));
    yyjson_doc_free(doc);
}

static void ask_task(script *s, int id, const char *method, const char *task) {
    char params[100];
    snprintf(params, sizeof params, "{\"taskId\":\"%s\"}", task);
    ask(s, id, method, params);
}

static void test_a_task_of_the_server(void **state) {
    (void)state;
    script s = {0};
    char task[64];
    begin(&s);
    give_task(&s, 1, task, sizeof task);
    script_until(&s, &s.asked, 1);
    ask_task(&s, 2, "tasks/get", task);
    yyjson_doc *doc = answer_to(&s, 2);
    assert_string_equal(text_at(doc, "/result/status"), "working");
    yyjson_doc_free(doc);
    ask_task(&s, 3, "tasks/result", task);
    script_silence(&s, 30);
    assert_int_equal(dx_mcp_question_answer(s.question, json(SAID)), DX_OK);
    doc = script_hear(&s, "notifications/tasks/status");
    assert_string_equal(text_at(doc, "/params/status"), "completed");
    assert_string_equal(text_at(doc, "/params/taskId"), task);
    yyjson_doc_free(doc);
    doc = answer_to(&s, 3);
    assert_string_equal(text_at(doc, "/result/content/text"), "hi");
    assert_string_equal(text_at(doc, "/result/_meta/io.modelcontextprotocol~1related-task/taskId"),
                        task);
    yyjson_doc_free(doc);
    ask_task(&s, 4, "tasks/result", task);
    doc = answer_to(&s, 4);
    assert_string_equal(text_at(doc, "/result/model"), "m");
    yyjson_doc_free(doc);
    ask_task(&s, 5, "tasks/cancel", task);
    refused(&s, 5, DX_CODE_PARAMS); /* it has ended */
    ask(&s, 6, "tasks/list", "{}");
    doc = answer_to(&s, 6);
    assert_int_equal(yyjson_arr_size(at(doc, "/result/tasks")), 1);
    assert_string_equal(text_at(doc, "/result/tasks/0/status"), "completed");
    yyjson_doc_free(doc);
    ask_task(&s, 7, "tasks/get", "other");
    refused(&s, 7, DX_CODE_PARAMS);
    script_end(&s);
}

static void test_a_task_is_cancelled_or_refused(void **state) {
    (void)state;
    script s = {0};
    char task[64];
    begin(&s);
    give_task(&s, 1, task, sizeof task);
    script_until(&s, &s.asked, 1);
    ask_task(&s, 2, "tasks/result", task);
    ask_task(&s, 3, "tasks/cancel", task);
    script_skip(&s, "notifications/tasks/status");
    refused(&s, 2, DX_CODE_PARAMS);
    yyjson_doc *doc = answer_to(&s, 3);
    assert_string_equal(text_at(doc, "/result/status"), "cancelled");
    yyjson_doc_free(doc);
    script_until(&s, &s.gone, 1);
    give_task(&s, 4, task, sizeof task);
    script_until(&s, &s.asked, 2);
    assert_int_equal(dx_mcp_question_refuse(s.question, -7, dx_str("no")), DX_OK);
    script_skip(&s, "notifications/tasks/status");
    ask_task(&s, 5, "tasks/get", task);
    doc = answer_to(&s, 5);
    assert_string_equal(text_at(doc, "/result/status"), "failed");
    yyjson_doc_free(doc);
    ask_task(&s, 6, "tasks/result", task);
    refused(&s, 6, -7);
    /* One that is waited for when the client ends. */
    give_task(&s, 8, task, sizeof task);
    ask_task(&s, 9, "tasks/result", task);
    script_for(&s, 20);
    script_end(&s);
}

static void test_a_task_is_forgotten(void **state) {
    (void)state;
    script s = {0};
    begin(&s);
    ask(&s, 1, "sampling/createMessage", "{\"messages\":[],\"maxTokens\":5,\"task\":{\"ttl\":40}}");
    yyjson_doc *doc = answer_to(&s, 1);
    char task[64];
    snprintf(task, sizeof task, "%s", text_at(doc, "/result/task/taskId"));
    yyjson_doc_free(doc);
    script_until(&s, &s.gone, 1);
    ask_task(&s, 2, "tasks/get", task);
    refused(&s, 2, DX_CODE_PARAMS);
    script_end(&s);
}

static void test_too_many_tasks(void **state) {
    (void)state;
    enum { MAX = 1000 };
    script s = {0};
    char task[64];
    begin(&s);
    for (int i = 0; i < MAX; i++)
        give_task(&s, i, task, sizeof task);
    script_until(&s, &s.asked, MAX);
    ask(&s, MAX, "sampling/createMessage", "{\"messages\":[],\"maxTokens\":5,\"task\":{}}");
    refused(&s, MAX, DX_CODE_BUSY);
    assert_int_equal(s.asked, MAX);
    /* One that has ended makes room. */
    assert_int_equal(dx_mcp_question_answer(s.question, json(SAID)), DX_OK);
    script_skip(&s, "notifications/tasks/status");
    ask(&s, MAX, "sampling/createMessage", "{\"messages\":[],\"maxTokens\":5,\"task\":{}}");
    yyjson_doc *doc = answer_to(&s, MAX);
    assert_int_equal(yyjson_get_int(at(doc, "/result/task/ttl")), 3600000);
    yyjson_doc_free(doc);
    ask_task(&s, 1, "tasks/get", task);
    refused(&s, 1, DX_CODE_PARAMS);
    script_end(&s);
}

static void test_tasks_are_not_offered(void **state) {
    (void)state;
    script s = {0};
    dx_mcp_client_config config = script_config(&s);
    config.on_sampling = script_sampling;
    config.no_tasks = 1;
    script_begin(&s, &config);
    ask(&s, 1, "sampling/createMessage", "{\"messages\":[],\"maxTokens\":5,\"task\":{}}");
    script_until(&s, &s.asked, 1);
    script_silence(&s, 20); /* it is asked like any other */
    assert_int_equal(dx_mcp_question_answer(s.question, json(SAID)), DX_OK);
    yyjson_doc_free(answer_to(&s, 1));
    ask(&s, 2, "tasks/list", "{}");
    refused(&s, 2, DX_CODE_METHOD);
    script_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ping_and_unknown),
        cmocka_unit_test(test_R17_roots),
        cmocka_unit_test(test_R17_roots_before_ready),
        cmocka_unit_test(test_nothing_is_offered),
        cmocka_unit_test(test_R18_sampling),
        cmocka_unit_test(test_elicitation),
        cmocka_unit_test(test_a_form_of_too_many_fields),
        cmocka_unit_test(test_elicitation_by_url),
        cmocka_unit_test(test_a_question_is_cancelled),
        cmocka_unit_test(test_answered_at_once),
        cmocka_unit_test(test_freed_in_a_question),
        cmocka_unit_test(test_R19_log),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_a_task_of_the_server),
        cmocka_unit_test(test_a_task_is_cancelled_or_refused),
        cmocka_unit_test(test_a_task_is_forgotten),
        cmocka_unit_test(test_too_many_tasks),
        cmocka_unit_test(test_tasks_are_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
