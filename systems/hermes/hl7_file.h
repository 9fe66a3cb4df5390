/* What the files of HL7 files share. */
#ifndef HERMES_HL7_FILE_H
#define HERMES_HL7_FILE_H

#include "systems/hermes/hl7_parts.h"

struct dx_hl7_file {
    const hl7_charset_info *given; /* by the configuration; NULL: nothing */
    hl7_charset read;              /* as the message was read … */
    bool is_new;                   /* it was not read from HL7 */
    dx_text name;                  /* … and what its MSH.18 said; absent: there was no message */
    hl7_charset other;             /* what an edit of MSH.18 asked for last; .info may be NULL */
    hl7_layout layout;
    size_t which;  /* of its messages, from 1 */
    dx_buf rest;   /* what stands around the message … */
    size_t before; /* … how much of it stands before that … */
    size_t bom;    /* … and how much of that is the byte order mark */
    dx_allocator alloc;
};

/* A phrase of several pieces; always DX_MISFIT. reterr may be NULL. */
dx_status hl7_file_fail(dx_error *reterr, const char *place, const dx_text *pieces, size_t count);
#define HL7_FILE_FAIL(reterr, place, ...)                        \
    hl7_file_fail(reterr, place, (const dx_text[]){__VA_ARGS__}, \
                  sizeof((const dx_text[]){__VA_ARGS__}) / sizeof(dx_text))

/* Builds the table of a character set. DX_MISFIT if this system does not know it. */
dx_status hl7_file_charset(const hl7_charset_info *info, hl7_charset *ret_charset,
                           dx_error *reterr);
#endif
