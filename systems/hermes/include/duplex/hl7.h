/*
 * duplex/hl7.h: an HL7 v2 message that is edited in place: every byte stays as it came until a
 * patch names it.
 *
 *     int main(void) {
 *         dx_text text = dx_str("MSH|^~\\&|LAB\rPID|1||42||ROE^J\rOBX|1|NM|GLU||5.4");
 *         dx_hl7_config config = dx_hl7_defaults();
 *         dx_hl7 *hl7 = NULL;
 *         dx_error error;
 *         if (dx_hl7_new(&config, text, &hl7, &error) != DX_OK) {
 *             fprintf(stderr, "not HL7: %s\n", error.phrase);
 *             return 1;
 *         }
 *
 *         dx_hl7_patch patch = {.path = dx_str("PID.5.1"), .value = dx_str("DOE")};
 *         dx_hl7_apply(hl7, &patch, NULL);
 *
 *         dx_hl7_walk obx, field;
 *         dx_hl7_walk_at(hl7, dx_str("OBX"), &obx);
 *         while (dx_hl7_next(&obx)) {
 *             dx_hl7_inside(&obx, &field);
 *             while (dx_hl7_next(&field))
 *                 printf("OBX[%zu].%zu = %.*s\n", obx.number, field.number, (int)field.text.len,
 *                        field.text.at);
 *         }
 *
 *         dx_buf out;
 *         dx_buf_init(&out, SIZE_MAX / 4, NULL);
 *         if (dx_hl7_export(hl7, DX_HL7_JSON, DX_HL7_SEGMENTS, &out, &error) == DX_OK)
 *             printf("%.*s\n", (int)out.len, out.data);
 *         dx_buf_done(&out);
 *         dx_hl7_free(hl7);
 *         return 0;
 *     }
 *
 * A segment is a line; CR, LF and CR LF end one, and blank lines belong to the line before. The
 * first is MSH, whose fourth byte separates fields (MSH.1) and whose next field (MSH.2) has the
 * separators of components and repetitions, the escape character and the separator of
 * subcomponents, in this order. The last ones may be missing; then the message has no such thing.
 * Where a program has lost the escape character, as in "^~&" and "^~ &", the & still separates
 * subcomponents; see dx_hl7_warning(). A fifth one, of version 2.7, is text here. Lines may be
 * indented.
 *
 * A path is SEG, SEG[n], then .FIELD, [n] for a repetition, .COMPONENT and .SUBCOMPONENT, all from
 * 1 to DX_HL7_NUMBER_MAX: "PID.5.1", "OBX[2].5", "PID-3[2].1". The dot may be a hyphen or a space.
 * SEG has three characters: letters or digits of ASCII, or anything beyond ASCII. Without [n] the
 * first segment is meant; a field without [n] is the whole of it, unless a component follows: then
 * that of the first repetition is meant.
 *
 * Texts need not be UTF-8, only json, yaml and toml do; dx_hl7_file_read() makes UTF-8 of a file in
 * another encoding. Nothing here does I/O, and nothing is global. libyaml and iconv() have no
 * allocator: while they work, their own memory comes from malloc().
 */
#ifndef DUPLEX_HL7_H
#define DUPLEX_HL7_H

#include <duplex/base.h>

#include <yyjson.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest number in a path or in a document: it bounds what one patch can add. */
#define DX_HL7_NUMBER_MAX 999999

/* A json, yaml or toml document may be this many times as long as text_max, and at least that long,
 * whether it is written or read: what dx_hl7_export() writes, dx_hl7_import() accepts. */
#define DX_HL7_DOCUMENT_FACTOR 8
#define DX_HL7_DOCUMENT_LEAST (1 << 20)

typedef struct dx_hl7 dx_hl7;
/* The file that a message is part of, see below. */
typedef struct dx_hl7_file dx_hl7_file;

/*
 *   text_max      the longest message in bytes, at most 512 MiB; 64 MiB
 *   segments_max  the most segments, 4 million
 *   work_max      how many bytes one list of patches may look at and move, all in all; 16 GiB,
 *                 which is a few seconds. Only a list that goes for it gets there: a patch costs as
 *                 much as the segment that it changes is long, and a little for finding that
 *   exact         not 0: with the defects of Hermes 0.1.0 (errata H31 to H43 of its document)
 *   file          the file that the message has to fit into: patches that it cannot hold are
 *                 refused, see dx_hl7_check() (not with `exact`). NULL: there is none. Must outlive
 *                 the message
 *   allocator     NULL for malloc()
 */
typedef struct dx_hl7_config {
    size_t text_max;
    size_t segments_max;
    uint64_t work_max;
    int exact;
    dx_hl7_file *file;
    const dx_allocator *allocator;
} dx_hl7_config;

DX_API dx_hl7_config dx_hl7_defaults(void);

/*
 * Reads a message; the text is copied. DX_MISFIT if it is none, with the reason in reterr (may be
 * NULL); DX_ERR_LIMIT past a limit; DX_ERR_INVALID for a text_max beyond that; DX_ERR_NOMEM.
 */
DX_API dx_status dx_hl7_new(const dx_hl7_config *config, dx_text text, dx_hl7 **ret_hl7,
                            dx_error *reterr);
DX_API dx_hl7 *dx_hl7_free(dx_hl7 *hl7);

/* How long the text is, and how many segments it has. */
DX_API size_t dx_hl7_size(const dx_hl7 *hl7);
DX_API size_t dx_hl7_segments(const dx_hl7 *hl7);
/* What is wrong with the message, though it can be read, in a sentence; NULL: nothing. */
DX_API const char *dx_hl7_warning(const dx_hl7 *hl7);
/* Appends the text, byte for byte; all or nothing. */
DX_API dx_status dx_hl7_write(const dx_hl7 *hl7, dx_buf *out);

/*
 * What stands at a path, as it is written there, lent until the next change; at is NULL if the
 * message has no such place. A path of a segment gives the segment without its line end.
 * DX_MISFIT for a path that is none.
 */
DX_API dx_status dx_hl7_get(const dx_hl7 *hl7, dx_text path, dx_text *ret_raw);
/*
 * Appends it as a value. In a value the separators stand for themselves (\F\ is |, \S\ is ^), and
 * every other escape sequence stays as it is written: \.br\, \H\, \X09\, \Zxx\, and \E\ for an
 * escape character. dx_hl7_apply() takes values of this form, so that setting what was read here
 * changes nothing. A place that is not there adds nothing. HL7's null stays two quotes. Also
 * DX_ERR_LIMIT and DX_ERR_NOMEM of the buffer.
 */
DX_API dx_status dx_hl7_get_text(const dx_hl7 *hl7, dx_text path, dx_buf *out);

/*
 * Walks over what a path consists of, in order and without allocating: over what can follow the
 * path in a longer one.
 *
 *     ""       all segments           "OBX[2].5"     its repetitions
 *     "OBX"    the segments OBX       "OBX[2].5[1]"  the components of one repetition
 *     "OBX[2]" its fields             "OBX[2].5.1"   the subcomponents of a component
 *
 * dx_hl7_inside() starts a walk over the current part of another walk. MSH.1 and MSH.2 have
 * one part of each kind. A place that is there, but empty, has one empty part; one that is not
 * there, and a subcomponent, have none.
 */
typedef struct dx_hl7_walk {
    dx_text name;  /* of the segment */
    size_t number; /* what is written in a path: n of OBX[n], .n of a field, …; in a walk over all
                      segments, how many there were so far */
    dx_text text;  /* as it is written; lent until the next change of the message */
    struct {       /* private */
        const dx_hl7 *hl7;
        uint64_t only;
        uint64_t key;
        size_t block;
        size_t slot;
        const char *at;
        const char *end;
        int level;
        int literal;
        int more;
    } own;
} dx_hl7_walk;

/* Starts a walk; dx_hl7_next() goes to its first part. DX_MISFIT for an invalid path. */
DX_API dx_status dx_hl7_walk_at(const dx_hl7 *hl7, dx_text path, dx_hl7_walk *ret_walk);
/* Goes to the next part. 0: there is none. The message must not have changed. */
DX_API int dx_hl7_next(dx_hl7_walk *walk);
DX_API void dx_hl7_inside(const dx_hl7_walk *outer, dx_hl7_walk *ret_walk);
/* How many parts such a walk has: how many OBX, how many repetitions of PID.3. Looks at each. */
DX_API dx_status dx_hl7_count(const dx_hl7 *hl7, dx_text path, size_t *ret_count);
/* Appends the value of a text that a walk or dx_hl7_get() gave, as dx_hl7_get_text(). */
DX_API dx_status dx_hl7_value(const dx_hl7 *hl7, dx_text raw, dx_buf *out);

/* One patch of editor/patchMessage; an absent value counts as empty. In a value, separators and
 * line ends are escaped, escape sequences stay, and an escape character that does not belong to one
 * becomes \E\ (with `exact`, every one does). */
typedef struct dx_hl7_patch {
    dx_text path;
    dx_text value;
    int remove;
    int create;
} dx_hl7_patch;

/*
 * Applies one patch, or does nothing. MSH.2 may get separators that it lacks. With a field in the
 * path the value goes there, and remove and create mean nothing; what is missing before it is
 * added. With a segment only, create adds an empty one behind the last of that name (or at the end;
 * for SEG[n] so many that there are n, but always one), remove takes that segment away; that it is
 * not there is no fault. DX_MISFIT if it can't be done, DX_ERR_LIMIT if the message would be too
 * large; both append a sentence to `why`, which may be NULL. Else DX_ERR_NOMEM.
 */
DX_API dx_status dx_hl7_apply(dx_hl7 *hl7, const dx_hl7_patch *patch, dx_buf *why);

/*
 * Applies a list of them in order, as editor/patchMessage has it, each carried over to the next;
 * one that fails does not stop the rest, and beyond work_max all fail. ret_result is {"errors": …,
 * "patchesApplied": …, "success": …} in `doc`; errors is there only if there are any. DX_MISFIT if
 * the list is not one of patches, and then nothing is applied. After DX_ERR_NOMEM some of the first
 * patches may have been applied.
 */
DX_API dx_status dx_hl7_apply_all(dx_hl7 *hl7, yyjson_val *patches, yyjson_mut_doc *doc,
                                  yyjson_mut_val **ret_result, dx_error *reterr);

typedef enum dx_hl7_format { DX_HL7_TEXT, DX_HL7_JSON, DX_HL7_YAML, DX_HL7_TOML } dx_hl7_format;

/* The format called "hl7", "json", "yaml" or "toml": DX_MISFIT for any other name. */
DX_API dx_status dx_hl7_format_named(dx_text name, dx_hl7_format *ret_format);
/* The other way round; "unknown" for a number that is none. */
DX_API const char *dx_hl7_format_name(dx_hl7_format format);

/*
 * Two shapes of json, yaml and toml:
 *   segments  {"segments": [{"segment": "MSH", "fields": {"1": "|", …}}, …]}
 *   keys      {"MSH": {"1": "|", …}, "OBX": [{…}, {…}]}; the order of different segments is lost
 * Empty fields are left out. A field of one component is a string, one of several an object of
 * those that are not empty (and the last one), and the same with subcomponents; several repetitions
 * are an array, an empty one is null ("" in toml). Escapes stay as they are.
 */
typedef enum dx_hl7_shape { DX_HL7_SEGMENTS, DX_HL7_KEYS } dx_hl7_shape;

/*
 * Appends the message in that format; all or nothing. DX_MISFIT if it has no such form, which is
 * text that is not UTF-8: reterr (may be NULL) says which.
 * DX_ERR_LIMIT if it does not fit into the buffer, or is too long to be read again; DX_ERR_NOMEM.
 */
DX_API dx_status dx_hl7_export(const dx_hl7 *hl7, dx_hl7_format format, dx_hl7_shape shape,
                               dx_buf *out, dx_error *reterr);

/*
 * Reads a message in that format; both shapes are accepted. Numbers and booleans count as text, as
 * they are written ("1.50"), null as empty; separators and line ends inside a string are escaped,
 * other escapes stay. MSH becomes the first segment, wherever its key is, and each segment ends
 * with CR (not with `exact`). A key that is not a number from 1, a repeated number and an unknown
 * key are refused, because what they hold would be lost (not with `exact`). DX_MISFIT: the place of
 * reterr is "message" if the document was read, but what it holds is not an HL7 message, else
 * "json", "yaml" or "toml". DX_ERR_LIMIT also for a document that is too long. Else as
 * dx_hl7_new().
 */
DX_API dx_status dx_hl7_import(const dx_hl7_config *config, dx_text text, dx_hl7_format format,
                               dx_hl7 **ret_hl7, dx_error *reterr);

/*
 * The same, but never with segments in an order that nobody chose: a document of the shape "keys"
 * gets the order of `like`, the message that it was made from. DX_MISFIT unless both have the same
 * number of segments of each name, or the document has only one order. Line endings are those of
 * `like`, whose last segment need not have one, and a line with the same values as there keeps its
 * separators at the end: a document that is not changed gives the bytes of `like`. `like` may be
 * NULL.
 */
DX_API dx_status dx_hl7_import_like(const dx_hl7_config *config, dx_text text, dx_hl7_format format,
                                    const dx_hl7 *like, dx_hl7 **ret_hl7, dx_error *reterr);

/*
 * Files. Around the message there may be a byte order mark, blank lines, the frame of MLLP (0x0B
 * before it, 0x1C 0x0D after it), a batch or file (FHS, BHS … BTS, FTS), and other messages. All of
 * that is kept byte for byte. A message ends where the next one begins, which may have other
 * separators. A file without a message is a text.
 *
 * The text of the message is UTF-8 here, whatever the file has: what MSH.18 says (HL7 table 0211;
 * its first repetition), or what the byte order mark says; UTF-8 if neither says anything. Bytes
 * that are not valid in that are refused, never guessed. Whatever is read is written back the same.
 */

/*
 *   format    that of the file; json, yaml and toml are UTF-8 and hold one message (DX_HL7_TEXT)
 *   message   which of several, from 1; 0: the first
 *   encoding  how it is encoded, whatever MSH.18 says: "8859/1" and other names of HL7, or usual
 *             ones such as "latin1", "windows-1252", "UTF-16LE"; NULL: as MSH.18 says
 *   hl7       for json, yaml and toml; and the allocator. Its `file` does not count
 */
typedef struct dx_hl7_file_config {
    dx_hl7_format format;
    size_t message;
    const char *encoding;
    dx_hl7_config hl7;
} dx_hl7_file_config;

DX_API dx_hl7_file_config dx_hl7_file_defaults(void);

/*
 * Reads a file, which may be empty, and appends the text of the message. DX_MISFIT with reterr (may
 * be NULL), whose place is "encoding" if another `encoding` may help, "message" if there is no such
 * message, else as for dx_hl7_import(). DX_ERR_INVALID with reterr: no such encoding. DX_ERR_LIMIT,
 * DX_ERR_NOMEM.
 */
DX_API dx_status dx_hl7_file_read(const dx_hl7_file_config *config, dx_text bytes, dx_buf *text,
                                  dx_hl7_file **ret_file, dx_error *reterr);
DX_API dx_hl7_file *dx_hl7_file_free(dx_hl7_file *file);
/* How many messages there are. */
DX_API size_t dx_hl7_file_messages(const dx_hl7_file *file);
/* How the message was encoded: "8859/1", "UTF-8", "UTF-16LE", "windows-1252", … */
DX_API const char *dx_hl7_file_encoding(const dx_hl7_file *file);
/* What is odd about the file, though it can be edited, in a sentence; NULL: nothing. */
DX_API const char *dx_hl7_file_warning(const dx_hl7_file *file);
/*
 * Appends the file with this text for its message, encoded as it was; all or nothing. If MSH.18 is
 * not what it was, the message is encoded as it says now (nothing: as `encoding` said, or UTF-8),
 * and a file of UTF-16 or UTF-32 gets its byte order mark. `out` may be NULL: would it succeed?
 * DX_MISFIT with reterr (may be NULL): a character that the encoding does not have, by name; an
 * unknown name in MSH.18, or one that does not go with the rest of the file. DX_ERR_LIMIT,
 * DX_ERR_NOMEM.
 */
DX_API dx_status dx_hl7_file_write(dx_hl7_file *file, dx_text text, dx_buf *out, dx_error *reterr);
/* The same of a message and the file of its configuration, without writing. A patch looks only at
 * its own value, unless it changes MSH.18. */
DX_API dx_status dx_hl7_check(const dx_hl7 *hl7, dx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
