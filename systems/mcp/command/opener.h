/* opener.h: the program that opens pages. */
#ifndef MCP_OPENER_H
#define MCP_OPENER_H

/* Can it be split into words? CLI_OK, or told. */
int opener_check(const char *opener);
/* Starts it, with the URL as its last word. NULL, or why it can't be. */
const char *opener_run(const char *opener, const char *url);

#endif
