/* What is asked about a project. */
#include "systems/finecode/config_parts.h"

const char *dx_finecode_project_path(const dx_finecode_project *project) {
    return project->path;
}

const char *dx_finecode_project_name(const dx_finecode_project *project) {
    return project->name;
}

const char *dx_finecode_project_label(const dx_finecode_project *project) {
    const dx_finecode_wm *wm = project->wm;
    size_t same = 0;
    for (size_t i = 0; wm && i < wm->project_count && same < 2; i++)
        same += strcmp(wm->projects[i]->name, project->name) == 0;
    size_t root = project->root ? strlen(project->root) : 0;
    if (same < 2)
        return project->name;
    return root > 1 && project->path[root] == '/' ? project->path + root + 1 : project->path;
}

const char *dx_finecode_project_file(const dx_finecode_project *project) {
    return project->file;
}

dx_finecode_project_state dx_finecode_project_get_state(const dx_finecode_project *project) {
    return project->state;
}

const char *dx_finecode_project_why(const dx_finecode_project *project) {
    return project->why;
}

yyjson_val *dx_finecode_project_raw(const dx_finecode_project *project) {
    return yyjson_doc_get_root(project->raw);
}

int dx_finecode_project_action(const dx_finecode_project *project, size_t index,
                               dx_finecode_action_view *ret_action) {
    if (index >= project->action_count)
        return 0;
    const dx__finecode_action *action = &project->actions[index];
    for (size_t i = 0; i < action->handler_count; i++) {
        const dx__finecode_handler *handler = &action->handlers[i];
        action->views[i] = (dx_finecode_handler_view){handler->name, handler->source, handler->env,
                                                      handler->location};
    }
    *ret_action = (dx_finecode_action_view){.name = action->name,
                                            .source = action->source,
                                            .canonical_source = action->canonical,
                                            .runs_concurrently = action->runs_concurrently,
                                            .workspace = action->workspace,
                                            .parent = action->parent,
                                            .language = action->language,
                                            .location = action->location,
                                            .handlers = action->views,
                                            .handler_count = action->handler_count};
    return 1;
}

dx__finecode_action *dx__finecode_project_find(const dx_finecode_project *project, dx_text word) {
    for (size_t i = 0; i < project->action_count; i++)
        if (dx_text_is(word, project->actions[i].name))
            return &project->actions[i];
    for (size_t i = 0; i < project->action_count; i++) {
        dx__finecode_action *action = &project->actions[i];
        if (dx_text_is(word, action->source) ||
            (action->canonical && dx_text_is(word, action->canonical)))
            return action;
    }
    return NULL;
}

const char *dx__finecode_project_env(const dx_finecode_project *project, size_t index) {
    const dx__finecode_reading *reading = project->raw ? project->readings : NULL;
    return reading && index < reading->env_count ? reading->envs[index] : NULL;
}
