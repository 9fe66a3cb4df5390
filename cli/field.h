/* field.h: a peer's text in a line of ours. It can't end the line, hide anything in it or change
 * its direction: whatever could is shown as an escape (\n, \x1b, \u202e, \U000e0041). Documents,
 * such as the output of a tool, are printed line by line with cli_put_document() instead. */
#ifndef CLI_FIELD_H
#define CLI_FIELD_H

#include <duplex/base.h>

#include <stdbool.h>
#include <stdio.h>

/* All of it; on a terminal at most 2,000 columns. */
void cli_put_safe(FILE *stream, dx_text text);
/* At most `columns` wide; text that is longer loses its middle: abc… (12,345 bytes) …xyz. */
void cli_put_field(FILE *stream, dx_text text, size_t columns);

/* The same, but text that is longer loses its end: abcdef…. */
void cli_put_start(FILE *stream, dx_text text, size_t columns);

/* In quotes, behind `used` columns of a line of ours; on a terminal the line is not wider than a
 * frame. */
void cli_put_in_quotes(FILE *stream, dx_text text, size_t used);
/* All of it, behind one column of ours. A terminal would go on in the first column of the next
 * line, where text of a peer looks like ours; so on a terminal each further line begins with "\> ".
 */
void cli_put_marked(FILE *stream, dx_text text);

/* A question stands in a frame as wide as the terminal, at most 100 columns:
 *
 *     +- permission ----------------
 *     | tool     "run_command"
 *     | command  "ls -l"
 *     +- Allow? [y]es, [n]o, ?:
 *
 * The caller prints the last line. `title` and `label` (at most 8 characters) are our own. */
void cli_put_frame(FILE *stream, const char *title);
/* Takes at most `lines` lines; what does not fit loses its middle. Text that is not `quoted` has to
 * be JSON. */
void cli_put_row(FILE *stream, const char *label, dx_text text, bool quoted, size_t lines);

#endif
