#include "toml/tagged.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_MAX = 1000, TIME_MAX = 100 };

static bool is_tagged(yyjson_val *value) {
    return yyjson_is_obj(value) && yyjson_obj_size(value) == 2 &&
           yyjson_is_str(yyjson_obj_get(value, "type")) &&
           yyjson_is_str(yyjson_obj_get(value, "value"));
}

static bool same_double(double one, double other) {
    return isnan(one) ? isnan(other) : one == other;
}

static bool is_float(yyjson_val *value, const char *text) {
    double number = strcmp(text, "inf") == 0 || strcmp(text, "+inf") == 0 ? (double)INFINITY
                    : strcmp(text, "-inf") == 0                           ? -(double)INFINITY
                    : strstr(text, "nan")                                 ? (double)NAN
                                                                          : strtod(text, NULL);
    return yyjson_is_real(value) && same_double(yyjson_get_real(value), number);
}

/* Zeros at the end of a fraction say nothing, and neither does one of nothing else. */
static void without_zeros(const char *text, char to[TIME_MAX]) {
    snprintf(to, TIME_MAX, "%s", text);
    char *point = strchr(to, '.');
    if (!point)
        return;
    char *end = point + 1 + strspn(point + 1, "0123456789");
    char *last = end;
    while (last > point && (last[-1] == '0' || last[-1] == '.'))
        last--;
    memmove(last, end, strlen(end) + 1);
}

static bool is_time(yyjson_val *value, const char *text, dx_toml_kind kind) {
    char one[TIME_MAX];
    char other[TIME_MAX];
    if (dx_toml_kind_of(value) != kind)
        return false;
    without_zeros(yyjson_get_str(value), one);
    without_zeros(text, other);
    return strcmp(one, other) == 0;
}

static bool is_string(yyjson_val *value, yyjson_val *text) {
    return yyjson_is_str(value) && dx_toml_kind_of(value) == DX_TOML_OTHER &&
           yyjson_equals_strn(value, yyjson_get_str(text), yyjson_get_len(text));
}

static bool scalar_equal(yyjson_val *value, yyjson_val *tagged) {
    static const struct {
        const char *type;
        dx_toml_kind kind;
    } times[] = {
        {"datetime", DX_TOML_OFFSET_DATETIME},
        {"datetime-local", DX_TOML_LOCAL_DATETIME},
        {"date-local", DX_TOML_LOCAL_DATE},
        {"time-local", DX_TOML_LOCAL_TIME},
    };
    const char *type = yyjson_get_str(yyjson_obj_get(tagged, "type"));
    yyjson_val *told = yyjson_obj_get(tagged, "value");
    const char *text = yyjson_get_str(told);
    if (strcmp(type, "string") == 0)
        return is_string(value, told);
    if (strcmp(type, "integer") == 0)
        return yyjson_is_int(value) && yyjson_get_sint(value) == strtoll(text, NULL, 10);
    if (strcmp(type, "float") == 0)
        return is_float(value, text);
    if (strcmp(type, "bool") == 0)
        return yyjson_is_bool(value) && yyjson_get_bool(value) == (strcmp(text, "true") == 0);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(type, times[i].type) == 0)
            return is_time(value, text, times[i].kind);
    return false;
}

static bool array_equal(yyjson_val *value, yyjson_val *tagged, const char *place) {
    char inner[PLACE_MAX];
    size_t i;
    size_t count;
    yyjson_val *item;
    if (!yyjson_is_arr(value) || yyjson_arr_size(value) != yyjson_arr_size(tagged)) {
        printf("%s: another array\n", place);
        return false;
    }
    yyjson_arr_foreach(tagged, i, count, item) {
        snprintf(inner, sizeof inner, "%.900s/%zu", place, i);
        if (!tagged_equal(yyjson_arr_get(value, i), item, inner))
            return false;
    }
    return true;
}

bool tagged_equal(yyjson_val *value, yyjson_val *tagged, const char *place) {
    char inner[PLACE_MAX];
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *member;
    if (yyjson_is_arr(tagged))
        return array_equal(value, tagged, place);
    if (is_tagged(tagged)) {
        bool equal = scalar_equal(value, tagged);
        if (!equal)
            printf("%s: another value\n", place);
        return equal;
    }
    if (!yyjson_is_obj(value) || yyjson_obj_size(value) != yyjson_obj_size(tagged)) {
        printf("%s: another table\n", place);
        return false;
    }
    yyjson_obj_foreach(tagged, i, count, key, member) {
        snprintf(inner, sizeof inner, "%.900s/%.50s", place, unsafe_yyjson_get_str(key));
        if (!tagged_equal(yyjson_obj_getn(value, yyjson_get_str(key), yyjson_get_len(key)), member,
                          inner))
            return false;
    }
    return true;
}
