/* Turns that are cut off: by an abort, by a reset, by the end of the input; and what is left. */
#include "autohand/core_talk.h"

#include <signal.h>

/* Instead of the system's: a disk that takes its time, and how often it was asked. */
static unsigned disk_ms;
static unsigned synced;

int fsync(int fd) {
    (void)fd;
    synced++;
    for (uint64_t until = talk_now() + disk_ms; talk_now() < until;)
        (void)usleep(1000);
    return 0;
}

#define ABORTED "changesBatchEnd error hook.sessionError messageEnd turnEnd "

static void start(struct talk *talk, const char *message) {
    char params[200];
    (void)snprintf(params, sizeof params, "{\"message\":\"%s\"}", message);
    talk_open(talk, DX_FRAMING_LINE);
    talk_call(talk, 1, "prompt", params);
}

static void test_while_the_model_speaks(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    struct talk_step *step = talk_next_step(&talk);
    step->text = "Half a";
    step->hangs = true;
    talk_says(&talk, "Whole.");
    start(&talk, "SLOW");
    talk_until(&talk, "messageUpdate");
    talk_call(&talk, 2, "prompt", "{\"message\":\"second\"}");
    talk_until(&talk, "=2!-32003");
    talk_has(&talk, "/error/message", "Agent is already processing");
    talk_call(&talk, 3, "abort", NULL);
    talk_call(&talk, 4, "abort", NULL);
    talk_until(&talk, "messageEnd");
    talk_has(&talk, "/params/aborted", "true");
    talk_has(&talk, "/params/content", "Half a");
    talk_until(&talk, "turnEnd");
    talk_has(&talk, "/params/reason", "aborted");
    talk_expect(&talk, "=4", "=1!-32004 =4 ");
    talk_has(&talk, "/result/success", "true");
    assert_int_equal(talk.cancels, 1);
    talk_quiet(&talk);
    talk_call(&talk, 5, "prompt", "{\"message\":\"again\"}");
    talk_until(&talk, "=5");
    talk_has(&talk, "/result/success", "true");
    talk_call(&talk, 6, "abort", NULL);
    talk_until(&talk, "=6");
    talk_has(&talk, "/result/success", "false");
    talk_done(&talk);
}

static void test_before_the_disk(void **state) {
    (void)state;
    struct talk talk;
    char home[100];
    talk_init(&talk);
    (void)snprintf(home, sizeof home, "%s/home", talk.folder);
    talk.config.home = home;
    talk_next_step(&talk)->hangs = true;
    start(&talk, "SLOW");
    talk_until(&talk, "hook.prePrompt");
    disk_ms = 300;
    synced = 0;
    uint64_t began = talk_now();
    talk_call(&talk, 2, "abort", NULL);
    talk_until(&talk, "=1!-32004");
    assert_true(talk_now() - began < 250);
    for (int i = 0; i < 100 && !synced; i++)
        talk_quiet(&talk);
    assert_int_equal(synced, 1);
    disk_ms = 0;
    talk_done(&talk);
}

static void test_order(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_next_step(&talk)->hangs = true;
    start(&talk, "SLOW");
    talk_until(&talk, "hook.prePrompt");
    talk_call(&talk, 2, "abort", NULL);
    talk_expect(&talk, "=1!-32004", "=2 " ABORTED "=1!-32004 ");
    talk_done(&talk);
}

static void test_while_it_asks(void **state) {
    (void)state;
    struct talk talk;
    char params[200];
    talk_init(&talk);
    talk_calls(&talk, "run_command", "{\"command\":\"true\"}");
    talk_says(&talk, "Next.");
    start(&talk, "RUN");
    talk_until(&talk, "permissionRequest");
    char *request = talk_member(&talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",\"allowed\":true}", request);
    free(request);
    talk_call(&talk, 2, "abort", NULL);
    talk_expect(&talk, "=1!-32004", "=2 " ABORTED "=1!-32004 ");
    talk_call(&talk, 3, "permissionResponse", params);
    talk_until(&talk, "=3");
    talk_has(&talk, "/result/success", "false");
    talk_call(&talk, 4, "getMessages", "{\"limit\":2}");
    talk_until(&talk, "=4");
    talk_has(&talk, "/result/messages/1/role", "tool");
    talk_call(&talk, 5, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "=5");
    talk_done(&talk);
}

/* The model has made calls, and nobody reads what it said: they have not even been looked at. The
 * next question has a result for each of them nevertheless, or no model would take it. */
static void test_before_the_calls(void **state) {
    enum { PIECES = 20000 };
    (void)state;
    struct talk talk;
    char *text = malloc(2 * PIECES + 1);
    assert_non_null(text);
    for (size_t i = 0; i < PIECES; i++)
        memcpy(text + 2 * i, "x|", 3);
    talk_init(&talk);
    talk_calls(&talk, "read_file", "{\"path\":\"a\"}");
    talk.steps[0].text = text;
    talk_says(&talk, "Next.");
    talk.deaf = true;
    start(&talk, "SPEAK");
    for (uint64_t until = talk_now() + 10000; talk.step == 0 && talk_now() < until;)
        talk_turn(&talk, 10);
    talk_call(&talk, 2, "abort", NULL);
    talk_turn(&talk, 10);
    talk.deaf = false;
    talk_until(&talk, "=1!-32004");
    assert_null(strstr(talk.shape, "hook.preTool"));
    talk_call(&talk, 3, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "=3");
    assert_non_null(strstr(talk.question, "\"tool_calls\""));
    assert_non_null(strstr(talk.question, "\"tool_call_id\":\"call_1_0\""));
    free(text);
    talk_done(&talk);
}

/* The number that a program wrote into a file of the workspace. */
static pid_t number_in(struct talk *talk, const char *name) {
    char path[200];
    long number = 0;
    (void)snprintf(path, sizeof path, "%s/%s", talk->folder, name);
    for (uint64_t until = talk_now() + 10000; number == 0 && talk_now() < until;) {
        talk_turn(talk, 10);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%ld", &number) != 1)
            number = 0;
        if (file)
            assert_int_equal(fclose(file), 0);
    }
    return (pid_t)number;
}

static void test_while_a_tool_runs(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.allow_all = 1;
    talk_calls(&talk, "run_command",
               "{\"command\":\"sh\",\"args\":[\"-c\",\"sleep 60 & echo $! > pid; wait\"]}");
    talk_says(&talk, "Next.");
    start(&talk, "RUN");
    talk_until(&talk, "toolStart");
    pid_t pid = number_in(&talk, "pid");
    assert_true(pid > 1);
    uint64_t began = talk_now();
    talk_call(&talk, 2, "abort", NULL);
    talk_expect(&talk, "=1!-32004", "=2 toolEnd " ABORTED "=1!-32004 ");
    assert_true(talk_now() - began < 2000);
    for (uint64_t until = talk_now() + 2000; kill(pid, 0) == 0 && talk_now() < until;)
        talk_turn(&talk, 10);
    assert_int_equal(kill(pid, 0), -1);
    talk_quiet(&talk);
    talk_done(&talk);
}

static void test_reset_in_a_turn(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_next_step(&talk)->hangs = true;
    talk_says(&talk, "Hi.");
    start(&talk, "SLOW");
    talk_until(&talk, "hook.prePrompt");
    talk_call(&talk, 2, "reset", NULL);
    talk_expect(&talk, "=2", ABORTED "=1!-32004 agentStart =2 ");
    talk_call(&talk, 3, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "=3");
    talk_done(&talk);
}

static void test_end_of_input(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_calls(&talk, "run_command", "{\"command\":\"true\"}");
    start(&talk, "RUN");
    talk_until(&talk, "permissionRequest");
    /* The last line has no newline, and counts. */
    static const char last[] = "{\"jsonrpc\":\"2.0\",\"method\":\"autohand.getState\",\"id\":9}";
    talk_write(&talk, last, sizeof last - 1);
    talk_end(&talk);
    talk_expect(&talk, "agentEnd", "=9 " ABORTED "=1!-32004 agentEnd ");
    assert_int_equal(talk.code, 0);
    talk_done(&talk);
}

static void test_leave(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk_next_step(&talk)->hangs = true;
    start(&talk, "SLOW");
    talk_until(&talk, "hook.prePrompt");
    dx_autohand_agent_leave(talk.agent);
    dx_autohand_agent_leave(talk.agent);
    talk_expect(&talk, "agentEnd", ABORTED "=1!-32004 agentEnd ");
    for (uint64_t until = talk_now() + 2500; !talk.left && talk_now() < until;)
        talk_turn(&talk, 20);
    assert_true(talk.left);
    talk_done(&talk);
}

/* Nobody reads what it says: it leaves all the same, in time. */
static void test_leave_unheard(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.leave_ms = 500;
    talk.config.allow_all = 1;
    talk_calls(&talk, "run_command", "{\"command\":\"cat\",\"args\":[\"/dev/zero\"]}");
    start(&talk, "RUN");
    talk_until(&talk, "toolUpdate");
    talk.deaf = true;
    for (int i = 0; i < 50; i++)
        talk_turn(&talk, 10);
    uint64_t began = talk_now();
    talk_end(&talk);
    assert_true(talk_now() - began < 1500);
    talk_done(&talk);
}

/* The reader is gone while it speaks. */
static void test_client_dies(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.allow_all = 1;
    talk_calls(&talk, "run_command", "{\"command\":\"cat\",\"args\":[\"/dev/zero\"]}");
    start(&talk, "RUN");
    talk_until(&talk, "toolUpdate");
    close(talk.from);
    talk.from = -1;
    for (uint64_t until = talk_now() + 3000; !talk.left && talk_now() < until;)
        talk_turn(&talk, 20);
    assert_true(talk.left);
    talk_done(&talk);
}

/* Whatever it does, it can be freed. */
static void test_freed_at_any_time(void **state) {
    (void)state;
    static const char *const when[] = {"agentStart",        "turnStart", "messageUpdate",
                                       "permissionRequest", "toolStart", "toolUpdate"};
    for (size_t i = 0; i < LENGTH(when); i++) {
        struct talk talk;
        talk_init(&talk);
        struct talk_step *step = talk_next_step(&talk);
        step->text = "I run it.";
        step->calls[0] = "run_command";
        step->calls[1] = "{\"command\":\"cat\",\"args\":[\"/dev/zero\"]}";
        talk.config.allow_all = i > 3;
        start(&talk, "RUN");
        talk_until(&talk, when[i]);
        talk_done(&talk);
    }
}

static void freeing_tool(dx_autohand_job *job, void *user) {
    struct talk *talk = user;
    dx_autohand_agent_free(talk->agent);
    talk->agent = NULL;
    dx_autohand_job_done(job, dx_str("done"));
}

static void test_freed_by_a_tool(void **state) {
    (void)state;
    struct talk talk;
    dx_error error;
    dx_autohand_tool tool = {.name = "free",
                             .parameters = "{\"type\":\"object\"}",
                             .kind = DX_AUTOHAND_TOOL_READS,
                             .run = freeing_tool,
                             .user = &talk};
    talk_init(&talk);
    talk_calls(&talk, "free", "{}");
    start(&talk, "x");
    assert_int_equal(dx_autohand_agent_add_tool(talk.agent, &tool, &error), DX_OK);
    assert_int_equal(dx_autohand_agent_add_tool(talk.agent, &tool, &error), DX_ERR_INVALID);
    tool.name = "bad";
    tool.parameters = "{\"type\":7}";
    assert_int_equal(dx_autohand_agent_add_tool(talk.agent, &tool, &error), DX_ERR_INVALID);
    for (int i = 0; i < 50 && talk.agent; i++)
        talk_turn(&talk, 20);
    assert_null(talk.agent);
    talk_done(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_while_the_model_speaks),
        cmocka_unit_test(test_before_the_disk),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_while_it_asks),
        cmocka_unit_test(test_before_the_calls),
        cmocka_unit_test(test_while_a_tool_runs),
        cmocka_unit_test(test_reset_in_a_turn),
        cmocka_unit_test(test_end_of_input),
        cmocka_unit_test(test_leave),
        cmocka_unit_test(test_leave_unheard),
        cmocka_unit_test(test_client_dies),
        cmocka_unit_test(test_freed_at_any_time),
        cmocka_unit_test(test_freed_by_a_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
