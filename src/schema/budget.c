#include "schema/budget.h"
#include "base/alloc.h"

#include <string.h>

/* The size of a block stands before it, as free() is not told; as wide as the strictest alignment.
 */
enum { HEAD = 16 };

dx__budget dx__budget_of(const dx_allocator *base, size_t max) {
    return (dx__budget){.base = dx__allocator(base), .max = max};
}

static bool afford(dx__budget *budget, size_t old, size_t size) {
    size_t others = budget->used - old;
    budget->refused = size > budget->max || others > budget->max - size;
    return !budget->refused && size <= SIZE_MAX - HEAD;
}

static size_t size_of(const char *block) {
    size_t size;
    memcpy(&size, block, sizeof size);
    return size;
}

static void *hand_out(dx__budget *budget, char *block, size_t old, size_t size) {
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    budget->used = budget->used - old + size;
    return block + HEAD;
}

static void *budget_malloc(void *ctx, size_t size) {
    dx__budget *budget = ctx;
    if (!afford(budget, 0, size))
        return NULL;
    return hand_out(budget, dx__malloc(&budget->base, size + HEAD), 0, size);
}

static void *budget_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    (void)old_size;
    dx__budget *budget = ctx;
    char *block = (char *)ptr - HEAD;
    size_t old = size_of(block);
    if (!afford(budget, old, size))
        return NULL;
    return hand_out(budget, dx__realloc(&budget->base, block, old + HEAD, size + HEAD), old, size);
}

static void budget_free(void *ctx, void *ptr) {
    dx__budget *budget = ctx;
    char *block = (char *)ptr - HEAD;
    budget->used -= size_of(block);
    dx__free(&budget->base, block);
}

dx_allocator dx__budget_allocator(dx__budget *budget) {
    return (dx_allocator){budget_malloc, budget_realloc, budget_free, budget};
}

dx_status dx__budget_status(dx__budget *budget) {
    return budget->refused ? DX_ERR_LIMIT : DX_ERR_NOMEM;
}
