/* What comes, and which rule it is for. */
#include "cli/mock/mock.h"
#include "cli/mock/task.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

dx_side mock_other_side(const struct mock *mock) {
    return mock->side == DX_SIDE_HOST ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
}

void mock_moved(struct mock *mock, const char *method, dx_side from, dx_move move) {
    mock->state = dx_protocol_next(mock->protocol, mock->state, dx_str(method), from, move);
}

/* The handshake, as the plugin sees it, or as it stands in a host's trace. */
void mock_greet_by(struct mock *mock, const char *method, bool is_notification) {
    bool follows = mock->side == DX_SIDE_PLUGIN || mock->trace;
    if (!follows || mock->greeted || !mock->step || !mock->step->method ||
        strcmp(mock->step->method, method) != 0 || !mock->step->notification != !is_notification)
        return;
    mock->met = true;
    mock->step++;
    if (!mock->step->method)
        mock_greeted(mock);
}

/* Some hosts leave its last word out. */
static void greet_anyway(struct mock *mock, const mock_message *message) {
    if (mock->side != DX_SIDE_PLUGIN || mock->greeted || !mock->met)
        return;
    for (const dx_step *step = dx_protocol_facts_of(mock->protocol)->start; step && step->method;
         step++)
        if (strcmp(step->method, message->method) == 0)
            return;
    if (message->kind == MOCK_REQUEST)
        mock_greeted(mock);
}

/* Hearing. */

static void hear_answer(struct mock *mock, dx_text text, const dx_message *parts) {
    dx_text id = {parts->id.len ? text.at + parts->id.at : "null",
                  parts->id.len ? parts->id.len : 4};
    struct mock_call *call = mock_call_find(mock, id);
    mock_message *message =
        mock_message_new(mock, text, parts, call && call->method ? call->method : "");
    if (!message) {
        mock_fail(mock, CLI_NO_START, "out of memory");
        return;
    }
    mock_asking asking = call ? call->asking : MOCK_ASKED;
    bool good = message->kind == MOCK_RESULT;
    yyjson_val *actions = !call ? NULL : good ? call->then : call->otherwise;
    mock_message *about = mock_message_ref(call ? call->about : NULL);
    if (call) {
        mock_moved(mock, call->method, mock->side, good ? DX_MOVE_RESULT : DX_MOVE_ERROR);
        if (good && call->method && mock->side == DX_SIDE_HOST)
            mock_greet_by(mock, call->method, false);
        mock_call_free(call);
    }
    mock_rule *rule = actions ? NULL : mock_script_find(mock->script, message);
    mock_entry *entry = mock->trace ? mock_trace_find(mock->trace, message) : NULL;
    if (actions)
        mock_do(mock, actions, about, message, 0);
    else if (rule)
        mock_do(mock, rule->actions, about, message, rule->used);
    else if (entry)
        mock_play(mock, entry, NULL);
    mock_tasks_replied(mock);
    if (asking == MOCK_STEP && good)
        mock_take_step(mock);
    else if (asking == MOCK_STEP)
        mock_fail(mock, CLI_REFUSED, "the plugin refused %s: %.*s", message->method,
                  message->body.len < 300 ? (int)message->body.len : 300, message->body.at);
    else if (asking == MOCK_GOODBYE)
        mock_leave(mock);
    mock_message_unref(about);
    mock_message_unref(message);
}

static bool is_about(const mock_message *message, dx_text id) {
    return message && message->kind == MOCK_REQUEST && message->id.len == id.len &&
           memcmp(message->id.at, id.at, id.len) == 0;
}

/* A request that is still worked on. */
static mock_message *find_open(struct mock *mock, dx_text id) {
    for (struct mock_task *task = mock->tasks; task; task = task->next)
        if (is_about(task->about, id))
            return task->about;
    for (struct mock_call *call = mock->calls; call; call = call->next)
        if (is_about(call->about, id))
            return call->about;
    return NULL;
}

/* The other side takes a request back; false: this is no such thing. */
static bool hear_cancel(struct mock *mock, mock_message *message) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(mock->protocol);
    if (!facts->cancel_method || strcmp(facts->cancel_method, message->method) != 0)
        return false;
    dx_text id = dx_rpc_member(message->body, dx_str(facts->cancel_id));
    mock_message *open = id.at ? find_open(mock, id) : NULL;
    if (!open || open->answered || mock_fault_now(mock, MOCK_FAULT_CANCEL_IGNORED, NULL))
        return true;
    mock_message_ref(open);
    open->answered = true;
    for (struct mock_call *call = mock->calls; call; call = call->next)
        if (call->about == open) {
            call->about = mock_message_unref(open);
            call->then = call->otherwise = NULL;
        }
    mock_tasks_drop(mock, open);
    if (facts->cancel_answered)
        mock_refuse(mock, NULL, open, facts->cancel_code, "cancelled");
    mock_message_unref(open);
    return true;
}

/* What nobody has a rule for. */
static void hear_otherwise(struct mock *mock, mock_message *message) {
    const char *goodbye = dx_protocol_facts_of(mock->protocol)->stop_notify;
    if (message->kind == MOCK_REQUEST) {
        message->answered = true;
        mock_answer_otherwise(mock, NULL, message);
        return;
    }
    if (hear_cancel(mock, message))
        return;
    if (mock_fault_now(mock, MOCK_FAULT_ANSWERS_NOTICE, message->method))
        mock_result(mock, NULL, message, dx_str("null"));
    if (goodbye && strcmp(goodbye, message->method) == 0 && mock->side == DX_SIDE_PLUGIN &&
        mock->has_protocol && !mock->deaf_to_end)
        mock_die(mock, CLI_OK, 0);
}

static void hear_message(struct mock *mock, dx_text text, const dx_message *parts) {
    mock_message *message = mock_message_new(mock, text, parts, NULL);
    if (!message) {
        mock_fail(mock, CLI_NO_START, "out of memory");
        return;
    }
    dx_text method = {message->method, message->method_len};
    message->batch = mock_batch_join(mock->batch);
    if (mock->has_protocol && message->kind == MOCK_REQUEST &&
        dx_protocol_may(mock->protocol, mock->state, method, mock_other_side(mock),
                        &message->refusal, &message->refusal_text) != DX_LEAVE_NO)
        message->refusal = 0;
    if (message->refusal && !message->refusal_text)
        message->refusal_text = "not allowed now";
    if (!message->refusal) {
        mock_moved(mock, message->method, mock_other_side(mock), DX_MOVE_SENT);
        if (message->kind == MOCK_NOTIFICATION)
            mock_greet_by(mock, message->method, true);
        greet_anyway(mock, message);
    }
    mock_rule *rule = mock_script_find(mock->script, message);
    mock_entry *entry = mock->trace ? mock_trace_find(mock->trace, message) : NULL;
    if (rule)
        mock_do(mock, rule->actions, message, NULL, rule->used);
    else if (entry)
        mock_play(mock, entry, message);
    else
        hear_otherwise(mock, message);
    mock_message_unref(message);
}

static void say_wrong(struct mock *mock, dx_text text) {
    if (mock->batch)
        mock_batch_add(mock->batch, text);
    else
        mock_say(mock, NULL, text);
}

/* What is no message is answered as the specification asks; a host stays silent where the text is
 * no JSON at all. */
static void hear_wrong(struct mock *mock, dx_text text, const dx_message *parts) {
    bool is_json = parts->kind != DX_KIND_NONE || parts->fault == DX_FAULT_NOT_A_MESSAGE;
    bool asks = parts->method.len || parts->kind == DX_KIND_REQUEST || !is_json || mock->batch;
    char error[160];
    dx_text id = {parts->id.len ? text.at + parts->id.at : "null",
                  parts->id.len ? parts->id.len : 4};
    if (mock->otherwise == MOCK_IGNORE || !asks || (!is_json && mock->side == DX_SIDE_HOST))
        return;
    if (parts->fault == DX_FAULT_ID_TYPE)
        id = dx_str("null");
    snprintf(error, sizeof error, ",\"error\":{\"code\":%d,\"message\":\"%s\",\"data\":\"%s\"}}",
             is_json ? DX_CODE_REQUEST : DX_CODE_PARSE, is_json ? "Invalid Request" : "Parse error",
             dx_fault_name(parts->fault));
    dx_buf answer_text;
    dx_buf_init(&answer_text, SIZE_MAX / 2, NULL);
    if (dx_buf_append(&answer_text, "{\"jsonrpc\":\"2.0\",\"id\":", 22) == DX_OK &&
        dx_buf_append(&answer_text, id.at, id.len) == DX_OK &&
        dx_buf_append(&answer_text, error, strlen(error)) == DX_OK)
        say_wrong(mock, (dx_text){answer_text.data, answer_text.len});
    dx_buf_done(&answer_text);
}

static void hear_one(struct mock *mock, dx_text text, const dx_message *parts) {
    if (parts->fault)
        hear_wrong(mock, text, parts);
    else if (parts->kind == DX_KIND_RESPONSE)
        hear_answer(mock, text, parts);
    else
        hear_message(mock, text, parts);
}

void mock_hear(struct mock *mock, dx_text text) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(mock->protocol);
    dx_message parts;
    dx_message element;
    uint32_t cursor = 0;
    if (mock->held) {
        mock_say(mock, NULL, (dx_text){mock->held, mock->held_len});
        free(mock->held);
        mock->held = NULL;
    }
    dx_rpc_scan(text, DX_DEPTH_MAX, facts->lenient, &parts);
    if (parts.kind != DX_KIND_BATCH || parts.fault) {
        hear_one(mock, text, &parts);
        return;
    }
    bool is_empty =
        dx_rpc_element(text, &parts, DX_DEPTH_MAX, facts->lenient, &cursor, &element) != DX_OK;
    cursor = 0;
    if (!facts->batch || is_empty) {
        parts.fault = facts->batch ? DX_FAULT_BATCH_EMPTY : DX_FAULT_BATCH;
        parts.method.len = 1; /* it asks for an answer */
        hear_wrong(mock, text, &parts);
        return;
    }
    /* A fault is in one answer, not in many. */
    mock->batch = mock->use_count ? NULL : mock_batch_new(mock);
    while (!mock->over &&
           dx_rpc_element(text, &parts, DX_DEPTH_MAX, facts->lenient, &cursor, &element) == DX_OK)
        hear_one(mock, text, &element);
    struct mock_batch *batch = mock->batch;
    mock->batch = NULL;
    mock_batch_leave(batch);
}
