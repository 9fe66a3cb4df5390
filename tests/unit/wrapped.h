/* malloc(), calloc() and realloc() of this program, of which one fails: for what has no allocator
 * of its own. The program is linked with --wrap for the three; see cmake/DuplexTests.cmake. */
#ifndef UNIT_WRAPPED_H
#define UNIT_WRAPPED_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static struct {
    size_t count; /* allocations while it is on */
    size_t fail_at;
    bool on;
    bool *failed;
} memory;

static bool fails(void) {
    if (!memory.on || ++memory.count != memory.fail_at)
        return false;
    *memory.failed = true;
    return true;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    return fails() ? NULL : __real_realloc(block, size);
}

#endif
