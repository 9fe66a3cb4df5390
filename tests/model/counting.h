/* counting.h: an allocator that counts what is held, moves what grows, and can fail at random. */
#ifndef MODEL_COUNTING_H
#define MODEL_COUNTING_H

#include "model/chance.h"

#include <duplex/base.h>

#include <stdlib.h>
#include <string.h>

struct counting {
    size_t live;
    size_t failed;
    unsigned fail_one_in; /* 0: never */
    struct chance chance; /* its own, so that failures don't change what else happens */
};

union counting_head {
    size_t size;
    max_align_t align;
};

static inline void *counting_malloc(void *ctx, size_t size) {
    struct counting *counting = ctx;
    if (counting->fail_one_in && once_in(&counting->chance, counting->fail_one_in)) {
        counting->failed++;
        return NULL;
    }
    union counting_head *head = malloc(sizeof *head + size);
    if (!head)
        abort();
    head->size = size;
    counting->live += size;
    return head + 1;
}

static inline void counting_free(void *ctx, void *ptr) {
    struct counting *counting = ctx;
    if (!ptr)
        return;
    union counting_head *head = (union counting_head *)ptr - 1;
    counting->live -= head->size;
    memset(ptr, 0xdd, head->size < 4096 ? head->size : 4096); /* who still reads it shall see */
    free(head);
}

static inline void *counting_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    const union counting_head *head = (union counting_head *)ptr - 1;
    if (old_size && old_size != head->size)
        abort(); /* "old_size is right or 0" */
    void *moved = counting_malloc(ctx, size);
    if (!moved)
        return NULL;
    memcpy(moved, ptr, head->size < size ? head->size : size);
    counting_free(ctx, ptr);
    return moved;
}

static inline dx_allocator counting_allocator(struct counting *counting) {
    return (dx_allocator){counting_malloc, counting_realloc, counting_free, counting};
}

#endif
