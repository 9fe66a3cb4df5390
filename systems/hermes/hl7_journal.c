/* What was changed in a message, so that an edit costs what it touches and not a copy of the whole.
 * A note is the bytes that were replaced, and after them what happened; so notes are read from the
 * end. Segments are known by their index, which is right again when all later changes are gone. */
#include "systems/hermes/hl7_parts.h"

#include <string.h>

typedef enum { CHANGED, ADDED, TAKEN } what;

struct note {
    what what;
    size_t index;
    hl7_segment segment; /* as it was; its memory is the journal's if it was taken out */
    uint64_t key;
    size_t from; /* in the segment with its line end, `len` bytes are … */
    size_t len;
    size_t old; /* … in place of so many, noted unless the segment was still in the text as read */
};

void hl7_journal_begin(dx_hl7 *hl7, hl7_journal *journal) {
    *journal = (hl7_journal){.marks = hl7->marks};
    dx_buf_init(&journal->log, SIZE_MAX / 2, &hl7->alloc);
    hl7->journal = journal;
}

void hl7_journal_end(dx_hl7 *hl7) {
    hl7->journal = NULL;
}

size_t hl7_journal_size(const hl7_journal *journal) {
    return journal->log.len + journal->held;
}

/* Takes the last note out; what it replaced stays in the log until the next one is added. */
static struct note pop(hl7_journal *journal) {
    struct note note;
    dx_buf *log = &journal->log;
    log->len -= sizeof note;
    memcpy(&note, log->data + log->len, sizeof note);
    if (note.what == CHANGED && note.segment.cap)
        log->len -= note.old;
    return note;
}

void hl7_journal_done(hl7_journal *journal) {
    while (journal->log.len) {
        struct note note = pop(journal);
        if (note.what == TAKEN && note.segment.cap)
            dx__free(&journal->log.alloc, note.segment.at);
    }
    dx_buf_done(&journal->log);
    journal->held = 0;
}

static dx_status push(hl7_journal *journal, const struct note *note, const char *bytes,
                      size_t len) {
    dx_status status = dx_buf_reserve(&journal->log, len + sizeof *note);
    if (status != DX_OK)
        return status;
    (void)dx_buf_append(&journal->log, bytes, len);
    return dx_buf_append(&journal->log, note, sizeof *note);
}

dx_status hl7_note_change(dx_hl7 *hl7, hl7_place place, size_t from, size_t to, size_t len) {
    if (!hl7->journal)
        return DX_OK;
    struct note note = {.what = CHANGED,
                        .index = hl7_list_index(&hl7->list, place),
                        .segment = *hl7_list_at(&hl7->list, place),
                        .from = from,
                        .len = len,
                        .old = to - from};
    /* The text as it was read is never written to. */
    size_t kept = note.segment.cap ? note.old : 0;
    return push(hl7->journal, &note, note.segment.at + from, kept);
}

dx_status hl7_note_taken(dx_hl7 *hl7, hl7_place place) {
    if (!hl7->journal)
        return DX_OK;
    struct note note = {.what = TAKEN,
                        .index = hl7_list_index(&hl7->list, place),
                        .segment = *hl7_list_at(&hl7->list, place),
                        .key = hl7->list.blocks[place.block]->keys[place.slot]};
    dx_status status = push(hl7->journal, &note, NULL, 0);
    if (status == DX_OK)
        hl7->journal->held += note.segment.cap;
    return status;
}

dx_status hl7_note_room(dx_hl7 *hl7) {
    /* For the line end of the segment before it, too. */
    return hl7->journal ? dx_buf_reserve(&hl7->journal->log, 2 * sizeof(struct note)) : DX_OK;
}

void hl7_note_added(dx_hl7 *hl7, hl7_place place) {
    struct note note = {.what = ADDED};
    if (!hl7->journal)
        return;
    note.index = hl7_list_index(&hl7->list, place);
    (void)push(hl7->journal, &note, NULL, 0);
}

static void change_back(dx_hl7 *hl7, const struct note *note, const char *bytes) {
    hl7_segment *segment = hl7_list_at(&hl7->list, hl7_list_place(&hl7->list, note->index));
    size_t whole = (size_t)segment->len + segment->end;
    size_t old_whole = (size_t)note->segment.len + note->segment.end;
    hl7->size = hl7->size - whole + old_whole;
    if (!note->segment.cap) {
        if (segment->cap)
            dx__free(&hl7->alloc, segment->at);
        *segment = note->segment;
        return;
    }
    size_t behind = note->from + note->len;
    memmove(segment->at + note->from + note->old, segment->at + behind, whole - behind);
    memcpy(segment->at + note->from, bytes, note->old);
    segment->len = note->segment.len;
    segment->end = note->segment.end;
}

static void take_again(dx_hl7 *hl7, const struct note *note) {
    hl7_place place = hl7_list_place(&hl7->list, note->index);
    hl7_segment *segment = hl7_list_at(&hl7->list, place);
    hl7->size -= (size_t)segment->len + segment->end;
    hl7_list_remove(&hl7->list, place);
}

static dx_status put_back(dx_hl7 *hl7, const struct note *note) {
    hl7_place place = hl7_list_place(&hl7->list, note->index);
    dx_status status = hl7_list_insert(&hl7->list, &place, note->segment, note->key);
    if (status == DX_OK)
        hl7->size += (size_t)note->segment.len + note->segment.end;
    return status;
}

dx_status hl7_journal_undo(dx_hl7 *hl7, hl7_journal *journal) {
    while (journal->log.len) {
        size_t len = journal->log.len;
        struct note note = pop(journal);
        dx_status status = DX_OK;
        if (note.what == CHANGED)
            change_back(hl7, &note, journal->log.data + journal->log.len);
        else if (note.what == ADDED)
            take_again(hl7, &note);
        else
            status = put_back(hl7, &note);
        if (status != DX_OK) {
            journal->log.len = len;
            return status;
        }
        journal->held -= note.what == TAKEN ? note.segment.cap : 0;
    }
    hl7->marks = journal->marks;
    return DX_OK;
}
