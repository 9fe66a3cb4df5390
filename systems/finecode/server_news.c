/* What the manager's callbacks are told goes to clients, too. */
#include "systems/finecode/server_parts.h"

void dx__finecode_server_message(dx_finecode_server *server, const char *kind, dx_text text) {
    if (!server || !server->clients)
        return;
    yyjson_mut_doc *doc = dx__finecode_answer_new(server);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    if (doc && yyjson_mut_obj_add_strncpy(doc, root, "message", text.at ? text.at : "", text.len) &&
        yyjson_mut_obj_add_strcpy(doc, root, "type", kind))
        dx__finecode_client_tell_all(server, "server/userMessage", dx_json_built(root));
    yyjson_mut_doc_free(doc);
}

void dx__finecode_server_tree(dx_finecode_server *server) {
    if (server && server->clients)
        dx_timer_set(server->tree, DX__FINECODE_TREE_MS);
}

static void edit_forget(dx__finecode_edit_wait *wait) {
    dx__finecode_edit_wait **at = &wait->server->edits;
    while (*at && *at != wait)
        at = &(*at)->next;
    if (*at)
        *at = wait->next;
    dx__free(&wait->server->alloc, wait);
}

static void on_edited(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_edit_wait *wait = user;
    dx_finecode_wm *wm = wait->server->wm;
    uint64_t edit = wait->edit;
    char why[300] = "";
    bool result = event->outcome == DX_OUTCOME_RESULT;
    bool applied = result && yyjson_is_true(yyjson_obj_get(event->value, "applied"));
    (void)link;
    dx__say(why, sizeof why,
            dx__finecode_string(event->value, result ? "failureReason" : "message"));
    if (!*why)
        dx__say_str(why, sizeof why, result ? "the client did not apply it" : event->error.phrase);
    edit_forget(wait);
    dx_finecode_wm_edited(wm, edit, applied, applied ? NULL : why);
}

/* The newest one that can: that is where the user is. */
static dx__finecode_client *editor(const dx_finecode_server *server) {
    dx__finecode_client *client = server->clients;
    while (client && !client->takes_edits)
        client = client->next;
    return client;
}

int dx__finecode_server_edit(dx_finecode_server *server, uint64_t edit, yyjson_val *params) {
    dx__finecode_client *client = server ? editor(server) : NULL;
    dx__finecode_edit_wait *wait = client ? dx__malloc(&server->alloc, sizeof *wait) : NULL;
    if (!wait)
        return 0;
    *wait = (dx__finecode_edit_wait){.server = server, .edit = edit, .next = server->edits};
    server->edits = wait;
    dx_link_call_options options = {.peer = {.user = wait}, .on_done = on_edited};
    dx_call call;
    if (dx_link_call(client->link, dx_str("workspace/applyEdit"), dx_json_value(params), &options,
                     &call) == DX_OK)
        return 1;
    edit_forget(wait);
    return 0;
}
