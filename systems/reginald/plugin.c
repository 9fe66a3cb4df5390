/* A plugin and what it offers. */
#include "systems/reginald/plugin_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_items(dx__reginald_plugin_item *item) {
    for (; item; item = item->next)
        dx__reginald_plugin_set_release(item->ready);
}

void dx__reginald_plugin_hold(dx_reginald_plugin *plugin) {
    plugin->refs++;
}

void dx__reginald_plugin_release(dx_reginald_plugin *plugin) {
    if (--plugin->refs)
        return;
    release_items(plugin->commands);
    release_items(plugin->tasks);
    dx__reginald_plugin_set_release(plugin->own);
    dx_protocol_free(plugin->protocol);
    dx_protocol_free(plugin->generation);
    dx__reginald_plugin_pool_done(&plugin->pool);
    free(plugin);
}

dx_status dx_reginald_plugin_new(const char *name, const char *version,
                                 const dx_reginald_entry *settings,
                                 dx_reginald_plugin **ret_plugin) {
    dx__reginald_plugin_line why = {""};
    if (!name || !*name || !version || !dx__is_utf8(dx_str(name)) || !dx__is_utf8(dx_str(version)))
        return DX_ERR_INVALID;
    dx_reginald_plugin *plugin = calloc(1, sizeof *plugin);
    if (!plugin)
        return DX_ERR_NOMEM;
    plugin->refs = 1;
    plugin->name = dx__reginald_plugin_copy(&plugin->pool, dx_str(name));
    plugin->version = dx__reginald_plugin_copy(&plugin->pool, dx_str(version));
    dx_status status =
        plugin->name && plugin->version
            ? dx__reginald_plugin_declare(&plugin->pool, settings, &plugin->settings, &why)
            : DX_ERR_NOMEM;
    if (status == DX_OK)
        *ret_plugin = plugin;
    else
        dx__reginald_plugin_release(plugin);
    return status;
}

dx_reginald_plugin *dx_reginald_plugin_free(dx_reginald_plugin *plugin) {
    if (!plugin || plugin->freed)
        return NULL;
    plugin->freed = true;
    plugin->link = dx_link_free(plugin->link);
    dx__reginald_plugin_questions_drop(plugin);
    dx__reginald_plugin_works_over(plugin);
    if (plugin->runs)
        dx_loop_stop(plugin->loop);
    dx__reginald_plugin_release(plugin);
    return NULL;
}

static dx_status refuse(dx_error *reterr, const char *place, const char *name, const char *what) {
    dx__reginald_plugin_line line = {""};
    dx__reginald_plugin_say(&line, dx_str(place));
    dx__reginald_plugin_say(&line, dx_str(" \""));
    dx__reginald_plugin_say(&line, dx_str(name ? name : ""));
    dx__reginald_plugin_say(&line, dx_str("\": "));
    dx__reginald_plugin_say(&line, dx_str(what));
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_START};
        (void)snprintf(reterr->place, sizeof reterr->place, "%s", place);
        (void)snprintf(reterr->phrase, sizeof reterr->phrase, "%.199s", line.text);
    }
    return DX_ERR_INVALID;
}

/* Names that every host has for itself: a plugin with one of them would be left out. */
static bool is_taken(const char *name, const char *const *taken) {
    for (; *taken; taken++)
        if (strcmp(name, *taken) == 0)
            return true;
    return false;
}

/* Adds a copy at the end of a list. */
static dx_status add(dx_reginald_plugin *plugin, dx__reginald_plugin_item **list,
                     const dx__reginald_plugin_item *given, const char *const *taken,
                     dx_error *reterr) {
    const char *place = list == &plugin->commands ? "command" : "task";
    dx__reginald_plugin_line why = {""};
    if (!given->name || !*given->name || !dx__is_utf8(dx_str(given->name)))
        return refuse(reterr, place, given->name, "its name is missing or not valid UTF-8");
    if (given->usage && !dx__is_utf8(dx_str(given->usage)))
        return refuse(reterr, place, given->name, "its usage is not valid UTF-8");
    if (!given->run)
        return refuse(reterr, place, given->name, "it has no function to run");
    if (plugin->link)
        return refuse(reterr, place, given->name, "the plugin is already open");
    if (is_taken(given->name, taken))
        return refuse(reterr, place, given->name, "this name is reserved");
    if (dx__reginald_plugin_item_named(*list, dx_str(given->name)))
        return refuse(reterr, place, given->name, "it is declared twice");
    dx__reginald_plugin_item *item = dx__reginald_plugin_room(&plugin->pool, 1, sizeof *item);
    if (!item)
        return DX_ERR_NOMEM;
    *item = *given;
    dx_status status =
        dx__reginald_plugin_declare(&plugin->pool, given->settings, &item->settings, &why);
    if (status == DX_ERR_INVALID)
        return refuse(reterr, place, given->name, why.text);
    item->name = dx__reginald_plugin_copy(&plugin->pool, dx_str(given->name));
    item->usage = dx__reginald_plugin_copy(&plugin->pool, dx_str(given->usage ? given->usage : ""));
    if (status != DX_OK || !item->name || !item->usage)
        return DX_ERR_NOMEM;
    while (*list)
        list = &(*list)->next;
    *list = item;
    return DX_OK;
}

dx_status dx_reginald_add_command(dx_reginald_plugin *plugin, const dx_reginald_command *command,
                                  dx_error *reterr) {
    static const char *const taken[] = {"attend", "apply", "tend", NULL};
    dx__reginald_plugin_item item = {.name = command->name,
                                     .usage = command->usage,
                                     .settings = command->settings,
                                     .check = command->setup,
                                     .run = command->run,
                                     .user = command->user};
    return add(plugin, &plugin->commands, &item, taken, reterr);
}

dx_status dx_reginald_add_task(dx_reginald_plugin *plugin, const dx_reginald_task *task,
                               dx_error *reterr) {
    static const char *const taken[] = {"link", NULL};
    dx__reginald_plugin_item item = {.name = task->type,
                                     .settings = task->settings,
                                     .open = task->open,
                                     .check = task->validate,
                                     .run = task->run,
                                     .user = task->user};
    return add(plugin, &plugin->tasks, &item, taken, reterr);
}

void dx_reginald_on_initialize(dx_reginald_plugin *plugin,
                               void (*on_initialize)(dx_reginald_work *work, void *user),
                               void *user) {
    plugin->on_initialize = on_initialize;
    plugin->initialize_user = user;
}

void dx_reginald_plugin_strict(dx_reginald_plugin *plugin, int strict) {
    plugin->strict = strict != 0;
}
