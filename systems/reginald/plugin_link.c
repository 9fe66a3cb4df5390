/* The conversation with the host, and a plugin as a whole program. */
#include "systems/reginald/plugin_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

void dx__reginald_plugin_tell(const dx_reginald_plugin *plugin, const char *what, dx_text why) {
    dx__reginald_plugin_line line = {""};
    dx__reginald_plugin_say(&line, dx_str(plugin->name));
    dx__reginald_plugin_say(&line, dx_str(": "));
    dx__reginald_plugin_say(&line, dx_str(what));
    dx__reginald_plugin_say(&line, dx_str(": "));
    dx__reginald_plugin_say(&line, why);
    (void)fprintf(stderr, "%s\n", line.text);
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    dx_reginald_plugin *plugin = user;
    dx__reginald_plugin_hold(plugin);
    plugin->code = plugin->leaving ? 0 : 1;
    if (plugin->code && why->fault != DX_FAULT_NONE)
        dx__reginald_plugin_tell(plugin, "connection closed", dx_str(why->phrase));
    else if (plugin->code)
        dx__reginald_plugin_tell(plugin, "connection closed",
                                 dx_str("the host did not send exit first"));
    plugin->link = dx_link_free(link);
    dx__reginald_plugin_questions_drop(plugin);
    dx__reginald_plugin_works_over(plugin);
    if (plugin->runs)
        dx_loop_stop(plugin->loop);
    if (!plugin->freed && plugin->on_left)
        plugin->on_left(plugin, plugin->code, plugin->left_user);
    dx__reginald_plugin_release(plugin);
}

/* Nothing of an earlier conversation counts in a new one. */
static void start_anew(dx_reginald_plugin *plugin) {
    for (dx__reginald_plugin_item *item = plugin->commands; item; item = item->next) {
        dx__reginald_plugin_set_release(item->ready);
        item->ready = NULL;
    }
    dx__reginald_plugin_set_release(plugin->own);
    plugin->own = NULL;
    plugin->greeted = plugin->leaving = plugin->silent = false;
    plugin->level = DX_REGINALD_INFO;
}

static dx_status fail(dx_error *reterr, dx_status status) {
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_SYSTEM,
                             .system = status == DX_ERR_NOMEM ? ENOMEM : EINVAL};
        (void)snprintf(reterr->phrase, sizeof reterr->phrase, "%s",
                       status == DX_ERR_NOMEM
                           ? "out of memory"
                           : "the plugin is already open, or its protocol is missing");
    }
    return status;
}

/* Another one than the last time, perhaps. */
static dx_status open_protocol(dx_reginald_plugin *plugin) {
    plugin->protocol = dx_protocol_free(plugin->protocol);
    return dx_protocol_open(dx_str(plugin->strict ? "reginald@seed" : "reginald"), NULL,
                            &plugin->protocol, NULL);
}

/* Descriptors that are negative mean the standard ones. */
static dx_status begin(dx_reginald_plugin *plugin, dx_loop *loop, int in, int out,
                       dx_error *reterr) {
    dx_status status = plugin->link ? DX_ERR_INVALID : open_protocol(plugin);
    if (status != DX_OK)
        return fail(reterr, status);
    dx_link_config config = dx_link_for(plugin->protocol, DX_SIDE_PLUGIN);
    config.peer.choose = dx__reginald_plugin_choose;
    config.peer.choose_user = plugin;
    config.handlers = dx__reginald_plugin_handlers;
    config.on_event = dx__reginald_plugin_on_event;
    config.on_closed = on_closed;
    config.user = plugin;
    status = in < 0 ? dx_link_stdio(loop, &config, &plugin->link, reterr)
                    : dx_link_open(loop, in, out, &config, &plugin->link, reterr);
    if (status != DX_OK)
        return status;
    plugin->loop = loop;
    start_anew(plugin);
    return DX_OK;
}

dx_status dx_reginald_plugin_open(dx_reginald_plugin *plugin, dx_loop *loop, int in, int out,
                                  void (*on_left)(dx_reginald_plugin *plugin, int code, void *user),
                                  void *user, dx_error *reterr) {
    if (in < 0 || out < 0)
        return fail(reterr, DX_ERR_INVALID);
    dx_status status = begin(plugin, loop, in, out, reterr);
    if (status == DX_OK) {
        plugin->on_left = on_left;
        plugin->left_user = user;
    }
    return status;
}

/* The loop goes only if nobody else can have it any more: work that another thread has not let go
 * of may still be posted to it, and the process is about to end anyway. */
int dx_reginald_serve(dx_reginald_plugin *plugin) {
    dx_loop *loop = NULL;
    dx_error error = {.fault = DX_FAULT_NONE};
    if (!plugin)
        return 2;
    dx_status status = dx_loop_new(NULL, &loop, &error);
    /* A host may close its end of the log, and that must not be the end of who writes to it. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (status == DX_OK)
        status = begin(plugin, loop, -1, -1, &error);
    if (status != DX_OK) {
        dx__reginald_plugin_tell(plugin, "cannot start the plugin", dx_str(error.phrase));
        dx_reginald_plugin_free(plugin);
        dx_loop_free(loop);
        return 2;
    }
    dx__reginald_plugin_hold(plugin);
    plugin->runs = true;
    plugin->code = 1; /* unless exit comes */
    int code = dx_loop_run(loop) == DX_OK ? plugin->code : 2;
    dx_reginald_plugin_free(plugin);
    bool alone = plugin->refs == 1;
    dx__reginald_plugin_release(plugin);
    if (alone)
        dx_loop_free(loop);
    return code;
}
