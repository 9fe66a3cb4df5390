/* The workspace as clients see it: folders and projects. */
#include "systems/finecode/server_parts.h"

#include <limits.h>
#include <stdlib.h>

const char *dx__finecode_project_status(const dx_finecode_project *project) {
    switch (dx_finecode_project_get_state(project)) {
    case DX_FINECODE_VALID:
        return "CONFIG_VALID";
    case DX_FINECODE_NO_CONFIG:
        return "NO_FINECODE";
    default:
        return "CONFIG_INVALID";
    }
}

/* {"name", "path", "status"} */
static bool add_project(yyjson_mut_doc *doc, yyjson_mut_val *list,
                        const dx_finecode_project *project) {
    yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, list);
    const char *why = dx_finecode_project_why(project);
    return entry &&
           yyjson_mut_obj_add_strcpy(doc, entry, "name", dx_finecode_project_name(project)) &&
           yyjson_mut_obj_add_strcpy(doc, entry, "path", dx_finecode_project_path(project)) &&
           yyjson_mut_obj_add_str(doc, entry, "status", dx__finecode_project_status(project)) &&
           (!why || !*why || yyjson_mut_obj_add_strcpy(doc, entry, "why", why));
}

/* Is it one of those that a list of names or paths has? No list: all are. */
static bool is_listed(yyjson_val *list, const dx_finecode_project *project) {
    size_t index;
    size_t count;
    yyjson_val *word;
    if (!yyjson_is_arr(list))
        return true;
    yyjson_arr_foreach(list, index, count, word) {
        if (yyjson_equals_str(word, dx_finecode_project_path(project)) ||
            yyjson_equals_str(word, dx_finecode_project_name(project)))
            return true;
    }
    return false;
}

static void send_projects(dx__finecode_client *client, const dx_event *event, const char *folder) {
    dx_finecode_wm *wm = client->server->wm;
    yyjson_val *wanted = yyjson_obj_get(event->value, "projects");
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *list = NULL;
    if (doc)
        list = yyjson_mut_obj_add_arr(doc, yyjson_mut_doc_get_root(doc), "projects");
    bool built = list;
    dx_finecode_project *project;
    for (size_t i = 0; built && (project = dx_finecode_wm_project(wm, i)); i++) {
        bool there = !folder || dx__finecode_is_below(dx_finecode_project_path(project), folder);
        if (there && is_listed(wanted, project))
            built = add_project(doc, list, project);
    }
    dx__finecode_answer_send(client->link, event->request, doc, built);
}

static void start_listed(dx_finecode_wm *wm, yyjson_val *wanted, const char *folder) {
    dx_finecode_project *project;
    for (size_t i = 0; (project = dx_finecode_wm_project(wm, i)); i++) {
        bool there = !folder || dx__finecode_is_below(dx_finecode_project_path(project), folder);
        if (there && is_listed(wanted, project) &&
            dx_finecode_project_get_state(project) == DX_FINECODE_VALID)
            dx_finecode_wm_start_runners(wm, project);
    }
}

/* addDir, until its runners are ready or have failed. */
struct addition {
    char *folder;
};

static void addition_done(dx__finecode_duty *duty) {
    struct addition *addition = duty->own;
    dx__free(&duty->server->alloc, addition->folder);
}

/* One that waits for a debugger may wait for ever. */
static bool is_starting(const dx__finecode_duty *duty, const char *folder) {
    yyjson_val *wanted = yyjson_obj_get(duty->event->value, "projects");
    for (const dx_finecode_runner *one = duty->server->wm->runners; one; one = one->next)
        if (one->state == DX_FINECODE_INITIALIZING && !one->is_debugged &&
            dx__finecode_is_below(dx_finecode_project_path(one->project), folder) &&
            is_listed(wanted, one->project))
            return true;
    return false;
}

void dx__finecode_additions_look(dx_finecode_server *server) {
    dx__finecode_duty *next;
    for (dx__finecode_duty *duty = server->duties; duty; duty = next) {
        next = duty->next;
        if (duty->done != addition_done)
            continue;
        const struct addition *addition = duty->own;
        if (is_starting(duty, addition->folder))
            continue;
        send_projects(duty->client, duty->event, addition->folder);
        dx__finecode_duty_end(duty);
    }
}

static void wait_for_runners(dx__finecode_client *client, const char *folder) {
    dx__finecode_duty *duty = dx__finecode_duty_new(client, sizeof(struct addition));
    if (!duty)
        return;
    struct addition *addition = duty->own;
    duty->done = addition_done;
    duty->cancel = dx__finecode_duty_end;
    addition->folder = dx__text_copy(&client->server->alloc, dx_str(folder));
    if (addition->folder)
        dx__finecode_additions_look(client->server);
    else {
        dx__finecode_answer_refuse(client->link, duty->event->request, DX_CODE_INTERNAL,
                                   "out of memory", "");
        dx__finecode_duty_end(duty);
    }
}

void dx__finecode_add_dir(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    dx_error error = {.fault = DX_FAULT_NONE};
    const char *folder = dx__finecode_need_param(link, event, "dirPath");
    if (!folder)
        return;
    dx_status status = dx_finecode_wm_add_dir(client->server->wm, folder, &error);
    if (status != DX_OK) {
        dx__finecode_answer_refuse(link, event->request,
                                   status == DX_ERR_NOMEM ? DX_CODE_INTERNAL : DX_CODE_PARAMS,
                                   *error.phrase ? error.phrase : dx_status_name(status), "");
        return;
    }
    /* Projects are known by the path without links. */
    char path[PATH_MAX];
    folder = realpath(folder, path) ? path : folder;
    if (!yyjson_is_false(yyjson_obj_get(event->value, "startRunners")))
        start_listed(client->server->wm, yyjson_obj_get(event->value, "projects"), folder);
    wait_for_runners(client, folder);
}

void dx__finecode_remove_dir(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    const char *folder = dx__finecode_need_param(link, event, "dirPath");
    if (!folder)
        return;
    dx_finecode_wm_remove_dir(client->server->wm, folder);
    dx__finecode_answer_empty(link, event->request);
}

void dx__finecode_start_runners(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    start_listed(client->server->wm, yyjson_obj_get(event->value, "projects"), NULL);
    dx__finecode_answer_empty(link, event->request);
}

void dx__finecode_list_projects(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_wm_refresh(((dx__finecode_client *)user)->server->wm);
    (void)link;
    send_projects(user, event, NULL);
}

void dx__finecode_find_project(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    const char *path = dx__finecode_need_param(link, event, "filePath");
    if (!path)
        return;
    char real[PATH_MAX];
    dx_finecode_project *project =
        *path == '/' ? dx_finecode_wm_project_of(client->server->wm, path) : NULL;
    if (*path == '/' && !project && realpath(path, real))
        project = dx_finecode_wm_project_of(client->server->wm, real);
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool built = doc && (project ? yyjson_mut_obj_add_strcpy(doc, root, "project",
                                                             dx_finecode_project_path(project))
                                 : yyjson_mut_obj_add_null(doc, root, "project"));
    dx__finecode_answer_send(link, event->request, doc, built);
}

void dx__finecode_raw_config(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    dx__finecode_wm_refresh(client->server->wm);
    dx_finecode_project *project = dx__finecode_need_project(client, event, "project");
    if (!project)
        return;
    yyjson_val *raw = dx_finecode_project_raw(project);
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *copy = !doc ? NULL : raw ? yyjson_val_mut_copy(doc, raw) : yyjson_mut_obj(doc);
    bool built =
        copy && yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), "rawConfig", copy);
    dx__finecode_answer_send(link, event->request, doc, built);
}

void dx__finecode_packages(dx_link *link, const dx_event *event, void *user) {
    dx__finecode_client *client = user;
    yyjson_mut_doc *doc = dx__finecode_answer_new(client->server);
    yyjson_mut_val *list = NULL;
    if (doc)
        list = yyjson_mut_obj_add_obj(doc, yyjson_mut_doc_get_root(doc), "packages");
    bool built = list;
    dx_finecode_project *project;
    for (size_t i = 0; built && (project = dx_finecode_wm_project(client->server->wm, i)); i++)
        built = dx_finecode_project_get_state(project) != DX_FINECODE_VALID ||
                yyjson_mut_obj_add(list, yyjson_mut_strcpy(doc, dx_finecode_project_label(project)),
                                   yyjson_mut_strcpy(doc, dx_finecode_project_path(project)));
    dx__finecode_answer_send(link, event->request, doc, built);
}
