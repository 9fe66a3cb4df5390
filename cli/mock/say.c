/* What we say: framed, in the order that the wire takes it, with the faults that are in use. */
#include "cli/say.h"
#include "cli/mock/mock.h"
#include "cli/mock/task.h"

#include <stdlib.h>
#include <string.h>

dx_framing mock_framing(const struct mock *mock) {
    return mock->framing ? mock->framing : cli_wire_framing(mock->wire);
}

/* The level that keeps what is to be written together; NULL: there is none. */
static struct mock_level *keeper(struct mock_task *task) {
    for (size_t i = task ? task->depth : 0; i; i--)
        if (task->level[i - 1].doing == MOCK_TOGETHER || task->level[i - 1].doing == MOCK_SPLIT_UP)
            return &task->level[i - 1];
    return NULL;
}

void mock_put(struct mock *mock, struct mock_task *task, dx_text bytes) {
    struct mock_level *level = keeper(task);
    if (!level) {
        mock_outlet_put(&mock->outlet, bytes);
        return;
    }
    dx_status status = bytes.len ? dx_buf_append(&level->kept, bytes.at, bytes.len) : DX_OK;
    if (status == DX_ERR_LIMIT)
        mock_fail(mock, CLI_LATE, "\"together\" or \"split\" has more than 64 MiB of output");
    else if (status != DX_OK)
        mock_fail(mock, CLI_NO_START, "out of memory");
}

void mock_put_garbage(struct mock *mock, struct mock_task *task, uint64_t count) {
    char piece[4096];
    if (!keeper(task)) {
        mock_outlet_garbage(&mock->outlet, count);
        return;
    }
    while (count && !mock->over) {
        size_t len = count < sizeof piece ? (size_t)count : sizeof piece;
        for (size_t i = 0; i < len; i++)
            piece[i] = (char)mock_random(mock);
        mock_put(mock, task, (dx_text){piece, len});
        count -= len;
    }
}

static void put_fill(struct mock *mock, struct mock_task *task, char byte, uint64_t count) {
    char piece[4096];
    if (!keeper(task)) {
        mock_outlet_fill(&mock->outlet, byte, count);
        return;
    }
    memset(piece, byte, sizeof piece);
    while (count && !mock->over) {
        size_t len = count < sizeof piece ? (size_t)count : sizeof piece;
        mock_put(mock, task, (dx_text){piece, len});
        count -= len;
    }
}

void mock_put_huge(struct mock *mock, struct mock_task *task, const mock_message *about,
                   uint64_t count) {
    static const char note[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"mock/note\",\"params\":{\"text\":\"";
    char length[64];
    bool answers = about && about->id.at;
    dx_text head = answers ? dx_str("{\"jsonrpc\":\"2.0\",\"id\":") : dx_str(note);
    dx_text middle = answers ? dx_str(",\"result\":\"") : dx_str("");
    dx_text tail = answers ? dx_str("\"}") : dx_str("\"}}");
    dx_text id = answers ? about->id : dx_str("");
    uint64_t all = head.len + id.len + middle.len + count + tail.len;
    if (mock_framing(mock) == DX_FRAMING_HEADER) {
        snprintf(length, sizeof length, "Content-Length: %llu\r\n\r\n", (unsigned long long)all);
        mock_put(mock, task, dx_str(length));
    }
    mock_put(mock, task, head);
    mock_put(mock, task, id);
    mock_put(mock, task, middle);
    put_fill(mock, task, 'x', count);
    mock_put(mock, task, tail);
    if (mock_framing(mock) == DX_FRAMING_LINE)
        mock_put(mock, task, dx_str("\n"));
}

/* A header with a length that is not that of the message. */
static void say_wrong(struct mock *mock, struct mock_task *task, yyjson_val *length,
                      dx_text message) {
    char header[80];
    const char *text = yyjson_get_str(length);
    unsigned long long said = text ? strtoull(text + 1, NULL, 10) : mock_number(length);
    if (text && text[0] == '+')
        said = message.len + said;
    else if (text)
        said = message.len > said ? message.len - said : 0;
    snprintf(header, sizeof header, "Content-Length: %llu\r\n\r\n", said);
    mock_put(mock, task, dx_str(header));
    mock_put(mock, task, message);
}

void mock_say(struct mock *mock, struct mock_task *task, dx_text message) {
    if (task && task->wrong_length) {
        say_wrong(mock, task, task->wrong_length, message);
        return;
    }
    dx_buf framed;
    dx_buf_init(&framed, SIZE_MAX / 2, NULL);
    if (dx_frame_write(&framed, mock_framing(mock),
                       dx_protocol_facts_of(mock->protocol)->content_type, message) == DX_OK)
        mock_put(mock, task, (dx_text){framed.data, framed.len});
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    dx_buf_done(&framed);
}

void mock_note_lost(struct mock *mock, const char *action) {
    (void)mock;
    cli_note("ignoring \"%s\": there is no request to respond to", action);
}

/* The text with all faults of its kind; the caller's is changed. False: no memory. */
static bool change(struct mock *mock, const mock_message *about, bool is_answer, dx_buf *text) {
    const char *method = about ? about->method : NULL;
    for (mock_fault fault = 0; fault < MOCK_FAULT_COUNT; fault++) {
        mock_fault_class class = mock_fault_class_of(fault);
        bool in_text = class == MOCK_IN_TEXT || (class == MOCK_IN_ANSWER && is_answer);
        if (!mock->fault[fault] || !in_text || !mock_fault_now(mock, fault, method))
            continue;
        dx_buf changed;
        dx_buf_init(&changed, SIZE_MAX / 2, NULL);
        dx_text before = {text->data, text->len};
        bool good = class == MOCK_IN_TEXT ? mock_fault_text(mock, fault, before, &changed)
                                          : mock_fault_answer(mock, fault, about, before, &changed);
        dx_buf_done(text);
        *text = changed;
        if (!good)
            return false;
    }
    return true;
}

static mock_fault frame_fault(struct mock *mock, const char *method) {
    for (mock_fault fault = 0; fault < MOCK_FAULT_COUNT; fault++)
        if (mock->fault[fault] && mock_fault_class_of(fault) == MOCK_IN_FRAME &&
            mock_fault_now(mock, fault, method))
            return fault;
    return MOCK_FAULT_COUNT;
}

/* What a fault does besides or instead; false: the message is not sent. */
static bool live(struct mock *mock, struct mock_task *task, mock_message *about, dx_text message) {
    const char *method = about ? about->method : NULL;
    for (mock_fault fault = 0; fault < MOCK_FAULT_COUNT; fault++) {
        if (!mock->fault[fault] || !mock_fault_now(mock, fault, method))
            continue;
        mock_fault_class class = mock_fault_class_of(fault);
        if (class == MOCK_BY_ITSELF && !mock->fault_done[fault]) {
            mock->fault_done[fault] = true;
            mock_fault_say(mock, fault, about);
        }
        if (class == MOCK_IN_LIFE && mock_fault_live(mock, task, fault, about, message))
            return false;
    }
    return true;
}

void mock_deliver(struct mock *mock, struct mock_task *task, mock_message *about, dx_text message,
                  bool is_answer) {
    dx_buf text;
    if (!mock->use_count) {
        mock_say(mock, task, message);
        return;
    }
    if (is_answer && !live(mock, task, about, message))
        return;
    dx_buf_init(&text, SIZE_MAX / 2, NULL);
    bool good = dx_buf_append(&text, message.at, message.len) == DX_OK &&
                change(mock, about, is_answer, &text);
    mock_fault fault = frame_fault(mock, about ? about->method : NULL);
    if (!good)
        mock_fail(mock, CLI_NO_START, "out of memory");
    else if (fault == MOCK_FAULT_COUNT)
        mock_say(mock, task, (dx_text){text.data, text.len});
    else
        mock_fault_frame(mock, fault, (dx_text){text.data, text.len});
    dx_buf_done(&text);
}
