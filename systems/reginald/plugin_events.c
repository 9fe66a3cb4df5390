/* What the host sends. */
#include "systems/reginald/plugin_parts.h"

#include <string.h>

static const dx_text nothing = {NULL, 0};

static dx_text text_of(yyjson_val *params, const char *name) {
    yyjson_val *value = yyjson_obj_get(params, name);
    return dx_json_string(value);
}

static void refuse(dx_link *link, const dx_event *event, const char *text) {
    (void)dx_link_refuse(link, event->request, DX_CODE_PARAMS, dx_str(text), dx_json_none());
}

static void refuse_name(dx_link *link, const dx_event *event, const char *what, dx_text name) {
    dx__reginald_plugin_line line = {""};
    dx__reginald_plugin_say(&line, dx_str(what));
    dx__reginald_plugin_say(&line, dx_str(" \""));
    dx__reginald_plugin_say(&line, name);
    dx__reginald_plugin_say(&line, dx_str("\""));
    refuse(link, event, line.text);
}

/* The newer generation calls itself by another name, and the same version. It is read far enough to
 * be told what is wrong. */
static const char newer[] = "reginald";

dx_protocol *dx__reginald_plugin_choose(void *user, const dx_event *event) {
    dx_reginald_plugin *plugin = user;
    bool is_newer = !plugin->greeted && dx_text_is(event->method, "handshake") &&
                    dx_text_is(text_of(event->value, "protocol"), newer);
    if (!is_newer)
        return plugin->protocol;
    if (!plugin->generation)
        (void)dx_protocol_open(dx_str("reginald@gen-b"), NULL, &plugin->generation, NULL);
    return plugin->generation;
}

static void on_handshake(dx_link *link, const dx_event *event, void *user) {
    static const char no[] =
        "this plugin supports \"rpp\" version 0 (generation A), not \"reginald\" "
        "(generation B)";
    dx_reginald_plugin *plugin = user;
    if (dx_text_is(text_of(event->value, "protocol"), newer)) {
        refuse(link, event, no);
        dx__reginald_plugin_tell(plugin, "handshake", dx_str(no));
        return;
    }
    yyjson_mut_doc *facts = dx__reginald_plugin_facts(plugin);
    if (!facts)
        return; /* the engine answers */
    dx_status status =
        dx_link_reply(link, event->request, dx_json_built(yyjson_mut_doc_get_root(facts)));
    yyjson_mut_doc_free(facts);
    if (status == DX_MISFIT)
        dx__reginald_plugin_tell(plugin, "handshake", dx_str(dx_link_why(link)->phrase));
    plugin->greeted = plugin->greeted || status == DX_OK;
}

/* Reads settings, or refuses the request. */
static bool read_set(dx_link *link, const dx_event *event, const dx_reginald_entry *declared,
                     bool open, const char *words, dx__reginald_plugin_set **ret_set) {
    dx__reginald_plugin_line why = {""};
    dx_status status = dx__reginald_plugin_set_read(
        declared, open, yyjson_obj_get(event->value, "config"),
        words ? yyjson_obj_get(event->value, words) : NULL, ret_set, &why);
    if (status == DX_MISFIT)
        refuse(link, event, why.text);
    return status == DX_OK;
}

static void on_initialize(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_plugin *plugin = user;
    yyjson_val *logging = yyjson_obj_get(event->value, "logging");
    dx_text name = text_of(logging, "level");
    dx__reginald_plugin_set *set;
    int level;
    if (!dx_reginald_level_read(name, &level)) {
        refuse_name(link, event, "unknown level", name);
        return;
    }
    if (!read_set(link, event, plugin->settings, false, NULL, &set))
        return;
    plugin->silent = !yyjson_get_bool(yyjson_obj_get(logging, "enabled"));
    plugin->level = level;
    dx__reginald_plugin_work(plugin, DX__REGINALD_INITIALIZE, NULL, set, nothing);
}

static void on_setup(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_plugin *plugin = user;
    dx_text name = text_of(event->value, "name");
    dx__reginald_plugin_item *item = dx__reginald_plugin_item_named(plugin->commands, name);
    dx__reginald_plugin_set *set;
    if (!item)
        refuse_name(link, event, "unknown command", name);
    else if (read_set(link, event, item->settings, false, "args", &set))
        dx__reginald_plugin_work(plugin, DX__REGINALD_SETUP, item, set, nothing);
}

static void on_run(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_plugin *plugin = user;
    dx_text name = text_of(event->value, "name");
    dx__reginald_plugin_item *item = dx__reginald_plugin_item_named(plugin->commands, name);
    if (!item)
        refuse_name(link, event, "unknown command", name);
    else
        dx__reginald_plugin_work(plugin, DX__REGINALD_RUN, item,
                                 dx__reginald_plugin_set_hold(item->ready), nothing);
}

static void on_any_task(dx_link *link, const dx_event *event, dx_reginald_plugin *plugin,
                        dx__reginald_plugin_purpose purpose) {
    dx_text type = text_of(event->value, "type");
    dx_text folder = purpose == DX__REGINALD_TASK ? text_of(event->value, "dir") : nothing;
    dx__reginald_plugin_item *item = dx__reginald_plugin_item_named(plugin->tasks, type);
    dx__reginald_plugin_set *set;
    if (!item)
        refuse_name(link, event, "unknown task", type);
    else if (folder.len && memchr(folder.at, '\0', folder.len))
        refuse(link, event, "the name of the folder contains a NUL");
    else if (read_set(link, event, item->settings, item->open, NULL, &set))
        dx__reginald_plugin_work(plugin, purpose, item, set, folder);
}

static void on_validate(dx_link *link, const dx_event *event, void *user) {
    on_any_task(link, event, user, DX__REGINALD_VALIDATE);
}

static void on_task(dx_link *link, const dx_event *event, void *user) {
    on_any_task(link, event, user, DX__REGINALD_TASK);
}

/* Work that goes on is not waited for: the host decides when it has waited enough, and says exit.
 */
static void on_shutdown(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    (void)dx_link_reply(link, event->request, dx_json_none());
}

static void on_leave(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_plugin *plugin = user;
    (void)event;
    plugin->leaving = true;
    dx_link_close(link);
}

const dx_handler dx__reginald_plugin_handlers[] = {
    {"handshake", on_handshake},
    {"initialize", on_initialize},
    {"setupCommand", on_setup},
    {"runCommand", on_run},
    {"validateTask", on_validate},
    {"runTask", on_task},
    {"shutdown", on_shutdown},
    {"exit", on_leave},
    {NULL, NULL},
};

/* The document lets any method through, and we have no other. */
static void on_unknown(dx_link *link, const dx_event *event) {
    dx_buf name;
    dx_buf_init(&name, SIZE_MAX / 8, NULL);
    bool written = dx_json_write_string(&name, event->method) == DX_OK;
    (void)dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL),
                         written ? dx_json_checked((dx_text){name.data, name.len})
                                 : dx_json_none());
    dx_buf_done(&name);
}

/* An exit that wants an answer was told that there is none, but it means what it says. */
static bool is_exit(const dx_event *event) {
    return event->error.fault == DX_FAULT_METHOD_KIND &&
           dx_text_is(dx_rpc_member(event->message, dx_str("method")), "\"exit\"");
}

void dx__reginald_plugin_on_event(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_plugin *plugin = user;
    switch (event->kind) {
    case DX_EVENT_REQUEST:
        on_unknown(link, event);
        break;
    case DX_EVENT_VIOLATION:
        dx__reginald_plugin_tell(plugin, "the host", dx_str(event->error.phrase));
        if (is_exit(event))
            on_leave(link, event, user);
        break;
    case DX_EVENT_STRAY:
        dx__reginald_plugin_tell(plugin, "the host sent text that is not a message",
                                 event->message);
        break;
    default:
        break;
    }
}
