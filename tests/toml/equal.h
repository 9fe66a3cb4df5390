/* Are two values that TOML can say the same, whatever the order of members? */
#ifndef TOML_EQUAL_H
#define TOML_EQUAL_H

#include <duplex/toml.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool values_equal(yyjson_val *one, yyjson_val *other);

/* Of a real: -0.0 and 0.0 differ, and a nan is itself. */
static inline uint64_t bits_of(yyjson_val *value) {
    double number = yyjson_get_real(value);
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline bool members_equal(yyjson_val *one, yyjson_val *other) {
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *member;
    yyjson_obj_foreach(
        one, i, count, key,
        member) if (!values_equal(member, yyjson_obj_getn(other, yyjson_get_str(key),
                                                          yyjson_get_len(key)))) return false;
    return yyjson_obj_size(one) == yyjson_obj_size(other);
}

static inline bool items_equal(yyjson_val *one, yyjson_val *other) {
    if (yyjson_arr_size(one) != yyjson_arr_size(other))
        return false;
    yyjson_arr_iter items = yyjson_arr_iter_with(one);
    yyjson_arr_iter others = yyjson_arr_iter_with(other);
    yyjson_val *item;
    while ((item = yyjson_arr_iter_next(&items)))
        if (!values_equal(item, yyjson_arr_iter_next(&others)))
            return false;
    return true;
}

static inline bool values_equal(yyjson_val *one, yyjson_val *other) {
    if (!one || !other || yyjson_get_type(one) != yyjson_get_type(other) ||
        dx_toml_kind_of(one) != dx_toml_kind_of(other))
        return false;
    if (yyjson_is_obj(one))
        return members_equal(one, other);
    if (yyjson_is_arr(one))
        return items_equal(one, other);
    if (yyjson_is_real(one)) {
        return yyjson_is_real(other) && bits_of(one) == bits_of(other);
    }
    /* yyjson keeps a sign of the integer -0, which TOML does not. */
    if (yyjson_is_int(one))
        return yyjson_is_int(other) && yyjson_get_sint(one) == yyjson_get_sint(other);
    return yyjson_equals(one, other);
}

#endif
