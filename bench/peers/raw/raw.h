/* (a): raw bytes through pipes, the measure of what the kernel allows. Messages of one size, which
 * the host says first in eight bytes; the first byte of a message tells a question from an answer.
 */
#ifndef RAW_H
#define RAW_H

#include "../c/bench.h"

enum { QUESTION = 'q', ANSWER = 'a', BATCH = 32 };

/* Both sides ask and answer at the same time; nothing blocks but the wait for either. */
struct pump {
    int in, out;
    size_t size;
    size_t count, inflight; /* questions of our own */
    size_t sent, answered;
    size_t served; /* questions of the other side */
    char *input, *output;
    size_t input_len, output_len, output_sent, output_cap;
};

struct pump pump_new(int in, int out, const struct job *job);
/* One round: writes, reads, or waits. False at the end of the input. */
bool pump_turn(struct pump *pump);

#endif
