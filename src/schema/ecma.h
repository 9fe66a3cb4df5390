/*
 * Patterns of ECMA-262 with the flag u, read and written again as PCRE2 understands them.
 *
 * Reading needs no memory, so that it can also tell whether something is a pattern at all.
 */
#ifndef DX_SCHEMA_ECMA_H
#define DX_SCHEMA_ECMA_H

#include "schema/byte.h"

#include <duplex/base.h>

enum {
    DX__ECMA_NESTING_MAX = 200, /* groups in groups */
    DX__ECMA_NAMES_MAX = 100,   /* groups with names */
    DX__ECMA_COUNT_MAX = 65535, /* what PCRE2 can repeat */
};

/*
 * What is written holds callouts wherever a search can go back or take another way: behind every
 * repetition and at the start of every alternative. Between two of them lies no more work than
 * DX__ECMA_STRIDE characters, or DX__ECMA_STRIDE times the number of the callout, besides the
 * characters that the search moved forward. So whoever counts there knows all the work of a search.
 */
enum { DX__ECMA_STRIDE = 32 };

typedef struct dx__ecma {
    const char *start;
    const char *at;
    const char *end;
    dx_buf *out; /* NULL: nothing is written */
    dx_status status;
    const char *wrong; /* what is wrong, with DX_ERR_INVALID */
    const char *where;
    /* What is known of the whole before it is read. */
    unsigned groups; /* with a number */
    bool refers;     /* there is a \1 or \k<name> */
    unsigned names_count;
    dx_text names[DX__ECMA_NAMES_MAX];
    unsigned numbers[DX__ECMA_NAMES_MAX]; /* of the groups with these names */
    /* What was met. */
    bool has_properties;
    bool looks_ahead;
    /* Where the reader is. */
    unsigned depth;
    struct {
        bool asserts;    /* it is a look around */
        unsigned number; /* 0: it has none */
    } open[DX__ECMA_NESTING_MAX];
    unsigned opened; /* of those with a number */
    unsigned stride; /* atoms since the last callout */
    /* Nothing but characters, perhaps between ^ and $: they are in `literal`. */
    bool plain;
    bool from_start;
    bool to_end;
    dx_buf *literal;
} dx__ecma;

/* Both buffers may be NULL. DX_ERR_INVALID with ecma->wrong and ecma->where; DX_ERR_LIMIT and
 * DX_ERR_NOMEM of the buffers. */
dx_status dx__ecma_read(dx__ecma *ecma, dx_text source, dx_buf *out, dx_buf *literal);

/* The first failure counts; the reader then stands at the end. */
void dx__ecma_fail(dx__ecma *ecma, const char *wrong, const char *where);
void dx__ecma_put(dx__ecma *ecma, const char *string);
/* One character that stands for itself. */
void dx__ecma_put_code(dx__ecma *ecma, uint32_t code);

/* The next byte, or 0 at the end (a NUL in a pattern means nothing special, so that is enough). */
static inline char dx__ecma_peek(const dx__ecma *ecma) {
    return ecma->at < ecma->end ? *ecma->at : '\0';
}

static inline bool dx__ecma_take(dx__ecma *ecma, char c) {
    if (ecma->at == ecma->end || *ecma->at != c)
        return false;
    ecma->at++;
    return true;
}

/* A character as it stands there. */
uint32_t dx__ecma_code(dx__ecma *ecma);
/* Behind "\u". */
uint32_t dx__ecma_unicode(dx__ecma *ecma);
/* Behind a backslash: what stands for one character. */
uint32_t dx__ecma_character(dx__ecma *ecma, bool in_class);
/* Behind a backslash: \d, \s, \p{…} and the like; false if it is none of them. */
bool dx__ecma_set(dx__ecma *ecma, bool in_class);
/* Behind "[". */
void dx__ecma_class(dx__ecma *ecma);
/* Behind "\p" or "\P". */
void dx__ecma_property(dx__ecma *ecma, bool negated);

#endif
