/* Paths and URIs of files, from outside and to it. */
#include "systems/mcp/command/serve/folder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PATH_LIMIT = 4000 };

static bool is_unreserved(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~' || c == '/';
}

char *folder_escape(const char *text) {
    char *made = malloc(3 * strlen(text) + 1);
    char *to = made;
    for (; made && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (is_unreserved(c))
            *to++ = *text;
        else
            to += sprintf(to, "%%%02X", c);
    }
    if (made)
        *to = '\0';
    return made;
}

static int hex(char c) {
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at ? (int)(at - digits) : -1;
}

char *folder_unescape(dx_text text) {
    char *made = malloc(text.len + 1);
    size_t len = 0;
    for (size_t i = 0; made && i < text.len; i++) {
        int c = (unsigned char)text.at[i];
        if (c == '%') {
            int high = text.len - i > 2 ? hex(text.at[i + 1]) : -1;
            int low = high >= 0 ? hex(text.at[i + 2]) : -1;
            c = low >= 0 ? high * 16 + low : 0;
            i += 2;
        }
        if (c == 0) {
            free(made);
            return NULL;
        }
        made[len++] = (char)c;
    }
    if (made)
        made[len] = '\0';
    return made;
}

bool folder_normalise(char *path) {
    bool absolute = path[0] == '/';
    char *to = path;
    for (char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        char *next = at[len] ? at + len + 1 : at + len;
        if (len == 2 && at[0] == '.' && at[1] == '.') {
            if (to == path)
                return false;
            while (to > path && *--to != '/')
                ;
        } else if (len && !(len == 1 && at[0] == '.')) {
            if (absolute || to > path)
                *to++ = '/';
            memmove(to, at, len);
            to += len;
        }
        at = next;
    }
    *to = '\0';
    return true;
}

const char *folder_below(const struct folder *folder, const char *path) {
    const char *const both[] = {folder->path, folder->alias};
    for (size_t i = 0; i < 2 && both[i]; i++) {
        size_t len = strlen(both[i]);
        if (strncmp(path, both[i], len) == 0 && (!path[len] || path[len] == '/'))
            return path + len;
    }
    return NULL;
}

/* Only a folder can have a slash or dots at its end. */
static bool names_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    return !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/* Makes a path from outside relative to the folder, in place; what is wrong with it, or NULL. */
static const char *enter(const struct folder *folder, char *path) {
    bool absolute = path[0] == '/';
    bool is_folder = names_folder(path);
    struct stat status;
    if (!folder_normalise(path))
        return "'..' points outside the folder";
    if (absolute) {
        const char *inner = folder_below(folder, path);
        if (!inner)
            return "it is outside the folder";
        inner += *inner == '/';
        memmove(path, inner, strlen(inner) + 1);
    }
    if (!folder->hidden && (path[0] == '.' || strstr(path, "/.")))
        return "no such file";
    if (strlen(path) > PATH_LIMIT)
        return "the path is too long";
    if (is_folder && folder_stat(folder, path, &status) == 0 && !S_ISDIR(status.st_mode))
        return "it is not a folder: remove the '/' at the end";
    return NULL;
}

const char *folder_from_uri(const struct folder *folder, dx_text uri, char **ret_path) {
    static const char *const beginnings[] = {"file://localhost/", "file:///"};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(beginnings[i]) - 1;
        if (uri.len <= len || strncasecmp(uri.at, beginnings[i], len + 1) != 0)
            continue;
        if (memchr(uri.at, '?', uri.len) || memchr(uri.at, '#', uri.len))
            return "a file URI has no query or fragment";
        char *path = folder_unescape((dx_text){uri.at + len, uri.len - len});
        if (!path)
            return "it is not a file URI";
        const char *why = enter(folder, path);
        if (why)
            free(path);
        else
            *ret_path = path;
        return why;
    }
    return "it is not a file URI";
}

const char *folder_path(const struct folder *folder, dx_text given, char **ret_path) {
    if (memchr(given.at, '\0', given.len))
        return "a path cannot contain a NUL byte";
    if (given.len >= 5 && strncasecmp(given.at, "file:", 5) == 0)
        return folder_from_uri(folder, given, ret_path);
    char *path = strndup(given.at, given.len);
    if (!path)
        return "out of memory";
    const char *why = enter(folder, path);
    if (why)
        free(path);
    else
        *ret_path = path;
    return why;
}

char *folder_uri(const struct folder *folder, const char *path) {
    char *base = folder_escape(folder->path);
    char *rest = folder_escape(path);
    char *uri = NULL;
    if (!base || !rest || asprintf(&uri, "file://%s/%s", base, rest) < 0)
        uri = NULL;
    free(base);
    free(rest);
    return uri;
}
