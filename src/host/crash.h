/* crash.h: which line of a program's standard error says why it ended. */
#ifndef DX_HOST_CRASH_H
#define DX_HOST_CRASH_H

#include <duplex/base.h>

#include <stdbool.h>

/* The line of `errors` that says why a program ended:
 *
 *   1. the last exception, panic or fatal error of a runtime, unless other text follows its stack
 *      trace;
 *   2. else an error line, however many lines follow it. If several stand close together at the
 *      end, it is the first of them: the others are often its consequences;
 *   3. else the last line that belongs to no stack trace.
 *
 * A message that goes on in the next line (Rust's panics) has both lines. Empty if there is none.
 */
dx_text dx__crash_line(dx_text errors);

/* Is it an error line? It begins with error, fatal, panic or critical, in any case, perhaps after a
 * time, something in brackets, or the name of a program: "2026-01-01 12:00:00 FATAL x",
 * "[error] x", "prog: error: x". */
bool dx__crash_is_error(dx_text line);

#endif
