/* The actions of a script, each a function. */
#include "cli/mock/grammar.h"
#include "cli/mock/task.h"
#include "cli/options.h"
#include "cli/say.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 256 << 20 };

static uint64_t time_of(yyjson_val *value, uint64_t otherwise) {
    uint64_t ms = otherwise;
    const char *text = yyjson_get_str(value);
    if (text && cli_parse_time(text, &ms) && strspn(text, "0msh") == strlen(text))
        ms = 0; /* for an option it is the shortest time, here it is none */
    return ms;
}

static uint64_t size_of(yyjson_val *value) {
    uint64_t size = 0;
    if (yyjson_is_str(value))
        (void)cli_parse_size(yyjson_get_str(value), &size);
    else
        size = mock_number(value);
    return size < (uint64_t)1 << 30 ? size : (uint64_t)1 << 30;
}

/* An action that writes bytes of its own is the answer, too. */
static void settle(const struct mock_task *task) {
    if (task->about)
        task->about->answered = true;
}

static mock_after no_memory(const struct mock_task *task) {
    mock_fail(task->mock, CLI_NO_START, "out of memory, or a string is longer than %d MiB",
              TEXT_MAX >> 20);
    return MOCK_DONE;
}

static mock_after after_writing(const struct mock_task *task) {
    return mock_outlet_full(&task->mock->outlet) ? MOCK_ROOM : MOCK_NEXT;
}

static mock_after do_result(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    bool is_error = yyjson_obj_get(action, "error");
    dx_buf json;
    (void)action;
    dx_buf_init(&json, TEXT_MAX, NULL);
    if (!mock_expand(task, value, &json)) {
        dx_buf_done(&json);
        return no_memory(task);
    }
    dx_text text = {json.data, json.len};
    if (!task->about)
        mock_note_lost(task->mock, is_error ? "error" : "result");
    else if (is_error)
        mock_error(task->mock, task, task->about, text);
    else
        mock_result(task->mock, task, task->about, text);
    dx_buf_done(&json);
    return after_writing(task);
}

/* A method and its params, with their templates. */
struct message {
    dx_buf method;
    dx_buf params;
    dx_buf id;
};

static bool make_message(struct mock_task *task, yyjson_val *method, yyjson_val *action,
                         struct message *message) {
    yyjson_val *params = yyjson_obj_get(action, "params");
    yyjson_val *id = yyjson_obj_get(action, "id");
    dx_buf_init(&message->method, TEXT_MAX, NULL);
    dx_buf_init(&message->params, TEXT_MAX, NULL);
    dx_buf_init(&message->id, TEXT_MAX, NULL);
    return mock_expand_text(task, method, &message->method) &&
           (!params || mock_expand(task, params, &message->params)) &&
           (!id || mock_expand(task, id, &message->id));
}

static dx_text text_of(const dx_buf *buf) {
    return (dx_text){buf->len ? buf->data : NULL, buf->len};
}

static void message_done(struct message *message) {
    dx_buf_done(&message->method);
    dx_buf_done(&message->params);
    dx_buf_done(&message->id);
}

static mock_after do_notify(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    struct message message;
    bool good = make_message(task, value, action, &message);
    dx_text method = {message.method.len ? message.method.data : "", message.method.len};
    if (good)
        mock_notify(task->mock, task, method, text_of(&message.params));
    message_done(&message);
    return good ? after_writing(task) : no_memory(task);
}

static mock_after do_request(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    struct message message;
    bool good = make_message(task, value, action, &message);
    yyjson_val *then = yyjson_obj_get(action, "then");
    yyjson_val *otherwise = yyjson_obj_get(action, "else");
    struct mock_ask ask = {
        .asking = MOCK_ASKED,
        .method = {message.method.len ? message.method.data : "", message.method.len},
        .params = text_of(&message.params),
        .id = text_of(&message.id),
        .then = then,
        .otherwise = otherwise,
        .timeout_ms = time_of(yyjson_obj_get(action, "timeout"), mock_patience(task->mock)),
        .about = then || otherwise ? task->about : NULL};
    if (good)
        (void)mock_call(task->mock, task, &ask);
    message_done(&message);
    return good ? after_writing(task) : no_memory(task);
}

static mock_after do_message(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    dx_buf json;
    (void)action;
    dx_buf_init(&json, TEXT_MAX, NULL);
    bool good = mock_expand(task, value, &json);
    if (good)
        mock_say(task->mock, task, (dx_text){json.data, json.len});
    settle(task);
    dx_buf_done(&json);
    return good ? after_writing(task) : no_memory(task);
}

static mock_after do_delay(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    return mock_pause(task, time_of(value, 0));
}

static mock_after do_silence(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)value;
    (void)action;
    settle(task);
    return MOCK_NEXT;
}

static mock_after do_raw(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    dx_buf text;
    bool errors = yyjson_obj_get(action, "stderr");
    dx_buf_init(&text, TEXT_MAX, NULL);
    bool good = mock_expand_text(task, value, &text);
    if (good && errors)
        mock_write_errors((dx_text){text.data, text.len});
    else if (good)
        mock_put(task->mock, task, (dx_text){text.data, text.len});
    if (!errors)
        settle(task);
    dx_buf_done(&text);
    return good ? after_writing(task) : no_memory(task);
}

static unsigned sextet(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return (unsigned)(strchr(digits, c) - digits);
}

static mock_after do_base64(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    const char *text = yyjson_get_str(value);
    size_t len = yyjson_get_len(value);
    char *bytes = malloc(len / 4 * 3 + 1);
    size_t count = 0;
    (void)action;
    if (!bytes)
        return no_memory(task);
    for (size_t i = 0; i + 4 <= len; i += 4) { /* its schema has seen to its form */
        unsigned pad = (unsigned)(text[i + 2] == '=') + (text[i + 3] == '=');
        unsigned group = sextet(text[i]) << 18 | sextet(text[i + 1]) << 12 |
                         (pad > 1 ? 0 : sextet(text[i + 2]) << 6) |
                         (pad > 0 ? 0 : sextet(text[i + 3]));
        for (unsigned j = 0; j < 3 - pad; j++)
            bytes[count++] = (char)(group >> (16 - 8 * j));
    }
    mock_put(task->mock, task, (dx_text){bytes, count});
    settle(task);
    free(bytes);
    return after_writing(task);
}

static mock_after do_garbage(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    mock_put_garbage(task->mock, task, size_of(value));
    settle(task);
    return after_writing(task);
}

/* A message that is so long, made while it is written: an answer if something was asked. */
static mock_after do_huge(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    mock_put_huge(task->mock, task, task->about, size_of(value));
    settle(task);
    return after_writing(task);
}

static mock_after do_nested(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    yyjson_val *list = yyjson_obj_get(action, "do");
    bool is_split = yyjson_obj_get(action, "split");
    bool is_flood = yyjson_obj_get(action, "flood");
    bool is_repeat = yyjson_obj_get(action, "repeat");
    bool is_length = yyjson_obj_get(action, "length");
    struct mock_level *level = mock_push(task,
                                         is_split    ? MOCK_SPLIT_UP
                                         : is_flood  ? MOCK_FLOOD_OF
                                         : is_repeat ? MOCK_REPEAT
                                         : is_length ? MOCK_LENGTH
                                                     : MOCK_TOGETHER,
                                         list ? list : value);
    if (!level)
        return MOCK_DONE;
    level->left = is_flood || is_repeat ? mock_number(value) - 1 : 0;
    level->every_ms = time_of(yyjson_obj_get(action, "every"), 0);
    level->piece = is_split ? mock_number(value) : 0;
    level->pause_ms = time_of(yyjson_obj_get(action, "pause"), 0);
    if (is_length)
        task->wrong_length = value;
    return MOCK_NEXT;
}

static mock_after do_framing(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    task->mock->framing = dx_framing_named(yyjson_get_str(value));
    return MOCK_NEXT;
}

static mock_after do_exit(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    settle(task);
    if (yyjson_is_str(value))
        mock_die(task->mock, CLI_OK, mock_signal_named(yyjson_get_str(value)));
    else
        mock_die(task->mock, (int)mock_number(value), 0);
    return MOCK_DONE;
}

static mock_after do_ignore(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)task;
    (void)action;
    signal(mock_signal_named(yyjson_get_str(value)), SIG_IGN);
    return MOCK_NEXT;
}

static mock_after do_close(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    settle(task);
    if (strcmp(yyjson_get_str(value), "output") == 0)
        mock_outlet_close(&task->mock->outlet);
    else if (task->mock->side == DX_SIDE_HOST)
        mock_read(task->mock, false);
    else
        cli_wire_deafen(task->mock->wire);
    return MOCK_NEXT;
}

static mock_after do_stop_reading(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    mock_read(task->mock, !yyjson_get_bool(value));
    return MOCK_NEXT;
}

static mock_after do_grandchild(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    mock_leave_process(task->mock, time_of(value, 0));
    return MOCK_NEXT;
}

static mock_after do_fault(struct mock_task *task, yyjson_val *value, yyjson_val *action) {
    (void)action;
    mock_fault_do(task->mock, task, mock_fault_named(dx_str(yyjson_get_str(value))), task->about);
    settle(task);
    return after_writing(task);
}

mock_after mock_act(struct mock_task *task, yyjson_val *action) {
    static const struct {
        const char *name;
        mock_after (*act)(struct mock_task *task, yyjson_val *value, yyjson_val *action);
    } acts[] = {
        {"result", do_result},
        {"error", do_result},
        {"notify", do_notify},
        {"request", do_request},
        {"message", do_message},
        {"delay", do_delay},
        {"silence", do_silence},
        {"raw", do_raw},
        {"stderr", do_raw},
        {"base64", do_base64},
        {"garbage", do_garbage},
        {"split", do_nested},
        {"together", do_nested},
        {"flood", do_nested},
        {"repeat", do_nested},
        {"length", do_nested},
        {"framing", do_framing},
        {"huge", do_huge},
        {"exit", do_exit},
        {"signal", do_exit},
        {"ignore", do_ignore},
        {"close", do_close},
        {"grandchild", do_grandchild},
        {"stop-reading", do_stop_reading},
        {"fault", do_fault},
    };
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        yyjson_val *value = yyjson_obj_get(action, acts[i].name);
        if (value)
            return acts[i].act(task, value, action);
    }
    return MOCK_NEXT;
}
