#include "rpc/double.h"

#include <stdbool.h>
#include <string.h>
#include <yyjson.h>

/* The shortest digits that mean the number, and where its point stands: 0.digits times 10 to the
 * power of `point`. */
struct decimal {
    char digits[DX__DOUBLE_ROOM];
    size_t count;
    long point;
};

/* Of what yyjson writes for a double: 12.5, 1e21, 5e-324. */
static void take_apart(const char *text, struct decimal *decimal) {
    bool behind = false;
    long exponent = 0;
    *decimal = (struct decimal){.count = 0};
    for (; *text && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            behind = true;
        } else if (decimal->count || *text != '0') {
            decimal->digits[decimal->count++] = *text;
            decimal->point += !behind;
        } else {
            decimal->point -= behind;
        }
    }
    if (*text) {
        bool negative = text[1] == '-';
        for (text += 1 + (text[1] == '-' || text[1] == '+'); *text; text++)
            exponent = exponent * 10 + (*text - '0');
        decimal->point += negative ? -exponent : exponent;
    }
    while (decimal->count && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

static char *put(char *to, const char *from, size_t count) {
    memcpy(to, from, count);
    return to + count;
}

static char *put_zeros(char *to, long count) {
    for (; count > 0; count--)
        *to++ = '0';
    return to;
}

static char *put_exponent(char *to, long exponent) {
    char digits[8];
    size_t count = 0;
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    for (unsigned long left = (unsigned long)(exponent < 0 ? -exponent : exponent); left;
         left /= 10)
        digits[count++] = (char)('0' + left % 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* The rules of ECMA-262, Number::toString. */
static char *write_decimal(char *to, const struct decimal *decimal) {
    long point = decimal->point;
    long count = (long)decimal->count;
    if (count <= point && point <= 21)
        return put_zeros(put(to, decimal->digits, decimal->count), point - count);
    if (point > 0 && point <= 21) {
        *(to = put(to, decimal->digits, (size_t)point)) = '.';
        return put(to + 1, decimal->digits + point, decimal->count - (size_t)point);
    }
    if (point > -6 && point <= 0)
        return put(put_zeros(put(to, "0.", 2), -point), decimal->digits, decimal->count);
    *to++ = decimal->digits[0];
    if (count > 1) {
        *to++ = '.';
        to = put(to, decimal->digits + 1, decimal->count - 1);
    }
    return put_exponent(to, point - 1);
}

/* False: it is none, or has more digits than anybody means. */
static bool read_number(dx_text text, double *ret) {
    char copy[400];
    yyjson_val value;
    if (!text.len || text.len >= sizeof copy || !strchr("-0123456789", text.at[0]))
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    const char *end = yyjson_read_number(copy, &value, 0, NULL, NULL);
    if (end != copy + text.len)
        return false;
    *ret = yyjson_get_num(&value);
    return true;
}

dx_text dx__double_text(dx_text number, char room[DX__DOUBLE_ROOM]) {
    struct decimal decimal;
    double value;
    char written[64];
    yyjson_alc alc;
    char pool[1024];
    yyjson_val real = {0};
    size_t len = 0;
    if (!read_number(number, &value))
        return number;
    if (value == 0)
        return dx_str("0");
    if (!yyjson_alc_pool_init(&alc, pool, sizeof pool))
        return number;
    yyjson_set_real(&real, value < 0 ? -value : value);
    char *text = yyjson_val_write_opts(&real, 0, &alc, &len, NULL);
    if (!text || len >= sizeof written)
        return number;
    memcpy(written, text, len + 1);
    take_apart(written, &decimal);
    char *to = room;
    if (value < 0)
        *to++ = '-';
    to = write_decimal(to, &decimal);
    return (dx_text){room, (size_t)(to - room)};
}
