/*
 * A protocol while it is read: the document, those that it extends, and where to say what is wrong.
 * Documents are checked one by one as they are read, and once more as a whole when they are merged.
 */
#ifndef DX_PROTOCOL_LOAD_H
#define DX_PROTOCOL_LOAD_H

#include "base/line.h"
#include "protocol/path.h"
#include "protocol/protocol.h"

#include <stdbool.h>

/* How deep the values of a document may lie in each other. */
enum { DX__DOCUMENT_DEPTH = 256 };

/* One document, as it stands in its file. */
typedef struct dx__source {
    struct dx__source *extended; /* the one that this one extends */
    yyjson_doc *doc;
    dx_text file;
    dx_text asked; /* the name it was found by; absent for the first */
    yyjson_val *root;
    yyjson_val *duplex;
} dx__source;

typedef struct dx__load {
    dx_allocator alloc;
    dx_protocol_config config;
    dx_misfit *why;
    dx_misfit unheard; /* where that goes if nobody asks */
    dx_schemas *grammars;
    dx_schema *grammar;
    yyjson_doc *grammar_doc;
    dx_check *check;
    dx__source *first;
    dx_protocol *protocol;
    const dx__source *blamed; /* in which the last flaw of the whole was found */
    size_t names_max;         /* room for names of messages */
} dx__load;

yyjson_alc dx__alc(const dx_allocator *alloc);

/* Member of an object, or NULL; also of no object. */
static inline yyjson_val *dx__get(yyjson_val *object, const char *name) {
    return yyjson_obj_get(object, name);
}
/* The characters of a string; absent for anything else. */
static inline dx_text dx__text(yyjson_val *value) {
    return yyjson_is_str(value) ? dx__text_of(value) : (dx_text){NULL, 0};
}
/* An integer, which JSON may also write as 1.0; one that has no room here, as near as can be. */
static inline int64_t dx__integer(yyjson_val *value) {
    double real = yyjson_get_real(value);
    if (yyjson_is_real(value))
        return real >= 9e18 ? INT64_MAX : real <= -9e18 ? INT64_MIN : (int64_t)real;
    return yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX ? INT64_MAX
                                                                       : yyjson_get_sint(value);
}
/* A time; `otherwise` if it is not given, DX_NEVER if it is null. */
static inline uint64_t dx__ms(yyjson_val *value, uint64_t otherwise) {
    return !value ? otherwise : yyjson_is_null(value) ? DX_NEVER : (uint64_t)dx__integer(value);
}
static inline bool dx__same(dx_text one, dx_text other) {
    return one.len == other.len && (!one.len || !memcmp(one.at, other.at, one.len));
}

/* Begins "FILE: PLACE: ", where the place is that of a value in a document or in the whole; what is
 * wrong there goes behind it. */
dx__line dx__flaw_at(dx__load *load, yyjson_val *place);
/* Each says all of it: DX_ERR_INVALID. */
dx_status dx__flaw(dx__load *load, yyjson_val *place, const char *what);
/* The name in quotes between two phrases. */
dx_status dx__flaw_named(dx__load *load, yyjson_val *place, const char *before, dx_text name,
                         const char *after);
/* A document as a whole, before it has places. */
dx__line dx__flaw_in(dx__load *load, dx_text file);

/* Reads one document and checks it for itself. What is found is the caller's, also on failure. */
dx_status dx__source_read(dx__load *load, dx_text text, dx_text file, dx_text asked,
                          dx__source **ret_source);
dx__source *dx__source_free(const dx_allocator *alloc, dx__source *source);

/* Reads all that the first document extends. */
dx_status dx__extend(dx__load *load);
/* Makes one document of them: that of the protocol. */
dx_status dx__merge(dx__load *load);

/* The parts of the whole document, in this order. */
dx_status dx__read_references(dx__load *load);
dx_status dx__read_errors(dx__load *load);
dx_status dx__read_methods(dx__load *load);
dx_status dx__read_facts(dx__load *load);
dx_status dx__read_lifecycle(dx__load *load);

/* One more name that the protocol knows, with its method or without. DX_ERR_LIMIT, DX_ERR_NOMEM. */
dx_status dx__message_add(dx__load *load, dx_text name, yyjson_val *value);
/* A method's list of params and their schema say the same. */
dx_status dx__check_params(dx__load *load, yyjson_val *method);
/* A method's list of errors. */
dx_status dx__check_errors(dx__load *load, yyjson_val *method);

/* The message that a name in the document stands for. An open protocol may name one that it does
 * not list: then NULL, and all is well. */
dx_status dx__message_named(dx__load *load, yyjson_val *name, dx__message **ret_message);

/* What a reference into the document leads to; NULL: nowhere. */
yyjson_val *dx__resolve(yyjson_val *root, dx_text reference);
/* The schema behind all references, or NULL. */
yyjson_val *dx__schema_of(yyjson_val *root, yyjson_val *schema);

#endif
