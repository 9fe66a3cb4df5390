/*
 * Everything that a set of schemas knows, in memory that never moves: it is taken in pieces, and
 * given back as a whole or from a mark on, so that what failed half-way leaves nothing behind.
 */
#ifndef DX_SCHEMA_STORE_H
#define DX_SCHEMA_STORE_H

#include "base/map.h"
#include "schema/budget.h"

typedef enum dx__kind {
    DX__KIND_NAME,     /* a URI */
    DX__KIND_RESOURCE, /* by the value that is its root */
    DX__KIND_ANCHOR,
    DX__KIND_SEEN,   /* a value that was searched for resources and anchors */
    DX__KIND_MEMBER, /* by its object and its name, in large objects */
    DX__KIND_NODE,   /* by the value it was compiled from */
    DX__KIND_SCHEMA, /* by what it was asked for */
    DX__KIND_SCOPE,  /* by what it was made from */
    DX__KIND__MAPS,  /* those before can be found by a key; those after can't */
    DX__KIND_PARSED,
    DX__KIND_PATTERN,
} dx__kind;

/* The first member of everything that is found by a key, or that needs more than its memory to be
 * given back. */
typedef struct dx__entry {
    struct dx__entry *older;
    uint64_t key;
    void *owned; /* the document or the pattern that goes with it */
    dx__kind kind;
} dx__entry;

typedef struct dx__chunk dx__chunk;

typedef struct dx__store {
    dx__budget budget;
    dx_allocator alloc;
    dx__chunk *chunk;
    dx__entry *newest;
    dx__map maps[DX__KIND__MAPS];
} dx__store;

typedef struct dx__mark {
    dx__chunk *chunk;
    size_t used;
    dx__entry *newest;
} dx__mark;

/* A store does not move once it is initialised. */
void dx__store_init(dx__store *store, const dx_allocator *alloc, size_t memory_max);
void dx__store_done(dx__store *store);

/* Zeroed memory for `count` things of that size; NULL if there is none, or too much is asked. */
void *dx__store_take(dx__store *store, size_t size, size_t count);
/* A copy of the bytes with a NUL behind them. */
char *dx__store_copy(dx__store *store, dx_text text);
/* DX_ERR_LIMIT or DX_ERR_NOMEM: why there was none. */
dx_status dx__store_status(dx__store *store);

/* Puts an entry under its key. Without memory, nothing has happened. */
dx_status dx__store_put(dx__store *store, dx__kind kind, uint64_t key, dx__entry *entry);
/* Entries of a kind under a key, one after the other; start with *cursor = 0. */
static inline void *dx__store_find(const dx__store *store, dx__kind kind, uint64_t key,
                                   size_t *cursor) {
    return dx__map_find(&store->maps[kind], key, cursor);
}
static inline uint64_t dx__store_key(const void *one, const void *other) {
    uint64_t key = (uint64_t)(uintptr_t)one * UINT64_C(0x9e3779b97f4a7c15);
    key ^= ((uint64_t)(uintptr_t)other + (key >> 32)) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return key ^ key >> 29;
}

dx__mark dx__store_mark(const dx__store *store);
void dx__store_undo(dx__store *store, dx__mark mark);

#endif
