/* Questions about actions, which runners are started for. They are runs that run nothing. */
#include "systems/finecode/run_parts.h"

static dx_status start(dx_finecode_wm *wm, enum dx__finecode_run_kind kind,
                       dx_finecode_project *project, dx_finecode_on_value on_value, void *user,
                       dx_finecode_run **ret_run) {
    dx_finecode_ask ask = {.action = "", .origin = {"system", "cli", 0}, .user = user};
    dx__finecode_start begin = {.kind = kind, .on_value = on_value};
    if (project) {
        begin.projects = &project;
        begin.project_count = 1;
    }
    return dx__finecode_run_start(wm, &ask, &begin, ret_run, NULL);
}

dx_status dx_finecode_wm_resolve(dx_finecode_wm *wm, dx_finecode_project *project,
                                 dx_finecode_on_value on_value, void *user) {
    return start(wm, DX__FINECODE_RESOLVE, project, on_value, user, NULL);
}

dx_status dx_finecode_wm_schemas(dx_finecode_wm *wm, dx_finecode_project *project,
                                 dx_finecode_on_value on_value, void *user) {
    dx_finecode_run *run = NULL;
    if (!project)
        return DX_ERR_INVALID;
    dx__finecode_leg *legs = dx__malloc(&wm->alloc, sizeof *legs);
    if (!legs)
        return DX_ERR_NOMEM;
    dx_status status = start(wm, DX__FINECODE_SCHEMA, project, on_value, user, &run);
    if (status != DX_OK) {
        dx__free(&wm->alloc, legs);
        return status;
    }
    *legs = (dx__finecode_leg){.run = run, .project = project};
    run->legs = legs;
    run->leg_count = 1;
    run->stage = DX__FINECODE_GOING;
    return DX_OK;
}

/* Whatever it answers: nobody waits for it. */
static void on_done(dx_finecode_runner *runner, const dx_event *event, void *user) {
    (void)runner;
    (void)event;
    (void)user;
}

static dx_status reload(dx_finecode_runner *runner, const char *action) {
    const dx_finecode_wm *wm = runner->wm;
    yyjson_alc alc = dx__finecode_alc(&wm->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = doc ? yyjson_mut_obj(doc) : NULL;
    dx__finecode_call_options options = {.ms = wm->config.config_ms, .on_done = on_done};
    dx_call call;
    dx_status status = DX_ERR_NOMEM;
    if (params && yyjson_mut_obj_add_str(doc, params, "actionName", action))
        status = dx__finecode_runner_call(runner, "actions/reload", dx_json_built(params), &options,
                                          &call);
    yyjson_mut_doc_free(doc);
    return status == DX_ERR_NOMEM ? status : DX_OK;
}

dx_status dx_finecode_wm_reload(dx_finecode_wm *wm, dx_finecode_project *project,
                                const char *action) {
    const dx__finecode_action *found =
        project && action ? dx__finecode_project_find(project, dx_str(action)) : NULL;
    dx_status status = DX_OK;
    if (!found)
        return DX_ERR_INVALID;
    for (dx_finecode_runner *runner = wm->runners; status == DX_OK && runner; runner = runner->next)
        if (runner->project == project && runner->state == DX_FINECODE_RUNNING)
            status = reload(runner, found->name);
    return status;
}
