/* words.h: a line of the prompt, cut into words as a shell would, but for JSON, which may stand in
 * it as it is. */
#ifndef CLI_REPL_WORDS_H
#define CLI_REPL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum { REPL_WORDS_MAX = 10000 };

struct repl_words {
    char **at; /* NULL behind the last */
    size_t count;
    bool behind; /* the last one was a lone &, which is not in the list */
    char *room;
};

/* 'text' and "text" are one word, or a part of it; a backslash takes the next character as it is.
 * JSON that begins a word with { or [, or stands behind := with {, [ or ", is taken to its end,
 * quotes and spaces included. NULL, or what is wrong with the line; repl_words_done() is due only
 * after NULL. */
const char *repl_words_read(const char *line, struct repl_words *ret_words);
void repl_words_done(struct repl_words *words);

#endif
