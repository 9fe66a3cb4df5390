/* What is too long, too much, or said to nobody: the client still learns what it must know. */
#include "autohand/core_talk.h"

static void allow(struct talk *talk, int id, const char *more) {
    char params[300];
    char *request = talk_member(talk, "/params/requestId");
    (void)snprintf(params, sizeof params, "{\"requestId\":\"%s\",%s}", request, more);
    talk_call(talk, id, "permissionResponse", params);
    free(request);
}

/* `head`, `count` times `one`, `tail`; to be freed. */
static char *long_text(const char *head, const char *one, size_t count, const char *tail) {
    size_t len = strlen(head) + strlen(one) * count + strlen(tail) + 1;
    char *text = malloc(len);
    assert_non_null(text);
    char *at = stpcpy(text, head);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, one);
    (void)strcpy(at, tail);
    return text;
}

static void test_long_retry(void **state) {
    (void)state;
    struct talk talk;
    char *why = long_text("begin ", "x", 512 - strlen("begin "), "");
    talk_init(&talk);
    talk_next_step(&talk)->hangs = true;
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "hook.prePrompt");
    while (!talk.asked)
        talk_turn(&talk, 10);
    dx_autohand_failure failure = {.kind = DX_AUTOHAND_FAIL_SERVER, .message = dx_str(why)};
    talk.listener.on_retry(talk.listener.user, &failure, 7);
    assert_non_null(strstr(talk.log, "retrying in 7 ms: begin xxx"));
    assert_non_null(strstr(talk.log, why));
    free(why);
    talk_done(&talk);
}

/* A prompt as long as a message may be is longer in what is told of it. */
static void test_long_prompt(void **state) {
    (void)state;
    struct talk talk;
    char *line = long_text("{\"jsonrpc\":\"2.0\",\"method\":\"autohand.prompt\",\"params\":{"
                           "\"message\":\"",
                           "\xc3\xa4", 4950, "\"},\"id\":1}");
    talk_init(&talk);
    talk.config.line_max = 10000;
    assert_true(strlen(line) < talk.config.line_max);
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_say(&talk, line);
    talk_expect(&talk, "=1",
                "agentStart turnStart messageStart changesBatchStart hook.prePrompt messageUpdate "
                "changesBatchEnd hook.postResponse messageEnd turnEnd =1 ");
    free(line);
    talk_done(&talk);
}

/* A delta comes in pieces, and all of it. */
static void test_long_delta(void **state) {
    (void)state;
    struct talk talk;
    char *text = long_text("", "\xc3\xa4\x01", 3000, "");
    size_t got = 0;
    talk_init(&talk);
    talk.config.line_max = 4096;
    talk_says(&talk, text);
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    for (;;) {
        assert_non_null(talk_wait(&talk, TALK_PATIENCE_MS));
        if (strstr(talk.line, "autohand.turnEnd"))
            break;
        if (!strstr(talk.line, "autohand.messageUpdate"))
            continue;
        char *delta = talk_member(&talk, "/params/delta");
        assert_memory_equal(delta, text + got, strlen(delta));
        got += strlen(delta);
        free(delta);
    }
    assert_int_equal(got, strlen(text));
    free(text);
    talk_done(&talk);
}

/* What cannot be shown is neither asked for nor part of what is accepted. */
static void test_long_change(void **state) {
    (void)state;
    struct talk talk;
    char *small = long_text("{\"path\":\"a\",\"contents\":\"", "\\u0001", 900, "\"}");
    char *large = long_text("{\"path\":\"b\",\"contents\":\"", "\\u0001", 1600, "\"}");
    char *patch = long_text("{\"path\":\"c\",\"search\":\"x\",\"replace\":\"", "\\u0001", 1, "\"}");
    char *old = long_text("x", "\x02", 1400, "");
    char params[200];
    talk_init(&talk);
    talk.config.line_max = 10000;
    talk_put(&talk, "c", old);
    struct talk_step *step = talk_next_step(&talk);
    step->calls[0] = step->calls[2] = "write_file";
    step->calls[1] = small;
    step->calls[3] = large;
    step->calls[4] = "search_replace";
    step->calls[5] = patch;
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "permissionRequest");
    allow(&talk, 2, "\"allowed\":true");
    talk_until(&talk, "error"); /* of the large one */
    talk_has(&talk, "/params/code", "-32001");
    talk_has(&talk, "/params/message", "Permission denied: the user cannot be asked");
    talk_until(&talk, "permissionRequest");
    allow(&talk, 3, "\"allowed\":true");
    talk_until(&talk, "changesBatchUpdate");
    talk_has(&talk, "/params/change/filePath", "a");
    talk_until(&talk, "error");
    talk_has(&talk, "/params/message", "search_replace: c: the change is too large to show");
    talk_until(&talk, "changesBatchEnd");
    talk_has(&talk, "/params/changeCount", "1");
    char *batch = talk_member(&talk, "/params/batchId");
    (void)snprintf(params, sizeof params, "{\"batchId\":\"%s\",\"action\":\"accept_all\"}", batch);
    free(batch);
    talk_until(&talk, "=1");
    talk_call(&talk, 4, "changesDecision", params);
    talk_until(&talk, "=4");
    talk_has(&talk, "/result/appliedCount", "1");
    free(small);
    free(large);
    free(patch);
    free(old);
    talk_done(&talk);
}

/* A call whose arguments don't fit into a notification is still begun and ended. */
static void test_long_arguments(void **state) {
    (void)state;
    struct talk talk;
    char *args = long_text("{\"path\":\"a\",\"more\":\"", "\\u0001", 2000, "\"}");
    talk_init(&talk);
    talk.config.line_max = 10000;
    talk_put(&talk, "a", "text\n");
    talk_calls(&talk, "read_file", args);
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "toolStart");
    talk_has(&talk, "/params/args", "{}");
    talk_expect(&talk, "=1",
                "hook.postTool toolEnd messageUpdate changesBatchEnd hook.postResponse messageEnd "
                "turnEnd =1 ");
    free(args);
    talk_done(&talk);
}

/* A few words about what is wrong, however much is. */
static void test_wrong_images(void **state) {
    (void)state;
    struct talk talk;
    char *line = long_text("{\"jsonrpc\":\"2.0\",\"method\":\"autohand.prompt\",\"params\":{"
                           "\"message\":\"x\",\"images\":[0",
                           ",0", 99999, "]},\"id\":1}");
    size_t errors = 0;
    talk_init(&talk);
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_say(&talk, line);
    for (;;) {
        assert_non_null(talk_wait(&talk, TALK_PATIENCE_MS));
        if (strstr(talk.line, "autohand.turnEnd"))
            break;
        if (!strstr(talk.line, "autohand.error"))
            continue;
        if (++errors == 17)
            talk_has(&talk, "/params/message", "99984 more images were skipped");
    }
    assert_int_equal(errors, 17);
    free(line);
    talk_done(&talk);
}

/* A client that does not read while the model speaks without end learns of all of it, and of the
 * turn's end, when it reads again; in between little is held for it. */
static void test_deaf_to_words(void **state) {
    (void)state;
    enum { WORDS = 200000 };
    struct talk talk;
    char *delta;
    size_t got = 0;
    talk_init(&talk);
    talk_next_step(&talk)->hangs = true;
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "hook.prePrompt");
    while (!talk.asked)
        talk_turn(&talk, 10);
    talk.deaf = true;
    for (size_t i = 0; i < WORDS; i++) {
        talk.listener.on_text(talk.listener.user, dx_str("word"));
        talk.listener.on_thought(talk.listener.user, dx_str("hm"));
    }
    assert_true(talk.memory.peak < 8 << 20);
    talk.asked = false;
    talk.listener.on_done(talk.listener.user, 1);
    for (uint64_t until = talk_now() + 100; talk_now() < until;)
        talk_turn(&talk, 10);
    talk.deaf = false;
    for (;;) {
        assert_non_null(talk_wait(&talk, TALK_PATIENCE_MS));
        if (strstr(talk.line, "autohand.messageEnd"))
            break;
        if (!strstr(talk.line, "autohand.messageUpdate"))
            continue;
        delta = talk_member(&talk, "/params/delta");
        got += strlen(delta);
        free(delta);
    }
    assert_int_equal(got, WORDS * strlen("word"));
    delta = talk_member(&talk, "/params/content");
    assert_int_equal(strlen(delta), got);
    free(delta);
    talk_expect(&talk, "=1", "turnEnd =1 ");
    talk_done(&talk);
}

/* What the user wrote instead is run as it was written, or not at all. */
static void test_odd_alternatives(void **state) {
    (void)state;
    static const struct {
        const char *line, *args;
    } rows[] = {
        {"echo one | cat", NULL},
        {"echo $HOME", NULL},
        {"'echo one'", "{\"command\":\"'echo one'\"}"},
        {"echo \\\"a b\\\"", "{\"command\":\"echo\",\"args\":[\"a b\"]}"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk talk;
        char more[200];
        talk_init(&talk);
        talk_calls(&talk, "run_command", "{\"command\":\"rm\",\"args\":[\"-r\",\"x\"]}");
        talk_says(&talk, "Done.");
        talk_open(&talk, DX_FRAMING_LINE);
        talk_call(&talk, 1, "prompt", "{\"message\":\"RUN\"}");
        talk_until(&talk, "permissionRequest");
        (void)snprintf(more, sizeof more, "\"decision\":\"alternative\",\"alternative\":\"%s\"",
                       rows[i].line);
        allow(&talk, 2, more);
        talk_until(&talk, "toolStart");
        if (rows[i].args)
            talk_has(&talk, "/params/args", rows[i].args);
        talk_until(&talk, "toolEnd");
        talk_has(&talk, "/params/success", i == 3 ? "true" : "false");
        if (!rows[i].args)
            talk_has(&talk, "/params/error", "the user's alternative cannot be used");
        talk_until(&talk, "=1");
        talk_done(&talk);
    }
}

/* 0.8 begins all calls at once; one that another makes ask is not forgotten. */
static void test_asks_late_in_0_8(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.compat = DX_AUTOHAND_0_8;
    talk.config.client_context = "cli";
    talk.config.no_preview = 1;
    talk_put(&talk, "a", "text\n");
    struct talk_step *step = talk_next_step(&talk);
    step->calls[0] = "delete_path";
    step->calls[1] = "{\"path\":\"a\"}";
    step->calls[2] = "write_file";
    step->calls[3] = "{\"path\":\"a\",\"contents\":\"new\"}";
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "permissionRequest");
    allow(&talk, 2, "\"allowed\":true");
    talk_until(&talk, "permissionRequest");
    allow(&talk, 3, "\"allowed\":true");
    talk_until(&talk, "=1");
    talk_done(&talk);
}

/* A rule holds for a command however it is spelt and in whatever folder it is run, and for no
 * other. */
static void test_spellings(void **state) {
    (void)state;
    static const struct {
        const char *args;
        bool denied;
    } rows[] = {
        {"{\"command\":\"echo\",\"args\":[\"a\"]}", true},
        {"{\"command\":\" echo  a \"}", true},
        {"{\"command\":\"'echo' a\"}", true},
        {"{\"command\":\"ec''ho \\\"a\\\"\"}", true},
        {"{\"command\":\"echo a\",\"directory\":\".//.\"}", true},
        {"{\"command\":\"echo 'a '\"}", false},
        {"{\"command\":\"'echo a'\"}", false},
        {"{\"command\":\"echo a\",\"directory\":\"d\"}", true},
        {"{\"command\":\"true\"}", false},
        {"{\"command\":\"true\",\"directory\":\"./d/\"}", true},
        {"{\"command\":\"true\",\"args\":[\"(in\",\"d)\"]}", false},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct talk talk;
        char path[128];
        talk_init(&talk);
        talk.config.allow_all = 1;
        talk.config.settings = "{\"permissions\":{\"deny\":[\"run_command:echo a\","
                               "\"run_command:true (in d)\"]}}";
        (void)snprintf(path, sizeof path, "%s/d", talk.folder);
        assert_int_equal(mkdir(path, 0700), 0);
        talk_calls(&talk, "run_command", rows[i].args);
        talk_says(&talk, "Done.");
        talk_open(&talk, DX_FRAMING_LINE);
        talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
        talk_until(&talk, "=1");
        if (rows[i].denied != !strstr(talk.shape, "toolStart "))
            fail_msg("%s: %s", rows[i].args, talk.shape);
        talk_done(&talk);
    }
}

/* Two arguments of one name are not one. */
static void test_twins(void **state) {
    (void)state;
    struct talk talk;
    talk_init(&talk);
    talk.config.allow_all = 1;
    talk_calls(&talk, "write_file", "{\"path\":\"a\",\"contents\":\"x\",\"path\":\"b\"}");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(&talk, "toolEnd");
    talk_has(&talk, "/params/error", "Invalid arguments: a duplicate name, or too many arguments");
    talk_until(&talk, "changesBatchEnd");
    talk_has(&talk, "/params/changeCount", "0");
    talk_done(&talk);
}

static void on_flood(dx_autohand_job *job, void *user) {
    size_t *written = user;
    char name[32];
    dx_error error;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "f%d", i);
        dx_status status = dx_autohand_job_write(job, name, dx_str("x"), NULL, &error);
        assert_true(status == DX_OK || status == DX_ERR_LIMIT);
        *written += status == DX_OK;
    }
    dx_autohand_job_done(job, dx_str("flood"));
}

/* No more changes are taken than the client can be told of. */
static void test_flood_of_changes(void **state) {
    (void)state;
    struct talk talk;
    size_t written = 0;
    size_t told = 0;
    char count[32];
    dx_error error;
    const dx_autohand_tool tool = {.name = "flood",
                                   .parameters = "{\"type\":\"object\"}",
                                   .kind = DX_AUTOHAND_TOOL_WRITES,
                                   .run = on_flood,
                                   .user = &written};
    talk_init(&talk);
    talk.config.allow_all = 1;
    talk.config.line_max = 40000;
    talk_calls(&talk, "flood", "{}");
    talk_says(&talk, "Done.");
    talk_open(&talk, DX_FRAMING_LINE);
    assert_int_equal(dx_autohand_agent_add_tool(talk.agent, &tool, &error), DX_OK);
    talk_call(&talk, 1, "prompt", "{\"message\":\"x\"}");
    do {
        assert_non_null(talk_wait(&talk, TALK_PATIENCE_MS));
        told += strstr(talk.line, "\"autohand.changesBatchUpdate\"") != NULL;
    } while (!strstr(talk.line, "\"autohand.changesBatchEnd\""));
    (void)snprintf(count, sizeof count, "%zu", written);
    talk_has(&talk, "/params/changeCount", count);
    assert_int_equal(told, written);
    assert_true(written > 100 && written < 1000);
    talk_done(&talk);
}

enum { FILES = 1000 };

static void on_many(dx_autohand_job *job, void *user) {
    char name[32];
    dx_error error;
    (void)user;
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "f%d", i);
        assert_int_equal(dx_autohand_job_write(job, name, dx_str("x"), NULL, &error), DX_OK);
    }
    dx_autohand_job_done(job, dx_str("many"));
}

static bool is_written(const struct talk *talk, int number) {
    char path[128];
    (void)snprintf(path, sizeof path, "%s/f%d", talk->folder, number);
    return access(path, F_OK) == 0;
}

/* A turn has changed many files, and all of that was accepted just now. */
static void decide_about_many(struct talk *talk) {
    const dx_autohand_tool tool = {.name = "many",
                                   .parameters = "{\"type\":\"object\"}",
                                   .kind = DX_AUTOHAND_TOOL_WRITES,
                                   .run = on_many};
    dx_error error;
    char params[200];
    talk_init(talk);
    talk->config.allow_all = 1;
    talk_calls(talk, "many", "{}");
    talk_says(talk, "Done.");
    talk_says(talk, "Done again.");
    talk_open(talk, DX_FRAMING_LINE);
    assert_int_equal(dx_autohand_agent_add_tool(talk->agent, &tool, &error), DX_OK);
    talk_call(talk, 1, "prompt", "{\"message\":\"x\"}");
    talk_until(talk, "changesBatchEnd");
    char *batch = talk_member(talk, "/params/batchId");
    (void)snprintf(params, sizeof params, "{\"batchId\":\"%s\",\"action\":\"accept_all\"}", batch);
    free(batch);
    talk_until(talk, "=1");
    talk_call(talk, 2, "changesDecision", params);
    talk_call(talk, 3, "changesDecision", params);
}

/* The client is heard while many files are written, and told when all are. */
static void test_long_decision(void **state) {
    (void)state;
    struct talk talk;
    decide_about_many(&talk);
    talk_until(&talk, "hook.fileModified");
    talk_call(&talk, 4, "getState", NULL);
    talk_call(&talk, 5, "abort", NULL);
    talk_call(&talk, 6, "reset", NULL);
    talk_until(&talk, "=2");
    talk_has(&talk, "/result/appliedCount", "1000");
    assert_non_null(strstr(talk.shape, "=3 "));
    assert_non_null(strstr(talk.shape, "=4 "));
    assert_non_null(strstr(talk.shape, "=5 "));
    assert_non_null(strstr(talk.shape, "=6 "));
    assert_true(is_written(&talk, FILES - 1));
    talk_quiet(&talk);
    talk_done(&talk);
}

/* A prompt that follows begins its turn at once, and its model is asked when all are written. */
static void test_prompt_in_decision(void **state) {
    (void)state;
    struct talk talk;
    decide_about_many(&talk);
    talk_until(&talk, "hook.fileModified");
    talk_call(&talk, 4, "prompt", "{\"message\":\"y\"}");
    talk_until(&talk, "turnStart");
    assert_null(strstr(talk.shape, "=2 "));
    talk_until(&talk, "messageUpdate");
    assert_non_null(strstr(talk.shape, "=2 "));
    assert_true(is_written(&talk, FILES - 1));
    talk_until(&talk, "=4");
    talk_done(&talk);
}

/* The end of the input in between: what there is time for is written, and it is answered. */
static void test_end_in_decision(void **state) {
    (void)state;
    enum { ENDS, GOES, IS_FREED };
    for (int how = ENDS; how <= IS_FREED; how++) {
        struct talk talk;
        decide_about_many(&talk);
        talk_until(&talk, "hook.fileModified");
        if (how == IS_FREED) { /* no time at all */
            dx_autohand_agent_free(talk.agent);
            talk.agent = NULL;
            assert_false(is_written(&talk, FILES - 1));
            talk_done(&talk);
            continue;
        }
        uint64_t began = talk_now();
        if (how == GOES) { /* and nobody reads what is answered */
            close(talk.from);
            talk.from = -1;
            talk_end(&talk);
            talk_done(&talk);
            continue;
        }
        talk_end(&talk);
        assert_true(talk_now() - began < 2500);
        talk_until(&talk, "agentEnd");
        assert_non_null(strstr(talk.shape, "=2 "));
        talk_done(&talk);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_retry),
        cmocka_unit_test(test_long_prompt),
        cmocka_unit_test(test_long_delta),
        cmocka_unit_test(test_long_change),
        cmocka_unit_test(test_long_arguments),
        cmocka_unit_test(test_wrong_images),
        cmocka_unit_test(test_deaf_to_words),
        cmocka_unit_test(test_odd_alternatives),
        cmocka_unit_test(test_asks_late_in_0_8),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_flood_of_changes),
        cmocka_unit_test(test_long_decision),
        cmocka_unit_test(test_prompt_in_decision),
        cmocka_unit_test(test_end_in_decision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
