/* The beginning and the last of an output. */
#include "systems/autohand/tool_keep.h"

#include <stdio.h>
#include <string.h>

dx_status dx__autohand_keep_init(struct dx__autohand_keep *keep, size_t max,
                                 const dx_allocator *alloc) {
    *keep = (struct dx__autohand_keep){.max = max < 1024 ? 1024 : max, .alloc = *alloc};
    keep->bytes = dx__malloc(alloc, keep->max);
    return keep->bytes ? DX_OK : DX_ERR_NOMEM;
}

void dx__autohand_keep_done(struct dx__autohand_keep *keep) {
    dx__free(&keep->alloc, keep->bytes);
    keep->bytes = NULL;
}

void dx__autohand_keep_add(struct dx__autohand_keep *keep, dx_text bytes) {
    size_t half = keep->max / 2;
    size_t ring = keep->max - half;
    while (bytes.len) {
        size_t at = (size_t)(keep->total < half ? keep->total : half + (keep->total - half) % ring);
        size_t room = (keep->total < half ? half : keep->max) - at;
        size_t len = bytes.len < room ? bytes.len : room;
        memcpy(keep->bytes + at, bytes.at, len);
        keep->total += len;
        bytes.at += len;
        bytes.len -= len;
    }
}

dx_status dx__autohand_keep_tell(const struct dx__autohand_keep *keep, dx_buf *to) {
    size_t half = keep->max / 2;
    size_t ring = keep->max - half;
    char note[80];
    if (keep->total <= keep->max)
        return dx__autohand_add(to, (dx_text){keep->bytes, (size_t)keep->total});
    size_t from = (size_t)((keep->total - half) % ring);
    (void)snprintf(note, sizeof note, "\n[%llu bytes omitted]\n",
                   (unsigned long long)(keep->total - keep->max));
    dx_status status = dx__autohand_add(to, (dx_text){keep->bytes, half});
    if (status == DX_OK)
        status = dx__autohand_add_str(to, note);
    if (status == DX_OK)
        status = dx__autohand_add(to, (dx_text){keep->bytes + half + from, ring - from});
    return status == DX_OK ? dx__autohand_add(to, (dx_text){keep->bytes + half, from}) : status;
}
