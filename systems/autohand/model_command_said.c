/* What a program says that is asked. */
#include "systems/autohand/model_command.h"

void dx__autohand_asked_fail(struct dx__autohand_asked *asked,
                             const struct dx__autohand_model_trouble *trouble) {
    struct dx__autohand_model_trouble kept = *trouble;
    dx_timer_set(asked->silence, DX_NEVER);
    dx_timer_set(asked->soon, DX_NEVER); /* a question fails once */
    dx__autohand_asked_end(asked);
    dx__autohand_ear_fail(&asked->ear, &kept);
}

static void fail_for(struct dx__autohand_asked *asked, const char *why) {
    struct dx__autohand_model_trouble trouble;
    dx__autohand_model_trouble_set(&trouble, DX_AUTOHAND_FAIL_NETWORK, false,
                                   "the model's program: %s", why);
    dx__autohand_asked_fail(asked, &trouble);
}

static void take_error(struct dx__autohand_asked *asked, yyjson_val *error) {
    struct dx__autohand_model_trouble trouble = {.kind = DX_AUTOHAND_FAIL_UNKNOWN};
    dx_text message = dx_json_string(yyjson_obj_get(error, "message"));
    (void)dx__autohand_model_kind_of(dx_json_string(yyjson_obj_get(error, "kind")), &trouble.kind);
    trouble.retryable = yyjson_get_bool(yyjson_obj_get(error, "retryable"));
    dx__autohand_model_trouble_say(&trouble, message.len ? message : dx_str("the model failed"));
    /* It said so itself, and waits for the next question. */
    dx_timer_set(asked->silence, DX_NEVER);
    dx__autohand_ear_fail(&asked->ear, &trouble);
}

static void take_done(struct dx__autohand_asked *asked, yyjson_val *tokens) {
    bool known = yyjson_is_uint(tokens) && yyjson_get_uint(tokens) <= INT64_MAX;
    dx_timer_set(asked->silence, DX_NEVER);
    dx__autohand_ear_done(&asked->ear, known ? (int64_t)yyjson_get_uint(tokens) : -1);
}

/* False: the question is gone. */
static bool take_call(struct dx__autohand_asked *asked, yyjson_val *call) {
    dx_buf args;
    dx_text name = dx_json_string(yyjson_obj_get(call, "name"));
    bool there = false;
    if (!name.at) {
        fail_for(asked, "a toolCall without a name");
        return false;
    }
    dx_buf_init(&args, SIZE_MAX / 4, &asked->alloc);
    dx_status status = dx__autohand_model_args(&args, yyjson_obj_get(call, "args"));
    if (status != DX_OK)
        fail_for(asked, "out of memory");
    else
        there = dx__autohand_ear_call(&asked->ear, dx_json_string(yyjson_obj_get(call, "id")), name,
                                      (dx_text){args.len ? args.data : "", args.len});
    dx_buf_done(&args);
    return there;
}

/* A whole step may be one line, with all of its calls. False: the question is gone. */
static bool take_calls(struct dx__autohand_asked *asked, yyjson_val *calls) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(calls);
    if (calls && !yyjson_is_null(calls) && !yyjson_is_arr(calls)) {
        fail_for(asked, "toolCalls is not an array");
        return false;
    }
    for (yyjson_val *call; (call = yyjson_arr_iter_next(&iter));)
        if (!take_call(asked, call))
            return false;
    return true;
}

static void take(struct dx__autohand_asked *asked, yyjson_val *said) {
    yyjson_val *text = yyjson_obj_get(said, "text");
    yyjson_val *thought = yyjson_obj_get(said, "thought");
    yyjson_val *call = yyjson_obj_get(said, "toolCall");
    yyjson_val *calls = yyjson_obj_get(said, "toolCalls");
    yyjson_val *error = yyjson_obj_get(said, "error");
    /* There may be several of them in one line. */
    if (yyjson_is_str(thought) && !dx__autohand_ear_thought(&asked->ear, dx_json_string(thought)))
        return;
    if (yyjson_is_str(text) && !dx__autohand_ear_text(&asked->ear, dx_json_string(text)))
        return;
    if (yyjson_is_obj(call) && !take_call(asked, call))
        return;
    if (!take_calls(asked, calls))
        return;
    if (yyjson_is_obj(error))
        take_error(asked, error);
    else if (yyjson_is_true(yyjson_obj_get(said, "done")))
        take_done(asked, yyjson_obj_get(said, "tokens"));
    else if (!yyjson_is_str(thought) && !yyjson_is_str(text) && !yyjson_is_obj(call) &&
             !yyjson_is_arr(calls))
        fail_for(asked, "expected text, thought, toolCall, toolCalls, done or error in its line");
}

static void take_line(struct dx__autohand_asked *asked, dx_text line) {
    yyjson_alc alc = dx__autohand_model_alc(&asked->alloc);
    yyjson_read_err error = {0};
    line = dx__autohand_model_trim(line);
    if (!line.len)
        return;
    yyjson_doc *doc = yyjson_read_opts((char *)line.at, line.len, 0, &alc, &error);
    if (doc)
        take(asked, yyjson_doc_get_root(doc));
    else
        fail_for(asked, error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION
                            ? "out of memory"
                            : "a line of its response is not JSON");
    yyjson_doc_free(doc);
}

/* A line that began in an earlier piece. False: the question is gone. */
static bool take_rest(struct dx__autohand_asked *asked, dx_text end) {
    uint64_t number = asked->ear.number;
    if (dx_buf_append(&asked->in, end.at, end.len) != DX_OK) {
        fail_for(asked, "out of memory");
        return false;
    }
    dx_buf line = asked->in;
    dx_buf_init(&asked->in, SIZE_MAX / 4, &asked->alloc);
    take_line(asked, (dx_text){line.data, line.len});
    dx_buf_done(&line);
    return asked->ear.number == number;
}

void dx__autohand_asked_take(struct dx__autohand_asked *asked, dx_text bytes) {
    uint64_t number = asked->ear.number;
    asked->received += bytes.len;
    if (asked->received > asked->config.answer_max) {
        fail_for(asked, "its response is too long");
        return;
    }
    dx_timer_set(asked->silence, asked->config.silence_ms);
    for (const char *lf; bytes.len && (lf = memchr(bytes.at, '\n', bytes.len));) {
        dx_text line = {bytes.at, (size_t)(lf - bytes.at)};
        bytes = (dx_text){lf + 1, bytes.len - line.len - 1};
        if (asked->in.len) {
            if (!take_rest(asked, line))
                return;
            continue;
        }
        take_line(asked, line);
        /* What follows the last line of an answer belongs to nothing. */
        if (asked->ear.number != number)
            return;
    }
    if (bytes.len && dx_buf_append(&asked->in, bytes.at, bytes.len) != DX_OK)
        fail_for(asked, "out of memory");
}
