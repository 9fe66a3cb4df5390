/* waiting.h: a line on the terminal while a slow peer is waited for:
 *
 *     waiting for initialize… 3 s, 30 s at most; the server has written nothing
 *
 * It appears after two seconds, and only while cli_poll() and cli_wait() wait, so that it never
 * mixes with other output. What it says of the peer is about the time since the wait began; if the
 * peer wrote something before that, it ends with "since". On a narrow terminal whole parts are left
 * out, the last one first. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "cli/tail.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_waiting {
    const char *what;           /* a method; copied */
    const char *who;            /* who writes: "the plugins have"; NULL: "the server has" */
    uint64_t most_ms;           /* the limit; DX_NEVER: there is none */
    uint64_t active_ms;         /* … and from the first message on; 0: the same */
    const cli_written *written; /* NULL: not known, and the line ends after the times */
    uint64_t (*messages)(const void *user); /* how many so far; NULL: `written` counts them */
    const void *user;
    bool stays; /* until something comes: for those who wait in short steps, and print nothing */
} cli_waiting;

/* Nothing happens unless the standard error is a terminal, or with --json. Replaces what was
 * waited for before. */
void cli_waiting_begin(const cli_waiting *waiting);
void cli_waiting_end(void);

#endif
