/* Places as text: JSON Pointers into a schema, and the one line that says what is wrong there. */
#ifndef DX_SCHEMA_PLACE_H
#define DX_SCHEMA_PLACE_H

#include "base/line.h"
#include "schema/set.h"

void dx__line_text(dx__line *line, dx_text text);
/* In quotes, as JSON has it, and cut if it is longer than that. */
void dx__line_quote(dx__line *line, dx_text text, size_t most);
/* "/" and the token, escaped. */
void dx__line_token(dx__line *line, dx_text token);
void dx__line_index(dx__line *line, uint64_t index);

/* A path may be longer than what there is room for: then its middle is left out. It is built at
 * full length, as far as this goes, and cut when it is done. */
enum { DX__PATH_ROOM = 2048 };
/* Copies a path of that many bytes into a room of that size. */
void dx__path_cut(const char *path, size_t len, char *to, size_t room);

/* "#/properties/path/type"; before the fragment the URI of its document, unless that is `home`. The
 * word may be DX__WORD__COUNT, and the token behind it absent. */
void dx__place_write(dx__place place, dx__word word, dx_text token, const dx__document *home,
                     char *to, size_t room);

#endif
