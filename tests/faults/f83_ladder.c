/* Asking a child to leave, and making it: F83 to F85, F94. */
#include "faults/faults.h"
#include "faults/wrap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static void quick_ladder(struct family *family) {
    family->config.ladder.farewell_ms = 200;
    family->config.ladder.close_ms = 200;
    family->config.ladder.term_ms = 200;
}

/* Stops it and checks how and when it went. */
static void steps(const char *command, int number, unsigned at_least_ms, unsigned at_most_ms) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, command);
    quick_ladder(&family);
    family_start(&family);
    ask(family_link(&family), "hello", NULL, &family.calls);
    call(family_link(&family), "last", NULL, &family.calls);
    uint64_t begin = now_ms();
    dx_child_stop(family.child);
    dx_child_stop(family.child);
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, >=, at_least_ms);
    EXPECT(family.gone_ms - begin, <=, at_most_ms * slow);
    EXPECT(family.how.signal, ==, number);
    EXPECT(family.how.code, ==, 0);
    EXPECT(family.how.stopped, ==, 1);
    EXPECT(family.how.error.fault, ==, DX_FAULT_NONE);
    EXPECT(family.calls.done, ==, family.calls.made);
    dx_child_stop(family.child);
    turn_for(loop, 20);
    EXPECT(family.gone, ==, 1);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F83_leaves_politely, 5, "a child that leaves at the end of its input gets no signal") {
    steps("parrot", 0, 0, 300);
}

FAULT(F83_ignores_eof, 5, "a child that ignores the end of its input gets SIGTERM, on time") {
    steps("stubborn", SIGTERM, 190, 600);
}

FAULT(F83_ignores_both, 5, "a child that ignores SIGTERM, too, gets SIGKILL, on time") {
    steps("stubborn term", SIGKILL, 390, 900);
}

FAULT(F83_stopped, 5, "a child that has stopped itself gets SIGKILL, on time") {
    steps("stops", SIGKILL, 390, 900);
}

FAULT(F83_slow, 5, "a child that needs its time to leave has it") {
    steps("slow 50", 0, 50, 500);
}

FAULT(F83_floods, 10, "a child that floods its output while it is asked to leave is made to") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "chatter");
    quick_ladder(&family);
    family_start(&family);
    turn_until(loop, &family.notes, 1000, 3000 * slow);
    family_end(&family, 2000 * slow);
    dx_loop_free(loop);
}

FAULT(F83_full_pipe, 5, "a child that never reads is made to leave though output waits for it") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "deaf");
    quick_ladder(&family);
    family_start(&family);
    static char params[1 << 20];
    memset(params, ' ', sizeof params);
    memcpy(params, "[]", 2);
    params[sizeof params - 1] = '\0';
    for (int i = 0; i < 4; i++)
        call(family_link(&family), "big", params, &family.calls);
    turn_for(loop, 20);
    uint64_t begin = now_ms();
    family_end(&family, 4000 * slow);
    EXPECT(family.gone_ms - begin, <, 2900 * slow);
    EXPECT(family.calls.lost, ==, 4);
    dx_loop_free(loop);
}

/* A child that runs with other rights, say. What is left of it here is what it says. */
FAULT(F83_cannot_be_killed, 20, "a child that no signal reaches is given up, in bounded time") {
    unsigned calls = 0;
    dx_loop *loop = loop_new();
    for (int i = 0; i < 2; i++) {
        struct family family;
        family_init(&family, loop, "stubborn term");
        quick_ladder(&family);
        family_start(&family);
        pid_t pid = dx_child_pid(family.child);
        ask(family_link(&family), "hello", NULL, &family.calls);
        calls = 0;
        wrap = (struct wrap){
            .fail = WRAP_ANY_SIGNAL, .fail_at = 1, .for_ever = 1, .error = EPERM, .calls = &calls};
        uint64_t begin = now_ms();
        if (i == 0) {
            call(family_link(&family), "last", NULL, &family.calls);
            dx_child_stop(family.child);
            family_wait(&family, 4000 * slow);
            EXPECT(family.how.escaped, ==, 1);
            EXPECT(family.how.known, ==, 0);
            EXPECT_PART(dx_str(family.how.error.phrase), "cannot be killed");
            EXPECT(family.calls.done, ==, family.calls.made);
        }
        dx_child_free(family.child);
        EXPECT(now_ms() - begin, <, 4000 * slow);
        wrap = (struct wrap){0};
        EXPECT(process_lives(pid), ==, 1);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    dx_loop_free(loop);
}

FAULT(F84_launcher, 5, "a launcher that dies on SIGTERM does not leave its server behind") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "launcher");
    quick_ladder(&family);
    family_start(&family);
    pid_t server = family_grandchild(&family);
    ask(family_link(&family), "hello", NULL, &family.calls);
    uint64_t begin = now_ms();
    dx_child_stop(family.child);
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, <=, 900 * slow);
    EXPECT(family.how.signal, ==, SIGTERM);
    EXPECT(family.how.escaped, ==, 0);
    EXPECT(process_dies(server), ==, 1);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

/* Documented: it escapes. What must hold is that nothing hangs on it. */
static void escapes(const char *command, int detectable) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, command);
    quick_ladder(&family);
    family_start(&family);
    pid_t grandchild = family_grandchild(&family);
    uint64_t begin = now_ms();
    dx_child_stop(family.child);
    family_wait(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, <=, 1000 * slow);
    EXPECT(family.how.escaped, ==, detectable);
    dx_child_free(family.child);
    dx_loop_free(loop);
    EXPECT(process_lives(grandchild), ==, 1);
    kill(grandchild, SIGKILL);
}

FAULT(F85_session, 5, "a grandchild with a session of its own escapes, and nothing waits for it") {
    escapes("family session", 0);
    escapes("family session hold", 1);
    escapes("family session hold leave", 1);
}

/* What it says must not keep us from ending. When the pipes close, it dies of that. */
FAULT(F85_session_floods, 10,
      "a grandchild that escaped and floods our pipes does not delay gone") {
    static const char *const commands[] = {"family session flood", "family session flood leave"};
    dx_loop *loop = loop_new();
    for (size_t i = 0; i < LENGTH(commands); i++) {
        struct family family;
        family_init(&family, loop, commands[i]);
        quick_ladder(&family);
        family_start(&family);
        turn_until(loop, &family.notes, 100, 2000 * slow);
        uint64_t begin = now_ms();
        dx_child_stop(family.child);
        family_wait(&family, 3000 * slow);
        EXPECT(family.gone_ms - begin, <, 1500 * slow);
        EXPECT(family.how.escaped, ==, 1);
        dx_child_free(family.child);
        EXPECT(descendants_until(1, 2000 * slow), ==, 1);
    }
    dx_loop_free(loop);
}

FAULT(F83_no_times, 5, "a ladder whose times are all 0, nothing kept, nobody listening") {
    dx_loop *loop = loop_new();
    for (int i = 0; i < 10; i++) {
        struct family family;
        family_init(&family, loop, i % 2 ? "noisy 100 lines" : "stubborn term");
        family.config.ladder.farewell_call = "bye";
        family.config.ladder.farewell_ms = family.config.ladder.close_ms = 0;
        family.config.ladder.term_ms = family.config.drain_ms = 0;
        family.config.errors_max = 0;
        family.config.on_errors = NULL;
        family.config.link.on_event = NULL;
        family_start(&family);
        ask(family_link(&family), "hello", NULL, &family.calls);
        family_end(&family, 1000 * slow);
        EXPECT(family.how.errors.len, ==, 0);
    }
    dx_loop_free(loop);
}

FAULT(F83_endless_times, 5, "a ladder whose times never end waits for a polite child only") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family.config.ladder.farewell_call = "bye";
    family.config.ladder.farewell_ms = family.config.ladder.close_ms = DX_NEVER;
    family.config.ladder.term_ms = family.config.drain_ms = DX_NEVER;
    family.config.link.drain_ms = DX_NEVER;
    family_start(&family);
    ask(family_link(&family), "hello", NULL, &family.calls);
    family_end(&family, 1000 * slow);
    EXPECT(family.how.signal, ==, 0);
    dx_loop_free(loop);
}

FAULT(F83_nobody_listens, 5, "a child without any callback ends like any other") {
    dx_loop *loop = loop_new();
    const char *argv[] = {program("leaves"), "exit", "3", "0", NULL};
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    dx_child *child = NULL;
    EXPECT(dx_child_start(loop, &config, &child, NULL), ==, DX_OK);
    pid_t pid = dx_child_pid(child);
    EXPECT(dx_link_call(dx_child_link(child), dx_str("x"), dx_json_none(), NULL, NULL), ==, DX_OK);
    uint64_t end = now_ms() + 2000 * slow;
    while (process_state(pid) && now_ms() < end)
        turn_for(loop, 10);
    EXPECT(process_state(pid), ==, 0);
    EXPECT(dx_child_link(child) == NULL, ==, 1);
    dx_child_free(child);
    dx_loop_free(loop);
}

static void farewell(const char *command, const char *expected, const char *unexpected) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, command);
    quick_ladder(&family);
    family.config.ladder.farewell_call = "shutdown";
    family.config.ladder.farewell_notify = "exit";
    family_start(&family);
    int mute = strstr(command, "mute") != NULL;
    call(family_link(&family), "hello", NULL, &family.calls);
    if (mute)
        turn_for(loop, 100);
    else
        turn_until(loop, &family.calls.done, 1, 2000 * slow);
    uint64_t begin = now_ms();
    family_end(&family, 2000 * slow);
    EXPECT(family.gone_ms - begin, <, 190 + 100 * slow);
    EXPECT(family.how.code, ==, 0);
    EXPECT(family.how.signal, ==, 0);
    EXPECT(family.calls.done, ==, 1);
    EXPECT_PART(family.how.errors, "\"hello\"");
    if (expected)
        EXPECT_PART(family.how.errors, expected);
    if (unexpected && strstr(family.errors, unexpected))
        fail("expected no %s for a child that never answered, got one", unexpected);
    dx_loop_free(loop);
}

FAULT(F94_never_answered, 5, "a child that never answered gets no farewell request") {
    farewell("scribe mute", NULL, "\"shutdown\"");
}

FAULT(F94_answered, 5, "a child that has answered gets its farewell request and notification") {
    farewell("scribe", "\"shutdown\"", NULL);
    farewell("scribe", "\"exit\"", NULL);
}

FAULT(F94_farewell_unanswered, 5,
      "a farewell that is not answered is waited for, but not for ever") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "partial 1");
    quick_ladder(&family);
    family.config.ladder.farewell_call = "shutdown";
    family_start(&family);
    ask(family_link(&family), "hello", NULL, &family.calls);
    uint64_t begin = now_ms();
    family_end(&family, 2000 * slow);
    EXPECT(family.gone_ms - begin, >=, 190);
    EXPECT(family.gone_ms - begin, <, 500 * slow);
    EXPECT(family.how.code, ==, 0);
    EXPECT(family.how.signal, ==, 0);
    dx_loop_free(loop);
}

/* Right after the start, before a turn. */
FAULT(F94_stopped_at_once, 5, "a child that is stopped before anything was said leaves") {
    dx_loop *loop = loop_new();
    for (int i = 0; i < 10; i++) {
        struct family family;
        family_init(&family, loop, "silent");
        family.config.ladder.farewell_call = "shutdown";
        family_start(&family);
        family_end(&family, 1000 * slow);
        EXPECT(family.how.code, ==, 0);
        EXPECT(family.how.signal, ==, 0);
    }
    dx_loop_free(loop);
}
