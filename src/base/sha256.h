/* The SHA-256 sum of some bytes (FIPS 180-4), as sha256sum(1) prints it. Inline, as utf8.h. */
#ifndef DX_BASE_SHA256_H
#define DX_BASE_SHA256_H

#include <duplex/base.h>

#include <string.h>

enum { DX__SHA256_BLOCK = 64, DX__SHA256_ROUNDS = 64, DX__SHA256_HEX = 64 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t dx__sha256_constants[DX__SHA256_ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t dx__sha256_turn(uint32_t word, unsigned by) {
    return word >> by | word << (32 - by);
}

static inline void dx__sha256_expand(const unsigned char *block,
                                     uint32_t words[DX__SHA256_ROUNDS]) {
    for (size_t i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < DX__SHA256_ROUNDS; i++) {
        uint32_t a = words[i - 15];
        uint32_t b = words[i - 2];
        words[i] = words[i - 16] + (dx__sha256_turn(a, 7) ^ dx__sha256_turn(a, 18) ^ a >> 3) +
                   words[i - 7] + (dx__sha256_turn(b, 17) ^ dx__sha256_turn(b, 19) ^ b >> 10);
    }
}

static inline void dx__sha256_take_block(uint32_t state[8], const unsigned char *block) {
    uint32_t words[DX__SHA256_ROUNDS];
    uint32_t s[8];
    dx__sha256_expand(block, words);
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < DX__SHA256_ROUNDS; i++) {
        uint32_t one =
            s[7] +
            (dx__sha256_turn(s[4], 6) ^ dx__sha256_turn(s[4], 11) ^ dx__sha256_turn(s[4], 25)) +
            ((s[4] & s[5]) ^ (~s[4] & s[6])) + dx__sha256_constants[i] + words[i];
        uint32_t two =
            (dx__sha256_turn(s[0], 2) ^ dx__sha256_turn(s[0], 13) ^ dx__sha256_turn(s[0], 22)) +
            ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += one;
        s[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += s[i];
}

/* 64 lower-case digits and a NUL. */
static inline void dx__sha256(dx_text bytes, char ret_hex[DX__SHA256_HEX + 1]) {
    static const char digits[] = "0123456789abcdef";
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char last[2 * DX__SHA256_BLOCK] = {0};
    size_t whole = bytes.len / DX__SHA256_BLOCK * DX__SHA256_BLOCK;
    size_t rest = bytes.len - whole;
    size_t end = rest < DX__SHA256_BLOCK - 8 ? DX__SHA256_BLOCK : 2 * DX__SHA256_BLOCK;
    for (size_t at = 0; at < whole; at += DX__SHA256_BLOCK)
        dx__sha256_take_block(state, (const unsigned char *)bytes.at + at);
    if (rest)
        memcpy(last, bytes.at + whole, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[end - 1 - i] = (unsigned char)((uint64_t)bytes.len * 8 >> (8 * i));
    for (size_t at = 0; at < end; at += DX__SHA256_BLOCK)
        dx__sha256_take_block(state, last + at);
    for (size_t i = 0; i < DX__SHA256_HEX; i++)
        ret_hex[i] = digits[state[i / 8] >> (28 - 4 * (i % 8)) & 0x0f];
    ret_hex[DX__SHA256_HEX] = '\0';
}

#endif
