#include "duplex-bench.h"

#include <signal.h>
#include <string.h>

struct echo {
    struct asker asker;
    size_t count; /* of our own questions, once the first of the host came */
    bool mute;    /* never answers */
    dx_loop *loop;
};

static void on_request(dx_link *link, const dx_event *event, void *user) {
    struct echo *echo = user;
    dx_event *kept;
    if (echo->mute) {
        need(dx_link_keep(link, &kept) == DX_OK, "a request can't be kept");
        return;
    }
    on_echo(link, event, NULL);
    if (echo->asker.count == echo->count)
        return;
    echo->asker.count = echo->count;
    ask_more(&echo->asker);
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    struct echo *echo = user;
    (void)link;
    need(why->fault == DX_FAULT_NONE, why->phrase);
    dx_loop_stop(echo->loop);
}

static const dx_handler handlers[] = {{"echo", on_request}, {NULL, NULL}};

int main(int argc, char **argv) {
    (void)argc;
    argv++;
    struct form form = take_form(&argv);
    struct job job = echo_job_of(argv);
    struct echo echo = {.asker = {.form = &form, .inflight = job.inflight}, .count = job.count};
    if (job.count)
        ask_for_size(&echo.asker, job.size);
    dx_link_config config = link_config(&form, DX_SIDE_PLUGIN);
    config.handlers = handlers;
    config.on_closed = on_closed;
    config.user = &echo;
    echo.mute = *argv && strcmp(*argv, "mute") == 0;
    if (echo.mute)
        config.peer.requests_max = 1 << 20;
    signal(SIGPIPE, SIG_IGN);
    need(dx_loop_new(NULL, &echo.loop, NULL) == DX_OK, "no loop");
    dx_loop_set_busy_poll(echo.loop, form.busy);
    need(dx_link_stdio(echo.loop, &config, &echo.asker.link, NULL) == DX_OK, "no link");
    need(dx_loop_run(echo.loop) == DX_OK, "waiting failed");
    dx_loop_free(echo.loop);
    return 0;
}
