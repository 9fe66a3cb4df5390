/* Kinds of bytes, without the locale that <ctype.h> asks. A byte is given as an int: -1, for
 * "none", is of no kind. */
#ifndef DX_SCHEMA_BYTE_H
#define DX_SCHEMA_BYTE_H

#include <stdbool.h>
#include <string.h>

static inline bool dx__is_digit(int c) {
    return c >= '0' && c <= '9';
}

static inline bool dx__is_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool dx__is_hex(int c) {
    return dx__is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* One of the characters of a string; NUL is none of them. */
static inline bool dx__is_one_of(int c, const char *string) {
    return c > 0 && memchr(string, c, strlen(string));
}

#endif
