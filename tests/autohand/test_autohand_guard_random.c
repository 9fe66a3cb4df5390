/* Files that somebody has damaged: nothing breaks, nothing is lost, and nothing is allowed that
 * nobody has allowed. */
#include "autohand/guard.h"

static const char *const pieces[] = {"{",       "}",    "[",     "]",      "\"",       ",",
                                     ":",       "null", "true",  "1e999",  "-1",       "\\u0000",
                                     "\\ud800", "\xff", "allow", "deny",   "\"tool\"", "{}",
                                     "[[[[[[",  "*",    "",      "\"*\":7"};

/* A copy with some pieces put in, over, or taken out. */
static char *damaged(uint64_t *seed, const char *text) {
    size_t len = strlen(text);
    char *copy = calloc(1, len + 200);
    assert_non_null(copy);
    memcpy(copy, text, len);
    for (size_t count = 1 + unit_random(seed, 4); count; count--) {
        const char *piece = pieces[unit_random(seed, LENGTH(pieces))];
        size_t at = unit_random(seed, len + 1);
        size_t gone = unit_random(seed, 3) ? unit_random(seed, 12) : 0;
        gone = gone < len - at ? gone : len - at;
        memmove(copy + at + strlen(piece), copy + at + gone, len - at - gone + 1);
        memcpy(copy + at, piece, strlen(piece));
        len = strlen(copy);
    }
    return copy;
}

static void test_settings(void **state) {
    static const char text[] =
        "{\"provider\":\"mlx\",\"mlx\":{\"url\":\"http://h\",\"key\":\"k\"},\"model\":\"m\","
        "\"permissions\":{\"mode\":\"restricted\",\"allow\":[\"a:b\"],\"rules\":[{\"tool\":\"t\","
        "\"pattern\":\"p\",\"action\":\"ask\"}]},\"hooks\":{\"enabled\":true,\"hooks\":[{\"event\":"
        "\"stop\",\"command\":\"c\",\"timeout\":5,\"matcher\":\"a|b\",\"filter\":{\"path\":["
        "\"{a,b}/**\"]}}]}}";
    uint64_t seed = 7;
    size_t good = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct unit_memory memory = {0};
        dx_allocator alloc = unit_allocator(&memory);
        struct dx__autohand_settings settings;
        dx_error error = {0};
        char *copy = damaged(&seed, text);
        dx_status status = dx__autohand_settings_read(&settings, &alloc, dx_str(copy), &error);
        assert_true(status == DX_OK || status == DX_ERR_INVALID);
        assert_int_equal(status == DX_OK, error.phrase[0] == '\0');
        good += status == DX_OK ? 1 : 0;
        dx__autohand_settings_done(&settings, &alloc);
        assert_int_equal(memory.blocks, 0);
        free(copy);
    }
    assert_true(good > 100 && good < 2900);
}

static void test_workspace_file(void **state) {
    static const char text[] =
        "{\"permissions\":{\"deny\":[\"d\"],\"allow\":[\"t\"],\"remembered\":[{\"tool\":\"t\","
        "\"subject\":\"s\",\"decision\":\"allow\"},{\"tool\":\"t\",\"subject\":\"x\",\"decision\":"
        "\"deny\"}]}}";
    struct guard guard;
    char folder[200];
    uint64_t seed = 11;
    size_t denied = 0;
    (void)state;
    guard_begin(&guard, NULL);
    (void)snprintf(folder, sizeof folder, "%s/.autohand", guard.space);
    assert_int_equal(mkdir(folder, 0755), 0);
    for (int i = 0; i < 1000; i++) {
        char *copy = damaged(&seed, text);
        guard_write(folder, "settings.local.json", copy);
        guard_again(&guard);
        assert_true(dx__autohand_rules_judge(guard.agent.rules, "t", TEXT("s"), (dx_text){0}) !=
                    DX__VERDICT_ALLOW);
        denied +=
            dx__autohand_rules_forbids(guard.agent.rules, "t", TEXT("x"), (dx_text){0}) ? 1 : 0;
        /* Whatever it says, it is kept whole or left alone. */
        if (i % 20 == 0)
            (void)dx__autohand_rules_remember(guard.agent.rules, "t", TEXT("y"),
                                              TEXT("deny_always_project"));
        free(copy);
    }
    assert_true(denied > 20 && denied < 950);
    guard_done(&guard);
}

static void on_done(void *user, const struct dx__autohand_reply *reply) {
    struct guard *guard = user;
    assert_true(!reply->updated || yyjson_is_obj(reply->updated));
    assert_true(reply->verdict != DX__VERDICT_DENY || (reply->said && reply->reason.len));
    dx_loop_stop(guard->loop);
}

static void test_replies(void **state) {
    static const char text[] = "{\"decision\":\"ask\",\"reason\":\"r\",\"continue\":true,"
                               "\"updatedInput\":{\"a\":[1]},\"additionalContext\":\"c\"}";
    static const struct dx__autohand_occasion occasion = {.event = DX__HOOK_PRE_TOOL};
    struct guard guard;
    uint64_t seed = 13;
    (void)state;
    guard_begin(&guard,
                "{\"hooks\":{\"hooks\":[{\"event\":\"pre-tool\",\"command\":\"cat in\"}]}}");
    for (int i = 0; i < 200; i++) {
        char *copy = damaged(&seed, text);
        guard_write(guard.space, "in", copy);
        assert_int_equal(dx__autohand_hooks_run(&guard.agent, &occasion, on_done, &guard, NULL),
                         DX_OK);
        guard_run(&guard, 20000);
        assert_null(guard.agent.hookings);
        free(copy);
    }
    guard_done(&guard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_workspace_file),
        cmocka_unit_test(test_replies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
