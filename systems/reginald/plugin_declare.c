/* Settings, as a plugin declares them. */
#include "systems/reginald/plugin_parts.h"

#include <string.h>

static bool is_name(const char *text) {
    return text && *text && dx__is_utf8(dx_str(text));
}

static bool is_text(const char *text) {
    return !text || dx__is_utf8(dx_str(text));
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static const char *flaw_of(const dx_reginald_entry *entry) {
    const dx_reginald_value *value = &entry->value;
    if (!is_name(value->key))
        return "its key is empty or not valid UTF-8";
    if (value->type < DX_REGINALD_BOOL || value->type > DX_REGINALD_STRING)
        return "it has no valid type";
    if (value->type == DX_REGINALD_STRING && !is_text(value->text))
        return "its default is not valid UTF-8";
    if (entry->shorthand && !is_letter(entry->shorthand))
        return "its shorthand is not a letter or digit";
    if (entry->flag && !is_name(entry->flag))
        return "its flag is empty or not valid UTF-8";
    if (!is_text(entry->usage))
        return "its usage is not valid UTF-8";
    if (entry->env && !is_name(entry->env))
        return "its variable is empty or not valid UTF-8";
    return NULL;
}

static dx_status check(const dx_reginald_entry *settings, size_t *ret_count,
                       dx__reginald_plugin_line *why) {
    size_t count = 0;
    for (; settings && settings[count].value.key; count++) {
        const char *key = settings[count].value.key;
        const char *flaw = flaw_of(&settings[count]);
        for (size_t i = 0; !flaw && i < count; i++)
            if (strcmp(settings[i].value.key, key) == 0)
                flaw = "it is declared twice";
        if (flaw) {
            dx__reginald_plugin_say(why, dx_str("the setting \""));
            dx__reginald_plugin_say(why, dx_str(key));
            dx__reginald_plugin_say(why, dx_str("\": "));
            dx__reginald_plugin_say(why, dx_str(flaw));
            return DX_ERR_INVALID;
        }
    }
    *ret_count = count;
    return DX_OK;
}

/* NULL stays NULL. */
static bool copy(dx__reginald_plugin_pool *pool, const char **text) {
    if (*text)
        *text = dx__reginald_plugin_copy(pool, dx_str(*text));
    else
        return true;
    return *text;
}

static bool copy_entry(dx__reginald_plugin_pool *pool, dx_reginald_entry *entry) {
    dx_reginald_value *value = &entry->value;
    if (value->type == DX_REGINALD_BOOL)
        value->number = value->number != 0;
    if (value->type == DX_REGINALD_STRING && !value->text)
        value->text = "";
    return copy(pool, &value->key) && copy(pool, &value->text) && copy(pool, &entry->flag) &&
           copy(pool, &entry->usage) && copy(pool, &entry->env);
}

dx_status dx__reginald_plugin_declare(dx__reginald_plugin_pool *pool,
                                      const dx_reginald_entry *settings,
                                      const dx_reginald_entry **ret_settings,
                                      dx__reginald_plugin_line *why) {
    size_t count;
    dx_status status = check(settings, &count, why);
    if (status != DX_OK)
        return status;
    *ret_settings = NULL;
    if (!count)
        return DX_OK;
    dx_reginald_entry *copies = dx__reginald_plugin_room(pool, count + 1, sizeof *copies);
    if (!copies)
        return DX_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        copies[i] = settings[i];
        if (!copy_entry(pool, &copies[i]))
            return DX_ERR_NOMEM;
    }
    *ret_settings = copies;
    return DX_OK;
}

dx__reginald_plugin_item *dx__reginald_plugin_item_named(dx__reginald_plugin_item *list,
                                                         dx_text name) {
    for (; list; list = list->next)
        if (name.at && dx_text_is(name, list->name))
            return list;
    return NULL;
}
