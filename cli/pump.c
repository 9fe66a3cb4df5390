#include "cli/pump.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

const char *cli_pump_open(struct cli_pump *pump) {
    *pump = (struct cli_pump){.epoll = epoll_create1(EPOLL_CLOEXEC)};
    if (pump->epoll < 0)
        return strerror(errno);
    if (dx_loop_new(NULL, &pump->loop, NULL) != DX_OK)
        return "no memory";
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(pump->epoll, EPOLL_CTL_ADD, dx_loop_fd(pump->loop), &event) < 0)
        return strerror(errno);
    return NULL;
}

void cli_pump_close(struct cli_pump *pump) {
    pump->loop = dx_loop_free(pump->loop);
    if (pump->epoll >= 0)
        close(pump->epoll);
    pump->epoll = -1;
}

bool cli_pump_add(struct cli_pump *pump, struct cli_pump_source *source) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    return epoll_ctl(pump->epoll, EPOLL_CTL_ADD, source->fd, &event) == 0;
}

void cli_pump_remove(struct cli_pump *pump, struct cli_pump_source *source) {
    if (source->fd < 0)
        return;
    epoll_ctl(pump->epoll, EPOLL_CTL_DEL, source->fd, NULL);
    close(source->fd);
    source->fd = -1;
}

/* One event a turn: what it does may remove the source of the next. */
void cli_pump_turn(struct cli_pump *pump) {
    struct epoll_event event;
    sigset_t none;
    sigemptyset(&none);
    int count = epoll_pwait(pump->epoll, &event, 1, dx_loop_wait_ms(pump->loop), &none);
    if (count == 1 && event.data.ptr) {
        struct cli_pump_source *source = event.data.ptr;
        source->ready(source->user);
    }
    dx_loop_dispatch(pump->loop);
}
