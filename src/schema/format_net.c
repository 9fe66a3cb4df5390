/* Names and addresses of hosts, and of those who read mail there. */
#include "schema/format.h"

#include <string.h>

enum {
    LABEL_MAX = 63,
    HOST_MAX = 253, /* RFC 1035's 255 octets, as text */
    LOCAL_MAX = 64, /* RFC 5321, 4.5.3.1.1 */
};

/* Letters, digits and, inside, hyphens. */
static bool take_label(dx__cursor *cursor) {
    const char *from = cursor->at;
    int c;
    while (dx__is_letter(c = dx__cursor_peek(cursor)) || dx__is_digit(c) || c == '-')
        cursor->at++;
    size_t len = (size_t)(cursor->at - from);
    return len && len <= LABEL_MAX && from[0] != '-' && cursor->at[-1] != '-';
}

bool dx__format_hostname(dx_text text) {
    if (text.len > HOST_MAX)
        return false;
    dx__cursor cursor = dx__cursor_on(text);
    do {
        if (!take_label(&cursor))
            return false;
    } while (dx__cursor_take(&cursor, '.'));
    return cursor.at == cursor.end;
}

/* 0 to 255, without a zero in front. */
static bool take_octet(dx__cursor *cursor) {
    const char *from = cursor->at;
    size_t len = dx__cursor_digits(cursor);
    if (!len || len > 3 || (len > 1 && from[0] == '0'))
        return false;
    return len < 3 || memcmp(from, "255", 3) <= 0;
}

bool dx__format_ipv4(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    for (int i = 0; i < 4; i++)
        if ((i && !dx__cursor_take(&cursor, '.')) || !take_octet(&cursor))
            return false;
    return cursor.at == cursor.end;
}

/* Groups up to a "::" or the end: how many there are, an IPv4 address at the end being two; -1 for
 * what can't be. */
static int take_groups(dx__cursor *cursor) {
    int count = 0;
    for (;;) {
        const char *from = cursor->at;
        while (dx__is_hex(dx__cursor_peek(cursor)))
            cursor->at++;
        size_t len = (size_t)(cursor->at - from);
        if (dx__cursor_peek(cursor) == '.') {
            cursor->at = cursor->end;
            return dx__format_ipv4((dx_text){from, (size_t)(cursor->end - from)}) ? count + 2 : -1;
        }
        if (!len || len > 4 || ++count > 8)
            return -1;
        if (cursor->at == cursor->end)
            return count;
        if (!dx__cursor_take(cursor, ':'))
            return -1;
        if (dx__cursor_peek(cursor) == ':') {
            cursor->at--; /* both colons are left */
            return count;
        }
    }
}

bool dx__format_ipv6(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    int before = 0;
    if (text.len < 2)
        return false;
    if (text.at[0] != ':')
        before = take_groups(&cursor);
    if (before < 0 || cursor.at == cursor.end)
        return before == 8;
    /* What is left begins with a colon: with two, it stands for groups of zeros. */
    if (!dx__cursor_take(&cursor, ':') || !dx__cursor_take(&cursor, ':'))
        return false;
    int after = cursor.at < cursor.end ? take_groups(&cursor) : 0;
    return after >= 0 && before + after <= 7 && cursor.at == cursor.end;
}

static bool is_atom_byte(int c) {
    return dx__is_letter(c) || dx__is_digit(c) || dx__is_one_of(c, "!#$%&'*+-/=?^_`{|}~");
}

static bool take_dotted(dx__cursor *cursor) {
    do {
        const char *from = cursor->at;
        while (is_atom_byte(dx__cursor_peek(cursor)))
            cursor->at++;
        if (cursor->at == from)
            return false;
    } while (dx__cursor_take(cursor, '.'));
    return true;
}

/* Behind the quote. */
static bool take_quoted(dx__cursor *cursor) {
    while (!dx__cursor_take(cursor, '"')) {
        dx__cursor_take(cursor, '\\');
        int c = dx__cursor_peek(cursor);
        if (c < ' ' || c > '~')
            return false;
        cursor->at++;
    }
    return true;
}

/* "[…]": what is inside. */
static bool is_address(dx_text text) {
    static const char tag[] = "ipv6:";
    for (size_t i = 0; i < sizeof tag - 1; i++) {
        char c = i < text.len ? text.at[i] : '\0';
        if (c != tag[i] && !(dx__is_letter(c) && (c | 0x20) == tag[i]))
            return dx__format_ipv4(text);
    }
    return dx__format_ipv6((dx_text){text.at + sizeof tag - 1, text.len - (sizeof tag - 1)});
}

bool dx__format_email(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    bool local = dx__cursor_take(&cursor, '"') ? take_quoted(&cursor) : take_dotted(&cursor);
    if (!local || cursor.at - text.at > LOCAL_MAX || !dx__cursor_take(&cursor, '@'))
        return false;
    dx_text domain = {cursor.at, (size_t)(cursor.end - cursor.at)};
    if (domain.len > 2 && domain.at[0] == '[' && domain.at[domain.len - 1] == ']')
        return is_address((dx_text){domain.at + 1, domain.len - 2});
    return dx__format_hostname(domain);
}
