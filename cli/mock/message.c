#include "cli/mock/message.h"

#include "cli/mock/mock.h"

#include <stdlib.h>
#include <string.h>

/* Slices count from the beginning of the text that `body` is a part of. */
static dx_text part_of(const char *body, const dx_message *parts, dx_slice slice) {
    return (dx_text){slice.len ? body + (slice.at - parts->body.at) : NULL, slice.len};
}

static mock_kind kind_of(const dx_message *parts) {
    switch (parts->kind) {
    case DX_KIND_REQUEST:
        return MOCK_REQUEST;
    case DX_KIND_NOTIFICATION:
        return MOCK_NOTIFICATION;
    default:
        return parts->error.len ? MOCK_ERROR : MOCK_RESULT;
    }
}

/* The characters of its method; one that has none in UTF-8 is taken as it stands. */
static bool take_method(mock_message *message, dx_text quoted, const char *method) {
    size_t len = method ? strlen(method) : quoted.len;
    dx_text name;
    message->method = malloc(len + 1);
    if (!message->method)
        return false;
    if (method)
        name = dx_str(method);
    else if (!quoted.at || dx_rpc_string(quoted, message->method, &name) != DX_OK)
        name = quoted;
    if (name.len && name.at != message->method)
        memcpy(message->method, name.at, name.len);
    message->method[name.len] = '\0';
    message->method_len = name.len;
    return true;
}

mock_message *mock_message_new(struct mock *mock, dx_text text, const dx_message *parts,
                               const char *method) {
    mock_message *message = calloc(1, sizeof *message);
    char *copy = message ? malloc(parts->body.len + 1) : NULL;
    if (!copy) {
        free(message);
        return NULL;
    }
    memcpy(copy, text.at + parts->body.at, parts->body.len);
    copy[parts->body.len] = '\0';
    dx_slice body = parts->params.len  ? parts->params
                    : parts->error.len ? parts->error
                                       : parts->result;
    *message = (mock_message){.refs = 1,
                              .kind = kind_of(parts),
                              .text = copy,
                              .id = part_of(copy, parts, parts->id),
                              .body = part_of(copy, parts, body),
                              .mock = mock};
    if (!take_method(message, part_of(copy, parts, parts->method), method)) {
        message->answered = true;
        return mock_message_unref(message);
    }
    return message;
}

mock_message *mock_message_ref(mock_message *message) {
    if (message)
        message->refs++;
    return message;
}

mock_message *mock_message_unref(mock_message *message) {
    if (!message)
        return NULL;
    if (message->refs == 1 && message->kind == MOCK_REQUEST && !message->answered &&
        message->mock) {
        message->answered = true;
        mock_answer_otherwise(message->mock, NULL, message);
    }
    if (--message->refs)
        return NULL;
    mock_batch_leave(message->batch);
    yyjson_doc_free(message->doc);
    free(message->method);
    free(message->text);
    free(message);
    return NULL;
}

yyjson_val *mock_message_body(mock_message *message) {
    if (!message->tried && message->body.at)
        message->doc = yyjson_read_opts((char *)(uintptr_t)message->body.at, message->body.len,
                                        YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
    message->tried = true;
    return yyjson_doc_get_root(message->doc);
}

void mock_message_forget(mock_message *message) {
    yyjson_doc_free(message->doc);
    message->doc = NULL;
    message->tried = false;
}
