/* How runners end: asked, by themselves, and with the manager. The numbers are those of
 * facts/finecode.md §13. */
#include "finecode/manager.h"

#include <sys/wait.h>

static const char *const transports[] = {"stdio", "tcp"};

/* A world with one runner that runs; what the spec says besides. */
static struct world *world_running(size_t tcp, const char *spec, uint64_t stop_ms,
                                   dx_finecode_runner **ret_runner) {
    struct world *world = world_new();
    char text[512];
    snprintf(text, sizeof text, "{%s%s}", tcp ? "'tcp': ''," : "", spec);
    make_project(world, "p", "a b", transports[tcp], "");
    set_spec(world, "p", "a", text);
    set_spec(world, "p", "b", tcp ? "{'tcp': ''}" : "{}");
    world->config.stop_ms = stop_ms;
    world_open(world);
    *ret_runner = runner_of(world, "p", "a");
    must_run(world, *ret_runner);
    return world;
}

/* 48, 14: each step follows when the one before was no use. */
static void test_stop(void **state) {
    static const struct {
        const char *spec;
        unsigned least_ms;
        unsigned most_ms;
        bool is_killed;
    } rows[] = {
        {"", 0, 4000, false},
        {"'answers': {'shutdown': {'error': {'code': 1, 'message': 'no'}}}", 0, 4000, false},
        {"'answers': {'shutdown': 0}", 0, 4000, false},
        {"'answers': {'shutdown': 'die'}", 0, 4000, true},
        {"'ignore': ['exit']", 0, 4000, false}, /* the end of its input is enough */
        {"'answers': {'shutdown': 'mute'}", 900, 5000, false},
        {"'ignore': ['exit', 'end']", 900, 5000, true},
        {"'ignore': ['exit', 'end'], 'answers': {'shutdown': 'mute'}", 1900, 6000, true},
        {"'ignore': ['exit', 'end', 'term']", 2900, 8000, true},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        dx_finecode_runner *runner;
        struct world *world = world_running(i % 2, rows[i / 2].spec, 1000, &runner);
        pid_t pid = dx_finecode_runner_pid(runner);
        uint64_t begin = now_ms();
        stop(world);
        uint64_t took = now_ms() - begin;
        if (took < rows[i / 2].least_ms || took > rows[i / 2].most_ms)
            fail_msg("%s: %d ms", rows[i / 2].spec, (int)took);
        assert_true(is_in(runner, DX_FINECODE_EXITED));
        if ((strstr(dx_finecode_runner_why(runner), "killed") != NULL) != rows[i / 2].is_killed)
            fail_msg("%s: %s", rows[i / 2].spec, dx_finecode_runner_why(runner));
        assert_false(is_alive(pid));
        assert_int_equal(world->stopped, 1);
        world_free(world);
    }
}

/* One that is only starting is no reason to wait. */
static void test_stop_early(void **state) {
    static const char *const specs[] = {"{'tcp': '', 'sleep': 60}",
                                        "{'tcp': '', 'answers': {'initialize': 'mute'}}",
                                        "{'answers': {'initialize': 'mute'}}"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct world *world = world_new();
        make_project(world, "p", "a b", i < 2 ? "tcp" : "stdio", "");
        set_spec(world, "p", "a", specs[i]);
        world->config.max_jobs = 1;
        world_open(world);
        dx_finecode_runner *first = runner_of(world, "p", "a");
        dx_finecode_runner *queued = runner_of(world, "p", "b");
        assert_int_equal(dx__finecode_runner_need(first, on_ready, world), DX_OK);
        assert_int_equal(dx__finecode_runner_need(queued, on_ready, world), DX_OK);
        WAIT(world, strstr(trace_of(world, "p", "a"), i ? "initialize" : "start"));
        pid_t pid = dx_finecode_runner_pid(first);
        assert_true(pid > 0);
        uint64_t begin = now_ms();
        stop(world);
        assert_true(now_ms() - begin < 2000);
        assert_false(is_alive(pid));
        assert_int_equal(count_of(world->ready.text, "no\n"), 2);
        assert_true(is_in(queued, DX_FINECODE_NOT_STARTED));
        world_free(world);
    }
}

/* 46: killed while nothing happens; the next use starts another one. */
static void test_killed_idle(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dx_finecode_runner *runner;
        struct world *world = world_running(i, "", 1000, &runner);
        pid_t pid = dx_finecode_runner_pid(runner);
        kill(pid, SIGKILL);
        WAIT(world, is_in(runner, DX_FINECODE_EXITED) && !dx_finecode_runner_pid(runner));
        must_have(dx_finecode_runner_why(runner), "signal 9 (KILL)");
        must_have(world->states.text, "a EXITED");
        assert_int_equal(runner->run, 1);
        must_run(world, runner);
        assert_int_equal(runner->run, 2);
        assert_true(dx_finecode_runner_pid(runner) != pid);
        stop(world);
        world_free(world);
    }
}

/* 46: during a run, which ends within a second; others do not notice. */
static void test_killed_busy(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dx_finecode_runner *runner;
        struct world *world = world_running(i, "'answers': {'actions/run': 'mute'}", 1000, &runner);
        dx_finecode_runner *other = runner_of(world, "p", "b");
        must_run(world, other);
        call(world, runner);
        call(world, runner);
        WAIT(world, count_of(trace_of(world, "p", "a"), "actions/run") == 2);
        uint64_t begin = now_ms();
        kill(dx_finecode_runner_pid(runner), SIGKILL);
        WAIT(world, count_of(world->done.text, "\n") == 2);
        assert_true(now_ms() - begin < 1000);
        assert_int_equal(count_of(world->done.text, "a lost"), 2);
        call(world, other);
        WAIT(world, strstr(world->done.text, "b result"));
        stop(world);
        world_free(world);
    }
}

/* 47: it closes its end and lives on. */
static void test_closes(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dx_finecode_runner *runner;
        struct world *world = world_running(
            i, "'ignore': ['term'], 'answers': {'actions/run': 'close'}", 5000, &runner);
        pid_t pid = dx_finecode_runner_pid(runner);
        uint64_t begin = now_ms();
        call(world, runner);
        WAIT(world, world->done.len);
        assert_true(now_ms() - begin < 1000);
        must_have(world->done.text, "a lost");
        WAIT(world, !dx_finecode_runner_pid(runner));
        assert_true(now_ms() - begin < 3000);
        assert_false(is_alive(pid));
        assert_true(is_in(runner, DX_FINECODE_EXITED));
        must_run(world, runner); /* who asks in between has to wait, but gets one */
        stop(world);
        world_free(world);
    }
}

/* One that talks elsewhere may close its standard output. */
static void test_output_closed(void **state) {
    dx_finecode_runner *runner;
    struct world *world = world_running(1, "'shut': True", 300, &runner);
    (void)state;
    uint64_t until = now_ms() + 1500;
    while (now_ms() < until)
        turn(world, 50);
    assert_true(is_in(runner, DX_FINECODE_RUNNING));
    call(world, runner);
    WAIT(world, world->done.len);
    must_have(world->done.text, "a result");
    stop(world);
    world_free(world);
}

/* 48: good-bye, and a new one. */
static void test_restart(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dx_finecode_runner *runner;
        struct world *world = world_running(i, "", 1000, &runner);
        pid_t pid = dx_finecode_runner_pid(runner);
        assert_int_equal(dx_finecode_wm_restart(world->wm, runner), DX_OK);
        assert_int_equal(dx_finecode_wm_restart(world->wm, runner), DX_OK); /* does no harm */
        must_run(world, runner); /* waits for the new one */
        assert_true(dx_finecode_runner_pid(runner) != pid);
        assert_false(is_alive(pid));
        must_have(methods_of(world, "p", "a"), "shutdown exit start initialize initialized ");
        assert_int_equal(count_of(methods_of(world, "p", "a"), "start"), 2);
        stop(world);
        assert_int_equal(dx_finecode_wm_restart(world->wm, runner), DX_CLOSED);
        world_free(world);
    }
}

/* 48: one that does not want to leave is killed after its time. */
static void test_restart_stubborn(void **state) {
    dx_finecode_runner *runner;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world =
            world_running(i, "'ignore': ['exit', 'end', 'term'], 'then': [{}]", 300, &runner);
        if (i)
            set_spec(world, "p", "a", "{'tcp': '', 'then': [{'tcp': ''}]}");
        pid_t pid = dx_finecode_runner_pid(runner);
        uint64_t begin = now_ms();
        assert_int_equal(dx_finecode_wm_restart(world->wm, runner), DX_OK);
        must_run(world, runner);
        assert_in_range(now_ms() - begin, 2300, 8000);
        assert_false(is_alive(pid));
        stop(world);
        world_free(world);
    }
}

/* A call is cancelled on the wire, and its late answer is nobody's. */
static void test_cancel(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dx_finecode_runner *runner;
        struct world *world = world_running(i, "'answers': {'actions/run': 'mute'}", 1000, &runner);
        dx_call made = call(world, runner);
        dx__finecode_runner_cancel(runner, made + 1000);
        dx__finecode_runner_cancel(runner, made);
        dx__finecode_runner_cancel(runner, made);
        WAIT(world, strstr(trace_of(world, "p", "a"), "$/cancelRequest"));
        WAIT(world, world->done.len);
        must_have(world->done.text, "a cancelled");
        assert_int_equal(count_of(trace_of(world, "p", "a"), "$/cancelRequest"), 1);
        stop(world);
        world_free(world);
    }
}

/* From inside of callbacks. */

static void free_when_running(dx_finecode_wm *wm, dx_finecode_runner *runner, void *user) {
    struct world *world = user;
    if (is_in(runner, DX_FINECODE_RUNNING))
        world->wm = dx_finecode_wm_free(wm);
}

static void free_when_ready(dx_finecode_runner *runner, bool ready, void *user) {
    struct world *world = user;
    (void)ready;
    world->wm = dx_finecode_wm_free(runner->wm);
}

static void free_when_done(dx_finecode_runner *runner, const dx_event *event, void *user) {
    struct world *world = user;
    (void)event;
    world->wm = dx_finecode_wm_free(runner->wm);
}

static void free_when_stopped(dx_finecode_wm *wm, void *user) {
    struct world *world = user;
    world->stopped++;
    world->wm = dx_finecode_wm_free(wm);
}

static void free_at_line(dx_finecode_wm *wm, dx_finecode_runner *runner, dx_text line, void *user) {
    struct world *world = user;
    (void)runner;
    (void)line;
    world->wm = dx_finecode_wm_free(wm);
}

static void test_freed_in_callbacks(void **state) {
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        struct world *world = world_new();
        dx_finecode_runner *runner;
        make_project(world, "p", "a b", transports[i % 2], "");
        set_spec(world, "p", "a", i % 2 ? "{'tcp': '', 'errors': ['x']}" : "{'errors': ['x']}");
        set_spec(world, "p", "b", i % 2 ? "{'tcp': ''}" : "{}");
        if (i / 2 == 0)
            world->config.on_runner = free_when_running;
        if (i / 2 == 3)
            world->config.on_stopped = free_when_stopped;
        if (i / 2 == 4)
            world->config.on_errors = free_at_line;
        world_open(world);
        dx_finecode_wm_start_runners(world->wm, NULL);
        runner = runner_of(world, "p", "a");
        if (i / 2 == 1)
            assert_int_equal(dx__finecode_runner_need(runner, free_when_ready, world), DX_OK);
        if (i / 2 == 2) {
            dx__finecode_call_options options = {.on_done = free_when_done, .user = world};
            must_run(world, runner);
            assert_int_equal(dx__finecode_runner_call(runner, "actions/getPayloadSchemas",
                                                      dx_json_none(), &options, NULL),
                             DX_OK);
            kill(dx_finecode_runner_pid(runner), SIGKILL);
        }
        if (i / 2 == 3)
            dx_finecode_wm_stop(world->wm);
        WAIT(world, !world->wm);
        turn(world, 10);
        world_free(world);
    }
}

/* A folder that goes takes its runners with it. */
static void test_remove_dir(void **state) {
    dx_finecode_runner *runner;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_running(i, "", 1000, &runner);
        pid_t pid = dx_finecode_runner_pid(runner);
        dx_finecode_wm_remove_dir(world->wm, "/nowhere");
        assert_non_null(dx_finecode_wm_project(world->wm, 0));
        dx_finecode_wm_remove_dir(world->wm, world->folder);
        assert_null(dx_finecode_wm_project(world->wm, 0));
        assert_null(dx_finecode_wm_runner(world->wm, 0));
        assert_false(is_alive(pid));
        assert_int_equal(dx_finecode_wm_add_dir(world->wm, world->folder, NULL), DX_OK);
        must_run(world, runner_of(world, "p", "a"));
        stop(world);
        world_free(world);
    }
}

/* One that was added may be added again, which finds what is new in it. */
static void test_add_again(void **state) {
    dx_finecode_runner *runner;
    struct world *world = world_running(0, "", 1000, &runner);
    (void)state;
    pid_t pid = dx_finecode_runner_pid(runner);
    make_project(world, "q", "a", "stdio", "");
    WAIT(world, world->trees);
    world->trees = 0;
    assert_int_equal(dx_finecode_wm_add_dir(world->wm, world->folder, NULL), DX_OK);
    WAIT(world, world->trees);
    must_run(world, runner_of(world, "q", "a"));
    assert_int_equal(dx_finecode_runner_pid(runner_of(world, "p", "a")), pid);
    assert_null(dx_finecode_wm_project(world->wm, 2));
    dx_finecode_wm_remove_dir(world->wm, world->folder);
    assert_null(dx_finecode_wm_project(world->wm, 0));
    stop(world);
    world_free(world);
}

/* Folders in each other: a project goes when the last one goes that has it. */
static void test_remove_inner_dir(void **state) {
    dx_finecode_runner *runner;
    char inner[128];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_running(0, "", 1000, &runner);
        snprintf(inner, sizeof inner, "%s/p", world->folder);
        if (i) { /* the inner one first, so that the project is its */
            dx_finecode_wm_remove_dir(world->wm, world->folder);
            assert_int_equal(dx_finecode_wm_add_dir(world->wm, inner, NULL), DX_OK);
            assert_int_equal(dx_finecode_wm_add_dir(world->wm, world->folder, NULL), DX_OK);
        } else {
            assert_int_equal(dx_finecode_wm_add_dir(world->wm, inner, NULL), DX_OK);
        }
        dx_finecode_wm_remove_dir(world->wm, i ? inner : world->folder);
        assert_non_null(dx_finecode_wm_project(world->wm, 0));
        assert_null(dx_finecode_wm_project(world->wm, 1));
        must_run(world, runner_of(world, "p", "a"));
        dx_finecode_wm_remove_dir(world->wm, i ? world->folder : inner);
        assert_null(dx_finecode_wm_project(world->wm, 0));
        stop(world);
        world_free(world);
    }
}

static void remove_at_log(dx_finecode_wm *wm, dx_finecode_runner *runner, const char *level,
                          const char *group, dx_text text, double time, void *user) {
    struct world *world = user;
    (void)group;
    (void)time;
    note(&world->lines, dx_finecode_runner_env(runner), level, text);
    dx_finecode_wm_remove_dir(wm, world->folder);
}

/* Who is told of a record removes the runner that has more of them. */
static void test_removed_at_log(void **state) {
    struct world *world = world_new();
    (void)state;
    make_project(world, "p", "a", "tcp", "");
    set_spec(world, "p", "a",
             "{'tcp': '', 'answers': {'actions/run': [{'method': 'er/logRecords', 'params': "
             "{'records': [{'timestamp': 1.5, 'level': 'INFO', 'group': 'g', 'message': 'one'}, "
             "{'timestamp': 2.5, 'level': 'INFO', 'group': 'g', 'message': 'two'}]}}, "
             "{'result': {}}]}}");
    world->config.on_log = remove_at_log;
    world_open(world);
    dx_finecode_runner *runner = runner_of(world, "p", "a");
    must_run(world, runner);
    call(world, runner);
    WAIT(world, strstr(world->lines.text, "INFO one"));
    assert_null(dx_finecode_wm_runner(world->wm, 0));
    turn(world, 20);
    assert_null(strstr(world->lines.text, "INFO two"));
    stop(world);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop),           cmocka_unit_test(test_stop_early),
        cmocka_unit_test(test_killed_idle),    cmocka_unit_test(test_killed_busy),
        cmocka_unit_test(test_closes),         cmocka_unit_test(test_output_closed),
        cmocka_unit_test(test_restart),        cmocka_unit_test(test_restart_stubborn),
        cmocka_unit_test(test_cancel),         cmocka_unit_test(test_freed_in_callbacks),
        cmocka_unit_test(test_remove_dir),     cmocka_unit_test(test_remove_inner_dir),
        cmocka_unit_test(test_removed_at_log), cmocka_unit_test(test_add_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
