/* What the files of the writer share. Values of both kinds of documents are held as void pointers,
 * as yyjson does it: tag and payload are the same, only what lies in what is found in other ways.
 */
#ifndef DX_TOML_WRITER_H
#define DX_TOML_WRITER_H

#include <duplex/toml.h>

#include <stdbool.h>

typedef enum dx__toml_shape {
    DX__TOML_VALUES,       /* a table, of which what stands in one line is being written */
    DX__TOML_TABLES,       /* a table, of which the rest is being written: tables, arrays of them */
    DX__TOML_ITEMS,        /* an array of tables */
    DX__TOML_ARRAY,        /* an array between brackets */
    DX__TOML_INLINE_TABLE, /* a table between braces */
} dx__toml_shape;

/* A container that is being written, and where in it. */
typedef struct dx__toml_level {
    void *container;
    void *next;
    size_t left;
    size_t index; /* of the current one */
    void *key;    /* of the current one; NULL in an array */
    void *value;
    dx__toml_shape shape;
} dx__toml_level;

typedef struct dx__toml_writer {
    dx_buf *buf;
    size_t start; /* what was in the buffer before */
    unsigned flags;
    bool mut;
    dx_status status;
    dx_toml_error *error; /* may be NULL */
    dx__toml_level *levels;
    size_t count;
    size_t cap;
} dx__toml_writer;

static inline dx_text dx__toml_text_of(void *string) {
    return (dx_text){unsafe_yyjson_get_str(string), unsafe_yyjson_get_len(string)};
}

/* level.c: starts at the first member or item. */
void dx__toml_level_start(const dx__toml_writer *writer, dx__toml_level *level);
/* Goes to the next one that is to be written; false behind the last. */
bool dx__toml_level_next(const dx__toml_writer *writer, dx__toml_level *level);
/* DX_ERR_LIMIT, DX_ERR_NOMEM, or DX_ERR_INVALID for an object with a key that is there twice. */
bool dx__toml_level_push(dx__toml_writer *writer, void *container, dx__toml_shape shape);
/* Does it stand under a header of its own: an object, or an array of nothing but objects? */
bool dx__toml_is_block(const dx__toml_writer *writer, void *value);
/* What is wrong with the current value; always false. */
bool dx__toml_level_refuse(dx__toml_writer *writer, dx_status status, const char *what);

/* scalar.c: the first failure sticks. */
void dx__toml_put_text(dx__toml_writer *writer, const char *text, size_t len);
void dx__toml_put_string(dx__toml_writer *writer, dx_text text);
void dx__toml_put_key(dx__toml_writer *writer, dx_text key);
void dx__toml_put_scalar(dx__toml_writer *writer, void *value);

#define DX__TOML_PUT(writer, literal) dx__toml_put_text(writer, literal, sizeof(literal) - 1)

#endif
