/* What the unit tests share: an allocator that counts and fails on demand, bytes that end where
 * memory ends, and random numbers that are the same in every run. */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <duplex/base.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct unit_memory {
    size_t blocks;  /* held now */
    size_t bytes;   /* held now */
    size_t peak;    /* most bytes that were held at once */
    size_t count;   /* allocations asked for … */
    size_t asked;   /* … and their bytes */
    size_t fail_at; /* this one (counted from 1) and all after it fail; 0: none … */
    size_t fails;   /* … or only so many */
};

/* The size stands before each block, so that the library's own idea of it can be checked. */
enum { UNIT_HEAD = 16 };

static inline void *unit_malloc(void *ctx, size_t size) {
    struct unit_memory *memory = ctx;
    memory->count++;
    memory->asked += size;
    if (memory->fail_at && memory->count >= memory->fail_at &&
        (!memory->fails || memory->count - memory->fail_at < memory->fails))
        return NULL;
    char *block = malloc(size + UNIT_HEAD);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    memory->blocks++;
    memory->bytes += size;
    if (memory->bytes > memory->peak)
        memory->peak = memory->bytes;
    return block + UNIT_HEAD;
}

static inline void unit_free(void *ctx, void *ptr) {
    struct unit_memory *memory = ctx;
    char *block = (char *)ptr - UNIT_HEAD;
    size_t size;
    memcpy(&size, block, sizeof size);
    memory->blocks--;
    memory->bytes -= size;
    memset(ptr, 0xdd, size); /* who still looks at it shall see that it is gone … */
    __asm__ volatile("" : : "r"(ptr) : "memory"); /* … which a compiler takes for nobody */
    free(block);
}

/* Always moves: who still holds the old place is found out. */
static inline void *unit_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    size_t true_size;
    memcpy(&true_size, (char *)ptr - UNIT_HEAD, sizeof true_size);
    if (old_size)
        assert_int_equal(old_size, true_size);
    void *block = unit_malloc(ctx, size);
    if (!block)
        return NULL;
    memcpy(block, ptr, true_size < size ? true_size : size);
    unit_free(ctx, ptr);
    return block;
}

static inline dx_allocator unit_allocator(struct unit_memory *memory) {
    return (dx_allocator){unit_malloc, unit_realloc, unit_free, memory};
}

#define TEXT(literal) ((dx_text){(literal), sizeof(literal) - 1})

static inline void unit_same(dx_text got, dx_text expected) {
    assert_int_equal(got.len, expected.len);
    if (got.len)
        assert_memory_equal(got.at, expected.at, got.len);
}

#define assert_text(got, literal) unit_same(got, TEXT(literal))

/* A place for up to `room` bytes whose end is the end of readable memory. */
struct unit_fence {
    char *area;
    size_t room;
};

static inline struct unit_fence unit_fence_new(size_t len) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (len / page + 1) * page;
    char *area =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(area != MAP_FAILED);
    assert_int_equal(mprotect(area + room, page, PROT_NONE), 0);
    return (struct unit_fence){area, room};
}

static inline dx_text unit_fence_put(const struct unit_fence *fence, const char *bytes,
                                     size_t len) {
    if (!fence->area || len > fence->room)
        abort();
    char *copy = fence->area + fence->room - len;
    if (len)
        memcpy(copy, bytes, len);
    return (dx_text){copy, len};
}

static inline void unit_fence_done(struct unit_fence *fence) {
    munmap(fence->area, fence->room + (size_t)sysconf(_SC_PAGESIZE));
}

/* xorshift64*: a number below `limit`. The state must not be 0. */
static inline size_t unit_random(uint64_t *state, size_t limit) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (size_t)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % limit;
}

#endif
