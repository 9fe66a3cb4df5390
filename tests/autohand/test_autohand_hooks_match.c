/* Patterns of permissions, globs of paths, regular expressions, and which hooks they choose. */
#include "autohand/guard.h"
#include "systems/autohand/hooks_parts.h"

static void test_patterns(void **state) {
    static const struct {
        const char *pattern;
        const char *tool;
        const char *subject;
        bool fits;
    } rows[] = {
        {"run_command", "run_command", "anything", true},
        {"run_command", "run_commands", "", false},
        {"run_*", "run_command", "x", true},
        {"*", "run_command", "x", true},
        {"run_command:npm *", "run_command", "npm test a/b", true},
        {"run_command:npm *", "run_command", "npm", false},
        {"run_command:npm *", "run_command", "npmx test", false},
        {"run_command:npm *", "write_file", "npm x", false},
        {"run_command:", "run_command", "", true},
        {"run_command:", "run_command", "x", false},
        {"*:rm*-rf*", "run_command", "rm -v -rf /", true},
        {"*:a?c", "t", "abc", true},
        {"*:a?c", "t", "ac", false},
        {"write_file:src/*.c", "write_file", "src/a.c", true},
        {"write_file:src/*.c", "write_file", "src/a.cc", false},
        {"write_file:*a*b*a", "write_file", "xaxbxba", true},
        {"write_file:*a*b*a", "write_file", "xaxbxb", false},
        {"run_command:echo a:b", "run_command", "echo a:b", true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_int_equal(dx__autohand_pattern_fits(rows[i].pattern, rows[i].tool,
                                                   dx_str(rows[i].subject), DX__MATCH_PLAIN),
                         rows[i].fits);
}

static void test_globs(void **state) {
    static const struct {
        const char *glob;
        const char *path;
        bool fits;
    } rows[] = {
        {"src/**/*.ts", "src/a.ts", true},
        {"src/**/*.ts", "src/a/b/c.ts", true},
        {"src/**/*.ts", "lib/a.ts", false},
        {"src/**/*.ts", "src/a.tsx", false},
        {"*.ts", "a.ts", true},
        {"*.ts", "a/b.ts", false},
        {"**/*.ts", "a.ts", true},
        {"**/*.ts", "a/b/c.ts", true},
        {"**", "a/b", true},
        {"src/**", "src/a", true},
        {"src/**", "srcs/a", false},
        {"**/x/**/y", "a/x/b/x/c/y", true},
        {"**/x/**/y", "a/x/b/x/c/z", false},
        {"**/**/a", "a", true},
        {"a/*/c", "a/b/c", true},
        {"a/*/c", "a/c", false},
        {"a/*/c", "a/b/d/c", false},
        {"[abc]?[!x]", "bz1", true},
        {"[abc]?[!x]", "bzx", false},
        {"[a-c].c", "b.c", true},
        {"[a-c].c", "d.c", false},
        {"[", "[", true},
        {"[a", "a", false},
        {"[]x]", "]", true},
        {"*[0-9]", "a1b2", true},
        {"a**b", "axxb", true},
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"**/.env", "x/.env", true},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_int_equal(dx__autohand_glob_fits(rows[i].glob, dx_str(rows[i].path)), rows[i].fits);
}

static void expand(const char *glob, const char *expected) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    char **list = NULL;
    assert_int_equal(dx__autohand_glob_expand(&list, &alloc, glob), DX_OK);
    char *joined = calloc(1, 1 << 16);
    assert_non_null(joined);
    for (size_t i = 0; list[i]; i++)
        (void)snprintf(joined + strlen(joined), 1000, "%s%s", i ? " " : "", list[i]);
    assert_string_equal(joined, expected);
    free(joined);
    dx__autohand_list_free(list, &alloc);
    assert_int_equal(memory.blocks, 0);
}

static void test_braces(void **state) {
    (void)state;
    expand("a", "a");
    expand("*.{c,h}", "*.c *.h");
    expand("{a,b}/{c,d}", "a/c a/d b/c b/d");
    expand("x{a,{b,c}d}y", "xay xbdy xcdy");
    expand("{a}", "{a}");
    expand("{a,b", "{a,b");
    expand("{,x}a", "a xa");
    expand("{a}{b,c}", "{a}b {a}c");
    /* 128 would be too many: some are left as they are. */
    char **list = NULL;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    assert_int_equal(
        dx__autohand_glob_expand(&list, &alloc, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"),
        DX_MISFIT);
    assert_true(dx__autohand_list_count(list) < 64);
    dx__autohand_list_free(list, &alloc);
    /* Whoever writes such a one hears of it: a hook that is never run guards nothing. */
    struct guard guard;
    dx_error error;
    guard_begin(&guard, NULL);
    assert_int_equal(guard_settings(&guard,
                                    "{\"hooks\":{\"hooks\":[{\"command\":\"c\",\"event\":\"stop\","
                                    "\"filter\":{\"path\":[\"{a,b}{a,b}{a,b}{a,b}{a,b}\"]}},{"
                                    "\"command\":\"c\",\"event\":\"stop\",\"filter\":{\"path\":["
                                    "\"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"]}}]}}",
                                    &error),
                     DX_OK);
    assert_int_equal(dx__autohand_list_count(guard.agent.settings.notes), 1);
    assert_non_null(strstr(guard.agent.settings.notes[0], "/hooks/hooks/1/filter/path: "));
    guard_done(&guard);
}

/* Each star may try many places, but only the last one ever does. */
static void test_hostile_patterns(void **state) {
    static char pattern[1001];
    static char text[1 << 16];
    (void)state;
    for (size_t i = 0; i < 1000; i += 2)
        memcpy(pattern + i, "*a", 2);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 2] = 'b';
    uint64_t start = guard_now();
    assert_false(dx__autohand_glob_fits(pattern, dx_str(text)));
    for (size_t i = 0; i < 1000; i += 2)
        memcpy(pattern + i, "*/", 2);
    memcpy(pattern, "**/a/**/a/**/a/**/a/**/b", 24);
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "a/", 2);
    text[sizeof text - 2] = '\0';
    assert_false(dx__autohand_glob_fits(pattern, dx_str(text)));
    assert_true(guard_now() - start < 10000);
}

static void test_matchers(void **state) {
    static const struct {
        const char *source;
        const char *text;
        dx_status status;
    } rows[] = {
        {"^(run_command|delete_path)$", "run_command", DX_OK},
        {"^(run_command|delete_path)$", "run_commands", DX_AGAIN},
        {"file", "read_file", DX_OK},
        {"(?<=_)f", "read_file", DX_OK},
        {"^$", "", DX_OK},
        {"\xc3\xa4", "\xc3\xa4", DX_OK},
    };
    static const char *const bad[] = {"(", "[", "*", "a{2,1}", "\xff"};
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    struct dx__autohand_matcher *matcher = NULL;
    char why[200];
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(dx__autohand_matcher_new(&alloc, rows[i].source, &matcher, why), DX_OK);
        assert_int_equal(dx__autohand_matcher_find(matcher, dx_str(rows[i].text)), rows[i].status);
        dx__autohand_matcher_free(matcher);
    }
    for (size_t i = 0; i < LENGTH(bad); i++) {
        why[0] = '\0';
        assert_int_equal(dx__autohand_matcher_new(&alloc, bad[i], &matcher, why), DX_ERR_INVALID);
        assert_true(why[0] != '\0');
    }
    assert_int_equal(memory.blocks, 0);
}

/* One that would take for ever is stopped, and then counts as found: a guard is not got round by
 * a name that is hard to look at. */
static void test_hostile_matcher(void **state) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    struct dx__autohand_matcher *matcher = NULL;
    char why[200];
    char text[64];
    (void)state;
    memset(text, 'a', sizeof text - 2);
    memcpy(text + sizeof text - 2, "!", 2);
    uint64_t start = guard_now();
    assert_int_equal(dx__autohand_matcher_new(&alloc, "^(a+)+$", &matcher, why), DX_OK);
    assert_int_equal(dx__autohand_matcher_find(matcher, dx_str(text)), DX_OK);
    assert_true(guard_now() - start < 5000);
    dx__autohand_matcher_free(matcher);
    assert_int_equal(memory.blocks, 0);
}

/* The hook that is configured, and an occasion: does it concern the hook? */
static bool fits(struct guard *guard, const char *hook, struct dx__autohand_occasion occasion) {
    char text[500];
    dx_error error;
    (void)snprintf(text, sizeof text, "{\"hooks\":{\"hooks\":[{\"command\":\"c\",%s}]}}", hook);
    assert_int_equal(guard_settings(guard, text, &error), DX_OK);
    dx_status status =
        dx__autohand_hook_fits(&guard->agent, &guard->agent.settings.hooks[0], &occasion);
    assert_true(status == DX_OK || status == DX_AGAIN);
    return status == DX_OK;
}

#define OF(kind, ...) ((struct dx__autohand_occasion){.event = DX__HOOK_##kind, __VA_ARGS__})

static void test_events(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_true(fits(&guard, "\"event\":\"pre-tool\"", OF(PRE_TOOL, .tool = TEXT("x"))));
    assert_false(fits(&guard, "\"event\":\"pre-tool\"", OF(POST_TOOL, .tool = TEXT("x"))));
    assert_false(
        fits(&guard, "\"event\":\"pre-tool\",\"enabled\":false", OF(PRE_TOOL, .tool = TEXT("x"))));
    assert_true(fits(&guard, "\"event\":\"post-response\"", OF(STOP, .tokens = 1)));
    guard_done(&guard);
}

static void test_filters(void **state) {
    static const char tools[] = "\"event\":\"pre-tool\",\"filter\":{\"tool\":[\"a\",\"b\"]}";
    static const char paths[] = "\"event\":\"pre-tool\",\"filter\":{\"path\":[\"src/**/*.{c,h}\"]}";
    struct guard guard;
    char path[200];
    (void)state;
    guard_begin(&guard, NULL);
    assert_true(fits(&guard, tools, OF(PRE_TOOL, .tool = TEXT("b"))));
    assert_false(fits(&guard, tools, OF(PRE_TOOL, .tool = TEXT("c"))));
    assert_false(fits(&guard, tools, OF(PRE_TOOL, .session_type = TEXT("a"))));
    assert_true(fits(&guard, paths, OF(PRE_TOOL, .path = TEXT("src/x/a.h"))));
    assert_true(fits(&guard, paths, OF(PRE_TOOL, .path = TEXT("././src/a.c"))));
    assert_false(fits(&guard, paths, OF(PRE_TOOL, .path = TEXT("a.c"))));
    assert_false(fits(&guard, paths, OF(PRE_TOOL, .tool = TEXT("src/a.c"))));
    (void)snprintf(path, sizeof path, "%s/src/a.c", guard.space);
    assert_true(fits(&guard, paths, OF(PRE_TOOL, .path = dx_str(path))));
    /* Another spelling of the same path does not lead past a hook. */
    static const char one[] = "\"event\":\"pre-tool\",\"filter\":{\"path\":[\"src/*.c\"]}";
    static const char *const spelt[] = {"src//a.c", ".//src/a.c", "src/./a.c", "src/././/a.c"};
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++)
        assert_true(fits(&guard, one, OF(PRE_TOOL, .path = dx_str(spelt[i]))));
    (void)snprintf(path, sizeof path, "%s//src/./a.c", guard.space);
    assert_true(fits(&guard, one, OF(PRE_TOOL, .path = dx_str(path))));
    assert_false(fits(&guard, one, OF(PRE_TOOL, .path = TEXT("src/x/a.c"))));
    assert_false(fits(&guard, one, OF(PRE_TOOL, .path = TEXT("src/../a.c"))));
    assert_false(fits(&guard, one, OF(PRE_TOOL, .path = TEXT(""))));
    yyjson_doc *doc = yyjson_read("{\"path\":\"src/a.c\"}", 18, 0);
    assert_true(fits(&guard, paths, OF(PRE_TOOL, .args = yyjson_doc_get_root(doc))));
    yyjson_doc_free(doc);
    guard_done(&guard);
}

static void test_matched_texts(void **state) {
    static const char end[] = "\"event\":\"session-end\",\"matcher\":\"^(clear|quit)$\"";
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    assert_true(fits(&guard, "\"event\":\"permission-request\",\"matcher\":\"^run\"",
                     OF(PERMISSION_REQUEST, .tool = TEXT("run_command"))));
    assert_false(fits(&guard, "\"event\":\"post-tool\",\"matcher\":\"^run\"",
                      OF(POST_TOOL, .tool = TEXT("read_file"))));
    assert_false(
        fits(&guard, "\"event\":\"pre-tool\",\"matcher\":\"x\"", OF(PRE_TOOL, .success = -1)));
    assert_true(fits(&guard, "\"event\":\"session-start\",\"matcher\":\"start\"",
                     OF(SESSION_START, .session_type = TEXT("startup"))));
    assert_true(fits(&guard, end, OF(SESSION_END, .end_reason = TEXT("quit"))));
    assert_false(fits(&guard, end, OF(SESSION_END, .end_reason = TEXT("exit"))));
    /* Other events have nothing that it could look at. */
    assert_true(fits(&guard, "\"event\":\"stop\",\"matcher\":\"never\"", OF(STOP, .tokens = 1)));
    assert_false(
        fits(&guard, "\"event\":\"pre-tool\",\"matcher\":\"(\"", OF(PRE_TOOL, .tool = TEXT("("))));
    guard_done(&guard);
}

/* 0.6 has hooks that it never runs. */
static void test_compat(void **state) {
    struct guard guard;
    (void)state;
    guard_begin(&guard, NULL);
    for (int compat = DX_AUTOHAND_DOC; compat <= DX_AUTOHAND_0_8; compat++) {
        bool hears = compat != DX_AUTOHAND_0_6;
        guard.agent.config.compat = (dx_autohand_compat)compat;
        assert_int_equal(fits(&guard, "\"event\":\"stop\"", OF(STOP, .tokens = 1)), hears);
        assert_int_equal(fits(&guard, "\"event\":\"pre-prompt\"", OF(PRE_PROMPT, .tokens = 1)),
                         hears);
        assert_int_equal(fits(&guard, "\"event\":\"permission-request\"",
                              OF(PERMISSION_REQUEST, .tool = TEXT("run_command"))),
                         hears);
        assert_true(fits(&guard, "\"event\":\"permission-request\"",
                         OF(PERMISSION_REQUEST, .tool = TEXT("write_file"))));
        assert_true(fits(&guard, "\"event\":\"pre-tool\"", OF(PRE_TOOL, .tool = TEXT("x"))));
    }
    guard_done(&guard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),      cmocka_unit_test(test_globs),
        cmocka_unit_test(test_braces),        cmocka_unit_test(test_hostile_patterns),
        cmocka_unit_test(test_matchers),      cmocka_unit_test(test_hostile_matcher),
        cmocka_unit_test(test_events),        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_matched_texts), cmocka_unit_test(test_compat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
