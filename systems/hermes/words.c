/* The words of a command line. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}

/* What a backslash takes the meaning from inside of double quotes. */
static bool is_special(char c) {
    return c == '"' || c == '\\' || c == '$' || c == '`';
}

/* How many bytes of a backslash and what follows it are not taken as they stand: both go before a
 * line end, only the first one if it takes the meaning from the second. */
static int escape_of(const char *at, char quote) {
    if (*at != '\\' || quote == '\'')
        return 0;
    if (at[1] == '\n')
        return 2;
    return !quote || is_special(at[1]);
}

/* Reads one word from *line on into `to`, and says where that ends; NULL if something is open. */
static char *read_word(const char **line, char *to) {
    const char *at = *line;
    char quote = '\0';
    for (; *at && (quote || !is_blank(*at)); at++) {
        int escape = escape_of(at, quote);
        at += escape != 0;
        if (escape && !*at)
            return NULL;
        if (!escape && (quote ? *at == quote : *at == '\'' || *at == '"'))
            quote = quote ? '\0' : *at;
        else if (escape < 2)
            *to++ = *at;
    }
    *line = at;
    return quote ? NULL : to;
}

/* Words need no more bytes than the line, and there are at most half as many. */
dx_status hermes_words_split(const dx_allocator *alloc, const char *line, char ***ret_words,
                             dx_error *reterr) {
    size_t len = strlen(line);
    size_t most = len / 2 + 2;
    if (len > SIZE_MAX / 16)
        return DX_ERR_NOMEM;
    char **words = dx__malloc(alloc, most * sizeof *words + len + 1);
    if (!words)
        return DX_ERR_NOMEM;
    char *to = (char *)(words + most);
    size_t count = 0;
    for (;;) {
        while (is_blank(*line) || (*line == '\\' && line[1] == '\n'))
            line += *line == '\\' ? 2 : 1;
        if (!*line)
            break;
        words[count++] = to;
        to = read_word(&line, to);
        if (!to) {
            dx__free(alloc, words);
            return hermes_fail(reterr, DX_FAULT_START, "unclosed quote, or a backslash at the end",
                               "");
        }
        *to++ = '\0';
    }
    words[count] = NULL;
    *ret_words = words;
    return DX_OK;
}

dx_status dx_hermes_split(const char *line, char ***ret_words, dx_error *reterr) {
    dx_buf usual; /* malloc() and free(), as everybody has them */
    dx_buf_init(&usual, 0, NULL);
    return hermes_words_split(&usual.alloc, line, ret_words, reterr);
}

static bool has_name(const char *const *list, const char *variable) {
    size_t len = strcspn(variable, "=");
    for (; list && *list; list++)
        if (strcspn(*list, "=") == len && memcmp(*list, variable, len) == 0)
            return true;
    return false;
}

static size_t size_of(const char *const *list, size_t *count) {
    size_t size = 0;
    for (; list && *list; list++) {
        size += strlen(*list) + 1;
        (*count)++;
    }
    return size;
}

static char *put(char ***words, char *to, const char *word) {
    size_t size = strlen(word) + 1;
    memcpy(to, word, size);
    *(*words)++ = to;
    return to + size;
}

dx_status hermes_words_join(const dx_allocator *alloc, const char *const *first,
                            const char *const *second, bool by_name, char ***ret_words) {
    size_t count = 1;
    size_t size = size_of(first, &count) + size_of(second, &count);
    char **words = dx__malloc(alloc, count * sizeof *words + size);
    if (!words)
        return DX_ERR_NOMEM;
    char *to = (char *)(words + count);
    char **next = words;
    for (; first && *first; first++)
        if (!by_name || !has_name(second, *first))
            to = put(&next, to, *first);
    for (; second && *second; second++)
        to = put(&next, to, *second);
    *next = NULL;
    *ret_words = words;
    return DX_OK;
}
