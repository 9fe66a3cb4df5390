/* Every allocation of a hook's life fails once, each in a run of its own: nothing is lost, who
 * waits is told or hears at once that it failed, and a tool is never allowed by that. */
#include "autohand/guard.h"

struct heard {
    struct guard *guard;
    size_t count;
    dx__autohand_verdict verdict;
    bool said;
    bool updated;
};

static void on_done(void *user, const struct dx__autohand_reply *reply) {
    struct heard *heard = user;
    heard->count++;
    heard->verdict = reply->verdict;
    heard->said = reply->said;
    heard->updated = reply->updated != NULL;
    dx_loop_stop(heard->guard->loop);
}

static const char settings[] =
    "{\"hooks\":{\"hooks\":["
    "{\"event\":\"pre-tool\",\"command\":\"cat reply\",\"matcher\":\"^run\","
    "\"filter\":{\"path\":[\"**\"]}},"
    "{\"event\":\"pre-tool\",\"command\":\"cat second\"},"
    "{\"event\":\"pre-tool\",\"command\":\"true\",\"async\":true}]}}";

/* How often may an allocation fail before all is as if none had? */
static void fail_each(const char *reply, const char *second, dx__autohand_verdict verdict) {
    bool failed = true;
    for (size_t at = 1; failed; at++) {
        struct guard guard;
        struct heard heard = {.guard = &guard};
        struct dx__autohand_hooking *hooking = NULL;
        struct dx__autohand_occasion occasion = {.event = DX__HOOK_PRE_TOOL,
                                                 .tool = TEXT("run_command"),
                                                 .path = TEXT("a/b"),
                                                 .output = TEXT("\xff")};
        guard_begin(&guard, settings);
        guard_write(guard.space, "reply", reply);
        guard_write(guard.space, "second", second);
        guard.memory.fail_at = guard.memory.count + at;
        guard.memory.fails = 1;
        dx_status status =
            dx__autohand_hooks_run(&guard.agent, &occasion, on_done, &heard, &hooking);
        assert_true(status == DX_OK || status == DX_ERR_NOMEM);
        if (status == DX_OK)
            guard_run(&guard, 10000);
        failed = guard.memory.count >= guard.memory.fail_at;
        if (status == DX_OK && !heard.count) /* the test's own timer had no memory */
            guard_run(&guard, 10000);
        assert_int_equal(heard.count, status == DX_OK ? 1 : 0);
        if (heard.count && heard.verdict != verdict) {
            assert_true(failed);
            assert_int_equal(heard.verdict, DX__VERDICT_DENY);
            assert_true(heard.said);
        }
        if (heard.count && heard.verdict == DX__VERDICT_ALLOW)
            assert_true(heard.updated);
        guard_done(&guard);
    }
}

static void test_allow(void **state) {
    (void)state;
    fail_each("{\"decision\":\"allow\",\"updatedInput\":{\"a\":1},\"additionalContext\":\"c\"}",
              "{\"updatedInput\":{\"b\":1}}", DX__VERDICT_ALLOW);
}

static void test_deny(void **state) {
    (void)state;
    fail_each("{\"decision\":\"deny\",\"reason\":\"r\"}", "{}", DX__VERDICT_DENY);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allow), cmocka_unit_test(test_deny)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
