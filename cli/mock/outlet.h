/* outlet.h: what is to be written, in its order, in the pieces and with the pauses that are wanted.
 * What is long is made while it is written. */
#ifndef CLI_MOCK_OUTLET_H
#define CLI_MOCK_OUTLET_H

#include <duplex/loop.h>

#include <stdbool.h>

struct mock;
struct mock_segment;

typedef struct mock_outlet {
    struct mock *mock;
    struct mock_segment *first;
    struct mock_segment **last;
    size_t held; /* by all segments, in bytes */
    dx_timer *timer;
    bool resting;
    bool pumping;
    bool closed; /* nothing gets out any more */
} mock_outlet;

/* False: no memory. */
bool mock_outlet_init(mock_outlet *outlet, struct mock *mock);
void mock_outlet_done(mock_outlet *outlet);

/* Each fails the mock if there is no memory, or too much waits. */
void mock_outlet_put(mock_outlet *outlet, dx_text bytes);
/* So many bytes at a time, each a write of its own, with a pause between them. */
void mock_outlet_split(mock_outlet *outlet, dx_text bytes, size_t piece, uint64_t pause_ms);
/* So often that byte; or so much of anything. */
void mock_outlet_fill(mock_outlet *outlet, char byte, uint64_t count);
void mock_outlet_garbage(mock_outlet *outlet, uint64_t count);

/* The wire has room. */
void mock_outlet_pump(mock_outlet *outlet);
/* Everything was written. */
bool mock_outlet_empty(const mock_outlet *outlet);
/* More should wait until it was: so much does already. */
bool mock_outlet_full(const mock_outlet *outlet);
/* Closes the wire, behind what waits. */
void mock_outlet_close(mock_outlet *outlet);
/* Nobody takes it. */
void mock_outlet_drop(mock_outlet *outlet);

/* A byte that nobody can guess, but the same for each seed. */
unsigned char mock_random(struct mock *mock);

#endif
