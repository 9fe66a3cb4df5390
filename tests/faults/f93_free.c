/* Freed early, dispatched late: F93, F97. */
#include "faults/faults.h"

#include <signal.h>

FAULT(F93_freed_at_once, 10,
      "a child that is freed right after its start is gone when that returns") {
    dx_loop *loop = loop_new();
    for (int i = 0; i < 20; i++) {
        struct family family;
        family_init(&family, loop, i % 2 ? "family hold" : "stubborn term");
        family_start(&family);
        pid_t pid = dx_child_pid(family.child);
        if (i % 4 > 1) {
            call(family_link(&family), "hello", NULL, &family.calls);
            dx_loop_dispatch(loop);
        }
        size_t fds = open_fds();
        EXPECT(dx_child_free(family.child) == NULL, ==, 1);
        EXPECT(process_state(pid), ==, 0);
        EXPECT(open_fds(), <, fds);
        EXPECT(descendants_until(1, 100 * slow), ==, 1); /* the guardian */
        turn_for(loop, 5);
        EXPECT(family.gone, ==, 0);
        EXPECT(family.calls.done, <=, 1);
    }
    dx_loop_free(loop);
}

FAULT(F93_loop_freed, 10, "a loop that is freed takes its children along before it returns") {
    for (int i = 0; i < 5; i++) {
        dx_loop *loop = loop_new();
        struct family family[4];
        pid_t pids[4];
        for (int k = 0; k < 4; k++) {
            family_init(&family[k], loop, k % 2 ? "family" : "stubborn term");
            family_start(&family[k]);
            pids[k] = dx_child_pid(family[k].child);
            call(family_link(&family[k]), "hello", NULL, &family[k].calls);
        }
        if (i % 2)
            turn_for(loop, 50);
        if (i == 4)
            dx_child_stop(family[0].child);
        EXPECT(dx_loop_free(loop) == NULL, ==, 1);
        for (int k = 0; k < 4; k++)
            EXPECT(process_state(pids[k]), ==, 0);
    }
}

FAULT(F93_freed_while_leaving, 10, "a child that is freed on any step of the ladder is gone") {
    dx_loop *loop = loop_new();
    for (unsigned ms = 0; ms < 200; ms += 20) {
        struct family family;
        family_init(&family, loop, "stubborn term");
        family.config.ladder.close_ms = family.config.ladder.term_ms = 50;
        family_start(&family);
        pid_t pid = dx_child_pid(family.child);
        dx_child_stop(family.child);
        turn_for(loop, ms);
        dx_child_free(family.child);
        EXPECT(process_state(pid), ==, 0);
        turn_for(loop, 5);
        EXPECT(family.gone, <=, 1);
    }
    dx_loop_free(loop);
}

FAULT(F97_late_dispatch, 10, "an answer that is here counts, though its time is over by now") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family_start(&family);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    for (int i = 0; i < 100; i++)
        call_with(family_link(&family), "hello", "[1]", &family.calls, 50);
    dx_loop_dispatch(loop);
    sleep_ms(300 * slow);
    dx_loop_dispatch(loop);
    EXPECT(family.calls.results, ==, 101);
    EXPECT(family.calls.other, ==, 0);
    family_end(&family, 3000 * slow);
    dx_loop_free(loop);
}

FAULT(F97_timeouts, 5, "a call that is not answered times out, on time and once") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "silent");
    family_start(&family);
    uint64_t begin = now_ms();
    call_with(family_link(&family), "hello", NULL, &family.calls, 100);
    turn_until(loop, &family.calls.done, 1, 2000);
    EXPECT(family.calls.other, ==, 1);
    EXPECT(family.calls.error.fault, ==, DX_FAULT_TIMEOUT);
    EXPECT(now_ms() - begin, >=, 99);
    EXPECT(now_ms() - begin, <, 300 * slow);
    family_end(&family, 3000 * slow);
    EXPECT(family.calls.done, ==, 1);
    dx_loop_free(loop);
}

FAULT(F97_stop_after_idle, 5,
      "a stop after a long time in which nothing happened starts at its beginning") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "slow 150");
    family.config.ladder.close_ms = 500 * slow;
    family_start(&family);
    ask(family_link(&family), "hello", NULL, &family.calls);
    sleep_ms(700 * slow);
    family_end(&family, 3000 * slow);
    EXPECT(family.how.signal, ==, 0);
    EXPECT(family.how.code, ==, 0);
    dx_loop_free(loop);
}

FAULT(F97_late_ladder, 10, "a ladder that is looked at late does not skip its steps") {
    dx_loop *loop = loop_new();
    struct family family;
    /* It needs 150 ms to leave; while nobody looked, more than that has passed. */
    family_init(&family, loop, "slow 150");
    family.config.ladder.close_ms = 400 * slow;
    family_start(&family);
    ask(family_link(&family), "hello", NULL, &family.calls);
    dx_child_stop(family.child);
    sleep_ms(1000 * slow);
    uint64_t begin = now_ms();
    family_wait(&family, 3000 * slow);
    EXPECT(family.how.signal, ==, 0);
    EXPECT(family.how.code, ==, 0);
    EXPECT(family.gone_ms - begin, <, 1000 * slow);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

/* A stop of ours, then a long pause of everything (a suspended laptop), then all at once. */
FAULT(F97_late_between_steps, 10,
      "after a pause of the host each step of the ladder still has its time") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "stubborn");
    family.config.ladder.close_ms = 50;
    family.config.ladder.term_ms = 50;
    family_start(&family);
    turn_until(loop, &family.lines, 1, 2000 * slow);
    dx_child_stop(family.child);
    dx_loop_dispatch(loop);
    sleep_ms(500 * slow);
    family_wait(&family, 3000 * slow);
    /* SIGTERM was enough for it, so it must not have been SIGKILL. */
    EXPECT(family.how.signal, ==, SIGTERM);
    dx_child_free(family.child);
    dx_loop_free(loop);
}
