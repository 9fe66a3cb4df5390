/*
 * The machine that checks values: a stack of frames, one for each schema that is in the middle of a
 * value, and a stack of cells for what a frame has to remember beyond its size.
 */
#ifndef DX_SCHEMA_CHECK_H
#define DX_SCHEMA_CHECK_H

#include "schema/set.h"

typedef enum dx__phase {
    DX__PHASE_STRAIGHT, /* members or items, and nothing else */
    DX__PHASE_MEMBERS,
    DX__PHASE_ITEMS,
    DX__PHASE_OPS,
    DX__PHASE_LEFT, /* what was not evaluated */
    DX__PHASE_CONTENT,
} dx__phase;

/* What came of looking at a value. */
typedef enum dx__out {
    DX__FITS,
    DX__FAILS,
    DX__PUSHED,  /* it will be known when the frame that was pushed is done */
    DX__DOWN,    /* the straight way goes on in it */
    DX__STOPPED, /* a limit or no memory; or nobody wants to hear more */
} dx__out;

typedef struct dx__frame {
    const dx__node *node;
    yyjson_val *value;
    /* The member's key, or the item, that is looked at. While branches are tried: how far the one
     * that `index` is came, of those that failed. */
    yyjson_val *at;
    uint64_t seen; /* which names were there: bits, or where in the cells the bits are */
    const dx__branches *branches;
    uint32_t index;
    uint32_t count;
    uint32_t op;
    uint32_t branch;
    uint32_t hits;    /* branches or items that fit */
    uint32_t catcher; /* who took failures before this frame did */
    uint32_t floor;   /* height of the cells when it began */
    uint32_t marks;   /* where in the cells is marked what of the value was evaluated, + 1 */
    uint32_t outer;   /* the marks of who applied this schema in place */
    uint32_t saved;   /* where they are kept while a branch is tried */
    uint8_t phase;
    uint8_t stage;
    bool known; /* the member has been evaluated */
} dx__frame;

#define DX__NOBODY UINT32_MAX

enum { DX__GUESSES = 64, DX__GUESS_ROW = 16 };

struct dx_check {
    dx_check_config config;
    dx__budget budget;
    dx_allocator alloc;
    dx__frame *frames;
    uint32_t frame_cap;
    uint32_t frame_count;
    uint32_t straight_max; /* frames that can be taken without a question */
    uint64_t *cells;
    size_t cell_cap;
    size_t cell_count;
    dx__pattern_room *room;
    /* documents inside of strings, with the frame that reads them */
    struct dx__inner {
        yyjson_doc *doc;
        uint32_t frame;
    } * inners;
    uint32_t inner_cap;
    uint32_t inner_count;
    /* Which name of a table a member had the last time that one stood there: peers write members in
     * the same order again and again. What is found is compared in any case. */
    uint8_t guesses[DX__GUESSES][DX__GUESS_ROW];
    /* one check */
    const dx_schema *schema;
    uint64_t steps; /* that are left */
    uint32_t catcher;
    unsigned flags;
    bool misfit;
    dx_status status;    /* why it stopped */
    yyjson_val *reached; /* what the misfit is about that a catcher heard of last */
    uint32_t nearest;    /* the frame whose nearest branch is gone through once more, + 1 … */
    bool nearest_told;   /* … and what does not fit in it was added to this: */
    dx_misfit outer;
    dx_misfit *why;
    int (*on_misfit)(const dx_misfit *misfit, void *user);
    void *user;
};

static inline uint8_t dx__type_of(yyjson_val *value) {
    static const uint8_t types[32] = {
        [YYJSON_TYPE_RAW] = DX__TYPE_REAL, /* see dx__real_of() */
        [YYJSON_TYPE_NULL] = DX__TYPE_NULL,
        [YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE] = DX__TYPE_BOOL,
        [YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE] = DX__TYPE_BOOL,
        [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT] = DX__TYPE_INT,
        [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT] = DX__TYPE_INT,
        [YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL] = DX__TYPE_REAL,
        [YYJSON_TYPE_STR] = DX__TYPE_STRING,
        [YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC] = DX__TYPE_STRING,
        [YYJSON_TYPE_ARR] = DX__TYPE_ARRAY,
        [YYJSON_TYPE_OBJ] = DX__TYPE_OBJECT,
    };
    return types[value->tag & 31];
}

static inline bool dx__lets_in(uint8_t types, uint8_t type) {
    return (types & type) || (type == DX__TYPE_REAL && (types & DX__TYPE_WHOLE));
}

/* Stops for a reason that the caller is told. */
dx__out dx__stop(dx_check *check, dx_status status);
dx__out dx__stop_memory(dx_check *check);
dx__out dx__stop_steps(dx_check *check);

static inline bool dx__step(dx_check *check, uint64_t count) {
    if (check->steps < count)
        return false;
    check->steps -= count;
    return true;
}

/* Room for that many cells, of 64 bits; their place is handed out. They are not zeroed.
 */
bool dx__cells_push(dx_check *check, size_t count, size_t *ret_at);

/* Are two values the same, numbers by value, members in any order? *ret_same is set for DX__FITS;
 * else DX__STOPPED. */
dx__out dx__same(dx_check *check, yyjson_val *one, yyjson_val *other, bool *ret_same);
/* Are all items different? `ret_pair` are two that are not. */
dx__out dx__unique(dx_check *check, yyjson_val *array, bool *ret_unique, uint64_t ret_pair[2]);
dx__out dx__values_have(dx_check *check, const dx__values *values, yyjson_val *value,
                        bool *ret_have);

/* What strings and numbers are asked. A failure is told with dx__misfit(). */
dx__out dx__check_string(dx_check *check, const dx__node *node, yyjson_val *string);
dx__out dx__check_number(dx_check *check, const dx__node *node, yyjson_val *number);
/* Reads the text that a string holds; its root is handed out, or NULL if there is nothing to read.
 * It is kept until the frame that is pushed next is done. */
dx__out dx__check_content(dx_check *check, const dx__node *node, yyjson_val *string,
                          yyjson_val **ret_root);
void dx__inners_drop(dx_check *check, uint32_t frame_count);

/* Something that phrases are made of, besides the value. */
typedef struct dx__detail {
    dx_text text;
    dx_text reason; /* the member that asks for another */
    uint64_t number;
    uint64_t other;
    const dx__op *op;
} dx__detail;

/* A value does not fit. Where a branch is tried, that is all; else it is told: DX__FAILS to end
 * with that, DX__FITS to go on and find more, DX__STOPPED if nobody wants to hear more. */
dx__out dx__misfit(dx_check *check, const dx__node *node, yyjson_val *value, dx__word word,
                   const dx__detail *detail);
/* Fills in what is said, from the frames as they are. */
void dx__misfit_write(const dx_check *check, const dx__node *node, yyjson_val *value, dx__word word,
                      const dx__detail *detail, dx_misfit *ret_misfit);
/* Adds to a misfit of branches that none fits what does not fit in the nearest of them. */
void dx__misfit_add(dx_misfit *misfit, const dx__node *node, uint32_t index,
                    const dx_misfit *nearest);
/* The same for a check that stopped at a limit. */
void dx__stop_write(const dx_check *check, dx_misfit *ret_misfit);

#endif
