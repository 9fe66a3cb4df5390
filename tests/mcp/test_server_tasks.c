/* Tasks of 2025-11-25. */
#include "mcp/server_talk.h"

static dx_mcp_work *kept;
static int cancels;

static void on_cancel(dx_mcp_work *work, void *user) {
    (void)user;
    cancels++;
    dx_mcp_work_done(work);
    kept = NULL;
}

static void keep(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    (void)arguments;
    kept = work;
    dx_mcp_work_keep(work);
    dx_mcp_work_on_cancel(work, on_cancel, NULL);
}

static void at_once(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)arguments;
    (void)user;
    dx_mcp_work_text(work, TEXT("t"));
    dx_mcp_work_done(work);
}

static void on_reply(dx_mcp_work *work, yyjson_val *value, int64_t code, dx_text error,
                     void *user) {
    (void)user;
    (void)code;
    (void)error;
    dx_mcp_work_text(work, value ? TEXT("answered") : TEXT("not answered"));
    dx_mcp_work_done(work);
}

static void ask(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    (void)user;
    (void)arguments;
    dx_mcp_work_ask(work, "k", "roots/list", dx_json_none(), on_reply, NULL);
}

static void begin(struct talk *talk) {
    static const dx_mcp_tool tools[] = {
        {.name = "may", .task = DX_MCP_TASK_MAY, .call = keep},
        {.name = "must", .task = DX_MCP_TASK_MUST, .call = at_once},
        {.name = "never", .call = at_once},
        {.name = "ask",
         .task = DX_MCP_TASK_MAY,
         .input = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"}}}",
         .call = ask},
    };
    dx_mcp_server_config config = dx_mcp_server_defaults("s", "1");
    config.tasks_max = 3;
    config.task_ms = 300;
    config.page = 2;
    kept = NULL;
    cancels = 0;
    talk_new(talk, config);
    for (size_t i = 0; i < LENGTH(tools); i++)
        assert_int_equal(dx_mcp_server_add_tool(talk->server, &tools[i], NULL), DX_OK);
}

static void start(struct talk *talk, int id, const char *tool, const char *ttl, char *ret_task) {
    char params[200];
    (void)snprintf(params, sizeof params, "\"name\":\"%s\",\"task\":{%s}", tool, ttl);
    talk_ask(talk, id, "tools/call", params);
    const char *line = talk_hear(talk);
    const char *at = strstr(line, "{\"task\":{\"taskId\":\"");
    assert_non_null(at);
    (void)snprintf(ret_task, 64, "\"taskId\":\"%.32s\"", at + 19);
    assert_has(line, "\"status\":\"working\",\"createdAt\":\"20");
}

static void test_states(void **state) {
    struct talk talk;
    char task[64];
    char related[128];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    start(&talk, 1, "may", "", task);
    (void)snprintf(related, sizeof related,
                   "\"_meta\":{\"io.modelcontextprotocol/related-task\":{%s}}", task);
    talk_ask(&talk, 2, "tasks/get", task);
    const char *line = talk_hear(&talk);
    assert_has(line, "\"id\":2,\"result\":{\"taskId\"");
    assert_has(line, "\"status\":\"working\"");
    assert_has(line, "\"ttl\":300,\"pollInterval\":");
    talk_ask(&talk, 3, "tasks/result", task);
    talk_ask(&talk, 4, "tasks/result", task);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                    "\"requestId\":3}}");
    talk_silence(&talk, 30);
    /* The request that began it is answered: cancelling that does nothing. */
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                    "\"requestId\":1}}");
    talk_ask(&talk, 5, "ping", "");
    talk_hear(&talk);
    assert_non_null(kept);
    dx_mcp_work_text(kept, TEXT("done"));
    dx_mcp_work_done(kept);
    line = talk_hear(&talk);
    assert_has(line, "\"method\":\"notifications/tasks/status\",\"params\":{\"taskId\"");
    assert_has(line, "\"status\":\"completed\"");
    line = talk_hear(&talk);
    assert_has(line, "\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}],");
    assert_has(line, related);
    talk_ask(&talk, 6, "tasks/result", task);
    assert_has(talk_hear(&talk), related);
    talk_ask(&talk, 7, "tasks/cancel", task);
    assert_has(talk_hear(&talk), "\"id\":7,\"error\":{\"code\":-32602");
    talk_ask(&talk, 8, "tasks/get", "\"taskId\":\"nix\"");
    assert_has(talk_hear(&talk), "\"id\":8,\"error\":{\"code\":-32602");
    talk_end(&talk);
}

static void test_support(void **state) {
    struct talk talk;
    char task[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"must\"");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32601");
    talk_ask(&talk, 2, "tools/call", "\"name\":\"never\",\"task\":{}");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32601");
    start(&talk, 3, "must", "\"ttl\":50", task);
    assert_has(talk_hear(&talk), "\"status\":\"completed\"");
    talk_ask(&talk, 4, "tasks/result", task);
    assert_has(talk_hear(&talk), "\"text\":\"t\"");
    /* Arguments that do not fit make no task. */
    talk_ask(&talk, 5, "tools/call", "\"name\":\"ask\",\"arguments\":{\"a\":\"\"},\"task\":{}");
    assert_has(talk_hear(&talk), "\"isError\":true");
    /* After its time it is forgotten. */
    talk_silence(&talk, 80);
    talk_ask(&talk, 6, "tasks/get", task);
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32602");
    talk_leave(&talk);
    /* Where there are no tasks, a tool that must be one is called as it is. */
    talk_open(&talk, "2025-06-18", "{}");
    talk_ask(&talk, 1, "tools/call", "\"name\":\"must\",\"task\":{}");
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\","
                       "\"text\":\"t\"}]}}");
    talk_ask(&talk, 2, "tasks/list", "");
    assert_has(talk_hear(&talk), "-32601");
    talk_end(&talk);
}

static void test_failed(void **state) {
    struct talk talk;
    char task[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    start(&talk, 1, "may", "", task);
    dx_mcp_work_fail(kept, TEXT("broken"));
    assert_has(talk_hear(&talk), "\"status\":\"failed\"");
    talk_ask(&talk, 2, "tasks/result", task);
    assert_has(talk_hear(&talk), "\"isError\":true,\"_meta\"");
    start(&talk, 3, "may", "", task);
    dx_mcp_work_refuse(kept, -32042, TEXT("go"), JSON("[1]"));
    assert_has(talk_hear(&talk), "\"status\":\"failed\"");
    talk_ask(&talk, 4, "tasks/result", task);
    talk_expect(&talk, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32042,\"message\":"
                       "\"go\",\"data\":[1]}}");
    start(&talk, 5, "may", "", task);
    dx_mcp_work_reply(kept, JSON("{\"content\":5}"));
    assert_has(talk_hear(&talk), "\"status\":\"failed\"");
    talk_ask(&talk, 6, "tasks/result", task);
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32603");
    talk_end(&talk);
}

static void test_cancel(void **state) {
    struct talk talk;
    char task[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    start(&talk, 1, "may", "", task);
    talk_ask(&talk, 2, "tasks/result", task);
    talk_ask(&talk, 3, "tasks/cancel", task);
    assert_has(talk_hear(&talk), "notifications/tasks/status");
    assert_has(talk_hear(&talk), "\"id\":2,\"error\":{\"code\":-32602");
    const char *line = talk_hear(&talk);
    assert_has(line, "\"id\":3,\"result\":{\"taskId\"");
    assert_has(line, "\"status\":\"cancelled\"");
    talk_silence(&talk, 30);
    assert_int_equal(cancels, 1);
    talk_end(&talk);
}

static void test_list(void **state) {
    struct talk talk;
    char tasks[3][64];
    char cursor[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    for (int i = 0; i < 3; i++) {
        start(&talk, i, "must", "", tasks[i]);
        talk_hear(&talk);
    }
    talk_ask(&talk, 4, "tools/call", "\"name\":\"must\",\"task\":{}");
    assert_has(talk_hear(&talk), "\"error\":{\"code\":-32000");
    talk_ask(&talk, 5, "tasks/list", "");
    const char *line = talk_hear(&talk);
    assert_has(line, tasks[0]);
    assert_has(line, tasks[1]);
    assert_has_not(line, tasks[2]);
    const char *at = strstr(line, "\"nextCursor\":");
    assert_non_null(at);
    (void)snprintf(cursor, sizeof cursor, "\"cursor\":%.*s", (int)strcspn(at + 13, "}"), at + 13);
    talk_ask(&talk, 6, "tasks/list", cursor);
    line = talk_hear(&talk);
    assert_has(line, tasks[2]);
    assert_has_not(line, "nextCursor");
    talk_ask(&talk, 7, "tasks/list", "\"cursor\":\"x\"");
    assert_has(talk_hear(&talk), "-32602");
    talk_silence(&talk, 330);
    talk_ask(&talk, 8, "tasks/list", "");
    assert_has(talk_hear(&talk), "{\"tasks\":[]}");
    talk_end(&talk);
}

/* What a task says and asks carries its name. */
static void test_ask(void **state) {
    struct talk talk;
    char task[64];
    char line[600];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{\"roots\":{}}");
    talk_ask(&talk, 1, "tools/call",
             "\"name\":\"may\",\"task\":{},\"_meta\":{\"progressToken\":\"p\"}");
    talk_hear(&talk);
    dx_mcp_work_progress(kept, 1, 2, dx_str(NULL));
    const char *heard = talk_hear(&talk);
    assert_has(heard, "\"progressToken\":\"p\"");
    assert_has(heard, "io.modelcontextprotocol/related-task");
    dx_mcp_work_done(kept);
    talk_hear(&talk);
    start(&talk, 2, "ask", "", task);
    heard = talk_hear(&talk);
    assert_has(heard, "\"method\":\"roots/list\"");
    assert_has(heard, "io.modelcontextprotocol/related-task");
    assert_has(heard, task);
    const char *id = strstr(heard, "\"id\":");
    (void)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",%.*s,\"result\":{\"roots\":[]}}",
                   (int)strcspn(id, ","), id);
    assert_has(talk_hear(&talk), "\"status\":\"input_required\"");
    talk_say(&talk, line);
    assert_has(talk_hear(&talk), "\"status\":\"working\"");
    assert_has(talk_hear(&talk), "\"status\":\"completed\"");
    talk_ask(&talk, 3, "tasks/result", task);
    assert_has(talk_hear(&talk), "\"text\":\"answered\"");
    talk_end(&talk);
}

static void test_leave(void **state) {
    struct talk talk;
    char task[64];
    (void)state;
    begin(&talk);
    talk_open(&talk, "2025-11-25", "{}");
    start(&talk, 1, "may", "", task);
    talk_ask(&talk, 2, "tasks/result", task);
    talk_turn(&talk, 0);
    talk_leave(&talk);
    assert_int_equal(cancels, 1);
    talk_end(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states), cmocka_unit_test(test_support),
        cmocka_unit_test(test_failed), cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_list),   cmocka_unit_test(test_ask),
        cmocka_unit_test(test_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
