#include "cli/program.h"

#include "cli/wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long those that still run have in the end. */
enum { LAST_MS = 300 };

static void release(struct cli_program *program) {
    dx_program_free(program->process);
    dx_timer_free(program->timer);
    dx_buf_done(&program->output);
    free(program);
}

static void program_free(struct cli_program *program) {
    struct cli_program **at = &program->programs->first;
    while (*at && *at != program)
        at = &(*at)->next;
    if (*at) {
        *at = program->next;
        program->programs->count--;
    }
    release(program);
}

void cli_program_stop(struct cli_program *program, enum cli_program_end why) {
    if (program->stopping)
        return;
    program->stopping = true;
    program->end = why;
    dx_program_stop(program->process);
}

static void on_time(dx_timer *timer, void *user) {
    (void)timer;
    cli_program_stop(user, CLI_PROGRAM_LATE);
}

/* What it says after it was told to end does not count. */
static void take_output(struct cli_program *program, dx_text bytes) {
    size_t room = program->output.max - program->output.len;
    size_t taken = bytes.len < room ? bytes.len : room;
    if (program->stopping)
        return;
    bool kept = dx_buf_append(&program->output, bytes.at, taken) == DX_OK;
    if (kept && taken && program->on_output)
        program->on_output(program);
    if (!kept || taken < bytes.len)
        cli_program_stop(program, CLI_PROGRAM_TOO_MUCH);
}

static void on_output(dx_program *process, int errors, dx_text bytes, void *user) {
    struct cli_program *program = user;
    (void)process;
    if (!errors)
        take_output(program, bytes);
    else if (program->on_errors)
        program->on_errors(program, bytes);
}

static void on_end(dx_program *process, dx_program_end end, const dx_gone *gone, void *user) {
    struct cli_program *program = user;
    (void)process;
    if (!program->stopping)
        program->end = end == DX_PROGRAM_KILLED ? CLI_PROGRAM_KILLED : CLI_PROGRAM_EXITED;
    program->status = gone->signal ? gone->signal : gone->code;
    if (program->on_end)
        program->on_end(program);
    program_free(program);
}

static struct cli_program *program_new(struct cli_programs *programs,
                                       const struct cli_program_plan *plan) {
    struct cli_program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    program->programs = programs;
    dx_buf_init(&program->output, plan->output_max, NULL);
    if (dx_timer_new(programs->loop, on_time, program, &program->timer) != DX_OK) {
        free(program);
        return NULL;
    }
    return program;
}

const char *cli_program_start(struct cli_programs *programs, const struct cli_program_plan *plan,
                              char *room, size_t room_len, struct cli_program **ret_program) {
    dx_program_config config = dx_program_defaults((const char *const *)plan->argv);
    dx_error error = {.phrase = "out of memory"};
    if (programs->count >= programs->max)
        return "too many programs are running; try again later";
    struct cli_program *program = program_new(programs, plan);
    if (!program)
        return "out of memory";
    config.env = (const char *const *)plan->env;
    config.only_env = plan->env != NULL;
    config.inherit_env = !plan->env;
    config.cwd = plan->cwd;
    config.input = plan->input;
    config.joined = plan->joined;
    config.grace_ms = programs->grace_ms;
    config.on_output = on_output;
    config.on_end = on_end;
    config.user = program;
    if (dx_program_start(programs->loop, &config, &program->process, &error) != DX_OK) {
        program_free(program);
        snprintf(room, room_len, "%s", error.phrase);
        return room;
    }
    program->next = programs->first;
    programs->first = program;
    programs->count++;
    dx_timer_set(program->timer, plan->timeout_ms);
    *ret_program = program;
    return NULL;
}

static bool has_exited(const struct cli_program *program) {
    siginfo_t info = {.si_pid = 0};
    int rc =
        waitid(P_PID, (id_t)dx_program_pid(program->process), &info, WEXITED | WNOHANG | WNOWAIT);
    return rc < 0 || info.si_pid;
}

void cli_programs_end(struct cli_programs *programs) {
    uint64_t until = cli_now() + LAST_MS;
    for (struct cli_program *one = programs->first; one; one = one->next)
        if (!has_exited(one))
            kill(-dx_program_pid(one->process), SIGTERM);
    for (struct cli_program *one = programs->first; one; one = one->next)
        while (!has_exited(one) && cli_now() < until)
            usleep(5000);
    for (struct cli_program *one; (one = programs->first); programs->count--) {
        programs->first = one->next;
        release(one);
    }
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
        snprintf(room, room_len, "%s was killed by signal %d (%s)", name, program->status,
                 strsignal(program->status));
    else
        snprintf(room, room_len, "%s was stopped", name);
}
