/* The documents that are part of the library; the build writes them from systems/. */
#ifndef DX_PROTOCOL_BUILTIN_H
#define DX_PROTOCOL_BUILTIN_H

#include <duplex/base.h>

typedef struct dx__builtin {
    const char *name; /* "mcp@2025-06-18"; NULL after the last */
    const char *file;
    const char *bytes;
    size_t len;
} dx__builtin;

/* In the order of their names. */
extern const dx__builtin dx__builtins[];
/* The schema that every document has to fit. */
extern const char dx__grammar[];
extern const size_t dx__grammar_len;

/* NAME or NAME@REVISION; without a revision the one that has none, or the last. NULL: none. */
const dx__builtin *dx__builtin_named(dx_text name);
/* The one whose file's name has no revision, but which may be the one that NAME@REVISION asks for;
 * *ret_revision is what it must have in it. NULL: none. */
const dx__builtin *dx__builtin_plain(dx_text name, dx_text *ret_revision);

#endif
