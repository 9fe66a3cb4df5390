/* A plugin: answers the method "echo" with its params. Usage: echo header|line */
#include <duplex/duplex.h>

static void on_echo(dx_link *link, const dx_event *ev, void *user) {
    (void)user;
    dx_link_reply(link, ev->request, dx_json_checked(ev->body));
}

int main(int argc, char **argv) {
    static const dx_handler handlers[] = {{"echo", on_echo}, {NULL, NULL}};
    dx_link_config config = dx_link_defaults(dx_framing_named(argv[argc - 1]), DX_SIDE_PLUGIN);
    config.handlers = handlers;
    return dx_plugin_run(&config);
}
