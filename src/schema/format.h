/* The words of "format", and what they mean. */
#ifndef DX_SCHEMA_FORMAT_H
#define DX_SCHEMA_FORMAT_H

#include "schema/byte.h"

#include <duplex/base.h>

/* One of the formats that are known; NULL if it is not, which fits everything. */
typedef struct dx__format {
    const char *name;
    bool (*fits)(dx_text text); /* allocates nothing, and takes time in proportion to the text */
} dx__format;
const dx__format *dx__format_named(dx_text name);

/* RFC 3339 */
bool dx__format_date_time(dx_text text);
bool dx__format_date(dx_text text);
bool dx__format_time(dx_text text);
bool dx__format_duration(dx_text text);
/* RFC 1123, 5321, 2673, 4291 */
bool dx__format_hostname(dx_text text);
bool dx__format_email(dx_text text);
bool dx__format_ipv4(dx_text text);
bool dx__format_ipv6(dx_text text);
/* RFC 3986, 3987, 6570 */
bool dx__format_uri(dx_text text);
bool dx__format_uri_reference(dx_text text);
bool dx__format_iri(dx_text text);
bool dx__format_iri_reference(dx_text text);
bool dx__format_uri_template(dx_text text);

/* Where a reader is in a text. */
typedef struct dx__cursor {
    const char *at;
    const char *end;
} dx__cursor;

static inline dx__cursor dx__cursor_on(dx_text text) {
    return (dx__cursor){text.at, text.at + text.len};
}

/* The next byte, or -1 at the end. */
static inline int dx__cursor_peek(const dx__cursor *cursor) {
    return cursor->at < cursor->end ? (unsigned char)*cursor->at : -1;
}

static inline bool dx__cursor_take(dx__cursor *cursor, char c) {
    if (dx__cursor_peek(cursor) != (unsigned char)c)
        return false;
    cursor->at++;
    return true;
}

/* How many digits follow; they are taken. */
static inline size_t dx__cursor_digits(dx__cursor *cursor) {
    const char *from = cursor->at;
    while (dx__is_digit(dx__cursor_peek(cursor)))
        cursor->at++;
    return (size_t)(cursor->at - from);
}

#endif
