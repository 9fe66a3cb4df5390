/* program.h: a plain program that runs until it ends, takes too long, or says too much. It
 * has a session of its own, so that all that it starts goes with it, and no terminal. */
#ifndef MCP_SERVE_PROGRAM_H
#define MCP_SERVE_PROGRAM_H

#include "cli/pump.h"

struct program_plan {
    char *const *argv;
    char *const *env;
    const char *cwd; /* NULL: here */
    dx_text input;   /* absent: /dev/null */
    uint64_t timeout_ms;
    size_t output_max;
};

enum program_end {
    PROGRAM_EXITED,
    PROGRAM_KILLED,  /* by a signal that was not ours */
    PROGRAM_LATE,    /* it took too long */
    PROGRAM_TOO_MUCH /* it wrote too much; `output` has what is allowed */
};

struct program {
    struct cli_pump *pump;
    struct program **list;
    struct program *next;
    int pid;
    struct cli_pump_source exit; /* the pidfd */
    struct cli_pump_source out;
    struct cli_pump_source errors;
    dx_timer *timer;
    size_t output_max;
    bool stopping;

    enum program_end end;
    int status; /* the exit code, or the signal */
    dx_buf output;
    dx_buf tail; /* the last of what it wrote to its standard error */
    size_t lines;

    /* It has said something. */
    void (*on_output)(struct program *program);
    /* It has ended; it is gone after that. */
    void (*on_end)(struct program *program);
    void *user;
};

/* Starts it and puts it into *list. NULL, or why not, in `room`. */
const char *program_start(struct cli_pump *pump, const struct program_plan *plan,
                          struct program **list, char *room, size_t room_len,
                          struct program **ret_program);
/* Asks it to end, and a moment later kills it; on_end still comes, unless it is set to NULL. */
void program_stop(struct program *program, enum program_end why);
/* All of them, now; nothing comes any more. */
void programs_end(struct program **list);

/* From spawn.c: a process in a session of its own, or -1 with the reason in `room`. */
int program_spawn(const struct program_plan *plan, int in, int out, int errors, char *room,
                  size_t room_len);

#endif
