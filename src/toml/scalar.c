/* What is written in one piece: strings, keys, numbers, words, dates. */
#include "base/buf.h"
#include "base/line.h"
#include "toml/text.h"
#include "toml/time.h"
#include "toml/writer.h"

void dx__toml_put_text(dx__toml_writer *writer, const char *text, size_t len) {
    if (writer->status != DX_OK)
        return;
    dx_status status = dx__buf_put(writer->buf, text, len);
    if (status != DX_OK)
        dx__toml_level_refuse(writer, status,
                              status == DX_ERR_LIMIT ? "the text is longer than the buffer may be"
                                                     : "out of memory");
}

static void put_escape(dx__toml_writer *writer, unsigned char c) {
    static const char hex[] = "0123456789ABCDEF";
    static const char letters[] = "btn?fr";
    if (c == '"' || c == '\\') {
        dx__toml_put_text(writer, (char[]){'\\', (char)c}, 2);
    } else if (c >= '\b' && c <= '\r' && c != '\v') {
        dx__toml_put_text(writer, (char[]){'\\', letters[c - '\b']}, 2);
    } else {
        DX__TOML_PUT(writer, "\\u00");
        dx__toml_put_text(writer, (char[]){hex[c >> 4], hex[c & 15]}, 2);
    }
}

static bool is_plain(unsigned char c) {
    return c >= 0x20 && c != 0x7f && c != '"' && c != '\\';
}

/* A literal string has no escapes: what it can hold, and what is easier to read in one. */
static bool wants_literal(dx_text text) {
    bool odd = false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '\'' || c == 0x7f || (c < 0x20 && c != '\t'))
            return false;
        odd |= c == '"' || c == '\\';
    }
    return odd;
}

void dx__toml_put_string(dx__toml_writer *writer, dx_text text) {
    const char *end = text.at + text.len;
    if (dx__toml_utf8(text.at, end) != end) {
        dx__toml_level_refuse(writer, DX_ERR_INVALID, "the string is not UTF-8");
        return;
    }
    if (writer->flags & DX_TOML_LITERAL && wants_literal(text)) {
        DX__TOML_PUT(writer, "'");
        dx__toml_put_text(writer, text.at, text.len);
        DX__TOML_PUT(writer, "'");
        return;
    }
    DX__TOML_PUT(writer, "\"");
    for (const char *at = text.at; at < end;) {
        const char *from = at;
        while (at < end && is_plain((unsigned char)*at))
            at++;
        dx__toml_put_text(writer, from, (size_t)(at - from));
        if (at < end)
            put_escape(writer, (unsigned char)*at++);
    }
    DX__TOML_PUT(writer, "\"");
}

void dx__toml_put_key(dx__toml_writer *writer, dx_text key) {
    bool bare = key.len;
    for (size_t i = 0; bare && i < key.len; i++)
        bare = dx__toml_is_bare((unsigned char)key.at[i]);
    if (bare)
        dx__toml_put_text(writer, key.at, key.len);
    else
        dx__toml_put_string(writer, key);
}

static void put_integer(dx__toml_writer *writer, uint64_t magnitude, bool negative) {
    char digits[20];
    if (magnitude > (uint64_t)INT64_MAX + negative) {
        dx__toml_level_refuse(writer, DX_ERR_INVALID,
                              "TOML integers are limited to 64 bits with a sign");
        return;
    }
    if (negative)
        DX__TOML_PUT(writer, "-");
    dx__toml_put_text(writer, digits, dx__digits(magnitude, digits));
}

/* The shortest text that reads as the same; it always has a point or an exponent. */
static void put_real(dx__toml_writer *writer, double number) {
    char room[1024];
    uint64_t bits;
    size_t len = 0;
    yyjson_alc alc;
    memcpy(&bits, &number, sizeof bits);
    if (bits << 1 >= UINT64_C(0xffe0000000000000)) {
        if (bits >> 63)
            DX__TOML_PUT(writer, "-");
        dx__toml_put_text(writer, bits << 12 ? "nan" : "inf", 3);
        return;
    }
    /* A copy has none of the wishes for its print that a value may carry. */
    yyjson_val value = {.tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL, .uni.f64 = number};
    yyjson_alc_pool_init(&alc, room, sizeof room);
    const char *text = yyjson_val_write_opts(&value, YYJSON_WRITE_NOFLAG, &alc, &len, NULL);
    if (text)
        dx__toml_put_text(writer, text, len);
    else
        dx__toml_level_refuse(writer, DX_ERR_NOMEM, "out of memory");
}

static void put_number(dx__toml_writer *writer, void *value) {
    if (unsafe_yyjson_is_real(value)) {
        put_real(writer, unsafe_yyjson_get_real(value));
    } else if (unsafe_yyjson_is_sint(value)) {
        int64_t number = unsafe_yyjson_get_sint(value);
        uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
        put_integer(writer, magnitude, number < 0);
    } else {
        put_integer(writer, unsafe_yyjson_get_uint(value), false);
    }
}

/* Nobody but us sets the mark, but nothing keeps others from it: what is no date is a string. */
static bool is_time(void *value, dx_text text) {
    size_t len;
    const char *why;
    return dx__toml_kind_in(((yyjson_val *)value)->tag) != DX_TOML_OTHER &&
           dx__toml_time_scan(text, &len, &why) != DX_TOML_OTHER && len == text.len;
}

static void put_text_value(dx__toml_writer *writer, void *value) {
    dx_text text = dx__toml_text_of(value);
    if (is_time(value, text))
        dx__toml_put_text(writer, text.at, text.len);
    else
        dx__toml_put_string(writer, text);
}

void dx__toml_put_scalar(dx__toml_writer *writer, void *value) {
    switch (unsafe_yyjson_get_type(value)) {
    case YYJSON_TYPE_STR:
        put_text_value(writer, value);
        return;
    case YYJSON_TYPE_NUM:
        put_number(writer, value);
        return;
    case YYJSON_TYPE_BOOL:
        if (unsafe_yyjson_get_bool(value))
            DX__TOML_PUT(writer, "true");
        else
            DX__TOML_PUT(writer, "false");
        return;
    case YYJSON_TYPE_NULL:
        dx__toml_level_refuse(writer, DX_ERR_INVALID, "TOML has no null");
        return;
    default:
        dx__toml_level_refuse(writer, DX_ERR_INVALID, "TOML cannot represent a raw value");
        return;
    }
}
