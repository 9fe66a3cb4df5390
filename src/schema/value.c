#include "schema/check.h"

#include <string.h>

/* The walk through two values side by side: items of this many cells. */
typedef struct pair {
    yyjson_val *one;   /* the next key or item */
    yyjson_val *other; /* where the search for its like begins */
    yyjson_val *whole; /* the other container */
    size_t left;
} pair;

enum { PAIR_CELLS = sizeof(pair) / sizeof(uint64_t) };

enum likeness { SAME, DIFFERENT, DEEPER };

static bool is_container(yyjson_val *value) {
    return (value->tag & 6) == 6; /* arrays and objects */
}

static enum likeness compare(yyjson_val *one, yyjson_val *other) {
    if ((one->tag & YYJSON_TYPE_MASK) != (other->tag & YYJSON_TYPE_MASK))
        return DIFFERENT;
    switch (one->tag & YYJSON_TYPE_MASK) {
    case YYJSON_TYPE_NUM:
        return dx__number_compare(one, other) ? DIFFERENT : SAME;
    case YYJSON_TYPE_ARR:
    case YYJSON_TYPE_OBJ:
        if (unsafe_yyjson_get_len(one) != unsafe_yyjson_get_len(other))
            return DIFFERENT;
        return unsafe_yyjson_get_len(one) ? DEEPER : SAME;
    case YYJSON_TYPE_STR:
    case YYJSON_TYPE_RAW:
        if (unsafe_yyjson_get_len(one) != unsafe_yyjson_get_len(other))
            return DIFFERENT;
        return memcmp(one->uni.str, other->uni.str, unsafe_yyjson_get_len(one)) ? DIFFERENT : SAME;
    case YYJSON_TYPE_BOOL:
        return (one->tag & YYJSON_SUBTYPE_MASK) == (other->tag & YYJSON_SUBTYPE_MASK) ? SAME
                                                                                      : DIFFERENT;
    default:
        return SAME;
    }
}

static bool push_pair(dx_check *check, yyjson_val *one, yyjson_val *other) {
    size_t at;
    if (!dx__cells_push(check, PAIR_CELLS, &at))
        return false;
    pair next = {unsafe_yyjson_get_first(one), unsafe_yyjson_get_first(other), other,
                 unsafe_yyjson_get_len(one)};
    memcpy(check->cells + at, &next, sizeof next);
    return true;
}

/* The member of that name. Most often members are in the same order: the one after the last found
 * is tried first. */
static yyjson_val *find_like(dx_check *check, const pair *at, bool *ret_stopped) {
    yyjson_val *end = unsafe_yyjson_get_next(at->whole);
    yyjson_val *key = at->other;
    for (size_t left = unsafe_yyjson_get_len(at->whole); left; left--) {
        if (key == end)
            key = unsafe_yyjson_get_first(at->whole);
        if (!dx__step(check, 1)) {
            *ret_stopped = true;
            return NULL;
        }
        if (compare(at->one, key) == SAME)
            return key;
        key = unsafe_yyjson_get_next(key + 1);
    }
    return NULL;
}

static dx__out walk(dx_check *check, size_t floor, bool *ret_same) {
    *ret_same = true;
    while (check->cell_count > floor) {
        pair at;
        memcpy(&at, check->cells + check->cell_count - PAIR_CELLS, sizeof at);
        if (!at.left) {
            check->cell_count -= PAIR_CELLS;
            continue;
        }
        bool stopped = !dx__step(check, 1);
        bool object = yyjson_is_obj(at.whole);
        yyjson_val *one = at.one + object;
        yyjson_val *other = object && !stopped ? find_like(check, &at, &stopped) : at.other;
        if (stopped)
            return dx__stop_steps(check);
        if (!other) {
            *ret_same = false;
            return DX__FITS;
        }
        other += object;
        at.left--;
        at.one = unsafe_yyjson_get_next(one);
        at.other = unsafe_yyjson_get_next(other);
        memcpy(check->cells + check->cell_count - PAIR_CELLS, &at, sizeof at);
        enum likeness likeness = compare(one, other);
        if (likeness == DIFFERENT) {
            *ret_same = false;
            return DX__FITS;
        }
        if (likeness == DEEPER && !push_pair(check, one, other))
            return dx__stop_memory(check);
    }
    return DX__FITS;
}

dx__out dx__same(dx_check *check, yyjson_val *one, yyjson_val *other, bool *ret_same) {
    enum likeness likeness = compare(one, other);
    *ret_same = likeness == SAME;
    if (likeness != DEEPER)
        return DX__FITS;
    size_t floor = check->cell_count;
    if (!push_pair(check, one, other))
        return dx__stop_memory(check);
    dx__out out = walk(check, floor, ret_same);
    check->cell_count = floor;
    return out;
}

dx__out dx__values_have(dx_check *check, const dx__values *values, yyjson_val *value,
                        bool *ret_have) {
    *ret_have = false;
    if (yyjson_is_str(value)) {
        *ret_have = dx__names_have(&values->strings, unsafe_yyjson_get_str(value),
                                   unsafe_yyjson_get_len(value));
        return DX__FITS;
    }
    for (size_t i = 0; i < values->other_count && !*ret_have; i++) {
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        dx__out out = dx__same(check, values->others[i], value, ret_have);
        if (out != DX__FITS)
            return out;
    }
    return DX__FITS;
}

static uint64_t mix(uint64_t one, uint64_t other) {
    uint64_t word = (one ^ other) * UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 32) * UINT64_C(0xff51afd7ed558ccd);
    return word ^ word >> 29;
}

/* The same for 1 and 1.0, as both are the same value. */
static uint64_t hash_number(yyjson_val *number) {
    if (!yyjson_is_real(number))
        return number->uni.u64;
    double real = number->uni.f64;
    if (dx__real_is_whole(real) && real >= -9223372036854775808.0 && real < 18446744073709551616.0)
        return real < 0 ? (uint64_t)(int64_t)real : (uint64_t)real;
    return number->uni.u64;
}

static uint64_t hash_scalar(yyjson_val *value) {
    uint64_t type = value->tag & YYJSON_TYPE_MASK;
    switch (type) {
    case YYJSON_TYPE_NUM:
        return mix(type, hash_number(value));
    case YYJSON_TYPE_STR:
    case YYJSON_TYPE_RAW:
        return dx__hash(type, (dx_text){value->uni.str, unsafe_yyjson_get_len(value)});
    case YYJSON_TYPE_BOOL:
        return mix(type, value->tag & YYJSON_SUBTYPE_MASK);
    default:
        return mix(type, unsafe_yyjson_get_len(value));
    }
}

typedef struct visit {
    yyjson_val *at;
    uint64_t path; /* what lies above, as a hash */
    uint64_t left;
    uint64_t object;
} visit;

enum { VISIT_CELLS = sizeof(visit) / sizeof(uint64_t) };

static bool push_visit(dx_check *check, yyjson_val *value, uint64_t path) {
    size_t at;
    if (!dx__cells_push(check, VISIT_CELLS, &at))
        return false;
    visit next = {unsafe_yyjson_get_first(value), path, unsafe_yyjson_get_len(value),
                  yyjson_is_obj(value)};
    memcpy(check->cells + at, &next, sizeof next);
    return true;
}

/* The sum of what all leaves give with the way to each: members may come in any order. */
static dx__out hash_value(dx_check *check, yyjson_val *value, uint64_t *ret_hash) {
    uint64_t sum = hash_scalar(value);
    size_t floor = check->cell_count;
    if (is_container(value) && !push_visit(check, value, sum))
        return dx__stop_memory(check);
    while (check->cell_count > floor) {
        visit at;
        memcpy(&at, check->cells + check->cell_count - VISIT_CELLS, sizeof at);
        if (!at.left) {
            check->cell_count -= VISIT_CELLS;
            continue;
        }
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        uint64_t token = at.object ? dx__hash(1, dx__text_of(at.at)) : at.left;
        yyjson_val *child = at.at + at.object;
        at.left--;
        at.at = unsafe_yyjson_get_next(child);
        memcpy(check->cells + check->cell_count - VISIT_CELLS, &at, sizeof at);
        uint64_t path = mix(at.path, token);
        sum += mix(path, hash_scalar(child));
        if (is_container(child) && !push_visit(check, child, path))
            return dx__stop_memory(check);
    }
    *ret_hash = sum;
    return DX__FITS;
}

/* A place in the table of items by their hash. */
typedef struct slot {
    uint64_t hash;
    yyjson_val *item;
    uint64_t index;
} slot;

enum { SLOT_CELLS = sizeof(slot) / sizeof(uint64_t), FEW = 8 };

static dx__out unique_few(dx_check *check, yyjson_val *array, bool *ret_unique,
                          uint64_t ret_pair[2]) {
    yyjson_val *items[FEW];
    size_t count = unsafe_yyjson_get_len(array);
    yyjson_val *at = unsafe_yyjson_get_first(array);
    for (size_t i = 0; i < count; i++, at = unsafe_yyjson_get_next(at)) {
        items[i] = at;
        for (size_t j = 0; j < i; j++) {
            bool same;
            dx__out out = dx__same(check, items[j], at, &same);
            if (out != DX__FITS)
                return out;
            if (same) {
                ret_pair[0] = j;
                ret_pair[1] = i;
                *ret_unique = false;
                return DX__FITS;
            }
        }
    }
    return DX__FITS;
}

/* Puts an item into the table, unless one like it is there. */
static dx__out put_item(dx_check *check, size_t table, size_t mask, slot item, bool *ret_unique,
                        uint64_t ret_pair[2]) {
    for (size_t at = item.hash & mask;; at = (at + 1) & mask) {
        slot here;
        memcpy(&here, check->cells + table + at * SLOT_CELLS, sizeof here);
        if (!dx__step(check, 1))
            return dx__stop_steps(check);
        if (!here.item) {
            memcpy(check->cells + table + at * SLOT_CELLS, &item, sizeof item);
            return DX__FITS;
        }
        if (here.hash != item.hash)
            continue;
        bool same;
        dx__out out = dx__same(check, here.item, item.item, &same);
        if (out != DX__FITS)
            return out;
        if (same) {
            ret_pair[0] = here.index;
            ret_pair[1] = item.index;
            *ret_unique = false;
            return DX__FITS;
        }
    }
}

static dx__out unique_many(dx_check *check, yyjson_val *array, bool *ret_unique,
                           uint64_t ret_pair[2]) {
    size_t count = unsafe_yyjson_get_len(array);
    size_t cap = 16;
    while (cap < count * 2)
        cap *= 2;
    size_t table;
    if (!dx__cells_push(check, cap * SLOT_CELLS, &table))
        return dx__stop_memory(check);
    memset(check->cells + table, 0, cap * SLOT_CELLS * sizeof(uint64_t));
    yyjson_val *at = unsafe_yyjson_get_first(array);
    for (size_t i = 0; i < count && *ret_unique; i++, at = unsafe_yyjson_get_next(at)) {
        slot item = {0, at, i};
        dx__out out = hash_value(check, at, &item.hash);
        if (out == DX__FITS)
            out = put_item(check, table, cap - 1, item, ret_unique, ret_pair);
        if (out != DX__FITS)
            return out;
    }
    return DX__FITS;
}

dx__out dx__unique(dx_check *check, yyjson_val *array, bool *ret_unique, uint64_t ret_pair[2]) {
    size_t floor = check->cell_count;
    *ret_unique = true;
    dx__out out = unsafe_yyjson_get_len(array) <= FEW
                      ? unique_few(check, array, ret_unique, ret_pair)
                      : unique_many(check, array, ret_unique, ret_pair);
    check->cell_count = floor;
    return out;
}
