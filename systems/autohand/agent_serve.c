/* What a client may ask for at any time. */
#include "systems/autohand/core_parts.h"

void dx__autohand_serve_reply(dx_autohand_agent *agent, dx_request request, yyjson_mut_doc *doc,
                              yyjson_mut_val *result) {
    dx_status status = DX_ERR_NOMEM;
    if (request && agent->link && result)
        status = dx_link_reply(agent->link, request, dx_json_built(result));
    const char *why = status == DX_ERR_NOMEM   ? "out of memory"
                      : status == DX_ERR_LIMIT ? "The result is too large"
                      : status == DX_BUSY      ? "Too much output is waiting to be read"
                                               : NULL;
    if (why)
        dx__autohand_serve_error(agent, request, DX_CODE_INTERNAL, dx_str(why));
    yyjson_mut_doc_free(doc);
}

void dx__autohand_serve_success(dx_autohand_agent *agent, dx_request request, bool success) {
    dx_text text = dx_str(success ? "{\"success\":true}" : "{\"success\":false}");
    if (request && agent->link)
        (void)dx_link_reply(agent->link, request, dx_json_checked(text));
}

void dx__autohand_serve_error(dx_autohand_agent *agent, dx_request request, int64_t code,
                              dx_text message) {
    if (request && agent->link)
        (void)dx_link_refuse(agent->link, request, code, message, dx_json_none());
}

static yyjson_mut_doc *new_doc(dx_autohand_agent *agent) {
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    return yyjson_mut_doc_new(&alc);
}

static void on_abort(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    (void)link;
    dx__autohand_agent_enter(agent);
    if (agent->turn)
        dx__autohand_turn_abort(agent->turn, true, event->request);
    else
        dx__autohand_serve_success(agent, event->request, agent->was_aborted);
    dx__autohand_agent_exit(agent);
}

static void on_state(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    (void)link;
    yyjson_mut_doc *doc = new_doc(agent);
    yyjson_mut_val *state = doc ? yyjson_mut_obj(doc) : NULL;
    if (state && (!yyjson_mut_obj_add_str(doc, state, "status", dx__autohand_agent_status(agent)) ||
                  !yyjson_mut_obj_add_str(doc, state, "sessionId", agent->session) ||
                  !yyjson_mut_obj_add_str(doc, state, "model", dx__autohand_agent_model(agent)) ||
                  !yyjson_mut_obj_add_str(doc, state, "workspace", agent->workspace.path) ||
                  !yyjson_mut_obj_add_int(doc, state, "contextPercent",
                                          dx__autohand_agent_free_percent(agent)) ||
                  !yyjson_mut_obj_add_uint(doc, state, "messageCount", agent->history->count)))
        state = NULL;
    dx__autohand_serve_reply(agent, event->request, doc, state);
}

static void on_messages(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    (void)link;
    yyjson_val *limit = yyjson_obj_get(event->value, "limit");
    if (limit && !yyjson_is_num(limit) && !yyjson_is_null(limit)) {
        dx__autohand_serve_error(agent, event->request, DX_CODE_PARAMS,
                                 dx_str("Invalid parameter: limit"));
        return;
    }
    double wanted = yyjson_get_num(limit);
    yyjson_mut_doc *doc = new_doc(agent);
    yyjson_mut_val *result = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *list = NULL;
    if (result)
        list = dx__autohand_history_list(agent, doc,
                                         wanted >= 1 ? wanted < 1e9 ? (size_t)wanted : 0 : 0);
    if (!list || !yyjson_mut_obj_add_val(doc, result, "messages", list))
        result = NULL;
    dx__autohand_serve_reply(agent, event->request, doc, result);
}

/* A new session. What waits for a decision still does. */
static void on_reset(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    struct dx__autohand_occasion end = dx__autohand_occasion_of(DX__HOOK_SESSION_END);
    struct dx__autohand_occasion start = dx__autohand_occasion_of(DX__HOOK_SESSION_START);
    (void)link;
    dx__autohand_agent_enter(agent);
    if (agent->turn)
        dx__autohand_turn_abort(agent->turn, false, 0);
    agent->was_aborted = false;
    end.end_reason = dx_str("clear");
    end.duration_ms = (double)dx__autohand_core_since(agent, agent->began_ms);
    dx__autohand_agent_occasion(agent, &end);
    if (dx__autohand_agent_session(agent) != DX_OK) {
        dx__autohand_serve_error(agent, event->request, DX_CODE_INTERNAL, dx_str("out of memory"));
    } else {
        dx__autohand_rules_forget_session(agent->rules);
        dx__autohand_tell_agent_start(agent, true);
        start.session_type = dx_str("clear");
        dx__autohand_agent_occasion(agent, &start);
        yyjson_mut_doc *doc = new_doc(agent);
        yyjson_mut_val *result = doc ? yyjson_mut_obj(doc) : NULL;
        if (result && !yyjson_mut_obj_add_str(doc, result, "sessionId", agent->session))
            result = NULL;
        dx__autohand_serve_reply(agent, event->request, doc, result);
    }
    dx__autohand_agent_exit(agent);
}

static void on_acknowledged(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    (void)link;
    dx_text id = dx__autohand_core_member(event->value, "requestId");
    if (!id.len)
        dx__autohand_serve_error(agent, event->request, DX_CODE_PARAMS,
                                 dx_str("Missing required parameter: requestId"));
    else
        dx__autohand_serve_success(agent, event->request,
                                   dx__autohand_question_acknowledge(agent, id));
}

static void on_response(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    (void)link;
    dx_text id = dx__autohand_core_member(event->value, "requestId");
    bool decided = yyjson_is_bool(yyjson_obj_get(event->value, "allowed")) ||
                   yyjson_is_str(yyjson_obj_get(event->value, "decision"));
    if (!id.len || !decided)
        dx__autohand_serve_error(agent, event->request, DX_CODE_PARAMS,
                                 dx_str("Missing required parameters: requestId, allowed"));
    else
        dx__autohand_serve_success(agent, event->request,
                                   dx__autohand_question_answer(agent, event->value));
}

const dx_handler dx__autohand_handlers[] = {
    {"autohand.prompt", dx__autohand_serve_prompt},
    {"autohand.abort", on_abort},
    {"autohand.reset", on_reset},
    {"autohand.getState", on_state},
    {"autohand.getMessages", on_messages},
    {"autohand.permissionResponse", on_response},
    {"autohand.permissionAcknowledged", on_acknowledged},
    {"autohand.changesDecision", dx__autohand_serve_decision},
    {NULL, NULL},
};
