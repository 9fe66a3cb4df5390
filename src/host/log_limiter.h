/*
 * Keeps a peer from flooding a terminal or a log. The commands use it; it is built into them, and
 * not into libduplex.
 *
 * Whoever shows what peers write (standard error, log messages, protocol violations) asks for each
 * line whether to show it:
 *
 *     if (dx__log_limiter_pass(limiter, "echo", 0, line))
 *         show(line);
 *
 * For each peer, in windows of one second that begin with a line:
 *   - A line that was shown DX__LOG_SAME_MAX times in a row is only counted from then on.
 *   - At most DX__LOG_LINES_MAX lines and DX__LOG_BYTES_MAX bytes are shown. The rest is counted.
 *   - What was counted is reported when the window ends, or before that: repeats before the next
 *     line that differs, and everything when the limiter is flushed or freed.
 *
 *     last line repeated 1,234 times
 *     … 12,345 lines suppressed (98,765 bytes)
 */
#ifndef DX_HOST_LOG_LIMITER_H
#define DX_HOST_LOG_LIMITER_H

#include <duplex/loop.h>

#include <stdbool.h>

/* A line costs its length and 1. A byte that has to be escaped (a control character, or not UTF-8)
 * costs 4, as it does on the terminal. */
enum { DX__LOG_LINES_MAX = 1000, DX__LOG_BYTES_MAX = 1 << 20, DX__LOG_SAME_MAX = 5 };

typedef struct dx__log_limiter dx__log_limiter;

/* One for all peers of a program; to be freed before its loop. on_summary comes from a dispatch or
 * from one of the functions below. NULL: no memory. */
dx__log_limiter *
dx__log_limiter_new(dx_loop *loop,
                    void (*on_summary)(const char *peer, const char *text, void *user), void *user);
/* Is this line to be shown? Peers are told apart by their names. `kind` is any number: lines of
 * different kinds don't repeat each other. Without memory, and without a limiter (NULL), lines are
 * shown. */
bool dx__log_limiter_pass(dx__log_limiter *limiter, const char *peer, int kind, dx_text line);
/* Reports what was counted for one peer (NULL: for all), say because it has ended. A NULL limiter
 * is fine. */
void dx__log_limiter_flush(dx__log_limiter *limiter, const char *peer);
/* Reports what was counted, and frees it. NULL is fine. Returns NULL. */
dx__log_limiter *dx__log_limiter_free(dx__log_limiter *limiter);

#endif
