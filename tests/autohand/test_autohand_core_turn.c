/* Turns from their beginning to their end: what is said, in which order, in each compat. */
#include "autohand/core_talk.h"

#define TURN_START "turnStart messageStart changesBatchStart hook.prePrompt "
#define TURN_END "changesBatchEnd hook.postResponse messageEnd turnEnd "

static void test_plain_turn(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_says(&talk, "All |done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_until(&talk, "agentStart");
    talk_has(&talk, "/params/model", "fake-model");
    talk_has(&talk, "/params/workspace", talk.folder);
    talk_call(&talk, 1, "getState", NULL);
    talk_until(&talk, "=1");
    talk_has(&talk, "/result/status", "idle");
    talk_has(&talk, "/result/messageCount", "1");
    char *before = talk_member(&talk, "/result/contextPercent");
    talk_call(&talk, 2, "prompt", "{\"message\":\"Just say hi\"}");
    talk_until(&talk, "turnStart");
    talk_has(&talk, "/params/instruction", "Just say hi");
    talk_expect(
        &talk, "=2",
        "messageStart changesBatchStart hook.prePrompt messageUpdate messageUpdate " TURN_END
        "=2 ");
    talk_has(&talk, "/result/success", "true");
    talk_call(&talk, 3, "getState", NULL);
    talk_until(&talk, "=3");
    talk_has(&talk, "/result/messageCount", "3");
    char *after = talk_member(&talk, "/result/contextPercent");
    assert_true(atoi(after) < atoi(before));
    free(before);
    free(after);
    talk_end(&talk);
    talk_expect(&talk, "agentEnd", "agentEnd ");
    talk_has(&talk, "/params/reason", "aborted");
    assert_int_equal(talk.code, 0);
    talk_done(&talk);
}

static void test_deltas_are_content(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    struct talk_step *step = talk_next_step(&talk);
    step->text = "First. |";
    step->calls[0] = "read_file";
    step->calls[1] = "{\"path\":\"hello.txt\"}";
    talk_says(&talk, "Second.");
    talk_put(&talk, "hello.txt", "hello\n");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"READ\"}");
    talk_until(&talk, "toolEnd");
    assert_string_equal(talk.shape, "agentStart " TURN_START
                                    "messageUpdate hook.preTool toolStart hook.postTool toolEnd ");
    talk_has(&talk, "/params/output", "hello\n");
    talk_has(&talk, "/params/toolId", "call_1_0");
    talk_until(&talk, "messageEnd");
    talk_has(&talk, "/params/content", "First. Second.");
    talk_has(&talk, "/params/toolCalls",
             "[{\"id\":\"call_1_0\",\"name\":\"read_file\",\"args\":{\"path\":\"hello.txt\"}}]");
    talk_until(&talk, "turnEnd");
    talk_has(&talk, "/params/stats/tokensUsed", "30");
    talk_has(&talk, "/params/tokensUsed", "30");
    talk_has(&talk, "/params/reason", "completed");
    talk_until(&talk, "=1");
    talk_call(&talk, 2, "getMessages", "{\"limit\":3}");
    talk_until(&talk, "=2");
    talk_has(&talk, "/result/messages/0/toolCalls/0/args/path", "hello.txt");
    talk_has(&talk, "/result/messages/0/id", "msg_0");
    talk_has(&talk, "/result/messages/1/role", "tool");
    talk_has(&talk, "/result/messages/1/content", "hello\n");
    talk_has(&talk, "/result/messages/2/content", "Second.");
    talk_done(&talk);
}

static void allow(struct talk *talk, int id, const char *answer) {
    char params[300];
    char *request = talk_member(talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",%s}", request, answer);
    talk_call(talk, id, "permissionResponse", params);
    free(request);
}

static void test_write_asked_and_accepted(void **state) {
    (void)state;
    struct talk talk;
    char params[300];
    talk_init(&talk);
    talk_calls(&talk, "write_file", "{\"path\":\"new.txt\",\"contents\":\"text\\n\"}");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"WRITE\"}");
    talk_expect(&talk, "permissionRequest",
                "agentStart " TURN_START "hook.preTool hook.permissionRequest permissionRequest ");
    talk_has(&talk, "/params/description", "Write to this file?\n  new.txt");
    talk_has(&talk, "/params/context/args/contents", "text\n");
    char *request = talk_member(&talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\"}", request);
    talk_call(&talk, 2, "permissionAcknowledged", params);
    talk_until(&talk, "=2");
    talk_call(&talk, 3, "getState", NULL);
    talk_until(&talk, "=3");
    talk_has(&talk, "/result/status", "waiting_permission");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",\"allowed\":true}", request);
    free(request);
    talk_call(&talk, 4, "permissionResponse", params);
    talk_until(&talk, "changesBatchUpdate");
    assert_string_equal(talk.shape, "=4 toolStart changesBatchUpdate ");
    talk_has(&talk, "/params/change/toolName", "write_file");
    talk_until(&talk, "changesBatchEnd");
    assert_string_equal(talk.shape, "hook.postTool toolEnd messageUpdate changesBatchEnd ");
    char *batch = talk_member(&talk, "/params/batchId");
    (void)snprintf(params, sizeof params, "{\"batchId\":\"%s\",\"action\":\"accept_all\"}", batch);
    free(batch);
    talk_until(&talk, "=1");
    talk_call(&talk, 5, "changesDecision", params);
    talk_until(&talk, "=5");
    assert_string_equal(talk.shape, "hook.fileModified =5 ");
    talk_has(&talk, "/result/appliedCount", "1");
    talk_call(&talk, 6, "changesDecision", params);
    talk_until(&talk, "=6");
    talk_has(&talk, "/result/success", "false");
    talk_done(&talk);
}

static void test_denied(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_calls(&talk, "run_command", "{\"command\":\"touch\",\"args\":[\"a b\"]}");
    talk_says(&talk, "Well.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"RUN\"}");
    talk_until(&talk, "permissionRequest");
    talk_has(&talk, "/params/description", "Run this command?\n  $ touch 'a b'");
    allow(&talk, 2, "\"allowed\":false");
    talk_until(&talk, "error");
    assert_string_equal(talk.shape, "=2 error ");
    talk_has(&talk, "/params/code", "-32001");
    talk_has(&talk, "/params/recoverable", "true");
    talk_expect(&talk, "=1", "messageUpdate " TURN_END "=1 ");
    talk_has(&talk, "/result/success", "true");
    assert_non_null(strstr(talk.question, "Tool execution skipped by user."));
    talk_done(&talk);
}

/* Both are open at once, and are answered the other way round. */
static void test_two_questions(void **state) {
    (void)state;
    struct talk talk;
    char first[100];
    char params[300];
    talk_init(&talk);
    struct talk_step *step = talk_next_step(&talk);
    step->calls[0] = step->calls[2] = "run_command";
    step->calls[1] = "{\"command\":\"true\"}";
    step->calls[3] = "{\"command\":\"false\"}";
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"RUN\"}");
    talk_until(&talk, "permissionRequest");
    char *request = talk_member(&talk, "/params/requestId");
    (void)snprintf(first, sizeof first, "%s", request);
    free(request);
    talk_expect(&talk, "permissionRequest",
                "hook.preTool hook.permissionRequest permissionRequest ");
    allow(&talk, 2, "\"decision\":\"allow_once\"");
    talk_expect(&talk, "=2", "=2 ");
    talk_quiet(&talk);
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",\"allowed\":true}", first);
    talk_call(&talk, 3, "permissionResponse", params);
    talk_expect(&talk, "=1",
                "=3 toolStart hook.postTool toolEnd toolStart hook.postTool toolEnd error "
                "messageUpdate " TURN_END "=1 ");
    talk_done(&talk);
}

static void test_alternative(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_calls(&talk, "run_command", "{\"command\":\"rm\",\"args\":[\"-r\",\"x\"]}");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"RUN\"}");
    talk_until(&talk, "permissionRequest");
    allow(&talk, 2, "\"decision\":\"alternative\",\"alternative\":\"echo 'one two' three\"");
    talk_until(&talk, "toolStart");
    talk_has(&talk, "/params/args", "{\"command\":\"echo\",\"args\":[\"one two\",\"three\"]}");
    talk_until(&talk, "toolUpdate");
    talk_has(&talk, "/params/output", "one two three\n");
    talk_until(&talk, "=1");
    talk_done(&talk);
}

/* What would not be shown as a whole is not asked for. */
static void test_hidden_words(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    struct talk_step *step = talk_next_step(&talk);
    step->calls[0] = step->calls[2] = step->calls[4] = "run_command";
    step->calls[1] = "{\"command\":\"echo\",\"args\":[\"a\\u0000\",\"b\"]}";
    step->calls[3] = "{\"command\":\"echo\\u0000x\"}";
    step->calls[5] = "{\"command\":\"echo\",\"directory\":\"a\\u0000\"}";
    step->calls[6] = "write_file";
    step->calls[7] = "{\"path\":\"a\\u0000b\",\"contents\":\"x\"}";
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_expect(&talk, "=1",
                "agentStart " TURN_START
                "toolStart hook.postTool toolEnd error toolStart hook.postTool toolEnd error "
                "toolStart hook.postTool toolEnd error toolStart hook.postTool toolEnd error "
                "messageUpdate " TURN_END "=1 ");
    talk_done(&talk);
}

static void test_failures(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    struct talk_step *step = talk_next_step(&talk);
    step->calls[0] = "no_such_tool";
    step->calls[1] = "{}";
    step->calls[2] = "read_file";
    step->calls[3] = "not json";
    step->calls[4] = "read_file";
    step->calls[5] = "{\"path\":7}";
    step->calls[6] = "read_file";
    step->calls[7] = "{\"path\":\"../../etc/passwd\"}";
    step = talk_next_step(&talk);
    step->error = "no\tsuch host";
    step->kind = DX_AUTOHAND_FAIL_NETWORK;
    step = talk_next_step(&talk);
    step->error = "too slow";
    step->kind = DX_AUTOHAND_FAIL_TIMEOUT;
    talk_says(&talk, "Fine.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_expect(&talk, "=1!-32000",
                "agentStart " TURN_START "toolStart hook.postTool toolEnd error "
                "toolStart hook.postTool toolEnd error toolStart hook.postTool toolEnd error "
                "toolStart hook.postTool toolEnd error changesBatchEnd error hook.sessionError "
                "messageEnd turnEnd =1!-32000 ");
    talk_has(&talk, "/error/message", "no?such host");
    talk_call(&talk, 2, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "error");
    talk_has(&talk, "/params/errorType", "timeout");
    talk_has(&talk, "/params/code", "-32002");
    talk_until(&talk, "turnEnd");
    talk_has(&talk, "/params/reason", "error");
    talk_until(&talk, "=2!-32002");
    talk_call(&talk, 3, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "=3");
    talk_done(&talk);
}

static void test_slash(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_says(&talk, "About a file.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"/help me\"}");
    talk_expect(&talk, "=1",
                "agentStart turnStart messageStart messageUpdate messageEnd turnEnd =1 ");
    talk_has(&talk, "/result/success", "true");
    talk_call(&talk, 2, "prompt", "{\"message\":\"/nosuch\"}");
    talk_until(&talk, "messageUpdate");
    talk_has(&talk, "/params/delta",
             "Unknown command: /nosuch. Type /help for available commands.");
    talk_until(&talk, "=2");
    talk_has(&talk, "/result/success", "false");
    talk_call(&talk, 3, "prompt", "{\"message\":\"/etc/hosts is wrong\"}");
    talk_until(&talk, "changesBatchStart");
    talk_until(&talk, "=3");
    talk_done(&talk);
}

static void test_context_and_images(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.model.sees_images = 1;
    talk_says(&talk, "I see.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(
        &talk, 1, "prompt",
        "{\"message\":\"look\",\"context\":{\"files\":[\"a.c\"],\"selection\":{\"file\":\"b.c\","
        "\"startLine\":3,\"endLine\":4,\"text\":\"int ```x;\"}},\"images\":["
        "{\"data\":\"aGVsbG8=\",\"mimeType\":\"image/bmp\"},"
        "{\"data\":\"aGVsbG8=\",\"mimeType\":\"image/png\",\"filename\":\"x.png\"},"
        "{\"data\":\"a*b\",\"mimeType\":\"image/png\",\"filename\":\"y.png\"}]}");
    talk_until(&talk, "error");
    talk_has(&talk, "/params/code", "-32602");
    talk_until(&talk, "hook.prePrompt");
    assert_string_equal(talk.shape, "error hook.prePrompt ");
    talk_has(&talk, "/params/mentionedFiles", "[\"a.c\"]");
    talk_until(&talk, "=1");
    assert_non_null(strstr(talk.question, "Selected in b.c, lines 3-4:\\n````\\nint ```x;\\n````"));
    assert_non_null(strstr(talk.question, "data:image\\/png;base64,aGVsbG8=") ||
                            strstr(talk.question, "data:image/png;base64,aGVsbG8=")
                        ? talk.question
                        : NULL);
    assert_null(strstr(talk.question, "bmp"));
    talk_done(&talk);
}

static void test_bad_params(void **state) {
    (void)state;
    static const char *const bad[] = {
        "{}",
        "[\"hi\"]",
        "{\"message\":\"\"}",
        "{\"message\":7}",
        "{\"message\":\"x\",\"context\":1}",
        "{\"message\":\"x\",\"context\":{\"files\":[1]}}",
        "{\"message\":\"x\",\"images\":{}}",
        "{\"message\":\"x\",\"context\":{\"selection\":{\"file\":\"a\"}}}"};
    struct talk talk;
    talk_init(&talk);
    talk_open(&talk, DX_FRAMING_LINE);
    talk_until(&talk, "agentStart");
    for (size_t i = 0; i < LENGTH(bad); i++) {
        talk_call(&talk, 5, "prompt", bad[i]);
        talk_expect(&talk, "=5!-32602", "=5!-32602 ");
        if (i < 3)
            talk_has(&talk, "/error/message", "Missing required parameter: message");
    }
    talk_call(&talk, 5, "nope", NULL);
    talk_until(&talk, "=5!-32601");
    talk_has(&talk, "/error/message", "Method not found: autohand.nope");
    talk_call(&talk, 6, "permissionResponse", "{\"requestId\":\"perm_x\"}");
    talk_until(&talk, "=6!-32602");
    talk_call(&talk, 7, "permissionResponse", "{\"requestId\":\"perm_x\",\"allowed\":true}");
    talk_until(&talk, "=7");
    talk_has(&talk, "/result/success", "false");
    talk_call(&talk, 8, "changesDecision", "{\"batchId\":\"b\",\"action\":\"what\"}");
    talk_until(&talk, "=8!-32602");
    talk_say(&talk, "not json");
    talk_until(&talk, "=0!-32700");
    talk_has(&talk, "/error/message", "Parse error: Invalid JSON");
    talk_call(&talk, 9, "abort", NULL);
    talk_until(&talk, "=9");
    talk_has(&talk, "/result/success", "false");
    talk_done(&talk);
}

/* Nothing is said before agentStart, whatever came before it. */
static void test_first_bytes(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.first = "not json\n{\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort\",\"id\":";
    talk_open(&talk, DX_FRAMING_LINE);
    talk_say(&talk, "7}");
    talk_expect(&talk, "=7", "agentStart =0!-32700 =7 ");
    talk_done(&talk);
}

/* A line that is too long is one error, and the next one counts. */
static void test_long_line(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.line_max = 2000;
    talk_open(&talk, DX_FRAMING_LINE);
    talk_until(&talk, "agentStart");
    char *line = malloc(5001);
    assert_non_null(line);
    memset(line, 'x', 5000);
    line[5000] = '\0';
    talk_say(&talk, line);
    free(line);
    talk_call(&talk, 3, "abort", NULL);
    talk_expect(&talk, "=3", "=0!-32600 =3 ");
    talk_done(&talk);
}

/* Requests in a batch are answered together; a prompt in it as soon as its turn is over. */
static void test_batch(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_until(&talk, "agentStart");
    talk_say(&talk,
             "[{\"jsonrpc\":\"2.0\",\"method\":\"autohand.prompt\",\"params\":{\"message\":\"x\"},"
             "\"id\":1},{\"jsonrpc\":\"2.0\",\"method\":\"autohand.nope\",\"id\":2},"
             "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.abort2\"}]");
    talk_until(&talk, "turnEnd");
    char *answer = talk_wait(&talk, TALK_PATIENCE_MS);
    assert_non_null(answer);
    assert_int_equal(answer[0], '[');
    assert_non_null(strstr(answer, "\"id\":1,\"result\":{\"success\":true}"));
    assert_non_null(strstr(answer, "Method not found: autohand.nope"));
    talk_quiet(&talk);
    talk_done(&talk);
}

/* Nobody is told how a prompt went that was a notification. */
static void test_prompt_as_notification(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_say(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.prompt\",\"params\":"
                    "{\"message\":\"x\",\"context\":{\"files\":[\"a\"]}}}");
    talk_until(&talk, "turnEnd");
    talk_quiet(&talk);
    talk_done(&talk);
}

static void test_reset(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_says(&talk, "Hi.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "=1");
    talk_call(&talk, 2, "reset", NULL);
    talk_expect(&talk, "=2", "agentStart =2 ");
    talk_call(&talk, 3, "getState", NULL);
    talk_until(&talk, "=3");
    talk_has(&talk, "/result/messageCount", "1");
    talk_done(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_turn),
        cmocka_unit_test(test_deltas_are_content),
        cmocka_unit_test(test_write_asked_and_accepted),
        cmocka_unit_test(test_denied),
        cmocka_unit_test(test_two_questions),
        cmocka_unit_test(test_alternative),
        cmocka_unit_test(test_hidden_words),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_slash),
        cmocka_unit_test(test_context_and_images),
        cmocka_unit_test(test_bad_params),
        cmocka_unit_test(test_first_bytes),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_prompt_as_notification),
        cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
