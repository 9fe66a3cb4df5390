/* Small tables that more than one floor reads. */
#ifndef DX_BASE_WORDS_H
#define DX_BASE_WORDS_H

#include <duplex/base.h>

/* The leniency with that name, as documents write it ("last-length"): its flag, or 0. */
unsigned dx__lenient_named(dx_text name);

/* What a digit of base64 (RFC 4648) stands for; -1 if it is none. */
static inline int dx__base64_value(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

#endif
