/* What the protocol's document says that our side could say. */
#include "cli/mock/mock.h"

#include <stdlib.h>
#include <string.h>

enum { EXAMPLE_MAX = 1 << 20 };

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

/* Where the example has an empty text and the request a text of the same name, the request's is
 * meant: the version of a protocol, for one. NULL: nothing to change. */
static char *fill(const dx_buf *json, const mock_message *about, size_t *ret_len) {
    yyjson_doc *result = yyjson_read(json->data, json->len, 0);
    yyjson_doc *params = about->body.at ? yyjson_read(about->body.at, about->body.len, 0) : NULL;
    yyjson_mut_doc *doc = result && params ? yyjson_doc_mut_copy(result, NULL) : NULL;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool changed = false;
    size_t at;
    size_t max;
    yyjson_mut_val *key;
    yyjson_mut_val *value;
    yyjson_mut_obj_foreach(root, at, max, key, value) {
        yyjson_val *given = yyjson_obj_get(yyjson_doc_get_root(params), yyjson_mut_get_str(key));
        if (!yyjson_mut_equals_str(value, "") || !yyjson_is_str(given))
            continue;
        yyjson_mut_set_strn(value, yyjson_get_str(given), yyjson_get_len(given));
        changed = true;
    }
    char *text = changed ? yyjson_mut_write(doc, 0, ret_len) : NULL;
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(result);
    yyjson_doc_free(params);
    return text;
}

static bool put_null(dx_buf *json) {
    json->len = 0;
    return dx_buf_append(json, "null", 4) == DX_OK;
}

bool mock_example_result(struct mock *mock, const mock_message *about, dx_buf *json) {
    dx_side from = mock_other_side(mock);
    const dx_method *method =
        dx_protocol_find(mock->protocol, (dx_text){about->method, about->method_len});
    if (!method)
        return dx_buf_append(json, "{}", 2) == DX_OK;
    dx_status status = dx_protocol_example(mock->protocol, method, from, DX_PART_RESULT, json);
    if (status == DX_AGAIN)
        return put_null(json);
    if (status != DX_OK || !example_fits(mock, method, from, DX_PART_RESULT, json))
        return false;
    size_t len;
    char *filled = fill(json, about, &len);
    if (!filled)
        return true;
    dx_buf better;
    dx_buf_init(&better, EXAMPLE_MAX, NULL);
    if (dx_buf_append(&better, filled, len) == DX_OK &&
        example_fits(mock, method, from, DX_PART_RESULT, &better)) {
        dx_buf_done(json);
        *json = better;
    } else {
        dx_buf_done(&better);
    }
    free(filled);
    return true;
}
