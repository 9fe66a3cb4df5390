/* JSON that is merged: configurations, and results of actions by their rules. */
#include "systems/finecode/merge.h"

#include <stdlib.h>

/* How deep the functions here call themselves: from there on the second simply wins. Nothing that
 * was read is deeper, but what is built of it may be. */
enum { DEPTH = DX__FINECODE_DEPTH_MAX };

static int compare(const void *left, const void *right) {
    yyjson_mut_val *a = *(yyjson_mut_val *const *)left;
    yyjson_mut_val *b = *(yyjson_mut_val *const *)right;
    size_t a_len = yyjson_mut_get_len(a);
    size_t b_len = yyjson_mut_get_len(b);
    if (a_len != b_len)
        return a_len < b_len ? -1 : 1;
    return memcmp(yyjson_mut_get_str(a), yyjson_mut_get_str(b), a_len);
}

dx_status dx__finecode_keys_init(dx__finecode_keys *keys, yyjson_mut_doc *doc,
                                 yyjson_mut_val *object) {
    size_t count = yyjson_mut_obj_size(object);
    *keys = (dx__finecode_keys){.alc = doc->alc, .object = object};
    if (count < DX__FINECODE_KEYS_FEW)
        return DX_OK;
    keys->sorted = keys->alc.malloc(keys->alc.ctx, count * sizeof(yyjson_mut_val *));
    if (!keys->sorted)
        return DX_ERR_NOMEM;
    size_t index;
    size_t total;
    yyjson_mut_val *key;
    yyjson_mut_val *value;
    yyjson_mut_obj_foreach(object, index, total, key, value) {
        (void)value;
        keys->sorted[keys->count++] = key;
    }
    qsort(keys->sorted, keys->count, sizeof *keys->sorted, compare);
    return DX_OK;
}

void dx__finecode_keys_done(dx__finecode_keys *keys) {
    if (keys->sorted)
        keys->alc.free(keys->alc.ctx, keys->sorted);
}

yyjson_mut_val *dx__finecode_keys_find(const dx__finecode_keys *keys, dx_text name) {
    if (!keys->sorted)
        return yyjson_mut_obj_getn(keys->object, name.at, name.len);
    yyjson_mut_val wanted = {0};
    yyjson_mut_set_strn(&wanted, name.at, name.len);
    yyjson_mut_val *key = &wanted;
    yyjson_mut_val **found =
        bsearch(&key, keys->sorted, keys->count, sizeof *keys->sorted, compare);
    return found ? (*found)->next : NULL; /* the value stands behind its key */
}

void dx__finecode_become(yyjson_mut_val *value, const yyjson_mut_val *other) {
    value->tag = other->tag;
    value->uni = other->uni;
}

static bool merge_into(yyjson_mut_doc *doc, yyjson_mut_val *first, yyjson_val *second,
                       unsigned depth);

static bool merge_objects(yyjson_mut_doc *doc, yyjson_mut_val *first, yyjson_val *second,
                          unsigned depth) {
    dx__finecode_keys keys;
    if (dx__finecode_keys_init(&keys, doc, first) != DX_OK)
        return false;
    bool done = true;
    size_t index;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(second, index, count, key, value) {
        yyjson_mut_val *old = dx__finecode_keys_find(&keys, dx_json_string(key));
        done = done && (old ? merge_into(doc, old, value, depth + 1)
                            : yyjson_mut_obj_add(first, yyjson_val_mut_copy(doc, key),
                                                 yyjson_val_mut_copy(doc, value)));
    }
    dx__finecode_keys_done(&keys);
    return done;
}

static bool merge_into(yyjson_mut_doc *doc, yyjson_mut_val *first, yyjson_val *second,
                       unsigned depth) {
    if (depth < DEPTH && yyjson_mut_is_obj(first) && yyjson_is_obj(second))
        return merge_objects(doc, first, second, depth);
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, second);
    if (copy)
        dx__finecode_become(first, copy);
    return copy;
}

yyjson_mut_val *dx__finecode_deep_merge(yyjson_mut_doc *doc, yyjson_mut_val *first,
                                        yyjson_val *second) {
    if (!first || !second)
        return first ? yyjson_mut_val_mut_copy(doc, first) : yyjson_val_mut_copy(doc, second);
    yyjson_mut_val *copy = yyjson_mut_val_mut_copy(doc, first);
    return copy && merge_into(doc, copy, second, 0) ? copy : NULL;
}
