#include "cli/output.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* One write: a pipe that can be written takes so much without blocking. How long it may take in all
 * once we were told to end. */
enum { PORTION = 4096, LAST_MS = 500 };

struct output {
    int fd;
    bool dropped; /* nobody took it */
};

static struct output outputs[] = {{STDOUT_FILENO, false}, {STDERR_FILENO, false}};
/* Until when what nobody takes is offered; 0: we were not told to end. It is shared, so that both
 * together take no longer. */
static uint64_t last_at;

static bool has_room_now(int fd) {
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    return poll(&room, 1, 0) == 1;
}

/* The signal stays for who waits on the loop to count. */
static bool wait_for_room(int fd) {
    static int signals = -1;
    if (signals < 0)
        signals = cli_signal_fd();
    for (;;) {
        uint64_t now = cli_now();
        if (cli_interrupts() && !last_at)
            last_at = now + LAST_MS;
        struct pollfd fds[] = {{fd, POLLOUT, 0}, {last_at ? -1 : signals, POLLIN, 0}};
        int ms = !last_at ? -1 : now < last_at ? (int)(last_at - now) : 0;
        int count = poll(fds, 2, ms);
        if (count > 0 && !fds[0].revents)
            last_at = cli_now() + LAST_MS;
        else if (count >= 0 || errno != EINTR)
            return count != 0; /* what is wrong with it the writing tells */
    }
}

static void drop(struct output *output) {
    output->dropped = true;
    if (output->fd == STDOUT_FILENO && !cli_voice.lost)
        cli_voice.lost = EINTR;
}

/* What is dropped counts as written, or it would be tried again and again. */
static ssize_t put(void *cookie, const char *bytes, size_t len) {
    struct output *output = cookie;
    size_t done = 0;
    while (done < len && !output->dropped) {
        if (!has_room_now(output->fd) && !wait_for_room(output->fd)) {
            drop(output);
            break;
        }
        size_t left = len - done;
        ssize_t put = write(output->fd, bytes + done, left < PORTION ? left : PORTION);
        if (put >= 0)
            done += (size_t)put;
        else if (errno != EINTR && errno != EAGAIN)
            return (ssize_t)done;
    }
    return (ssize_t)len;
}

static FILE *guard(FILE *stream, struct output *output, int mode) {
    if (isatty(output->fd))
        return stream;
    FILE *guarded = fopencookie(output, "w", (cookie_io_functions_t){.write = put});
    if (!guarded)
        return stream;
    (void)setvbuf(guarded, NULL, mode, mode == _IONBF ? 0 : BUFSIZ);
    return guarded;
}

static bool closed[STDERR_FILENO + 1];

bool cli_was_closed(int fd) {
    return closed[fd];
}

void cli_ignore_limit(bool ignored) {
    (void)signal(SIGXFSZ, ignored ? SIG_IGN : SIG_DFL);
}

void cli_output_guard(void) {
    cli_ignore_limit(true);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        closed[fd] = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
        if (closed[fd])
            (void)!open("/dev/null", O_RDONLY);
    }
    stdout = guard(stdout, &outputs[0], _IOFBF);
    stderr = guard(stderr, &outputs[1], _IONBF);
}
