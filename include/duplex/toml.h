/*
 * duplex/toml.h: TOML 1.0 to JSON values and back.
 *
 *     yyjson_doc *doc;
 *     dx_toml_error why;
 *     if (dx_toml_read(text, NULL, &doc, &why) != DX_OK)
 *         puts(why.phrase); // "3:7: expected '=' after the key, found the end of the line"
 *     yyjson_val *port = yyjson_ptr_get(yyjson_doc_get_root(doc), "/server/port");
 *
 *     dx_buf buf;
 *     dx_buf_init(&buf, 1 << 20, NULL);
 *     dx_toml_write(yyjson_doc_get_root(doc), 0, &buf, &why);
 *     yyjson_doc_free(doc);
 *
 * What is read is an ordinary document of yyjson's, so that whatever works on JSON works on it:
 * yyjson's functions, dx_schema_check(), dx_link_call(). It is the kind that is not changed, since
 * those take it; yyjson_doc_mut_copy() makes one that is, and dx_toml_write_mut() writes that.
 *
 *   table, inline table           object; members in the order in which they were first named
 *   array, array of tables        array
 *   string, boolean               the same
 *   integer                       integer, all 64 bits
 *   float                         real, also one without a fraction; inf and nan are reals, too,
 *                                 which yyjson prints if told to (YYJSON_WRITE_INF_AND_NAN_AS_NULL,
 *                                 YYJSON_WRITE_ALLOW_INF_AND_NAN)
 *   date, time, both              string, as TOML and RFC 3339 write it ("2031-10-04T08:15:30Z": a
 *                                 capital T and Z, all digits of the seconds). dx_toml_kind_of()
 *                                 tells it from a string that only looks like one. The mark lies in
 *                                 bits of the value that yyjson keeps aside; yyjson's copies have
 *                                 it, a print and yyjson_equals() do not
 *
 * Text is not trusted: its length, how deep it nests and how many values it makes are limited, and
 * the time it takes is in proportion to its length. Nothing recurses by what the text says, but for
 * yyjson's own copying, which DX_TOML_DEPTH_MAX bounds. docs/toml.md has more.
 */
#ifndef DUPLEX_TOML_H
#define DUPLEX_TOML_H

#include <duplex/base.h>

#include <yyjson.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What is wrong, and where; fixed size, no pointer inside.
 *
 *   line    where in the text that was read, from 1; 0 if it is not about a place in a text
 *   column  the character in that line, from 1; a byte order mark counts
 *   place   where in the tree that was to be written, a JSON Pointer; cut with "…" when it is too
 *           long; "" from dx_toml_read()
 *   phrase  one line: "LINE:COLUMN: what is wrong", or "PLACE: what is wrong"
 */
typedef struct dx_toml_error {
    size_t line;
    size_t column;
    char place[256];
    char phrase[512];
} dx_toml_error;

/* What no depth_max goes beyond. */
#define DX_TOML_DEPTH_MAX 1024

typedef struct dx_toml_config {
    const dx_allocator *allocator; /* NULL: malloc. The document has a copy of it */
    uint64_t seed;      /* any number that who wrote the text can't guess: keeps keys from colliding
                           (0: an address in memory alone has to do) */
    size_t text_max;    /* bytes of the text (16 MiB) */
    size_t values_max;  /* members of tables and items of arrays, all together (1,000,000) */
    unsigned depth_max; /* tables and arrays in each other, below the root (128) */
    int raw_numbers;    /* not 0: numbers, dates and times are raw values, as they are written
                           ("1.50", "1_000", "0x1F"), and may be of any size */
} dx_toml_config;

DX_API dx_toml_config dx_toml_defaults(void);

/* Reads a text. config NULL: the defaults. The document is yours, for yyjson_doc_free(); it does
 * not refer to the text. An empty text is an empty table. DX_ERR_INVALID: not TOML 1.0;
 * DX_ERR_LIMIT; DX_ERR_NOMEM; each with reterr, which may be NULL. */
DX_API dx_status dx_toml_read(dx_text text, const dx_toml_config *config, yyjson_doc **ret_doc,
                              dx_toml_error *reterr);

/* The four that JSON does not have. */
typedef enum dx_toml_kind {
    DX_TOML_OTHER = 0,       /* anything that JSON has, also a string that looks like a date */
    DX_TOML_OFFSET_DATETIME, /* "2031-10-04T00:45:10-03:30" */
    DX_TOML_LOCAL_DATETIME,  /* "2031-10-04T08:15:30.125" */
    DX_TOML_LOCAL_DATE,      /* "2031-10-04" */
    DX_TOML_LOCAL_TIME,      /* "08:15:30" */
} dx_toml_kind;

/* NULL is DX_TOML_OTHER. */
DX_API dx_toml_kind dx_toml_kind_of(const yyjson_val *value);
DX_API dx_toml_kind dx_toml_kind_of_mut(const yyjson_mut_val *value);

/* A value for a document of your own that is written as a date, a time or both; the text is copied,
 * with a capital T and Z. NULL if it is none, or without memory. */
DX_API yyjson_mut_val *dx_toml_time_new(yyjson_mut_doc *doc, dx_text text);

enum {
    DX_TOML_SKIP_NULL = 1 << 0, /* members that are null are left out; items of arrays still can't
                                   be null: what follows them would have another place */
    DX_TOML_LITERAL = 1 << 1,   /* strings and keys with " or \ are written between ' and ', where
                                   they have no ' and no control character but tabs */
};

/* Appends a tree, of which the root is an object, as TOML: a table's own values first, then the
 * tables in it as [a.b] and [[a.b]], all in their order; tables in other arrays stand {inline}.
 * dx_toml_read() makes the same tree of it, but for that order. The buffer's allocator is used.
 * On failure the buffer is as before: DX_ERR_INVALID: null, an integer past 64 signed bits, a
 * string that is not UTF-8, a key that is there twice, a raw value, a root that is no object;
 * DX_ERR_LIMIT: deeper than DX_TOML_DEPTH_MAX, or the buffer's maximum; DX_ERR_NOMEM; each with
 * reterr, which may be NULL. */
DX_API dx_status dx_toml_write(const yyjson_val *root, unsigned flags, dx_buf *buf,
                               dx_toml_error *reterr);
DX_API dx_status dx_toml_write_mut(const yyjson_mut_val *root, unsigned flags, dx_buf *buf,
                                   dx_toml_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
