#include "cli/program.h"

#include "cli/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAST_MS = 300, READ = 64 << 10, READS = 64 };

static void program_free(struct cli_program *program) {
    struct cli_program **at = &program->programs->first;
    while (*at && *at != program)
        at = &(*at)->next;
    if (*at) {
        *at = program->next;
        program->programs->count--;
    }
    cli_pump_remove(program->programs->pump, &program->exit);
    cli_pump_remove(program->programs->pump, &program->out);
    cli_pump_remove(program->programs->pump, &program->errors);
    dx_timer_free(program->timer);
    dx_buf_done(&program->output);
    free(program);
}

/* Only while the process is not reaped, or the number might be another's. */
static void signal_all(const struct cli_program *program, int number) {
    kill(-program->pid, number);
}

static void reap(struct cli_program *program, siginfo_t *info) {
    cli_guard_remove(&program->programs->guard, program->pid);
    while (waitid(P_PID, (id_t)program->pid, info, WEXITED) < 0 && errno == EINTR)
        ;
}

void cli_program_stop(struct cli_program *program, enum cli_program_end why) {
    if (program->stopping)
        return;
    program->stopping = true;
    program->end = why;
    signal_all(program, SIGTERM);
    signal_all(program, SIGCONT);
    dx_timer_set(program->timer, program->programs->grace_ms);
}

static void on_time(dx_timer *timer, void *user) {
    struct cli_program *program = user;
    (void)timer;
    if (program->stopping)
        signal_all(program, SIGKILL);
    else
        cli_program_stop(program, CLI_PROGRAM_LATE);
}

/* What it says after it was told to end does not count. */
static void take_output(struct cli_program *program, const char *bytes, size_t len) {
    size_t room = program->output.max - program->output.len;
    size_t taken = len < room ? len : room;
    if (program->stopping)
        return;
    bool kept = dx_buf_append(&program->output, bytes, taken) == DX_OK;
    if (kept && taken && program->on_output)
        program->on_output(program);
    if (!kept || taken < len)
        cli_program_stop(program, CLI_PROGRAM_TOO_MUCH);
}

/* False: there is nothing more now, or there never will be. */
static bool read_some(struct cli_program *program, struct cli_pump_source *source) {
    char bytes[READ];
    ssize_t len = source->fd < 0 ? 0 : read(source->fd, bytes, sizeof bytes);
    if (len < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (len <= 0) {
        cli_pump_remove(program->programs->pump, source);
        return false;
    }
    if (source == &program->out)
        take_output(program, bytes, (size_t)len);
    else if (program->on_errors)
        program->on_errors(program, (dx_text){bytes, (size_t)len});
    return true;
}

static void on_out(void *user) {
    struct cli_program *program = user;
    read_some(program, &program->out);
}

static void on_errors(void *user) {
    struct cli_program *program = user;
    read_some(program, &program->errors);
}

/* What it has started goes with it, and only then its number. What is still in the pipes is read;
 * who escaped and still writes is not waited for. */
static void on_exit_of(void *user) {
    struct cli_program *program = user;
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid)
        return;
    signal_all(program, SIGKILL);
    for (int i = 0; i < READS && read_some(program, &program->out); i++)
        ;
    for (int i = 0; i < READS && read_some(program, &program->errors); i++)
        ;
    reap(program, &info);
    if (!program->stopping)
        program->end = info.si_code == CLD_EXITED ? CLI_PROGRAM_EXITED : CLI_PROGRAM_KILLED;
    program->status = info.si_status;
    if (program->on_end)
        program->on_end(program);
    program_free(program);
}

/* Its input is all there from the beginning, so nobody has to write while it reads. -1 with
 * errno. */
static int open_input(dx_text input) {
    if (!input.at)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("input", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < input.len;) {
        ssize_t len = write(fd, input.at + at, input.len - at);
        if (len < 0 && errno != EINTR) {
            int number = errno;
            close(fd);
            errno = number;
            return -1;
        }
        at += len > 0 ? (size_t)len : 0;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static struct cli_program *program_new(struct cli_programs *programs,
                                       const struct cli_program_plan *plan) {
    struct cli_program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    program->programs = programs;
    program->exit = (struct cli_pump_source){-1, on_exit_of, program};
    program->out = (struct cli_pump_source){-1, on_out, program};
    program->errors = (struct cli_pump_source){-1, on_errors, program};
    dx_buf_init(&program->output, plan->output_max, NULL);
    if (dx_timer_new(programs->pump->loop, on_time, program, &program->timer) != DX_OK) {
        free(program);
        return NULL;
    }
    return program;
}

/* -1 with the reason in `room`. */
static pid_t spawn(struct cli_program *program, const struct cli_program_plan *plan, char *room,
                   size_t room_len) {
    int out[2] = {-1, -1};
    int errors[2] = {-1, -1};
    pid_t pid = -1;
    int in = open_input(plan->input);
    if (in < 0 || pipe2(out, O_CLOEXEC) < 0 || (!plan->joined && pipe2(errors, O_CLOEXEC) < 0)) {
        snprintf(room, room_len, "%s can't be started: %s", plan->argv[0], strerror(errno));
    } else {
        const int fds[3] = {in, out[1], plan->joined ? out[1] : errors[1]};
        pid = cli_program_spawn(&program->programs->guard, plan, fds, room, room_len);
    }
    const int done[] = {in, out[1], errors[1]};
    for (int i = 0; i < 3; i++)
        if (done[i] >= 0)
            close(done[i]);
    program->out.fd = out[0];
    program->errors.fd = errors[0];
    for (int i = 0; pid >= 0 && i < 2; i++)
        if ((i ? errors : out)[0] >= 0)
            fcntl((i ? errors : out)[0], F_SETFL, O_NONBLOCK);
    return pid;
}

static bool watch(struct cli_program *program) {
    struct cli_pump *pump = program->programs->pump;
    program->exit.fd = (int)syscall(SYS_pidfd_open, program->pid, 0);
    return program->exit.fd >= 0 && cli_pump_add(pump, &program->exit) &&
           cli_pump_add(pump, &program->out) &&
           (program->errors.fd < 0 || cli_pump_add(pump, &program->errors));
}

const char *cli_program_start(struct cli_programs *programs, const struct cli_program_plan *plan,
                              char *room, size_t room_len, struct cli_program **ret_program) {
    siginfo_t info;
    if (programs->count >= programs->max)
        return "too many programs are running; try again later";
    struct cli_program *program = program_new(programs, plan);
    if (!program)
        return "no memory";
    program->pid = spawn(program, plan, room, room_len);
    if (program->pid < 0) {
        program_free(program);
        return room;
    }
    program->next = programs->first;
    programs->first = program;
    programs->count++;
    if (!watch(program)) {
        snprintf(room, room_len, "%s can't be watched: %s", plan->argv[0], strerror(errno));
        signal_all(program, SIGKILL);
        reap(program, &info);
        program_free(program);
        return room;
    }
    dx_timer_set(program->timer, plan->timeout_ms);
    *ret_program = program;
    return NULL;
}

void cli_programs_end(struct cli_programs *programs) {
    uint64_t until = cli_now() + LAST_MS;
    siginfo_t info;
    for (struct cli_program *one = programs->first; one; one = one->next)
        signal_all(one, SIGTERM);
    while (programs->first) {
        struct cli_program *one = programs->first;
        uint64_t now = cli_now();
        struct pollfd exit = {one->exit.fd, POLLIN, 0};
        (void)poll(&exit, 1, now < until ? (int)(until - now) : 0);
        signal_all(one, SIGKILL);
        reap(one, &info);
        programs->first = one->next;
        programs->count--;
        program_free(one);
    }
    cli_guard_end(&programs->guard);
}

void cli_program_why(const struct cli_program *program, const struct cli_program_plan *plan,
                     char *room, size_t room_len) {
    const char *name = plan->argv[0];
    if (program->end == CLI_PROGRAM_LATE)
        snprintf(room, room_len, "%s took longer than %llu ms", name,
                 (unsigned long long)plan->timeout_ms);
    else if (program->end == CLI_PROGRAM_TOO_MUCH)
        snprintf(room, room_len, "%s wrote more than %zu bytes", name, plan->output_max);
    else if (program->end == CLI_PROGRAM_KILLED)
        snprintf(room, room_len, "%s was ended by signal %d (%s)", name, program->status,
                 strsignal(program->status));
    else
        snprintf(room, room_len, "%s was stopped", name);
}
