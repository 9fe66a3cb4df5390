/* guard.h: a small process that kills what we have started if we end without having done so. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <sys/types.h>

struct cli_guard {
    int pipe; /* 0: it was never needed; -1: there is none */
    pid_t pid;
};

/* To be called before a process is made that will be added: it must be known from its beginning. */
void cli_guard_begin(struct cli_guard *guard);
/* A process group, as long as its leader is not reaped. */
void cli_guard_add(struct cli_guard *guard, pid_t group);
void cli_guard_remove(struct cli_guard *guard, pid_t group);
void cli_guard_end(struct cli_guard *guard);

#endif
