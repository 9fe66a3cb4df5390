/*
 * The inside of a framer: one buffer, and where in it the machine stands.
 *
 * Places in the buffer are offsets from data[0]; `base` is where data[0] lies in the stream.
 *
 *     data[0]      released   pos          scan          len
 *       | no longer  | handed   | the unit    | searched    |
 *       | needed     | out      | being cut   | up to here  |
 */
#ifndef DX_FRAME_FRAMER_H
#define DX_FRAME_FRAMER_H

#include "base/buf.h"

#include <duplex/frame.h>

#include <stdbool.h>

struct dx_framer {
    dx_frame_config config;
    dx_buf in;
    uint64_t base;
    size_t released;
    size_t pos;
    size_t scan;
    size_t blanks; /* how many the line at `pos` begins with, as far as was looked */
    size_t quiet;  /* bytes that end nothing may be added up to this length; 0: none */
    char *lent;    /* an old block that texts handed out still point into */
    uint64_t lf_lines;

    /* the header block being read */
    size_t block;    /* its bytes before `pos` */
    size_t length;   /* Content-Length */
    size_t need;     /* BODY: how many bytes the message has */
    size_t stray;    /* stray bytes since the last message */
    size_t earlier;  /* the Content-Length that a later one has overruled */
    unsigned fields; /* fields seen in the block */
    unsigned noted;  /* leniencies that the block needed, to be reported before its message … */
    unsigned told;   /* … and those that were reported already */

    bool in_body;
    bool has_length;
    bool repeated;
    bool lf_block; /* the last field of the block ended in LF alone */
    bool hunting;  /* after a fault: only a Content-Length or Content-Type line starts a block */
    bool started;  /* something sensible came already */
    bool skipping; /* a line that was too long */
    bool on_loan;  /* texts handed out point into the current block */
    bool finished;
    bool over; /* END or a fatal fault was handed out */
};

void dx__framer_init(dx_framer *framer, const dx_frame_config *config);
void dx__framer_done(dx_framer *framer);
/* Nothing more is framed: what was not handed out yet is forgotten. */
void dx__framer_cut(dx_framer *framer);
/* Gives the buffer back if it holds nothing. */
void dx__framer_trim(dx_framer *framer);
/* Is a message under way? */
static inline bool dx__framer_is_partial(const dx_framer *framer) {
    return (framer->in_body || framer->in.len != framer->pos || framer->fields) && !framer->over &&
           !framer->finished;
}
/* Bytes of the message that is under way, and how many are known to be missing (0: unknown);
 * false between messages. */
bool dx__framer_partial(const dx_framer *framer, uint64_t *ret_have, uint64_t *ret_missing);
/* The bytes at that place of the stream; they are on loan, and stay in place, until the next
 * release. One loan at a time. */
const char *dx__framer_at(dx_framer *framer, uint64_t offset);

/* The two machines: DX_AGAIN or DX_OK with a frame. */
dx_status dx__frame_header_next(dx_framer *framer, dx_frame *ret);
dx_status dx__frame_line_next(dx_framer *framer, dx_frame *ret);

/* Takes one byte that can't complete anything, if it is such a byte and room is there. What comes
 * one byte at a time comes by here, so this is short: all conditions that seldom change are in
 * `quiet`. */
static inline bool dx__framer_quick(dx_framer *framer, char byte) {
    dx_buf *in = &framer->in;
    if (in->len >= framer->quiet || (byte == '\n' && !framer->in_body))
        return false;
    in->data[in->len++] = byte;
    return true;
}
/* After anything else happened to the framer: up to which length may it go on like that? */
void dx__framer_settle(dx_framer *framer);

/* For the machines. */
dx_status dx__frame_text(dx_framer *framer, dx_frame *ret, dx_frame_kind kind, size_t at,
                         size_t len);
dx_status dx__frame_fault(dx_framer *framer, dx_frame *ret, dx_fault fault, uint64_t found,
                          uint64_t expected);
dx_status dx__frame_fatal(dx_framer *framer, dx_frame *ret, dx_fault fault, uint64_t found,
                          uint64_t expected);
dx_status dx__frame_end(dx_framer *framer, dx_frame *ret);
/* The next LF at or behind `scan`, or NULL with `scan` moved to the end of what is there. */
const char *dx__frame_newline(dx_framer *framer);
/* How many bytes a text has in common with the beginning of a lower-case word, in any case. */
size_t dx__frame_common(dx_text text, const char *lower);
/* Does a text begin with `prefix` (lower case), whatever the case? */
bool dx__frame_begins(dx_text text, const char *prefix);

/* How a message that is written in place begins and ends; between the two goes the body. */
typedef struct dx__frame_mark {
    size_t start;
    size_t digits_at;
    size_t digits;
    size_t body;
} dx__frame_mark;
dx_status dx__frame_open_header(dx_buf *buf, const char *content_type, size_t guess,
                                dx__frame_mark *ret_mark);
dx_status dx__frame_close_header(dx_buf *buf, const dx__frame_mark *mark);
/* Between the tokens of a JSON text a line break means no more than a space. */
void dx__frame_flatten(char *at, const char *end);

static inline dx_status dx__frame_open(dx_buf *buf, dx_framing framing, const char *content_type,
                                       size_t guess, dx__frame_mark *ret_mark) {
    if (framing == DX_FRAMING_HEADER)
        return dx__frame_open_header(buf, content_type, guess, ret_mark);
    ret_mark->start = ret_mark->body = buf->len;
    return DX_OK;
}

/* `broken`: the body may have line breaks in it. */
static inline dx_status dx__frame_close(dx_buf *buf, dx_framing framing, const dx__frame_mark *mark,
                                        bool broken) {
    if (framing == DX_FRAMING_HEADER)
        return dx__frame_close_header(buf, mark);
    if (broken)
        dx__frame_flatten(buf->data + mark->body, buf->data + buf->len);
    return dx__buf_put(buf, "\n", 1);
}

#endif
