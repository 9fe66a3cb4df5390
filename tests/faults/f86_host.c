/* The process around the children: killed, forking, reaping, threaded: F86 to F89. */
#include "faults/faults.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* A host program with that many families; its pid. */
static pid_t start_host(const char *count, const char *mode) {
    const char *argv[] = {program("host"), count, program("family"), mode, NULL};
    int out;
    char line[8] = "";
    pid_t pid = spawn_by_hand(argv, NULL, &out);
    struct pollfd fd = {out, POLLIN, 0};
    EXPECT(poll(&fd, 1, 15000 * (int)slow), ==, 1);
    EXPECT(read(out, line, sizeof line - 1), ==, 6);
    close(out);
    return pid;
}

static void kill_host(const char *count, const char *mode, int number) {
    pid_t host = start_host(count, mode);
    /* The host, its guardian, and two for each family. */
    EXPECT(descendants(NULL, 0), ==, 2 + 2 * atoi(count));
    kill(host, number);
    uint64_t begin = now_ms();
    waitpid(host, NULL, 0);
    EXPECT(descendants_until(0, 2000), ==, 0);
    EXPECT(now_ms() - begin, <, 2000);
}

FAULT(F86_host_killed, 25, "kill -9 of a host leaves none of 100 children and 100 grandchildren") {
    kill_host("100", "hold", SIGKILL);
}

FAULT(F86_host_killed_quiet, 25, "the same with grandchildren that hold no pipe") {
    kill_host("100", NULL, SIGKILL);
}

FAULT(F86_host_terminated, 10, "the same for a host that dies of SIGTERM, SIGINT or SIGHUP") {
    kill_host("5", NULL, SIGTERM);
    kill_host("5", NULL, SIGINT);
    kill_host("5", NULL, SIGHUP);
}

/* The copy is nobody's child of ours: it may stay, and must not keep the others alive. */
FAULT(F86_host_forked, 10, "a fork of the host that holds all its pipes keeps no child alive") {
    pid_t host = start_host("+5", NULL);
    EXPECT(descendants(NULL, 0), ==, 13);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    EXPECT(descendants_until(1, 2000), ==, 1);
    pid_t copy = 0;
    EXPECT(descendants(&copy, 1), ==, 1);
    kill(copy, SIGKILL);
}

/* Signals of a terminal go to the whole foreground group; the guardian must not be in it. */
FAULT(F86_group_killed, 10, "a signal to the host's whole group does not take the guardian first") {
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        close(1);
        execl(program("host"), "host", "5", program("family"), (char *)NULL);
        _exit(126);
    }
    EXPECT(descendants_until(12, 5000 * slow), ==, 12);
    sleep_ms(200);
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    EXPECT(descendants_until(0, 2000), ==, 0);
}

static pid_t guardian_of(pid_t child) {
    pid_t pids[8];
    EXPECT(descendants(pids, 8), ==, 2);
    return pids[0] == child ? pids[1] : pids[0];
}

FAULT(F86_guardian_killed, 10, "a guardian that somebody killed takes nothing with it") {
    dx_loop *loop = loop_new();
    struct family one, two;
    family_init(&one, loop, "parrot");
    family_start(&one);
    ask(family_link(&one), "hello", "[1]", &one.calls);
    kill(guardian_of(dx_child_pid(one.child)), SIGKILL);
    sleep_ms(50);
    family_init(&two, loop, "parrot");
    family_start(&two);
    ask(family_link(&two), "hello", "[1]", &two.calls);
    ask(family_link(&one), "hello", "[1]", &one.calls);
    family_end(&one, 3000 * slow);
    family_end(&two, 3000 * slow);
    dx_loop_free(loop);
}

FAULT(F86_guardian_stopped, 10, "a guardian that somebody stopped holds nobody up") {
    dx_loop *loop = loop_new();
    struct family one;
    family_init(&one, loop, "parrot");
    family_start(&one);
    ask(family_link(&one), "hello", "[1]", &one.calls);
    kill(guardian_of(dx_child_pid(one.child)), SIGSTOP);
    family_end(&one, 3000 * slow);
    uint64_t begin = now_ms();
    dx_loop_free(loop);
    EXPECT(now_ms() - begin, <, 1000 * slow);
}

FAULT(F86_no_guardian, 5, "without a guardian there is no other process, and the rest holds") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "family hold");
    family.config.no_guardian = 1;
    family_start(&family);
    pid_t grandchild = family_grandchild(&family);
    EXPECT(descendants(NULL, 0), ==, 2);
    family_end(&family, 3000 * slow);
    EXPECT(process_dies(grandchild), ==, 1);
    dx_loop_free(loop);
}

FAULT(F87_embedder_forks, 10,
      "a program that the embedder starts meanwhile holds nothing of ours") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family.config.drain_ms = 5000;
    family_start(&family);
    ask(family_link(&family), "hello", "[1]", &family.calls);

    /* It shows what it has, … */
    const char *argv[] = {program("mirror"), NULL};
    int in, out;
    pid_t other = spawn_by_hand(argv, &in, &out);
    static const char look[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"look\"}\n";
    EXPECT(write(in, look, sizeof look - 1), ==, sizeof look - 1);
    char text[65536];
    ssize_t len = read(out, text, sizeof text);
    EXPECT(len, >, 0);
    EXPECT_PART(((dx_text){text, (size_t)len}), "\"fds\":[0,1,2]");

    /* … and while it runs, both ends of our pipes are seen. */
    uint64_t begin = now_ms();
    family_end(&family, 3000 * slow);
    EXPECT(family.gone_ms - begin, <, 1000 * slow);
    EXPECT(family.how.code, ==, 0);
    EXPECT(family.how.signal, ==, 0);
    close(in);
    close(out);
    waitpid(other, NULL, 0);
    dx_loop_free(loop);
}

/* A fork that never execs has copies of everything; that must not make anything hang. */
FAULT(F87_embedder_forks_only, 10,
      "a fork of the embedder's that does not exec delays nothing for ever") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family.config.ladder.close_ms = 300;
    family_start(&family);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    pid_t copy = fork();
    if (copy == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test end before its time */
        pause();
        _exit(0);
    }
    family_end(&family, 3000 * slow);
    dx_loop_free(loop);
    kill(copy, SIGKILL);
    waitpid(copy, NULL, 0);
}

struct watcher {
    pid_t leader, member;
    atomic_int end, ready;
    int violations;
};

/* SIGKILL is on its way to it, or has arrived. */
static int is_killed(pid_t pid) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 1;
    int killed = 0;
    while (fgets(line, sizeof line, file)) {
        unsigned long long pending;
        killed |= !strncmp(line, "State:", 6) && (strchr(line, 'Z') || strchr(line, 'X'));
        if (sscanf(line, "SigPnd: %llx", &pending) == 1 ||
            sscanf(line, "ShdPnd: %llx", &pending) == 1)
            killed |= (int)(pending >> (SIGKILL - 1) & 1);
    }
    fclose(file);
    return killed;
}

/* The leader's number must not be given back while a member of its group is still to be killed. */
static void *watch(void *user) {
    struct watcher *watcher = user;
    watcher->ready = 1;
    while (!watcher->end) {
        if (process_state(watcher->leader))
            continue;
        if (!is_killed(watcher->member)) {
            sleep_ms(20); /* it may be between the signal and its end */
            watcher->violations += !is_killed(watcher->member);
        }
        break;
    }
    return NULL;
}

static void watched_end(const char *command) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, command);
    family.config.ladder.close_ms = 50;
    family.config.ladder.term_ms = 200;
    family_start(&family);
    struct watcher watcher = {.leader = dx_child_pid(family.child)};
    watcher.member = family_grandchild(&family);
    pthread_t thread;
    pthread_create(&thread, NULL, watch, &watcher);
    while (!watcher.ready)
        sched_yield();
    if (strstr(command, "leave"))
        family_wait(&family, 3000 * slow);
    else {
        dx_child_stop(family.child);
        family_wait(&family, 3000 * slow);
    }
    watcher.end = 1;
    pthread_join(thread, NULL);
    EXPECT(watcher.violations, ==, 0);
    EXPECT(process_state(watcher.leader), ==, 0);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F88_stale_group, 15, "the leader stays a zombie until its group was killed") {
    for (int i = 0; i < 5; i++) {
        watched_end("launcher");
        watched_end("family");
        watched_end("family hold leave");
    }
}

/* After gone nothing may be sent to the number, which can be somebody else's by then. */
FAULT(F88_after_gone, 5, "stop and free after gone signal nobody") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "leaves exit 0 -1");
    family_start(&family);
    family_wait(&family, 3000 * slow);
    pid_t pid = dx_child_pid(family.child);
    EXPECT(process_state(pid), ==, 0);
    dx_child_stop(family.child);
    turn_for(loop, 50);
    EXPECT(family.gone, ==, 1);
    dx_child_free(family.child);
    dx_loop_free(loop);
}

static void known_or_not(const struct family *family, int code) {
    EXPECT(family->gone, ==, 1);
    EXPECT(!family->how.known || family->how.code == code, ==, 1);
    EXPECT(family->calls.done, ==, family->calls.made);
}

static void with_foreign_reaping(void) {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    family_start(&family);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    uint64_t begin = now_ms();
    family_end(&family, 3000 * slow);
    EXPECT(now_ms() - begin, <, 1000 * slow);
    known_or_not(&family, 0);
    family_init(&family, loop, "leaves exit 5 0");
    family_start(&family);
    call(family_link(&family), "hello", NULL, &family.calls);
    family_wait(&family, 2000 * slow);
    known_or_not(&family, 5);
    EXPECT_PART(family.how.errors, "last words");
    dx_child_free(family.child);
    family_init(&family, loop, "stubborn term");
    family.config.ladder.close_ms = family.config.ladder.term_ms = 50;
    family_start(&family);
    family_end(&family, 2000 * slow);
    known_or_not(&family, 0);
    family_init(&family, loop, "silent");
    family_start(&family);
    family.child = dx_child_free(family.child);
    dx_loop_free(loop);
}

FAULT(F89_sigchld_ignored, 10, "SIGCHLD is ignored: every end is told, known or not") {
    signal(SIGCHLD, SIG_IGN);
    with_foreign_reaping();
}

FAULT(F89_no_zombies_wanted, 10, "the same with SA_NOCLDWAIT") {
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGCHLD, &action, NULL);
    with_foreign_reaping();
}

static void *steal(void *user) {
    atomic_int *end = user;
    while (!*end)
        if (waitpid(-1, NULL, WNOHANG) <= 0)
            sched_yield();
    return NULL;
}

FAULT(F89_thief, 20,
      "a thread that reaps everything: every end is told, known or not, nothing hangs") {
    static atomic_int end;
    pthread_t thread;
    pthread_create(&thread, NULL, steal, &end);
    for (int i = 0; i < 10; i++)
        with_foreign_reaping();
    end = 1;
    pthread_join(thread, NULL);
}

struct starter {
    struct family *family;
};

static void *start_in_thread(void *user) {
    struct starter *starter = user;
    family_start(starter->family);
    return NULL;
}

/* The parent-death signal follows the thread that forked, not the process. */
FAULT(F86_thread_ends, 5, "a child lives on when the thread that started it ends") {
    dx_loop *loop = loop_new();
    struct family family;
    family_init(&family, loop, "parrot");
    struct starter starter = {&family};
    pthread_t thread;
    pthread_create(&thread, NULL, start_in_thread, &starter);
    pthread_join(thread, NULL);
    sleep_ms(100);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    family_end(&family, 3000 * slow);
    EXPECT(family.how.signal, ==, 0);
    dx_loop_free(loop);
}
