/* UTF-8 (RFC 3629: no overlong form, no surrogate, at most U+10FFFF), and text in a fixed room. All
 * inline: the systems and the command use it, too, which know only what the library exports. */
#ifndef DX_BASE_UTF8_H
#define DX_BASE_UTF8_H

#include <duplex/base.h>

#include <stdbool.h>
#include <string.h>

/* How many bytes the character at the beginning of `left` (at least one) has; 0 if it is none. */
static inline size_t dx__utf8(const char *text, size_t left) {
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80)
        return 1;
    unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
    size_t len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || left < len || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

static inline bool dx__is_utf8(dx_text text) {
    for (size_t i = 0, len; i < text.len; i += len) {
        len = dx__utf8(text.at + i, text.len - i);
        if (!len)
            return false;
    }
    return true;
}

/* The number of the character that dx__utf8() has found to have `len` bytes. */
static inline uint32_t dx__utf8_code(const char *text, size_t len) {
    uint32_t code = (unsigned char)text[0];
    if (len > 1)
        code &= 0x7fU >> len;
    for (size_t i = 1; i < len; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3fU);
    return code;
}

/* Appends to the string in `to`, which has room for `room` bytes, as many whole characters as fit;
 * what is no character, or steers a terminal, becomes '?'. */
static inline void dx__say(char *to, size_t room, dx_text text) {
    size_t used = strlen(to);
    for (size_t i = 0; i < text.len;) {
        size_t len = dx__utf8(text.at + i, text.len - i);
        unsigned char first = (unsigned char)text.at[i];
        bool c1 = first == 0xc2 && len == 2 && (unsigned char)text.at[i + 1] < 0xa0;
        bool plain = (len > 1 && !c1) || (len == 1 && first >= 0x20 && first != 0x7f);
        size_t more = plain ? len : 1;
        if (used + more >= room)
            break;
        memcpy(to + used, plain ? text.at + i : "?", more);
        used += more;
        i += len ? len : 1;
    }
    to[used] = '\0';
}

static inline void dx__say_str(char *to, size_t room, const char *text) {
    dx__say(to, room, dx_str(text));
}

#endif
