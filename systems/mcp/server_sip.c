/* SipHash-2-4 by Aumasson and Bernstein, with its 64 and its 128 bits: a hash that nobody can guess
 * or make collide without the key, and for short texts a message authentication code. */
#include "systems/mcp/server_text.h"

#include <string.h>

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t load(const uint8_t *at, size_t len) {
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

static uint64_t turn(uint64_t word, unsigned by) {
    return word << by | word >> (64 - by);
}

static void mix(struct sip *sip, unsigned rounds) {
    while (rounds--) {
        sip->v0 += sip->v1;
        sip->v1 = turn(sip->v1, 13) ^ sip->v0;
        sip->v0 = turn(sip->v0, 32);
        sip->v2 += sip->v3;
        sip->v3 = turn(sip->v3, 16) ^ sip->v2;
        sip->v0 += sip->v3;
        sip->v3 = turn(sip->v3, 21) ^ sip->v0;
        sip->v2 += sip->v1;
        sip->v1 = turn(sip->v1, 17) ^ sip->v2;
        sip->v2 = turn(sip->v2, 32);
    }
}

static uint64_t fold(const struct sip *sip) {
    return sip->v0 ^ sip->v1 ^ sip->v2 ^ sip->v3;
}

static void absorb(struct sip *sip, const uint8_t key[16], const uint8_t *bytes, size_t len,
                   bool wide) {
    uint64_t k0 = load(key, 8);
    uint64_t k1 = load(key + 8, 8);
    *sip = (struct sip){k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                        k1 ^ 0x7465646279746573};
    if (wide)
        sip->v1 ^= 0xee;
    for (size_t i = 0; i <= len / 8; i++) {
        size_t left = len - i * 8;
        uint64_t word = load(bytes + i * 8, left < 8 ? left : 8);
        if (left < 8)
            word |= (uint64_t)len << 56;
        sip->v3 ^= word;
        mix(sip, 2);
        sip->v0 ^= word;
    }
    sip->v2 ^= wide ? 0xee : 0xff;
    mix(sip, 4);
}

uint64_t dx__mcp_sip64(const uint8_t key[16], const void *bytes, size_t len) {
    struct sip sip;
    absorb(&sip, key, bytes, len, false);
    return fold(&sip);
}

void dx__mcp_sip128(const uint8_t key[16], const void *bytes, size_t len, uint8_t ret_hash[16]) {
    struct sip sip;
    absorb(&sip, key, bytes, len, true);
    uint64_t first = fold(&sip);
    sip.v1 ^= 0xdd;
    mix(&sip, 4);
    uint64_t second = fold(&sip);
    for (unsigned i = 0; i < 8; i++) {
        ret_hash[i] = (uint8_t)(first >> (8 * i));
        ret_hash[8 + i] = (uint8_t)(second >> (8 * i));
    }
}
