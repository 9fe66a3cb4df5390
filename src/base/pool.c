#include "base/pool.h"
#include "base/alloc.h"

#include <string.h>

enum { CHUNK = DX__POOL_CHUNK };

void dx__pool_init(dx__pool *pool, size_t size, const dx_allocator *allocator) {
    *pool = (dx__pool){.size = size, .alloc = dx__allocator(allocator)};
}

static dx__pooled *at(const dx__pool *pool, uint32_t index) {
    return dx__pool_at(pool, index);
}

static void free_chunks(dx__pool *pool) {
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        dx__free(&pool->alloc, pool->chunks[i]);
    dx__free(&pool->alloc, pool->chunks);
    pool->chunks = NULL;
    pool->chunk_count = pool->chunk_cap = pool->free_first = 0;
}

void dx__pool_done(dx__pool *pool) {
    free_chunks(pool);
    pool->live = 0;
}

void dx__pool_trim(dx__pool *pool) {
    if (pool->live || !pool->chunks)
        return;
    for (uint32_t i = 0; i < pool->chunk_count * CHUNK; i++)
        if (at(pool, i)->generation > pool->era)
            pool->era = at(pool, i)->generation;
    free_chunks(pool);
}

static dx_status add_chunk(dx__pool *pool) {
    if (pool->chunk_count >= (1U << DX__POOL_BITS) / CHUNK)
        return DX_ERR_NOMEM;
    if (pool->chunk_count == pool->chunk_cap) {
        uint32_t cap = pool->chunk_cap ? pool->chunk_cap * 2 : 4;
        void **chunks = dx__realloc(&pool->alloc, pool->chunks, pool->chunk_cap * sizeof *chunks,
                                    cap * sizeof *chunks);
        if (!chunks)
            return DX_ERR_NOMEM;
        pool->chunks = chunks;
        pool->chunk_cap = cap;
    }
    void *chunk = dx__malloc(&pool->alloc, pool->size * CHUNK);
    if (!chunk)
        return DX_ERR_NOMEM;
    uint32_t first = pool->chunk_count * CHUNK;
    pool->chunks[pool->chunk_count++] = chunk;
    for (uint32_t i = CHUNK; i-- > 0;) {
        dx__pooled *object = at(pool, first + i);
        *object = (dx__pooled){
            .index = first + i, .generation = pool->era, .free_next = pool->free_first};
        pool->free_first = first + i + 1;
    }
    return DX_OK;
}

void *dx__pool_take(dx__pool *pool) {
    if (!pool->free_first && add_chunk(pool) != DX_OK)
        return NULL;
    dx__pooled *object = at(pool, pool->free_first - 1);
    pool->free_first = object->free_next;
    object->generation++;
    pool->live++;
    return object;
}

void dx__pool_give(dx__pool *pool, void *taken) {
    dx__pooled *object = taken;
    object->generation++;
    object->free_next = pool->free_first;
    pool->free_first = object->index + 1;
    pool->live--;
}

void *dx__pool_each(const dx__pool *pool, uint32_t *cursor) {
    while (*cursor < pool->chunk_count * CHUNK) {
        dx__pooled *object = at(pool, (*cursor)++);
        if (object->generation % 2)
            return object;
    }
    return NULL;
}
