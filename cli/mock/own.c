/* What the protocol's document says that our side could say. */
#include "cli/describe/example.h"
#include "cli/mock/mock.h"

#include <stdlib.h>
#include <string.h>

static bool is_step(const dx_protocol_facts *facts, const char *name) {
    for (const dx_step *step = facts->start; step && step->method; step++)
        if (strcmp(step->method, name) == 0)
            return true;
    return false;
}

static bool is(const char *one, const char *two) {
    return one && strcmp(one, two) == 0;
}

/* Nothing that means more than a word: no part of the handshake or the goodbye. */
static bool is_harmless(const dx_protocol_facts *facts, const char *name) {
    return !is(facts->cancel_method, name) && !is(facts->progress_method, name) &&
           !is(facts->stop_call, name) && !is(facts->stop_notify, name) && !is_step(facts, name);
}

static bool example_fits(struct mock *mock, const dx_method *method, dx_side from, dx_part part,
                         const dx_buf *json) {
    yyjson_doc *doc = yyjson_read(json->data, json->len, 0);
    bool fits = doc && dx_protocol_check(mock->protocol, method, from, part,
                                         yyjson_doc_get_root(doc), 0, NULL) == DX_OK;
    yyjson_doc_free(doc);
    return fits;
}

static const dx_method *find_own(struct mock *mock, bool notification, bool bare, dx_buf *params) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(mock->protocol);
    const dx_method *method;
    /* Who speaks too early says what may not be said yet. */
    dx_leave wanted = mock->fault[MOCK_FAULT_EARLY] && !mock->greeted ? DX_LEAVE_NO : DX_LEAVE_YES;
    for (size_t i = 0; (method = dx_protocol_method(mock->protocol, i)); i++) {
        bool sends = mock->side == DX_SIDE_HOST ? method->from_host : method->from_plugin;
        bool needs = method->has_params[mock->side] && !method->optional[mock->side];
        if (!sends || (method->notification != 0) != notification || (bare && needs) ||
            !is_harmless(facts, method->name) ||
            dx_protocol_may_send(mock->protocol, mock->state, method, mock->side, NULL, NULL) !=
                wanted)
            continue;
        if (!needs)
            return method;
        params->len = 0;
        if (dx_protocol_example(mock->protocol, method, mock->side, DX_PART_PARAMS, params) ==
                DX_OK &&
            example_fits(mock, method, mock->side, DX_PART_PARAMS, params))
            return method;
        params->len = 0;
    }
    return NULL;
}

const char *mock_own_method(struct mock *mock, bool notification, dx_buf *params) {
    const dx_method *method =
        mock->has_protocol ? find_own(mock, notification, true, params) : NULL;
    if (!method && mock->has_protocol)
        method = find_own(mock, notification, false, params);
    return method ? method->name : notification ? "mock/note" : "mock/ask";
}

bool mock_example_result(struct mock *mock, const mock_message *about, dx_buf *json) {
    const dx_method *method =
        dx_protocol_find(mock->protocol, (dx_text){about->method, about->method_len});
    if (!method)
        return dx_buf_append(json, "{}", 2) == DX_OK;
    dx_status status =
        cli_example_result(mock->protocol, method, mock_other_side(mock), about->body, json);
    return status == DX_AGAIN ? dx_buf_append(json, "null", 4) == DX_OK : status == DX_OK;
}
