/* paper.h: texts and tables for people, made of words that others wrote. */
#ifndef CLI_PAPER_H
#define CLI_PAPER_H

#include "cli/say.h"

#include <stddef.h>

/* The columns that there are: those of the terminal; 80 where the standard output is none. */
size_t cli_paper_width(void);
/* How many a text takes. */
size_t cli_text_width(const char *text);
/* A text on one line, without what would steer a terminal; to be freed. NULL: no memory. */
char *cli_safe(const char *text);
/* Words, wrapped, each line indented; an empty line stays one. */
void cli_put_wrapped(FILE *out, const char *text, size_t indent);

/* A table is filled cell by cell, row by row, and knows then how wide its columns are. On a
 * terminal its lines are cut where that ends. */
typedef struct cli_table cli_table;
/* `right` has a bit for each column whose cells stand on the right. NULL: no memory. */
cli_table *cli_table_new(size_t columns, unsigned right);
/* NULL is an empty cell. */
void cli_table_add(cli_table *table, const char *text, cli_colour colour);
/* Each line indented. False: there was no memory for all of it. */
bool cli_table_print(const cli_table *table, FILE *out, size_t indent);
/* NULL is fine. Returns NULL. */
cli_table *cli_table_free(cli_table *table);

#endif
