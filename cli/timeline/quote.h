/* quote.h: texts of others within a page or a JSON document. */
#ifndef CLI_QUOTE_H
#define CLI_QUOTE_H

#include <duplex/base.h>

#include <stdbool.h>
#include <stdio.h>

/* As much of a text as has at most `max` bytes, in whole characters. */
dx_text cli_cut(dx_text text, uint64_t max);

/* A JSON string. Nothing in it is a tag, steers a terminal or turns its text around. What is not
 * UTF-8 is written byte by byte, each as the character of its number; then it returns false. */
bool cli_quote(FILE *out, dx_text text);

/* JSON that stands in a script element: "<" can only stand in its strings, and becomes \x3c, which
 * no JSON text has: so what was there can be told. One line. */
void cli_quote_json(FILE *out, dx_text json);

#endif
