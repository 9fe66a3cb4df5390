/* What the server wants of a model or of the user. */
#include "systems/mcp/client_parts.h"

/* How many fields a form may have. */
enum { FIELDS_MAX = 1000 };

dx_status dx__mcp_client_question_new(dx_mcp_client *client, bool is_sampling, yyjson_val *params,
                                      dx_mcp_question **ret_question) {
    dx_mcp_question *question = dx__malloc(&client->alloc, sizeof *question);
    if (!question)
        return DX_ERR_NOMEM;
    *question = (dx_mcp_question){.client = client, .is_sampling = is_sampling, .params = params};
    question->prev = client->questions_last;
    *(question->prev ? &question->prev->next : &client->questions) = question;
    client->questions_last = question;
    *ret_question = question;
    return DX_OK;
}

dx_mcp_question *dx__mcp_client_question_free(dx_mcp_question *question) {
    dx_mcp_client *client = question->client;
    *(question->prev ? &question->prev->next : &client->questions) = question->next;
    *(question->next ? &question->next->prev : &client->questions_last) = question->prev;
    if (question->duty)
        question->duty->question = NULL;
    dx_event_free(question->event);
    dx__free(&client->alloc, question);
    return NULL;
}

const char *dx__mcp_client_question_flaw(const dx_mcp_client *client, bool is_sampling,
                                         yyjson_val *params, int64_t *ret_code) {
    const dx_mcp_client_config *config = &client->config;
    bool by_url = yyjson_equals_str(yyjson_obj_get(params, "mode"), "url");
    *ret_code = DX_CODE_METHOD;
    if (is_sampling ? !config->on_sampling : !config->on_elicitation)
        return is_sampling ? "sampling is not supported" : "elicitation is not supported";
    *ret_code = DX_CODE_PARAMS;
    if (is_sampling && !config->sampling_tools &&
        (yyjson_obj_get(params, "tools") || yyjson_obj_get(params, "toolChoice")))
        return "sampling with tools is not supported";
    if (!is_sampling && by_url && !config->elicitation_url)
        return "elicitation by URL is not supported";
    if (yyjson_obj_size(yyjson_ptr_get(params, "/requestedSchema/properties")) > FIELDS_MAX)
        return "the form has too many fields";
    return NULL;
}

void dx__mcp_client_question_ask(dx_mcp_question *question) {
    dx_mcp_client *client = question->client;
    const dx_mcp_client_config *config = &client->config;
    question->asked = true;
    if (question->is_sampling)
        config->on_sampling(client, question, question->params, config->user);
    else
        config->on_elicitation(client, question, question->params, config->user);
}

void dx__mcp_client_question_gone(dx_mcp_question *question) {
    dx_mcp_client *client = question->client;
    if (question->asked && !client->freed && client->config.on_question_gone) {
        question->asked = false; /* who answers it in the callback is told that it is gone */
        question->is_gone = true;
        client->config.on_question_gone(client, question, client->config.user);
    }
    dx__mcp_client_question_free(question);
}

void dx__mcp_client_questions_of(dx_mcp_client *client, const dx__mcp_client_ask *ask) {
    dx_mcp_question *question;
    do {
        question = client->questions;
        while (question && (question->ask != ask || question->is_gone))
            question = question->next;
        if (question)
            dx__mcp_client_question_gone(question);
    } while (question && !client->freed);
}

void dx__mcp_client_questions_end(dx_mcp_client *client) {
    while (client->questions && !client->questions->is_gone && !client->freed)
        dx__mcp_client_question_gone(client->questions);
}

/* Answers. */

static dx_status give(dx_mcp_question *question, yyjson_val *result) {
    dx_mcp_client *client = question->client;
    dx__mcp_client_duty *duty = question->duty;
    if (question->ask)
        return dx__mcp_client_rounds_answer(question, result);
    if (duty) {
        duty->result.len = 0;
        dx_status status = dx_json_write(&duty->result, dx_json_value(result));
        if (status != DX_OK)
            return status;
        dx__mcp_client_question_free(question);
        dx__mcp_client_duty_end(duty, "completed");
        return DX_OK;
    }
    dx_status status = dx__mcp_client_explain(client, dx_link_reply(dx__mcp_client_link(client),
                                                                    question->event->request,
                                                                    dx_json_value(result)));
    if (status == DX_OK)
        dx__mcp_client_question_free(question);
    return status;
}

/* By the link, when it is sent. */
static bool question_is_checked(const dx_mcp_question *question) {
    return !question->ask && !question->duty;
}

static bool is_closed(const dx_mcp_question *question) {
    return question->is_gone || question->client->freed || !dx__mcp_client_link(question->client);
}

dx_status dx_mcp_question_answer(dx_mcp_question *question, dx_json result) {
    dx_mcp_client *client = question->client;
    yyjson_doc *doc = NULL;
    if (is_closed(question))
        return DX_GONE;
    dx__mcp_client_enter(client);
    dx_status status = dx__mcp_client_form(client, question, result, &doc);
    if (status == DX_OK && !question_is_checked(question))
        status = dx__mcp_client_fits(client,
                                     question->is_sampling ? "CreateMessageResult" : "ElicitResult",
                                     yyjson_doc_get_root(doc));
    if (status == DX_OK)
        status = give(question, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    dx__mcp_client_leave(client);
    return status;
}

static dx_status refuse(dx_mcp_question *question, int64_t code, dx_text message) {
    dx_mcp_client *client = question->client;
    dx__mcp_client_duty *duty = question->duty;
    if (question->ask) {
        dx__mcp_client_rounds_refuse(question, code, message);
        return DX_OK;
    }
    if (duty) {
        duty->failed = true;
        duty->code = code;
        duty->message[0] = '\0';
        dx__say(duty->message, sizeof duty->message, message.at ? message : dx_str("Refused"));
        dx__mcp_client_question_free(question);
        dx__mcp_client_duty_end(duty, "failed");
        return DX_OK;
    }
    dx_status status = dx_link_refuse(dx__mcp_client_link(client), question->event->request, code,
                                      message, dx_json_none());
    if (status == DX_OK)
        dx__mcp_client_question_free(question);
    return status;
}

dx_status dx_mcp_question_refuse(dx_mcp_question *question, int64_t code, dx_text message) {
    dx_mcp_client *client = question->client;
    if (is_closed(question))
        return DX_GONE;
    dx__mcp_client_enter(client);
    dx_status status = refuse(question, code, message);
    dx__mcp_client_leave(client);
    return status;
}

dx_status dx_mcp_question_progress(dx_mcp_question *question, const dx_mcp_progress *progress) {
    dx_mcp_client *client = question->client;
    yyjson_val *token = yyjson_obj_get(yyjson_obj_get(question->params, "_meta"), "progressToken");
    yyjson_mut_doc *doc = NULL;
    if (is_closed(question))
        return DX_GONE;
    if (!token || question->ask)
        return DX_OK;
    dx__mcp_client_enter(client);
    dx_status status = dx__mcp_client_params(client, dx_json_none(), &doc);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    if (status == DX_OK &&
        (!yyjson_mut_obj_add_val(doc, root, "progressToken", yyjson_val_mut_copy(doc, token)) ||
         !yyjson_mut_obj_add_real(doc, root, "progress", progress->progress) ||
         (progress->has_total && !yyjson_mut_obj_add_real(doc, root, "total", progress->total)) ||
         (progress->message.at &&
          !yyjson_mut_obj_add_strncpy(doc, root, "message", progress->message.at,
                                      progress->message.len))))
        status = DX_ERR_NOMEM;
    if (status == DX_OK)
        status = dx__mcp_client_explain(client, dx_link_notify(dx__mcp_client_link(client),
                                                               dx_str("notifications/progress"),
                                                               dx_json_built(root)));
    yyjson_mut_doc_free(doc);
    dx__mcp_client_leave(client);
    return status;
}
