/* noise.h: tells text that a program printed on its standard output from a message. */
#ifndef DX_FRAME_NOISE_H
#define DX_FRAME_NOISE_H

#include <duplex/base.h>

#include <stdbool.h>

/* Does the text contain the member that every message has? */
bool dx__claims_message(dx_text text);
/* Is this line neither a message, nor one that went wrong, nor the beginning of one that is printed
 * over many lines? A line of blanks is not noise. */
bool dx__is_noise(dx_text line);

#endif
