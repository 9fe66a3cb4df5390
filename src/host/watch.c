/* A descriptor of the user's own, on the loop. */
#include "base/alloc.h"
#include "host/host.h"

struct dx_watch {
    dx__thing thing;
    dx__watch watch;
    void (*on_ready)(dx_watch *watch, unsigned ready, void *user);
    void *user;
    bool freed;
};

static uint32_t events_of(unsigned wanted) {
    return (wanted & DX_WATCH_READ ? (uint32_t)EPOLLIN : 0) |
           (wanted & DX_WATCH_WRITE ? (uint32_t)EPOLLOUT : 0);
}

/* An end and an error are for whoever waits, whatever for. */
static bool ready(dx__watch *part, uint32_t events) {
    dx_watch *watch = DX__OWNER(part, dx_watch, watch);
    bool over = events & (EPOLLHUP | EPOLLERR);
    unsigned what = 0;
    if (part->events & EPOLLIN && (over || events & EPOLLIN))
        what |= DX_WATCH_READ;
    if (part->events & EPOLLOUT && (over || events & EPOLLOUT))
        what |= DX_WATCH_WRITE;
    if (what)
        watch->on_ready(watch, what, watch->user);
    return what != 0;
}

static void release(dx__thing *thing) {
    dx__free(&thing->loop->alloc, DX__OWNER(thing, dx_watch, thing));
}

dx_watch *dx_watch_free(dx_watch *watch) {
    if (!watch || watch->freed)
        return NULL;
    watch->freed = true;
    dx__watch_stop(&watch->watch);
    dx__thing_end(&watch->thing);
    return NULL;
}

static void kill_watch(dx__thing *thing) {
    dx_watch_free(DX__OWNER(thing, dx_watch, thing));
}

dx_status dx_watch_new(dx_loop *loop, int fd, unsigned wanted,
                       void (*on_ready)(dx_watch *watch, unsigned ready, void *user), void *user,
                       dx_watch **ret_watch) {
    dx_watch *watch = fd < 0 ? NULL : dx__malloc(&loop->alloc, sizeof *watch);
    if (!watch)
        return fd < 0 ? DX_ERR_INVALID : DX_ERR_NOMEM;
    *watch = (dx_watch){.on_ready = on_ready, .user = user};
    watch->thing = (dx__thing){.release = release, .kill = kill_watch};
    watch->watch.ready = ready;
    /* Asked for nothing, epoll is not asked either, and would not say that it can't. */
    dx_status status = dx__watch_start(loop, &watch->watch, fd, EPOLLIN);
    if (status == DX_OK && watch->watch.always_ready)
        status = DX_ERR_INVALID;
    if (status == DX_OK && !dx__watch_set(&watch->watch, events_of(wanted)))
        status = DX_ERR_SYSTEM;
    if (status != DX_OK) {
        dx__watch_stop(&watch->watch);
        dx__free(&loop->alloc, watch);
        return status;
    }
    dx__thing_add(loop, &watch->thing);
    *ret_watch = watch;
    return DX_OK;
}

dx_status dx_watch_set(dx_watch *watch, unsigned wanted) {
    return dx__watch_set(&watch->watch, events_of(wanted)) ? DX_OK : DX_ERR_SYSTEM;
}
