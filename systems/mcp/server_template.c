/* Templates of URIs as RFC 6570 has them, level 1: {name} for a piece of a path, and of level 2
 * {+name} for anything. */
#include "systems/mcp/server_parts.h"

#include <string.h>

/* A template is declared by the server, a URI comes from outside: so the places are few, and what
 * may be tried is bounded. */
enum { PLACES_MAX = 16, STEPS_MAX = 100000 };

struct place {
    dx_text name;
    dx_text value;
};

struct match {
    dx_text pattern;
    dx_text uri;
    struct place places[PLACES_MAX];
    size_t count;
    unsigned steps;
};

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

/* The length of the place that begins there, braces included; 0 if there is none. */
static size_t place_at(dx_text pattern, size_t at, bool *ret_any, dx_text *ret_name) {
    size_t start = at + 1;
    if (at >= pattern.len || pattern.at[at] != '{')
        return 0;
    *ret_any = start < pattern.len && pattern.at[start] == '+';
    start += *ret_any;
    size_t end = start;
    while (end < pattern.len && is_name(pattern.at[end]))
        end++;
    if (end == start || end >= pattern.len || pattern.at[end] != '}')
        return 0;
    *ret_name = (dx_text){pattern.at + start, end - start};
    return end + 1 - at;
}

bool dx__mcp_template_is_good(dx_text pattern) {
    size_t count = 0;
    for (size_t at = 0; at < pattern.len;) {
        bool any;
        dx_text name;
        size_t len = place_at(pattern, at, &any, &name);
        if (!len && (pattern.at[at] == '{' || pattern.at[at] == '}'))
            return false;
        count += len != 0;
        at += len ? len : 1;
    }
    return count && count <= PLACES_MAX;
}

/* How often it calls itself is bounded by the number of places. */
static bool try_from(struct match *match, size_t at, size_t from) {
    bool any;
    dx_text name;
    size_t len;
    while (!(len = place_at(match->pattern, at, &any, &name))) {
        if (at == match->pattern.len)
            return from == match->uri.len;
        if (from == match->uri.len || match->pattern.at[at++] != match->uri.at[from++])
            return false;
    }
    struct place *place = &match->places[match->count++];
    for (size_t to = from; to < match->uri.len && match->steps++ < STEPS_MAX;) {
        char c = match->uri.at[to++];
        if (!any && (c == '/' || c == '?' || c == '#'))
            break;
        if (try_from(match, at + len, to)) {
            *place = (struct place){name, {match->uri.at + from, to - from}};
            return true;
        }
    }
    match->count--;
    return false;
}

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A byte 0 would end a text too early for some, who then see another one than was checked. */
static dx_status decode(dx_buf *to, dx_text text) {
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < text.len; i++) {
        char c = text.at[i];
        if (c == '%' && i + 2 < text.len && hex(text.at[i + 1]) >= 0 && hex(text.at[i + 2]) >= 0) {
            c = (char)(hex(text.at[i + 1]) * 16 + hex(text.at[i + 2]));
            i += 2;
        }
        status = c ? dx_buf_append(to, &c, 1) : DX_ERR_INVALID;
    }
    return status;
}

static dx_status write_values(const struct match *match, dx__mcp_out *out) {
    dx_buf plain;
    dx_buf_init(&plain, SIZE_MAX / 4, &out->buf.alloc);
    dx__mcp_out_open(out, '{');
    for (size_t i = 0; out->status == DX_OK && i < match->count; i++) {
        plain.len = 0;
        dx_status status = decode(&plain, match->places[i].value);
        if (status != DX_OK)
            out->status = status;
        dx__mcp_out_key(out, match->places[i].name);
        dx__mcp_out_string(out, (dx_text){plain.data, plain.len});
    }
    dx__mcp_out_close(out, '}');
    dx_buf_done(&plain);
    return out->status;
}

dx_status dx__mcp_template_match(const dx_allocator *alloc, dx_text pattern, dx_text uri,
                                 yyjson_doc **ret_values) {
    struct match match = {.pattern = pattern, .uri = uri};
    dx__mcp_out out;
    if (!try_from(&match, 0, 0))
        return DX_AGAIN;
    dx__mcp_out_init(&out, alloc);
    dx_status status = write_values(&match, &out);
    if (status == DX_OK)
        status = dx__mcp_out_parse(&out, ret_values);
    dx__mcp_out_done(&out);
    return status == DX_ERR_INVALID ? DX_AGAIN : status;
}
