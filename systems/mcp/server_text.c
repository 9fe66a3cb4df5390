/* JSON text in the making. */
#include "systems/mcp/server_text.h"

#include <stdio.h>
#include <string.h>

void dx__mcp_out_init(dx__mcp_out *out, const dx_allocator *alloc) {
    /* While it writes a tree, the writer wants room for the worst case. */
    dx_buf_init(&out->buf, SIZE_MAX / 4, alloc);
    out->status = DX_OK;
}

void dx__mcp_out_done(dx__mcp_out *out) {
    dx_buf_done(&out->buf);
    out->status = DX_OK;
}

dx_text dx__mcp_out_text(const dx__mcp_out *out) {
    return (dx_text){out->buf.data ? out->buf.data : "", out->buf.len};
}

void dx__mcp_out_raw(dx__mcp_out *out, dx_text text) {
    if (out->status == DX_OK && text.len)
        out->status = dx_buf_append(&out->buf, text.at, text.len);
}

/* No value ends in one of these, so the last byte tells whether one stands before. */
static void separate(dx__mcp_out *out) {
    char last = out->buf.len ? out->buf.data[out->buf.len - 1] : '[';
    if (last != '{' && last != '[' && last != ':')
        dx__mcp_out_raw(out, dx_str(","));
}

void dx__mcp_out_open(dx__mcp_out *out, char bracket) {
    separate(out);
    dx__mcp_out_raw(out, (dx_text){&bracket, 1});
}

void dx__mcp_out_close(dx__mcp_out *out, char bracket) {
    dx__mcp_out_raw(out, (dx_text){&bracket, 1});
}

void dx__mcp_out_string(dx__mcp_out *out, dx_text text) {
    separate(out);
    if (out->status == DX_OK)
        out->status = dx_json_write_string(&out->buf, text);
}

void dx__mcp_out_key(dx__mcp_out *out, dx_text name) {
    dx__mcp_out_string(out, name);
    dx__mcp_out_raw(out, dx_str(":"));
}

void dx__mcp_out_json(dx__mcp_out *out, dx_json value) {
    separate(out);
    size_t before = out->buf.len;
    if (out->status == DX_OK)
        out->status = dx_json_write(&out->buf, value);
    if (out->status == DX_OK && out->buf.len == before)
        dx__mcp_out_raw(out, dx_str("null"));
}

void dx__mcp_out_integer(dx__mcp_out *out, int64_t number) {
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)number);
    separate(out);
    dx__mcp_out_raw(out, (dx_text){text, (size_t)len});
}

/* By way of the JSON library, so that no locale has a say. */
void dx__mcp_out_number(dx__mcp_out *out, double number) {
    if (number > -1e15 && number < 1e15 && number == (double)(int64_t)number) {
        dx__mcp_out_integer(out, (int64_t)number);
        return;
    }
    yyjson_mut_val value = {0};
    yyjson_mut_set_real(&value, number);
    dx__mcp_out_json(out, dx_json_built(&value));
}

static void put_quad(char *to, const unsigned char *from, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = (unsigned)from[0] << 16 | (len > 1 ? (unsigned)from[1] << 8 : 0) |
                    (len > 2 ? (unsigned)from[2] : 0);
    to[0] = digits[bits >> 18];
    to[1] = digits[bits >> 12 & 63];
    to[2] = digits[bits >> 6 & 63];
    to[3] = digits[bits & 63];
    if (len < 3)
        to[3] = '=';
    if (len < 2)
        to[2] = '=';
}

void dx__mcp_out_base64(dx__mcp_out *out, dx_text bytes) {
    const unsigned char *from = (const unsigned char *)bytes.at;
    separate(out);
    dx__mcp_out_raw(out, dx_str("\""));
    if (out->status == DX_OK && bytes.len > SIZE_MAX / 8)
        out->status = DX_ERR_LIMIT;
    if (out->status == DX_OK)
        out->status = dx_buf_reserve(&out->buf, (bytes.len + 2) / 3 * 4);
    for (size_t i = 0; out->status == DX_OK && i < bytes.len; i += 3) {
        put_quad(out->buf.data + out->buf.len, from + i, bytes.len - i);
        out->buf.len += 4;
    }
    dx__mcp_out_raw(out, dx_str("\""));
}

void dx__mcp_out_text_member(dx__mcp_out *out, const char *name, const char *text) {
    if (!text)
        return;
    dx__mcp_out_key(out, dx_str(name));
    dx__mcp_out_string(out, dx_str(text));
}

void dx__mcp_out_json_member(dx__mcp_out *out, const char *name, const char *json) {
    if (!json)
        return;
    dx__mcp_out_key(out, dx_str(name));
    dx__mcp_out_raw(out, dx_str(json));
}

dx_status dx__mcp_parse(const dx_allocator *alloc, dx_text text, yyjson_doc **ret_doc) {
    yyjson_alc alc = {alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
    yyjson_read_err error = {0};
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len, 0, &alc, &error);
    if (!doc)
        return error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION ? DX_ERR_NOMEM : DX_ERR_INVALID;
    *ret_doc = doc;
    return DX_OK;
}

dx_status dx__mcp_out_parse(const dx__mcp_out *out, yyjson_doc **ret_doc) {
    return out->status == DX_OK ? dx__mcp_parse(&out->buf.alloc, dx__mcp_out_text(out), ret_doc)
                                : out->status;
}
