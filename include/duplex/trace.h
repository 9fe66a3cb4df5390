/*
 * duplex/trace.h: what crossed a wire, one JSON object a line. No I/O: a writer hands out bytes, a
 * reader takes bytes. docs/trace.md tells the format.
 *
 *     {"duplex-trace":1,"time":"us","part":1}
 *     {"t":1204,"from":"host","peer":"echo","run":1,"bytes":41,"message":{"jsonrpc":"2.0",…}}
 *     {"t":1377,"from":"plugin","peer":"echo","run":1,"bytes":6,"stray":"hello\n"}
 *
 * Writing, beside the traffic:
 *
 *     dx_trace_writer_config config = dx_trace_writer_defaults();
 *     dx_trace_writer *writer;
 *     dx_trace_writer_new(&config, &writer);
 *     …
 *     dx_trace_record record = {.kind = DX_TRACE_MESSAGE, .from = DX_TRACE_HOST, .text = text,
 *                               .bytes = framed, .time_us = now_us, .peer = dx_str("echo")};
 *     dx_trace_write(writer, &record);                     // whatever it returns, go on
 *     …
 *     dx_text out = dx_trace_output(writer);               // when the file takes something
 *     if ((n = write(fd, out.at, out.len)) > 0)
 *         dx_trace_sent(writer, n);
 *
 * Reading:
 *
 *     while ((n = read(fd, piece, sizeof piece)) > 0)
 *         for (size_t at = 0, used; at < n; at += used) {
 *             dx_trace_feed(reader, piece + at, n - at, &used);
 *             while ((status = dx_trace_next(reader, &record, &error)) != DX_AGAIN)
 *                 if (status == DX_OK)
 *                     use(&record);
 *                 else
 *                     fprintf(stderr, "%s\n", error.phrase);  // "line 7: …"; the next line follows
 *         }
 *     dx_trace_finish(reader);                              // and next() until DX_CLOSED
 *
 * What was written is read back byte for byte, but for secrets that were redacted, and CR and LF
 * between the tokens of a message, which become spaces.
 */
#ifndef DUPLEX_TRACE_H
#define DUPLEX_TRACE_H

#include <duplex/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the format that is written, and the only one that is read. */
#define DX_TRACE_VERSION 1

typedef enum dx_trace_kind {
    DX_TRACE_MESSAGE = 1, /* text = a message, JSON */
    DX_TRACE_BROKEN,      /* text = bytes that were framed as a message but are no JSON */
    DX_TRACE_STRAY,       /* text = bytes that belong to no message */
    DX_TRACE_STDERR,      /* text = bytes of the peer's standard error */
    DX_TRACE_EVENT,       /* event = what happened to the peer, text = facts about it, JSON */
    DX_TRACE_DROPPED,     /* count = records that are missing here */
    DX_TRACE_HEADER       /* count = which part of the trace begins here, unix_ms */
} dx_trace_kind;

/* Who sent it; the numbers are those of dx_side. */
typedef enum dx_trace_from {
    DX_TRACE_NOBODY = 0,
    DX_TRACE_HOST = 1,
    DX_TRACE_PLUGIN = 2
} dx_trace_from;

/* One line of a trace. Members that the kind has no use for are 0 or absent. */
typedef struct dx_trace_record {
    dx_trace_kind kind;
    dx_trace_from from; /* must be told for the first four kinds, may be for EVENT */
    uint64_t time_us;   /* writer: of your clock; reader: since the start of the trace */
    dx_text peer;       /* the peer's name; may be absent */
    uint64_t run;       /* its incarnation: 1 for the first; 0: not told */
    uint64_t bytes;     /* how many crossed the wire, framing included; 0: not told */
    dx_text text;       /* see dx_trace_kind; absent is empty, or for EVENT no facts */
    dx_text event;      /* EVENT: a word; see docs/trace.md for those in use */
    uint64_t count;     /* DROPPED, HEADER */
    uint64_t unix_ms;   /* HEADER: the start of the trace, in ms since 1970; 0: not told */
    int checked;        /* writer: `text` is known to be JSON and is not checked again */
    uint64_t line;      /* reader: its number, from 1 */
} dx_trace_record;

/*
 * What nobody shall see is hidden by a list with NULL at its end. In it are:
 *
 *   a name           of 1 to 64 bytes. The value of every member with that name is replaced by
 *                    "***", at any depth of a message or of an event's facts. A to Z count as a to
 *                    z, and escapes are looked through.
 *   a JSON Pointer   begins with "/" (RFC 6901), such as "/params/arguments/pin". The value at that
 *                    place of a message (of each in a batch) or of an event's facts is replaced. At
 *                    most 32.
 *   DX_TRACE_USUAL_SECRETS
 *                    values of environment variables and headers whose names look like secrets.
 *                    docs/trace.md says which those are, and where they are looked for.
 *
 * A record that something was hidden in has "redacted": how many values. Raw text is not touched,
 * and neither is JSON inside of a string.
 */
#define DX_TRACE_USUAL_SECRETS "*"

/* Writing */

typedef struct dx_trace_writer dx_trace_writer;

typedef struct dx_trace_writer_config {
    size_t waiting_max; /* bytes not yet sent; what goes beyond is dropped (4 MiB; at least 256) */
    uint64_t start_us;  /* the time from which the trace counts: subtracted from each time_us (0) */
    uint64_t unix_ms;   /* the same moment in ms since 1970; 0: not told */
    const char *const *redact;     /* what is hidden; see below. May be NULL. Copied */
    const dx_allocator *allocator; /* copied; NULL: malloc */
} dx_trace_writer_config;

/* The values in brackets above, nothing redacted. */
DX_API dx_trace_writer_config dx_trace_writer_defaults(void);

/* DX_ERR_INVALID for values that can't work, DX_ERR_NOMEM. The header line waits at once. */
DX_API dx_status dx_trace_writer_new(const dx_trace_writer_config *config,
                                     dx_trace_writer **ret_writer);
DX_API dx_trace_writer *dx_trace_writer_free(dx_trace_writer *writer);

/*
 * Writes a record, or drops it: never blocks, and the caller need not look at the result.
 *
 *   DX_BUSY         too much waits: dropped and counted. So is a record larger than waiting_max,
 *                   always (measured before anything is redacted).
 *   DX_ERR_NOMEM    dropped and counted
 *   DX_ERR_INVALID  no record at all: kind, from, or an event's name or facts; not counted
 *
 * As soon as there is room again, a DX_TRACE_DROPPED line tells how many are missing. A MESSAGE
 * that is no JSON (or nested deeper than DX_DEPTH_MAX) is written as BROKEN. A peer's or event's
 * name that is not UTF-8 gets "?" for each byte that is not printable ASCII. You may pass on
 * DROPPED records of another trace: they are added up; HEADER is the writer's own business.
 */
DX_API dx_status dx_trace_write(dx_trace_writer *writer, const dx_trace_record *record);

/* The bytes to be written, lent until the next call on this writer; then say how many were. Their
 * buffer takes up to twice waiting_max. */
DX_API dx_text dx_trace_output(const dx_trace_writer *writer);
DX_API void dx_trace_sent(dx_trace_writer *writer, size_t len);

/* The bytes that were sent since the last header began, it included: the size of the file, if you
 * begin a new one with each dx_trace_rotate(). */
DX_API uint64_t dx_trace_size(const dx_trace_writer *writer);
/* From now on output() begins with a header again, followed by whatever waits. A line that was sent
 * only in part (the disk was full) is handed out once more, as a whole. DX_ERR_NOMEM: all is as
 * before. */
DX_API dx_status dx_trace_rotate(dx_trace_writer *writer);
/* How many records were dropped in all. */
DX_API uint64_t dx_trace_dropped(const dx_trace_writer *writer);

/* Reading */

typedef struct dx_trace_reader dx_trace_reader;

typedef struct dx_trace_reader_config {
    size_t line_max;               /* bytes of a line (128 MiB) */
    const char *const *redact;     /* what is hidden; see above. May be NULL. Copied */
    const dx_allocator *allocator; /* copied; NULL: malloc */
} dx_trace_reader_config;

DX_API dx_trace_reader_config dx_trace_reader_defaults(void);

/* DX_ERR_INVALID for a line_max of 0, or a wrong name to redact; DX_ERR_NOMEM. */
DX_API dx_status dx_trace_reader_new(const dx_trace_reader_config *config,
                                     dx_trace_reader **ret_reader);
DX_API dx_trace_reader *dx_trace_reader_free(dx_trace_reader *reader);

/* Bytes of the trace, cut anywhere. *ret_used is always set and says how many were taken: all with
 * DX_OK, fewer with DX_BUSY (call next() until DX_AGAIN, then feed the rest) and DX_ERR_NOMEM (feed
 * the rest again). DX_CLOSED after finish(). Memory: at most twice the longest line and 256 KiB. */
DX_API dx_status dx_trace_feed(dx_trace_reader *reader, const void *bytes, size_t len,
                               size_t *ret_used);
/* No more bytes will come. */
DX_API void dx_trace_finish(dx_trace_reader *reader);

/*
 * The next record. Its texts are lent until the next call of next() or feed().
 *
 *   DX_AGAIN        feed more
 *   DX_CLOSED       that was all; after finish() only
 *   DX_ERR_INVALID  a line is no record; *reterr (which may be NULL) says why. Its place is
 *                   "line 7", its offset counts from the beginning of that line, its fault is
 *                   DX_FAULT_JSON_…, DX_FAULT_TRUNCATED (the last line is cut off),
 *                   DX_FAULT_NOT_A_MESSAGE (JSON, but no record) or DX_FAULT_VERSION (see below)
 *   DX_ERR_LIMIT    a line is longer than line_max: DX_FAULT_MESSAGE_LIMIT
 *
 * After an error reading goes on: with the next line; where a header of another version was found
 * (the phrase names both) with the next header that is known; and where only the header was missing
 * with that very line. Lines that are empty are passed over. A header may come again anywhere:
 * traces can be put one behind the other.
 */
DX_API dx_status dx_trace_next(dx_trace_reader *reader, dx_trace_record *ret_record,
                               dx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
