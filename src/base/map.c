#include "base/map.h"
#include "base/alloc.h"

#include <string.h>

enum { SMALLEST = 16 };

void dx__map_init(dx__map *map, const dx_allocator *allocator) {
    *map = (dx__map){.alloc = dx__allocator(allocator)};
}

void dx__map_done(dx__map *map) {
    dx__free(&map->alloc, map->slots);
    map->slots = NULL;
    map->cap = map->count = 0;
}

static void place(struct dx__map_slot *slots, size_t cap, uint64_t key, void *value) {
    size_t at = key & (cap - 1);
    while (slots[at].value)
        at = (at + 1) & (cap - 1);
    slots[at] = (struct dx__map_slot){key, value};
}

dx_status dx__map_reserve(dx__map *map) {
    if (map->count < map->cap - map->cap / 4)
        return DX_OK;
    size_t cap = map->cap ? map->cap * 2 : SMALLEST;
    struct dx__map_slot *slots = dx__malloc(&map->alloc, cap * sizeof *slots);
    if (!slots)
        return DX_ERR_NOMEM;
    memset(slots, 0, cap * sizeof *slots);
    for (size_t i = 0; i < map->cap; i++)
        if (map->slots[i].value)
            place(slots, cap, map->slots[i].key, map->slots[i].value);
    dx__free(&map->alloc, map->slots);
    map->slots = slots;
    map->cap = cap;
    return DX_OK;
}

void dx__map_put(dx__map *map, uint64_t key, void *value) {
    place(map->slots, map->cap, key, value);
    map->count++;
}

void dx__map_drop(dx__map *map, uint64_t key, const void *value) {
    if (!map->cap)
        return;
    size_t mask = map->cap - 1;
    size_t at = key & mask;
    while (map->slots[at].value != value) {
        if (!map->slots[at].value)
            return;
        at = (at + 1) & mask;
    }
    map->count--;
    /* Close the gap: an entry that would be found no more moves into it. */
    for (size_t next = (at + 1) & mask; map->slots[next].value; next = (next + 1) & mask) {
        size_t home = map->slots[next].key & mask;
        if (((next - home) & mask) < ((next - at) & mask))
            continue;
        map->slots[at] = map->slots[next];
        at = next;
    }
    map->slots[at].value = NULL;
}

void *dx__map_find(const dx__map *map, uint64_t key, size_t *cursor) {
    if (!map->cap)
        return NULL;
    size_t mask = map->cap - 1;
    for (size_t at = (key + *cursor) & mask; map->slots[at].value; at = (at + 1) & mask) {
        (*cursor)++;
        if (map->slots[at].key == key)
            return map->slots[at].value;
    }
    return NULL;
}

static inline uint64_t rotl(uint64_t x, int b) {
    return (x << b) | (x >> (64 - b));
}

static inline void sip_round(uint64_t v[4]) {
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

uint64_t dx__hash_long(uint64_t seed, dx_text text) {
    uint64_t k1 = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    uint64_t v[4] = {seed ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                     seed ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    uint64_t last = (uint64_t)text.len << 56;
    size_t whole = text.len & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word;
        memcpy(&word, text.at + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    for (size_t i = whole; i < text.len; i++)
        last |= (uint64_t)(unsigned char)text.at[i] << (8 * (i - whole));
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
