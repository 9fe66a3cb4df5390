/* What is kept of an output that may have no end: its beginning and its last. */
#ifndef AUTOHAND_TOOL_KEEP_H
#define AUTOHAND_TOOL_KEEP_H

#include "systems/autohand/files_parts.h"

struct dx__autohand_keep {
    char *bytes; /* the first half is the beginning, the second a ring */
    size_t max;
    uint64_t total; /* that came */
    dx_allocator alloc;
};

dx_status dx__autohand_keep_init(struct dx__autohand_keep *keep, size_t max,
                                 const dx_allocator *alloc);
void dx__autohand_keep_done(struct dx__autohand_keep *keep);
void dx__autohand_keep_add(struct dx__autohand_keep *keep, dx_text bytes);
/* All of it in order, with a line that says how much is left out; mended to UTF-8. */
dx_status dx__autohand_keep_tell(const struct dx__autohand_keep *keep, dx_buf *to);

#endif
