/* What the files of the HL7 part share. */
#ifndef HERMES_HL7_PARTS_H
#define HERMES_HL7_PARTS_H

#include "base/alloc.h"
#include "base/utf8.h"
#include <duplex/hl7.h>

#include <stdbool.h>

#define HL7_PIECE(literal) ((dx_text){(literal), sizeof(literal) - 1})

/* The five separators; '\0' for one that the message does not have. */
typedef struct hl7_marks {
    char field;
    char component;
    char repetition;
    char escape;
    char subcomponent;
} hl7_marks;

/* Sets the marks from "MSH|^~\&…"; NULL, or what is wrong with them. */
const char *hl7_marks_read(dx_text text, bool exact, hl7_marks *ret_marks);
/* May they be replaced by others? Only if each mark stays what it is: others may be added. */
bool hl7_marks_extend(const hl7_marks *marks, const hl7_marks *more);

/* What becomes of an escape character in a text that is put into a message: a sequence of its own
 * in any case, unless it belongs to an escape sequence, or in no case. */
typedef enum hl7_escapes { HL7_ESCAPE_ALL, HL7_ESCAPE_LONE, HL7_ESCAPE_NONE } hl7_escapes;

/* How many bytes the text takes when its separators and line ends are escaped; SIZE_MAX if that is
 * necessary and the message has no escape character. */
size_t hl7_escaped_size(const hl7_marks *marks, dx_text text, hl7_escapes escapes);
/* Writes them; returns where they end. */
char *hl7_escape(const hl7_marks *marks, dx_text text, hl7_escapes escapes, char *to);
/* Appends the text with separators for their sequences; all other sequences stay. */
dx_status hl7_unescape(const hl7_marks *marks, dx_text raw, dx_buf *out);

enum { HL7_DIGITS = 24 };
/* A number in base 10 or 16, with at least so many digits, in the room. */
dx_text hl7_digits(char room[HL7_DIGITS], size_t number, unsigned base, size_t least);

/* A path; 0 for a number that is not given. */
typedef struct hl7_path {
    dx_text text;
    dx_text name;
    uint64_t key;
    uint32_t segment;
    uint32_t field;
    uint32_t repetition;
    uint32_t component;
    uint32_t subcomponent;
} hl7_path;

/* Returns how many bytes fit the grammar: all of them, or there is a fault there. */
size_t hl7_path_parse(dx_text text, hl7_path *ret_path);

/* A name of three characters as one number that no other name has; 0 for all other texts. */
uint64_t hl7_key(dx_text name);

/* A segment and, right behind it, its line end: in the text that was read (cap 0), or in a block of
 * its own. */
typedef struct hl7_segment {
    char *at;
    uint32_t len;
    uint32_t end;
    uint32_t cap;
} hl7_segment;

static inline dx_text hl7_segment_text(const hl7_segment *segment) {
    return (dx_text){segment->at, segment->len};
}

/* The part before the first separator of fields. */
dx_text hl7_segment_name(const hl7_segment *segment, const hl7_marks *marks);
/* Lines may be indented: the name is what follows. In MSH the separators have a fixed place. */
dx_text hl7_without_blanks(dx_text name);

enum { HL7_BLOCK = 128, HL7_MEMO = 4 };

/* Segments in order: short arrays, so that one in the middle can be added or taken out without
 * moving a hundred thousand others; and each array remembers how often it has a few names. */
typedef struct hl7_block {
    uint32_t count;
    uint32_t counts[HL7_MEMO];
    uint64_t counted[HL7_MEMO];
    uint64_t keys[HL7_BLOCK];
    hl7_segment segments[HL7_BLOCK];
} hl7_block;

typedef struct hl7_list {
    hl7_block **blocks;
    size_t count;
    size_t cap;
    size_t segments;
    uint64_t work; /* bytes that were looked at or moved, roughly */
    dx_allocator alloc;
} hl7_list;

typedef struct hl7_place {
    size_t block;
    size_t slot;
} hl7_place;

void hl7_list_init(hl7_list *list, const dx_allocator *alloc);
/* Segments with memory of their own give it back. */
void hl7_list_done(hl7_list *list);
/* All of them, one after the other: start with {0, 0}; NULL after the last. */
hl7_segment *hl7_list_next(const hl7_list *list, hl7_place *place);
hl7_segment *hl7_list_at(const hl7_list *list, hl7_place place);
hl7_segment *hl7_list_last(const hl7_list *list);
size_t hl7_list_count(hl7_list *list, uint64_t key);
/* The n-th with that key, from 1; false if there are fewer. */
bool hl7_list_find(hl7_list *list, uint64_t key, size_t n, hl7_place *ret_place);
hl7_place hl7_list_end(const hl7_list *list);
/* Puts it before that place and says where it is now; the list takes it if that succeeds. */
dx_status hl7_list_insert(hl7_list *list, hl7_place *place, hl7_segment take_segment, uint64_t key);
void hl7_list_remove(hl7_list *list, hl7_place place);
/* The same, but its memory is the caller's. */
hl7_segment hl7_list_take(hl7_list *list, hl7_place place);
/* How many segments are before it, and the other way round; also for the end of the list. */
size_t hl7_list_index(hl7_list *list, hl7_place place);
hl7_place hl7_list_place(hl7_list *list, size_t index);

/* What was changed, in order, so that it can be taken back: see hl7_journal.c. */
typedef struct hl7_journal {
    dx_buf log;
    hl7_marks marks; /* as they were before */
    size_t held;     /* bytes of segments that were taken out */
} hl7_journal;

struct dx_hl7 {
    char *text; /* as it was read; segments that were not changed lie in it */
    size_t size;
    size_t text_max;
    size_t segments_max;
    uint64_t work_max;
    bool exact;
    dx_hl7_file *file; /* that has to hold it; may be NULL */
    hl7_marks marks;
    uint64_t msh; /* the key of "MSH" */
    hl7_list list;
    hl7_journal *journal; /* changes are noted there; NULL: nowhere */
    dx_allocator alloc;
};

/* The segment that a path names, or NULL. */
hl7_segment *hl7_find_segment(const dx_hl7 *hl7, const hl7_path *path);

/* Takes everything out of `from`, which is freed. */
void hl7_take(dx_hl7 *hl7, dx_hl7 *from);

/* Where a path leads to in a segment: the bytes from `from` to `to`, behind as many separators of
 * each kind as are missing before it. */
typedef struct hl7_spot {
    size_t from;
    size_t to;
    size_t fields;
    size_t repetitions;
    size_t components;
    size_t subcomponents;
} hl7_spot;

static inline size_t hl7_spot_missing(const hl7_spot *spot) {
    return spot->fields + spot->repetitions + spot->components + spot->subcomponents;
}

/* `exact`: a place without parts is taken as empty when a part of it is asked for, and a repetition
 * without a component as the whole field. */
hl7_spot hl7_spot_find(const dx_hl7 *hl7, const hl7_segment *segment, const hl7_path *path,
                       bool exact);
/* Puts the value there, escaped, unless reading the spot gives it already. DX_MISFIT if a separator
 * that it needs does not exist. */
dx_status hl7_spot_set(dx_hl7 *hl7, hl7_place place, const hl7_spot *spot, dx_text value);
/* Makes the bytes between two places of a segment and its line end `len` long; the caller fills
 * them. */
dx_status hl7_reshape(dx_hl7 *hl7, hl7_place place, size_t from, size_t to, size_t len);

/* Every change of the message is noted in the journal from here on, until the end. After
 * DX_ERR_NOMEM of a change, all of them must be taken back. */
void hl7_journal_begin(dx_hl7 *hl7, hl7_journal *journal);
void hl7_journal_end(dx_hl7 *hl7);
void hl7_journal_done(hl7_journal *journal);
size_t hl7_journal_size(const hl7_journal *journal);
/* Takes back what was noted, the last change first; needs no memory, but for segments that were
 * removed. After DX_ERR_NOMEM the rest is still noted. */
dx_status hl7_journal_undo(dx_hl7 *hl7, hl7_journal *journal);
/* Notes what is about to happen: bytes of a segment or its line end get another length; a segment
 * is taken out, and its memory goes to the journal. DX_ERR_NOMEM. */
dx_status hl7_note_change(dx_hl7 *hl7, hl7_place place, size_t from, size_t to, size_t len);
dx_status hl7_note_taken(dx_hl7 *hl7, hl7_place place);
/* A segment was added; the room for that must have been there before. */
dx_status hl7_note_room(dx_hl7 *hl7);
void hl7_note_added(dx_hl7 *hl7, hl7_place place);

/* The three operations of a patch; `exact` and `bare` are how the editor does them. */
dx_status hl7_set(dx_hl7 *hl7, const hl7_path *path, dx_text value, bool exact, dx_buf *why);
dx_status hl7_create(dx_hl7 *hl7, const hl7_path *path, bool bare, dx_buf *why);
dx_status hl7_remove(dx_hl7 *hl7, const hl7_path *path, dx_buf *why);

/* The line end that the message has: its first one, or CR. */
dx_text hl7_line_end(const dx_hl7 *hl7);

/* A message as Hermes 0.1.0 writes it after a patch: CR between segments, nothing from the first on
 * that it can't read; with `twice`, escapes are escaped again. */
dx_status hl7_exact_copy(const dx_hl7 *hl7, bool twice, dx_hl7 **ret_copy);
/* dx_hl7_apply() with its defects; the path was read as far as it fits. */
dx_status hl7_exact_apply(dx_hl7 *hl7, const hl7_path *path, const dx_hl7_patch *patch,
                          dx_buf *why);

static inline bool hl7_is_same(dx_text one, dx_text other) {
    return one.len == other.len && (!one.len || memcmp(one.at, other.at, one.len) == 0);
}

/* Appends a sentence of several pieces; without a buffer there is nothing to do. */
dx_status hl7_say(dx_buf *why, const dx_text *pieces, size_t count);
#define HL7_SAY(why, ...)                        \
    hl7_say(why, (const dx_text[]){__VA_ARGS__}, \
            sizeof((const dx_text[]){__VA_ARGS__}) / sizeof(dx_text))
/* The text, or as much of it as a sentence can bear; never a part of a character. */
dx_text hl7_cut(dx_text text, size_t most);

/* Sets an error whose phrase has two parts; always DX_MISFIT. reterr may be NULL. */
dx_status hl7_misfit(dx_error *reterr, const char *place, const char *phrase, dx_text detail);

yyjson_alc hl7_yyjson_alc(const dx_allocator *alloc);

/* The message as a tree, whose strings lie in the message. DX_ERR_LIMIT past so many values. */
dx_status hl7_tree(const dx_hl7 *hl7, dx_hl7_shape shape, dx_hl7_format format, size_t most,
                   yyjson_mut_doc *doc);
/* The text of a tree in either shape, appended to `out`. DX_MISFIT with the place given. */
dx_status hl7_tree_text(yyjson_mut_doc *doc, bool exact, const char *place, dx_buf *out,
                        dx_error *reterr);

/* Is it a document of the keys shape? */
bool hl7_tree_has_keys(yyjson_mut_doc *doc);
/* Appends the text of a message whose segments are grouped by name, in the order that those of
 * `like` have (may be NULL). DX_MISFIT with the place given if that is not known. */
dx_status hl7_order(const dx_hl7 *hl7, const dx_hl7 *like, const char *place, dx_buf *out,
                    dx_error *reterr);

/* Appends a message that was read from a document, with the line endings of `like`, from which the
 * document was made; a line whose values are those of the same line there keeps its bytes. */
dx_status hl7_write_like(const dx_hl7 *hl7, const dx_hl7 *like, dx_buf *out);

/* How long a document may be, in both directions. */
size_t hl7_document_max(size_t text_max);

/* A value that goes by a number, or by a number and a name. */
typedef struct hl7_numbered {
    uint64_t number;
    dx_text name;
    size_t order; /* as they were added: of fields with one number the last one counts */
    yyjson_mut_val *value;
} hl7_numbered;

typedef struct hl7_numbers {
    hl7_numbered *at;
    size_t count;
    size_t cap;
    dx_allocator alloc;
} hl7_numbers;

dx_status hl7_numbers_add(hl7_numbers *numbers, uint64_t number, dx_text name,
                          yyjson_mut_val *value);
/* Sorts by number, then by name, then by order. */
void hl7_numbers_sort(hl7_numbers *numbers);
void hl7_numbers_done(hl7_numbers *numbers);

/* The formats: a text into the tree of an empty document, and back. A text that can't be read is
 * DX_MISFIT, and the place of reterr is the name of the format. */
dx_status hl7_json_read(dx_text text, yyjson_mut_doc *doc, dx_error *reterr);
dx_status hl7_json_write(yyjson_mut_doc *doc, dx_buf *out, dx_error *reterr);
dx_status hl7_yaml_read(dx_text text, yyjson_mut_doc *doc, dx_error *reterr);
/* `bare`: numbers as keys are written without quotes. */
dx_status hl7_yaml_write(yyjson_mut_doc *doc, bool bare, dx_buf *out, dx_error *reterr);
dx_status hl7_toml_read(dx_text text, yyjson_mut_doc *doc, dx_error *reterr);
dx_status hl7_toml_write(yyjson_mut_doc *doc, dx_buf *out, dx_error *reterr);

/* hl7_charset.c: WIDE without an order is what a name can say, no set that text can be in. */
typedef enum hl7_charset_kind {
    HL7_ASCII,
    HL7_SINGLE,
    HL7_UTF8,
    HL7_UNICODE, /* one of the others */
    HL7_WIDE,
    HL7_WIDE_LE,
    HL7_WIDE_BE
} hl7_charset_kind;

typedef struct hl7_charset_info {
    hl7_charset_kind kind;
    unsigned width;    /* bytes of a unit of UTF-16 and UTF-32; 0 for the others */
    const char *name;  /* for people */
    const char *names; /* other ones */
    const char *iconv; /* of HL7_SINGLE */
} hl7_charset_info;

typedef struct hl7_charset {
    const hl7_charset_info *info;
    uint16_t high[128]; /* of HL7_SINGLE: the characters from byte 0x80 on; 0: there is none */
} hl7_charset;

/* By any of its names; NULL: no such set. */
const hl7_charset_info *hl7_charset_named(dx_text name);
/* The first of that kind, which must be there. */
const hl7_charset_info *hl7_charset_of(hl7_charset_kind kind, unsigned width);
/* DX_MISFIT if this system does not have it. */
dx_status hl7_charset_open(const hl7_charset_info *info, hl7_charset *ret_charset);
/* Appends it in UTF-8. DX_MISFIT, and the offset of what is not valid in *ret_at. */
dx_status hl7_decode(const hl7_charset *charset, dx_text bytes, dx_buf *out, size_t *ret_at);
/* The other way round; without `out` it only looks whether that would do. */
dx_status hl7_encode(const hl7_charset *charset, dx_text text, dx_buf *out, size_t *ret_at);

/* hl7_layout.c: where the message of that number, from 1, begins and ends. */
typedef struct hl7_layout {
    size_t messages; /* all that there are */
    size_t from;
    size_t to;
    bool stray; /* there is text before the first one that is no part of an envelope */
} hl7_layout;
/* Does it begin with MSH and a separator? */
bool hl7_is_message(dx_text text);
void hl7_layout_read(dx_text text, size_t which, hl7_layout *ret_layout);

/* hl7_file.c, hl7_file_read.c */
/* The first repetition of MSH.18 in a text; absent if that is no message. */
dx_text hl7_header_charset(dx_text text);
/* Can the value be written in the message that begins with `header`? DX_MISFIT if not. */
dx_status hl7_file_allows(dx_hl7_file *file, dx_text header, dx_text value, dx_error *reterr);

#endif
