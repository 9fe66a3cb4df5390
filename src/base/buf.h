/* What the floors above need of a buffer beyond the public functions. */
#ifndef DX_BASE_BUF_H
#define DX_BASE_BUF_H

#include <duplex/base.h>

#include <string.h>

/* The capacity a buffer takes to hold `need` bytes (need <= max): doubling keeps it linear. */
size_t dx__buf_target(const dx_buf *buf, size_t need);

/* dx_buf_reserve() without a call as long as there is room. */
static inline dx_status dx__buf_room(dx_buf *buf, size_t more) {
    return more <= buf->cap - buf->len ? DX_OK : dx_buf_reserve(buf, more);
}

/* memcpy() that needs no call for what is short, and returns where it ends. */
static inline char *dx__copy(char *to, const char *from, size_t len) {
    if (len > 16) {
        memcpy(to, from, len);
    } else if (len >= 8) {
        memcpy(to, from, 8);
        memcpy(to + len - 8, from + len - 8, 8);
    } else if (len >= 4) {
        memcpy(to, from, 4);
        memcpy(to + len - 4, from + len - 4, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            to[i] = from[i];
    }
    return to + len;
}

/* dx_buf_append() for short pieces, without a call as long as there is room. */
static inline dx_status dx__buf_put(dx_buf *buf, const char *bytes, size_t len) {
    if (len > buf->cap - buf->len)
        return dx_buf_append(buf, bytes, len);
    if (len)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    return DX_OK;
}

#endif
