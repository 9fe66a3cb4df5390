/* The four kinds of strings. What stands in the text as it is meant is not copied. */
#include "toml/reader.h"

static bool is_control(int c) {
    return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* Behind a backslash: is there only space up to the end of the line? */
static bool ends_line(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at < end && (*at == '\n' || *at == '\r');
}

static int hex_value(int c) {
    if (dx__toml_is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *put_utf8(char *to, uint32_t point) {
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(heads[more] | point >> (6 * more));
    while (more--)
        *to++ = (char)(0x80 | (point >> (6 * more) & 0x3f));
    return to;
}

/* \u and \U: `at` is behind the letter. NULL if it is refused. */
static const char *code_point(dx__toml_reader *reader, const char *at, const char *end, int digits,
                              char **to) {
    const char *escape = at - 2;
    uint32_t point = 0;
    for (; digits; digits--, at++) {
        int value = at < end ? hex_value((unsigned char)*at) : -1;
        if (value < 0) {
            dx__toml_refuse(reader, escape, "\\u takes four hexadecimal digits, \\U eight");
            return NULL;
        }
        point = point << 4 | (uint32_t)value;
    }
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
        dx__toml_refuse(reader, escape, "the escape is not a Unicode character");
        return NULL;
    }
    *to = put_utf8(*to, point);
    return at;
}

/* `at` is behind the backslash; returns behind the escape, NULL if it is refused. */
static const char *escape(dx__toml_reader *reader, const char *at, const char *end, char **to) {
    static const char letters[] = "btnfr\"\\";
    static const char meanings[] = "\b\t\n\f\r\"\\";
    if (*at == 'u' || *at == 'U')
        return code_point(reader, at + 1, end, *at == 'u' ? 4 : 8, to);
    const char *letter = memchr(letters, *at, sizeof letters - 1);
    if (letter) {
        *(*to)++ = meanings[letter - letters];
        return at + 1;
    }
    if (ends_line(at, end)) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
            at++;
        return at;
    }
    dx__toml_refuse(reader, at - 1, "TOML 1.0 has no such escape");
    return NULL;
}

/* No escape is longer than what it is written as, so the raw length is enough. */
static bool unescape(dx__toml_reader *reader, dx_text raw, dx_text *ret_text) {
    char *text = dx__toml_keep(reader, raw.len);
    if (!text)
        return false;
    char *to = text;
    const char *at = raw.at;
    const char *end = raw.at + raw.len;
    for (;;) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t len = (size_t)((slash ? slash : end) - at);
        memcpy(to, at, len);
        to += len;
        if (!slash)
            break;
        at = escape(reader, slash + 1, end, &to);
        if (!at)
            return false;
    }
    *ret_text = (dx_text){text, (size_t)(to - text)};
    return true;
}

/* The end of a string of several lines: of the quotes that stand there, three close it, and up to
 * two before them belong to it. False if they are fewer than three. */
static bool closes(dx__toml_reader *reader, char quote, size_t *ret_more) {
    size_t count = 0;
    while (count < 5 && count < dx__toml_left(reader) && reader->at[count] == quote)
        count++;
    if (count < 3) {
        reader->at += count;
        return false;
    }
    *ret_more = count - 3;
    reader->at += count;
    return true;
}

/* A control character in a string, which in one of several lines may be the end of a line. */
static bool control(dx__toml_reader *reader, bool lines, const char *opened) {
    if (lines && dx__toml_newline(reader))
        return true;
    int c = dx__toml_peek(reader);
    if (c == '\n' || (c == '\r' && dx__toml_left(reader) > 1 && reader->at[1] == '\n'))
        return dx__toml_refuse(reader, opened, "the string is not closed in its line");
    return dx__toml_refuse(reader, reader->at, "a control character in a string");
}

/* Behind the opening quotes; finds the closing ones. */
static bool find_end(dx__toml_reader *reader, char quote, bool lines, const char *opened,
                     dx_text *ret_raw, bool *ret_escaped) {
    const char *from = reader->at;
    size_t more = 0;
    for (;;) {
        if (reader->at == reader->end)
            return dx__toml_refuse(reader, opened, "the string is not closed");
        unsigned char c = (unsigned char)*reader->at;
        if (c == (unsigned char)quote) {
            const char *here = reader->at;
            if (!lines)
                reader->at++;
            else if (!closes(reader, quote, &more))
                continue;
            *ret_raw = (dx_text){from, (size_t)(here - from) + more};
            return true;
        }
        if (is_control(c)) {
            if (!control(reader, lines, opened))
                return false;
        } else if (c == '\\' && quote == '"') {
            *ret_escaped = true;
            reader->at++;
            /* A quote or a backslash there means itself; whatever else comes is looked at later. */
            if (reader->at < reader->end && (*reader->at == '"' || *reader->at == '\\'))
                reader->at++;
        } else {
            reader->at++;
        }
    }
}

bool dx__toml_string(dx__toml_reader *reader, bool lines, dx_text *ret_text) {
    const char *opened = reader->at;
    char quote = *opened;
    bool escaped = false;
    dx_text raw = {opened, 0};
    lines = lines && dx__toml_left(reader) >= 3 && opened[1] == quote && opened[2] == quote;
    reader->at += lines ? 3 : 1;
    if (lines)
        dx__toml_newline(reader);
    if (!find_end(reader, quote, lines, opened, &raw, &escaped))
        return false;
    if (escaped)
        return unescape(reader, raw, ret_text);
    *ret_text = raw;
    return true;
}
