#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* Five times that, which escapes may take, still fits into 32 bits. */
enum { TEXT_MOST = 1 << 29 };

dx_hl7_config dx_hl7_defaults(void) {
    return (dx_hl7_config){
        .text_max = (size_t)64 << 20, .segments_max = 4000000, .work_max = UINT64_C(16) << 30};
}

static bool is_line_end(char c) {
    return c == '\r' || c == '\n';
}

dx_text hl7_segment_name(const hl7_segment *segment, const hl7_marks *marks) {
    const char *mark = memchr(segment->at, marks->field, segment->len);
    return (dx_text){segment->at, mark ? (size_t)(mark - segment->at) : segment->len};
}

/* Is it a message? Then its separators are known, too. */
static dx_status look(dx_text text, bool exact, hl7_marks *ret_marks, dx_error *reterr) {
    dx_text none = {NULL, 0};
    if (!text.len)
        return hl7_misfit(reterr, "message", "Message is empty", none);
    if (text.len < 3 || memcmp(text.at, "MSH", 3) != 0)
        return hl7_misfit(reterr, "message", "Message must start with MSH segment", none);
    const char *flaw = hl7_marks_read(text, exact, ret_marks);
    return flaw ? hl7_misfit(reterr, "message", "Invalid HL7 message: ", dx_str(flaw)) : DX_OK;
}

/* The end of a line is found by memchr(), which is much faster than looking at every byte; the
 * place of the next CR and LF is kept, so that a text that has only one of them stays linear. */
struct lines {
    char *at;
    char *end;
    char *cr;
    char *lf;
};

static char *next_of(char *found, char *at, const char *end, char c) {
    if (found && found >= at)
        return found;
    found = memchr(at, c, (size_t)(end - at));
    return found ? found : (char *)(uintptr_t)end;
}

static hl7_segment next_line(struct lines *lines) {
    lines->cr = next_of(lines->cr, lines->at, lines->end, '\r');
    lines->lf = next_of(lines->lf, lines->at, lines->end, '\n');
    char *stop = lines->cr < lines->lf ? lines->cr : lines->lf;
    char *next = stop;
    while (next < lines->end && is_line_end(*next))
        next++;
    hl7_segment segment = {
        .at = lines->at, .len = (uint32_t)(stop - lines->at), .end = (uint32_t)(next - stop)};
    lines->at = next;
    return segment;
}

dx_text hl7_without_blanks(dx_text name) {
    dx_text whole = name;
    while (name.len && (*name.at == ' ' || *name.at == '\t'))
        name = (dx_text){name.at + 1, name.len - 1};
    return dx_text_is(name, "MSH") ? whole : name;
}

static dx_status split(dx_hl7 *hl7) {
    struct lines lines = {.at = hl7->text, .end = hl7->text + hl7->size};
    while (lines.at < lines.end) {
        if (hl7->list.segments == hl7->segments_max)
            return DX_ERR_LIMIT;
        hl7_segment segment = next_line(&lines);
        uint64_t key = hl7_key(hl7_without_blanks(hl7_segment_name(&segment, &hl7->marks)));
        hl7_place place = hl7_list_end(&hl7->list);
        dx_status status = hl7_list_insert(&hl7->list, &place, segment, key);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

dx_status dx_hl7_new(const dx_hl7_config *config, dx_text text, dx_hl7 **ret_hl7,
                     dx_error *reterr) {
    if (config->text_max > TEXT_MOST)
        return DX_ERR_INVALID;
    if (text.len > config->text_max)
        return DX_ERR_LIMIT;
    hl7_marks marks = {0};
    dx_status status = look(text, config->exact, &marks, reterr);
    if (status != DX_OK)
        return status;
    /* A buffer knows what malloc() is; the function that does is the library's own. */
    dx_buf buf;
    dx_buf_init(&buf, 0, config->allocator);
    dx_allocator alloc = buf.alloc;
    dx_hl7 *hl7 = dx__malloc(&alloc, sizeof *hl7);
    if (!hl7)
        return DX_ERR_NOMEM;
    *hl7 = (dx_hl7){
        .size = text.len,
        .text_max = config->text_max,
        .segments_max = config->segments_max,
        .work_max = config->work_max,
        .exact = config->exact != 0,
        .file = config->file,
        .marks = marks,
        .msh = hl7_key(HL7_PIECE("MSH")),
        .alloc = alloc,
        .text = dx__malloc(&alloc, text.len),
    };
    hl7_list_init(&hl7->list, &alloc);
    status = DX_ERR_NOMEM;
    if (hl7->text) {
        memcpy(hl7->text, text.at, text.len);
        status = split(hl7);
    }
    if (status != DX_OK) {
        dx_hl7_free(hl7);
        return status;
    }
    *ret_hl7 = hl7;
    return DX_OK;
}

dx_hl7 *dx_hl7_free(dx_hl7 *hl7) {
    if (!hl7)
        return NULL;
    dx_allocator alloc = hl7->alloc;
    hl7_list_done(&hl7->list);
    dx__free(&alloc, hl7->text);
    dx__free(&alloc, hl7);
    return NULL;
}

void hl7_take(dx_hl7 *hl7, dx_hl7 *from) {
    dx_hl7 old = *hl7;
    *hl7 = *from;
    hl7->list.work += old.list.work;
    *from = old;
    dx_hl7_free(from);
}

size_t dx_hl7_size(const dx_hl7 *hl7) {
    return hl7->size;
}

size_t dx_hl7_segments(const dx_hl7 *hl7) {
    return hl7->list.segments;
}

const char *dx_hl7_warning(const dx_hl7 *hl7) {
    return hl7->marks.subcomponent && !hl7->marks.escape
               ? "MSH.2 has lost its escape character: a value that needs one cannot be set before"
                 " MSH.2 is (^~\\&)"
               : NULL;
}

dx_status dx_hl7_write(const dx_hl7 *hl7, dx_buf *out) {
    dx_status status = dx_buf_reserve(out, hl7->size);
    hl7_place place = {0, 0};
    for (hl7_segment *segment; status == DX_OK && (segment = hl7_list_next(&hl7->list, &place));)
        status = dx_buf_append(out, segment->at, (size_t)segment->len + segment->end);
    return status;
}
