/* A manager that is killed leaves nobody behind, whatever its runners were about to do. */
#include "finecode/manager.h"

#include <sys/wait.h>

enum { PROJECTS = 64 };

/* The manager, as a process of its own, which tells when all of its runners run (or have come so
 * far), and then waits to be killed. */
static void be_manager(struct world *world, int ready, bool all_run) {
    world->loop = NULL;
    assert_int_equal(dx_loop_new(NULL, &world->loop, NULL), DX_OK);
    world->config.max_jobs = 8;
    world_open(world);
    dx_finecode_wm_start_runners(world->wm, NULL);
    for (bool done = false; !done;) {
        turn(world, 20);
        done = true;
        for (size_t i = 0; dx_finecode_wm_runner(world->wm, i); i++) {
            dx_finecode_runner *runner = dx_finecode_wm_runner(world->wm, i);
            done &=
                all_run ? is_in(runner, DX_FINECODE_RUNNING) : dx_finecode_runner_pid(runner) > 0;
        }
    }
    if (write(ready, "x", 1) != 1)
        _exit(1);
    for (;;)
        turn(world, 1000);
}

static pid_t pid_in(const struct world *world, const char *project, const char *env) {
    const char *at = strstr(trace_of(world, project, env), "\"pid\": ");
    return at ? (pid_t)atoi(at + 7) : 0;
}

static size_t alive_in(const struct world *world, size_t projects) {
    size_t count = 0;
    for (size_t i = 0; i < projects; i++) {
        char project[16];
        snprintf(project, sizeof project, "p%zu", i);
        count += is_alive(pid_in(world, project, "a"));
        count += is_alive(pid_in(world, project, "b"));
    }
    return count;
}

static void kill_manager(const char *transport, const char *spec, size_t projects, bool all_run) {
    struct world *world = world_new();
    int pipes[2];
    char byte;
    for (size_t i = 0; i < projects; i++) {
        char project[16];
        snprintf(project, sizeof project, "p%zu", i);
        make_project(world, project, "a b", transport, "");
        set_spec(world, project, "a", spec);
        set_spec(world, project, "b", spec);
    }
    assert_int_equal(pipe(pipes), 0);
    pid_t manager = fork();
    assert_true(manager >= 0);
    if (!manager) {
        close(pipes[0]);
        be_manager(world, pipes[1], all_run);
    }
    close(pipes[1]);
    if (read(pipes[0], &byte, 1) != 1)
        fail_msg("the manager has ended");
    close(pipes[0]);
    uint64_t until = now_ms() + 20000;
    while (alive_in(world, projects) < 2 * projects && now_ms() < until)
        usleep(20000); /* the process is there before its trace is */
    assert_int_equal(alive_in(world, projects), 2 * projects);
    kill(manager, SIGKILL);
    assert_int_equal(waitpid(manager, NULL, 0), manager);
    until = now_ms() + 5000;
    while (alive_in(world, projects) && now_ms() < until)
        usleep(20000);
    assert_int_equal(alive_in(world, projects), 0);
    world_free(world);
}

/* What keeps it alive as well as it can. */
#define STUBBORN "'ignore': ['exit', 'end', 'term']"

static void test_pipes(void **state) {
    (void)state;
    kill_manager("stdio", "{" STUBBORN "}", 2, true);
}

static void test_tcp(void **state) {
    (void)state;
    kill_manager("tcp", "{'tcp': ''," STUBBORN "}", 2, true);
}

/* The original leaves those behind that nobody has connected to. */
static void test_before_connect(void **state) {
    (void)state;
    kill_manager("tcp", "{'tcp': '', 'sleep': 600," STUBBORN "}", 2, false);
}

static void test_before_initialize(void **state) {
    (void)state;
    kill_manager("tcp", "{'tcp': '', 'answers': {'initialize': 'mute'}," STUBBORN "}", 2, false);
}

static void test_many(void **state) {
    (void)state;
    kill_manager("stdio", "{" STUBBORN "}", PROJECTS, true);
    kill_manager("tcp", "{'tcp': ''," STUBBORN "}", PROJECTS, true);
}

/* And without that all of them leave when they are asked. */
static void test_many_stop(void **state) {
    struct world *world = world_new();
    (void)state;
    for (size_t i = 0; i < PROJECTS; i++) {
        char project[16];
        snprintf(project, sizeof project, "p%zu", i);
        make_project(world, project, "a b", "tcp", "");
        set_spec(world, project, "a", "{'tcp': ''}");
        set_spec(world, project, "b", "{'tcp': ''}");
    }
    world_open(world);
    dx_finecode_wm_start_runners(world->wm, NULL);
    WAIT(world, count_of(world->states.text, " RUNNING\n") == 2 * PROJECTS);
    assert_int_equal(alive_in(world, PROJECTS), 2 * PROJECTS);
    stop(world);
    assert_int_equal(alive_in(world, PROJECTS), 0);
    assert_int_equal(count_of(world->states.text, " EXITED\n"), 2 * PROJECTS);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipes),          cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_before_connect), cmocka_unit_test(test_before_initialize),
        cmocka_unit_test(test_many),           cmocka_unit_test(test_many_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
