/* The conversation: what comes, and how it ends. */
#include "systems/autohand/client_parts.h"

void dx__autohand_client_violation(dx_autohand_client *client, const char *phrase) {
    if (!client->freed && client->config.on_violation)
        client->config.on_violation(client, phrase, client->config.user);
}

/* What comes. */

/* Agents differ, and what can be understood is: that it does not fit the document is only told. */
static void check(dx_autohand_client *client, const dx_event *event) {
    const dx_method *method = dx_protocol_find(client->protocol, event->method);
    char phrase[sizeof((dx_misfit *)0)->phrase + 80] = "";
    dx_misfit why;
    if (!method || dx_protocol_check(client->protocol, method, DX_SIDE_PLUGIN, DX_PART_PARAMS,
                                     event->value, DX_CHECK_OPEN, &why) != DX_MISFIT)
        return;
    dx__say(phrase, 80, event->method);
    dx__say_str(phrase, sizeof phrase, ": ");
    dx__say_str(phrase, sizeof phrase, why.phrase);
    dx__autohand_client_violation(client, phrase);
}

/* An error for no request. Before agentStart it is the last that an agent says that can't start,
 * and on_gone tells it. */
static void on_null_error(dx_autohand_client *client, const dx_event *event) {
    char phrase[sizeof client->error.phrase] = "";
    yyjson_alc alc = dx__autohand_client_alc(client);
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)event->message.at, event->message.len, 0, &alc, NULL);
    dx_text message =
        dx__autohand_client_text(yyjson_obj_get(yyjson_doc_get_root(doc), "error"), "message");
    dx__say_str(phrase, sizeof phrase,
                client->ready ? "the agent could not read a message: "
                              : "the agent cannot start: ");
    dx__say(phrase, sizeof phrase, message.at ? message : dx_str(event->error.phrase));
    yyjson_doc_free(doc);
    if (!client->ready && client->error.fault == DX_FAULT_NONE && !client->stopping)
        dx__autohand_client_set_error(&client->error, DX_FAULT_START, phrase);
    else
        dx__autohand_client_violation(client, phrase);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_client *client = user;
    if (client->freed)
        return;
    dx__autohand_client_enter(client);
    switch (event->kind) {
    case DX_EVENT_REQUEST:
        (void)dx_link_refuse(link, event->request, DX_CODE_METHOD, dx_str(NULL), dx_json_none());
        break;
    case DX_EVENT_NOTIFICATION:
        check(client, event);
        if (!client->freed)
            dx__autohand_client_heed(client, event->method, event->value);
        break;
    case DX_EVENT_STRAY:
        if (client->config.on_stray)
            client->config.on_stray(client, event->message, client->config.user);
        break;
    case DX_EVENT_VIOLATION:
        if (event->error.fault == DX_FAULT_ID_NULL)
            on_null_error(client, event);
        else
            dx__autohand_client_violation(client, event->error.phrase);
        break;
    default:
        break;
    }
    dx__autohand_client_leave(client);
}

static void on_errors(dx_child *child, dx_text line, void *user) {
    dx_autohand_client *client = user;
    (void)child;
    if (client->freed || !client->config.on_errors)
        return;
    dx__autohand_client_enter(client);
    client->config.on_errors(client, line, client->config.user);
    dx__autohand_client_leave(client);
}

/* The end. */

/* It is on its way out: on_gone() comes. */
static void on_closed(dx_child *child, const dx_error *why, void *user) {
    dx_autohand_client *client = user;
    (void)child;
    if (client->freed || client->error.fault != DX_FAULT_NONE)
        return;
    if (why->fault != DX_FAULT_NONE)
        client->error = *why;
    else
        dx__autohand_client_set_error(&client->error, DX_FAULT_ENDED,
                                      "the agent closed its output");
}

static void on_gone(dx_child *child, const dx_gone *told, void *user) {
    dx_autohand_client *client = user;
    dx_gone gone = *told;
    dx__autohand_client_enter(client);
    client->gone = true;
    client->child = NULL;
    if (client->error.fault != DX_FAULT_NONE)
        gone.error = client->error;
    else if (!client->ready && !client->stopping && gone.error.fault == DX_FAULT_NONE)
        dx__autohand_client_set_error(&gone.error, DX_FAULT_ENDED,
                                      "the agent exited before it was ready");
    if (!client->freed)
        dx__autohand_client_turn_over(client, gone.error.fault ? gone.error.phrase
                                                               : "the agent has"
                                                                 " exited");
    if (!client->freed && client->config.on_gone)
        client->config.on_gone(client, &gone, client->config.user);
    dx_child_free(child);
    dx__autohand_client_leave(client);
}

dx_child_config dx__autohand_client_child(dx_autohand_client *client) {
    dx_child_config child = client->config.child;
    child.link.peer.allocator = &client->alloc;
    child.link.peer.flags |= DX_PEER_BATCH;
    child.link.peer.protocol = NULL;
    child.link.handlers = NULL;
    child.link.on_event = on_event;
    child.link.user = client;
    if (client->config.recorder)
        child.link.recorder = client->config.recorder;
    child.on_gone = on_gone;
    child.on_closed = on_closed;
    child.on_errors = on_errors;
    child.user = client;
    return child;
}
