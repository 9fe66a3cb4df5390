/* A text that matches a simple pattern. */
#ifndef DX_PROTOCOL_LIKE_H
#define DX_PROTOCOL_LIKE_H

#include <duplex/base.h>

#include <stdbool.h>

enum { DX__LIKE_ROOM = 128 };

/* The shortest one by the first of all alternatives, with a NUL behind it. Characters, classes,
 * groups and counts are understood; false: there is more in the pattern than that, or the text has
 * no room. */
bool dx__like(dx_text pattern, char text[DX__LIKE_ROOM]);

#endif
