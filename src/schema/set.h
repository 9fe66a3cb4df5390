/*
 * A set of documents: the resources in them (what has a URI of its own), the anchors, and the way
 * from a reference to a place.
 */
#ifndef DX_SCHEMA_SET_H
#define DX_SCHEMA_SET_H

#include "schema/node.h"
#include "schema/uri.h"

#include <duplex/schema.h>

typedef enum dx__draft { DX__DRAFT_7, DX__DRAFT_2020 } dx__draft;

/* What the vocabularies of a metaschema let a schema say. */
enum {
    DX__VOCABULARY_APPLICATOR = 1 << 0,
    DX__VOCABULARY_UNEVALUATED = 1 << 1,
    DX__VOCABULARY_VALIDATION = 1 << 2,
    DX__VOCABULARY_FORMAT = 1 << 3, /* as an assertion */
    DX__VOCABULARY_CONTENT = 1 << 4,
};

typedef struct dx__dialect {
    dx__draft draft;
    unsigned vocabularies;
} dx__dialect;

typedef struct dx__document {
    yyjson_val *root;
    dx_text uri; /* as it was added */
} dx__document;

typedef struct dx__anchor {
    dx__entry entry;
    dx__resource *resource;
    dx_text name;
    yyjson_val *value;
    struct dx__anchor *next; /* of the dynamic ones of the resource */
    bool dynamic;
} dx__anchor;

struct dx__resource {
    dx__entry entry;
    yyjson_val *root;
    dx_text uri;
    const dx__document *document;
    dx__resource *parent;
    yyjson_val *schema_word; /* "$schema"; NULL: as the parent */
    dx__anchor *dynamic;
    dx__dialect dialect;
    bool dialect_known;
    bool identified; /* its "$id" has been looked at */
};

/* One of the URIs of a resource. */
typedef struct dx__uri_name {
    dx__entry entry;
    dx_text uri;
    dx__resource *resource;
} dx__uri_name;

typedef struct dx__place {
    yyjson_val *value;
    dx__resource *resource;
} dx__place;

/* A schema that was asked for, by its node. */
struct dx_schema {
    dx__entry entry;
    yyjson_val *value;
    const dx__node *node;
    const dx__document *document; /* in which places are named without its URI */
};

struct dx_schemas {
    dx_schemas_config config;
    dx__store store;
    dx_buf uri;      /* the URI at work */
    dx_buf fragment; /* its fragment, decoded */
    dx_buf stack;    /* of the walk through a document */
    size_t node_count;
    dx__node *waiting; /* nodes that are not compiled yet */
    uint64_t effort;   /* what one call may still cost, beyond what it makes */
    dx_misfit *why;    /* where to say what is wrong; NULL: nowhere */
    const dx__document *home;
};

/* Looks through a schema and all in it for resources and anchors. */
dx_status dx__scan(dx_schemas *set, yyjson_val *schema, dx__resource *resource);
/* What a value is the root of, or NULL. */
dx__resource *dx__resource_at(const dx_schemas *set, yyjson_val *root);
/* Makes `value` the root of a new resource. The URI must stay. NULL: see dx__store_status(). */
dx__resource *dx__resource_new(dx_schemas *set, yyjson_val *root, dx_text uri,
                               const dx__document *document, dx__resource *parent);
/* NULL if nothing has that URI; metaschemas are read when they are asked for. *ret_status says if
 * that failed. */
dx__resource *dx__resource_named(dx_schemas *set, dx_text uri, dx_status *ret_status);
/* One more URI of a resource. DX_GONE: another has it. */
dx_status dx__resource_name(dx_schemas *set, dx__resource *resource, dx_text uri);
/* Forgets everything since the mark. */
void dx__set_undo(dx_schemas *set, dx__mark mark);
/* Adds a document, without undoing anything on failure. */
dx_status dx__document_add(dx_schemas *set, dx_text uri, yyjson_val *root);

dx__anchor *dx__anchor_named(const dx_schemas *set, const dx__resource *resource, dx_text name);
dx_status dx__anchor_add(dx_schemas *set, dx__resource *resource, dx_text name, bool dynamic,
                         yyjson_val *schema);

/* Finds the place that a reference in that resource leads to; `from` and `word` are who asks. If it
 * is an anchor, that is handed out, too. */
dx_status dx__reference(dx_schemas *set, dx_text reference, dx__place from, dx__word word,
                        dx__place *ret_place, const dx__anchor **ret_anchor);

/* The dialect that "$schema" asks for, or that of the parent. */
dx_status dx__dialect_of(dx_schemas *set, dx__resource *resource, dx__dialect *ret_dialect);
/* The text of a metaschema, with ' for every "; absent if it is none. */
dx_text dx__metaschema(dx_text uri);

/* Says what is wrong in a schema: DX_ERR_INVALID. The detail is quoted where it is given, and may
 * be absent; the word DX__WORD__COUNT is none. */
dx_status dx__blame(dx_schemas *set, dx__place place, dx__word word, const char *what,
                    dx_text detail);
/* The same, but DX_ERR_LIMIT. */
dx_status dx__blame_limit(dx_schemas *set, dx__place place, dx__word word, const char *what);
/* Takes from the effort of a call: DX_OK, or DX_ERR_LIMIT if there is none left. */
dx_status dx__effort(dx_schemas *set, uint64_t cost);
enum { DX__EFFORT_MAX = 50000000 };
/* Says why there is no memory. */
dx_status dx__blame_memory(dx_schemas *set);

/* The compiler. */

/* The node of a place, which may wait to be compiled; a reference with nothing beside it is gone
 * through. */
dx_status dx__declare(dx_schemas *set, dx__place place, const dx__scope *scope,
                      const dx__node **ret_node);
/* The node of a value below a node's schema. */
dx_status dx__declare_below(dx_schemas *set, const dx__node *node, yyjson_val *value,
                            const dx__node **ret_node);
/* The node that a $ref or $dynamicRef leads to. */
dx_status dx__declare_reference(dx_schemas *set, const dx__node *node, dx__word word,
                                yyjson_val *reference, const dx__node **ret_node);
/* Says all that the schema of a node asks. */
dx_status dx__fill(dx_schemas *set, dx__node *node);
/* Its parts. What must fit if a member is there becomes an operation. */
dx_status dx__fill_object(dx_schemas *set, dx__node *node, const dx__words *words, dx__op *whens,
                          uint32_t *when_count);
dx_status dx__fill_array(dx_schemas *set, dx__node *node, const dx__words *words,
                         const dx__dialect *dialect);
dx_status dx__fill_scalar(dx_schemas *set, dx__node *node, const dx__words *words,
                          const dx__dialect *dialect);
/* A pattern that goes when the set does. */
dx_status dx__fill_pattern(dx_schemas *set, const dx__node *node, dx__word word, dx_text source,
                           const dx__pattern **ret_pattern);
/* A count that a keyword has; NULL leaves what was there. */
dx_status dx__fill_count(dx_schemas *set, const dx__node *node, const dx__words *words,
                         dx__word word, uint64_t *ret_count);
/* What can be said only when all nodes since `mark` are compiled. */
dx_status dx__finish(dx_schemas *set, dx__mark mark);

static inline dx__place dx__place_of(const dx__node *node) {
    return (dx__place){node->schema, node->resource};
}

#endif
