#include "base/buf.h"
#include "base/line.h"
#include "frame/framer.h"

#include <string.h>

static const char field[] = "Content-Length: ";

static inline dx_status put(dx_buf *buf, const char *string) {
    return dx__buf_put(buf, string, strlen(string));
}

/* The number of digits is guessed so that the body, written next, seldom has to move. */
dx_status dx__frame_open(dx_buf *buf, dx_framing framing, const char *content_type, size_t guess,
                         dx__frame_mark *ret_mark) {
    dx__frame_mark mark = {.start = buf->len};
    dx_status status = DX_OK;
    if (framing == DX_FRAMING_HEADER) {
        for (mark.digits = 1; guess >= 10; guess /= 10)
            mark.digits++;
        status = put(buf, field);
        mark.digits_at = buf->len;
        if (status == DX_OK)
            status = dx_buf_append(buf, "00000000000000000000", mark.digits);
        if (status == DX_OK && content_type) {
            status = put(buf, "\r\nContent-Type: ");
            if (status == DX_OK)
                status = put(buf, content_type);
        }
        if (status == DX_OK)
            status = put(buf, "\r\n\r\n");
    }
    if (status != DX_OK) {
        buf->len = mark.start;
        return status;
    }
    mark.body = buf->len;
    *ret_mark = mark;
    return DX_OK;
}

/* Between the tokens of a JSON text a line break means no more than a space. */
static void flatten(char *at, const char *end) {
    for (char *lf = at; (lf = memchr(lf, '\n', (size_t)(end - lf)));)
        *lf = ' ';
    for (char *cr = at; (cr = memchr(cr, '\r', (size_t)(end - cr)));)
        *cr = ' ';
}

dx_status dx__frame_close(dx_buf *buf, dx_framing framing, const dx__frame_mark *mark,
                          bool broken) {
    if (framing == DX_FRAMING_LINE) {
        if (broken)
            flatten(buf->data + mark->body, buf->data + buf->len);
        return put(buf, "\n");
    }
    char digits[20];
    size_t count = dx__digits(buf->len - mark->body, digits);
    if (count != mark->digits) {
        size_t rest = mark->digits_at + mark->digits;
        if (count > mark->digits) {
            dx_status status = dx_buf_reserve(buf, count - mark->digits);
            if (status != DX_OK)
                return status;
        }
        memmove(buf->data + mark->digits_at + count, buf->data + rest, buf->len - rest);
        buf->len = buf->len - mark->digits + count;
    }
    memcpy(buf->data + mark->digits_at, digits, count);
    return DX_OK;
}

dx_status dx_frame_write(dx_buf *buf, dx_framing framing, const char *content_type, dx_text body) {
    dx__frame_mark mark;
    dx_status status = dx__frame_open(buf, framing, content_type, body.len, &mark);
    if (status != DX_OK)
        return status;
    status = dx_buf_append(buf, body.at, body.len);
    if (status == DX_OK)
        status = dx__frame_close(buf, framing, &mark, true);
    if (status != DX_OK)
        buf->len = mark.start;
    return status;
}
