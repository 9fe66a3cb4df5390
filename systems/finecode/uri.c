/* URIs of files, and their paths. */
#include "systems/finecode/shared.h"

#include <strings.h>

static int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool starts_with(dx_text text, const char *start) {
    size_t len = strlen(start);
    return text.len >= len && strncasecmp(text.at, start, len) == 0;
}

/* What stands behind the scheme and the name of this machine: absent if it is another's, or no
 * file. */
static dx_text place_of(dx_text uri) {
    static const char *const starts[] = {"file://localhost/", "file:///", "file:/"};
    for (size_t i = 0; uri.at && i < sizeof starts / sizeof *starts; i++) {
        size_t len = strlen(starts[i]) - 1;
        if (!starts_with(uri, starts[i]))
            continue;
        dx_text rest = {uri.at + len, uri.len - len};
        bool other = i == 2 && rest.len > 1 && rest.at[1] == '/';
        return other ? (dx_text){0} : rest;
    }
    return (dx_text){0};
}

/* A percent sign that begins no escape stands for itself: there are programs that do not encode
 * paths. */
static size_t decode(dx_text from, char *to) {
    size_t len = 0;
    for (size_t i = 0; i < from.len; i++) {
        int high = from.at[i] == '%' && from.len - i > 2 ? digit(from.at[i + 1]) : -1;
        int low = high >= 0 ? digit(from.at[i + 2]) : -1;
        to[len++] = low >= 0 ? (char)(high << 4 | low) : from.at[i];
        i += low >= 0 ? 2 : 0;
    }
    return len;
}

/* Removes what "." and ".." and empty names say, as RFC 3986 does it: the same file must have one
 * path only, and "/project/../other" is not in the project. */
static void tidy(char *path, size_t len) {
    size_t to = 0;
    for (size_t at = 0; at < len;) {
        size_t end = ++at;
        while (end < len && path[end] != '/')
            end++;
        size_t name = end - at;
        if (name == 2 && path[at] == '.' && path[at + 1] == '.') {
            while (to && path[--to] != '/')
                continue;
        } else if (name && (name != 1 || path[at] != '.')) {
            path[to++] = '/';
            memmove(path + to, path + at, name);
            to += name;
        }
        at = end;
    }
    if (!to)
        path[to++] = '/';
    path[to] = '\0';
}

dx_status dx__finecode_path_of(const dx_allocator *alloc, dx_text uri, char **ret_path) {
    dx_allocator own = dx__finecode_allocator(alloc);
    dx_text place = place_of(uri);
    if (!place.at)
        return DX_MISFIT;
    /* One more than it has: a path of no names is "/". */
    char *path = dx__malloc(&own, place.len + 2);
    if (!path)
        return DX_ERR_NOMEM;
    size_t len = decode(place, path);
    if (memchr(path, '\0', len)) {
        dx__free(&own, path);
        return DX_MISFIT;
    }
    tidy(path, len);
    *ret_path = path;
    return DX_OK;
}

static bool stands_for_itself(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("/-._~!$&'()*+,;=:@", c));
}

dx_status dx__finecode_uri_of(dx_buf *uri, const char *path) {
    static const char digits[] = "0123456789ABCDEF";
    size_t before = uri->len;
    dx_status status = dx_buf_append(uri, "file://", 7);
    for (; status == DX_OK && *path; path++) {
        unsigned char byte = (unsigned char)*path;
        char escape[3] = {'%', digits[byte >> 4], digits[byte & 0x0f]};
        status = stands_for_itself(*path) ? dx_buf_append(uri, path, 1)
                                          : dx_buf_append(uri, escape, sizeof escape);
    }
    if (status != DX_OK)
        uri->len = before;
    return status;
}

/* The next name of a path, without "." and empty ones; absent after the last. */
static dx_text next_name(const char **path) {
    for (;;) {
        *path += strspn(*path, "/");
        dx_text name = {*path, strcspn(*path, "/")};
        if (!name.len)
            return (dx_text){0};
        *path += name.len;
        if (!dx_text_is(name, "."))
            return name;
    }
}

bool dx__finecode_is_below(const char *path, const char *folder) {
    if (*path != '/' || *folder != '/')
        return false;
    for (dx_text name; (name = next_name(&folder)).at;) {
        dx_text other = next_name(&path);
        if (other.len != name.len || !other.at || memcmp(other.at, name.at, name.len) != 0 ||
            dx_text_is(name, ".."))
            return false;
    }
    /* Where ".." leads can't be told without looking: such a path is nowhere below. */
    for (dx_text name; (name = next_name(&path)).at;)
        if (dx_text_is(name, ".."))
            return false;
    return true;
}
