/* What is too much, or cannot be said: on both sides of each limit. */
#include "finecode/er_demo.h"

static struct talk talk;

#define TEXT_T "{\"text\":\"t\"}"

/* Text that grows. */
static char *room;
static size_t used;

static void begin(void) {
    room = malloc(4 << 20);
    assert_non_null(room);
    room[0] = '\0';
    used = 0;
}

static void say(const char *text) {
    size_t len = strlen(text);
    assert_true(used + len < 4 << 20);
    memcpy(room + used, text, len + 1);
    used += len;
}

static void say_numbered(const char *before, int number, const char *after) {
    char text[300];
    (void)snprintf(text, sizeof text, "%s%d%s", before, number, after);
    say(text);
}

static void configure(int actions, int handlers, int globals) {
    begin();
    say("{\"workingDir\":\"/w\",\"projectName\":\"w\",\"projectDefPath\":\"/p\",\"config\":{"
        "\"actions\":[");
    for (int i = 0; i < actions; i++) {
        say(i ? "," : "");
        say_numbered("{\"name\":\"a\",\"source\":\"s", i, "\",\"config\":{},\"handlers\":[");
        for (int k = 0; i == 0 && k < handlers; k++) {
            say(k ? "," : "");
            say_numbered("{\"name\":\"h\",\"source\":\"h", k, "\",\"config\":{},\"env\":\"dev\"}");
        }
        say("]}");
    }
    say("],\"action_handler_configs\":{");
    for (int i = 0; i < globals; i++) {
        say(i ? "," : "");
        say_numbered("\"g", i, "\":{}");
    }
    say("}}}");
    talk_request(&talk, 2, "finecodeRunner/updateConfig", room);
    free(room);
}

static void configurations(void **state) {
    (void)state;
    enum { MOST = 10000 };
    demo_start(&talk, "real");
    configure(MOST, 1, 1);
    talk_result(&talk, 2, "{}");
    configure(MOST + 1, 1, 1);
    talk_error(&talk, 2, -32603, "too many");
    configure(1, MOST, 1);
    talk_result(&talk, 2, "{}");
    configure(1, MOST + 1, 1);
    talk_error(&talk, 2, -32603, "too many");
    configure(1, 1, MOST);
    talk_result(&talk, 2, "{}");
    configure(1, 1, MOST + 1);
    talk_error(&talk, 2, -32603, "too many");
    demo_stop_talk(&talk);
}

static void name_handlers(int count) {
    begin();
    say("{\"actionName\":\"conc\",\"handlerNames\":[");
    for (int i = 0; i < count; i++)
        say(i ? ",\"zz\"" : "\"c1\"");
    say("],\"options\":" DEMO_OPTIONS("") "}");
    talk_request(&talk, 2, "actions/runHandlers", room);
    free(room);
}

static void names_of_handlers(void **state) {
    (void)state;
    demo_start(&talk, "real");
    name_handlers(10000);
    assert_has(talk_hear(&talk), "\"items\":[\"c1\"]");
    name_handlers(10001);
    talk_error(&talk, 2, -32603, "too long");
    demo_stop_talk(&talk);
}

static unsigned count_of(const char *text, const char *part) {
    unsigned count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

static void faults_of_a_payload(void **state) {
    (void)state;
    dx_finecode_action action = {
        .source = "demo.Many",
        .payload =
            "{\"properties\":{\"deep\":{\"type\":\"object\",\"properties\":{\"list\":{\"type\":"
            "\"array\",\"items\":{\"type\":\"number\"}}}},\"e\":{\"enum\":[1,2]}},\"required\":["
            "\"a\",\"b\"]}"};
    demo_start(&talk, "real");
    assert_int_equal(dx_finecode_er_add_action(talk.er, &action, NULL), DX_OK);
    talk_configure(
        &talk, "{\"actions\":[" DEMO_A(
                   "many", "Many", DEMO_H("c1", "C1", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 2, "many", "{\"deep\":{\"list\":[1,\"x\"]},\"e\":3,\"a\":1}", "");
    char *body = talk_hear(&talk);
    assert_has(body, "{\"error\":\"Invalid payload for action many: required field missing @ $.b; "
                     "invalid value for type, expected float @ $.deep.list[1]; ");
    assert_has(body, " @ $.e\"}");
    /* Enough is told of it. */
    demo_run(
        &talk, 3, "many",
        "{\"deep\":{\"list\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
        "\"\"]}}",
        "");
    assert_int_equal(count_of(talk_hear(&talk), " @ "), 16);
    demo_run(
        &talk, 4, "many",
        "{\"deep\":{\"list\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
        "\"\",\"\",\"\"]}}",
        "");
    assert_int_equal(count_of(talk_hear(&talk), " @ "), 16);
    talk_request(&talk, 5, "actions/run",
                 "{\"actionName\":\"many\",\"params\":[],\"options\":" DEMO_OPTIONS("") "}");
    talk_error(&talk, 5, -32603, "'params' is not an object");
    demo_stop_talk(&talk);
}

/* A text that is said to be styled and is none. */
static dx_status bad_format(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    (void)result;
    *ret_styled = user != NULL;
    return user ? dx_buf_append(text, "{\"parts\"", 8) : DX_ERR_LIMIT;
}

static void what_can_not_be_said(void **state) {
    (void)state;
    for (int styled = 0; styled < 2; styled++) {
        dx_finecode_action action = {
            .source = "demo.Odd", .format = bad_format, .user = styled ? &talk : NULL};
        demo_start(&talk, "real");
        assert_int_equal(dx_finecode_er_add_action(talk.er, &action, NULL), DX_OK);
        talk_configure(
            &talk, "{\"actions\":[" DEMO_A(
                       "odd", "Odd", DEMO_H("k", "Keep", "{}")) "],\"action_handler_configs\":{}}");
        demo_run(&talk, 2, "odd", TEXT_T, ",\"resultFormats\":[\"string\"]");
        talk_quiet(&talk);
        dx_finecode_job_done(demo_kept, JSON("{\"a\":1}"), 0);
        talk_error(&talk, 2, -32603, "The result has no text, or its text is too long");
        /* A partial result: the handler is told, and what it gives in the end is a failure. */
        demo_run(&talk, 3, "odd", TEXT_T,
                 ",\"resultFormats\":[\"string\"],\"partialResultToken\":1");
        talk_quiet(&talk);
        assert_int_equal(dx_finecode_job_partial(demo_kept, JSON("{\"a\":1}")), DX_ERR_LIMIT);
        assert_int_equal(demo_cancelled, 0);
        dx_finecode_job_done(demo_kept, JSON("{\"a\":1}"), 0);
        assert_has(talk_hear(&talk), "failed(Run 2): a partial result is too long");
        demo_stop_talk(&talk);
    }
}

/* The same for one that waits: the job is told from the loop. */
static dx_status second_is_bad(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    unsigned *count = user;
    (void)result;
    (void)ret_styled;
    return ++*count == 1 ? dx_buf_append(text, "good", 4) : DX_ERR_LIMIT;
}

static void what_can_not_be_said_later(void **state) {
    (void)state;
    unsigned count = 0;
    dx_finecode_action action = {.source = "demo.Odd", .format = second_is_bad, .user = &count};
    demo_start(&talk, "real");
    assert_int_equal(dx_finecode_er_add_action(talk.er, &action, NULL), DX_OK);
    talk_configure(&talk,
                   "{\"actions\":[" DEMO_A(
                       "odd", "Odd", DEMO_H("k", "Keep", "{}")) "],\"action_handler_configs\":{}}");
    demo_run(&talk, 2, "odd", TEXT_T, ",\"resultFormats\":[\"string\"],\"partialResultToken\":1");
    talk_quiet(&talk);
    assert_int_equal(dx_finecode_job_partial(demo_kept, JSON("{\"a\":1}")), DX_OK);
    assert_int_equal(dx_finecode_job_partial(demo_kept, JSON("{\"a\":2}")), DX_OK);
    assert_has(talk_hear(&talk), "good");
    while (!demo_cancelled)
        talk_turn(&talk, 50);
    dx_finecode_job_cancel(demo_kept);
    talk_result(&talk, 2, "{\"error\":\"a partial result is too long or cannot be sent\"}");
    demo_stop_talk(&talk);
}

/* A file that is as long as a text may be, and one that is longer. */
static void long_files(void **state) {
    (void)state;
    char path[] = "/tmp/duplex-er-long-XXXXXX";
    int fd = mkstemp(path);
    char *text = NULL;
    size_t len = 0;
    dx_error error;
    assert_true(fd >= 0);
    demo_start(&talk, "seed");
    demo_run(&talk, 2, "keep", TEXT_T, "");
    talk_quiet(&talk);
    assert_int_equal(ftruncate(fd, 64 << 20), 0);
    assert_int_equal(dx_finecode_job_read(demo_kept, path, &text, &len, &error), DX_OK);
    assert_int_equal(len, 64 << 20);
    talk.alloc.free(talk.alloc.ctx, text);
    assert_int_equal(ftruncate(fd, (64 << 20) + 1), 0);
    assert_int_equal(dx_finecode_job_read(demo_kept, path, &text, &len, &error), DX_ERR_SYSTEM);
    assert_int_equal(error.system, EFBIG);
    close(fd);
    unlink(path);
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    assert_has(talk_hear(&talk), "success");
    demo_stop_talk(&talk);
}

/* A manager that does not read: nothing is lost, and the answer comes last. */
static void a_manager_that_does_not_read(void **state) {
    (void)state;
    enum { PARTS = 200, SIZE = 20000 };
    char *part = malloc(SIZE + 100);
    assert_non_null(part);
    int len = snprintf(part, 100, "{\"items\":[\"");
    memset(part + len, 'x', SIZE);
    strcpy(part + len + SIZE, "\"]}");
    talk_init(&talk);
    dx_finecode_er_config config = talk_config(&talk, "seed");
    config.partial_ms = 0;
    assert_int_equal(dx_finecode_er_new(&config, &talk.er, NULL), DX_OK);
    demo_declare(&talk);
    talk_pipes(&talk);
    talk_greet(&talk);
    talk_configure(&talk, DEMO_CONFIG);
    demo_run(&talk, 2, "keep", TEXT_T, ",\"partialResultToken\":1");
    talk_quiet(&talk);
    for (int i = 0; i < PARTS; i++) {
        assert_int_equal(dx_finecode_job_partial(demo_kept, dx_json_text(part, strlen(part))),
                         DX_OK);
        dx_loop_dispatch(talk.loop);
    }
    dx_finecode_job_done(demo_kept, dx_json_none(), 0);
    unsigned parts = 0;
    while (strstr(talk_hear(&talk), "$/progress"))
        parts += count_of(talk.body, "xx\\\"") + count_of(talk.body, "xx\\\",\\\"");
    assert_true(parts >= PARTS);
    assert_has(talk.body, "\"status\":\"streamed\"");
    free(part);
    demo_stop_talk(&talk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations),
        cmocka_unit_test(names_of_handlers),
        cmocka_unit_test(faults_of_a_payload),
        cmocka_unit_test(what_can_not_be_said),
        cmocka_unit_test(what_can_not_be_said_later),
        cmocka_unit_test(long_files),
        cmocka_unit_test(a_manager_that_does_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
