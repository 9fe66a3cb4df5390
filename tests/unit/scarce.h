/* An allocator whose memory runs out where a test wants it to. */
#ifndef UNIT_SCARCE_H
#define UNIT_SCARCE_H

#include <duplex/base.h>

#include <stdlib.h>

typedef struct scarce {
    size_t until; /* this one fails, counted from 1; 0: none */
    size_t more;  /* and so many after it */
    size_t count;
    size_t live; /* blocks that were not given back */
} scarce;

static inline int scarce_is_out(scarce *memory) {
    memory->count++;
    return memory->until && memory->count >= memory->until &&
           memory->count - memory->until <= memory->more;
}

static inline void *scarce_malloc(void *ctx, size_t size) {
    scarce *memory = (scarce *)ctx;
    void *ptr = scarce_is_out(memory) ? NULL : malloc(size);
    memory->live += ptr != NULL;
    return ptr;
}

static inline void *scarce_realloc(void *ctx, void *ptr, size_t old, size_t size) {
    (void)old;
    return scarce_is_out((scarce *)ctx) ? NULL : realloc(ptr, size);
}

static inline void scarce_free(void *ctx, void *ptr) {
    scarce *memory = (scarce *)ctx;
    memory->live -= ptr != NULL;
    free(ptr);
}

static inline dx_allocator scarce_allocator(scarce *memory) {
    return (dx_allocator){scarce_malloc, scarce_realloc, scarce_free, memory};
}

#endif
