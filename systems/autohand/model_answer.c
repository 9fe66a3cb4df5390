/* What the JSON of chat completions says, in one piece or in many. */
#include "systems/autohand/model_parts.h"

void dx__autohand_model_answer_init(struct dx__autohand_model_answer *answer,
                                    struct dx__autohand_ear *ear, const dx_allocator *alloc) {
    *answer = (struct dx__autohand_model_answer){.ear = ear, .tokens = -1};
    answer->calls.alloc = *alloc;
}

void dx__autohand_model_answer_done(struct dx__autohand_model_answer *answer) {
    dx__autohand_model_calls_clear(&answer->calls);
}

static dx_status is_none(struct dx__autohand_model_answer *answer, const char *why) {
    dx__autohand_model_trouble_set(&answer->trouble, DX_AUTOHAND_FAIL_NETWORK, true,
                                   "invalid response from the model: %s", why);
    return DX_MISFIT;
}

/* A string, or parts of which some have a text. */
static dx_status tell_text(struct dx__autohand_model_answer *answer, yyjson_val *content) {
    size_t i, count;
    yyjson_val *part;
    if (yyjson_is_str(content) && yyjson_get_len(content)) {
        answer->told = true;
        return dx__autohand_ear_text(answer->ear, dx_json_string(content)) ? DX_OK : DX_GONE;
    }
    yyjson_arr_foreach(content, i, count, part) {
        dx_text text = dx_json_string(yyjson_obj_get(part, "text"));
        answer->told |= text.len > 0;
        if (!dx__autohand_ear_text(answer->ear, text))
            return DX_GONE;
    }
    return DX_OK;
}

/* Nobody has agreed on a name for it. */
static dx_status tell_thought(struct dx__autohand_model_answer *answer, yyjson_val *message) {
    static const char *const names[] = {"reasoning_content", "reasoning", "thinking", "thought"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dx_text text = dx_json_string(yyjson_obj_get(message, names[i]));
        if (!text.len)
            continue;
        answer->told = true;
        return dx__autohand_ear_thought(answer->ear, text) ? DX_OK : DX_GONE;
    }
    return DX_OK;
}

static dx_status take_calls(struct dx__autohand_model_answer *answer, yyjson_val *list,
                            bool whole) {
    size_t i, count;
    yyjson_val *fragment;
    if (list && !yyjson_is_null(list) && !yyjson_is_arr(list))
        return is_none(answer, "tool_calls is not an array");
    yyjson_arr_foreach(list, i, count, fragment) {
        dx_status status = dx__autohand_model_calls_add(&answer->calls, fragment, whole);
        if (status == DX_MISFIT)
            return is_none(answer, "invalid tool call");
        if (status == DX_ERR_LIMIT) {
            dx__autohand_model_trouble_set(&answer->trouble, DX_AUTOHAND_FAIL_UNKNOWN, false,
                                           "the model calls more than %d tools at once",
                                           DX__AUTOHAND_MODEL_CALLS_MAX);
            return DX_MISFIT;
        }
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

static dx_status take_choice(struct dx__autohand_model_answer *answer, yyjson_val *choice) {
    yyjson_val *message = yyjson_obj_get(choice, "delta");
    bool whole = !yyjson_is_obj(message);
    if (whole)
        message = yyjson_obj_get(choice, "message");
    dx_status status = tell_thought(answer, message);
    if (status == DX_OK)
        status = tell_text(answer, yyjson_obj_get(message, "content"));
    if (status == DX_OK)
        status = tell_text(answer, yyjson_obj_get(message, "refusal"));
    if (status == DX_OK)
        status = take_calls(answer, yyjson_obj_get(message, "tool_calls"), whole);
    /* Once the question is gone, the answer may be that of another. */
    if (status == DX_OK) {
        answer->any = true;
        /* There are servers that say "" as long as there is no reason. */
        answer->finished |= dx_json_string(yyjson_obj_get(choice, "finish_reason")).len > 0;
    }
    return status;
}

static int64_t number_of(yyjson_val *value) {
    return yyjson_is_uint(value) && yyjson_get_uint(value) < INT64_MAX / 4 ? yyjson_get_sint(value)
                                                                           : -1;
}

static void take_usage(struct dx__autohand_model_answer *answer, yyjson_val *usage) {
    int64_t total = number_of(yyjson_obj_get(usage, "total_tokens"));
    int64_t asked = number_of(yyjson_obj_get(usage, "prompt_tokens"));
    int64_t said = number_of(yyjson_obj_get(usage, "completion_tokens"));
    if (total >= 0)
        answer->tokens = total;
    else if (asked >= 0 && said >= 0)
        answer->tokens = asked + said;
}

/* {"error": {"message", "code"?, "type"?}}, {"error": "…"}, {"message"}, {"detail"}; some put it
 * into a list. */
static dx_text complaint_in(yyjson_val *root) {
    if (yyjson_is_arr(root))
        root = yyjson_arr_get_first(root);
    yyjson_val *error = yyjson_obj_get(root, "error");
    yyjson_val *places[] = {error, yyjson_obj_get(error, "message"),
                            yyjson_obj_get(root, "message"), yyjson_obj_get(root, "detail")};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (yyjson_get_len(places[i]) && yyjson_is_str(places[i]))
            return dx_json_string(places[i]);
    return (dx_text){0};
}

/* An error in the middle of a stream, whose status was 200. Some leave out the "error" around it.
 */
static dx_status take_error(struct dx__autohand_model_answer *answer, yyjson_val *root) {
    yyjson_val *error = yyjson_obj_get(root, "error");
    yyjson_val *code = yyjson_obj_get(yyjson_is_obj(error) ? error : root, "code");
    struct dx__autohand_model_trouble *trouble = &answer->trouble;
    dx_text said = complaint_in(root);
    *trouble =
        (struct dx__autohand_model_trouble){.kind = DX_AUTOHAND_FAIL_SERVER, .retryable = true};
    if (yyjson_is_int(code) && yyjson_get_sint(code) >= 400 && yyjson_get_sint(code) < 600)
        dx__autohand_model_trouble_of_status(trouble, (int)yyjson_get_sint(code));
    dx__autohand_model_trouble_say(trouble,
                                   said.len ? said : dx_str("the model reported an error"));
    return DX_MISFIT;
}

static dx_status take(struct dx__autohand_model_answer *answer, yyjson_val *root) {
    yyjson_val *choices = yyjson_obj_get(root, "choices");
    yyjson_val *error = yyjson_obj_get(root, "error");
    if (!yyjson_is_obj(root))
        return is_none(answer, "not an object");
    if ((error && !yyjson_is_null(error)) ||
        (!choices && yyjson_is_str(yyjson_obj_get(root, "message"))))
        return take_error(answer, root);
    if (choices && !yyjson_is_null(choices) && !yyjson_is_arr(choices))
        return is_none(answer, "choices is not an array");
    take_usage(answer, yyjson_obj_get(root, "usage"));
    yyjson_val *choice = yyjson_arr_get_first(choices);
    /* One is asked for: who sends more sends each in pieces of its own. */
    return choice && !yyjson_get_uint(yyjson_obj_get(choice, "index")) ? take_choice(answer, choice)
                                                                       : DX_OK;
}

dx_status dx__autohand_model_answer_take(struct dx__autohand_model_answer *answer, dx_text json) {
    yyjson_alc alc = dx__autohand_model_alc(&answer->calls.alloc);
    yyjson_read_err error = {0};
    yyjson_doc *doc = yyjson_read_opts((char *)json.at, json.len, 0, &alc, &error);
    if (!doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return DX_ERR_NOMEM;
    if (!doc)
        return is_none(answer, error.msg ? error.msg : "not JSON");
    dx_status status = take(answer, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return status;
}

void dx__autohand_model_answer_complaint(struct dx__autohand_model_trouble *trouble, dx_text body,
                                         const dx_allocator *alloc) {
    yyjson_alc alc = dx__autohand_model_alc(alloc);
    yyjson_doc *doc = body.len ? yyjson_read_opts((char *)body.at, body.len, 0, &alc, NULL) : NULL;
    dx_text said = complaint_in(yyjson_doc_get_root(doc));
    /* Of a form that is not known, it is told as it is. */
    dx__autohand_model_trouble_say(trouble, said.len ? said : body);
    yyjson_doc_free(doc);
}
