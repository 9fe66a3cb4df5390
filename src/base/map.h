/*
 * A hash map from the hash of a byte string to a pointer, open addressing, sized at the first
 * entry. Several entries may have one hash: the caller compares the strings.
 */
#ifndef DX_BASE_MAP_H
#define DX_BASE_MAP_H

#include <duplex/base.h>

struct dx__map_slot {
    uint64_t key;
    void *value; /* NULL: empty */
};

typedef struct dx__map {
    struct dx__map_slot *slots;
    size_t cap; /* 0 or a power of two */
    size_t count;
    dx_allocator alloc;
} dx__map;

void dx__map_init(dx__map *map, const dx_allocator *allocator);
void dx__map_done(dx__map *map);

/* Makes sure that the next put() succeeds. */
dx_status dx__map_reserve(dx__map *map);
/* Adds an entry; room must have been reserved. */
void dx__map_put(dx__map *map, uint64_t key, void *value);
/* Takes the entry out, if it is there. */
void dx__map_drop(dx__map *map, uint64_t key, const void *value);
/* Entries with that key, one after the other: start with *cursor = 0; NULL after the last. */
void *dx__map_find(const dx__map *map, uint64_t key, size_t *cursor);

/* SipHash-1-3, or a mix with the seed for what fits into a word: without knowing the seed the other
 * side can't aim at collisions. */
uint64_t dx__hash(uint64_t seed, dx_text text);

#endif
