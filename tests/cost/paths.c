/*
 * paths: sends messages along the paths that a busy program takes, and tells callgrind where each
 * measurement begins and ends: the dump has the name of the path and the units it is divided by.
 * What goes before it (the set-up, and once the same work, so that every buffer has its size) is
 * not counted. tests/check/check-instructions.sh runs it.
 */
#include <duplex/peer.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

enum {
    SMALL = 165, /* bytes of a request, as in the benchmark */
    ROUNDS = 1000,
    FIRST_ID = 100000,
    MIB = 1 << 20,
    PIPE = 1 << 16, /* what one read of a pipe gives */
    ID_DIGITS = 6,
    WINDOW = 256 /* calls that are pending in the benchmark's flood */
};

struct job {
    dx_framing framing;
    unsigned flags;
    dx_peer **peers; /* each has its turn */
    size_t peer_count;
    dx_buf stream;   /* what comes in */
    size_t requests; /* in the stream */
    size_t piece;    /* bytes that come at once */
    char *answer_id; /* in the stream */
    yyjson_doc *doc;
    size_t calls;
    size_t behind; /* calls that were made after the one that is answered */
    char ids[WINDOW + 1][ID_DIGITS];
    int own_times;
};

typedef void work(struct job *job, size_t rounds);

static void must(dx_status status) {
    if (status == DX_OK)
        return;
    fprintf(stderr, "paths: %s\n", dx_status_name(status));
    exit(1);
}

static void check(int good) {
    must(good ? DX_OK : DX_ERR_INVALID);
}

static void put(dx_buf *buf, const char *string) {
    must(dx_buf_append(buf, string, strlen(string)));
}

static const char *framing_name(dx_framing framing) {
    return framing == DX_FRAMING_HEADER ? "header" : "line";
}

static void start(struct job *job, dx_framing framing, unsigned flags, dx_side side, size_t peers) {
    dx_peer_config config = dx_peer_defaults(framing, side);
    config.flags = flags;
    config.first_id = FIRST_ID;
    config.calls_max = 200000;
    *job = (struct job){.framing = framing, .flags = flags, .peer_count = peers, .piece = SIZE_MAX};
    job->peers = calloc(peers, sizeof(dx_peer *));
    check(job->peers != NULL);
    for (size_t i = 0; i < peers; i++)
        must(dx_peer_new(&config, &job->peers[i]));
    dx_buf_init(&job->stream, SIZE_MAX / 4, NULL);
}

static void stop(struct job *job) {
    for (size_t i = 0; i < job->peer_count; i++)
        dx_peer_free(job->peers[i]);
    free(job->peers);
    yyjson_doc_free(job->doc);
    dx_buf_done(&job->stream);
}

/* Once without counting, once with. */
static void measure(struct job *job, work *work, size_t rounds, size_t units, const char *format,
                    ...) {
    char name[80];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(name, sizeof name, format, list);
    va_end(list);
    snprintf(name + len, sizeof name - (size_t)len, " %zu", units);

    work(job, rounds);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    work(job, rounds);
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION;
    stop(job);
}

/* Stands in for read(2). It is no memcpy, since libc is counted. */
static void copy(void *to, const char *from, size_t len) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
}

static void take_in(struct job *job, dx_peer *peer) {
    const char *at = job->stream.data;
    size_t left = job->stream.len;
    while (left) {
        void *room;
        size_t len;
        must(dx_peer_reserve(peer, left < job->piece ? left : job->piece, &room, &len));
        copy(room, at, len);
        dx_peer_commit(peer, len, job->calls / 100);
        at += len;
        left -= len;
    }
}

static void send_out(dx_peer *peer) {
    dx_peer_sent(peer, dx_peer_output(peer).len);
}

/* Requests come, and each goes back with its params. */
static void answer(struct job *job, size_t rounds) {
    for (size_t i = 0; i < rounds; i++) {
        dx_peer *peer = job->peers[i % job->peer_count];
        const dx_event *ev;
        size_t answered = 0;
        take_in(job, peer);
        for (; dx_peer_next(peer, &ev) == DX_OK; answered++) {
            check(ev->kind == DX_EVENT_REQUEST);
            must(dx_peer_reply(peer, ev->request,
                               job->flags & DX_PEER_TEXT ? dx_json_checked(ev->body)
                                                         : dx_json_value(ev->value)));
        }
        check(answered == job->requests);
        send_out(peer);
    }
}

/* Where the id stands in a message. Nothing of libc is used, since it is counted. */
static char *find_id(const char *message) {
    while (message[0] != 'i' || message[1] != 'd' || message[2] != '"')
        message++;
    return (char *)message + strlen("id\":");
}

static void copy_id(char *to, const char *from) {
    for (int i = 0; i < ID_DIGITS; i++)
        to[i] = from[i];
}

static void call(struct job *job) {
    dx_peer *peer = job->peers[0];
    dx_call_options options = {0};
    dx_call ignored;
    if (job->own_times)
        options.timeout_ms = 20000 + job->calls * 7919 % 20000;
    must(dx_peer_call(peer, dx_str("echo"), dx_json_value(yyjson_doc_get_root(job->doc)), &options,
                      job->calls / 100, &ignored));
    copy_id(job->ids[job->calls++ % (WINDOW + 1)], find_id(dx_peer_output(peer).at));
    send_out(peer);
}

/* Calls are made, and for each an answer comes. */
static void ask(struct job *job, size_t rounds) {
    dx_peer *peer = job->peers[0];
    for (size_t i = 0; i < rounds; i++) {
        const dx_event *ev;
        call(job);
        copy_id(job->answer_id, job->ids[(job->calls - 1 - job->behind) % (WINDOW + 1)]);
        take_in(job, peer);
        must(dx_peer_next(peer, &ev));
        check(ev->kind == DX_EVENT_DONE && ev->outcome == DX_OUTCOME_RESULT);
        check(dx_peer_next(peer, &ev) == DX_AGAIN);
        check(dx_peer_deadline(peer) != DX_NEVER);
    }
}

/* The params that make a request SMALL bytes long. */
static void put_params(dx_buf *body) {
    static const char rest[] = "{\"jsonrpc\":\"2.0\",\"id\":100000,\"method\":\"echo\",\"params\":"
                               "{\"line\":12,\"ok\":true,\"text\":\"\"}}";
    put(body, "{\"line\":12,\"ok\":true,\"text\":\"");
    for (size_t i = sizeof rest - 1; i < SMALL; i++)
        put(body, "a");
    put(body, "\"}");
}

/* Params of one list with many small values. */
static void put_list(dx_buf *body) {
    put(body, "{\"items\":[0");
    while (body->len < MIB - 100)
        put(body, ",{\"line\":12,\"ok\":true,\"text\":\"some words\",\"at\":[-1,0.5],\"of\":{}}");
    put(body, "]}");
}

static void put_string(dx_buf *body) {
    put(body, "{\"text\":\"");
    while (body->len < MIB - 100)
        put(body, "some words and a few more words and ");
    put(body, "\"}");
}

static void add_request(struct job *job, size_t id, void (*params)(dx_buf *body)) {
    char text[80];
    dx_buf body;
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"echo\",\"params\":", id);
    dx_buf_init(&body, 2UL * MIB, NULL);
    put(&body, text);
    params(&body);
    put(&body, "}");
    must(dx_frame_write(&job->stream, job->framing, NULL, (dx_text){body.data, body.len}));
    dx_buf_done(&body);
    job->requests++;
}

static void add_answer(struct job *job) {
    dx_buf body;
    dx_buf_init(&body, MIB, NULL);
    put(&body, "{\"jsonrpc\":\"2.0\",\"id\":100000,\"result\":");
    put_params(&body);
    put(&body, "}");
    must(dx_frame_write(&job->stream, job->framing, NULL, (dx_text){body.data, body.len}));
    dx_buf_done(&body);
    job->answer_id = find_id(job->stream.data);
}

static void requests(dx_framing framing, unsigned flags) {
    const char *mode = flags & DX_PEER_TEXT ? "text" : "tree";
    struct job job;

    start(&job, framing, flags, DX_SIDE_PLUGIN, 1);
    add_request(&job, FIRST_ID, put_params);
    measure(&job, answer, ROUNDS, ROUNDS, "single.%s.%s", framing_name(framing), mode);

    start(&job, framing, flags, DX_SIDE_PLUGIN, 1);
    for (size_t i = 0; i < 1000; i++)
        add_request(&job, FIRST_ID + i, put_params);
    measure(&job, answer, 1, 1000, "thousand.%s.%s", framing_name(framing), mode);

    start(&job, framing, flags, DX_SIDE_PLUGIN, 1);
    job.piece = PIPE;
    add_request(&job, FIRST_ID, put_string);
    measure(&job, answer, 1, job.stream.len, "string.%s.%s", framing_name(framing), mode);

    start(&job, framing, flags, DX_SIDE_PLUGIN, 1);
    job.piece = PIPE;
    add_request(&job, FIRST_ID, put_list);
    measure(&job, answer, 1, job.stream.len, "list.%s.%s", framing_name(framing), mode);
}

static void start_calls(struct job *job, dx_framing framing, size_t pending, int own_times) {
    dx_buf params;
    start(job, framing, 0, DX_SIDE_HOST, 1);
    add_answer(job);
    dx_buf_init(&params, MIB, NULL);
    put_params(&params);
    job->doc = yyjson_read(params.data, params.len, YYJSON_READ_NOFLAG);
    check(job->doc != NULL);
    dx_buf_done(&params);
    job->own_times = own_times;
    for (size_t i = 0; i < pending; i++)
        call(job);
}

int main(void) {
    static const dx_framing framings[] = {DX_FRAMING_HEADER, DX_FRAMING_LINE};
    struct job job;
    for (int i = 0; i < 2; i++) {
        requests(framings[i], 0);
        requests(framings[i], DX_PEER_TEXT);
        /* The oldest is answered. */
        start_calls(&job, framings[i], WINDOW, 0);
        job.behind = WINDOW;
        measure(&job, ask, ROUNDS, ROUNDS, "call.%s", framing_name(framings[i]));
    }
    /* The newest is answered, while the others go on waiting. */
    for (int own_times = 0; own_times < 2; own_times++)
        for (size_t others = 1; others <= 100000; others = others == 1 ? 1000 : others * 100) {
            start_calls(&job, DX_FRAMING_HEADER, others, own_times);
            measure(&job, ask, ROUNDS, ROUNDS, "%s.%zu", own_times ? "own-times" : "pending",
                    others);
        }
    for (size_t peers = 1; peers <= 1000; peers = peers == 1 ? 100 : peers * 10) {
        start(&job, DX_FRAMING_HEADER, 0, DX_SIDE_PLUGIN, peers);
        add_request(&job, FIRST_ID, put_params);
        /* Twice around, so that one that costs more the second time is seen. */
        measure(&job, answer, 2000, 2000, "peers.%zu", peers);
    }
    return 0;
}
