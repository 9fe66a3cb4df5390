#include "host/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* How many reads before others have their turn. */
enum { READS = 16 };

/* Opening a terminal's master again would make another terminal, and opening a file again would
 * begin at its beginning. */
static bool can_be_opened_again(const struct stat *stat) {
    return S_ISFIFO(stat->st_mode) ||
           (S_ISCHR(stat->st_mode) && stat->st_rdev != makedev(5, 2)); /* /dev/ptmx */
}

int dx__relay_fd(int fd, bool to_read, int *ret_flags) {
    struct stat stat;
    char path[40];
    *ret_flags = -1;
    if (fstat(fd, &stat) < 0)
        return -1;
    if (can_be_opened_again(&stat)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int how = (to_read ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
        int again = dx__high_fd(open(path, how));
        if (again >= 0)
            return again;
    }
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int flags = copy < 0 || S_ISSOCK(stat.st_mode) ? O_NONBLOCK : fcntl(copy, F_GETFL);
    if (!(flags & O_NONBLOCK) && fcntl(copy, F_SETFL, flags | O_NONBLOCK) == 0)
        *ret_flags = flags;
    return copy;
}

static ssize_t take(const dx__relay *relay) {
    if (relay->in_is_socket)
        return recv(relay->in.fd, relay->piece, DX__RELAY_PIECE, MSG_DONTWAIT);
    return read(relay->in.fd, relay->piece, DX__RELAY_PIECE);
}

static ssize_t give(dx__relay *relay, dx_text bytes) {
    if (relay->lost)
        return (ssize_t)bytes.len;
    if (relay->out_is_socket)
        return send(relay->out.fd, bytes.at, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (relay->out_is_silent)
        return write(relay->out.fd, bytes.at, bytes.len);
    return dx__write_quietly(relay->out.fd, bytes, &relay->masked);
}

/* What is done to a file is done to everybody's, and in a fork it is not ours to do. */
static bool is_ours(const dx__watch *watch) {
    return watch->fd >= 0 && dx__loop_is_ours(watch->loop);
}

static void close_output(dx__relay *relay) {
    if (relay->out_is_socket && is_ours(&relay->out))
        shutdown(relay->out.fd, SHUT_WR);
    if (relay->out_flags >= 0 && is_ours(&relay->out))
        fcntl(relay->out.fd, F_SETFL, relay->out_flags);
    dx__watch_close(&relay->out);
}

void dx__relay_close(dx__relay *relay) {
    relay->over = true;
    if (relay->in_flags >= 0 && is_ours(&relay->in))
        fcntl(relay->in.fd, F_SETFL, relay->in_flags);
    dx__watch_close(&relay->in);
    close_output(relay);
}

static void end(dx__relay *relay, bool broken) {
    dx__relay_close(relay);
    relay->ended(relay, broken);
}

static void output_broke(dx__relay *relay) {
    relay->lost = true;
    if (relay->goes_on)
        close_output(relay);
    else
        end(relay, true);
}

/* False if what is under way can't be passed on now, or never. */
static bool pass_on(dx__relay *relay) {
    while (relay->start < relay->end && !relay->over) {
        dx_text bytes = {relay->piece + relay->start, relay->end - relay->start};
        ssize_t n = give(relay, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return false;
        if (n < 0) {
            output_broke(relay);
            continue;
        }
        relay->start += (size_t)n;
        relay->passed(relay, (dx_text){bytes.at, (size_t)n});
    }
    return !relay->over;
}

/* From pipe to pipe nothing need be copied: what is in the first gets into the second as it is, and
 * is only then read. It pays for large pieces, to be expected behind a large one; and only where
 * more than a page came at once, which in packet mode does not happen: a packet would stay one.
 * How much was passed on so; 0: it must be read and written. */
static size_t share(dx__relay *relay) {
    if (!relay->shares || relay->lost || relay->end <= relay->page)
        return 0;
    ssize_t n = tee(relay->in.fd, relay->out.fd, DX__RELAY_PIECE, SPLICE_F_NONBLOCK);
    if (n <= 0)
        return 0;
    relay->end = 0;
    while (relay->end < (size_t)n) {
        ssize_t more = read(relay->in.fd, relay->piece + relay->end, (size_t)n - relay->end);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        relay->end += (size_t)more;
    }
    relay->start = relay->end;
    if (relay->end)
        relay->passed(relay, (dx_text){relay->piece, relay->end});
    return (size_t)n;
}

/* Of the output, that it breaks is always told, which costs nothing as long as it does not. */
static void watch_for(dx__relay *relay, bool blocked) {
    if (relay->over)
        return;
    bool in = dx__watch_set(&relay->in, blocked ? 0 : EPOLLIN);
    bool out = dx__watch_set(&relay->out, blocked ? EPOLLOUT | EPOLLET : EPOLLET);
    relay->unwatched = !in || !out;
}

bool dx__relay_wants_pump(const dx__relay *relay) {
    bool reads = (relay->in.always_ready || relay->last) && relay->in.events;
    return !relay->over && (relay->unwatched || reads);
}

/* What gave less than it could is empty, as a rule; if not, we are told again. */
void dx__relay_pump(dx__relay *relay) {
    bool blocked = !pass_on(relay);
    for (int most = READS; most > 0 && !blocked && !relay->over; most--) {
        size_t shared = share(relay);
        if (shared == DX__RELAY_PIECE || (shared && relay->last))
            continue;
        if (shared)
            break;
        ssize_t n = take(relay);
        bool nothing = n < 0 && errno == EAGAIN;
        if (n < 0 && errno == EINTR)
            continue;
        if (nothing && !relay->last)
            break;
        if (n <= 0) {
            end(relay, false);
            return;
        }
        relay->start = 0;
        relay->end = (size_t)n;
        blocked = !pass_on(relay);
        if (n < DX__RELAY_PIECE && !relay->last)
            break;
    }
    watch_for(relay, blocked);
    if (dx__relay_wants_pump(relay))
        relay->stuck(relay);
}

void dx__relay_finish(dx__relay *relay) {
    relay->last = true;
    if (!relay->over)
        dx__relay_pump(relay);
}

static bool in_ready(dx__watch *watch, uint32_t events) {
    (void)events;
    dx__relay_pump(DX__OWNER(watch, dx__relay, in));
    return true;
}

static bool out_ready(dx__watch *watch, uint32_t events) {
    dx__relay *relay = DX__OWNER(watch, dx__relay, out);
    if (events & (EPOLLERR | EPOLLHUP))
        output_broke(relay);
    if (!relay->over)
        dx__relay_pump(relay);
    return true;
}

static mode_t kind_of(int fd) {
    struct stat stat;
    return fstat(fd, &stat) == 0 ? stat.st_mode & S_IFMT : 0;
}

dx_status dx__relay_start(dx_loop *loop, dx__relay *relay, int in, int out) {
    mode_t from = kind_of(in);
    mode_t to = kind_of(out);
    relay->in_is_socket = from == S_IFSOCK;
    relay->out_is_socket = to == S_IFSOCK;
    relay->out_is_silent = dx__ignores_sigpipe();
    relay->shares = relay->out_is_silent && from == S_IFIFO && to == S_IFIFO;
    relay->page = (size_t)sysconf(_SC_PAGESIZE);
    relay->in.ready = in_ready;
    relay->out.ready = out_ready;
    if (dx__watch_start(loop, &relay->in, in, EPOLLIN) != DX_OK)
        return DX_ERR_SYSTEM;
    if (dx__watch_start(loop, &relay->out, out, EPOLLET) == DX_OK)
        return DX_OK;
    dx__watch_stop(&relay->in);
    return DX_ERR_SYSTEM;
}
