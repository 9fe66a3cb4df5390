/* One child that is kept running, and all that is heard of it. */
#ifndef FAULTS_WARD_H
#define FAULTS_WARD_H

#include "faults/faults.h"

#include <duplex/supervisor.h>

enum { SEEN_MAX = 64 };

struct ward {
    dx_loop *loop;
    dx_supervisor *supervisor;
    dx_supervisor_config config;
    const char *argv[8]; /* may be changed: the next incarnation is another program then */
    char words[256], path[4096];
    struct calls calls;
    int starts, lines, notes;
    int states; /* that were told, with when and why */
    dx_state seen[SEEN_MAX];
    uint64_t seen_ms[SEEN_MAX];
    dx_error whys[SEEN_MAX];
    char errors[8192]; /* what its incarnations wrote to their standard error */
};

/* `command` as for family_init(). Restarts come quickly. Change ward->config as you like before
 * ward_start(). */
void ward_init(struct ward *ward, dx_loop *loop, const char *command);
void ward_start(struct ward *ward);
/* Waits for that state of that incarnation or a later one; fails if it takes too long. */
void ward_until(struct ward *ward, dx_state state, unsigned incarnation);
/* Exactly these states were told, in this order. Ends with -1. */
void ward_told(const struct ward *ward, const int *states);
#define WARD_TOLD(ward, ...) ward_told(ward, (const int[]){__VA_ARGS__, -1})
/* Why the last state came. */
const dx_error *ward_why(const struct ward *ward);
/* Stops it and waits for that. */
void ward_stop(struct ward *ward);
/* SIGKILL from outside, and the state that follows. */
void ward_kill(struct ward *ward, dx_state after);

#endif
