/* Runners as clients see them. */
#include "systems/finecode/server_parts.h"

static bool add_runner(yyjson_mut_doc *doc, yyjson_mut_val *list,
                       const dx_finecode_runner *runner) {
    const dx_finecode_project *project = dx_finecode_runner_project(runner);
    const char *env = dx_finecode_runner_env(runner);
    const char *why = dx_finecode_runner_why(runner);
    char name[300] = "";
    dx__say_str(name, sizeof name, env);
    dx__say_str(name, sizeof name, "@");
    dx__say_str(name, sizeof name, dx_finecode_project_name(project));
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
    return entry &&
           yyjson_mut_obj_add_strcpy(doc, entry, "projectPath",
                                     dx_finecode_project_path(project)) &&
           yyjson_mut_obj_add_strcpy(doc, entry, "envName", env) &&
           yyjson_mut_obj_add_str(
               doc, entry, "status",
               dx_finecode_runner_state_name(dx_finecode_runner_get_state(runner))) &&
           yyjson_mut_obj_add_strcpy(doc, entry, "readableId", name) &&
           (!why || !*why || yyjson_mut_obj_add_strcpy(doc, entry, "why", why));
}

void dx__finecode_list_runners(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *list = NULL;
    if (doc)
        list = yyjson_mut_obj_add_arr(doc, yyjson_mut_doc_get_root(doc), "runners");
    bool built = list;
    dx_finecode_runner *runner;
    for (size_t i = 0; built && (runner = dx_finecode_wm_runner(client->server->wm, i)); i++)
        built = add_runner(doc, list, runner);
    dx__finecode_answer_send(link, event->request, doc, built);
}

/* The program's names, else those of its document. */
void dx__finecode_restart_runner(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx_finecode_wm *wm = client->server->wm;
    bool documented = !dx__finecode_param(event, "runnerWorkingDir");
    dx_finecode_project *project =
        dx__finecode_need_project(client, event, documented ? "project" : "runnerWorkingDir");
    const char *env = dx__finecode_param(event, "envName");
    if (!project)
        return;
    if (!env)
        env = dx__finecode_need_param(link, event, "env");
    if (!env)
        return;
    if (yyjson_is_true(yyjson_obj_get(event->value, "debug"))) {
        dx__finecode_answer_refuse(link, event->request, DX__FINECODE_NOT_DONE,
                                   "debug: set it in the project's configuration", "");
        return;
    }
    dx_finecode_runner *runner = dx_finecode_wm_find_runner(wm, project, env);
    if (!runner) {
        dx__finecode_answer_refuse(link, event->request, DX_CODE_PARAMS, "unknown runner: ", env);
        return;
    }
    dx_status status = dx_finecode_wm_restart(wm, runner);
    if (status == DX_OK)
        dx__finecode_answer_empty(link, event->request);
    else
        dx__finecode_answer_refuse(link, event->request, DX_CODE_INTERNAL, dx_status_name(status),
                                   "");
}

void dx__finecode_check_env(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx_finecode_wm *wm = client->server->wm;
    dx_finecode_project *project = dx__finecode_need_project(client, event, "project");
    const char *env = project ? dx__finecode_need_param(link, event, "envName") : NULL;
    if (!env)
        return;
    char reason[200] = "";
    dx__finecode_way way = {.argv = NULL};
    bool valid = dx__finecode_project_way(project, env, &wm->config, &way, reason) == DX_OK;
    if (valid)
        dx__free(&project->alloc, way.argv);
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool built = doc && yyjson_mut_obj_add_bool(doc, root, "valid", valid) &&
                 (valid || yyjson_mut_obj_add_strcpy(doc, root, "reason", reason));
    dx__finecode_answer_send(link, event->request, doc, built);
}
