#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* A letter or a control character as separator would make names or line ends ambiguous. */
static bool can_separate(char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return c > ' ' && c < 0x7f && !letter;
}

const char *hl7_marks_read(dx_text text, bool exact, hl7_marks *ret_marks) {
    char marks[5] = {0};
    size_t count = 0;
    for (; count < sizeof marks && 3 + count < text.len; count++) {
        char c = text.at[3 + count];
        if (c == '\r' || c == '\n' || (count && c == marks[0]))
            break;
        if (!can_separate(c))
            return "a separator in MSH is not a printable ASCII character";
        if (memchr(marks, c, count))
            return "two separators in MSH are the same";
        marks[count] = c;
    }
    if (count < (exact ? sizeof marks : 2))
        return "MSH has too few separators";
    *ret_marks = (hl7_marks){.field = marks[0],
                             .component = marks[1],
                             .repetition = marks[2],
                             .escape = marks[3],
                             .subcomponent = marks[4]};
    return NULL;
}

bool hl7_marks_separate(const hl7_marks *marks, char c) {
    return c && (c == marks->field || c == marks->component || c == marks->repetition ||
                 c == marks->subcomponent);
}

/* The letters of the escape that a byte needs; NULL if it needs none. */
static const char *escape_of(const hl7_marks *marks, char c, bool raw) {
    if (c == '\r')
        return "X0D";
    if (c == '\n')
        return "X0A";
    if (!c)
        return NULL;
    if (c == marks->field)
        return "F";
    if (c == marks->component)
        return "S";
    if (c == marks->subcomponent)
        return "T";
    if (c == marks->repetition)
        return "R";
    return c == marks->escape && !raw ? "E" : NULL;
}

size_t hl7_escaped_size(const hl7_marks *marks, dx_text text, bool raw) {
    size_t size = text.len;
    for (size_t i = 0; i < text.len; i++) {
        const char *letters = escape_of(marks, text.at[i], raw);
        if (!letters)
            continue;
        if (!marks->escape)
            return SIZE_MAX;
        size += strlen(letters) + 1;
    }
    return size;
}

char *hl7_escape(const hl7_marks *marks, dx_text text, bool raw, char *to) {
    for (size_t i = 0; i < text.len; i++) {
        const char *letters = escape_of(marks, text.at[i], raw);
        if (!letters) {
            *to++ = text.at[i];
            continue;
        }
        *to++ = marks->escape;
        while (*letters)
            *to++ = *letters++;
        *to++ = marks->escape;
    }
    return to;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of \X0D0A\; false if the letters are no such thing. */
static bool hex_bytes(dx_text letters, dx_buf *out, dx_status *status) {
    if (letters.len < 3 || letters.len % 2 == 0 || letters.at[0] != 'X')
        return false;
    for (size_t i = 1; i < letters.len; i++)
        if (hex_value(letters.at[i]) < 0)
            return false;
    for (size_t i = 1; i < letters.len && *status == DX_OK; i += 2) {
        char byte = (char)(hex_value(letters.at[i]) << 4 | hex_value(letters.at[i + 1]));
        *status = dx_buf_append(out, &byte, 1);
    }
    return true;
}

/* What stands between two escape characters; false if it means nothing to us. */
static bool resolve(const hl7_marks *marks, dx_text letters, dx_buf *out, dx_status *status) {
    char c = '\0';
    if (letters.len == 1) {
        switch (letters.at[0]) {
        case 'F':
            c = marks->field;
            break;
        case 'S':
            c = marks->component;
            break;
        case 'T':
            c = marks->subcomponent;
            break;
        case 'R':
            c = marks->repetition;
            break;
        case 'E':
            c = marks->escape;
            break;
        default:
            break;
        }
    }
    if (!c)
        return hex_bytes(letters, out, status);
    *status = dx_buf_append(out, &c, 1);
    return true;
}

dx_status hl7_unescape(const hl7_marks *marks, dx_text raw, dx_buf *out) {
    size_t start = out->len;
    const char *at = raw.at;
    const char *end = raw.at + raw.len;
    dx_status status = DX_OK;
    while (at < end && status == DX_OK) {
        const char *open = marks->escape ? memchr(at, marks->escape, (size_t)(end - at)) : NULL;
        if (!open)
            open = end;
        status = dx_buf_append(out, at, (size_t)(open - at));
        at = open;
        if (at == end || status != DX_OK)
            break;
        const char *close = memchr(at + 1, marks->escape, (size_t)(end - at - 1));
        /* Without a second one, here and from here on, the rest is as it is. */
        if (!close) {
            status = dx_buf_append(out, at, (size_t)(end - at));
            break;
        }
        dx_text letters = {at + 1, (size_t)(close - at - 1)};
        if (resolve(marks, letters, out, &status))
            at = close + 1;
        else if (status == DX_OK) {
            status = dx_buf_append(out, at, (size_t)(close - at));
            at = close;
            /* An escape that we don't know ends here; else its end would begin the next one. */
            if (letters.len && status == DX_OK) {
                status = dx_buf_append(out, at, 1);
                at++;
            }
        }
    }
    if (status != DX_OK)
        out->len = start;
    return status;
}
