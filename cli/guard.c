/* It reads from a pipe which process groups there are, and when the pipe ends, because we have
 * ended in whatever way, it kills them. It is forked and never becomes another program, so nothing
 * has to be found for it. */
#include "cli/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUPS_MAX = 4096 };

struct note {
    pid_t group;
    int add;
};

static void take(const struct note *note, pid_t *groups, size_t *count) {
    size_t at = 0;
    while (at < *count && groups[at] != note->group)
        at++;
    if (note->add && at == *count && *count < GROUPS_MAX)
        groups[(*count)++] = note->group;
    else if (!note->add && at < *count)
        groups[at] = groups[--*count];
}

/* A terminal's signals, and the end of our own group, shall not take it first; and it holds nothing
 * open that somebody waits for the end of. */
static _Noreturn void become_guard(int pipe) {
    static pid_t groups[GROUPS_MAX];
    size_t count = 0;
    struct note note;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "duplex-guard");
    if (dup2(pipe, 0) == 0)
        syscall(SYS_close_range, 1, ~0U, 0);
    for (;;) {
        ssize_t len = read(0, &note, sizeof note);
        if (len == (ssize_t)sizeof note)
            take(&note, groups, &count);
        else if (len >= 0 || errno != EINTR)
            break;
    }
    for (size_t i = 0; i < count; i++)
        kill(-groups[i], SIGKILL);
    _exit(0);
}

void cli_guard_begin(struct cli_guard *guard) {
    int ends[2];
    if (guard->pipe)
        return;
    guard->pipe = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    guard->pid = fork();
    if (guard->pid == 0)
        become_guard(ends[0]);
    close(ends[0]);
    if (guard->pid < 0)
        close(ends[1]);
    else
        guard->pipe = ends[1];
}

/* The pipe holds thousands of these, and is read at once. */
static void tell(const struct cli_guard *guard, struct note note) {
    while (write(guard->pipe, &note, sizeof note) < 0 && errno == EINTR)
        ;
}

void cli_guard_add(struct cli_guard *guard, pid_t group) {
    if (guard->pipe > 0)
        tell(guard, (struct note){group, 1});
}

void cli_guard_remove(struct cli_guard *guard, pid_t group) {
    if (guard->pipe > 0)
        tell(guard, (struct note){group, 0});
}

void cli_guard_end(struct cli_guard *guard) {
    if (guard->pipe <= 0)
        return;
    close(guard->pipe);
    guard->pipe = -1;
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
