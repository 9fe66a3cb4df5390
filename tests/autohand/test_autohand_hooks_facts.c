/* What hooks are told, on their standard input and in their environment, for each event. */
#include "autohand/guard.h"

static void on_done(void *user, const struct dx__autohand_reply *reply) {
    struct guard *guard = user;
    assert_int_equal(reply->verdict, DX__VERDICT_ASK);
    dx_loop_stop(guard->loop);
}

static void begin(struct guard *guard) {
    static const char *const events[] = {
        "pre-tool",      "post-tool",   "file-modified", "pre-prompt", "stop",
        "session-start", "session-end", "session-error", "rate-limit", "permission-request"};
    char settings[3000] = "{\"hooks\":{\"hooks\":[";
    for (size_t i = 0; i < LENGTH(events); i++)
        (void)snprintf(
            settings + strlen(settings), 200,
            "%s{\"event\":\"%s\",\"command\":\"cat > in; env | grep -a ^HOOK_ | LC_ALL=C "
            "sort > env; pwd > pwd\"}",
            i ? "," : "", events[i]);
    strcat(settings, "]}}");
    guard_begin(guard, settings);
}

static void run(struct guard *guard, struct dx__autohand_occasion occasion) {
    assert_int_equal(dx__autohand_hooks_run(&guard->agent, &occasion, on_done, guard, NULL), DX_OK);
    guard_run(guard, 10000);
    assert_null(guard->agent.hookings);
}

/* The facts that all have, and these; likewise the variables. */
static void expect(struct guard *guard, struct dx__autohand_occasion occasion, const char *members,
                   const char *variables) {
    char expected[1000];
    static const char *const names[] = {
        "pre-tool",      "post-tool",   "file-modified", "pre-prompt", "stop",
        "session-start", "session-end", "session-error", "rate-limit", "permission-request"};
    const char *name = names[occasion.event];
    run(guard, occasion);
    (void)snprintf(expected, sizeof expected,
                   "{\"session_id\":\"session_1_2\",\"cwd\":\"%s\",\"hook_event_name\":\"%s\"%s}\n",
                   guard->agent.workspace.path, name, members);
    char *text = guard_read(guard->space, "in");
    assert_string_equal(text, expected);
    free(text);
    const char *event = strstr(variables, "HOOK_EVENT=");
    assert_non_null(event);
    (void)snprintf(expected, sizeof expected, "%.*sHOOK_EVENT=%s%sHOOK_WORKSPACE=%s\n",
                   (int)(event - variables), variables, name, event + 11,
                   guard->agent.workspace.path);
    text = guard_read(guard->space, "env");
    assert_string_equal(text, expected);
    free(text);
}

#define OF(kind, ...) ((struct dx__autohand_occasion){.event = DX__HOOK_##kind, __VA_ARGS__})
#define NO_NUMBERS .tokens = -1, .calls = -1, .duration_ms = -1
#define NOT_TOLD .success = -1, NO_NUMBERS

static void test_tools(void **state) {
    struct guard guard;
    yyjson_doc *doc = yyjson_read("{\"path\":\"a b\",\"n\":[1]}", 22, 0);
    yyjson_val *args = yyjson_doc_get_root(doc);
    (void)state;
    assert_non_null(args);
    begin(&guard);
    expect(
        &guard,
        OF(PRE_TOOL, NOT_TOLD, .tool = TEXT("read_file"), .tool_id = TEXT("call_1"), .args = args),
        ",\"tool_name\":\"read_file\",\"tool_input\":{\"path\":\"a b\",\"n\":[1]},"
        "\"tool_use_id\":\"call_1\"",
        "HOOK_ARGS={\"path\":\"a b\",\"n\":[1]}\nHOOK_EVENT=\nHOOK_SESSION_ID=session_1_2\n"
        "HOOK_TOOL=read_file\nHOOK_TOOL_CALL_ID=call_1\n");
    expect(&guard,
           OF(POST_TOOL, .tokens = -1, .calls = -1, .duration_ms = 12.4, .success = 1,
              .tool = TEXT("t"), .tool_id = TEXT("i"), .output = TEXT("out")),
           ",\"tool_name\":\"t\",\"tool_use_id\":\"i\",\"tool_response\":\"out\","
           "\"tool_success\":true,\"duration\":12",
           "HOOK_DURATION=12\nHOOK_EVENT=\nHOOK_OUTPUT=out\nHOOK_SESSION_ID=session_1_2\n"
           "HOOK_SUCCESS=true\nHOOK_TOOL=t\nHOOK_TOOL_CALL_ID=i\n");
    expect(&guard, OF(PERMISSION_REQUEST, NOT_TOLD, .tool = TEXT("t"), .command = TEXT("ls -l")),
           ",\"tool_name\":\"t\",\"command\":\"ls -l\",\"permission_type\":\"command\"",
           "HOOK_COMMAND=ls -l\nHOOK_EVENT=\nHOOK_PERMISSION_TYPE=command\n"
           "HOOK_SESSION_ID=session_1_2\nHOOK_TOOL=t\n");
    expect(&guard, OF(PERMISSION_REQUEST, NOT_TOLD, .tool = TEXT("t"), .path = TEXT("p")),
           ",\"tool_name\":\"t\",\"file_path\":\"p\",\"permission_type\":\"path\"",
           "HOOK_EVENT=\nHOOK_PATH=p\nHOOK_PERMISSION_TYPE=path\nHOOK_SESSION_ID=session_1_2\n"
           "HOOK_TOOL=t\n");
    expect(&guard, OF(FILE_MODIFIED, NOT_TOLD, .path = TEXT("p"), .change_type = TEXT("create")),
           ",\"file_path\":\"p\",\"change_type\":\"create\"",
           "HOOK_CHANGE_TYPE=create\nHOOK_EVENT=\nHOOK_PATH=p\nHOOK_SESSION_ID=session_1_2\n");
    /* A hook that looks at the path sees the one that is meant, however the model spells it. */
    expect(&guard, OF(PRE_TOOL, NOT_TOLD, .tool = TEXT("t"), .path = TEXT("./p//./q")),
           ",\"tool_name\":\"t\",\"file_path\":\"p/q\"",
           "HOOK_EVENT=\nHOOK_PATH=p/q\nHOOK_SESSION_ID=session_1_2\nHOOK_TOOL=t\n");
    yyjson_doc_free(doc);
    guard_done(&guard);
}

static void test_turns_and_sessions(void **state) {
    struct guard guard;
    yyjson_doc *doc = yyjson_read("[\"a\",\"b\"]", 9, 0);
    (void)state;
    begin(&guard);
    expect(
        &guard,
        OF(PRE_PROMPT, NOT_TOLD, .instruction = TEXT("do it"), .files = yyjson_doc_get_root(doc)),
        ",\"instruction\":\"do it\",\"mentioned_files\":[\"a\",\"b\"]",
        "HOOK_EVENT=\nHOOK_INSTRUCTION=do it\nHOOK_MENTIONED_FILES=[\"a\",\"b\"]\n"
        "HOOK_SESSION_ID=session_1_2\n");
    expect(&guard, OF(STOP, .success = -1, .tokens = 0, .calls = 3, .duration_ms = 7),
           ",\"tokens_used\":0,\"tool_calls_count\":3,\"turn_duration\":7,\"duration\":7",
           "HOOK_DURATION=7\nHOOK_EVENT=\nHOOK_SESSION_ID=session_1_2\nHOOK_TOKENS=0\n"
           "HOOK_TOOL_CALLS_COUNT=3\nHOOK_TURN_DURATION=7\n");
    expect(&guard, OF(SESSION_START, NOT_TOLD, .session_type = TEXT("startup")),
           ",\"session_type\":\"startup\"",
           "HOOK_EVENT=\nHOOK_SESSION_ID=session_1_2\nHOOK_SESSION_TYPE=startup\n");
    expect(&guard,
           OF(SESSION_END, .success = -1, .tokens = -1, .calls = -1, .duration_ms = 1,
              .end_reason = TEXT("exit")),
           ",\"duration\":1,\"session_end_reason\":\"exit\"",
           "HOOK_DURATION=1\nHOOK_EVENT=\nHOOK_SESSION_END_REASON=exit\n"
           "HOOK_SESSION_ID=session_1_2\n");
    expect(&guard,
           OF(SESSION_ERROR, NOT_TOLD, .error = TEXT("it broke"), .error_code = TEXT("-32000")),
           ",\"error\":\"it broke\",\"error_code\":\"-32000\"",
           "HOOK_ERROR=it broke\nHOOK_ERROR_CODE=-32000\nHOOK_EVENT=\n"
           "HOOK_SESSION_ID=session_1_2\n");
    expect(&guard, OF(RATE_LIMIT, NOT_TOLD, .error = TEXT("slow down")), ",\"error\":\"slow down\"",
           "HOOK_ERROR=slow down\nHOOK_EVENT=\nHOOK_SESSION_ID=session_1_2\n");
    yyjson_doc_free(doc);
    char *text = guard_read(guard.space, "pwd");
    assert_memory_equal(text, guard.agent.workspace.path, strlen(guard.agent.workspace.path));
    free(text);
    guard_done(&guard);
}

/* Bytes that are no characters, NUL, line ends, quotes: the object stays JSON, the environment
 * stays one. */
static void test_odd_texts(void **state) {
    struct guard guard;
    (void)state;
    begin(&guard);
    run(&guard,
        OF(POST_TOOL, NOT_TOLD, .tool = TEXT("t"), .output = TEXT("a\0b\xff\n\"\xe2\x80\xa8\xc3")));
    char *text = guard_read(guard.space, "in");
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    yyjson_val *output = yyjson_obj_get(yyjson_doc_get_root(doc), "tool_response");
    static const char mended[] = "a\0b\xef\xbf\xbd\n\"\xe2\x80\xa8\xef\xbf\xbd";
    assert_int_equal(yyjson_get_len(output), sizeof mended - 1);
    assert_memory_equal(yyjson_get_str(output), mended, sizeof mended - 1);
    yyjson_doc_free(doc);
    free(text);
    text = guard_read(guard.space, "env");
    assert_non_null(strstr(text, "HOOK_OUTPUT=a?b"));
    free(text);
    guard_done(&guard);
}

/* Long ones are whole on the standard input, and cut or left out in the environment, of which the
 * system takes only so much. */
static void test_long_texts(void **state) {
    static const size_t sizes[] = {16 << 10, (16 << 10) + 1, 3 << 20};
    struct guard guard;
    (void)state;
    begin(&guard);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        char *text = malloc(sizes[i] + 16);
        assert_non_null(text);
        memset(text, 'x', sizes[i]);
        dx_error error;
        assert_int_equal(
            guard_settings(&guard,
                           "{\"hooks\":{\"hooks\":[{\"event\":\"post-tool\",\"command\":\"wc -c > "
                           "in; printf %s $HOOK_OUTPUT | wc -c > out; printf %s $HOOK_ARGS | wc -c "
                           "> args\"}]}}",
                           &error),
            DX_OK);
        char *json = malloc(sizes[i] + 16);
        assert_non_null(json);
        json[0] = '"';
        memset(json + 1, 'x', sizes[i] - 2);
        json[sizes[i] - 1] = '"';
        yyjson_doc *doc = yyjson_read(json, sizes[i], 0);
        assert_non_null(doc);
        run(&guard,
            OF(POST_TOOL, NOT_TOLD, .output = {text, sizes[i]}, .args = yyjson_doc_get_root(doc)));
        char *in = guard_read(guard.space, "in");
        char *out = guard_read(guard.space, "out");
        char *args = guard_read(guard.space, "args");
        assert_true(strtoull(in, NULL, 10) > 2 * sizes[i]);
        assert_int_equal(strtoull(out, NULL, 10), 16 << 10);
        assert_int_equal(strtoull(args, NULL, 10), i ? 0 : 16 << 10);
        free(in);
        free(out);
        free(args);
        free(json);
        free(text);
        yyjson_doc_free(doc);
    }
    guard_done(&guard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_turns_and_sessions),
        cmocka_unit_test(test_odd_texts),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
