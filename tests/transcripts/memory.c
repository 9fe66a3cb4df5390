#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* In front of every block; its size keeps the block aligned for anything. */
union head {
    struct {
        size_t size;
        size_t mark;
    } is;
    max_align_t align;
};

enum { POISON_MAX = 4096 };

static const size_t mark_live = 0x6c697665;
static const size_t mark_dead = 0x64656164;

static bool refused(struct memory *memory) {
    memory->count++;
    if (!memory->fail_at || memory->count < memory->fail_at)
        return false;
    if (memory->count > memory->fail_at && !memory->fail_on)
        return false;
    memory->failed++;
    return true;
}

static void count_in(struct memory *memory, size_t size) {
    memory->live += size;
    memory->blocks++;
    if (memory->live > memory->peak)
        memory->peak = memory->live;
}

static void *memory_malloc(void *ctx, size_t size) {
    struct memory *memory = ctx;
    if (size == 0)
        memory->abuse = "an allocation of 0 bytes";
    if (refused(memory))
        return NULL;
    union head *head = malloc(sizeof *head + size);
    if (!head)
        return NULL;
    head->is.size = size;
    head->is.mark = mark_live;
    count_in(memory, size);
    /* What nobody wrote must not look like zeros. */
    memset(head + 1, 0xa5, size < POISON_MAX ? size : POISON_MAX);
    return head + 1;
}

static void memory_free(void *ctx, void *ptr) {
    struct memory *memory = ctx;
    if (!ptr)
        return;
    union head *head = (union head *)ptr - 1;
    if (head->is.mark != mark_live) {
        memory->abuse = "a block freed twice";
        return;
    }
    memory->live -= head->is.size;
    memory->blocks--;
    size_t size = head->is.size;
    memset(ptr, 0xdd, size < POISON_MAX ? size : POISON_MAX);
    head->is.mark = mark_dead;
    free(head);
}

/* Always moves, so that a pointer into the old block is seen at once, unless the block is large. */
static void *memory_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    struct memory *memory = ctx;
    if (!ptr)
        return memory_malloc(ctx, size);
    union head *head = (union head *)ptr - 1;
    if (old_size != 0 && old_size != head->is.size)
        memory->abuse = "a realloc whose old size is wrong";
    size_t kept = head->is.size < size ? head->is.size : size;
    void *moved = memory_malloc(ctx, size);
    if (!moved)
        return NULL;
    memcpy(moved, ptr, kept);
    memory_free(ctx, ptr);
    return moved;
}

dx_allocator memory_allocator(struct memory *memory) {
    return (dx_allocator){memory_malloc, memory_realloc, memory_free, memory};
}

void memory_heal(struct memory *memory) {
    memory->fail_at = 0;
}
