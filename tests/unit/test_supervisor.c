/* A child that is kept running, when nothing goes wrong; when something does: tests/faults. */
#include "unit/unit.h"

#include <duplex/duplex.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SEEN_MAX = 16 };

struct watcher {
    dx_loop *loop;
    dx_state seen[SEEN_MAX];
    size_t count;
    dx_state until; /* where the loop stops */
};

static char echo_path[1024];

static void on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *user) {
    struct watcher *watcher = user;
    assert_true(watcher->count < SEEN_MAX);
    assert_int_equal(dx_supervisor_state(supervisor), state);
    assert_int_equal(why->fault, DX_FAULT_NONE);
    watcher->seen[watcher->count++] = state;
    if (state == watcher->until)
        dx_loop_stop(watcher->loop);
}

static void run_until(struct watcher *watcher, dx_state state) {
    watcher->until = state;
    assert_int_equal(dx_loop_run(watcher->loop), DX_OK);
}

static void starts_and_stops(void **state) {
    (void)state;
    static const dx_state states[] = {DX_STATE_STARTING, DX_STATE_READY, DX_STATE_STOPPING,
                                      DX_STATE_STOPPED};
    const char *argv[] = {echo_path, "line", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    dx_supervisor *supervisor;
    struct watcher watcher = {0};
    alarm(20);
    config.on_state = on_state;
    config.user = &watcher;
    assert_int_equal(dx_loop_new(NULL, &watcher.loop, NULL), DX_OK);
    assert_int_equal(dx_supervisor_new(watcher.loop, &config, &supervisor), DX_OK);
    assert_int_equal(dx_supervisor_state(supervisor), DX_STATE_STOPPED);
    assert_ptr_equal(dx_supervisor_user(supervisor), &watcher);
    for (unsigned i = 1; i <= 2; i++) {
        watcher.count = 0;
        dx_supervisor_start(supervisor);
        run_until(&watcher, DX_STATE_READY);
        assert_non_null(dx_supervisor_link(supervisor));
        assert_true(dx_supervisor_pid(supervisor) > 0);
        dx_supervisor_stop(supervisor);
        run_until(&watcher, DX_STATE_STOPPED);
        assert_null(dx_supervisor_link(supervisor));
        assert_int_equal(dx_supervisor_pid(supervisor), 0);
        assert_int_equal(dx_supervisor_incarnation(supervisor), i);
        assert_int_equal(watcher.count, 4);
        assert_memory_equal(watcher.seen, states, sizeof states);
    }
    dx_supervisor_free(supervisor);
    dx_loop_free(watcher.loop);
    alarm(0);
}

enum what { STOP, STOP_THEN_START, FREE, STOP_LOOP };

struct lone {
    enum what what;
    unsigned starts;
};

static void on_lone_state(dx_supervisor *supervisor, dx_state state, const dx_error *why,
                          void *user) {
    struct lone *lone = user;
    (void)why;
    lone->starts += state == DX_STATE_STARTING;
    if (state == DX_STATE_READY && lone->what == FREE)
        dx_supervisor_free(supervisor);
    else if (state == DX_STATE_READY && lone->what == STOP_LOOP)
        dx_loop_stop(dx_link_loop(dx_supervisor_link(supervisor)));
    else if (state == DX_STATE_READY)
        dx_supervisor_stop(supervisor);
    else if (state == DX_STATE_STOPPED && lone->what == STOP_THEN_START && lone->starts == 1)
        dx_supervisor_start(supervisor);
}

static void runs_alone(void **state) {
    (void)state;
    static const struct {
        enum what what;
        const char *program;
        int code;
        unsigned starts;
    } rows[] = {{STOP, echo_path, 0, 1},
                {STOP_THEN_START, echo_path, 0, 2},
                {FREE, echo_path, 0, 1},
                {STOP_LOOP, echo_path, 2, 1},
                {STOP, "/nonexistent/program", 1, 1}};
    alarm(20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *argv[] = {rows[i].program, "line", NULL};
        dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
        struct lone lone = {.what = rows[i].what};
        config.on_state = on_lone_state;
        config.user = &lone;
        config.restart = DX_RESTART_NEVER;
        assert_int_equal(dx_supervisor_run(&config), rows[i].code);
        assert_int_equal(lone.starts, rows[i].starts);
    }
    alarm(0);
}

static void states_have_names(void **state) {
    (void)state;
    assert_string_equal(dx_state_name(DX_STATE_STOPPED), "stopped");
    assert_string_equal(dx_state_name(DX_STATE_STOPPING), "stopping");
    assert_string_equal(dx_state_name((dx_state)99), "unknown state");
}

int main(void) {
    const char *build = getenv("BUILD");
    snprintf(echo_path, sizeof echo_path, "%s/examples/echo", build ? build : ".");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_and_stops),
        cmocka_unit_test(runs_alone),
        cmocka_unit_test(states_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
