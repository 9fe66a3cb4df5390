/* Memory that runs out at any point: nothing leaks, nothing hangs, what was asked for ends once. */
#include "finecode/manager.h"

typedef struct scarce {
    size_t until; /* this one fails, counted from 1 */
    size_t count;
    size_t live;
    bool stays; /* so do the next hundred */
} scarce;

static bool is_out(scarce *memory) {
    memory->count++;
    return memory->count >= memory->until &&
           memory->count <= memory->until + (memory->stays ? 100 : 0);
}

static void *take(void *ctx, size_t size) {
    scarce *memory = ctx;
    void *ptr = is_out(memory) ? NULL : malloc(size);
    memory->live += ptr != NULL;
    return ptr;
}

static void *retake(void *ctx, void *ptr, size_t old, size_t size) {
    (void)old;
    return is_out(ctx) ? NULL : realloc(ptr, size);
}

static void give(void *ctx, void *ptr) {
    scarce *memory = ctx;
    memory->live -= ptr != NULL;
    free(ptr);
}

/* A runner that starts faster than Python does. */
static const char runner_text[] =
    "#!/bin/sh\n"
    "say() { printf 'Content-Length: %d\\r\\n\\r\\n%s' ${#1} \"$1\"; }\n"
    "while IFS= read -r header && IFS= read -r type && IFS= read -r empty; do\n"
    "length=${header#Content-Length: }\n"
    "body=$(dd bs=1 count=${length%?} 2>/dev/null)\n"
    "id=${body#*\\\"id\\\":}\n"
    "id=${id%%,*}\n"
    "case $body in\n"
    "*'\"initialize\"'*) result='{\"capabilities\":{}}';;\n"
    "*'\"finecodeRunner/getInfo\"'*) result='{\"logFilePath\":\"/log\"}';;\n"
    "*'\"packages/resolvePath\"'*) result='{\"packagePath\":\"'$PWD'\"}';;\n"
    "*'\"finecodeRunner/resolveActionMeta\"'*)\n"
    "result='{\"x.Act\":{\"canonical_source\":\"x.y.Act\",\"runs_concurrently\":false}}';;\n"
    "*'\"shutdown\"'*) result=null;;\n"
    "*'\"exit\"'*) exit 0;;\n"
    "*'\"id\"'*) result='{}';;\n"
    "*) continue;;\n"
    "esac\n"
    "say '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":'$result'}'\n"
    "done\n";

static const char config_text[] =
    "[finecode.er]\nrunner = [\"./runner\"]\n[[finecode.presets]]\nsource = \"one\"\n"
    "[finecode.action.act]\nsource = \"x.Act\"\n[[finecode.action.act.handlers]]\n"
    "name = \"h\"\nsource = \"x.H\"\nenv = \"a\"\n";

static void run_calls(struct world *world, dx_finecode_runner *runner) {
    dx__finecode_call_options options = {.on_done = on_done, .user = world};
    size_t accepted = 0;
    for (int i = 0; i < 2; i++)
        accepted += dx__finecode_runner_call(runner, "actions/getPayloadSchemas", dx_json_none(),
                                             &options, NULL) == DX_OK;
    WAIT(world, count_of(world->done.text, "\n") == accepted);
}

static void run_manager(struct world *world) {
    dx_finecode_project *project;
    char uri[128];
    snprintf(uri, sizeof uri, "file://%s/p/x.c", world->folder);
    (void)dx_finecode_wm_open(world->wm, dx_str(uri), 1, dx_str("text"));
    if (dx_finecode_wm_add_dir(world->wm, world->folder, NULL) == DX_OK &&
        (project = dx_finecode_wm_find_project(world->wm, "p"))) {
        dx_finecode_runner *runner = dx__finecode_wm_need_runner(world->wm, project, "a");
        if (runner && dx__finecode_runner_need(runner, on_ready, world) == DX_OK) {
            WAIT(world, world->ready.len);
            (void)dx_finecode_wm_open(world->wm, dx_str(uri), 2, dx_str("other"));
            (void)dx_finecode_wm_close(world->wm, dx_str(uri));
            run_calls(world, runner);
        }
    }
    stop(world);
    world->wm = dx_finecode_wm_free(world->wm);
}

/* False: there was no such allocation. */
static bool try(struct world *world, size_t until, bool stays) {
    scarce memory = {.until = until, .stays = stays};
    dx_allocator alloc = {take, retake, give, &memory};
    world->done.text[0] = world->ready.text[0] = world->states.text[0] = '\0';
    world->done.len = world->ready.len = world->states.len = 0;
    world->messages.len = world->lines.len = world->broken.len = 0;
    world->stopped = 0;
    world->wm = NULL;
    world->config.allocator = &alloc;
    if (dx_loop_new(&alloc, &world->loop, NULL) == DX_OK) {
        if (dx_finecode_wm_new(world->loop, &world->config, &world->wm, NULL) == DX_OK)
            run_manager(world);
        world->loop = dx_loop_free(world->loop);
    }
    assert_int_equal(memory.live, 0);
    return memory.count >= until;
}

static void test_memory(void **state) {
    struct world *world = world_new();
    size_t first = 0;
    (void)state;
    dx_loop_free(world->loop);
    world->config.initialize_ms = world->config.info_ms = world->config.config_ms = 1000;
    world->config.stop_ms = 1000;
    mkdir(path_in(world, "p", ""), 0755);
    write_file(world, "p", "finecode.toml", config_text);
    write_file(world, "p", "preset.toml", "[tool.finecode]\n");
    write_file(world, "p", "runner", runner_text);
    assert_int_equal(chmod(path_in(world, "p", "runner"), 0755), 0);
    assert_false(try(world, SIZE_MAX, false));
    must_have(world->ready.text, "a yes");
    assert_int_equal(count_of(world->done.text, "a result"), 2);
    /* Past the first thousand, which are those of protocols and configurations, not each one. */
    while (try(world, first + 1, false) && try(world, first + 1, true))
        first += first < 100 ? 1 : 1 + first % 7;
    assert_true(first > 100);
    world->loop = NULL;
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
