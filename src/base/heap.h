/*
 * Deadlines in order: a binary heap of timers that live inside other objects.
 *
 * A timer that is pushed back does not move: its heap place keeps the older, earlier time and is
 * put right when that comes up. So a progress message costs nothing here.
 */
#ifndef DX_BASE_HEAP_H
#define DX_BASE_HEAP_H

#include <duplex/base.h>

/* `ms` after `now`; what is too far away to count is never. */
static inline uint64_t dx__later(uint64_t now, uint64_t ms) {
    return ms >= DX_NEVER - now ? DX_NEVER : now + ms;
}

typedef struct dx__timer {
    uint64_t when;  /* the real deadline; may be later than the place in the heap says */
    uint64_t key;   /* what the heap is ordered by */
    uint32_t place; /* index + 1, or 0 while not in the heap */
    uint32_t tag;   /* for the owner: what the timer is part of */
} dx__timer;

typedef struct dx__heap {
    dx__timer **timers;
    size_t count;
    size_t cap;
    dx_allocator alloc;
} dx__heap;

void dx__heap_init(dx__heap *heap, const dx_allocator *allocator);
void dx__heap_done(dx__heap *heap);

/* Makes sure that `count` timers have room, so that add() and move() can't fail. */
dx_status dx__heap_reserve(dx__heap *heap, size_t count);
/* Starts a timer. DX_NEVER is not put in at all. Room must have been reserved. */
void dx__heap_add(dx__heap *heap, dx__timer *timer, uint64_t when);
/* Changes a timer that is in the heap (or not: then it needs reserved room). */
void dx__heap_move(dx__heap *heap, dx__timer *timer, uint64_t when);
void dx__heap_drop(dx__heap *heap, dx__timer *timer);
/* The earliest time that may be due: never later than the true one. DX_NEVER when empty. */
uint64_t dx__heap_next(const dx__heap *heap);
/* Takes out and returns a timer whose time has come, or NULL. */
dx__timer *dx__heap_due(dx__heap *heap, uint64_t now);

#endif
