#include "base/alloc.h"
#include "host/host.h"

#include <duplex/watchers.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct watcher {
    dx__thing thing;
    dx__watch watch;
    dx_trace_writer *writer;
    struct dx_watchers *all;
    struct watcher *next;
    bool gone;
};

struct dx_watchers {
    dx__thing thing;
    dx_watchers_config config;
    dx_listener *listener;
    struct watcher *first;
    unsigned count;
    dx__turn turn;
    uint64_t start_us; /* the traces of all count from here */
    uint64_t unix_ms;
    bool freed;
};

dx_watchers_config dx_watchers_defaults(void) {
    return (dx_watchers_config){.most = 16, .waiting_max = 1 << 20};
}

/* One of them. */

static void release_one(dx__thing *thing) {
    struct watcher *watcher = DX__OWNER(thing, struct watcher, thing);
    dx_allocator alloc = thing->loop->alloc;
    dx_trace_writer_free(watcher->writer);
    dx__free(&alloc, watcher);
}

static void drop(struct watcher *watcher) {
    struct watcher **link = &watcher->all->first;
    if (watcher->gone)
        return;
    watcher->gone = true;
    while (*link != watcher)
        link = &(*link)->next;
    *link = watcher->next;
    watcher->all->count--;
    dx__watch_close(&watcher->watch);
    dx__thing_end(&watcher->thing);
}

static void kill_one(dx__thing *thing) {
    drop(DX__OWNER(thing, struct watcher, thing));
}

/* False if it is gone. */
static bool flush(struct watcher *watcher) {
    for (dx_text out; (out = dx_trace_output(watcher->writer)).len;) {
        ssize_t n = send(watcher->watch.fd, out.at, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            (void)dx__watch_set(&watcher->watch, EPOLLIN | EPOLLOUT); /* else with the next turn */
            return true;
        }
        if (n < 0) {
            drop(watcher);
            return false;
        }
        dx_trace_sent(watcher->writer, (size_t)n);
    }
    (void)dx__watch_set(&watcher->watch, EPOLLIN);
    return true;
}

/* They have nothing to say; but that one leaves is heard like that. */
static bool ready(dx__watch *watch, uint32_t events) {
    struct watcher *watcher = DX__OWNER(watch, struct watcher, watch);
    char nothing[512];
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        ssize_t n = recv(watch->fd, nothing, sizeof nothing, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            drop(watcher);
            return true;
        }
    }
    if (events & EPOLLOUT)
        flush(watcher);
    return true;
}

static dx_status new_writer(const dx_watchers *watchers, dx_trace_writer **ret_writer) {
    dx_trace_writer_config config = dx_trace_writer_defaults();
    config.waiting_max = watchers->config.waiting_max;
    config.start_us = watchers->start_us;
    config.unix_ms = watchers->unix_ms;
    config.redact = watchers->config.redact;
    config.allocator = &watchers->thing.loop->alloc;
    return dx_trace_writer_new(&config, ret_writer);
}

dx_status dx_watchers_add(dx_watchers *watchers, int fd) {
    dx_loop *loop = watchers->thing.loop;
    if (watchers->count >= watchers->config.most)
        return DX_BUSY;
    struct watcher *watcher = dx__malloc(&loop->alloc, sizeof *watcher);
    if (!watcher)
        return DX_ERR_NOMEM;
    *watcher = (struct watcher){.all = watchers, .next = watchers->first};
    watcher->thing = (dx__thing){.loop = loop, .release = release_one, .kill = kill_one};
    watcher->watch = (dx__watch){.fd = -1, .ready = ready};
    dx_status status = new_writer(watchers, &watcher->writer);
    if (status == DX_OK)
        status = dx__watch_start(loop, &watcher->watch, fd, EPOLLIN);
    if (status != DX_OK) {
        release_one(&watcher->thing);
        return status;
    }
    dx__thing_add(loop, &watcher->thing);
    watchers->first = watcher;
    watchers->count++;
    dx__turn_want(loop, &watchers->turn); /* for the header */
    return DX_OK;
}

/* All of them. */

static void on_turn(dx__turn *turn) {
    dx_watchers *watchers = DX__OWNER(turn, dx_watchers, turn);
    for (struct watcher *watcher = watchers->first, *next; watcher; watcher = next) {
        next = watcher->next;
        flush(watcher);
    }
}

void dx_watchers_write(dx_watchers *watchers, const dx_trace_record *record) {
    if (!watchers || !watchers->first)
        return;
    for (struct watcher *watcher = watchers->first; watcher; watcher = watcher->next)
        (void)dx_trace_write(watcher->writer, record);
    dx__turn_want(watchers->thing.loop, &watchers->turn);
}

unsigned dx_watchers_count(const dx_watchers *watchers) {
    return watchers->count;
}

/* Those who have all leave. */
static void flush_and_leave(dx_watchers *watchers) {
    for (struct watcher *watcher = watchers->first, *next; watcher; watcher = next) {
        next = watcher->next;
        if (flush(watcher) && !dx_trace_output(watcher->writer).len)
            drop(watcher);
    }
}

void dx_watchers_finish(dx_watchers *watchers, unsigned ms) {
    enum { TICK_MS = 5 };
    uint64_t end = dx__clock_ms() + ms;
    bool ours = dx__loop_is_ours(watchers->thing.loop);
    if (ours)
        flush_and_leave(watchers);
    while (ours && watchers->first && dx__clock_ms() < end) {
        (void)poll(NULL, 0, TICK_MS);
        flush_and_leave(watchers);
    }
    while (watchers->first)
        drop(watchers->first);
}

static void on_connect(dx_listener *listener, int fd, void *user) {
    (void)listener;
    if (dx_watchers_add(user, fd) != DX_OK)
        close(fd);
}

/* A socket of ours to which nobody listens: whoever made it was killed. */
static bool is_left_behind(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat stat;
    if (strlen(path) >= sizeof address.sun_path || lstat(path, &stat) < 0 ||
        !S_ISSOCK(stat.st_mode) || stat.st_uid != geteuid())
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    bool refused =
        connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno == ECONNREFUSED;
    close(fd);
    return refused;
}

static dx_status listen_on(dx_watchers *watchers, const char *path, dx_error *reterr) {
    char address[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 8];
    if (snprintf(address, sizeof address, "unix:%s", path) >= (int)sizeof address)
        return dx__system_error(reterr, DX_FAULT_SYSTEM, "use the path", path, ENAMETOOLONG);
    if (is_left_behind(path))
        unlink(path);
    dx_listener_config config = {.on_connect = on_connect, .user = watchers};
    return dx_listener_open(watchers->thing.loop, address, &config, &watchers->listener, reterr);
}

static void release(dx__thing *thing) {
    dx_allocator alloc = thing->loop->alloc;
    dx__free(&alloc, DX__OWNER(thing, dx_watchers, thing));
}

dx_watchers *dx_watchers_free(dx_watchers *watchers) {
    if (!watchers || watchers->freed)
        return NULL;
    watchers->freed = true;
    while (watchers->first)
        drop(watchers->first);
    dx_listener_free(watchers->listener);
    dx__turn_drop(watchers->thing.loop, &watchers->turn);
    dx__thing_end(&watchers->thing);
    return NULL;
}

static void kill_all(dx__thing *thing) {
    dx_watchers_free(DX__OWNER(thing, dx_watchers, thing));
}

/* What no watcher could be served with is refused before there is one. */
static dx_status start(dx_watchers *watchers, dx_error *reterr) {
    dx_trace_writer *writer;
    dx_status status = new_writer(watchers, &writer);
    if (status != DX_OK)
        return dx__refused(reterr, status, "make watchers with this configuration");
    dx_trace_writer_free(writer);
    const char *path = watchers->config.path;
    return path ? listen_on(watchers, path, reterr) : DX_OK;
}

dx_status dx_watchers_open(dx_loop *loop, const dx_watchers_config *config,
                           dx_watchers **ret_watchers, dx_error *reterr) {
    struct timespec wall;
    dx_watchers *watchers = dx__malloc(&loop->alloc, sizeof *watchers);
    if (!watchers)
        return dx__refused(reterr, DX_ERR_NOMEM, "make watchers");
    clock_gettime(CLOCK_REALTIME, &wall);
    *watchers = (dx_watchers){
        .config = *config,
        .start_us = dx__clock_us(),
        .unix_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000,
        .turn = {.take = on_turn},
    };
    watchers->thing = (dx__thing){.loop = loop, .release = release, .kill = kill_all};
    dx_status status = start(watchers, reterr);
    if (status != DX_OK) {
        release(&watchers->thing);
        return status;
    }
    dx__thing_add(loop, &watchers->thing);
    *ret_watchers = watchers;
    return DX_OK;
}
