/* Server-sent events: fields on lines that end in LF, CR LF or CR; an empty line ends an event. */
#include "systems/autohand/model_parts.h"

void dx__autohand_sse_init(struct dx__autohand_sse *sse, size_t max, const dx_allocator *alloc) {
    *sse = (struct dx__autohand_sse){0};
    dx_buf_init(&sse->in, max, alloc);
    dx_buf_init(&sse->data, max, alloc);
}

void dx__autohand_sse_done(struct dx__autohand_sse *sse) {
    dx_buf_done(&sse->in);
    dx_buf_done(&sse->data);
}

dx_status dx__autohand_sse_feed(struct dx__autohand_sse *sse, dx_text bytes) {
    /* Moving what is left costs less than what was taken, so all of it stays linear. */
    if (sse->at > sse->in.len / 2) {
        memmove(sse->in.data, sse->in.data + sse->at, sse->in.len - sse->at);
        sse->in.len -= sse->at;
        sse->seen -= sse->at;
        sse->at = 0;
    }
    return dx_buf_append(&sse->in, bytes.at, bytes.len);
}

static bool next_line(struct dx__autohand_sse *sse, dx_text *ret_line) {
    const char *bytes = sse->in.data;
    if (sse->after_cr && sse->at < sse->in.len) {
        sse->at += bytes[sse->at] == '\n';
        sse->after_cr = false;
    }
    if (sse->seen < sse->at)
        sse->seen = sse->at;
    for (; sse->seen < sse->in.len; sse->seen++) {
        char c = bytes[sse->seen];
        if (c != '\n' && c != '\r')
            continue;
        *ret_line = (dx_text){bytes + sse->at, sse->seen - sse->at};
        sse->after_cr = c == '\r';
        sse->at = ++sse->seen;
        return true;
    }
    return false;
}

static bool is_field(dx_text line, const char *name) {
    size_t len = strlen(name);
    return line.len >= len && memcmp(line.at, name, len) == 0 &&
           (line.len == len || line.at[len] == ':');
}

/* A server of llama.cpp complains in a field of its own. */
static dx_status take_line(struct dx__autohand_sse *sse, dx_text line) {
    if (!sse->begun && line.len >= 3 && memcmp(line.at, "\xef\xbb\xbf", 3) == 0)
        line = (dx_text){line.at + 3, line.len - 3};
    sse->begun = true;
    size_t len = is_field(line, "data") ? 4 : is_field(line, "error") ? 5 : 0;
    if (!len)
        return DX_OK;
    if (line.len > len)
        len += line.len > len + 1 && line.at[len + 1] == ' ' ? 2 : 1;
    dx_status status = sse->has_data ? dx_buf_append(&sse->data, "\n", 1) : DX_OK;
    sse->has_data = true;
    return status == DX_OK ? dx_buf_append(&sse->data, line.at + len, line.len - len) : status;
}

dx_status dx__autohand_sse_next(struct dx__autohand_sse *sse, dx_text *ret_data) {
    dx_text line;
    if (!sse->has_data)
        sse->data.len = 0;
    while (next_line(sse, &line)) {
        if (!line.len && sse->has_data) {
            sse->has_data = false;
            *ret_data = (dx_text){sse->data.len ? sse->data.data : "", sse->data.len};
            return DX_OK;
        }
        dx_status status = take_line(sse, line);
        if (status != DX_OK)
            return status;
    }
    return DX_AGAIN;
}
