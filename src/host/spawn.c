/* From a configuration to a running process, or to the reason why there is none. */
#include "base/alloc.h"
#include "base/line.h"
#include "host/host.h"

#include <duplex/program.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child side needs, all of it made before: until it becomes another program it runs in our
 * memory, and calls nothing but the kernel. */
struct plan {
    const char *path;
    const char *cwd;
    char *const *argv;
    char *const *env;
    char *mark; /* where its own pid goes in the mark */
    uint64_t memory_max;
    uint64_t files_max;
    pid_t parent;
    bool dies_with_parent;
    bool session;
    int in;
    int out;
    int errors;
    int guardian;         /* is told of the group; -1: nobody is */
    volatile int failure; /* the reason why it failed, or 0 … */
    volatile bool in_cwd; /* … and whether it was the working directory that did */
};

/* It runs on a stack that the address sanitizer knows nothing of. */
#define UNCHECKED __attribute__((no_sanitize("address")))
enum { STACK = 64 << 10 };

/* The mark in its environment, and how much of one that we have ourselves is handed on. */
enum { MARK = 256, OUTER_MARK = 200 };

static bool is_small_env(const char *variable) {
    static const char *const names[] = {
        "HOME=", "LOGNAME=", "PATH=", "SHELL=", "TERM=", "USER=", "LANG=", "LC_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static const char *get_env(const char *const *env, const char *name) {
    size_t len = strlen(name);
    for (; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

/* "DUPLEX_PEER=…HOST:" with room for its own pid; returns where that goes. */
static char *make_mark(char room[MARK]) {
    const char *outer = get_env((const char *const *)environ, "DUPLEX_PEER");
    dx__line line = dx__line_on(room, MARK);
    dx__line_str(&line, "DUPLEX_PEER=");
    if (outer && outer[0] && strlen(outer) < OUTER_MARK) {
        dx__line_str(&line, outer);
        dx__line_str(&line, ",");
    }
    dx__line_num(&line, (uint64_t)getpid());
    dx__line_str(&line, ":");
    return room + line.len;
}

/* The mark; our own environment, small or whole, without what is given anew; and then that. */
static char **make_env(dx_loop *loop, const dx_child_config *config, bool only, char *mark) {
    size_t count = 2;
    for (char **one = environ; one && *one; one++)
        count++;
    for (const char *const *one = config->env; one && *one; one++)
        count++;
    char **env = dx__malloc(&loop->alloc, count * sizeof *env);
    if (!env)
        return NULL;
    size_t used = 0;
    env[used++] = mark;
    for (char **one = environ; !only && one && *one; one++) {
        char name[256];
        const char *equals = strchr(*one, '=');
        size_t len = equals ? (size_t)(equals - *one) : 0;
        if (!len || len >= sizeof name || (!config->inherit_env && !is_small_env(*one)))
            continue;
        memcpy(name, *one, len);
        name[len] = '\0';
        if (!get_env(config->env, name) && strcmp(name, "DUPLEX_PEER") != 0)
            env[used++] = *one;
    }
    for (const char *const *one = config->env; one && *one; one++)
        env[used++] = (char *)(uintptr_t)*one;
    env[used] = NULL;
    return env;
}

/* The file that a name means: the first of PATH that can be executed. The child's PATH counts, as
 * it would for a shell that was asked to start it. */
static int find_program(const char *name, const char *path, char *room, size_t len) {
    int number = ENOENT;
    size_t name_len = strlen(name);
    if (strchr(name, '/')) {
        if (name_len >= len)
            return ENAMETOOLONG;
        memcpy(room, name, name_len + 1);
        return 0;
    }
    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; name_len;) {
        const char *end = strchrnul(at, ':');
        size_t dir = (size_t)(end - at);
        struct stat stat_of;
        if (dir && dir + name_len + 2 <= len) {
            memcpy(room, at, dir);
            room[dir] = '/';
            memcpy(room + dir + 1, name, name_len + 1);
            if (access(room, X_OK) == 0 && stat(room, &stat_of) == 0 && S_ISREG(stat_of.st_mode))
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

UNCHECKED static _Noreturn void fail(struct plan *plan, int number, bool in_cwd) {
    plan->in_cwd = in_cwd;
    plan->failure = number;
    _exit(127);
}

UNCHECKED static void set_limit(struct plan *plan, int resource, uint64_t value) {
    struct rlimit limit = {value, value};
    if (value && setrlimit((__rlimit_resource_t)resource, &limit) < 0)
        fail(plan, errno, false);
}

UNCHECKED static int become(void *user) {
    struct plan *plan = user;
    sigset_t none;
    /* A handler of ours must not run in there, and what we ignore is not ours to decide for it. */
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (plan->session)
        setsid();
    else
        setpgid(0, 0);
    /* If that fails we are told of by our parent, if it lives. */
    struct dx__guardian_note note = {getpid(), 1};
    plan->mark[dx__digits((uint64_t)note.group, plan->mark)] = '\0';
    if (plan->guardian >= 0 && write(plan->guardian, &note, sizeof note) < 0)
        plan->guardian = -1;
    if (plan->dies_with_parent)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan->parent) /* it has died before that took hold */
        _exit(127);
    /* Out of the way of 0 to 2 first, whatever they are now. */
    int in = fcntl(plan->in, F_DUPFD, 3);
    int out = fcntl(plan->out, F_DUPFD, 3);
    int errors = fcntl(plan->errors, F_DUPFD, 3);
    if (in < 0 || out < 0 || errors < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(errors, 2) < 0)
        fail(plan, errno, false);
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (plan->cwd && chdir(plan->cwd) < 0)
        fail(plan, errno, true);
    set_limit(plan, RLIMIT_AS, plan->memory_max);
    set_limit(plan, RLIMIT_NOFILE, plan->files_max);
    execve(plan->path, plan->argv, plan->env);
    fail(plan, errno, false);
}

static void close_all(int *fds, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* We wait until it has become another program or has failed, so that it can use our memory:
 * starting one costs the same however large we are. No signal of ours may run a handler in it.
 * Returns its number, or -1. */
static pid_t start_in_our_memory(struct plan *plan, int *ret_pidfd) {
    sigset_t all;
    sigset_t before;
    char *stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(become, stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, plan,
                      ret_pidfd);
    int number = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK);
    errno = number;
    return pid;
}

/* "cannot start PATH: reason". If the file exists and is executable, the kernel's reason is about
 * the interpreter of a script or the dynamic loader of a program, and the phrase says so. */
static dx_status no_exec(const struct plan *plan, int number, dx_error *reterr) {
    char head[256] = "";
    dx_status status = dx__system_error(reterr, DX_FAULT_START, "start", plan->path, number);
    int folder = plan->cwd ? open(plan->cwd, O_PATH | O_CLOEXEC) : AT_FDCWD;
    bool there = faccessat(folder, plan->path, X_OK, 0) == 0;
    int fd = there ? openat(folder, plan->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ssize_t len = fd >= 0 ? read(fd, head, sizeof head - 1) : -1;
    close_all((int[]){folder, fd}, 2);
    bool script = len > 2 && memcmp(head, "#!", 2) == 0;
    if (!reterr || len < 0 || !(number == ENOENT || (script && number == EACCES)))
        return status;
    char *name = head + 2 + strspn(head + 2, " \t");
    size_t end = strcspn(name, " \t\r\n");
    bool windows = script && name[end] == '\r';
    name[end] = '\0';
    dx__line line = dx__line_on(reterr->phrase, sizeof reterr->phrase);
    dx__line_str(&line, "cannot start ");
    dx__line_str(&line, plan->path);
    dx__line_str(&line, script ? ": its interpreter \"" : ": its dynamic loader");
    dx__line_str(&line, script ? name : "");
    dx__line_str(&line, script ? "\"" : "");
    dx__line_str(&line, windows            ? " is followed by a carriage return (CRLF line ends)"
                        : number == ENOENT ? " does not exist"
                                           : " cannot be executed");
    return status;
}

static dx_status start(dx_loop *loop, struct plan *plan, struct dx__process *ret,
                       dx_error *reterr) {
    int pidfd = -1;
    plan->parent = getpid();
    pid_t pid = start_in_our_memory(plan, &pidfd);
    if (pid < 0)
        return dx__system_error(reterr, DX_FAULT_START, "start", plan->path, errno);
    if (plan->failure) {
        siginfo_t info;
        if (plan->guardian >= 0)
            dx__guardian_remove(loop, pid);
        while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
            ;
        close(pidfd);
        if (plan->in_cwd)
            return dx__system_error(reterr, DX_FAULT_START, "change to", plan->cwd, plan->failure);
        struct stat stat_of;
        if (plan->failure == EACCES && stat(plan->path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode))
            plan->failure = EISDIR; /* the kernel says "Permission denied" */
        return no_exec(plan, plan->failure, reterr);
    }
    ret->pid = pid;
    ret->pidfd = pidfd;
    return DX_OK;
}

int dx_program_is_there(const char *name) {
    char path[4096];
    return find_program(name, get_env((const char *const *)environ, "PATH"), path, sizeof path) ==
               0 &&
           access(path, X_OK) == 0;
}

dx_status dx__spawn(dx_loop *loop, const dx_child_config *config, const struct dx__spawn_form *form,
                    struct dx__process *ret, dx_error *reterr) {
    static const struct dx__spawn_form as_child = {.in = -1};
    char path[4096];
    int in[2] = {-1, -1};
    int rest[4] = {-1, -1, -1, -1}; /* output, errors */
    form = form ? form : &as_child;
    if (!dx__loop_is_ours(loop))
        return dx__system_error(reterr, DX_FAULT_START, "use the loop of another process to start",
                                config->argv[0], EPERM);
    char mark[MARK];
    char *mark_end = make_mark(mark);
    char **env = make_env(loop, config, form->only_env, mark);
    if (!env)
        return dx__refused(reterr, DX_ERR_NOMEM, "start a program");
    const char *name = config->argv[0];
    int number = find_program(name, get_env((const char *const *)env, "PATH"), path, sizeof path);
    dx_status status = DX_OK;
    if (number)
        status = dx__system_error(reterr, DX_FAULT_START, "start", name, number);
    else if ((form->in < 0 && pipe2(in, O_CLOEXEC) < 0) || pipe2(rest, O_CLOEXEC) < 0 ||
             (!form->joined && pipe2(rest + 2, O_CLOEXEC) < 0))
        status = dx__system_error(reterr, DX_FAULT_START, "make pipes for", name, errno);
    struct plan plan = {
        .path = path,
        .cwd = config->cwd,
        .argv = (char *const *)(uintptr_t)config->argv,
        .env = env,
        .mark = mark_end,
        .memory_max = config->memory_max,
        .files_max = config->files_max,
        /* The signal comes when the thread that starts it ends, so other threads than the first
         * leave it to the guardian. */
        .dies_with_parent = gettid() == getpid() || config->no_guardian,
        .session = form->session,
        .in = form->in < 0 ? in[0] : form->in,
        .out = rest[1],
        .errors = form->joined ? rest[1] : rest[3],
        .guardian = -1,
    };
    if (status == DX_OK && !config->no_guardian)
        plan.guardian = dx__guardian_ear(loop);
    if (status == DX_OK)
        status = start(loop, &plan, ret, reterr);
    dx__free(&loop->alloc, env);
    if (status != DX_OK) {
        close_all(in, 2);
        close_all(rest, 4);
        if (!loop->things) /* nobody else needs it */
            dx__guardian_done(loop);
        return status;
    }
    close_all(rest + 1, 1);
    close_all(rest + 3, 1);
    ret->in = in[1];
    ret->in_other = in[0];
    ret->out = rest[0];
    ret->errors = rest[2];
    return DX_OK;
}
