/*
 * A hash map from the hash of a byte string to a pointer, open addressing, sized at the first
 * entry. Several entries may have one hash: the caller compares the strings.
 */
#ifndef DX_BASE_MAP_H
#define DX_BASE_MAP_H

#include <duplex/base.h>

#include <string.h>

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

uint64_t dx__hash_long(uint64_t seed, dx_text text);

/* The ids and methods of most peers are short: up to eight bytes make a word (both ends of them, so
 * that all are in it), which is mixed with the length and the seed. */
static inline uint64_t dx__hash_word(uint64_t seed, dx_text text) {
    uint32_t ends[2] = {0, 0};
    if (text.len >= 4) {
        memcpy(&ends[0], text.at, 4);
        memcpy(&ends[1], text.at + text.len - 4, 4);
    } else {
        for (size_t i = 0; i < text.len; i++)
            ends[0] = ends[0] << 8 | (unsigned char)text.at[i];
    }
    uint64_t word = ((uint64_t)ends[1] << 32 | ends[0]) ^ seed;
    word += text.len * UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
    word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return word ^ word >> 33;
}

/* SipHash-1-3, or a mix with the seed for what fits into a word: without knowing the seed the other
 * side can't aim at collisions. */
static inline uint64_t dx__hash(uint64_t seed, dx_text text) {
    return text.len <= 8 ? dx__hash_word(seed, text) : dx__hash_long(seed, text);
}

#endif
