/* URI references as RFC 3986 has them: taken apart, and resolved against a base. */
#ifndef DX_SCHEMA_URI_H
#define DX_SCHEMA_URI_H

#include <duplex/base.h>

#include <stdbool.h>

/* Parts that are not there are absent texts; the path always is, and may be empty. */
typedef struct dx__uri {
    dx_text scheme;
    dx_text authority;
    dx_text path;
    dx_text query;
    dx_text fragment;
} dx__uri;

dx__uri dx__uri_split(dx_text text);

/* Has it only characters that a URI may have? Those beyond ASCII pass: they make it an IRI. */
bool dx__uri_is_sound(dx_text text);

/* Resolves a reference against a base, which itself may be relative or empty, and leaves the
 * fragment away. The result is written over what the buffer held. */
dx_status dx__uri_resolve(dx_text base, const dx__uri *reference, dx_buf *ret_uri);

/* Decodes %XX, over what the buffer held. DX_ERR_INVALID: a % that is followed by something else.
 */
dx_status dx__uri_decode(dx_text text, dx_buf *ret_text);

#endif
