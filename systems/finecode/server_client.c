/* One client: its connection, and which function has which of its methods. */
#include "systems/finecode/server_parts.h"

#include <unistd.h>

/* {"clientId", "capabilities"?: {"workspace": {"applyEdit": true}}} */
static void initialize(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    yyjson_val *can = yyjson_obj_get(yyjson_obj_get(event->value, "capabilities"), "workspace");
    client->takes_edits = yyjson_is_true(yyjson_obj_get(can, "applyEdit"));
    static const char answer[] = "{\"logFilePath\":null}";
    (void)dx_link_reply(link, event->request, dx_json_text(answer, sizeof answer - 1));
}

static void get_info(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool built = doc && yyjson_mut_obj_add_null(doc, root, "logFilePath") &&
                 yyjson_mut_obj_add_str(doc, root, "version", dx_version()) &&
                 yyjson_mut_obj_add_sint(doc, root, "pid", getpid());
    dx__finecode_answer_send(link, event->request, doc, built);
}

static void shut_down(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_answer_empty(link, event->request);
    dx__finecode_server_end(client->server);
}

/* Everything goes that clients have brought. */
static void reset(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx_finecode_wm *wm = client->server->wm;
    while (wm->root_count) {
        size_t before = wm->root_count;
        char *root = dx__text_copy(&wm->alloc, dx_str(wm->roots[before - 1]));
        if (root)
            dx_finecode_wm_remove_dir(wm, root);
        dx__free(&wm->alloc, root);
        if (wm->root_count >= before)
            break;
    }
    dx__finecode_overrides_drop(client->server);
    dx__finecode_answer_empty(link, event->request);
}

static void not_done(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx__finecode_answer_refuse(link, event->request, DX__FINECODE_NOT_DONE, "not implemented", "");
}

static const dx_handler handlers[] = {
    {"client/initialize", initialize},
    {"server/getInfo", get_info},
    {"server/shutdown", shut_down},
    {"server/reset", reset},
    {"server/subscribeLogs", dx__finecode_subscribe_logs},
    {"server/unsubscribeLogs", dx__finecode_unsubscribe_logs},
    {"workspace/addDir", dx__finecode_add_dir},
    {"workspace/removeDir", dx__finecode_remove_dir},
    {"workspace/startRunners", dx__finecode_start_runners},
    {"workspace/listProjects", dx__finecode_list_projects},
    {"workspace/findProjectForFile", dx__finecode_find_project},
    {"workspace/setConfigOverrides", dx__finecode_set_overrides},
    {"workspace/getProjectRawConfig", dx__finecode_raw_config},
    {"workspace/getWorkspaceEditablePackages", dx__finecode_packages},
    {"workspace/prepareEnvs", not_done},
    {"actions/list", dx__finecode_list_actions},
    {"actions/run", dx__finecode_run_action},
    {"actions/runBatch", dx__finecode_run_batch},
    {"actions/getTree", dx__finecode_get_tree},
    {"actions/getPayloadSchemas", dx__finecode_get_schemas},
    {"actions/reload", dx__finecode_reload_action},
    {"runners/list", dx__finecode_list_runners},
    {"runners/restart", dx__finecode_restart_runner},
    {"runners/checkEnv", dx__finecode_check_env},
    {"runners/removeEnv", not_done},
    {"documents/opened", dx__finecode_opened_one},
    {"documents/changed", dx__finecode_changed_one},
    {"documents/closed", dx__finecode_closed_one},
    {NULL, NULL},
};

static void on_event(dx_link *link, const dx_event *event, void *user) {
    if (event->kind == DX_EVENT_CANCEL)
        dx__finecode_duties_cancel(user, event->request);
    else if (event->kind == DX_EVENT_REQUEST)
        (void)dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    dx__finecode_client *client = user;
    dx_finecode_server *server = client->server;
    dx__finecode_client **at = &server->clients;
    (void)link;
    (void)why;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    dx__finecode_duties_cancel(client, 0);
    (void)dx__finecode_client_free(client);
    dx__finecode_level_choose(server);
    dx__finecode_server_count(server);
}

static dx_status open_link(dx__finecode_client *client, int fd) {
    dx_link_config config = dx_link_defaults(DX_FRAMING_HEADER, DX_SIDE_PLUGIN);
    config.handlers = handlers;
    config.on_event = on_event;
    config.on_closed = on_closed;
    config.user = client;
    config.recorder = client->server->wm->config.recorder;
    config.name = "client";
    config.peer.allocator = &client->server->alloc;
    config.peer.lenient |= DX_LENIENT_NULL_PARAMS;
    config.peer.cancel = (dx_cancel_style){.method = "$/cancelRequest",
                                           .id_member = "id",
                                           .answered = 1,
                                           .code = DX_FINECODE_CANCELLED,
                                           .grace_ms = 5000};
    return dx_link_open(client->server->wm->loop, fd, fd, &config, &client->link, NULL);
}

void dx__finecode_client_join(dx_finecode_server *server, int fd) {
    size_t count = 0;
    for (dx__finecode_client *other = server->clients; other; other = other->next)
        count++;
    dx__finecode_client *client =
        count < DX__FINECODE_CLIENTS_MAX ? dx__malloc(&server->alloc, sizeof *client) : NULL;
    if (client)
        *client = (dx__finecode_client){.server = server};
    if (!client || open_link(client, fd) != DX_OK) {
        dx__free(&server->alloc, client);
        (void)close(fd);
        return;
    }
    dx_buf_init(&client->records, (size_t)16 << 20, &server->alloc);
    client->next = server->clients;
    server->clients = client;
    dx__finecode_server_count(server);
}

dx__finecode_client *dx__finecode_client_free(dx__finecode_client *client) {
    dx_allocator alloc = client->server->alloc;
    dx__finecode_opened_free(client);
    (void)dx_link_free(client->link);
    dx_buf_done(&client->records);
    dx__free(&alloc, client);
    return NULL;
}

void dx__finecode_client_tell_all(dx_finecode_server *server, const char *method, dx_json params) {
    for (dx__finecode_client *client = server->clients; client; client = client->next)
        (void)dx_link_notify(client->link, dx_str(method), params);
}
