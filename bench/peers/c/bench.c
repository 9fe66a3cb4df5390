#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void die(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

void need(bool holds, const char *what) {
    if (!holds)
        die("%s", what);
}

void *room(size_t size) {
    void *block = malloc(size);
    need(block != NULL, "no memory");
    return block;
}

static size_t number_of(const char *word) {
    char *end = NULL;
    unsigned long long number = word ? strtoull(word, &end, 10) : 0;
    if (!word || end == word || *end)
        die("'%s' is no number", word ? word : "");
    return number;
}

static char **after_dashes(char **argv) {
    while (*argv && strcmp(*argv, "--") != 0)
        argv++;
    if (!*argv || !argv[1])
        die("usage: host WORKLOAD ARGUMENTS… -- ECHO ARGUMENTS…");
    return argv + 1;
}

/* The arguments of each workload: N is the number of children, C of requests, I those at a time,
 * S the size, F a file. */
static const struct {
    const char *name;
    const char *arguments;
} workloads[] = {{"latency", "CS"},    {"flood", "CIS"}, {"document", "FC"},
                 {"children", "NCIS"}, {"start", "C"},   {"both", "CIS"}};

static void take_words(struct job *job, const char *arguments, char **argv) {
    for (; *arguments; arguments++, argv++) {
        if (*arguments == 'F')
            job->file = *argv;
        else if (*arguments == 'N')
            job->children = number_of(*argv);
        else if (*arguments == 'C')
            job->count = number_of(*argv);
        else if (*arguments == 'I')
            job->inflight = number_of(*argv);
        else
            job->size = number_of(*argv);
    }
}

struct job job_of(char **argv) {
    struct job job = {.size = 100, .inflight = 1, .children = 1};
    for (size_t i = 0; *argv && i < sizeof workloads / sizeof *workloads; i++)
        if (strcmp(*argv, workloads[i].name) == 0) {
            job.workload = (enum workload)i;
            job.echo = after_dashes(argv);
            take_words(&job, workloads[i].arguments, argv + 1);
            return job;
        }
    die("unknown workload '%s'", *argv ? *argv : "");
}

struct job echo_job_of(char **argv) {
    struct job job = {0};
    if (*argv && strcmp(*argv, "both") == 0)
        take_words(&job, "CIS", argv + 1);
    return job;
}

static const char before[] = "{\"line\":12,\"ok\":true,\"text\":\"";

size_t filling_of(size_t size) {
    size_t rest = strlen("{\"jsonrpc\":\"2.0\",\"id\":100000,\"method\":\"echo\",\"params\":}") +
                  strlen(before) + strlen("\"}");
    return size > rest ? size - rest : 0;
}

struct text make_params(size_t size) {
    size_t filling = filling_of(size);
    struct text params = {room(filling + sizeof before + 2), strlen(before) + filling + 2};
    memcpy(params.at, before, strlen(before));
    memset(params.at + strlen(before), 'a', filling);
    memcpy(params.at + strlen(before) + filling, "\"}", 3);
    return params;
}

struct text read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) < 0)
        die("%s: %s", path, strerror(errno));
    size_t len = (size_t)ftell(file);
    struct text text = {room(len + 1), len};
    rewind(file);
    need(fread(text.at, 1, len, file) == len, "the file can't be read");
    text.at[len] = '\0';
    fclose(file);
    return text;
}

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct child start_child(char **argv) {
    int in[2];
    int out[2];
    need(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    struct child child = {.in = in[1], .out = out[0]};
    int number = posix_spawnp(&child.pid, argv[0], &actions, NULL, argv, environ);
    if (number)
        die("cannot start %s: %s", argv[0], strerror(number));
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    return child;
}

void end_child(struct child *child) {
    int status = 0;
    close(child->in);
    close(child->out);
    need(waitpid(child->pid, &status, 0) == child->pid && status == 0,
         "the echo program did not leave with 0");
}

long rss_kib(pid_t pid) {
    char path[32];
    char line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

void write_all(int fd, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = write(fd, bytes, len);
        need(n > 0 || errno == EINTR, "the other side does not read");
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

void set_nonblocking(int fd) {
    need(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0, "no O_NONBLOCK");
}

static int compare(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one;
    uint64_t b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

uint64_t percentile(uint64_t *samples, size_t count, unsigned percent) {
    qsort(samples, count, sizeof *samples, compare);
    return samples[(count - 1) * percent / 100];
}

void report_seconds(uint64_t ns) {
    printf("{\"seconds\":%.6f}\n", (double)ns / 1e9);
}

void report_latency(uint64_t ns, uint64_t *samples, size_t count) {
    double p50 = (double)percentile(samples, count, 50) / 1e3;
    double p99 = (double)percentile(samples, count, 99) / 1e3;
    printf("{\"seconds\":%.6f,\"p50_us\":%.3f,\"p99_us\":%.3f}\n", (double)ns / 1e9, p50, p99);
}

void report_document(uint64_t ns, uint64_t *samples, size_t count) {
    double ms = (double)percentile(samples, count, 50) / 1e6;
    printf("{\"seconds\":%.6f,\"ms\":%.3f}\n", (double)ns / 1e9, ms);
}

void report_children(uint64_t ns, long rss) {
    printf("{\"seconds\":%.6f,\"rss_kib\":%ld}\n", (double)ns / 1e9, rss);
}

int watch_new(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

void watch_add(int watch, int fd, void *line) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = line};
    need(epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event) == 0, "a pipe can't be watched");
}

void watch_until_done(int watch, size_t lines, bool (*take)(void *line)) {
    while (lines) {
        struct epoll_event events[64];
        int ready = epoll_wait(watch, events, 64, -1);
        for (int i = 0; i < ready; i++)
            lines -= take(events[i].data.ptr);
    }
}

void time_starts(const struct job *job, pid_t (*begin)(void *user), void (*end)(void *user),
                 void *user) {
    uint64_t *samples = room(job->count * sizeof *samples);
    long idle = 0;
    for (size_t i = 0; i < job->count; i++) {
        uint64_t start = now_ns();
        pid_t pid = begin(user);
        samples[i] = now_ns() - start;
        if (i == job->count - 1) {
            usleep(100000);
            idle = rss_kib(pid);
        }
        end(user);
    }
    double ms = (double)percentile(samples, job->count, 50) / 1e6;
    printf("{\"ms\":%.3f,\"idle_kib\":%ld}\n", ms, idle);
}
