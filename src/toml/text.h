/* What both directions know of bytes, without the locale that <ctype.h> asks. */
#ifndef DX_TOML_TEXT_H
#define DX_TOML_TEXT_H

#include <duplex/base.h>

#include <stdbool.h>

/* utf8.c: where a text is no longer UTF-8; its end if it is. */
const char *dx__toml_utf8(const char *at, const char *end);

static inline bool dx__toml_is_digit(int c) {
    return c >= '0' && c <= '9';
}

/* What a key without quotes is made of. */
static inline bool dx__toml_is_bare(int c) {
    return dx__toml_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == '-';
}

#endif
