/* A document has the values of a message, but not its line endings, nor the separators at the end
 * of a line. The message that it was made from still has them. */
#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* Without the separators at its end, but for MSH.1. */
static dx_text trim(dx_text text, char mark) {
    size_t least = text.len > 3 && memcmp(text.at, "MSH", 3) == 0 ? 4 : 0;
    while (text.len > least && text.at[text.len - 1] == mark)
        text.len--;
    return text;
}

static bool are_same(dx_text one, dx_text two) {
    return one.len == two.len && (!one.len || memcmp(one.at, two.at, one.len) == 0);
}

/* A line of separators has no values, and a document made from the message lacks it. */
static bool is_lost(const dx_hl7 *like, const hl7_segment *old, const hl7_segment *segment) {
    char mark = like->marks.field;
    return old && !trim(hl7_segment_text(old), mark).len &&
           (!segment || trim(hl7_segment_text(segment), mark).len);
}

static dx_text end_of(const hl7_segment *segment) {
    return (dx_text){segment->at + segment->len, segment->end};
}

dx_status hl7_write_like(const dx_hl7 *hl7, const dx_hl7 *like, dx_buf *out) {
    bool same_marks = memcmp(&hl7->marks, &like->marks, sizeof hl7->marks) == 0;
    hl7_place place = {0, 0};
    hl7_place old_place = {0, 0};
    hl7_segment *segment = hl7_list_next(&hl7->list, &place);
    hl7_segment *old = hl7_list_next(&like->list, &old_place);
    dx_text end = {"", 0};
    dx_status status = DX_OK;
    for (;;) {
        bool lost = same_marks && is_lost(like, old, segment);
        if (!segment && !lost)
            break;
        dx_text text = hl7_segment_text(lost ? old : segment);
        if (!lost && old && same_marks &&
            are_same(text, trim(hl7_segment_text(old), like->marks.field)))
            text = hl7_segment_text(old);
        status = dx_buf_append(out, end.at, end.len);
        if (status == DX_OK)
            status = dx_buf_append(out, text.at, text.len);
        if (status != DX_OK)
            return status;
        end = old && old->end ? end_of(old) : hl7_line_end(like);
        segment = lost ? segment : hl7_list_next(&hl7->list, &place);
        old = old ? hl7_list_next(&like->list, &old_place) : NULL;
    }
    end = end_of(hl7_list_last(&like->list));
    return dx_buf_append(out, end.at, end.len);
}
