/* Hooks of the settings in a turn; sessions on the disk; a language client. */
#include "autohand/core_talk.h"

#define TURN_START "turnStart messageStart changesBatchStart hook.prePrompt "
#define TURN_END "changesBatchEnd hook.postResponse messageEnd turnEnd "

static void prompt(struct talk *talk, int id) {
    talk_call(talk, id, "prompt", "{\"message\":\"x\"}");
}

static void begin(struct talk *talk, const char *settings, const char *tool, const char *args) {
    talk_init(talk);
    talk->config.settings = settings;
    talk_put(talk, "hello.txt", "hello\n");
    talk_put(talk, "other.txt", "other\n");
    talk_calls(talk, tool, args);
    talk_says(talk, "Done.");
    talk_open(talk, DX_FRAMING_LINE);
    prompt(talk, 1);
}

static void test_blocked(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk,
          "{\"hooks\":{\"hooks\":[{\"event\":\"pre-tool\",\"command\":\"echo not so >&2; exit "
          "2\"}]}}",
          "read_file", "{\"path\":\"hello.txt\"}");
    talk_until(&talk, "error");
    assert_string_equal(talk.shape, "agentStart " TURN_START "hook.preTool error ");
    talk_has(&talk, "/params/code", "-32001");
    talk_has(&talk, "/params/message", "Permission denied: not so");
    talk_expect(&talk, "=1", "messageUpdate " TURN_END "=1 ");
    assert_non_null(strstr(talk.question, "Permission denied: not so"));
    talk_done(&talk);
}

static void test_allowed(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk,
          "{\"hooks\":{\"hooks\":[{\"event\":\"pre-tool\",\"command\":\"echo '{\\\"decision\\\":"
          "\\\"allow\\\"}'\"}]}}",
          "run_command", "{\"command\":\"true\"}");
    talk_expect(&talk, "=1",
                "agentStart " TURN_START
                "hook.preTool toolStart hook.postTool toolEnd messageUpdate " TURN_END "=1 ");
    talk_done(&talk);
}

static void test_asks_and_changes(void **state) {
    (void)state;
    struct talk talk;
    char params[200];
    begin(&talk,
          "{\"hooks\":{\"hooks\":[{\"event\":\"pre-tool\",\"command\":\"echo '{\\\"decision\\\":"
          "\\\"ask\\\",\\\"updatedInput\\\":{\\\"path\\\":\\\"other.txt\\\"},"
          "\\\"additionalContext\\\":\\\"note this\\\"}'\"}]}}",
          "read_file", "{\"path\":\"hello.txt\"}");
    talk_until(&talk, "permissionRequest");
    talk_has(&talk, "/params/context/path", "other.txt");
    char *request = talk_member(&talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",\"allowed\":true}", request);
    free(request);
    talk_call(&talk, 2, "permissionResponse", params);
    talk_until(&talk, "toolEnd");
    talk_has(&talk, "/params/output", "other\n");
    talk_until(&talk, "=1");
    assert_non_null(strstr(talk.question, "note this"));
    talk_done(&talk);
}

static void test_reserved(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk,
          "{\"hooks\":{\"hooks\":[{\"event\":\"pre-tool\",\"command\":\"echo "
          "'{\\\"updatedInput\\\":{\\\"type\\\":\\\"run_command\\\"}}'\"}]}}",
          "read_file", "{\"path\":\"hello.txt\"}");
    talk_until(&talk, "error");
    talk_has(&talk, "/params/code", "-32001");
    talk_until(&talk, "=1");
    assert_null(strstr(talk.shape, "toolStart"));
    talk_done(&talk);
}

static void test_answers_for_the_user(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk,
          "{\"hooks\":{\"hooks\":[{\"event\":\"permission-request\",\"command\":\"echo "
          "'{\\\"decision\\\":\\\"allow\\\"}'\"}]}}",
          "run_command", "{\"command\":\"true\"}");
    talk_expect(&talk, "=1",
                "agentStart " TURN_START "hook.preTool hook.permissionRequest toolStart "
                "hook.postTool toolEnd messageUpdate " TURN_END "=1 ");
    talk_done(&talk);
}

static void test_prompt_refused(void **state) {
    (void)state;
    struct talk talk;
    begin(
        &talk,
        "{\"hooks\":{\"hooks\":[{\"event\":\"pre-prompt\",\"command\":\"echo no >&2; exit 2\"}]}}",
        "read_file", "{\"path\":\"hello.txt\"}");
    talk_expect(&talk, "=1!-32001",
                "agentStart " TURN_START
                "changesBatchEnd error hook.sessionError messageEnd turnEnd =1!-32001 ");
    assert_int_equal(talk.asks, 0);
    talk_done(&talk);
}

static void test_aborted_in_a_hook(void **state) {
    (void)state;
    struct talk talk;
    begin(&talk,
          "{\"hooks\":{\"hooks\":[{\"event\":\"pre-tool\",\"command\":\"sleep 60\","
          "\"timeout\":60000}]}}",
          "read_file", "{\"path\":\"hello.txt\"}");
    talk_until(&talk, "hook.preTool");
    talk_call(&talk, 2, "abort", NULL);
    talk_until(&talk, "=1!-32004");
    talk_quiet(&talk);
    talk_done(&talk);
}

/* The hooks of its end have run when it is gone. */
static void test_last_hooks(void **state) {
    (void)state;
    struct talk talk;
    char path[200];
    begin(&talk,
          "{\"hooks\":{\"hooks\":[{\"event\":\"session-end\",\"command\":\"touch ended\"},"
          "{\"event\":\"session-start\",\"command\":\"touch begun\"}]}}",
          "read_file", "{\"path\":\"hello.txt\"}");
    talk_until(&talk, "=1");
    (void)snprintf(path, sizeof path, "%s/begun", talk.folder);
    /* Nobody waits for this one but the test. */
    for (uint64_t until = talk_now() + TALK_PATIENCE_MS; access(path, F_OK) != 0;) {
        talk_turn(&talk, 10);
        assert_true(talk_now() < until);
    }
    talk_end(&talk);
    talk_until(&talk, "agentEnd");
    (void)snprintf(path, sizeof path, "%s/ended", talk.folder);
    assert_int_equal(access(path, F_OK), 0);
    talk_done(&talk);
}

/* All of a file HOME/sessions/ID/NAME of the only session; to be freed. */
static char *stored(const char *home, const char *name) {
    char path[600];
    (void)snprintf(path, sizeof path, "%s/sessions", home);
    DIR *all = opendir(path);
    char *text = calloc(1, 1 << 16);
    const struct dirent *one;
    struct stat facts;
    assert_non_null(all);
    assert_non_null(text);
    while ((one = readdir(all))) {
        if (one->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/sessions/%.200s/%s", home, one->d_name, name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fstat(fileno(file), &facts), 0);
        assert_int_equal(facts.st_mode & 077, 0); /* it is nobody else's business */
        assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(closedir(all), 0);
    return text;
}

static void test_stored(void **state) {
    (void)state;
    struct talk talk;
    char home[100];
    talk_init(&talk);
    (void)snprintf(home, sizeof home, "%s/home", talk.folder);
    talk.config.home = home;
    talk_put(&talk, "hello.txt", "hello\n");
    talk_calls(&talk, "read_file", "{\"path\":\"hello.txt\"}");
    struct talk_step *step = talk_next_step(&talk);
    step->text = "Half";
    step->hangs = true;
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    talk_until(&talk, "messageUpdate");
    /* In the middle of the turn, as somebody would find it who killed the agent. */
    char *text = stored(home, "conversation.jsonl");
    assert_non_null(strstr(text, "{\"role\":\"user\",\"content\":\"x\",\"timestamp\":\"20"));
    assert_non_null(strstr(text, "\"toolCalls\":[{\"id\":\"call_1_0\",\"tool\":\"read_file\","
                                 "\"args\":{\"path\":\"hello.txt\"}}]}\n"));
    assert_non_null(strstr(text, "\"name\":\"read_file\",\"tool_call_id\":\"call_1_0\"}\n"));
    free(text);
    talk_call(&talk, 2, "abort", NULL);
    talk_until(&talk, "=1!-32004");
    text = stored(home, "metadata.json");
    assert_non_null(strstr(text, "\"messageCount\":4,\"status\":\"active\"}"));
    free(text);
    talk_end(&talk);
    text = stored(home, "metadata.json");
    assert_non_null(strstr(text, "\"status\":\"completed\"}"));
    free(text);
    talk_done(&talk);
}

/* A home that cannot be used keeps nobody from working. */
static void test_not_stored(void **state) {
    (void)state;
    struct talk talk;
    char home[100];
    talk_init(&talk);
    (void)snprintf(home, sizeof home, "%s/hello.txt", talk.folder);
    talk.config.home = home;
    talk_put(&talk, "hello.txt", "hello\n");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    talk_until(&talk, "=1");
    assert_non_null(strstr(talk.log, "the session is not saved"));
    talk_done(&talk);
}

static void say_in_headers(struct talk *talk, const char *body) {
    char header[64];
    (void)snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", strlen(body));
    talk_write(talk, header, strlen(header));
    talk_write(talk, body, strlen(body));
}

/* Reads on until that text has come. */
static void hear(struct talk *talk, const char *text) {
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (!talk->in || !memmem(talk->in, talk->len, text, strlen(text))) {
        talk_turn(talk, 20);
        if (talk_now() >= until)
            fail_msg("%s did not come", text);
    }
}

static void test_language_client(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_HEADER);
    say_in_headers(&talk, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}");
    hear(&talk, "\"capabilities\":{}");
    hear(&talk, "\"serverInfo\":{\"name\":\"duplex-autohand\"");
    say_in_headers(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"initialized\",\"params\":{}}");
    say_in_headers(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"autohand.prompt\","
                          "\"params\":{\"message\":\"x\"}}");
    hear(&talk, "\"result\":{\"success\":true}");
    say_in_headers(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\"}");
    hear(&talk, "\"result\":null");
    say_in_headers(&talk, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
    for (uint64_t until = talk_now() + 3000; !talk.left && talk_now() < until;)
        talk_turn(&talk, 20);
    assert_true(talk.left);
    assert_int_equal(talk.code, 0);
    talk_done(&talk);
}

static void test_bad_starts(void **state) {
    (void)state;
    static const struct {
        const char *workspace;
        const char *settings;
        const char *phrase;
    } rows[] = {
        {"/", NULL, "Unsafe workspace: /"},
        {"/etc", NULL, "Unsafe workspace: /etc"},
        {"/no/such/folder", NULL, "no such folder: /no/such/folder"},
        {"", NULL, "the workspace is missing"},
        {NULL, "{\"hooks\":7}", ""},
        {NULL, "not json", ""},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk talk;
        dx_error error = {.phrase = ""};
        talk_init(&talk);
        if (rows[i].workspace)
            talk.config.workspace = rows[i].workspace;
        talk.config.settings = rows[i].settings;
        assert_int_equal(dx_autohand_agent_new(talk.loop, &talk.config, &talk.agent, &error),
                         DX_ERR_INVALID);
        assert_true(error.phrase[0]);
        assert_memory_equal(error.phrase, rows[i].phrase, strlen(rows[i].phrase));
        talk.agent = NULL;
        talk_done(&talk);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_asks_and_changes),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_answers_for_the_user),
        cmocka_unit_test(test_prompt_refused),
        cmocka_unit_test(test_aborted_in_a_hook),
        cmocka_unit_test(test_last_hooks),
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_not_stored),
        cmocka_unit_test(test_language_client),
        cmocka_unit_test(test_bad_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
