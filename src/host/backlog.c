#include "host/backlog.h"

#include <sys/mman.h>

/* What a block takes of the memory, unless one entry needs more; how many are made beforehand. */
enum { BLOCK = 1 << 20, SPARES = 8 };

static dx__block *map(size_t size, int flags) {
    dx__block *block =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    *block = (dx__block){.room = size - sizeof *block};
    return block;
}

static void unmap(dx__block *block) {
    munmap(block, sizeof *block + block->room);
}

static bool is_usual(const dx__block *block) {
    return block->room == BLOCK - sizeof *block;
}

static void unmap_from(dx__block *block) {
    while (block) {
        dx__block *next = block->next;
        unmap(block);
        block = next;
    }
}

void dx__backlog_done(dx__backlog *backlog) {
    unmap_from(backlog->first);
    unmap_from(backlog->spare);
    *backlog = (dx__backlog){.max = backlog->max};
}

static dx__block *block_for(dx__backlog *backlog, size_t len) {
    dx__block *block = backlog->spare;
    if (len > BLOCK - sizeof *block)
        return len < SIZE_MAX - sizeof *block ? map(len + sizeof *block, 0) : NULL;
    if (!block)
        return map(BLOCK, 0);
    backlog->spare = block->next;
    backlog->spares--;
    block->next = NULL;
    return block;
}

dx_status dx__backlog_add(dx__backlog *backlog, size_t len, char **ret_room) {
    dx__block *last = backlog->last;
    if (len > backlog->max - backlog->len - backlog->taken)
        return DX_ERR_LIMIT;
    if (!last || len > last->room - last->len) {
        dx__block *block = block_for(backlog, len);
        if (!block)
            return DX_ERR_NOMEM;
        if (last)
            last->next = block;
        else
            backlog->first = block;
        last = backlog->last = block;
    }
    *ret_room = last->data + last->len;
    last->len += len;
    backlog->len += len;
    backlog->added += len;
    return DX_OK;
}

dx__block *dx__backlog_take(dx__backlog *backlog) {
    dx__block *block = backlog->first;
    if (!block)
        return NULL;
    backlog->first = block->next;
    if (!backlog->first)
        backlog->last = NULL;
    block->next = NULL;
    backlog->len -= block->len;
    backlog->taken += block->len;
    return block;
}

void dx__backlog_put_spare(dx__backlog *backlog, dx__block *block) {
    block->next = backlog->spare;
    backlog->spare = block;
    backlog->spares++;
}

void dx__backlog_give_back(dx__backlog *backlog, dx__block *block) {
    if (!block)
        return;
    backlog->taken -= block->len;
    block->len = 0;
    if (is_usual(block))
        dx__backlog_put_spare(backlog, block);
    else
        unmap(block);
}

bool dx__backlog_wants_spare(const dx__backlog *backlog) {
    return backlog->first != backlog->last && backlog->spares < SPARES &&
           backlog->len + backlog->taken + (size_t)backlog->spares * BLOCK < backlog->max;
}

dx__block *dx__block_new(void) {
    return map(BLOCK, MAP_POPULATE);
}

void dx__backlog_trim(dx__backlog *backlog) {
    dx__block *kept = backlog->spare;
    if (!kept)
        return;
    unmap_from(kept->next);
    kept->next = NULL;
    backlog->spares = 1;
}
