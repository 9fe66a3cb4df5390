#include "plain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct line {
    struct plain plain;
    struct child child;
    size_t count, inflight;
    size_t sent, answered;
};

static struct body params;
static size_t filling;

static struct line start(const struct plain *form, const struct job *job, size_t count) {
    struct line line = {.plain = *form, .child = start_child(job->echo), .count = count};
    line.inflight = job->inflight;
    plain_on(&line.plain, line.child.out, line.child.in);
    return line;
}

static void end(struct line *line) {
    end_child(&line->child);
    free(line->plain.input);
    free(line->plain.output);
}

static void send_some(struct line *line) {
    while (line->sent < line->count && line->sent - line->answered < line->inflight) {
        plain_request(&line->plain, ++line->sent, &params);
        if (line->plain.waiting >= BATCH)
            plain_flush(&line->plain);
    }
    if (line->plain.output_len)
        plain_flush(&line->plain);
}

static void read_some(struct line *line) {
    struct message message;
    need(plain_read(&line->plain) > 0, "the echo program ended");
    while (plain_next(&line->plain, &message)) {
        check_answer(&line->plain, &message, ++line->answered, &params, filling);
        plain_done(&line->plain, &message);
        if (line->sent < line->count) {
            plain_request(&line->plain, ++line->sent, &params);
            if (line->plain.waiting >= BATCH)
                plain_flush(&line->plain);
        }
    }
    if (line->plain.output_len)
        plain_flush(&line->plain);
}

static void work(struct line *line) {
    send_some(line);
    while (line->answered < line->count)
        read_some(line);
}

static void ask_once(struct line *line) {
    size_t count = line->count;
    line->count = line->sent + 1;
    work(line);
    line->count = count + 1;
}

static void latency(const struct plain *form, const struct job *job) {
    size_t warm = job->count / 10;
    struct line line = start(form, job, 0);
    uint64_t *samples = room(job->count * sizeof *samples);
    uint64_t begin = 0;
    for (size_t i = 0; i < job->count + warm; i++) {
        uint64_t sent = now_ns();
        begin = i == warm ? sent : begin;
        line.count = i + 1;
        work(&line);
        if (i >= warm)
            samples[i - warm] = now_ns() - sent;
    }
    uint64_t took = now_ns() - begin;
    end(&line);
    report_latency(took, samples, job->count);
}

static void flood(const struct plain *form, const struct job *job) {
    struct line line = start(form, job, job->count);
    ask_once(&line);
    uint64_t begin = now_ns();
    work(&line);
    uint64_t took = now_ns() - begin;
    end(&line);
    report_seconds(took);
}

static void document(const struct plain *form, const struct job *job) {
    struct text text = read_file(job->file);
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NOFLAG);
    params = (struct body){yyjson_doc_get_root(doc), text};
    struct line line = start(form, job, 0);
    uint64_t *samples = room(job->count * sizeof *samples);
    uint64_t begin = 0;
    for (size_t i = 0; i <= job->count; i++) {
        uint64_t sent = now_ns();
        begin = i == 1 ? sent : begin;
        struct message message;
        plain_request(&line.plain, i, &params);
        plain_flush(&line.plain);
        while (!plain_next(&line.plain, &message))
            need(plain_read(&line.plain) > 0, "the echo program ended");
        need(message.id == i &&
                 (form->splice || yyjson_get_len(message.body) == yyjson_get_len(params.value)),
             "the document came back changed");
        plain_done(&line.plain, &message);
        if (i)
            samples[i - 1] = now_ns() - sent;
    }
    uint64_t took = now_ns() - begin;
    end(&line);
    yyjson_doc_free(doc);
    report_document(took, samples, job->count);
}

static bool take(void *user) {
    struct line *line = user;
    read_some(line);
    return line->answered == line->count;
}

static void children(const struct plain *form, const struct job *job) {
    struct line *lines = room(job->children * sizeof *lines);
    int watch = watch_new();
    for (size_t i = 0; i < job->children; i++) {
        lines[i] = start(form, job, job->count / job->children);
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
    const struct plain *form;
    const struct job *job;
    struct line line;
};

static pid_t begin_one(void *user) {
    struct one *one = user;
    one->line = start(one->form, one->job, 1);
    work(&one->line);
    return one->line.child.pid;
}

static void end_one(void *user) {
    struct one *one = user;
    end(&one->line);
}

static void starts(const struct plain *form, const struct job *job) {
    struct one one = {.form = form, .job = job};
    time_starts(job, begin_one, end_one, &one);
}

static void both(const struct plain *form, const struct job *job) {
    struct line line = start(form, job, 0);
    struct both both = {.count = job->count, .inflight = job->inflight, .params = params};
    both.filling = filling;
    set_nonblocking(line.child.in);
    set_nonblocking(line.child.out);
    uint64_t begin = now_ns();
    while (both.answered < job->count || both.served < job->count || line.plain.output_len)
        need(both_turn(&line.plain, &both), "the echo program ended");
    uint64_t took = now_ns() - begin;
    end(&line);
    report_seconds(took);
}

int main(int argc, char **argv) {
    static void (*const workloads[])(const struct plain *, const struct job *) = {
        [LATENCY] = latency,   [FLOOD] = flood,  [DOCUMENT] = document,
        [CHILDREN] = children, [START] = starts, [BOTH] = both};
    (void)argc;
    argv++;
    struct plain form = plain_new(&argv);
    struct job job = job_of(argv);
    struct text text = make_params(job.size);
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NOFLAG);
    params = (struct body){yyjson_doc_get_root(doc), text};
    filling = filling_of(job.size);
    workloads[job.workload](&form, &job);
    yyjson_doc_free(doc);
    return 0;
}
