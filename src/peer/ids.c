/*
 * The ids of our calls. Each call has a number; on the wire it is that number, or a text that only
 * we can read it from: the number is shuffled with the seed as the key, so that it looks random, is
 * never given twice, and comes back without a table.
 */
#include "base/line.h"
#include "peer/peer.h"

#include <string.h>

enum { ROUNDS = 4, LETTERS = 13 };

static uint32_t mix(uint64_t key, uint32_t half, unsigned round) {
    uint64_t x = (half + key) * UINT64_C(0x9e3779b97f4a7c15) + round;
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9) ^ key;
    x = (x ^ x >> 32) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32);
}

/* A Feistel network: whatever mix() does, it can be undone. */
static uint64_t shuffle(uint64_t key, uint64_t number) {
    uint32_t left = (uint32_t)(number >> 32);
    uint32_t right = (uint32_t)number;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t next = left ^ mix(key, right, round);
        left = right;
        right = next;
    }
    return (uint64_t)left << 32 | right;
}

static uint64_t unshuffle(uint64_t key, uint64_t number) {
    uint32_t left = (uint32_t)(number >> 32);
    uint32_t right = (uint32_t)number;
    for (unsigned round = ROUNDS; round-- > 0;) {
        uint32_t before = right ^ mix(key, left, round);
        right = left;
        left = before;
    }
    return (uint64_t)left << 32 | right;
}

static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
static const char hex[] = "0123456789abcdef";

static size_t write_random(uint64_t shuffled, char *to) {
    memcpy(to, "\"req_", 5);
    for (unsigned i = 0; i < LETTERS; i++)
        to[5 + i] = letters[shuffled >> 5 * i & 31];
    to[5 + LETTERS] = '"';
    return 6 + LETTERS;
}

static bool read_random(dx_text text, uint64_t *ret_shuffled) {
    uint64_t shuffled = 0;
    if (text.len != 6 + LETTERS || memcmp(text.at, "\"req_", 5) != 0)
        return false;
    for (unsigned i = 0; i < LETTERS; i++) {
        const char *letter = memchr(letters, text.at[5 + i], sizeof letters - 1);
        uint64_t bits = letter ? (uint64_t)(letter - letters) : 32;
        if (bits > (i == LETTERS - 1 ? 15 : 31))
            return false;
        shuffled |= bits << 5 * i;
    }
    *ret_shuffled = shuffled;
    return true;
}

/* Version 4, variant 1: the bits that are not fixed are the shuffled number, and what follows from
 * it. */
enum { UUID_TEXT = 38 };

static size_t write_uuid(uint64_t key, uint64_t shuffled, char *to) {
    uint64_t rest = shuffle(~key, shuffled);
    uint64_t halves[2] = {(shuffled & ~UINT64_C(0xffff)) | 0x4000 | (shuffled >> 4 & 0x0fff),
                          UINT64_C(0x8000000000000000) | (shuffled & 15) << 58 |
                              (rest & ((UINT64_C(1) << 58) - 1))};
    char *at = to;
    *at++ = '"';
    for (unsigned i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            *at++ = '-';
        *at++ = hex[halves[i / 16] >> (60 - i % 16 * 4) & 15];
    }
    *at++ = '"';
    return (size_t)(at - to);
}

static bool read_uuid(uint64_t key, dx_text text, uint64_t *ret_shuffled) {
    uint64_t halves[2] = {0, 0};
    unsigned count = 0;
    if (text.len != UUID_TEXT)
        return false;
    for (size_t i = 1; i < UUID_TEXT - 1; i++) {
        const char *digit = memchr(hex, text.at[i], sizeof hex - 1);
        if (text.at[i] == '-')
            continue;
        if (!digit || count == 32)
            return false;
        halves[count / 16] = halves[count / 16] << 4 | (uint64_t)(digit - hex);
        count++;
    }
    *ret_shuffled =
        (halves[0] & ~UINT64_C(0xffff)) | (halves[0] & 0x0fff) << 4 | (halves[1] >> 58 & 15);
    char again[UUID_TEXT];
    write_uuid(key, *ret_shuffled, again);
    return count == 32 && memcmp(again, text.at, UUID_TEXT) == 0;
}

size_t dx__id_write(const dx_peer *peer, uint64_t id, char room[DX__ID_ROOM]) {
    uint64_t key = peer->config.seed;
    switch (peer->config.ids) {
    case DX_IDS_RANDOM:
        return write_random(shuffle(key, id), room);
    case DX_IDS_UUID:
        return write_uuid(key, shuffle(key, id), room);
    default:
        return dx__digits(id, room);
    }
}

bool dx__id_read(const dx_peer *peer, dx_text text, uint64_t *ret_id) {
    uint64_t key = peer->config.seed;
    uint64_t shuffled;
    bool good = peer->config.ids == DX_IDS_RANDOM ? read_random(text, &shuffled)
                : peer->config.ids == DX_IDS_UUID ? read_uuid(key, text, &shuffled)
                                                  : false;
    if (good)
        *ret_id = unshuffle(key, shuffled);
    return good;
}
