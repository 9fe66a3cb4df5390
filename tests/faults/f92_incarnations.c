/* Calls and the incarnations of a child that is kept running: F92. */
#include "faults/ward.h"

#include <signal.h>

static int times_in(const char *text, const char *part) {
    int times = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        times++;
    return times;
}

FAULT(F92_not_replayed, 10, "calls that are pending at a death are lost, and nobody repeats them") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "scribe mute");
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    for (int i = 0; i < 3; i++)
        call(dx_supervisor_link(ward.supervisor), "old", "[1]", &ward.calls);
    turn_until(loop, &ward.lines, 3, 3000 * slow);
    /* One more that is still on its way. */
    kill(dx_supervisor_pid(ward.supervisor), SIGSTOP);
    call(dx_supervisor_link(ward.supervisor), "old", "[1]", &ward.calls);
    dx_loop_dispatch(loop);
    ward.argv[1] = NULL; /* the next one answers */
    ward_kill(&ward, DX_STATE_BACKOFF);
    EXPECT(ward.calls.done, ==, 4);
    EXPECT(ward.calls.lost, ==, 4);
    EXPECT(ward.calls.error.fault, ==, DX_FAULT_KILLED);
    EXPECT(dx_supervisor_link(ward.supervisor) == NULL, ==, 1);

    ward_until(&ward, DX_STATE_READY, 2);
    int lines = ward.lines;
    for (int i = 0; i < 3; i++)
        ask(dx_supervisor_link(ward.supervisor), "new", "[1]", &ward.calls);
    turn_until(loop, &ward.lines, lines + 3, 3000 * slow);
    turn_for(loop, 50);
    EXPECT(times_in(ward.errors, "\"old\""), ==, 3);
    EXPECT(times_in(ward.errors, "\"new\""), ==, 3);
    EXPECT(ward.calls.done, ==, 7);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

/* The ids begin anew with each incarnation, so only the pipes keep the two apart. */
FAULT(F92_late_answer, 10, "an answer that the old child still writes never meets a new call") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "late");
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    call(dx_supervisor_link(ward.supervisor), "old", NULL, &ward.calls);
    ward.argv[0] = program("parrot");
    ward_until(&ward, DX_STATE_READY, 2);
    EXPECT(ward.calls.done, ==, 1);
    for (int i = 0; i < 20; i++) {
        ask(dx_supervisor_link(ward.supervisor), "new", "[\"new\"]", &ward.calls);
        EXPECT(strcmp(ward.calls.body, "[\"new\"]"), ==, 0);
    }
    ward_stop(&ward);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

struct repeater {
    struct ward *ward;
    int lost, results;
};

/* Who may repeat a call does so here, at once; there is no link for it yet. */
static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct repeater *repeater = user;
    repeater->lost += event->outcome == DX_OUTCOME_LOST;
    repeater->results += event->outcome == DX_OUTCOME_RESULT;
    if (event->outcome == DX_OUTCOME_LOST)
        EXPECT(dx_link_call(link, dx_str("again"), dx_json_none(), NULL, NULL), !=, DX_OK);
}

FAULT(F92_called_again_when_lost, 10, "a call that is repeated when it is lost is refused") {
    dx_loop *loop = loop_new();
    struct ward ward;
    ward_init(&ward, loop, "scribe mute");
    struct repeater repeater = {&ward, 0, 0};
    dx_link_call_options options = {.peer = {.user = &repeater}, .on_done = on_done};
    ward_start(&ward);
    ward_until(&ward, DX_STATE_READY, 1);
    for (int i = 0; i < 3; i++)
        EXPECT(dx_link_call(dx_supervisor_link(ward.supervisor), dx_str("old"), dx_json_none(),
                            &options, NULL),
               ==, DX_OK);
    ward_kill(&ward, DX_STATE_READY);
    EXPECT(repeater.lost, ==, 3);
    turn_for(loop, 50);
    EXPECT(times_in(ward.errors, "\"again\""), ==, 0);
    dx_supervisor_free(ward.supervisor);
    dx_loop_free(loop);
}

enum { MANY = 32 };

FAULT(F92_many, 20, "one bad child among 32 supervised ones disturbs no other") {
    static struct ward wards[MANY];
    static struct ward bad;
    dx_loop *loop = loop_new();
    ward_init(&bad, loop, "leaves signal 11 -1");
    uint64_t begin = now_ms();
    for (int i = 0; i < MANY; i++) {
        ward_init(&wards[i], loop, "parrot");
        ward_start(&wards[i]);
        if (i == MANY / 2)
            ward_start(&bad);
    }
    for (int i = 0; i < MANY; i++)
        ward_until(&wards[i], DX_STATE_READY, 1);
    EXPECT(now_ms() - begin, <, 4000 * slow);
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < MANY; i++)
            ask(dx_supervisor_link(wards[i].supervisor), "hello", "[1]", &wards[i].calls);
    ward_until(&bad, DX_STATE_FAILED, 5);
    for (int i = 0; i < MANY; i++)
        dx_supervisor_stop(wards[i].supervisor);
    for (int i = 0; i < MANY; i++) {
        ward_until(&wards[i], DX_STATE_STOPPED, 1);
        WARD_TOLD(&wards[i], DX_STATE_STARTING, DX_STATE_READY, DX_STATE_STOPPING,
                  DX_STATE_STOPPED);
        EXPECT(ward_why(&wards[i])->fault, ==, DX_FAULT_NONE);
        dx_supervisor_free(wards[i].supervisor);
    }
    dx_supervisor_free(bad.supervisor);
    dx_loop_free(loop);
}

FAULT(F92_loop_freed, 10, "a loop that is freed takes all that is supervised on it along") {
    static struct ward wards[8];
    dx_loop *loop = loop_new();
    for (int i = 0; i < 8; i++) {
        ward_init(&wards[i], loop, i % 2 ? "stubborn term" : "leaves exit 7 -1");
        ward_start(&wards[i]);
    }
    turn_for(loop, 20);
    dx_loop_free(loop);
    EXPECT(descendants_until(0, 1000 * slow), ==, 0);
}
