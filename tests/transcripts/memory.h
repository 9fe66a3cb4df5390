/* memory.h: an allocator that counts, and that fails when it is told to. */
#ifndef TRANSCRIPTS_MEMORY_H
#define TRANSCRIPTS_MEMORY_H

#include <duplex/base.h>
#include <stdbool.h>

struct memory {
    size_t live;       /* bytes held now */
    size_t peak;       /* the most that were held at once */
    size_t blocks;     /* blocks held now */
    size_t count;      /* allocations asked for so far */
    size_t fail_at;    /* the allocation of this number fails; 0: none */
    bool fail_on;      /* … and all after it, until memory_heal() */
    size_t failed;     /* how many were refused */
    const char *abuse; /* what the library did wrong with it, if anything */
};

/* An allocator on `memory`, which must outlive every block. */
dx_allocator memory_allocator(struct memory *memory);
/* The shortage is over. */
void memory_heal(struct memory *memory);

#endif
