/* A server whose memory fails, each time later: who asks is answered or closed, nothing is lost,
 * and once there is memory again it works. */
#include "finecode/server_talk.h"

#include "unit/unit.h"

static struct unit_memory memory;

static dx_status serve(struct world *world, dx_finecode_server **ret_server) {
    dx_finecode_server_config config = dx_finecode_server_defaults();
    config.disconnect_ms = DX_NEVER;
    return dx_finecode_server_new(world->wm, &config, ret_server, NULL);
}

#define OPTIONS "\"options\":{\"resultFormats\":[\"json\"]}"

static const char *const asked[][2] = {
    {"client/initialize", "{\"clientId\":\"t\"}"},
    {"server/getInfo", "{}"},
    {"server/subscribeLogs", "{\"minLevel\":\"INFO\"}"},
    {"workspace/listProjects", "{}"},
    {"workspace/findProjectForFile", "{\"filePath\":\"/x\"}"},
    {"workspace/getProjectRawConfig", "{\"project\":\"a\"}"},
    {"workspace/getWorkspaceEditablePackages", "{}"},
    {"actions/list", "{}"},
    {"actions/getTree", "{}"},
    {"actions/getPayloadSchemas", "{\"project\":\"a\",\"actionSources\":[\"x.Act\"]}"},
    {"runners/list", "{}"},
    {"runners/checkEnv", "{\"project\":\"a\",\"envName\":\"e\"}"},
    {"documents/opened", "{\"uri\":\"file:///x\",\"version\":1,\"text\":\"x\"}"},
    {"documents/closed", "{\"uri\":\"file:///x\"}"},
    {"actions/run",
     "{\"actionSource\":\"act\",\"project\":\"a\",\"partialResultToken\":1," OPTIONS "}"},
    {"actions/run", "{\"actionSource\":\"act\",\"project\":\"\"," OPTIONS "}"},
    {"actions/runBatch",
     "{\"actionSources\":[\"act\"],\"params\":{\"p\":1},\"paramsByProject\":{}," OPTIONS "}"},
    {"actions/runBatch",
     "{\"actionSources\":[\"act\"],\"projects\":[\"a\"],\"params\":{\"p\":1}," OPTIONS "}"},
};

/* One question, with the `at`th allocation failing, and all after it for a few turns. */
static bool try_one(struct world *world, dx_finecode_server *server, size_t row, size_t at) {
    struct client *client = client_new(world, server);
    client_gets(client, "server/getInfo", "{}", "pid");
    size_t before = client->count;
    memory.fail_at = memory.count + at;
    (void)client_ask(client, "it", asked[row][0], asked[row][1]);
    for (int i = 0; i < 6 && client->count == before; i++)
        turn(world, 2);
    dx__finecode_server_log(server, NULL, "ERROR", "g", dx_str("m"), 0);
    dx__finecode_server_message(server, "INFO", dx_str("m"));
    dx__finecode_tree_tell(server);
    bool failed = memory.count >= memory.fail_at;
    memory.fail_at = 0;
    WAIT(world, client->count > before || client->closed);
    client_free(client);
    WAIT(world, !server->clients);
    WAIT(world, !server->duties);
    return failed;
}

static void every_allocation(void **state) {
    (void)state;
    memset(&memory, 0, sizeof memory);
    dx_allocator alloc = unit_allocator(&memory);
    struct world *world = world_new();
    world->config.allocator = &alloc;
    make_project(world, "a", "e", "stdio", "");
    world_open(world);
    /* One that cannot begin leaves nothing behind. */
    dx_finecode_server *server = NULL;
    dx_status status = DX_ERR_NOMEM;
    for (size_t at = 1; status == DX_ERR_NOMEM; at++) {
        size_t blocks = memory.blocks;
        memory.fail_at = memory.count + at;
        status = serve(world, &server);
        memory.fail_at = 0;
        if (status != DX_OK)
            assert_int_equal(memory.blocks, blocks);
    }
    assert_int_equal(status, DX_OK);
    must_run(world, runner_of(world, "a", "e"));
    for (size_t row = 0; row < LENGTH(asked); row++)
        for (size_t at = 1; at < 60 && try_one(world, server, row, at); at++)
            continue;
    struct client *client = client_new(world, server);
    client_gets(client, "actions/run", "{\"actionSource\":\"act\",\"project\":\"a\"," OPTIONS "}",
                "\"pid\":");
    client_free(client);
    dx_finecode_server_free(server);
    world_free(world);
    assert_int_equal(memory.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
