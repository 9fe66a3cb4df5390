/* What we answer, and the books of what we asked. */
#include "cli/input.h"
#include "cli/mock/mock.h"
#include "cli/mock/task.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 10000, PATIENCE_MS = 30000 };

static bool put(dx_buf *buf, dx_text text) {
    return dx_buf_append(buf, text.at, text.len) == DX_OK;
}

static void answer(struct mock *mock, struct mock_task *task, mock_message *about,
                   const char *member, dx_text body) {
    dx_buf text;
    dx_text id = about->id.at ? about->id : dx_str("null");
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    bool good = put(&text, dx_str("{\"jsonrpc\":\"2.0\",\"id\":")) && put(&text, id) &&
                put(&text, dx_str(member)) && put(&text, body) && put(&text, dx_str("}"));
    about->answered = true;
    if (!good)
        mock_fail(mock, CLI_NO_START, "out of memory");
    else if (about->batch)
        mock_batch_add(about->batch, (dx_text){text.data, text.len});
    else
        mock_deliver(mock, task, about, (dx_text){text.data, text.len}, true);
    dx_buf_done(&text);
}

void mock_result(struct mock *mock, struct mock_task *task, mock_message *about, dx_text result) {
    answer(mock, task, about, ",\"result\":", result);
    if (about->kind == MOCK_REQUEST) {
        mock_moved(mock, about->method, mock_other_side(mock), DX_MOVE_RESULT);
        mock_greet_by(mock, about->method, false);
    }
}

void mock_error(struct mock *mock, struct mock_task *task, mock_message *about, dx_text error) {
    answer(mock, task, about, ",\"error\":", error);
    if (about->kind == MOCK_REQUEST)
        mock_moved(mock, about->method, mock_other_side(mock), DX_MOVE_ERROR);
}

void mock_refuse(struct mock *mock, struct mock_task *task, mock_message *about, int64_t code,
                 const char *text) {
    dx_buf error;
    char head[64];
    snprintf(head, sizeof head, "{\"code\":%lld,\"message\":", (long long)code);
    dx_buf_init(&error, 1 << 20, NULL);
    if (put(&error, dx_str(head)) && dx_json_write_string(&error, dx_str(text)) == DX_OK &&
        put(&error, dx_str("}")))
        mock_error(mock, task, about, (dx_text){error.data, error.len});
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    dx_buf_done(&error);
}

/* "duplex mock" as a peer that keeps its protocol. */
static bool params_fit(struct mock *mock, const dx_method *method, const mock_message *about,
                       dx_misfit *reterr) {
    yyjson_doc *doc = about->body.at ? yyjson_read(about->body.at, about->body.len, 0) : NULL;
    bool fits = (!about->body.at || doc) &&
                dx_protocol_check(mock->protocol, method, mock_other_side(mock), DX_PART_PARAMS,
                                  yyjson_doc_get_root(doc), DX_CHECK_OPEN, reterr) == DX_OK;
    yyjson_doc_free(doc);
    return fits;
}

static void answer_by_document(struct mock *mock, struct mock_task *task, mock_message *about) {
    const dx_method *method =
        dx_protocol_find(mock->protocol, (dx_text){about->method, about->method_len});
    bool sends = method && !method->notification &&
                 (mock_other_side(mock) == DX_SIDE_HOST ? method->from_host : method->from_plugin);
    dx_misfit why = {.phrase = "they are not valid JSON"};
    char text[600];
    bool early = about->refusal && about->refusal != DX_CODE_METHOD;
    if (early && !mock_fault_now(mock, MOCK_FAULT_SERVES_EARLY, about->method)) {
        mock_refuse(mock, task, about, about->refusal, about->refusal_text);
        return;
    }
    if ((!sends || (about->refusal && !early)) &&
        !mock_fault_now(mock, MOCK_FAULT_ANSWERS_UNKNOWN, about->method)) {
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
        mock_refuse(mock, task, about, DX_CODE_INTERNAL, "the protocol document has no example");
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
        mock_fail(mock, CLI_LATE, "%s: timed out, no response", call->method);
    mock_call_free(call);
    if (asking == MOCK_GOODBYE)
        mock_leave(mock);
}

static bool write_call(const struct mock_ask *ask, dx_buf *text) {
    bool good = put(text, dx_str("{\"jsonrpc\":\"2.0\",\"id\":")) && put(text, ask->id) &&
                put(text, dx_str(",\"method\":")) &&
                dx_json_write_string(text, ask->method) == DX_OK;
    if (good && ask->params.at)
        good = put(text, dx_str(",\"params\":")) && put(text, ask->params);
    return good && put(text, dx_str("}"));
}

struct mock_call *mock_expect(struct mock *mock, const struct mock_ask *ask) {
    if (mock->over)
        return NULL;
    if (mock->call_count >= CALLS_MAX) {
        mock_fail(mock, CLI_LATE, "more than %d requests have no response", CALLS_MAX);
        return NULL;
    }
    struct mock_call *call = calloc(1, sizeof *call);
    if (!call) {
        mock_fail(mock, CLI_NO_START, "out of memory");
        return NULL;
    }
    *call = (struct mock_call){.next = mock->calls,
                               .mock = mock,
                               .asking = ask->asking,
                               .id = cli_text_copy(ask->id),
                               .method = cli_text_copy(ask->method),
                               .about = mock_message_ref(ask->about),
                               .then = ask->then,
                               .otherwise = ask->otherwise};
    mock->calls = call;
    mock->call_count++;
    if (!call->id || !call->method ||
        dx_timer_new(mock->loop, on_late, call, &call->timer) != DX_OK) {
        mock_fail(mock, CLI_NO_START, "out of memory");
        mock_call_free(call);
        return NULL;
    }
    dx_timer_set(call->timer, ask->timeout_ms);
    mock_moved(mock, call->method, mock->side, DX_MOVE_SENT);
    return call;
}

bool mock_call(struct mock *mock, struct mock_task *task, const struct mock_ask *ask) {
    char number[24];
    struct mock_ask asked = *ask;
    dx_buf text;
    snprintf(number, sizeof number, "%llu", (unsigned long long)++mock->last_id);
    if (!asked.id.at)
        asked.id = dx_str(number);
    if (!mock_expect(mock, &asked))
        return false;
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    bool good = write_call(&asked, &text);
    if (good)
        mock_deliver(mock, task, NULL, (dx_text){text.data, text.len}, false);
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    dx_buf_done(&text);
    return good;
}

void mock_notify(struct mock *mock, struct mock_task *task, dx_text method, dx_text params) {
    dx_buf text;
    char *name = cli_text_copy(method);
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    bool good = name && put(&text, dx_str("{\"jsonrpc\":\"2.0\",\"method\":")) &&
                dx_json_write_string(&text, method) == DX_OK;
    if (good && params.at)
        good = put(&text, dx_str(",\"params\":")) && put(&text, params);
    good = good && put(&text, dx_str("}"));
    if (!good)
        mock_fail(mock, CLI_NO_START, "out of memory");
    else {
        mock_moved(mock, name, mock->side, DX_MOVE_SENT);
        mock_deliver(mock, task, NULL, (dx_text){text.data, text.len}, false);
    }
    free(name);
    dx_buf_done(&text);
}

uint64_t mock_patience(const struct mock *mock) {
    if (mock->options->timeout_ms)
        return mock->options->timeout_ms;
    if (mock->script && mock->script->timeout_ms)
        return mock->script->timeout_ms;
    return mock->side == DX_SIDE_HOST ? PATIENCE_MS : DX_NEVER;
}
