/* What the tests of HL7 share. */
#ifndef HERMES_TEST_HL7_H
#define HERMES_TEST_HL7_H

#include "unit/unit.h"

#include <duplex/hl7.h>

#include <stdio.h>

static inline dx_hl7 *hl7_of_text(dx_text text, int exact) {
    dx_hl7_config config = dx_hl7_defaults();
    config.exact = exact;
    dx_hl7 *hl7 = NULL;
    dx_error error = {.phrase = ""};
    dx_status status = dx_hl7_new(&config, text, &hl7, &error);
    if (status != DX_OK)
        print_error("not read: %s\n", error.phrase);
    assert_int_equal(status, DX_OK);
    return hl7;
}

static inline dx_hl7 *hl7_of(const char *text) {
    return hl7_of_text(dx_str(text), 0);
}

/* The text as a string; the caller frees it. */
static inline char *hl7_text(const dx_hl7 *hl7) {
    dx_buf out;
    dx_buf_init(&out, SIZE_MAX / 4, NULL);
    assert_int_equal(dx_hl7_write(hl7, &out), DX_OK);
    assert_int_equal(out.len, dx_hl7_size(hl7));
    assert_int_equal(dx_buf_append(&out, "", 1), DX_OK);
    return out.data;
}

static inline void hl7_expect(const dx_hl7 *hl7, const char *expected) {
    char *text = hl7_text(hl7);
    assert_string_equal(text, expected);
    free(text);
}

static inline char *hl7_exported(const dx_hl7 *hl7, dx_hl7_format format, dx_hl7_shape shape) {
    dx_buf out;
    dx_error error = {.phrase = ""};
    dx_buf_init(&out, SIZE_MAX / 4, NULL);
    dx_status status = dx_hl7_export(hl7, format, shape, &out, &error);
    if (status != DX_OK)
        print_error("not exported: %s\n", error.phrase);
    assert_int_equal(status, DX_OK);
    assert_int_equal(dx_buf_append(&out, "", 1), DX_OK);
    return out.data;
}

#endif
