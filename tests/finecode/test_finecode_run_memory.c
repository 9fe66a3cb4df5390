/* Memory that runs out at any moment of a run: it ends once all the same, and the next one works.
 */
#include "finecode/orchestra.h"

enum { JSON = DX_FINECODE_JSON, STRING = DX_FINECODE_STRING };

#define H(name, env, config) \
    "{name = '" name "', source = 'd." name "', env = '" env "', config = {" config "}}"
#define ACTION(name, about, handlers)                                        \
    "[finecode.action." name "]\nsource = 'demo." name "'\nconfig = {" about \
    "}\nhandlers = [" handlers "]\n"

static const char actions[] = ACTION("one", "", H("h", "a", "items = [1]"))
    ACTION("chain", "", H("h1", "a", "partials = [[1]]") "," H("h2", "b", "items = [2]")) ACTION(
        "groups", "concurrent = true",
        H("h1", "a", "partials = [[1]]") "," H("h2", "b", "items = [2]"))
        ACTION(
            "asks", "",
            H("h", "a",
              "asks = [['finecode/runActionInWorkspace', {actionSource = 'demo.one', payload = {}, "
              "meta = {trigger = 'user', devEnv = 'cli'}}], ['finecode/listWorkspaceActions', {}], "
              "['finecode/runActionInProject', {actionSource = 'demo.chain', payload = {}, "
              "partialResultToken = 1, meta = {trigger = 'user', devEnv = 'cli'}}]]"));

/* Fails once, at the n-th time that memory is wanted; 0: never. */
struct meter {
    size_t count;
    size_t fails_at;
};

static bool is_out(struct meter *meter) {
    return ++meter->count == meter->fails_at;
}

static void *take(void *ctx, size_t size) {
    return is_out(ctx) ? NULL : malloc(size);
}

static void *retake(void *ctx, void *ptr, size_t old, size_t size) {
    (void)old;
    return is_out(ctx) ? NULL : realloc(ptr, size);
}

static void give(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

/* How often memory was wanted. */
static size_t try_run(struct world *world, struct meter *meter, const char *action, size_t fails) {
    dx_finecode_ask ask = ask_for(world, action, JSON | STRING);
    unsigned before = world->done;
    ask.streamed = 1;
    ask.payload = dx_json_text("{\"a\":[1]}", 9);
    clear(world);
    *meter = (struct meter){.fails_at = fails};
    dx_status status = dx_finecode_wm_run(world->wm, &ask, NULL, NULL);
    if (status == DX_OK)
        WAIT(world, world->done > before);
    else
        assert_int_equal(status, DX_ERR_NOMEM);
    size_t count = meter->count;
    meter->fails_at = 0;
    assert_int_equal(world->done, before + (status == DX_OK));
    WAIT(world, !world->wm->runs);
    return count;
}

static void test_memory(void **state) {
    static const char *const names[] = {"one", "chain", "groups", "asks"};
    static struct meter meter;
    dx_allocator alloc = {take, retake, give, &meter};
    struct world *world = world_new(true);
    (void)state;
    meter = (struct meter){0};
    world->config.allocator = &alloc;
    project(world, "p", actions);
    world_open(world);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)try_run(world, &meter, names[i], 0);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
        size_t all = try_run(world, &meter, names[i], 0);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
        size_t stride = all / 150 + 1;
        for (size_t n = 1; n <= all; n += stride)
            (void)try_run(world, &meter, names[i], n);
        (void)try_run(world, &meter, names[i], 0);
        assert_int_equal(world->status, DX_FINECODE_SUCCESS);
    }
    world_close(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
