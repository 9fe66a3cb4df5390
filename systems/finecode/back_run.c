/* Runs that a runner asks for: in its own project, or in several. They end with the request that
 * they are for, and with the runner. */
#include "systems/finecode/run_parts.h"

struct dx__finecode_nested {
    dx_finecode_runner *runner;
    dx_link *link;   /* NULL: there is nobody to answer any more */
    dx_event *event; /* the request */
    bool is_real;
    bool is_workspace;
    bool is_short;           /* of memory */
    yyjson_mut_doc *results; /* of a workspace: by project */
    yyjson_alc alc;
};

void dx__finecode_nested_free(const dx_allocator *alloc, dx__finecode_nested *nested) {
    if (!nested)
        return;
    dx_event_free(nested->event);
    yyjson_mut_doc_free(nested->results);
    dx__free(alloc, nested);
}

/* The document has none. Without a link there is no request any more, either. */
yyjson_val *dx__finecode_nested_member(const dx__finecode_nested *nested, const char *name) {
    bool is_there = nested && nested->is_real && nested->link;
    return is_there ? yyjson_obj_get(nested->event->value, name) : NULL;
}

/* What came. */

static yyjson_val *json_of(const dx_finecode_result *result) {
    yyjson_val *json = yyjson_obj_get(result->by_format, "json");
    return yyjson_is_obj(json) ? json : NULL;
}

static dx_finecode_wm *wm_of(const dx__finecode_nested *nested) {
    return nested->runner->wm;
}

/* A piece of the result: bare, not by format, since that is what runners read there. */
static void on_partial(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                       yyjson_val *by_format, void *user) {
    dx__finecode_nested *nested = user;
    yyjson_val *json = yyjson_obj_get(by_format, "json");
    (void)run;
    (void)project;
    if (!nested->link || !yyjson_is_obj(json))
        return;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&nested->alc);
    yyjson_mut_val *params = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_val *token = yyjson_obj_get(nested->event->value, "partialResultToken");
    yyjson_mut_val *copy = params ? yyjson_val_mut_copy(doc, token) : NULL;
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, &wm->alloc);
    if (!copy || dx_json_write(&text, dx_json_value(json)) != DX_OK ||
        !yyjson_mut_obj_add_val(doc, params, "token", copy) ||
        !yyjson_mut_obj_add_strn(doc, params, "value", text.data, text.len) ||
        dx_link_notify(nested->link, dx_str("$/progress"), dx_json_built(params)) != DX_OK)
        nested->is_short = true;
    dx_buf_done(&text);
    yyjson_mut_doc_free(doc);
}

static const char *name_of(const dx_finecode_run *run, const dx_finecode_project *project) {
    for (size_t i = 0; i < run->leg_count; i++)
        if (run->legs[i].project == project)
            return run->legs[i].action;
    return "";
}

static bool add_entry(yyjson_mut_doc *doc, yyjson_mut_val *map, const dx_finecode_run *run,
                      const dx_finecode_project *project, const dx_finecode_result *result) {
    yyjson_mut_val *actions = yyjson_mut_obj(doc);
    yyjson_mut_val *entry = actions ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *path = yyjson_mut_strcpy(doc, project->path);
    yyjson_mut_val *name = yyjson_mut_strcpy(doc, name_of(run, project));
    yyjson_val *json = json_of(result);
    bool has_result = result->status != DX_FINECODE_FAILED &&
                      result->status != DX_FINECODE_GIVEN_UP &&
                      result->status != DX_FINECODE_NO_HANDLERS;
    yyjson_mut_val *value = json         ? yyjson_val_mut_copy(doc, json)
                            : has_result ? yyjson_mut_obj(doc)
                                         : yyjson_mut_null(doc);
    return entry && path && name && value && yyjson_mut_obj_add_val(doc, entry, "result", value) &&
           yyjson_mut_obj_add_str(doc, entry, "status", dx_finecode_status_name(result->status)) &&
           yyjson_mut_obj_add(actions, name, entry) && yyjson_mut_obj_add(map, path, actions);
}

static bool add_result(yyjson_mut_doc *doc, yyjson_mut_val *map, const dx_finecode_project *project,
                       const dx_finecode_result *result) {
    yyjson_val *json = json_of(result);
    yyjson_mut_val *path = yyjson_mut_strcpy(doc, project->path);
    yyjson_mut_val *value = json ? yyjson_val_mut_copy(doc, json) : yyjson_mut_obj(doc);
    return path && value && yyjson_mut_obj_add(map, path, value);
}

/* The real form says how each ended; that of the document has nothing for what has no result. */
static void on_project(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                       const dx_finecode_result *result, void *user) {
    dx__finecode_nested *nested = user;
    (void)wm;
    if (!nested->is_workspace || (!nested->is_real && result->status == DX_FINECODE_NO_HANDLERS))
        return;
    yyjson_mut_val *map =
        yyjson_mut_obj_get(yyjson_mut_doc_get_root(nested->results), "resultsByProject");
    if (nested->is_real ? !add_entry(nested->results, map, run, project, result)
                        : !add_result(nested->results, map, project, result))
        nested->is_short = true;
}

/* The answer. */

static void reply_project(dx__finecode_nested *nested, const dx_finecode_result *result) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&nested->alc);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    bool has_token = yyjson_obj_get(nested->event->value, "partialResultToken") && nested->is_real;
    yyjson_val *json = json_of(result);
    yyjson_mut_val *value = !root       ? NULL
                            : has_token ? yyjson_mut_null(doc)
                            : json      ? yyjson_val_mut_copy(doc, json)
                                        : yyjson_mut_obj(doc);
    if (value && yyjson_mut_obj_add_sint(doc, root, "returnCode", result->return_code) &&
        yyjson_mut_obj_add_val(doc, root, "result", value))
        (void)dx_link_reply(nested->link, nested->event->request, dx_json_built(root));
    else
        dx__finecode_back_refuse(nested->link, nested->event->request, DX_CODE_INTERNAL,
                                 "out of memory", "");
    yyjson_mut_doc_free(doc);
}

static void on_done(dx_finecode_wm *wm, dx_finecode_run *run, const dx_finecode_result *result,
                    void *user) {
    dx__finecode_nested *nested = user;
    (void)wm;
    if (!nested->link)
        return;
    bool is_told = nested->is_workspace && nested->is_real && run->leg_count;
    dx_request request = nested->event->request;
    if (result->status == DX_FINECODE_GIVEN_UP)
        dx__finecode_back_refuse(nested->link, request, DX_FINECODE_CANCELLED, result->why, "");
    else if (result->status == DX_FINECODE_FAILED && !is_told)
        dx__finecode_back_refuse(nested->link, request, DX_CODE_INTERNAL, result->why, "");
    else if (nested->is_short)
        dx__finecode_back_refuse(nested->link, request, DX_CODE_INTERNAL, "out of memory", "");
    else if (nested->is_workspace)
        (void)dx_link_reply(nested->link, request,
                            dx_json_built(yyjson_mut_doc_get_root(nested->results)));
    else
        reply_project(nested, result);
}

/* The request. */

/* How deep that is which a runner has been asked for: from `least` to `most`. */
struct depths {
    unsigned least; /* UINT32_MAX: there is nothing */
    unsigned most;
};

static struct depths depths_of(const dx_finecode_runner *runner) {
    struct depths depths = {UINT32_MAX, 0};
    for (const dx_finecode_run *run = runner->wm->runs; run; run = run->next)
        for (size_t i = 0; i < run->leg_count; i++)
            for (size_t k = 0; k < run->legs[i].step_count; k++) {
                const dx__finecode_step *step = &run->legs[i].steps[k];
                unsigned depth = run->ask.origin.depth + 1;
                if (step->state != DX__FINECODE_CALLING || step->runner != runner)
                    continue;
                depths.least = depth < depths.least ? depth : depths.least;
                depths.most = depth > depths.most ? depth : depths.most;
            }
    return depths;
}

/* It can't ask from less deep than the least of what it runs. One that does not say how deep it is
 * is as deep as it may be: else nothing would end what calls itself. */
static unsigned depth_of(const dx_finecode_runner *runner, yyjson_val *meta) {
    yyjson_val *value = yyjson_obj_get(meta, "orchestrationDepth");
    struct depths depths = depths_of(runner);
    uint64_t depth = yyjson_is_uint(value) ? yyjson_get_uint(value) : depths.most;
    if (depths.least != UINT32_MAX && depth < depths.least)
        depth = depths.least;
    return depth < UINT32_MAX ? (unsigned)depth : UINT32_MAX - 1;
}

/* Each once. DX_MISFIT: one of them is none, which `why` says. */
static dx_status find_projects(dx_finecode_wm *wm, yyjson_val *paths,
                               dx_finecode_project **projects, size_t *ret_count, char why[300]) {
    size_t index;
    size_t count;
    yyjson_val *path;
    size_t found = 0;
    yyjson_arr_foreach(paths, index, count, path) {
        const char *word = yyjson_get_str(path);
        dx_finecode_project *project =
            word && word[0] == '/' ? dx_finecode_wm_find_project(wm, word) : NULL;
        if (!project) {
            dx__say_str(why, 300, "Project not found: ");
            dx__say_str(why, 300, word ? word : "");
            return DX_MISFIT;
        }
        size_t k = 0;
        while (k < found && projects[k] != project)
            k++;
        if (k == found)
            projects[found++] = project;
    }
    *ret_count = found;
    return DX_OK;
}

static dx_status start(dx__finecode_nested *nested, dx_finecode_project *const *projects,
                       size_t count, dx_error *reterr) {
    yyjson_val *params = nested->event->value;
    yyjson_val *source = yyjson_obj_get(params, "actionSource");
    yyjson_val *meta = yyjson_obj_get(params, "meta");
    yyjson_val *payload = yyjson_obj_get(params, "payload");
    dx_finecode_ask ask = {
        .action = yyjson_get_str(source),
        .payload = payload ? dx_json_value(payload) : dx_json_none(),
        .formats = DX_FINECODE_JSON,
        .origin = {yyjson_get_str(yyjson_obj_get(meta, "trigger")),
                   yyjson_get_str(yyjson_obj_get(meta, "devEnv")), depth_of(nested->runner, meta)},
        .one_by_one = yyjson_is_false(yyjson_obj_get(params, "concurrently")),
        .streamed = nested->is_real && !nested->is_workspace &&
                    yyjson_obj_get(params, "partialResultToken") != NULL,
        .on_project = on_project,
        .on_partial = on_partial,
        .on_done = on_done,
        .user = nested,
    };
    dx__finecode_start begin = {.kind = DX__FINECODE_ACTION,
                                .projects = projects,
                                .project_count = count,
                                .is_canonical = true,
                                .nested = nested};
    return dx__finecode_run_start(wm_of(nested), &ask, &begin, NULL, reterr);
}

/* DX_GONE: no project is wanted: what there is to answer is empty. */
static dx_status start_workspace(dx__finecode_nested *nested, dx_error *reterr) {
    dx_finecode_wm *wm = wm_of(nested);
    yyjson_val *paths = yyjson_obj_get(nested->event->value, "projectPaths");
    yyjson_mut_doc *doc = nested->results = yyjson_mut_doc_new(&nested->alc);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    char why[300] = "";
    size_t count = 0;
    if (!root || !yyjson_mut_obj_add_obj(doc, root, "resultsByProject"))
        return DX_ERR_NOMEM;
    yyjson_mut_doc_set_root(doc, root);
    if (!yyjson_is_arr(paths))
        return start(nested, NULL, 0, reterr);
    /* Some may stand there twice, but each costs a look at the disk. */
    if (yyjson_arr_size(paths) > 2 * wm->project_count + wm->config.max_fanout)
        return dx__finecode_fail(reterr, "more projectPaths than there are projects", "");
    dx_finecode_project **projects =
        dx__malloc(&wm->alloc, (yyjson_arr_size(paths) + 1) * sizeof(dx_finecode_project *));
    if (!projects)
        return DX_ERR_NOMEM;
    dx_status status = find_projects(wm, paths, projects, &count, why);
    if (status == DX_MISFIT)
        status = dx__finecode_fail(reterr, why, "");
    else if (!count)
        status = DX_GONE;
    else
        status = start(nested, projects, count, reterr);
    dx__free(&wm->alloc, projects);
    return status;
}

void dx__finecode_back_run(dx_link *link, const dx_event *event, dx_finecode_runner *runner,
                           bool workspace) {
    dx_finecode_wm *wm = runner->wm;
    dx_request request = event->request;
    dx_error error = {0};
    dx_status status = DX_ERR_NOMEM;
    dx__finecode_nested *nested = dx__malloc(&wm->alloc, sizeof *nested);
    if (nested) {
        *nested = (dx__finecode_nested){.runner = runner,
                                        .link = link,
                                        .is_real = runner->is_real,
                                        .is_workspace = workspace,
                                        .alc = dx__finecode_alc(&wm->alloc)};
        status = dx_link_keep(link, &nested->event);
    }
    if (status == DX_OK)
        status = workspace ? start_workspace(nested, &error)
                           : start(nested, &runner->project, 1, &error);
    if (status == DX_OK)
        return;
    if (status == DX_GONE)
        (void)dx_link_reply(link, request, dx_json_built(yyjson_mut_doc_get_root(nested->results)));
    else
        dx__finecode_back_refuse(link, request, DX_CODE_INTERNAL,
                                 error.phrase[0] ? error.phrase : dx_status_name(status), "");
    dx__finecode_nested_free(&wm->alloc, nested);
}

void dx__finecode_back_run_cancel(dx_finecode_runner *runner, dx_request request) {
    for (dx_finecode_run *run = runner->wm->runs; run; run = run->next)
        if (run->nested && run->nested->runner == runner && run->nested->link &&
            run->nested->event->request == request)
            dx_finecode_wm_cancel(runner->wm, run);
}

void dx__finecode_back_run_orphans(dx_finecode_runner *runner) {
    unsigned least = depths_of(runner).least;
    for (dx_finecode_run *run = runner->wm->runs; run; run = run->next)
        if (run->nested && run->nested->runner == runner && run->nested->link &&
            run->ask.origin.depth < least)
            dx_finecode_wm_cancel(runner->wm, run);
}

void dx__finecode_back_run_forget(dx_finecode_runner *runner) {
    for (dx_finecode_run *run = runner->wm->runs; run; run = run->next)
        if (run->nested && run->nested->runner == runner && run->nested->link) {
            run->nested->link = NULL;
            run->nested->event = dx_event_free(run->nested->event);
            dx_finecode_wm_cancel(runner->wm, run);
        }
}
