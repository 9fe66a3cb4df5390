/* A child that is kept running: what happens when it dies, hangs, can't be started, or is stopped.
 * Against real processes, so times are short and only the order of things is looked at. */
#include "unit/unit.h"

#include <duplex/duplex.h>

#include <errno.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SEEN_MAX = 64 };

struct watcher {
    dx_loop *loop;
    dx_supervisor *supervisor;
    dx_state seen[SEEN_MAX];
    size_t count;
    dx_error why;      /* of the last state */
    dx_state until;    /* where the loop stops … */
    unsigned at_least; /* … in this incarnation or a later one */
};

static char echo_path[1024];
static const char *const echo_argv[] = {echo_path, "line", NULL};

static void on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *user) {
    struct watcher *watcher = user;
    assert_true(watcher->count < SEEN_MAX);
    watcher->seen[watcher->count++] = state;
    watcher->why = *why;
    if (state == watcher->until && dx_supervisor_incarnation(supervisor) >= watcher->at_least)
        dx_loop_stop(watcher->loop);
}

static dx_supervisor_config config_of(struct watcher *watcher, const char *const *argv) {
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    config.on_state = on_state;
    config.user = watcher;
    config.backoff_ms = 5;
    config.child.ladder.close_ms = 500;
    return config;
}

static void watch(struct watcher *watcher, const dx_supervisor_config *config) {
    assert_int_equal(dx_supervisor_new(watcher->loop, config, &watcher->supervisor), DX_OK);
    dx_supervisor_start(watcher->supervisor);
}

static void run_until(struct watcher *watcher, dx_state state, unsigned incarnation) {
    watcher->until = state;
    watcher->at_least = incarnation;
    if (dx_supervisor_state(watcher->supervisor) == state &&
        dx_supervisor_incarnation(watcher->supervisor) >= incarnation)
        return;
    assert_int_equal(dx_loop_run(watcher->loop), DX_OK);
    assert_int_equal(dx_supervisor_state(watcher->supervisor), state);
}

static void expect_states(const struct watcher *watcher, const dx_state *states, size_t count) {
    for (size_t i = 0; i < count && i < watcher->count; i++)
        assert_string_equal(dx_state_name(watcher->seen[i]), dx_state_name(states[i]));
    assert_int_equal(watcher->count, count);
}

static struct watcher begin(void) {
    struct watcher watcher = {0};
    alarm(20);
    assert_int_equal(dx_loop_new(NULL, &watcher.loop, NULL), DX_OK);
    return watcher;
}

static void end(struct watcher *watcher) {
    dx_supervisor_free(watcher->supervisor);
    dx_loop_free(watcher->loop);
    alarm(0);
}

static void starts_and_stops(void **state) {
    (void)state;
    struct watcher watcher = begin();
    dx_supervisor_config config = config_of(&watcher, echo_argv);
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_READY, 1);
    assert_non_null(dx_supervisor_link(watcher.supervisor));
    dx_supervisor_stop(watcher.supervisor);
    run_until(&watcher, DX_STATE_STOPPED, 1);
    assert_null(dx_supervisor_link(watcher.supervisor));
    static const dx_state states[] = {DX_STATE_STARTING, DX_STATE_READY, DX_STATE_STOPPING,
                                      DX_STATE_STOPPED};
    expect_states(&watcher, states, 4);
    assert_int_equal(watcher.why.fault, DX_FAULT_NONE);
    end(&watcher);
}

static void on_lost(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    *(dx_outcome *)user = event->outcome;
}

static void F92_comes_back_after_a_death(void **state) {
    (void)state;
    struct watcher watcher = begin();
    static const char *const deaf[] = {"/bin/sleep", "100", NULL};
    dx_supervisor_config config = config_of(&watcher, deaf);
    dx_outcome outcome = DX_OUTCOME_RESULT;
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_READY, 1);
    dx_link_call_options options = {.peer = {.user = &outcome}, .on_done = on_lost};
    dx_link *first = dx_supervisor_link(watcher.supervisor);
    assert_int_equal(dx_link_call(first, dx_str("m"), dx_json_none(), &options, NULL), DX_OK);
    pid_t pid = dx_supervisor_pid(watcher.supervisor);
    kill(pid, SIGKILL);
    run_until(&watcher, DX_STATE_BACKOFF, 1);
    assert_int_equal(outcome, DX_OUTCOME_LOST);
    assert_int_equal(watcher.why.fault, DX_FAULT_KILLED);
    run_until(&watcher, DX_STATE_READY, 2);
    assert_true(dx_supervisor_pid(watcher.supervisor) != pid);
    assert_int_equal(dx_supervisor_incarnation(watcher.supervisor), 2);
    end(&watcher);
}

/* Five deaths in the window, and nobody tries a sixth time; until somebody says so. */
static void F91_gives_up_on_a_crash_loop(void **state) {
    (void)state;
    struct watcher watcher = begin();
    static const char *const crash[] = {"/bin/sh", "-c", "echo because >&2; exit 7", NULL};
    dx_supervisor_config config = config_of(&watcher, crash);
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_FAILED, 1);
    assert_int_equal(dx_supervisor_incarnation(watcher.supervisor), 5);
    assert_int_equal(watcher.why.fault, DX_FAULT_EXITED);
    assert_non_null(strstr(watcher.why.phrase, "because"));
    dx_supervisor_start(watcher.supervisor);
    run_until(&watcher, DX_STATE_FAILED, 10);
    assert_int_equal(dx_supervisor_incarnation(watcher.supervisor), 10);
    end(&watcher);
}

static void outside_the_window_it_goes_on(void **state) {
    (void)state;
    struct watcher watcher = begin();
    static const char *const crash[] = {"/bin/sh", "-c", "exit 7", NULL};
    dx_supervisor_config config = config_of(&watcher, crash);
    config.tries = 2;
    config.window_ms = 0;
    config.backoff_max_ms = 5;
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_BACKOFF, 6);
    end(&watcher);
}

static void a_program_that_is_not_there(void **state) {
    (void)state;
    struct watcher watcher = begin();
    static const char *const nothing[] = {"/nowhere/at/all", NULL};
    dx_supervisor_config config = config_of(&watcher, nothing);
    config.restart = DX_RESTART_NEVER;
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_FAILED, 1);
    assert_int_equal(watcher.why.fault, DX_FAULT_START);
    assert_int_equal(watcher.why.system, ENOENT);
    assert_non_null(strstr(watcher.why.phrase, "/nowhere/at/all"));
    end(&watcher);
}

static void leaving_with_0_is_no_failure(void **state) {
    (void)state;
    struct watcher watcher = begin();
    static const char *const leave[] = {"/bin/sh", "-c", "exit 0", NULL};
    dx_supervisor_config config = config_of(&watcher, leave);
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_STOPPED, 1);
    assert_int_equal(dx_supervisor_incarnation(watcher.supervisor), 1);
    end(&watcher);
}

static void never_ready(dx_supervisor *supervisor, dx_link *link, void *user) {
    (void)supervisor;
    (void)link;
    (void)user;
}

static void a_handshake_that_never_ends(void **state) {
    (void)state;
    struct watcher watcher = begin();
    dx_supervisor_config config = config_of(&watcher, echo_argv);
    config.on_start = never_ready;
    config.start_ms = 30;
    config.restart = DX_RESTART_NEVER;
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_FAILED, 1);
    assert_int_equal(watcher.why.fault, DX_FAULT_TIMEOUT);
    end(&watcher);
}

/* A stopped process answers no ping: degraded, then put down and started anew. */
static void F90_a_process_that_hangs(void **state) {
    (void)state;
    struct watcher watcher = begin();
    dx_supervisor_config config = config_of(&watcher, echo_argv);
    config.ping = "echo";
    config.ping_ms = 20;
    config.ping_wait_ms = 30;
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_READY, 1);
    kill(dx_supervisor_pid(watcher.supervisor), SIGSTOP);
    run_until(&watcher, DX_STATE_READY, 2);
    static const dx_state states[] = {DX_STATE_STARTING, DX_STATE_READY,    DX_STATE_DEGRADED,
                                      DX_STATE_BACKOFF,  DX_STATE_STARTING, DX_STATE_READY};
    expect_states(&watcher, states, 6);
    end(&watcher);
}

/* One that is slow to answer but keeps talking is not disturbed. */
static void F90_a_process_that_is_busy(void **state) {
    (void)state;
    struct watcher watcher = begin();
    static const char *const talker[] = {
        "/bin/sh", "-c",
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do"
        " echo '{\"jsonrpc\":\"2.0\",\"method\":\"working\"}'; sleep 0.02; done",
        NULL};
    dx_supervisor_config config = config_of(&watcher, talker);
    config.ping = "ping";
    config.ping_ms = 30;
    config.ping_wait_ms = 60;
    config.misses = 1;
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_STOPPED, 1);
    static const dx_state states[] = {DX_STATE_STARTING, DX_STATE_READY, DX_STATE_STOPPED};
    expect_states(&watcher, states, 3);
    end(&watcher);
}

static void free_in_on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why,
                             void *user) {
    struct watcher *watcher = user;
    (void)why;
    if (state != watcher->until)
        return;
    dx_supervisor_free(supervisor);
    watcher->supervisor = NULL;
    dx_loop_stop(watcher->loop);
}

static void freed_when_told(void **state) {
    (void)state;
    static const char *const crash[] = {"/bin/sh", "-c", "exit 7", NULL};
    static const dx_state when[] = {DX_STATE_STARTING, DX_STATE_READY, DX_STATE_BACKOFF,
                                    DX_STATE_FAILED};
    for (size_t i = 0; i < sizeof when / sizeof when[0]; i++) {
        struct watcher watcher = begin();
        dx_supervisor_config config = config_of(&watcher, crash);
        config.on_state = free_in_on_state;
        watcher.until = when[i];
        watch(&watcher, &config);
        if (watcher.supervisor)
            assert_int_equal(dx_loop_run(watcher.loop), DX_OK);
        assert_null(watcher.supervisor);
        end(&watcher);
    }
}

static void stopped_while_it_waits(void **state) {
    (void)state;
    struct watcher watcher = begin();
    static const char *const crash[] = {"/bin/sh", "-c", "exit 7", NULL};
    dx_supervisor_config config = config_of(&watcher, crash);
    config.backoff_ms = 100000;
    config.backoff_max_ms = 100000;
    watch(&watcher, &config);
    run_until(&watcher, DX_STATE_BACKOFF, 1);
    dx_supervisor_stop(watcher.supervisor);
    run_until(&watcher, DX_STATE_STOPPED, 1);
    end(&watcher);
}

int main(void) {
    const char *build = getenv("BUILD");
    snprintf(echo_path, sizeof echo_path, "%s/examples/echo", build ? build : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_and_stops),
        cmocka_unit_test(F92_comes_back_after_a_death),
        cmocka_unit_test(F91_gives_up_on_a_crash_loop),
        cmocka_unit_test(outside_the_window_it_goes_on),
        cmocka_unit_test(a_program_that_is_not_there),
        cmocka_unit_test(leaving_with_0_is_no_failure),
        cmocka_unit_test(a_handshake_that_never_ends),
        cmocka_unit_test(F90_a_process_that_hangs),
        cmocka_unit_test(F90_a_process_that_is_busy),
        cmocka_unit_test(freed_when_told),
        cmocka_unit_test(stopped_while_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
