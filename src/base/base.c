#include "base/alloc.h"

#include <duplex/base.h>
#include <duplex/version.h>

#include <stdlib.h>
#include <string.h>

const char *dx_version(void) {
    return DX_VERSION;
}

const char *dx_status_name(dx_status status) {
    switch (status) {
    case DX_OK:
        return "ok";
    case DX_AGAIN:
        return "again";
    case DX_BUSY:
        return "busy";
    case DX_GONE:
        return "gone";
    case DX_CLOSED:
        return "closed";
    case DX_MISFIT:
        return "misfit";
    case DX_ERR_NOMEM:
        return "out of memory";
    case DX_ERR_LIMIT:
        return "too large";
    case DX_ERR_INVALID:
        return "invalid";
    case DX_ERR_SYSTEM:
        return "system";
    }
    return "unknown status";
}

dx_text dx_str(const char *string) {
    return (dx_text){string, string ? strlen(string) : 0};
}

int dx_text_is(dx_text text, const char *string) {
    return text.len == strlen(string) && memcmp(text.at ? text.at : "", string, text.len) == 0;
}

static void *libc_malloc(void *ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static void *libc_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    (void)ctx;
    (void)old_size;
    return realloc(ptr, size);
}

static void libc_free(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

dx_allocator dx__allocator(const dx_allocator *given) {
    if (given)
        return *given;
    return (dx_allocator){libc_malloc, libc_realloc, libc_free, NULL};
}
