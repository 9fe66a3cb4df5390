/* What the files of the reader share. A function that returns bool returns false once the text was
 * refused; the reader then has the status and the caller the error. */
#ifndef DX_TOML_READER_H
#define DX_TOML_READER_H

#include "base/map.h"
#include "toml/text.h"

#include <duplex/toml.h>

#include <stdbool.h>

/* How a table came to be, which decides what may be added to it. */
typedef enum dx__toml_birth {
    DX__TOML_PASSED, /* a header only went through it: [a.b] makes such an a */
    DX__TOML_HEADER, /* it has its header */
    DX__TOML_DOTTED, /* a dotted key made it, or added to it */
    DX__TOML_ITEM,   /* it is the last item of an array of tables */
    DX__TOML_INLINE, /* it stands between braces */
} dx__toml_birth;

typedef struct dx__toml_table {
    yyjson_mut_val *object;
    uint64_t id; /* never the same for two: members are found by it and their key */
    unsigned depth;
    dx__toml_birth birth;
} dx__toml_table;

typedef struct dx__toml_member {
    uint64_t table; /* the id of the one it is in */
    yyjson_mut_val *key;
    const char *at;       /* where it was first named */
    dx__toml_table *open; /* the table that it leads to; NULL: a value that nothing is added to */
} dx__toml_member;

struct dx__toml_chunk;

typedef struct dx__toml_reader {
    const char *start;
    const char *end;
    const char *at;
    dx_toml_config config;
    dx_allocator alloc;
    dx_status status;
    dx_toml_error *error; /* may be NULL */

    yyjson_mut_doc *doc; /* its strings lie in the text or in a chunk */
    size_t values;       /* how many more there may be */
    dx__map members;     /* of all tables */
    uint64_t seed;
    uint64_t last_id;
    struct dx__toml_chunk *chunks;

    dx__toml_table root;
    dx__toml_table *section; /* what the last header leads to */

    struct dx__toml_frame *frames; /* arrays and inline tables that are open */
    size_t frame_cap;
} dx__toml_reader;

/* Where the next value goes. */
typedef struct dx__toml_place {
    yyjson_mut_val *in;
    yyjson_mut_val *key; /* NULL in an array */
    unsigned depth;      /* of what it is in */
} dx__toml_place;

/* The byte that comes next; -1 at the end. */
static inline int dx__toml_peek(const dx__toml_reader *reader) {
    return reader->at < reader->end ? (unsigned char)*reader->at : -1;
}

static inline bool dx__toml_take(dx__toml_reader *reader, char byte) {
    if (reader->at == reader->end || *reader->at != byte)
        return false;
    reader->at++;
    return true;
}

static inline size_t dx__toml_left(const dx__toml_reader *reader) {
    return (size_t)(reader->end - reader->at);
}

static inline void dx__toml_space(dx__toml_reader *reader) {
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
        reader->at++;
}

/* error.c: all of them return false. */
bool dx__toml_refuse(dx__toml_reader *reader, const char *at, const char *what);
/* "expected WHAT, found …" */
bool dx__toml_expected(dx__toml_reader *reader, const char *what);
/* "'KEY' WHAT, first in line …" */
bool dx__toml_conflict(dx__toml_reader *reader, const char *at, dx_text key, const char *what,
                       const char *first);
bool dx__toml_limit(dx__toml_reader *reader, const char *what);
bool dx__toml_no_memory(dx__toml_reader *reader);

/* memory.c: aligned for 64 bits, until the reader is done. NULL without memory, which is noted. */
void *dx__toml_keep(dx__toml_reader *reader, size_t size);
void dx__toml_forget(dx__toml_reader *reader);

/* string.c: at a quote. `lines`: three of them begin a string of several lines. */
bool dx__toml_string(dx__toml_reader *reader, bool lines, dx_text *ret_text);

/* number.c: at a digit or a sign. */
bool dx__toml_number(dx__toml_reader *reader, yyjson_mut_val *value);

/* time.c: does a date or a time stand there, right or wrong? */
bool dx__toml_is_time(const dx__toml_reader *reader);
bool dx__toml_time(dx__toml_reader *reader, yyjson_mut_val *value);

/* One part of a dotted key. */
typedef struct dx__toml_part {
    dx_text key;
    const char *at; /* where it stands */
    bool more;      /* a dot follows */
    uint64_t hash;  /* for table.c */
} dx__toml_part;

/* table.c: a value of no use yet, null. NULL without memory, which is noted. */
yyjson_mut_val *dx__toml_new(dx__toml_reader *reader);
/* Adds a value to a table or an array, and counts it. */
bool dx__toml_put(dx__toml_reader *reader, dx__toml_place place, yyjson_mut_val *value);
void dx__toml_table_init(dx__toml_reader *reader, dx__toml_table *table, yyjson_mut_val *object,
                         unsigned depth, dx__toml_birth birth);
/* One level may be added below that depth. */
bool dx__toml_deeper(dx__toml_reader *reader, unsigned depth);

/* What a part of a key leads to: on the way in a header; on the way to a value; at the end of a
 * header, in single and in double brackets. NULL if it may not be there. */
dx__toml_table *dx__toml_pass(dx__toml_reader *reader, dx__toml_table *table, dx__toml_part *part);
dx__toml_table *dx__toml_dot(dx__toml_reader *reader, dx__toml_table *table, dx__toml_part *part);
dx__toml_table *dx__toml_define(dx__toml_reader *reader, dx__toml_table *table,
                                dx__toml_part *part);
dx__toml_table *dx__toml_add_item(dx__toml_reader *reader, dx__toml_table *table,
                                  dx__toml_part *part);
/* A new key for a value. NULL if it is there already. */
yyjson_mut_val *dx__toml_name(dx__toml_reader *reader, dx__toml_table *table, dx__toml_part *part);

/* key.c: "a.b.c =" in a table, up to where the value begins. */
bool dx__toml_assign(dx__toml_reader *reader, dx__toml_table *table, dx__toml_place *ret_place);
/* "[a.b]" or "[[a.b]]", at the first bracket. */
bool dx__toml_header(dx__toml_reader *reader);

/* value.c */
bool dx__toml_value(dx__toml_reader *reader, dx__toml_place place);

/* read.c: a comment, if one begins there, but not the end of its line. */
bool dx__toml_comment(dx__toml_reader *reader);
/* Takes the end of a line; false, without an error, if it is not there. */
bool dx__toml_newline(dx__toml_reader *reader);

#endif
