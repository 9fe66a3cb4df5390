/* How extensions start, end and fail. */
#include "hermes/host.h"

static void test_golden(void **state) {
    struct world *world = world_new();
    char path[] = "/tmp/duplex-hermes-XXXXXX";
    char spec[256];
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    world->config.data_directory = "/data";
    world_open(world);
    snprintf(spec, sizeof spec, "{'dump': '%s', 'go': {'echo/ping': []}}", path);
    dx_hermes_guest *guest = world_add(world, spec);
    wait_state(world, guest, DX_HERMES_RUNNING);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("echo/ping"), NULL), DX_OK);
    assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK);
    WAIT(world, is_here(&world->states, "starting"));
    char bytes[1000];
    ssize_t len = read(fd, bytes, sizeof bytes - 1);
    assert_true(len > 0);
    bytes[len] = '\0';
    assert_string_equal(
        bytes, "Content-Length: 124\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
               "\"params\":{\"apiVersion\":\"1.0\",\"dataDirectory\":\"/data\",\"hermesVersion\":"
               "\"0.1.0\"}}Content-Length: 77\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":"
               "\"command/execute\",\"params\":{\"command\":\"echo/ping\"}}"
               "Content-Length: 73\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"shutdown\","
               "\"params\":{\"reason\":\"reload\"}}");
    close(fd);
    unlink(path);
    wait_state(world, guest, DX_HERMES_RUNNING);
    stop(world);
    world_free(world);
}

static void test_requests(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    assert_int_equal(dx_hermes_open(world->editor, dx_str(MESSAGE), "/a/b.hl7", 0, NULL), DX_OK);
    dx_hermes_guest *guest = world_add(
        world, "{'go': {'go': [{'id': 1, 'method': 'editor/getMessage', 'params': {'format': "
               "'hl7'}}, {'id': 2, 'method': 'editor/getMessage'}, {'id': 3, 'method': "
               "'editor/getMessage', 'params': {}}, {'id': 4, 'method': 'editor/getMessage', "
               "'params': {'format': 'xml'}}, {'id': 5, 'method': 'x/y', 'params': {}}, {'id': 6, "
               "'method': 'editor/patchMessage', 'params': {'patches': [{'path': 'PID.5.1', "
               "'value': 3}]}}, {'id': 7}, {'id': 8, 'method': 'initialize'}, {'id': 9, 'method': "
               "'editor/getMessage', 'params': ['hl7']}, {'id': 10, 'method': 5}, {'id': 11, "
               "'method': 'editor/getMessage', 'params': 'hl7'}]}}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    run(world, "go", 9);
    pause_ms(world, 200);
    puts(world->log.text);
    puts(world->broken.text);
    stop(world);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
