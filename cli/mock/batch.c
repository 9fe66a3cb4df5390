/* A batch that came: its answers are one message. */
#include "cli/mock/mock.h"
#include "cli/say.h"

#include <stdlib.h>

/* How long the answers to one may be in all. */
enum { ANSWERS_MAX = 64 << 20 };

struct mock_batch {
    struct mock *mock;
    size_t open; /* messages that were not dealt with, and who hears it */
    dx_buf text;
};

struct mock_batch *mock_batch_new(struct mock *mock) {
    struct mock_batch *batch = malloc(sizeof *batch);
    if (!batch) {
        mock_fail(mock, CLI_NO_START, "out of memory");
        return NULL;
    }
    *batch = (struct mock_batch){.mock = mock, .open = 1};
    dx_buf_init(&batch->text, ANSWERS_MAX, NULL);
    return batch;
}

struct mock_batch *mock_batch_join(struct mock_batch *batch) {
    if (batch)
        batch->open++;
    return batch;
}

static void fail_by(struct mock *mock, dx_status status) {
    if (status == DX_ERR_LIMIT)
        mock_fail(mock, CLI_LATE, "the responses to a batch are longer than %d MiB",
                  ANSWERS_MAX >> 20);
    else if (status != DX_OK)
        mock_fail(mock, CLI_NO_START, "out of memory");
}

void mock_batch_add(struct mock_batch *batch, dx_text answer) {
    const char *before = batch->text.len ? "," : "[";
    dx_status status = dx_buf_append(&batch->text, before, 1);
    if (status == DX_OK)
        status = dx_buf_append(&batch->text, answer.at, answer.len);
    fail_by(batch->mock, status);
}

void mock_batch_leave(struct mock_batch *batch) {
    if (!batch || --batch->open)
        return;
    struct mock *mock = batch->mock;
    if (batch->text.len && !mock->over && !mock->dying) {
        dx_status status = dx_buf_append(&batch->text, "]", 1);
        if (status == DX_OK)
            mock_say(mock, NULL, (dx_text){batch->text.data, batch->text.len});
        fail_by(mock, status);
    }
    dx_buf_done(&batch->text);
    free(batch);
}
