#include "raw.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 65536 };

struct pump pump_new(int in, int out, const struct job *job) {
    struct pump pump = {.in = in, .out = out, .size = job->size};
    pump.count = job->count;
    pump.inflight = job->inflight;
    pump.output_cap = 4 * job->inflight * job->size + PIECE;
    pump.input = room(PIECE + job->size);
    pump.output = room(pump.output_cap);
    set_nonblocking(in);
    set_nonblocking(out);
    return pump;
}

static void append(struct pump *pump, char kind) {
    need(pump->output_len + pump->size <= pump->output_cap, "too much to send");
    memset(pump->output + pump->output_len, kind, pump->size);
    pump->output_len += pump->size;
}

static void flush(struct pump *pump) {
    while (pump->output_sent < pump->output_len) {
        size_t len = pump->output_len - pump->output_sent;
        if (len > BATCH * pump->size)
            len = BATCH * pump->size;
        ssize_t n = write(pump->out, pump->output + pump->output_sent, len);
        if (n < 0)
            break;
        pump->output_sent += (size_t)n;
    }
    memmove(pump->output, pump->output + pump->output_sent, pump->output_len - pump->output_sent);
    pump->output_len -= pump->output_sent;
    pump->output_sent = 0;
}

static void take(struct pump *pump) {
    size_t at = 0;
    for (; pump->input_len - at >= pump->size; at += pump->size) {
        if (pump->input[at] == QUESTION) {
            append(pump, ANSWER);
            pump->served++;
        } else {
            pump->answered++;
        }
        if (pump->output_len >= BATCH * pump->size)
            flush(pump);
    }
    memmove(pump->input, pump->input + at, pump->input_len - at);
    pump->input_len -= at;
}

bool pump_turn(struct pump *pump) {
    while (pump->sent < pump->count && pump->sent - pump->answered < pump->inflight) {
        append(pump, QUESTION);
        pump->sent++;
    }
    if (pump->output_len)
        flush(pump);
    ssize_t n = read(pump->in, pump->input + pump->input_len, PIECE);
    if (n == 0)
        return false;
    if (n < 0 && errno == EAGAIN) {
        struct pollfd fds[2] = {{pump->in, POLLIN, 0}, {pump->out, POLLOUT, 0}};
        poll(fds, pump->output_len ? 2 : 1, -1);
        return true;
    }
    need(n > 0, "the other side can't be read");
    pump->input_len += (size_t)n;
    take(pump);
    flush(pump); /* the last answers must not wait for a reason to go */
    return true;
}
