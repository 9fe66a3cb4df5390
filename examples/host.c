/* A host: keeps a plugin running, calls it, stops it. Usage: host header|line COMMAND [ARG…] */
#include <duplex/duplex.h>
#include <stdio.h>

static void on_done(dx_link *link, const dx_event *ev, void *supervisor) {
    (void)link;
    printf("%.*s%s\n", (int)ev->body.len, ev->body.at ? ev->body.at : "", ev->error.phrase);
    dx_supervisor_stop(supervisor);
}

static void on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *loop) {
    (void)why;
    dx_link_call_options options = {.peer = {.user = supervisor}, .on_done = on_done};
    if (state == DX_STATE_READY)
        dx_link_call(dx_supervisor_link(supervisor), dx_str("echo"), dx_json_text("[42]", 4),
                     &options, NULL);
    if (state == DX_STATE_STOPPED || state == DX_STATE_FAILED)
        dx_loop_stop(loop);
}

int main(int argc, char **argv) {
    dx_framing framing = dx_framing_named(argc > 2 ? argv[1] : NULL);
    dx_supervisor_config config = dx_supervisor_defaults(framing, (const char *const *)argv + 2);
    dx_supervisor *supervisor;
    dx_loop *loop;
    config.on_state = on_state;
    if (!framing || dx_loop_new(NULL, &loop, NULL) != DX_OK)
        return 2;
    config.user = loop;
    dx_supervisor_new(loop, &config, &supervisor);
    dx_supervisor_start(supervisor);
    dx_loop_run(loop);
    dx_loop_free(loop);
}
