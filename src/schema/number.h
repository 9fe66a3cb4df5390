/* Numbers as yyjson has them: compared by value, without loss between integers and reals. */
#ifndef DX_SCHEMA_NUMBER_H
#define DX_SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

static inline bool dx__real_is_whole(double real) {
    if (real >= 9007199254740992.0 || real <= -9007199254740992.0)
        return real - real == 0; /* all that large are, but the infinite */
    return (double)(int64_t)real == real;
}

/* A number that is kept as its text is one that no double holds. */
static inline double dx__real_of(yyjson_val *real) {
    if (!yyjson_is_raw(real))
        return real->uni.f64;
    return real->uni.str[0] == '-' ? -__builtin_inf() : __builtin_inf();
}

int dx__number_compare_any(yyjson_val *one, yyjson_val *other);
/* <0, 0, >0. Both must be numbers. Most are integers that are not negative. */
static inline int dx__number_compare(yyjson_val *one, yyjson_val *other) {
    if (unsafe_yyjson_is_uint(one) && unsafe_yyjson_is_uint(other))
        return (one->uni.u64 > other->uni.u64) - (one->uni.u64 < other->uni.u64);
    return dx__number_compare_any(one, other);
}

/* What a number has in decimals: mantissa * 10^exponent, sign left away. */
typedef struct dx__decimal {
    uint64_t mantissa;
    int exponent;
} dx__decimal;

/* false for the infinite. */
bool dx__decimal_of(yyjson_val *number, dx__decimal *ret_decimal);
/* Is it `unit` times an integer? The mantissa of the unit must not be 0. */
bool dx__decimal_is_multiple(dx__decimal number, dx__decimal unit);

/* For counts in schemas: an integer that is not negative, 2.0 among them. */
bool dx__number_count(yyjson_val *value, uint64_t *ret_count);

/* Writes a number as JSON has it; returns the length. */
enum { DX__NUMBER_ROOM = 40 };
size_t dx__number_write(yyjson_val *number, char text[DX__NUMBER_ROOM]);

#endif
