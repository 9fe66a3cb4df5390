/* crash.h: which line of a program's standard error says why it ended. */
#ifndef DX_HOST_CRASH_H
#define DX_HOST_CRASH_H

#include <duplex/base.h>

/* The line of `errors` that says why a program ended: the last exception, panic or fatal error,
 * unless other text follows its stack trace; else the last line that belongs to no stack trace. A
 * message that goes on in the next line (Rust's panics) has both lines. Empty if there is none. */
dx_text dx__crash_line(dx_text errors);

#endif
