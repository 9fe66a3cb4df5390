/* Places in a document as text, in the room there is for them. */
#ifndef DX_PROTOCOL_PATH_H
#define DX_PROTOCOL_PATH_H

#include "base/line.h"
#include "schema/place.h"

/* "/" and the token, escaped; "/" and the index. */
void dx__line_token(dx__line *line, dx_text token);
void dx__line_index(dx__line *line, uint64_t index);

enum { DX__PATH_ROOM = 2048 };
/* Copies a path of that many bytes into a room of that size, without its middle if it is too long.
 */
void dx__path_cut(const char *text, size_t len, char *to, size_t room);

#endif
