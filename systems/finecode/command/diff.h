/* diff.h: the difference of two texts in unified format, as patch -p1 and git apply take it. */
#ifndef FINECODE_DIFF_H
#define FINECODE_DIFF_H

#include <duplex/base.h>

/* Appends "--- a/NAME", "+++ b/NAME" and the hunks; nothing if the texts are the same. */
dx_status diff_write(dx_buf *out, const char *name, dx_text before, dx_text after);

#endif
