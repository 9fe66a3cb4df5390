/* The tree of projects, actions and handlers, for clients that show it. */
#include "systems/finecode/server_parts.h"

/* Kinds of nodes, by their numbers on the wire. */
enum { NODE_WORKSPACE = 0, NODE_PROJECT = 1, NODE_ACTION = 2, NODE_HANDLER = 3 };

struct node {
    const char *before; /* its id is these two, with "::" between if both are there */
    const char *after;
    const char *name;
    int kind;
    const char *status;
};

/* Returns the list of what is below it; NULL without memory. */
static yyjson_mut_val *fill(yyjson_mut_doc *doc, yyjson_mut_val *to, const struct node *node) {
    dx_allocator alloc = {doc->alc.malloc, doc->alc.realloc, doc->alc.free, doc->alc.ctx};
    dx_buf id;
    dx_buf_init(&id, SIZE_MAX / 8, &alloc);
    bool done = dx_buf_append(&id, node->before, strlen(node->before)) == DX_OK;
    if (done && node->after)
        done = dx_buf_append(&id, "::", 2) == DX_OK &&
               dx_buf_append(&id, node->after, strlen(node->after)) == DX_OK;
    done = done && to &&
           yyjson_mut_obj_add_strncpy(doc, to, "nodeId", id.len ? id.data : "", id.len) &&
           yyjson_mut_obj_add_strcpy(doc, to, "name", node->name) &&
           yyjson_mut_obj_add_int(doc, to, "nodeType", node->kind) &&
           yyjson_mut_obj_add_str(doc, to, "status", node->status);
    dx_buf_done(&id);
    return done ? yyjson_mut_obj_add_arr(doc, to, "subnodes") : NULL;
}

static bool add_action(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *path,
                       const dx_finecode_action_view *action) {
    struct node node = {path, action->source, action->name, NODE_ACTION,
                        action->canonical_source ? "RESOLVED" : "UNRESOLVED"};
    yyjson_mut_val *below = fill(doc, yyjson_mut_arr_add_obj(doc, list), &node);
    for (size_t i = 0; below && i < action->handler_count; i++) {
        const dx_finecode_handler_view *handler = &action->handlers[i];
        struct node leaf = {handler->source, handler->env, handler->name, NODE_HANDLER, ""};
        if (!fill(doc, yyjson_mut_arr_add_obj(doc, below), &leaf))
            return false;
    }
    return below;
}

static bool add_project(yyjson_mut_doc *doc, yyjson_mut_val *list,
                        const dx_finecode_project *project) {
    const char *path = dx_finecode_project_path(project);
    struct node node = {path, NULL, dx_finecode_project_name(project), NODE_PROJECT,
                        dx__finecode_project_status(project)};
    yyjson_mut_val *below = fill(doc, yyjson_mut_arr_add_obj(doc, list), &node);
    dx_finecode_action_view action;
    bool done = below;
    for (size_t i = 0; done && dx_finecode_project_action(project, i, &action); i++)
        done = add_action(doc, below, path, &action);
    return done;
}

static bool add_projects(yyjson_mut_doc *doc, yyjson_mut_val *list, const dx_finecode_wm *wm) {
    dx_finecode_project *project;
    bool done = list;
    for (size_t i = 0; done && (project = dx_finecode_wm_project(wm, i)); i++)
        done = add_project(doc, list, project);
    return done;
}

void dx__finecode_get_tree(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *list = NULL;
    if (doc)
        list = yyjson_mut_obj_add_arr(doc, yyjson_mut_doc_get_root(doc), "nodes");
    dx__finecode_answer_send(link, event->request, doc,
                             list && add_projects(doc, list, client->server->wm));
}

void dx__finecode_tree_tell(dx_finecode_server *server) {
    yyjson_mut_doc *doc = server->clients ? dx__finecode_answer_new(server) : NULL;
    if (!doc)
        return;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    struct node node = {"", NULL, "workspace", NODE_WORKSPACE, ""};
    yyjson_mut_val *list = fill(doc, yyjson_mut_obj_add_obj(doc, root, "node"), &node);
    if (list && add_projects(doc, list, server->wm))
        dx__finecode_client_tell_all(server, "actions/treeChanged", dx_json_built(root));
    yyjson_mut_doc_free(doc);
}
