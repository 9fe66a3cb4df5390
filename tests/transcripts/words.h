/* words.h: cuts a line into words and resolves escapes. */
#ifndef TRANSCRIPTS_WORDS_H
#define TRANSCRIPTS_WORDS_H

#include "script.h"

/* Skips spaces; false at the end of the line. */
bool words_skip(dx_text *rest);
/* Takes one word off `rest`: its key (allocated, or NULL) and op go to `word`, its text to `value`.
 * Returns what is wrong, or NULL. */
const char *words_next(dx_text *rest, struct word *word, struct bytes *value);
/* Appends the text with \r \n \t \0 \\ \" \xHH and \{N*TEXT} resolved. Returns what is wrong. */
const char *words_unescape(dx_text text, struct bytes *out);

#endif
