/* fence.h: bytes that end where a page without access begins, so that one byte too far faults. */
#ifndef TRANSCRIPTS_FENCE_H
#define TRANSCRIPTS_FENCE_H

#include <stddef.h>

/* A copy of the bytes, directly in front of the fence. Valid until the following call. */
const char *fence_copy(const char *bytes, size_t len);
void fence_done(void);

#endif
