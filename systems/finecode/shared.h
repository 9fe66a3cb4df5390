/* What both sides use: paths and URIs, texts with positions in UTF-16, JSON that is merged, WAL. */
#ifndef FINECODE_SHARED_H
#define FINECODE_SHARED_H

#include "base/alloc.h"
#include "base/utf8.h"
#include <duplex/finecode.h>
#include <duplex/loop.h>

/* An allocator resolved: malloc() and friends for NULL. shared.c */
dx_allocator dx__finecode_allocator(const dx_allocator *given);
yyjson_alc dx__finecode_alc(const dx_allocator *alloc);
dx_text dx__finecode_string(yyjson_val *object, const char *member);
/* DX_ERR_INVALID, with "before after" as the phrase. */
dx_status dx__finecode_fail(dx_error *reterr, const char *before, const char *after);
/* A random UUID of version 4, 36 characters and a NUL. */
void dx__finecode_uuid(char room[37]);
/* A folder and those above it, as far as they are missing; opening it shows whether it is there.
 * DX_ERR_NOMEM. */
dx_status dx__finecode_make_folders(const char *folder);
/* JSON inside of JSON may be as deep as a message. */
enum { DX__FINECODE_DEPTH_MAX = 1000 };
/* In the documents that these make, a number that neither 64 bits nor a double can hold is raw: it
 * is written as it was read. */
/* A value of another document, as one of its own that is independent of it; *ret_doc is NULL for
 * none. DX_ERR_INVALID: no JSON, or too deep. */
dx_status dx__finecode_doc_of(const dx_allocator *alloc, yyjson_val *value, yyjson_doc **ret_doc);
dx_status dx__finecode_doc_of_json(const dx_allocator *alloc, dx_json value, yyjson_doc **ret_doc);
/* JSON text that stood in a string: result_by_format, value of $/progress, … Use this and not
 * yyjson_read(): a text in a string may be a million deep. */
dx_status dx__finecode_doc_of_text(const dx_allocator *alloc, dx_text text, yyjson_doc **ret_doc);

/* uri.c: the path "/a b" of "file:///a%20b", without ".", ".." and empty names. DX_MISFIT: no URI
 * of a file of this machine, or a path with a NUL. A percent sign that begins no escape stands for
 * itself. */
dx_status dx__finecode_path_of(const dx_allocator *alloc, dx_text uri, char **ret_path);
dx_status dx__finecode_uri_of(dx_buf *uri, const char *path);
/* Is the path that folder, or below it? Both absolute; one with ".." is not. */
bool dx__finecode_is_below(const char *path, const char *folder);

/* text.c: positions are lines, ended by LF, CR LF or CR, and UTF-16 units in them; one beyond the
 * end of its line or of the text is that end. */
/* One contentChanges array of didChange: {range?, text}. DX_MISFIT: the text is as it was. */
dx_status dx__finecode_text_change(dx_buf *text, yyjson_val *changes);
/* TextEdits of one document, all at once: {range, newText}; those that overlap are DX_MISFIT. */
dx_status dx__finecode_text_edit(dx_buf *text, yyjson_val *edits);

/* documents.c: open documents by their path. */
typedef struct dx__finecode_document {
    char *path;
    dx_buf text;
    int64_t version;
    struct dx__finecode_document *next;
} dx__finecode_document;
typedef struct dx__finecode_documents {
    dx_allocator alloc;
    dx__finecode_document *first;
} dx__finecode_documents;
/* Documents that may be open at once; bytes of one, which as JSON may be six times as many, and
 * must fit into a message; bytes of all when one is opened; of a file that is read. */
enum {
    DX__FINECODE_DOCUMENTS_MAX = 4096,
    DX__FINECODE_TEXT_MAX = 10 << 20,
    DX__FINECODE_TEXTS_MAX = 512 << 20,
    DX__FINECODE_SOURCE_MAX = 64 << 20
};
void dx__finecode_documents_init(dx__finecode_documents *documents, const dx_allocator *alloc);
void dx__finecode_documents_done(dx__finecode_documents *documents);
dx__finecode_document *dx__finecode_documents_find(const dx__finecode_documents *documents,
                                                   const char *path);
/* One that is open already gets the new text. DX_ERR_LIMIT, DX_ERR_NOMEM. */
dx_status dx__finecode_documents_open(dx__finecode_documents *documents, const char *path,
                                      int64_t version, dx_text text);
void dx__finecode_documents_close(dx__finecode_documents *documents, const char *path);

/* merge.c */
/* Objects by their keys, down to the bottom; everything else: the second wins. A copy in `doc`;
 * either may be NULL. */
yyjson_mut_val *dx__finecode_deep_merge(yyjson_mut_doc *doc, yyjson_mut_val *first,
                                        yyjson_val *second);
/* rules.c: results of an action by its rules (see dx_finecode_action.merge; NULL: none). first may
 * be NULL; else it must be a part of `doc`, and becomes what is returned (so that it can be done a
 * thousand times without a thousand copies). NULL without memory: first is not to be used any more.
 * A null gives way to what is not, except for "last"; "concat" joins strings, too; a rule that is
 * not for values of that kind: the second wins. 1000 levels deep, below which the second wins. */
yyjson_mut_val *dx__finecode_merge_results(yyjson_mut_doc *doc, yyjson_mut_val *first,
                                           yyjson_val *second, yyjson_val *rules);
/* DX_MISFIT with a reason: not an object of known rules. */
dx_status dx__finecode_rules_check(yyjson_val *rules, char reason[200]);
/* See dx_finecode_action.fails_if. */
int64_t dx__finecode_return_code(yyjson_val *result, const char *fails_if);
/* How the manager begins to say that no project has an action. */
#define DX__FINECODE_UNKNOWN "unknown action '"
/* format.c: the usual text of a result (see dx_finecode_action.format), without a line end behind
 * it: {"messages": {FILE: [{"range", "message", "severity"?: 1 to 4 or a word, "code"?,
 * "source"?}]}} gives lines "FILE:LINE:COLUMN: SEVERITY: MESSAGE [CODE] (SOURCE)"; positions are
 * those of LSP, from 0, in the result, and from 1 in the text. A relative FILE counts from the
 * folder of the project, which is put before it; NULL: it is not. */
dx_status dx__finecode_format(yyjson_val *result, const char *project, dx_buf *text);

/* edit.c: dx_finecode_apply() and what it needs: texts are read, edited and written beside their
 * files first, then all are renamed into place, the mode of the old file kept; nothing is changed
 * if one of them fails. */
/* The same for files below these folders only, links resolved; others are DX_MISFIT. NULL: all. */
dx_status dx__finecode_apply_below(yyjson_val *edit, char *const *folders, size_t count,
                                   dx_error *reterr);

/* wal.c: one JSON object a line in FOLDER/wal-000001.jsonl, rotated at 1 MiB, 20 segments kept, the
 * sequence going on where the last one ended. Failing to write ends it, and
 * is told by dx__finecode_wal_trouble(). A last line that was cut off is removed. */
typedef struct dx__finecode_wal dx__finecode_wal;
/* writer: "er" or "wm". NULL folder: *ret_wal is NULL, which every function takes. */
dx_status dx__finecode_wal_open(const char *folder, const char *writer, const char *project_path,
                                dx__finecode_wal **ret_wal, dx_error *reterr);
dx__finecode_wal *dx__finecode_wal_close(dx__finecode_wal *wal);
/* Why nothing more is written, for the one who asks first; else NULL. Lent. */
const char *dx__finecode_wal_trouble(dx__finecode_wal *wal);
/* What an event says; members that are NULL are left out. */
typedef struct dx__finecode_wal_event {
    const char *type;         /* "run.accepted", … */
    const char *project_path; /* NULL: that of the WAL */
    const char *run_id;
    const char *action;
    const char *trigger;
    const char *dev_env;
    const char *env_name;
    yyjson_mut_val *payload; /* an object; NULL: {} */
} dx__finecode_wal_event;
void dx__finecode_wal_write(dx__finecode_wal *wal, const dx__finecode_wal_event *event);
/* hash.c: sha256 of the value with its keys sorted, in hex: params_hash; "" without memory. */
void dx__finecode_hash(yyjson_val *value, char room[65]);

#endif
