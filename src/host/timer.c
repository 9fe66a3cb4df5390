/* A time of the user's own, on the loop. */
#include "base/alloc.h"
#include "host/host.h"

struct dx_timer {
    dx__thing thing;
    dx__due due;
    dx_timer *next_again; /* of those that are due in the next dispatch */
    bool again;
    void (*on_time)(dx_timer *timer, void *user);
    void *user;
    bool freed;
};

static void fire(dx__due *due) {
    dx_timer *timer = DX__OWNER(due, dx_timer, due);
    dx_loop *loop = timer->thing.loop;
    loop->firing = true;
    timer->on_time(timer, timer->user);
    loop->firing = false;
}

static void release(dx__thing *thing) {
    dx__free(&thing->loop->alloc, DX__OWNER(thing, dx_timer, thing));
}

static void not_again(dx_timer *timer) {
    dx_timer **at = &timer->thing.loop->again;
    if (!timer->again)
        return;
    while (*at != timer)
        at = &(*at)->next_again;
    *at = timer->next_again;
    timer->again = false;
}

void dx__timers_again(dx_loop *loop) {
    for (dx_timer *timer; (timer = loop->again);) {
        not_again(timer);
        dx__due_set(loop, &timer->due, loop->now);
    }
}

dx_timer *dx_timer_free(dx_timer *timer) {
    if (!timer || timer->freed)
        return NULL;
    not_again(timer);
    timer->freed = true;
    dx__due_done(timer->thing.loop, &timer->due);
    dx__thing_end(&timer->thing);
    return NULL;
}

static void kill_timer(dx__thing *thing) {
    dx_timer_free(DX__OWNER(thing, dx_timer, thing));
}

dx_status dx_timer_new(dx_loop *loop, void (*on_time)(dx_timer *timer, void *user), void *user,
                       dx_timer **ret_timer) {
    dx_timer *timer = dx__malloc(&loop->alloc, sizeof *timer);
    if (!timer)
        return DX_ERR_NOMEM;
    *timer = (dx_timer){.on_time = on_time, .user = user};
    timer->thing = (dx__thing){.release = release, .kill = kill_timer};
    dx_status status = dx__due_init(loop, &timer->due, fire);
    if (status != DX_OK) {
        dx__free(&loop->alloc, timer);
        return status;
    }
    dx__thing_add(loop, &timer->thing);
    *ret_timer = timer;
    return DX_OK;
}

void dx_timer_set(dx_timer *timer, uint64_t ms) {
    dx_loop *loop = timer->thing.loop;
    if (timer->freed)
        return;
    not_again(timer);
    /* Who is always due again at once would keep everybody else out of the dispatch at hand. */
    if (loop->firing && ms == 0) {
        timer->again = true;
        timer->next_again = loop->again;
        loop->again = timer;
        ms = DX_NEVER;
    }
    dx__due_set(loop, &timer->due, ms == DX_NEVER ? DX_NEVER : dx__loop_later(loop, ms));
}
