/*
 * cost FRAMING SHAPE PIECE BYTES: feeds a stream of some BYTES to a peer, PIECE bytes at a time (0:
 * all at once), as a loop around a pipe would: feed, take all events, send what is to be sent.
 * SHAPE is `small` (requests of 165 bytes, each answered with its params), `large` (one request,
 * answered with null) or `open` (as small, while a hundred batches are unanswered). Prints how many
 * bytes the stream has.
 *
 * The checks run it under callgrind and count the instructions inside measured().
 */
#include <duplex/peer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 165, OPEN = 100 };

struct job {
    dx_peer *peer;
    dx_buf stream;
    size_t piece;
    size_t requests;
    size_t answered;
    dx_event *open[OPEN];
};

void measured(struct job *job);

static void must(dx_status status) {
    if (status == DX_OK)
        return;
    fprintf(stderr, "cost: %s\n", dx_status_name(status));
    exit(1);
}

static void put(dx_buf *buf, const char *string) {
    must(dx_buf_append(buf, string, strlen(string)));
}

/* What an editor asks a language server, of exactly SMALL bytes. */
static void small_request(dx_buf *body, unsigned long id) {
    char text[SMALL + 1];
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":%lu,\"method\":\"textDocument/hover\",\"params\":"
             "{\"textDocument\":{\"uri\":\"file:///home/user/src/main.c\"},"
             "\"position\":{\"line\":120,\"character\":14}}}",
             id);
    for (size_t len = strlen(text); len < SMALL; len++)
        put(body, " ");
    put(body, text);
}

/* A list of things with names, numbers and sentences, filled up to exactly `len` bytes. */
static void large_request(dx_buf *body, size_t len) {
    static const char item[] =
        "{\"label\":\"buffer_reserve\",\"kind\":3,\"detail\":\"static int buffer_reserve(struct "
        "buffer *buffer, size_t more)\",\"documentation\":\"Makes room for more bytes \\u2013 or "
        "says \\\"no\\\".\\n\",\"position\":{\"line\":1204,\"character\":4},\"score\":0.75,"
        "\"tags\":[],\"deprecated\":false,\"author\":\"Zo\xc3\xab\"},";
    static const char tail[] = "]}}";
    put(body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"some/method\",\"params\":{\"items\":[");
    while (len - body->len > sizeof item + sizeof tail)
        put(body, item);
    put(body, "\"");
    while (len - body->len > sizeof tail)
        put(body, "x");
    put(body, "\"");
    put(body, tail);
}

static void add_request(struct job *job, dx_framing framing, int small, size_t bytes) {
    dx_buf body;
    dx_buf_init(&body, bytes, NULL);
    if (small)
        small_request(&body, 1000000 + job->requests);
    else
        large_request(&body, bytes - 64); /* the rest is for the header */
    must(dx_frame_write(&job->stream, framing, NULL, (dx_text){body.data, body.len}));
    dx_buf_done(&body);
    job->requests++;
}

/* Batches that somebody takes his time to answer: nothing else should cost more because of them. */
static void open_batches(struct job *job, dx_framing framing) {
    dx_buf stream;
    dx_buf_init(&stream, SIZE_MAX / 4, NULL);
    for (int i = 0; i < OPEN; i++) {
        char text[80];
        const dx_event *ev;
        int len = snprintf(text, sizeof text,
                           "[{\"jsonrpc\":\"2.0\",\"id\":\"open %d\",\"method\":\"m\"}]", i);
        stream.len = 0;
        must(dx_frame_write(&stream, framing, NULL, (dx_text){text, (size_t)len}));
        must(dx_peer_feed(job->peer, stream.data, stream.len, 0, NULL));
        must(dx_peer_next(job->peer, &ev));
        must(dx_peer_keep(job->peer, &job->open[i]));
    }
    dx_buf_done(&stream);
}

/* Says whether there were any. */
static int take_events(struct job *job) {
    const dx_event *ev;
    size_t before = job->answered;
    while (dx_peer_next(job->peer, &ev) == DX_OK) {
        if (ev->kind != DX_EVENT_REQUEST)
            must(DX_ERR_INVALID);
        int large = ev->body.len > SMALL;
        must(dx_peer_reply(job->peer, ev->request,
                           large ? dx_json_none() : dx_json_checked(ev->body)));
        job->answered++;
    }
    return job->answered != before;
}

/* Not static, so that callgrind knows it by name. */
__attribute__((noinline)) void measured(struct job *job) {
    const char *at = job->stream.data;
    size_t left = job->stream.len;
    while (left) {
        size_t used = 0;
        dx_status status =
            dx_peer_feed(job->peer, at, left < job->piece ? left : job->piece, 0, &used);
        if (status != DX_OK && status != DX_BUSY)
            must(status);
        at += used;
        left -= used;
        if (take_events(job))
            dx_peer_sent(job->peer, dx_peer_output(job->peer).len);
    }
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: cost header|line small|large|open PIECE BYTES\n");
        return 2;
    }
    dx_framing framing = argv[1][0] == 'h' ? DX_FRAMING_HEADER : DX_FRAMING_LINE;
    int small = argv[2][0] != 'l';
    struct job job = {.piece = strtoul(argv[3], NULL, 10)};
    size_t bytes = strtoul(argv[4], NULL, 10);
    if (!job.piece)
        job.piece = SIZE_MAX;
    dx_buf_init(&job.stream, SIZE_MAX / 4, NULL);
    do
        add_request(&job, framing, small, bytes);
    while (small && job.stream.len < bytes);

    dx_peer_config config = dx_peer_defaults(framing, DX_SIDE_PLUGIN);
    config.requests_max = 1000000; /* a whole stream at once is more than the usual 10,000 */
    config.values_max = SIZE_MAX;
    config.flags = DX_PEER_BATCH;
    must(dx_peer_new(&config, &job.peer));
    if (argv[2][0] == 'o')
        open_batches(&job, framing);
    measured(&job);
    printf("%zu\n", job.stream.len);
    dx_peer_free(job.peer);
    for (int i = 0; i < OPEN; i++)
        dx_event_free(job.open[i]);
    dx_buf_done(&job.stream);
    if (job.answered == job.requests)
        return 0;
    fprintf(stderr, "cost: %zu of %zu requests came\n", job.answered, job.requests);
    return 1;
}
