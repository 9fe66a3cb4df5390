/* An allocator with a limit on what is held at once: what is asked beyond it is refused, and that
 * can be told from memory that ran out. */
#ifndef DX_SCHEMA_BUDGET_H
#define DX_SCHEMA_BUDGET_H

#include <duplex/base.h>

#include <stdbool.h>

typedef struct dx__budget {
    dx_allocator base;
    size_t used;
    size_t max;
    bool refused; /* the limit was why the last one failed */
} dx__budget;

dx__budget dx__budget_of(const dx_allocator *base, size_t max);
/* The allocator of a budget, which must not move as long as it is used. */
dx_allocator dx__budget_allocator(dx__budget *budget);
/* Why an allocation failed: DX_ERR_LIMIT or DX_ERR_NOMEM. */
dx_status dx__budget_status(dx__budget *budget);

#endif
