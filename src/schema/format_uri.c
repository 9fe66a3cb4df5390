/* URIs (RFC 3986), IRIs (RFC 3987) and templates of URIs (RFC 6570). */
#include "schema/format.h"

#include <string.h>

/* What may stand in a part besides letters, digits, "-._~" and %XX. */
#define SUB_DELIMS "!$&'()*+,;="

struct part {
    const char *others;
    bool wide;    /* characters beyond ASCII, too */
    bool is_open; /* and those for private use */
};

/* RFC 3987's ucschar and iprivate. */
static bool is_wide(uint32_t code, bool is_open) {
    bool is_private = (code >= 0xe000 && code <= 0xf8ff) || code >= 0xf0000;
    if ((code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef))
        return false;
    if (is_private)
        return is_open;
    return code >= 0xa0 && !(code >= 0xfff0 && code <= 0xffff) &&
           !(code >= 0xe0000 && code <= 0xe0fff);
}

/* A character beyond ASCII; the text is UTF-8 but for what a careless reader let pass. */
static bool take_wide(dx__cursor *cursor, bool is_open) {
    unsigned char first = (unsigned char)*cursor->at;
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || (size_t)(cursor->end - cursor->at) < len)
        return false;
    uint32_t code = first & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        unsigned char c = (unsigned char)cursor->at[i];
        if ((c & 0xc0) != 0x80)
            return false;
        code = code << 6 | (c & 0x3f);
    }
    cursor->at += len;
    return is_wide(code, is_open);
}

static bool take_percent(dx__cursor *cursor) {
    if (cursor->end - cursor->at < 3 || !dx__is_hex((unsigned char)cursor->at[1]) ||
        !dx__is_hex((unsigned char)cursor->at[2]))
        return false;
    cursor->at += 3;
    return true;
}

static bool is_all(dx_text text, struct part part) {
    dx__cursor cursor = dx__cursor_on(text);
    while (cursor.at < cursor.end) {
        int c = dx__cursor_peek(&cursor);
        if (dx__is_letter(c) || dx__is_digit(c) || dx__is_one_of(c, "-._~") ||
            dx__is_one_of(c, part.others))
            cursor.at++;
        else if (c == '%' ? !take_percent(&cursor)
                          : c < 0x80 || !part.wide || !take_wide(&cursor, part.is_open))
            return false;
    }
    return true;
}

/* Up to the first of these bytes, or all; *rest is the others, that byte first. */
static dx_text cut(dx_text *rest, const char *bytes) {
    size_t len = 0;
    while (len < rest->len && !dx__is_one_of((unsigned char)rest->at[len], bytes))
        len++;
    dx_text front = {rest->at, len};
    *rest = (dx_text){rest->at + len, rest->len - len};
    return front;
}

static dx_text without_first(dx_text text) {
    return (dx_text){text.at + 1, text.len - 1};
}

static bool is_scheme(dx_text text) {
    for (size_t i = 0; i < text.len; i++) {
        int c = (unsigned char)text.at[i];
        if (!dx__is_letter(c) && (i == 0 || !(dx__is_digit(c) || dx__is_one_of(c, "+-."))))
            return false;
    }
    return text.len > 0;
}

/* "v1.…": an address of a kind that is yet to come. */
static bool is_future(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    if (!dx__cursor_take(&cursor, 'v') && !dx__cursor_take(&cursor, 'V'))
        return false;
    const char *from = cursor.at;
    while (dx__is_hex(dx__cursor_peek(&cursor)))
        cursor.at++;
    if (cursor.at == from || !dx__cursor_take(&cursor, '.') || cursor.at == cursor.end ||
        memchr(cursor.at, '%', (size_t)(cursor.end - cursor.at)))
        return false;
    return is_all((dx_text){cursor.at, (size_t)(cursor.end - cursor.at)},
                  (struct part){.others = SUB_DELIMS ":"});
}

static bool is_authority(dx_text text, bool wide) {
    dx_text rest = text;
    dx_text user = cut(&rest, "@");
    if (rest.len) {
        if (!is_all(user, (struct part){.others = SUB_DELIMS ":", .wide = wide}))
            return false;
        rest = without_first(rest);
    } else {
        rest = text;
    }
    if (rest.len && rest.at[0] == '[') {
        rest = without_first(rest);
        dx_text address = cut(&rest, "]");
        if (!rest.len || (!dx__format_ipv6(address) && !is_future(address)))
            return false;
        rest = without_first(rest);
        if (rest.len && rest.at[0] != ':')
            return false;
    } else if (!is_all(cut(&rest, ":"), (struct part){.others = SUB_DELIMS, .wide = wide})) {
        return false;
    }
    if (!rest.len)
        return true;
    dx__cursor port = dx__cursor_on(without_first(rest));
    dx__cursor_digits(&port);
    return port.at == port.end;
}

static bool is_reference(dx_text text, bool wide, bool is_relative_fine) {
    dx_text fragment = text;
    dx_text query = cut(&fragment, "#");
    dx_text path = cut(&query, "?");
    dx_text rest = path;
    dx_text first = cut(&rest, ":/");
    if (rest.len && rest.at[0] == ':') {
        if (!is_scheme(first))
            return false;
        path = without_first(rest);
    } else if (!is_relative_fine) {
        return false;
    }
    if (path.len >= 2 && path.at[0] == '/' && path.at[1] == '/') {
        path = without_first(without_first(path));
        if (!is_authority(cut(&path, "/"), wide))
            return false;
    }
    struct part part = {.others = SUB_DELIMS ":@/", .wide = wide};
    if (!is_all(path, part))
        return false;
    part.others = SUB_DELIMS ":@/?";
    if (fragment.len && !is_all(without_first(fragment), part))
        return false;
    part.is_open = true;
    return !query.len || is_all(without_first(query), part);
}

bool dx__format_uri(dx_text text) {
    return is_reference(text, false, false);
}

bool dx__format_uri_reference(dx_text text) {
    return is_reference(text, false, true);
}

bool dx__format_iri(dx_text text) {
    return is_reference(text, true, false);
}

bool dx__format_iri_reference(dx_text text) {
    return is_reference(text, true, true);
}

/* Letters, digits, "_" and %XX, with single dots between them. */
static bool take_variable(dx__cursor *cursor) {
    bool dot = true; /* one would be wrong now */
    for (;;) {
        int c = dx__cursor_peek(cursor);
        if (c == '.') {
            if (dot)
                return false;
            dot = true;
            cursor->at++;
            continue;
        }
        if (c == '%') {
            if (!take_percent(cursor))
                return false;
        } else if (dx__is_letter(c) || dx__is_digit(c) || c == '_') {
            cursor->at++;
        } else {
            return !dot;
        }
        dot = false;
    }
}

/* ":" and a number from 1 to 9999, or "*". */
static bool take_modifier(dx__cursor *cursor) {
    if (dx__cursor_take(cursor, '*') || !dx__cursor_take(cursor, ':'))
        return true;
    bool zero = dx__cursor_peek(cursor) == '0';
    size_t digits = dx__cursor_digits(cursor);
    return digits && digits <= 4 && !zero;
}

/* Behind "{". */
static bool take_expression(dx__cursor *cursor) {
    int c = dx__cursor_peek(cursor);
    if (dx__is_one_of(c, "+#./;?&=,!@|"))
        cursor->at++;
    do {
        if (!take_variable(cursor) || !take_modifier(cursor))
            return false;
    } while (dx__cursor_take(cursor, ','));
    return dx__cursor_take(cursor, '}');
}

bool dx__format_uri_template(dx_text text) {
    dx__cursor cursor = dx__cursor_on(text);
    while (cursor.at < cursor.end) {
        int c = dx__cursor_peek(&cursor);
        bool right;
        if (c >= 0x80) {
            right = take_wide(&cursor, true);
        } else if (c == '%') {
            right = take_percent(&cursor);
        } else {
            right = c > ' ' && c < 0x7f && !dx__is_one_of(c, "\"<>\\^`|}");
            cursor.at++;
            if (c == '{')
                right = take_expression(&cursor);
        }
        if (!right)
            return false;
    }
    return true;
}
