/* JSON text in the making. */
#include "systems/finecode/er_parts.h"

#include <stdio.h>

void dx__finecode_er_out_init(dx__finecode_er_out *out, const dx_allocator *alloc) {
    /* While it writes a tree, the writer wants room for the worst case. */
    dx_buf_init(&out->buf, SIZE_MAX / 4, alloc);
    out->status = DX_OK;
}

void dx__finecode_er_out_done(dx__finecode_er_out *out) {
    dx_buf_done(&out->buf);
    out->status = DX_OK;
}

dx_text dx__finecode_er_out_text(const dx__finecode_er_out *out) {
    return (dx_text){out->buf.data ? out->buf.data : "", out->buf.len};
}

void dx__finecode_er_out_say(dx__finecode_er_out *out, dx_text text) {
    if (out->status == DX_OK && text.len)
        out->status = dx_buf_append(&out->buf, text.at, text.len);
}

void dx__finecode_er_out_say_str(dx__finecode_er_out *out, const char *text) {
    dx__finecode_er_out_say(out, dx_str(text));
}

void dx__finecode_er_out_say_number(dx__finecode_er_out *out, uint64_t number) {
    char text[24];
    int len = snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    dx__finecode_er_out_say(out, (dx_text){text, (size_t)len});
}

/* No value ends in one of these, so the last byte tells whether one stands before. */
static void separate(dx__finecode_er_out *out) {
    char last = out->buf.len ? out->buf.data[out->buf.len - 1] : '[';
    if (last != '{' && last != '[' && last != ':')
        dx__finecode_er_out_say_str(out, ",");
}

void dx__finecode_er_out_open(dx__finecode_er_out *out, char bracket) {
    separate(out);
    dx__finecode_er_out_say(out, (dx_text){&bracket, 1});
}

void dx__finecode_er_out_close(dx__finecode_er_out *out, char bracket) {
    dx__finecode_er_out_say(out, (dx_text){&bracket, 1});
}

static dx_status write_clean(dx_buf *to, dx_text text) {
    dx_buf clean;
    dx_status status = DX_OK;
    dx_buf_init(&clean, SIZE_MAX / 4, &to->alloc);
    for (size_t i = 0; status == DX_OK && i < text.len;) {
        size_t len = dx__utf8(text.at + i, text.len - i);
        status = len ? dx_buf_append(&clean, text.at + i, len)
                     : dx_buf_append(&clean, "\xef\xbf\xbd", 3);
        i += len ? len : 1;
    }
    if (status == DX_OK)
        status = dx_json_write_string(to, (dx_text){clean.data ? clean.data : "", clean.len});
    dx_buf_done(&clean);
    return status;
}

void dx__finecode_er_out_string(dx__finecode_er_out *out, dx_text text) {
    separate(out);
    if (out->status != DX_OK)
        return;
    if (!text.at)
        text.at = "";
    out->status = dx_json_write_string(&out->buf, text);
    if (out->status == DX_ERR_INVALID)
        out->status = write_clean(&out->buf, text);
}

void dx__finecode_er_out_key(dx__finecode_er_out *out, const char *name) {
    dx__finecode_er_out_string(out, dx_str(name));
    dx__finecode_er_out_say_str(out, ":");
}

void dx__finecode_er_out_json(dx__finecode_er_out *out, dx_json value) {
    separate(out);
    size_t before = out->buf.len;
    if (out->status == DX_OK)
        out->status = dx_json_write(&out->buf, value);
    if (out->status == DX_OK && out->buf.len == before)
        dx__finecode_er_out_say_str(out, "null");
}

void dx__finecode_er_out_value(dx__finecode_er_out *out, yyjson_val *value) {
    dx__finecode_er_out_json(out, value ? dx_json_value(value) : dx_json_none());
}

void dx__finecode_er_out_word(dx__finecode_er_out *out, const char *word) {
    separate(out);
    dx__finecode_er_out_say_str(out, word);
}

void dx__finecode_er_out_integer(dx__finecode_er_out *out, int64_t number) {
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)number);
    separate(out);
    dx__finecode_er_out_say(out, (dx_text){text, (size_t)len});
}

void dx__finecode_er_out_text_or_null(dx__finecode_er_out *out, const char *text) {
    if (text)
        dx__finecode_er_out_string(out, dx_str(text));
    else
        dx__finecode_er_out_word(out, "null");
}
