/* place.h: where in a JSON text a JSON Pointer leads, for messages about files. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include <duplex/base.h>

/* The line and column (from 1, in bytes) of the value that `pointer` leads to, in a text that was
 * read without an error, comments and trailing commas included. If there is no such value: of the
 * last one on the way. Of members with the same name the first counts, but for the last step of the
 * pointer the one after `skip` others, and then the place is that of its name. */
void cli_place(dx_text text, const char *pointer, unsigned skip, size_t *ret_line,
               size_t *ret_column);
/* The same of a byte. */
void cli_place_of(dx_text text, size_t at, size_t *ret_line, size_t *ret_column);

#endif
