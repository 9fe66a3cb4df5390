/* Characters of a pattern, and the sets of them. */
#include "schema/ecma.h"

#include <string.h>

/* How long the UTF-8 sequence with that first byte is; 0 if none begins so. */
static size_t length_of(unsigned char first) {
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

uint32_t dx__ecma_code(dx__ecma *ecma) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)ecma->at;
    size_t left = (size_t)(ecma->end - ecma->at);
    size_t len = left ? length_of(at[0]) : 0;
    uint32_t code = len > 1 ? at[0] & (0x7fU >> len) : len ? at[0] : 0;
    bool right = len > 0 && len <= left;
    for (size_t i = 1; right && i < len; i++) {
        right = (at[i] & 0xc0) == 0x80;
        code = code << 6 | (at[i] & 0x3f);
    }
    if (!right || code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        dx__ecma_fail(ecma, "bytes that are not UTF-8", ecma->at);
        return 0;
    }
    ecma->at += len;
    return code;
}

static int hex_digit(char c) {
    if (!dx__is_hex(c))
        return -1;
    return dx__is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Exactly so many digits; false, and nothing is taken, if they are not there. */
static bool take_hex(dx__ecma *ecma, size_t count, uint32_t *ret_code) {
    if ((size_t)(ecma->end - ecma->at) < count)
        return false;
    uint32_t code = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = hex_digit(ecma->at[i]);
        if (digit < 0)
            return false;
        code = code << 4 | (uint32_t)digit;
    }
    ecma->at += count;
    *ret_code = code;
    return true;
}

/* Behind "\u{". */
static uint32_t braced(dx__ecma *ecma) {
    const char *from = ecma->at;
    uint32_t code = 0;
    for (int digit; (digit = hex_digit(dx__ecma_peek(ecma))) >= 0; ecma->at++)
        if (code <= 0x10ffff)
            code = code << 4 | (uint32_t)digit;
    if (ecma->at == from || code > 0x10ffff || !dx__ecma_take(ecma, '}')) {
        dx__ecma_fail(ecma, "a \\u{ that is not a character", from);
        return 0;
    }
    return code;
}

uint32_t dx__ecma_unicode(dx__ecma *ecma) {
    uint32_t code;
    if (dx__ecma_take(ecma, '{'))
        return braced(ecma);
    if (!take_hex(ecma, 4, &code)) {
        dx__ecma_fail(ecma, "a \\u without four digits", ecma->at);
        return 0;
    }
    const char *behind = ecma->at;
    uint32_t low;
    if (code < 0xd800 || code > 0xdbff)
        return code;
    if (dx__ecma_take(ecma, '\\') && dx__ecma_take(ecma, 'u') && take_hex(ecma, 4, &low) &&
        low >= 0xdc00 && low <= 0xdfff)
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    ecma->at = behind;
    return code;
}

/* Behind "\c". */
static uint32_t control(dx__ecma *ecma) {
    char c = dx__ecma_peek(ecma);
    if (!dx__is_letter(c)) {
        dx__ecma_fail(ecma, "a \\c without a letter", ecma->at);
        return 0;
    }
    ecma->at++;
    return (uint32_t)(c & 0x1f);
}

uint32_t dx__ecma_character(dx__ecma *ecma, bool in_class) {
    static const char names[] = "tnvfr";
    static const char codes[] = "\t\n\v\f\r";
    const char *where = ecma->at;
    char c = dx__ecma_peek(ecma);
    uint32_t code;
    if (ecma->at == ecma->end) {
        dx__ecma_fail(ecma, "a backslash at the end", where);
        return 0;
    }
    ecma->at++;
    const char *name = memchr(names, c, sizeof names - 1);
    if (name)
        return (unsigned char)codes[name - names];
    if (c == 'c')
        return control(ecma);
    if (c == 'u')
        return dx__ecma_unicode(ecma);
    if (c == 'x' && take_hex(ecma, 2, &code))
        return code;
    if (c == '0' && !dx__is_digit(dx__ecma_peek(ecma)))
        return 0;
    if (in_class && c == 'b')
        return '\b';
    if (dx__is_one_of(c, "^$\\.*+?()[]{}|/") || (in_class && c == '-'))
        return (unsigned char)c;
    dx__ecma_fail(ecma, "an escape without a meaning", where);
    return 0;
}

/* White space and the ends of lines; and all the rest. */
#define SPACE                                                                                 \
    "\\x{9}-\\x{d}\\ \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}" \
    "\\x{3000}\\x{feff}"
#define NO_SPACE                                                                     \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"   \
    "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

bool dx__ecma_set(dx__ecma *ecma, bool in_class) {
    char c = dx__ecma_peek(ecma);
    if (!dx__is_one_of(c, "dDwWsSpP"))
        return false;
    ecma->at++;
    if (c == 'p' || c == 'P') {
        dx__ecma_property(ecma, c == 'P');
    } else if (c == 's') {
        dx__ecma_put(ecma, in_class ? SPACE : "[" SPACE "]");
    } else if (c == 'S') {
        dx__ecma_put(ecma, in_class ? NO_SPACE : "[^" SPACE "]");
    } else {
        char escape[] = {'\\', c, '\0'}; /* ASCII for PCRE2, too, as long as it isn't told else */
        dx__ecma_put(ecma, escape);
    }
    return true;
}

/* One member of a class: true if it is a single character. */
static bool read_member(dx__ecma *ecma, uint32_t *ret_code) {
    if (!dx__ecma_take(ecma, '\\')) {
        *ret_code = dx__ecma_code(ecma);
        return true;
    }
    if (dx__ecma_set(ecma, true))
        return false;
    *ret_code = dx__ecma_character(ecma, true);
    return true;
}

/* Is there a "-" that is not the last of the class? */
static bool is_range(const dx__ecma *ecma) {
    return ecma->end - ecma->at >= 2 && ecma->at[0] == '-' && ecma->at[1] != ']';
}

static void read_range(dx__ecma *ecma) {
    uint32_t low = 0;
    uint32_t high = 0;
    const char *where = ecma->at;
    bool single = read_member(ecma, &low);
    if (single)
        dx__ecma_put_code(ecma, low);
    if (!is_range(ecma))
        return;
    ecma->at++;
    single &= read_member(ecma, &high);
    if (!single) {
        dx__ecma_fail(ecma, "a range that begins or ends with a set", where);
    } else if (high < low) {
        dx__ecma_fail(ecma, "a range that goes backwards", where);
    } else {
        dx__ecma_put(ecma, "-");
        dx__ecma_put_code(ecma, high);
    }
}

void dx__ecma_class(dx__ecma *ecma) {
    const char *where = ecma->at - 1;
    bool negated = dx__ecma_take(ecma, '^');
    if (dx__ecma_take(ecma, ']')) { /* anything, and nothing */
        dx__ecma_put(ecma, negated ? "[\\x{0}-\\x{10ffff}]" : "[^\\x{0}-\\x{10ffff}]");
        return;
    }
    dx__ecma_put(ecma, negated ? "[^" : "[");
    while (ecma->at < ecma->end && *ecma->at != ']')
        read_range(ecma);
    if (!dx__ecma_take(ecma, ']'))
        dx__ecma_fail(ecma, "a class that is not closed", where);
    dx__ecma_put(ecma, "]");
}
