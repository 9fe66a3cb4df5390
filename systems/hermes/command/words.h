/* words.h: a line as a shell would split it; nothing is expanded. */
#ifndef HERMES_WORDS_H
#define HERMES_WORDS_H

#include <stddef.h>

struct words {
    char **at; /* NULL at the end */
    size_t count;
};

/* NULL, or why it can't be split; then there is nothing to free. */
const char *words_split(const char *line, struct words *ret_words);
void words_done(struct words *words);

#endif
