/* tail.h: the last that a program wrote to its standard error, which is told if something fails. */
#ifndef CLI_TAIL_H
#define CLI_TAIL_H

#include <duplex/base.h>

#include <stdbool.h>
#include <yyjson.h>

typedef struct cli_tail {
    char bytes[2000];
    size_t len;
} cli_tail;

/* One more line; `where` stands before it. */
void cli_tail_keep(cli_tail *tail, const char *where, dx_text line);
/* More of what it wrote, as it came: lines may come in pieces. */
void cli_tail_add(cli_tail *tail, dx_text text);
/* Is that what --stderr asks for? NULL: so it is. */
bool cli_tail_is_wanted(const char *errors);
/* cli_fail_with() and the last of those lines, if --stderr asks for them. What the message ends
 * with already is not told again. message NULL: no memory. */
int cli_tail_fail(const cli_tail *tail, const char *errors, int code, const char *message,
                  yyjson_mut_doc *doc, yyjson_mut_val *more);

#endif
