/* tail.h: the last that a program wrote to its standard error, which is told if something fails. */
#ifndef CLI_TAIL_H
#define CLI_TAIL_H

#include <duplex/link.h>

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

/* How much a program has written so far. */
typedef struct cli_written {
    uint64_t errors;   /* lines of its standard error */
    uint64_t noise;    /* … and of its standard output that are not messages */
    uint64_t messages; /* for those who count them here */
} cli_written;

typedef struct cli_tail {
    char bytes[8000];
    size_t len;
    cli_written written;
} cli_tail;

/* One more line; `where` stands before it. */
void cli_tail_keep(cli_tail *tail, const char *where, dx_text line);
/* Is it text on the standard output that is not JSON-RPC? A line of a log in JSON is, too. */
bool cli_is_noise(const dx_event *event);
/* Text that `who` ("the server") printed on its standard output and that is not JSON-RPC: the
 * warning about it, for cli_warn(). It is given once for each `who`; NULL after that. */
const char *cli_noise(const char *who, dx_text text);
/* What a library says about a peer named `name`: warns of such text, and is false for anything
 * else. `clear` (may be NULL) makes room for a line. Not with --json, where it is an event. */
bool cli_warn_noise(const char *kind, const char *name, const char *phrase,
                    void (*clear)(void *user), void *user);
/* cli_noise(), and the text is kept, too. Without `who` it is only kept. */
const char *cli_tail_noise(cli_tail *tail, const char *who, dx_text text);
/* The first text that was kept that way and is still there, or an absent text. */
dx_text cli_tail_first_noise(const cli_tail *tail);
/* More of what it wrote, as it came: lines may come in pieces. */
void cli_tail_add(cli_tail *tail, dx_text text);
/* Is that what --stderr asks for? NULL: so it is. */
bool cli_tail_is_wanted(const char *errors);
/* cli_fail_with() and the most telling of those lines, if --stderr asks for them. A single line
 * that the message ends with already is not repeated. message NULL: no memory. */
int cli_tail_fail(const cli_tail *tail, const char *errors, int code, const char *message,
                  yyjson_mut_doc *doc, yyjson_mut_val *more);

#endif
