/* What a result has more than the one that it went on from. Both come from runners: nothing here
 * takes more than n log n, however many members there are and in whatever order. */
#include "systems/finecode/run_parts.h"

#include <stdlib.h>

enum {
    DEPTH_MAX = 32, /* a change deeper than this counts as a new value */
    FEW = 16        /* members that are simply looked through */
};

static yyjson_mut_val *delta_of(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *now,
                                unsigned depth);

/* The same values in the same order. Values lie one behind the other, those of containers, too. */
static bool is_same(yyjson_val *one, yyjson_val *other) {
    yyjson_val *end = unsafe_yyjson_get_next(one);
    for (; one < end; one++, other++) {
        if (one->tag != other->tag)
            return false;
        bool is_text = yyjson_is_str(one) || yyjson_is_raw(one);
        bool is_equal = is_text
                            ? memcmp(one->uni.str, other->uni.str, unsafe_yyjson_get_len(one)) == 0
                        : yyjson_is_num(one) ? one->uni.u64 == other->uni.u64
                                             : true;
        if (!is_equal)
            return false;
    }
    return true;
}

static bool is_prefix(yyjson_val *before, yyjson_val *now) {
    size_t index;
    size_t count;
    yyjson_val *item;
    yyjson_val *other = yyjson_arr_get_first(now);
    if (yyjson_arr_size(before) > yyjson_arr_size(now))
        return false;
    yyjson_arr_foreach(before, index, count, item) {
        if (!is_same(item, other))
            return false;
        other = unsafe_yyjson_get_next(other);
    }
    return true;
}

static yyjson_mut_val *array_delta(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *now) {
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    size_t skip = yyjson_arr_size(before);
    size_t index;
    size_t count;
    yyjson_val *item;
    yyjson_arr_foreach(now, index, count, item) {
        if (index < skip)
            continue;
        yyjson_mut_val *copy = yyjson_val_mut_copy(doc, item);
        if (!list || !copy || !yyjson_mut_arr_append(list, copy))
            return NULL;
    }
    return list;
}

/* The members of an object by their names. */
struct index {
    yyjson_val *object;
    yyjson_val **keys; /* sorted; NULL: there are few */
    size_t count;
};

static int by_name(const void *one, const void *other) {
    yyjson_val *a = *(yyjson_val *const *)one;
    yyjson_val *b = *(yyjson_val *const *)other;
    size_t shorter = yyjson_get_len(a) < yyjson_get_len(b) ? yyjson_get_len(a) : yyjson_get_len(b);
    int order = memcmp(yyjson_get_str(a), yyjson_get_str(b), shorter);
    return order
               ? order
               : (yyjson_get_len(a) > yyjson_get_len(b)) - (yyjson_get_len(a) < yyjson_get_len(b));
}

static bool index_open(struct index *index, yyjson_mut_doc *doc, yyjson_val *object) {
    size_t at;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    *index = (struct index){.object = object, .count = yyjson_obj_size(object)};
    if (index->count <= FEW)
        return true;
    index->keys = doc->alc.malloc(doc->alc.ctx, index->count * sizeof(yyjson_val *));
    if (!index->keys)
        return false;
    yyjson_obj_foreach(object, at, count, key, value) {
        (void)value;
        index->keys[at] = key;
    }
    qsort(index->keys, index->count, sizeof(yyjson_val *), by_name);
    return true;
}

static void index_close(struct index *index, yyjson_mut_doc *doc) {
    if (index->keys)
        doc->alc.free(doc->alc.ctx, index->keys);
}

static yyjson_val *index_find(const struct index *index, yyjson_val *key) {
    if (!index->keys)
        return yyjson_obj_getn(index->object, yyjson_get_str(key), yyjson_get_len(key));
    yyjson_val **found = bsearch(&key, index->keys, index->count, sizeof(yyjson_val *), by_name);
    return found ? unsafe_yyjson_get_next(*found) : NULL;
}

/* An object whose members only stand in another order is nothing new. */
static bool is_nothing(yyjson_val *now, yyjson_mut_val *delta) {
    return yyjson_mut_is_obj(delta) && !yyjson_mut_obj_size(delta) && yyjson_is_obj(now) &&
           yyjson_obj_size(now);
}

static yyjson_mut_val *object_delta(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *now,
                                    unsigned depth) {
    struct index index;
    size_t at;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    if (!object || !index_open(&index, doc, before))
        return NULL;
    yyjson_obj_foreach(now, at, count, key, value) {
        yyjson_val *old = index_find(&index, key);
        if (old && is_same(old, value))
            continue;
        yyjson_mut_val *delta = delta_of(doc, old, value, depth);
        if (old && delta && is_nothing(value, delta))
            continue;
        yyjson_mut_val *name = yyjson_val_mut_copy(doc, key);
        if (!name || !delta || !yyjson_mut_obj_add(object, name, delta)) {
            object = NULL;
            break;
        }
    }
    index_close(&index, doc);
    return object;
}

static yyjson_mut_val *delta_of(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *now,
                                unsigned depth) {
    if (before && depth < DEPTH_MAX) {
        if (yyjson_is_arr(before) && yyjson_is_arr(now) && is_prefix(before, now))
            return array_delta(doc, before, now);
        if (yyjson_is_obj(before) && yyjson_is_obj(now))
            return object_delta(doc, before, now, depth + 1);
    }
    return yyjson_val_mut_copy(doc, now);
}

yyjson_mut_val *dx__finecode_delta(yyjson_mut_doc *doc, yyjson_val *before, yyjson_val *now) {
    return delta_of(doc, before, now, 0);
}
