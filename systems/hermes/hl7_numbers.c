#include "systems/hermes/hl7_parts.h"

#include <string.h>

dx_status hl7_numbers_add(hl7_numbers *numbers, uint64_t number, dx_text name,
                          yyjson_mut_val *value) {
    if (numbers->count == numbers->cap) {
        size_t cap = numbers->cap ? numbers->cap * 2 : 16;
        if (cap > SIZE_MAX / sizeof *numbers->at)
            return DX_ERR_NOMEM;
        hl7_numbered *at =
            dx__realloc(&numbers->alloc, numbers->at, numbers->cap * sizeof *at, cap * sizeof *at);
        if (!at)
            return DX_ERR_NOMEM;
        numbers->at = at;
        numbers->cap = cap;
    }
    numbers->at[numbers->count] =
        (hl7_numbered){.number = number, .name = name, .order = numbers->count, .value = value};
    numbers->count++;
    return DX_OK;
}

void hl7_numbers_done(hl7_numbers *numbers) {
    dx__free(&numbers->alloc, numbers->at);
    numbers->at = NULL;
    numbers->count = numbers->cap = 0;
}

static bool is_less(const hl7_numbered *one, const hl7_numbered *two) {
    if (one->number != two->number)
        return one->number < two->number;
    size_t len = one->name.len < two->name.len ? one->name.len : two->name.len;
    int order = len ? memcmp(one->name.at, two->name.at, len) : 0;
    if (order)
        return order < 0;
    if (one->name.len != two->name.len)
        return one->name.len < two->name.len;
    return one->order < two->order;
}

static void sink(hl7_numbered *at, size_t root, size_t count) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && is_less(&at[child], &at[child + 1]))
            child++;
        if (!is_less(&at[root], &at[child]))
            return;
        hl7_numbered swapped = at[root];
        at[root] = at[child];
        at[child] = swapped;
    }
}

/* A heap sort: it needs no memory and has no bad case, and most lists are in order anyway. */
void hl7_numbers_sort(hl7_numbers *numbers) {
    hl7_numbered *at = numbers->at;
    size_t count = numbers->count;
    size_t sorted = 1;
    while (sorted < count && is_less(&at[sorted - 1], &at[sorted]))
        sorted++;
    if (sorted >= count)
        return;
    for (size_t root = count / 2; root-- > 0;)
        sink(at, root, count);
    for (size_t last = count - 1; last > 0; last--) {
        hl7_numbered swapped = at[0];
        at[0] = at[last];
        at[last] = swapped;
        sink(at, 0, last);
    }
}
