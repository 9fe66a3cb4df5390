/* A table of names that is made once and then searched for every member of every value. */
#ifndef DX_SCHEMA_NAMES_H
#define DX_SCHEMA_NAMES_H

#include "schema/store.h"

#include <string.h>

/* A name as words that can be compared: both ends of it overlap where it is short, so that up to
 * 16 bytes are all in there. */
typedef struct dx__spelling {
    uint64_t head;
    uint64_t tail;
} dx__spelling;

typedef struct dx__name {
    dx__spelling spelling;
    const char *at;
    const void *node; /* what it leads to; NULL: nothing */
    uint64_t flag;    /* that bit as a mask, where it is below 64; else 0 */
    uint32_t len;
    uint32_t short_len; /* the length where the spelling is all of it; else that of no name */
    uint32_t bit;       /* its place among the names whose presence matters, or DX__NO_BIT */
} dx__name;

#define DX__NO_BIT UINT32_MAX

typedef struct dx__names {
    dx__name *list;
    uint32_t *slots; /* index + 1; 0 is empty. NULL: the list is sorted, and searched by halves */
    uint64_t seed;
    uint32_t mask;
    uint32_t count;
    uint32_t reach; /* how far from its slot a name may lie */
    uint32_t shift; /* from a hash to a slot */
} dx__names;

static inline dx__spelling dx__spell(const char *at, size_t len) {
    dx__spelling spelling = {0, 0};
    if (len >= 8) {
        memcpy(&spelling.head, at, 8);
        memcpy(&spelling.tail, at + len - 8, 8);
    } else if (len >= 4) {
        uint32_t ends[2];
        memcpy(&ends[0], at, 4);
        memcpy(&ends[1], at + len - 4, 4);
        spelling.head = (uint64_t)ends[1] << 32 | ends[0];
    } else if (len) {
        spelling.head = (uint64_t)(unsigned char)at[0] | (uint64_t)(unsigned char)at[len / 2] << 8 |
                        (uint64_t)(unsigned char)at[len - 1] << 16;
    }
    return spelling;
}

/* The slot is made of its upper bits, which all lower ones have a part in. The last bytes of a name
 * are turned into the lower ones, as names often differ just there. */
static inline uint64_t dx__names_hash(uint64_t seed, dx__spelling spelling, size_t len) {
    uint64_t hash = (spelling.head ^ seed) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t tail = spelling.tail + len;
    hash ^= hash >> 32;
    return (hash + (tail << 32 | tail >> 32)) * UINT64_C(0xc2b2ae3d27d4eb4f);
}

/* As far as the spelling tells, which is all for up to 16 bytes. */
static inline int dx__name_is(const dx__name *name, dx__spelling spelling, size_t len) {
    return name->spelling.head == spelling.head && name->spelling.tail == spelling.tail &&
           name->len == len;
}

/* The rest of the search, for names that don't lie in the first slot; and for sorted ones. */
const dx__name *dx__names_search(const dx__names *names, dx__spelling spelling, const char *at,
                                 size_t len);

/* NULL if it is not there. */
static inline __attribute__((always_inline)) const dx__name *
dx__names_find(const dx__names *names, const char *at, size_t len) {
    dx__spelling spelling = dx__spell(at, len);
    if (__builtin_expect(len > 16 || !names->slots, 0))
        return dx__names_search(names, spelling, at, len);
    uint32_t slot = names->slots[dx__names_hash(names->seed, spelling, len) >> names->shift];
    if (!slot)
        return NULL;
    const dx__name *name = &names->list[slot - 1];
    if (__builtin_expect(dx__name_is(name, spelling, len), 1))
        return name;
    return dx__names_search(names, spelling, at, len);
}

/* Has the text exactly that name? Not said of names that are longer than their spelling. */
static inline int dx__name_reads(const dx__name *name, const char *at, size_t len) {
    if (name->short_len != len)
        return 0;
    if (len >= 8) {
        uint64_t ends[2];
        memcpy(&ends[0], at, 8);
        memcpy(&ends[1], at + len - 8, 8);
        return ends[0] == name->spelling.head && ends[1] == name->spelling.tail;
    }
    return dx__spell(at, len).head == name->spelling.head;
}

/* Is it there? Most tables that are asked this have one name. */
static inline int dx__names_have(const dx__names *names, const char *at, size_t len) {
    if (names->count == 1 && dx__name_reads(names->list, at, len))
        return 1;
    return names->count && dx__names_find(names, at, len);
}

/* Names that are being gathered: those that come again are the same. */
typedef struct dx__names_draft {
    dx__store *store;
    dx__map map;
    dx__name *list;
    size_t cap;
    size_t count;
} dx__names_draft;

void dx__names_begin(dx__names_draft *draft, dx__store *store);
void dx__names_drop(dx__names_draft *draft);
/* The name, which is added if it is not there; valid until the next one. The bytes must stay. NULL:
 * see dx__store_status(). */
dx__name *dx__names_add(dx__names_draft *draft, dx_text text);
/* Makes the table, in the store. The draft is empty after that, also if it fails. */
dx_status dx__names_make(dx__names_draft *draft, dx__names *ret_names);

#endif
