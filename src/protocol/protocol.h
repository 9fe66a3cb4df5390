/* A protocol in memory: the document, and tables made from it for what is asked per message. */
#ifndef DX_PROTOCOL_PROTOCOL_H
#define DX_PROTOCOL_PROTOCOL_H

#include "base/map.h"

#include <duplex/protocol.h>

/* Tables have a column for each side. */
enum { DX__SIDES = 2 };
static inline unsigned dx__column(dx_side side) {
    return side == DX_SIDE_PLUGIN;
}

typedef struct dx__message {
    dx_method method; /* first, so that one that was handed out leads back here */
    dx_text name;
    yyjson_val *value;                /* in the document; NULL: only the lifecycle names it */
    yyjson_val *params[DX__SIDES];    /* schemas by who sends it; NULL: none */
    yyjson_val *results[DX__SIDES];   /* of the answer */
    dx_schema *schemas[DX__SIDES][2]; /* the same, once they are compiled */
} dx__message;

typedef struct dx__state {
    const char *name;
    const char *message; /* what a request is answered with that must not come */
    int64_t code;
} dx__state;

/* Besides the words of dx_leave: nobody may send it, whatever the state. */
#define DX__LEAVE_UNKNOWN 0x10

/* What is known of a message in a state from one side: may it come, and what follows? */
typedef struct dx__cell {
    uint8_t leave;
    uint8_t next[3]; /* after it was sent, after its result, after its error */
} dx__cell;

typedef struct dx__failure {
    int64_t code;
    const char *name;
    const char *message;
    yyjson_val *value;
} dx__failure;

struct dx_protocol {
    dx_allocator alloc;
    yyjson_doc *doc;
    yyjson_val *root;
    char *file;
    dx_protocol_facts facts;
    const char **places;
    dx_step *steps; /* of the start; their params are ours, too */
    char *stop_params;
    dx__message *messages;
    size_t message_count; /* those that are listed … */
    size_t name_count;    /* … and those that only the lifecycle of an open protocol names */
    dx__map names;        /* of all these */
    uint64_t seed;
    dx__state *states;
    unsigned state_count;
    dx__cell *cells; /* by state, side and message; the last is any other message */
    dx__failure *failures;
    size_t failure_count;
    dx_schemas *schemas;
    dx_check *check;
};

/* Any name that the protocol knows; NULL if there is none. */
dx__message *dx__message_find(const dx_protocol *protocol, dx_text name);

static inline dx__cell *dx__cell_at(const dx_protocol *protocol, size_t state, unsigned column,
                                    size_t message) {
    return &protocol->cells[(state * DX__SIDES + column) * (protocol->name_count + 1) + message];
}

/* Compiles a part of a message, if that was not done before. *ret_schema NULL: nothing is said. */
dx_status dx__schema_ready(dx_protocol *protocol, dx__message *message, dx_side from, dx_part part,
                           dx_schema **ret_schema, dx_misfit *why);

#endif
