/* words.h: a text as a shell would split it; nothing is expanded. */
#ifndef MCP_WORDS_H
#define MCP_WORDS_H

/* The words, NULL at the end; all of it is freed at once by free(). What stands behind key:= is
 * JSON, whose quotes and blanks stay. NULL, and *ret_why says why it can't be split. */
char **words_split(const char *text, const char **ret_why);

#endif
