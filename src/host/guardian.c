/*
 * A child of ours does one thing: it reads from a pipe which process groups there are, and when the
 * pipe ends, because we have ended in whatever way, it kills them.
 *
 * It is forked, never exec'd, and may have been forked from a program with threads: so it calls the
 * kernel and nothing else.
 */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* More groups than there can be processes on most machines; how much of what it was told may wait;
 * how long we wait for it to read. */
enum { GROUPS_MAX = 1 << 18, PIPE_SIZE = 4096, PATIENCE_MS = 50 };

/* The pidfd of its leader means the group even when the leader is gone, and never another one that
 * got its number; the number is for older kernels, and for when descriptors run out. */
struct group {
    pid_t number;
    int leader;
};

/* Takes in what is in the pipe. False at its end. */
static bool take_notes(int pipe, struct group *groups, size_t *count) {
    struct dx__guardian_note note;
    ssize_t n;
    while ((n = read(pipe, &note, sizeof note)) == (ssize_t)sizeof note) {
        size_t at = 0;
        while (at < *count && groups[at].number != note.group)
            at++;
        if (note.add && at == *count && *count < GROUPS_MAX) {
            int leader = (int)syscall(SYS_pidfd_open, note.group, 0);
            groups[(*count)++] = (struct group){note.group, leader};
        } else if (!note.add && at < *count) {
            if (groups[at].leader >= 0)
                close(groups[at].leader);
            groups[at] = groups[--*count];
        }
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void kill_group(const struct group *group) {
    if (group->leader < 0 || !dx__pidfd_signal_group(group->leader, SIGKILL))
        kill(-group->number, SIGKILL);
}

/* Until the pipe ends, or the process that we guard for: somebody it has forked may hold a copy of
 * the pipe. */
static void guard(int pipe, int host, bool orphaned, struct group *groups) {
    struct pollfd fds[2] = {{pipe, POLLIN, 0}, {host, POLLIN, 0}};
    size_t count = 0;
    do
        poll(fds, 2, orphaned ? 0 : -1);
    while (take_notes(pipe, groups, &count) && !orphaned && !fds[1].revents);
    for (size_t i = 0; i < count; i++)
        kill_group(&groups[i]);
}

/* Signals from the terminal, and whoever means us, shall not take the guardian first. */
static _Noreturn void become_guardian(int pipe, int ready, pid_t parent) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    close(ready);
    prctl(PR_SET_NAME, "duplex-guardian");
    int host = (int)syscall(SYS_pidfd_open, parent, 0);
    /* Its reading end is a file of its own: not blocking here says nothing about the other copy. */
    fcntl(pipe, F_SETFL, O_NONBLOCK);
    pipe = fcntl(pipe, F_DUPFD, 3);
    if (host >= 0)
        host = fcntl(host, F_DUPFD, 3);
    dup2(pipe, 0);
    dup2(host >= 0 ? host : pipe, 1);
    syscall(SYS_close_range, 2, ~0U, 0);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    void *groups = mmap(NULL, GROUPS_MAX * sizeof(struct group), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    /* Whoever dies before we have begun has left his notes. */
    if (groups != MAP_FAILED)
        guard(0, host >= 0 ? 1 : -1, getppid() != parent, groups);
    _exit(0);
}

static void close_pipe(dx_loop *loop) {
    if (loop->guardian >= 0) {
        close(loop->guardian);
        close(loop->guardian_other);
    }
    loop->guardian = loop->guardian_other = -1;
}

/* It dies before its pipe ends, which it would take for our end; unless it can't be killed. */
static void forget(dx_loop *loop) {
    siginfo_t info;
    bool ours = dx__loop_is_ours(loop);
    if (ours && syscall(SYS_pidfd_send_signal, loop->guarded.fd, SIGKILL, NULL, 0) < 0)
        close_pipe(loop);
    while (ours && waitid(P_PIDFD, (id_t)loop->guarded.fd, &info, WEXITED | __WALL) < 0 &&
           errno == EINTR)
        ;
    dx__watch_close(&loop->guarded);
    close_pipe(loop);
}

/* A new one learns all the groups. */
static void tell_all(dx_loop *loop) {
    loop->replacing = true;
    for (dx__thing *thing = loop->things; thing; thing = thing->next)
        if (thing->guard)
            thing->guard(thing);
    loop->replacing = false;
}

static void replace(dx_loop *loop) {
    forget(loop);
    tell_all(loop);
}

/* Somebody has killed it. */
static bool has_died(dx__watch *watch, uint32_t events) {
    (void)events;
    replace(watch->loop);
    return true;
}

/* A pipe that ends when it has left our session, and what means us no longer means it. */
static void await_ready(int ready[2]) {
    char byte;
    if (ready[0] < 0)
        return;
    close(ready[1]);
    while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(ready[0]);
}

static bool has_guardian(dx_loop *loop) {
    int ends[2];
    int ready[2] = {-1, -1};
    int pidfd = -1;
    if (loop->guardian >= 0)
        return true;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    if (pipe2(ready, O_CLOEXEC) < 0)
        ready[0] = -1;
    /* No exit signal: whoever handles SIGCHLD here knows nothing of it, and it is waited for by its
     * pidfd alone. */
    pid_t parent = getpid();
    long pid = syscall(SYS_clone, CLONE_PIDFD, NULL, &pidfd, NULL, NULL);
    if (pid == 0)
        become_guardian(ends[0], ready[1], parent);
    await_ready(ready);
    loop->guardian = ends[1];
    loop->guardian_other = ends[0];
    loop->guarded = (dx__watch){.fd = -1, .ready = has_died};
    loop->guardian_pid = (pid_t)pid;
    if (pid > 0 && dx__watch_start(loop, &loop->guarded, pidfd, EPOLLIN) == DX_OK) {
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
        return true;
    }
    close(ends[0]);
    close(ends[1]);
    loop->guardian = loop->guardian_other = -1;
    if (pid > 0) {
        siginfo_t info;
        syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL);
        close(pidfd);
    }
    return false;
}

/* The pipe holds hundreds of notes and is read at once. False if it stays full: somebody has
 * stopped the guardian. */
static bool tell(dx_loop *loop, pid_t group, bool add) {
    struct dx__guardian_note note = {.group = group, .add = add};
    struct pollfd room = {loop->guardian, POLLOUT, 0};
    while (write(loop->guardian, &note, sizeof note) < 0)
        if (errno != EINTR && (errno != EAGAIN || poll(&room, 1, PATIENCE_MS) <= 0))
            return false;
    return true;
}

static void note_down(dx_loop *loop, pid_t group, bool add) {
    if (tell(loop, group, add) || loop->replacing)
        return;
    replace(loop);
    if (has_guardian(loop))
        (void)tell(loop, group, add);
}

int dx__guardian_ear(dx_loop *loop) {
    bool had = loop->guardian >= 0;
    if (!has_guardian(loop))
        return -1;
    /* There may be children from a time when none could be had. */
    if (!had && !loop->replacing)
        tell_all(loop);
    return loop->guardian;
}

void dx__guardian_add(dx_loop *loop, pid_t group) {
    if (dx__guardian_ear(loop) >= 0)
        note_down(loop, group, true);
}

void dx__guardian_remove(dx_loop *loop, pid_t group) {
    if (loop->guardian >= 0 && dx__loop_is_ours(loop))
        note_down(loop, group, false);
}

void dx__guardian_done(dx_loop *loop) {
    if (loop->guardian >= 0)
        forget(loop);
}
