/* The defects of Hermes 0.1.0: it builds the whole message anew for every patch. */
#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* Its parser wants three letters or digits of ASCII and a separator. */
static bool is_readable(const hl7_segment *segment, const hl7_marks *marks) {
    return hl7_segment_name(segment, marks).len == 3 && segment->len > 3 &&
           hl7_key((dx_text){segment->at, 3}) != 0;
}

static dx_status put(dx_buf *out, const char *at, size_t len, char escape) {
    dx_status status = DX_OK;
    for (const char *end = at + len; status == DX_OK && at < end;) {
        const char *next = escape ? memchr(at, escape, (size_t)(end - at)) : NULL;
        if (!next)
            return dx_buf_append(out, at, (size_t)(end - at));
        status = dx_buf_append(out, at, (size_t)(next - at));
        if (status == DX_OK)
            status = dx_buf_append(out, (char[]){escape, 'E', escape}, 3);
        at = next + 1;
    }
    return status;
}

/* How long the separators are that stand in MSH, with the one behind them. */
static size_t marks_len(const hl7_segment *segment, const hl7_marks *marks) {
    const char *from = segment->at + 4;
    const char *end = memchr(from, marks->field, segment->len - 4);
    return end ? (size_t)(end - segment->at) + 1 : segment->len;
}

static dx_status copy_segment(const dx_hl7 *hl7, const hl7_segment *segment, bool first, bool twice,
                              dx_buf *out) {
    size_t skip = 0;
    dx_status status = DX_OK;
    if (first) {
        skip = marks_len(segment, &hl7->marks);
        status = dx_buf_append(out, segment->at, skip);
        if (status == DX_OK && twice && segment->at[skip - 1] != hl7->marks.field)
            status = dx_buf_append(out, &hl7->marks.field, 1);
    } else {
        status = dx_buf_append(out, "\r", 1);
    }
    if (status == DX_OK)
        status =
            put(out, segment->at + skip, segment->len - skip, twice ? hl7->marks.escape : '\0');
    return status;
}

dx_status hl7_exact_copy(const dx_hl7 *hl7, bool twice, dx_hl7 **ret_copy) {
    dx_buf out;
    dx_buf_init(&out, hl7->text_max, &hl7->alloc);
    dx_status status = DX_OK;
    bool first = true;
    hl7_place place = {0, 0};
    for (hl7_segment *segment; status == DX_OK && (segment = hl7_list_next(&hl7->list, &place));) {
        if (!is_readable(segment, &hl7->marks))
            break;
        status = copy_segment(hl7, segment, first, twice, &out);
        first = false;
    }
    dx_hl7_config config = {.text_max = hl7->text_max,
                            .segments_max = hl7->segments_max,
                            .work_max = hl7->work_max,
                            .exact = hl7->exact,
                            .file = hl7->file,
                            .allocator = &hl7->alloc};
    if (status == DX_OK)
        status = dx_hl7_new(&config, (dx_text){out.data, out.len}, ret_copy, NULL);
    dx_buf_done(&out);
    return status;
}

dx_status hl7_exact_apply(dx_hl7 *hl7, const hl7_path *path, const dx_hl7_patch *patch,
                          dx_buf *why) {
    dx_hl7 *copy;
    hl7_path first = *path;
    first.segment = 1;
    dx_status status = hl7_exact_copy(hl7, true, &copy);
    if (status != DX_OK) {
        if (status == DX_ERR_LIMIT)
            HL7_SAY(why, HL7_PIECE("Message would be too long"));
        return status;
    }
    bool changed = true;
    hl7->list.work += hl7->size;
    if (path->field) {
        status = hl7_set(copy, path, patch->value, true, why);
    } else if (patch->create) {
        status = hl7_create(copy, path, true, why);
    } else {
        size_t before = copy->list.segments;
        status = hl7_remove(copy, &first, why);
        changed = copy->list.segments < before;
    }
    if (status == DX_OK && changed)
        hl7_take(hl7, copy);
    else
        dx_hl7_free(copy);
    return status;
}
