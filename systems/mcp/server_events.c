/* Everything that a client sends, and the answers that need no work. */
#include "systems/mcp/server_parts.h"

#include <string.h>

dx_text dx__mcp_member(yyjson_val *object, const char *name) {
    yyjson_val *value = yyjson_obj_get(object, name);
    return dx_json_string(value);
}

void dx__mcp_refuse(dx_mcp_session *session, dx_request request, int64_t code,
                    const char *message) {
    /* If even that fails, the engine has a shorter word for it. */
    if (session->link)
        (void)dx_link_refuse(session->link, request, code, dx_str(message), dx_json_none());
}

void dx__mcp_answer(dx_mcp_session *session, dx_request request, dx__mcp_out *out) {
    dx_status status = out->status;
    if (status == DX_OK)
        status = dx_link_reply(session->link, request, dx_json_checked(dx__mcp_out_text(out)));
    if (status == DX_MISFIT)
        dx__mcp_refuse(session, request, DX_CODE_INTERNAL, dx_link_why(session->link)->phrase);
    else if (status != DX_OK)
        dx__mcp_refuse(session, request, DX_CODE_INTERNAL, NULL);
    dx__mcp_out_done(out);
}

static void on_ping(dx_mcp_session *session, const dx_event *event) {
    (void)dx_link_reply(session->link, event->request, dx_json_checked(dx_str("{}")));
}

static void on_tools(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_list(session, event, DX_MCP_TOOLS);
}

static void on_resources(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_list(session, event, DX_MCP_RESOURCES);
}

static void on_templates(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_list(session, event, DX_MCP_TEMPLATES);
}

static void on_prompts(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_list(session, event, DX_MCP_PROMPTS);
}

static const struct {
    const char *method;
    void (*handle)(dx_mcp_session *session, const dx_event *event);
} requests[] = {
    {"tools/call", dx__mcp_call_tool},
    {"ping", on_ping},
    {"resources/read", dx__mcp_read},
    {"prompts/get", dx__mcp_get_prompt},
    {"completion/complete", dx__mcp_complete},
    {"tools/list", on_tools},
    {"resources/list", on_resources},
    {"resources/templates/list", on_templates},
    {"prompts/list", on_prompts},
    {"initialize", dx__mcp_initialize},
    {"server/discover", dx__mcp_discover},
    {"logging/setLevel", dx__mcp_set_level},
    {"resources/subscribe", dx__mcp_subscribe},
    {"resources/unsubscribe", dx__mcp_unsubscribe},
    {"subscriptions/listen", dx__mcp_listen_open},
    {"tasks/get", dx__mcp_task_get},
    {"tasks/list", dx__mcp_task_list},
    {"tasks/cancel", dx__mcp_task_cancel},
    {"tasks/result", dx__mcp_task_result},
};

static void tell_session(dx_mcp_session *session) {
    const dx_mcp_server_config *config = &session->server->config;
    if (session->told)
        return;
    session->told = true;
    if (config->on_session)
        config->on_session(session, config->user);
}

static void on_request(dx_mcp_session *session, const dx_event *event) {
    if (dx__mcp_is_modern(session)) {
        if (!dx__mcp_greet(session, event))
            return;
        tell_session(session);
        if (!session->server)
            return;
    }
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (dx_text_is(event->method, requests[i].method)) {
            requests[i].handle(session, event);
            return;
        }
    dx__mcp_refuse(session, event->request, DX_CODE_METHOD, NULL);
}

static void on_notification(dx_mcp_session *session, const dx_event *event) {
    const dx_mcp_server_config *config = &session->server->config;
    if (dx_text_is(event->method, "notifications/initialized") && session->opened) {
        session->ready = true;
        tell_session(session);
    } else if (dx_text_is(event->method, "notifications/roots/list_changed") &&
               config->on_roots_changed) {
        config->on_roots_changed(session, config->user);
    }
}

static void on_cancel(dx_mcp_session *session, dx_request request) {
    dx_mcp_work *work =
        dx__mcp_table_find(&session->by_request, (dx_text){(const char *)&request, sizeof request});
    if (work)
        dx__mcp_work_cancel(work);
    else if (!dx__mcp_listen_cancel(session, request))
        dx__mcp_task_wait_cancel(session, request);
}

void dx__mcp_on_event(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx_mcp_session *session = user;
    dx_mcp_server *server = session->server;
    if (!server || !session->link)
        return;
    dx__mcp_session_hold(session);
    if (event->kind == DX_EVENT_REQUEST)
        on_request(session, event);
    else if (event->kind == DX_EVENT_NOTIFICATION)
        on_notification(session, event);
    else if (event->kind == DX_EVENT_CANCEL)
        on_cancel(session, event->request);
    else if ((event->kind == DX_EVENT_VIOLATION || event->kind == DX_EVENT_STRAY) &&
             server->config.on_violation)
        server->config.on_violation(session, event, server->config.user);
    dx__mcp_session_release(session);
}
