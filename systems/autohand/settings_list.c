/* Lists of strings, as the settings have them; and members of objects. */
#include "systems/autohand/guard.h"

size_t dx__autohand_list_count(char *const *list) {
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

dx_status dx__autohand_list_add(char ***list, const dx_allocator *alloc, char *string) {
    if (!string)
        return DX_ERR_NOMEM;
    size_t count = dx__autohand_list_count(*list);
    size_t old = *list ? (count + 1) * sizeof **list : 0;
    char **grown = dx__realloc(alloc, *list, old, (count + 2) * sizeof *grown);
    if (!grown) {
        dx__free(alloc, string);
        return DX_ERR_NOMEM;
    }
    grown[count] = string;
    grown[count + 1] = NULL;
    *list = grown;
    return DX_OK;
}

void dx__autohand_list_free(char **list, const dx_allocator *alloc) {
    for (size_t i = 0; list && list[i]; i++)
        dx__free(alloc, list[i]);
    dx__free(alloc, list);
}

char *dx__autohand_joined(const dx_allocator *alloc, const char *const *pieces, size_t count) {
    size_t size = 1;
    for (size_t i = 0; i < count; i++)
        size += pieces[i] ? strlen(pieces[i]) : 0;
    char *whole = dx__malloc(alloc, size);
    char *to = whole;
    for (size_t i = 0; whole && i < count; i++) {
        size_t len = pieces[i] ? strlen(pieces[i]) : 0;
        if (len)
            memcpy(to, pieces[i], len);
        to += len;
    }
    if (whole)
        *to = '\0';
    return whole;
}

bool dx__autohand_has_twins(yyjson_val *object) {
    enum { MEMBERS_MAX = 1000 };
    size_t i, count;
    yyjson_val *name, *value;
    if (yyjson_obj_size(object) > MEMBERS_MAX)
        return true;
    yyjson_obj_foreach(object, i, count, name, value) {
        if (yyjson_obj_getn(object, yyjson_get_str(name), yyjson_get_len(name)) != value)
            return true;
    }
    return false;
}
