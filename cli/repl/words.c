#include "cli/repl/words.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* A JSON value that begins here, or all that is left if it has no end. */
static const char *copy_json(const char *in, char **out) {
    bool in_string = false;
    size_t depth = 0;
    do {
        char c = *in++;
        *(*out)++ = c;
        if (c == '"')
            in_string = !in_string;
        else if (in_string && c == '\\' && *in)
            *(*out)++ = *in++;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']'))
            depth--;
    } while (*in && (in_string || depth));
    return in;
}

/* What stands between quotes; NULL if they are not closed. */
static const char *copy_quoted(const char *in, char **out) {
    char quote = *in++;
    while (*in && *in != quote) {
        if (quote == '"' && *in == '\\' && (in[1] == '"' || in[1] == '\\'))
            in++;
        *(*out)++ = *in++;
    }
    return *in ? in + 1 : NULL;
}

static bool begins_json(const char *in, const char *word, const char *out, bool quoted) {
    if (quoted)
        return false;
    if (out == word)
        return *in == '{' || *in == '[';
    return out - word > 2 && memcmp(out - 2, ":=", 2) == 0 &&
           (*in == '{' || *in == '[' || *in == '"');
}

/* One word; *ret_plain: nothing in it was quoted. NULL, or what is wrong. */
static const char *copy_word(const char **in, char **out, bool *ret_plain) {
    const char *word = *out;
    bool quoted = false;
    while (**in && !is_blank(**in)) {
        if (begins_json(*in, word, *out, quoted)) {
            *in = copy_json(*in, out);
        } else if (**in == '\'' || **in == '"') {
            quoted = true;
            *in = copy_quoted(*in, out);
            if (!*in)
                return "missing closing quote";
        } else {
            bool escaped = **in == '\\';
            quoted |= escaped;
            *in += escaped;
            if (!**in)
                return "missing character after the last backslash";
            *(*out)++ = *(*in)++;
        }
    }
    *(*out)++ = '\0';
    *ret_plain = !quoted;
    return NULL;
}

static const char *cut(const char *line, struct repl_words *words) {
    char *out = words->room;
    bool plain = false;
    for (;;) {
        while (is_blank(*line))
            line++;
        if (!*line)
            break;
        if (words->count == REPL_WORDS_MAX)
            return "the line has more than 10000 words";
        words->at[words->count] = out;
        const char *why = copy_word(&line, &out, &plain);
        if (why)
            return why;
        words->count++;
    }
    if (words->count && plain && strcmp(words->at[words->count - 1], "&") == 0) {
        words->behind = true;
        words->count--;
    }
    words->at[words->count] = NULL;
    return NULL;
}

const char *repl_words_read(const char *line, struct repl_words *ret_words) {
    size_t len = strlen(line);
    size_t most = len / 2 + 1 < REPL_WORDS_MAX ? len / 2 + 1 : REPL_WORDS_MAX;
    struct repl_words words = {.room = malloc(len + 2)};
    words.at = malloc((most + 1) * sizeof *words.at);
    const char *why = words.room && words.at ? cut(line, &words) : "out of memory";
    if (why)
        repl_words_done(&words);
    else
        *ret_words = words;
    return why;
}

void repl_words_done(struct repl_words *words) {
    free(words->at);
    free(words->room);
    *words = (struct repl_words){.at = NULL};
}
