#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* A letter or a control character as separator would make names or line ends ambiguous. */
static bool can_separate(char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return c > ' ' && c < 0x7f && !letter;
}

enum { ESCAPE = 3, SUBCOMPONENT = 4 };

const char *hl7_marks_read(dx_text text, bool exact, hl7_marks *ret_marks) {
    char marks[5] = {0};
    size_t count = 0;
    for (; count < sizeof marks && 3 + count < text.len; count++) {
        char c = text.at[3 + count];
        if (c == '\r' || c == '\n' || (count && c == marks[0]))
            break;
        /* Programs that take backslashes for escapes of their own leave a blank, or nothing. */
        if (c == ' ' && count == ESCAPE && !exact)
            continue;
        if (!can_separate(c))
            return "a separator in MSH is not a printable ASCII character";
        if (memchr(marks, c, count))
            return "two separators in MSH are the same";
        marks[count] = c;
    }
    if (count < (exact ? sizeof marks : 2))
        return "MSH has too few separators";
    if (count == ESCAPE + 1 && marks[ESCAPE] == '&' && !exact) {
        marks[ESCAPE] = '\0';
        marks[SUBCOMPONENT] = '&';
    }
    *ret_marks = (hl7_marks){.field = marks[0],
                             .component = marks[1],
                             .repetition = marks[2],
                             .escape = marks[3],
                             .subcomponent = marks[4]};
    return NULL;
}

static bool is_kept(char mark, char other) {
    return !mark || mark == other;
}

bool hl7_marks_extend(const hl7_marks *marks, const hl7_marks *more) {
    return marks->field == more->field && is_kept(marks->component, more->component) &&
           is_kept(marks->repetition, more->repetition) && is_kept(marks->escape, more->escape) &&
           is_kept(marks->subcomponent, more->subcomponent);
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool are_all(dx_text text, bool (*is)(char c)) {
    for (size_t i = 0; i < text.len; i++)
        if (!is(text.at[i]))
            return false;
    return true;
}

static bool is_letter_or_digit(char c) {
    return is_letter(c) || is_digit(c);
}

/* ".br", ".sp", ".sp3", ".in+2", ".sk 3" */
static bool is_layout(dx_text name) {
    if (name.len < 3 || name.at[0] != '.' || !is_letter(name.at[1]) || !is_letter(name.at[2]))
        return false;
    dx_text rest = {name.at + 3, name.len - 3};
    if (rest.len && (*rest.at == '+' || *rest.at == '-' || *rest.at == ' '))
        rest = rest.len > 1 ? (dx_text){rest.at + 1, rest.len - 1} : (dx_text){"x", 1};
    return are_all(rest, is_digit);
}

/* What HL7 allows between two escape characters. */
static bool is_sequence(dx_text name) {
    dx_text rest = {name.at + 1, name.len - 1};
    switch (name.at[0]) {
    case 'E':
    case 'F':
    case 'H':
    case 'N':
    case 'P':
    case 'R':
    case 'S':
    case 'T':
        return !rest.len;
    case 'C':
        return rest.len == 4 && are_all(rest, is_hex);
    case 'M':
        return (rest.len == 4 || rest.len == 6) && are_all(rest, is_hex);
    case 'X':
        return rest.len && rest.len % 2 == 0 && are_all(rest, is_hex);
    case 'Z':
        return are_all(rest, is_letter_or_digit);
    default:
        return is_layout(name);
    }
}

/* The text begins with an escape character: how long is the escape sequence, with both of them?
 * 0 if it is not one. */
static size_t sequence(const hl7_marks *marks, dx_text text) {
    const char *end = text.len > 2 ? memchr(text.at + 1, marks->escape, text.len - 1) : NULL;
    if (!end || end == text.at + 1)
        return 0;
    dx_text name = {text.at + 1, (size_t)(end - text.at) - 1};
    return is_sequence(name) ? name.len + 2 : 0;
}

/* The letters of the sequence that a byte needs; NULL if it needs none. */
static const char *escape_of(const hl7_marks *marks, char c) {
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
    return c == marks->escape ? "E" : NULL;
}

/* The next byte, or bytes that stay together: returns how many; *ret_letters is the sequence that
 * has to stand for them, NULL if they stay. */
static size_t next_piece(const hl7_marks *marks, dx_text rest, hl7_escapes escapes,
                         const char **ret_letters) {
    *ret_letters = escape_of(marks, *rest.at);
    if (*rest.at != marks->escape || !marks->escape || escapes == HL7_ESCAPE_ALL)
        return 1;
    size_t kept = escapes == HL7_ESCAPE_NONE ? 1 : sequence(marks, rest);
    if (kept)
        *ret_letters = NULL;
    return kept ? kept : 1;
}

size_t hl7_escaped_size(const hl7_marks *marks, dx_text text, hl7_escapes escapes) {
    size_t size = text.len;
    const char *letters;
    for (size_t i = 0; i < text.len;) {
        i += next_piece(marks, (dx_text){text.at + i, text.len - i}, escapes, &letters);
        if (letters && !marks->escape)
            return SIZE_MAX;
        if (letters)
            size += strlen(letters) + 1;
    }
    return size;
}

char *hl7_escape(const hl7_marks *marks, dx_text text, hl7_escapes escapes, char *to) {
    const char *letters;
    for (size_t i = 0, len; i < text.len; i += len) {
        len = next_piece(marks, (dx_text){text.at + i, text.len - i}, escapes, &letters);
        if (!letters) {
            memcpy(to, text.at + i, len);
            to += len;
            continue;
        }
        *to++ = marks->escape;
        while (*letters)
            *to++ = *letters++;
        *to++ = marks->escape;
    }
    return to;
}

/* The separator that a sequence stands for; '\0' if it stands for none. */
static char separator_of(const hl7_marks *marks, char letter) {
    switch (letter) {
    case 'F':
        return marks->field;
    case 'S':
        return marks->component;
    case 'T':
        return marks->subcomponent;
    case 'R':
        return marks->repetition;
    default:
        return '\0';
    }
}

dx_status hl7_unescape(const hl7_marks *marks, dx_text raw, dx_buf *out) {
    size_t start = out->len;
    dx_status status = DX_OK;
    for (size_t i = 0, len; i < raw.len && status == DX_OK; i += len) {
        dx_text rest = {raw.at + i, raw.len - i};
        const char *open = marks->escape ? memchr(rest.at, marks->escape, rest.len) : NULL;
        len = open ? (size_t)(open - rest.at) : rest.len;
        if (len) {
            status = dx_buf_append(out, rest.at, len);
            continue;
        }
        len = sequence(marks, rest);
        char c = len == 3 ? separator_of(marks, rest.at[1]) : '\0';
        len = len ? len : 1;
        status = dx_buf_append(out, c ? &c : rest.at, c ? 1 : len);
    }
    if (status != DX_OK)
        out->len = start;
    return status;
}
