#include "bench.h"
#include "calls.h"

#include <json-glib/json-glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static GMainLoop *loop;
static size_t busy; /* what the main loop still waits for */

static void one_done(void) {
    if (--busy == 0)
        g_main_loop_quit(loop);
}

struct side {
    GSubprocess *process;
    JsonrpcClient *client;
};

static struct side start(const struct job *job) {
    g_autoptr(GError) error = NULL;
    struct side side = {
        .process = g_subprocess_newv((const char *const *)job->echo,
                                     G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE,
                                     &error)};
    if (!side.process)
        die("cannot start %s: %s", job->echo[0], error->message);
    g_autoptr(GIOStream) stream = stream_of(g_subprocess_get_stdout_pipe(side.process),
                                            g_subprocess_get_stdin_pipe(side.process));
    side.client = jsonrpc_client_new(stream);
    return side;
}

static void end(struct side *side) {
    /* A read is pending, so that the close of the input fails; that of the output does not. */
    jsonrpc_client_close(side->client, NULL, NULL);
    need(g_subprocess_wait(side->process, NULL, NULL) &&
             g_subprocess_get_if_exited(side->process) &&
             g_subprocess_get_exit_status(side->process) == 0,
         "the echo program did not leave with 0");
    g_object_unref(side->client);
    g_object_unref(side->process);
}

static void keep_answer(GObject *source, GAsyncResult *result, gpointer data) {
    g_autoptr(GError) error = NULL;
    if (!jsonrpc_client_call_finish(JSONRPC_CLIENT(source), result, data, &error))
        die("a call failed: %s", error->message);
    g_main_loop_quit(loop);
}

static GVariant *ask(struct side *side, GVariant *params) {
    GVariant *answer = NULL;
    jsonrpc_client_call_async(side->client, "echo", params, NULL, keep_answer, &answer);
    g_main_loop_run(loop);
    return answer;
}

static void ask_once(struct side *side, size_t size) {
    g_autofree char *text = g_strnfill(filling_of(size), 'a');
    g_autoptr(GVariant) params = calls_params(text);
    g_autoptr(GVariant) answer = ask(side, params);
    calls_check(answer, filling_of(size));
}

static struct calls calls_of(const struct side *side, const struct job *job, size_t count) {
    return (struct calls){
        .client = side->client, .left = count, .filling = filling_of(job->size), .done = one_done};
}

/* Until `busy` things are done. */
static void run(struct calls *calls, size_t count, size_t inflight) {
    for (size_t i = 0; i < count; i++)
        calls_begin(&calls[i], inflight);
    g_main_loop_run(loop);
}

static void latency(const struct job *job) {
    uint64_t *samples = room((job->count + 1) * sizeof *samples);
    struct side side = start(job);
    for (size_t i = 0; i < job->count / 10; i++)
        ask_once(&side, job->size);
    struct calls calls = calls_of(&side, job, job->count);
    calls.took = samples;
    busy = 1;
    uint64_t begin = now_ns();
    run(&calls, 1, 1);
    uint64_t took = now_ns() - begin;
    end(&side);
    report_latency(took, samples, job->count);
}

static void flood(const struct job *job) {
    struct side side = start(job);
    ask_once(&side, job->size);
    struct calls calls = calls_of(&side, job, job->count);
    busy = 1;
    uint64_t begin = now_ns();
    run(&calls, 1, job->inflight);
    uint64_t took = now_ns() - begin;
    end(&side);
    report_seconds(took);
}

/* The library reads no message above 16 MiB, and has no option for that. */
static void need_small(GVariant *params) {
    size_t len = 0;
    g_autofree char *json = json_gvariant_serialize_data(params, &len);
    len += strlen("{\"jsonrpc\":\"2.0\",\"id\":100000,\"method\":\"echo\",\"params\":}");
    if (len > 16 << 20) {
        fprintf(stderr, "jsonrpc-glib refuses a message of %zu bytes, above 16 MiB\n", len);
        exit(3);
    }
}

static void document(const struct job *job) {
    struct text text = read_file(job->file);
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) params =
        json_gvariant_deserialize_data(text.at, (gssize)text.len, NULL, &error);
    if (!params)
        die("%s: %s", job->file, error->message);
    g_variant_ref_sink(params);
    need_small(params);
    uint64_t *samples = room((job->count + 1) * sizeof *samples);
    uint64_t sum = 0;
    struct side side = start(job);
    for (size_t i = 0; i <= job->count; i++) {
        uint64_t begin = now_ns();
        g_autoptr(GVariant) answer = ask(&side, params);
        samples[i] = now_ns() - begin;
        need(i > 0 ? g_variant_n_children(answer) == g_variant_n_children(params)
                   : g_variant_equal(answer, params),
             "the answer is not the document");
        sum += i > 0 ? samples[i] : 0;
    }
    end(&side);
    report_document(sum, samples + 1, job->count);
}

static void children(const struct job *job) {
    struct side *sides = room(job->children * sizeof *sides);
    struct calls *calls = room(job->children * sizeof *calls);
    for (size_t i = 0; i < job->children; i++) {
        sides[i] = start(job);
        ask_once(&sides[i], job->size);
        calls[i] = calls_of(&sides[i], job, job->count / job->children);
    }
    busy = job->children;
    uint64_t begin = now_ns();
    run(calls, job->children, job->inflight);
    uint64_t took = now_ns() - begin;
    long rss = rss_kib(getpid());
    for (size_t i = 0; i < job->children; i++)
        end(&sides[i]);
    report_children(took, rss);
}

struct one {
    const struct job *job;
    struct side side;
};

static pid_t begin_one(void *user) {
    struct one *one = user;
    one->side = start(one->job);
    ask_once(&one->side, one->job->size);
    return (pid_t)atoi(g_subprocess_get_identifier(one->side.process));
}

static void end_one(void *user) {
    struct one *one = user;
    end(&one->side);
}

static void starts(const struct job *job) {
    struct one one = {.job = job};
    time_starts(job, begin_one, end_one, &one);
}

static void replied(GObject *source, GAsyncResult *result, gpointer data) {
    (void)data;
    g_autoptr(GError) error = NULL;
    if (!jsonrpc_client_reply_finish(JSONRPC_CLIENT(source), result, &error))
        die("a reply failed: %s", error->message);
    one_done();
}

static gboolean serve(JsonrpcClient *client, const char *method, GVariant *id, GVariant *params,
                      gpointer data) {
    (void)method;
    (void)data;
    jsonrpc_client_reply_async(client, id, params, NULL, replied, NULL);
    return TRUE;
}

static void both(const struct job *job) {
    struct side side = start(job);
    g_signal_connect(side.client, "handle-call::echo", G_CALLBACK(serve), NULL);
    busy = 1 + job->count;
    ask_once(&side, job->size);
    struct calls calls = calls_of(&side, job, job->count);
    uint64_t begin = now_ns();
    run(&calls, 1, job->inflight);
    uint64_t took = now_ns() - begin;
    end(&side);
    report_seconds(took);
}

int main(int argc, char **argv) {
    static void (*const workloads[])(const struct job *) = {
        [LATENCY] = latency,   [FLOOD] = flood,  [DOCUMENT] = document,
        [CHILDREN] = children, [START] = starts, [BOTH] = both};
    (void)argc;
    struct job job = job_of(argv + 1);
    signal(SIGPIPE, SIG_IGN); /* so that the end of an echo program is an error of a call */
    loop = g_main_loop_new(NULL, FALSE);
    workloads[job.workload](&job);
    return 0;
}
