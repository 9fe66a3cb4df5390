/* Places as text: JSON Pointers into a schema, and the one line that says what is wrong there. */
#ifndef DX_SCHEMA_PLACE_H
#define DX_SCHEMA_PLACE_H

#include "base/line.h"
#include "schema/set.h"

void dx__line_text(dx__line *line, dx_text text);
/* In quotes, as JSON has it, and cut if it is longer than that. */
void dx__line_quote(dx__line *line, dx_text text, size_t most);
/* Takes back a character that was cut off in its middle. */
void dx__line_whole(dx__line *line);

/* A path of any length, of which both ends are kept. */
typedef struct dx__path {
    size_t len;
    char at[2048];
} dx__path;

void dx__path_text(dx__path *path, dx_text text);
/* "/" and the token, escaped. */
void dx__path_token(dx__path *path, dx_text token);
void dx__path_index(dx__path *path, uint64_t index);
/* Writes it into a room of that size, with "…" in its middle if it is too long. */
void dx__path_write(const dx__path *path, char *to, size_t room);

/* "#/properties/path/type"; before the fragment the URI of its document, unless that is `home`. The
 * word may be DX__WORD__COUNT. */
void dx__place_write(dx__place place, dx__word word, const dx__document *home, char *to,
                     size_t room);

#endif
