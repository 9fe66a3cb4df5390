/* What writing and reading a trace share, and the two tools they use. */
#ifndef DX_TRACE_TRACE_H
#define DX_TRACE_TRACE_H

#include "base/line.h"

#include <duplex/trace.h>

#include <stdbool.h>

/* The members of a line, by the names they have there. */
#define DX__TRACE_HEADER "duplex-trace"
#define DX__TRACE_UNIT "time"
#define DX__TRACE_PART "part"
#define DX__TRACE_UNIX "unix-ms"
#define DX__TRACE_TIME "t"
#define DX__TRACE_FROM "from"
#define DX__TRACE_PEER "peer"
#define DX__TRACE_RUN "run"
#define DX__TRACE_BYTES "bytes"
#define DX__TRACE_MESSAGE "message"
#define DX__TRACE_BROKEN "broken"
#define DX__TRACE_STRAY "stray"
#define DX__TRACE_STDERR "stderr"
#define DX__TRACE_BASE64 "base64"
#define DX__TRACE_EVENT "event"
#define DX__TRACE_FACTS "data"
#define DX__TRACE_DROPPED "dropped"
#define DX__TRACE_REDACTED "redacted"

/* A line that is read: without its newline, in memory that may be written to, since strings are
 * decoded where they stand. */
typedef struct dx__trace_line {
    char *at;
    size_t len;
    uint64_t number;
    bool last; /* the trace ends here, without a newline */
} dx__trace_line;

dx_status dx__trace_parse(const dx__trace_line *line, dx_trace_record *ret_record,
                          dx_error *reterr);
/* Sets an error and begins its phrase, "line 7: ", to be gone on with. */
dx__line dx__trace_complain(const dx__trace_line *line, dx_fault fault, size_t offset,
                            dx_error *error);

/* What is redacted. */
typedef struct dx__secrets {
    unsigned char *names; /* of members: in lower case, each behind its length */
    size_t len;
    uint64_t lengths; /* bit n-1: there is one of n bytes */
    char *pointers;   /* behind the names, each with its NUL */
    size_t pointers_len;
    char *room; /* for the characters of a name that may be a part of a pointer */
    size_t room_len;
    bool usual; /* DX_TRACE_USUAL_SECRETS */
    dx_allocator alloc;
} dx__secrets;

/* See dx_trace_writer_config; list may be NULL. DX_ERR_INVALID for an empty or too long name, or
 * too many pointers; DX_ERR_NOMEM. */
dx_status dx__secrets_init(dx__secrets *secrets, const char *const *list,
                           const dx_allocator *alloc);
void dx__secrets_done(dx__secrets *secrets);
/* Is anything to be hidden? */
bool dx__secrets_any(const dx__secrets *secrets);
/* Appends a JSON text that was checked, without its secrets; *ret_count is how many there were.
 * DX_ERR_INVALID if it was not JSON after all; what was appended until then stays. */
dx_status dx__secrets_hide(const dx__secrets *secrets, dx_text text, dx_buf *buf,
                           uint64_t *ret_count);

/* Appends the bytes in base64, with padding; all or nothing. */
dx_status dx__base64_write(dx_buf *buf, dx_text bytes);
/* Turns base64 into bytes where it stands; says how many, or SIZE_MAX if it is none. */
size_t dx__base64_read(char *at, size_t len);

#endif
