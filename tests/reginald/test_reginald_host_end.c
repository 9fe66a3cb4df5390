/* How plugins leave, whether they like it or not. */
#include "reginald/host.h"

/* The number of its process, which a plugin writes into a file. */
#define WITH_PID                                                            \
    "__import__('os').getppid() and open(sys.argv[0] + '.pid', 'w').write(" \
    "str(__import__('os').getpid())) and "

static pid_t pid_of(const dx_reginald_guest *guest) {
    char path[300];
    int pid = 0;
    snprintf(path, sizeof path, "%s.pid", dx_reginald_guest_path(guest));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    return pid;
}

static void expect_dead(const dx_reginald_guest *guest) {
    assert_int_equal(kill(pid_of(guest), 0), -1);
    assert_int_equal(errno, ESRCH);
}

/* Rows 16 and 18. */
static void test_leaving(void **state) {
    static const struct {
        const char *spec;
        unsigned least_ms;
        unsigned most_ms;
        size_t exits;
        const char *why;
    } rows[] = {
        {"{}", 0, 1500, 1, ""},
        {"{'answers': {'shutdown': True}}", 0, 1500, 1, ""},
        {"{'answers': {'shutdown': {'any': 1}}}", 0, 1500, 1, ""},
        {"{'answers': {'shutdown': {'error': {'code': 1, 'message': 'no'}}}}", 0, 1500, 1, ""},
        {"{'leave': {'shutdown': 0}}", 0, 1500, 0, ""},
        {"{'leave': {'exit': 7}}", 0, 1500, 1, ""},
        {"{'stay': 1}", 1900, 4500, 1, "was killed"},
        {"{'stay': 1, 'answers': {'shutdown': 'mute'}}", 1900, 4500, 0, "was killed"},
    };
    static const char *const revisions[] = {NULL, "exact"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct world *world = world_new(revisions[i % 2]);
        char spec[512];
        world->config.stop_ms = 2000;
        world_open(world);
        snprintf(spec, sizeof spec, WITH_PID "%s", rows[i / 2].spec);
        dx_reginald_guest *guest = world_add(world, spec);
        start(world);
        expect_ready(guest);
        uint64_t begin = now_ms();
        dx_reginald_stop(world->host);
        dx_reginald_stop(world->host); /* does no harm */
        assert_int_equal(dx_reginald_guest_state(guest), DX_REGINALD_STOPPING);
        WAIT(world, world->stopped);
        uint64_t took = now_ms() - begin;
        if (took < rows[i / 2].least_ms || took > rows[i / 2].most_ms)
            fail_msg("%s took %d ms", rows[i / 2].spec, (int)took);
        assert_int_equal(world->stopped, 1);
        assert_int_equal(dx_reginald_guest_state(guest), DX_REGINALD_STOPPED);
        assert_int_equal(count_of(&world->sent, "\"exit\""), rows[i / 2].exits);
        if (strncmp(dx_reginald_guest_why(guest), rows[i / 2].why, rows[i / 2].why[0] ? 10 : 1) !=
            0)
            fail_msg("%s: %s", rows[i / 2].spec, dx_reginald_guest_why(guest));
        expect_dead(guest);
        world_free(world);
    }
}

/* One that has failed has no long life either. */
static void test_failed_stays(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world->config.stop_ms = 2000;
    world_open(world);
    dx_reginald_guest *guest =
        world_add(world, WITH_PID "{'stay': 1, 'handshake': {'protocolVersion': 3}}");
    uint64_t begin = now_ms();
    start(world);
    expect_failed(guest, "protocolVersion");
    stop(world);
    assert_in_range(now_ms() - begin, 400, 2500);
    expect_dead(guest);
    world_free(world);
}

static void test_work_is_lost(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world->config.stop_ms = 500;
    world_open(world);
    world_add(world, "{'stay': 1, 'answers': {'runCommand': 'mute'}}");
    start(world);
    assert_int_equal(dx_reginald_run_command(world->host, offer(world, 0, "sleep"), dx_json_none(),
                                             NULL, on_done, world),
                     DX_OK);
    WAIT(world, strstr(world->sent.text, "runCommand"));
    stop(world);
    assert_int_equal(count_of(&world->done, "sleep lost"), 1);
    world_free(world);
}

static void test_ends_by_itself(void **state) {
    static const struct {
        const char *spec;
        const char *why;
    } rows[] = {
        {"{'leave': {'runCommand': 3}}", "code 3"},
        {"{'leave': {'runCommand': 0}}", "code 0"},
        {"{'before': {'runCommand': [b'Content-Length: 99999999999\\r\\n\\r\\n']}}",
         "was disconnected"},
        {"{'before': {'runCommand': [7]}}", "exited on its own"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *world = world_new(NULL);
        world_open(world);
        dx_reginald_guest *guest = world_add(world, rows[i].spec);
        start(world);
        assert_int_equal(dx_reginald_run_command(world->host, offer(world, 0, "sleep"),
                                                 dx_json_none(), NULL, on_done, world),
                         DX_OK);
        WAIT(world, dx_reginald_guest_state(guest) == DX_REGINALD_FAILED);
        expect_failed(guest, rows[i].why);
        assert_int_equal(count_of(&world->done, "\n"), 1);
        assert_null(dx_reginald_offer_at(world->host, 0));
        stop(world);
        world_free(world);
    }
}

static void test_stop_early(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    dx_reginald_guest *mute = world_add(world, "{'answers': {'handshake': 'mute'}}");
    dx_reginald_start(world->host);
    dx_reginald_guest *fresh = world_add(world, "{}");
    stop(world);
    assert_int_equal(world->ready, 0);
    assert_int_equal(dx_reginald_guest_state(mute), DX_REGINALD_STOPPED);
    assert_int_equal(dx_reginald_guest_state(fresh), DX_REGINALD_STOPPED);
    assert_int_equal(count_of(&world->sent, "shutdown"), 0);
    world_free(world);
}

static void free_it(dx_reginald *host, void *user) {
    struct world *world = user;
    world->stopped++;
    world->host = dx_reginald_free(host);
}

static void test_freed_in_on_stopped(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world->config.on_stopped = free_it;
    world_open(world);
    world_add(world, "{}");
    start(world);
    stop(world);
    turn(world, 20);
    world_free(world);
}

/* Without a word, and with work under way. */
static void test_freed_at_once(void **state) {
    struct world *world = world_new(NULL);
    (void)state;
    world_open(world);
    dx_reginald_guest *guest =
        world_add(world, WITH_PID "{'stay': 1, 'answers': {'runCommand': 'mute'}}");
    start(world);
    assert_int_equal(dx_reginald_run_command(world->host, offer(world, 0, "sleep"), dx_json_none(),
                                             NULL, on_done, world),
                     DX_OK);
    pid_t pid = pid_of(guest);
    world->host = dx_reginald_free(world->host);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(world->done.len, 0);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaving),       cmocka_unit_test(test_failed_stays),
        cmocka_unit_test(test_work_is_lost),  cmocka_unit_test(test_ends_by_itself),
        cmocka_unit_test(test_stop_early),    cmocka_unit_test(test_freed_in_on_stopped),
        cmocka_unit_test(test_freed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
