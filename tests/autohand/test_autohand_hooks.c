/* Commands at events: what they are told, what they say, how long they may take, and that none is
 * left behind. */
#include "autohand/guard.h"

struct heard {
    struct guard *guard;
    size_t count;
    dx__autohand_verdict verdict;
    bool said;
    char reason[256];
    char context[256];
    char updated[256];
};

static void keep(char room[256], dx_text text) {
    (void)snprintf(room, 256, "%.*s", (int)text.len, text.at ? text.at : "");
}

static void on_done(void *user, const struct dx__autohand_reply *reply) {
    struct heard *heard = user;
    heard->count++;
    heard->verdict = reply->verdict;
    heard->said = reply->said;
    keep(heard->reason, reply->reason);
    keep(heard->context, reply->context);
    char *text = reply->updated ? yyjson_val_write(reply->updated, 0, NULL) : NULL;
    keep(heard->updated, dx_str(text));
    free(text);
    dx_loop_stop(heard->guard->loop);
}

/* One hook of a shell command in which there are no quotes, and more members. */
#define HOOK(event, command, more) "{\"event\":\"" event "\",\"command\":\"" command "\"" more "}"
#define HOOKS(list) "{\"hooks\":{\"hooks\":[" list "]}}"

#define OF(kind, ...) ((struct dx__autohand_occasion){.event = DX__HOOK_##kind, __VA_ARGS__})

static const struct dx__autohand_occasion about_rm = {.event = DX__HOOK_PRE_TOOL,
                                                      .tool = {"run_command", 11},
                                                      .success = -1,
                                                      .tokens = -1,
                                                      .calls = -1,
                                                      .duration_ms = -1};

static void run(struct guard *guard, struct dx__autohand_occasion occasion, struct heard *heard) {
    struct dx__autohand_hooking *hooking = NULL;
    *heard = (struct heard){.guard = guard};
    assert_int_equal(dx__autohand_hooks_run(&guard->agent, &occasion, on_done, heard, &hooking),
                     DX_OK);
    assert_int_equal(heard->count, 0);
    assert_non_null(hooking);
    guard_run(guard, 20000);
    assert_int_equal(heard->count, 1);
}

/* With these hooks and that occasion. */
static struct heard tried(const char *settings, struct dx__autohand_occasion occasion) {
    struct guard guard;
    struct heard heard;
    guard_begin(&guard, settings);
    run(&guard, occasion, &heard);
    guard_done(&guard);
    return heard;
}

static void test_none_matches(void **state) {
    static const char *const settings[] = {
        NULL, "{}", HOOKS(""), HOOKS(HOOK("post-tool", "exit 2", "")),
        "{\"hooks\":{\"enabled\":false,\"hooks\":[" HOOK("pre-tool", "exit 2", "") "]}}"};
    (void)state;
    for (size_t i = 0; i < LENGTH(settings); i++) {
        struct guard guard;
        struct heard heard = {.guard = &guard};
        struct dx__autohand_hooking *hooking = NULL;
        guard_begin(&guard, settings[i]);
        assert_int_equal(dx__autohand_hooks_run(&guard.agent, &about_rm, on_done, &heard, &hooking),
                         DX_OK);
        assert_int_equal(heard.count, 1);
        assert_int_equal(heard.verdict, DX__VERDICT_ASK);
        assert_false(heard.said);
        assert_null(hooking);
        guard_done(&guard);
    }
}

static void test_exit_codes(void **state) {
    static const struct {
        const char *settings;
        dx__autohand_verdict verdict;
        const char *reason;
    } rows[] = {
        {HOOKS(HOOK("pre-tool", "exit 0", "")), DX__VERDICT_ASK, ""},
        {HOOKS(HOOK("pre-tool", "echo hello", "")), DX__VERDICT_ASK, ""},
        {HOOKS(HOOK("pre-tool", "echo not that >&2; exit 2", "")), DX__VERDICT_DENY, "not that"},
        {HOOKS(HOOK("pre-tool", "exit 2", "")), DX__VERDICT_DENY, "Hook blocked execution"},
        {HOOKS(HOOK("pre-tool", "echo x >&2; exit 1", "")), DX__VERDICT_DENY,
         "Hook failed with exit code 1"},
        {HOOKS(HOOK("pre-tool", "kill -9 $$", "")), DX__VERDICT_DENY,
         "Hook was killed by signal 9"},
        {HOOKS(HOOK("pre-tool", "nowhere-to-be-found", "")), DX__VERDICT_DENY,
         "Hook failed with exit code 127"},
        {HOOKS(HOOK("pre-tool", "echo {", "")), DX__VERDICT_DENY, "Hook reply is not valid JSON"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct heard heard = tried(rows[i].settings, about_rm);
        assert_int_equal(heard.verdict, rows[i].verdict);
        assert_int_equal(heard.said, rows[i].verdict == DX__VERDICT_DENY);
        assert_string_equal(heard.reason, rows[i].reason);
    }
}

/* Only what guards a tool refuses by failing; and exit code 2 is a refusal everywhere. */
static void test_failures_elsewhere(void **state) {
    struct guard guard;
    struct heard heard;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("pre-prompt", "exit 1", "") "," HOOK("stop", "exit 2", "")));
    run(&guard, OF(PRE_PROMPT, .instruction = TEXT("x")), &heard);
    assert_int_equal(heard.verdict, DX__VERDICT_ASK);
    assert_false(heard.said);
    assert_int_equal(guard.logs, 1);
    assert_string_equal(guard.log, "pre-prompt hook 'exit 1': Hook failed with exit code 1");
    run(&guard, OF(STOP, .tokens = 1), &heard);
    assert_int_equal(heard.verdict, DX__VERDICT_DENY);
    guard_done(&guard);
    heard = tried(HOOKS(HOOK("permission-request", "exit 1", "")),
                  OF(PERMISSION_REQUEST, .tool = TEXT("t")));
    assert_int_equal(heard.verdict, DX__VERDICT_DENY);
}

/* What a hook prints is in a file: no shell quotes to get right. */
static struct heard said(const char *const *replies, size_t count) {
    struct guard guard;
    struct heard heard;
    char settings[2000] = "{\"hooks\":{\"hooks\":[";
    guard_begin(&guard, NULL);
    for (size_t i = 0; i < count; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "reply%zu", i);
        guard_write(guard.space, name, replies[i]);
        (void)snprintf(settings + strlen(settings), 200, "%s" HOOK("pre-tool", "cat %s", ""),
                       i ? "," : "", name);
    }
    strcat(settings, "]}}");
    dx_error error;
    assert_int_equal(guard_settings(&guard, settings, &error), DX_OK);
    run(&guard, about_rm, &heard);
    guard_done(&guard);
    return heard;
}

static void test_replies(void **state) {
    static const char wrong[] = "Hook reply has a member of the wrong type";
    static const struct {
        const char *reply;
        dx__autohand_verdict verdict;
        bool said;
        const char *reason;
    } rows[] = {
        {"{}", DX__VERDICT_ASK, false, ""},
        {" \n{\"decision\":\"allow\"}\n", DX__VERDICT_ALLOW, true, ""},
        {"{\"decision\":\"ask\"}", DX__VERDICT_ASK, true, ""},
        {"{\"decision\":\"deny\",\"reason\":\"no\"}", DX__VERDICT_DENY, true, "no"},
        {"{\"decision\":\"block\"}", DX__VERDICT_DENY, true, "Hook blocked execution"},
        {"{\"continue\":false,\"stopReason\":\"enough\"}", DX__VERDICT_DENY, true, "enough"},
        {"{\"decision\":\"allow\",\"continue\":false}", DX__VERDICT_DENY, true,
         "Hook blocked execution"},
        {"{\"continue\":true}", DX__VERDICT_ASK, false, ""},
        {"{\"decision\":null,\"reason\":null,\"continue\":null,\"updatedInput\":null}",
         DX__VERDICT_ASK, false, ""},
        {"{\"decision\":\"perhaps\"}", DX__VERDICT_DENY, true,
         "Hook reply has an unknown decision"},
        {"{\"decision\":1}", DX__VERDICT_DENY, true, wrong},
        {"{\"continue\":\"no\"}", DX__VERDICT_DENY, true, wrong},
        {"{\"updatedInput\":[]}", DX__VERDICT_DENY, true, wrong},
        {"{\"additionalContext\":{}}", DX__VERDICT_DENY, true, wrong},
        {"{\"decision\":\"allow\"} x", DX__VERDICT_DENY, true, "Hook reply is not valid JSON"},
        {"{\"updatedInput\":{\"type\":\"x\"}}", DX__VERDICT_DENY, true,
         "Hook may not change the reserved arguments type and tool"},
        {"{\"updatedInput\":{\"tool\":\"x\"},\"decision\":\"allow\"}", DX__VERDICT_DENY, true,
         "Hook may not change the reserved arguments type and tool"},
        {"ok", DX__VERDICT_ASK, false, ""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct heard heard = said(&rows[i].reply, 1);
        assert_int_equal(heard.verdict, rows[i].verdict);
        assert_int_equal(heard.said, rows[i].said);
        assert_string_equal(heard.reason, rows[i].reason);
    }
}

static void test_several_replies(void **state) {
    static const struct {
        const char *replies[3];
        dx__autohand_verdict verdict;
        const char *reason;
    } rows[] = {
        {{"{\"decision\":\"allow\"}", "{\"decision\":\"ask\"}", "{}"}, DX__VERDICT_ASK, ""},
        {{"{\"decision\":\"ask\"}", "{\"decision\":\"allow\"}", "{}"}, DX__VERDICT_ASK, ""},
        {{"{}", "{\"decision\":\"allow\"}", "x"}, DX__VERDICT_ALLOW, ""},
        {{"{\"decision\":\"deny\",\"reason\":\"a\"}", "{\"decision\":\"allow\"}",
          "{\"decision\":\"deny\",\"reason\":\"b\"}"},
         DX__VERDICT_DENY,
         "a"},
        {{"{\"decision\":\"allow\"}", "{\"decision\":\"block\",\"reason\":\"b\"}",
          "{\"decision\":\"allow\"}"},
         DX__VERDICT_DENY,
         "b"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct heard heard = said(rows[i].replies, 3);
        assert_int_equal(heard.verdict, rows[i].verdict);
        assert_true(heard.said);
        assert_string_equal(heard.reason, rows[i].reason);
    }
    static const char *const changes[] = {
        "{\"updatedInput\":{\"a\":1,\"b\":[2]},\"additionalContext\":\"one\"}",
        "{\"updatedInput\":{\"c\":\"x\",\"a\":{}},\"additionalContext\":\"two\"}"};
    struct heard heard = said(changes, 2);
    assert_int_equal(heard.verdict, DX__VERDICT_ASK);
    assert_false(heard.said);
    assert_string_equal(heard.context, "one\ntwo");
    yyjson_doc *doc = yyjson_read(heard.updated, strlen(heard.updated), 0);
    static const char merged[] = "{\"a\":{},\"b\":[2],\"c\":\"x\"}";
    yyjson_doc *expected = yyjson_read(merged, sizeof merged - 1, 0);
    assert_non_null(doc);
    assert_true(yyjson_equals(yyjson_doc_get_root(doc), yyjson_doc_get_root(expected)));
    yyjson_doc_free(doc);
    yyjson_doc_free(expected);
}

/* Each side of the most that a reply may have. */
static void test_long_reply(void **state) {
    static const struct {
        size_t len;
        dx__autohand_verdict verdict;
    } rows[] = {{1 << 20, DX__VERDICT_ALLOW}, {(1 << 20) + 1, DX__VERDICT_DENY}};
    char *text = malloc((1 << 20) + 2);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        memset(text, ' ', rows[i].len);
        memcpy(text, "{\"decision\":\"allow\"", 19);
        text[rows[i].len - 1] = '}';
        text[rows[i].len] = '\0';
        struct heard heard = said((const char *const *)&text, 1);
        assert_int_equal(heard.verdict, rows[i].verdict);
    }
    free(text);
    /* One that floods both its outputs is read to the end, and what is kept is bounded. */
    struct heard heard = tried(HOOKS(HOOK("pre-tool",
                                          "yes | head -c 30000000; yes | head -c "
                                          "30000000 >&2; exit 2",
                                          "")),
                               about_rm);
    assert_int_equal(heard.verdict, DX__VERDICT_DENY);
    assert_memory_equal(heard.reason, "y\ny\n", 4);
}

/* One after the other, and none after continue: false; the asynchronous ones come in any case. */
static void test_order(void **state) {
    struct guard guard;
    struct heard heard;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("pre-tool", "echo later >> later", ",\"async\":true") "," HOOK(
                            "pre-tool", "sleep 0.2; echo a >> log",
                            "") "," HOOK("pre-tool", "echo b >> log; cat stop",
                                         "") "," HOOK("pre-tool", "echo c >> log", "")));
    guard_write(guard.space, "stop", "{}");
    run(&guard, about_rm, &heard);
    char *text = guard_read(guard.space, "log");
    assert_string_equal(text, "a\nb\nc\n");
    free(text);
    guard_write(guard.space, "stop", "{\"continue\":false,\"reason\":\"r\"}");
    run(&guard, about_rm, &heard);
    assert_string_equal(heard.reason, "r");
    text = guard_read(guard.space, "log");
    assert_string_equal(text, "a\nb\nc\na\nb\n");
    free(text);
    for (int i = 0; i < 100 && guard.agent.hookings; i++)
        guard_run(&guard, 50);
    text = guard_read(guard.space, "later");
    assert_string_equal(text, "later\nlater\n");
    free(text);
    guard_done(&guard);
}

/* Nobody waits for those, and what they say counts for nothing. */
static void test_asynchronous(void **state) {
    struct guard guard;
    struct heard heard;
    (void)state;
    guard_begin(
        &guard,
        HOOKS(HOOK("pre-tool", "sleep 1; echo 1 >> done; exit 2", ",\"async\":true") "," HOOK(
            "pre-tool", "sleep 1; echo 2 >> done", ",\"async\":true")));
    uint64_t start = guard_now();
    run(&guard, about_rm, &heard);
    assert_true(guard_now() - start < 900);
    assert_int_equal(heard.verdict, DX__VERDICT_ASK);
    assert_non_null(guard.agent.hookings);
    for (int i = 0; i < 500 && guard.agent.hookings; i++)
        guard_run(&guard, 20);
    char *text = guard_read(guard.space, "done");
    assert_int_equal(strlen(text), 4);
    free(text);
    guard_done(&guard);
}

/* The pid that a hook has written, once it is there. */
static pid_t pid_in(struct guard *guard, const char *name) {
    pid_t pid = 0;
    for (int i = 0; i < 1000 && !pid; i++) {
        guard_run(guard, 10);
        char *text = guard_read(guard->space, name);
        pid = strchr(text, '\n') ? (pid_t)strtol(text, NULL, 10) : 0;
        free(text);
    }
    assert_true(pid > 0);
    return pid;
}

/* One that is dead and not yet buried by whoever inherited it is not alive. */
static bool runs(pid_t pid) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld", (long)pid);
    char *text = guard_read(path, "stat");
    const char *behind = strrchr(text, ')');
    bool alive = behind && strlen(behind) > 2 && behind[2] != 'Z' && behind[2] != 'X';
    free(text);
    return alive;
}

static bool is_alive(pid_t pid) {
    for (int i = 0; i < 400 && runs(pid); i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    return runs(pid);
}

/* SIGTERM first, SIGKILL a second later. */
static void test_time_limit(void **state) {
    struct guard guard;
    struct heard heard;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("pre-tool", "echo $$ > pid; sleep 60", ",\"timeout\":200")));
    uint64_t start = guard_now();
    run(&guard, about_rm, &heard);
    assert_true(guard_now() - start >= 200 && guard_now() - start < 1150);
    assert_int_equal(heard.verdict, DX__VERDICT_DENY);
    assert_string_equal(heard.reason, "Hook timed out after 200 ms");
    assert_false(is_alive(pid_in(&guard, "pid")));
    guard_done(&guard);

    guard_begin(&guard,
                HOOKS(HOOK("pre-tool", "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done",
                           ",\"timeout\":200")));
    start = guard_now();
    run(&guard, about_rm, &heard);
    assert_true(guard_now() - start >= 1200 && guard_now() - start < 8000);
    assert_string_equal(heard.reason, "Hook timed out after 200 ms");
    assert_false(is_alive(pid_in(&guard, "pid")));
    guard_done(&guard);
}

/* Nobody waits any more: it and its children are gone, and nothing is told. */
static void test_dropped(void **state) {
    struct guard guard;
    struct heard heard = {.guard = &guard};
    struct dx__autohand_hooking *hooking = NULL;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("pre-tool", "sleep 60 & echo $! > pid; wait", "")));
    assert_int_equal(dx__autohand_hooks_run(&guard.agent, &about_rm, on_done, &heard, &hooking),
                     DX_OK);
    pid_t pid = pid_in(&guard, "pid");
    uint64_t start = guard_now();
    dx__autohand_hooks_drop(hooking);
    assert_false(is_alive(pid));
    assert_true(guard_now() - start < 2000);
    guard_run(&guard, 50);
    assert_int_equal(heard.count, 0);
    assert_null(guard.agent.hookings);
    /* Before it has begun, and nothing at all. */
    assert_int_equal(dx__autohand_hooks_run(&guard.agent, &about_rm, on_done, &heard, &hooking),
                     DX_OK);
    dx__autohand_hooks_drop(hooking);
    dx__autohand_hooks_drop(NULL);
    guard_run(&guard, 50);
    assert_int_equal(heard.count, 0);
    guard_done(&guard);
}

/* hooks_end() ends what nobody waits for, and only that. */
static void test_end(void **state) {
    struct guard guard;
    struct heard heard = {.guard = &guard};
    struct dx__autohand_hooking *hooking = NULL;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("stop", "echo $$ > pid; sleep 60",
                                   "") "," HOOK("pre-tool", "sleep 0.2", "")));
    struct dx__autohand_occasion stop = OF(STOP, .tokens = 1);
    assert_int_equal(dx__autohand_hooks_run(&guard.agent, &stop, NULL, NULL, NULL), DX_OK);
    assert_int_equal(dx__autohand_hooks_run(&guard.agent, &about_rm, on_done, &heard, &hooking),
                     DX_OK);
    pid_t pid = pid_in(&guard, "pid");
    dx__autohand_hooks_end(&guard.agent);
    assert_false(is_alive(pid));
    if (!heard.count)
        guard_run(&guard, 5000);
    assert_int_equal(heard.count, 1);
    guard_done(&guard);
}

/* Of those that nobody waits for, few run at once, many may wait, and more are left out. */
static void test_many_for_nobody(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("stop", "echo x >> log", "")));
    struct dx__autohand_occasion stop = OF(STOP, .tokens = 1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(dx__autohand_hooks_run(&guard.agent, &stop, NULL, NULL, NULL), DX_OK);
    assert_int_equal(guard.logs, 0);
    assert_int_equal(dx__autohand_hooks_run(&guard.agent, &stop, NULL, NULL, NULL), DX_OK);
    assert_int_equal(guard.logs, 1);
    assert_string_equal(guard.log, "not running a hook: too many hooks are waiting");
    dx__autohand_hooks_end(&guard.agent);
    /* All of as many as had to wait for each other are run. */
    for (int i = 0; i < 30; i++)
        assert_int_equal(dx__autohand_hooks_run(&guard.agent, &stop, NULL, NULL, NULL), DX_OK);
    for (int i = 0; i < 400 && guard.agent.hookings; i++)
        guard_run(&guard, 50);
    assert_null(guard.agent.hookings);
    char *text = guard_read(guard.space, "log");
    assert_int_equal(strlen(text), 60);
    free(text);
    guard_done(&guard);
}

static size_t all;
static void on_one(void *user, const struct dx__autohand_reply *reply) {
    struct guard *guard = user;
    assert_int_equal(reply->verdict, DX__VERDICT_DENY);
    if (--all == 0)
        dx_loop_stop(guard->loop);
}

/* More than may run at once, all waited for, one of them given up: every other one is told. */
static void test_many_waited_for(void **state) {
    struct guard guard;
    struct dx__autohand_hooking *hookings[100];
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("pre-tool", "exit 2", "")));
    all = 99;
    for (size_t i = 0; i < LENGTH(hookings); i++)
        assert_int_equal(
            dx__autohand_hooks_run(&guard.agent, &about_rm, on_one, &guard, &hookings[i]), DX_OK);
    dx__autohand_hooks_drop(hookings[70]);
    guard_run(&guard, 30000);
    assert_int_equal(all, 0);
    assert_null(guard.agent.hookings);
    guard_done(&guard);
}

/* The workspace is gone: no hook can be started, and the tool is refused. */
static void test_cannot_start(void **state) {
    struct guard guard;
    struct heard heard;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("pre-tool", "true", "") "," HOOK("pre-tool", "true", "")));
    char gone[200];
    (void)snprintf(gone, sizeof gone, "%s/gone", guard.folder);
    assert_int_equal(rename(guard.space, gone), 0);
    run(&guard, about_rm, &heard);
    assert_int_equal(heard.verdict, DX__VERDICT_DENY);
    assert_string_equal(heard.reason, "Hook could not be started");
    guard_done(&guard);
}

/* 0.6 runs them before a tool and goes on, whatever they say. */
static void test_compat(void **state) {
    struct guard guard;
    struct heard heard;
    (void)state;
    guard_begin(&guard, HOOKS(HOOK("pre-tool", "echo x > log; exit 2", "")));
    guard.agent.config.compat = DX_AUTOHAND_0_6;
    run(&guard, about_rm, &heard);
    assert_int_equal(heard.verdict, DX__VERDICT_ASK);
    assert_false(heard.said);
    char *text = guard_read(guard.space, "log");
    assert_string_equal(text, "x\n");
    free(text);
    guard.agent.config.compat = DX_AUTOHAND_0_8;
    run(&guard, about_rm, &heard);
    assert_int_equal(heard.verdict, DX__VERDICT_DENY);
    guard_done(&guard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_matches),
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_failures_elsewhere),
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_several_replies),
        cmocka_unit_test(test_long_reply),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_asynchronous),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_many_for_nobody),
        cmocka_unit_test(test_many_waited_for),
        cmocka_unit_test(test_cannot_start),
        cmocka_unit_test(test_compat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
