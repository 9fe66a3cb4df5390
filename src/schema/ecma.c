#include "schema/ecma.h"

#include "base/buf.h"
#include "base/line.h"

#include <string.h>

void dx__ecma_fail(dx__ecma *ecma, const char *wrong, const char *where) {
    if (ecma->status == DX_OK) {
        ecma->status = DX_ERR_INVALID;
        ecma->wrong = wrong;
        ecma->where = where;
    }
    ecma->at = ecma->end;
}

static void put(dx__ecma *ecma, dx_buf *buf, const char *bytes, size_t len) {
    if (!buf || ecma->status != DX_OK)
        return;
    ecma->status = dx__buf_put(buf, bytes, len);
    if (ecma->status != DX_OK)
        ecma->at = ecma->end;
}

void dx__ecma_put(dx__ecma *ecma, const char *string) {
    put(ecma, ecma->out, string, strlen(string));
}

static size_t utf8(uint32_t code, char bytes[4]) {
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[len] | code);
    return len;
}

static bool is_surrogate(uint32_t code) {
    return code >= 0xd800 && code <= 0xdfff;
}

void dx__ecma_put_code(dx__ecma *ecma, uint32_t code) {
    static const char hex[] = "0123456789abcdef";
    char bytes[16] = "\\x{";
    size_t len = 0;
    if (code < 0x20 || code == 0x7f || is_surrogate(code)) {
        len = 3;
        for (int shift = code < 0x100 ? 4 : 12; shift >= 0; shift -= 4)
            bytes[len++] = hex[code >> shift & 15];
        bytes[len++] = '}';
    } else if (code < 0x80 && !dx__is_letter((int)code) && !dx__is_digit((int)code)) {
        bytes[1] = (char)code; /* behind a backslash nothing but letters and digits is special */
        len = 2;
    } else {
        len = utf8(code, bytes);
    }
    put(ecma, ecma->out, bytes, len);
}

static void put_number(dx__ecma *ecma, uint64_t number) {
    char digits[20];
    put(ecma, ecma->out, digits, dx__digits(number, digits));
}

static void put_callout(dx__ecma *ecma) {
    dx__ecma_put(ecma, "(?C)");
    ecma->stride = 0;
}

/* Names */

static bool is_name_code(uint32_t code, bool first) {
    if (code >= 0x80)
        return !is_surrogate(code);
    int c = (int)code;
    return dx__is_letter(c) || c == '$' || c == '_' || (!first && dx__is_digit(c));
}

/* One character of a name; behind its last one 0. */
static uint32_t name_code(dx__ecma *ecma) {
    if (ecma->at == ecma->end)
        return 0;
    if (*ecma->at != '\\')
        return dx__ecma_code(ecma);
    if (ecma->end - ecma->at < 2 || ecma->at[1] != 'u')
        return 0;
    ecma->at += 2;
    return dx__ecma_unicode(ecma);
}

/* Behind "<", up to behind ">". */
static dx_text read_name(dx__ecma *ecma) {
    const char *from = ecma->at;
    const char *to = memchr(from, '>', (size_t)(ecma->end - from));
    if (!to) {
        dx__ecma_fail(ecma, "a group name that does not end", from);
        return (dx_text){from, 0};
    }
    dx__ecma name = {.start = ecma->start, .at = from, .end = to};
    do {
        const char *where = name.at;
        if (!is_name_code(name_code(&name), where == from))
            dx__ecma_fail(&name, "an invalid group name", where);
    } while (name.at < to);
    if (name.status != DX_OK)
        dx__ecma_fail(ecma, name.wrong, name.where);
    else
        ecma->at = to + 1;
    return (dx_text){from, (size_t)(to - from)};
}

/* Both have been read before, so they are right. */
static bool same_name(dx_text one, dx_text other) {
    if (one.len == other.len && memcmp(one.at, other.at, one.len) == 0)
        return true;
    dx__ecma a = {.at = one.at, .end = one.at + one.len};
    dx__ecma b = {.at = other.at, .end = other.at + other.len};
    while (a.at < a.end && b.at < b.end)
        if (name_code(&a) != name_code(&b))
            return false;
    return a.at == a.end && b.at == b.end;
}

/* The number of the group of that name, or 0. */
static unsigned number_of(const dx__ecma *ecma, dx_text name) {
    for (unsigned i = 0; i < ecma->names_count; i++)
        if (same_name(ecma->names[i], name))
            return ecma->numbers[i];
    return 0;
}

/* What lies ahead */

static void survey_group(dx__ecma *ecma) {
    const char *at = ecma->at;
    size_t left = (size_t)(ecma->end - at);
    if (left == 0 || at[0] != '?') {
        ecma->groups++;
        return;
    }
    if (left < 3 || at[1] != '<' || at[2] == '=' || at[2] == '!')
        return;
    ecma->at += 2;
    dx_text name = read_name(ecma);
    if (ecma->status != DX_OK)
        return;
    if (ecma->names_count == DX__ECMA_NAMES_MAX)
        dx__ecma_fail(ecma, "more than 100 names", at);
    else if (number_of(ecma, name))
        dx__ecma_fail(ecma, "two groups of the same name", name.at);
    if (ecma->status != DX_OK)
        return;
    ecma->names[ecma->names_count] = name;
    ecma->numbers[ecma->names_count++] = ++ecma->groups;
}

/* A reference may stand before its group, so groups are counted before anything is read. */
static void survey(dx__ecma *ecma) {
    bool in_class = false;
    while (ecma->at < ecma->end) {
        char c = *ecma->at++;
        if (c == '\\') {
            char next = dx__ecma_peek(ecma);
            ecma->refers |= !in_class && (next == 'k' || (next >= '1' && next <= '9'));
            ecma->at += ecma->at < ecma->end;
        } else if (in_class) {
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
        } else if (c == '(') {
            survey_group(ecma);
        }
    }
    ecma->at = ecma->start;
}

/* Repetitions */

struct repeat {
    uint64_t min;
    uint64_t max;
};

static uint64_t read_number(dx__ecma *ecma) {
    uint64_t number = 0;
    for (; dx__is_digit(dx__ecma_peek(ecma)); ecma->at++)
        if (number < UINT32_MAX)
            number = number * 10 + (uint64_t)(*ecma->at - '0');
    return number;
}

/* Behind "{". */
static struct repeat read_braces(dx__ecma *ecma) {
    struct repeat repeat = {0, UINT64_MAX};
    const char *from = ecma->at;
    bool right = dx__is_digit(dx__ecma_peek(ecma));
    repeat.min = read_number(ecma);
    if (!dx__ecma_take(ecma, ','))
        repeat.max = repeat.min;
    else if (dx__is_digit(dx__ecma_peek(ecma)))
        repeat.max = read_number(ecma);
    if (!right || !dx__ecma_take(ecma, '}'))
        dx__ecma_fail(ecma, "a '{' that does not begin a repetition", from - 1);
    else if (repeat.max < repeat.min)
        dx__ecma_fail(ecma, "a repetition whose minimum exceeds its maximum", from - 1);
    else if (ecma->out && (repeat.min > DX__ECMA_COUNT_MAX ||
                           (repeat.max > DX__ECMA_COUNT_MAX && repeat.max != UINT64_MAX)))
        dx__ecma_fail(ecma, "a repetition of more than 65535, which is not supported", from - 1);
    return repeat;
}

static bool read_repeat(dx__ecma *ecma, struct repeat *ret_repeat) {
    if (dx__ecma_take(ecma, '*'))
        *ret_repeat = (struct repeat){0, UINT64_MAX};
    else if (dx__ecma_take(ecma, '+'))
        *ret_repeat = (struct repeat){1, UINT64_MAX};
    else if (dx__ecma_take(ecma, '?'))
        *ret_repeat = (struct repeat){0, 1};
    else if (dx__ecma_take(ecma, '{'))
        *ret_repeat = read_braces(ecma);
    else
        return false;
    dx__ecma_take(ecma, '?');
    return true;
}

/* A callout whose number tells of a long repetition that can fail on its way, put before it. */
static void insert_callout(dx__ecma *ecma, size_t where, uint64_t steps) {
    uint64_t number = (steps + DX__ECMA_STRIDE - 1) / DX__ECMA_STRIDE;
    if (!ecma->out || ecma->status != DX_OK)
        return;
    size_t len = ecma->out->len;
    dx__ecma_put(ecma, "(?C");
    put_number(ecma, number < 255 ? number : 255);
    dx__ecma_put(ecma, ")");
    if (ecma->status != DX_OK)
        return;
    char callout[8];
    size_t callout_len = ecma->out->len - len;
    memcpy(callout, ecma->out->data + len, callout_len);
    memmove(ecma->out->data + where + callout_len, ecma->out->data + where, len - where);
    memcpy(ecma->out->data + where, callout, callout_len);
}

/* What can be repeated has ended, and was written from `where` on. */
static bool repeat_atom(dx__ecma *ecma, size_t where, bool is_group) {
    struct repeat repeat;
    const char *from = ecma->at;
    bool repeated = read_repeat(ecma, &repeat);
    ecma->stride++;
    if (repeated) {
        if (!is_group && repeat.min > DX__ECMA_STRIDE)
            insert_callout(ecma, where, repeat.min);
        put(ecma, ecma->out, from, (size_t)(ecma->at - from));
        if (repeat.min == repeat.max)
            ecma->stride += repeat.min < DX__ECMA_STRIDE ? (unsigned)repeat.min : DX__ECMA_STRIDE;
    }
    if ((repeated && repeat.min != repeat.max) || ecma->stride >= DX__ECMA_STRIDE / 2)
        put_callout(ecma);
    return repeated;
}

/* Groups */

static bool take_word(dx__ecma *ecma, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(ecma->end - ecma->at) < len || memcmp(ecma->at, word, len) != 0)
        return false;
    ecma->at += len;
    return true;
}

/* Behind "(". */
static void open_group(dx__ecma *ecma) {
    static const char *const looks[] = {"?=", "?!", "?<=", "?<!"};
    const char *where = ecma->at - 1;
    bool asserts = false;
    for (size_t i = 0; i < 4 && !asserts; i++)
        if ((asserts = take_word(ecma, looks[i]))) {
            dx__ecma_put(ecma, "(");
            dx__ecma_put(ecma, looks[i]);
            ecma->looks_ahead |= i == 0;
        }
    bool counts = !asserts && !take_word(ecma, "?:");
    if (!asserts) {
        if (counts && take_word(ecma, "?<"))
            read_name(ecma);
        else if (counts && dx__ecma_peek(ecma) == '?')
            dx__ecma_fail(ecma, "an unknown kind of group", where);
        /* Who does not refer to groups need not pay for remembering them. */
        dx__ecma_put(ecma, counts && ecma->refers ? "(" : "(?:");
    }
    if (ecma->depth == DX__ECMA_NESTING_MAX) {
        dx__ecma_fail(ecma, "groups nested more than 200 deep", where);
        return;
    }
    ecma->open[ecma->depth].asserts = asserts;
    ecma->open[ecma->depth++].number = counts ? ++ecma->opened : 0;
    put_callout(ecma);
}

/* Behind ")". True: it can be repeated. */
static bool close_group(dx__ecma *ecma) {
    if (!ecma->depth) {
        dx__ecma_fail(ecma, "a ')' without a '('", ecma->at - 1);
        return false;
    }
    dx__ecma_put(ecma, ")");
    return !ecma->open[--ecma->depth].asserts;
}

/* Atoms */

static void refer(dx__ecma *ecma, uint64_t number, const char *where) {
    if (number == 0 || number > ecma->groups) {
        dx__ecma_fail(ecma, "a reference to a group that does not exist", where);
        return;
    }
    for (unsigned i = 0; i < ecma->depth; i++)
        if (ecma->open[i].number == number) {
            dx__ecma_put(ecma, "(?:)"); /* inside of itself a group has never matched yet */
            return;
        }
    dx__ecma_put(ecma, "\\g{");
    put_number(ecma, number);
    dx__ecma_put(ecma, "}");
}

/* Behind a backslash; true: it is a reference. */
static bool read_reference(dx__ecma *ecma) {
    const char *where = ecma->at - 1;
    char c = dx__ecma_peek(ecma);
    if (c >= '1' && c <= '9') {
        refer(ecma, read_number(ecma), where);
        return true;
    }
    if (!dx__ecma_take(ecma, 'k'))
        return false;
    if (!dx__ecma_take(ecma, '<')) {
        dx__ecma_fail(ecma, "a reference without a name", where);
        return true;
    }
    dx_text name = read_name(ecma);
    if (ecma->status == DX_OK)
        refer(ecma, number_of(ecma, name), where);
    return true;
}

/* One character; it stays part of the literal unless it is repeated. */
static void finish_character(dx__ecma *ecma, uint32_t code) {
    size_t where = ecma->out ? ecma->out->len : 0;
    dx__ecma_put_code(ecma, code);
    if (repeat_atom(ecma, where, false) || is_surrogate(code))
        ecma->plain = false;
    char bytes[4];
    if (ecma->plain && ecma->status == DX_OK)
        put(ecma, ecma->literal, bytes, utf8(code, bytes));
}

/* Behind a backslash. */
static void read_escape(dx__ecma *ecma) {
    size_t where = ecma->out ? ecma->out->len : 0;
    char c = dx__ecma_peek(ecma);
    if (c == 'b' || c == 'B') {
        ecma->at++;
        ecma->plain = false;
        dx__ecma_put(ecma, c == 'b' ? "\\b" : "\\B");
    } else if (read_reference(ecma) || dx__ecma_set(ecma, false)) {
        ecma->plain = false;
        repeat_atom(ecma, where, false);
    } else {
        finish_character(ecma, dx__ecma_character(ecma, false));
    }
}

static void read_anchor(dx__ecma *ecma, char c) {
    dx__ecma_put(ecma, c == '^' ? "^" : "\\z");
    if (c == '^' && ecma->at - 1 == ecma->start)
        ecma->from_start = true;
    else if (c == '$' && ecma->at == ecma->end)
        ecma->to_end = true;
    else
        ecma->plain = false;
}

static void read_special(dx__ecma *ecma, char c) {
    size_t where = ecma->out ? ecma->out->len : 0;
    ecma->plain = false;
    switch (c) {
    case '|':
        dx__ecma_put(ecma, "|");
        put_callout(ecma);
        break;
    case '(':
        open_group(ecma);
        break;
    case ')':
        if (close_group(ecma))
            repeat_atom(ecma, where, true);
        break;
    case '.':
        dx__ecma_put(ecma, "[^\\n\\r\\x{2028}\\x{2029}]");
        repeat_atom(ecma, where, false);
        break;
    case '[':
        dx__ecma_class(ecma);
        repeat_atom(ecma, where, false);
        break;
    case ']':
    case '}':
        dx__ecma_fail(ecma, "a bracket that closes nothing", ecma->at - 1);
        break;
    default:
        dx__ecma_fail(ecma, "a repetition of nothing", ecma->at - 1);
    }
}

static void read_atom(dx__ecma *ecma) {
    char c = *ecma->at;
    if (!dx__is_one_of(c, "\\^$|().[]{}*+?")) {
        finish_character(ecma, dx__ecma_code(ecma));
        return;
    }
    ecma->at++;
    if (c == '\\')
        read_escape(ecma);
    else if (c == '^' || c == '$')
        read_anchor(ecma, c);
    else
        read_special(ecma, c);
}

dx_status dx__ecma_read(dx__ecma *ecma, dx_text source, dx_buf *out, dx_buf *literal) {
    *ecma = (dx__ecma){
        .start = source.at,
        .at = source.at,
        .end = source.at + source.len,
        .out = out,
        .literal = literal,
        .plain = true,
    };
    survey(ecma);
    while (ecma->status == DX_OK && ecma->at < ecma->end)
        read_atom(ecma);
    if (ecma->depth)
        dx__ecma_fail(ecma, "a group that is not closed", ecma->end);
    return ecma->status;
}
