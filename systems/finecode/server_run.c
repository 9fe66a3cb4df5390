/* Runs in the name of clients. */
#include "systems/finecode/server_work.h"

void dx__finecode_work_refuse(dx__finecode_work *work, int64_t code, const char *before,
                              const char *after) {
    dx_link *link = dx__finecode_duty_link(work->duty);
    if (link)
        dx__finecode_answer_refuse(link, work->duty->event->request, code, before, after);
}

static void work_done(dx__finecode_duty *duty) {
    dx__finecode_work *work = duty->own;
    for (size_t i = 0; i < work->count; i++)
        if (work->items[i].begun && !work->items[i].ended)
            dx__finecode_runs_forget(duty->server->wm, &work->items[i]);
    dx__free(&duty->server->alloc, work->items);
    yyjson_doc_free(work->params);
    yyjson_mut_doc_free(work->doc);
}

/* Runs that are under way end by themselves, once they are cancelled; no other begins. */
static void work_cancel(dx__finecode_duty *duty) {
    dx__finecode_work *work = duty->own;
    for (size_t i = 0; i < work->count; i++)
        if (work->items[i].run)
            dx_finecode_wm_cancel(duty->server->wm, work->items[i].run);
}

/* The formats of a list; false: there is another one in it. */
static bool read_formats(yyjson_val *list, unsigned *ret_formats) {
    unsigned formats = list ? 0 : DX_FINECODE_STRING;
    size_t index;
    size_t count;
    yyjson_val *name;
    if (list && !yyjson_is_arr(list))
        return false;
    yyjson_arr_foreach(list, index, count, name) {
        unsigned format = yyjson_equals_str(name, "json")     ? DX_FINECODE_JSON
                          : yyjson_equals_str(name, "string") ? DX_FINECODE_STRING
                                                              : 0;
        if (!format)
            return false;
        formats |= format;
    }
    *ret_formats = formats;
    return true;
}

static bool read_token(yyjson_val *params, const char *name, yyjson_val **ret_token) {
    yyjson_val *token = yyjson_obj_get(params, name);
    bool none = !token || yyjson_is_null(token);
    *ret_token = none ? NULL : token;
    return none || yyjson_is_int(token) || yyjson_is_str(token);
}

/* Who wants only some of the envs must not get all of them. */
static bool is_empty(yyjson_val *list) {
    return !list || yyjson_is_null(list) || (yyjson_is_ctn(list) && !yyjson_get_len(list));
}

/* What is wrong with them; NULL: nothing. */
static const char *read_options(dx__finecode_work *work, yyjson_val *params) {
    yyjson_val *options = yyjson_obj_get(params, "options");
    dx_text trigger = dx__finecode_string(options, "trigger");
    dx_text dev_env = dx__finecode_string(options, "devEnv");
    yyjson_val *payload = yyjson_obj_get(params, "params");
    if (trigger.at && !dx_finecode_is_trigger(trigger))
        return "trigger: expected user, system or unknown";
    if (dev_env.at && !dx_finecode_is_dev_env(dev_env))
        return "devEnv: expected ide, cli, ai, git_hook or ci";
    if (!read_formats(yyjson_obj_get(options, "resultFormats"), &work->formats))
        return "resultFormats: expected json and string";
    if (!is_empty(yyjson_obj_get(options, "envSelectors")) ||
        !is_empty(yyjson_obj_get(options, "interpreterSelectors")))
        return "envSelectors and interpreterSelectors are not implemented";
    if (payload && !yyjson_is_null(payload) && !yyjson_is_obj(payload))
        return "params: expected an object";
    if (!read_token(params, "partialResultToken", &work->partial) ||
        !read_token(params, "progressToken", &work->progress))
        return "a token must be a string or an integer";
    work->origin = (dx_finecode_origin){trigger.at ? trigger.at : "unknown",
                                        dev_env.at ? dev_env.at : "ide", 0};
    work->concurrently = yyjson_is_true(yyjson_obj_get(options, "concurrently"));
    work->merged = yyjson_is_true(yyjson_obj_get(options, "mergeResults"));
    return NULL;
}

static const char *fill_work(dx__finecode_work *work, size_t count) {
    const dx_finecode_server *server = work->duty->server;
    const dx_event *event = work->duty->event;
    const char *wrong = read_options(work, event->value);
    if (wrong)
        return wrong;
    dx_status status = dx__finecode_doc_of_text(&server->alloc, event->body, &work->params);
    work->doc = dx__finecode_answer_new(server);
    work->results = work->doc ? yyjson_mut_obj(work->doc) : NULL;
    work->items = dx__malloc(&server->alloc, (count + 1) * sizeof *work->items);
    work->broken = status != DX_OK || !work->results || !work->items;
    if (work->items)
        memset(work->items, 0, (count + 1) * sizeof *work->items);
    return work->broken ? "out of memory" : NULL;
}

dx__finecode_work *dx__finecode_work_new(dx__finecode_client *client, size_t count) {
    dx__finecode_duty *duty = dx__finecode_duty_new(client, sizeof(dx__finecode_work));
    if (!duty)
        return NULL;
    dx__finecode_work *work = duty->own;
    work->duty = duty;
    duty->done = work_done;
    duty->cancel = work_cancel;
    const char *wrong = fill_work(work, count);
    if (!wrong)
        return work;
    dx__finecode_work_refuse(work, work->broken ? DX_CODE_INTERNAL : DX_CODE_PARAMS, wrong, "");
    dx__finecode_duty_end(duty);
    return NULL;
}

static void on_project(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                       const dx_finecode_result *result, void *user) {
    dx__finecode_item *item = user;
    (void)wm;
    (void)run;
    dx__finecode_result_keep(item->work, dx_finecode_project_path(project), item->source, result);
}

static void on_partial(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                       yyjson_val *by_format, void *user) {
    (void)wm;
    (void)run;
    dx__finecode_result_partial(user, dx_finecode_project_path(project), by_format);
}

static void on_progress(dx_finecode_wm *wm, dx_finecode_run *run, dx_finecode_project *project,
                        yyjson_val *value, void *user) {
    (void)wm;
    (void)run;
    (void)project;
    dx__finecode_result_progress(user, value);
}

static void say_failure(dx__finecode_work *work, int64_t code, const char *why) {
    work->code = code ? code : DX_CODE_INTERNAL;
    work->why[0] = '\0';
    dx__say_str(work->why, sizeof work->why, why);
}

/* A name that only runners could have known. */
static bool is_unknown(const dx_finecode_result *result) {
    return result->cause == DX_FINECODE_REFUSED && !result->code && result->why &&
           strncmp(result->why, DX__FINECODE_UNKNOWN, sizeof DX__FINECODE_UNKNOWN - 1) == 0;
}

static void on_done(dx_finecode_wm *wm, dx_finecode_run *run, const dx_finecode_result *result,
                    void *user) {
    dx__finecode_item *item = user;
    (void)wm;
    (void)run;
    bool given_up = result->status == DX_FINECODE_GIVEN_UP;
    item->run = NULL;
    item->ended = true;
    if (given_up)
        say_failure(item->work, DX_FINECODE_CANCELLED, "Request cancelled");
    else if (result->status == DX_FINECODE_FAILED)
        say_failure(item->work, is_unknown(result) ? DX_CODE_PARAMS : result->code, result->why);
    /* It may have failed before anything was said of the project. */
    if (item->work->batch && (given_up || result->status == DX_FINECODE_FAILED))
        dx__finecode_result_keep(item->work, item->project, item->source, result);
    dx__finecode_work_go(item->work);
}

/* What the projects have in common, and on top of it what this one has; in `doc`, if it has to be
 * built. */
static dx_status payload_of(const dx__finecode_item *item, yyjson_mut_doc *doc,
                            dx_json *ret_payload) {
    yyjson_val *request = yyjson_doc_get_root(item->work->params);
    yyjson_val *common = yyjson_obj_get(request, "params");
    yyjson_val *own = NULL;
    if (item->work->batch)
        own = yyjson_obj_get(yyjson_obj_get(request, "paramsByProject"), item->project);
    common = yyjson_is_obj(common) ? common : NULL;
    *ret_payload = dx_json_none();
    if (own && common) {
        yyjson_mut_val *copy = yyjson_val_mut_copy(doc, common);
        yyjson_mut_val *both = copy ? dx__finecode_deep_merge(doc, copy, own) : NULL;
        *ret_payload = dx_json_built(both);
        return both ? DX_OK : DX_ERR_NOMEM;
    }
    if (own || common)
        *ret_payload = dx_json_value(own ? own : common);
    return DX_OK;
}

static dx_status start(dx__finecode_item *item, yyjson_mut_doc *doc, dx_error *reterr) {
    const dx__finecode_work *work = item->work;
    dx_finecode_wm *wm = work->duty->server->wm;
    dx_finecode_ask ask = {.action = item->source,
                           .formats = work->formats,
                           .origin = work->origin,
                           .streamed = work->partial != NULL,
                           .progress = work->progress != NULL,
                           .on_project = on_project,
                           .on_partial = on_partial,
                           .on_progress = on_progress,
                           .on_done = on_done,
                           .user = item};
    ask.project = item->project ? dx_finecode_wm_find_project(wm, item->project) : NULL;
    if (item->project && !ask.project)
        return dx__finecode_fail(reterr, "the project was removed",
                                 ""); /* since the request came */
    dx_status status = doc ? payload_of(item, doc, &ask.payload) : DX_ERR_NOMEM;
    return status == DX_OK ? dx_finecode_wm_run(wm, &ask, &item->run, reterr) : status;
}

static void begin(dx__finecode_item *item) {
    dx__finecode_work *work = item->work;
    dx_error error = {.fault = DX_FAULT_NONE};
    yyjson_mut_doc *doc = dx__finecode_answer_new(work->duty->server);
    item->begun = true;
    dx_status status = start(item, doc, &error);
    yyjson_mut_doc_free(doc);
    if (status == DX_OK)
        return;
    item->ended = true;
    say_failure(work, status == DX_ERR_INVALID ? DX_CODE_PARAMS : DX_CODE_INTERNAL,
                *error.phrase ? error.phrase : dx_status_name(status));
    dx_finecode_result result = {.status = DX_FINECODE_FAILED, .why = work->why};
    if (item->project)
        dx__finecode_result_keep(work, item->project, item->source, &result);
}

/* Unless they run concurrently, an action waits for the one before it in the same project; those of
 * one project stand together. */
static bool may_begin(const dx__finecode_work *work, const dx__finecode_item *item) {
    if (item->begun || work->duty->cancelled)
        return false;
    const dx__finecode_item *before = item > work->items ? item - 1 : NULL;
    return work->concurrently || !before || before->ended || before->project != item->project;
}

void dx__finecode_work_go(dx__finecode_work *work) {
    bool over = true;
    for (size_t i = 0; i < work->count; i++) {
        dx__finecode_item *item = &work->items[i];
        if (may_begin(work, item))
            begin(item);
        over = over && (item->ended || (work->duty->cancelled && !item->begun));
    }
    if (!over)
        return;
    if (work->duty->client)
        dx__finecode_result_send(work);
    dx__finecode_duty_end(work->duty);
}

void dx__finecode_run_action(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    const char *word = NULL;
    if (!dx__finecode_need_param(link, event, "actionSource") ||
        !dx__finecode_may_param(link, event, "project", &word) ||
        (word && *word && !dx__finecode_need_project(client, event, "project")))
        return;
    dx__finecode_work *work = dx__finecode_work_new(client, 1);
    if (!work)
        return;
    /* What was kept is not where the event that was lent had it. */
    const dx_event *kept = work->duty->event;
    word = dx__finecode_param(kept, "project");
    work->count = 1;
    work->items[0] = (dx__finecode_item){.work = work,
                                         .source = dx__finecode_param(kept, "actionSource"),
                                         .project = word && *word ? word : NULL};
    dx__finecode_work_go(work);
}
