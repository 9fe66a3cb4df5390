/*
 * A copy of bytes that crossed a wire, cut into what a trace is made of. Nothing stops it: what
 * can't be framed is told as stray text, and framing goes on behind it.
 */
#ifndef DX_HOST_CUTTER_H
#define DX_HOST_CUTTER_H

#include <duplex/frame.h>
#include <duplex/trace.h>

#include <stdbool.h>

typedef enum dx__cut {
    DX__CUT_AUTO,   /* the framing is told from the first bytes */
    DX__CUT_HEADER, /* the numbers of these two are those of dx_framing */
    DX__CUT_LINE,
    DX__CUT_TEXT /* lines of plain text: the standard error */
} dx__cut;

typedef struct dx__cutter {
    dx__cut cut;
    bool may_change; /* the framing was told from the bytes, and they may tell another one */
    size_t message_max;
    dx_allocator alloc;
    dx_framer *framer;   /* NULL while there is nothing to frame */
    uint64_t told;       /* the place in its stream up to which everything was told */
    uint64_t skip;       /* so many bytes of a message that is too long are still to come … */
    bool skip_line;      /* … or all up to the end of the line … */
    bool skip_to_header; /* … or to the next header */
    dx_buf line;         /* a line under way, of text or before the framing is known */
    /* `bytes` is how many crossed the wire for it. DX_TRACE_DROPPED: one is missing. */
    void (*tell)(void *user, dx_trace_kind kind, dx_text text, size_t bytes);
    void *user;
} dx__cutter;

void dx__cutter_init(dx__cutter *cutter, dx__cut cut, size_t message_max,
                     const dx_allocator *alloc);
void dx__cutter_done(dx__cutter *cutter);
void dx__cutter_feed(dx__cutter *cutter, dx_text bytes);
/* Bytes are missing here: it goes on where the next message begins. */
void dx__cutter_gap(dx__cutter *cutter);
/* No more bytes will come: what is left is told. */
void dx__cutter_finish(dx__cutter *cutter);

#endif
