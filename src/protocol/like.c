#include "protocol/like.h"

#include <string.h>

enum { DEPTH_MAX = 8, COUNT_MAX = 64 };

struct reader {
    const char *at;
    const char *end;
    char *text;
    size_t len;
    bool failed;
};

static bool next_is(const struct reader *reader, char c) {
    return reader->at < reader->end && *reader->at == c;
}

static bool take(struct reader *reader, char c) {
    if (!next_is(reader, c))
        return false;
    reader->at++;
    return true;
}

static void put(struct reader *reader, char c) {
    if (reader->len + 1 < DX__LIKE_ROOM)
        reader->text[reader->len++] = c;
    else
        reader->failed = true;
}

/* The character after a backslash; '\0': it stands for something else. */
static char escaped(char c) {
    switch (c) {
    case 'd':
        return '0';
    case 'w':
        return 'a';
    case 's':
        return ' ';
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    default:
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? '\0'
                                                                                          : c;
    }
}

static void read_escape(struct reader *reader) {
    char c = reader->at < reader->end ? escaped(*reader->at++) : '\0';
    if (c)
        put(reader, c);
    else
        reader->failed = true;
}

/* The first character of a class; one of which it names only what it lacks is not understood. */
static void read_class(struct reader *reader) {
    if (next_is(reader, '^') || next_is(reader, ']'))
        reader->failed = true;
    else if (take(reader, '\\'))
        read_escape(reader);
    else if (reader->at < reader->end)
        put(reader, *reader->at++);
    while (reader->at < reader->end && !next_is(reader, ']'))
        reader->at += next_is(reader, '\\') && reader->at + 1 < reader->end ? 2 : 1;
    if (!take(reader, ']'))
        reader->failed = true;
}

static size_t read_number(struct reader *reader) {
    size_t number = 0;
    if (reader->at == reader->end || *reader->at < '0' || *reader->at > '9')
        reader->failed = true;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9' && number < 1000)
        number = number * 10 + (size_t)(*reader->at++ - '0');
    return number;
}

/* How often what stood before has to come at least. */
static size_t read_count(struct reader *reader) {
    size_t least = 1;
    if (take(reader, '*') || take(reader, '?'))
        least = 0;
    else if (take(reader, '{')) {
        least = read_number(reader);
        if (take(reader, ',') && !next_is(reader, '}'))
            read_number(reader);
        if (!take(reader, '}'))
            reader->failed = true;
    } else if (!take(reader, '+')) {
        return 1;
    }
    take(reader, '?');
    return least;
}

static void repeat(struct reader *reader, size_t start, size_t count) {
    size_t piece = reader->len - start;
    if (!count)
        reader->len = start;
    for (size_t i = 1; i < count && !reader->failed; i++)
        for (size_t j = 0; j < piece; j++)
            put(reader, reader->text[start + j]);
    if (count > COUNT_MAX)
        reader->failed = true;
}

static void read_choice(struct reader *reader, unsigned depth);

static void read_atom(struct reader *reader, unsigned depth) {
    char c = *reader->at++;
    if (c == '(') {
        if (take(reader, '?') && !take(reader, ':'))
            reader->failed = true;
        read_choice(reader, depth + 1);
        if (!take(reader, ')'))
            reader->failed = true;
    } else if (c == '[') {
        read_class(reader);
    } else if (c == '\\') {
        read_escape(reader);
    } else if (c == '*' || c == '+' || c == '?' || c == '{') {
        reader->failed = true;
    } else if (c != '^' && c != '$') {
        put(reader, c == '.' ? 'x' : c);
    }
}

static void read_row(struct reader *reader, unsigned depth) {
    while (!reader->failed && reader->at < reader->end && !next_is(reader, '|') &&
           !next_is(reader, ')')) {
        size_t start = reader->len;
        read_atom(reader, depth);
        repeat(reader, start, read_count(reader));
    }
}

static void read_choice(struct reader *reader, unsigned depth) {
    if (depth == DEPTH_MAX) {
        reader->failed = true;
        return;
    }
    read_row(reader, depth);
    size_t len = reader->len;
    while (!reader->failed && take(reader, '|')) {
        read_row(reader, depth);
        reader->len = len;
    }
}

bool dx__like(dx_text pattern, char text[DX__LIKE_ROOM]) {
    if (!pattern.at)
        return false;
    struct reader reader = {pattern.at, pattern.at + pattern.len, text, 0, false};
    read_choice(&reader, 0);
    text[reader.len] = '\0';
    return !reader.failed && reader.at == reader.end;
}
