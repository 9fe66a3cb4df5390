/* What the server asks and tells. */
#include "systems/mcp/client_parts.h"

static void refuse(dx_link *link, const dx_event *event, int64_t code, const char *message) {
    (void)dx_link_refuse(link, event->request, code, dx_str(message), dx_json_none());
}

/* Requests. */

static void serve_roots(dx_mcp_client *client, dx_link *link, const dx_event *event) {
    yyjson_alc alc = dx__mcp_client_alc(client);
    if (!client->config.roots) {
        refuse(link, event, DX_CODE_METHOD, NULL);
        return;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *list = doc ? dx__mcp_client_roots(client, doc) : NULL;
    if (!list || dx_link_reply(link, event->request, dx_json_built(list)) != DX_OK)
        refuse(link, event, DX_CODE_INTERNAL, "cannot list the roots");
    yyjson_mut_doc_free(doc);
}

static void serve_question(dx_mcp_client *client, dx_link *link, const dx_event *event,
                           bool is_sampling) {
    dx_mcp_question *question = NULL;
    int64_t code;
    const char *flaw = dx__mcp_client_question_flaw(client, is_sampling, event->value, &code);
    if (flaw) {
        refuse(link, event, code, code == DX_CODE_METHOD ? NULL : flaw);
        return;
    }
    if (client->phase >= DX__MCP_CLOSING) {
        refuse(link, event, DX_CODE_INTERNAL, "the client is shutting down");
        return;
    }
    dx_status status = DX_OK;
    if (dx__mcp_client_duty_wanted(client, event)) {
        status = dx__mcp_client_duty_new(client, link, event, is_sampling);
    } else {
        status = dx__mcp_client_question_new(client, is_sampling, NULL, &question);
        if (status == DX_OK && (status = dx_link_keep(link, &question->event)) != DX_OK)
            dx__mcp_client_question_free(question);
        if (status == DX_OK) {
            question->params = question->event->value;
            dx__mcp_client_question_ask(question);
        }
    }
    if (status == DX_BUSY)
        refuse(link, event, DX_CODE_BUSY, "Too many tasks");
    else if (status != DX_OK)
        refuse(link, event, DX_CODE_INTERNAL, "out of memory for the question");
}

static void serve_request(dx_mcp_client *client, dx_link *link, const dx_event *event) {
    static const char empty[] = "{}";
    if (dx_text_is(event->method, "ping"))
        (void)dx_link_reply(link, event->request, dx_json_text(empty, 2));
    else if (dx_text_is(event->method, "roots/list"))
        serve_roots(client, link, event);
    else if (dx_text_is(event->method, "sampling/createMessage"))
        serve_question(client, link, event, true);
    else if (dx_text_is(event->method, "elicitation/create"))
        serve_question(client, link, event, false);
    else if (!dx__mcp_client_duty_serve(client, link, event))
        refuse(link, event, DX_CODE_METHOD, NULL);
}

/* Notifications. */

static void hear_log(dx_mcp_client *client, yyjson_val *params) {
    const dx_mcp_client_config *config = &client->config;
    if (config->on_log)
        config->on_log(client, dx_mcp_level_named(dx__mcp_client_string(params, "level")),
                       dx__mcp_client_string(params, "logger"), yyjson_obj_get(params, "data"),
                       config->user);
}

static bool hear_change(dx_mcp_client *client, const dx_event *event) {
    static const struct {
        const char *method;
        dx_mcp_kind kind;
    } kinds[] = {{"notifications/tools/list_changed", DX_MCP_TOOLS},
                 {"notifications/resources/list_changed", DX_MCP_RESOURCES},
                 {"notifications/prompts/list_changed", DX_MCP_PROMPTS}};
    const dx_mcp_client_config *config = &client->config;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!dx_text_is(event->method, kinds[i].method))
            continue;
        if (config->on_changed && dx__mcp_client_listen_is_mine(client, event->body))
            config->on_changed(client, kinds[i].kind, config->user);
        return true;
    }
    return false;
}

static void hear_task(dx_mcp_client *client, yyjson_val *params) {
    const dx_mcp_client_config *config = &client->config;
    dx__mcp_client_task_told(client, params);
    if (config->on_task)
        config->on_task(client, params, config->user);
}

static void serve_notification(dx_mcp_client *client, const dx_event *event) {
    const dx_mcp_client_config *config = &client->config;
    dx_text method = event->method;
    if (dx_text_is(method, "notifications/message")) {
        hear_log(client, event->value);
    } else if (dx_text_is(method, "notifications/resources/updated")) {
        if (config->on_updated && dx__mcp_client_listen_is_mine(client, event->body))
            config->on_updated(client, dx__mcp_client_string(event->value, "uri"), config->user);
    } else if (dx_text_is(method, "notifications/tasks/status")) {
        hear_task(client, event->value);
    } else if (dx_text_is(method, "notifications/elicitation/complete")) {
        if (config->on_elicited)
            config->on_elicited(client, dx__mcp_client_string(event->value, "elicitationId"),
                                config->user);
    } else if (dx_text_is(method, "notifications/subscriptions/acknowledged")) {
        dx__mcp_client_listen_acknowledged(client, event);
    } else if (!hear_change(client, event) && !dx_text_is(method, "notifications/cancelled") &&
               config->on_notification) {
        config->on_notification(client, method, event->value, config->user);
    }
}

static void forget(dx_mcp_client *client, dx_request request) {
    dx_mcp_question *question = client->questions;
    while (question && (!question->event || question->event->request != request))
        question = question->next;
    if (question)
        dx__mcp_client_question_gone(question);
    else
        dx__mcp_client_duty_forget_wait(client, request);
}

void dx__mcp_client_serve(dx_mcp_client *client, dx_link *link, const dx_event *event) {
    switch (event->kind) {
    case DX_EVENT_REQUEST:
        serve_request(client, link, event);
        break;
    case DX_EVENT_NOTIFICATION:
        serve_notification(client, event);
        break;
    case DX_EVENT_CANCEL:
        forget(client, event->request);
        break;
    case DX_EVENT_STRAY:
    case DX_EVENT_VIOLATION:
        if (client->config.on_violation)
            client->config.on_violation(client, event, client->config.user);
        break;
    default:
        break;
    }
}
