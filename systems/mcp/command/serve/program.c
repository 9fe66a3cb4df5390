#include "systems/mcp/command/serve/program.h"

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

enum { GRACE_MS = 1000, LAST_MS = 300, TAIL = 16 << 10, READ = 64 << 10 };

static void program_free(struct program *program) {
    struct program **at = program->list;
    while (*at && *at != program)
        at = &(*at)->next;
    if (*at)
        *at = program->next;
    cli_pump_remove(program->pump, &program->exit);
    cli_pump_remove(program->pump, &program->out);
    cli_pump_remove(program->pump, &program->errors);
    dx_timer_free(program->timer);
    dx_buf_done(&program->output);
    dx_buf_done(&program->tail);
    free(program);
}

/* Only while the process is not reaped, or the number might be another's. */
static void signal_all(struct program *program, int number) {
    kill(-program->pid, number);
}

void program_stop(struct program *program, enum program_end why) {
    if (program->stopping)
        return;
    program->stopping = true;
    program->end = why;
    signal_all(program, SIGTERM);
    signal_all(program, SIGCONT);
    dx_timer_set(program->timer, GRACE_MS);
}

static void on_time(dx_timer *timer, void *user) {
    struct program *program = user;
    (void)timer;
    if (program->stopping)
        signal_all(program, SIGKILL);
    else
        program_stop(program, PROGRAM_LATE);
}

/* What it says after it was told to end does not count. */
static void take_output(struct program *program, const char *bytes, size_t len) {
    size_t room = program->output_max - program->output.len;
    size_t taken = len < room ? len : room;
    if (program->stopping)
        return;
    for (size_t i = 0; i < taken; i++)
        program->lines += bytes[i] == '\n';
    bool kept = dx_buf_append(&program->output, bytes, taken) == DX_OK;
    if (!kept || taken < len)
        program_stop(program, PROGRAM_TOO_MUCH);
}

/* The last of it is kept, and the half of the memory moved at a time. */
static void take_error(struct program *program, const char *bytes, size_t len) {
    dx_buf *tail = &program->tail;
    if (len > TAIL) {
        bytes += len - TAIL;
        len = TAIL;
    }
    if (tail->len + len > (size_t)2 * TAIL) {
        memmove(tail->data, tail->data + tail->len - TAIL, TAIL);
        tail->len = TAIL;
    }
    dx_buf_append(tail, bytes, len);
}

/* False: there is nothing more now, or there never will be. */
static bool read_some(struct program *program, struct cli_pump_source *source) {
    char bytes[READ];
    ssize_t len = source->fd < 0 ? 0 : read(source->fd, bytes, sizeof bytes);
    if (len < 0)
        return errno == EINTR;
    if (len == 0) {
        cli_pump_remove(program->pump, source);
        return false;
    }
    if (source == &program->out)
        take_output(program, bytes, (size_t)len);
    else
        take_error(program, bytes, (size_t)len);
    return true;
}

static void on_out(void *user) {
    struct program *program = user;
    read_some(program, &program->out);
    if (program->on_output)
        program->on_output(program);
}

static void on_errors(void *user) {
    struct program *program = user;
    read_some(program, &program->errors);
}

/* What it has started goes with it, and only then its number. What is still in the pipes is read;
 * who escaped and still writes is not waited for. */
static void on_exit_of(void *user) {
    struct program *program = user;
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid)
        return;
    signal_all(program, SIGKILL);
    for (int i = 0; i < 64 && read_some(program, &program->out); i++)
        ;
    for (int i = 0; i < 64 && read_some(program, &program->errors); i++)
        ;
    while (waitid(P_PID, (id_t)program->pid, &info, WEXITED) < 0 && errno == EINTR)
        ;
    if (!program->stopping)
        program->end = info.si_code == CLD_EXITED ? PROGRAM_EXITED : PROGRAM_KILLED;
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

static struct program *program_new(struct cli_pump *pump, const struct program_plan *plan) {
    struct program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    program->pump = pump;
    program->output_max = plan->output_max;
    program->exit = (struct cli_pump_source){-1, on_exit_of, program};
    program->out = (struct cli_pump_source){-1, on_out, program};
    program->errors = (struct cli_pump_source){-1, on_errors, program};
    dx_buf_init(&program->output, plan->output_max, NULL);
    dx_buf_init(&program->tail, (size_t)2 * TAIL, NULL);
    if (dx_timer_new(pump->loop, on_time, program, &program->timer) != DX_OK) {
        free(program);
        return NULL;
    }
    return program;
}

/* -1 with the reason in `room`. */
static int spawn(struct program *program, const struct program_plan *plan, char *room,
                 size_t room_len) {
    int out[2] = {-1, -1};
    int errors[2] = {-1, -1};
    int pid = -1;
    int in = open_input(plan->input);
    if (in < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0)
        snprintf(room, room_len, "%s can't be started: %s", plan->argv[0], strerror(errno));
    else
        pid = program_spawn(plan, in, out[1], errors[1], room, room_len);
    const int done[] = {in, out[1], errors[1]};
    for (int i = 0; i < 3; i++)
        if (done[i] >= 0)
            close(done[i]);
    program->out.fd = out[0];
    program->errors.fd = errors[0];
    if (pid >= 0) {
        fcntl(out[0], F_SETFL, O_NONBLOCK);
        fcntl(errors[0], F_SETFL, O_NONBLOCK);
    }
    return pid;
}

const char *program_start(struct cli_pump *pump, const struct program_plan *plan,
                          struct program **list, char *room, size_t room_len,
                          struct program **ret_program) {
    struct program *program = program_new(pump, plan);
    if (!program)
        return "no memory";
    program->list = list;
    program->pid = spawn(program, plan, room, room_len);
    if (program->pid < 0) {
        program_free(program);
        return room;
    }
    program->next = *list;
    *list = program;
    program->exit.fd = (int)syscall(SYS_pidfd_open, program->pid, 0);
    if (program->exit.fd < 0 || !cli_pump_add(pump, &program->exit) ||
        !cli_pump_add(pump, &program->out) || !cli_pump_add(pump, &program->errors)) {
        snprintf(room, room_len, "%s can't be watched: %s", plan->argv[0], strerror(errno));
        signal_all(program, SIGKILL);
        while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        program_free(program);
        return room;
    }
    dx_timer_set(program->timer, plan->timeout_ms);
    *ret_program = program;
    return NULL;
}

void programs_end(struct program **list) {
    uint64_t until = cli_now() + LAST_MS;
    for (struct program *one = *list; one; one = one->next)
        signal_all(one, SIGTERM);
    while (*list) {
        struct program *one = *list;
        uint64_t now = cli_now();
        struct pollfd exit = {one->exit.fd, POLLIN, 0};
        (void)poll(&exit, 1, now < until ? (int)(until - now) : 0);
        signal_all(one, SIGKILL);
        while (waitpid(one->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        *list = one->next;
        program_free(one);
    }
}
