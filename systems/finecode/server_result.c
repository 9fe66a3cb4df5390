/* What runs gave, as clients get it. */
#include "systems/finecode/server_work.h"

static yyjson_mut_val *by_format_copy(yyjson_mut_doc *doc, yyjson_val *by_format) {
    return yyjson_is_obj(by_format) ? yyjson_val_mut_copy(doc, by_format) : yyjson_mut_obj(doc);
}

static bool fill(yyjson_mut_doc *doc, yyjson_mut_val *to, const dx_finecode_result *result) {
    if (result->status == DX_FINECODE_FAILED || result->status == DX_FINECODE_GIVEN_UP)
        return yyjson_mut_obj_add_strcpy(doc, to, "error",
                                         result->why && *result->why ? result->why : "cancelled") &&
               yyjson_mut_obj_add_int(doc, to, "returnCode", 1);
    return yyjson_mut_obj_add_val(doc, to, "resultByFormat",
                                  by_format_copy(doc, result->by_format)) &&
           yyjson_mut_obj_add_sint(doc, to, "returnCode", result->return_code) &&
           yyjson_mut_obj_add_str(doc, to, "status", dx_finecode_status_name(result->status));
}

/* The object at that key, added if there is none. */
static yyjson_mut_val *object_at(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key) {
    yyjson_mut_val *found = yyjson_mut_obj_get(object, key);
    if (found)
        return found;
    yyjson_mut_val *added = yyjson_mut_obj(doc);
    return yyjson_mut_obj_add(object, yyjson_mut_strcpy(doc, key), added) ? added : NULL;
}

void dx__finecode_result_keep(dx__finecode_work *work, const char *path, const char *source,
                              const dx_finecode_result *result) {
    yyjson_mut_val *entry = object_at(work->doc, work->results, path);
    if (entry && work->batch)
        entry = object_at(work->doc, entry, source);
    /* An action that was named twice has what it gave first. */
    if (!entry || (!yyjson_mut_obj_size(entry) && !fill(work->doc, entry, result)))
        work->broken = true;
    bool failed = result->status == DX_FINECODE_FAILED || result->status == DX_FINECODE_GIVEN_UP;
    work->return_code |= failed ? 1 : result->return_code;
    work->fine += !failed;
}

/* Of several projects: json by their paths, texts one behind the other. */
static yyjson_mut_val *joined(yyjson_mut_doc *doc, yyjson_mut_val *results,
                              const dx_allocator *alloc) {
    yyjson_mut_val *all = yyjson_mut_obj(doc);
    yyjson_mut_val *json = NULL;
    bool done = all;
    size_t index;
    size_t count;
    yyjson_mut_val *path;
    yyjson_mut_val *entry;
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 8, alloc);
    yyjson_mut_obj_foreach(results, index, count, path, entry) {
        yyjson_mut_val *by_format = yyjson_mut_obj_get(entry, "resultByFormat");
        yyjson_mut_val *value = yyjson_mut_obj_get(by_format, "json");
        yyjson_mut_val *words = yyjson_mut_obj_get(by_format, "string");
        if (done && value) {
            json = json ? json : yyjson_mut_obj_add_obj(doc, all, "json");
            done = json && yyjson_mut_obj_add(json, yyjson_mut_val_mut_copy(doc, path),
                                              yyjson_mut_val_mut_copy(doc, value));
        }
        if (done && yyjson_mut_is_str(words) && yyjson_mut_get_len(words))
            done =
                (!text.len || dx_buf_append(&text, "\n", 1) == DX_OK) &&
                dx_buf_append(&text, yyjson_mut_get_str(words), yyjson_mut_get_len(words)) == DX_OK;
    }
    if (done && text.len)
        done = yyjson_mut_obj_add_strncpy(doc, all, "string", text.data, text.len);
    dx_buf_done(&text);
    return done ? all : NULL;
}

/* Of one project: its own. */
static yyjson_mut_val *only_one(dx__finecode_work *work) {
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(work->results);
    yyjson_mut_val *path = yyjson_mut_obj_iter_next(&iter);
    yyjson_mut_val *entry = yyjson_mut_obj_iter_get_val(path);
    yyjson_mut_val *by_format = yyjson_mut_obj_get(entry, "resultByFormat");
    return by_format ? yyjson_mut_val_mut_copy(work->doc, by_format) : yyjson_mut_obj(work->doc);
}

static bool build_run(dx__finecode_work *work, yyjson_mut_val *root) {
    yyjson_mut_doc *doc = work->doc;
    size_t count = yyjson_mut_obj_size(work->results);
    bool built = yyjson_mut_obj_add_sint(doc, root, "returnCode", work->return_code);
    if (built && !work->partial)
        built = yyjson_mut_obj_add_val(
            doc, root, "resultByFormat",
            count == 1 ? only_one(work) : joined(doc, work->results, &work->duty->server->alloc));
    /* Nothing else tells what went wrong in a project whose results were streamed. */
    if (built && (work->merged || work->code || (count > 1 && !work->partial)))
        built = yyjson_mut_obj_add_val(doc, root, "results", work->results);
    return built;
}

static bool build_batch(dx__finecode_work *work, yyjson_mut_val *root) {
    return yyjson_mut_obj_add_val(work->doc, root, "results", work->results) &&
           yyjson_mut_obj_add_sint(work->doc, root, "returnCode", work->return_code);
}

/* A run that failed is an error; one that failed in some projects only tells where. */
void dx__finecode_result_send(dx__finecode_work *work) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(work->doc);
    dx_link *link = dx__finecode_duty_link(work->duty);
    dx_request request = work->duty->event->request;
    if (work->code && !work->fine && !work->batch) {
        dx__finecode_work_refuse(work, work->code, work->why, "");
        return;
    }
    if (work->lost) {
        dx__finecode_work_refuse(work, DX_CODE_INTERNAL, "some partial results could not be sent",
                                 "");
        return;
    }
    bool built = !work->broken && (work->batch ? build_batch(work, root) : build_run(work, root));
    dx__finecode_answer_send(link, request, work->doc, built);
    work->doc = NULL;
}

void dx__finecode_result_partial(const dx__finecode_item *item, const char *path,
                                 yyjson_val *by_format) {
    dx__finecode_work *work = item->work;
    dx_link *link = dx__finecode_duty_link(work->duty);
    if (!link || !work->partial)
        return;
    yyjson_mut_doc *doc = dx__finecode_answer_new(work->duty->server);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *value = NULL;
    yyjson_mut_val *to = NULL;
    if (doc && yyjson_mut_obj_add_val(doc, root, "token", yyjson_val_mut_copy(doc, work->partial)))
        to = value = yyjson_mut_obj_add_obj(doc, root, "value");
    bool built = value && yyjson_mut_obj_add_strcpy(doc, value, "project", path);
    if (built && work->batch) {
        yyjson_mut_val *results = yyjson_mut_obj_add_obj(doc, value, "results");
        to = results ? object_at(doc, results, item->source) : NULL;
        built = to && yyjson_mut_obj_add_sint(doc, value, "returnCode", work->return_code);
    }
    built = built &&
            yyjson_mut_obj_add_val(doc, to, "resultByFormat", by_format_copy(doc, by_format)) &&
            dx_link_notify(link, dx_str("actions/partialResult"), dx_json_built(root)) == DX_OK;
    work->lost = work->lost || !built;
    yyjson_mut_doc_free(doc);
}

void dx__finecode_result_progress(const dx__finecode_item *item, yyjson_val *value) {
    dx__finecode_work *work = item->work;
    dx_link *link = dx__finecode_duty_link(work->duty);
    yyjson_mut_doc *doc =
        link && work->progress ? dx__finecode_answer_new(work->duty->server) : NULL;
    if (!doc)
        return;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    if (yyjson_mut_obj_add_val(doc, root, "token", yyjson_val_mut_copy(doc, work->progress)) &&
        yyjson_mut_obj_add_val(doc, root, "value", yyjson_val_mut_copy(doc, value)))
        (void)dx_link_notify(link, dx_str("actions/progress"), dx_json_built(root));
    yyjson_mut_doc_free(doc);
}
