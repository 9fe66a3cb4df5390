/* chance.h: where decisions come from: a seed (the model), or bytes (the fuzzer). */
#ifndef MODEL_CHANCE_H
#define MODEL_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chance {
    uint64_t state;
    const uint8_t *bytes; /* NULL: the state decides */
    size_t left;
};

static inline struct chance chance_of_seed(uint64_t seed) {
    return (struct chance){.state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
}

static inline uint64_t chance_number(struct chance *chance) {
    /* xorshift64*: the same everywhere, so that a seed says it all */
    chance->state ^= chance->state >> 12;
    chance->state ^= chance->state << 25;
    chance->state ^= chance->state >> 27;
    return chance->state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* A number below `n`; bytes that have run out say 0. */
static inline unsigned pick(struct chance *chance, unsigned n) {
    if (!chance->bytes)
        return (unsigned)(chance_number(chance) % n);
    unsigned number = 0;
    for (unsigned reach = 1; reach < n && chance->left; reach <<= 8) {
        number = number << 8 | *chance->bytes++;
        chance->left--;
    }
    return number % n;
}

/* True once in `n` times. */
static inline bool once_in(struct chance *chance, unsigned n) {
    return pick(chance, n) == n - 1;
}

#endif
