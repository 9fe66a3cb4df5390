/* What the tests of schemas share: a schema in one line, and what a value comes to under it. */
#ifndef UNIT_SCHEMA_H
#define UNIT_SCHEMA_H

#include "unit/unit.h"

#include <duplex/schema.h>

struct subject {
    yyjson_doc *doc;
    dx_schemas *set;
    dx_schema *schema;
    dx_check *check;
};

static inline yyjson_doc *parse(const char *text) {
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    if (!doc)
        fail_msg("not JSON: %s", text);
    return doc;
}

/* NULL for a configuration means the defaults. */
static inline struct subject subject_with(const char *schema, const dx_schemas_config *config,
                                          const dx_check_config *check) {
    struct subject subject = {.doc = parse(schema)};
    dx_misfit why = {.phrase = "?"};
    assert_int_equal(dx_schemas_new(config, &subject.set), DX_OK);
    assert_int_equal(dx_check_new(check, &subject.check), DX_OK);
    if (dx_schemas_add(subject.set, dx_str(""), yyjson_doc_get_root(subject.doc), &why) != DX_OK ||
        dx_schemas_compile(subject.set, dx_str(""), &subject.schema, &why) != DX_OK)
        fail_msg("%s: %s", schema, why.phrase);
    return subject;
}

static inline struct subject subject_of(const char *schema) {
    return subject_with(schema, NULL, NULL);
}

static inline void subject_done(struct subject *subject) {
    dx_check_free(subject->check);
    dx_schemas_free(subject->set);
    yyjson_doc_free(subject->doc);
}

static inline dx_status subject_check(const struct subject *subject, const char *value,
                                      unsigned flags, dx_misfit *reterr) {
    yyjson_doc *doc = parse(value);
    dx_status status =
        dx_schema_check(subject->schema, yyjson_doc_get_root(doc), flags, subject->check, reterr);
    yyjson_doc_free(doc);
    return status;
}

static inline void fits(const char *schema, const char *value) {
    struct subject subject = subject_of(schema);
    dx_misfit why = {.phrase = "?"};
    if (subject_check(&subject, value, 0, &why) != DX_OK)
        fail_msg("%s under %s: %s", value, schema, why.phrase);
    subject_done(&subject);
}

static inline void misfits(const char *schema, const char *value) {
    struct subject subject = subject_of(schema);
    if (subject_check(&subject, value, 0, NULL) != DX_MISFIT)
        fail_msg("%s fits %s", value, schema);
    subject_done(&subject);
}

/* What adding and compiling says of a schema that is wrong. */
static inline dx_status refusal(const char *schema, const dx_schemas_config *config,
                                dx_misfit *ret_why) {
    yyjson_doc *doc = parse(schema);
    dx_schemas *set;
    dx_schema *compiled = NULL;
    assert_int_equal(dx_schemas_new(config, &set), DX_OK);
    dx_status status = dx_schemas_add(set, dx_str(""), yyjson_doc_get_root(doc), ret_why);
    if (status == DX_OK)
        status = dx_schemas_compile(set, dx_str(""), &compiled, ret_why);
    assert_true((status == DX_OK) == (compiled != NULL));
    dx_schemas_free(set);
    yyjson_doc_free(doc);
    return status;
}

/* "HEAD" followed by `count` times PART and then "TAIL"; to be freed. */
static inline char *repeated(const char *head, const char *part, size_t count, const char *tail) {
    size_t len = strlen(part);
    char *text = malloc(strlen(head) + len * count + strlen(tail) + 1);
    assert_non_null(text);
    char *at = text + strlen(head);
    memcpy(text, head, strlen(head));
    for (size_t i = 0; i < count; i++, at += len)
        memcpy(at, part, len);
    memcpy(at, tail, strlen(tail) + 1);
    return text;
}

#endif
