/* Calls that have an answer for the user. */
#include "systems/autohand/client_parts.h"

#include <stdio.h>

typedef struct dx__autohand_client_call call;

yyjson_mut_doc *dx__autohand_client_object(const dx_autohand_client *client) {
    yyjson_alc alc = dx__autohand_client_alc(client);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    if (doc)
        yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    return doc;
}

void dx__autohand_client_explain(const dx_event *event, dx_error *ret_error) {
    dx_text message = dx__autohand_client_text(event->value, "message");
    char code[40];
    *ret_error = event->error;
    if (event->outcome != DX_OUTCOME_ERROR)
        return;
    *ret_error = (dx_error){.fault = DX_FAULT_NONE, .place = "error"};
    snprintf(code, sizeof code, " (%lld)", (long long)event->code);
    dx__say(ret_error->phrase, sizeof ret_error->phrase - sizeof code,
            message.at ? message : dx_str("an error"));
    dx__say_str(ret_error->phrase, sizeof ret_error->phrase, code);
}

static void forget(call *one) {
    dx_autohand_client *client = one->client;
    if (one->prev)
        one->prev->next = one->next;
    else
        client->calls = one->next;
    if (one->next)
        one->next->prev = one->prev;
    dx__free(&client->alloc, one);
}

void dx__autohand_client_calls_free(dx_autohand_client *client) {
    while (client->calls)
        forget(client->calls);
}

/* It says whether there was a turn; one that says no has none, whatever we believe. */
static void after_abort(dx_autohand_client *client, const call *one, const dx_event *event) {
    if (one->turn != client->turn.number || !dx__autohand_client_runs(client))
        return;
    if (yyjson_is_true(yyjson_obj_get(event->value, "success")))
        client->turn.aborted = true;
    else
        dx__autohand_client_turn_due(client, DX__AUTOHAND_SETTLE_MS);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    call one = *(call *)user;
    dx_autohand_client *client = one.client;
    dx_error error;
    (void)link;
    forget(user);
    if (client->freed)
        return;
    dx__autohand_client_enter(client);
    if (one.is_abort && event->outcome != DX_OUTCOME_LOST)
        after_abort(client, &one, event);
    dx__autohand_client_explain(event, &error);
    if (one.on_answer)
        one.on_answer(client, event->outcome == DX_OUTCOME_RESULT ? event->value : NULL,
                      event->outcome == DX_OUTCOME_RESULT ? NULL : &error, one.user);
    dx__autohand_client_leave(client);
}

static dx_status say(dx_autohand_client *client, const char *method, yyjson_mut_doc *params,
                     const call *wanted) {
    call *one = dx__malloc(&client->alloc, sizeof *one);
    dx_link_call_options options = {.on_done = on_done};
    if (!one)
        return DX_ERR_NOMEM;
    *one = *wanted;
    options.peer.timeout_ms = client->config.call_ms;
    options.peer.user = one;
    dx_status status = dx_link_call(
        dx_autohand_client_link(client), dx_str(method),
        params ? dx_json_built(yyjson_mut_doc_get_root(params)) : dx_json_none(), &options, NULL);
    if (status != DX_OK) {
        dx__free(&client->alloc, one);
        return status;
    }
    one->next = client->calls;
    if (one->next)
        one->next->prev = one;
    client->calls = one;
    return DX_OK;
}

dx_status dx__autohand_client_call(dx_autohand_client *client, const char *method,
                                   yyjson_mut_doc *params, dx_autohand_answer *on_answer,
                                   void *user) {
    call wanted = {.client = client, .on_answer = on_answer, .user = user};
    dx_status status =
        client->gone || client->freed ? DX_CLOSED : say(client, method, params, &wanted);
    yyjson_mut_doc_free(params);
    return status;
}

dx_status dx__autohand_client_say_abort(dx_autohand_client *client) {
    call wanted = {.client = client, .is_abort = true, .turn = client->turn.number};
    return say(client, "autohand.abort", NULL, &wanted);
}

/* What is asked for. */

dx_status dx_autohand_client_state(dx_autohand_client *client, dx_autohand_answer *on_answer,
                                   void *user) {
    return dx__autohand_client_call(client, "autohand.getState", NULL, on_answer, user);
}

dx_status dx_autohand_client_messages(dx_autohand_client *client, unsigned limit,
                                      dx_autohand_answer *on_answer, void *user) {
    yyjson_mut_doc *doc = NULL;
    if (limit) {
        doc = dx__autohand_client_object(client);
        if (!yyjson_mut_obj_add_uint(doc, yyjson_mut_doc_get_root(doc), "limit", limit)) {
            yyjson_mut_doc_free(doc);
            return DX_ERR_NOMEM;
        }
    }
    return dx__autohand_client_call(client, "autohand.getMessages", doc, on_answer, user);
}

dx_status dx_autohand_client_reset(dx_autohand_client *client, dx_autohand_answer *on_answer,
                                   void *user) {
    return dx__autohand_client_call(client, "autohand.reset", NULL, on_answer, user);
}
