/* How the parts of the machine reach each other: each goes on with what is on top of the stack. */
#ifndef DX_SCHEMA_MACHINE_H
#define DX_SCHEMA_MACHINE_H

#include "schema/check.h"

#include <string.h>

/* Goes on with a frame in one of its phases. `before` is what came of what was pushed last. */
dx__out dx__straight(dx_check *check);
dx__out dx__members(dx_check *check, dx__frame *frame);
dx__out dx__items(dx_check *check, dx__frame *frame, dx__out before);
dx__out dx__ops(dx_check *check, dx__frame *frame, dx__out before);
dx__out dx__left(dx_check *check, dx__frame *frame);
dx__out dx__content(dx_check *check, dx__frame *frame);

/* Everything that is asked of a value beyond its type. */
dx__out dx__look(dx_check *check, const dx__node *node, yyjson_val *value, uint8_t type,
                 uint32_t marks);

/* Begins a check of a value: done, or pushed. With marks, what it evaluates of the value is marked.
 */
static inline dx__out dx__enter(dx_check *check, const dx__node *node, yyjson_val *value,
                                uint32_t marks) {
    uint8_t type = dx__type_of(value);
    if (!(node->types & type) && !(type == DX__TYPE_REAL && (node->types & DX__TYPE_WHOLE) &&
                                   dx__real_is_whole(dx__real_of(value))))
        return dx__misfit(check, node, value, DX__WORD_TYPE, NULL);
    if (!((marks ? node->more_tracked : node->more) & type))
        return DX__FITS;
    return dx__look(check, node, value, type, marks);
}

/* Begins the check of a member that no other keyword knows; the frame stands at it. */
dx__out dx__enter_additional(dx_check *check, dx__frame *frame);
/* When all members have been seen: are those there that must be? */
dx__out dx__presence(dx_check *check, const dx__frame *frame);
bool dx__has_seen(const dx_check *check, const dx__frame *frame, uint32_t bit);

/* Cells for a bit of each of so many things. */
static inline size_t dx__marks_for(uint32_t count) {
    return (size_t)count / 64 + 1;
}

static inline void dx__evaluated(const dx_check *check, const dx__frame *frame, uint32_t index) {
    check->cells[frame->marks - 1 + index / 64] |= UINT64_C(1) << (index % 64);
}

/* Takes failures from here on, until dx__release(). */
static inline void dx__catch(dx_check *check, dx__frame *frame) {
    frame->catcher = check->catcher;
    check->catcher = check->frame_count - 1;
}

static inline void dx__release(dx_check *check, const dx__frame *frame) {
    check->catcher = frame->catcher;
}

#endif
