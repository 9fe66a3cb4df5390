/* program.h: a plain program (duplex/program.h) whose output is collected, that runs until it ends,
 * is stopped, takes too long, or says too much. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <duplex/program.h>

#include <stdbool.h>

struct cli_program;

/* All that run. */
struct cli_programs {
    dx_loop *loop;
    uint64_t grace_ms; /* from SIGTERM to SIGKILL */
    size_t max;        /* that run at the same time */
    size_t count;
    struct cli_program *first;
};

struct cli_program_plan {
    char *const *argv;
    char *const *env; /* all there is; NULL: ours */
    const char *cwd;  /* NULL: here */
    dx_text input;    /* absent: it is empty */
    bool joined;      /* what it writes to its standard error is a part of its output */
    uint64_t timeout_ms;
    size_t output_max;
};

enum cli_program_end {
    CLI_PROGRAM_EXITED,
    CLI_PROGRAM_KILLED,   /* by a signal that was not ours */
    CLI_PROGRAM_STOPPED,  /* by cli_program_stop() */
    CLI_PROGRAM_LATE,     /* it took too long */
    CLI_PROGRAM_TOO_MUCH, /* it wrote too much; `output` has what is allowed */
};

struct cli_program {
    struct cli_programs *programs;
    struct cli_program *next;
    dx_program *process;
    dx_timer *timer;
    bool stopping;

    enum cli_program_end end;
    int status; /* the exit code, or the signal */
    dx_buf output;

    /* Each may be NULL. `output` has got longer. */
    void (*on_output)(struct cli_program *program);
    /* Bytes of its standard error. */
    void (*on_errors)(struct cli_program *program, dx_text bytes);
    /* It has ended; it is gone after that. */
    void (*on_end)(struct cli_program *program);
    void *user;
};

/* NULL, or why not, in `room`. */
const char *cli_program_start(struct cli_programs *programs, const struct cli_program_plan *plan,
                              char *room, size_t room_len, struct cli_program **ret_program);
/* SIGTERM to all of its group, SIGKILL grace_ms later; on_end still comes, unless it is NULL. */
void cli_program_stop(struct cli_program *program, enum cli_program_end why);
/* All of them, now; nothing comes any more. */
void cli_programs_end(struct cli_programs *programs);

/* How it ended, as a phrase, for one that did not exit by itself: "took longer than 2 s". */
void cli_program_why(const struct cli_program *program, const struct cli_program_plan *plan,
                     char *room, size_t room_len);

#endif
