/*
 * duplex/program.h: a plain program that this one runs and never leaves behind: it is given bytes,
 * its output comes as it is written, and it ends. (One that speaks JSON-RPC: duplex/child.h.)
 *
 *     const char *argv[] = {"grep", "-n", "needle", NULL};
 *     dx_program_config config = dx_program_defaults(argv);
 *     config.input = text;
 *     config.on_output = on_output;
 *     config.on_end = on_end;
 *     dx_program_start(loop, &config, &program, &error);
 *
 * What duplex/child.h says about starting and about dying with us holds for it, too, except that it
 * has a session of its own: no terminal, and all that it starts goes with it.
 */
#ifndef DUPLEX_PROGRAM_H
#define DUPLEX_PROGRAM_H

#include <duplex/child.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_program dx_program;

typedef enum dx_program_end {
    DX_PROGRAM_EXITED = 1, /* with gone->code */
    DX_PROGRAM_KILLED,     /* by a signal that was not ours: gone->signal */
    DX_PROGRAM_STOPPED,    /* by dx_program_stop() */
    DX_PROGRAM_LATE        /* it took longer than timeout_ms */
} dx_program_end;

typedef struct dx_program_config {
    const char *const *argv; /* argv[0] is looked up in PATH if it has no slash */
    const char *cwd;         /* NULL: ours */
    const char *const *env;  /* "NAME=value" …, NULL at the end; may be NULL */
    int inherit_env;         /* hand on the whole environment instead of the small one */
    int only_env;            /* hand on nothing: `env` is all there is */
    dx_text input;           /* all of its standard input, copied; absent: it is empty */
    int piped;               /* its standard input is a pipe instead: dx_program_write() */
    int joined;              /* what it writes to its standard error is a part of its output */
    uint64_t timeout_ms;     /* never */
    uint64_t grace_ms;       /* from SIGTERM to SIGKILL when it is stopped or late (2 s) */
    uint64_t drain_ms;       /* how long somebody else may hold its output after its exit (50 ms) */
    /* Each may be NULL. `errors` is 1 for its standard error. The program may be stopped, paused
     * and freed in it. */
    void (*on_output)(dx_program *program, int errors, dx_text bytes, void *user);
    /* It has closed its output, or (errors) its standard error; it may live on. */
    void (*on_closed)(dx_program *program, int errors, void *user);
    /* All that waited for its standard input was written. */
    void (*on_room)(dx_program *program, void *user);
    /* Once, last: all of its output was told, unless it was stopped or late while it was paused.
     * `gone` as of a child, without errors. Free it there, or later. */
    void (*on_end)(dx_program *program, dx_program_end end, const dx_gone *gone, void *user);
    void *user;
} dx_program_config;

DX_API dx_program_config dx_program_defaults(const char *const *argv);
/* DX_ERR_SYSTEM with the errno and what was tried in *reterr (which may be NULL); DX_ERR_INVALID,
 * DX_ERR_NOMEM. */
DX_API dx_status dx_program_start(dx_loop *loop, const dx_program_config *config,
                                  dx_program **ret_program, dx_error *reterr);
/* More for the standard input of one that is `piped`; what it does not take at once waits.
 * DX_CLOSED, DX_ERR_NOMEM; DX_ERR_LIMIT, and nothing is taken, if more than 64 MiB would wait. */
DX_API dx_status dx_program_write(dx_program *program, dx_text bytes);
/* How many bytes of that still wait. */
DX_API size_t dx_program_waiting(const dx_program *program);
/* How many bytes it has not read yet: those that wait, and those in its pipe. */
DX_API size_t dx_program_unread(const dx_program *program);
/* Nothing more will come; what waits is still written. */
DX_API void dx_program_close_input(dx_program *program);
/* Its output is not read until this is called with 0: it waits in the pipe, and then so do the
 * program and on_end, unless it is stopped or late: what was not read is dropped then. */
DX_API void dx_program_pause(dx_program *program, int paused);
/* SIGTERM to all of its group, SIGKILL grace_ms later; on_end still comes. Harmless when it is
 * stopping or gone. */
DX_API void dx_program_stop(dx_program *program);
/* Kills its group at once, if it is not gone, waits until it is dead (2 s at most), and forgets it;
 * no callback comes any more. */
DX_API dx_program *dx_program_free(dx_program *program);

DX_API pid_t dx_program_pid(const dx_program *program);
DX_API void *dx_program_user(const dx_program *program);
/* Is there such a program in PATH? */
DX_API int dx_program_is_there(const char *name);

#ifdef __cplusplus
}
#endif

#endif
