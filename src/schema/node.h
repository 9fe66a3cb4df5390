/*
 * What schemas are compiled to: a node for each place, with what it asks of each type of value
 * apart, so that a value is looked at with one comparison where there is nothing more to ask.
 */
#ifndef DX_SCHEMA_NODE_H
#define DX_SCHEMA_NODE_H

#include "schema/format.h"
#include "schema/names.h"
#include "schema/number.h"
#include "schema/pattern.h"
#include "schema/words.h"

/* Types of values, as bits. An integer is what yyjson has read as one; a real may be whole, too. */
enum {
    DX__TYPE_NULL = 1 << 0,
    DX__TYPE_BOOL = 1 << 1,
    DX__TYPE_INT = 1 << 2,
    DX__TYPE_REAL = 1 << 3,
    DX__TYPE_STRING = 1 << 4,
    DX__TYPE_ARRAY = 1 << 5,
    DX__TYPE_OBJECT = 1 << 6,
    DX__TYPE_WHOLE = 1 << 7, /* of the reals those that are whole; no type of a value */
    DX__TYPE_NUMBER = DX__TYPE_INT | DX__TYPE_REAL,
    DX__TYPE_ALL = (1 << 7) - 1,
};

typedef struct dx__resource dx__resource;
typedef struct dx__scope dx__scope;
typedef struct dx__node dx__node;

/* The values of an enum or a const: strings are found by a table, others one by one. */
typedef struct dx__values {
    dx__names strings;
    yyjson_val **others;
    size_t other_count;
    const struct dx__values *also; /* another list that must have the value */
    yyjson_val *all;               /* what the keyword has, for phrases */
    dx__word word;
} dx__values;

typedef struct dx__string_rules {
    uint64_t min; /* characters */
    uint64_t max;
    const dx__pattern *pattern;
    const dx__format *format;
    const dx__node *content; /* contentSchema */
    yyjson_val *pattern_text;
    bool base64;
    bool json;
} dx__string_rules;

typedef struct dx__number_rules {
    yyjson_val *min; /* NULL: none */
    yyjson_val *max;
    yyjson_val *above;
    yyjson_val *below;
    yyjson_val *unit;
    dx__decimal unit_decimal;
} dx__number_rules;

typedef struct dx__array_rules {
    const dx__node **prefix;
    uint64_t prefix_count;
    const dx__node *items; /* behind the prefix */
    const dx__node *contains;
    uint64_t contains_min;
    uint64_t contains_max;
    uint64_t min;
    uint64_t max;
    dx__word prefix_word; /* under which keyword the prefix lies, and the items behind it */
    dx__word items_word;
    bool unique;
    bool walk;  /* there is something to ask of the items themselves */
    bool sized; /* or of how many there are, or whether they differ */
} dx__array_rules;

typedef struct dx__pattern_rule {
    const dx__pattern *pattern;
    const dx__node *node;
} dx__pattern_rule;

/* If the name of `bit` is there, those of `needs` must be. */
typedef struct dx__need {
    uint32_t bit;
    uint32_t count;
    uint32_t *needs;
    dx__word word;
} dx__need;

typedef struct dx__object_rules {
    dx__names names;
    uint32_t bit_count; /* names whose presence matters */
    uint32_t required_count;
    uint32_t required_bits; /* those below are of names that are required */
    uint64_t required_mask; /* where 64 bits are enough */
    uint32_t *required;     /* bits, in the order of the schema */
    dx_text *bit_names;
    const dx__node *additional;
    const dx__node *property_names;
    dx__pattern_rule *patterns;
    uint32_t pattern_count;
    uint32_t need_count;
    dx__need *needs;
    uint64_t min;
    uint64_t max;
    dx__word additional_word; /* unevaluatedProperties may come to the same */
    bool walk;                /* there is something to ask of the members */
    bool sized;               /* or of how many there are */
    bool plain;               /* a member has one schema at most, and 64 bits are enough */
} dx__object_rules;

typedef enum dx__op_kind {
    DX__OP_SUB,  /* must fit: $ref, allOf */
    DX__OP_WHEN, /* must fit if a member is there: dependentSchemas */
    DX__OP_ANY,
    DX__OP_ONE,
    DX__OP_NOT,
    DX__OP_IF, /* if, then, else; the latter two may be NULL */
} dx__op_kind;

/* Branches of an anyOf or oneOf that can fit at all, by the string that a member has. */
typedef struct dx__choice {
    dx_text member;
    dx__names strings;               /* their node is a dx__branches */
    const struct dx__branches *rest; /* for everything else */
} dx__choice;

typedef struct dx__branches {
    uint32_t count;
    uint32_t *at;
} dx__branches;

typedef struct dx__op {
    dx__op_kind kind;
    dx__word word;
    uint32_t bit;
    uint32_t count;
    const dx__node **nodes;
    const dx__choice *choice;
} dx__op;

struct dx__node {
    dx__entry entry;
    uint8_t types;        /* that are let in */
    uint8_t more;         /* of which more is asked than the type */
    uint8_t more_tracked; /* the same while it matters what was evaluated */
    uint8_t straight;     /* of which nothing is asked but one schema for each member or item */
    bool never;           /* the schema false */
    uint32_t op_count;
    const dx__names *strings; /* all that more is asked of a string: to be one of them */
    const dx__values *values;
    const dx__string_rules *string;
    const dx__number_rules *number;
    const dx__array_rules *array;
    const dx__object_rules *object;
    const dx__op *ops;
    const dx__node *left_items; /* unevaluatedItems */
    const dx__node *left_members;
    yyjson_val *schema;
    dx__resource *resource;
    const dx__scope *scope;
    dx__node *next; /* of those that wait to be compiled */
    uint32_t color; /* while loops are searched */
};

/* Fits everything and evaluates nothing. */
extern const dx__node dx__node_true;

#endif
