/* What can be undone: whole texts, as many and as much as the configuration allows. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

enum { FIRST = 8 };

static void forget_oldest(hermes_undo *undo, const dx_allocator *alloc, size_t count) {
    for (size_t i = 0; i < count; i++) {
        undo->bytes -= undo->steps[i].len;
        dx__free(alloc, undo->steps[i].at);
    }
    undo->count -= count;
    if (undo->count && count)
        memmove(undo->steps, undo->steps + count, undo->count * sizeof *undo->steps);
}

void hermes_undo_done(hermes_undo *undo, const dx_allocator *alloc) {
    forget_oldest(undo, alloc, undo->count);
    dx__free(alloc, undo->steps);
    undo->steps = NULL;
    undo->cap = 0;
}

dx_status hermes_undo_reserve(hermes_undo *undo, const dx_allocator *alloc) {
    size_t cap = undo->cap ? undo->cap * 2 : FIRST;
    if (undo->count < undo->cap || undo->cap >= undo->max)
        return DX_OK;
    if (cap > undo->max)
        cap = undo->max;
    hermes_version *steps =
        dx__realloc(alloc, undo->steps, undo->cap * sizeof *steps, cap * sizeof *steps);
    if (!steps)
        return DX_ERR_NOMEM;
    undo->steps = steps;
    undo->cap = cap;
    return DX_OK;
}

void hermes_undo_push(hermes_undo *undo, const dx_allocator *alloc, hermes_version take_version) {
    size_t drop = undo->count && undo->count >= undo->max ? undo->count - undo->max + 1 : 0;
    size_t left = undo->bytes;
    for (size_t i = 0; i < drop && i < undo->count; i++)
        left -= undo->steps[i].len;
    /* One that is too large itself cuts off what was before it: an undo leaves no step out. */
    bool fits = undo->max && take_version.len <= undo->bytes_max;
    while (drop < undo->count && (!fits || left > undo->bytes_max - take_version.len))
        left -= undo->steps[drop++].len;
    forget_oldest(undo, alloc, drop);
    if (!fits) {
        dx__free(alloc, take_version.at);
        return;
    }
    undo->steps[undo->count++] = take_version;
    undo->bytes += take_version.len;
}

dx_status hermes_undo_pop(hermes_undo *undo, hermes_version *ret_version) {
    if (!undo->count)
        return DX_AGAIN;
    *ret_version = undo->steps[--undo->count];
    undo->bytes -= ret_version->len;
    return DX_OK;
}
