/* What a client says that is no method of the agent's: other methods, faults, LSP's greetings. */
#include "systems/autohand/core_parts.h"

static void not_found(dx_autohand_agent *agent, const dx_event *event) {
    char text[300] = "Method not found: ";
    dx__say(text, sizeof text, event->method);
    dx__autohand_serve_error(agent, event->request, DX_CODE_METHOD, dx_str(text));
}

static void greet(dx_autohand_agent *agent, dx_request request) {
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *result = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *info = doc ? yyjson_mut_obj(doc) : NULL;
    if (!result || !info ||
        !yyjson_mut_obj_add_val(doc, result, "capabilities", yyjson_mut_obj(doc)) ||
        !yyjson_mut_obj_add_str(doc, info, "name", "duplex-autohand") ||
        !yyjson_mut_obj_add_str(doc, info, "version", dx_version()) ||
        !yyjson_mut_obj_add_val(doc, result, "serverInfo", info))
        result = NULL;
    dx__autohand_serve_reply(agent, request, doc, result);
}

/* In header framing it is a language client that speaks, and that greets before all else. */
static bool serve_greeting(dx_autohand_agent *agent, const dx_event *event) {
    bool asks = event->kind == DX_EVENT_REQUEST;
    if (!agent->in_headers)
        return false;
    if (asks && dx_text_is(event->method, "initialize")) {
        greet(agent, event->request);
        return true;
    }
    if (asks && dx_text_is(event->method, "shutdown")) {
        agent->is_shut_down = true;
        (void)dx_link_reply(agent->link, event->request, dx_json_text("null", 4));
        return true;
    }
    if (!asks && dx_text_is(event->method, "exit")) {
        agent->is_completed = agent->is_shut_down && !agent->turn;
        dx_autohand_agent_leave(agent);
        return true;
    }
    return false;
}

/* What was said so far was lines, which it could not read. */
static bool has_followed(dx_autohand_agent *agent, const dx_event *event) {
    if (event->error.fault != DX_FAULT_OTHER_FRAMING || agent->in_headers ||
        dx_link_framing(agent->link) != DX_FRAMING_HEADER)
        return false;
    agent->in_headers = true;
    dx__autohand_tell_agent_start(agent, false);
    return true;
}

void dx__autohand_serve_other(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    (void)link;
    switch (event->kind) {
    case DX_EVENT_REQUEST:
    case DX_EVENT_NOTIFICATION:
        if (!serve_greeting(agent, event) && event->kind == DX_EVENT_REQUEST)
            not_found(agent, event);
        return;
    case DX_EVENT_VIOLATION:
        if (!has_followed(agent, event))
            dx__autohand_log(agent, "warn", "from the client: %s", event->error.phrase);
        return;
    default:
        return;
    }
}

/* The texts are those that real clients know. */
void dx__autohand_serve_refuse(void *user, dx_refusal *refusal) {
    const dx_autohand_agent *agent = user;
    refusal->no_data = 1;
    if (!dx__autohand_core_is_doc(agent))
        refusal->no_id = 1;
    if (refusal->code == DX_CODE_PARSE)
        refusal->message = dx_str("Parse error: Invalid JSON");
    else if (refusal->code == DX_CODE_REQUEST && refusal->fault == DX_FAULT_BATCH)
        refusal->message = dx_str("Invalid batch: No valid requests");
    else if (refusal->fault == DX_FAULT_MESSAGE_LIMIT)
        refusal->message = dx_str("Invalid request: the message is too long");
    else if (refusal->code == DX_CODE_REQUEST && refusal->fault == DX_FAULT_ID_IN_USE)
        refusal->message = dx_str("Invalid request: the id is already in use");
    else if (refusal->code == DX_CODE_REQUEST)
        refusal->message = dx_str("Invalid request: Missing jsonrpc version or method");
}
