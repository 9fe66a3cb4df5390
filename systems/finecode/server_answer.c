/* Answers to clients, and what is in the params of their requests. */
#include "systems/finecode/server_parts.h"

yyjson_mut_doc *dx__finecode_answer_new(const dx_finecode_server *server) {
    yyjson_alc alc = dx__finecode_alc(&server->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    if (!root) {
        yyjson_mut_doc_free(doc);
        return NULL;
    }
    yyjson_mut_doc_set_root(doc, root);
    return doc;
}

void dx__finecode_answer_send(dx_link *link, dx_request request, yyjson_mut_doc *doc, bool built) {
    dx_status status = DX_ERR_NOMEM;
    if (doc && built)
        status = dx_link_reply(link, request, dx_json_built(yyjson_mut_doc_get_root(doc)));
    if (status != DX_OK && status != DX_GONE)
        (void)dx_link_refuse(link, request, DX_CODE_INTERNAL, dx_str(dx_status_name(status)),
                             dx_json_none());
    yyjson_mut_doc_free(doc);
}

void dx__finecode_answer_refuse(dx_link *link, dx_request request, int64_t code, const char *before,
                                const char *after) {
    char phrase[600] = "";
    dx__say_str(phrase, sizeof phrase, before);
    dx__say_str(phrase, sizeof phrase, after);
    (void)dx_link_refuse(link, request, code, dx_str(phrase), dx_json_none());
}

void dx__finecode_answer_empty(dx_link *link, dx_request request) {
    (void)dx_link_reply(link, request, dx_json_text("{}", 2));
}

const char *dx__finecode_param(const dx_event *event, const char *name) {
    dx_text text = dx__finecode_string(event->value, name);
    return text.at && strlen(text.at) == text.len ? text.at : NULL;
}

const char *dx__finecode_need_param(dx_link *link, const dx_event *event, const char *name) {
    const char *value = dx__finecode_param(event, name);
    if (!value)
        dx__finecode_answer_refuse(link, event->request, DX_CODE_PARAMS,
                                   "expected a string: ", name);
    return value;
}

bool dx__finecode_may_param(dx_link *link, const dx_event *event, const char *name,
                            const char **ret_value) {
    yyjson_val *value = yyjson_obj_get(event->value, name);
    if (!value || yyjson_is_null(value)) {
        *ret_value = NULL;
        return true;
    }
    *ret_value = dx__finecode_need_param(link, event, name);
    return *ret_value;
}

dx_finecode_project *dx__finecode_need_project(dx__finecode_client *client, const dx_event *event,
                                               const char *name) {
    const char *word = dx__finecode_need_param(client->link, event, name);
    dx_finecode_project *project =
        word ? dx_finecode_wm_find_project(client->server->wm, word) : NULL;
    if (word && !project)
        dx__finecode_answer_refuse(client->link, event->request, DX_CODE_PARAMS,
                                   "unknown project: ", word);
    return project;
}
