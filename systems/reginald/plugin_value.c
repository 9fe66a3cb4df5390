/* What a work may ask about itself. */
#include "systems/reginald/plugin_parts.h"

dx_loop *dx_reginald_loop(const dx_reginald_work *work) {
    return work->plugin->loop;
}

const char *dx_reginald_name(const dx_reginald_work *work) {
    return work->item ? work->item->name : NULL;
}

const char *dx_reginald_folder(const dx_reginald_work *work) {
    return work->folder;
}

/* Its own settings, else those of the plugin. */
static const dx_reginald_value *find(const dx_reginald_work *work, const char *key,
                                     dx_reginald_type type) {
    const dx_reginald_plugin *plugin = work->plugin;
    const dx_reginald_value *value = dx__reginald_plugin_find(
        work->set, work->item ? work->item->settings : plugin->settings, key);
    if (!value && work->item)
        value = dx__reginald_plugin_find(plugin->own, plugin->settings, key);
    return value && value->type == type ? value : NULL;
}

int dx_reginald_bool(const dx_reginald_work *work, const char *key) {
    const dx_reginald_value *value = find(work, key, DX_REGINALD_BOOL);
    return value && value->number;
}

int64_t dx_reginald_int(const dx_reginald_work *work, const char *key) {
    const dx_reginald_value *value = find(work, key, DX_REGINALD_INT);
    return value ? value->number : 0;
}

const char *dx_reginald_text(const dx_reginald_work *work, const char *key) {
    const dx_reginald_value *value = find(work, key, DX_REGINALD_STRING);
    return value ? value->text : "";
}

const dx_reginald_value *dx_reginald_settings(const dx_reginald_work *work, size_t index) {
    return work->set && index < work->set->count ? &work->set->values[index] : NULL;
}

const char *dx_reginald_word(const dx_reginald_work *work, size_t index) {
    return work->set && index < work->set->word_count ? work->set->words[index] : NULL;
}
