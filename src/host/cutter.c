#include "host/cutter.h"

#include "base/alloc.h"
#include "frame/framer.h"

#include <string.h>

/* How much is framed at once; the longest line of text that is told in one piece; an empty buffer
 * larger than that is given back. */
enum { PORTION = 64 << 10, LINE = 8 << 10, KEPT = 1 << 20 };

void dx__cutter_init(dx__cutter *cutter, dx__cut cut, size_t message_max,
                     const dx_allocator *alloc) {
    *cutter = (dx__cutter){
        .cut = cut, .may_change = cut == DX__CUT_AUTO, .message_max = message_max, .alloc = *alloc};
    dx_buf_init(&cutter->line, LINE, alloc);
}

void dx__cutter_done(dx__cutter *cutter) {
    cutter->framer = dx_framer_free(cutter->framer);
    dx_buf_done(&cutter->line);
}

static void tell(dx__cutter *cutter, dx_trace_kind kind, dx_text text) {
    if (text.len)
        cutter->tell(cutter->user, kind, text, text.len);
}

static void lose(dx__cutter *cutter) {
    cutter->tell(cutter->user, DX_TRACE_DROPPED, (dx_text){NULL, 0}, 0);
}

/* Framing. */

/* The limits that would end a conversation are far away here; message_max is looked at in
 * too_long(). */
static dx_framer *new_framer(dx__cutter *cutter) {
    dx_frame_config config = dx_frame_defaults((dx_framing)cutter->cut);
    config.message_max = UINT32_MAX - 2;
    config.stray_max = SIZE_MAX / 2;
    config.buffer_max = cutter->message_max + config.header_max + (size_t)4 * PORTION;
    config.allocator = &cutter->alloc;
    cutter->told = 0;
    cutter->framer = NULL;
    if (dx_framer_new(&config, &cutter->framer) != DX_OK)
        lose(cutter);
    return cutter->framer;
}

static dx_text held_from(const dx_framer *framer, uint64_t place, size_t end) {
    size_t at = (size_t)(place - framer->base);
    return at < end ? (dx_text){framer->in.data + at, end - at} : (dx_text){"", 0};
}

static uint64_t place_of(const dx_framer *framer) {
    return framer->base + framer->pos;
}

/* What lies between what was told and where the framer stands. */
static void tell_passed(dx__cutter *cutter, dx_trace_kind kind) {
    dx_framer *framer = cutter->framer;
    tell(cutter, kind, held_from(framer, cutter->told, framer->pos));
    cutter->told = place_of(framer);
    dx_framer_release(framer, cutter->told);
}

static void tell_message(dx__cutter *cutter, const dx_frame *frame) {
    dx_framer *framer = cutter->framer;
    uint64_t place = place_of(framer);
    if (frame->text.len > cutter->message_max)
        lose(cutter);
    else
        cutter->tell(cutter->user, DX_TRACE_MESSAGE, frame->text, (size_t)(place - cutter->told));
    cutter->told = place;
    dx_framer_release(framer, place);
}

/* With a new framer, which gets the rest. False if there is no memory for that. */
static bool begin_anew(dx__cutter *cutter, dx_text rest) {
    dx_framer *old = cutter->framer;
    bool finished = old->finished;
    bool has = new_framer(cutter);
    bool good = has && dx_framer_feed(cutter->framer, rest.at, rest.len) == DX_OK;
    if (has && !good)
        lose(cutter);
    if (good && finished)
        dx_framer_finish(cutter->framer);
    dx_framer_free(old);
    return good;
}

/* A framer that has given up has only forgotten what it held, up to `held`; the bytes are still
 * there. */
static bool go_on_after_fatal(dx__cutter *cutter, dx_fault fault, size_t held) {
    dx_framer *framer = cutter->framer;
    dx_trace_kind kind = fault == DX_FAULT_TRUNCATED ? DX_TRACE_BROKEN : DX_TRACE_STRAY;
    bool is_all = fault == DX_FAULT_TRUNCATED || place_of(framer) == cutter->told;
    dx_text rest = held_from(framer, is_all ? cutter->told : place_of(framer), held);
    if (is_all) {
        tell(cutter, kind, rest);
        rest.len = 0;
    } else {
        tell(cutter, kind, held_from(framer, cutter->told, framer->pos));
    }
    return begin_anew(cutter, rest);
}

/* False if the framer is gone. */
static bool on_fault(dx__cutter *cutter, const dx_frame *frame, size_t held) {
    if (frame->fault == DX_FAULT_OTHER_FRAMING && cutter->may_change) {
        cutter->cut = cutter->cut == DX__CUT_LINE ? DX__CUT_HEADER : DX__CUT_LINE;
        return begin_anew(cutter, held_from(cutter->framer, cutter->told, held));
    }
    if (frame->fatal)
        return go_on_after_fatal(cutter, frame->fault, held);
    /* These belong to the message that follows. */
    if (frame->fault != DX_FAULT_BOM && frame->fault != DX_FAULT_LENGTH_REPEATED)
        tell_passed(cutter, DX_TRACE_STRAY);
    return true;
}

static void cut_frames(dx__cutter *cutter) {
    for (bool good = true; good;) {
        dx_frame frame;
        size_t held = cutter->framer->in.len;
        if (dx_framer_next(cutter->framer, &frame) != DX_OK || frame.kind == DX_FRAME_END)
            return;
        if (frame.kind == DX_FRAME_MESSAGE)
            tell_message(cutter, &frame);
        else if (frame.kind == DX_FRAME_STRAY)
            tell_passed(cutter, DX_TRACE_STRAY);
        else
            good = on_fault(cutter, &frame, held);
    }
    cutter->framer = dx_framer_free(cutter->framer);
}

/* A message that is longer than what is told is passed over. */
static void pass_over_long(dx__cutter *cutter) {
    uint64_t have;
    uint64_t missing;
    if (!cutter->framer || !dx__framer_partial(cutter->framer, &have, &missing) ||
        (have <= cutter->message_max && missing <= cutter->message_max - have))
        return;
    cutter->skip = missing;
    cutter->skip_line = cutter->cut == DX__CUT_LINE;
    cutter->framer = dx_framer_free(cutter->framer);
    lose(cutter);
}

static size_t frame_some(dx__cutter *cutter, dx_text bytes) {
    size_t len = bytes.len < PORTION ? bytes.len : PORTION;
    if (!cutter->framer && !new_framer(cutter))
        return len;
    if (dx_framer_feed(cutter->framer, bytes.at, len) == DX_OK) {
        cut_frames(cutter);
        pass_over_long(cutter);
        if (cutter->framer && cutter->framer->in.cap > KEPT)
            dx__framer_trim(cutter->framer);
    } else {
        cutter->framer = dx_framer_free(cutter->framer);
        lose(cutter);
    }
    return len;
}

/* One whose first line is cut in two by the end of these bytes is passed over. */
static size_t skip_to_header(dx__cutter *cutter, dx_text bytes) {
    for (size_t at = 0; at < bytes.len; at++)
        if ((bytes.at[at] | 0x20) == 'c' &&
            dx__frame_begins((dx_text){bytes.at + at, bytes.len - at}, "content-length:")) {
            cutter->skip_to_header = false;
            return at;
        }
    return bytes.len;
}

static size_t skip_some(dx__cutter *cutter, dx_text bytes) {
    if (cutter->skip_to_header)
        return skip_to_header(cutter, bytes);
    if (cutter->skip_line) {
        const char *newline = memchr(bytes.at, '\n', bytes.len);
        cutter->skip_line = !newline;
        return newline ? (size_t)(newline + 1 - bytes.at) : bytes.len;
    }
    size_t len = cutter->skip < bytes.len ? (size_t)cutter->skip : bytes.len;
    cutter->skip -= len;
    return len;
}

/* Lines. */

/* Whether these bytes begin a message of one of the framings. */
static dx__cut guess(dx_text text) {
    static const char bom[3] = "\xef\xbb\xbf";
    size_t at = text.len >= 3 && memcmp(text.at, bom, 3) == 0 ? 3 : 0;
    while (at < text.len && memchr(" \t\r\n", text.at[at], 4))
        at++;
    dx_text rest = {text.at + at, text.len - at};
    if (rest.len && (rest.at[0] == '{' || rest.at[0] == '['))
        return DX__CUT_LINE;
    if (dx__frame_begins(rest, "content-length:") || dx__frame_begins(rest, "content-type:"))
        return DX__CUT_HEADER;
    return DX__CUT_AUTO;
}

static void end_line(dx__cutter *cutter, dx_trace_kind kind) {
    tell(cutter, kind, (dx_text){cutter->line.data, cutter->line.len});
    cutter->line.len = 0;
}

/* Up to the end of a line; one that is too long is told in pieces. */
static size_t take_line(dx__cutter *cutter, dx_text bytes) {
    dx_buf *line = &cutter->line;
    size_t most = bytes.len < LINE - line->len ? bytes.len : LINE - line->len;
    const char *newline = memchr(bytes.at, '\n', most);
    size_t len = newline ? (size_t)(newline + 1 - bytes.at) : most;
    if (dx_buf_append(line, bytes.at, len) != DX_OK) {
        line->len = 0;
        lose(cutter);
        return len;
    }
    dx_text text = {line->data, line->len};
    bool whole = newline || line->len == LINE;
    dx__cut found = cutter->cut == DX__CUT_AUTO ? guess(text) : DX__CUT_AUTO;
    if (found != DX__CUT_AUTO) {
        cutter->cut = found;
        frame_some(cutter, text);
        line->len = 0;
        dx_buf_done(line);
    } else if (whole) {
        end_line(cutter, cutter->cut == DX__CUT_TEXT ? DX_TRACE_STDERR : DX_TRACE_STRAY);
    }
    return len;
}

void dx__cutter_feed(dx__cutter *cutter, dx_text bytes) {
    while (bytes.len) {
        bool skips = cutter->skip || cutter->skip_line || cutter->skip_to_header;
        size_t len = skips ? skip_some(cutter, bytes)
                     : cutter->cut == DX__CUT_HEADER || cutter->cut == DX__CUT_LINE
                         ? frame_some(cutter, bytes)
                         : take_line(cutter, bytes);
        bytes = (dx_text){bytes.at + len, bytes.len - len};
    }
}

void dx__cutter_gap(dx__cutter *cutter) {
    cutter->line.len = 0;
    cutter->framer = dx_framer_free(cutter->framer);
    cutter->skip = 0;
    cutter->skip_to_header = cutter->cut == DX__CUT_HEADER;
    cutter->skip_line = !cutter->skip_to_header;
}

void dx__cutter_finish(dx__cutter *cutter) {
    end_line(cutter, cutter->cut == DX__CUT_TEXT ? DX_TRACE_STDERR : DX_TRACE_STRAY);
    if (cutter->framer) {
        dx_framer_finish(cutter->framer);
        cut_frames(cutter);
    }
}
