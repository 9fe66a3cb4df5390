/* The two versions of which there are recordings: the same scenes, the same order, the same
 * members. */
#include "autohand/core_talk.h"

static void begin(struct talk *talk, dx_autohand_compat compat) {
    talk_init(talk);
    talk->config.compat = compat;
    talk_put(talk, "hello.txt", "hello\n");
}

static void prompt(struct talk *talk, int id, const char *text) {
    char params[200];
    (void)snprintf(params, sizeof params, "{\"message\":\"%s\"}", text);
    talk_call(talk, id, "prompt", params);
}

static void allow(struct talk *talk, int id) {
    char params[200];
    char *request = talk_member(talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",\"allowed\":true}", request);
    talk_call(talk, id, "permissionResponse", params);
    free(request);
}

static void test_0_6(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk, DX_AUTOHAND_0_6);
    talk_says(&talk, "All |done.");
    talk_calls(&talk, "write_file", "{\"path\":\"new.txt\",\"contents\":\"created\\n\"}");
    talk_says(&talk, "All done.");
    talk_calls(&talk, "delete_path", "{\"path\":\"hello.txt\"}");
    talk_says(&talk, "All done.");
    struct talk_step *step = talk_next_step(&talk);
    step->error = "llama.cpp API error: 429 Too Many Requests";
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1, "Just say hi");
    talk_expect(&talk, "=1",
                "agentStart turnStart messageStart changesBatchStart messageUpdate changesBatchEnd "
                "messageEnd turnEnd =1 ");
    prompt(&talk, 2, "WRITE");
    talk_until(&talk, "toolStart");
    talk_has(&talk, "/params/args",
             "{\"type\":\"write_file\",\"path\":\"new.txt\",\"contents\":\"created\\n\","
             "\"content\":\"created\\n\"}");
    talk_expect(&talk, "permissionRequest", "permissionRequest ");
    talk_has(&talk, "/params/description", "Create new file new.txt?");
    talk_has(&talk, "/params/context", "{\"path\":\"new.txt\"}");
    allow(&talk, 3);
    talk_until(&talk, "changesBatchUpdate");
    assert_string_equal(talk.shape, "=3 changesBatchUpdate ");
    talk_has(&talk, "/params/change/toolId", "");
    talk_expect(&talk, "=2", "toolEnd messageUpdate changesBatchEnd messageEnd turnEnd =2 ");
    prompt(&talk, 4, "DELETE");
    talk_until(&talk, "permissionRequest");
    talk_has(&talk, "/params/description", "Delete this path?\n  hello.txt");
    allow(&talk, 5);
    talk_expect(&talk, "permissionRequest", "=5 toolStart permissionRequest ");
    talk_has(&talk, "/params/description", "Delete hello.txt?");
    allow(&talk, 6);
    talk_expect(&talk, "=4",
                "=6 changesBatchUpdate toolEnd messageUpdate changesBatchEnd messageEnd turnEnd "
                "=4 ");
    prompt(&talk, 7, "FAIL");
    talk_until(&talk, "error");
    talk_has(&talk, "/params/code", "-32000");
    talk_has(&talk, "/params/recoverable", "true");
    assert_string_equal(talk.shape,
                        "turnStart messageStart changesBatchStart changesBatchEnd error ");
    talk_expect(&talk, "=7", "messageEnd turnEnd =7 ");
    talk_has(&talk, "/result/success", "false");
    prompt(&talk, 8, "/help");
    talk_expect(&talk, "=8", "turnStart messageStart messageUpdate messageEnd turnEnd =8 ");
    talk_call(&talk, 9, "reset", NULL);
    talk_until(&talk, "agentStart");
    char *percent = talk_member(&talk, "/params/contextPercent");
    assert_null(percent);
    talk_until(&talk, "=9");
    talk_end(&talk);
    assert_null(talk_wait(&talk, TALK_QUIET_MS));
    talk_done(&talk);
}

static void test_0_8(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk, DX_AUTOHAND_0_8);
    struct talk_step *step = talk_next_step(&talk);
    step->calls[0] = step->calls[2] = "write_file";
    step->calls[1] = "{\"path\":\"a.txt\",\"contents\":\"A\\n\"}";
    step->calls[3] = "{\"path\":\"hello.txt\",\"contents\":\"changed\\n\"}";
    step->calls[4] = "read_file";
    step->calls[5] = "{\"path\":\"hello.txt\"}";
    talk_says(&talk, "All done.");
    talk_calls(&talk, "run_command", "{\"command\":\"echo\",\"args\":[\"hi\"]}");
    talk_says(&talk, "All done.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1, "MULTI");
    talk_until(&talk, "toolEnd");
    assert_string_equal(talk.shape, "agentStart turnStart messageStart changesBatchStart toolStart "
                                    "toolStart toolStart permissionRequest toolEnd ");
    talk_has(&talk, "/params/output", "hello\n");
    talk_expect(&talk, "toolEnd", "changesBatchUpdate toolEnd ");
    talk_quiet(&talk);
    talk_call(&talk, 2, "getState", NULL);
    talk_until(&talk, "=2");
    talk_has(&talk, "/result/status", "waiting_permission");
    talk_call(&talk, 3, "permissionResponse", "{\"requestId\":\"perm_x\",\"allowed\":true}");
    talk_until(&talk, "=3");
    talk_has(&talk, "/result/success", "false");
    talk_call(&talk, 4, "abort", NULL);
    talk_expect(&talk, "=1", "messageEnd turnEnd =4 changesBatchEnd =1 ");
    talk.step = 2;
    prompt(&talk, 5, "RUN");
    talk_expect(&talk, "=5",
                "turnStart messageStart changesBatchStart messageUpdate changesBatchEnd hook.stop "
                "messageEnd turnEnd =5 ");
    assert_non_null(
        strstr(talk.question, "Tool 'run_command' is not available in the current context"));
    prompt(&talk, 6, "/nosuch");
    talk_expect(&talk, "=6",
                "turnStart messageStart messageUpdate hook.stop messageEnd turnEnd =6 ");
    talk_end(&talk);
    talk_until(&talk, "agentEnd");
    talk_has(&talk, "/params/reason", "disconnected");
    talk_done(&talk);
}

static void test_answer_in_0_8(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk, DX_AUTOHAND_0_8);
    talk_calls(&talk, "write_file", "{\"path\":\"a.txt\",\"contents\":\"A\\n\"}");
    talk_says(&talk, "All done.");
    struct talk_step *step = talk_next_step(&talk);
    step->text = "Never.";
    step->hangs = true;
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1, "WRITE");
    talk_until(&talk, "permissionRequest");
    allow(&talk, 2);
    talk_expect(&talk, "=1",
                "=2 changesBatchUpdate toolEnd messageUpdate changesBatchEnd hook.stop messageEnd "
                "turnEnd =1 ");
    prompt(&talk, 3, "SLOW");
    talk_until(&talk, "changesBatchStart");
    talk_quiet(&talk);
    prompt(&talk, 4, "busy");
    talk_until(&talk, "=4!-32603");
    talk_call(&talk, 5, "abort", NULL);
    talk_until(&talk, "messageEnd");
    talk_has(&talk, "/params/content", "");
    talk_expect(&talk, "=3", "turnEnd =5 =3 ");
    talk_has(&talk, "/result/success", "true");
    talk_done(&talk);
}

#define INVALID                                                                              \
    ",\"error\":{\"code\":-32600,\"message\":\"Invalid request: Missing jsonrpc version or " \
    "method\"}}"
#define NO_BATCH ",\"error\":{\"code\":-32600,\"message\":\"Invalid batch: No valid requests\"}}"
#define FALSE ",\"result\":{\"success\":false}}"

/* Ids and errors as the recordings have them. */
static void test_odd_requests(void **state) {
    (void)state;
    static const struct {
        const char *line;
        const char *doc;
        const char *old;
    } rows[] = {
        {"[]", "null" INVALID, NULL},
        {"42", "null" INVALID, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":10}", "10" INVALID, "null" INVALID},
        {"{\"jsonrpc\":\"1.0\",\"method\":\"autohand.abort\",\"id\":9}", "9" INVALID,
         "null" INVALID},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort\",\"id\":1.5}", "1.5" FALSE, NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort\",\"id\":\"s\"}", "\"s\"" FALSE, NULL},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort\",\"id\":null}", "null" INVALID,
         "null" FALSE},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort\",\"id\":{\"a\":1}}", "null" INVALID,
         "{\"a\":1}" FALSE},
        {"  {\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort\",\"id\":7}\r", "7" FALSE, NULL},
        {"[1,2]", NULL, "null" NO_BATCH},
    };
    for (int compat = 0; compat < 3; compat++) {
        struct talk talk;
        begin(&talk, (dx_autohand_compat)compat);
        talk_open(&talk, DX_FRAMING_LINE);
        talk_until(&talk, "agentStart");
        for (size_t i = 0; i < LENGTH(rows); i++) {
            talk_say(&talk, rows[i].line);
            char *line = talk_wait(&talk, TALK_PATIENCE_MS);
            const char *wanted = compat && rows[i].old ? rows[i].old : rows[i].doc;
            assert_non_null(line);
            if (wanted)
                assert_string_equal(line + strlen("{\"jsonrpc\":\"2.0\",\"id\":"), wanted);
        }
        talk_done(&talk);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_0_6),
        cmocka_unit_test(test_0_8),
        cmocka_unit_test(test_answer_in_0_8),
        cmocka_unit_test(test_odd_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
