/* JSON strings: from the wire to characters and back. */
#include <duplex/rpc.h>

#include <string.h>

static unsigned hex4(const char *at) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
        value = value << 4 | digit;
    }
    return value;
}

static char *put_utf8(char *to, unsigned code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* The escape behind a backslash at `at` (checked before). Returns its end, NULL for a lone
 * surrogate. */
static const char *unescape(const char *at, const char *end, char **to) {
    static const char from[] = "bfnrt";
    static const char into[] = "\b\f\n\r\t";
    const char *short_form = memchr(from, *at, sizeof from - 1);
    if (*at != 'u') {
        *(*to)++ = short_form ? into[short_form - from] : *at;
        return at + 1;
    }
    unsigned code = hex4(at + 1);
    at += 5;
    if (code >= 0xdc00 && code <= 0xdfff)
        return NULL;
    if (code >= 0xd800 && code <= 0xdbff) {
        if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
            return NULL;
        unsigned low = hex4(at + 2);
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    *to = put_utf8(*to, code);
    return at;
}

dx_status dx_rpc_string(dx_text string, char *room, dx_text *ret_text) {
    if (string.len < 2 || string.at[0] != '"')
        return DX_ERR_INVALID;
    const char *at = string.at + 1;
    const char *end = string.at + string.len - 1;
    if (!memchr(at, '\\', (size_t)(end - at))) {
        *ret_text = (dx_text){at, (size_t)(end - at)};
        return DX_OK;
    }
    char *to = room;
    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        at = unescape(at + 1, end, &to);
        if (!at)
            return DX_ERR_INVALID;
    }
    *ret_text = (dx_text){room, (size_t)(to - room)};
    return DX_OK;
}

static dx_status put_escaped(dx_buf *buf, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', (char)c, '0', '0', 0, 0};
    size_t len = 2;
    switch (c) {
    case '\b':
        text[1] = 'b';
        break;
    case '\f':
        text[1] = 'f';
        break;
    case '\n':
        text[1] = 'n';
        break;
    case '\r':
        text[1] = 'r';
        break;
    case '\t':
        text[1] = 't';
        break;
    case '"':
    case '\\':
        break;
    default:
        text[1] = 'u';
        text[4] = hex[c >> 4];
        text[5] = hex[c & 15];
        len = 6;
    }
    return dx_buf_append(buf, text, len);
}

dx_status dx_json_write_string(dx_buf *buf, dx_text string) {
    size_t start = buf->len;
    dx_status status = dx_buf_append(buf, "\"", 1);
    size_t done = 0;
    for (size_t i = 0; status == DX_OK && i < string.len; i++) {
        unsigned char c = (unsigned char)string.at[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        status = dx_buf_append(buf, string.at + done, i - done);
        if (status == DX_OK)
            status = put_escaped(buf, c);
        done = i + 1;
    }
    if (status == DX_OK)
        status = dx_buf_append(buf, string.at + done, string.len - done);
    if (status == DX_OK)
        status = dx_buf_append(buf, "\"", 1);
    /* What was written is a JSON string exactly if the bytes are UTF-8. */
    if (status == DX_OK &&
        dx_json_check((dx_text){buf->data + start, buf->len - start}, 1, NULL) != DX_FAULT_NONE)
        status = DX_ERR_INVALID;
    if (status != DX_OK)
        buf->len = start;
    return status;
}

dx_text dx_json_string(yyjson_val *value) {
    return yyjson_is_str(value) ? (dx_text){yyjson_get_str(value), yyjson_get_len(value)}
                                : (dx_text){NULL, 0};
}
