/* Duplex in libuv's loop: its descriptor as a poll handle, its deadline as a timer that is set anew
 * before each wait. Usage: libuv header|line COMMAND [ARG…] */
#include "scene.h"

#include <uv.h>

struct embedded {
    struct scene scene;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_prepare_t prepare;
};

static void dispatch(struct embedded *embedded) {
    dx_loop_dispatch(embedded->scene.loop);
    if (embedded->scene.over) {
        uv_poll_stop(&embedded->poll);
        uv_timer_stop(&embedded->timer);
        uv_prepare_stop(&embedded->prepare);
    }
}

static void on_timer(uv_timer_t *timer) {
    dispatch(timer->data);
}

static void on_readable(uv_poll_t *poll, int status, int events) {
    (void)status;
    (void)events;
    dispatch(poll->data);
}

static void before_waiting(uv_prepare_t *prepare) {
    struct embedded *embedded = prepare->data;
    int ms = dx_loop_wait_ms(embedded->scene.loop);
    if (ms < 0)
        uv_timer_stop(&embedded->timer);
    else
        uv_timer_start(&embedded->timer, on_timer, (uint64_t)ms, 0);
}

int main(int argc, char **argv) {
    struct embedded embedded;
    uv_loop_t *loop = uv_default_loop();
    if (!scene_start(&embedded.scene, argc, argv))
        return 2;
    uv_poll_init(loop, &embedded.poll, dx_loop_fd(embedded.scene.loop));
    uv_timer_init(loop, &embedded.timer);
    uv_prepare_init(loop, &embedded.prepare);
    embedded.poll.data = embedded.timer.data = embedded.prepare.data = &embedded;
    uv_poll_start(&embedded.poll, UV_READABLE, on_readable);
    uv_prepare_start(&embedded.prepare, before_waiting);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&embedded.poll, NULL);
    uv_close((uv_handle_t *)&embedded.timer, NULL);
    uv_close((uv_handle_t *)&embedded.prepare, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    dx_loop_free(embedded.scene.loop);
    return 0;
}
