/* Unix sockets, and TCP on the loopback address: nothing here reaches another machine. */
#include "base/alloc.h"
#include "base/line.h"
#include "host/host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* How long nobody is let in when the system has no room for one more. */
enum { FULL_MS = 100 };

struct dx_listener {
    dx__thing thing;
    dx__watch watch;
    dx__due due;
    void (*on_connect)(dx_listener *listener, int fd, void *user);
    void *user;
    bool freed;
    struct sockaddr_un path; /* to be removed; sun_path[0] is 0 for TCP */
};

union address {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in inet;
};

static bool parse_port(const char *text, in_port_t *ret) {
    unsigned port = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || (port = port * 10 + (unsigned)(*text - '0')) > 65535)
            return false;
    }
    *ret = htons((in_port_t)port);
    return true;
}

static dx_status refuse(const char *text, dx_error *reterr) {
    if (!reterr)
        return DX_ERR_INVALID;
    dx__error_set(reterr, DX_FAULT_SYSTEM, 0, 0, 0);
    reterr->system = EINVAL;
    dx__line line = dx__line_on(reterr->phrase, sizeof reterr->phrase);
    dx__line_str(&line, "expected the address as unix:PATH or tcp:PORT, found ");
    dx__line_str(&line, text);
    return DX_ERR_INVALID;
}

static dx_status parse(const char *text, union address *ret, socklen_t *ret_len, dx_error *reterr) {
    memset(ret, 0, sizeof *ret);
    if (strncmp(text, "unix:", 5) == 0 && text[5]) {
        size_t len = strlen(text + 5);
        if (len >= sizeof ret->local.sun_path)
            return dx__system_error(reterr, DX_FAULT_SYSTEM, "use the path", text + 5,
                                    ENAMETOOLONG);
        ret->local.sun_family = AF_UNIX;
        memcpy(ret->local.sun_path, text + 5, len + 1);
        *ret_len = sizeof ret->local;
        return DX_OK;
    }
    if (strncmp(text, "tcp:", 4) == 0 && parse_port(text + 4, &ret->inet.sin_port)) {
        ret->inet.sin_family = AF_INET;
        ret->inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *ret_len = sizeof ret->inet;
        return DX_OK;
    }
    return refuse(text, reterr);
}

/* Messages are short and somebody waits for each. */
static void set_nodelay(int fd, const union address *address) {
    int one = 1;
    if (address->any.sa_family == AF_INET)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/* On this machine a connect is answered at once, with yes or no, unless the other side is overrun:
 * then it is no. Returns an errno, or 0. */
static int connect_now(int fd, const union address *address, socklen_t len) {
    if (connect(fd, &address->any, len) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    struct pollfd wait = {fd, POLLOUT, 0};
    int number = 0;
    socklen_t number_len = sizeof number;
    if (poll(&wait, 1, 200) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &number_len) < 0 ? errno : number;
}

dx_status dx_link_connect(dx_loop *loop, const char *text, const dx_link_config *config,
                          dx_link **ret_link, dx_error *reterr) {
    union address address;
    socklen_t len = 0;
    dx_status status = parse(text, &address, &len, reterr);
    if (status != DX_OK)
        return status;
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int number = fd < 0 ? errno : connect_now(fd, &address, len);
    if (number) {
        status = dx__system_error(reterr, DX_FAULT_START, "connect to", text, number);
        if (fd >= 0)
            close(fd);
        return status;
    }
    set_nodelay(fd, &address);
    status = dx_link_open(loop, fd, fd, config, ret_link, reterr);
    if (status != DX_OK)
        close(fd);
    return status;
}

static bool ready(dx__watch *watch, uint32_t events) {
    dx_listener *listener = DX__OWNER(watch, dx_listener, watch);
    (void)events;
    for (int most = 64; most-- > 0 && !listener->freed;) {
        union address address;
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
        set_nodelay(fd, &address);
        listener->on_connect(listener, fd, listener->user);
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
static int listen_on(const union address *address, socklen_t len) {
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

dx_status dx_listener_open(dx_loop *loop, const char *text,
                           void (*on_connect)(dx_listener *listener, int fd, void *user),
                           void *user, dx_listener **ret_listener, dx_error *reterr) {
    union address address;
    socklen_t len = 0;
    dx_status status = parse(text, &address, &len, reterr);
    if (status != DX_OK)
        return status;
    dx_listener *listener = dx__malloc(&loop->alloc, sizeof *listener);
    if (!listener)
        return dx__refused(reterr, DX_ERR_NOMEM, "listen");
    *listener = (dx_listener){.on_connect = on_connect, .user = user};
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
    union address address = {.any = {0}};
    socklen_t len = sizeof address;
    if (getsockname(listener->watch.fd, &address.any, &len) < 0 || address.any.sa_family != AF_INET)
        return 0;
    return ntohs(address.inet.sin_port);
}
