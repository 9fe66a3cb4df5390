/* A line of words. */
#include "systems/autohand/files_parts.h"

#include <string.h>

static dx_status fail(dx_error *reterr) {
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_NONE};
        (void)strcpy(reterr->phrase, "this line needs a shell, which is not used: pass the program "
                                     "and its args, or command sh with args -c and the line");
    }
    return DX_ERR_INVALID;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* What a shell would do more with than to put it into a word. */
static bool is_special(char c, bool first, char quote) {
    if (quote == '\'')
        return false;
    if (quote == '"')
        return c == '$' || c == '`';
    return c == '\0' || strchr("|&;<>()$`*?[\n\r", c) || (first && (c == '#' || c == '~'));
}

/* Copies the word at line.at + *at to *to. False: it needs a shell. */
static bool take_word(dx_text line, size_t *at, char **to) {
    char quote = '\0';
    bool first = true;
    for (; *at < line.len && (quote || !is_blank(line.at[*at])); ++*at) {
        char c = line.at[*at];
        if (c == '\0' || is_special(c, first, quote))
            return false;
        first = false;
        if (quote && c == quote) {
            quote = '\0';
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '\\' && quote != '\'') {
            if (*at + 1 >= line.len || line.at[*at + 1] == '\n' || line.at[*at + 1] == '\0')
                return false;
            char next = line.at[*at + 1];
            if (quote && !strchr("\\\"$`", next))
                *(*to)++ = c; /* inside of quotes it stands for itself before most */
            *(*to)++ = next;
            ++*at;
        } else {
            *(*to)++ = c;
        }
    }
    *(*to)++ = '\0';
    return !quote;
}

/* "NAME=value program" sets a variable. */
static bool is_assignment(const char *word) {
    const char *equals = strchr(word, '=');
    return equals && !memchr(word, '/', (size_t)(equals - word));
}

dx_status dx__autohand_words(const dx_allocator *alloc, dx_text line, char ***ret_words,
                             dx_error *reterr) {
    if (line.len > 1 << 20)
        return fail(reterr);
    /* No more words than every other byte, and none longer than what it was made from. */
    size_t most = line.len / 2 + 2;
    char **words = dx__malloc(alloc, most * sizeof *words + line.len + most);
    if (!words)
        return DX_ERR_NOMEM;
    char *to = (char *)(words + most);
    size_t count = 0;
    size_t at = 0;
    bool plain = true;
    while (plain) {
        while (at < line.len && is_blank(line.at[at]))
            at++;
        if (at >= line.len)
            break;
        words[count++] = to;
        plain = take_word(line, &at, &to);
    }
    words[count] = NULL;
    if (!plain || !count || !words[0][0] || is_assignment(words[0])) {
        dx__free(alloc, words);
        return fail(reterr);
    }
    *ret_words = words;
    return DX_OK;
}
