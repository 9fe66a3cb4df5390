#include "frame/framer.h"
#include "base/alloc.h"
#include "base/buf.h"

#include <string.h>

const char *dx_framing_name(dx_framing framing) {
    return framing == DX_FRAMING_HEADER ? "header" : "line";
}

dx_framing dx_framing_named(const char *name) {
    dx_text word = dx_str(name);
    return dx_text_is(word, "header") ? DX_FRAMING_HEADER
           : dx_text_is(word, "line") ? DX_FRAMING_LINE
                                      : (dx_framing)0;
}

dx_frame_config dx_frame_defaults(dx_framing framing) {
    return (dx_frame_config){
        .framing = framing,
        .lenient = DX_LENIENT_DEFAULT,
        .message_max = (size_t)64 << 20,
        .header_max = 16 << 10,
        .fields_max = 64,
        .stray_max = 64 << 10,
        .buffer_max = (size_t)128 << 20,
    };
}

void dx__framer_init(dx_framer *framer, const dx_frame_config *config) {
    *framer = (dx_framer){.config = *config};
    dx_buf_init(&framer->in, config->buffer_max, config->allocator);
    framer->config.allocator = NULL;
}

void dx__framer_done(dx_framer *framer) {
    dx__free(&framer->in.alloc, framer->lent);
    framer->lent = NULL;
    dx_buf_done(&framer->in);
}

dx_status dx_framer_new(const dx_frame_config *config, dx_framer **ret_framer) {
    if (config->framing != DX_FRAMING_HEADER && config->framing != DX_FRAMING_LINE)
        return DX_ERR_INVALID;
    if (config->message_max >= UINT32_MAX)
        return DX_ERR_INVALID;
    dx_allocator alloc = dx__allocator(config->allocator);
    dx_framer *framer = dx__malloc(&alloc, sizeof *framer);
    if (!framer)
        return DX_ERR_NOMEM;
    dx__framer_init(framer, config);
    *ret_framer = framer;
    return DX_OK;
}

dx_framer *dx_framer_free(dx_framer *framer) {
    if (framer) {
        dx_allocator alloc = framer->in.alloc;
        dx__framer_done(framer);
        dx__free(&alloc, framer);
    }
    return NULL;
}

static void forget(dx_framer *framer, size_t bytes) {
    framer->base += bytes;
    framer->released = 0;
    framer->pos -= bytes;
    framer->scan -= bytes;
    framer->quiet -= framer->quiet < bytes ? framer->quiet : bytes;
}

/* Room for `more` bytes. What was released makes room first, but is only moved away when it is
 * at least half of the buffer: so every byte moves at most once on average. */
static dx_status make_room(dx_framer *framer, size_t more) {
    dx_buf *in = &framer->in;
    size_t gone = framer->released;
    size_t left = in->len - gone;
    bool slide = gone && gone >= left;
    if (!slide && more <= in->cap - in->len)
        return DX_OK;
    if (!framer->on_loan && slide && more <= in->cap - left) {
        if (left)
            memmove(in->data, in->data + gone, left);
    } else if (!framer->on_loan && !gone) {
        return dx_buf_reserve(in, more);
    } else {
        if (more > in->max - left)
            return DX_ERR_LIMIT;
        size_t cap = dx__buf_target(in, left + more);
        char *data = dx__malloc(&in->alloc, cap);
        if (!data)
            return DX_ERR_NOMEM;
        if (left)
            memcpy(data, in->data + gone, left);
        if (framer->on_loan && !framer->lent)
            framer->lent = in->data;
        else
            dx__free(&in->alloc, in->data);
        framer->on_loan = false;
        in->data = data;
        in->cap = cap;
    }
    in->len = left;
    forget(framer, gone);
    return DX_OK;
}

dx_status dx_framer_reserve(dx_framer *framer, size_t want, void **ret_room, size_t *ret_len) {
    if (!want)
        want = 1;
    dx_status status = make_room(framer, want);
    if (status == DX_ERR_LIMIT)
        status = make_room(framer, want = 1);
    if (status != DX_OK)
        return status;
    *ret_room = framer->in.data + framer->in.len;
    *ret_len = want;
    return DX_OK;
}

void dx_framer_commit(dx_framer *framer, size_t len) {
    if (!framer->over && !framer->finished)
        framer->in.len += len;
}

dx_status dx_framer_feed(dx_framer *framer, const void *bytes, size_t len) {
    if (framer->over || framer->finished || !len)
        return DX_OK;
    dx_status status = make_room(framer, len);
    if (status != DX_OK)
        return status;
    memcpy(framer->in.data + framer->in.len, bytes, len);
    framer->in.len += len;
    return DX_OK;
}

void dx_framer_finish(dx_framer *framer) {
    framer->finished = true;
}

dx_status dx_framer_next(dx_framer *framer, dx_frame *ret_frame) {
    if (framer->over)
        return DX_AGAIN;
    if (framer->config.framing == DX_FRAMING_HEADER)
        return dx__frame_header_next(framer, ret_frame);
    return dx__frame_line_next(framer, ret_frame);
}

void dx_framer_release(dx_framer *framer, uint64_t offset) {
    dx__free(&framer->in.alloc, framer->lent);
    framer->lent = NULL;
    framer->on_loan = false;
    if (offset <= framer->base)
        return;
    size_t at = (size_t)(offset - framer->base);
    if (at > framer->pos)
        at = framer->pos;
    if (at > framer->released)
        framer->released = at;
    if (framer->released == framer->in.len) {
        size_t all = framer->in.len;
        framer->in.len = 0;
        forget(framer, all);
    }
}

/* Not before a length limit is looked at again: a line may be as long as message_max, a header
 * block as header_max. */
void dx__framer_settle(dx_framer *framer) {
    const dx_frame_config *config = &framer->config;
    size_t end = framer->in_body ? framer->pos + framer->need - 1
                 : config->framing == DX_FRAMING_LINE
                     ? framer->pos + config->message_max
                     : framer->pos + config->header_max - framer->block;
    if (framer->in_body && !framer->need)
        end = 0;
    framer->quiet = framer->over || framer->finished ? 0
                    : end < framer->in.cap           ? end
                                                     : framer->in.cap;
}

void dx__framer_trim(dx_framer *framer) {
    if (framer->in.len || framer->on_loan || framer->lent)
        return;
    dx_buf_done(&framer->in);
    framer->quiet = 0;
}

bool dx__framer_partial(const dx_framer *framer, uint64_t *ret_have, uint64_t *ret_missing) {
    if (!dx__framer_is_partial(framer))
        return false;
    *ret_have = framer->in.len - framer->pos;
    *ret_missing = framer->in_body ? framer->need - *ret_have : 0;
    return true;
}

const char *dx__framer_at(dx_framer *framer, uint64_t offset) {
    framer->on_loan = true;
    return framer->in.data + (offset - framer->base);
}

dx_status dx__frame_text(dx_framer *framer, dx_frame *ret, dx_frame_kind kind, size_t at,
                         size_t len) {
    *ret = (dx_frame){.kind = kind,
                      .fault = kind == DX_FRAME_STRAY ? DX_FAULT_STRAY : DX_FAULT_NONE,
                      .offset = framer->base + at};
    ret->text = (dx_text){framer->in.data ? framer->in.data + at : "", len};
    return DX_OK;
}

void dx__framer_cut(dx_framer *framer) {
    framer->over = true;
    framer->in.len = framer->scan = framer->pos;
    framer->quiet = 0;
}

dx_status dx__frame_fault(dx_framer *framer, dx_frame *ret, dx_fault fault, uint64_t found,
                          uint64_t expected) {
    *ret = (dx_frame){.kind = DX_FRAME_FAULT,
                      .fault = fault,
                      .offset = framer->base + framer->pos,
                      .found = found,
                      .expected = expected};
    return DX_OK;
}

dx_status dx__frame_fatal(dx_framer *framer, dx_frame *ret, dx_fault fault, uint64_t found,
                          uint64_t expected) {
    dx__frame_fault(framer, ret, fault, found, expected);
    ret->fatal = 1;
    dx__framer_cut(framer);
    return DX_OK;
}

dx_status dx__frame_end(dx_framer *framer, dx_frame *ret) {
    *ret = (dx_frame){.kind = DX_FRAME_END, .offset = framer->base + framer->pos};
    framer->over = true;
    return DX_OK;
}

const char *dx__frame_newline(dx_framer *framer) {
    size_t len = framer->in.len - framer->scan;
    const char *found = len ? memchr(framer->in.data + framer->scan, '\n', len) : NULL;
    if (!found)
        framer->scan = framer->in.len;
    return found;
}

size_t dx__frame_common(dx_text text, const char *lower) {
    size_t i = 0;
    for (; i < text.len && lower[i]; i++) {
        char c = text.at[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c != lower[i])
            break;
    }
    return i;
}

bool dx__frame_begins(dx_text text, const char *prefix) {
    return dx__frame_common(text, prefix) == strlen(prefix);
}
