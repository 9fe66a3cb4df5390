#include "base/words.h"
#include "trace/trace.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

dx_status dx__base64_write(dx_buf *buf, dx_text bytes) {
    size_t groups = bytes.len / 3 + (bytes.len % 3 != 0);
    if (groups > SIZE_MAX / 4)
        return DX_ERR_LIMIT;
    dx_status status = dx_buf_reserve(buf, groups * 4);
    if (status != DX_OK)
        return status;
    const unsigned char *at = (const unsigned char *)bytes.at;
    char *to = buf->data + buf->len;
    for (size_t left = bytes.len; left; to += 4) {
        size_t take = left < 3 ? left : 3;
        unsigned group = (unsigned)at[0] << 16 | (take > 1 ? (unsigned)at[1] << 8 : 0) |
                         (take > 2 ? (unsigned)at[2] : 0);
        to[0] = alphabet[group >> 18];
        to[1] = alphabet[group >> 12 & 63];
        to[2] = take > 1 ? alphabet[group >> 6 & 63] : '=';
        to[3] = take > 2 ? alphabet[group & 63] : '=';
        at += take;
        left -= take;
    }
    buf->len += groups * 4;
    return DX_OK;
}

size_t dx__base64_read(char *at, size_t len) {
    if (len % 4)
        return SIZE_MAX;
    char *to = at;
    for (const char *from = at, *end = at + len; from < end; from += 4) {
        int pad = from + 4 < end || from[3] != '=' ? 0 : from[2] == '=' ? 2 : 1;
        int part[4] = {0, 0, 0, 0};
        for (int i = 0; i < 4 - pad; i++)
            if ((part[i] = dx__base64_value(from[i])) < 0)
                return SIZE_MAX;
        unsigned group = (unsigned)part[0] << 18 | (unsigned)part[1] << 12 |
                         (unsigned)part[2] << 6 | (unsigned)part[3];
        if (group & ((1U << (8 * pad)) - 1))
            return SIZE_MAX; /* bits that no byte has */
        *to++ = (char)(group >> 16);
        if (pad < 2)
            *to++ = (char)(group >> 8);
        if (pad < 1)
            *to++ = (char)group;
    }
    return (size_t)(to - at);
}
