/* (b): plain C with yyjson and hand-written framing: what somebody writes for one program, knowing
 * both ends. An arena, replies straight from the parsed values, up to 32 messages in one write.
 * With `splice`, params pass through as text. It answers correctly, and no more. */
#ifndef PLAIN_H
#define PLAIN_H

#include "../c/bench.h"

#include <yyjson.h>

enum { BATCH = 32 };

struct plain {
    int in, out;
    bool line;   /* framing: lines instead of headers */
    bool splice; /* params as text */
    char *input;
    size_t input_at, input_len, input_cap;
    size_t seen; /* bytes behind input_at that hold no end of a line */
    char *output;
    size_t output_sent, output_len, output_cap;
    size_t waiting; /* messages in the output */
    void *arena;
    size_t arena_cap;
    void *writing; /* the arena of the writer */
    size_t writing_cap;
};

/* A message: parsed, or its parts as text. */
struct message {
    bool is_request;
    uint64_t id;
    yyjson_doc *doc;
    yyjson_val *body; /* params or result */
    struct text text; /* the same as text, with splice */
};

/* Takes the words `line` and `splice` from *argv. */
struct plain plain_new(char ***argv);
void plain_on(struct plain *plain, int in, int out);

/* A value to send: a tree, or text. */
struct body {
    yyjson_val *value;
    struct text text;
};
void plain_request(struct plain *plain, uint64_t id, const struct body *params);
void plain_reply(struct plain *plain, const struct message *request);
/* Blocks until all is written. */
void plain_flush(struct plain *plain);
/* Writes what goes without blocking. */
void plain_flush_some(struct plain *plain);

/* The next message that is there; false if there is none. */
bool plain_next(struct plain *plain, struct message *ret);
void plain_done(struct plain *plain, struct message *message);
/* Reads more, once. 1: something came, 0: the end, -1: nothing now. */
int plain_read(struct plain *plain);

/* Both sides ask and answer at the same time, see raw/raw.h. */
struct both {
    size_t count, inflight;
    size_t sent, answered, served;
    struct body params;
    size_t filling;
};
bool both_turn(struct plain *plain, struct both *both);

/* Does an answer hold what was sent? */
void check_answer(const struct plain *plain, const struct message *message, uint64_t id,
                  const struct body *params, size_t filling);

#endif
