/* Short counts and interruptions for every read and write of the library: the linker sends those
 * calls here (--wrap). */
#include "faults/wrap.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

struct wrap wrap;

ssize_t __real_read(int fd, void *room, size_t len);
ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __real_readv(int fd, const struct iovec *pieces, int count);
ssize_t __real_writev(int fd, const struct iovec *pieces, int count);
ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __real_recv(int fd, void *room, size_t len, int flags);

ssize_t __wrap_read(int fd, void *room, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_readv(int fd, const struct iovec *pieces, int count);
ssize_t __wrap_writev(int fd, const struct iovec *pieces, int count);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_recv(int fd, void *room, size_t len, int flags);

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
    return interrupted(len) ? -1 : __real_read(fd, room, cut(len));
}

ssize_t __wrap_write(int fd, const void *bytes, size_t len) {
    return interrupted(len) ? -1 : __real_write(fd, bytes, cut(len));
}

ssize_t __wrap_readv(int fd, const struct iovec *pieces, int count) {
    if (interrupted(SIZE_MAX))
        return -1;
    if (!wrap.on || !count)
        return __real_readv(fd, pieces, count);
    return __real_read(fd, pieces[0].iov_base, cut(pieces[0].iov_len));
}

ssize_t __wrap_writev(int fd, const struct iovec *pieces, int count) {
    if (interrupted(SIZE_MAX))
        return -1;
    if (!wrap.on || !count)
        return __real_writev(fd, pieces, count);
    return __real_write(fd, pieces[0].iov_base, cut(pieces[0].iov_len));
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags) {
    return interrupted(len) ? -1 : __real_send(fd, bytes, cut(len), flags);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags) {
    if (interrupted(SIZE_MAX))
        return -1;
    if (!wrap.on || !message->msg_iovlen || message->msg_controllen)
        return __real_sendmsg(fd, message, flags);
    return __real_send(fd, message->msg_iov[0].iov_base, cut(message->msg_iov[0].iov_len), flags);
}

ssize_t __wrap_recv(int fd, void *room, size_t len, int flags) {
    return interrupted(len) ? -1 : __real_recv(fd, room, cut(len), flags);
}
