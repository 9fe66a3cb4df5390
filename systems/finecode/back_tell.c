/* Questions of a runner about the workspace. */
#include "systems/finecode/run_parts.h"

struct question {
    dx_link *link;
    const dx_event *event;
    dx_finecode_runner *runner;
    yyjson_mut_doc *doc;
    yyjson_mut_val *root; /* of the answer */
    char why[300];        /* there is none */
};

static bool add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *member,
                     const char *text) {
    return text ? yyjson_mut_obj_add_str(doc, object, member, text)
                : yyjson_mut_obj_add_null(doc, object, member);
}

/* As JSON text in the revision of the document. */
static bool add_config(struct question *question, yyjson_val *raw) {
    yyjson_mut_doc *doc = question->doc;
    if (question->runner->is_real) {
        yyjson_mut_val *copy = yyjson_val_mut_copy(doc, raw);
        return copy && yyjson_mut_obj_add_val(doc, question->root, "config", copy);
    }
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, &question->runner->wm->alloc);
    bool is_added = dx_json_write(&text, dx_json_value(raw)) == DX_OK &&
                    yyjson_mut_obj_add_strncpy(doc, question->root, "config", text.data, text.len);
    dx_buf_done(&text);
    return is_added;
}

static bool tell_config(struct question *question) {
    const dx_finecode_wm *wm = question->runner->wm;
    dx_text path = dx__finecode_string(question->event->value, "projectDefPath");
    for (size_t i = 0; i < wm->project_count; i++) {
        const dx_finecode_project *project = wm->projects[i];
        if (!dx_text_is(path, project->file))
            continue;
        yyjson_val *raw = dx_finecode_project_raw(project);
        if (raw)
            return add_config(question, raw);
        dx__say_str(question->why, sizeof question->why, "Project has no valid configuration: ");
        dx__say(question->why, sizeof question->why, path);
        return true;
    }
    dx__say_str(question->why, sizeof question->why, "Project not found: ");
    dx__say(question->why, sizeof question->why, path);
    return true;
}

static bool tell_packages(struct question *question) {
    const dx_finecode_wm *wm = question->runner->wm;
    yyjson_mut_doc *doc = question->doc;
    yyjson_mut_val *packages = yyjson_mut_obj_add_obj(doc, question->root, "packages");
    for (size_t i = 0; packages && i < wm->project_count; i++) {
        const dx_finecode_project *project = wm->projects[i];
        if (!yyjson_mut_obj_get(packages, project->name) &&
            !yyjson_mut_obj_add_str(doc, packages, project->name, project->path))
            return false;
    }
    return packages != NULL;
}

static bool tell_projects(struct question *question) {
    static const char *const states[] = {"", "valid", "no_config", "invalid"};
    const dx_finecode_wm *wm = question->runner->wm;
    yyjson_mut_doc *doc = question->doc;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, question->root, "projects");
    for (size_t i = 0; list && i < wm->project_count; i++) {
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
        if (!entry || !yyjson_mut_obj_add_str(doc, entry, "path", wm->projects[i]->path) ||
            !yyjson_mut_obj_add_str(doc, entry, "configStatus", states[wm->projects[i]->state]))
            return false;
    }
    return list != NULL;
}

static bool tell_subactions(struct question *question) {
    const dx_finecode_project *project = question->runner->project;
    yyjson_mut_doc *doc = question->doc;
    dx_text parent = dx__finecode_string(question->event->value, "parentActionSource");
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, question->root, "subactions");
    for (size_t i = 0; list && i < project->action_count; i++) {
        const dx__finecode_action *action = &project->actions[i];
        if (!action->parent || !dx_text_is(parent, action->parent))
            continue;
        yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
        if (!entry || !add_text(doc, entry, "source", action->source) ||
            !add_text(doc, entry, "canonicalSource", action->canonical) ||
            !add_text(doc, entry, "language", action->language))
            return false;
    }
    return list != NULL;
}

static bool add_handlers(yyjson_mut_doc *doc, yyjson_mut_val *entry,
                         const dx__finecode_action *action) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, entry, "handlers");
    for (size_t i = 0; list && i < action->handler_count; i++) {
        const dx__finecode_handler *handler = &action->handlers[i];
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
        if (!item || !add_text(doc, item, "name", handler->name) ||
            !add_text(doc, item, "source", handler->source) ||
            !add_text(doc, item, "env", handler->env) ||
            !add_text(doc, item, "fileLoc", handler->location))
            return false;
    }
    return list != NULL;
}

static bool add_action(yyjson_mut_doc *doc, yyjson_mut_val *list,
                       const dx_finecode_project *project, const dx__finecode_action *action) {
    const char *scope = action->workspace ? "workspace" : "project";
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
    return entry && add_text(doc, entry, "name", action->name) &&
           add_text(doc, entry, "source", action->source) &&
           add_text(doc, entry, "canonicalSource", action->canonical) &&
           add_text(doc, entry, "scope", action->canonical ? scope : NULL) &&
           add_text(doc, entry, "project", project->path) &&
           add_text(doc, entry, "language", action->language) &&
           add_text(doc, entry, "parentActionSource", action->parent) &&
           add_text(doc, entry, "fileLoc", action->location) && add_handlers(doc, entry, action);
}

static bool tell_actions(struct question *question) {
    const dx_finecode_wm *wm = question->runner->wm;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(question->doc, question->root, "actions");
    for (size_t i = 0; list && i < wm->project_count; i++) {
        const dx_finecode_project *project = wm->projects[i];
        for (size_t k = 0; k < project->action_count; k++)
            if (!add_action(question->doc, list, project, &project->actions[k]))
                return false;
    }
    return list != NULL;
}

static const struct {
    const char *method;
    bool (*tell)(struct question *question);
} table[] = {
    {"projects/getRawConfig", tell_config},
    {"workspace/getWorkspaceEditablePackages", tell_packages},
    {"workspace/getProjectPaths", tell_projects},
    {"finecode/getActionsForParent", tell_subactions},
    {"finecode/listWorkspaceActions", tell_actions},
};

static void ask(struct question *question, bool (*tell)(struct question *question)) {
    dx_request request = question->event->request;
    yyjson_alc alc = dx__finecode_alc(&question->runner->wm->alloc);
    question->doc = yyjson_mut_doc_new(&alc);
    question->root = question->doc ? yyjson_mut_obj(question->doc) : NULL;
    if (!question->root || !tell(question))
        dx__finecode_back_refuse(question->link, request, DX_CODE_INTERNAL, "out of memory", "");
    else if (question->why[0])
        dx__finecode_back_refuse(question->link, request, DX_CODE_INTERNAL, question->why, "");
    else
        (void)dx_link_reply(question->link, request, dx_json_built(question->root));
    yyjson_mut_doc_free(question->doc);
}

bool dx__finecode_back_tell(dx_link *link, const dx_event *event, dx_finecode_runner *runner) {
    struct question question = {.link = link, .event = event, .runner = runner};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (dx_text_is(event->method, table[i].method)) {
            ask(&question, table[i].tell);
            return true;
        }
    return false;
}
