/* Text that a client gives back: a code that only this process can make, and the text, in base64 as
 * URLs have it. */
#include "systems/mcp/server_parts.h"

#include <string.h>

enum { CODE = 16 };
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode(const uint8_t *from, size_t len, char *to) {
    unsigned bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | from[i];
        have += 8;
        while (have >= 6) {
            have -= 6;
            *to++ = digits[bits >> have & 63];
        }
    }
    if (have)
        *to = digits[bits << (6 - have) & 63];
}

/* False if that is not what encode() wrote; the bits that are left over have to be 0. */
static bool decode(dx_text from, uint8_t *to) {
    unsigned bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < from.len; i++) {
        const char *at = from.at[i] ? strchr(digits, from.at[i]) : NULL;
        if (!at)
            return false;
        bits = bits << 6 | (unsigned)(at - digits);
        have += 6;
        if (have >= 8) {
            have -= 8;
            *to++ = (uint8_t)(bits >> have);
        }
    }
    return from.len % 4 != 1 && !(bits & ((1U << have) - 1));
}

dx_status dx__mcp_state_seal(const uint8_t key[16], dx_text plain, dx__mcp_out *out) {
    dx_buf bytes;
    uint8_t code[CODE];
    dx_buf_init(&bytes, SIZE_MAX / 4, &out->buf.alloc);
    dx__mcp_sip128(key, plain.at, plain.len, code);
    dx_status status = dx_buf_append(&bytes, code, CODE);
    if (status == DX_OK)
        status = dx_buf_append(&bytes, plain.at, plain.len);
    size_t len = (bytes.len * 8 + 5) / 6;
    if (status == DX_OK)
        status = dx_buf_reserve(&out->buf, len);
    if (status == DX_OK) {
        encode((const uint8_t *)bytes.data, bytes.len, out->buf.data + out->buf.len);
        out->buf.len += len;
    }
    dx_buf_done(&bytes);
    return status;
}

/* In the same time wherever the difference is. */
static bool is_same(const uint8_t *one, const uint8_t *other) {
    unsigned difference = 0;
    for (int i = 0; i < CODE; i++)
        difference |= (unsigned)(one[i] ^ other[i]);
    return !difference;
}

dx_status dx__mcp_state_open(const uint8_t key[16], dx_text sealed, dx__mcp_out *plain) {
    dx_buf bytes;
    uint8_t code[CODE];
    size_t len = sealed.len / 4 * 3 + (sealed.len % 4 ? sealed.len % 4 - 1 : 0);
    if (len < CODE)
        return DX_MISFIT;
    dx_buf_init(&bytes, SIZE_MAX / 4, &plain->buf.alloc);
    dx_status status = dx_buf_reserve(&bytes, len);
    if (status == DX_OK && !decode(sealed, (uint8_t *)bytes.data))
        status = DX_MISFIT;
    if (status == DX_OK) {
        dx__mcp_sip128(key, bytes.data + CODE, len - CODE, code);
        status = is_same(code, (const uint8_t *)bytes.data)
                     ? dx_buf_append(&plain->buf, bytes.data + CODE, len - CODE)
                     : DX_MISFIT;
    }
    dx_buf_done(&bytes);
    return status;
}
