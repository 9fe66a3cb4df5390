/* How extensions start, end and fail. */
#include "hermes/host.h"

#include <errno.h>

static void expect_why(dx_hermes_guest *guest, const char *part) {
    if (!strstr(dx_hermes_guest_why(guest), part))
        fail_msg("no \"%s\" in: %s", part, dx_hermes_guest_why(guest));
    assert_null(strchr(dx_hermes_guest_why(guest), '\n'));
}

/* Rows 1 and 8 of the facts: what is sent, byte by byte. */
static void expect_golden(const char *revision) {
    struct world *world = world_new();
    char path[] = "/tmp/duplex-hermes-XXXXXX";
    char spec[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    world->config.data_directory = "/data";
    world->config.revision = revision;
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
    wait_state(world, guest, DX_HERMES_RUNNING);
    stop(world);
    world_free(world);
    unlink(path); /* the extension has written it again when it was reloaded */
}

static void test_golden(void **state) {
    (void)state;
    expect_golden(NULL);
    expect_golden("exact");
}

static void test_data_directory(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.data_directory = "/tmp/\xc3\x85/\xe4\xb8\xad/\xf0\x9f\x98\x80";
    world->config.cwd = "/";
    world_open(world);
    const char *args[] = {"-c",
                          "import os,sys\n"
                          "for n in sorted(os.environ):\n"
                          "  if n.startswith('HERMES'): print(n, os.environb[n.encode()], "
                          "file=sys.stderr)\n"
                          "print(os.getcwd(), file=sys.stderr)",
                          NULL};
    const char *env[] = {"HERMES_VERSION=9", "HERMES_MINE=1", NULL};
    dx_hermes_guest *guest;
    assert_int_equal(
        dx_hermes_add(world->editor,
                      &(dx_hermes_entry){.path = "/usr/bin/python3", .args = args, .env = env},
                      &guest, NULL),
        DX_OK);
    wait_state(world, guest, DX_HERMES_FAILED);
    must_have(&world->log, "HERMES_VERSION b'9'");
    must_have(&world->log, "HERMES_API_VERSION b'1.0'");
    must_have(&world->log, "HERMES_DATA_DIR b'/tmp/\\xc3\\x85/\\xe4\\xb8\\xad/");
    must_have(&world->log, "HERMES_MINE b'1'");
    must_have(&world->log, "info /\n");
    must_have(&world->sent, "\"dataDirectory\":\"/tmp/\xc3\x85/\xe4\xb8\xad/\xf0\x9f\x98\x80\"");
    world_free(world);
}

static void test_facts(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes_guest *first = world_add(world, "{'init': {'name': 'A\\nB', 'version': ''}}");
    dx_hermes_guest *second = world_add(world, "{'init': {'name': '', 'version': '2'}}");
    assert_int_equal(dx_hermes_guest_state(first), DX_HERMES_INITIALIZING);
    assert_string_equal(dx_hermes_guest_name(first), "/usr/bin/python3");
    assert_null(dx_hermes_guest_facts(first));
    assert_non_null(dx_hermes_guest_link(first));
    wait_state(world, first, DX_HERMES_RUNNING);
    wait_state(world, second, DX_HERMES_RUNNING);
    assert_string_equal(dx_hermes_guest_name(first), "A?B");
    assert_string_equal(dx_hermes_guest_name(second), "/usr/bin/python3");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(dx_hermes_guest_facts(second), "version")),
                        "2");
    assert_string_equal(dx_hermes_guest_why(first), "");
    assert_ptr_equal(dx_hermes_guest_at(world->editor, 0), first);
    assert_ptr_equal(dx_hermes_guest_at(world->editor, 1), second);
    assert_null(dx_hermes_guest_at(world->editor, 2));
    assert_int_equal(dx_hermes_guest_open(first), 0);
    assert_true(dx_hermes_guest_heard(first) + 10000 > now_ms());
    stop(world);
    assert_int_equal(dx_hermes_guest_state(first), DX_HERMES_STOPPED);
    assert_null(dx_hermes_guest_link(first));
    assert_non_null(dx_hermes_guest_facts(second));
    must_have(&world->sent, "\"method\":\"shutdown\",\"params\":{\"reason\":\"closing\"}");
    world_free(world);
}

static void test_failures(void **state) {
    static const struct {
        const char *spec;
        const char *why;
    } rows[] = {
        {"{'init': {'name': 'x'}}", "version"},
        {"{'init': {'name': 'x', 'version': 1}}", "version"},
        {"{'init': []}", "object"},
        {"{'init': {'name': 'x', 'version': '1', 'capabilities': null}}", "capabilities"},
        {"{'init': {'name': 'x', 'version': '1', 'toolbarButtons': null}}", "toolbarButtons"},
        {"{'init': {'name': 'x', 'version': '1', 'capabilities': {'events': [{'name': 'x'}]}}}",
         "events/0/name"},
        {"{'initError': {'code': -32000, 'message': 'no\\nlicence'}}", "[-32000] no?licence"},
        {"{'initText': '{\\'jsonrpc\\':\\'2.0\\',\\'id\\':1,\\'result\\':{},\\'error\\':null}'}",
         "initialize"},
        {"{'exit': 0}", "code 0"},
        {"{'exit': 4, 'lines': ['first', 'last words']}", "last words"},
        {"{'before': ['exit']}", "code 3"},
        {"{'before': ['kill']}", "signal 9"},
    };
    struct world *world = world_new();
    (void)state;
    world_open(world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_add(world, rows[i].spec);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dx_hermes_guest *guest = dx_hermes_guest_at(world->editor, i);
        wait_state(world, guest, DX_HERMES_FAILED);
        expect_why(guest, rows[i].why);
        WAIT(world, !dx_hermes_guest_link(guest)); /* its process ends, too */
    }
    assert_int_equal(dx_hermes_run(world->editor, dx_str("go"), NULL), DX_GONE);
    stop(world);
    assert_int_equal(count_of(&world->states, "shutting_down"), 0);
    world_free(world);
}

static void test_cannot_start(void **state) {
    struct world *world = world_new();
    dx_hermes_guest *guest = NULL;
    dx_error error = {0};
    (void)state;
    world_open(world);
    assert_int_equal(dx_hermes_add(world->editor, &(dx_hermes_entry){.path = "/nowhere/x 'a b'"},
                                   &guest, &error),
                     DX_ERR_SYSTEM);
    assert_int_equal(error.system, ENOENT);
    assert_int_equal(dx_hermes_guest_state(guest), DX_HERMES_FAILED);
    assert_string_equal(dx_hermes_guest_why(guest), error.phrase);
    assert_string_equal(dx_hermes_guest_name(guest), "/nowhere/x");
    assert_int_equal(dx_hermes_reload(guest, &error), DX_ERR_SYSTEM);
    assert_int_equal(dx_hermes_add(world->editor, &(dx_hermes_entry){.path = "'"}, NULL, &error),
                     DX_ERR_INVALID);
    assert_int_equal(dx_hermes_add(world->editor, &(dx_hermes_entry){.path = ""}, NULL, &error),
                     DX_ERR_INVALID);
    assert_int_equal(dx_hermes_add(world->editor, &(dx_hermes_entry){.path = NULL}, NULL, NULL),
                     DX_ERR_INVALID);
    assert_null(dx_hermes_guest_at(world->editor, 1));
    world_free(world);
}

static void test_start_timeout(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.start_ms = 400;
    world_open(world);
    uint64_t begin = now_ms();
    dx_hermes_guest *mute = world_add(world, "{'mute': 1}");
    dx_hermes_guest *good = world_add(world, "{}");
    wait_state(world, mute, DX_HERMES_FAILED);
    assert_true(now_ms() - begin >= 400);
    expect_why(mute, "in time");
    WAIT(world, !dx_hermes_guest_link(mute));
    assert_true(now_ms() - begin < 3000);
    wait_state(world, good, DX_HERMES_RUNNING);
    stop(world);
    world_free(world);
}

static void test_crash(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes_guest *guest = world_add(
        world, "{'go': {'win': [{'id': 1, 'method': 'ui/openWindow', 'params': {'url': "
               "'http://a', 'title': 't'}}, {'id': 2, 'method': 'ui/showMessage', 'params': "
               "{'message': 'm'}}], 'die': ['exit'], 'leave': ['kill']}}");
    wait_state(world, guest, DX_HERMES_RUNNING);
    run(world, "win", 1);
    WAIT(world, world->dialog_count == 1);
    assert_int_equal(dx_hermes_guest_open(guest), 1);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("die"), NULL), DX_OK);
    wait_state(world, guest, DX_HERMES_FAILED);
    expect_why(guest, "code 3");
    assert_int_equal(world->dialogs_gone, 1);
    assert_int_equal(dx_hermes_guest_open(guest), 0);
    assert_null(dx_hermes_window_at(world->editor, 0));
    must_have(&world->windows, "extension\n");
    assert_int_equal(dx_hermes_run(world->editor, dx_str("die"), NULL), DX_GONE);
    assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK);
    assert_null(dx_hermes_guest_facts(guest));
    wait_state(world, guest, DX_HERMES_RUNNING);
    assert_int_equal(dx_hermes_run(world->editor, dx_str("leave"), NULL), DX_OK);
    wait_state(world, guest, DX_HERMES_FAILED);
    expect_why(guest, "signal 9");
    world_free(world);
}

/* Row 15 of the facts. */
static void test_shutdown(void **state) {
    static const struct {
        const char *spec;
        unsigned least_ms;
        unsigned most_ms;
    } rows[] = {
        {"{'shutdown': 'false'}", 0, 1500},   {"{'shutdown': 'null'}", 0, 1500},
        {"{'shutdown': 'error'}", 0, 1500},   {"{'shutdown': 'mute'}", 500, 2000},
        {"{'shutdown': 'stay'}", 3900, 8000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *world = world_new();
        world->config.stop_ms = 500;
        world_open(world);
        dx_hermes_guest *guest = world_add(world, rows[i].spec);
        wait_state(world, guest, DX_HERMES_RUNNING);
        uint64_t begin = now_ms();
        dx_hermes_disable(guest);
        assert_int_equal(dx_hermes_guest_state(guest), DX_HERMES_SHUTTING_DOWN);
        wait_state(world, guest, DX_HERMES_STOPPED);
        assert_in_range(now_ms() - begin, rows[i].least_ms, rows[i].most_ms);
        must_have(&world->sent, "\"params\":{\"reason\":\"disabled\"}");
        assert_null(dx_hermes_guest_link(guest));
        dx_hermes_disable(guest); /* does no harm */
        stop(world);
        world_free(world);
    }
}

static void test_stop_early(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes_guest *mute = world_add(world, "{'mute': 1}");
    dx_hermes_stop(world->editor, "closing");
    dx_hermes_stop(world->editor, "closing");
    dx_error error;
    assert_int_equal(dx_hermes_reload(mute, &error), DX_ERR_INVALID);
    WAIT(world, world->stopped);
    assert_int_equal(world->stopped, 1);
    assert_int_equal(dx_hermes_guest_state(mute), DX_HERMES_STOPPED);
    assert_false(is_here(&world->sent, "shutdown")); /* it never said anything */
    /* And it can be used again. */
    assert_int_equal(dx_hermes_reload(mute, &error), DX_OK);
    assert_int_equal(dx_hermes_guest_state(mute), DX_HERMES_INITIALIZING);
    world_free(world);
}

/* H18: the real editor says nothing when it ends, and has one reason only. */
static void test_exact_end(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.revision = "exact";
    world_open(world);
    dx_hermes_guest *first = world_add(world, "{}");
    dx_hermes_guest *second = world_add(world, "{}");
    wait_state(world, first, DX_HERMES_RUNNING);
    wait_state(world, second, DX_HERMES_RUNNING);
    dx_hermes_disable(second);
    wait_state(world, second, DX_HERMES_STOPPED);
    assert_int_equal(count_of(&world->sent, "{\"reason\":\"reload\"}"), 1);
    stop(world);
    assert_int_equal(count_of(&world->sent, "shutdown"), 1);
    world_free(world);
}

static void test_reload_of_failed(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    /* Its process needs a while to leave: it ignores the end of its input. */
    dx_hermes_guest *guest =
        world_add(world, "{'initError': {'code': 1, 'message': 'x'}, 'shutdown': 'mute'}");
    wait_state(world, guest, DX_HERMES_FAILED);
    assert_non_null(dx_hermes_guest_link(guest));
    assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK);
    assert_int_equal(dx_hermes_guest_state(guest), DX_HERMES_STARTING);
    wait_state(world, guest, DX_HERMES_INITIALIZING);
    wait_state(world, guest, DX_HERMES_FAILED);
    assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK);
    dx_hermes_disable(guest);
    assert_int_equal(dx_hermes_guest_state(guest), DX_HERMES_SHUTTING_DOWN);
    wait_state(world, guest, DX_HERMES_STOPPED);
    world_free(world);
}

/* Callbacks may do what they like. */

static void run_at_once(struct world *world, dx_hermes_guest *guest) {
    if (dx_hermes_guest_state(guest) == DX_HERMES_RUNNING)
        assert_int_equal(dx_hermes_run(world->editor, dx_str("go"), NULL), DX_OK);
    if (dx_hermes_guest_state(guest) == DX_HERMES_FAILED && count_of(&world->states, "failed") < 3)
        assert_int_equal(dx_hermes_reload(guest, NULL), DX_OK);
    if (dx_hermes_guest_state(guest) == DX_HERMES_FAILED && count_of(&world->states, "failed") == 3)
        dx_hermes_stop(world->editor, "error");
}

static void test_callbacks(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    dx_hermes_guest *other = world_add(world, "{'go': {'x': []}}");
    wait_state(world, other, DX_HERMES_RUNNING);
    world->on_state = run_at_once;
    dx_hermes_guest *guest = world_add(world, "{'go': {'go': ['exit']}}");
    WAIT(world, world->stopped);
    assert_int_equal(count_of(&world->states, "guest failed"), 3);
    assert_int_equal(dx_hermes_guest_state(guest), DX_HERMES_FAILED);
    assert_int_equal(dx_hermes_guest_state(other), DX_HERMES_STOPPED);
    must_have(&world->sent, "{\"reason\":\"error\"}");
    world_free(world);
}

static void free_it(dx_hermes *editor, void *user) {
    struct world *world = user;
    world->stopped++;
    world->editor = dx_hermes_free(editor);
}

static void test_freed_in_on_stopped(void **state) {
    struct world *world = world_new();
    (void)state;
    world->config.on_stopped = free_it;
    world_open(world);
    wait_state(world, world_add(world, "{}"), DX_HERMES_RUNNING);
    dx_hermes_stop(world->editor, "closing");
    WAIT(world, world->stopped);
    pause_ms(world, 20);
    world_free(world);
}

/* Rows 23 and 25: whatever comes on the standard error. */
static void test_standard_error(void **state) {
    struct world *world = world_new();
    (void)state;
    world_open(world);
    const char *args[] = {"-c",
                          "import os\n"
                          "os.write(2, b'[WARN] careful\\nerror: bad\\n\\xff\\xfe\\n')\n"
                          "os.write(2, b'x' * 200000 + b'\\n')\n"
                          "for i in range(20000): os.write(2, b'flood\\n')\n"
                          "os.write(2, b'end')",
                          NULL};
    dx_hermes_guest *guest;
    assert_int_equal(dx_hermes_add(world->editor,
                                   &(dx_hermes_entry){.path = "/usr/bin/python3", .args = args},
                                   &guest, NULL),
                     DX_OK);
    wait_state(world, guest, DX_HERMES_FAILED);
    must_have(&world->log, "warn careful\n");
    must_have(&world->log, "error bad\n");
    must_have(&world->log, "info \xff\xfe\n");
    must_have(&world->log, "info end\n");
    assert_int_equal(count_of(&world->log, "flood"), 20000);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_data_directory),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_cannot_start),
        cmocka_unit_test(test_start_timeout),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_shutdown),
        cmocka_unit_test(test_stop_early),
        cmocka_unit_test(test_exact_end),
        cmocka_unit_test(test_reload_of_failed),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_freed_in_on_stopped),
        cmocka_unit_test(test_standard_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
