/*
 * Many supervised children for a while, with everything going wrong at random: kills, stops,
 * floods, stalls, restarts. At the end nothing is left over: no process, no descriptor, no byte, no
 * call.
 *
 *     soak [SECONDS [SEED]]        10 seconds by default
 */
#include <duplex/duplex.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 64, BURST = 40 };

struct soak;

struct one {
    struct soak *soak;
    dx_supervisor *supervisor;
    pid_t stalled;
    int is_stopped;
};

struct soak {
    dx_loop *loop;
    struct one ones[CHILDREN];
    uint64_t random;
    uint64_t until;
    uint64_t called, done, results, lost, timed_out, other;
    uint64_t kills, stalls, restarts, failures;
    unsigned running;
    int ending;
};

static size_t bytes_held;

static void *count_malloc(void *ctx, size_t size) {
    size_t *block = malloc(size + 16);
    (void)ctx;
    if (!block)
        return NULL;
    block[0] = size;
    bytes_held += size;
    return block + 2;
}

static void count_free(void *ctx, void *ptr) {
    size_t *block = (size_t *)ptr - 2;
    (void)ctx;
    bytes_held -= block[0];
    free(block);
}

static void *count_realloc(void *ctx, void *ptr, size_t old_size, size_t size) {
    void *to = count_malloc(ctx, size);
    if (!to)
        return NULL;
    memcpy(to, ptr, old_size < size ? old_size : size);
    count_free(ctx, ptr);
    return to;
}

static uint64_t now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static uint64_t dice(struct soak *soak, uint64_t sides) {
    soak->random ^= soak->random << 13;
    soak->random ^= soak->random >> 7;
    soak->random ^= soak->random << 17;
    return soak->random % sides;
}

/* Programs that behave, and such that don't. */
static char echo[1024];
static const char *const programs[][4] = {
    {echo, "line", NULL},
    {echo, "line", NULL},
    {echo, "line", NULL},
    {"/bin/sh", "-c", "yes a flood of errors >&2 & exec \"$0\" line", echo},
    {"/bin/sh", "-c", "sleep 1000 & exec \"$0\" line", echo},
    {"/bin/sh", "-c", "trap '' TERM; \"$0\" line; sleep 1000", echo},
    {"/bin/sh", "-c", "while echo '{\"jsonrpc\":\"2.0\",\"method\":\"flood\"}'; do :; done", NULL},
    {"/bin/sh", "-c", "sleep 0.05; echo goodbye >&2; exit 3", NULL},
};

static void on_done(dx_link *link, const dx_event *event, void *user) {
    struct soak *soak = user;
    (void)link;
    soak->done++;
    soak->results += event->outcome == DX_OUTCOME_RESULT;
    soak->lost += event->outcome == DX_OUTCOME_LOST;
    soak->timed_out += event->outcome == DX_OUTCOME_TIMED_OUT;
    soak->other += event->outcome != DX_OUTCOME_RESULT && event->outcome != DX_OUTCOME_LOST &&
                   event->outcome != DX_OUTCOME_TIMED_OUT;
}

static void call_some(struct soak *soak, struct one *one) {
    dx_link *link = dx_supervisor_link(one->supervisor);
    dx_link_call_options options = {.peer = {.user = soak, .timeout_ms = 1 + dice(soak, 500)},
                                    .on_done = on_done};
    char params[4000];
    size_t len = 10 + dice(soak, sizeof params - 10);
    memset(params, ' ', len);
    params[0] = '[';
    params[len - 1] = ']';
    for (uint64_t i = dice(soak, BURST); link && i > 0; i--)
        if (dx_link_call(link, dx_str("echo"), dx_json_text(params, len), &options, NULL) == DX_OK)
            soak->called++;
}

static void hurt(struct soak *soak, struct one *one) {
    pid_t pid = dx_supervisor_pid(one->supervisor);
    if (!pid)
        return;
    switch (dice(soak, 6)) {
    case 0:
        soak->kills++;
        kill(pid, SIGKILL);
        break;
    case 1:
        soak->kills++;
        kill(-pid, SIGTERM);
        break;
    case 2:
        soak->stalls++;
        one->stalled = pid;
        kill(pid, SIGSTOP);
        break;
    case 3:
        dx_supervisor_stop(one->supervisor);
        break;
    default:
        if (one->stalled == pid)
            kill(pid, SIGCONT);
    }
}

static void on_state(dx_supervisor *supervisor, dx_state state, const dx_error *why, void *user) {
    struct one *one = user;
    struct soak *soak = one->soak;
    (void)why;
    soak->restarts += state == DX_STATE_BACKOFF;
    soak->failures += state == DX_STATE_FAILED;
    if (state != DX_STATE_STOPPED && state != DX_STATE_FAILED)
        return;
    if (!soak->ending)
        dx_supervisor_start(supervisor);
    else if (!one->is_stopped) {
        one->is_stopped = 1;
        if (--soak->running == 0)
            dx_loop_stop(soak->loop);
    }
}

static void start_all(struct soak *soak, const dx_allocator *allocator) {
    for (size_t i = 0; i < CHILDREN; i++) {
        struct one *one = &soak->ones[i];
        const char *const *program = programs[dice(soak, sizeof programs / sizeof programs[0])];
        static const char *argv[CHILDREN][5];
        memcpy(argv[i], program, 4 * sizeof *program);
        one->soak = soak;
        dx_supervisor_config config = dx_supervisor_defaults(DX_FRAMING_LINE, argv[i]);
        config.child.link.peer.allocator = allocator;
        config.child.link.peer.in_max = 1 << 20;
        config.child.ladder.close_ms = dice(soak, 100);
        config.child.ladder.term_ms = dice(soak, 100);
        config.backoff_ms = 1 + dice(soak, 20);
        config.backoff_max_ms = 100;
        config.ping = dice(soak, 2) ? "echo" : NULL;
        config.ping_ms = 50;
        config.ping_wait_ms = 100;
        config.on_state = on_state;
        config.user = one;
        if (dx_supervisor_new(soak->loop, &config, &one->supervisor) != DX_OK)
            exit(2);
        dx_supervisor_start(one->supervisor);
        soak->running++;
    }
}

static void stop_all(struct soak *soak) {
    soak->ending = 1;
    for (size_t i = 0; i < CHILDREN; i++) {
        struct one *one = &soak->ones[i];
        dx_supervisor_stop(one->supervisor);
        if (dx_supervisor_state(one->supervisor) == DX_STATE_FAILED && !one->is_stopped) {
            one->is_stopped = 1;
            soak->running--;
        }
    }
}

static size_t count_entries(const char *path) {
    size_t count = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static int check(const char *what, uint64_t is, uint64_t should) {
    if (is == should)
        return 0;
    fprintf(stderr, "soak: %s: %llu, expected %llu\n", what, (unsigned long long)is,
            (unsigned long long)should);
    return 1;
}

int main(int argc, char **argv) {
    static struct soak soak;
    const dx_allocator allocator = {count_malloc, count_realloc, count_free, NULL};
    const char *build = getenv("BUILD");
    uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
    soak.random = argc > 2 ? strtoull(argv[2], NULL, 10) : 88172645463325252U;
    snprintf(echo, sizeof echo, "%s/examples/echo", build ? build : ".");
    alarm((unsigned)seconds + 60);
    size_t descriptors = count_entries("/proc/self/fd");
    if (dx_loop_new(&allocator, &soak.loop, NULL) != DX_OK)
        return 2;
    start_all(&soak, &allocator);
    soak.until = now_ms() + seconds * 1000;
    while (now_ms() < soak.until) {
        struct one *one = &soak.ones[dice(&soak, CHILDREN)];
        if (dice(&soak, 10))
            call_some(&soak, one);
        else
            hurt(&soak, one);
        dx_loop_dispatch(soak.loop);
        if (!dice(&soak, 20))
            nanosleep(&(struct timespec){.tv_nsec = (long)dice(&soak, 5000000)}, NULL);
    }
    stop_all(&soak);
    if (soak.running)
        dx_loop_run(soak.loop);
    dx_loop_free(soak.loop);
    printf("%llu calls: %llu results, %llu lost, %llu timed out, %llu other; %llu kills, %llu "
           "stalls, %llu restarts, %llu failures\n",
           (unsigned long long)soak.called, (unsigned long long)soak.results,
           (unsigned long long)soak.lost, (unsigned long long)soak.timed_out,
           (unsigned long long)soak.other, (unsigned long long)soak.kills,
           (unsigned long long)soak.stalls, (unsigned long long)soak.restarts,
           (unsigned long long)soak.failures);
    int bad = check("calls that ended", soak.done, soak.called);
    bad |= check("bytes held", bytes_held, 0);
    bad |= check("descriptors", count_entries("/proc/self/fd"), descriptors);
    bad |= check("waitpid", waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD, 1);
    bad |= check("some results", soak.results > 0, 1);
    return bad;
}
