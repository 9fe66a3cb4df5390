/* What the tests of patterns share: a room, and one search in it. */
#ifndef UNIT_PATTERNS_H
#define UNIT_PATTERNS_H

#include "unit/unit.h"

#include "schema/pattern.h"

enum { MATCH_MAX = 1000000 };

static dx__pattern_room *room;

static inline int set_up(void **state) {
    (void)state;
    return dx__pattern_room_new(NULL, MATCH_MAX, &room) == DX_OK ? 0 : -1;
}

static inline int tear_down(void **state) {
    (void)state;
    room = dx__pattern_room_free(room);
    return 0;
}

static inline dx__pattern *compiled(dx_text source) {
    dx__pattern *pattern = NULL;
    char why[200] = "";
    if (dx__pattern_new(NULL, source, &pattern, why, sizeof why) != DX_OK)
        fail_msg("%.*s: %s", (int)source.len, source.at, why);
    return pattern;
}

static inline dx_status find(dx_text source, dx_text text) {
    struct unit_fence fence = unit_fence_new(text.len);
    dx__pattern *pattern = compiled(source);
    dx_status status = dx__pattern_find(pattern, room, unit_fence_put(&fence, text.at, text.len));
    dx__pattern_free(pattern);
    unit_fence_done(&fence);
    return status;
}

#endif
