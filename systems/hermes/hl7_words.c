#include "systems/hermes/hl7_parts.h"

#include <string.h>

dx_text hl7_cut(dx_text text, size_t most) {
    if (text.len <= most)
        return text;
    size_t len = most;
    while (len && ((unsigned char)text.at[len] & 0xc0) == 0x80)
        len--;
    return (dx_text){text.at, len};
}

dx_status hl7_say(dx_buf *why, const dx_text *pieces, size_t count) {
    if (!why)
        return DX_OK;
    size_t start = why->len;
    dx_status status = DX_OK;
    for (size_t i = 0; i < count && status == DX_OK; i++)
        status = dx_buf_append(why, pieces[i].at, pieces[i].len);
    if (status != DX_OK)
        why->len = start;
    return status;
}

static size_t put(char *to, size_t len, size_t room, dx_text text) {
    text = hl7_cut(text, room - 1 - len);
    if (text.len)
        memcpy(to + len, text.at, text.len);
    return len + text.len;
}

dx_status hl7_misfit(dx_error *reterr, const char *place, const char *phrase, dx_text detail) {
    if (!reterr)
        return DX_MISFIT;
    *reterr = (dx_error){.fault = DX_FAULT_NONE};
    put(reterr->place, 0, sizeof reterr->place, dx_str(place));
    size_t len = put(reterr->phrase, 0, sizeof reterr->phrase, dx_str(phrase));
    put(reterr->phrase, len, sizeof reterr->phrase, detail);
    return DX_MISFIT;
}

static const char *const formats[] = {"hl7", "json", "yaml", "toml"};

const char *dx_hl7_format_name(dx_hl7_format format) {
    return (unsigned)format < sizeof formats / sizeof *formats ? formats[format] : "unknown";
}

dx_status dx_hl7_format_named(dx_text name, dx_hl7_format *ret_format) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (dx_text_is(name, formats[i])) {
            *ret_format = (dx_hl7_format)i;
            return DX_OK;
        }
    return DX_MISFIT;
}

yyjson_alc hl7_yyjson_alc(const dx_allocator *alloc) {
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}
