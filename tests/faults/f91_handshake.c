/* The handshake of children that are kept running, and all that can go wrong in it: F91. */
#include "faults/ward.h"

#include <signal.h>

/* What on_start does, and what the answer to its call leads to. */
static struct {
    void (*answered)(dx_supervisor *supervisor, const dx_event *event);
    dx_supervisor *supervisor;
    dx_state state; /* when the answer came */
    uint64_t answered_ms;
} plan;

static void on_answer(dx_link *link, const dx_event *event, void *user) {
    struct ward *ward = user;
    (void)link;
    ward->calls.done++;
    ward->calls.lost += event->outcome == DX_OUTCOME_LOST;
    if (event->error.fault != DX_FAULT_NONE)
        ward->calls.error = event->error;
    if (event->outcome != DX_OUTCOME_RESULT)
        return;
    plan.state = dx_supervisor_state(ward->supervisor);
    plan.answered_ms = now_ms();
    if (plan.answered)
        plan.answered(ward->supervisor, event);
}

static void greet(dx_supervisor *supervisor, dx_link *link, void *user) {
    struct ward *ward = user;
    dx_link_call_options options = {.peer = {.user = ward}, .on_done = on_answer};
    EXPECT(dx_supervisor_link(supervisor) == link, ==, 1);
    EXPECT(dx_supervisor_state(supervisor), ==, DX_STATE_STARTING);
    EXPECT(dx_link_call(link, dx_str("hello"), dx_json_none(), &options, NULL), ==, DX_OK);
    ward->starts++;
}

static void is_ready(dx_supervisor *supervisor, const dx_event *event) {
    (void)event;
    dx_supervisor_ready(supervisor);
}

static void has_failed(dx_supervisor *supervisor, const dx_event *event) {
    dx_error why = {.fault = DX_FAULT_VERSION, .phrase = "it speaks version 3"};
    (void)event;
    dx_supervisor_fail(supervisor, &why);
}

static void prepare(struct ward *ward, dx_loop *loop, const char *command,
                    void (*answered)(dx_supervisor *supervisor, const dx_event *event)) {
    plan.answered = answered;
    ward_init(ward, loop, command);
    ward->config.on_start = greet;
}

FAULT(F91_handshake, 10, "a child is ready when its handshake is done, and not before") {
    dx_loop *loop = loop_new();
    struct ward ward;
    prepare(&ward, loop, "slow 100", is_ready);
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_READY);
    EXPECT(plan.state, ==, DX_STATE_STARTING);
    EXPECT(ward.seen_ms[1], >=, plan.answered_ms);
    EXPECT(ward.seen_ms[1] - ward.seen_ms[0], >=, 90);

    /* Each incarnation has its own. */
    ward_kill(&ward, DX_STATE_READY);
    EXPECT(ward.starts, ==, 2);
    EXPECT(ward.calls.done, ==, 2);
    ward_stop(&ward);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_handshake_refused, 10,
      "a handshake that fails is a death, for the reason that is given") {
    dx_loop *loop = loop_new();
    struct ward ward;
    prepare(&ward, loop, "stubborn term", has_failed);
    ward.config.tries = 2;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_STARTING, 1);
    pid_t pid = dx_supervisor_pid(ward.supervisor);
    ward_until(&ward, DX_STATE_FAILED, 2);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_BACKOFF, DX_STATE_STARTING, DX_STATE_FAILED);
    EXPECT(process_state(pid), ==, 0);
    for (int i = 1; i < 4; i += 2) {
        EXPECT(ward.whys[i].fault, ==, DX_FAULT_VERSION);
        EXPECT_PART(dx_str(ward.whys[i].phrase), "it speaks version 3");
    }
    dx_supervisor_free(ward.supervisor);

    prepare(&ward, loop, "stubborn term", has_failed);
    ward.config.restart = DX_RESTART_NEVER;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_FAILED, 1);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_FAILED);
    EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_VERSION);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

/* Its reason must not be told of a death that has nothing to do with it. */
FAULT(F91_fail_when_ready, 10,
      "saying that the handshake has failed when it is over does nothing") {
    dx_loop *loop = loop_new();
    struct ward ward;
    prepare(&ward, loop, "parrot", is_ready);
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    has_failed(ward.supervisor, NULL);
    turn_for(loop, 50);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_READY);
    ward_kill(&ward, DX_STATE_BACKOFF);
    EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_KILLED);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_handshake_late, 10, "a handshake that takes too long ends with the child") {
    dx_loop *loop = loop_new();
    struct ward ward;
    char command[32];
    snprintf(command, sizeof command, "slow %u", 2000 * slow);
    prepare(&ward, loop, command, is_ready);
    ward.config.start_ms = 100 * slow;
    ward.config.restart = DX_RESTART_NEVER;
    ward_start(&ward);
    ward_until(&ward, DX_STATE_STARTING, 1);
    pid_t pid = dx_supervisor_pid(ward.supervisor);
    ward_until(&ward, DX_STATE_FAILED, 1);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_FAILED);
    EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_TIMEOUT);
    EXPECT(ward.seen_ms[1] - ward.seen_ms[0], >=, 80 * slow);
    EXPECT(ward.seen_ms[1] - ward.seen_ms[0], <, 1500 * slow);
    EXPECT(process_state(pid), ==, 0);
    EXPECT(ward.calls.done, ==, 1);
    EXPECT(ward.calls.lost, ==, 1);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

FAULT(F91_handshake_death, 10, "a child that dies in its handshake says how, and its last words") {
    static const char *const commands[] = {"leaves exit 7 0", "leaves signal 11 0"};
    static const char *const parts[] = {"7", "signal 11"};
    dx_loop *loop = loop_new();
    for (size_t i = 0; i < LENGTH(commands); i++) {
        struct ward ward;
        prepare(&ward, loop, commands[i], is_ready);
        ward.config.restart = DX_RESTART_NEVER;
        ward_start(&ward);
        ward_until(&ward, DX_STATE_FAILED, 1);
        WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_FAILED);
        EXPECT(ward_why(&ward)->fault, ==, i ? DX_FAULT_KILLED : DX_FAULT_EXITED);
        EXPECT_PART(dx_str(ward_why(&ward)->phrase), parts[i]);
        EXPECT_PART(dx_str(ward_why(&ward)->phrase), "last words");
        EXPECT_PART(dx_str(ward.calls.error.phrase), parts[i]);
        EXPECT(ward.calls.lost, ==, 1);
        dx_supervisor_free(ward.supervisor);
    }
    dx_loop_free(loop);
}

static void stop_at_once(dx_supervisor *supervisor, dx_link *link, void *user) {
    greet(supervisor, link, user);
    dx_supervisor_stop(supervisor);
}

/* Ready comes too late then, though not by much. */
static void stop_and_ready(dx_supervisor *supervisor, dx_link *link, void *user) {
    stop_at_once(supervisor, link, user);
    dx_supervisor_ready(supervisor);
}

FAULT(F91_stopped_in_handshake, 10, "a child may be stopped in its handshake, from inside or not") {
    static void (*const starts[])(dx_supervisor *, dx_link *, void *) = {greet, stop_at_once,
                                                                         stop_and_ready};
    dx_loop *loop = loop_new();
    for (size_t i = 0; i < LENGTH(starts); i++) {
        struct ward ward;
        prepare(&ward, loop, "silent", is_ready);
        ward.config.on_start = starts[i];
        ward_start(&ward);
        ward_until(&ward, i ? DX_STATE_STOPPING : DX_STATE_STARTING, 1);
        ward_stop(&ward);
        WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_STOPPING, DX_STATE_STOPPED);
        EXPECT(ward_why(&ward)->fault, ==, DX_FAULT_NONE);
        EXPECT(ward.calls.lost, ==, 1);
        dx_supervisor_free(ward.supervisor);
    }
    dx_loop_free(loop);
}

static void start_and_ready(dx_supervisor *supervisor, dx_link *link, void *user) {
    (void)link;
    (void)user;
    dx_supervisor_start(supervisor);
    dx_supervisor_ready(supervisor);
}

FAULT(F91_started_twice, 10, "a start of what runs already changes nothing") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "parrot");
    ward.config.on_start = start_and_ready;
    ward_start(&ward);
    dx_supervisor_start(ward.supervisor);
    ward_until(&ward, DX_STATE_READY, 1);
    dx_supervisor_start(ward.supervisor);
    turn_for(loop, 20);
    WARD_TOLD(&ward, DX_STATE_STARTING, DX_STATE_READY);
    ask(dx_supervisor_link(ward.supervisor), "hello", "[1]", &ward.calls);
    EXPECT(dx_supervisor_incarnation(ward.supervisor), ==, 1);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

static void free_at_once(dx_supervisor *supervisor, dx_link *link, void *user) {
    greet(supervisor, link, user);
    plan.supervisor = dx_supervisor_free(supervisor);
}

static void free_when_answered(dx_supervisor *supervisor, const dx_event *event) {
    (void)event;
    dx_supervisor_free(supervisor);
}

FAULT(F91_freed_in_handshake, 10,
      "a supervisor may be freed in on_start, and when that has an answer") {
    dx_loop *loop = loop_new();
    struct ward ward;
    prepare(&ward, loop, "parrot", NULL);
    ward.config.on_start = free_at_once;
    ward_start(&ward);
    turn_until(loop, &ward.starts, 1, 3000 * slow);
    turn_for(loop, 20);
    EXPECT(ward.starts, ==, 1);
    EXPECT(ward.calls.done, ==, 0);
    WARD_TOLD(&ward, DX_STATE_STARTING);

    prepare(&ward, loop, "parrot", free_when_answered);
    ward_start(&ward);
    turn_until(loop, &ward.calls.done, 1, 3000 * slow);
    turn_for(loop, 20);
    EXPECT(ward.calls.done, ==, 1);
    WARD_TOLD(&ward, DX_STATE_STARTING);
    /* Only the guardian is left. */
    EXPECT(descendants_until(1, 1000 * slow), ==, 1);
    dx_loop_free(loop);
}

static void free_loop(dx_supervisor *supervisor, dx_link *link, void *user) {
    struct ward *ward = user;
    (void)supervisor;
    (void)link;
    ward->starts++;
    dx_loop_free(ward->loop);
}

FAULT(F91_loop_freed_in_handshake, 10, "so may be the loop") {
    struct ward ward;
    ward_init(&ward, loop_new(), "parrot");
    ward.config.on_start = free_loop;
    ward_start(&ward);
    dx_loop_dispatch(ward.loop);
    EXPECT(ward.starts, ==, 1);
}
