/* The hash of a JSON value that does not depend on the order of its keys. */
#include "base/sha256.h"
#include "systems/finecode/shared.h"

#include <stdlib.h>

static int by_name(const void *left, const void *right) {
    yyjson_val *a = *(yyjson_val *const *)left;
    yyjson_val *b = *(yyjson_val *const *)right;
    size_t a_len = yyjson_get_len(a);
    size_t b_len = yyjson_get_len(b);
    int order = memcmp(yyjson_get_str(a), yyjson_get_str(b), a_len < b_len ? a_len : b_len);
    /* Of two that are the same the first stays before the second. */
    return order ? order : a_len != b_len ? (a_len < b_len ? -1 : 1) : (a < b ? -1 : a > b);
}

static dx_status write_sorted(dx_buf *text, yyjson_val *value, unsigned depth);

static dx_status write_object(dx_buf *text, yyjson_val *object, unsigned depth) {
    size_t size = yyjson_obj_size(object);
    yyjson_val **keys = malloc((size + 1) * sizeof *keys);
    if (!keys)
        return DX_ERR_NOMEM;
    size_t index;
    size_t count;
    yyjson_val *key;
    yyjson_val *member;
    yyjson_obj_foreach(object, index, count, key, member) {
        (void)member;
        keys[index] = key;
    }
    qsort(keys, size, sizeof *keys, by_name);
    dx_status status = dx_buf_append(text, "{", 1);
    for (size_t i = 0; status == DX_OK && i < size; i++) {
        status = i ? dx_buf_append(text, ",", 1) : DX_OK;
        if (status == DX_OK)
            status = dx_json_write(text, dx_json_value(keys[i]));
        if (status == DX_OK)
            status = dx_buf_append(text, ":", 1);
        if (status == DX_OK)
            status = write_sorted(text, yyjson_obj_iter_get_val(keys[i]), depth + 1);
    }
    free(keys);
    return status == DX_OK ? dx_buf_append(text, "}", 1) : status;
}

static dx_status write_array(dx_buf *text, yyjson_val *array, unsigned depth) {
    dx_status status = dx_buf_append(text, "[", 1);
    size_t index;
    size_t count;
    yyjson_val *item;
    yyjson_arr_foreach(array, index, count, item) {
        if (status == DX_OK && index)
            status = dx_buf_append(text, ",", 1);
        if (status == DX_OK)
            status = write_sorted(text, item, depth + 1);
    }
    return status == DX_OK ? dx_buf_append(text, "]", 1) : status;
}

/* Deeper than a message may be, keys stay in their order. */
static dx_status write_sorted(dx_buf *text, yyjson_val *value, unsigned depth) {
    if (depth < DX__FINECODE_DEPTH_MAX && yyjson_is_obj(value))
        return write_object(text, value, depth);
    if (depth < DX__FINECODE_DEPTH_MAX && yyjson_is_arr(value))
        return write_array(text, value, depth);
    return dx_json_write(text, dx_json_value(value));
}

void dx__finecode_hash(yyjson_val *value, char room[65]) {
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, NULL);
    dx_status status = value ? write_sorted(&text, value, 0) : dx_buf_append(&text, "null", 4);
    room[0] = '\0';
    if (status == DX_OK)
        dx__sha256((dx_text){text.data, text.len}, room);
    dx_buf_done(&text);
}
