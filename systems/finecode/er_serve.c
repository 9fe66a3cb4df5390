/* A runner as a whole program. */
#include "systems/finecode/er_parts.h"

#include <signal.h>
#include <stdio.h>

static void complain(const char *what) {
    (void)fprintf(stderr, "finecode runner: %s\n", what);
}

static dx_status begin(dx_finecode_er *er, dx_loop *loop, bool by_tcp, dx_error *error) {
    unsigned port = 0;
    if (!by_tcp)
        return dx__finecode_er_open_stdio(er, loop, error);
    dx_status status = dx_finecode_er_listen(er, loop, &port, error);
    if (status == DX_OK) {
        (void)printf("Serving on ('127.0.0.1', %u)\n", port);
        (void)fflush(stdout);
    }
    return status;
}

/* The loop goes only if nobody else can have it any more: a job that has not ended may still use
 * it, and the process is about to end anyway. */
static int serve(dx_finecode_er *er, bool by_tcp) {
    dx_loop *loop = NULL;
    dx_error error = {.phrase = ""};
    if (!er)
        return 2;
    /* A manager may close its end at any time, and that must not be the end of who writes to it. */
    (void)signal(SIGPIPE, SIG_IGN);
    dx_status status = dx_loop_new(NULL, &loop, &error);
    if (status == DX_OK)
        status = begin(er, loop, by_tcp, &error);
    if (status != DX_OK) {
        complain(error.phrase[0] ? error.phrase : dx_status_name(status));
        dx_finecode_er_free(er);
        dx_loop_free(loop);
        return 2;
    }
    dx__finecode_er_hold(er);
    er->runs = true;
    er->code = 0;
    int code = dx_loop_run(loop) == DX_OK ? er->code : 2;
    dx_finecode_er_free(er);
    bool alone = er->refs == 1;
    dx__finecode_er_release(er);
    if (alone)
        dx_loop_free(loop);
    return code;
}

int dx_finecode_er_serve(dx_finecode_er *er) {
    return serve(er, false);
}

int dx_finecode_er_serve_tcp(dx_finecode_er *er) {
    return serve(er, true);
}
