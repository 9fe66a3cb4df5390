#include "base/heap.h"
#include "base/alloc.h"

enum { SMALLEST = 16 };

void dx__heap_init(dx__heap *heap, const dx_allocator *allocator) {
    *heap = (dx__heap){.alloc = dx__allocator(allocator)};
}

void dx__heap_done(dx__heap *heap) {
    dx__free(&heap->alloc, heap->timers);
    heap->timers = NULL;
    heap->count = heap->cap = 0;
}

dx_status dx__heap_reserve(dx__heap *heap, size_t count) {
    if (count <= heap->cap)
        return DX_OK;
    size_t cap = heap->cap ? heap->cap : SMALLEST;
    while (cap < count)
        cap *= 2;
    dx__timer **timers =
        dx__realloc(&heap->alloc, heap->timers, heap->cap * sizeof *timers, cap * sizeof *timers);
    if (!timers)
        return DX_ERR_NOMEM;
    heap->timers = timers;
    heap->cap = cap;
    return DX_OK;
}

static void set(dx__heap *heap, size_t at, dx__timer *timer) {
    heap->timers[at] = timer;
    timer->place = (uint32_t)at + 1;
}

static void rise(dx__heap *heap, size_t at, dx__timer *timer) {
    while (at > 0) {
        size_t up = (at - 1) / 2;
        if (heap->timers[up]->key <= timer->key)
            break;
        set(heap, at, heap->timers[up]);
        at = up;
    }
    set(heap, at, timer);
}

static void sink(dx__heap *heap, size_t at, dx__timer *timer) {
    for (;;) {
        size_t down = 2 * at + 1;
        if (down >= heap->count)
            break;
        if (down + 1 < heap->count && heap->timers[down + 1]->key < heap->timers[down]->key)
            down++;
        if (heap->timers[down]->key >= timer->key)
            break;
        set(heap, at, heap->timers[down]);
        at = down;
    }
    set(heap, at, timer);
}

void dx__heap_add(dx__heap *heap, dx__timer *timer, uint64_t when) {
    timer->when = timer->key = when;
    timer->place = 0;
    if (when != DX_NEVER)
        rise(heap, heap->count++, timer);
}

void dx__heap_move(dx__heap *heap, dx__timer *timer, uint64_t when) {
    if (timer->place && when >= timer->key && when != DX_NEVER) {
        timer->when = when;
        return;
    }
    dx__heap_drop(heap, timer);
    dx__heap_add(heap, timer, when);
}

void dx__heap_drop(dx__heap *heap, dx__timer *timer) {
    if (!timer->place)
        return;
    size_t at = timer->place - 1;
    dx__timer *last = heap->timers[--heap->count];
    timer->place = 0;
    if (last == timer)
        return;
    if (last->key < timer->key)
        rise(heap, at, last);
    else
        sink(heap, at, last);
}

uint64_t dx__heap_next(const dx__heap *heap) {
    return heap->count ? heap->timers[0]->key : DX_NEVER;
}

dx__timer *dx__heap_due(dx__heap *heap, uint64_t now) {
    while (heap->count && heap->timers[0]->key <= now) {
        dx__timer *timer = heap->timers[0];
        /* One that was pushed back takes its true place first, so that they come in order. */
        if (timer->when == timer->key) {
            dx__heap_drop(heap, timer);
            return timer;
        }
        timer->key = timer->when;
        sink(heap, 0, timer);
    }
    return NULL;
}
