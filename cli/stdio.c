#include "cli/stdio.h"

#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* One read; one write (a pipe that can be written takes so much without blocking, and others may
 * share it, so it stays as it is); how much may wait. */
enum { PIECE = 64 << 10, PORTION = 4096, WAITING = 64 << 20 };

struct cli_stdio {
    cli_stdio_config config;
    int in;
    int out;
    dx_watch *reading; /* NULL: a plain file, which … */
    dx_timer *turn;    /* … is read bit by bit, too */
    dx_watch *writing; /* NULL: a plain file */
    dx_buf waiting;
    size_t written;
    bool paused;
    bool ended;    /* the input */
    bool finished; /* the output, behind what waits */
    bool gone;
    int lost; /* why, if nobody is to blame for it */
    bool closed;
    unsigned depth;
};

static void release(cli_stdio *stdio) {
    dx_watch_free(stdio->reading);
    dx_watch_free(stdio->writing);
    dx_timer_free(stdio->turn);
    if (stdio->in >= 0)
        close(stdio->in);
    if (stdio->out >= 0)
        close(stdio->out);
    dx_buf_done(&stdio->waiting);
    free(stdio);
}

static void leave(cli_stdio *stdio) {
    if (--stdio->depth == 0 && stdio->closed)
        release(stdio);
}

/* Reading. */

static void set_reading(cli_stdio *stdio) {
    bool wanted = !stdio->paused && !stdio->ended;
    if (stdio->reading)
        (void)dx_watch_set(stdio->reading, wanted ? DX_WATCH_READ : 0);
    else if (stdio->turn)
        dx_timer_set(stdio->turn, wanted ? 0 : DX_NEVER);
}

static void read_some(cli_stdio *stdio) {
    char piece[PIECE];
    ssize_t len = read(stdio->in, piece, sizeof piece);
    if (len < 0 && (errno == EINTR || errno == EAGAIN))
        len = -1;
    else if (len <= 0)
        len = 0;
    stdio->depth++;
    if (len > 0) {
        stdio->config.on_bytes((dx_text){piece, (size_t)len}, stdio->config.user);
    } else if (!len) {
        stdio->ended = true;
        stdio->config.on_end(stdio->config.user);
    }
    if (!stdio->closed)
        set_reading(stdio);
    leave(stdio);
}

static void on_readable(dx_watch *watch, unsigned ready, void *user) {
    (void)watch;
    (void)ready;
    read_some(user);
}

static void on_turn(dx_timer *timer, void *user) {
    (void)timer;
    read_some(user);
}

void cli_stdio_pause(cli_stdio *stdio, bool paused) {
    stdio->paused = paused;
    set_reading(stdio);
}

void cli_stdio_deafen(cli_stdio *stdio) {
    stdio->reading = dx_watch_free(stdio->reading);
    stdio->turn = dx_timer_free(stdio->turn);
    stdio->ended = true;
    if (stdio->in >= 0)
        close(stdio->in);
    stdio->in = -1;
}

/* Writing. */

static void shut(cli_stdio *stdio) {
    stdio->writing = dx_watch_free(stdio->writing);
    if (stdio->out >= 0)
        close(stdio->out);
    stdio->out = -1;
    stdio->waiting.len = stdio->written = 0;
}

/* False: nobody takes it. */
static bool write_some(cli_stdio *stdio) {
    size_t left = stdio->waiting.len - stdio->written;
    ssize_t len =
        write(stdio->out, stdio->waiting.data + stdio->written, left < PORTION ? left : PORTION);
    if (len < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (len < 0) {
        stdio->lost = errno == EPIPE ? 0 : errno;
        return false;
    }
    stdio->written += (size_t)len;
    return true;
}

static void be_gone(cli_stdio *stdio) {
    stdio->gone = true;
    shut(stdio);
    stdio->config.on_gone(stdio->config.user);
}

static void on_writable(dx_watch *watch, unsigned ready, void *user) {
    cli_stdio *stdio = user;
    (void)watch;
    (void)ready;
    stdio->depth++;
    if (!write_some(stdio)) {
        be_gone(stdio);
    } else if (stdio->written == stdio->waiting.len) {
        stdio->waiting.len = stdio->written = 0;
        (void)dx_watch_set(stdio->writing, 0);
        if (stdio->finished)
            shut(stdio);
        stdio->config.on_room(stdio->config.user);
    }
    leave(stdio);
}

bool cli_stdio_write(cli_stdio *stdio, dx_text bytes) {
    if (stdio->gone || stdio->finished)
        return false;
    if (stdio->written > stdio->waiting.len >> 1) {
        stdio->waiting.len -= stdio->written;
        memmove(stdio->waiting.data, stdio->waiting.data + stdio->written, stdio->waiting.len);
        stdio->written = 0;
    }
    if (dx_buf_append(&stdio->waiting, bytes.at, bytes.len) != DX_OK)
        return false;
    if (stdio->writing)
        return dx_watch_set(stdio->writing, cli_stdio_waiting(stdio) ? DX_WATCH_WRITE : 0) == DX_OK;
    while (stdio->written < stdio->waiting.len && !stdio->gone)
        stdio->gone = !write_some(stdio);
    stdio->waiting.len = stdio->written = 0;
    return !stdio->gone;
}

int cli_stdio_lost(const cli_stdio *stdio) {
    return stdio->lost;
}

size_t cli_stdio_waiting(const cli_stdio *stdio) {
    return stdio->waiting.len - stdio->written;
}

size_t cli_stdio_unread(const cli_stdio *stdio) {
    struct stat what;
    int count = 0;
    if (stdio->out < 0 || fstat(stdio->out, &what) < 0)
        return 0;
    /* Of a socket FIONREAD would tell what has come. */
    if ((S_ISFIFO(what.st_mode) && ioctl(stdio->out, FIONREAD, &count) < 0) ||
        (S_ISSOCK(what.st_mode) && ioctl(stdio->out, TIOCOUTQ, &count) < 0))
        count = 0;
    return cli_stdio_waiting(stdio) + (size_t)count;
}

void cli_stdio_finish(cli_stdio *stdio) {
    stdio->finished = true;
    if (!cli_stdio_waiting(stdio))
        shut(stdio);
}

/* Birth and death. */

static bool watch_both(cli_stdio *stdio) {
    dx_loop *loop = stdio->config.loop;
    dx_status status =
        dx_watch_new(loop, stdio->in, DX_WATCH_READ, on_readable, stdio, &stdio->reading);
    if (status == DX_ERR_INVALID)
        status = dx_timer_new(loop, on_turn, stdio, &stdio->turn);
    if (status != DX_OK)
        return false;
    if (stdio->turn)
        dx_timer_set(stdio->turn, 0);
    status = dx_watch_new(loop, stdio->out, 0, on_writable, stdio, &stdio->writing);
    return status == DX_OK || status == DX_ERR_INVALID;
}

cli_stdio *cli_stdio_open(const cli_stdio_config *config) {
    cli_stdio *stdio = calloc(1, sizeof *stdio);
    if (!stdio)
        return NULL;
    stdio->config = *config;
    if (cli_was_closed(0) || cli_was_closed(1)) {
        free(stdio);
        errno = EBADF;
        return NULL;
    }
    stdio->in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    stdio->out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    dx_buf_init(&stdio->waiting, WAITING, NULL);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool good = stdio->in >= 0 && stdio->out >= 0 && nothing >= 0 && watch_both(stdio);
    if (good) {
        signal(SIGPIPE, SIG_IGN);
        dup2(nothing, 0);
        if (dup2(2, 1) < 0)
            dup2(nothing, 1);
    } else {
        release(stdio);
        stdio = NULL;
    }
    if (nothing >= 0)
        close(nothing);
    return stdio;
}

void cli_stdio_close(cli_stdio *stdio) {
    if (!stdio || stdio->closed)
        return;
    stdio->closed = true;
    if (!stdio->depth)
        release(stdio);
}
