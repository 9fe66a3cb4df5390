/* Children that are kept running: those that hang, those that crash again and again: F90, F91. */
#include "faults/ward.h"

#include <errno.h>
#include <signal.h>

static void quick_pings(struct ward *ward) {
    ward->config.ping = "ping";
    ward->config.ping_ms = 20;
    ward->config.ping_wait_ms = 50 * slow;
}

FAULT(F90_stopped, 10, "a child that is stopped answers no ping: it is killed and replaced") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "parrot");
    quick_pings(&ward);
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    pid_t pid = dx_supervisor_pid(ward.supervisor);
    kill(pid, SIGSTOP);
    call(dx_supervisor_link(ward.supervisor), "hello", "[1]", &ward.calls);
    ward_until(&ward, DX_STATE_BACKOFF, 1);
    EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_TIMEOUT);
    EXPECT(process_state(pid), ==, 0);
    EXPECT(ward.calls.lost, ==, 1);
    ward_until(&ward, DX_STATE_READY, 2);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_READY, DX_STATE_DEGRADED, DX_STATE_BACKOFF,
              DX_STATE_STARTING, DX_STATE_READY);
    EXPECT(dx_supervisor_pid(ward.supervisor) != pid, ==, 1);
    ask(dx_supervisor_link(ward.supervisor), "hello", "[2]", &ward.calls);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

/* Not even the ping can be sent to it; that must not count for it. */
FAULT(F90_stopped_and_full, 10, "the same when so much waits for it that no ping can be sent") {
    dx_loop *loop = loop_new();
    struct ward ward;
    static char params[1 << 20];
    memset(params, ' ', sizeof params - 1);
    memcpy(params, "[]", 2);
    ward_init(&ward, loop, "parrot");
    quick_pings(&ward);
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    kill(dx_supervisor_pid(ward.supervisor), SIGSTOP);
    dx_link *link = dx_supervisor_link(ward.supervisor);
    int sent = 0;
    while (sent < 1000 &&
           dx_link_notify(link, dx_str("big"), dx_json_text(params, sizeof params - 1)) == DX_OK)
        sent++;
    EXPECT(sent, <, 1000);
    ward_until(&ward, DX_STATE_READY, 2);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F90_stopped_for_a_while, 10, "a child that is degraded and speaks again is ready again") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "parrot");
    quick_pings(&ward);
    ward.config.misses = 1000;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    for (int i = 0; i < 3; i++) {
        kill(dx_supervisor_pid(ward.supervisor), SIGSTOP);
        ward_until(&ward, DX_STATE_DEGRADED, 1);
        EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_TIMEOUT);
        kill(dx_supervisor_pid(ward.supervisor), SIGCONT);
        ward_until(&ward, DX_STATE_READY, 1);
        EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_NONE);
    }
    ask(dx_supervisor_link(ward.supervisor), "hello", "[1]", &ward.calls);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 1);
    ward_stop(&ward);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

/* It works for four times as long as it has for the answer to a ping. */
FAULT(F90_busy, 15, "a child that answers no ping but says something else is left alone") {
    dx_loop *loop = loop_new();
    struct ward ward;
    unsigned wait_ms = 150 + 100 * slow;
    char command[32];
    snprintf(command, sizeof command, "worker 20 %u", 4 * wait_ms / 20);
    ward_init(&ward, loop, command);
    quick_pings(&ward);
    ward.config.ping_wait_ms = wait_ms;
    ward.config.misses = 1;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_STOPPED, 1);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_READY, DX_STATE_STOPPED);
    EXPECT(ward.notes, ==, 4 * wait_ms / 20);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

/* One answer of 60 bytes and more takes it longer than all the pings that it may miss. */
FAULT(F90_long_answer, 20, "a child in the midst of a long message is making progress") {
    dx_loop *loop = loop_new();
    struct ward ward;
    char command[32];
    snprintf(command, sizeof command, "dribble %u", 20000 * slow);
    ward_init(&ward, loop, command);
    quick_pings(&ward);
    ward.config.ping_wait_ms = 150 * slow;
    ward.config.misses = 2;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    ask(dx_supervisor_link(ward.supervisor), "long", "[\"thirty characters, or some more\"]",
        &ward.calls);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_READY);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_crash_loop, 10, "a child that always crashes ends in failed, with its last reason") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "leaves exit 7 -1");
    ward_start(&ward);
    ward_until(&ward, DX_STATE_FAILED, 1);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 5);
    EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_EXITED);
    EXPECT_PART(dx_str(ward_why(&ward)->phrase), "7");
    EXPECT_PART(dx_str(ward_why(&ward)->phrase), "last words");
    EXPECT(dx_supervisor_link(ward.supervisor) == NULL, ==, 1);
    int states = ward.states;
    turn_for(loop, 100);
    EXPECT(ward.states, ==, states);

    /* Somebody tries again, in vain; then the program is repaired. */
    dx_supervisor_start(ward.supervisor);
    ward_until(&ward, DX_STATE_FAILED, 10);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 10);
    ward.argv[0] = program("parrot");
    dx_supervisor_start(ward.supervisor);
    ward_until(&ward, DX_STATE_READY, 11);
    ask(dx_supervisor_link(ward.supervisor), "hello", "[1]", &ward.calls);
    ward_stop(&ward);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_window, 10, "the fifth death in the window is one too many, the fourth is not") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "silent");
    ward.config.backoff_max_ms = 5;
    ward_start(&ward);
    for (int round = 0; round < 2; round++) {
        ward_until(&ward, DX_STATE_READY, 1);
        for (int i = 0; i < 4; i++)
            ward_kill(&ward, DX_STATE_READY);
        ward_kill(&ward, DX_STATE_FAILED);
        EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_KILLED);
        dx_supervisor_start(ward.supervisor);
        /* The record is clean. */
        ward_until(&ward, DX_STATE_READY, 1);
    }
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

/* Two deaths, two more when these are still in the window, three more when they are not. */
FAULT(F91_window_slides, 15, "deaths that are older than the window do not count") {
    dx_loop *loop = loop_new();
    struct ward ward;
    const unsigned window_ms = 1000 * slow;
    ward_init(&ward, loop, "silent");
    ward.config.backoff_max_ms = 5;
    ward.config.window_ms = window_ms;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    ward_kill(&ward, DX_STATE_READY);
    ward_kill(&ward, DX_STATE_READY);
    turn_for(loop, window_ms * 6 / 10);
    ward_kill(&ward, DX_STATE_READY);
    ward_kill(&ward, DX_STATE_READY);
    turn_for(loop, window_ms * 6 / 10);
    ward_kill(&ward, DX_STATE_READY);
    ward_kill(&ward, DX_STATE_READY);
    ward_kill(&ward, DX_STATE_FAILED);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 7);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

/* How long the i-th pause was, from the death to the start. */
static long long pause_of(const struct ward *ward, int which) {
    for (int i = 0; i + 1 < ward->states; i++)
        if (ward->seen[i] == DX_STATE_BACKOFF && which-- == 0)
            return (long long)(ward->seen_ms[i + 1] - ward->seen_ms[i]);
    fail("expected another pause, there was none");
}

/* A clock that is read a little early or late, and a machine that has other things to do. */
static void expect_pause(const struct ward *ward, int which, unsigned ms) {
    EXPECT(pause_of(ward, which), >=, ms - ms / 4);
    EXPECT(pause_of(ward, which), <, 2 * ms - ms / 4);
}

FAULT(F91_backoff, 15, "the pause doubles with each death, up to its limit") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "leaves exit 7 -1");
    ward.config.backoff_ms = 100 * slow;
    ward.config.backoff_max_ms = 300 * slow;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_FAILED, 5);
    expect_pause(&ward, 0, 100 * slow);
    expect_pause(&ward, 1, 200 * slow);
    expect_pause(&ward, 2, 300 * slow);
    expect_pause(&ward, 3, 300 * slow);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_steady, 15, "after a while in ready the pause is short again") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "silent");
    ward.config.backoff_ms = 100 * slow;
    ward.config.steady_ms = 400 * slow;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    ward_kill(&ward, DX_STATE_READY);
    ward_kill(&ward, DX_STATE_READY);
    turn_for(loop, 450 * slow);
    ward_kill(&ward, DX_STATE_READY);
    ward_kill(&ward, DX_STATE_READY);
    expect_pause(&ward, 0, 100 * slow);
    expect_pause(&ward, 1, 200 * slow);
    expect_pause(&ward, 2, 100 * slow);
    expect_pause(&ward, 3, 200 * slow);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

static void policy(dx_loop *loop, dx_restart restart, int code, dx_state after) {
    struct ward ward;
    char place[32];
    snprintf(place, sizeof place, "restart %d, exit %d", (int)restart, code);
    fault_place(place);
    ward_init(&ward, loop, code ? "leaves exit 7 -1" : "leaves exit 0 -1");
    ward.config.restart = restart;
    ward_start(&ward);
    ward_until(&ward, after, 1);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 1);
    EXPECT(ward_why(&ward)->fault, ==, code ? DX_FAULT_EXITED : DX_FAULT_NONE);
    if (after == DX_STATE_BACKOFF)
        ward_until(&ward, DX_STATE_READY, 2);
    else
        turn_for(loop, 50);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 1 + (after == DX_STATE_BACKOFF));
    dx_supervisor_free(ward.supervisor);
}

FAULT(F91_policies, 10, "never, on failure, always: each after exit 0 and after exit 7") {
    dx_loop *loop = loop_new();
    policy(loop, DX_RESTART_NEVER, 0, DX_STATE_STOPPED);
    policy(loop, DX_RESTART_NEVER, 7, DX_STATE_FAILED);
    policy(loop, DX_RESTART_ON_FAILURE, 0, DX_STATE_STOPPED);
    policy(loop, DX_RESTART_ON_FAILURE, 7, DX_STATE_BACKOFF);
    policy(loop, DX_RESTART_ALWAYS, 0, DX_STATE_BACKOFF);
    policy(loop, DX_RESTART_ALWAYS, 7, DX_STATE_BACKOFF);
    dx_loop_free(loop);
}

FAULT(F91_not_there, 10,
      "a program that is not there has failed at once, and can be started again") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "parrot");
    ward.argv[0] = "/nowhere/at/all";
    ward_start(&ward);
    ward_until(&ward, DX_STATE_FAILED, 1);
    EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_START);
    EXPECT(ward_why(&ward)->system, ==, ENOENT);
    EXPECT_PART(dx_str(ward_why(&ward)->phrase), "/nowhere/at/all");
    EXPECT(dx_supervisor_pid(ward.supervisor), ==, 0);
    ward.argv[0] = program("parrot");
    dx_supervisor_start(ward.supervisor);
    ward_until(&ward, DX_STATE_READY, 2);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_stopped_in_backoff, 10, "a pause can be ended: by a stop, and by a start") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "leaves exit 7 -1");
    ward.config.backoff_ms = ward.config.backoff_max_ms = 100000;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_BACKOFF, 1);
    dx_supervisor_start(ward.supervisor);
    ward_until(&ward, DX_STATE_BACKOFF, 2);
    ward_stop(&ward);
    EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_NONE);
    turn_for(loop, 50);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 2);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_started_while_stopping, 10, "a start while it is stopping comes when it has stopped") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "slow 100");
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    dx_supervisor_stop(ward.supervisor);
    ward_until(&ward, DX_STATE_STOPPING, 1);
    dx_supervisor_start(ward.supervisor);
    ward_until(&ward, DX_STATE_READY, 2);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_READY, DX_STATE_STOPPING, DX_STATE_STOPPED,
              DX_STATE_STARTING, DX_STATE_READY);

    /* The last word counts. */
    dx_supervisor_stop(ward.supervisor);
    ward_until(&ward, DX_STATE_STOPPING, 2);
    dx_supervisor_start(ward.supervisor);
    dx_loop_dispatch(loop);
    ward_stop(&ward);
    turn_for(loop, 50);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 2);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

static struct {
    dx_state when;
    int freed;
} last;

static void free_in_state(dx_supervisor *supervisor, dx_state state, const dx_error *why,
                          void *user) {
    (void)why;
    (void)user;
    EXPECT(last.freed, ==, 0);
    if (state == last.when) {
        dx_supervisor_free(supervisor);
        last.freed = 1;
    }
}

FAULT(F91_freed_when_told, 10, "a supervisor may be freed in each state that it tells") {
    static const dx_state states[] = {DX_STATE_STARTING, DX_STATE_READY, DX_STATE_DEGRADED,
                                      DX_STATE_BACKOFF, DX_STATE_FAILED};
    dx_loop *loop = loop_new();
    for (size_t i = 0; i < LENGTH(states); i++) {
        struct ward ward;
        fault_place(dx_state_name(states[i]));
        ward_init(&ward, loop, states[i] == DX_STATE_DEGRADED ? "silent" : "leaves exit 7 -1");
        quick_pings(&ward);
        ward.config.on_state = free_in_state;
        last.when = states[i];
        last.freed = 0;
        ward_start(&ward);
        turn_until(loop, &last.freed, 1, 5000 * slow);
        EXPECT(last.freed, ==, 1);
        turn_for(loop, 20);
    }
    dx_loop_free(loop);
}
