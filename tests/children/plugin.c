/* A plugin on dx_link_stdio(): echo, and a handler that prints. Leaves when the conversation ends,
 * with 0 if that was a plain end. */
#include <duplex/link.h>

#include <stdio.h>
#include <string.h>

static int code;

static void on_echo(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    dx_link_reply(link, event->request, dx_json_checked(event->body));
}

static void on_print(dx_link *link, const dx_event *event, void *user) {
    (void)user;
    printf("a stray word, and {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"false\"}\n");
    fflush(stdout);
    dx_link_reply(link, event->request, dx_json_none());
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    (void)user;
    code = why->fault == DX_FAULT_NONE ? 0 : 4;
    if (code)
        fprintf(stderr, "plugin: %s\n", why->phrase);
    dx_loop_stop(dx_link_loop(link));
}

int main(int argc, char **argv) {
    static const dx_handler handlers[] = {{"echo", on_echo}, {"print", on_print}, {NULL, NULL}};
    dx_framing framing = argc > 1 ? dx_framing_named(argv[1]) : DX_FRAMING_LINE;
    dx_link_config config = dx_link_defaults(framing, DX_SIDE_PLUGIN);
    config.handlers = handlers;
    config.on_closed = on_closed;
    dx_loop *loop;
    dx_link *link;
    dx_error error = {0};
    if (dx_loop_new(NULL, &loop, &error) != DX_OK)
        return 2;
    if (dx_link_stdio(loop, &config, &link, &error) != DX_OK) {
        fprintf(stderr, "plugin: %s\n", error.phrase);
        dx_loop_free(loop);
        return 3;
    }
    if (dx_loop_run(loop) != DX_OK)
        code = 5;
    dx_loop_free(loop);
    return code;
}
