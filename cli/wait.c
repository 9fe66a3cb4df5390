#include "cli/wait.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

const struct cli_idle *cli_idle;
static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t is_told_to_end;

static void on_signal(int number) {
    interrupts++;
    if (number != SIGINT)
        is_told_to_end = 1;
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

static sigset_t caught(void) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

void cli_catch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t set = caught();
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

int cli_signal_fd(void) {
    sigset_t set = caught();
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    int high = fd >= 0 && fd < 3 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd;
    if (high != fd)
        close(fd);
    return high;
}

int cli_interrupts(void) {
    return interrupts;
}

void cli_take_signals(void) {
    struct timespec time = {0, 0};
    sigset_t none;
    sigemptyset(&none);
    (void)ppoll(NULL, 0, &time, &none);
}

bool cli_is_told_to_end(void) {
    return is_told_to_end;
}

static uint64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

uint64_t cli_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t cli_unix_ms(void) {
    return read_clock(CLOCK_REALTIME);
}

/* What ppoll(2) returns, at the latest at `until`. */
static int poll_until(struct pollfd *fds, size_t count, uint64_t now, uint64_t until) {
    uint64_t wait = until == DX_NEVER ? DX_NEVER : until > now ? until - now : 0;
    struct timespec time = {(time_t)(wait / 1000), (long)(wait % 1000) * 1000000};
    sigset_t none;
    sigemptyset(&none);
    return ppoll(fds, count, wait == DX_NEVER ? NULL : &time, &none);
}

int cli_poll(dx_loop *loop, struct pollfd *fds, size_t count, uint64_t until) {
    fds[0] = (struct pollfd){.fd = dx_loop_fd(loop), .events = POLLIN};
    uint64_t now = cli_now();
    int own = dx_loop_wait_ms(loop);
    int ready;
    const struct cli_idle *idle = cli_idle;
    if (own >= 0 && now + (uint64_t)own < until)
        until = now + (uint64_t)own;
    do {
        uint64_t next = idle ? idle->next(now) : DX_NEVER;
        bool last = next >= until;
        ready = poll_until(fds, count, now, last ? until : next);
        now = cli_now();
        if (ready || last)
            break;
        idle->draw(now);
    } while (true);
    if (idle)
        idle->erase(now, ready == 0);
    /* Where something is ready it does not look for signals, and a peer may never stop writing. */
    if (ready > 0)
        cli_take_signals();
    return ready;
}

void cli_wait(dx_loop *loop, uint64_t until) {
    struct pollfd own;
    (void)cli_poll(loop, &own, 1, until);
    dx_loop_dispatch(loop);
}
