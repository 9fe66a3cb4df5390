/* What the C programs of the benchmark share: words, clocks, processes, reports. See
 * bench/README.md for what they do. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum workload { LATENCY, FLOOD, DOCUMENT, CHILDREN, START, BOTH };

struct job {
    enum workload workload;
    size_t children;
    size_t count; /* requests, or times */
    size_t inflight;
    size_t size;
    const char *file;
    char **echo; /* how the echo program is started */
};

/* The words behind the name of the workload; `argv` stands on that name. */
struct job job_of(char **argv);
/* echo: [both COUNT INFLIGHT SIZE]; count is 0 without it. */
struct job echo_job_of(char **argv);

struct text {
    char *at;
    size_t len;
};

/* {"line":12,"ok":true,"text":"aaa…"} such that a request is `size` bytes long. */
struct text make_params(size_t size);
/* How many `a` that has. */
size_t filling_of(size_t size);
struct text read_file(const char *path);

uint64_t now_ns(void);
__attribute__((format(printf, 1, 2))) _Noreturn void die(const char *format, ...);
void need(bool holds, const char *what);
void *room(size_t size); /* malloc() or die */

struct child {
    pid_t pid;
    int in;  /* we write here */
    int out; /* and read here */
};
struct child start_child(char **argv);
/* Closes its input and waits; anything but an exit with 0 ends us. */
void end_child(struct child *child);
long rss_kib(pid_t pid);

void write_all(int fd, const char *bytes, size_t len);
void set_nonblocking(int fd);

/* Samples of nanoseconds, sorted in place. */
uint64_t percentile(uint64_t *samples, size_t count, unsigned percent);

/* Several children at once: `take` reads from the one that has something and says whether it is
 * done with it; until all are. */
int watch_new(void);
void watch_add(int watch, int fd, void *line);
void watch_until_done(int watch, size_t lines, bool (*take)(void *line));

/* The workload `start`: `begin` starts an echo program, calls it once and says its number. */
void time_starts(const struct job *job, pid_t (*begin)(void *user), void (*end)(void *user),
                 void *user);

void report_seconds(uint64_t ns);
void report_latency(uint64_t ns, uint64_t *samples, size_t count);
void report_document(uint64_t ns, uint64_t *samples, size_t count);
void report_children(uint64_t ns, long rss);

#endif
