#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* A path is put into a sentence, which nobody reads if it is a megabyte long. */
enum { QUOTE_MOST = 200 };

/* A sentence that can't be told is no reason to fail otherwise. */
static dx_status refuse(dx_status told, dx_status reason) {
    return told == DX_ERR_NOMEM ? DX_ERR_NOMEM : reason;
}

static dx_status too_large(const dx_hl7 *hl7, dx_buf *why) {
    char most[HL7_DIGITS];
    return refuse(HL7_SAY(why, HL7_PIECE("Message would be longer than "),
                          hl7_digits(most, hl7->text_max, 10, 1), HL7_PIECE(" bytes")),
                  DX_ERR_LIMIT);
}

static dx_status bad_path(dx_text path, size_t at, dx_buf *why) {
    char place[HL7_DIGITS];
    dx_text rest = {path.at ? path.at + at : "", path.len - at};
    return refuse(HL7_SAY(why, HL7_PIECE("Invalid path '"), hl7_cut(path, QUOTE_MOST),
                          HL7_PIECE("': Query parsing failed at position "),
                          hl7_digits(place, at, 10, 1), HL7_PIECE(": `"), hl7_cut(rest, QUOTE_MOST),
                          HL7_PIECE("`")),
                  DX_MISFIT);
}

/* MSH.2 may get separators that it lacks. One that it has cannot change, because the text that it
 * separates does not. */
static dx_status set_marks(dx_hl7 *hl7, hl7_place place, const hl7_path *path, dx_text value,
                           dx_buf *why) {
    enum { MARKS_MAX = 5 };
    char text[4 + MARKS_MAX] = {'M', 'S', 'H', hl7->marks.field};
    hl7_marks marks = {0};
    const char *flaw = "expected one to five separators";
    if (value.len && value.len <= MARKS_MAX && !memchr(value.at, hl7->marks.field, value.len)) {
        memcpy(text + 4, value.at, value.len);
        flaw = hl7_marks_read((dx_text){text, 4 + value.len}, false, &marks);
    }
    if (!flaw && (memchr(value.at, '\r', value.len) || memchr(value.at, '\n', value.len) ||
                  !hl7_marks_extend(&hl7->marks, &marks)))
        flaw = "a separator that the message has cannot change";
    if (flaw)
        return refuse(HL7_SAY(why, HL7_PIECE("Cannot set MSH.2: "), dx_str(flaw)), DX_MISFIT);
    hl7_spot spot = hl7_spot_find(hl7, hl7_list_at(&hl7->list, place), path, false);
    hl7_marks old = hl7->marks;
    hl7->marks = (hl7_marks){0}; /* they are not escaped */
    dx_status status = hl7_spot_set(hl7, place, &spot, value);
    hl7->marks = status == DX_OK ? marks : old;
    return status == DX_ERR_LIMIT ? too_large(hl7, why) : status;
}

/* Is that the value already, byte for byte? */
static bool is_there(const dx_hl7 *hl7, hl7_segment *segment, const hl7_path *path, dx_text value) {
    hl7_spot spot = hl7_spot_find(hl7, segment, path, false);
    return !hl7_spot_missing(&spot) && spot.to - spot.from == value.len && value.len &&
           memcmp(segment->at + spot.from, value.at, value.len) == 0;
}

/* MSH.1 or MSH.2 itself, or what counts as a part of it. */
static dx_status set_separators(dx_hl7 *hl7, hl7_place place, const hl7_path *path, dx_text value,
                                dx_buf *why) {
    bool is_first = place.block == 0 && place.slot == 0;
    if (is_there(hl7, hl7_list_at(&hl7->list, place), path, value))
        return DX_OK;
    if (path->field == 2 && is_first && !path->repetition && !path->component)
        return set_marks(hl7, place, path, value, why);
    return refuse(HL7_SAY(why, HL7_PIECE("Cannot set MSH.1 or MSH.2, the separators")), DX_MISFIT);
}

dx_status hl7_set(dx_hl7 *hl7, const hl7_path *path, dx_text value, bool exact, dx_buf *why) {
    hl7_place place;
    if (!hl7_list_find(&hl7->list, path->key, path->segment ? path->segment : 1, &place))
        return refuse(HL7_SAY(why, HL7_PIECE("Segment "), path->name, HL7_PIECE(" not found")),
                      DX_MISFIT);
    if (path->key == hl7->msh && path->field <= 2) /* exact: it says that all is well */
        return exact ? DX_OK : set_separators(hl7, place, path, value, why);
    hl7_spot spot = hl7_spot_find(hl7, hl7_list_at(&hl7->list, place), path, exact);
    dx_status status = hl7_spot_set(hl7, place, &spot, value);
    if (status == DX_ERR_LIMIT)
        return too_large(hl7, why);
    if (status == DX_MISFIT)
        return refuse(HL7_SAY(why, HL7_PIECE("Path '"), hl7_cut(path->text, QUOTE_MOST),
                              HL7_PIECE("' needs a character that MSH.2 does not have")),
                      DX_MISFIT);
    return status;
}

dx_text hl7_line_end(const dx_hl7 *hl7) {
    hl7_segment *first = hl7_list_at(&hl7->list, (hl7_place){0, 0});
    const char *end = first->at + first->len;
    if (!first->end)
        return HL7_PIECE("\r");
    if (first->end > 1 && end[0] == '\r' && end[1] == '\n')
        return HL7_PIECE("\r\n");
    return (dx_text){*end == '\r' ? "\r" : "\n", 1};
}

/* One with bytes of its own; .at is NULL without memory. */
static hl7_segment own_segment(dx_hl7 *hl7, dx_text text, char mark, dx_text end) {
    size_t cap = text.len + 1 + end.len;
    hl7_segment segment = {.at = dx__malloc(&hl7->alloc, cap), .cap = (uint32_t)cap};
    if (!segment.at)
        return segment;
    memcpy(segment.at, text.at, text.len);
    segment.len = (uint32_t)text.len;
    if (mark)
        segment.at[segment.len++] = mark;
    if (end.len)
        memcpy(segment.at + segment.len, end.at, end.len);
    segment.end = (uint32_t)end.len;
    return segment;
}

static hl7_place last_place(const dx_hl7 *hl7) {
    hl7_place place = hl7_list_end(&hl7->list);
    place.slot--;
    return place;
}

/* The last segment, which has none, gets a line end. */
static dx_status end_last(dx_hl7 *hl7, dx_text end) {
    hl7_segment *last = hl7_list_last(&hl7->list);
    dx_status status = hl7_reshape(hl7, last_place(hl7), last->len, last->len, end.len);
    if (status != DX_OK)
        return status;
    last->len -= (uint32_t)end.len;
    last->end = (uint32_t)end.len;
    memcpy(last->at + last->len, end.at, end.len);
    return DX_OK;
}

/* Takes the line end off the last segment again. */
static dx_status unend_last(dx_hl7 *hl7) {
    hl7_segment *last = hl7_list_last(&hl7->list);
    dx_status status =
        hl7_note_change(hl7, last_place(hl7), last->len, (size_t)last->len + last->end, 0);
    if (status != DX_OK)
        return status;
    hl7->size -= last->end;
    last->end = 0;
    return DX_OK;
}

static dx_status take_out(dx_hl7 *hl7, hl7_place place) {
    hl7_segment *segment = hl7_list_at(&hl7->list, place);
    bool open = segment == hl7_list_last(&hl7->list) && !segment->end;
    size_t size = (size_t)segment->len + segment->end;
    dx_status status = hl7_note_taken(hl7, place);
    if (status != DX_OK)
        return status;
    hl7_segment taken = hl7_list_take(&hl7->list, place);
    if (taken.cap && !hl7->journal)
        dx__free(&hl7->alloc, taken.at);
    hl7->size -= size;
    /* The line end was there because of this one, so that create and remove leave nothing. */
    return open ? unend_last(hl7) : DX_OK;
}

/* Where a new segment of that name goes. */
static hl7_place behind_last(dx_hl7 *hl7, uint64_t key, size_t count) {
    hl7_place place = hl7_list_end(&hl7->list);
    if (count && hl7_list_find(&hl7->list, key, count, &place))
        place.slot++;
    return place;
}

static bool is_end(const dx_hl7 *hl7, hl7_place place) {
    hl7_place end = hl7_list_end(&hl7->list);
    return place.block == end.block && place.slot == end.slot;
}

/* Moves the place behind the new one. */
static dx_status create_one(dx_hl7 *hl7, const hl7_path *path, bool bare, hl7_place *place) {
    dx_text end = hl7_line_end(hl7);
    bool open = is_end(hl7, *place) && !hl7_list_last(&hl7->list)->end;
    hl7_segment segment =
        own_segment(hl7, path->name, bare ? '\0' : hl7->marks.field, open ? (dx_text){"", 0} : end);
    if (!segment.at)
        return DX_ERR_NOMEM;
    dx_status status = hl7_note_room(hl7);
    if (status == DX_OK && open)
        status = end_last(hl7, end);
    bool ended = status == DX_OK && open;
    if (status == DX_OK)
        status = hl7_list_insert(&hl7->list, place, segment, path->key);
    if (status != DX_OK) {
        if (ended && !hl7->journal)
            (void)unend_last(hl7);
        dx__free(&hl7->alloc, segment.at);
        return status;
    }
    hl7_note_added(hl7, *place);
    hl7->size += (size_t)segment.len + segment.end;
    place->slot++;
    return DX_OK;
}

dx_status hl7_create(dx_hl7 *hl7, const hl7_path *path, bool bare, dx_buf *why) {
    if (path->key == hl7->msh && !bare)
        return refuse(HL7_SAY(why, HL7_PIECE("Cannot create MSH segment")), DX_MISFIT);
    size_t count = hl7_list_count(&hl7->list, path->key);
    size_t more = path->segment > count ? path->segment - count : 1;
    size_t each = path->name.len + !bare + hl7_line_end(hl7).len;
    if (more > hl7->segments_max - hl7->list.segments)
        return refuse(HL7_SAY(why, HL7_PIECE("Message would have too many segments")),
                      DX_ERR_LIMIT);
    if (more > (hl7->text_max - hl7->size) / each)
        return too_large(hl7, why);
    hl7_place place = behind_last(hl7, path->key, count);
    for (size_t i = 0; i < more; i++) {
        if (create_one(hl7, path, bare, &place) == DX_OK)
            continue;
        /* With a journal, everything will be taken back. */
        for (; i && !hl7->journal && hl7_list_find(&hl7->list, path->key, count + i, &place); i--)
            (void)take_out(hl7, place);
        return DX_ERR_NOMEM;
    }
    return DX_OK;
}

dx_status hl7_remove(dx_hl7 *hl7, const hl7_path *path, dx_buf *why) {
    if (path->key == hl7->msh)
        return refuse(HL7_SAY(why, HL7_PIECE("Cannot remove MSH segment")), DX_MISFIT);
    hl7_place place;
    if (!hl7_list_find(&hl7->list, path->key, path->segment ? path->segment : 1, &place))
        return DX_OK;
    return take_out(hl7, place);
}

static dx_status refuse_error(const dx_error *error, dx_status status, dx_buf *why) {
    return status == DX_MISFIT ? refuse(HL7_SAY(why, dx_str(error->phrase)), status) : status;
}

/* The first segment becomes what it was before a change; it has the room for that. */
static dx_status restore_header(dx_hl7 *hl7, dx_text old, dx_status reason) {
    const hl7_place first = {0, 0};
    hl7_segment *segment = hl7_list_at(&hl7->list, first);
    dx_status status = hl7_reshape(hl7, first, 0, segment->len, old.len);
    if (status == DX_OK)
        memcpy(segment->at, old.at, old.len);
    return status == DX_OK ? reason : status;
}

/* A change of MSH may change how all of the message is to be encoded: then that must be possible,
 * or the segment becomes what it was. */
static dx_status set_header(dx_hl7 *hl7, const hl7_path *path, dx_text value, dx_buf *why) {
    dx_error error;
    hl7_segment *segment = hl7_list_at(&hl7->list, (hl7_place){0, 0});
    hl7_marks marks = hl7->marks;
    dx_text old = hl7_segment_text(segment);
    char *copy = dx__text_copy(&hl7->alloc, old);
    if (!copy)
        return DX_ERR_NOMEM;
    old.at = copy;
    dx_status status = hl7_set(hl7, path, value, false, why);
    if (status == DX_OK &&
        !hl7_is_same(hl7_header_charset(hl7_segment_text(segment)), hl7_header_charset(old))) {
        status = dx_hl7_check(hl7, &error);
        status = refuse_error(&error, status, why);
        if (status != DX_OK) {
            hl7->marks = marks;
            status = restore_header(hl7, old, status);
        }
    }
    dx__free(&hl7->alloc, copy);
    return status;
}

/* Can the file of the message hold what the patch brings? */
static dx_status check_patch(const dx_hl7 *hl7, const hl7_path *path, const dx_hl7_patch *patch,
                             dx_buf *why) {
    dx_error error;
    dx_text header = hl7_segment_text(hl7_list_at(&hl7->list, (hl7_place){0, 0}));
    dx_text brought = path->field ? patch->value : patch->create ? path->name : (dx_text){"", 0};
    dx_status status = hl7_file_allows(hl7->file, header, brought, &error);
    return refuse_error(&error, status, why);
}

dx_status dx_hl7_apply(dx_hl7 *hl7, const dx_hl7_patch *patch, dx_buf *why) {
    hl7_path path;
    size_t fits = hl7_path_parse(patch->path, &path);
    if (!fits || (fits < patch->path.len && !hl7->exact))
        return bad_path(patch->path, fits, why);
    if (!path.field && !patch->create && !patch->remove)
        return refuse(HL7_SAY(why, HL7_PIECE("Path '"), hl7_cut(patch->path, QUOTE_MOST),
                              HL7_PIECE("' must specify a field number for set/remove operations")),
                      DX_MISFIT);
    if (hl7->exact)
        return hl7_exact_apply(hl7, &path, patch, why);
    dx_status status = hl7->file ? check_patch(hl7, &path, patch, why) : DX_OK;
    if (status != DX_OK)
        return status;
    if (path.field)
        return hl7->file && path.key == hl7->msh ? set_header(hl7, &path, patch->value, why)
                                                 : hl7_set(hl7, &path, patch->value, false, why);
    return patch->create ? hl7_create(hl7, &path, false, why) : hl7_remove(hl7, &path, why);
}

hl7_segment *hl7_find_segment(const dx_hl7 *hl7, const hl7_path *path) {
    hl7_place place;
    /* Only what is remembered about the list changes. */
    hl7_list *list = (hl7_list *)(uintptr_t)&hl7->list;
    if (!hl7_list_find(list, path->key, path->segment ? path->segment : 1, &place))
        return NULL;
    return hl7_list_at(list, place);
}

/* Finds a place for reading; false if it is not there. */
static bool find(const dx_hl7 *hl7, const hl7_path *path, dx_text *ret_raw) {
    hl7_segment *segment = hl7_find_segment(hl7, path);
    if (!segment)
        return false;
    hl7_spot spot = hl7_spot_find(hl7, segment, path, false);
    if (hl7_spot_missing(&spot))
        return false;
    *ret_raw = (dx_text){segment->at + spot.from, spot.to - spot.from};
    return true;
}

dx_status dx_hl7_get(const dx_hl7 *hl7, dx_text path_text, dx_text *ret_raw) {
    hl7_path path;
    size_t fits = hl7_path_parse(path_text, &path);
    if (!fits || fits < path_text.len)
        return DX_MISFIT;
    dx_text raw = {NULL, 0};
    find(hl7, &path, &raw);
    *ret_raw = raw;
    return DX_OK;
}

dx_status dx_hl7_get_text(const dx_hl7 *hl7, dx_text path, dx_buf *out) {
    dx_text raw;
    dx_status status = dx_hl7_get(hl7, path, &raw);
    if (status != DX_OK || !raw.at)
        return status;
    /* The separators in MSH are no escapes. */
    hl7_path parsed;
    hl7_path_parse(path, &parsed);
    if (!parsed.field || (parsed.key == hl7->msh && parsed.field <= 2))
        return dx_buf_append(out, raw.at, raw.len);
    return hl7_unescape(&hl7->marks, raw, out);
}
