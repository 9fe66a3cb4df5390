#include "cli/lint/keys.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { SMALLEST = 16 };

uint64_t cli_seed(void) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint64_t)time(NULL) * UINT64_C(0x9e3779b97f4a7c15);
    return seed;
}

static inline uint64_t rotated(uint64_t word, int by) {
    return (word << by) | (word >> (64 - by));
}

static inline void mix(uint64_t v[4], uint64_t word, int rounds) {
    v[3] ^= word;
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[0] = rotated(v[0], 32);
        v[2] += v[3];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[2] = rotated(v[2], 32);
    }
    v[0] ^= word;
}

/* SipHash-1-3 with a key that is made of the seed. */
uint64_t cli_hash(uint64_t seed, dx_text text) {
    uint64_t other = ~seed * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t v[4] = {seed ^ UINT64_C(0x736f6d6570736575), other ^ UINT64_C(0x646f72616e646f6d),
                     seed ^ UINT64_C(0x6c7967656e657261), other ^ UINT64_C(0x7465646279746573)};
    uint64_t word;
    size_t at = 0;
    for (; text.len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text.at + at, sizeof word);
        mix(v, word, 1);
    }
    word = 0;
    if (at < text.len)
        memcpy(&word, text.at + at, text.len - at);
    mix(v, word | (uint64_t)text.len << 56, 1);
    v[2] ^= 0xff;
    mix(v, 0, 3);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static bool grow(cli_keys *table) {
    size_t cap = table->cap ? table->cap * 2 : SMALLEST;
    cli_hook **slots = calloc(cap, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < table->cap; i++)
        for (cli_hook *hook = table->slots[i], *next; hook; hook = next) {
            next = hook->next;
            hook->next = slots[hook->hash & (cap - 1)];
            slots[hook->hash & (cap - 1)] = hook;
        }
    free(table->slots);
    table->slots = slots;
    table->cap = cap;
    return true;
}

bool cli_keys_add(cli_keys *table, cli_hook *hook, uint64_t hash) {
    /* One that can't grow becomes slower, no more than that. */
    if (table->count >= table->cap && !grow(table) && !table->cap)
        return false;
    cli_hook **slot = &table->slots[hash & (table->cap - 1)];
    *hook = (cli_hook){.next = *slot, .hash = hash};
    *slot = hook;
    table->count++;
    return true;
}

void cli_keys_drop(cli_keys *table, const cli_hook *hook) {
    if (!table->cap)
        return;
    cli_hook **place = &table->slots[hook->hash & (table->cap - 1)];
    while (*place && *place != hook)
        place = &(*place)->next;
    if (!*place)
        return;
    *place = hook->next;
    table->count--;
}

cli_hook *cli_keys_first(const cli_keys *table, uint64_t hash) {
    cli_hook *hook = table->cap ? table->slots[hash & (table->cap - 1)] : NULL;
    while (hook && hook->hash != hash)
        hook = hook->next;
    return hook;
}

cli_hook *cli_keys_next(const cli_hook *hook) {
    uint64_t hash = hook->hash;
    cli_hook *next = hook->next;
    while (next && next->hash != hash)
        next = next->next;
    return next;
}

void cli_keys_done(cli_keys *table) {
    free(table->slots);
    *table = (cli_keys){.slots = NULL};
}
