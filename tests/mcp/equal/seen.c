/* A set of hashes: places that were changed before. */
#include "mcp/equal/equal.h"

#include <stdlib.h>

static void put(struct seen *seen, uint64_t hash) {
    size_t at = (size_t)hash & (seen->room - 1);
    while (seen->of[at])
        at = (at + 1) & (seen->room - 1);
    seen->of[at] = hash;
}

static void grow(struct seen *seen) {
    struct seen more = {NULL, seen->room ? 2 * seen->room : 1024, seen->count};
    more.of = calloc(more.room, sizeof *more.of);
    if (!more.of)
        abort();
    for (size_t i = 0; i < seen->room; i++)
        if (seen->of[i])
            put(&more, seen->of[i]);
    free(seen->of);
    *seen = more;
}

bool seen_add(struct seen *seen, uint64_t hash) {
    hash += !hash; /* 0 is an empty place */
    if (2 * seen->count >= seen->room)
        grow(seen);
    for (size_t at = (size_t)hash & (seen->room - 1); seen->of[at];
         at = (at + 1) & (seen->room - 1))
        if (seen->of[at] == hash)
            return false;
    seen->count++;
    put(seen, hash);
    return true;
}

void seen_done(struct seen *seen) {
    free(seen->of);
    *seen = (struct seen){NULL, 0, 0};
}
