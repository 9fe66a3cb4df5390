/* A plain process: bytes in, bytes out, an end. */
#include "base/alloc.h"
#include "base/line.h"
#include "host/host.h"

#include <duplex/program.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* One read; how long a process may take to die of SIGKILL; how much may wait to be written. */
enum { PIECE = 64 << 10, KILL_MS = 2000, WAITING = 64 << 20 };

enum step { RUNNING, TERMINATING, KILLING };

struct dx_program {
    dx__thing thing;
    dx_program_config config;
    struct dx__process process;
    dx__watch exit; /* the pidfd */
    dx__watch in;
    dx__watch out;
    dx__watch errors;
    dx__due due;
    dx__turn turn;  /* it can go now, and nobody else would wake us */
    dx_buf waiting; /* for its standard input, from … */
    size_t written; /* … here */
    enum step step;
    dx_program_end end; /* 0: it ends by itself */
    uint64_t step_at;   /* when the next step comes */
    uint64_t drain_at;  /* when its output is no longer waited for */
    bool input_closed;
    bool paused;
    bool told; /* to end: by dx_program_stop(), or because it was late */
    bool exited;
    bool is_gone;
    bool freed;
    bool survived; /* SIGKILL */
    bool status_known;
    siginfo_t status;
};

dx_program_config dx_program_defaults(const char *const *argv) {
    return (dx_program_config){
        .argv = argv, .timeout_ms = DX_NEVER, .grace_ms = 2000, .drain_ms = 50};
}

/* Paused, it keeps what it still has to tell, and with it its end; unless it was told to end. */
static bool holds(const dx_program *program) {
    return program->paused && !program->told;
}

static void set_due(dx_program *program) {
    uint64_t when = program->step_at;
    if (program->drain_at < when && !program->paused)
        when = program->drain_at;
    dx__due_set(program->thing.loop, &program->due, when);
}

static void signal_group(const dx_program *program, int number) {
    if (!program->is_gone && dx__loop_is_ours(program->thing.loop))
        dx__process_signal_group(&program->process, number);
}

/* Its standard input. We hold the other end of the pipe, so that writing into it can't fail; who
 * does not read it is told apart by nothing but its end. */

static void close_input(dx_program *program) {
    dx__watch_close(&program->in);
    dx_buf_done(&program->waiting);
    program->written = 0;
}

static void write_input(dx_program *program) {
    dx_buf *waiting = &program->waiting;
    if (!dx__loop_is_ours(program->thing.loop))
        return;
    while (program->in.fd >= 0 && program->written < waiting->len) {
        ssize_t n = write(program->in.fd, waiting->data + program->written,
                          waiting->len - program->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        program->written += (size_t)n;
    }
    bool all = program->written == waiting->len;
    if (all) {
        waiting->len = 0;
        program->written = 0;
    }
    if (all && program->input_closed)
        close_input(program);
    else
        (void)dx__watch_set(&program->in, all ? 0 : EPOLLOUT);
}

static bool in_ready(dx__watch *watch, uint32_t events) {
    dx_program *program = DX__OWNER(watch, dx_program, in);
    (void)events;
    write_input(program);
    if (!program->waiting.len && program->config.on_room)
        program->config.on_room(program, program->config.user);
    return true;
}

dx_status dx_program_write(dx_program *program, dx_text bytes) {
    if (program->in.fd < 0 || program->input_closed || !dx__loop_is_ours(program->thing.loop))
        return DX_CLOSED;
    if (program->written > (program->waiting.len >> 1)) {
        memmove(program->waiting.data, program->waiting.data + program->written,
                program->waiting.len - program->written);
        program->waiting.len -= program->written;
        program->written = 0;
    }
    dx_status status = dx_buf_append(&program->waiting, bytes.at, bytes.len);
    if (status == DX_OK)
        write_input(program);
    return status;
}

size_t dx_program_waiting(const dx_program *program) {
    return program->waiting.len - program->written;
}

size_t dx_program_unread(const dx_program *program) {
    int piped = 0;
    if (program->in.fd < 0 || ioctl(program->in.fd, FIONREAD, &piped) < 0)
        piped = 0;
    return dx_program_waiting(program) + (size_t)piped;
}

void dx_program_close_input(dx_program *program) {
    program->input_closed = true;
    write_input(program);
}

/* Its output. */

/* False: there is nothing more now, or there never will be, or nobody wants it. */
static bool read_some(dx_program *program, dx__watch *watch) {
    char piece[PIECE];
    if (watch->fd < 0 || program->freed || program->paused)
        return false;
    ssize_t n = read(watch->fd, piece, sizeof piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (n <= 0) {
        dx__watch_close(watch);
        if (program->config.on_closed)
            program->config.on_closed(program, watch == &program->errors, program->config.user);
        return false;
    }
    if (program->config.on_output)
        program->config.on_output(program, watch == &program->errors, (dx_text){piece, (size_t)n},
                                  program->config.user);
    return true;
}

/* The end. */

static void reap(dx_program *program) {
    if (program->process.pidfd < 0)
        return;
    signal_group(program, SIGKILL);
    if (!dx__loop_is_ours(program->thing.loop) ||
        dx__process_reap(&program->process, program->survived ? 0 : KILL_MS))
        dx__guardian_remove(program->thing.loop, program->process.pid);
    dx__watch_stop(&program->exit);
    close(program->process.pidfd);
    program->process.pidfd = -1;
    if (program->process.in_other >= 0)
        close(program->process.in_other);
}

static void let_go(dx_program *program) {
    close_input(program);
    dx__watch_close(&program->out);
    dx__watch_close(&program->errors);
    reap(program);
    program->is_gone = true;
}

static void be_gone(dx_program *program) {
    dx_gone gone = {.stopped = program->end == DX_PROGRAM_STOPPED,
                    .escaped = program->survived, /* … or somebody holds what was read */
                    .errors = {"", 0}};
    if (!program->paused)
        gone.escaped |= program->out.fd >= 0 || program->errors.fd >= 0;
    let_go(program);
    dx__due_set(program->thing.loop, &program->due, DX_NEVER);
    dx__gone_set(&gone, program->status_known, &program->status);
    if (!gone.known || gone.code || gone.signal)
        dx__error_set(&gone.error, gone.signal ? DX_FAULT_KILLED : DX_FAULT_EXITED, 0,
                      (uint64_t)program->status.si_status, 0);
    dx_program_end end = program->end  ? program->end
                         : gone.signal ? DX_PROGRAM_KILLED
                                       : DX_PROGRAM_EXITED;
    if (program->config.on_end)
        program->config.on_end(program, end, &gone, program->config.user);
}

static void check_gone(dx_program *program) {
    bool all = program->paused || (program->out.fd < 0 && program->errors.fd < 0);
    if (!program->is_gone && !program->freed && program->exited && all && !holds(program))
        be_gone(program);
}

static void step_to(dx_program *program, enum step step) {
    uint64_t ms = step == TERMINATING ? program->config.grace_ms : KILL_MS;
    program->step = step;
    signal_group(program, step == TERMINATING ? SIGTERM : SIGKILL);
    if (step == TERMINATING)
        signal_group(program, SIGCONT);
    program->step_at = dx__loop_later(program->thing.loop, ms);
    set_due(program);
}

/* What it has started goes with it; whoever holds its output after that has escaped. */
static bool exit_ready(dx__watch *watch, uint32_t events) {
    dx_program *program = DX__OWNER(watch, dx_program, exit);
    (void)events;
    if (!dx__process_has_exited(&program->process, &program->status, &program->status_known))
        return false;
    program->exited = true;
    program->step_at = DX_NEVER;
    program->drain_at = dx__loop_later(program->thing.loop, program->config.drain_ms);
    dx__watch_stop(watch); /* the descriptor is needed for the reaping */
    signal_group(program, SIGKILL);
    set_due(program);
    check_gone(program);
    return true;
}

static bool output_ready(dx_program *program, dx__watch *watch) {
    read_some(program, watch);
    check_gone(program);
    return true;
}

static bool out_ready(dx__watch *watch, uint32_t events) {
    (void)events;
    return output_ready(DX__OWNER(watch, dx_program, out), watch);
}

static bool errors_ready(dx__watch *watch, uint32_t events) {
    (void)events;
    return output_ready(DX__OWNER(watch, dx_program, errors), watch);
}

/* Who escaped may write for ever; what was there when the time was over is all that counts. */
static void drain(dx_program *program) {
    dx__watch *const watches[] = {&program->out, &program->errors};
    for (int i = 0; i < 2; i++)
        for (size_t most = (1 << 20) / PIECE; most && read_some(program, watches[i]); most--)
            ;
    if (!program->freed && !program->paused)
        be_gone(program);
}

static void on_due(dx__due *due) {
    dx_program *program = DX__OWNER(due, dx_program, due);
    uint64_t now = program->thing.loop->now;
    if (program->exited && program->drain_at <= now) {
        program->drain_at = now;
        if (!program->paused)
            drain(program);
        return;
    }
    if (program->step_at > now)
        return;
    if (program->step == KILLING) {
        program->survived = true;
        be_gone(program);
        return;
    }
    if (program->step == RUNNING)
        program->end = DX_PROGRAM_LATE;
    program->told = true;
    step_to(program, program->step + 1);
}

static void on_turn(dx__turn *turn) {
    dx_program *program = DX__OWNER(turn, dx_program, turn);
    if (!program->is_gone && !program->paused && program->exited)
        set_due(program);
    check_gone(program);
}

void dx_program_pause(dx_program *program, int paused) {
    if (program->is_gone || program->paused == (paused != 0))
        return;
    program->paused = paused != 0;
    (void)dx__watch_set(&program->out, paused ? 0 : EPOLLIN);
    (void)dx__watch_set(&program->errors, paused ? 0 : EPOLLIN);
    if (program->exited && !paused)
        program->drain_at = dx__loop_later(program->thing.loop, program->config.drain_ms);
    dx__turn_want(program->thing.loop, &program->turn);
}

void dx_program_stop(dx_program *program) {
    program->told = true;
    if (program->exited && program->paused && !program->is_gone)
        dx__turn_want(program->thing.loop, &program->turn);
    if (program->end || program->exited || program->is_gone)
        return;
    program->end = DX_PROGRAM_STOPPED;
    step_to(program, TERMINATING);
}

/* Birth and death. */

static void release(dx__thing *thing) {
    dx_program *program = DX__OWNER(thing, dx_program, thing);
    dx__free(&thing->loop->alloc, program);
}

dx_program *dx_program_free(dx_program *program) {
    if (!program || program->freed)
        return NULL;
    program->freed = true;
    if (!program->is_gone)
        let_go(program);
    dx__turn_drop(program->thing.loop, &program->turn);
    dx__due_done(program->thing.loop, &program->due);
    dx__thing_end(&program->thing);
    return NULL;
}

static void kill_program(dx__thing *thing) {
    dx_program_free(DX__OWNER(thing, dx_program, thing));
}

static void guard(dx__thing *thing) {
    const dx_program *program = DX__OWNER(thing, dx_program, thing);
    if (!program->is_gone)
        dx__guardian_add(thing->loop, program->process.pid);
}

/* All of it is there from the beginning, so nobody has to write while it reads. -1 with errno. */
static int open_input(dx_text input) {
    if (!input.at || !input.len)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("input", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < input.len;) {
        ssize_t n = write(fd, input.at + at, input.len - at);
        if (n < 0 && errno != EINTR) {
            int number = errno;
            close(fd);
            errno = number;
            return -1;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static dx_status spawn(dx_program *program, dx_error *reterr) {
    const dx_program_config *config = &program->config;
    struct dx__spawn_form form = {
        .in = -1, .joined = config->joined, .session = true, .only_env = config->only_env};
    if (!config->piped && (form.in = open_input(config->input)) < 0)
        return dx__system_error(reterr, DX_FAULT_START, "start", config->argv[0], errno);
    dx_child_config child = {.argv = config->argv,
                             .cwd = config->cwd,
                             .env = config->env,
                             .inherit_env = config->inherit_env};
    dx_status status = dx__spawn(program->thing.loop, &child, &form, &program->process, reterr);
    if (form.in >= 0)
        close(form.in);
    return status;
}

/* What is not watched yet is not closed by anybody else. */
static dx_status watch_process(dx_program *program, dx_error *reterr) {
    dx_loop *loop = program->thing.loop;
    struct dx__process *process = &program->process;
    struct {
        dx__watch *watch;
        int fd;
        uint32_t events;
    } const rows[] = {{&program->in, process->in, 0},
                      {&program->out, process->out, EPOLLIN},
                      {&program->errors, process->errors, EPOLLIN},
                      {&program->exit, process->pidfd, EPOLLIN}};
    int number = 0;
    for (int i = 0; i < 4; i++) {
        if (rows[i].fd < 0)
            continue;
        if (!number && ((i < 3 && fcntl(rows[i].fd, F_SETFL, O_NONBLOCK) < 0) ||
                        dx__watch_start(loop, rows[i].watch, rows[i].fd, rows[i].events) != DX_OK))
            number = errno;
        if (number && i < 3 && rows[i].watch->fd < 0)
            close(rows[i].fd);
    }
    return number
               ? dx__system_error(reterr, DX_FAULT_START, "watch", program->config.argv[0], number)
               : DX_OK;
}

dx_status dx_program_start(dx_loop *loop, const dx_program_config *config, dx_program **ret_program,
                           dx_error *reterr) {
    if (!config->argv || !config->argv[0] || (config->piped && config->input.at))
        return dx__refused(reterr, DX_ERR_INVALID, "start a program with this configuration");
    dx_program *program = dx__malloc(&loop->alloc, sizeof *program);
    if (!program)
        return dx__refused(reterr, DX_ERR_NOMEM, "start a program");
    *program = (dx_program){.config = *config, .step_at = DX_NEVER, .drain_at = DX_NEVER};
    program->thing =
        (dx__thing){.loop = loop, .release = release, .kill = kill_program, .guard = guard};
    program->thing.process = &program->process;
    program->exit = (dx__watch){.fd = -1, .ready = exit_ready};
    program->in = (dx__watch){.fd = -1, .ready = in_ready};
    program->out = (dx__watch){.fd = -1, .ready = out_ready};
    program->errors = (dx__watch){.fd = -1, .ready = errors_ready};
    program->turn.take = on_turn;
    dx_buf_init(&program->waiting, WAITING, &loop->alloc);
    dx_status status = dx__due_init(loop, &program->due, on_due);
    if (status != DX_OK) {
        dx__free(&loop->alloc, program);
        return dx__refused(reterr, status, "start a program");
    }
    status = spawn(program, reterr);
    if (status != DX_OK) {
        dx__due_done(loop, &program->due);
        dx__free(&loop->alloc, program);
        return status;
    }
    guard(&program->thing);
    dx__thing_add(loop, &program->thing);
    status = watch_process(program, reterr);
    if (status != DX_OK) {
        dx_program_free(program);
        return status;
    }
    if (config->timeout_ms != DX_NEVER)
        program->step_at = dx__loop_later(loop, config->timeout_ms);
    set_due(program);
    *ret_program = program;
    return DX_OK;
}

pid_t dx_program_pid(const dx_program *program) {
    return program->process.pid;
}

void *dx_program_user(const dx_program *program) {
    return program->config.user;
}
