#include "cli/output.h"

#include "cli/say.h"
#include "cli/wait.h"

#include <errno.h>
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
/* Since somebody did not take something; shared, so that both together take no longer. */
static uint64_t last_at;

/* Signals of other threads would not wake the one that waits on the loop. */
static bool is_main_thread(void) {
    return gettid() == getpid();
}

/* 1: there is room (or nothing to wait for), 0: the time is up, -1: look again. */
static int wait_for_room(int fd, uint64_t ms) {
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    sigset_t none;
    sigemptyset(&none);
    int count = ppoll(&room, 1, ms == DX_NEVER ? NULL : &time, is_main_thread() ? &none : NULL);
    return count < 0 ? (errno == EINTR ? -1 : 1) : count;
}

static bool has_room(int fd) {
    int found = wait_for_room(fd, 0);
    while (found <= 0) {
        uint64_t now = cli_now();
        if (!cli_interrupts()) {
            found = wait_for_room(fd, DX_NEVER);
            continue;
        }
        if (!last_at)
            last_at = now + LAST_MS;
        found = now < last_at ? wait_for_room(fd, last_at - now) : 0;
        if (!found)
            return false;
    }
    return true;
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
        if (!has_room(output->fd)) {
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

void cli_output_guard(void) {
    stdout = guard(stdout, &outputs[0], _IOFBF);
    stderr = guard(stderr, &outputs[1], _IONBF);
}
