#include "bench.h"
#include "calls.h"

#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>

static GMainLoop *loop;
static struct calls calls; /* our own, with `both` */

static void echo(JsonrpcServer *server, JsonrpcClient *client, const char *method, GVariant *id,
                 GVariant *params, gpointer data) {
    const struct job *job = data;
    (void)server;
    (void)method;
    jsonrpc_client_reply_async(client, id, params, NULL, NULL, NULL);
    if (job->count && !calls.client) {
        calls =
            (struct calls){.client = client, .left = job->count, .filling = filling_of(job->size)};
        calls_begin(&calls, job->inflight);
    }
}

static void closed(JsonrpcServer *server, JsonrpcClient *client, gpointer data) {
    (void)server;
    (void)client;
    (void)data;
    g_main_loop_quit(loop);
}

int main(int argc, char **argv) {
    (void)argc;
    struct job job = echo_job_of(argv + 1);
    loop = g_main_loop_new(NULL, FALSE);
    g_autoptr(GInputStream) input = g_unix_input_stream_new(0, FALSE);
    g_autoptr(GOutputStream) output = g_unix_output_stream_new(1, FALSE);
    g_autoptr(GIOStream) stream = stream_of(input, output);
    g_autoptr(JsonrpcServer) server = jsonrpc_server_new();
    jsonrpc_server_add_handler(server, "echo", echo, &job, NULL);
    g_signal_connect(server, "client-closed", G_CALLBACK(closed), NULL);
    jsonrpc_server_accept_io_stream(server, stream);
    g_main_loop_run(loop);
    need(calls.awaited == 0, "the input ended before all answers came");
    return 0;
}
