/* What comes: which rule it is for, what is answered if there is none, and the books of what we
 * asked. */
#include "cli/mock/mock.h"
#include "cli/mock/task.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 10000 };

static dx_side other_side(const struct mock *mock) {
    return mock->side == DX_SIDE_HOST ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
}

void mock_moved(struct mock *mock, const char *method, dx_side from, dx_move move) {
    mock->state = dx_protocol_next(mock->protocol, mock->state, dx_str(method), from, move);
}

/* The handshake, as the plugin sees it. */
static void greet_by(struct mock *mock, const char *method, bool is_notification) {
    if (mock->side != DX_SIDE_PLUGIN || !mock->step || !mock->step->method ||
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

/* Answering. */

static void answer(struct mock *mock, struct mock_task *task, mock_message *about,
                   const char *member, dx_text body) {
    dx_buf text;
    dx_text id = about->id.at ? about->id : dx_str("null");
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    bool good = dx_buf_append(&text, "{\"jsonrpc\":\"2.0\",\"id\":", 22) == DX_OK &&
                dx_buf_append(&text, id.at, id.len) == DX_OK &&
                dx_buf_append(&text, member, strlen(member)) == DX_OK &&
                dx_buf_append(&text, body.at, body.len) == DX_OK &&
                dx_buf_append(&text, "}", 1) == DX_OK;
    about->answered = true;
    if (!good)
        mock_fail(mock, CLI_NO_START, "no memory");
    else
        mock_deliver(mock, task, about, (dx_text){text.data, text.len}, true);
    dx_buf_done(&text);
}

void mock_result(struct mock *mock, struct mock_task *task, mock_message *about, dx_text result) {
    answer(mock, task, about, ",\"result\":", result);
    if (about->kind == MOCK_REQUEST) {
        mock_moved(mock, about->method, other_side(mock), DX_MOVE_RESULT);
        greet_by(mock, about->method, false);
    }
}

void mock_error(struct mock *mock, struct mock_task *task, mock_message *about, dx_text error) {
    answer(mock, task, about, ",\"error\":", error);
    if (about->kind == MOCK_REQUEST)
        mock_moved(mock, about->method, other_side(mock), DX_MOVE_ERROR);
}

void mock_refuse(struct mock *mock, struct mock_task *task, mock_message *about, int64_t code,
                 const char *text) {
    dx_buf error;
    char head[64];
    snprintf(head, sizeof head, "{\"code\":%lld,\"message\":", (long long)code);
    dx_buf_init(&error, 1 << 20, NULL);
    if (dx_buf_append(&error, head, strlen(head)) == DX_OK &&
        dx_json_write_string(&error, dx_str(text)) == DX_OK &&
        dx_buf_append(&error, "}", 1) == DX_OK)
        mock_error(mock, task, about, (dx_text){error.data, error.len});
    else
        mock_fail(mock, CLI_NO_START, "no memory");
    dx_buf_done(&error);
}

/* "duplex mock" as a peer that keeps its protocol. */
static bool params_fit(struct mock *mock, const dx_method *method, const mock_message *about,
                       dx_misfit *reterr) {
    yyjson_doc *doc = about->body.at ? yyjson_read(about->body.at, about->body.len, 0) : NULL;
    bool fits = (!about->body.at || doc) &&
                dx_protocol_check(mock->protocol, method, other_side(mock), DX_PART_PARAMS,
                                  yyjson_doc_get_root(doc), DX_CHECK_OPEN, reterr) == DX_OK;
    yyjson_doc_free(doc);
    return fits;
}

static void answer_by_document(struct mock *mock, struct mock_task *task, mock_message *about) {
    const dx_method *method =
        dx_protocol_find(mock->protocol, (dx_text){about->method, about->method_len});
    bool sends = method && !method->notification &&
                 (other_side(mock) == DX_SIDE_HOST ? method->from_host : method->from_plugin);
    dx_misfit why = {.phrase = "can't be read"};
    char text[600];
    if (about->refusal && !mock_fault_now(mock, MOCK_FAULT_SERVES_EARLY, about->method)) {
        mock_refuse(mock, task, about, about->refusal, about->refusal_text);
        return;
    }
    if (!sends && !mock_fault_now(mock, MOCK_FAULT_ANSWERS_UNKNOWN, about->method)) {
        mock_refuse(mock, task, about, DX_CODE_METHOD, "Method not found");
        return;
    }
    if (sends && !mock_fault_now(mock, MOCK_FAULT_PARAMS_TAKEN, about->method) &&
        !params_fit(mock, method, about, &why)) {
        snprintf(text, sizeof text, "Invalid params: %s", why.phrase);
        mock_refuse(mock, task, about, DX_CODE_PARAMS, text);
        return;
    }
    dx_buf result;
    dx_buf_init(&result, 1 << 20, NULL);
    if (mock_example_result(mock, about, &result))
        mock_result(mock, task, about, (dx_text){result.data, result.len});
    else
        mock_refuse(mock, task, about, DX_CODE_INTERNAL, "the document has no example");
    dx_buf_done(&result);
}

void mock_answer_otherwise(struct mock *mock, struct mock_task *task, mock_message *about) {
    if (mock->over || mock->dying)
        return;
    switch (mock->otherwise) {
    case MOCK_IGNORE:
        about->answered = true;
        break;
    case MOCK_REFUSE:
        mock_refuse(mock, task, about, DX_CODE_METHOD, "Method not found");
        break;
    case MOCK_ECHO:
        mock_result(mock, task, about, about->body.at ? about->body : dx_str("null"));
        break;
    default:
        answer_by_document(mock, task, about);
    }
}

/* What we asked. */

void mock_call_free(struct mock_call *call) {
    struct mock_call **place = &call->mock->calls;
    while (*place && *place != call)
        place = &(*place)->next;
    if (*place) {
        *place = call->next;
        call->mock->call_count--;
    }
    mock_message *about = call->about;
    dx_timer_free(call->timer);
    free(call->id);
    free(call->method);
    free(call);
    mock_message_unref(about);
}

struct mock_call *mock_call_find(struct mock *mock, dx_text id) {
    struct mock_call *call = mock->calls;
    while (call && !dx_text_is(id, call->id))
        call = call->next;
    return call;
}

static void on_late(dx_timer *timer, void *user) {
    struct mock_call *call = user;
    struct mock *mock = call->mock;
    (void)timer;
    mock_asking asking = call->asking;
    if (asking == MOCK_ASKED || asking == MOCK_STEP)
        mock_fail(mock, CLI_LATE, "%s: no answer in time", call->method);
    mock_call_free(call);
    if (asking == MOCK_GOODBYE)
        mock_leave(mock);
}

static bool write_call(struct mock *mock, const struct mock_ask *ask, dx_text id, dx_buf *text) {
    (void)mock;
    bool good = dx_buf_append(text, "{\"jsonrpc\":\"2.0\",\"id\":", 22) == DX_OK &&
                dx_buf_append(text, id.at, id.len) == DX_OK &&
                dx_buf_append(text, ",\"method\":", 10) == DX_OK &&
                dx_json_write_string(text, ask->method) == DX_OK;
    if (good && ask->params.at)
        good = dx_buf_append(text, ",\"params\":", 10) == DX_OK &&
               dx_buf_append(text, ask->params.at, ask->params.len) == DX_OK;
    return good && dx_buf_append(text, "}", 1) == DX_OK;
}

struct mock_call *mock_call(struct mock *mock, struct mock_task *task, const struct mock_ask *ask) {
    char number[24];
    if (mock->over)
        return NULL;
    if (mock->call_count >= CALLS_MAX) {
        mock_fail(mock, CLI_LATE, "more than %d requests have no answer", CALLS_MAX);
        return NULL;
    }
    snprintf(number, sizeof number, "%llu", (unsigned long long)++mock->last_id);
    dx_text id = ask->id.at ? ask->id : dx_str(number);
    dx_buf text;
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    struct mock_call *call = calloc(1, sizeof *call);
    bool good = call && write_call(mock, ask, id, &text);
    if (call) {
        *call = (struct mock_call){.next = mock->calls,
                                   .mock = mock,
                                   .asking = ask->asking,
                                   .id = strndup(id.at, id.len),
                                   .method = strndup(ask->method.at, ask->method.len),
                                   .about = mock_message_ref(ask->about),
                                   .then = ask->then,
                                   .otherwise = ask->otherwise};
        mock->calls = call;
        mock->call_count++;
        good = good && call->id && call->method &&
               dx_timer_new(mock->loop, on_late, call, &call->timer) == DX_OK;
    }
    if (!good) {
        mock_fail(mock, CLI_NO_START, "no memory");
        if (call)
            mock_call_free(call);
        dx_buf_done(&text);
        return NULL;
    }
    dx_timer_set(call->timer, ask->timeout_ms);
    mock_moved(mock, call->method, mock->side, DX_MOVE_SENT);
    mock_deliver(mock, task, NULL, (dx_text){text.data, text.len}, false);
    dx_buf_done(&text);
    return call;
}

void mock_notify(struct mock *mock, struct mock_task *task, dx_text method, dx_text params) {
    dx_buf text;
    char *name = strndup(method.at, method.len);
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    bool good = name && dx_buf_append(&text, "{\"jsonrpc\":\"2.0\",\"method\":", 26) == DX_OK &&
                dx_json_write_string(&text, method) == DX_OK;
    if (good && params.at)
        good = dx_buf_append(&text, ",\"params\":", 10) == DX_OK &&
               dx_buf_append(&text, params.at, params.len) == DX_OK;
    good = good && dx_buf_append(&text, "}", 1) == DX_OK;
    if (!good)
        mock_fail(mock, CLI_NO_START, "no memory");
    else {
        mock_moved(mock, name, mock->side, DX_MOVE_SENT);
        mock_deliver(mock, task, NULL, (dx_text){text.data, text.len}, false);
    }
    free(name);
    dx_buf_done(&text);
}

/* Hearing. */

static void hear_answer(struct mock *mock, dx_text text, const dx_message *parts) {
    dx_text id = {parts->id.len ? text.at + parts->id.at : "null",
                  parts->id.len ? parts->id.len : 4};
    struct mock_call *call = mock_call_find(mock, id);
    mock_message *message =
        mock_message_new(mock, text, parts, call && call->method ? call->method : "");
    if (!message) {
        mock_fail(mock, CLI_NO_START, "no memory");
        return;
    }
    mock_asking asking = call ? call->asking : MOCK_ASKED;
    bool good = message->kind == MOCK_RESULT;
    yyjson_val *actions = !call ? NULL : good ? call->then : call->otherwise;
    mock_message *about = mock_message_ref(call ? call->about : NULL);
    if (call) {
        mock_moved(mock, call->method, mock->side, good ? DX_MOVE_RESULT : DX_MOVE_ERROR);
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
    if (!open || mock_fault_now(mock, MOCK_FAULT_CANCEL_IGNORED, NULL))
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
        mock_fail(mock, CLI_NO_START, "no memory");
        return;
    }
    dx_text method = {message->method, message->method_len};
    if (mock->has_protocol && message->kind == MOCK_REQUEST &&
        dx_protocol_may(mock->protocol, mock->state, method, other_side(mock), &message->refusal,
                        &message->refusal_text) != DX_LEAVE_NO)
        message->refusal = 0;
    if (message->refusal && !message->refusal_text)
        message->refusal_text = "not now";
    if (!message->refusal) {
        mock_moved(mock, message->method, other_side(mock), DX_MOVE_SENT);
        if (message->kind == MOCK_NOTIFICATION)
            greet_by(mock, message->method, true);
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

/* What is no message is answered as the specification asks; a host stays silent where the text is
 * no JSON at all. */
static void hear_wrong(struct mock *mock, dx_text text, const dx_message *parts) {
    bool is_json = parts->kind != DX_KIND_NONE || parts->fault == DX_FAULT_NOT_A_MESSAGE;
    bool asks = parts->method.len || parts->kind == DX_KIND_REQUEST || !is_json;
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
        mock_say(mock, NULL, (dx_text){answer_text.data, answer_text.len});
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
    if (!facts->batch) {
        parts.fault = DX_FAULT_BATCH;
        parts.method.len = 1; /* it asks for an answer */
        hear_wrong(mock, text, &parts);
        return;
    }
    while (!mock->over &&
           dx_rpc_element(text, &parts, DX_DEPTH_MAX, facts->lenient, &cursor, &element) == DX_OK)
        hear_one(mock, text, &element);
}
