#include "words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static dx_text after(dx_text text, size_t skip) {
    return (dx_text){text.at + skip, text.len - skip};
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* How long the escape at the start of `text` is: 2, 4 for \xHH, up to the brace for \{…}. */
static size_t escape_len(dx_text text) {
    if (text.len < 2)
        return text.len;
    if (text.at[1] == 'x')
        return text.len < 4 ? text.len : 4;
    if (text.at[1] != '{')
        return 2;
    for (size_t i = 2; i < text.len; i++) {
        if (text.at[i] == '\\')
            i++;
        else if (text.at[i] == '}')
            return i + 1;
    }
    return text.len;
}

/* \{N*TEXT}, whose length is `len`. */
static const char *repeat(dx_text text, struct bytes *out) {
    uint64_t times = 0;
    struct bytes part = {0};
    const char *star = memchr(text.at, '*', text.len);
    if (!star || text.at[text.len - 1] != '}')
        return "a repetition looks like \\{3*text}";
    size_t head = (size_t)(star - text.at);
    if (!text_number((dx_text){text.at + 2, head - 2}, &times))
        return "a repetition begins with a number";
    const char *problem = words_unescape((dx_text){star + 1, text.len - head - 2}, &part);
    for (uint64_t i = 0; !problem && i < times; i++)
        bytes_add(out, part.at, part.len);
    bytes_free(&part);
    return problem;
}

static const char *one_escape(dx_text text, struct bytes *out) {
    static const char names[] = "rnt0\\\"}", values[] = "\r\n\t\0\\\"}";
    if (text.len < 2)
        return "a backslash at the end of the line";
    if (text.at[1] == '{')
        return repeat(text, out);
    if (text.at[1] == 'x') {
        int high = text.len == 4 ? hex_digit(text.at[2]) : -1;
        int low = text.len == 4 ? hex_digit(text.at[3]) : -1;
        if (high < 0 || low < 0)
            return "\\x needs two hexadecimal digits";
        char byte = (char)(high * 16 + low);
        bytes_add(out, &byte, 1);
        return NULL;
    }
    const char *found = memchr(names, text.at[1], sizeof names - 1);
    if (!found)
        return "an escape that does not exist (a backslash itself is written \\\\)";
    bytes_add(out, &values[found - names], 1);
    return NULL;
}

const char *words_unescape(dx_text text, struct bytes *out) {
    while (text.len > 0) {
        const char *slash = memchr(text.at, '\\', text.len);
        size_t plain = slash ? (size_t)(slash - text.at) : text.len;
        bytes_add(out, text.at, plain);
        text = after(text, plain);
        if (!slash)
            break;
        size_t len = escape_len(text);
        const char *problem = one_escape((dx_text){text.at, len}, out);
        if (problem)
            return problem;
        text = after(text, len);
    }
    return NULL;
}

/* The length of a quoted text, its quotes included. */
static size_t quoted_len(dx_text text) {
    for (size_t i = 1; i < text.len; i++) {
        if (text.at[i] == '\\')
            i += escape_len(after(text, i)) - 1;
        else if (text.at[i] == '"')
            return i + 1;
    }
    return text.len;
}

/* The length of a word; brackets and quotes keep their spaces. */
static size_t value_len(dx_text text) {
    size_t depth = 0;
    size_t i = 0;
    while (i < text.len && (depth > 0 || text.at[i] != ' ')) {
        char c = text.at[i];
        if (c == '\\')
            i += escape_len(after(text, i));
        else if (c == '"')
            i += quoted_len(after(text, i));
        else
            i++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
    }
    return i;
}

bool words_skip(dx_text *rest) {
    while (rest->len > 0 && *rest->at == ' ')
        *rest = after(*rest, 1);
    return rest->len > 0;
}

const char *words_next(dx_text *rest, struct word *word, struct bytes *value) {
    size_t key = 0;
    while (key < rest->len &&
           (isalnum((unsigned char)rest->at[key]) || strchr("_-", rest->at[key])))
        key++;
    if (key > 0 && key < rest->len && (rest->at[key] == '=' || rest->at[key] == '~')) {
        struct bytes name = {0};
        bytes_add(&name, rest->at, key);
        word->key = name.at;
        word->op = rest->at[key];
        *rest = after(*rest, key + 1);
    }
    size_t len = value_len(*rest);
    word->quoted = len >= 2 && rest->at[0] == '"' && quoted_len(*rest) == len;
    const char *problem = words_unescape((dx_text){rest->at, len}, value);
    *rest = after(*rest, len);
    return problem;
}
