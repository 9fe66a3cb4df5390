/*
 * duplex/frame.h: bytes <-> frames. No JSON, no I/O.
 *
 * Two framings are in use between programs on pipes:
 *
 *   DX_FRAMING_HEADER   Content-Length: 17\r\n\r\n{"jsonrpc":"2.0"}     (language servers and kin)
 *   DX_FRAMING_LINE     {"jsonrpc":"2.0"}\n                             (MCP and kin)
 *
 * A dx_framer cuts an incoming stream, in whatever pieces it arrives, into frames. Cost is linear
 * in the bytes, memory grows with the bytes that have arrived and never with what a header
 * promises. Example:
 *
 *     dx_framer *f;
 *     dx_framer_new(&config, &f);                     // config from dx_frame_defaults()
 *     while ((n = read(fd, piece, sizeof piece)) > 0) {
 *         dx_framer_feed(f, piece, n);
 *         dx_frame frame;
 *         while (dx_framer_next(f, &frame) == DX_OK) {
 *             if (frame.kind == DX_FRAME_MESSAGE)
 *                 use(frame.text);
 *             dx_framer_release(f, frame.offset + frame.text.len);
 *         }
 *     }
 */
#ifndef DUPLEX_FRAME_H
#define DUPLEX_FRAME_H

#include <duplex/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dx_framing { DX_FRAMING_HEADER = 1, DX_FRAMING_LINE = 2 } dx_framing;

/* "header" or "line". */
DX_API const char *dx_framing_name(dx_framing framing);
/* The framing of that name; 0, which is none, for any other word or NULL. */
DX_API dx_framing dx_framing_named(const char *name);

/* What a field of a header may look like. */
typedef enum dx_fields {
    DX_FIELDS_HTTP = 0, /* names are tokens as in HTTP, spaces and tabs stand around values, and a
                           charset other than UTF-8 is refused */
    DX_FIELDS_LETTERS   /* names are letters and hyphens, only spaces stand around values, which
                           are any ASCII but CR and LF, and no field but Content-Length means
                           anything. What a leniency accepts beyond that is a FAULT before its
                           message, the first time that it comes */
} dx_fields;

typedef struct dx_frame_config {
    dx_framing framing;
    unsigned lenient;              /* DX_LENIENT_… */
    size_t message_max;            /* longest message, in bytes */
    size_t header_max;             /* longest header block */
    unsigned fields_max;           /* most fields in one … */
    dx_fields fields;              /* … and what they look like (as in HTTP) */
    size_t stray_max;              /* most stray bytes between two messages */
    size_t buffer_max;             /* most bytes held, messages not yet released included */
    const dx_allocator *allocator; /* copied; NULL: malloc */
} dx_frame_config;

/* 64 MiB messages, 16 KiB header blocks with 64 fields, 64 KiB stray text, buffer 128 MiB. */
DX_API dx_frame_config dx_frame_defaults(dx_framing framing);

typedef enum dx_frame_kind {
    DX_FRAME_MESSAGE = 1, /* text is one message's bytes */
    DX_FRAME_STRAY = 2,   /* text is a line (or a piece of one) that belongs to no message */
    DX_FRAME_FAULT = 3,   /* something is wrong: `fault`; the stream goes on unless `fatal` */
    DX_FRAME_END = 4      /* the stream ended where it may; comes once, after dx_framer_finish() */
} dx_frame_kind;

typedef struct dx_frame {
    dx_frame_kind kind;
    dx_fault fault; /* FAULT: what; MESSAGE: DX_FAULT_UNTERMINATED on a last line without newline */
    int fatal;      /* FAULT: nothing can be framed any more */
    uint64_t offset;   /* where `text` begins in the stream */
    dx_text text;      /* lent until the next feed(), reserve() or release() */
    uint64_t found;    /* FAULT: the number at issue (bytes seen, second length, …) */
    uint64_t expected; /* FAULT: the number it should have been (limit, declared length, …) */
} dx_frame;

typedef struct dx_framer dx_framer;

/* DX_ERR_INVALID for a framing that does not exist or a message_max of 2^32-1 or more. */
DX_API dx_status dx_framer_new(const dx_frame_config *config, dx_framer **ret_framer);
DX_API dx_framer *dx_framer_free(dx_framer *framer);

/* Takes all the bytes, or none: DX_ERR_LIMIT past buffer_max, DX_ERR_NOMEM. Bytes that come after
 * a fatal fault or after finish are swallowed. */
DX_API dx_status dx_framer_feed(dx_framer *framer, const void *bytes, size_t len);

/* The same without a copy: room for at least one and at most `want` bytes, to be filled by the
 * caller, then told with commit(). */
DX_API dx_status dx_framer_reserve(dx_framer *framer, size_t want, void **ret_room,
                                   size_t *ret_len);
DX_API void dx_framer_commit(dx_framer *framer, size_t len);

/* No more bytes will come. */
DX_API void dx_framer_finish(dx_framer *framer);

/* The next frame, in the order of the stream; DX_AGAIN when more bytes are needed (and for ever
 * after END or a fatal fault). */
DX_API dx_status dx_framer_next(dx_framer *framer, dx_frame *ret_frame);

/* Everything before that place of the stream is no longer needed: its room can be used again. */
DX_API void dx_framer_release(dx_framer *framer, uint64_t offset);

/* Appends one framed message: "Content-Length: N\r\n" (and "Content-Type: …\r\n" when given),
 * an empty line, the body; or the body and "\n". In line framing every CR and LF of the body
 * becomes a space, which in a JSON text can only be white space between tokens. DX_ERR_INVALID for
 * a framing that does not exist; DX_ERR_NOMEM, DX_ERR_LIMIT: nothing was appended. */
DX_API dx_status dx_frame_write(dx_buf *buf, dx_framing framing, const char *content_type,
                                dx_text body);

#ifdef __cplusplus
}
#endif

#endif
