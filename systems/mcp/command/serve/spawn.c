/* From words to a process. */
#include "systems/mcp/command/serve/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
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

static const char *get_path(char *const *env) {
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

/* The PATH that counts is the one it will have. An empty part of it does not mean here. */
static int find_program(const char *name, const char *path, char *room, size_t room_len) {
    int number = ENOENT;
    if (strchr(name, '/')) {
        size_t len = strlen(name);
        if (len >= room_len)
            return ENAMETOOLONG;
        memcpy(room, name, len + 1);
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

/* In the new process: nothing but calls of the kernel. */
static _Noreturn void become(const struct program_plan *plan, const char *path, const int *fds,
                             int parent, int report) {
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
    if (getppid() != parent) /* it has died before that took hold */
        _exit(127);
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
        execve(path, plan->argv, plan->env);
        failure.number = errno;
    }
    ssize_t written = write(report, &failure, sizeof failure);
    _exit(written == sizeof failure ? 127 : 126);
}

static void tell(const struct program_plan *plan, struct failure failure, char *room,
                 size_t room_len) {
    snprintf(room, room_len, "%s can't be %s: %s", failure.in_cwd ? plan->cwd : plan->argv[0],
             failure.in_cwd ? "its folder" : "started", strerror(failure.number));
}

int program_spawn(const struct program_plan *plan, int in, int out, int errors, char *room,
                  size_t room_len) {
    char path[4096];
    int report[2] = {-1, -1};
    const int fds[3] = {in, out, errors};
    struct failure failure = {find_program(plan->argv[0], get_path(plan->env), path, sizeof path),
                              0};
    int parent = getpid();
    pid_t pid = -1;
    if (!failure.number && pipe2(report, O_CLOEXEC) < 0)
        failure.number = errno;
    if (!failure.number && (pid = fork()) == 0)
        become(plan, path, fds, parent, report[1]);
    if (!failure.number && pid < 0)
        failure.number = errno;
    if (report[1] >= 0)
        close(report[1]);
    ssize_t len = 0;
    if (pid > 0)
        do
            len = read(report[0], &failure, sizeof failure);
        while (len < 0 && errno == EINTR);
    if (report[0] >= 0)
        close(report[0]);
    if (pid > 0 && len == 0)
        return pid;
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    tell(plan, failure, room, room_len);
    return -1;
}
