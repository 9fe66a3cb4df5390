#include "toml/reader.h"

enum { FLOAT_ROOM = 64 };

/* Digits of a base, with single underscores between them. False if there is none, or an underscore
 * has none at one of its sides. */
static bool skip_digits(dx__toml_reader *reader) {
    if (!dx__toml_is_digit(dx__toml_peek(reader)))
        return dx__toml_expected(reader, "a digit");
    while (dx__toml_is_digit(dx__toml_peek(reader))) {
        reader->at++;
        if (dx__toml_take(reader, '_') && !dx__toml_is_digit(dx__toml_peek(reader)))
            return dx__toml_expected(reader, "a digit after '_'");
    }
    return true;
}

static unsigned digit_value(int c) {
    if (dx__toml_is_digit(c))
        return (unsigned)(c - '0');
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (unsigned)((c | 0x20) - 'a') + 10 : 99;
}

/* Its digits may be followed by one that is none in that base, which whoever comes next refuses. */
static bool integer(dx__toml_reader *reader, const char *from, unsigned base, bool negative,
                    yyjson_mut_val *value) {
    uint64_t most = (uint64_t)INT64_MAX + negative;
    uint64_t number = 0;
    for (reader->at = from; reader->at < reader->end; reader->at++) {
        if (*reader->at == '_')
            continue;
        unsigned digit = digit_value((unsigned char)*reader->at);
        if (digit >= base)
            break;
        if (number > (most - digit) / base && !reader->config.raw_numbers)
            return dx__toml_refuse(reader, from, "the integer does not fit in 64 bits");
        number = number * base + digit;
    }
    if (negative && number)
        yyjson_mut_set_sint(value, (int64_t)(0 - number));
    else
        yyjson_mut_set_uint(value, number);
    return true;
}

/* "0x", "0o" and "0b": behind the zero, at the letter. */
static bool based_integer(dx__toml_reader *reader, unsigned base, yyjson_mut_val *value) {
    const char *from = ++reader->at;
    if (digit_value(dx__toml_peek(reader)) >= base)
        return dx__toml_expected(reader, "a digit");
    while (digit_value(dx__toml_peek(reader)) < base) {
        reader->at++;
        if (dx__toml_take(reader, '_') && digit_value(dx__toml_peek(reader)) >= base)
            return dx__toml_expected(reader, "a digit after '_'");
    }
    return integer(reader, from, base, false, value);
}

/* yyjson reads it, as JSON writes it: without a plus in front and without underscores. */
static bool convert(dx__toml_reader *reader, const char *from, yyjson_mut_val *value) {
    if (reader->config.raw_numbers)
        return true;
    char room[FLOAT_ROOM];
    size_t len = (size_t)(reader->at - from);
    char *text = len < sizeof room ? room : dx__toml_keep(reader, len + 1);
    if (!text)
        return false;
    char *to = text;
    for (const char *at = from + (*from == '+'); at < reader->at; at++)
        if (*at != '_')
            *to++ = *at;
    *to = '\0';
    yyjson_alc alc = {reader->alloc.malloc, reader->alloc.realloc, reader->alloc.free,
                      reader->alloc.ctx};
    yyjson_read_err error;
    if (yyjson_mut_read_number(text, value, 0, &alc, &error))
        return true;
    if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return dx__toml_no_memory(reader);
    return dx__toml_refuse(reader, from, "the float is too large for 64 bits");
}

static bool fraction_and_exponent(dx__toml_reader *reader) {
    if (dx__toml_take(reader, '.') && !skip_digits(reader))
        return false;
    if (dx__toml_take(reader, 'e') || dx__toml_take(reader, 'E')) {
        if (!dx__toml_take(reader, '+'))
            dx__toml_take(reader, '-');
        return skip_digits(reader);
    }
    return true;
}

static bool is_word(const dx__toml_reader *reader, const char *word) {
    return dx__toml_left(reader) >= 3 && memcmp(reader->at, word, 3) == 0;
}

/* Reals that JSON does not have, by their bits. */
static bool special(dx__toml_reader *reader, bool negative, yyjson_mut_val *value) {
    uint64_t bits =
        is_word(reader, "inf") ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7ff8000000000000);
    double number;
    bits |= (uint64_t)negative << 63;
    memcpy(&number, &bits, sizeof number);
    yyjson_mut_set_real(value, number);
    reader->at += 3;
    return true;
}

bool dx__toml_number(dx__toml_reader *reader, yyjson_mut_val *value) {
    const char *from = reader->at;
    bool negative = *from == '-';
    bool is_signed = negative || *from == '+';
    reader->at += is_signed;
    if (is_word(reader, "inf") || is_word(reader, "nan"))
        return special(reader, negative, value);
    const char *digits = reader->at;
    if (!is_signed && dx__toml_take(reader, '0')) {
        int c = dx__toml_peek(reader);
        unsigned base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
        if (base)
            return based_integer(reader, base, value);
        reader->at = digits;
    }
    if (!skip_digits(reader))
        return false;
    if (*digits == '0' && reader->at - digits > 1)
        return dx__toml_refuse(reader, digits, "a number cannot begin with 0");
    const char *whole = reader->at;
    if (!fraction_and_exponent(reader))
        return false;
    return reader->at > whole ? convert(reader, from, value)
                              : integer(reader, digits, 10, negative, value);
}
