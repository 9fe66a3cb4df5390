#include "duplex-bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* A child, and what is asked of it. */
struct line {
    struct asker asker;
    dx_child *child;
    size_t served;
};

static struct form form;
static struct job job;
static dx_loop *loop;
static size_t waiting; /* lines that have not reached what they were asked for */

static void on_all(struct asker *asker) {
    (void)asker;
    if (!--waiting)
        dx_loop_stop(loop);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    (void)child;
    (void)user;
    need(gone->known && !gone->code && !gone->signal, "the echo program did not leave with 0");
    on_all(NULL);
}

static void on_request(dx_link *link, const dx_event *event, void *user) {
    struct line *line = user;
    on_echo(link, event, NULL);
    if (++line->served == job.count)
        on_all(NULL);
}

static const dx_handler handlers[] = {{"echo", on_request}, {NULL, NULL}};

static void start(struct line *line) {
    dx_child_config config = dx_child_defaults(form.framing, (const char *const *)job.echo);
    dx_error error;
    config.link = link_config(&form, DX_SIDE_HOST);
    config.link.handlers = handlers;
    config.link.user = line;
    config.on_gone = on_gone;
    if (dx_child_start(loop, &config, &line->child, &error) != DX_OK)
        die("%s", error.phrase);
    line->asker = (struct asker){.form = &form, .on_all = on_all, .inflight = job.inflight};
    line->asker.link = dx_child_link(line->child);
    ask_for_size(&line->asker, job.size);
}

static void run(size_t lines) {
    waiting = lines;
    need(dx_loop_run(loop) == DX_OK, "waiting failed");
}

static void end(struct line *line) {
    dx_child_stop(line->child);
    run(1);
    dx_child_free(line->child);
}

static void ask(struct line *line, size_t count) {
    line->asker.count += count;
    ask_more(&line->asker);
}

static void latency(void) {
    struct line line = {0};
    size_t warm = job.count / 10;
    uint64_t *samples = room(job.count * sizeof *samples);
    uint64_t begin = 0;
    start(&line);
    for (size_t i = 0; i < job.count + warm; i++) {
        uint64_t sent = now_ns();
        begin = i == warm ? sent : begin;
        ask(&line, 1);
        run(1);
        if (i >= warm)
            samples[i - warm] = now_ns() - sent;
    }
    uint64_t took = now_ns() - begin;
    end(&line);
    report_latency(took, samples, job.count);
}

/* What pending calls cost, at a child that reads and never answers; in portions that its pipe can
 * take, since what waits to be sent is another matter. */
static void pile_up(long *ret_before, long *ret_full) {
    enum { MOST = 32, PORTION = 128 };
    char *argv[MOST] = {NULL};
    size_t words = 0;
    for (; words < MOST - 2 && job.echo[words]; words++)
        argv[words] = job.echo[words];
    argv[words] = (char[]){"mute"};
    job.echo = argv;
    struct line line = {0};
    start(&line);
    *ret_before = rss_kib(getpid());
    for (size_t i = 0; i < job.inflight; i++) {
        need(dx_link_call(line.asker.link, dx_str("echo"), line.asker.params, NULL, NULL) == DX_OK,
             "a call is refused");
        if (i % PORTION == PORTION - 1) {
            dx_loop_dispatch(loop);
            usleep(200);
        }
    }
    *ret_full = rss_kib(getpid());
    dx_child_free(line.child);
}

static void flood(void) {
    struct line line = {0};
    long before;
    long full;
    start(&line);
    ask(&line, 1);
    run(1);
    uint64_t begin = now_ns();
    ask(&line, job.count);
    run(1);
    uint64_t took = now_ns() - begin;
    end(&line);
    pile_up(&before, &full);
    printf("{\"seconds\":%.6f,\"before_kib\":%ld,\"full_kib\":%ld}\n", (double)took / 1e9, before,
           full);
}

static void document(void) {
    struct line line = {0};
    struct text text = read_file(job.file);
    yyjson_doc *doc = yyjson_read(text.at, text.len, YYJSON_READ_NOFLAG);
    uint64_t *samples = room(job.count * sizeof *samples);
    uint64_t begin = 0;
    start(&line);
    line.asker.params = form.text ? dx_json_checked((dx_text){text.at, text.len})
                                  : dx_json_value(yyjson_doc_get_root(doc));
    line.asker.len =
        form.text ? text.len : yyjson_get_len(yyjson_obj_get(yyjson_doc_get_root(doc), "text"));
    for (size_t i = 0; i <= job.count; i++) {
        uint64_t sent = now_ns();
        begin = i == 1 ? sent : begin;
        ask(&line, 1);
        run(1);
        if (i)
            samples[i - 1] = now_ns() - sent;
    }
    uint64_t took = now_ns() - begin;
    end(&line);
    yyjson_doc_free(doc);
    report_document(took, samples, job.count);
}

static void children(void) {
    struct line *lines = room(job.children * sizeof *lines);
    for (size_t i = 0; i < job.children; i++) {
        lines[i] = (struct line){0};
        start(&lines[i]);
        ask(&lines[i], 1);
    }
    run(job.children);
    uint64_t begin = now_ns();
    for (size_t i = 0; i < job.children; i++)
        ask(&lines[i], job.count / job.children);
    run(job.children);
    uint64_t took = now_ns() - begin;
    long rss = rss_kib(getpid());
    for (size_t i = 0; i < job.children; i++)
        dx_child_stop(lines[i].child);
    run(job.children);
    report_children(took, rss);
}

static pid_t begin_one(void *user) {
    struct line *line = user;
    *line = (struct line){0};
    start(line);
    ask(line, 1);
    run(1);
    return dx_child_pid(line->child);
}

static void end_one(void *user) {
    end(user);
}

static void starts(void) {
    struct line line;
    time_starts(&job, begin_one, end_one, &line);
}

static void both(void) {
    struct line line = {0};
    start(&line);
    uint64_t begin = now_ns();
    ask(&line, job.count);
    run(2);
    uint64_t took = now_ns() - begin;
    end(&line);
    report_seconds(took);
}

int main(int argc, char **argv) {
    static void (*const workloads[])(void) = {
        [LATENCY] = latency,   [FLOOD] = flood,  [DOCUMENT] = document,
        [CHILDREN] = children, [START] = starts, [BOTH] = both};
    (void)argc;
    argv++;
    form = take_form(&argv);
    job = job_of(argv);
    need(dx_loop_new(NULL, &loop, NULL) == DX_OK, "no loop");
    dx_loop_set_busy_poll(loop, form.busy);
    workloads[job.workload]();
    dx_loop_free(loop);
    return 0;
}
