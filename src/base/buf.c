#include "base/buf.h"
#include "base/alloc.h"

#include <string.h>

enum { SMALLEST = 256 };

void dx_buf_init(dx_buf *buf, size_t max, const dx_allocator *allocator) {
    *buf = (dx_buf){.max = max, .alloc = dx__allocator(allocator)};
}

void dx_buf_done(dx_buf *buf) {
    if (!buf)
        return;
    dx__free(&buf->alloc, buf->data);
    buf->data = NULL;
    buf->len = buf->cap = 0;
}

size_t dx__buf_target(const dx_buf *buf, size_t need) {
    size_t cap = buf->cap ? buf->cap : SMALLEST;
    while (cap < need)
        cap = cap > buf->max / 2 ? buf->max : cap * 2;
    return cap < buf->max ? cap : buf->max;
}

dx_status dx_buf_reserve(dx_buf *buf, size_t more) {
    if (more <= buf->cap - buf->len)
        return DX_OK;
    if (more > buf->max - buf->len)
        return DX_ERR_LIMIT;
    size_t cap = dx__buf_target(buf, buf->len + more);
    char *data = dx__realloc(&buf->alloc, buf->data, buf->cap, cap);
    if (!data)
        return DX_ERR_NOMEM;
    buf->data = data;
    buf->cap = cap;
    return DX_OK;
}

dx_status dx_buf_append(dx_buf *buf, const void *bytes, size_t len) {
    dx_status status = dx_buf_reserve(buf, len);
    if (status != DX_OK)
        return status;
    if (len)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    return DX_OK;
}
