#include "base/alloc.h"
#include "base/line.h"
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Events that are taken at once; how often before times are looked at; every so many looks at the
 * hot one, one at all. */
enum { EVENTS = 64, ROUNDS = 16, ALL = 8 };

/* Apart from what asks for it, like others below: a local whose address is taken makes the whole of
 * a function guard its stack. */
__attribute__((noinline)) uint64_t dx__clock_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

uint64_t dx__clock_ms(void) {
    return dx__clock_us() / 1000;
}

/* Asking for our number would be a system call each time. */
static char *make_mark(void) {
    void *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, 1, MADV_WIPEONFORK) < 0) {
        munmap(page, 1);
        return NULL;
    }
    *(char *)page = 1;
    return page;
}

bool dx__loop_is_ours(const dx_loop *loop) {
    return *loop->ours;
}

uint64_t dx__loop_later(dx_loop *loop, uint64_t ms) {
    if (!loop->dispatching)
        loop->now = dx__clock_ms();
    return dx__later(loop->now, ms);
}

int dx__high_fd(int fd) {
    if (fd < 0 || fd > 2)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high;
}

dx_status dx__system_error(dx_error *error, dx_fault fault, const char *what, const char *object,
                           int number) {
    char reason[100];
    if (!error)
        return DX_ERR_SYSTEM;
    dx__error_set(error, fault, 0, 0, 0);
    error->system = number;
    dx__line line = dx__line_on(error->phrase, sizeof error->phrase);
    dx__line_str(&line, "cannot ");
    dx__line_str(&line, what);
    if (object) {
        dx__line_str(&line, " ");
        dx__line_str(&line, object);
    }
    dx__line_str(&line, ": ");
    dx__line_str(&line, strerror_r(number, reason, sizeof reason));
    return DX_ERR_SYSTEM;
}

dx_status dx__refused(dx_error *error, dx_status status, const char *what) {
    (void)dx__system_error(error, DX_FAULT_SYSTEM, what, NULL,
                           status == DX_ERR_NOMEM ? ENOMEM : EINVAL);
    return status;
}

__attribute__((noinline)) static bool watch_change(dx__watch *watch, uint32_t events) {
    if (!dx__loop_is_ours(watch->loop)) { /* the copy of an epoll is the same one */
        errno = EPERM;
        return false;
    }
    struct epoll_event event = {.events = events, .data.ptr = watch};
    int what = !watch->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (!watch->always_ready && epoll_ctl(watch->loop->epoll, what, watch->fd, &event) < 0) {
        if (errno != EPERM)
            return false;
        watch->always_ready = true;
    }
    watch->events = events;
    return true;
}

/* What is waited for nothing is not in the epoll at all: being there costs something each time the
 * other side reads or writes. */
bool dx__watch_set(dx__watch *watch, uint32_t events) {
    return watch->fd < 0 || watch->events == events || watch_change(watch, events);
}

__attribute__((noinline)) bool dx__watch_again(const dx__watch *watch) {
    struct epoll_event event = {.events = watch->events, .data.ptr = (void *)(uintptr_t)watch};
    return watch->fd < 0 || !(watch->events & EPOLLET) ||
           epoll_ctl(watch->loop->epoll, EPOLL_CTL_MOD, watch->fd, &event) == 0;
}

dx_status dx__watch_start(dx_loop *loop, dx__watch *watch, int fd, uint32_t events) {
    watch->loop = loop;
    watch->fd = fd;
    watch->events = 0;
    watch->always_ready = false;
    if (dx__watch_set(watch, events))
        return DX_OK;
    watch->fd = -1;
    return DX_ERR_SYSTEM;
}

void dx__watch_stop(dx__watch *watch) {
    if (watch->fd >= 0 && watch->loop->hot == watch)
        watch->loop->hot = NULL;
    if (watch->fd >= 0 && dx__loop_is_ours(watch->loop))
        (void)dx__watch_set(watch, 0);
    watch->fd = -1;
}

void dx__watch_close(dx__watch *watch) {
    int fd = watch->fd;
    dx__watch_stop(watch);
    if (fd >= 0)
        close(fd);
}

/* The heap counts one place for every thing that was born, so that no timer is refused. */
dx_status dx__due_init(dx_loop *loop, dx__due *due, void (*fire)(dx__due *due)) {
    *due = (dx__due){.fire = fire};
    dx_status status = dx__heap_reserve(&loop->heap, ++loop->timers);
    if (status != DX_OK)
        loop->timers--;
    return status;
}

void dx__due_set(dx_loop *loop, dx__due *due, uint64_t when) {
    dx__heap_move(&loop->heap, &due->timer, when);
}

void dx__due_done(dx_loop *loop, dx__due *due) {
    dx__heap_drop(&loop->heap, &due->timer);
    loop->timers--;
}

__attribute__((noinline)) static void wake(dx_loop *loop) {
    uint64_t one = 1;
    if (dx__loop_is_ours(loop))
        (void)!write(loop->wake.fd, &one, sizeof one);
}

static void wake_embedder(dx_loop *loop) {
    if (loop->woken)
        return;
    loop->woken = true;
    wake(loop);
}

void dx__turn_want(dx_loop *loop, dx__turn *turn) {
    if (turn->waiting)
        return;
    turn->waiting = true;
    turn->next = NULL;
    *loop->turns_end = turn;
    loop->turns_end = &turn->next;
    if (loop->embedded && !loop->dispatching)
        wake_embedder(loop);
}

void dx__turn_drop(dx_loop *loop, dx__turn *turn) {
    if (!turn->waiting)
        return;
    dx__turn **link = &loop->turns;
    while (*link != turn)
        link = &(*link)->next;
    *link = turn->next;
    if (!*link)
        loop->turns_end = link;
    turn->waiting = false;
}

void dx__thing_add(dx_loop *loop, dx__thing *thing) {
    thing->loop = loop;
    thing->prev = NULL;
    thing->next = loop->things;
    if (thing->next)
        thing->next->prev = thing;
    loop->things = thing;
}

void dx__thing_end(dx__thing *thing) {
    dx_loop *loop = thing->loop;
    *(thing->prev ? &thing->prev->next : &loop->things) = thing->next;
    if (thing->next)
        thing->next->prev = thing->prev;
    if (!loop->dispatching) {
        thing->release(thing);
        return;
    }
    thing->next = loop->graves;
    loop->graves = thing;
}

static void bury(dx_loop *loop) {
    for (dx__thing *thing; (thing = loop->graves);) {
        loop->graves = thing->next;
        thing->release(thing);
    }
}

/* Of an eventfd or a timerfd: it is readable no more. */
static void empty(const dx__watch *watch) {
    uint64_t count;
    (void)!read(watch->fd, &count, sizeof count);
}

static bool woken(dx__watch *watch, uint32_t events) {
    (void)events;
    empty(watch);
    watch->loop->woken = false;
    return true;
}

static bool clock_rang(dx__watch *watch, uint32_t events) {
    (void)events;
    empty(watch);
    watch->loop->set_to = DX_NEVER;
    return true;
}

__attribute__((noinline)) static void change_clock(dx_loop *loop, uint64_t when) {
    struct itimerspec spec = {.it_value = {(time_t)(when / 1000), (long)(when % 1000) * 1000000}};
    if (!when)
        spec.it_value.tv_nsec = 1;
    if (timerfd_settime(loop->clock.fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
        loop->set_to = when;
}

/* What is set stays if it is earlier: it rings once for nothing, and then right. */
static void set_clock(dx_loop *loop) {
    uint64_t when = dx_loop_deadline(loop);
    if (when < loop->set_to)
        change_clock(loop, when);
}

static void run_posts(dx_loop *loop) {
    /* One that comes just now wakes us up again. */
    if (!__atomic_load_n(&loop->posts, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&loop->lock);
    struct dx__post *post = loop->posts;
    __atomic_store_n(&loop->posts, NULL, __ATOMIC_RELAXED);
    loop->posts_end = &loop->posts;
    pthread_mutex_unlock(&loop->lock);
    while (post) {
        struct dx__post *next = post->next;
        if (!loop->freed)
            post->function(post->user);
        free(post);
        post = next;
    }
}

static void run_turns(dx_loop *loop) {
    for (dx__turn *turn; (turn = loop->turns);) {
        loop->turns = turn->next;
        if (!loop->turns)
            loop->turns_end = &loop->turns;
        turn->waiting = false;
        turn->take(turn);
    }
}

static bool watch_new(dx_loop *loop, dx__watch *watch, int fd) {
    if (fd < 0 || dx__watch_start(loop, watch, fd, EPOLLIN) == DX_OK)
        return fd >= 0;
    int number = errno;
    close(fd);
    errno = number;
    return false;
}

static bool open_loop(dx_loop *loop) {
    loop->ours = make_mark();
    loop->epoll = loop->ours ? dx__high_fd(epoll_create1(EPOLL_CLOEXEC)) : -1;
    return loop->epoll >= 0 &&
           watch_new(loop, &loop->wake, dx__high_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) &&
           watch_new(loop, &loop->clock,
                     dx__high_fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)));
}

static void close_loop(dx_loop *loop) {
    dx__watch_close(&loop->wake);
    dx__watch_close(&loop->clock);
    if (loop->epoll >= 0)
        close(loop->epoll);
    if (loop->ours)
        munmap(loop->ours, 1);
}

dx_status dx_loop_new(const dx_allocator *allocator, dx_loop **ret_loop, dx_error *reterr) {
    dx_allocator alloc = dx__allocator(allocator);
    dx_loop *loop = dx__malloc(&alloc, sizeof *loop);
    if (!loop)
        return dx__refused(reterr, DX_ERR_NOMEM, "make a loop");
    *loop = (dx_loop){.alloc = alloc, .guardian = -1, .guardian_other = -1, .set_to = DX_NEVER};
    loop->guarded.fd = -1;
    loop->turns_end = &loop->turns;
    loop->posts_end = &loop->posts;
    loop->now = dx__clock_ms();
    loop->wake = (dx__watch){.fd = -1, .ready = woken};
    loop->clock = (dx__watch){.fd = -1, .ready = clock_rang};
    dx__heap_init(&loop->heap, &alloc);
    if (!open_loop(loop)) {
        dx_status status = dx__system_error(reterr, DX_FAULT_SYSTEM, "make a loop", NULL, errno);
        close_loop(loop);
        dx__free(&alloc, loop);
        return status;
    }
    pthread_mutex_init(&loop->lock, NULL);
    *ret_loop = loop;
    return DX_OK;
}

/* Inside a dispatch of its own all things end at once, but the loop itself, whose frames are still
 * on the stack, goes when that ends. */
dx_loop *dx_loop_free(dx_loop *loop) {
    if (!loop)
        return NULL;
    bool inside = loop->dispatching;
    loop->stopped = true;
    /* Some belong to others, which free them again: so none is released before all have ended. */
    loop->dispatching = true;
    while (loop->things)
        loop->things->kill(loop->things);
    loop->dispatching = inside;
    if (inside) {
        loop->freed = true;
        return NULL;
    }
    bury(loop);
    dx__guardian_done(loop);
    for (struct dx__post *post; (post = loop->posts);) {
        loop->posts = post->next;
        free(post);
    }
    close_loop(loop);
    dx__heap_done(&loop->heap);
    pthread_mutex_destroy(&loop->lock);
    dx_allocator alloc = loop->alloc;
    dx__free(&alloc, loop);
    return NULL;
}

int dx_loop_fd(dx_loop *loop) {
    loop->embedded = true;
    if (loop->turns && !loop->dispatching)
        wake_embedder(loop);
    return loop->epoll;
}

uint64_t dx_loop_now(const dx_loop *loop) {
    return loop->now;
}

uint64_t dx_loop_deadline(const dx_loop *loop) {
    return dx__heap_next(&loop->heap);
}

int dx_loop_wait_ms(const dx_loop *loop) {
    uint64_t deadline = dx_loop_deadline(loop);
    uint64_t now = dx__clock_ms();
    if (deadline == DX_NEVER)
        return -1;
    uint64_t left = deadline > now ? deadline - now : 0;
    return left > 3600000 ? 3600000 : (int)left;
}

/* Behind what came: posts, times, turns, graves. */
static void finish_dispatch(dx_loop *loop) {
    run_posts(loop);
    for (dx__timer *timer; !loop->freed && (timer = dx__heap_due(&loop->heap, loop->now));) {
        dx__due *due = (dx__due *)timer;
        due->fire(due);
    }
    dx__timers_again(loop);
    run_turns(loop);
    bury(loop);
    loop->dispatching = false;
}

/* Everything that can be read is read before a deadline counts: who was late because we were gets
 * the benefit. */
static void dispatch(dx_loop *loop, struct epoll_event *events, int count) {
    loop->dispatching = true;
    loop->dispatches++;
    loop->now = dx__clock_ms();
    for (int round = 0; !loop->freed; round++) {
        for (int i = 0; i < count && !loop->freed; i++) {
            dx__watch *watch = events[i].data.ptr;
            if (watch->fd < 0) /* it was stopped by one before it */
                continue;
            if (watch->may_be_hot)
                loop->hot = watch;
            watch->ready(watch, events[i].events);
        }
        run_turns(loop);
        if (count < EVENTS || round == ROUNDS)
            break;
        count = epoll_wait(loop->epoll, events, EVENTS, 0);
    }
    finish_dispatch(loop);
}

void dx_loop_dispatch(dx_loop *loop) {
    struct epoll_event events[EVENTS];
    if (loop->dispatching || !dx__loop_is_ours(loop))
        return;
    dispatch(loop, events, epoll_wait(loop->epoll, events, EVENTS, 0));
    if (loop->freed)
        dx_loop_free(loop);
}

void dx_loop_set_busy_poll(dx_loop *loop, uint64_t us) {
    loop->busy_us = us;
}

/* Reading right away costs less than asking whether there is something to read. */
static bool look_hot(dx_loop *loop) {
    if (!loop->hot || !(loop->hot->events & EPOLLIN))
        return false;
    loop->dispatching = true;
    loop->dispatches++;
    bool came = loop->hot->ready(loop->hot, EPOLLIN);
    if (came) {
        run_turns(loop);
        finish_dispatch(loop);
    }
    loop->dispatching = false;
    return came;
}

/* True if something came and was dealt with. Who runs on the same processor must be able to answer
 * in the meantime: so others go first. And now and then all are asked, not only the one from which
 * most comes. */
static bool look_busily(dx_loop *loop, struct epoll_event *events) {
    uint64_t end = 0;
    uint64_t now;
    do {
        sched_yield();
        now = dx__clock_us();
        end = end ? end : now + loop->busy_us;
        loop->now = now / 1000;
        if (++loop->looks % ALL && look_hot(loop))
            return true;
        int count = loop->looks % ALL && loop->hot ? 0 : epoll_wait(loop->epoll, events, EVENTS, 0);
        if (count > 0) {
            dispatch(loop, events, count);
            return true;
        }
    } while (now < end);
    return false;
}

/* What was said before we run goes out first, without asking for more. */
static void take_turns(dx_loop *loop) {
    loop->dispatching = true;
    loop->dispatches++;
    run_turns(loop);
    loop->dispatching = false;
}

dx_status dx__loop_run(dx_loop *loop, bool *ret_freed) {
    *ret_freed = false;
    if (loop->dispatching)
        return DX_BUSY;
    loop->stopped = !dx__loop_is_ours(loop);
    while (!loop->stopped) {
        struct epoll_event events[EVENTS];
        if (loop->turns)
            take_turns(loop);
        set_clock(loop);
        if (!loop->busy_us || loop->stopped || !look_busily(loop, events)) {
            int count = loop->stopped ? 0 : epoll_wait(loop->epoll, events, EVENTS, -1);
            if (count < 0 && errno != EINTR)
                return DX_ERR_SYSTEM;
            dispatch(loop, events, count);
        }
        if (loop->freed) {
            dx_loop_free(loop);
            *ret_freed = true;
            return DX_OK;
        }
    }
    return DX_OK;
}

dx_status dx_loop_run(dx_loop *loop) {
    bool freed;
    return dx__loop_run(loop, &freed);
}

void dx_loop_stop(dx_loop *loop) {
    loop->stopped = true;
}

dx_status dx_loop_post(dx_loop *loop, void (*function)(void *user), void *user) {
    /* Not the loop's allocator: that need not be fit for several threads. */
    struct dx__post *post = malloc(sizeof *post);
    if (!post)
        return DX_ERR_NOMEM;
    *post = (struct dx__post){.function = function, .user = user};
    pthread_mutex_lock(&loop->lock);
    __atomic_store_n(loop->posts_end, post, __ATOMIC_RELAXED);
    loop->posts_end = &post->next;
    wake(loop);
    pthread_mutex_unlock(&loop->lock);
    return DX_OK;
}
