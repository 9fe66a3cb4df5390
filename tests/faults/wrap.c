#include "faults/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

struct wrap wrap;

/* Both names of each: what the program calls, and what the C library has. Weak, because a call that
 * the linker was not told of is not there under these names. */
#define WRAPPED(result, name, ...)                           \
    __attribute__((weak)) result __real_##name(__VA_ARGS__); \
    result __wrap_##name(__VA_ARGS__)

WRAPPED(ssize_t, read, int, void *, size_t);
WRAPPED(ssize_t, readv, int, const struct iovec *, int);
WRAPPED(ssize_t, recv, int, void *, size_t, int);
WRAPPED(ssize_t, write, int, const void *, size_t);
WRAPPED(ssize_t, writev, int, const struct iovec *, int);
WRAPPED(ssize_t, pwritev2, int, const struct iovec *, int, off_t, int);
WRAPPED(ssize_t, send, int, const void *, size_t, int);
WRAPPED(ssize_t, sendmsg, int, const struct msghdr *, int);
WRAPPED(int, pipe2, int[2], int);
WRAPPED(int, epoll_create1, int);
WRAPPED(int, epoll_ctl, int, int, int, struct epoll_event *);
WRAPPED(int, epoll_wait, int, struct epoll_event *, int, int);
WRAPPED(int, eventfd, unsigned, int);
WRAPPED(int, fcntl, int, int, ...);
WRAPPED(int, dup2, int, int);
WRAPPED(int, kill, pid_t, int);
WRAPPED(int, clone, int (*)(void *), void *, int, void *, int *);
WRAPPED(int, waitid, idtype_t, id_t, siginfo_t *, int);
WRAPPED(int, execve, const char *, char *const *, char *const *);
WRAPPED(int, socket, int, int, int);
WRAPPED(int, bind, int, const struct sockaddr *, socklen_t);
WRAPPED(int, listen, int, int);
WRAPPED(int, accept4, int, struct sockaddr *, socklen_t *, int);
WRAPPED(int, connect, int, const struct sockaddr *, socklen_t);
WRAPPED(int, getsockopt, int, int, int, void *, socklen_t *);
WRAPPED(int, chmod, const char *, mode_t);
/* What a fortified build calls where it knows the room. */
WRAPPED(ssize_t, __read_chk, int, void *, size_t, size_t);
WRAPPED(ssize_t, __recv_chk, int, void *, size_t, size_t, int);
WRAPPED(long, syscall, long, long, long, long, long, long, long);

static const char orders[] = "DUPLEX_WRAP";

void wrap_pass_on(const char *path) {
    char text[128];
    snprintf(text, sizeof text, "%d %u %d %d %s", (int)wrap.fail, wrap.fail_at, wrap.for_ever,
             wrap.error, path);
    setenv(orders, text, 1);
}

__attribute__((constructor)) static void take_orders(void) {
    const char *text = getenv(orders);
    struct wrap taken = {0};
    int kind = 0;
    char path[64];
    if (!text || sscanf(text, "%d %u %d %d %63s", &kind, &taken.fail_at, &taken.for_ever,
                        &taken.error, path) != 5)
        return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    taken.calls = mmap(NULL, sizeof *taken.calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    taken.fail = (enum wrapped)kind;
    if (taken.calls != MAP_FAILED)
        wrap = taken;
}

static int fails(enum wrapped kind) {
    if (!wrap.fail || wrap.fail != kind)
        return 0;
    unsigned calls = __atomic_add_fetch(wrap.calls, 1, __ATOMIC_SEQ_CST);
    if (calls != wrap.fail_at && !(wrap.for_ever && calls > wrap.fail_at))
        return 0;
    errno = wrap.error;
    return 1;
}

/* An eventfd or a note to the guardian goes in one piece, so eight bytes are left alone. */
static int interrupted(size_t len) {
    if (!wrap.on || len <= 8)
        return 0;
    wrap.count++;
    if (!wrap.interrupt || wrap.count % wrap.interrupt)
        return 0;
    errno = EINTR;
    return 1;
}

static size_t cut(size_t len) {
    return wrap.on && len > 8 ? wrap.most : len;
}

ssize_t __wrap_read(int fd, void *room, size_t len) {
    return fails(WRAP_READ) || interrupted(len) ? -1 : __real_read(fd, room, cut(len));
}

ssize_t __wrap_recv(int fd, void *room, size_t len, int flags) {
    return fails(WRAP_READ) || interrupted(len) ? -1 : __real_recv(fd, room, cut(len), flags);
}

ssize_t __wrap___read_chk(int fd, void *room, size_t len, size_t size) {
    return len > size ? (abort(), -1) : __wrap_read(fd, room, len);
}

ssize_t __wrap___recv_chk(int fd, void *room, size_t len, size_t size, int flags) {
    return len > size ? (abort(), -1) : __wrap_recv(fd, room, len, flags);
}

ssize_t __wrap_readv(int fd, const struct iovec *pieces, int count) {
    if (!wrap.on || !count)
        return fails(WRAP_READ) ? -1 : __real_readv(fd, pieces, count);
    return __wrap_read(fd, pieces[0].iov_base, pieces[0].iov_len);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t len) {
    return fails(WRAP_WRITE) || interrupted(len) ? -1 : __real_write(fd, bytes, cut(len));
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags) {
    return fails(WRAP_WRITE) || interrupted(len) ? -1 : __real_send(fd, bytes, cut(len), flags);
}

ssize_t __wrap_writev(int fd, const struct iovec *pieces, int count) {
    if (!wrap.on || !count)
        return fails(WRAP_WRITE) ? -1 : __real_writev(fd, pieces, count);
    return __wrap_write(fd, pieces[0].iov_base, pieces[0].iov_len);
}

ssize_t __wrap_pwritev2(int fd, const struct iovec *pieces, int count, off_t offset, int flags) {
    struct iovec piece = {pieces[0].iov_base, cut(pieces[0].iov_len)};
    if (fails(WRAP_WRITE) || interrupted(pieces[0].iov_len))
        return -1;
    return __real_pwritev2(fd, &piece, count, offset, flags);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags) {
    if (!wrap.on || !message->msg_iovlen || message->msg_controllen)
        return fails(WRAP_WRITE) ? -1 : __real_sendmsg(fd, message, flags);
    return __wrap_send(fd, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, flags);
}

int __wrap_pipe2(int fds[2], int flags) {
    return fails(WRAP_PIPE2) ? -1 : __real_pipe2(fds, flags);
}

int __wrap_epoll_create1(int flags) {
    return fails(WRAP_EPOLL_CREATE1) ? -1 : __real_epoll_create1(flags);
}

/* What was taken in can always be taken out: no kernel needs memory for that. */
int __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event) {
    return what != EPOLL_CTL_DEL && fails(WRAP_EPOLL_CTL)
               ? -1
               : __real_epoll_ctl(epoll, what, fd, event);
}

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int count, int ms) {
    return fails(WRAP_EPOLL_WAIT) ? -1 : __real_epoll_wait(epoll, events, count, ms);
}

int __wrap_eventfd(unsigned value, int flags) {
    return fails(WRAP_EVENTFD) ? -1 : __real_eventfd(value, flags);
}

int __wrap_fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    return fails(WRAP_FCNTL) ? -1 : __real_fcntl(fd, command, argument);
}

int __wrap_dup2(int fd, int as) {
    return fails(WRAP_DUP2) ? -1 : __real_dup2(fd, as);
}

int __wrap_clone(int (*run)(void *), void *stack, int flags, void *user, int *ret_pidfd) {
    return fails(WRAP_CLONE) ? -1 : __real_clone(run, stack, flags, user, ret_pidfd);
}

int __wrap_kill(pid_t pid, int number) {
    return fails(WRAP_ANY_SIGNAL) ? -1 : __real_kill(pid, number);
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    return fails(WRAP_WAITID) ? -1 : __real_waitid(type, id, info, options);
}

int __wrap_execve(const char *path, char *const *argv, char *const *env) {
    return fails(WRAP_EXECVE) ? -1 : __real_execve(path, argv, env);
}

int __wrap_socket(int family, int type, int protocol) {
    return fails(WRAP_SOCKET) ? -1 : __real_socket(family, type, protocol);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len) {
    return fails(WRAP_BIND) ? -1 : __real_bind(fd, address, len);
}

int __wrap_listen(int fd, int backlog) {
    return fails(WRAP_LISTEN) ? -1 : __real_listen(fd, backlog);
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
    return fails(WRAP_ACCEPT4) ? -1 : __real_accept4(fd, address, len, flags);
}

/* On one machine it succeeds at once, and nobody would ask for the outcome: so who is about to ask
 * hears that it takes a moment. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len) {
    int rc = fails(WRAP_CONNECT) ? -1 : __real_connect(fd, address, len);
    if (rc < 0 || wrap.fail != WRAP_GETSOCKOPT)
        return rc;
    errno = EINPROGRESS;
    return -1;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len) {
    return fails(WRAP_GETSOCKOPT) ? -1 : __real_getsockopt(fd, level, name, value, len);
}

int __wrap_chmod(const char *path, mode_t mode) {
    return fails(WRAP_CHMOD) ? -1 : __real_chmod(path, mode);
}

static enum wrapped kind_of(long number) {
    return number == SYS_clone               ? WRAP_CLONE
           : number == SYS_pidfd_open        ? WRAP_PIDFD_OPEN
           : number == SYS_pidfd_send_signal ? WRAP_SIGNAL
           : number == SYS_close_range       ? WRAP_CLOSE_RANGE
                                             : WRAP_NONE;
}

/* Never WRAP_NONE: that is no kind that fails. Whoever gives fewer than six arguments has something
 * in the other registers, which nobody reads. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (fails(kind_of(number)) || (number == SYS_pidfd_send_signal && fails(WRAP_ANY_SIGNAL)))
        return -1;
    return __real_syscall(number, a, b, c, d, e, f);
}
