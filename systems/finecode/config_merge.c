/* How what files say comes together: tables by their keys, lists of things by what names them, and
 * everything else as the last one says. */
#include "systems/finecode/config_parts.h"

#include <string.h>

bool dx__finecode_member_merge(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                               size_t len, yyjson_val *value) {
    yyjson_mut_val *old = yyjson_mut_obj_getn(object, key, len);
    yyjson_mut_val *merged =
        old ? dx__finecode_deep_merge(doc, old, value) : yyjson_val_mut_copy(doc, value);
    yyjson_mut_val *name = yyjson_mut_strncpy(doc, key, len);
    if (!merged || !name)
        return false;
    return old ? yyjson_mut_obj_replace(object, name, merged)
               : yyjson_mut_obj_add(object, name, merged);
}

/* The member of that name as a list or an object, made if there is none. */
static yyjson_mut_val *need(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                            size_t len, bool list) {
    yyjson_mut_val *there = yyjson_mut_obj_getn(object, key, len);
    if (there)
        return there;
    yyjson_mut_val *name = yyjson_mut_strncpy(doc, key, len);
    yyjson_mut_val *made = list ? yyjson_mut_arr(doc) : yyjson_mut_obj(doc);
    return name && made && yyjson_mut_obj_add(object, name, made) ? made : NULL;
}

static bool append(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key, dx_text name,
                   yyjson_val *item) {
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, item);
    if (!copy)
        return false;
    if (!yyjson_mut_obj_get(copy, key)) {
        /* It comes first, where it stands in lists. */
        yyjson_mut_val *word = yyjson_mut_str(doc, key);
        yyjson_mut_val *value = yyjson_mut_strncpy(doc, name.at, name.len);
        if (!word || !value || !yyjson_mut_obj_insert(copy, word, value, 0))
            return false;
    }
    return yyjson_mut_arr_append(list, copy);
}

/* Merges an item into the one of the list that has the same `key`, or appends it. */
static bool merge_item(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key, dx_text name,
                       yyjson_val *item) {
    yyjson_mut_val *other;
    size_t index;
    size_t count;
    yyjson_mut_arr_foreach(list, index, count, other) {
        if (!yyjson_mut_equals_strn(yyjson_mut_obj_get(other, key), name.at, name.len))
            continue;
        yyjson_mut_val *merged = dx__finecode_deep_merge(doc, other, item);
        if (merged && merged != other)
            (void)yyjson_mut_arr_replace(list, index, merged);
        return merged != NULL;
    }
    return append(doc, list, key, name, item);
}

static bool merge_list(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *key,
                       yyjson_val *items) {
    yyjson_val *item;
    size_t index;
    size_t count;
    yyjson_arr_foreach(items, index, count, item) {
        if (!merge_item(doc, list, key, dx_json_string(yyjson_obj_get(item, key)), item))
            return false;
    }
    return true;
}

/* Handlers of an action: [{name = "a", …}], or a table of them by their names. */
static bool merge_handlers(yyjson_mut_doc *doc, yyjson_mut_val *action, yyjson_val *handlers,
                           bool replace) {
    yyjson_mut_val *list = need(doc, action, "handlers", strlen("handlers"), true);
    yyjson_val *name;
    yyjson_val *item;
    size_t index;
    size_t count;
    if (!list)
        return false;
    if (replace)
        (void)yyjson_mut_arr_clear(list);
    if (yyjson_is_arr(handlers))
        return merge_list(doc, list, "name", handlers);
    yyjson_obj_foreach(handlers, index, count, name, item) {
        if (!merge_item(doc, list, "name", dx_json_string(name), item))
            return false;
    }
    return true;
}

static bool merge_action(yyjson_mut_doc *doc, yyjson_mut_val *action, yyjson_val *from) {
    yyjson_val *mode = yyjson_obj_get(from, "handlers_mode");
    yyjson_val *key;
    yyjson_val *value;
    size_t index;
    size_t count;
    yyjson_obj_foreach(from, index, count, key, value) {
        bool done = true;
        if (yyjson_equals_str(key, "handlers"))
            done = merge_handlers(doc, action, value, yyjson_equals_str(mode, "replace"));
        else if (!yyjson_equals_str(key, "handlers_mode"))
            done = dx__finecode_member_merge(doc, action, yyjson_get_str(key), yyjson_get_len(key),
                                             value);
        if (!done)
            return false;
    }
    return true;
}

static bool merge_actions(yyjson_mut_doc *doc, yyjson_mut_val *top, yyjson_val *from) {
    yyjson_mut_val *actions = need(doc, top, "action", strlen("action"), false);
    yyjson_val *key;
    yyjson_val *value;
    size_t index;
    size_t count;
    if (!actions)
        return false;
    yyjson_obj_foreach(from, index, count, key, value) {
        yyjson_mut_val *action =
            need(doc, actions, yyjson_get_str(key), yyjson_get_len(key), false);
        if (!action || !merge_action(doc, action, value))
            return false;
    }
    return true;
}

bool dx__finecode_layer_merge(yyjson_mut_doc *doc, yyjson_mut_val *top, yyjson_val *layer) {
    /* Lists of things that have a name. */
    static const char *const lists[][2] = {
        {"presets", "source"}, {"action_handler", "source"}, {"service", "interface"}};
    yyjson_val *key;
    yyjson_val *value;
    size_t index;
    size_t count;
    yyjson_obj_foreach(layer, index, count, key, value) {
        size_t which = 0;
        size_t list_count = sizeof lists / sizeof *lists;
        while (which < list_count && !yyjson_equals_str(key, lists[which][0]))
            which++;
        bool done;
        if (which < list_count) {
            yyjson_mut_val *list = need(doc, top, lists[which][0], strlen(lists[which][0]), true);
            done = list && merge_list(doc, list, lists[which][1], value);
        } else if (yyjson_equals_str(key, "action")) {
            done = merge_actions(doc, top, value);
        } else {
            done = dx__finecode_member_merge(doc, top, yyjson_get_str(key), yyjson_get_len(key),
                                             value);
        }
        if (!done)
            return false;
    }
    return true;
}
