/* What the handshake is answered with, in the order in which real plugins write it. */
#include "systems/reginald/plugin_parts.h"

/* Each builds on and says whether all went well. What is empty is left out. */

static bool add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                     const char *text) {
    return !text || yyjson_mut_obj_add_str(doc, object, name, text);
}

static bool add_default(yyjson_mut_doc *doc, yyjson_mut_val *object,
                        const dx_reginald_value *value) {
    switch (value->type) {
    case DX_REGINALD_BOOL:
        return yyjson_mut_obj_add_bool(doc, object, "value", value->number != 0) &&
               yyjson_mut_obj_add_str(doc, object, "type", "bool");
    case DX_REGINALD_INT:
        return yyjson_mut_obj_add_sint(doc, object, "value", value->number) &&
               yyjson_mut_obj_add_str(doc, object, "type", "int");
    default:
        return yyjson_mut_obj_add_str(doc, object, "value", value->text) &&
               yyjson_mut_obj_add_str(doc, object, "type", "string");
    }
}

/* A shorthand is a letter without a NUL behind it: hence the copy. */
static bool add_flag(yyjson_mut_doc *doc, yyjson_mut_val *object, const dx_reginald_entry *entry) {
    if (!entry->has_flag)
        return true;
    yyjson_mut_val *flag = yyjson_mut_obj_add_obj(doc, object, "flag");
    return flag && add_text(doc, flag, "name", entry->flag) &&
           (!entry->shorthand ||
            yyjson_mut_obj_add_strncpy(doc, flag, "shorthand", &entry->shorthand, 1)) &&
           add_text(doc, flag, "usage", entry->usage);
}

static bool add_settings(yyjson_mut_doc *doc, yyjson_mut_val *object,
                         const dx_reginald_entry *entry) {
    if (!entry)
        return true;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, object, "configs");
    bool done = list;
    for (; done && entry->value.key; entry++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        done = one && add_text(doc, one, "key", entry->value.key) &&
               add_default(doc, one, &entry->value) && add_flag(doc, one, entry) &&
               add_text(doc, one, "envOverride", entry->env) &&
               (!entry->flag_only || yyjson_mut_obj_add_true(doc, one, "flagOnly"));
    }
    return done;
}

static bool add_items(yyjson_mut_doc *doc, yyjson_mut_val *root,
                      const dx__reginald_plugin_item *item, bool is_task) {
    if (!item)
        return true;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, is_task ? "tasks" : "commands");
    bool done = list;
    for (; done && item; item = item->next) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        done = one && add_text(doc, one, is_task ? "type" : "name", item->name) &&
               (is_task || add_text(doc, one, "usage", item->usage)) &&
               add_settings(doc, one, item->settings);
    }
    return done;
}

yyjson_mut_doc *dx__reginald_plugin_facts(const dx_reginald_plugin *plugin) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    if (root && add_text(doc, root, "protocol", "rpp") &&
        yyjson_mut_obj_add_int(doc, root, "protocolVersion", 0) &&
        add_text(doc, root, "name", plugin->name) &&
        add_text(doc, root, "version", plugin->version) &&
        add_settings(doc, root, plugin->settings) &&
        add_items(doc, root, plugin->commands, false) &&
        add_items(doc, root, plugin->tasks, true)) {
        yyjson_mut_doc_set_root(doc, root);
        return doc;
    }
    yyjson_mut_doc_free(doc);
    return NULL;
}
