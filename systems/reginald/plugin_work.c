/* Work: a request from the time when it is handed to its handler until it was answered. */
#include "systems/reginald/plugin_parts.h"

#include <stdlib.h>
#include <string.h>

static void put_in(dx_reginald_work *work) {
    dx_reginald_plugin *plugin = work->plugin;
    work->next = plugin->works;
    if (work->next)
        work->next->prev = work;
    plugin->works = work;
    dx__reginald_plugin_hold(plugin);
}

static void release(dx_reginald_work *work) {
    dx_reginald_plugin *plugin = work->plugin;
    *(work->prev ? &work->prev->next : &plugin->works) = work->next;
    if (work->next)
        work->next->prev = work->prev;
    if (plugin->cursor == work)
        plugin->cursor = work->next;
    dx_event_free(work->event); /* which answers what is not answered yet, if anybody listens */
    dx__reginald_plugin_set_release(work->set);
    free(work->folder);
    free(work);
    dx__reginald_plugin_release(plugin);
}

static void enter(dx_reginald_work *work) {
    work->busy++;
}

static void leave(dx_reginald_work *work) {
    if (!--work->busy && work->ended)
        release(work);
}

static dx_link *link_of(const dx_reginald_work *work) {
    return work->over ? NULL : work->plugin->link;
}

/* What can't be sent for lack of memory is answered by the engine when the event goes, as soon as
 * there is some. */
static void refuse(dx_reginald_work *work, int64_t code, const char *text) {
    dx_link *link = link_of(work);
    dx_json none = dx_json_none();
    if (work->ended)
        return;
    work->ended = true;
    if (!link ||
        dx_link_refuse(link, work->event->request, code, dx_str(text), none) != DX_ERR_INVALID)
        return;
    dx__reginald_plugin_line line = {""};
    dx__reginald_plugin_say(&line, dx_str(text));
    (void)dx_link_refuse(link, work->event->request, code, dx_str(line.text), none);
}

/* What was set is in force once it was said to be good. */
static void settle(dx_reginald_work *work) {
    dx__reginald_plugin_set **place = work->purpose == DX__REGINALD_INITIALIZE ? &work->plugin->own
                                      : work->purpose == DX__REGINALD_SETUP    ? &work->item->ready
                                                                               : NULL;
    if (!place)
        return;
    dx__reginald_plugin_set_release(*place);
    *place = dx__reginald_plugin_set_hold(work->set);
}

static void finish(dx_reginald_work *work) {
    dx_link *link = link_of(work);
    work->ended = true;
    settle(work);
    if (link)
        (void)dx_link_reply(link, work->event->request,
                            dx_json_checked((dx_text){"{}", sizeof "{}" - 1}));
}

void dx_reginald_done(dx_reginald_work *work) {
    if (work->ended)
        return;
    enter(work);
    finish(work);
    leave(work);
}

dx_status dx_reginald_done_with(dx_reginald_work *work, dx_json result) {
    dx_link *link = link_of(work);
    if (work->purpose != DX__REGINALD_RUN)
        return DX_ERR_INVALID;
    if (work->ended || !link)
        return DX_GONE;
    dx_status status = dx_link_reply(link, work->event->request, result);
    if (status != DX_OK)
        return status;
    enter(work);
    work->ended = true;
    leave(work);
    return DX_OK;
}

void dx_reginald_fail(dx_reginald_work *work, const char *text) {
    enum { COMMAND_FAILED = -32000, INVALID_CONFIG = -32050 };
    static const int64_t codes[] = {
        [DX__REGINALD_INITIALIZE] = DX_CODE_PARAMS, [DX__REGINALD_SETUP] = DX_CODE_PARAMS,
        [DX__REGINALD_RUN] = COMMAND_FAILED,        [DX__REGINALD_VALIDATE] = INVALID_CONFIG,
        [DX__REGINALD_TASK] = DX_CODE_INTERNAL,
    };
    if (work->ended)
        return;
    enter(work);
    /* Settings that were refused must not be run with, nor those of an earlier time. */
    if (work->purpose == DX__REGINALD_SETUP) {
        dx__reginald_plugin_set_release(work->item->ready);
        work->item->ready = NULL;
    }
    refuse(work, codes[work->purpose], text ? text : "");
    leave(work);
}

static void run(dx_reginald_work *work) {
    dx_reginald_plugin *plugin = work->plugin;
    const dx__reginald_plugin_item *item = work->item;
    bool runs = work->purpose == DX__REGINALD_RUN || work->purpose == DX__REGINALD_TASK;
    void (*handler)(dx_reginald_work *, void *) = !item  ? plugin->on_initialize
                                                  : runs ? item->run
                                                         : item->check;
    enter(work);
    if (handler)
        handler(work, item ? item->user : plugin->initialize_user);
    else
        finish(work);
    if (!work->ended && !work->kept)
        refuse(work, DX_CODE_INTERNAL, "The handler did not respond");
    leave(work);
}

void dx__reginald_plugin_work(dx_reginald_plugin *plugin, dx__reginald_plugin_purpose purpose,
                              dx__reginald_plugin_item *item, dx__reginald_plugin_set *set,
                              dx_text folder) {
    dx_reginald_work *work = calloc(1, sizeof *work);
    char *copy = work && folder.at ? strndup(folder.at, folder.len) : NULL;
    if (!work || (folder.at && !copy) || dx_link_keep(plugin->link, &work->event) != DX_OK) {
        free(copy);
        free(work);
        dx__reginald_plugin_set_release(set);
        return;
    }
    work->plugin = plugin;
    work->purpose = purpose;
    work->item = item;
    work->set = set;
    work->folder = copy;
    put_in(work);
    run(work);
}

void dx__reginald_plugin_works_over(dx_reginald_plugin *plugin) {
    dx__reginald_plugin_hold(plugin);
    for (dx_reginald_work *work = plugin->works; work; work = plugin->cursor) {
        plugin->cursor = work->next;
        if (work->over)
            continue;
        enter(work);
        work->over = true;
        if (!work->ended && work->on_over)
            work->on_over(work, work->over_user);
        leave(work);
    }
    dx__reginald_plugin_release(plugin);
}

void dx_reginald_keep(dx_reginald_work *work) {
    work->kept = true;
}

void dx_reginald_on_over(dx_reginald_work *work,
                         void (*on_over)(dx_reginald_work *work, void *user), void *user) {
    work->on_over = on_over;
    work->over_user = user;
}

int dx_reginald_is_over(const dx_reginald_work *work) {
    return work->over || work->plugin->leaving || !work->plugin->link;
}
