/* A place where others connect, and who may. A connection is looked at in two steps before it is
 * handed over: whose it is, and whether it begins with a message. */
#include "base/alloc.h"
#include "base/line.h"
#include "frame/framer.h"
#include "host/host.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long nobody is let in when the system has no room for one more; how many connections may have
 * said nothing; how many of their bytes are looked at; how many refusals are reported a second. */
enum { FULL_MS = 100, SILENT_MAX = 64, PEEK = 64, REPORTS = 10 };

/* A connection that has not begun a message yet. */
struct silent {
    dx__thing thing;
    dx__watch watch;
    dx_listener *listener;
    struct silent *next;
};

struct dx_listener {
    dx__thing thing;
    dx__watch watch;
    dx__due due;
    dx_listener_config config;
    struct silent *silent; /* the oldest comes first */
    unsigned silent_count;
    uint64_t reports_since;
    unsigned reports;
    uint64_t unreported;
    bool freed;
    struct sockaddr_un path; /* to be removed; sun_path[0] is 0 for TCP */
};

/* Refusing. */

/* Reports it, unless there were many in this second; those are only counted. */
static void report(dx_listener *listener, const char *why, const uid_t *uid) {
    char phrase[200];
    uint64_t now = listener->thing.loop->now;
    if (now - listener->reports_since >= 1000) {
        listener->reports_since = now;
        listener->reports = 0;
    }
    if (listener->reports >= REPORTS || !listener->config.on_refused) {
        listener->unreported++;
        return;
    }
    dx__line line = dx__line_on(phrase, sizeof phrase);
    dx__line_str(&line, "refused a connection");
    if (uid) {
        dx__line_str(&line, " of user ");
        dx__line_num(&line, *uid);
    }
    dx__line_str(&line, ": ");
    dx__line_str(&line, why);
    if (listener->unreported) {
        dx__line_str(&line, " (and ");
        dx__line_num(&line, listener->unreported);
        dx__line_str(&line, " more before)");
    }
    listener->unreported = 0;
    listener->reports++;
    listener->config.on_refused(listener, phrase, listener->config.user);
}

/* Root can do anything anyway. */
static bool is_allowed(dx_listener *listener, int fd) {
    uid_t uid;
    if (listener->config.any_user)
        return true;
    if (!dx__socket_owner(fd, &uid)) {
        report(listener, "cannot determine which user made it", NULL);
        return false;
    }
    if (uid == geteuid() || uid == 0)
        return true;
    report(listener, "only the user who runs this program and root may connect", &uid);
    return false;
}

/* The first bytes. */

/* A method in capitals, or any word before a path, "*" or an address. */
static bool is_http(dx_text text) {
    size_t at = 0;
    while (at < text.len && (text.at[at] == '\r' || text.at[at] == '\n'))
        at++;
    size_t method = at;
    bool capitals = true;
    for (; at < text.len && text.at[at] != ' '; at++) {
        char lower = (char)(text.at[at] | 0x20);
        if ((lower < 'a' || lower > 'z') && (text.at[at] != '-' || at == method))
            return false;
        capitals = capitals && text.at[at] != lower;
    }
    return at > method && at + 1 < text.len && (capitals || memchr("/*hH", text.at[at + 1], 4));
}

/* Do these bytes begin a message? 1: yes, 0: no, -1: that takes more of them. */
static int begins_message(dx_text text, dx_framing framing) {
    static const char *const fields[] = {"content-length:", "content-type:"};
    size_t at = 0;
    if (framing == DX_FRAMING_HEADER) {
        size_t length = dx__frame_common(text, fields[0]);
        size_t type = dx__frame_common(text, fields[1]);
        if (!fields[0][length] || !fields[1][type])
            return 1;
        return length == text.len || type == text.len ? -1 : 0;
    }
    while (at < text.len && memchr(" \t\r\n", text.at[at], 4))
        at++;
    if (at == text.len)
        return at < PEEK ? -1 : 0;
    return text.at[at] == '{' || text.at[at] == '[';
}

static void silent_release(dx__thing *thing) {
    dx_allocator alloc = thing->loop->alloc;
    dx__free(&alloc, DX__OWNER(thing, struct silent, thing));
}

/* It is silent no more; returns its descriptor. */
static int silent_end(struct silent *silent) {
    dx_listener *listener = silent->listener;
    struct silent **place = &listener->silent;
    int fd = silent->watch.fd;
    while (*place != silent)
        place = &(*place)->next;
    *place = silent->next;
    listener->silent_count--;
    dx__watch_stop(&silent->watch);
    dx__thing_end(&silent->thing);
    return fd;
}

static void silent_kill(dx__thing *thing) {
    close(silent_end(DX__OWNER(thing, struct silent, thing)));
}

static bool silent_ready(dx__watch *watch, uint32_t events) {
    struct silent *silent = DX__OWNER(watch, struct silent, watch);
    dx_listener *listener = silent->listener;
    char first[PEEK];
    ssize_t len;
    while ((len = recv(watch->fd, first, sizeof first, MSG_PEEK | MSG_DONTWAIT)) < 0 &&
           errno == EINTR)
        ;
    if (len < 0 && errno == EAGAIN)
        return false;
    dx_text text = {first, len < 0 ? 0 : (size_t)len};
    int begins = begins_message(text, listener->config.framing);
    bool over = len <= 0 || events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP);
    if (begins < 0 && !over)
        return true;
    int fd = silent_end(silent);
    if (begins > 0) {
        listener->config.on_connect(listener, fd, listener->config.user);
        return true;
    }
    close(fd);
    if (len > 0)
        report(listener,
               is_http(text) ? "it begins with an HTTP request, as a web page would send"
                             : "it does not begin with a message",
               NULL);
    return true;
}

/* Until its first bytes come, however many it takes: being told again of those that are there
 * already would only keep us busy. */
static bool silent_new(dx_listener *listener, int fd) {
    dx_loop *loop = listener->thing.loop;
    struct silent *silent = dx__malloc(&loop->alloc, sizeof *silent);
    if (!silent)
        return false;
    *silent = (struct silent){.listener = listener};
    silent->thing = (dx__thing){.loop = loop, .release = silent_release, .kill = silent_kill};
    silent->watch = (dx__watch){.fd = -1, .ready = silent_ready};
    if (dx__watch_start(loop, &silent->watch, fd, EPOLLIN | EPOLLRDHUP | EPOLLET) != DX_OK) {
        dx__free(&loop->alloc, silent);
        return false;
    }
    dx__thing_add(loop, &silent->thing);
    struct silent **place = &listener->silent;
    while (*place)
        place = &(*place)->next;
    *place = silent;
    if (listener->silent_count++ == SILENT_MAX) {
        close(silent_end(listener->silent));
        report(listener, "too many connections have sent nothing", NULL);
    }
    return true;
}

/* Listening. */

static bool ready(dx__watch *watch, uint32_t events) {
    dx_listener *listener = DX__OWNER(watch, dx_listener, watch);
    (void)events;
    for (int most = 64; most-- > 0 && !listener->freed;) {
        union dx__address address;
        socklen_t len = sizeof address;
        memset(&address, 0, sizeof address);
        int fd = accept4(watch->fd, &address.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (fd < 0) {
            /* Who waits there is told of again and again, so we must not look. */
            if (errno != EAGAIN) {
                (void)dx__watch_set(watch, 0);
                dx__due_set(watch->loop, &listener->due, dx__loop_later(watch->loop, FULL_MS));
            }
            break;
        }
        dx__set_nodelay(fd, &address);
        bool waits = listener->config.framing != 0;
        if (!is_allowed(listener, fd) || (waits && !silent_new(listener, fd)))
            close(fd);
        else if (!waits)
            listener->config.on_connect(listener, fd, listener->config.user);
    }
    return true;
}

static void look_again(dx__due *due) {
    dx_listener *listener = DX__OWNER(due, dx_listener, due);
    if (!dx__watch_set(&listener->watch, EPOLLIN))
        dx__due_set(listener->thing.loop, due, dx__loop_later(listener->thing.loop, FULL_MS));
}

static void release(dx__thing *thing) {
    dx_allocator alloc = thing->loop->alloc;
    dx__free(&alloc, DX__OWNER(thing, dx_listener, thing));
}

dx_listener *dx_listener_free(dx_listener *listener) {
    if (listener && !listener->freed) {
        listener->freed = true;
        while (listener->silent)
            close(silent_end(listener->silent));
        dx__watch_close(&listener->watch);
        if (listener->path.sun_path[0] && dx__loop_is_ours(listener->thing.loop))
            unlink(listener->path.sun_path);
        dx__due_done(listener->thing.loop, &listener->due);
        dx__thing_end(&listener->thing);
    }
    return NULL;
}

static void kill_listener(dx__thing *thing) {
    dx_listener_free(DX__OWNER(thing, dx_listener, thing));
}

/* The path gets its mode before anybody can connect: between bind() and listen(). */
static int listen_on(const union dx__address *address, socklen_t len) {
    int one = 1;
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    bool is_local = address->any.sa_family == AF_UNIX;
    if (!is_local)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool bound = bind(fd, &address->any, len) == 0;
    if (bound && (!is_local || chmod(address->local.sun_path, 0600) == 0) && listen(fd, 128) == 0)
        return fd;
    int number = errno;
    if (bound && is_local)
        unlink(address->local.sun_path);
    close(fd);
    errno = number;
    return -1;
}

dx_status dx_listener_open(dx_loop *loop, const char *text, const dx_listener_config *config,
                           dx_listener **ret_listener, dx_error *reterr) {
    union dx__address address;
    socklen_t len = 0;
    dx_status status = dx__address_parse(text, &address, &len, reterr);
    if (status != DX_OK)
        return status;
    dx_listener *listener = dx__malloc(&loop->alloc, sizeof *listener);
    if (!listener)
        return dx__refused(reterr, DX_ERR_NOMEM, "listen");
    *listener = (dx_listener){.config = *config};
    listener->thing = (dx__thing){.loop = loop, .release = release, .kill = kill_listener};
    listener->watch = (dx__watch){.fd = -1, .ready = ready};
    status = dx__due_init(loop, &listener->due, look_again);
    if (status != DX_OK) {
        dx__free(&loop->alloc, listener);
        return dx__refused(reterr, status, "listen");
    }
    int fd = listen_on(&address, len);
    if (fd >= 0 && address.any.sa_family == AF_UNIX)
        listener->path = address.local;
    if (fd < 0 || dx__watch_start(loop, &listener->watch, fd, EPOLLIN) != DX_OK) {
        status = dx__system_error(reterr, DX_FAULT_SYSTEM, "listen on", text, errno);
        if (fd >= 0)
            close(fd);
        if (listener->path.sun_path[0])
            unlink(listener->path.sun_path);
        dx__due_done(loop, &listener->due);
        dx__free(&loop->alloc, listener);
        return status;
    }
    dx__thing_add(loop, &listener->thing);
    *ret_listener = listener;
    return DX_OK;
}

unsigned dx_listener_port(const dx_listener *listener) {
    union dx__address address = {.any = {0}};
    socklen_t len = sizeof address;
    if (getsockname(listener->watch.fd, &address.any, &len) < 0 || address.any.sa_family != AF_INET)
        return 0;
    return ntohs(address.inet.sin_port);
}
