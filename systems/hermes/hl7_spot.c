#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* Narrows the span to its part n, from 0; if it has fewer, to the place behind the last, and says
 * how many separators are missing there. */
static size_t narrow(const char *at, hl7_spot *spot, char mark, size_t n) {
    const char *from = at + spot->from;
    const char *end = at + spot->to;
    const char *next = mark ? memchr(from, mark, (size_t)(end - from)) : NULL;
    for (; n && next; n--) {
        from = next + 1;
        next = memchr(from, mark, (size_t)(end - from));
    }
    if (n)
        from = end;
    spot->from = (size_t)(from - at);
    spot->to = (size_t)((next && !n ? next : end) - at);
    return n;
}

static bool has(const char *at, const hl7_spot *spot, char mark) {
    return mark && memchr(at + spot->from, mark, spot->to - spot->from);
}

static size_t from_one(uint32_t number) {
    return number ? number - 1 : 0;
}

/* The separators in MSH are text without parts, and the first of them is a field by itself. */
static hl7_spot marks_spot(const hl7_segment *segment, const hl7_path *path, hl7_spot spot) {
    if (path->field == 1) {
        size_t known = segment->len > 3;
        spot = (hl7_spot){.from = 3, .to = 3 + known, .fields = !known};
    }
    spot.repetitions = from_one(path->repetition);
    spot.components = from_one(path->component);
    spot.subcomponents = from_one(path->subcomponent);
    return spot;
}

hl7_spot hl7_spot_find(const dx_hl7 *hl7, const hl7_segment *segment, const hl7_path *path,
                       bool exact) {
    const hl7_marks *marks = &hl7->marks;
    const char *at = segment->at;
    hl7_spot spot = {.to = segment->len};
    if (!path->field)
        return spot;
    bool msh = path->key == hl7->msh;
    /* The name is part 0, and in MSH the separator behind it is no part. */
    spot.fields = narrow(at, &spot, marks->field, path->field - msh);
    if (msh && path->field <= 2)
        return marks_spot(segment, path, spot);
    if (!path->component && (exact || !path->repetition))
        return spot;
    if (exact && !has(at, &spot, marks->repetition) && !has(at, &spot, marks->component) &&
        !has(at, &spot, marks->subcomponent)) {
        spot.components = from_one(path->component);
        spot.subcomponents = from_one(path->subcomponent);
        return spot;
    }
    spot.repetitions = narrow(at, &spot, marks->repetition, from_one(path->repetition));
    if (!path->component)
        return spot;
    if (exact && !has(at, &spot, marks->component) && !has(at, &spot, marks->subcomponent)) {
        spot.components = from_one(path->component);
        spot.subcomponents = from_one(path->subcomponent);
        return spot;
    }
    spot.components = narrow(at, &spot, marks->component, from_one(path->component));
    if (!path->subcomponent)
        return spot;
    if (exact && !has(at, &spot, marks->subcomponent))
        spot.subcomponents = from_one(path->subcomponent);
    else
        spot.subcomponents = narrow(at, &spot, marks->subcomponent, from_one(path->subcomponent));
    return spot;
}

/* The memory of a segment never becomes less, so that what was there before fits in again. */
dx_status hl7_reshape(dx_hl7 *hl7, hl7_place place, size_t from, size_t to, size_t len) {
    hl7_segment *segment = hl7_list_at(&hl7->list, place);
    size_t whole = (size_t)segment->len + segment->end;
    size_t new_whole = whole - (to - from) + len;
    size_t most = whole > new_whole ? whole : new_whole;
    size_t cap = most + most / 4 + 16;
    bool fits = segment->cap >= new_whole;
    char *at = fits ? segment->at : dx__malloc(&hl7->alloc, cap);
    dx_status status = at ? hl7_note_change(hl7, place, from, to, len) : DX_ERR_NOMEM;
    if (status != DX_OK) {
        if (!fits)
            dx__free(&hl7->alloc, at);
        return status;
    }
    if (!fits)
        memcpy(at, segment->at, from);
    memmove(at + from + len, segment->at + to, whole - to);
    if (!fits) {
        if (segment->cap)
            dx__free(&hl7->alloc, segment->at);
        segment->at = at;
        segment->cap = (uint32_t)cap;
    }
    segment->len = (uint32_t)(new_whole - segment->end);
    hl7->size = hl7->size - whole + new_whole;
    return DX_OK;
}

static char *repeat(char *to, char c, size_t count) {
    memset(to, c, count);
    return to + count;
}

static bool are_same(dx_text one, dx_text two) {
    return one.len == two.len && (!one.len || memcmp(one.at, two.at, one.len) == 0);
}

/* Is the value what can be read there, or written in the same way? Then nothing changes, not even
 * an escape character that should have been escaped. */
static dx_status has_value(const dx_hl7 *hl7, dx_text raw, dx_text value, size_t escaped,
                           bool *ret_has) {
    char escape = hl7->marks.escape;
    *ret_has = are_same(raw, value);
    if (*ret_has || !raw.len || !escape || !memchr(raw.at, escape, raw.len))
        return DX_OK;
    dx_buf text;
    dx_buf_init(&text, raw.len, &hl7->alloc);
    dx_status status = DX_OK;
    if (value.len <= raw.len) {
        status = hl7_unescape(&hl7->marks, raw, &text);
        *ret_has = status == DX_OK && are_same((dx_text){text.data, text.len}, value);
    }
    if (status == DX_OK && !*ret_has && escaped == raw.len) {
        status = dx_buf_reserve(&text, escaped - text.len);
        if (status == DX_OK) {
            hl7_escape(&hl7->marks, value, HL7_ESCAPE_LONE, text.data);
            *ret_has = memcmp(text.data, raw.at, raw.len) == 0;
        }
    }
    dx_buf_done(&text);
    return status;
}

dx_status hl7_spot_set(dx_hl7 *hl7, hl7_place place, const hl7_spot *spot, dx_text value) {
    const hl7_marks *marks = &hl7->marks;
    hl7_segment *segment = hl7_list_at(&hl7->list, place);
    hl7_escapes escapes = hl7->exact ? HL7_ESCAPE_ALL : HL7_ESCAPE_LONE;
    dx_text raw = {segment->at + spot->from, spot->to - spot->from};
    hl7->list.work += (uint64_t)segment->len + value.len;
    /* Nothing where nothing is: no reason to add separators. */
    if (!value.len && hl7_spot_missing(spot) && spot->from == spot->to)
        return DX_OK;
    size_t escaped = hl7_escaped_size(marks, value, escapes);
    if (!hl7->exact && !hl7_spot_missing(spot)) {
        bool is_there;
        dx_status status = has_value(hl7, raw, value, escaped, &is_there);
        if (status != DX_OK || is_there)
            return status;
    }
    if ((spot->repetitions && !marks->repetition) || (spot->subcomponents && !marks->subcomponent))
        return DX_MISFIT;
    if (value.len > hl7->text_max)
        return DX_ERR_LIMIT;
    if (escaped == SIZE_MAX)
        return DX_MISFIT;
    size_t len = hl7_spot_missing(spot) + escaped;
    size_t rest = hl7->size - (spot->to - spot->from);
    if (len > hl7->text_max - rest)
        return DX_ERR_LIMIT;
    dx_status status = hl7_reshape(hl7, place, spot->from, spot->to, len);
    if (status != DX_OK)
        return status;
    char *to = segment->at + spot->from;
    to = repeat(to, marks->field, spot->fields);
    to = repeat(to, marks->repetition, spot->repetitions);
    to = repeat(to, marks->component, spot->components);
    to = repeat(to, marks->subcomponent, spot->subcomponents);
    hl7_escape(marks, value, escapes, to);
    return DX_OK;
}
