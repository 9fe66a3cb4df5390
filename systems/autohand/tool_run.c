/* run_command: a program in the workspace, its output as it comes, its end. */
#include "systems/autohand/tool_keep.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct run {
    dx_autohand_job *job;
    dx_allocator alloc;
    dx_program *program;
    struct dx__autohand_keep keep;
    uint64_t timeout_ms;
};

static void run_free(struct run *run) {
    dx_allocator alloc = run->alloc;
    dx_program_free(run->program);
    dx__autohand_keep_done(&run->keep);
    dx__free(&alloc, run);
}

static void on_output(dx_program *program, int errors, dx_text bytes, void *user) {
    struct run *run = user;
    dx__autohand_keep_add(&run->keep, bytes);
    dx_autohand_job_say(run->job, errors, bytes);
    if (dx_autohand_job_is_full(run->job))
        dx_program_pause(program, 1);
}

static void on_drained(dx_autohand_job *job, void *user) {
    struct run *run = user;
    (void)job;
    dx_program_pause(run->program, 0);
}

static void say_end(char room[96], dx_program_end end, const dx_gone *gone, uint64_t timeout_ms) {
    room[0] = '\0';
    if (end == DX_PROGRAM_LATE)
        (void)snprintf(room, 96, "Timed out after %llu ms\n", (unsigned long long)timeout_ms);
    else if (!gone->known)
        (void)snprintf(room, 96, "The exit status is unknown\n");
    else if (gone->signal)
        (void)snprintf(room, 96, "Killed by signal %d\n", gone->signal);
    else if (gone->code)
        (void)snprintf(room, 96, "Exit code %d\n", gone->code);
}

static void on_end(dx_program *program, dx_program_end end, const dx_gone *gone, void *user) {
    struct run *run = user;
    dx_autohand_job *job = run->job;
    char room[96];
    dx_buf out;
    (void)program;
    dx_buf_init(&out, SIZE_MAX / 8, &run->alloc);
    say_end(room, end, gone, run->timeout_ms);
    dx_status status = dx__autohand_add_str(&out, room);
    if (status == DX_OK)
        status = dx__autohand_keep_tell(&run->keep, &out);
    if (status == DX_OK && gone->escaped)
        status = dx__autohand_add_str(&out, "\n[a process that it started is still running]\n");
    run_free(run);
    dx_text text = {out.data ? out.data : "", out.len};
    if (status != DX_OK)
        dx_autohand_job_fail(job, dx_str("Out of memory"));
    else if (end == DX_PROGRAM_LATE)
        dx_autohand_job_late(job, text);
    else if (room[0])
        dx_autohand_job_fail(job, text);
    else
        dx_autohand_job_done(job, text);
    dx_buf_done(&out);
}

static void on_cancel(dx_autohand_job *job, void *user) {
    run_free(user);
    dx_autohand_job_fail(job, dx_str("Aborted"));
}

static dx_status bad(dx_error *reterr, const char *why) {
    *reterr = (dx_error){.fault = DX_FAULT_NONE};
    dx__say_str(reterr->phrase, sizeof reterr->phrase, why);
    return DX_ERR_INVALID;
}

static bool has_nul(yyjson_val *text) {
    return memchr(yyjson_get_str(text), '\0', yyjson_get_len(text));
}

/* The program and what it is given, lent by the arguments, but for the array itself. */
static dx_status make_argv(const dx_autohand_job *job, const dx_allocator *alloc, char ***ret_argv,
                           dx_error *reterr) {
    yyjson_val *command = yyjson_obj_get(dx_autohand_job_args(job), "command");
    yyjson_val *args = yyjson_obj_get(dx_autohand_job_args(job), "args");
    size_t count = yyjson_arr_size(args);
    if (!yyjson_is_str(command))
        return bad(reterr, "the command is empty");
    if (!count)
        return dx__autohand_words(alloc, dx__autohand_arg_text(job, "command"), ret_argv, reterr);
    char **argv = dx__malloc(alloc, (count + 2) * sizeof *argv);
    if (!argv)
        return DX_ERR_NOMEM;
    yyjson_arr_iter iter = yyjson_arr_iter_with(args);
    size_t used = 0;
    bool plain = true;
    for (yyjson_val *word = command; word; word = yyjson_arr_iter_next(&iter)) {
        plain = plain && yyjson_is_str(word) && !has_nul(word);
        argv[used++] = (char *)yyjson_get_str(word);
    }
    argv[used] = NULL;
    if (!plain) {
        dx__free(alloc, argv);
        return bad(reterr, "an argument is not a string, or contains a NUL character");
    }
    *ret_argv = argv;
    return DX_OK;
}

/* The folder is held, and entered through its descriptor: what stands at its path when the program
 * starts may be another. */
static dx_status open_folder(const dx_autohand_job *job, int *ret_fd, dx_error *reterr) {
    const struct dx__autohand_workspace *space = &dx_autohand_job_agent(job)->workspace;
    char *path = NULL;
    dx_status status = dx__autohand_arg_path(job, "directory", ".", &path, reterr);
    if (status != DX_OK)
        return status;
    int fd = dx__autohand_open_beneath(space->folder, path, O_PATH | O_DIRECTORY, 0);
    if (fd < 0) {
        status = dx__autohand_path_errno(reterr, path, errno);
        if (status == DX_GONE)
            status = dx__autohand_path_fail(reterr, DX_ERR_INVALID, path, "no such folder");
    }
    dx__free(&space->alloc, path);
    *ret_fd = fd;
    return status;
}

static dx_status start(struct run *run, int folder, dx_error *reterr) {
    dx_autohand_job *job = run->job;
    char **argv;
    char cwd[64];
    dx_status status = make_argv(job, &run->alloc, &argv, reterr);
    if (status != DX_OK)
        return status;
    (void)snprintf(cwd, sizeof cwd, "/proc/self/fd/%d", folder);
    dx_program_config config = dx_program_defaults((const char *const *)argv);
    config.cwd = cwd;
    config.inherit_env = 1;
    config.timeout_ms = run->timeout_ms;
    config.on_output = on_output;
    config.on_end = on_end;
    config.user = run;
    status = dx_program_start(dx_autohand_job_loop(job), &config, &run->program, reterr);
    dx__free(&run->alloc, argv);
    return status;
}

void dx__autohand_run_command(dx_autohand_job *job, void *user) {
    dx_autohand_agent *agent = dx_autohand_job_agent(job);
    dx_error error = {.phrase = ""};
    int folder = -1;
    struct run *run = dx__malloc(&agent->alloc, sizeof *run);
    (void)user;
    if (!run) {
        dx__autohand_job_refuse(job, DX_ERR_NOMEM, NULL, &error);
        return;
    }
    *run = (struct run){.job = job, .alloc = agent->alloc};
    run->timeout_ms =
        dx__autohand_arg_number(job, "timeout", agent->config.command_ms, agent->config.command_ms);
    if (!run->timeout_ms)
        run->timeout_ms = agent->config.command_ms;
    /* With what is said about its end, and about what is left out, it is no longer than it may. */
    size_t max = agent->config.output_max;
    dx_status status = dx__autohand_keep_init(&run->keep, max > 256 ? max - 256 : 0, &run->alloc);
    if (status == DX_OK)
        status = open_folder(job, &folder, &error);
    if (status == DX_OK)
        status = start(run, folder, &error);
    if (folder >= 0)
        close(folder);
    if (status == DX_OK) {
        dx_autohand_job_keep(job, on_cancel, on_drained, run);
        return;
    }
    run_free(run);
    dx__autohand_job_refuse(job, status, NULL, &error);
}
