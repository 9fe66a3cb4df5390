#include "systems/hermes/hl7_parts.h"

#include <string.h>

void hl7_list_init(hl7_list *list, const dx_allocator *alloc) {
    *list = (hl7_list){.alloc = *alloc};
}

void hl7_list_done(hl7_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        hl7_block *block = list->blocks[i];
        for (size_t slot = 0; slot < block->count; slot++)
            if (block->segments[slot].cap)
                dx__free(&list->alloc, block->segments[slot].at);
        dx__free(&list->alloc, block);
    }
    dx__free(&list->alloc, list->blocks);
    hl7_list_init(list, &list->alloc);
}

hl7_segment *hl7_list_at(const hl7_list *list, hl7_place place) {
    return &list->blocks[place.block]->segments[place.slot];
}

hl7_segment *hl7_list_next(const hl7_list *list, hl7_place *place) {
    if (place->block < list->count && place->slot == list->blocks[place->block]->count)
        *place = (hl7_place){place->block + 1, 0};
    if (place->block == list->count)
        return NULL;
    hl7_segment *segment = hl7_list_at(list, *place);
    place->slot++;
    return segment;
}

hl7_segment *hl7_list_last(const hl7_list *list) {
    if (!list->count)
        return NULL;
    hl7_block *block = list->blocks[list->count - 1];
    return &block->segments[block->count - 1];
}

hl7_place hl7_list_end(const hl7_list *list) {
    if (!list->count)
        return (hl7_place){0, 0};
    return (hl7_place){list->count - 1, list->blocks[list->count - 1]->count};
}

/* Names that go to one place of the memo push each other out; that costs time, nothing else. */
static size_t memo_of(uint64_t key) {
    return (size_t)((key ^ key >> 21 ^ key >> 42) % HL7_MEMO);
}

static void forget(hl7_block *block) {
    memset(block->counted, 0, sizeof block->counted);
}

static uint32_t block_count(hl7_list *list, size_t index, uint64_t key) {
    hl7_block *block = list->blocks[index];
    size_t memo = memo_of(key);
    list->work += sizeof *block->counted;
    if (block->counted[memo] == key)
        return block->counts[memo];
    list->work += sizeof block->keys;
    uint32_t count = 0;
    for (size_t slot = 0; slot < block->count; slot++)
        count += block->keys[slot] == key;
    block->counted[memo] = key;
    block->counts[memo] = count;
    return count;
}

size_t hl7_list_count(hl7_list *list, uint64_t key) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += block_count(list, i, key);
    return count;
}

bool hl7_list_find(hl7_list *list, uint64_t key, size_t n, hl7_place *ret_place) {
    for (size_t i = 0; n && i < list->count; i++) {
        size_t here = block_count(list, i, key);
        if (here < n) {
            n -= here;
            continue;
        }
        size_t slot = 0;
        for (;; slot++)
            if (list->blocks[i]->keys[slot] == key && !--n)
                break;
        *ret_place = (hl7_place){i, slot};
        return true;
    }
    return false;
}

/* An empty block before the one at `index`. */
static hl7_block *add_block(hl7_list *list, size_t index) {
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        hl7_block **blocks = dx__realloc(&list->alloc, list->blocks, list->cap * sizeof *blocks,
                                         cap * sizeof *blocks);
        if (!blocks)
            return NULL;
        list->blocks = blocks;
        list->cap = cap;
    }
    hl7_block *block = dx__malloc(&list->alloc, sizeof *block);
    if (!block)
        return NULL;
    block->count = 0;
    forget(block);
    memmove(list->blocks + index + 1, list->blocks + index,
            (list->count - index) * sizeof *list->blocks);
    list->blocks[index] = block;
    list->count++;
    return block;
}

/* Makes room in a full block: at its end by a new one, else by moving its upper half there. */
static dx_status split(hl7_list *list, hl7_place *place) {
    hl7_block *next = add_block(list, place->block + 1);
    if (!next)
        return DX_ERR_NOMEM;
    hl7_block *block = list->blocks[place->block];
    if (place->slot == HL7_BLOCK) {
        *place = (hl7_place){place->block + 1, 0};
        return DX_OK;
    }
    size_t half = HL7_BLOCK / 2;
    memcpy(next->keys, block->keys + half, (HL7_BLOCK - half) * sizeof *block->keys);
    memcpy(next->segments, block->segments + half, (HL7_BLOCK - half) * sizeof *block->segments);
    next->count = (uint32_t)(HL7_BLOCK - half);
    block->count = (uint32_t)half;
    forget(block);
    if (place->slot > half)
        *place = (hl7_place){place->block + 1, place->slot - half};
    return DX_OK;
}

dx_status hl7_list_insert(hl7_list *list, hl7_place *place, hl7_segment take_segment,
                          uint64_t key) {
    if (!list->count && !add_block(list, 0))
        return DX_ERR_NOMEM;
    if (list->blocks[place->block]->count == HL7_BLOCK) {
        dx_status status = split(list, place);
        if (status != DX_OK)
            return status;
    }
    hl7_block *block = list->blocks[place->block];
    size_t behind = block->count - place->slot;
    memmove(block->keys + place->slot + 1, block->keys + place->slot, behind * sizeof *block->keys);
    memmove(block->segments + place->slot + 1, block->segments + place->slot,
            behind * sizeof *block->segments);
    block->keys[place->slot] = key;
    block->segments[place->slot] = take_segment;
    block->count++;
    forget(block);
    list->segments++;
    return DX_OK;
}

void hl7_list_remove(hl7_list *list, hl7_place place) {
    hl7_segment segment = hl7_list_take(list, place);
    if (segment.cap)
        dx__free(&list->alloc, segment.at);
}

size_t hl7_list_index(hl7_list *list, hl7_place place) {
    size_t index = place.slot;
    for (size_t i = 0; i < place.block; i++)
        index += list->blocks[i]->count;
    list->work += place.block * sizeof list->blocks[0]->count;
    return index;
}

hl7_place hl7_list_place(hl7_list *list, size_t index) {
    size_t i = 0;
    for (; i + 1 < list->count && index >= list->blocks[i]->count; i++)
        index -= list->blocks[i]->count;
    list->work += i * sizeof list->blocks[0]->count;
    return (hl7_place){i, index};
}

hl7_segment hl7_list_take(hl7_list *list, hl7_place place) {
    hl7_block *block = list->blocks[place.block];
    hl7_segment taken = block->segments[place.slot];
    size_t behind = block->count - place.slot - 1;
    memmove(block->keys + place.slot, block->keys + place.slot + 1, behind * sizeof *block->keys);
    memmove(block->segments + place.slot, block->segments + place.slot + 1,
            behind * sizeof *block->segments);
    block->count--;
    forget(block);
    list->segments--;
    if (block->count)
        return taken;
    dx__free(&list->alloc, block);
    list->count--;
    memmove(list->blocks + place.block, list->blocks + place.block + 1,
            (list->count - place.block) * sizeof *list->blocks);
    return taken;
}
