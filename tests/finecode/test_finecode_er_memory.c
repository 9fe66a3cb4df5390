/* Memory that runs out anywhere: every request is answered once all the same, and nothing leaks. */
#include "finecode/er_demo.h"

static struct unit_memory memory;
static size_t failing; /* this allocation (from 1) and `width` - 1 after it fail; 0: none */
static size_t width;

static bool fails(void) {
    memory.count++;
    return failing && memory.count >= failing && memory.count - failing < width;
}

static void *some_malloc(void *ctx, size_t size) {
    (void)ctx;
    if (fails())
        return NULL;
    memory.count--;
    return unit_malloc(&memory, size);
}

static void *some_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    (void)ctx;
    if (fails())
        return NULL;
    memory.count--;
    return unit_realloc(&memory, ptr, old_size, size);
}

static void some_free(void *ctx, void *ptr) {
    (void)ctx;
    unit_free(&memory, ptr);
}

/* Handlers that go on whatever happens. */
static void hasty(dx_finecode_job *job, void *user) {
    (void)user;
    (void)dx_finecode_job_set_context(job, JSON("{\"seen\":1}"));
    dx_finecode_job_begin(job, "b", NULL, 2);
    for (int i = 0; i < 3; i++)
        (void)dx_finecode_job_partial(job, JSON("{\"items\":[\"p\"],\"by_path\":{\"x\":1}}"));
    dx_finecode_er_log(dx_finecode_job_er(job), "ERROR", "g", dx_str("\xff log"));
    char *text = NULL;
    size_t len;
    if (dx_finecode_job_read(job, "/ws/open.c", &text, &len, NULL) == DX_OK)
        some_free(NULL, text);
    dx_finecode_job_done(job, JSON("{\"items\":[\"d\"],\"bad\":true}"), 1);
}

static void on_answer(dx_finecode_job *job, const dx_event *event, void *user) {
    (void)event;
    (void)user;
    dx_finecode_job_done(job, JSON("{\"items\":[\"asked\"]}"), 0);
}

static void asking(dx_finecode_job *job, void *user) {
    (void)user;
    if (dx_finecode_job_run_in_project(job, "a.B", JSON("{\"x\":1}"), on_answer, NULL) == DX_OK)
        dx_finecode_job_keep(job);
}

static void collecting(dx_finecode_job *job, void *user) {
    static const char params[] =
        "{\"actionSource\":\"demo.Mem\",\"payload\":{},\"meta\":{\"trigger\":\"user\",\"devEnv\":"
        "\"cli\",\"orchestrationDepth\":1},\"partialResultToken\":9}";
    (void)user;
    if (dx_finecode_job_ask(job, "finecode/runActionInProject",
                            dx_json_text(params, sizeof params - 1), on_answer, NULL) == DX_OK)
        dx_finecode_job_keep(job);
}

static dx_finecode_job *left_alone;

static void keeping(dx_finecode_job *job, void *user) {
    (void)user;
    left_alone = job;
    dx_finecode_job_keep(job);
}

static bool declare(struct talk *talk) {
    static const struct {
        const char *source;
        void (*run)(dx_finecode_job *job, void *user);
    } handlers[] = {{"demo.acts.Hasty", hasty},
                    {"demo.acts.Asking", asking},
                    {"demo.acts.Collecting", collecting},
                    {"demo.acts.Keeping", keeping}};
    static const dx_finecode_action actions[] = {
        {.source = "demo.Mem", .payload = DEMO_PAYLOAD, .merge = DEMO_MERGE, .fails_if = "/bad"},
        {.source = "demo.Conc", .runs_concurrently = 1, .format = demo_lines},
        {.source = "demo.Ask", .format = demo_styled},
        {.source = "demo.Keep"}};
    bool good = true;
    for (size_t i = 0; i < LENGTH(handlers); i++) {
        dx_finecode_handler handler = {
            .source = handlers[i].source, .location = "l:1", .run = handlers[i].run};
        good = good && dx_finecode_er_add_handler(talk->er, &handler, NULL) == DX_OK;
    }
    for (size_t i = 0; i < LENGTH(actions); i++)
        good = good && dx_finecode_er_add_action(talk->er, &actions[i], NULL) == DX_OK;
    return good && dx_finecode_er_add_alias(talk->er, "a.l", "demo.Mem") == DX_OK &&
           dx_finecode_er_add_package(talk->er, "p", "/p") == DX_OK;
}

#define CONFIG                                                                                     \
    "{\"actions\":[" DEMO_A(                                                                       \
        "mem", "Mem",                                                                              \
        DEMO_H("h", "Hasty", "{\"a\":1}") "," DEMO_H(                                              \
            "i", "Hasty",                                                                          \
            "{}")) "," DEMO_A("conc", "Conc",                                                      \
                              DEMO_H("h", "Hasty", "{}") "," DEMO_H(                               \
                                  "i", "Hasty",                                                    \
                                  "{}")) "," DEMO_A("ask", "Ask",                                  \
                                                    DEMO_H("a", "Asking", "{}") "," DEMO_H(        \
                                                        "c", "Collecting",                         \
                                                        "{}")) "," DEMO_A("keep", "Keep",          \
                                                                          DEMO_H(                  \
                                                                              "k", "Keeping",      \
                                                                              "{}")) "],\"action_" \
                                                                                     "handler_"    \
                                                                                     "configs\":{" \
                                                                                     "\"demo."     \
                                                                                     "acts."       \
                                                                                     "Hasty\":{"   \
                                                                                     "\"a\":{"     \
                                                                                     "\"b\":2}}}," \
                                                                                     "\"logging\"" \
                                                                                     ":{"          \
                                                                                     "\"defaultLe" \
                                                                                     "vel\":"      \
                                                                                     "\"INFO\","   \
                                                                                     "\"logGroups" \
                                                                                     "\":{\"g\":"  \
                                                                                     "\"ERROR\"}}" \
                                                                                     "}"

#define RUN(id, action, more)                                                       \
    "\"id\":" id ",\"method\":\"actions/run\",\"params\":{\"actionName\":\"" action \
    "\",\"params\":{\"text\":\"t\"},\"options\":" DEMO_OPTIONS(more) "}"

static const char *const lines[] = {
    "\"id\":0,\"method\":\"initialize\",\"params\":" TALK_INITIALIZE,
    "\"id\":1,\"method\":\"finecodeRunner/updateConfig\",\"params\":{\"workingDir\":\"/w\","
    "\"projectName\":\"w\",\"projectDefPath\":\"/w/p\",\"config\":" CONFIG "}",
    "\"id\":2,\"method\":\"finecodeRunner/resolveActionMeta\"",
    "\"id\":3,\"method\":\"actions/getPayloadSchemas\"",
    "\"id\":4,\"method\":\"finecodeRunner/updateLogging\",\"params\":{\"forward\":true,"
    "\"forwardLevel\":\"INFO\"}",
    "\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":{\"uri\":"
    "\"file:///ws/open.c\",\"languageId\":\"\",\"version\":1,\"text\":\"abc\"}}",
    "\"method\":\"textDocument/didChange\",\"params\":{\"textDocument\":{\"uri\":"
    "\"file:///ws/open.c\",\"version\":2},\"contentChanges\":[{\"text\":\"abcdef\"}]}",
    RUN("5", "mem",
        ",\"resultFormats\":[\"json\",\"string\"],\"partialResultToken\":1,"
        "\"progressToken\":2"),
    RUN("6", "conc", ",\"resultFormats\":[\"json\",\"string\"],\"partialResultToken\":3"),
    RUN("7", "ask", ",\"resultFormats\":[\"json\",\"string\"]"),
    RUN("8", "keep", ""),
    RUN("9", "nosuch", ""),
    "\"id\":10,\"method\":\"actions/runHandlers\",\"params\":{\"actionName\":\"mem\","
    "\"handlerNames\":[\"h\",\"x\"],\"params\":{\"text\":\"t\"},\"previousResult\":{\"items\":[1]},"
    "\"previousContext\":{\"seen\":0},\"options\":" DEMO_OPTIONS("") "}",
    "\"id\":11,\"method\":\"actions/"
    "mergeResults\",\"params\":{\"actionName\":\"mem\",\"results\":[{"
    "\"items\":[1]},{\"items\":[2]}]}",
    "\"id\":12,\"method\":\"actions/"
    "run\",\"params\":{\"actionName\":\"mem\",\"params\":{\"n\":\"x\"},"
    "\"options\":" DEMO_OPTIONS("") "}",
    "\"id\":13,\"method\":\"actions/resolveSource\",\"params\":{\"source\":\"a.l\"}",
    "\"id\":14,\"method\":\"packages/resolvePath\",\"params\":{\"packageName\":\"q\"}",
    "\"method\":\"textDocument/didClose\",\"params\":{\"textDocument\":{\"uri\":"
    "\"file:///ws/open.c\"}}",
    "\"method\":\"$/cancelRequest\",\"params\":{\"id\":8}",
    "\"id\":15,\"method\":\"shutdown\"",
};
enum { WANTED = 0xffff };

static void answer_request(struct talk *talk, const char *body) {
    char *id = strstr(body, "\"id\":");
    char *after = strstr(body, ",\"method\"");
    char text[400];
    if (!id || !after || after < id)
        return;
    if (strstr(body, "partialResultToken"))
        talk_notify(talk, "$/progress", "{\"token\":9,\"value\":\"{\\\"items\\\":[1]}\"}");
    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",%.*s,\"result\":{\"returnCode\":0,\"result\":%s}}",
                   (int)(after - id), id, strstr(body, "partialResultToken") ? "null" : "{}");
    talk_say(talk, text);
}

/* Each is answered once, and no more often. */
static void hear_all(struct talk *talk) {
    unsigned answered = 0;
    uint64_t until = talk_now() + TALK_PATIENCE_MS;
    while (answered != WANTED) {
        int id;
        char *body = talk_wait(talk, 50);
        if (talk_now() >= until)
            fail_msg("allocations %zu and %zu more fail; answered %x", failing, width, answered);
        if (!body)
            continue;
        if (strstr(body, "\"method\"")) {
            answer_request(talk, body);
            continue;
        }
        assert_int_equal(sscanf(body, "{\"jsonrpc\":\"2.0\",\"id\":%d,", &id), 1);
        assert_in_range(id, 0, 15);
        if (answered & 1U << id)
            fail_msg("allocations %zu and %zu more fail; %d is answered twice: %s", failing, width,
                     id, body);
        answered |= 1U << id;
    }
}

static size_t opening; /* allocations until it is open */

static size_t live(struct talk *talk, size_t fail_at, size_t how_many, bool from_the_start) {
    int pair[2];
    left_alone = NULL;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    dx_status status = dx_finecode_er_open(talk->er, talk->loop, pair[0], pair[0], NULL);
    size_t before = memory.count;
    if (!from_the_start) {
        opening = before;
        assert_int_equal(status, DX_OK);
        failing = fail_at ? before + fail_at : 0;
        width = how_many;
    }
    if (status != DX_OK) {
        close(pair[0]);
        close(pair[1]);
        return 0;
    }
    talk_nonblock(pair[1]);
    talk->to = talk->from = pair[1];
    for (size_t i = 0; i < LENGTH(lines); i++) {
        char line[2000];
        (void)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",%s}", lines[i]);
        talk_say(talk, line);
        talk_turn(talk, 0);
        talk_turn(talk, 0);
    }
    hear_all(talk);
    if (left_alone)
        dx_finecode_job_cancel(left_alone);
    size_t count = memory.count - before;
    talk_notify(talk, "exit", "null");
    assert_int_equal(talk_leaves(talk), 0);
    return count;
}

/* How many allocations the conversation took. */
static size_t run(size_t fail_at, size_t how_many, bool from_the_start, const char *revision) {
    struct talk talk = {.to = -1, .from = -1};
    dx_allocator alloc = {some_malloc, some_realloc, some_free, NULL};
    size_t count = 0;
    memory = (struct unit_memory){.blocks = 0};
    failing = from_the_start ? fail_at : 0;
    width = how_many;
    talk.alloc = alloc;
    assert_int_equal(dx_loop_new(NULL, &talk.loop, NULL), DX_OK);
    dx_finecode_er_config config = talk_config(&talk, revision);
    config.partial_ms = 5;
    dx_status status = dx_finecode_er_new(&config, &talk.er, NULL);
    if (status == DX_OK && declare(&talk))
        count = live(&talk, fail_at, how_many, from_the_start);
    failing = 0;
    dx_finecode_er_free(talk.er);
    dx_loop_free(talk.loop);
    talk_close(&talk);
    free(talk.in);
    free(talk.body);
    if (memory.blocks)
        fail_msg("allocations %zu and %zu more fail: %zu blocks leak", fail_at, how_many,
                 memory.blocks);
    return count;
}

static void sweep(const char *revision, size_t how_many, size_t step) {
    size_t last = run(0, 0, false, revision);
    assert_true(last > 200);
    for (size_t at = 1; at <= last; at += step)
        run(at, how_many, false, revision);
}

static void one_fails(void **state) {
    (void)state;
    sweep("real", 1, 1);
}

static void some_fail(void **state) {
    (void)state;
    sweep("real", 40, 5);
}

/* The document's revision does not know some of these, which are answered nevertheless. */
static void one_fails_by_the_document(void **state) {
    (void)state;
    sweep("seed", 1, 1);
}

/* Nothing is left of what could not begin. */
static void all_fail_from_somewhere(void **state) {
    (void)state;
    run(0, 0, false, "real");
    assert_true(opening > 100);
    for (size_t at = 1; at <= opening; at++)
        run(at, SIZE_MAX, true, "real");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_fails),
        cmocka_unit_test(some_fail),
        cmocka_unit_test(one_fails_by_the_document),
        cmocka_unit_test(all_fail_from_somewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
