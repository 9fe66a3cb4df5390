/* Memory that runs out at any point: nothing leaks, nothing hangs, and work that was accepted ends
 * once. */
#include "reginald/host.h"
#include "unit/unit.h"

/* A plugin that starts faster than Python does. */
static const char plugin[] =
    "#!/bin/sh\n"
    "say() { printf 'Content-Length: %d\\r\\n\\r\\n%s' ${#1} \"$1\"; }\n"
    "while IFS= read -r header && IFS= read -r empty; do\n"
    "length=${header#Content-Length: }\n"
    "body=$(dd bs=1 count=${length%?} 2>/dev/null)\n"
    "id=${body#*\\\"id\\\":}\n"
    "case $body in\n"
    "*'\"handshake\"'*) say '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":\"rpp\","
    "\"protocolVersion\":0,\"name\":\"sh\",\"version\":\"1\",\"configs\":[{\"key\":\"k\",\"value\":"
    "1,\"type\":\"int\"}],\"commands\":[{\"name\":\"go\",\"usage\":\"\"}],\"tasks\":[{\"type\":"
    "\"t\"}]}}';;\n"
    "*'\"exit\"'*) exit 0;;\n"
    "*'\"setupCommand\"'*) say '{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{\"level\":"
    "\"info\",\"msg\":\"m\"}}'\n"
    "say '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"config\"}'\n"
    "say '{\"jsonrpc\":\"2.0\",\"method\":\"odd\"}'\n"
    "say '{\"jsonrpc\":\"2.0\",\"id\":'${id%%,*}',\"result\":{}}';;\n"
    "*'\"method\"'*) say '{\"jsonrpc\":\"2.0\",\"id\":'${id%%,*}',\"result\":null}';;\n"
    "esac\n"
    "done\n";

static void run_work(struct world *world) {
    const dx_reginald_offer *command = dx_reginald_find(world->host, 0, dx_str("go"));
    const dx_reginald_offer *task = dx_reginald_find(world->host, 1, dx_str("t"));
    size_t accepted = 0;
    if (command)
        accepted += dx_reginald_run_command(world->host, command, json("[]"), NULL, on_done,
                                            world) == DX_OK;
    if (task)
        accepted +=
            dx_reginald_run_task(world->host, task, "/", dx_json_none(), on_done, world) == DX_OK;
    WAIT(world, count_of(&world->done, "\n") == accepted);
}

static void run_host(struct world *world) {
    if (dx_reginald_discover(world->host, world->folder, NULL, NULL) == DX_OK) {
        start(world);
        run_work(world);
    }
    stop(world);
    world->host = dx_reginald_free(world->host);
}

/* Once with one that fails, once with a hundred; false: there was no such allocation. */
static bool try(struct world *world, size_t until, bool stays) {
    struct unit_memory memory = {.fail_at = until, .fails = stays ? 101 : 1};
    dx_allocator alloc = unit_allocator(&memory);
    memset(&world->done, 0, sizeof world->done);
    world->ready = world->stopped = 0;
    world->host = NULL;
    world->config.allocator = &alloc;
    if (dx_loop_new(&alloc, &world->loop, NULL) == DX_OK) {
        if (dx_reginald_new(world->loop, &world->config, &world->host, NULL) == DX_OK)
            run_host(world);
        world->loop = dx_loop_free(world->loop);
    }
    assert_int_equal(memory.blocks, 0);
    return memory.count >= until;
}

static void test_memory(void **state) {
    struct world *world = world_new(NULL);
    size_t first = 0;
    (void)state;
    dx_loop_free(world->loop);
    world->config.on_traffic = NULL;
    world->config.handshake_ms = world->config.initialize_ms = world->config.stop_ms = 1000;
    make_file(world, "reginald-sh", 0700, plugin);
    assert_false(try(world, SIZE_MAX, false));
    must_have(&world->done, "go result 0");
    must_have(&world->done, "t result 0");
    while (try(world, first + 1, false) && try(world, first + 1, true))
        first++;
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
