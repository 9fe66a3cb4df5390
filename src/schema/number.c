#include "schema/number.h"

#include <string.h>

enum { NEVER_NEGATIVE, NEGATIVE, REAL };

static int kind_of(yyjson_val *number) {
    if (yyjson_is_raw(number))
        return REAL;
    switch (number->tag & YYJSON_SUBTYPE_MASK) {
    case YYJSON_SUBTYPE_REAL:
        return REAL;
    case YYJSON_SUBTYPE_SINT:
        return number->uni.i64 < 0 ? NEGATIVE : NEVER_NEGATIVE;
    default:
        return NEVER_NEGATIVE;
    }
}

#define ORDER(one, other) (((one) > (other)) - ((one) < (other)))

static int compare_positive(uint64_t integer, double real) {
    if (real < 0)
        return 1;
    if (real >= 18446744073709551616.0)
        return -1;
    uint64_t whole = (uint64_t)real;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    return real > (double)whole ? -1 : 0;
}

static int compare_negative(int64_t integer, double real) {
    if (real >= 0)
        return -1;
    if (real < -9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)real;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    return real < (double)whole ? 1 : 0;
}

int dx__number_compare_any(yyjson_val *one, yyjson_val *other) {
    int kind = kind_of(one);
    int kind_other = kind_of(other);
    if (kind == REAL && kind_other == REAL)
        return ORDER(dx__real_of(one), dx__real_of(other));
    if (kind == REAL)
        return -dx__number_compare_any(other, one);
    if (kind_other == REAL)
        return kind == NEGATIVE ? compare_negative(one->uni.i64, dx__real_of(other))
                                : compare_positive(one->uni.u64, dx__real_of(other));
    if (kind != kind_other)
        return kind == NEGATIVE ? -1 : 1;
    return kind == NEGATIVE ? ORDER(one->uni.i64, other->uni.i64)
                            : ORDER(one->uni.u64, other->uni.u64);
}

size_t dx__number_write(yyjson_val *number, char text[DX__NUMBER_ROOM]) {
    char room[1024];
    yyjson_alc alc;
    size_t len = 0;
    yyjson_alc_pool_init(&alc, room, sizeof room);
    const char *written =
        yyjson_val_write_opts(number, YYJSON_WRITE_ALLOW_INF_AND_NAN, &alc, &len, NULL);
    if (!written || len >= DX__NUMBER_ROOM)
        len = 0;
    else
        memcpy(text, written, len);
    text[len] = '\0';
    return len;
}

/* What is written is the shortest text that reads as that number: what people mean by it. */
static bool read_decimal(const char *at, size_t len, dx__decimal *ret_decimal) {
    const char *end = at + len;
    uint64_t mantissa = 0;
    int exponent = 0;
    int behind = 0; /* the point */
    for (at += at < end && *at == '-'; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            behind = 1;
            continue;
        }
        if (*at < '0' || *at > '9')
            return false;
        if (mantissa > (UINT64_MAX - 9) / 10) {
            exponent += !behind; /* digits beyond the 17 that matter are zeros */
            continue;
        }
        mantissa = mantissa * 10 + (uint64_t)(*at - '0');
        exponent -= behind;
    }
    if (at < end) {
        at++;
        int sign = at < end && *at == '-' ? -1 : 1;
        at += at < end && (*at == '-' || *at == '+');
        int written = 0;
        for (; at < end && written < 10000; at++)
            written = written * 10 + (*at - '0');
        exponent += sign * written;
    }
    *ret_decimal = (dx__decimal){mantissa, exponent};
    return len > 0;
}

bool dx__decimal_of(yyjson_val *number, dx__decimal *ret_decimal) {
    dx__decimal decimal = {0, 0};
    int kind = kind_of(number);
    if (kind == NEVER_NEGATIVE) {
        decimal.mantissa = number->uni.u64;
    } else if (kind == NEGATIVE) {
        decimal.mantissa = 0 - number->uni.u64;
    } else if (dx__real_of(number) > -9e15 && dx__real_of(number) < 9e15 &&
               dx__real_is_whole(dx__real_of(number))) {
        int64_t whole = (int64_t)dx__real_of(number);
        decimal.mantissa = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
    } else {
        char text[DX__NUMBER_ROOM];
        size_t len = dx__number_write(number, text);
        if (!read_decimal(text, len, &decimal))
            return false;
    }
    *ret_decimal = decimal;
    return true;
}

static uint64_t add_modulo(uint64_t one, uint64_t other, uint64_t modulus) {
    return one >= modulus - other ? one - (modulus - other) : one + other;
}

/* Without the 128 bits that would need a function of the compiler's. Both are below the modulus. */
static uint64_t times_modulo(uint64_t one, uint64_t other, uint64_t modulus) {
    uint64_t product = 0;
    for (; other; other >>= 1) {
        if (other & 1)
            product = one ? add_modulo(product, one, modulus) : product;
        one = one ? add_modulo(one, one, modulus) : 0;
    }
    return product;
}

bool dx__decimal_is_multiple(dx__decimal number, dx__decimal unit) {
    if (!number.mantissa)
        return true;
    int more = number.exponent - unit.exponent;
    if (more < 0) {
        /* The unit has zeros behind it that the number must have, too. */
        for (; more < 0 && number.mantissa % 10 == 0; more++)
            number.mantissa /= 10;
        return more == 0 && number.mantissa % unit.mantissa == 0;
    }
    if (!more)
        return number.mantissa % unit.mantissa == 0;
    uint64_t rest = number.mantissa % unit.mantissa;
    uint64_t power = 10 % unit.mantissa;
    for (; more; more >>= 1) {
        if (more & 1)
            rest = times_modulo(rest, power, unit.mantissa);
        power = times_modulo(power, power, unit.mantissa);
    }
    return rest == 0;
}

bool dx__number_count(yyjson_val *value, uint64_t *ret_count) {
    if (!yyjson_is_num(value))
        return false;
    int kind = kind_of(value);
    if (kind == NEVER_NEGATIVE) {
        *ret_count = value->uni.u64;
        return true;
    }
    double real = value->uni.f64;
    if (kind == NEGATIVE || !(real >= 0) || !dx__real_is_whole(real))
        return false;
    *ret_count = real < 18446744073709551616.0 ? (uint64_t)real : UINT64_MAX;
    return true;
}
