/* A host: keeps a plugin running, calls it, stops it. Usage: host header|line COMMAND [ARG…] */
#include <duplex/duplex.h>
#include <stdio.h>

static void on_done(dx_link *link, const dx_event *ev, void *supervisor) {
    (void)link;
    printf("%.*s%s\n", (int)ev->body.len, ev->body.at ? ev->body.at : "", ev->error.phrase);
    dx_supervisor_stop(supervisor);
}

static void on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *user) {
    (void)why, (void)user;
    dx_link_call_options options = {.peer = {.user = supervisor}, .on_done = on_done};
    dx_link *link = dx_supervisor_link(supervisor);
    if (state == DX_STATE_READY)
        dx_link_call(link, dx_str("echo"), dx_json_text("[42]", 4), &options, NULL);
}

int main(int argc, char **argv) {
    dx_framing framing = dx_framing_named(argc > 2 ? argv[1] : NULL);
    dx_supervisor_config config = dx_supervisor_defaults(framing, (const char *const *)argv + 2);
    config.on_state = on_state;
    return framing ? dx_supervisor_run(&config) : 2;
}
