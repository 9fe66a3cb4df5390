#include "calls.h"

#include "bench.h"
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <string.h>

GVariant *calls_params(const char *text) {
    return JSONRPC_MESSAGE_NEW("line", JSONRPC_MESSAGE_PUT_INT32(12), "ok",
                               JSONRPC_MESSAGE_PUT_BOOLEAN(TRUE), "text",
                               JSONRPC_MESSAGE_PUT_STRING(text));
}

void calls_check(GVariant *answer, size_t filling) {
    const char *text = NULL;
    need(JSONRPC_MESSAGE_PARSE(answer, "text", JSONRPC_MESSAGE_GET_STRING(&text)) &&
             strlen(text) == filling,
         "an answer has the wrong text");
}

static void make_call(struct calls *calls);

static void answered(GObject *source, GAsyncResult *result, gpointer data) {
    struct calls *calls = data;
    g_autoptr(GVariant) answer = NULL;
    g_autoptr(GError) error = NULL;
    if (!jsonrpc_client_call_finish(JSONRPC_CLIENT(source), result, &answer, &error))
        die("a call failed: %s", error->message);
    calls_check(answer, calls->filling);
    if (calls->took)
        *calls->took++ = now_ns() - calls->begin;
    if (calls->left > 0)
        make_call(calls);
    if (--calls->awaited == 0 && calls->done)
        calls->done();
}

static void make_call(struct calls *calls) {
    calls->left--;
    if (calls->took)
        calls->begin = now_ns();
    g_autoptr(GVariant) params = calls_params(calls->text);
    jsonrpc_client_call_async(calls->client, "echo", params, NULL, answered, calls);
}

void calls_begin(struct calls *calls, size_t inflight) {
    if (!calls->text)
        calls->text = g_strnfill(calls->filling, 'a');
    calls->awaited = calls->left;
    while (inflight-- > 0 && calls->left > 0)
        make_call(calls);
}

GIOStream *stream_of(GInputStream *input, GOutputStream *output) {
    set_nonblocking(g_unix_input_stream_get_fd(G_UNIX_INPUT_STREAM(input)));
    set_nonblocking(g_unix_output_stream_get_fd(G_UNIX_OUTPUT_STREAM(output)));
    return g_simple_io_stream_new(input, output);
}
