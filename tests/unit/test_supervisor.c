/* A child that is kept running, when nothing goes wrong; when something does: tests/faults. */
#include "unit/unit.h"

#include <duplex/duplex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEEN_MAX = 16 };

struct watcher {
    dx_loop *loop;
    dx_state seen[SEEN_MAX];
    size_t count;
    dx_state until; /* where the loop stops */
    dx_error why;
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

static dx_supervisor *make(struct watcher *watcher, dx_supervisor_config *config) {
    dx_supervisor *supervisor;
    config->user = watcher;
    assert_int_equal(dx_loop_new(NULL, &watcher->loop, NULL), DX_OK);
    assert_int_equal(dx_supervisor_new(watcher->loop, config, &supervisor), DX_OK);
    return supervisor;
}

static void starts_and_stops(void **state) {
    (void)state;
    static const dx_state states[] = {DX_STATE_STARTING, DX_STATE_READY, DX_STATE_STOPPING,
                                      DX_STATE_STOPPED};
    const char *argv[] = {echo_path, "line", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    struct watcher watcher = {0};
    alarm(20);
    config.on_state = on_state;
    dx_supervisor *supervisor = make(&watcher, &config);
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

/* A stop and a start of one moment are a restart, whatever it is doing. */
static void starts_again(void **state) {
    (void)state;
    static const dx_state states[] = {DX_STATE_STOPPING, DX_STATE_STOPPED, DX_STATE_STARTING,
                                      DX_STATE_READY};
    const char *argv[] = {echo_path, "line", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    struct watcher watcher = {0};
    alarm(20);
    config.on_state = on_state;
    dx_supervisor *supervisor = make(&watcher, &config);
    dx_supervisor_stop(supervisor); /* which is no reason not to start it */
    dx_supervisor_start(supervisor);
    run_until(&watcher, DX_STATE_READY);
    assert_int_equal(dx_supervisor_incarnation(supervisor), 1);
    pid_t before = dx_supervisor_pid(supervisor);
    watcher.count = 0;
    dx_supervisor_stop(supervisor);
    dx_supervisor_start(supervisor);
    run_until(&watcher, DX_STATE_READY);
    assert_int_equal(dx_supervisor_incarnation(supervisor), 2);
    assert_true(dx_supervisor_pid(supervisor) != before);
    assert_int_equal(watcher.count, 4);
    assert_memory_equal(watcher.seen, states, sizeof states);
    dx_supervisor_stop(supervisor);
    dx_supervisor_start(supervisor);
    dx_supervisor_stop(supervisor); /* the last word counts */
    run_until(&watcher, DX_STATE_STOPPED);
    dx_loop_dispatch(watcher.loop);
    assert_int_equal(dx_supervisor_state(supervisor), DX_STATE_STOPPED);
    dx_loop_free(watcher.loop);
    alarm(0);
}

static void keep_reason(dx_supervisor *supervisor, dx_state state, const dx_error *why,
                        void *user) {
    struct watcher *watcher = user;
    (void)supervisor;
    if (state == DX_STATE_BACKOFF || state == DX_STATE_STOPPED || state == DX_STATE_FAILED) {
        watcher->until = state;
        watcher->why = *why;
        dx_loop_stop(watcher->loop);
    }
}

/* It leaves with 0 when it is asked to, but only since nobody could listen to it any more. */
static void dies_of_what_it_said(void **state) {
    (void)state;
    const char *argv[] = {"sh", "-c", "yes hello | head -c 200000; exec cat >/dev/null", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    struct watcher watcher = {0};
    alarm(30);
    config.on_state = keep_reason;
    dx_supervisor *supervisor = make(&watcher, &config);
    dx_supervisor_start(supervisor);
    assert_int_equal(dx_loop_run(watcher.loop), DX_OK);
    assert_int_equal(watcher.until, DX_STATE_BACKOFF);
    assert_int_equal(watcher.why.fault, DX_FAULT_STRAY_LIMIT);
    dx_loop_free(watcher.loop);
    alarm(0);
}

static void count_starts(dx_supervisor *supervisor, dx_state state, const dx_error *why,
                         void *user) {
    (void)supervisor;
    (void)why;
    *(unsigned *)user += state == DX_STATE_STARTING;
}

static void stop_loop(dx_timer *timer, void *user) {
    (void)timer;
    dx_loop_stop(user);
}

/* One that is tried again for ever and at once leaves time for others. */
static void lets_others_live(void **state) {
    (void)state;
    const char *argv[] = {"/bin/false", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    dx_supervisor *supervisor;
    dx_timer *timer;
    dx_loop *loop;
    unsigned starts = 0;
    alarm(20);
    config.tries = 0;
    config.backoff_ms = 0;
    config.on_state = count_starts;
    config.user = &starts;
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_supervisor_new(loop, &config, &supervisor), DX_OK);
    assert_int_equal(dx_timer_new(loop, stop_loop, loop, &timer), DX_OK);
    dx_supervisor_start(supervisor);
    dx_timer_set(timer, 100);
    assert_int_equal(dx_loop_run(loop), DX_OK);
    assert_true(starts > 1);
    dx_loop_free(loop);
    alarm(0);
}

struct attempts {
    unsigned starts;
    unsigned pauses;
    char why[sizeof((dx_error *)0)->phrase];
};

static void count_attempts(dx_supervisor *supervisor, dx_state state, const dx_error *why,
                           void *user) {
    struct attempts *attempts = user;
    (void)supervisor;
    attempts->starts += state == DX_STATE_STARTING;
    attempts->pauses += state == DX_STATE_BACKOFF;
    if (state == DX_STATE_FAILED)
        snprintf(attempts->why, sizeof attempts->why, "%s", why->phrase);
}

static void does_not_retry_what_can_never_start(void **state) {
    (void)state;
    static const struct {
        const char *program[4];
        const char *cwd;
        const char *why;
    } rows[] = {
        {{"/nonexistent/program"},
         NULL,
         "cannot start /nonexistent/program: No such file or directory"},
        {{"duplex-no-such-program"},
         NULL,
         "cannot start duplex-no-such-program: No such file or directory"},
        {{"/etc/passwd"}, NULL, "cannot start /etc/passwd: Permission denied"},
        {{"/tmp"}, NULL, "cannot start /tmp: Is a directory"},
        {{"/etc/passwd/x"}, NULL, "cannot start /etc/passwd/x: Not a directory"},
        {{"/bin/true"}, "/nonexistent", "cannot change to /nonexistent: No such file or directory"},
        {{"/bin/sh", "-c", "exit 127"},
         NULL,
         "the program exited with code 127 (command not found)"},
        {{"/bin/sh", "-c", "echo noise; /etc/passwd"},
         NULL,
         "the program exited with code 126 (command cannot be executed)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, rows[i].program);
        struct attempts attempts = {.starts = 0};
        config.child.cwd = rows[i].cwd;
        config.restart = DX_RESTART_ALWAYS;
        config.tries = 0;
        config.on_state = count_attempts;
        config.user = &attempts;
        alarm(20);
        assert_int_equal(dx_supervisor_run(&config), 1);
        assert_int_equal(attempts.starts, 1);
        assert_int_equal(attempts.pauses, 0);
        attempts.why[strcspn(attempts.why, ";")] = '\0'; /* what the shell says is its own */
        assert_string_equal(attempts.why, rows[i].why);
        alarm(0);
    }
}

static void retries_what_has_sent_a_message(void **state) {
    (void)state;
    const char *argv[] = {"/bin/sh", "-c",
                          "echo '{\"jsonrpc\":\"2.0\",\"method\":\"x\"}'; exit 127", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    struct attempts attempts = {.starts = 0};
    config.tries = 2;
    config.backoff_ms = 1;
    config.on_state = count_attempts;
    config.user = &attempts;
    alarm(20);
    assert_int_equal(dx_supervisor_run(&config), 1);
    assert_int_equal(attempts.starts, 2);
    assert_string_equal(attempts.why, "the program exited with code 127");
    alarm(0);
}

/* It has run, so it may only be missing until its new version is in place. */
static void retries_a_program_that_vanished(void **state) {
    (void)state;
    char path[] = "/tmp/duplex-vanishes-XXXXXX";
    int fd = mkstemp(path);
    static const char script[] = "#!/bin/sh\nrm -- \"$0\"\nexit 1\n";
    const char *argv[] = {path, NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    struct attempts attempts = {.starts = 0};
    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, strlen(script)), (ssize_t)strlen(script));
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    config.tries = 3;
    config.backoff_ms = 1;
    config.on_state = count_attempts;
    config.user = &attempts;
    alarm(20);
    assert_int_equal(dx_supervisor_run(&config), 1);
    assert_int_equal(attempts.starts, 3);
    assert_int_equal(attempts.pauses, 2);
    alarm(0);
}

struct freed {
    dx_loop *loop;
    dx_supervisor *supervisor;
    int closed;
};

static struct freed freed;

static void free_when_closed(dx_child *child, const dx_error *why, void *user) {
    (void)child;
    (void)why;
    assert_ptr_equal(user, freed.supervisor);
    freed.closed++;
    dx_supervisor_free(freed.supervisor);
    dx_loop_stop(freed.loop);
}

/* The child whose callback it is goes with it. */
static void freed_by_its_child(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    const char *argv[] = {"/bin/sh", "-c", "exec >&-; exec sleep 60", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    alarm(20);
    config.child.on_closed = free_when_closed;
    assert_int_equal(dx_loop_new(&alloc, &freed.loop, NULL), DX_OK);
    assert_int_equal(dx_supervisor_new(freed.loop, &config, &freed.supervisor), DX_OK);
    dx_supervisor_start(freed.supervisor);
    assert_int_equal(dx_loop_run(freed.loop), DX_OK);
    assert_int_equal(freed.closed, 1);
    assert_true(dx_loop_deadline(freed.loop) == DX_NEVER);
    dx_loop_free(freed.loop);
    assert_int_equal(memory.blocks, 0);
    alarm(0);
}

static dx_event *kept;
static dx_status late_answer;

/* The first run asks and dies; what it asked is answered to the second. */
static void on_ask(dx_link *link, const dx_event *event, void *user) {
    (void)event;
    dx_supervisor *supervisor = *(dx_supervisor **)user;
    if (!kept) {
        assert_int_equal(dx_link_keep(link, &kept), DX_OK);
        return;
    }
    late_answer = dx_link_reply(dx_supervisor_link(supervisor), kept->request, dx_json_none());
    dx_loop_stop(dx_link_loop(link));
}

static void answers_no_other_run(void **state) {
    (void)state;
    static const dx_handler handlers[] = {{"ask", on_ask}, {NULL, NULL}};
    const char *argv[] = {"/bin/sh", "-c",
                          "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ask\"}'; exit 1", NULL};
    dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv);
    dx_supervisor *supervisor;
    dx_loop *loop;
    alarm(20);
    config.backoff_ms = 10;
    config.child.link.handlers = handlers;
    config.child.link.user = &supervisor;
    assert_int_equal(dx_loop_new(NULL, &loop, NULL), DX_OK);
    assert_int_equal(dx_supervisor_new(loop, &config, &supervisor), DX_OK);
    dx_supervisor_start(supervisor);
    assert_int_equal(dx_loop_run(loop), DX_OK);
    assert_int_equal(dx_supervisor_incarnation(supervisor), 2);
    assert_int_equal(late_answer, DX_GONE);
    kept = dx_event_free(kept);
    dx_loop_free(loop);
    alarm(0);
}

enum what { STOP, STOP_THEN_START, RESTART, FREE, FREE_LOOP, STOP_LOOP };

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
    else if (state == DX_STATE_READY && lone->what == FREE_LOOP)
        dx_loop_free(dx_link_loop(dx_supervisor_link(supervisor)));
    else if (state == DX_STATE_READY)
        dx_supervisor_stop(supervisor);
    if (state == DX_STATE_READY && lone->what == RESTART && lone->starts == 1)
        dx_supervisor_start(supervisor);
    if (state == DX_STATE_STOPPED && lone->what == STOP_THEN_START && lone->starts == 1)
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
                {RESTART, echo_path, 0, 2},
                {FREE, echo_path, 0, 1},
                {FREE_LOOP, echo_path, 0, 1},
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
        cmocka_unit_test(starts_again),
        cmocka_unit_test(lets_others_live),
        cmocka_unit_test(does_not_retry_what_can_never_start),
        cmocka_unit_test(retries_what_has_sent_a_message),
        cmocka_unit_test(retries_a_program_that_vanished),
        cmocka_unit_test(freed_by_its_child),
        cmocka_unit_test(answers_no_other_run),
        cmocka_unit_test(runs_alone),
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(dies_of_what_it_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
