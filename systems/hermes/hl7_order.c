/* A document of the keys shape has its segments grouped by name. The message that it was made from
 * still knows their order. */
#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* The names of all segments, sorted; each knows which segment it is the name of. */
static dx_status sort_names(const dx_hl7 *hl7, hl7_numbers *names) {
    dx_status status = DX_OK;
    hl7_place place = {0, 0};
    for (hl7_segment *at; status == DX_OK && (at = hl7_list_next(&hl7->list, &place));)
        status = hl7_numbers_add(names, 0, hl7_segment_name(at, &hl7->marks), NULL);
    hl7_numbers_sort(names);
    return status;
}

static bool are_same(const hl7_numbers *one, const hl7_numbers *two) {
    if (one->count != two->count)
        return false;
    for (size_t i = 0; i < one->count; i++) {
        dx_text name = one->at[i].name;
        dx_text other = two->at[i].name;
        if (name.len != other.len || (name.len && memcmp(name.at, other.at, name.len) != 0))
            return false;
    }
    return true;
}

/* One segment besides MSH, or several of one name: there is only one order. */
static bool has_one_order(const hl7_numbers *names) {
    size_t others = 0;
    dx_text first = {NULL, 0};
    for (size_t i = 0; i < names->count; i++) {
        dx_text name = names->at[i].name;
        if (dx_text_is(name, "MSH"))
            continue;
        if (!first.at)
            first = name;
        others += name.len != first.len || memcmp(name.at, first.at, name.len) != 0;
    }
    return !others;
}

/* The n-th segment of that text goes where the n-th of that name stands in `like`. */
static dx_status write_like(const dx_hl7 *hl7, const hl7_numbers *names, const hl7_numbers *like,
                            dx_buf *out) {
    size_t count = names->count;
    const hl7_segment **segments = dx__malloc(&hl7->alloc, 2 * count * sizeof *segments);
    const hl7_segment **ordered = segments + count;
    if (!segments)
        return DX_ERR_NOMEM;
    hl7_place place = {0, 0};
    for (size_t i = 0; i < count; i++)
        segments[i] = hl7_list_next(&hl7->list, &place);
    for (size_t i = 0; i < count; i++)
        ordered[like->at[i].order] = segments[names->at[i].order];
    dx_status status = DX_OK;
    for (size_t i = 0; i < count && status == DX_OK; i++) {
        if (i)
            status = dx_buf_append(out, "\r", 1);
        if (status == DX_OK)
            status = dx_buf_append(out, ordered[i]->at, ordered[i]->len);
    }
    dx__free(&hl7->alloc, segments);
    return status;
}

dx_status hl7_order(const dx_hl7 *hl7, const dx_hl7 *like, const char *place, dx_buf *out,
                    dx_error *reterr) {
    hl7_numbers names = {.alloc = hl7->alloc};
    hl7_numbers wanted = {.alloc = hl7->alloc};
    dx_status status = sort_names(hl7, &names);
    if (status == DX_OK && like)
        status = sort_names(like, &wanted);
    if (status == DX_OK && !has_one_order(&names) && !are_same(&names, &wanted))
        status = hl7_misfit(reterr, place,
                            "segments as keys have no order, and there is no open message with the"
                            " same number of each: write a list under ",
                            HL7_PIECE("`segments`"));
    if (status == DX_OK)
        status = are_same(&names, &wanted) ? write_like(hl7, &names, &wanted, out)
                                           : dx_hl7_write(hl7, out);
    hl7_numbers_done(&names);
    hl7_numbers_done(&wanted);
    return status;
}
