/* host COUNT PROGRAM ARG…: starts COUNT children, asks each once, says "ready" when all have
 * answered, and runs on until somebody kills it. With a COUNT like "+5" it has forked a copy of
 * itself by then, which has copies of all descriptors and never leaves. */
#include <duplex/child.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int waiting;
static int forks;

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    (void)user;
    if (event->outcome != DX_OUTCOME_RESULT)
        exit(3);
    if (--waiting == 0) {
        if (forks && fork() == 0)
            for (;;)
                pause();
        puts("ready");
        fflush(stdout);
    }
}

static void start(dx_loop *loop, const char *const *argv) {
    dx_child_config config = dx_child_defaults(DX_FRAMING_LINE, argv);
    dx_link_call_options options = {.on_done = on_done};
    dx_child *child;
    dx_error error = {0};
    if (dx_child_start(loop, &config, &child, &error) != DX_OK) {
        fprintf(stderr, "host: %s\n", error.phrase);
        exit(2);
    }
    if (dx_link_call(dx_child_link(child), dx_str("hello"), dx_json_none(), &options, NULL) !=
        DX_OK)
        exit(4);
}

int main(int argc, char **argv) {
    dx_loop *loop;
    if (argc < 3 || dx_loop_new(NULL, &loop, NULL) != DX_OK)
        return 1;
    waiting = atoi(argv[1]);
    forks = argv[1][0] == '+';
    for (int i = waiting; i > 0; i--)
        start(loop, (const char *const *)argv + 2);
    return dx_loop_run(loop) != DX_OK;
}
