/* markdown.h: the Markdown that docs/ and the protocols' reference pages are written in, as roff:
 * headings, paragraphs, quotations, lists, tables, fenced code; code, strong and emphasised text,
 * and links within a line. */
#ifndef CLI_MARKDOWN_H
#define CLI_MARKDOWN_H

#include "cli/manual/roff.h"

/* What the first heading says; absent if there is none. */
dx_text cli_markdown_title(dx_text text);
/* All of a document but that heading. What comes before the second one is the section
 * DESCRIPTION. */
void cli_markdown(cli_roff *roff, dx_text text);

/* The text of one paragraph, heading or cell. */
void cli_markdown_inline(cli_roff *roff, dx_text text);
/* The lines of a table, each beginning with a "|". */
void cli_markdown_table(cli_roff *roff, dx_text lines);

/* The next line of *rest, without what ends it; false after the last one. */
bool cli_next_line(dx_text *rest, dx_text *ret_line);
/* Without white space at both ends. */
dx_text cli_trim(dx_text text);
bool cli_begins(dx_text text, const char *with);

#endif
