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
/* The same for a command that sets a value, as HL7 has it: a backslash outside quotes stays, and
 * so does a word that is "", the null of HL7 ('' is the empty one). */
const char *words_split_value(const char *line, struct words *ret_words);
void words_done(struct words *words);

#endif
