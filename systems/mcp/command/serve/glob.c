/* Patterns of names. */
#include "systems/mcp/command/serve/files.h"

#include <string.h>

/* A set in brackets at `glob`: does it have `c`? *ret_len is how long it is, 0 if it never ends. */
static bool in_set(const char *glob, char c, size_t *ret_len) {
    size_t at = 1;
    bool negated = glob[at] == '!' || glob[at] == '^';
    bool has = false;
    at += negated;
    for (size_t first = at; glob[at] && (glob[at] != ']' || at == first); at++) {
        unsigned char low = (unsigned char)glob[at];
        unsigned char high = low;
        if (glob[at + 1] == '-' && glob[at + 2] && glob[at + 2] != ']') {
            high = (unsigned char)glob[at + 2];
            at += 2;
        }
        has |= (unsigned char)c >= low && (unsigned char)c <= high;
    }
    *ret_len = glob[at] ? at + 1 : 0;
    return has != negated;
}

/* One character of the glob that is no star: how long it is if it takes `c`, or 0. */
static size_t takes(const char *glob, char c) {
    size_t len;
    if (glob[0] == '?')
        return c != '/' ? 1 : 0;
    if (glob[0] == '[') {
        bool has = in_set(glob, c, &len);
        if (len)
            return has && c != '/' ? len : 0;
    }
    if (glob[0] == '\\' && glob[1])
        return glob[1] == c ? 2 : 0;
    return glob[0] == c ? 1 : 0;
}

/* Is it "**", whole between slashes? How long, with the slash behind it. */
static size_t is_wide(const char *begin, const char *glob) {
    if (glob[0] != '*' || glob[1] != '*' || (glob > begin && glob[-1] != '/'))
        return 0;
    return glob[2] == '/' ? 3 : glob[2] == '\0' ? 2 : 0;
}

/* "**" takes any number of folders. It never has to go back further than to the last star of each
 * kind, and behind "**" it begins anew only behind a slash: so the time is that of the text times
 * the glob. */
static bool matches(const char *glob, const char *text) {
    const char *begin = glob;
    const char *star = NULL;
    const char *star_at = NULL;
    const char *wide = NULL;
    const char *wide_at = NULL;
    while (*text || *glob) {
        size_t len;
        const char *slash;
        if ((len = is_wide(begin, glob))) {
            if (!glob[2])
                return true;
            wide = glob += len;
            wide_at = text;
            star = NULL;
        } else if (*glob == '*') {
            star = ++glob;
            star_at = text;
        } else if (*text && (len = takes(glob, *text))) {
            glob += len;
            text++;
        } else if (star && *star_at && *star_at != '/') {
            text = ++star_at;
            glob = star;
        } else if (wide && (slash = strchr(wide_at, '/'))) {
            text = wide_at = slash + 1;
            glob = wide;
            star = NULL;
        } else {
            return false;
        }
    }
    return true;
}

bool glob_matches(const char *glob, const char *path) {
    const char *slash = strrchr(path, '/');
    if (strchr(glob, '/'))
        return matches(glob[0] == '/' ? glob + 1 : glob, path);
    return matches(glob, slash ? slash + 1 : path);
}
