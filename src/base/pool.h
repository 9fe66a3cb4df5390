/*
 * Objects of one size that never move, each with a handle that is never given twice: a handle of
 * an object that was given back finds nothing, so that a stale one can do no harm.
 */
#ifndef DX_BASE_POOL_H
#define DX_BASE_POOL_H

#include <duplex/base.h>

/* Bits of a handle that are the place; the rest counts how often the place was used. */
#define DX__POOL_BITS 24

typedef struct dx__pool {
    size_t size; /* of an object */
    void **chunks;
    uint32_t chunk_count;
    uint32_t chunk_cap;
    uint32_t live;
    uint32_t free_first; /* index + 1 */
    uint64_t era;        /* where generations start after a trim: above all that were given out */
    dx_allocator alloc;
} dx__pool;

/* The first member of every pooled object. */
typedef struct dx__pooled {
    uint64_t generation; /* odd while it lives */
    uint32_t index;
    uint32_t free_next;
} dx__pooled;

void dx__pool_init(dx__pool *pool, size_t size, const dx_allocator *allocator);
void dx__pool_done(dx__pool *pool);

/* A new object, of which only the dx__pooled is set; NULL without memory (or with 2^24 objects). */
void *dx__pool_take(dx__pool *pool);
void dx__pool_give(dx__pool *pool, void *taken);
enum { DX__POOL_CHUNK = 16 };
static inline void *dx__pool_at(const dx__pool *pool, uint32_t index) {
    return (char *)pool->chunks[index / DX__POOL_CHUNK] + pool->size * (index % DX__POOL_CHUNK);
}
/* The object with that handle, or NULL. */
static inline void *dx__pool_find(const dx__pool *pool, uint64_t handle) {
    uint32_t index = handle & ((1U << DX__POOL_BITS) - 1);
    if (index >= pool->chunk_count * DX__POOL_CHUNK)
        return NULL;
    dx__pooled *object = (dx__pooled *)dx__pool_at(pool, index);
    return object->generation == handle >> DX__POOL_BITS && object->generation % 2 ? object : NULL;
}
static inline uint64_t dx__pool_handle(const dx__pooled *object) {
    return object->generation << DX__POOL_BITS | object->index;
}
/* Live objects in the order of their places: start with *cursor = 0; NULL after the last. */
void *dx__pool_each(const dx__pool *pool, uint32_t *cursor);
/* Gives the memory back if no object lives. */
void dx__pool_trim(dx__pool *pool);

#endif
