/* Several actions, in several projects, by one request. */
#include "systems/finecode/server_work.h"

/* What it is about. */
struct batch {
    dx_finecode_wm *wm;
    yyjson_val *sources;
    yyjson_val *names; /* of projects; NULL: all that have one of the actions */
    dx_finecode_project **projects;
    size_t count;
};

static bool is_list_of_words(yyjson_val *list) {
    size_t index;
    size_t count;
    yyjson_val *word;
    if (!yyjson_is_arr(list))
        return false;
    yyjson_arr_foreach(list, index, count, word) {
        if (!yyjson_is_str(word) || strlen(yyjson_get_str(word)) != yyjson_get_len(word))
            return false;
    }
    return true;
}

/* {path: {…}}, or nothing. */
static bool is_map_of_objects(yyjson_val *map) {
    size_t index;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    if (map && !yyjson_is_null(map) && !yyjson_is_obj(map))
        return false;
    yyjson_obj_foreach(map, index, count, key, value) {
        if (!yyjson_is_obj(value))
            return false;
    }
    return true;
}

static const char *flaw_of(const struct batch *batch, const dx_event *event) {
    if (!is_list_of_words(batch->sources) ||
        yyjson_arr_size(batch->sources) > DX__FINECODE_ACTIONS_MAX ||
        (batch->names && !is_list_of_words(batch->names)))
        return "actionSources and projects must be arrays of strings";
    if (!is_map_of_objects(yyjson_obj_get(event->value, "paramsByProject")))
        return "paramsByProject: expected {path: {…}}";
    return NULL;
}

static bool has(const dx_finecode_project *project, yyjson_val *source) {
    return dx_finecode_project_get_state(project) == DX_FINECODE_VALID &&
           dx__finecode_project_find(project, dx_json_string(source));
}

static bool has_any(const dx_finecode_project *project, yyjson_val *sources) {
    size_t index;
    size_t count;
    yyjson_val *source;
    yyjson_arr_foreach(sources, index, count, source) {
        if (has(project, source))
            return true;
    }
    return false;
}

static void choose(struct batch *batch, dx_finecode_project *project) {
    size_t at = 0;
    while (at < batch->count && batch->projects[at] != project)
        at++;
    if (at == batch->count)
        batch->projects[batch->count++] = project;
}

/* The name of one that there is not; NULL: all are there. */
static const char *choose_named(struct batch *batch) {
    size_t index;
    size_t count;
    yyjson_val *name;
    yyjson_arr_foreach(batch->names, index, count, name) {
        dx_finecode_project *project = dx_finecode_wm_find_project(batch->wm, yyjson_get_str(name));
        if (!project)
            return yyjson_get_str(name);
        choose(batch, project);
    }
    return NULL;
}

static void choose_all(struct batch *batch) {
    dx_finecode_project *project;
    for (size_t i = 0; (project = dx_finecode_wm_project(batch->wm, i)); i++)
        if (has_any(project, batch->sources))
            batch->projects[batch->count++] = project;
}

/* The first action that none of the projects has; NULL: each has a project. Who names projects
 * hears of it for each of them. */
static const char *homeless(const struct batch *batch) {
    size_t index;
    size_t count;
    yyjson_val *source;
    yyjson_arr_foreach(batch->sources, index, count, source) {
        bool found = batch->names;
        for (size_t i = 0; i < batch->count && !found; i++)
            found = has(batch->projects[i], source);
        if (!found)
            return yyjson_get_str(source);
    }
    return NULL;
}

/* False with a refusal. */
static bool find_projects(struct batch *batch, dx_link *link, dx_request request) {
    const char *before = "unknown project: ";
    const char *missing = NULL;
    if (batch->names)
        missing = choose_named(batch);
    else
        choose_all(batch);
    if (!missing) {
        before = "no project has the action ";
        missing = homeless(batch);
    }
    if (missing)
        dx__finecode_answer_refuse(link, request, DX_CODE_PARAMS, before, missing);
    else if (!batch->count)
        dx__finecode_answer_refuse(link, request, DX_CODE_PARAMS, "no project to run it in", "");
    return !missing && batch->count;
}

static void add_items(dx__finecode_work *work, const struct batch *batch,
                      const dx_finecode_project *project) {
    yyjson_val *sources = yyjson_obj_get(work->duty->event->value, "actionSources");
    yyjson_mut_val *path = yyjson_mut_strcpy(work->doc, dx_finecode_project_path(project));
    size_t index;
    size_t count;
    yyjson_val *source;
    work->broken = work->broken || !path;
    yyjson_arr_foreach(sources, index, count, source) {
        if (work->broken || (!batch->names && !has(project, source)))
            continue;
        work->items[work->count++] = (dx__finecode_item){
            .work = work, .source = yyjson_get_str(source), .project = yyjson_mut_get_str(path)};
    }
}

static void begin(dx__finecode_client *client, const struct batch *batch) {
    size_t actions = yyjson_arr_size(batch->sources);
    dx__finecode_work *work = dx__finecode_work_new(client, batch->count * actions);
    if (!work)
        return;
    work->batch = true;
    for (size_t i = 0; i < batch->count; i++)
        add_items(work, batch, batch->projects[i]);
    if (!work->broken) {
        dx__finecode_work_go(work);
        return;
    }
    dx__finecode_work_refuse(work, DX_CODE_INTERNAL, "out of memory", "");
    dx__finecode_duty_end(work->duty);
}

void dx__finecode_run_batch(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    const dx_allocator *alloc = &client->server->alloc;
    yyjson_val *names = yyjson_obj_get(event->value, "projects");
    struct batch batch = {.wm = client->server->wm,
                          .sources = yyjson_obj_get(event->value, "actionSources"),
                          .names = yyjson_is_null(names) ? NULL : names};
    const char *flaw = flaw_of(&batch, event);
    if (flaw) {
        dx__finecode_answer_refuse(link, event->request, DX_CODE_PARAMS, flaw, "");
        return;
    }
    batch.projects =
        dx__malloc(alloc, (batch.wm->project_count + 1) * sizeof(dx_finecode_project *));
    if (batch.projects && find_projects(&batch, link, event->request))
        begin(client, &batch);
    dx__free(alloc, batch.projects);
}
