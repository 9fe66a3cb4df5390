/* Line framing: one JSON text per line. */
#include "frame/framer.h"

#include "base/utf8.h"

#include <string.h>

/* Counts the blanks that the line begins with; each is looked at once, however slowly they come. */
static void count_blanks(dx_framer *framer) {
    const char *end = framer->in.data + framer->in.len;
    const char *start = framer->in.data + framer->pos;
    const char *at = start + framer->blanks;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    framer->blanks = (size_t)(at - start);
}

/* How long it is says nothing: it was seen when it was too long, not at its end. */
static dx_status too_long(dx_framer *framer, dx_frame *ret) {
    size_t most = framer->config.message_max;
    if (!(framer->config.lenient & DX_LENIENT_LONG_LINE))
        return dx__frame_fatal(framer, ret, DX_FAULT_MESSAGE_LIMIT, 0, most);
    framer->started = true;
    framer->skipping = true;
    framer->scan = framer->pos;
    return dx__frame_fault(framer, ret, DX_FAULT_MESSAGE_LIMIT, 0, most);
}

/* Up to the end of the line, or of what is there of it. */
static void skip(dx_framer *framer) {
    const char *newline = dx__frame_newline(framer);
    framer->skipping = !newline;
    framer->pos = newline ? (size_t)(newline + 1 - framer->in.data) : framer->in.len;
    framer->scan = framer->pos;
    framer->blanks = 0;
}

/* The line at `at` is the first of a header. */
static dx_status follow(dx_framer *framer, dx_frame *ret, size_t at) {
    framer->started = true;
    framer->config.framing = DX_FRAMING_HEADER;
    framer->pos = framer->scan = at;
    return dx__frame_fault(framer, ret, DX_FAULT_OTHER_FRAMING, 0, 0);
}

/* A line of `len` bytes at `pos`, which was already passed. */
static dx_status line(dx_framer *framer, dx_frame *ret, size_t at, size_t len) {
    dx_text text = {framer->in.data + at, len};
    bool first = !framer->started;
    bool is_length = dx__frame_begins(text, "content-length:");
    if (first && framer->config.lenient & DX_LENIENT_FOLLOW &&
        (is_length || dx__frame_begins(text, "content-type:")))
        return follow(framer, ret, at);
    if (is_length) {
        framer->started = true;
        return (first ? dx__frame_fatal : dx__frame_fault)(framer, ret, DX_FAULT_OTHER_FRAMING, 0,
                                                           0);
    }
    framer->started = true;
    return dx__frame_text(framer, ret, DX_FRAME_MESSAGE, at, len);
}

/* Puts U+FFFD for each byte that is no UTF-8 in the line of `len` bytes at `pos`; how many bytes
 * that adds. Without memory it stays as it is, and is refused for that. */
static size_t mend(dx_framer *framer, size_t len) {
    static const char instead[3] = "\xef\xbf\xbd";
    const char *text = framer->in.data + framer->pos;
    void *room;
    size_t more = 0;
    size_t got = 0;
    for (size_t i = 0, size; i < len; i += size ? size : 1)
        more += (size = dx__utf8(text + i, len - i)) ? 0 : sizeof instead - 1;
    if (!more || dx_framer_reserve(framer, more, &room, &got) != DX_OK || got < more)
        return 0;
    char *to = framer->in.data + framer->pos;
    const char *from = to + more;
    memmove(to + more, to, framer->in.len - framer->pos);
    framer->in.len += more;
    for (size_t i = 0, size; i < len; i += size) {
        size = dx__utf8(from + i, len - i);
        memmove(to, size ? from + i : instead, size ? size : sizeof instead);
        to += size ? size : sizeof instead;
        size = size ? size : 1;
    }
    return more;
}

/* A message as most are: from a brace to a newline. False: nothing was done. */
static bool usual_line(dx_framer *framer, dx_frame *ret, const char *start) {
    size_t at = framer->pos;
    if (framer->config.lenient & DX_LENIENT_UTF8)
        return false;
    const char *newline = dx__frame_newline(framer);
    if (!newline || newline[-1] == '\r')
        return false;
    size_t len = (size_t)(newline - start);
    if (len > framer->config.message_max)
        return false;
    framer->pos = framer->scan = at + len + 1;
    framer->started = true;
    dx__frame_text(framer, ret, DX_FRAME_MESSAGE, at, len);
    return true;
}

dx_status dx__frame_line_next(dx_framer *framer, dx_frame *ret) {
    static const char bom[3] = "\xef\xbb\xbf";
    for (;;) {
        if (framer->skipping)
            skip(framer);
        size_t have = framer->in.len - framer->pos;
        if (!have)
            return framer->finished ? dx__frame_end(framer, ret) : DX_AGAIN;
        const char *start = framer->in.data + framer->pos;
        if (*start == '{' && usual_line(framer, ret, start))
            return DX_OK;
        if (framer->base + framer->pos == 0 && have >= 3 && memcmp(start, bom, 3) == 0) {
            framer->pos += 3;
            framer->scan = framer->pos;
            return dx__frame_fault(framer, ret, DX_FAULT_BOM, 0, 0);
        }
        count_blanks(framer);
        const char *newline = dx__frame_newline(framer);
        if (!newline && !framer->finished) {
            /* One byte more than the limit may be the CR before the newline. */
            if (have > framer->config.message_max + 1)
                return too_long(framer, ret);
            return DX_AGAIN;
        }
        size_t at = framer->pos;
        size_t len = newline ? (size_t)(newline - start) : have;
        size_t whole = newline ? len + 1 : len;
        if (len && start[len - 1] == '\r')
            len--;
        if (len > framer->config.message_max)
            return too_long(framer, ret);
        if (framer->config.lenient & DX_LENIENT_UTF8) {
            size_t more = mend(framer, len);
            at = framer->pos;
            len += more;
            whole += more;
        }
        bool blank = framer->blanks >= len;
        framer->pos = framer->scan = at + whole;
        framer->blanks = 0;
        if (blank)
            continue;
        dx_status status = line(framer, ret, at, len);
        if (!newline && ret->kind == DX_FRAME_MESSAGE)
            ret->fault = DX_FAULT_UNTERMINATED;
        return status;
    }
}
