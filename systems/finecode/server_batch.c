/* Several actions, in several projects, by one request. */
#include "systems/finecode/server_work.h"

/* Where the items of a batch come from. */
struct batch {
    dx_finecode_wm *wm;
    yyjson_val *sources;
    yyjson_val *projects; /* NULL: all that have the action */
    yyjson_val *params;
    yyjson_val *by_project;
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

static bool is_wanted(const struct batch *batch, const dx_finecode_project *project) {
    size_t index;
    size_t count;
    yyjson_val *word;
    if (dx_finecode_project_get_state(project) != DX_FINECODE_VALID)
        return false;
    if (!batch->projects)
        return true;
    yyjson_arr_foreach(batch->projects, index, count, word) {
        if (dx_finecode_wm_find_project(batch->wm, yyjson_get_str(word)) == project)
            return true;
    }
    return false;
}

/* What the projects have in common, and on top of it what this one has. */
static dx_json payload_of(dx__finecode_work *work, const struct batch *batch, const char *path) {
    yyjson_val *own = yyjson_obj_get(batch->by_project, path);
    if (!yyjson_is_obj(own))
        return batch->params ? dx_json_value(batch->params) : dx_json_none();
    if (!batch->params)
        return dx_json_value(own);
    yyjson_mut_val *common = yyjson_val_mut_copy(work->doc, batch->params);
    yyjson_mut_val *both = common ? dx__finecode_deep_merge(work->doc, common, own) : NULL;
    work->broken = work->broken || !both;
    return both ? dx_json_built(both) : dx_json_none();
}

static void add_items(dx__finecode_work *work, const struct batch *batch,
                      const dx_finecode_project *project) {
    const char *path = dx_finecode_project_path(project);
    yyjson_mut_val *copy = yyjson_mut_strcpy(work->doc, path);
    size_t index;
    size_t count;
    yyjson_val *source;
    work->broken = work->broken || !copy;
    yyjson_arr_foreach(batch->sources, index, count, source) {
        const char *name = yyjson_get_str(source);
        /* Who names projects wants to hear that one does not have the action. */
        if (work->broken || (!batch->projects && !dx__finecode_project_find(project, dx_str(name))))
            continue;
        work->items[work->count++] = (dx__finecode_item){.work = work,
                                                         .source = name,
                                                         .project = yyjson_mut_get_str(copy),
                                                         .payload = payload_of(work, batch, path)};
    }
}

/* How many projects it is for; 0 with a refusal. */
static size_t count_projects(dx__finecode_client *client, const dx_event *event,
                             const struct batch *batch) {
    dx_finecode_project *project;
    size_t count = 0;
    size_t index;
    size_t words;
    yyjson_val *word;
    yyjson_arr_foreach(batch->projects, index, words, word) {
        if (dx_finecode_wm_find_project(batch->wm, yyjson_get_str(word)))
            continue;
        dx__finecode_answer_refuse(client->link, event->request, DX_CODE_PARAMS,
                                   "no such project: ", yyjson_get_str(word));
        return 0;
    }
    for (size_t i = 0; (project = dx_finecode_wm_project(batch->wm, i)); i++)
        count += is_wanted(batch, project);
    if (count > batch->wm->config.max_fanout) {
        dx__finecode_answer_refuse(client->link, event->request, DX_CODE_INTERNAL,
                                   "more projects than one run may have", "");
        return 0;
    }
    if (!count)
        dx__finecode_answer_refuse(client->link, event->request, DX_CODE_PARAMS,
                                   "there is no project to run it in", "");
    return count;
}

static struct batch read_batch(dx_finecode_wm *wm, const dx_event *event) {
    yyjson_val *projects = yyjson_obj_get(event->value, "projects");
    yyjson_val *params = yyjson_obj_get(event->value, "params");
    return (struct batch){.wm = wm,
                          .sources = yyjson_obj_get(event->value, "actionSources"),
                          .projects = yyjson_is_null(projects) ? NULL : projects,
                          .params = yyjson_is_obj(params) ? params : NULL,
                          .by_project = yyjson_obj_get(event->value, "paramsByProject")};
}

void dx__finecode_run_batch(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    struct batch batch = read_batch(client->server->wm, event);
    size_t actions = yyjson_arr_size(batch.sources);
    if (!is_list_of_words(batch.sources) || actions > DX__FINECODE_ACTIONS_MAX ||
        (batch.projects && !is_list_of_words(batch.projects))) {
        dx__finecode_answer_refuse(link, event->request, DX_CODE_PARAMS,
                                   "actionSources and projects are lists of words", "");
        return;
    }
    size_t count = count_projects(client, event, &batch);
    dx__finecode_work *work = count ? dx__finecode_work_new(client, count * actions) : NULL;
    if (!work)
        return;
    work->batch = true;
    batch = read_batch(client->server->wm, work->duty->event);
    dx_finecode_project *project;
    for (size_t i = 0; (project = dx_finecode_wm_project(batch.wm, i)); i++)
        if (is_wanted(&batch, project))
            add_items(work, &batch, project);
    if (work->broken) {
        dx__finecode_work_refuse(work, DX_CODE_INTERNAL, "out of memory", "");
        dx__finecode_duty_end(work->duty);
        return;
    }
    dx__finecode_work_go(work);
}
