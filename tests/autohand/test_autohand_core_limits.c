/* Much of everything: calls, output, text, history; a client that does not read. */
#include "autohand/core_talk.h"

static void prompt(struct talk *talk, int id) {
    talk_call(talk, id, "prompt", "{\"message\":\"x\"}");
}

/* Reads on until that message, without keeping what came before; how many of `counted`. */
static size_t count_until(struct talk *talk, const char *wanted, const char *counted) {
    char last[64];
    char one[64];
    size_t count = 0;
    (void)snprintf(last, sizeof last, "\"method\":\"autohand.%s\"", wanted);
    (void)snprintf(one, sizeof one, "\"method\":\"autohand.%s\"", counted);
    for (;;) {
        char *line = talk_wait(talk, TALK_PATIENCE_MS);
        if (!line)
            fail_msg("%s did not come", wanted);
        count += strstr(line, one) != NULL;
        if (strstr(line, last))
            return count;
    }
}

static void test_many_calls(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_put(&talk, "hello.txt", "hello\n");
    talk.flood_call[0] = "read_file";
    talk.flood_call[1] = "{\"path\":\"hello.txt\"}";
    talk_next_step(&talk)->flood = 10000;
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    assert_int_equal(count_until(&talk, "turnEnd", "toolEnd"), 10000);
    talk_until(&talk, "=1");
    talk_call(&talk, 2, "getState", NULL);
    talk_until(&talk, "=2");
    talk_has(&talk, "/result/messageCount", "10004");
    talk_done(&talk);
}

/* One call a step; the model is given no more than it can take in, but always its prompt. */
static void test_many_steps(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_put(&talk, "hello.txt", "hello\n");
    struct talk_step *step = talk_next_step(&talk);
    step->calls[0] = "read_file";
    step->calls[1] = "{\"path\":\"hello.txt\"}";
    step->times = 2000;
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"the prompt itself\"}");
    assert_int_equal(count_until(&talk, "turnEnd", "toolEnd"), 2000);
    assert_true(strlen(talk.question) < 200000);
    assert_non_null(strstr(talk.question, "the prompt itself"));
    talk_until(&talk, "=1");
    talk_done(&talk);
}

static void test_abort_in_many_calls(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_put(&talk, "hello.txt", "hello\n");
    talk.flood_call[0] = "read_file";
    talk.flood_call[1] = "{\"path\":\"hello.txt\"}";
    talk_next_step(&talk)->flood = 10000;
    talk_says(&talk, "Next.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    count_until(&talk, "toolEnd", "toolEnd");
    uint64_t began = talk_now();
    talk_call(&talk, 2, "abort", NULL);
    assert_true(count_until(&talk, "turnEnd", "toolEnd") < 10000);
    assert_true(talk_now() - began < 1000);
    talk_until(&talk, "=1!-32004");
    prompt(&talk, 3);
    talk_until(&talk, "=3");
    talk_done(&talk);
}

/* A question that is open keeps the others of its answer waiting, and nobody turns in circles. */
static void test_question_before_many(void **state) {
    (void)state;
    struct talk talk;
    char params[200];
    talk_init(&talk);
    talk_put(&talk, "hello.txt", "hello\n");
    talk.flood_call[0] = "read_file";
    talk.flood_call[1] = "{\"path\":\"hello.txt\"}";
    talk_calls(&talk, "run_command", "{\"command\":\"true\"}");
    talk.steps[0].flood = 300;
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    talk_until(&talk, "permissionRequest");
    char *request = talk_member(&talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",\"allowed\":true}", request);
    free(request);
    while (talk_wait(&talk, 200))
        assert_null(strstr(talk.line, "toolStart"));
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    talk_quiet(&talk);
    for (uint64_t until = talk_now() + 300; talk_now() < until;)
        talk_turn(&talk, 50);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    assert_true((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 <
                150);
    talk_call(&talk, 2, "permissionResponse", params);
    assert_int_equal(count_until(&talk, "turnEnd", "toolEnd"), 301);
    talk_done(&talk);
}

static void test_limits_of_calls_and_steps(void **state) {
    (void)state;
    for (unsigned over = 0; over < 2; over++) {
        struct talk talk;
        talk_init(&talk);
        talk.config.calls_max = 10;
        talk.config.steps_max = 3;
        talk.flood_call[0] = "list_tree";
        talk.flood_call[1] = "{}";
        talk_next_step(&talk)->flood = 10 + over;
        talk_says(&talk, "Done.");
        struct talk_step *step = talk_next_step(&talk);
        step->calls[0] = "list_tree";
        step->calls[1] = "{}";
        step->times = 2 + over;
        talk_says(&talk, "Done.");
        talk_open(&talk, DX_FRAMING_LINE);
        prompt(&talk, 1);
        talk_until(&talk, over ? "=1!-32000" : "=1");
        talk.step = 2;
        prompt(&talk, 2);
        talk_until(&talk, over ? "=2!-32000" : "=2");
        talk_done(&talk);
    }
}

/* The client reads nothing while a tool prints without end: the agent stops reading it, still hears
 * the client, and holds little. */
static void test_deaf_client(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.allow_all = 1;
    talk_calls(&talk, "run_command", "{\"command\":\"yes\"}");
    talk_says(&talk, "Next.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    talk_until(&talk, "toolUpdate");
    talk.deaf = true;
    for (uint64_t until = talk_now() + 500; talk_now() < until;)
        talk_turn(&talk, 10);
    assert_true(talk.memory.peak < 16 << 20);
    talk_call(&talk, 2, "getState", NULL);
    talk_call(&talk, 3, "abort", NULL);
    for (uint64_t until = talk_now() + 200; talk_now() < until;)
        talk_turn(&talk, 10);
    talk.deaf = false;
    talk_until(&talk, "=1!-32004");
    assert_non_null(strstr(talk.shape, "=2 "));
    assert_non_null(strstr(talk.shape, "=3 toolEnd "));
    talk_done(&talk);
}

/* It goes on when the client reads again, and nothing is lost. */
static void test_slow_client(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.allow_all = 1;
    talk_calls(&talk, "run_command",
               "{\"command\":\"sh\",\"args\":[\"-c\",\"yes | head -c 8000000\"]}");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    talk_until(&talk, "toolUpdate");
    talk.deaf = true;
    for (uint64_t until = talk_now() + 300; talk_now() < until;)
        talk_turn(&talk, 10);
    talk.deaf = false;
    size_t bytes = 0;
    for (;;) {
        char *output = talk_member(&talk, "/params/output");
        if (strstr(talk.line, "\"autohand.toolUpdate\""))
            bytes += strlen(output);
        free(output);
        if (strstr(talk.line, "\"autohand.toolEnd\""))
            break;
        assert_non_null(talk_wait(&talk, TALK_PATIENCE_MS));
    }
    assert_true(bytes >= 8000000);
    assert_true(strlen(talk.line) < 200000);
    talk_until(&talk, "=1");
    assert_true(talk.memory.peak < 16 << 20);
    talk_done(&talk);
}

static void on_words(dx_autohand_job *job, void *user) {
    (void)user;
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z\xff";
    for (size_t i = 0; i < sizeof text - 1; i++)
        dx_autohand_job_say(job, 0, (dx_text){text + i, 1});
    dx_autohand_job_done(job, dx_str(NULL));
}

/* Characters are not torn, whatever the pieces are; what is none is replaced. */
static void test_torn_characters(void **state) {
    (void)state;
    struct talk talk;
    dx_error error;
    char all[64] = "";
    const dx_autohand_tool tool = {.name = "words",
                                   .parameters = "{\"type\":\"object\"}",
                                   .kind = DX_AUTOHAND_TOOL_READS,
                                   .run = on_words};
    talk_init(&talk);
    talk_calls(&talk, "words", "");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    assert_int_equal(dx_autohand_agent_add_tool(talk.agent, &tool, &error), DX_OK);
    prompt(&talk, 1);
    talk_until(&talk, "toolStart");
    for (;;) {
        assert_non_null(talk_wait(&talk, TALK_PATIENCE_MS));
        if (!strstr(talk.line, "\"autohand.toolUpdate\""))
            break;
        char *output = talk_member(&talk, "/params/output");
        strcat(all, output);
        free(output);
    }
    assert_string_equal(all, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z\xef\xbf\xbd");
    talk_until(&talk, "toolEnd");
    talk_has(&talk, "/params/output", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z\xef\xbf\xbd");
    talk_until(&talk, "=1");
    talk_done(&talk);
}

static void on_long(dx_autohand_job *job, void *user) {
    size_t *len = user;
    char piece[1000];
    memset(piece, 'x', sizeof piece);
    for (size_t left = *len; left;) {
        size_t now = left < sizeof piece ? left : sizeof piece;
        piece[0] = left == *len ? 'A' : 'x';
        piece[now - 1] = left == now ? 'Z' : 'x';
        dx_autohand_job_say(job, 0, (dx_text){piece, now});
        left -= now;
    }
    dx_autohand_job_done(job, dx_str(NULL));
}

/* The beginning and the end of long output are kept, to the byte. */
static void test_output_limit(void **state) {
    (void)state;
    for (size_t over = 0; over < 3; over++) {
        struct talk talk;
        dx_error error;
        size_t len = over == 2 ? 100000 : 4001 + over;
        const dx_autohand_tool tool = {.name = "long",
                                       .parameters = "{\"type\":\"object\"}",
                                       .kind = DX_AUTOHAND_TOOL_READS,
                                       .run = on_long,
                                       .user = &len};
        talk_init(&talk);
        talk.config.output_max = 4001;
        talk.config.tool_updates = 0;
        talk_calls(&talk, "long", "{}");
        talk_says(&talk, "Done.");
        talk_open(&talk, DX_FRAMING_LINE);
        assert_int_equal(dx_autohand_agent_add_tool(talk.agent, &tool, &error), DX_OK);
        prompt(&talk, 1);
        talk_until(&talk, "toolEnd");
        char *output = talk_member(&talk, "/params/output");
        char *gap = strstr(output, " bytes omitted");
        assert_int_equal(output[0], 'A');
        assert_int_equal(output[strlen(output) - 1], 'Z');
        if (!over) {
            assert_null(gap);
            assert_int_equal(strlen(output), len);
        } else {
            size_t out = 0;
            assert_non_null(gap);
            assert_int_equal(sscanf(strstr(output, "[\xe2\x80\xa6 "), "[\xe2\x80\xa6 %zu", &out),
                             1);
            assert_int_equal(out, len - 4001);
        }
        free(output);
        talk_until(&talk, "=1");
        talk_done(&talk);
    }
}

static void test_ping(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.ping_ms = 30;
    talk_next_step(&talk)->hangs = true;
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    talk_until(&talk, "ping");
    talk_has(&talk, "/params/status", "processing");
    talk_expect(&talk, "ping", "ping ");
    talk_call(&talk, 2, "abort", NULL);
    talk_until(&talk, "=1!-32004");
    assert_null(talk_wait(&talk, 100));
    talk_done(&talk);
}

static void test_no_answer(void **state) {
    (void)state;
    struct talk talk;
    char params[200];
    dx_autohand_agent_config usual = dx_autohand_agent_defaults();
    assert_int_equal(usual.ack_ms, 30000);
    assert_int_equal(usual.answer_ms, 3600000);
    talk_init(&talk);
    talk.config.ack_ms = 50;
    talk.config.answer_ms = 200;
    talk_calls(&talk, "run_command", "{\"command\":\"true\"}");
    talk_calls(&talk, "run_command", "{\"command\":\"true\"}");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    prompt(&talk, 1);
    talk_until(&talk, "permissionRequest");
    talk_until(&talk, "error");
    assert_string_equal(talk.shape, "error ");
    talk_has(&talk, "/params/code", "-32002");
    talk_until(&talk, "permissionRequest");
    uint64_t began = talk_now();
    char *request = talk_member(&talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\"}", request);
    free(request);
    talk_call(&talk, 2, "permissionAcknowledged", params);
    talk_expect(&talk, "error", "=2 error ");
    assert_true(talk_now() - began >= 190);
    talk_until(&talk, "=1");
    talk_done(&talk);
}

/* Results that are longer than what the model can take are cut, each to its share; also where a
 * hook has something to say behind them. */
static void test_long_results(void **state) {
    enum { SIZE = 40000, TOKENS = 10000 };
    static const char hook[] = "{\"hooks\":{\"hooks\":[{\"event\":\"pre-tool\",\"command\":"
                               "\"echo '{\\\"additionalContext\\\":\\\"NOTE\\\"}'\"}]}}";
    (void)state;
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    for (size_t i = 0; i < SIZE; i += 2)
        memcpy(text + i, "\xc3\xa4", 3);
    for (int hooked = 0; hooked < 2; hooked++) {
        struct talk talk;
        talk_init(&talk);
        talk.config.context_tokens = TOKENS;
        talk.config.settings = hooked ? hook : NULL;
        talk_put(&talk, "a", text);
        talk_put(&talk, "b", text);
        talk_calls(&talk, "read_file", "{\"path\":\"a\"}");
        talk.steps[0].calls[2] = "read_file";
        talk.steps[0].calls[3] = "{\"path\":\"b\"}";
        talk_says(&talk, "Done.");
        talk_open(&talk, DX_FRAMING_LINE);
        talk_call(&talk, 1, "prompt", "{\"message\":\"the prompt itself\"}");
        talk_until(&talk, "=1");
        talk_has(&talk, "/result/success", "true");
        const char *parts[] = {"the prompt itself", "\"tool_calls\"",
                               "\"tool_call_id\":\"call_1_0\"", "\"tool_call_id\":\"call_1_1\"",
                               "bytes omitted"};
        for (size_t i = 0; i < LENGTH(parts); i++)
            assert_non_null(strstr(talk.question, parts[i]));
        assert_int_equal(hooked, strstr(talk.question, "NOTE") != NULL);
        assert_in_range(strlen(talk.question), TOKENS, 4 * TOKENS);
        talk_done(&talk);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_results),
        cmocka_unit_test(test_many_calls),
        cmocka_unit_test(test_many_steps),
        cmocka_unit_test(test_abort_in_many_calls),
        cmocka_unit_test(test_question_before_many),
        cmocka_unit_test(test_limits_of_calls_and_steps),
        cmocka_unit_test(test_deaf_client),
        cmocka_unit_test(test_slow_client),
        cmocka_unit_test(test_torn_characters),
        cmocka_unit_test(test_output_limit),
        cmocka_unit_test(test_ping),
        cmocka_unit_test(test_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
