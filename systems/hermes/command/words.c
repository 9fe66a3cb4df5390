#include "systems/hermes/command/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word from *line on, into *out; false if a quote is not closed. */
static bool take_word(const char **line, char **out) {
    const char *in = *line;
    char *to = *out;
    char quote = '\0';
    for (; *in && (quote || !is_blank(*in)); in++) {
        if (quote ? *in == quote : (*in == '\'' || *in == '"'))
            quote = quote ? '\0' : *in;
        else if (*in == '\\' && in[1] &&
                 (!quote || (quote == '"' && (in[1] == '"' || in[1] == '\\'))))
            *to++ = *++in;
        else
            *to++ = *in;
    }
    *to++ = '\0';
    *line = in;
    *out = to;
    return !quote;
}

/* The words lie behind the pointers to them: a word needs at least one byte and what ends it. */
const char *words_split(const char *line, struct words *ret_words) {
    size_t len = strlen(line);
    size_t most = len / 2 + 2;
    char **at = malloc(most * sizeof *at + len + 2);
    size_t count = 0;
    if (!at)
        return "no memory";
    char *out = (char *)(at + most);
    for (;;) {
        while (is_blank(*line))
            line++;
        if (!*line)
            break;
        at[count++] = out;
        if (!take_word(&line, &out)) {
            free(at);
            return "a quote is not closed";
        }
    }
    at[count] = NULL;
    *ret_words = (struct words){at, count};
    return NULL;
}

void words_done(struct words *words) {
    free(words->at);
    *words = (struct words){NULL, 0};
}
