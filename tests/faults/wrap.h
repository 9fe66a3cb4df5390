/* The system calls of the library, bent: the linker sends them here (--wrap, for each name below).
 */
#ifndef FAULTS_WRAP_H
#define FAULTS_WRAP_H

#include <stddef.h>

enum wrapped {
    WRAP_NONE,
    WRAP_READ,  /* read, readv, recv */
    WRAP_WRITE, /* write, writev, send, sendmsg */
    WRAP_PIPE2,
    WRAP_EPOLL_CREATE1,
    WRAP_EPOLL_CTL,
    WRAP_EPOLL_WAIT,
    WRAP_EVENTFD,
    WRAP_FCNTL,
    WRAP_DUP2,
    WRAP_WAITID,
    WRAP_EXECVE,
    WRAP_SOCKET,
    WRAP_BIND,
    WRAP_LISTEN,
    WRAP_ACCEPT4,
    WRAP_CONNECT,
    WRAP_GETSOCKOPT,
    WRAP_CHMOD,
    WRAP_CLONE,
    WRAP_PIDFD_OPEN,
    WRAP_SIGNAL,     /* pidfd_send_signal */
    WRAP_ANY_SIGNAL, /* that, and kill */
    WRAP_CLOSE_RANGE
};

/*
 * While `on`, no read or write moves more than `most` bytes, and every `interrupt`-th fails with
 * EINTR (0: none). And whether on or not, the `fail_at`-th call of the kind `fail` fails with
 * `error`, and all that follow if `for_ever`. Processes that are forked count together.
 */
extern struct wrap {
    int on;
    size_t most;
    unsigned interrupt;
    unsigned count; /* reads and writes while on */

    enum wrapped fail;
    unsigned fail_at;
    int for_ever;
    int error;
    unsigned *calls; /* of the kind that fails; in memory that is shared with forks */
} wrap;

/* Makes programs of the tests that have this, too, and get our environment, fail along with us.
 * `calls` is in the file that this path means. */
void wrap_pass_on(const char *path);

#endif
