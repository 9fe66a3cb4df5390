/* dependencies_override: other versions of what handlers need than those who wrote them have said.
 * Nothing is installed here; runners are told. */
#include "systems/finecode/config_parts.h"

#include <ctype.h>
#include <string.h>

/* The name before a version: "ruff" of "ruff==0.9.0" and of "ruff [x] ; …". */
static size_t name_len(const char *text, size_t len) {
    size_t at = 0;
    while (at < len && (isalnum((unsigned char)text[at]) || memchr("-_.", text[at], 3)))
        at++;
    return at;
}

/* Python takes '-', '_' and '.' in names of packages for the same. */
static char fold(char c) {
    return c == '-' || c == '.' ? '_' : (char)tolower((unsigned char)c);
}

static bool same_package(yyjson_mut_val *one, yyjson_mut_val *other) {
    const char *first = yyjson_mut_get_str(one);
    const char *second = yyjson_mut_get_str(other);
    size_t len = name_len(first, yyjson_mut_get_len(one));
    if (!len || len != name_len(second, yyjson_mut_get_len(other)))
        return false;
    for (size_t i = 0; i < len; i++)
        if (fold(first[i]) != fold(second[i]))
            return false;
    return true;
}

static bool has_package(yyjson_mut_val *list, yyjson_mut_val *word) {
    yyjson_mut_val *other;
    size_t index;
    size_t count;
    yyjson_mut_arr_foreach(list, index, count, other) {
        if (same_package(other, word))
            return true;
    }
    return false;
}

static bool copy_words(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_mut_val *from,
                       yyjson_mut_val *but) {
    yyjson_mut_val *word;
    size_t index;
    size_t count;
    yyjson_mut_arr_foreach(from, index, count, word) {
        if (but && has_package(but, word))
            continue;
        yyjson_mut_val *copy = yyjson_mut_val_mut_copy(doc, word);
        if (!copy || !yyjson_mut_arr_append(to, copy))
            return false;
    }
    return true;
}

/* The handler's own, else that of the extension that its source lies in. */
static yyjson_mut_val *override_of(yyjson_mut_val *top, yyjson_mut_val *handler) {
    yyjson_mut_val *own = yyjson_mut_obj_get(handler, "dependencies_override");
    const char *source = yyjson_mut_get_str(yyjson_mut_obj_get(handler, "source"));
    if (own || !source)
        return own;
    yyjson_mut_val *extension =
        yyjson_mut_obj_getn(yyjson_mut_obj_get(top, "extension"), source, strcspn(source, "."));
    return yyjson_mut_obj_get(extension, "dependencies_override");
}

static bool settle(yyjson_mut_doc *doc, yyjson_mut_val *top, yyjson_mut_val *handler) {
    yyjson_mut_val *override = override_of(top, handler);
    if (!override)
        return true;
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    yyjson_mut_val *key = yyjson_mut_str(doc, "dependencies");
    return list && key &&
           copy_words(doc, list, yyjson_mut_obj_get(handler, "dependencies"), override) &&
           copy_words(doc, list, override, NULL) && yyjson_mut_obj_put(handler, key, list);
}

bool dx__finecode_dependencies_settle(yyjson_mut_doc *doc, yyjson_mut_val *top) {
    yyjson_mut_val *key;
    yyjson_mut_val *action;
    yyjson_mut_val *handler;
    size_t i;
    size_t j;
    size_t action_count;
    size_t count;
    yyjson_mut_obj_foreach(yyjson_mut_obj_get(top, "action"), i, action_count, key, action) {
        yyjson_mut_arr_foreach(yyjson_mut_obj_get(action, "handlers"), j, count, handler) {
            if (!settle(doc, top, handler))
                return false;
        }
    }
    return true;
}
