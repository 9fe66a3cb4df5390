/* The allocator parameter, resolved, and the three calls on it. */
#ifndef DX_BASE_ALLOC_H
#define DX_BASE_ALLOC_H

#include <duplex/base.h>

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

#endif
