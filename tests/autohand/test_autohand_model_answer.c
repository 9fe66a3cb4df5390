/* What the JSON of chat completions says, also when it says it badly. */
#include "autohand/model_talk.h"

#include "systems/autohand/model_parts.h"

struct hearing {
    struct talk talk;
    struct dx__autohand_ear ear;
    struct dx__autohand_model_answer answer;
};

static struct hearing *hear(const dx_allocator *alloc) {
    struct hearing *hearing = calloc(1, sizeof *hearing);
    dx_autohand_listener listener = talk_listener(&hearing->talk);
    assert_int_equal(dx__autohand_ear_open(&hearing->ear, &listener), DX_OK);
    dx__autohand_model_answer_init(&hearing->answer, &hearing->ear, alloc);
    return hearing;
}

static void done(struct hearing *hearing) {
    dx__autohand_model_answer_done(&hearing->answer);
    free(hearing);
}

/* All pieces, and then the calls. */
static void says(const char *const *pieces, const char *heard, int64_t tokens, bool finished) {
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    struct hearing *hearing = hear(&alloc);
    for (; *pieces; pieces++)
        assert_int_equal(dx__autohand_model_answer_take(&hearing->answer, dx_str(*pieces)), DX_OK);
    assert_true(dx__autohand_model_calls_tell(&hearing->answer.calls, &hearing->ear));
    assert_string_equal(hearing->talk.heard, heard);
    assert_int_equal(hearing->answer.tokens, tokens);
    assert_int_equal(hearing->answer.finished, finished);
    done(hearing);
}

#define SAYS(heard, tokens, finished, ...) \
    says((const char *const[]){__VA_ARGS__, NULL}, heard, tokens, finished)
#define DELTA(text) "{\"choices\":[{\"delta\":" text "}]}"
#define CALLS(text) DELTA("{\"tool_calls\":[" text "]}")

static void forms(void **state) {
    (void)state;
    SAYS("text(a)text(b)", -1, true, DELTA("{\"content\":\"a\"}"),
         "{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}");
    SAYS("", -1, false, "{}", "{\"choices\":null}", "{\"choices\":[]}", "{\"choices\":[{}]}",
         "{\"choices\":[null]}", "{\"choices\":[{\"delta\":null}]}", "{\"error\":null}",
         DELTA("{\"content\":null,\"tool_calls\":null,\"role\":\"assistant\"}"),
         DELTA("{\"content\":7}"), DELTA("[]"));
    SAYS(
        "text(a)text(c)", -1, false,
        DELTA(
            "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"image\":1},2,{\"text\":\"c\"}]}"));
    SAYS("text(a)text(c)", -1, false,
         "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}",
         "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}",
         DELTA("{\"content\":\"c\"}"));
    SAYS("text(no)", -1, false, DELTA("{\"refusal\":\"no\"}"));
    SAYS("thought(a)thought(b)thought(c)", -1, false, DELTA("{\"reasoning\":\"a\"}"),
         DELTA("{\"thinking\":\"b\"}"), DELTA("{\"reasoning_content\":\"c\",\"reasoning\":\"c\"}"));
    /* Only the first of several choices counts. */
    SAYS("text(a)", -1, false,
         "{\"choices\":[{\"delta\":{\"content\":\"a\"}},{\"delta\":{\"content\":\"b\"}}]}");
    SAYS("", 12, false, "{\"usage\":{\"total_tokens\":12,\"prompt_tokens\":1}}");
    SAYS("", 3, false, "{\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}");
    SAYS("", -1, false, "{\"usage\":{\"total_tokens\":-1}}", "{\"usage\":{\"total_tokens\":1.5}}",
         "{\"usage\":{\"total_tokens\":18446744073709551615}}", "{\"usage\":null}",
         "{\"usage\":{\"prompt_tokens\":1}}");
}

static void calls(void **state) {
    (void)state;
    SAYS("call(a,f,{\"x\":1})", -1, false,
         CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}"),
         CALLS("{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\"}}"),
         CALLS(
             "{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\\\":1}\"}}"));
    SAYS("call(,f,{})call(,g,{})", -1, false, CALLS("{\"index\":5,\"function\":{\"name\":\"f\"}}"),
         CALLS("{\"index\":2,\"function\":{\"name\":\"g\",\"arguments\":null}}"));
    SAYS("call(a,f,{})call(b,g,{})", -1, false,
         CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}"),
         CALLS("{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"g\"}}"));
    /* Neither ids nor different indexes: a call that follows one that is complete. */
    for (int i = 0; i < 2; i++)
        SAYS("call(,f,{\"x\":{}})call(,f,{\"y\":2})call(,g,{})", -1, false,
             CALLS("{\"index\":0,\"id\":\"\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}"),
             CALLS("{\"index\":0,\"function\":{\"arguments\":\"\\\"x\\\":{}}\"}}"),
             i ? CALLS("{\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"y\\\":2}\"}}")
               : CALLS(
                     "{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"y\\\":2}\"}}"),
             CALLS("{\"index\":0,\"function\":{\"name\":\"g\",\"arguments\":{}}}"));
    SAYS("call(,f,{\"x\":\"}{\"})", -1, false,
         CALLS("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":\\\"}\"}}"),
         CALLS("{\"index\":0,\"function\":{\"arguments\":\"{\\\"}\"}}"));
    SAYS("call(,,{})", -1, false, CALLS("{}"), CALLS("{\"index\":-3}"),
         CALLS("{\"index\":\"x\",\"id\":7,\"function\":{\"name\":8}}"));
    SAYS("call(,f,[1]2)", -1, false,
         CALLS("{\"function\":{\"name\":\"f\",\"arguments\":[1]}},"
               "{\"function\":{\"arguments\":2}}"));
}

static void misfits(void **state) {
    (void)state;
    static const struct {
        const char *json, *why;
        dx_autohand_failing kind;
        int status, retryable;
    } wrong[] = {
        {"", "invalid response from the model", DX_AUTOHAND_FAIL_NETWORK, 0, 1},
        {"[]", "not an object", DX_AUTOHAND_FAIL_NETWORK, 0, 1},
        {"7", "not an object", DX_AUTOHAND_FAIL_NETWORK, 0, 1},
        {"{\"choices\":1}", "choices is not an array", DX_AUTOHAND_FAIL_NETWORK, 0, 1},
        {DELTA("{\"tool_calls\":1}"), "tool_calls is not an array", DX_AUTOHAND_FAIL_NETWORK, 0, 1},
        {CALLS("1"), "invalid tool call", DX_AUTOHAND_FAIL_NETWORK, 0, 1},
        {CALLS("{\"function\":[]}"), "invalid tool call", DX_AUTOHAND_FAIL_NETWORK, 0, 1},
        {"{\"error\":{}}", "the model reported an error", DX_AUTOHAND_FAIL_SERVER, 0, 1},
        {"{\"error\":\"x\"}", "x", DX_AUTOHAND_FAIL_SERVER, 0, 1},
        {"{\"error\":{\"message\":\"y\",\"code\":401}}", "y", DX_AUTOHAND_FAIL_AUTH, 401, 0},
        {"{\"error\":{\"message\":\"y\",\"code\":\"401\"}}", "y", DX_AUTOHAND_FAIL_SERVER, 0, 1},
        {"{\"object\":\"error\",\"message\":\"w\",\"code\":429}", "w", DX_AUTOHAND_FAIL_RATE_LIMIT,
         429, 1},
        {"{\"error\":1,\"message\":\"z\"}", "z", DX_AUTOHAND_FAIL_SERVER, 0, 1},
    };
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct hearing *hearing = hear(&alloc);
        assert_int_equal(dx__autohand_model_answer_take(&hearing->answer, dx_str(wrong[i].json)),
                         DX_MISFIT);
        assert_non_null(strstr(hearing->answer.trouble.message, wrong[i].why));
        assert_int_equal(hearing->answer.trouble.kind, wrong[i].kind);
        assert_int_equal(hearing->answer.trouble.status, wrong[i].status);
        assert_int_equal(hearing->answer.trouble.retryable, wrong[i].retryable);
        done(hearing);
    }
}

static void give_up(void *user, dx_text delta) {
    (void)delta;
    dx__autohand_ear_close(user);
}

/* Once the question is gone, nothing of the answer is looked at any more. */
static void gone(void **state) {
    (void)state;
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    struct dx__autohand_ear ear = {0};
    struct dx__autohand_model_answer answer;
    dx_autohand_listener listener = {.on_text = give_up, .on_thought = give_up, .user = &ear};
    static const char *const texts[] = {"\"content\":\"a\"", "\"reasoning\":\"a\"",
                                        "\"content\":[{\"text\":\"a\"},{\"text\":\"b\"}]"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        char json[300];
        (void)snprintf(json, sizeof json,
                       "{\"choices\":[{\"delta\":{%s,\"tool_calls\":[{}]},"
                       "\"finish_reason\":\"stop\"}]}",
                       texts[i]);
        assert_int_equal(dx__autohand_ear_open(&ear, &listener), DX_OK);
        dx__autohand_model_answer_init(&answer, &ear, &alloc);
        assert_int_equal(dx__autohand_model_answer_take(&answer, dx_str(json)), DX_GONE);
        assert_false(answer.finished);
        assert_false(answer.any);
        assert_int_equal(answer.calls.count, 0);
        dx__autohand_model_answer_done(&answer);
    }
}

/* As many calls as allowed, in the order that takes longest; and one more. */
static void most_calls(void **state) {
    (void)state;
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    struct hearing *hearing = hear(&alloc);
    char room[100];
    for (int i = 0; i <= DX__AUTOHAND_MODEL_CALLS_MAX; i++) {
        (void)snprintf(room, sizeof room, CALLS("{\"index\":%d}"), 1000000 - i);
        assert_int_equal(dx__autohand_model_answer_take(&hearing->answer, dx_str(room)),
                         i < DX__AUTOHAND_MODEL_CALLS_MAX ? DX_OK : DX_MISFIT);
    }
    done(hearing);
}

/* Fragments of the first of many calls are found without looking at all the others. */
static void many_fragments(void **state) {
    enum { FRAGMENTS = 200000 };
    (void)state;
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    struct hearing *hearing = hear(&alloc);
    char *all = malloc(64 * (DX__AUTOHAND_MODEL_CALLS_MAX + FRAGMENTS));
    assert_non_null(all);
    size_t len = (size_t)sprintf(all, "{\"choices\":[{\"delta\":{\"tool_calls\":[");
    for (int i = 0; i < DX__AUTOHAND_MODEL_CALLS_MAX + FRAGMENTS; i++)
        len += (size_t)sprintf(all + len, "%s{\"index\":%d,\"function\":{\"arguments\":\"%c\"}}",
                               i ? "," : "", i < DX__AUTOHAND_MODEL_CALLS_MAX ? i : i & 1,
                               i & 1 ? 'b' : 'a');
    len += (size_t)sprintf(all + len, "]}}]}");
    uint64_t before = talk_now();
    assert_int_equal(dx__autohand_model_answer_take(&hearing->answer, (dx_text){all, len}), DX_OK);
    assert_true(talk_now() - before < 1500);
    assert_int_equal(hearing->answer.calls.count, DX__AUTOHAND_MODEL_CALLS_MAX);
    free(all);
    done(hearing);
    /* Those with numbers that are too large belong together as long as they follow each other. */
    SAYS("call(,f,xy)call(,g,{})call(,,z)", -1, false,
         CALLS("{\"index\":20000,\"function\":{\"name\":\"f\",\"arguments\":\"x\"}}"),
         CALLS("{\"index\":20000,\"function\":{\"arguments\":\"y\"}}"),
         CALLS("{\"index\":19999,\"function\":{\"name\":\"g\"}}"),
         CALLS("{\"index\":20000,\"function\":{\"arguments\":\"z\"}}"));
}

static const char whole[] =
    "{\"choices\":[{\"delta\":{\"content\":\"ab\",\"reasoning\":\"c\",\"tool_calls\":[{\"index\":0,"
    "\"id\":\"d\",\"function\":{\"name\":\"e\",\"arguments\":{\"f\":[1,{}]}}}]},"
    "\"finish_reason\":\"stop\"}],\"usage\":{\"total_tokens\":3},\"error\":null}";

/* Changed at random, it is taken or refused, and nothing worse. */
static void random_bytes(void **state) {
    (void)state;
    dx_allocator alloc = dx__autohand_model_allocator(NULL);
    uint64_t seed = 7;
    size_t taken = 0;
    for (int i = 0; i < 20000; i++) {
        struct hearing *hearing = hear(&alloc);
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        for (size_t count = 1 + unit_random(&seed, 3); count; count--)
            text[unit_random(&seed, sizeof whole - 1)] =
                "\"{}[]:,1ax\\\xff"[unit_random(&seed, 12)];
        dx_status status =
            dx__autohand_model_answer_take(&hearing->answer, (dx_text){text, sizeof whole - 1});
        assert_true(status == DX_OK || status == DX_MISFIT);
        taken += status == DX_OK;
        assert_true(dx__autohand_model_calls_tell(&hearing->answer.calls, &hearing->ear));
        done(hearing);
    }
    assert_in_range(taken, 100, 19000);
}

static void memory(void **state) {
    (void)state;
    bool all = false;
    for (size_t at = 1; !all; at++) {
        struct unit_memory held = {.fail_at = at, .fails = 1};
        dx_allocator alloc = unit_allocator(&held);
        struct hearing *hearing = hear(&alloc);
        dx_status status = dx__autohand_model_answer_take(&hearing->answer, dx_str(whole));
        all = held.count < at;
        assert_int_equal(status, all ? DX_OK : DX_ERR_NOMEM);
        done(hearing);
        assert_int_equal(held.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),   cmocka_unit_test(calls),
        cmocka_unit_test(misfits), cmocka_unit_test(most_calls),
        cmocka_unit_test(gone),    cmocka_unit_test(random_bytes),
        cmocka_unit_test(memory),  cmocka_unit_test(many_fragments),
    };
    return cmocka_run_group_tests_name("autohand_model_answer", tests, NULL, NULL);
}
