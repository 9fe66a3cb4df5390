/* Children that die, or half of them: F80 to F82. */
#include "faults/faults.h"

#include <signal.h>

FAULT(F80_killed, 10,
      "SIGKILL with 1,000 calls pending: what was answered is, the rest ends with gone") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "partial 300");
    family_start(&family);
    for (int i = 0; i < 1000; i++)
        call(family_link(&family), "hello", NULL, &family.calls);
    /* All of it is on its way, and nothing that comes back is looked at. */
    dx_loop_dispatch(loop);
    sleep_ms(300 * slow);
    EXPECT(family.calls.done, <, 300);
    uint64_t begin = now_ms();
    EXPECT(kill(dx_child_pid(family.child), SIGKILL), ==, 0);
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, <=, 100 * slow);
    EXPECT(family.calls.results, ==, 300);
    EXPECT(family.calls.lost, ==, 700);
    EXPECT(family.calls.done, ==, 1000);
    EXPECT(family.calls.first_lost_turn, ==, family.gone_turn);
    EXPECT(family.how.known, ==, 1);
    EXPECT(family.how.signal, ==, SIGKILL);
    EXPECT(family.how.stopped, ==, 0);
    EXPECT_PART(family.how.errors, "answered enough\n");
    EXPECT(family.calls.error.fault, ==, DX_FAULT_KILLED);
    EXPECT(strlen(family.calls.error.phrase), >, 0);
    turn_for(loop, 100);
    EXPECT(family.gone, ==, 1);
    EXPECT(family.calls.done, ==, 1000);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

/* The reason should help: the signal stands in what a lost call says. */
FAULT(F80_why_of_a_lost_call, 5, "a call that was lost says by what signal or with what code") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "leaves signal 11 0");
    family_start(&family);
    call(family_link(&family), "hello", NULL, &family.calls);
    family_wait(&family, 3000 * slow);
    EXPECT_PART(dx_str(family.calls.error.phrase), "signal 11");
    EXPECT_PART(dx_str(family.how.error.phrase), "signal 11");
    dx_child_free(family.child);
    family_init(&family, loop, "leaves exit 42 0");
    family_start(&family);
    call(family_link(&family), "hello", NULL, &family.calls);
    family_wait(&family, 3000 * slow);
    EXPECT_PART(dx_str(family.calls.error.phrase), "42");
    EXPECT_PART(dx_str(family.how.error.phrase), "42");
    dx_child_free(family.child);
    dx_loop_free(loop);
}

static void stop_at_the_end(dx_link *link, const dx_event *event, void *user) {
    struct family *family = user;
    (void)link;
    EXPECT(event->outcome, ==, DX_OUTCOME_LOST);
    dx_child_stop(family->child);
}

FAULT(F80_stopped_too_late, 5, "who stops a child because of a lost call hears how it ended") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "leaves exit 42 0");
    family_start(&family);
    dx_link_call_options options = {.peer = {.user = &family}, .on_done = stop_at_the_end};
    EXPECT(dx_link_call(family_link(&family), dx_str("hello"), dx_json_none(), &options, NULL), ==,
           DX_OK);
    family_wait(&family, 3000 * slow);
    EXPECT(family.how.stopped, ==, 0);
    EXPECT(family.how.code, ==, 42);
    EXPECT_PART(dx_str(family.how.error.phrase), "42");
    dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F80_neighbour, 5, "the death of one child does not disturb another") {
    dx_loop *loop = loop_new();
    struct family one, other;
    family_init(&one, loop, "silent");
    family_init(&other, loop, "parrot");
    family_start(&one);
    family_start(&other);
    ask(family_link(&other), "hello", "[1]", &other.calls);
    kill(dx_child_pid(one.child), SIGKILL);
    for (int i = 0; i < 100; i++)
        ask(family_link(&other), "hello", "[1]", &other.calls);
    family_wait(&one, 1000 * slow);
    dx_child_free(one.child);
    family_end(&other, 3000 * slow);
    EXPECT(other.how.error.fault, ==, DX_FAULT_NONE);
    dx_loop_free(loop);
}

FAULT(F80_last_answer, 10, "the last answer of a child that leaves right after it is never lost") {
    dx_loop *loop = loop_new();
    for (int i = 0; i < 50; i++) {
        struct family family;
        family_init(&family, loop, "leaves exit 0 1");
        family_start(&family);
        call(family_link(&family), "hello", NULL, &family.calls);
        call(family_link(&family), "hello", NULL, &family.calls);
        family_wait(&family, 3000 * slow);
        EXPECT(family.calls.results, ==, 1);
        EXPECT(family.calls.lost, ==, 1);
        EXPECT_PART(family.how.errors, "last words\n");
        dx_child_free(family.child);
    }
    dx_loop_free(loop);
}

FAULT(F81_closes_stdout, 10,
      "a child that closes its output: its calls end, and it is made to leave") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "closes");
    family.config.ladder.close_ms = 300;
    family_start(&family);
    call(family_link(&family), "hello", NULL, &family.calls);
    uint64_t begin = now_ms();
    turn_until(loop, &family.calls.done, 1, 3000 * slow);
    EXPECT(family.calls.lost, ==, 1);
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, >=, 250);
    EXPECT(family.gone_ms - begin, <, 1500 * slow);
    EXPECT(family.how.signal, ==, SIGTERM);
    EXPECT(family.how.stopped, ==, 0);
    EXPECT(family.how.error.fault != DX_FAULT_NONE, ==, 1);
    dx_child_free(family.child);

    family_init(&family, loop, "closes eof");
    family_start(&family);
    call(family_link(&family), "hello", NULL, &family.calls);
    family_wait(&family, 3000 * slow);
    EXPECT(family.calls.lost, ==, 1);
    EXPECT(family.how.signal, ==, 0);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F82_grandchild_holds_stdout, 10, "a grandchild that holds the pipes does not delay gone") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "family hold leave");
    family_start(&family);
    call_with(family_link(&family), "hello", NULL, &family.calls, 0);
    uint64_t begin = now_ms();
    pid_t grandchild = family_grandchild(&family);
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, <, 1000 * slow);
    EXPECT(family.how.code, ==, 7);
    EXPECT(family.how.signal, ==, 0);
    EXPECT(family.calls.lost, ==, 1);
    EXPECT(family.how.escaped, ==, 0);
    EXPECT(process_dies(grandchild), ==, 1);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F82_grandchild_stays, 10, "the whole group is dead when gone comes") {
    dx_loop *loop = loop_new();
    for (int i = 0; i < 20; i++) {
        struct family family;
        family_init(&family, loop, i % 2 ? "family leave" : "family");
        family_start(&family);
        pid_t grandchild = family_grandchild(&family);
        dx_child_stop(family.child);
        family_wait(&family, 3000 * slow);
        EXPECT(process_dies(grandchild), ==, 1);
        dx_child_free(family.child);
    }
    dx_loop_free(loop);
}
