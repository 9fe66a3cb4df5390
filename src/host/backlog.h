/*
 * Entries that wait for a thread, in blocks: whoever adds fills the last one, whoever takes gets
 * the first one whole. A block that was emptied is the next one to be filled, so that as little
 * memory is touched as ever waited at once. It does not lock.
 */
#ifndef DX_HOST_BACKLOG_H
#define DX_HOST_BACKLOG_H

#include <duplex/base.h>

#include <stdbool.h>

typedef struct dx__block {
    struct dx__block *next;
    size_t room;
    size_t len;
    char data[];
} dx__block;

typedef struct dx__backlog {
    dx__block *first;
    dx__block *last;
    dx__block *spare;
    unsigned spares;
    size_t len;     /* bytes in it, … */
    size_t taken;   /* … and in blocks that were taken and not given back */
    size_t max;     /* for both */
    uint64_t added; /* ever */
} dx__backlog;

/* Everything is freed; blocks that were taken are not part of it. It can be used again. */
void dx__backlog_done(dx__backlog *backlog);
/* So much more room at its end, all in one piece; it counts from then on. DX_ERR_LIMIT,
 * DX_ERR_NOMEM. */
dx_status dx__backlog_add(dx__backlog *backlog, size_t len, char **ret_room);
/* NULL if there is none. */
dx__block *dx__backlog_take(dx__backlog *backlog);
/* NULL is fine. */
void dx__backlog_give_back(dx__backlog *backlog, dx__block *block);

/* The first touch of memory costs more than all the copying into it. So whoever takes makes blocks
 * beforehand while much comes, without a lock; NULL: no memory. */
bool dx__backlog_wants_spare(const dx__backlog *backlog);
dx__block *dx__block_new(void);
void dx__backlog_put_spare(dx__backlog *backlog, dx__block *block);
/* Blocks that nobody needs now are freed, but for one. */
void dx__backlog_trim(dx__backlog *backlog);

#endif
