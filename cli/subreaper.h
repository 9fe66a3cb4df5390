/* subreaper.h: ends processes that escape. A peer's process group dies with it, but a descendant
 * that makes a session of its own does not. So commands that start programs become child
 * subreapers: such a process becomes their child when its parents are gone, the mark in its
 * environment (DUPLEX_PEER, see duplex/child.h) says which peer it comes from, and it is ended when
 * that peer has ended. */
#ifndef CLI_SUBREAPER_H
#define CLI_SUBREAPER_H

#include <duplex/loop.h>

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process a child subreaper, unless `keep_daemons`. */
void cli_subreaper_begin(bool keep_daemons);
/* dx_loop_new() and dx_loop_free() for commands that start programs from one thread: the same, and
 * escaped processes are looked for while the loop runs, not only at the end. */
dx_status cli_loop_new(bool keep_daemons, dx_loop **ret_loop, dx_error *reterr);
dx_loop *cli_loop_free(dx_loop *loop);

/* Ends what is left, when all peers are gone; takes 4 s at most. The exit code of the whole:
 * `code`, unless that is CLI_OK and something could not be ended. */
int cli_subreaper_finish(int code);

/* A child of ours that is no peer: neither it nor what it may start is ended. */
void cli_subreaper_spare(pid_t pid);

typedef struct cli_escaped {
    pid_t pid;
    pid_t peer;          /* the pid that its peer had; 0: not known */
    const char *command; /* its command line, as it says itself */
    bool ended;          /* false: it could not be ended */
} cli_escaped;
/* Reports them there, not as warnings; NULL: as warnings again. */
void cli_subreaper_listen(void (*on_escaped)(const cli_escaped *escaped, void *user), void *user);
void cli_escaped_line(const cli_escaped *escaped, char *room, size_t len);

#endif
