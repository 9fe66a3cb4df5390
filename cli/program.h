/* program.h: a plain program that runs until it ends, is stopped, takes too long, or says too much.
 * It has a session of its own, so that all that it starts goes with it, and no terminal. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "cli/guard.h"
#include "cli/pump.h"

#include <sys/types.h>

struct program;

/* All that run. */
struct programs {
    struct cli_pump *pump;
    uint64_t grace_ms; /* from SIGTERM to SIGKILL */
    struct guard guard;
    struct program *first;
};

struct program_plan {
    char *const *argv;
    char *const *env; /* NULL: ours */
    const char *cwd;  /* NULL: here */
    dx_text input;    /* absent: /dev/null */
    bool joined;      /* what it writes to its standard error is a part of its output */
    uint64_t timeout_ms;
    size_t output_max;
};

enum program_end {
    PROGRAM_EXITED,
    PROGRAM_KILLED,   /* by a signal that was not ours */
    PROGRAM_STOPPED,  /* by program_stop() */
    PROGRAM_LATE,     /* it took too long */
    PROGRAM_TOO_MUCH, /* it wrote too much; `output` has what is allowed */
};

struct program {
    struct programs *programs;
    struct program *next;
    pid_t pid;
    struct cli_pump_source exit; /* the pidfd */
    struct cli_pump_source out;
    struct cli_pump_source errors;
    dx_timer *timer;
    bool stopping;

    enum program_end end;
    int status; /* the exit code, or the signal */
    dx_buf output;

    /* Each may be NULL. `output` has got longer. */
    void (*on_output)(struct program *program);
    /* Bytes of its standard error. */
    void (*on_errors)(struct program *program, dx_text bytes);
    /* It has ended; it is gone after that. */
    void (*on_end)(struct program *program);
    void *user;
};

/* NULL, or why not, in `room`. */
const char *program_start(struct programs *programs, const struct program_plan *plan, char *room,
                          size_t room_len, struct program **ret_program);
/* SIGTERM to all of its group, SIGKILL grace_ms later; on_end still comes, unless it is NULL. */
void program_stop(struct program *program, enum program_end why);
/* All of them, now; nothing comes any more. */
void programs_end(struct programs *programs);

/* How it ended, as a phrase, for one that did not exit by itself: "took longer than 2 s". */
void program_why(const struct program *program, const struct program_plan *plan, char *room,
                 size_t room_len);

/* spawn.c: a process in a session of its own, which the guard knows, or -1 with the reason in
 * `room`. */
pid_t program_spawn(struct guard *guard, const struct program_plan *plan, const int fds[3],
                    char *room, size_t room_len);
/* Is there such a program in PATH? */
bool program_is_there(const char *name);

#endif
