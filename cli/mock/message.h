/* message.h: a message that came, kept for as long as somebody has to do with it. */
#ifndef CLI_MOCK_MESSAGE_H
#define CLI_MOCK_MESSAGE_H

#include <duplex/rpc.h>

#include <stdbool.h>

typedef enum mock_kind { MOCK_REQUEST = 1, MOCK_NOTIFICATION, MOCK_RESULT, MOCK_ERROR } mock_kind;

typedef struct mock_message {
    unsigned refs;
    mock_kind kind;
    char *text;   /* all of it … */
    dx_text id;   /* … and its parts, as they stand there; absent if they are not there */
    dx_text body; /* params, result or error */
    char *method; /* its characters; of an answer: of what was asked; never NULL */
    size_t method_len;
    yyjson_doc *doc; /* of the body, numbers as they came; NULL: not read yet, or it can't be */
    bool tried;
    bool answered;   /* or it never will be */
    int64_t refusal; /* the code of the error that it gets in this state of its protocol; 0: none */
    const char *refusal_text;
    struct mock *mock;
    struct mock_batch *batch; /* that it came in; NULL: none */
} mock_message;

/* NULL: no memory. `method` is for an answer. */
mock_message *mock_message_new(struct mock *mock, dx_text text, const dx_message *parts,
                               const char *method);
mock_message *mock_message_ref(mock_message *message);
/* The last one has a request answered that nobody answered. NULL is fine. Returns NULL. */
mock_message *mock_message_unref(mock_message *message);
/* The body, or NULL: there is none, or the JSON library can't hold it. */
yyjson_val *mock_message_body(mock_message *message);
/* It is read again when it is needed. */
void mock_message_forget(mock_message *message);

#endif
