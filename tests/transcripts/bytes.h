/* bytes.h: a growing row of bytes for the tests; out of memory ends the program. */
#ifndef TRANSCRIPTS_BYTES_H
#define TRANSCRIPTS_BYTES_H

#include <duplex/base.h>
#include <stdbool.h>

struct bytes {
    char *at; /* NUL-terminated once something was added */
    size_t len;
    size_t cap;
};

void bytes_add(struct bytes *bytes, const void *at, size_t len);
void bytes_addf(struct bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Printable: control characters and non-ASCII as \xHH, long texts shortened. */
void bytes_show(struct bytes *bytes, dx_text text);
void bytes_free(struct bytes *bytes);

bool text_equal(dx_text a, dx_text b);
bool text_is(dx_text text, const char *string);
bool text_contains(dx_text text, dx_text part);

/* malloc and realloc that never return NULL. */
void *must_alloc(size_t size);
void *must_grow(void *old, size_t size);

#endif
