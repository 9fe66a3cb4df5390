#include "systems/hermes/command/words.h"

#include <duplex/hermes-host.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *words_split(const char *line, struct words *ret_words) {
    char **at;
    size_t count = 0;
    dx_status status = dx_hermes_split(line, &at, NULL);
    if (status != DX_OK)
        return status == DX_ERR_NOMEM ? "out of memory" : "unclosed quote";
    while (at[count])
        count++;
    *ret_words = (struct words){at, count};
    return NULL;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_null(const char *line, const char *at) {
    return strncmp(at, "\"\"", 2) == 0 && (!at[2] || is_blank(at[2])) &&
           (at == line || is_blank(at[-1]));
}

/* Writes the line so that the usual rules read that from it; to has room for twice its length. */
static void protect(const char *line, char *to) {
    char quote = '\0';
    for (const char *at = line; *at; at++) {
        if (!quote && is_null(line, at)) {
            to = stpcpy(to, "'\"\"'");
            at++;
            continue;
        }
        if (*at == '\\' && !quote && (at[1] == '\'' || at[1] == '"')) {
            *to++ = *at++; /* a quote that is meant as such, as in a shell */
            *to++ = *at;
            continue;
        }
        if (*at == '\\' && !quote)
            *to++ = '\\';
        if (*at == '\\' && quote == '"' && at[1])
            *to++ = *at++; /* what it protects does not end the quotes */
        else if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? '\0' : *at;
        *to++ = *at;
    }
    *to = '\0';
}

const char *words_split_value(const char *line, struct words *ret_words) {
    char *copy = malloc(strlen(line) * 2 + 1);
    if (!copy)
        return "out of memory";
    protect(line, copy);
    const char *why = words_split(copy, ret_words);
    free(copy);
    return why;
}

void words_done(struct words *words) {
    free(words->at);
    *words = (struct words){NULL, 0};
}
