/*
 * duplex/base.h: the few types that every other header uses.
 *
 * Rules that hold everywhere in Duplex:
 *   - A function that can fail returns a dx_status: 0 is done, a positive value is a condition
 *     named in the function's comment that the caller handles there and then, a negative value
 *     is a failure to pass on.
 *   - A parameter `ret_x` is set on success only, `reterr` on failure only, and either may be
 *     NULL where the comment says so.
 *   - `x_free()` and `x_done()` accept NULL (or a half-built object); `x_free()` returns NULL.
 *   - Nothing here reads a clock, the environment or a file, and nothing is global.
 */
#ifndef DUPLEX_BASE_H
#define DUPLEX_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DX_API __attribute__((visibility("default")))
#else
#define DX_API
#endif

/* The version of the library that runs, for example "0.1.0" (DX_VERSION is the one you compiled
 * against). */
DX_API const char *dx_version(void);

/* Status */

typedef enum dx_status {
    DX_OK = 0,
    /* Conditions: nothing is broken, the caller decides what to do. */
    DX_AGAIN = 1,  /* nothing to hand out now; feed more, or wait for the deadline */
    DX_BUSY = 2,   /* a limit on what may be queued or pending is reached; try again later */
    DX_GONE = 3,   /* that call or request has ended already; nothing was done */
    DX_CLOSED = 4, /* the conversation is over; nothing was done */
    DX_MISFIT = 5, /* it does not fit its schema, or the protocol does not allow it */
    /* Failures: the operation had no effect. */
    DX_ERR_NOMEM =
        -1, /* the allocator said no; the object is as before, the call can be repeated */
    DX_ERR_LIMIT = -2,   /* larger than a limit that was set at birth */
    DX_ERR_INVALID = -3, /* an argument that can't be right (a text that is no JSON, NULL, …) */
    DX_ERR_SYSTEM = -4,  /* the operating system said no; the error says what and why */
} dx_status;

/* "ok", "again", "busy", … : a short lower-case word, never NULL. */
DX_API const char *dx_status_name(dx_status status);

/* A time that never comes: as a timeout "none", as a deadline "nothing to wait for". All times
 * are milliseconds of any clock that does not jump back; the caller reads it. */
#define DX_NEVER UINT64_MAX

/* The two sides of a conversation: the host starts the plugin. */
typedef enum dx_side { DX_SIDE_HOST = 1, DX_SIDE_PLUGIN = 2 } dx_side;

/* Text */

/* Bytes that somebody else owns, with their length; may contain NUL. `at` is NULL for "absent",
 * which differs from an empty text. */
typedef struct dx_text {
    const char *at;
    size_t len;
} dx_text;

/* A dx_text of a NUL-terminated string (NULL gives the absent text). */
DX_API dx_text dx_str(const char *string);
/* 1 if the two have the same bytes. */
DX_API int dx_text_is(dx_text text, const char *string);

/* Faults and errors */

/*
 * Everything that can be wrong with what a peer sends, by name. The comment says what was seen;
 * what follows from it (dropped, answered, the end of the conversation) is told by duplex/peer.h.
 */
typedef enum dx_fault {
    DX_FAULT_NONE = 0,
    /* the byte stream */
    DX_FAULT_STRAY,          /* text that is not part of a message */
    DX_FAULT_STRAY_LIMIT,    /* too much of it */
    DX_FAULT_OTHER_FRAMING,  /* the peer uses the other framing */
    DX_FAULT_HEADER_BLANK,   /* an empty line before a header; the message counts */
    DX_FAULT_HEADER_SYNTAX,  /* NUL, a control character, non-ASCII or no field where one must be */
    DX_FAULT_HEADER_LF,      /* a header line that ends in LF alone */
    DX_FAULT_HEADER_LIMIT,   /* header block too long, or too many fields */
    DX_FAULT_FIELD_NAME,     /* a field name with more than letters and hyphens; it counts */
    DX_FAULT_LENGTH_MISSING, /* a header block without Content-Length */
    DX_FAULT_LENGTH_SYNTAX,  /* Content-Length is not a plain decimal number */
    DX_FAULT_LENGTH_TAB,     /* a tab next to Content-Length's value; the message counts */
    DX_FAULT_LENGTH_PLUS,    /* Content-Length with a plus sign; the message counts */
    DX_FAULT_LENGTH_REPEATED, /* Content-Length twice, with the same value; the message counts */
    DX_FAULT_LENGTH_CONFLICT, /* Content-Length twice, with different values */
    DX_FAULT_LENGTH_SHORT,    /* the declared length cuts the document off */
    DX_FAULT_CHARSET,         /* Content-Type asks for a charset other than UTF-8 */
    DX_FAULT_MESSAGE_LIMIT,   /* a message longer than the limit */
    DX_FAULT_TRUNCATED,       /* the stream ended inside a message */
    DX_FAULT_STALLED,         /* a message began and its rest does not come */
    DX_FAULT_BOM,             /* a byte order mark at the start; skipped */
    DX_FAULT_UNTERMINATED,    /* the last line has no newline; the message counts */
    /* the JSON text */
    DX_FAULT_JSON_EMPTY,      /* no JSON text at all */
    DX_FAULT_JSON_SYNTAX,     /* not JSON, from that place on */
    DX_FAULT_JSON_INCOMPLETE, /* JSON that ends too early */
    DX_FAULT_JSON_PRETTY,     /* the same, and it looks like one document over many lines */
    DX_FAULT_JSON_TRAILING,   /* bytes after the document */
    DX_FAULT_JSON_UTF8,       /* bytes that are not UTF-8 */
    DX_FAULT_JSON_DEPTH,      /* nested deeper than the limit */
    DX_FAULT_JSON_VALUE,      /* JSON that can't be held: 1e400, "\ud800", 2^20 digits */
    /* the JSON-RPC envelope */
    DX_FAULT_NOT_A_MESSAGE,     /* neither request, notification nor response */
    DX_FAULT_VERSION,           /* "jsonrpc" is not "2.0" */
    DX_FAULT_MEMBER_REPEATED,   /* an envelope member stands twice */
    DX_FAULT_METHOD_MISSING,    /* "params" and an "id", but no "method" */
    DX_FAULT_METHOD_TYPE,       /* "method" is not a string, or one that is not Unicode */
    DX_FAULT_PARAMS_TYPE,       /* "params" is neither object nor array */
    DX_FAULT_ID_TYPE,           /* "id" is neither string nor number */
    DX_FAULT_ID_MISSING,        /* a response without "id" */
    DX_FAULT_ID_LIMIT,          /* an "id" longer than the limit */
    DX_FAULT_RESULT_AND_ERROR,  /* a response with both */
    DX_FAULT_RESULT_MISSING,    /* a response with neither */
    DX_FAULT_METHOD_AND_RESULT, /* a request and a response at once */
    DX_FAULT_ERROR_SHAPE,       /* "error" is not an object with an integer code and a message */
    DX_FAULT_BATCH,             /* a batch where batches are not allowed */
    DX_FAULT_BATCH_EMPTY,       /* a batch of nothing */
    DX_FAULT_BATCH_LIMIT,       /* a batch with more elements than the limit */
    DX_FAULT_METHOD_LIMIT,      /* a "method" longer than the limit */
    DX_FAULT_VALUES_LIMIT,      /* a message with more values than the limit */
    /* the conversation */
    DX_FAULT_ID_UNKNOWN, /* a response to nothing we asked */
    DX_FAULT_ID_FORM,    /* a response whose id is ours in another form ("1" or 1.0 for 1) */
    DX_FAULT_ID_IN_USE,  /* a request whose id an unanswered request has already */
    DX_FAULT_ID_NULL,    /* an error with id null: the peer could not read something of ours */
    DX_FAULT_TIMEOUT,    /* no answer within the call's time */
    DX_FAULT_TOTAL,      /* no answer within the call's total time, progress or not */
    DX_FAULT_OVERDUE,    /* a request of the peer's was not answered in time here */
    DX_FAULT_CANCELLED,  /* cancelled here */
    DX_FAULT_GIVEN_UP,   /* cancelled by the other side, which should have answered */
    DX_FAULT_ENDED,      /* the conversation ended before the response arrived */
    DX_FAULT_UNREAD,     /* the peer does not read what is sent to it */
    /* the protocol */
    DX_FAULT_METHOD_UNKNOWN, /* a message that the protocol does not have, or not from that side */
    DX_FAULT_METHOD_KIND,    /* a request that is a notification there, or the other way round */
    DX_FAULT_STATE,          /* a message that is not allowed now */
    DX_FAULT_PARAMS_FIT,     /* params that do not fit their schema */
    DX_FAULT_RESULT_FIT,     /* a result that does not */
    /* the process at the other end */
    DX_FAULT_SYSTEM, /* a call of the operating system failed */
    DX_FAULT_START,  /* the program can't be started */
    DX_FAULT_EXITED, /* it left with an exit code */
    DX_FAULT_KILLED, /* a signal ended it */
    DX_FAULT__COUNT
} dx_fault;

/* "length-missing", "id-type", … : the name in lower case with hyphens, never NULL. */
DX_API const char *dx_fault_name(dx_fault fault);

/*
 * What went wrong, where, in one line. Fixed size, yours to copy; no pointer inside.
 *
 *   fault   what, by name
 *   place   where in the message: "header", "body", "line", "id", "params", …; may be ""
 *   offset  how many bytes into that message (or, for "header" and "line", into the line)
 *   system  the errno behind it, or 0
 *   phrase  one line for people: what was found and what was expected; never empty once set
 */
typedef struct dx_error {
    dx_fault fault;
    int system;
    uint64_t offset;
    char place[24];
    char phrase[200];
} dx_error;

/*
 * What is accepted beyond the letter of a framing or of JSON-RPC, by name. DX_LENIENT_DEFAULT is
 * what programs in the wild need; 0 is strict.
 */
enum {
    DX_LENIENT_LF = 1 << 0,          /* header lines that end in LF alone */
    DX_LENIENT_STRAY = 1 << 1,       /* text between messages: report it, find the next header */
    DX_LENIENT_PLUS = 1 << 2,        /* "Content-Length: +5" */
    DX_LENIENT_LAST_LENGTH = 1 << 3, /* of several Content-Length fields the last one counts */
    DX_LENIENT_NO_VERSION = 1 << 4,  /* "jsonrpc" may be missing or of another value */
    DX_LENIENT_ID_STRING = 1 << 5,   /* a response's id "7" counts as 7 */
    DX_LENIENT_ID_VALUE = 1 << 6,    /* a response's id 7.0 or 7e0 counts as 7 */
    DX_LENIENT_NULL_PARAMS = 1 << 7, /* "params": null counts as no params */
    DX_LENIENT_ID_ANY = 1 << 8,      /* a request's id may be any value, and goes back as it came */
    DX_LENIENT_LONG_LINE = 1 << 9,   /* lines: one that is too long is refused and passed over */
    DX_LENIENT_LAST_MEMBER = 1 << 10, /* of a member that is repeated the last one counts */
    DX_LENIENT_ID_DOUBLE = 1 << 11,   /* a request's number goes back as a double: 1.0 as 1 */
    DX_LENIENT_UTF8 = 1 << 12,        /* lines: a byte that is no UTF-8 counts as U+FFFD */
    DX_LENIENT_FOLLOW = 1 << 13,     /* lines: a stream that begins with a header is one of headers,
                                        and it is answered in them from there on */
    DX_LENIENT_FIELD_NAME = 1 << 14, /* DX_FIELDS_LETTERS: names of fields may be tokens, as in
                                        HTTP: X_Trace-2 */
    DX_LENIENT_TAB = 1 << 15,     /* DX_FIELDS_LETTERS: a tab next to a length counts as a space */
    DX_LENIENT_NULL_ID = 1 << 16, /* "id": null beside a method counts as no id */
    DX_LENIENT_VALUE = 1 << 17,   /* half a surrogate pair ("\ud800") counts as U+FFFD, and a number
                                     that no double holds is its text; not in requests, which are
                                     refused with DX_FAULT_JSON_VALUE */
    DX_LENIENT_DEFAULT = DX_LENIENT_LF | DX_LENIENT_STRAY
};

/* Allocator */

/*
 * Where memory comes from. All three functions must be given. They have the signatures of
 * yyjson_alc, and `old_size` is right or 0. NULL in place of an allocator means malloc().
 */
typedef struct dx_allocator {
    void *(*malloc)(void *ctx, size_t size);
    void *(*realloc)(void *ctx, void *ptr, size_t old_size, size_t size);
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} dx_allocator;

/* Buffer */

/*
 * Bytes that grow, up to a maximum fixed at birth. The members may be read; only the functions
 * write them. A buffer holds no memory until the first byte.
 */
typedef struct dx_buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
    dx_allocator alloc;
} dx_buf;

DX_API void dx_buf_init(dx_buf *buf, size_t max, const dx_allocator *allocator);
/* Gives the memory back; the buffer can be used again. */
DX_API void dx_buf_done(dx_buf *buf);
/* Makes room for `more` bytes behind data[len]. DX_ERR_LIMIT past the maximum, DX_ERR_NOMEM. */
DX_API dx_status dx_buf_reserve(dx_buf *buf, size_t more);
DX_API dx_status dx_buf_append(dx_buf *buf, const void *bytes, size_t len);

#ifdef __cplusplus
}
#endif

#endif
