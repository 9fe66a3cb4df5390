/* Patterns for paths of files. */
#include "systems/autohand/guard.h"

enum { EXPANDED_MAX = 64 };

/* The first part of a path, without the slash behind it. */
static dx_text part_of(dx_text path) {
    const char *slash = path.len ? memchr(path.at, '/', path.len) : NULL;
    return (dx_text){path.at, slash ? (size_t)(slash - path.at) : path.len};
}

static dx_text behind(dx_text path, dx_text part) {
    size_t len = part.len < path.len ? part.len + 1 : part.len;
    return (dx_text){path.at + len, path.len - len};
}

/* How long a class at the beginning of the pattern is, `[` and `]` included; 0: it is not closed,
 * and then `[` stands for itself. */
static size_t class_length(dx_text pattern) {
    size_t at = 1;
    if (at < pattern.len && (pattern.at[at] == '!' || pattern.at[at] == '^'))
        at++;
    if (at < pattern.len && pattern.at[at] == ']')
        at++;
    while (at < pattern.len && pattern.at[at] != ']')
        at++;
    return at < pattern.len ? at + 1 : 0;
}

static bool is_in_class(const char *class, size_t len, unsigned char c) {
    size_t at = 1;
    bool negated = class[at] == '!' || class[at] == '^';
    bool found = false;
    for (at += negated ? 1 : 0; at + 1 < len; at++) {
        unsigned char low = (unsigned char)class[at];
        unsigned char high = low;
        if (at + 3 < len && class[at + 1] == '-') {
            high = (unsigned char)class[at + 2];
            at += 2;
        }
        found = found || (low <= c && c <= high);
    }
    return found != negated;
}

/* Does the pattern, from `*at` on, begin with something that this byte fits? */
static bool takes(dx_text pattern, size_t *at, char c) {
    dx_text rest = {pattern.at + *at, pattern.len - *at};
    if (!rest.len)
        return false;
    size_t len = *rest.at == '[' ? class_length(rest) : 0;
    bool fits = len               ? is_in_class(rest.at, len, (unsigned char)c)
                : *rest.at == '?' ? true
                                  : *rest.at == c;
    *at += !fits ? 0 : len ? len : 1;
    return fits;
}

static bool part_fits(dx_text pattern, dx_text text) {
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX;
    size_t star_text = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            star_text = t;
        } else if (takes(pattern, &p, text.at[t])) {
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.at[p] == '*')
        p++;
    return p == pattern.len;
}

static bool is_any_parts(dx_text part) {
    return part.len == 2 && part.at[0] == '*' && part.at[1] == '*';
}

/* The same walk as inside of a part, with parts instead of bytes. */
bool dx__autohand_glob_fits(const char *glob, dx_text path) {
    dx_text pattern = dx_str(glob);
    dx_text again = {NULL, 0};
    dx_text again_path = {NULL, 0};
    while (path.len) {
        dx_text wanted = part_of(pattern);
        dx_text part = part_of(path);
        if (is_any_parts(wanted)) {
            again = pattern = behind(pattern, wanted);
            again_path = path;
            if (!pattern.len)
                return true;
        } else if (pattern.len && part_fits(wanted, part)) {
            pattern = behind(pattern, wanted);
            path = behind(path, part);
        } else if (again.at) {
            again_path = behind(again_path, part_of(again_path));
            pattern = again;
            path = again_path;
        } else {
            return false;
        }
    }
    while (is_any_parts(part_of(pattern)))
        pattern = behind(pattern, part_of(pattern));
    return !pattern.len;
}

/* Where the alternatives of the first {…} that has any are: from the brace to the other one. */
static bool find_braces(const char *glob, size_t *ret_open, size_t *ret_close) {
    for (size_t open = 0; glob[open]; open++) {
        if (glob[open] != '{')
            continue;
        size_t depth = 0;
        bool has_comma = false;
        for (size_t at = open; glob[at]; at++) {
            depth += glob[at] == '{' ? 1 : 0;
            depth -= glob[at] == '}' ? 1 : 0;
            has_comma = has_comma || (glob[at] == ',' && depth == 1);
            if (depth)
                continue;
            *ret_open = open;
            *ret_close = at;
            if (has_comma)
                return true;
            break;
        }
    }
    return false;
}

static char *with_alternative(const dx_allocator *alloc, const char *glob, size_t open,
                              dx_text alternative, size_t close) {
    size_t rest = strlen(glob + close + 1);
    char *made = dx__malloc(alloc, open + alternative.len + rest + 1);
    if (!made)
        return NULL;
    if (open)
        memcpy(made, glob, open);
    if (alternative.len)
        memcpy(made + open, alternative.at, alternative.len);
    memcpy(made + open + alternative.len, glob + close + 1, rest + 1);
    return made;
}

static dx_status add_alternatives(char ***list, const dx_allocator *alloc, const char *glob,
                                  size_t open, size_t close) {
    dx_status status = DX_OK;
    size_t start = open + 1;
    size_t depth = 0;
    for (size_t at = start; status == DX_OK && at <= close; at++) {
        if (at == close || (glob[at] == ',' && !depth)) {
            dx_text one = {glob + start, at - start};
            status =
                dx__autohand_list_add(list, alloc, with_alternative(alloc, glob, open, one, close));
            start = at + 1;
        }
        depth += glob[at] == '{' ? 1 : 0;
        depth -= glob[at] == '}' && depth ? 1 : 0;
    }
    return status;
}

/* Those that are not done stand in a list of their own, of which the first is done next. */
dx_status dx__autohand_glob_expand(char ***list, const dx_allocator *alloc, const char *glob) {
    char **todo = NULL;
    bool whole = true;
    dx_status status = dx__autohand_list_add(&todo, alloc, dx__text_copy(alloc, dx_str(glob)));
    for (size_t i = 0; status == DX_OK && todo[i]; i++) {
        size_t open = 0;
        size_t close = 0;
        bool more = find_braces(todo[i], &open, &close);
        if (more && dx__autohand_list_count(todo) >= EXPANDED_MAX)
            more = whole = false;
        status = more ? add_alternatives(&todo, alloc, todo[i], open, close)
                      : dx__autohand_list_add(list, alloc, dx__text_copy(alloc, dx_str(todo[i])));
    }
    dx__autohand_list_free(todo, alloc);
    return status == DX_OK && !whole ? DX_MISFIT : status;
}
