#include "schema/machine.h"

/*
 * The shortest way through values of which nothing is asked but a schema for each member or item,
 * down and up again, as long as that is so. What else is asked of a value on the way is looked at
 * in the usual manner; if that takes a frame, this way ends there and is taken up again later.
 */
struct way {
    dx__frame *frame;
    const dx__node *node;
    yyjson_val *at;  /* the key or the item */
    yyjson_val *end; /* of the container */
    uint64_t seen;
    uint32_t index; /* of the item, or of the guess */
    bool object;
};

static inline yyjson_val *end_of(yyjson_val *container) {
    return (yyjson_val *)(void *)((char *)container + container->uni.ofs);
}

static inline void keep(const struct way *way) {
    way->frame->at = way->at;
    way->frame->seen = way->seen;
    way->frame->index = way->index;
    way->frame->stage = 1;
}

/* Goes on where the frame stands; `at` is what has not been looked at. */
static inline void take_up(struct way *way, yyjson_val *at) {
    const dx__frame *frame = way->frame;
    way->node = frame->node;
    way->object = unsafe_yyjson_is_obj(frame->value);
    way->at = at;
    way->end = end_of(frame->value);
    way->seen = frame->seen;
    way->index = frame->index;
}

/* A frame for a value that is straight, too; false if that has to be done in the usual manner. */
static inline bool descend(dx_check *check, struct way *way, const dx__node *node,
                           yyjson_val *value) {
    uint64_t count = unsafe_yyjson_get_len(value);
    if (check->frame_count >= check->straight_max || check->steps <= count)
        return false;
    check->steps -= count + 1;
    check->frame_count++;
    keep(way);
    dx__frame *frame = ++way->frame;
    frame->node = node;
    frame->value = value;
    frame->seen = 0;
    frame->index = 0;
    frame->floor = (uint32_t)check->cell_count;
    frame->marks = frame->outer = 0;
    frame->phase = DX__PHASE_STRAIGHT;
    take_up(way, unsafe_yyjson_get_first(value));
    return true;
}

/* Takes the short cuts for a value: DX__DOWN if the way goes down into it, DX__FAILS if there is
 * none, which says nothing yet. */
static inline dx__out shortly(dx_check *check, struct way *way, const dx__node *node,
                              yyjson_val *value, uint8_t type) {
    if (__builtin_expect(!(node->types & type), 0))
        return DX__FAILS;
    if (!(node->more & type))
        return DX__FITS;
    if (node->straight & type)
        return descend(check, way, node, value) ? DX__DOWN : DX__FAILS;
    return type == DX__TYPE_STRING && node->strings &&
                   dx__names_have(node->strings, unsafe_yyjson_get_str(value),
                                  unsafe_yyjson_get_len(value))
               ? DX__FITS
               : DX__FAILS;
}

static inline yyjson_val *behind(yyjson_val *value, uint8_t type) {
    return type & (DX__TYPE_ARRAY | DX__TYPE_OBJECT) ? end_of(value) : value + 1;
}

/* The name that stood there the last time, if it does again; else it is searched. */
static inline const dx__name *guess(const dx__names *names, yyjson_val *key, uint8_t *guessed) {
    const char *at = unsafe_yyjson_get_str(key);
    size_t len = unsafe_yyjson_get_len(key);
    if (__builtin_expect(*guessed >= names->count, 0)) {
        if (!names->count)
            return NULL;
        *guessed = 0;
    }
    const dx__name *name = &names->list[*guessed];
    if (__builtin_expect(dx__name_reads(name, at, len), 1))
        return name;
    name = dx__names_search(names, dx__spell(at, len), at, len);
    if (name && name - names->list <= UINT8_MAX)
        *guessed = (uint8_t)(name - names->list);
    return name;
}

/* The members up to the end, or up to one that takes longer. */
static inline dx__out straight_members(dx_check *check, struct way *way) {
    const dx__object_rules *rules = way->node->object;
    uint8_t *guesses = check->guesses[((uintptr_t)rules >> 5) % DX__GUESSES];
    uint8_t type;
    for (; way->at != way->end; way->at = behind(way->at + 1, type)) {
        const dx__name *name = guess(&rules->names, way->at, &guesses[way->index]);
        const dx__node *node = NULL;
        if (name) {
            way->seen |= name->flag;
            node = name->node;
        }
        way->index = (way->index + 1) % DX__GUESS_ROW;
        type = dx__type_of(way->at + 1);
        bool named = node != NULL;
        if (!named && !(node = rules->additional))
            continue;
        dx__out out = shortly(check, way, node, way->at + 1, type);
        if (out == DX__FAILS) {
            keep(way);
            out = named ? dx__enter(check, node, way->at + 1, 0)
                        : dx__enter_additional(check, way->frame);
        }
        if (out != DX__FITS)
            return out;
    }
    if (!rules->need_count && !(rules->required_mask & ~way->seen))
        return DX__FITS;
    way->frame->seen = way->seen;
    return dx__presence(check, way->frame);
}

static inline dx__out straight_items(dx_check *check, struct way *way) {
    const dx__array_rules *rules = way->node->array;
    const dx__node *node = rules->items;
    uint8_t type;
    for (; way->at != way->end; way->at = behind(way->at, type), way->index++) {
        type = dx__type_of(way->at);
        dx__out out = shortly(check, way, node, way->at, type);
        if (out == DX__FAILS) {
            keep(way);
            out = node->never ? dx__misfit(check, way->node, way->at, rules->items_word, NULL)
                              : dx__enter(check, node, way->at, 0);
        }
        if (out != DX__FITS)
            return out;
    }
    return DX__FITS;
}

dx__out dx__straight(dx_check *check) {
    uint32_t floor = check->frame_count;
    struct way way = {.frame = &check->frames[floor - 1]};
    yyjson_val *at = way.frame->at;
    if (way.frame->stage)
        at = unsafe_yyjson_get_next(at + unsafe_yyjson_is_obj(way.frame->value));
    else if (!dx__step(check, way.frame->count))
        return dx__stop_steps(check);
    take_up(&way, at);
    way.index += !way.object && way.frame->stage;
    check->straight_max =
        check->frame_cap < check->config.depth_max ? check->frame_cap : check->config.depth_max;
    for (;;) {
        dx__out out = way.object ? straight_members(check, &way) : straight_items(check, &way);
        if (out == DX__DOWN)
            continue;
        if (out != DX__FITS || check->frame_count == floor)
            return out;
        check->frame_count--;
        way.frame--;
        take_up(&way, way.end);
        way.index += !way.object;
    }
}
