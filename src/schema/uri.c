#include "schema/uri.h"
#include "base/buf.h"

#include <string.h>

/* How far a text goes before one of the characters that end it, of which there are up to four. */
static size_t span(dx_text text, const char ends[4]) {
    size_t len = 0;
    while (len < text.len && text.at[len] != ends[0] && text.at[len] != ends[1] &&
           text.at[len] != ends[2] && text.at[len] != ends[3])
        len++;
    return len;
}

static dx_text skip(dx_text text, size_t len) {
    return (dx_text){text.at + len, text.len - len};
}

static bool is_letter(char c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_scheme(dx_text text) {
    if (!text.len || !is_letter(text.at[0]))
        return false;
    for (size_t i = 1; i < text.len; i++) {
        char c = text.at[i];
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.')
            return false;
    }
    return true;
}

dx__uri dx__uri_split(dx_text text) {
    dx__uri uri = {{0}, {0}, {0}, {0}, {0}};
    if (!text.at)
        text = (dx_text){"", 0};
    size_t len = span(text, ":/?#");
    if (len < text.len && text.at[len] == ':' && is_scheme((dx_text){text.at, len})) {
        uri.scheme = (dx_text){text.at, len};
        text = skip(text, len + 1);
    }
    if (text.len >= 2 && text.at[0] == '/' && text.at[1] == '/') {
        text = skip(text, 2);
        uri.authority = (dx_text){text.at, span(text, "//?#")};
        text = skip(text, uri.authority.len);
    }
    uri.path = (dx_text){text.at, span(text, "??##")};
    text = skip(text, uri.path.len);
    if (text.len && text.at[0] == '?') {
        text = skip(text, 1);
        uri.query = (dx_text){text.at, span(text, "####")};
        text = skip(text, uri.query.len);
    }
    if (text.len)
        uri.fragment = skip(text, 1);
    return uri;
}

static int hex(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool dx__uri_is_sound(dx_text text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c <= ' ' || c == 0x7f || memchr("\"<>\\^`{|}", c, 9))
            return false;
        if (c == '%' && (text.len - i < 3 || hex(text.at[i + 1]) < 0 || hex(text.at[i + 2]) < 0))
            return false;
    }
    return true;
}

static void put(dx_buf *to, dx_text text) {
    if (text.len)
        memcpy(to->data + to->len, text.at, text.len);
    to->len += text.len;
}

static void put_char(dx_buf *to, char c) {
    to->data[to->len++] = c;
}

/* Takes "." and ".." out of the path that begins at `from` in the buffer, in place (5.2.4). A path
 * without a slash in front is relative still: there is nothing above its first part. */
static void remove_dots(dx_buf *buf, size_t from) {
    char *path = buf->data + from;
    size_t len = buf->len - from;
    size_t out = 0;
    for (size_t in = 0; in < len;) {
        size_t part = in + (path[in] == '/');
        size_t end = part;
        while (end < len && path[end] != '/')
            end++;
        bool one = end - part == 1 && path[part] == '.';
        bool two = end - part == 2 && path[part] == '.' && path[part + 1] == '.';
        if (two)
            while (out && path[--out] != '/')
                ;
        if (!one && !two) {
            memmove(path + out, path + in, end - in);
            out += end - in;
        } else if (end == len && in != part) {
            path[out++] = '/';
        }
        in = end;
    }
    buf->len = from + out;
}

static void put_path(dx_buf *to, const dx__uri *base, const dx__uri *reference) {
    size_t from = to->len;
    if (reference->path.len && reference->path.at[0] != '/') {
        size_t dir = base->path.len;
        while (dir && base->path.at[dir - 1] != '/')
            dir--;
        if (base->authority.at && !base->path.len)
            put_char(to, '/');
        put(to, (dx_text){base->path.at, dir});
    }
    put(to, reference->path);
    remove_dots(to, from);
}

dx_status dx__uri_resolve(dx_text base_text, const dx__uri *reference, dx_buf *ret_uri) {
    static const dx__uri nothing = {{0}, {0}, {"", 0}, {0}, {0}};
    dx__uri base = dx__uri_split(base_text);
    ret_uri->len = 0;
    size_t most = base_text.len + reference->scheme.len + reference->authority.len +
                  reference->path.len + reference->query.len + 8;
    dx_status status = dx__buf_room(ret_uri, most);
    if (status != DX_OK)
        return status;
    bool whole = reference->scheme.at != NULL;
    dx_text scheme = whole ? reference->scheme : base.scheme;
    if (scheme.at) {
        put(ret_uri, scheme);
        put_char(ret_uri, ':');
    }
    whole = whole || reference->authority.at;
    dx_text authority = whole ? reference->authority : base.authority;
    if (authority.at) {
        put_char(ret_uri, '/');
        put_char(ret_uri, '/');
        put(ret_uri, authority);
    }
    dx_text query = reference->query;
    if (whole || reference->path.len) {
        put_path(ret_uri, whole ? &nothing : &base, reference);
    } else {
        put(ret_uri, base.path);
        if (!query.at)
            query = base.query;
    }
    if (query.at) {
        put_char(ret_uri, '?');
        put(ret_uri, query);
    }
    return DX_OK;
}

dx_status dx__uri_decode(dx_text text, dx_buf *ret_text) {
    ret_text->len = 0;
    dx_status status = dx__buf_room(ret_text, text.len + 1);
    if (status != DX_OK)
        return status;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '%') {
            int high = text.len - i > 2 ? hex(text.at[i + 1]) : -1;
            int low = high < 0 ? -1 : hex(text.at[i + 2]);
            if (low < 0)
                return DX_ERR_INVALID;
            c = (char)(high * 16 + low);
            i += 2;
        }
        put_char(ret_text, c);
    }
    return DX_OK;
}
