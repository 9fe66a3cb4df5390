#include "schema/store.h"
#include "base/alloc.h"
#include "schema/pattern.h"

#include <string.h>
#include <yyjson.h>

enum { FIRST = 2048, LARGEST = 65536, ALIGN = 8 };

struct dx__chunk {
    dx__chunk *older;
    size_t size;
    size_t used;
    uint64_t bytes[];
};

void dx__store_init(dx__store *store, const dx_allocator *alloc, size_t memory_max) {
    *store = (dx__store){.budget = dx__budget_of(alloc, memory_max)};
    store->alloc = dx__budget_allocator(&store->budget);
    for (int kind = 0; kind < DX__KIND__MAPS; kind++)
        dx__map_init(&store->maps[kind], &store->alloc);
}

void dx__store_done(dx__store *store) {
    dx__store_undo(store, (dx__mark){0});
    for (int kind = 0; kind < DX__KIND__MAPS; kind++)
        dx__map_done(&store->maps[kind]);
}

static dx__chunk *grow(dx__store *store, size_t need) {
    size_t size = store->chunk ? store->chunk->size * 2 : FIRST;
    if (size > LARGEST)
        size = LARGEST;
    if (size < need)
        size = need;
    dx__chunk *chunk = dx__malloc(&store->alloc, sizeof *chunk + size);
    if (!chunk)
        return NULL;
    *chunk = (dx__chunk){.older = store->chunk, .size = size};
    return store->chunk = chunk;
}

void *dx__store_take(dx__store *store, size_t size, size_t count) {
    if (size && count > store->budget.max / size) {
        store->budget.refused = true;
        return NULL;
    }
    size = (size * count + ALIGN - 1) / ALIGN * ALIGN;
    dx__chunk *chunk = store->chunk;
    if ((!chunk || size > chunk->size - chunk->used) && !(chunk = grow(store, size)))
        return NULL;
    void *taken = (char *)chunk->bytes + chunk->used;
    chunk->used += size;
    memset(taken, 0, size);
    return taken;
}

char *dx__store_copy(dx__store *store, dx_text text) {
    char *copy = dx__store_take(store, 1, text.len + 1);
    if (copy && text.len)
        memcpy(copy, text.at, text.len);
    return copy;
}

dx_status dx__store_status(dx__store *store) {
    return dx__budget_status(&store->budget);
}

dx_status dx__store_put(dx__store *store, dx__kind kind, uint64_t key, dx__entry *entry) {
    if (kind < DX__KIND__MAPS) {
        if (dx__map_reserve(&store->maps[kind]) != DX_OK)
            return dx__store_status(store);
        dx__map_put(&store->maps[kind], key, entry);
    }
    entry->kind = kind;
    entry->key = key;
    entry->older = store->newest;
    store->newest = entry;
    return DX_OK;
}

dx__mark dx__store_mark(const dx__store *store) {
    return (dx__mark){store->chunk, store->chunk ? store->chunk->used : 0, store->newest};
}

static void forget(dx__store *store, dx__entry *entry) {
    if (entry->kind < DX__KIND__MAPS)
        dx__map_drop(&store->maps[entry->kind], entry->key, entry);
    else if (entry->kind == DX__KIND_PARSED)
        yyjson_doc_free(entry->owned);
    else if (entry->kind == DX__KIND_PATTERN)
        dx__pattern_free(entry->owned);
}

void dx__store_undo(dx__store *store, dx__mark mark) {
    for (; store->newest != mark.newest; store->newest = store->newest->older)
        forget(store, store->newest);
    while (store->chunk != mark.chunk) {
        dx__chunk *older = store->chunk->older;
        dx__free(&store->alloc, store->chunk);
        store->chunk = older;
    }
    if (store->chunk)
        store->chunk->used = mark.used;
}
