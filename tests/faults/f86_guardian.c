/* A guardian that somebody has stopped, for long enough that it misses something: F86. */
#include "faults/faults.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

/* More notes than the pipe to the guardian holds: each of them is told of twice. */
enum { PASSERS_BY = 400, STAYING = 3 };

static int is_guardian(pid_t pid) {
    char path[32], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(name, sizeof name, file))
        name[0] = '\0';
    fclose(file);
    return !strcmp(name, "duplex-guardian\n");
}

/* It has its name a moment after its birth. */
static pid_t find_guardian(void) {
    pid_t pids[64];
    for (uint64_t end = now_ms() + 2000 * slow; now_ms() < end; sleep_ms(2)) {
        size_t count = descendants(pids, LENGTH(pids));
        for (size_t i = 0; i < count && i < LENGTH(pids); i++)
            if (is_guardian(pids[i]) && process_lives(pids[i]))
                return pids[i];
    }
    fail("expected a process that is named duplex-guardian, there is none");
}

static void pass_by(dx_loop *loop, int dispatching) {
    struct family family;
    family_init(&family, loop, "silent");
    for (int i = 0; i < PASSERS_BY; i++) {
        family_start(&family);
        dx_child_free(family.child);
        if (dispatching)
            dx_loop_dispatch(loop);
    }
}

static void *start_in_thread(void *family) {
    family_start(family);
    return NULL;
}

/* Without the parent-death signal: only the guardian knows of this one. */
static void start_unbound(struct family *family) {
    pthread_t thread;
    pthread_create(&thread, NULL, start_in_thread, family);
    pthread_join(thread, NULL);
}

/* Lives until it is killed; says so when all its children are there. */
static _Noreturn void be_host(int out, int before) {
    static struct family families[STAYING], passing;
    dx_loop *loop = loop_new();
    family_init(&passing, loop, "silent");
    family_start(&passing);
    pid_t guardian = find_guardian();
    for (int i = 0; i < before; i++) {
        family_init(&families[i], loop, "family");
        start_unbound(&families[i]);
        family_grandchild(&families[i]);
    }
    kill(guardian, SIGSTOP);
    pass_by(loop, 1);
    for (int i = before; i < STAYING; i++) {
        family_init(&families[i], loop, "family");
        start_unbound(&families[i]);
        family_grandchild(&families[i]);
    }
    turn_for(loop, 100);
    EXPECT(write(out, "!", 1), ==, 1);
    for (;;)
        turn_for(loop, 1000);
}

/* `before` of those that stay are told of before the guardian is stopped, the others after. */
static void kill_host(int before) {
    int ends[2];
    char byte;
    EXPECT(pipe(ends), ==, 0);
    fflush(NULL);
    pid_t host = fork();
    if (host == 0)
        be_host(ends[1], before);
    close(ends[1]);
    struct pollfd fd = {ends[0], POLLIN, 0};
    EXPECT(poll(&fd, 1, 15000 * (int)slow), ==, 1);
    EXPECT(read(ends[0], &byte, 1), ==, 1);
    close(ends[0]);
    /* The host, its guardian, one that passes by and two for each family. */
    EXPECT(descendants_until(3 + 2 * STAYING, 2000 * slow), ==, 3 + 2 * STAYING);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    EXPECT(descendants_until(0, 2000 * slow), ==, 0);
}

FAULT(F86_guardian_misses_births, 40,
      "a stopped guardian that missed births is replaced: kill -9 of the host leaves nobody") {
    kill_host(0);
}

FAULT(F86_guardian_misses_deaths, 40, "the same for those that it knew of before it was stopped") {
    kill_host(STAYING);
}

/* On one processor the new guardian has not run yet when we end. */
static _Noreturn void be_short_lived_host(void) {
    static struct family family;
    dx_loop *loop = loop_new();
    cpu_set_t one;
    family_init(&family, loop, "family");
    start_unbound(&family);
    family_grandchild(&family);
    kill(find_guardian(), SIGKILL);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    sleep_ms(50);
    dx_loop_dispatch(loop);
    kill(getpid(), SIGKILL);
    _exit(1);
}

FAULT(F86_guardian_newborn, 20,
      "a host that dies right after its guardian was born leaves nobody") {
    for (int i = 0; i < 5; i++) {
        fflush(NULL);
        pid_t host = fork();
        if (host == 0)
            be_short_lived_host();
        waitpid(host, NULL, 0);
        EXPECT(descendants_until(0, 2000 * slow), ==, 0);
    }
}

/* What it missed must not hold up the one who wants to tell it. */
static void costs_little(int dispatching) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family_start(&family);
    uint64_t begin = now_ms();
    pass_by(loop, dispatching);
    uint64_t usual_ms = now_ms() - begin;
    kill(find_guardian(), SIGSTOP);
    begin = now_ms();
    pass_by(loop, dispatching);
    EXPECT(now_ms() - begin, <, 3 * usual_ms + 3000);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    family_end(&family, 3000 * slow);
    dx_loop_free(loop);
}

FAULT(F86_guardian_full, 30, "a stopped guardian costs little time, even if its pipe is full") {
    costs_little(1);
}

FAULT(F86_guardian_full_at_once, 30, "the same when all this happens between two dispatches") {
    costs_little(0);
}
