/* What clients ask about actions. */
#include "systems/finecode/server_parts.h"

/* A question for which runners may have to be asked first. */
struct question {
    size_t waiting;
};

static void question_done(dx__finecode_duty *duty) {
    dx__finecode_runs_forget(duty->server->wm, duty);
}

static bool add_handlers(yyjson_mut_doc *doc, yyjson_mut_val *entry,
                         const dx_finecode_action_view *action) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, entry, "handlers");
    for (size_t i = 0; list && i < action->handler_count; i++) {
        const dx_finecode_handler_view *handler = &action->handlers[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
        if (!one || !yyjson_mut_obj_add_strcpy(doc, one, "name", handler->name) ||
            !yyjson_mut_obj_add_strcpy(doc, one, "source", handler->source) ||
            !yyjson_mut_obj_add_strcpy(doc, one, "env", handler->env))
            return false;
    }
    return list;
}

static bool add_action(yyjson_mut_doc *doc, yyjson_mut_val *list,
                       const dx_finecode_project *project, const dx_finecode_action_view *action) {
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
    const char *known = action->canonical_source;
    const char *scope = !known ? NULL : action->workspace ? "workspace" : "project";
    return entry && yyjson_mut_obj_add_strcpy(doc, entry, "name", action->name) &&
           yyjson_mut_obj_add_strcpy(doc, entry, "source", action->source) &&
           (known ? yyjson_mut_obj_add_strcpy(doc, entry, "canonicalSource", known)
                  : yyjson_mut_obj_add_null(doc, entry, "canonicalSource")) &&
           (scope ? yyjson_mut_obj_add_str(doc, entry, "scope", scope)
                  : yyjson_mut_obj_add_null(doc, entry, "scope")) &&
           yyjson_mut_obj_add_strcpy(doc, entry, "project", dx_finecode_project_path(project)) &&
           add_handlers(doc, entry, action);
}

static bool add_actions(yyjson_mut_doc *doc, yyjson_mut_val *list,
                        const dx_finecode_project *project) {
    dx_finecode_action_view action;
    for (size_t i = 0; dx_finecode_project_action(project, i, &action); i++)
        if (!add_action(doc, list, project, &action))
            return false;
    return true;
}

static void answer_list(dx__finecode_duty *duty) {
    dx_finecode_server *server = duty->server;
    const char *word = dx__finecode_param(duty->event, "project");
    yyjson_mut_doc *doc = dx__finecode_answer_new(server);
    yyjson_mut_val *list = NULL;
    if (doc)
        list = yyjson_mut_obj_add_arr(doc, yyjson_mut_doc_get_root(doc), "actions");
    bool built = list;
    /* It may have gone meanwhile. */
    dx_finecode_project *only =
        word && *word ? dx_finecode_wm_find_project(server->wm, word) : NULL;
    dx_finecode_project *project;
    for (size_t i = 0; built && (project = dx_finecode_wm_project(server->wm, i)); i++)
        if (project == only || !word || !*word)
            built = add_actions(doc, list, project);
    dx__finecode_answer_send(dx__finecode_duty_link(duty), duty->event->request, doc, built);
}

/* One that waits for several runners is over when the last one has answered. */
static void one_less(dx__finecode_duty *duty) {
    struct question *question = duty->own;
    if (--question->waiting)
        return;
    if (duty->client)
        answer_list(duty);
    dx__finecode_duty_end(duty);
}

static void on_resolved(dx_finecode_wm *wm, yyjson_val *value, const char *why, void *user) {
    (void)wm;
    (void)value;
    (void)why;
    one_less(user);
}

static bool is_known(const dx_finecode_project *project) {
    dx_finecode_action_view action;
    for (size_t i = 0; dx_finecode_project_action(project, i, &action); i++)
        if (!action.canonical_source)
            return false;
    return true;
}

void dx__finecode_list_actions(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx_finecode_wm *wm = client->server->wm;
    const char *word = NULL;
    dx__finecode_wm_refresh(wm);
    if (!dx__finecode_may_param(link, event, "project", &word))
        return;
    dx_finecode_project *only =
        word && *word ? dx__finecode_need_project(client, event, "project") : NULL;
    if (word && *word && !only)
        return;
    dx__finecode_duty *duty = dx__finecode_duty_new(client, sizeof(struct question));
    if (!duty)
        return;
    struct question *question = duty->own;
    duty->done = question_done;
    question->waiting = 1;
    dx_finecode_project *project;
    for (size_t i = 0; (project = dx_finecode_wm_project(wm, i)); i++) {
        if ((only && project != only) || is_known(project) ||
            dx_finecode_project_get_state(project) != DX_FINECODE_VALID)
            continue;
        question->waiting++;
        if (dx_finecode_wm_resolve(wm, project, on_resolved, duty) != DX_OK)
            question->waiting--;
    }
    one_less(duty);
}

/* The schemas of the actions that were asked for, by the sources they were asked for with. */
static bool add_schemas(yyjson_mut_doc *doc, const dx_finecode_project *project, yyjson_val *value,
                        yyjson_val *sources) {
    yyjson_mut_val *list = yyjson_mut_obj_add_obj(doc, yyjson_mut_doc_get_root(doc), "schemas");
    size_t index;
    size_t count;
    yyjson_val *source;
    yyjson_arr_foreach(sources, index, count, source) {
        dx_text word = dx_json_string(source);
        dx__finecode_action *action = word.at ? dx__finecode_project_find(project, word) : NULL;
        yyjson_val *schema = action ? yyjson_obj_get(value, action->name) : NULL;
        if (!word.at)
            continue;
        if (!list ||
            !yyjson_mut_obj_add(list, yyjson_mut_strncpy(doc, word.at, word.len),
                                schema ? yyjson_val_mut_copy(doc, schema) : yyjson_mut_null(doc)))
            return false;
    }
    return list;
}

static void on_schemas(dx_finecode_wm *wm, yyjson_val *value, const char *why, void *user) {
    dx__finecode_duty *duty = user;
    dx_link *link = dx__finecode_duty_link(duty);
    dx_request request = duty->event->request;
    const char *word = dx__finecode_param(duty->event, "project");
    dx_finecode_project *project = word ? dx_finecode_wm_find_project(wm, word) : NULL;
    if (link && (!value || !project)) {
        dx__finecode_answer_refuse(link, request, DX_CODE_INTERNAL,
                                   why && *why ? why : "the project was removed", "");
    } else if (link) {
        yyjson_mut_doc *doc = dx__finecode_answer_new(duty->server);
        yyjson_val *sources = yyjson_obj_get(duty->event->value, "actionSources");
        dx__finecode_answer_send(link, request, doc,
                                 doc && add_schemas(doc, project, value, sources));
    }
    dx__finecode_duty_end(duty);
}

void dx__finecode_get_schemas(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    dx_finecode_project *project = dx__finecode_need_project(client, event, "project");
    if (!project)
        return;
    if (!yyjson_is_arr(yyjson_obj_get(event->value, "actionSources"))) {
        dx__finecode_answer_refuse(link, event->request, DX_CODE_PARAMS,
                                   "expected an array: actionSources", "");
        return;
    }
    dx__finecode_duty *duty = dx__finecode_duty_new(client, sizeof(struct question));
    if (!duty)
        return;
    duty->done = question_done;
    dx_status status = dx_finecode_wm_schemas(client->server->wm, project, on_schemas, duty);
    if (status == DX_OK)
        return;
    dx__finecode_answer_refuse(link, duty->event->request, DX_CODE_INTERNAL, dx_status_name(status),
                               "");
    dx__finecode_duty_end(duty);
}

/* {"actionNodeId": "PATH::SOURCE"} */
void dx__finecode_reload_action(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    const char *node = dx__finecode_need_param(link, event, "actionNodeId");
    const char *mark = node ? strstr(node, "::") : NULL;
    if (!node)
        return;
    dx_allocator alloc = client->server->alloc;
    char *path = mark ? dx__text_copy(&alloc, (dx_text){node, (size_t)(mark - node)}) : NULL;
    dx_finecode_project *project =
        path ? dx_finecode_wm_find_project(client->server->wm, path) : NULL;
    dx__finecode_action *action =
        project ? dx__finecode_project_find(project, dx_str(mark + 2)) : NULL;
    dx__free(&alloc, path);
    if (!action) {
        dx__finecode_answer_refuse(link, event->request, DX_CODE_PARAMS, "unknown action: ", node);
        return;
    }
    dx_status status = dx_finecode_wm_reload(client->server->wm, project, action->name);
    if (status == DX_OK)
        dx__finecode_answer_empty(link, event->request);
    else
        dx__finecode_answer_refuse(link, event->request, DX_CODE_INTERNAL, dx_status_name(status),
                                   "");
}
