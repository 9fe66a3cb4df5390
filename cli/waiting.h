/* waiting.h: a line on the terminal while a slow peer is waited for:
 *
 *     waiting for initialize… 3 s, 30 s at most; the server wrote nothing
 *
 * It appears after two seconds, and only while cli_poll() and cli_wait() wait, so that it never
 * mixes with other output. Without `tail` and `messages` it ends after the times. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "cli/tail.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_waiting {
    const char *what;     /* a method; copied */
    uint64_t most_ms;     /* DX_NEVER: no limit */
    const cli_tail *tail; /* counts what the server writes besides messages; may be NULL */
    uint64_t (*messages)(const void *user); /* how many the server has sent so far; may be NULL */
    const void *user;
    bool stays; /* until something comes: for those who wait in short steps, and print nothing */
} cli_waiting;

/* Nothing happens unless the standard error is a terminal, or with --json. Replaces what was
 * waited for before. */
void cli_waiting_begin(const cli_waiting *waiting);
void cli_waiting_end(void);

#endif
