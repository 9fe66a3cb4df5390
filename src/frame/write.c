#include "base/buf.h"
#include "base/line.h"
#include "frame/framer.h"

#include <string.h>

static inline dx_status put(dx_buf *buf, const char *string) {
    return dx__buf_put(buf, string, strlen(string));
}

/* The number of digits is guessed so that the body, written next, seldom has to move. */
dx_status dx__frame_open_header(dx_buf *buf, const char *content_type, size_t guess,
                                dx__frame_mark *ret_mark) {
    static const char field[] = "Content-Length: 00000000000000000000\r\n\r\n";
    enum { NAME = 16, MOST = sizeof field - 1 };
    dx__frame_mark mark = {.start = buf->len, .digits_at = buf->len + NAME};
    mark.digits = dx__digits_count(guess);
    dx_status status = dx__buf_room(buf, MOST);
    if (status == DX_OK) {
        memcpy(buf->data + buf->len, field, MOST);
        buf->len += NAME + mark.digits;
    }
    if (status == DX_OK && content_type) {
        status = put(buf, "\r\nContent-Type: ");
        if (status == DX_OK)
            status = put(buf, content_type);
    }
    if (status == DX_OK)
        status = dx__buf_put(buf, "\r\n\r\n", 4);
    if (status != DX_OK) {
        buf->len = mark.start;
        return status;
    }
    mark.body = buf->len;
    *ret_mark = mark;
    return DX_OK;
}

dx_status dx__frame_close_header(dx_buf *buf, const dx__frame_mark *mark) {
    size_t len = buf->len - mark->body;
    size_t count = dx__digits_count(len);
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
    dx__digits_put(len, buf->data + mark->digits_at, count);
    return DX_OK;
}

void dx__frame_flatten(char *at, const char *end) {
    for (char *lf = at; (lf = memchr(lf, '\n', (size_t)(end - lf)));)
        *lf = ' ';
    for (char *cr = at; (cr = memchr(cr, '\r', (size_t)(end - cr)));)
        *cr = ' ';
}

dx_status dx_frame_write(dx_buf *buf, dx_framing framing, const char *content_type, dx_text body) {
    dx__frame_mark mark;
    if (framing != DX_FRAMING_HEADER && framing != DX_FRAMING_LINE)
        return DX_ERR_INVALID;
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
