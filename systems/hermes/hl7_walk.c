/* Walks over what a path consists of. */
#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* What is walked over: what can follow a path. */
enum { SEGMENTS, FIELDS, REPETITIONS, COMPONENTS, SUBCOMPONENTS, NOTHING };

static char mark_of(const dx_hl7_walk *walk) {
    const hl7_marks *marks = &walk->own.hl7->marks;
    const char all[] = {[FIELDS] = marks->field,
                        [REPETITIONS] = marks->repetition,
                        [COMPONENTS] = marks->component,
                        [SUBCOMPONENTS] = marks->subcomponent};
    return walk->own.literal ? '\0' : all[walk->own.level];
}

static void begin(dx_hl7_walk *walk, int level, dx_text span) {
    walk->own.level = level;
    walk->own.at = span.at;
    walk->own.end = span.at + span.len;
    walk->own.more = level < NOTHING;
}

/* Fields begin after the name; MSH.1 is the separator there. */
static void begin_fields(dx_hl7_walk *walk, dx_text segment) {
    const hl7_marks *marks = &walk->own.hl7->marks;
    const char *mark = segment.len ? memchr(segment.at, marks->field, segment.len) : NULL;
    bool is_msh = walk->own.key == walk->own.hl7->msh;
    if (!mark) {
        begin(walk, NOTHING, segment);
        return;
    }
    mark += !is_msh;
    begin(walk, FIELDS, (dx_text){mark, (size_t)(segment.at + segment.len - mark)});
}

static int next_segment(dx_hl7_walk *walk) {
    const dx_hl7 *hl7 = walk->own.hl7;
    hl7_place place = {walk->own.block, walk->own.slot};
    uint64_t key = 0;
    hl7_segment *segment;
    do {
        segment = hl7_list_next(&hl7->list, &place);
        key = segment ? hl7->list.blocks[place.block]->keys[place.slot - 1] : 0;
    } while (segment && walk->own.only && key != walk->own.only);
    walk->own.block = place.block;
    walk->own.slot = place.slot;
    walk->own.more = segment != NULL;
    if (!segment)
        return 0;
    walk->own.key = key;
    walk->name = hl7_without_blanks(hl7_segment_name(segment, &hl7->marks));
    walk->text = hl7_segment_text(segment);
    walk->number++;
    return 1;
}

static int next_part(dx_hl7_walk *walk) {
    char mark = mark_of(walk);
    const char *at = walk->own.at;
    size_t len = (size_t)(walk->own.end - at);
    bool is_mark = walk->own.level == FIELDS && walk->own.key == walk->own.hl7->msh &&
                   walk->number == 0; /* MSH.1 */
    const char *next = is_mark ? at : mark && len ? memchr(at, mark, len) : NULL;
    walk->text = (dx_text){at, is_mark ? 1 : next ? (size_t)(next - at) : len};
    walk->own.more = next != NULL;
    walk->own.at = next ? next + 1 : walk->own.end;
    walk->number++;
    return 1;
}

int dx_hl7_next(dx_hl7_walk *walk) {
    if (!walk->own.more)
        return 0;
    return walk->own.level == SEGMENTS ? next_segment(walk) : next_part(walk);
}

/* The separators in MSH have no parts. */
static bool is_literal(const dx_hl7_walk *walk, uint64_t key, uint64_t field) {
    return key == walk->own.hl7->msh && field && field <= 2;
}

void dx_hl7_inside(const dx_hl7_walk *outer, dx_hl7_walk *ret_walk) {
    dx_hl7_walk walk = {.name = outer->name, .own = outer->own};
    int level = outer->own.level;
    if (level == FIELDS)
        walk.own.literal = is_literal(&walk, walk.own.key, outer->number);
    if (!outer->number || level == NOTHING)
        begin(&walk, NOTHING, outer->text);
    else if (level == SEGMENTS)
        begin_fields(&walk, outer->text);
    else
        begin(&walk, level + 1, outer->text);
    *ret_walk = walk;
}

static int level_of(const hl7_path *path) {
    return path->subcomponent ? NOTHING
           : path->component  ? SUBCOMPONENTS
           : path->repetition ? COMPONENTS
           : path->field      ? REPETITIONS
           : path->segment    ? FIELDS
                              : SEGMENTS;
}

dx_status dx_hl7_walk_at(const dx_hl7 *hl7, dx_text path_text, dx_hl7_walk *ret_walk) {
    dx_hl7_walk walk = {.own = {.hl7 = hl7, .level = SEGMENTS, .more = 1}};
    hl7_path path = {.field = 0};
    hl7_segment *segment;
    size_t fits = path_text.len ? hl7_path_parse(path_text, &path) : 0;
    if (fits < path_text.len)
        return DX_MISFIT;
    int level = level_of(&path);
    walk.own.only = walk.own.key = path.key;
    if (level != SEGMENTS && (segment = hl7_find_segment(hl7, &path))) {
        hl7_spot spot = hl7_spot_find(hl7, segment, &path, false);
        dx_text span = {segment->at + spot.from, spot.to - spot.from};
        walk.name = hl7_without_blanks(hl7_segment_name(segment, &hl7->marks));
        walk.own.literal = is_literal(&walk, path.key, path.field);
        if (level == FIELDS)
            begin_fields(&walk, span);
        else
            begin(&walk, hl7_spot_missing(&spot) ? NOTHING : level, span);
    } else if (level != SEGMENTS) {
        walk.own.more = 0;
    }
    *ret_walk = walk;
    return DX_OK;
}

dx_status dx_hl7_count(const dx_hl7 *hl7, dx_text path, size_t *ret_count) {
    dx_hl7_walk walk;
    dx_status status = dx_hl7_walk_at(hl7, path, &walk);
    if (status != DX_OK)
        return status;
    while (dx_hl7_next(&walk))
        ;
    *ret_count = walk.number;
    return DX_OK;
}

dx_status dx_hl7_value(const dx_hl7 *hl7, dx_text raw, dx_buf *out) {
    return hl7_unescape(&hl7->marks, raw, out);
}
