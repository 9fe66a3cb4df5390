/* wait.h: waiting on a loop until something happens, a time is up, or the user wants it to end. */
#ifndef CLI_WAIT_H
#define CLI_WAIT_H

#include <duplex/loop.h>

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* From now on SIGINT, SIGTERM and SIGHUP come only while cli_wait() waits, and are counted. */
void cli_catch_signals(void);
int cli_interrupts(void);
/* For who does not wait with cli_wait(): a descriptor that can be read while one of them has come
 * and was not counted (it is not to be read; -1: there is none), and what counts them. */
int cli_signal_fd(void);
void cli_take_signals(void);
/* Was one of them another than SIGINT? Whoever can go on after that one can't after these. */
bool cli_is_told_to_end(void);

/* What is shown while cli_poll() waits, and only then: draw() is called when next() says so, and
 * erase() before cli_poll() returns. NULL: nothing. */
struct cli_idle {
    uint64_t (*next)(uint64_t now);
    void (*draw)(uint64_t now);
    void (*erase)(uint64_t now, bool idle); /* `idle`: nothing has come */
};
extern const struct cli_idle *cli_idle;

/* Milliseconds of a clock that only goes forward. */
uint64_t cli_now(void);
/* Those since 1970. */
uint64_t cli_unix_ms(void);
/* What ppoll(2) returns: until something has come for the loop, whose place is fds[0], or for one
 * of the others, at the latest at `until`. Dispatches nothing. */
int cli_poll(dx_loop *loop, struct pollfd *fds, size_t count, uint64_t until);
/* Dispatches what has come, at the latest at `until` (DX_NEVER: whenever that is). */
void cli_wait(dx_loop *loop, uint64_t until);

#endif
