#include "raw.h"

#include <string.h>
#include <unistd.h>

/* A child, and what is under way with it. */
struct line {
    struct child child;
    char *buffer; /* what is sent, and what comes back is read into it */
    size_t size;
    size_t count, inflight;
    size_t sent, answered, bytes;
};

static struct line start(const struct job *job, size_t count) {
    struct line line = {.child = start_child(job->echo), .size = job->size, .count = count};
    uint64_t size = job->size;
    line.inflight = job->inflight;
    size_t cap = BATCH * job->size;
    line.buffer = room(cap > 65536 ? cap : 65536);
    memset(line.buffer, QUESTION, cap);
    write_all(line.child.in, (char *)&size, sizeof size);
    return line;
}

static void end(struct line *line) {
    end_child(&line->child);
}

static void send_some(struct line *line) {
    while (line->sent < line->count && line->sent - line->answered < line->inflight) {
        size_t many = line->inflight - (line->sent - line->answered);
        many = many < BATCH ? many : BATCH;
        many = many < line->count - line->sent ? many : line->count - line->sent;
        memset(line->buffer, QUESTION, many * line->size);
        write_all(line->child.in, line->buffer, many * line->size);
        line->sent += many;
    }
}

static void read_some(struct line *line) {
    ssize_t n = read(line->child.out, line->buffer, 65536);
    need(n > 0, "the echo program ended");
    line->bytes += (size_t)n;
    line->answered = line->bytes / line->size;
}

static void work(struct line *line) {
    while (line->answered < line->count) {
        send_some(line);
        read_some(line);
    }
}

static void ask_once(struct line *line) {
    size_t count = line->count;
    line->count = line->sent + 1;
    work(line);
    line->count = count + 1;
}

static void latency(const struct job *job) {
    struct line line = start(job, job->count + job->count / 10);
    uint64_t *samples = room(job->count * sizeof *samples);
    uint64_t begin = 0;
    for (size_t i = 0; i < job->count + job->count / 10; i++) {
        uint64_t sent = now_ns();
        if (i == job->count / 10)
            begin = sent;
        write_all(line.child.in, line.buffer, line.size);
        for (size_t got = 0; got < line.size;) {
            ssize_t n = read(line.child.out, line.buffer, line.size - got);
            need(n > 0, "the echo program ended");
            got += (size_t)n;
        }
        if (i >= job->count / 10)
            samples[i - job->count / 10] = now_ns() - sent;
    }
    uint64_t took = now_ns() - begin;
    end(&line);
    report_latency(took, samples, job->count);
}

static void flood(const struct job *job) {
    struct line line = start(job, job->count);
    ask_once(&line);
    uint64_t begin = now_ns();
    work(&line);
    uint64_t took = now_ns() - begin;
    end(&line);
    report_seconds(took);
}

static void document(const struct job *job) {
    struct text text = read_file(job->file);
    struct child child = start_child(job->echo);
    uint64_t size = text.len;
    write_all(child.in, (char *)&size, sizeof size);
    uint64_t *samples = room(job->count * sizeof *samples);
    uint64_t begin = 0;
    for (size_t i = 0; i <= job->count; i++) {
        uint64_t sent = now_ns();
        begin = i == 1 ? sent : begin;
        write_all(child.in, text.at, text.len);
        for (size_t got = 0; got < text.len;) {
            ssize_t n = read(child.out, text.at + got, text.len - got);
            need(n > 0, "the echo program ended");
            got += (size_t)n;
        }
        if (i)
            samples[i - 1] = now_ns() - sent;
    }
    uint64_t took = now_ns() - begin;
    end_child(&child);
    report_document(took, samples, job->count);
}

static bool take(void *user) {
    struct line *line = user;
    read_some(line);
    send_some(line);
    return line->answered == line->count;
}

static void children(const struct job *job) {
    struct line *lines = room(job->children * sizeof *lines);
    int watch = watch_new();
    for (size_t i = 0; i < job->children; i++) {
        lines[i] = start(job, job->count / job->children);
        ask_once(&lines[i]);
        watch_add(watch, lines[i].child.out, &lines[i]);
    }
    uint64_t begin = now_ns();
    for (size_t i = 0; i < job->children; i++)
        send_some(&lines[i]);
    watch_until_done(watch, job->children, take);
    uint64_t took = now_ns() - begin;
    long rss = rss_kib(getpid());
    for (size_t i = 0; i < job->children; i++)
        end(&lines[i]);
    report_children(took, rss);
}

struct one {
    const struct job *job;
    struct line line;
};

static pid_t begin_one(void *user) {
    struct one *one = user;
    one->line = start(one->job, 1);
    work(&one->line);
    return one->line.child.pid;
}

static void end_one(void *user) {
    struct one *one = user;
    end(&one->line);
}

static void starts(const struct job *job) {
    struct one one = {.job = job};
    time_starts(job, begin_one, end_one, &one);
}

static void both(const struct job *job) {
    struct child child = start_child(job->echo);
    uint64_t size = job->size;
    write_all(child.in, (char *)&size, sizeof size);
    struct pump pump = pump_new(child.out, child.in, job);
    uint64_t begin = now_ns();
    while (pump.answered < job->count || pump.served < job->count || pump.output_len)
        need(pump_turn(&pump), "the echo program ended");
    uint64_t took = now_ns() - begin;
    end_child(&child);
    report_seconds(took);
}

int main(int argc, char **argv) {
    static void (*const workloads[])(const struct job *) = {
        [LATENCY] = latency,   [FLOOD] = flood,  [DOCUMENT] = document,
        [CHILDREN] = children, [START] = starts, [BOTH] = both};
    (void)argc;
    struct job job = job_of(argv + 1);
    workloads[job.workload](&job);
    return 0;
}
