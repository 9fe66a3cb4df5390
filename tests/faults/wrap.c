#include "faults/wrap.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
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
WRAPPED(ssize_t, send, int, const void *, size_t, int);
WRAPPED(ssize_t, sendmsg, int, const struct msghdr *, int);
WRAPPED(int, pipe2, int[2], int);
WRAPPED(int, epoll_create1, int);
WRAPPED(int, epoll_ctl, int, int, int, struct epoll_event *);
WRAPPED(int, epoll_wait, int, struct epoll_event *, int, int);
WRAPPED(int, eventfd, unsigned, int);
WRAPPED(int, fcntl, int, int, ...);
WRAPPED(int, dup2, int, int);
WRAPPED(int, waitid, idtype_t, id_t, siginfo_t *, int);
WRAPPED(long, syscall, long, ...);

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

int __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event) {
    return fails(WRAP_EPOLL_CTL) ? -1 : __real_epoll_ctl(epoll, what, fd, event);
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

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    return fails(WRAP_WAITID) ? -1 : __real_waitid(type, id, info, options);
}

static enum wrapped kind_of(long number) {
    return number == SYS_clone               ? WRAP_CLONE
           : number == SYS_pidfd_send_signal ? WRAP_SIGNAL
           : number == SYS_close_range       ? WRAP_CLOSE_RANGE
                                             : WRAP_NONE;
}

/* Never WRAP_NONE: that is no kind that fails. */
long __wrap_syscall(long number, ...) {
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (fails(kind_of(number)))
        return -1;
    return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                          arguments[4], arguments[5]);
}
