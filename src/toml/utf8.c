#include "toml/text.h"

#include <string.h>

/* How long the sequence at `at` is (RFC 3629: no overlong form, no surrogate, at most U+10FFFF); 0
 * if it is none. */
static size_t sequence(const unsigned char *at, size_t left) {
    unsigned char first = at[0];
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < len || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

const char *dx__toml_utf8(const char *at, const char *end) {
    while (at < end) {
        uint64_t word;
        while (end - at >= 8) {
            memcpy(&word, at, 8);
            if (word & UINT64_C(0x8080808080808080))
                break;
            at += 8;
        }
        while (at < end && (unsigned char)*at < 0x80)
            at++;
        while (at < end && (unsigned char)*at >= 0x80) {
            size_t len = sequence((const unsigned char *)at, (size_t)(end - at));
            if (!len)
                return at;
            at += len;
        }
    }
    return end;
}
