/* What the host and the echo program share: a stream over two pipes, and calls of `echo` with some
 * of them in flight. */
#ifndef CALLS_H
#define CALLS_H

#include <jsonrpc-glib.h>
#include <stdint.h>

struct calls {
    JsonrpcClient *client;
    size_t filling; /* how many `a` the text has */
    size_t left;    /* still to be made */
    size_t awaited; /* still to be answered */
    uint64_t *took; /* where the next duration goes, or NULL; right with one in flight */
    uint64_t begin; /* of the call in flight */
    char *text;
    void (*done)(void);
};

/* `done` is called, if there is one, with the last answer. */
void calls_begin(struct calls *calls, size_t inflight);
GVariant *calls_params(const char *text);
void calls_check(GVariant *answer, size_t filling);

/* A stream that never blocks the main loop in a write: two sides that both wait for room in a full
 * pipe would wait forever. */
GIOStream *stream_of(GInputStream *input, GOutputStream *output);

#endif
