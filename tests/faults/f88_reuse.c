/* A number that was a child's and is somebody else's now: F88. In a namespace of processes where
 * numbers can be chosen, a bystander gets the very number, and leads a group of that number. */
#include "faults/faults.h"
#include "faults/wrap.h"

#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NOT_PERMITTED = 77, TO_GROUP = 1 << 2 /* PIDFD_SIGNAL_PROCESS_GROUP */ };

static _Noreturn void wait_for_ever(void) {
    for (;;)
        pause();
}

static pid_t clone_as(pid_t wanted) {
    struct clone_args args = {
        .exit_signal = SIGCHLD,
        .set_tid = (uint64_t)(uintptr_t)&wanted,
        .set_tid_size = 1,
    };
    return (pid_t)syscall(SYS_clone3, &args, sizeof args, 0, 0, 0, 0);
}

/* The number is free once everybody of the old group is reaped, too. */
static void start_bystander(pid_t number) {
    uint64_t end = now_ms() + 2000 * slow;
    pid_t pid;
    while ((pid = clone_as(number)) < 0 && errno == EEXIST && now_ms() < end)
        sleep_ms(2);
    if (pid == 0) {
        close_range(3, ~0U, 0); /* no pipe stays open because of it */
        wait_for_ever();
    }
    if (pid < 0 && errno != EEXIST)
        _exit(NOT_PERMITTED);
    EXPECT(pid, ==, number);
    EXPECT(setpgid(pid, pid), ==, 0);
}

static void end_bystander(pid_t number) {
    int status = 0;
    sleep_ms(20); /* what was sent to it has arrived by then */
    if (waitpid(number, &status, WNOHANG))
        fail("expected the bystander to live, it was killed by signal %d", WTERMSIG(status));
    kill(number, SIGKILL);
    EXPECT(waitpid(number, NULL, 0), ==, number);
}

/* Plays the scene as the first process of a new namespace. */
static void play_apart(void (*play)(void)) {
    fflush(NULL);
    pid_t outer = fork();
    if (outer == 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
            _exit(NOT_PERMITTED);
        pid_t first = fork();
        if (first == 0) {
            play();
            _exit(0);
        }
        int status = 1;
        if (first < 0 || waitpid(first, &status, 0) != first || !WIFEXITED(status))
            _exit(1);
        _exit(WEXITSTATUS(status));
    }
    int status = 1;
    EXPECT(waitpid(outer, &status, 0), ==, outer);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PERMITTED)
        skip("namespaces of users and processes are not permitted here");
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail("expected the scene in the namespace to end well, it did not");
}

/* Once as the kernel is, and once as if it knew groups by their numbers only. */
static void play_twice(void (*play)(void)) {
    static unsigned calls;
    play_apart(play);
    wrap.calls = &calls;
    wrap.fail_at = wrap.for_ever = 1;
    wrap.error = EINVAL;
    wrap.fail = WRAP_SIGNAL;
    fault_place("old kernel");
    play_apart(play);
}

/* Since Linux 6.9 a group can be meant by the pidfd of its leader. */
static int kernel_has_group_signals(void) {
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0, 0, 0, 0, 0);
    int known = syscall(SYS_pidfd_send_signal, fd, 0, NULL, TO_GROUP, 0, 0) == 0 || errno == ESRCH;
    close(fd);
    return known;
}

/* The embedder reaps what is not its own, between two dispatches: nothing was seen of it yet. */
static pid_t reaped_by_embedder(struct family *family, dx_loop *loop) {
    family_init(family, loop, "parrot");
    family->config.ladder.close_ms = family->config.ladder.term_ms = 30;
    family_start(family);
    ask(family_link(family), "hello", "[1]", &family->calls);
    pid_t pid = dx_child_pid(family->child);
    kill(pid, SIGKILL);
    EXPECT(waitpid(pid, NULL, 0), ==, pid);
    start_bystander(pid);
    return pid;
}

static void play_free(void) {
    dx_loop *loop = loop_new();
    struct family family;
    pid_t pid = reaped_by_embedder(&family, loop);
    dx_child_free(family.child);
    end_bystander(pid);
    pid = reaped_by_embedder(&family, loop);
    dx_loop_free(loop);
    end_bystander(pid);
}

FAULT(F88_reused_free, 10,
      "a child that was reaped elsewhere is freed: who has its number now is not killed") {
    play_twice(play_free);
}

static void play_stop(void) {
    dx_loop *loop = loop_new();
    struct family family;
    pid_t pid = reaped_by_embedder(&family, loop);
    family_end(&family, 2000 * slow);
    EXPECT(family.how.known, ==, 0);
    end_bystander(pid);
    pid = reaped_by_embedder(&family, loop);
    family_wait(&family, 2000 * slow);
    dx_child_stop(family.child);
    turn_for(loop, 100);
    end_bystander(pid);
    dx_loop_free(loop);
}

FAULT(F88_reused_stop, 10, "the same when it is stopped, and when its end is only noticed") {
    play_twice(play_stop);
}

/* Its exit was seen, and left uncollected for the sake of its group; then somebody collects it
 * while its output is still waited for. */
static pid_t reaped_in_drain(struct family *family, dx_loop *loop) {
    family_init(family, loop, "family session hold leave");
    family->config.drain_ms = 300 * slow;
    family_start(family);
    family_grandchild(family);
    turn_for(loop, 100 * slow);
    EXPECT(family->gone, ==, 0);
    pid_t pid = dx_child_pid(family->child);
    EXPECT(waitpid(pid, NULL, WNOHANG), ==, pid);
    start_bystander(pid);
    return pid;
}

static void play_drain(void) {
    dx_loop *loop = loop_new();
    struct family family;
    pid_t pid = reaped_in_drain(&family, loop);
    family_wait(&family, 3000 * slow);
    end_bystander(pid);
    dx_child_free(family.child);
    pid = reaped_in_drain(&family, loop);
    dx_child_free(family.child);
    end_bystander(pid);
    dx_loop_free(loop);
}

FAULT(F88_reused_in_drain, 15, "the same when it is reaped elsewhere after its exit was seen") {
    play_twice(play_drain);
}

/* A host whose child is reaped by itself, behind the library's back; tells the number. */
static _Noreturn void be_host(int out) {
    struct family family;
    family_init(&family, loop_new(), "parrot");
    family_start(&family);
    ask(family_link(&family), "hello", "[1]", &family.calls);
    /* The guardian has read of it by now, or never will. */
    sleep_ms(50);
    pid_t pid = dx_child_pid(family.child);
    kill(pid, SIGKILL);
    EXPECT(waitpid(pid, NULL, 0), ==, pid);
    EXPECT(write(out, &pid, sizeof pid), ==, sizeof pid);
    wait_for_ever();
}

static void play_guardian(void) {
    int ends[2];
    EXPECT(pipe(ends), ==, 0);
    pid_t host = fork();
    if (host == 0)
        be_host(ends[1]);
    pid_t number = 0;
    struct pollfd fd = {ends[0], POLLIN, 0};
    EXPECT(poll(&fd, 1, 5000 * (int)slow), ==, 1);
    EXPECT(read(ends[0], &number, sizeof number), ==, sizeof number);
    start_bystander(number);
    kill(host, SIGKILL);
    EXPECT(waitpid(host, NULL, 0), ==, host);
    /* The guardian is an orphan now, and so ours; it ends when it has killed what it knows of. */
    uint64_t end = now_ms() + 2000 * slow;
    pid_t ended;
    int status;
    while ((ended = waitpid(-1, &status, WNOHANG | __WALL)) == 0 && now_ms() < end)
        sleep_ms(2);
    if (ended == number)
        fail("expected the bystander to live, it was killed by signal %d", WTERMSIG(status));
    EXPECT(ended, >, 0);
    end_bystander(number);
}

FAULT(F88_reused_guardian, 10,
      "the host dies before it saw that its child was reaped: nor does the guardian kill it") {
    if (!kernel_has_group_signals())
        skip("this kernel cannot signal a group by a pidfd");
    play_apart(play_guardian);
}

/* Nobody else gets the number while a member of the group lives; so the group can still be meant.
 */
FAULT(F88_group_of_reaped, 10,
      "the group of a leader that was reaped elsewhere dies all the same") {
    if (!kernel_has_group_signals())
        skip("this kernel cannot signal a group by a pidfd");
    dx_loop *loop = loop_new();
    for (int i = 0; i < 3; i++) {
        struct family family;
        family_init(&family, loop, "family hold");
        family_start(&family);
        pid_t grandchild = family_grandchild(&family);
        pid_t pid = dx_child_pid(family.child);
        kill(pid, SIGKILL);
        EXPECT(waitpid(pid, NULL, 0), ==, pid);
        if (i == 1)
            dx_child_stop(family.child);
        if (i < 2)
            family_wait(&family, 3000 * slow);
        dx_child_free(family.child);
        EXPECT(process_dies(grandchild), ==, 1);
    }
    dx_loop_free(loop);
}
