/* The allocator parameter, resolved, and the three calls on it. */
#ifndef DX_BASE_ALLOC_H
#define DX_BASE_ALLOC_H

#include <duplex/base.h>

#include <string.h>

/* A copy of `given`, or malloc() and friends for NULL. */
dx_allocator dx__allocator(const dx_allocator *given);

static inline void *dx__malloc(const dx_allocator *alloc, size_t size) {
    return alloc->malloc(alloc->ctx, size);
}

static inline void *dx__realloc(const dx_allocator *alloc, void *ptr, size_t old, size_t size) {
    return ptr ? alloc->realloc(alloc->ctx, ptr, old, size) : alloc->malloc(alloc->ctx, size);
}

static inline void dx__free(const dx_allocator *alloc, void *ptr) {
    if (ptr)
        alloc->free(alloc->ctx, ptr);
}

/* A copy with a NUL behind it; NULL without memory. */
static inline char *dx__text_copy(const dx_allocator *alloc, dx_text text) {
    char *copy = text.len < SIZE_MAX ? (char *)dx__malloc(alloc, text.len + 1) : NULL;
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    return copy;
}

/* Replaces strings, of which any may be NULL, by copies of them in one block, which is returned;
 * NULL without memory. */
static inline char *dx__keep_strings(const dx_allocator *alloc, const char **const *places,
                                     size_t count) {
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += *places[i] ? strlen(*places[i]) + 1 : 0;
    char *block = (char *)dx__malloc(alloc, size);
    char *to = block;
    for (size_t i = 0; block && i < count; i++) {
        if (!*places[i])
            continue;
        size_t len = strlen(*places[i]) + 1;
        memcpy(to, *places[i], len);
        *places[i] = to;
        to += len;
    }
    return block;
}

#endif
