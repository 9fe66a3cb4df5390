/* guard.h: a small process that kills what we have started if we end without having done so. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <sys/types.h>

struct guard {
    int pipe; /* 0: it was never needed; -1: there is none */
    pid_t pid;
};

/* To be called before a process is made that will be added: it must be known from its beginning. */
void guard_begin(struct guard *guard);
/* A process group, as long as its leader is not reaped. */
void guard_add(struct guard *guard, pid_t group);
void guard_remove(struct guard *guard, pid_t group);
void guard_end(struct guard *guard);

#endif
