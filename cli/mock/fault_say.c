/* Faults that say something more. */
#include "cli/input.h"
#include "cli/mock/mock.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLOOD = 100000, FIRST_BYTES = 2 << 20, ERRORS = 8 << 20, ANSWER_MS = 2000 };

static void ask(struct mock *mock, const char *method, const char *id) {
    dx_buf params;
    dx_buf_init(&params, 1 << 20, NULL);
    const char *own = mock_own_method(mock, false, &params);
    struct mock_ask asked = {.asking = MOCK_PROBE,
                             .method = dx_str(method ? method : own),
                             .params = {params.len && !method ? params.data : NULL, params.len},
                             .id = dx_str(id),
                             .timeout_ms =
                                 mock->options->timeout_ms ? mock->options->timeout_ms : ANSWER_MS};
    (void)mock_call(mock, NULL, &asked);
    dx_buf_done(&params);
}

static void ask_about(struct mock *mock, const mock_message *about) {
    char *id = about && about->id.at ? cli_text_copy(about->id) : strdup("1");
    if (id)
        ask(mock, NULL, id);
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    free(id);
}

/* A notification with one member of its example's params set to something that nobody knows. */
static void notify_unknown(struct mock *mock, const char *method, const char *member) {
    dx_buf params;
    dx_buf_init(&params, 1 << 20, NULL);
    const dx_method *known = dx_protocol_find(mock->protocol, dx_str(method));
    if (known)
        (void)dx_protocol_example(mock->protocol, known, mock->side, DX_PART_PARAMS, &params);
    yyjson_doc *example = params.len ? yyjson_read(params.data, params.len, 0) : NULL;
    yyjson_mut_doc *doc = example ? yyjson_doc_mut_copy(example, NULL) : yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = example ? yyjson_mut_doc_get_root(doc) : yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_remove_key(root, member);
    yyjson_mut_obj_add_str(doc, root, member, "mock-nobody");
    size_t len = 0;
    char *text = yyjson_mut_write(doc, 0, &len);
    if (text)
        mock_notify(mock, NULL, dx_str(method), (dx_text){text, len});
    else
        mock_fail(mock, CLI_NO_START, "out of memory");
    free(text);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(example);
    dx_buf_done(&params);
}

/* Notifications, so many or so many bytes of them. */
static void notify_often(struct mock *mock, size_t count, size_t bytes) {
    dx_buf params;
    dx_buf note;
    dx_buf framed;
    dx_buf all;
    dx_buf_init(&params, 1 << 20, NULL);
    dx_buf_init(&note, 1 << 20, NULL);
    dx_buf_init(&framed, 2 << 20, NULL);
    dx_buf_init(&all, 64 << 20, NULL);
    const char *method = mock_own_method(mock, true, &params);
    dx_json value = params.len ? dx_json_text(params.data, params.len) : dx_json_none();
    bool good = dx_rpc_write_notification(&note, dx_str(method), value) == DX_OK &&
                dx_frame_write(&framed, mock_framing(mock),
                               dx_protocol_facts_of(mock->protocol)->content_type,
                               (dx_text){note.data, note.len}) == DX_OK;
    for (size_t i = 0; good && (i < count || all.len < bytes); i++)
        good = dx_buf_append(&all, framed.data, framed.len) == DX_OK;
    if (all.len)
        mock_outlet_put(&mock->outlet, (dx_text){all.data, all.len});
    dx_buf_done(&params);
    dx_buf_done(&note);
    dx_buf_done(&framed);
    dx_buf_done(&all);
}

/* Nobody may read it: a signal still ends that. */
void mock_write_errors(dx_text bytes) {
    int before = cli_interrupts();
    sigset_t none;
    sigemptyset(&none);
    while (bytes.len && cli_interrupts() == before) {
        struct pollfd takes = {2, POLLOUT, 0};
        if (ppoll(&takes, 1, NULL, &none) != 1)
            continue;
        ssize_t len = write(2, bytes.at, bytes.len < 4096 ? bytes.len : 4096);
        if (len < 0 && errno != EINTR && errno != EAGAIN)
            return;
        bytes.at += len > 0 ? len : 0;
        bytes.len -= len > 0 ? (size_t)len : 0;
    }
}

static void flood_errors(void) {
    static const char line[] = "[mock] yet another log line that nobody needs to read at all\n";
    char piece[64 * (sizeof line - 1)];
    int before = cli_interrupts();
    for (size_t at = 0; at < sizeof piece; at += sizeof line - 1)
        memcpy(piece + at, line, sizeof line - 1);
    for (size_t sum = 0; sum < ERRORS && cli_interrupts() == before; sum += sizeof piece)
        mock_write_errors((dx_text){piece, sizeof piece});
}

static void say_params(struct mock *mock) {
    dx_buf params;
    dx_buf_init(&params, 1 << 20, NULL);
    const char *method = mock_own_method(mock, true, &params);
    mock_notify(mock, NULL, dx_str(method), dx_str("\"a text\""));
    dx_buf_done(&params);
}

void mock_fault_say(struct mock *mock, mock_fault fault, const mock_message *about) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(mock->protocol);
    switch (fault) {
    case MOCK_FAULT_ID_LARGE:
        ask(mock, NULL, "18446744073709551615");
        break;
    case MOCK_FAULT_ID_FRACTION:
        ask(mock, NULL, "1.5");
        break;
    case MOCK_FAULT_ID_EQUAL:
        ask_about(mock, about);
        break;
    case MOCK_FAULT_ID_IN_USE:
        ask(mock, NULL, "77");
        ask(mock, NULL, "77");
        break;
    case MOCK_FAULT_ID_TYPE:
        ask(mock, NULL, "null");
        ask(mock, NULL, "{\"n\":1}");
        break;
    case MOCK_FAULT_METHOD_UNKNOWN:
        ask(mock, "mock/unknown", NULL);
        mock_notify(mock, NULL, dx_str("mock/unknown"), dx_str(NULL));
        break;
    case MOCK_FAULT_PARAMS_TYPE:
        say_params(mock);
        break;
    case MOCK_FAULT_BATCH_EMPTY:
        mock_say(mock, NULL, dx_str("[]"));
        break;
    case MOCK_FAULT_EARLY:
        ask(mock, NULL, NULL);
        break;
    case MOCK_FAULT_CANCEL_UNKNOWN:
        notify_unknown(mock, facts->cancel_method ? facts->cancel_method : "$/cancelRequest",
                       facts->cancel_id ? facts->cancel_id : "id");
        break;
    case MOCK_FAULT_PROGRESS_UNKNOWN:
        notify_unknown(mock, facts->progress_method ? facts->progress_method : "$/progress",
                       facts->progress_token ? facts->progress_token : "token");
        break;
    case MOCK_FAULT_FLOOD:
        notify_often(mock, FLOOD, 0);
        break;
    case MOCK_FAULT_STDERR_FLOOD:
        flood_errors();
        break;
    case MOCK_FAULT_WRITES_FIRST:
        mock_read(mock, false);
        mock->reads_later = true;
        notify_often(mock, 0, FIRST_BYTES);
        break;
    default:
        break;
    }
}
