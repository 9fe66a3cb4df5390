/* What can be undone, as many steps and as much as the configuration allows: what an edit replaced,
 * or the whole version before it. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

enum { FIRST = 8 };

static size_t size_of(const hermes_step *step) {
    return step->is_whole ? hermes_version_size(&step->version) : hl7_journal_size(&step->journal);
}

static void done(hermes_step *step, const dx_allocator *alloc) {
    if (step->is_whole)
        hermes_version_done(&step->version, alloc);
    else
        hl7_journal_done(&step->journal);
}

static void forget_oldest(hermes_undo *undo, const dx_allocator *alloc, size_t count) {
    for (size_t i = 0; i < count; i++) {
        undo->bytes -= undo->steps[i].size;
        done(&undo->steps[i], alloc);
    }
    undo->count -= count;
    undo->dropped += count;
    if (undo->count && count)
        memmove(undo->steps, undo->steps + count, undo->count * sizeof *undo->steps);
}

void hermes_undo_done(hermes_undo *undo, const dx_allocator *alloc) {
    forget_oldest(undo, alloc, undo->count);
    dx__free(alloc, undo->steps);
    undo->steps = NULL;
    undo->cap = 0;
    undo->dropped = 0;
}

dx_status hermes_undo_reserve(hermes_undo *undo, const dx_allocator *alloc) {
    size_t cap = undo->cap ? undo->cap * 2 : FIRST;
    if (undo->count < undo->cap || undo->cap >= undo->max)
        return DX_OK;
    if (cap > undo->max)
        cap = undo->max;
    hermes_step *steps =
        dx__realloc(alloc, undo->steps, undo->cap * sizeof *steps, cap * sizeof *steps);
    if (!steps)
        return DX_ERR_NOMEM;
    undo->steps = steps;
    undo->cap = cap;
    return DX_OK;
}

void hermes_undo_push(hermes_undo *undo, const dx_allocator *alloc, hermes_step take_step) {
    hermes_version *version = &take_step.version;
    if (take_step.is_whole && version->hl7) { /* which has the text as well */
        dx__free(alloc, version->at);
        version->at = NULL;
    }
    take_step.size = size_of(&take_step);
    size_t drop = undo->count && undo->count >= undo->max ? undo->count - undo->max + 1 : 0;
    size_t left = undo->bytes;
    for (size_t i = 0; i < drop && i < undo->count; i++)
        left -= undo->steps[i].size;
    /* One that is too large itself cuts off what was before it: an undo leaves no step out. */
    bool fits = undo->max && take_step.size <= undo->bytes_max;
    while (drop < undo->count && (!fits || left > undo->bytes_max - take_step.size))
        left -= undo->steps[drop++].size;
    forget_oldest(undo, alloc, drop);
    if (!fits) {
        done(&take_step, alloc);
        undo->dropped++;
        return;
    }
    undo->steps[undo->count++] = take_step;
    undo->bytes += take_step.size;
}

hermes_step *hermes_undo_last(hermes_undo *undo) {
    return undo->count ? &undo->steps[undo->count - 1] : NULL;
}

void hermes_undo_pop(hermes_undo *undo) {
    hermes_step *step = &undo->steps[--undo->count];
    undo->bytes -= step->size;
    if (!step->is_whole)
        hl7_journal_done(&step->journal);
}
