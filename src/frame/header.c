/*
 * Header framing: fields, an empty line, as many bytes as Content-Length says.
 *
 * Lines are looked at only when they are complete, so that what is found does not depend on how
 * the bytes arrived.
 */
#include "frame/framer.h"

#include <string.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static bool is_token(char c) {
    static const char marks[] = "!#$%&'*+-.^_`|~";
    return is_letter(c) || (c >= '0' && c <= '9') || memchr(marks, c, sizeof marks - 1);
}

/* Where names are letters, a value may be any ASCII but the ends of lines. */
static bool is_clean(dx_text text, dx_fields fields) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (fields == DX_FIELDS_HTTP ? (c < 0x20 && c != '\t') || c >= 0x7f
                                     : c == '\r' || c >= 0x80)
            return false;
    }
    return true;
}

/* Is that accepted? Where names are letters it is also reported, the first time. */
static bool allows(dx_framer *framer, unsigned leniency) {
    if (!(framer->config.lenient & leniency))
        return false;
    if (framer->config.fields == DX_FIELDS_LETTERS)
        framer->noted |= leniency & ~framer->told;
    return true;
}

static dx_status report(dx_framer *framer, dx_frame *ret) {
    static const struct {
        unsigned leniency;
        dx_fault fault;
    } rows[] = {
        {DX_LENIENT_STRAY, DX_FAULT_HEADER_BLANK},
        {DX_LENIENT_LF, DX_FAULT_HEADER_LF},
        {DX_LENIENT_FIELD_NAME, DX_FAULT_FIELD_NAME},
        {DX_LENIENT_TAB, DX_FAULT_LENGTH_TAB},
        {DX_LENIENT_PLUS, DX_FAULT_LENGTH_PLUS},
        {DX_LENIENT_LAST_LENGTH, DX_FAULT_LENGTH_CONFLICT},
    };
    size_t i = 0;
    while (!(framer->noted & rows[i].leniency))
        i++;
    framer->noted &= ~rows[i].leniency;
    framer->told |= rows[i].leniency;
    bool numbers = rows[i].fault == DX_FAULT_LENGTH_CONFLICT;
    return dx__frame_fault(framer, ret, rows[i].fault, numbers ? framer->need : 0,
                           numbers ? framer->earlier : 0);
}

static dx_text trimmed(const char *from, const char *to) {
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    return (dx_text){from, (size_t)(to - from)};
}

/* What stands between the blanks around it; where names are letters, a tab is no blank. */
static dx_text value_of(const char *from, const char *to, dx_fields fields) {
    if (fields == DX_FIELDS_HTTP)
        return trimmed(from, to);
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return (dx_text){from, (size_t)(to - from)};
}

/* Splits a line into name and value; false if it is no field. */
static bool split(dx_text line, const dx_frame_config *config, dx_text *name, dx_text *value) {
    bool tokens = config->fields == DX_FIELDS_HTTP || config->lenient & DX_LENIENT_FIELD_NAME;
    const char *colon = line.len ? memchr(line.at, ':', line.len) : NULL;
    if (!colon || colon == line.at)
        return false;
    for (const char *c = line.at; c < colon; c++)
        if (tokens ? !is_token(*c) : !is_letter(*c))
            return false;
    *name = (dx_text){line.at, (size_t)(colon - line.at)};
    *value = value_of(colon + 1, line.at + line.len, config->fields);
    return true;
}

static bool has_letters_only(dx_text name) {
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.at[i]))
            return false;
    return true;
}

static bool named(dx_text name, const char *lower) {
    return name.len == strlen(lower) && dx__frame_begins(name, lower);
}

/* Where a line that begins with something else has a whole Content-Length field at its end (a
 * program printed without a newline, or the length before was too short); 0 if it has none. */
static size_t glued(dx_text line) {
    static const char field[] = "content-length:";
    for (size_t i = 1; i + sizeof field <= line.len; i++) {
        dx_text rest = {line.at + i, line.len - i};
        if ((rest.at[0] | 0x20) != 'c' || line.at[i - 1] == '-' || !dx__frame_begins(rest, field))
            continue;
        dx_text value = trimmed(rest.at + sizeof field - 1, rest.at + rest.len);
        size_t digits = 0;
        while (digits < value.len && value.at[digits] >= '0' && value.at[digits] <= '9')
            digits++;
        if (digits && digits == value.len)
            return i;
    }
    return 0;
}

/* A line of the other framing: JSON with the member that every message has. */
static bool is_message(dx_text line) {
    static const char member[] = "\"jsonrpc\"";
    line = trimmed(line.at, line.at + line.len);
    if (!line.len || (line.at[0] != '{' && line.at[0] != '['))
        return false;
    const char *from = line.at;
    const char *end = line.at + line.len;
    while ((from = memchr(from, '"', (size_t)(end - from)))) {
        if ((size_t)(end - from) < sizeof member - 1)
            return false;
        if (memcmp(from, member, sizeof member - 1) == 0)
            return true;
        from++;
    }
    return false;
}

static void end_block(dx_framer *framer) {
    framer->block = 0;
    framer->fields = 0;
    framer->has_length = framer->repeated = framer->lf_block = false;
}

/* Something is wrong with the block. Lenient: say so, and look for the next one. */
static dx_status give_up(dx_framer *framer, dx_frame *ret, dx_fault fault, uint64_t found,
                         uint64_t expected) {
    framer->stray += framer->block;
    framer->noted = 0;
    end_block(framer);
    framer->hunting = true;
    if (!(framer->config.lenient & DX_LENIENT_STRAY))
        return dx__frame_fatal(framer, ret, fault, found, expected);
    if (framer->stray > framer->config.stray_max)
        return dx__frame_fatal(framer, ret, DX_FAULT_STRAY_LIMIT, framer->stray,
                               framer->config.stray_max);
    return dx__frame_fault(framer, ret, fault, found, expected);
}

static dx_status stray(dx_framer *framer, dx_frame *ret, size_t at, size_t len) {
    framer->stray += framer->pos - at;
    if (!framer->fields)
        framer->block = 0;
    if (!(framer->config.lenient & DX_LENIENT_STRAY))
        return dx__frame_fatal(framer, ret, DX_FAULT_HEADER_SYNTAX, 0, 0);
    if (framer->stray > framer->config.stray_max)
        return dx__frame_fatal(framer, ret, DX_FAULT_STRAY_LIMIT, framer->stray,
                               framer->config.stray_max);
    if (!len)
        return DX_AGAIN; /* an empty line is not worth a word */
    return dx__frame_text(framer, ret, DX_FRAME_STRAY, at, len);
}

/* As the first thing it means that the two will never understand each other. */
static dx_status other_framing(dx_framer *framer, dx_frame *ret) {
    if (!framer->started)
        return dx__frame_fatal(framer, ret, DX_FAULT_OTHER_FRAMING, 0, 1);
    return give_up(framer, ret, DX_FAULT_OTHER_FRAMING, 0, 1);
}

/* The header that nearly every message has, as everybody writes it: one field and the empty line.
 */
static bool usual_block(dx_framer *framer) {
    static const char start[] = "Content-Length: ";
    enum { START = sizeof start - 1, MOST = START + 9 + 4 };
    size_t number = 0;
    size_t i = START;
    if (framer->block || framer->in.len - framer->pos < MOST)
        return false;
    const char *at = framer->in.data + framer->pos;
    if (memcmp(at, start, START) != 0)
        return false;
    for (; i < MOST - 4 && at[i] >= '0' && at[i] <= '9'; i++)
        number = number * 10 + (size_t)(at[i] - '0');
    if (i == START || memcmp(at + i, "\r\n\r\n", 4) != 0 || number > framer->config.message_max ||
        !framer->config.fields_max || i + 4 > framer->config.header_max)
        return false;
    framer->pos = framer->scan = framer->pos + i + 4;
    framer->need = number;
    framer->in_body = true;
    framer->hunting = false;
    framer->started = true;
    return true;
}

static dx_status length(dx_framer *framer, dx_frame *ret, dx_text value) {
    size_t number = 0;
    dx_text inner = trimmed(value.at, value.at + value.len);
    if (inner.len != value.len && allows(framer, DX_LENIENT_TAB))
        value = inner;
    if (value.len && value.at[0] == '+' && allows(framer, DX_LENIENT_PLUS))
        value = (dx_text){value.at + 1, value.len - 1};
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] < '0' || value.at[i] > '9')
            return give_up(framer, ret, DX_FAULT_LENGTH_SYNTAX, 0, 0);
    if (!value.len)
        return give_up(framer, ret, DX_FAULT_LENGTH_SYNTAX, 0, 0);
    for (size_t i = 0; i < value.len; i++) {
        number = number * 10 + (size_t)(value.at[i] - '0');
        if (number > framer->config.message_max)
            return dx__frame_fatal(framer, ret, DX_FAULT_MESSAGE_LIMIT, 0,
                                   framer->config.message_max);
    }
    if (framer->has_length && number != framer->length) {
        if (!allows(framer, DX_LENIENT_LAST_LENGTH))
            return dx__frame_fatal(framer, ret, DX_FAULT_LENGTH_CONFLICT, number, framer->length);
        framer->earlier = framer->length;
    } else if (framer->has_length) {
        framer->repeated = !(framer->config.lenient & DX_LENIENT_LAST_LENGTH);
    }
    framer->has_length = true;
    framer->length = number;
    return DX_AGAIN;
}

/* Says whether the line that ends there may end so. */
static bool good_line_end(dx_framer *framer, size_t at) {
    if (framer->in.data[at] != '\n')
        return true;
    framer->lf_lines++;
    return allows(framer, DX_LENIENT_LF);
}

static bool utf8_or_none(dx_text type) {
    static const char key[] = "charset=";
    for (size_t i = 0; i < type.len; i++) {
        if (i && type.at[i - 1] != ';' && !is_blank(type.at[i - 1]))
            continue;
        dx_text rest = {type.at + i, type.len - i};
        if (!dx__frame_begins(rest, key))
            continue;
        const char *from = rest.at + sizeof key - 1;
        const char *end = type.at + type.len;
        const char *to = memchr(from, ';', (size_t)(end - from));
        dx_text value = trimmed(from, to ? to : end);
        if (value.len >= 2 && value.at[0] == '"' && value.at[value.len - 1] == '"')
            value = (dx_text){value.at + 1, value.len - 2};
        return named(value, "utf-8") || named(value, "utf8");
    }
    return true;
}

/* A log line such as "DEBUG: started" has the form of a field, but print() ends it with LF alone.
 * In a header whose other lines end so too, a field of any name is a field. */
static bool is_log_line(const dx_framer *framer, size_t at, dx_text line, dx_text name) {
    return framer->in.data[at + line.len] == '\n' && !framer->lf_block &&
           framer->config.lenient & DX_LENIENT_STRAY && !dx__frame_begins(name, "content-");
}

/* A line that is not empty, `pos` already behind it. DX_AGAIN: nothing to hand out, go on. */
static dx_status field(dx_framer *framer, dx_frame *ret, size_t at, dx_text line) {
    dx_text name = {NULL, 0};
    dx_text value = {NULL, 0};
    bool is_http = framer->config.fields == DX_FIELDS_HTTP;
    bool is_field =
        split(line, &framer->config, &name, &value) && !is_log_line(framer, at, line, name);
    bool is_length = is_field && named(name, "content-length");
    bool is_type = is_field && is_http && named(name, "content-type");
    if (!is_length && !is_type && !framer->fields) {
        size_t more = glued(line);
        if (more) {
            framer->pos = framer->scan = at + more; /* the rest is a line of its own */
            return stray(framer, ret, at, more);
        }
        if (is_message(line))
            return other_framing(framer, ret);
        if (!is_field || framer->hunting || !is_clean(line, framer->config.fields))
            return stray(framer, ret, at, line.len);
    }
    if (!is_clean(line, framer->config.fields))
        return give_up(framer, ret, DX_FAULT_HEADER_SYNTAX, 0, 0);
    if (!is_field)
        return stray(framer, ret, at, line.len);
    if (!good_line_end(framer, at + line.len))
        return give_up(framer, ret, DX_FAULT_HEADER_LF, 0, 0);
    framer->lf_block = framer->in.data[at + line.len] == '\n';
    if (!is_http && !has_letters_only(name))
        (void)allows(framer, DX_LENIENT_FIELD_NAME);
    framer->hunting = false;
    framer->started = true;
    if (++framer->fields > framer->config.fields_max)
        return dx__frame_fatal(framer, ret, DX_FAULT_HEADER_LIMIT, framer->fields,
                               framer->config.fields_max);
    if (is_length)
        return length(framer, ret, value);
    if (is_type && !utf8_or_none(value))
        return dx__frame_fatal(framer, ret, DX_FAULT_CHARSET, 0, 0);
    return DX_AGAIN;
}

/* The empty line, `pos` already behind it. */
static dx_status block_ends(dx_framer *framer, dx_frame *ret, size_t at) {
    if (!framer->fields) {
        /* With other text between two messages, that text is reported. */
        if (!framer->stray)
            (void)allows(framer, DX_LENIENT_STRAY);
        return stray(framer, ret, at, 0);
    }
    if (!good_line_end(framer, at))
        return give_up(framer, ret, DX_FAULT_HEADER_LF, 0, 0);
    if (!framer->has_length)
        return give_up(framer, ret, DX_FAULT_LENGTH_MISSING, 0, 0);
    bool repeated = framer->repeated;
    framer->need = framer->length;
    framer->in_body = true;
    end_block(framer);
    if (repeated)
        return dx__frame_fault(framer, ret, DX_FAULT_LENGTH_REPEATED, framer->need, framer->need);
    return DX_AGAIN;
}

/* More than a header may have. What is no header at all, but a long line that somebody printed, is
 * stray text, in pieces of that size. */
static dx_status too_large(dx_framer *framer, dx_frame *ret) {
    size_t at = framer->pos;
    size_t max = framer->config.header_max;
    dx_text line = {framer->in.data + at, max};
    dx_text name;
    dx_text value;
    if (framer->fields || !max || split(line, &framer->config, &name, &value))
        return dx__frame_fatal(framer, ret, DX_FAULT_HEADER_LIMIT, 0, max);
    framer->pos = framer->scan = at + max;
    framer->block = max;
    return field(framer, ret, at, line);
}

/* The stream ended and a piece of a line is left, or part of a block. */
static dx_status ends(dx_framer *framer, dx_frame *ret) {
    static const char word[] = "content-length:";
    if (framer->pos == framer->in.len && !framer->fields)
        return dx__frame_end(framer, ret);
    dx_text rest = {"", framer->in.len - framer->pos};
    if (rest.len)
        rest.at = framer->in.data + framer->pos;
    if (!framer->fields && is_message(rest)) {
        framer->pos = framer->scan = framer->in.len;
        return other_framing(framer, ret);
    }
    size_t common = dx__frame_common(rest, word);
    if (framer->fields || common == rest.len || common == sizeof word - 1)
        return dx__frame_fatal(framer, ret, DX_FAULT_TRUNCATED, framer->block + rest.len, 0);
    size_t at = framer->pos;
    framer->pos = framer->scan = framer->in.len;
    return stray(framer, ret, at, rest.len);
}

dx_status dx__frame_header_next(dx_framer *framer, dx_frame *ret) {
    for (;;) {
        if (framer->in_body) {
            if (framer->noted)
                return report(framer, ret);
            size_t have = framer->in.len - framer->pos;
            if (have < framer->need) {
                if (!framer->finished)
                    return DX_AGAIN;
                return dx__frame_fatal(framer, ret, DX_FAULT_TRUNCATED, have, framer->need);
            }
            size_t at = framer->pos;
            framer->in_body = false;
            framer->stray = 0;
            framer->pos = framer->scan = at + framer->need;
            return dx__frame_text(framer, ret, DX_FRAME_MESSAGE, at, framer->need);
        }
        size_t at = framer->pos;
        if (at == framer->in.len && !framer->finished)
            return DX_AGAIN;
        if (usual_block(framer))
            continue;
        const char *newline = dx__frame_newline(framer);
        size_t whole =
            newline ? (size_t)(newline + 1 - (framer->in.data + at)) : framer->in.len - at;
        if (framer->block + whole > framer->config.header_max)
            return too_large(framer, ret);
        if (!newline)
            return framer->finished ? ends(framer, ret) : DX_AGAIN;
        dx_text line = {framer->in.data + at, whole - 1};
        framer->pos = framer->scan = at + whole;
        framer->block += whole;
        if (line.len && line.at[line.len - 1] == '\r')
            line.len--;
        dx_status status = line.len ? field(framer, ret, at, line) : block_ends(framer, ret, at);
        if (status != DX_AGAIN)
            return status;
    }
}
