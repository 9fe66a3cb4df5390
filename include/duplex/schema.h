/*
 * duplex/schema.h: does a JSON value fit a JSON Schema, and if not, where and why?
 *
 *     dx_schemas *schemas;
 *     dx_schema *schema;
 *     dx_schemas_new(NULL, &schemas);
 *     dx_schemas_add(schemas, dx_str("file:///thing.json"), yyjson_doc_get_root(doc), &why);
 *     dx_schemas_compile(schemas, dx_str("file:///thing.json"), &schema, &why);
 *
 *     dx_check *check;
 *     dx_check_new(NULL, &check);
 *     if (dx_schema_check(schema, value, 0, check, &why) == DX_MISFIT)
 *         puts(why.phrase); // "/patches/0/path: expected string, found number"
 *
 * Drafts 7 and 2020-12, as "$schema" says (2020-12 without it; one that is neither, nor a document
 * of the set, is an error). Documents are given; nothing is ever fetched. A schema is compiled
 * once, with all it refers to; checking then walks the compiled form with memory of the check
 * alone: it allocates nothing once that has grown to what the values need (but for what
 * contentMediaType has it read), and uses the same small stack for every value.
 *
 * Schemas are as little trusted as values: how large they may be, how deep a check may go, how many
 * steps it may take and how long a pattern may search are limits with errors of their own.
 *
 * Values are those of a document that yyjson has read. Numbers are compared by value; one that
 * was read as raw text counts as larger than any double, as dx_json_read() leaves it.
 *
 * All of this belongs to one thread at a time; a compiled schema that is only checked against may
 * be shared, with a check for each thread.
 */
#ifndef DUPLEX_SCHEMA_H
#define DUPLEX_SCHEMA_H

#include <duplex/base.h>

#include <yyjson.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dx_schemas dx_schemas;
typedef struct dx_schema dx_schema;
typedef struct dx_check dx_check;

/*
 * What does not fit, or what is wrong with a schema; fixed size, no pointer inside. The two places
 * are JSON Pointers, cut in the middle with "…" when they are too long.
 *
 *   instance  where in the value ("" is the whole of it); "" for an error in a schema
 *   schema    where in the schema, from the root of its document: "#/properties/path/type"; the
 *             URI of that document stands before it if it is not the one that was asked for
 *   keyword   the keyword that failed: "type", "required", …; "false" for the schema that is
 *             false; "" if a schema is wrong as a whole
 *   phrase    one line: "INSTANCE: what was expected, what was found", without "INSTANCE: " when
 *             that is empty; for an error in a schema "SCHEMA: what is wrong". Where no branch of
 *             an anyOf or oneOf fits, it may name the nearest one and what does not fit there
 */
typedef struct dx_misfit {
    char instance[256];
    char schema[256];
    char keyword[32];
    char phrase[512];
} dx_misfit;

enum {
    DX_SCHEMA_FORMAT = 1 << 0,  /* "format" is asserted, not only an annotation */
    DX_SCHEMA_CONTENT = 1 << 1, /* so are contentEncoding, contentMediaType and contentSchema */
};

typedef struct dx_schemas_config {
    const dx_allocator *allocator; /* NULL: malloc */
    unsigned flags;
    size_t nodes_max;     /* subschemas that may be compiled, all together (100,000) */
    size_t pattern_max;   /* bytes of a pattern (4,096) */
    size_t memory_max;    /* bytes of all that is compiled (64 MiB) */
    unsigned nesting_max; /* how deep schemas may lie in each other, and how many references may
                             follow each other with nothing beside them (512) */
} dx_schemas_config;

DX_API dx_schemas_config dx_schemas_defaults(void);

/* A set of documents that may refer to each other. config NULL: the defaults. The metaschemas of
 * both drafts are known from the start. DX_ERR_NOMEM. */
DX_API dx_status dx_schemas_new(const dx_schemas_config *config, dx_schemas **ret_schemas);
/* With everything that was compiled from it. */
DX_API dx_schemas *dx_schemas_free(dx_schemas *schemas);

/* Adds a document under a URI (without fragment; "" is fine for one that stands alone), and under
 * its own "$id" if it has one. It need not be a schema itself: an OpenRPC document holds its
 * schemas somewhere inside. The value stays yours and must outlive the set. DX_ERR_INVALID with
 * reterr: not a URI, added twice, a bad "$id" or "$anchor" in it; DX_ERR_LIMIT with reterr,
 * DX_ERR_NOMEM. reterr may be NULL. */
DX_API dx_status dx_schemas_add(dx_schemas *schemas, dx_text uri, yyjson_val *document,
                                dx_misfit *reterr);

/* Compiles the schema at a URI, which may have a fragment ("…#/components/schemas/Pet", "#name"),
 * or gives what was compiled from there before. It belongs to the set. DX_ERR_INVALID with reterr:
 * there is no such place, a keyword has a value it can't have, a reference leads nowhere, a pattern
 * is none; DX_ERR_LIMIT with reterr, also if following the references takes too long; DX_ERR_NOMEM.
 * reterr may be NULL. */
DX_API dx_status dx_schemas_compile(dx_schemas *schemas, dx_text uri, dx_schema **ret_schema,
                                    dx_misfit *reterr);

typedef struct dx_check_config {
    const dx_allocator *allocator; /* NULL: malloc */
    unsigned depth_max;            /* of values in values and schemas in schemas (10,000) */
    uint64_t steps_max; /* members, items, branches and the like looked at for one value; a failure
                           that is told of many counts 500 (50,000,000) */
    uint32_t match_max; /* effort of one pattern on one string (1,000,000) */
    size_t memory_max;  /* bytes (16 MiB) */
} dx_check_config;

DX_API dx_check_config dx_check_defaults(void);
DX_API dx_status dx_check_new(const dx_check_config *config, dx_check **ret_check);
DX_API dx_check *dx_check_free(dx_check *check);

enum {
    /* Members that a schema does not know are let pass where it says additionalProperties: false or
     * unevaluatedProperties: false. For what others send, who may be newer. */
    DX_CHECK_OPEN = 1 << 0,
};

/* Does the value fit? DX_OK; DX_MISFIT with the first failure in *reterr; DX_ERR_LIMIT with reterr
 * (too deep, too many steps, too much memory, a pattern that takes too long); DX_ERR_NOMEM with
 * reterr; DX_ERR_INVALID: no schema or no value. reterr may be NULL, and then a misfit costs
 * nothing more than a fit. */
DX_API dx_status dx_schema_check(const dx_schema *schema, yyjson_val *value, unsigned flags,
                                 dx_check *check, dx_misfit *reterr);

/* The same, but every failure is told, in the order of the value as far as one schema sees it (what
 * is missing comes last): those that make it not fit, not what was tried in vain inside an anyOf,
 * oneOf, not or if. on_misfit returns 0 to hear no more. reterr is for limits only. */
DX_API dx_status dx_schema_check_all(const dx_schema *schema, yyjson_val *value, unsigned flags,
                                     dx_check *check,
                                     int (*on_misfit)(const dx_misfit *misfit, void *user),
                                     void *user, dx_misfit *reterr);

#ifdef __cplusplus
}
#endif

#endif
