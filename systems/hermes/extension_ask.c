/* Questions to the editor: how one is asked, and how its answer comes back. */
#include "systems/hermes/extension_parts.h"

#include <stdlib.h>

extension_params extension_params_new(void) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_doc_set_root(doc, root);
    return (extension_params){doc, root, root ? DX_OK : DX_ERR_NOMEM};
}

void extension_params_add_value(extension_params *params, const char *name, yyjson_mut_val *value) {
    if (params->status == DX_OK &&
        (!value || !yyjson_mut_obj_add_val(params->doc, params->root, name, value)))
        params->status = DX_ERR_NOMEM;
}

void extension_params_add_text(extension_params *params, const char *name, dx_text text) {
    if (text.at && params->status == DX_OK)
        extension_params_add_value(params, name, yyjson_mut_strn(params->doc, text.at, text.len));
}

void extension_params_add(extension_params *params, const char *name, const char *text) {
    extension_params_add_text(params, name, dx_str(text));
}

static void add_question(dx_hermes_extension *extension, extension_question *question) {
    question->next = extension->questions;
    if (question->next)
        question->next->prev = question;
    extension->questions = question;
}

static void drop_question(dx_hermes_extension *extension, extension_question *question) {
    if (question->next)
        question->next->prev = question->prev;
    *(question->prev ? &question->prev->next : &extension->questions) = question->next;
    free(question);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    extension_question *question = user;
    extension_question was = *question;
    (void)link;
    extension_enter(was.extension);
    drop_question(was.extension, question);
    if (was.ask.on_done) {
        extension_why why;
        dx_hermes_answer answer = extension_answer(&was, event, &why);
        was.ask.on_done(was.extension, &answer, was.ask.user);
    }
    extension_leave(was.extension);
}

/* Where the protocol sets no time, a user answers. */
static uint64_t time_for(const extension_question *question) {
    if (question->ask.timeout_ms)
        return question->ask.timeout_ms;
    if (question->rule->deadline_ms[DX_SIDE_PLUGIN] == DX_NEVER)
        return DX_NEVER;
    return question->extension->config.timeout_ms;
}

static dx_status send(extension_question *question, yyjson_val *params) {
    dx_link_call_options options = {
        .peer = {.timeout_ms = time_for(question), .total_ms = DX_NEVER, .user = question},
        .on_done = on_done,
    };
    return dx_link_call(question->extension->link, dx_str(question->rule->name),
                        dx_json_value(params), &options, NULL);
}

/* What does not fit is a mistake of the extension, and refused here rather than by the editor. */
static dx_status judge(dx_hermes_extension *extension, const dx_method *rule, yyjson_val *params) {
    if (!rule || dx_protocol_may_send(extension->protocol, extension->state, rule, DX_SIDE_PLUGIN,
                                      NULL, NULL) == DX_LEAVE_NO)
        return DX_MISFIT;
    dx_misfit misfit;
    dx_status status = dx_protocol_check(extension->protocol, rule, DX_SIDE_PLUGIN, DX_PART_PARAMS,
                                         params, 0, &misfit);
    if (status == DX_MISFIT)
        extension_tell(dx_str(rule->name), misfit.phrase);
    return status;
}

static dx_status ask_with(dx_hermes_extension *extension, const char *method, yyjson_val *params,
                          const dx_hermes_ask *ask) {
    static const dx_hermes_ask nobody = {NULL, NULL, 0};
    const dx_method *rule = dx_protocol_find(extension->protocol, dx_str(method));
    dx_status status = judge(extension, rule, params);
    if (status != DX_OK)
        return status;
    extension_question *question = malloc(sizeof *question);
    if (!question)
        return DX_ERR_NOMEM;
    *question =
        (extension_question){.extension = extension, .rule = rule, .ask = ask ? *ask : nobody};
    status = send(question, params);
    if (status == DX_OK)
        add_question(extension, question);
    else
        free(question);
    return status;
}

dx_status extension_ask(dx_hermes_extension *extension, const char *method,
                        extension_params *params, const dx_hermes_ask *ask) {
    dx_status status = extension->leaving || extension->freed ? DX_CLOSED : params->status;
    yyjson_doc *doc = status == DX_OK ? yyjson_mut_doc_imut_copy(params->doc, NULL) : NULL;
    yyjson_mut_doc_free(params->doc);
    params->doc = NULL;
    if (status == DX_OK)
        status = doc ? ask_with(extension, method, yyjson_doc_get_root(doc), ask) : DX_ERR_NOMEM;
    yyjson_doc_free(doc);
    return status;
}
