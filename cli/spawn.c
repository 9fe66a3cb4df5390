/* From words to a process. */
#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Why it did not become the program. */
struct failure {
    int number;
    int in_cwd;
};

static const char *path_of(char *const *env) {
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

/* The PATH that counts is the one it will have; an empty part of it does not mean here. A name with
 * a slash is left to the kernel, which looks from the folder that it will run in. */
static int find_program(const char *name, const char *path, char *room, size_t room_len) {
    int number = ENOENT;
    if (strchr(name, '/')) {
        if (strlen(name) >= room_len)
            return ENAMETOOLONG;
        memcpy(room, name, strlen(name) + 1);
        return 0;
    }
    for (const char *at = path; *name;) {
        const char *end = strchrnul(at, ':');
        struct stat status;
        int len = snprintf(room, room_len, "%.*s/%s", (int)(end - at), at, name);
        if (end > at && len >= 0 && (size_t)len < room_len) {
            if (access(room, X_OK) == 0 && stat(room, &status) == 0 && S_ISREG(status.st_mode))
                return 0;
            if (errno == EACCES)
                number = EACCES;
        }
        if (!*end)
            break;
        at = end + 1;
    }
    return number;
}

bool cli_program_is_there(const char *name) {
    char room[4096];
    return find_program(name, path_of(environ), room, sizeof room) == 0;
}

/* Until the guard knows of us; if that never comes, whoever made us is dead. */
static void await_leave(int leave) {
    char byte;
    ssize_t len;
    do
        len = read(leave, &byte, 1);
    while (len < 0 && errno == EINTR);
    if (len != 1)
        _exit(127);
}

/* In the new process: nothing but calls of the kernel. */
static _Noreturn void become(const struct cli_program_plan *plan, const char *path,
                             const int fds[3], int leave, int report) {
    struct failure failure = {0, 0};
    int moved[3];
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    await_leave(leave);
    report = fcntl(report, F_DUPFD_CLOEXEC, 10);
    /* Out of the way of 0 to 2 first, whatever they are. */
    for (int i = 0; i < 3; i++)
        moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        if (moved[i] < 0 || dup2(moved[i], i) < 0)
            failure.number = errno;
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (!failure.number && plan->cwd && chdir(plan->cwd) < 0)
        failure = (struct failure){errno, 1};
    if (!failure.number) {
        execve(path, plan->argv, plan->env ? plan->env : environ);
        failure.number = errno;
    }
    ssize_t written = write(report, &failure, sizeof failure);
    _exit(written == (ssize_t)sizeof failure ? 127 : 126);
}

/* Its report is empty if it has become the program. */
static bool has_become(int report, struct failure *failure) {
    ssize_t len;
    do
        len = read(report, failure, sizeof *failure);
    while (len < 0 && errno == EINTR);
    return len == 0;
}

/* The group must be known before there can be anybody in it. */
static pid_t make(struct cli_guard *guard, const struct cli_program_plan *plan, const char *path,
                  const int fds[3], struct failure *failure) {
    int report[2] = {-1, -1};
    int leave[2] = {-1, -1};
    pid_t pid = -1;
    bool has = false;
    cli_guard_begin(guard);
    if (pipe2(report, O_CLOEXEC) == 0 && pipe2(leave, O_CLOEXEC) == 0 && (pid = fork()) == 0) {
        close(leave[1]);
        become(plan, path, fds, leave[0], report[1]);
    }
    failure->number = pid < 0 ? errno : 0;
    close(report[1]);
    if (pid > 0) {
        cli_guard_add(guard, pid);
        has = write(leave[1], "", 1) == 1 && has_become(report[0], failure);
    }
    close(report[0]);
    close(leave[0]);
    close(leave[1]);
    if (has || pid < 0)
        return pid;
    cli_guard_remove(guard, pid);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return -1;
}

pid_t cli_program_spawn(struct cli_guard *guard, const struct cli_program_plan *plan,
                        const int fds[3], char *room, size_t room_len) {
    char path[4096];
    struct failure failure = {0, 0};
    pid_t pid = -1;
    failure.number =
        find_program(plan->argv[0], path_of(plan->env ? plan->env : environ), path, sizeof path);
    if (!failure.number)
        pid = make(guard, plan, path, fds, &failure);
    if (pid < 0)
        snprintf(room, room_len, "%s can't be %s: %s", failure.in_cwd ? plan->cwd : plan->argv[0],
                 failure.in_cwd ? "its folder" : "started", strerror(failure.number));
    return pid;
}
