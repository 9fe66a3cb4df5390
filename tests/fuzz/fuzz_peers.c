/*
 * Two joined peers, driven by the input: it chooses the operations of the model test, and now and
 * then puts bytes of its own on one of the wires. Whatever comes, every call ends at most once, and
 * exactly once when the conversation is over; the books add up; no memory is left.
 */
#define CALLS_MAX 128
#include "model/pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Raw bytes: as many as the next byte says, straight from the input. */
static void inject(struct pair *pair) {
    struct chance *chance = &pair->chance;
    struct side *side = &pair->sides[pick(chance, 2)];
    size_t len = pick(chance, 256);
    if (len > chance->left)
        len = chance->left;
    if (len && !side->finished)
        wire_add(&side->wire.ready, chance->bytes, len);
    chance->bytes += len;
    chance->left -= len;
}

/* A whole message around the bytes, so that they get past the framing. */
static void inject_message(struct pair *pair) {
    struct chance *chance = &pair->chance;
    struct side *side = &pair->sides[pick(chance, 2)];
    size_t len = pick(chance, 256);
    if (len > chance->left)
        len = chance->left;
    if (len && !side->finished)
        wire_write(&side->wire, (dx_text){(const char *)chance->bytes, len});
    chance->bytes += len;
    chance->left -= len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pair pair;
    pair_init(&pair, size, (struct chance){.bytes = data, .left = size});
    pair.hostile = true;
    /* A meddling wire reads what it passes on, and could not read this. */
    pair.sides[0].wire.meddles = pair.sides[1].wire.meddles = false;
    while (pair.chance.left && pair.operation < 4000) {
        pair.operation++;
        switch (pick(&pair.chance, 8)) {
        case 0:
            inject(&pair);
            break;
        case 1:
            inject_message(&pair);
            break;
        default:
            pair_act(&pair);
            break;
        }
    }
    pair_end(&pair, ENDING_BROKEN);
    return 0;
}
