#include "cli/mock/outlet.h"

#include "cli/mock/mock.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* How much may wait here; how much of it is handed to the wire at once, and while how much waits
 * there; with how much those who have more to say wait; how many pieces go out in one turn. */
enum { HELD_MAX = 128 << 20, PORTION = 64 << 10, WAITING = 256 << 10, FULL = 1 << 20, TURN = 1000 };

typedef enum making { AS_IT_IS, ONE_BYTE, ANY_BYTES, THE_END } making;

struct mock_segment {
    struct mock_segment *next;
    making making;
    char byte;
    uint64_t left;
    size_t piece; /* 0: in whatever pieces */
    uint64_t pause_ms;
    size_t at;
    size_t len;
    char bytes[];
};

unsigned char mock_random(struct mock *mock) {
    /* xorshift64*, which has no state 0 */
    mock->random ^= mock->random >> 12;
    mock->random ^= mock->random << 25;
    mock->random ^= mock->random >> 27;
    return (unsigned char)((mock->random * 0x2545f4914f6cdd1dULL) >> 56);
}

static void on_time(dx_timer *timer, void *user) {
    mock_outlet *outlet = user;
    (void)timer;
    outlet->resting = false;
    mock_outlet_pump(outlet);
}

bool mock_outlet_init(mock_outlet *outlet, struct mock *mock) {
    *outlet = (mock_outlet){.mock = mock};
    outlet->last = &outlet->first;
    return dx_timer_new(mock->loop, on_time, outlet, &outlet->timer) == DX_OK;
}

static void free_segments(mock_outlet *outlet) {
    while (outlet->first) {
        struct mock_segment *next = outlet->first->next;
        free(outlet->first);
        outlet->first = next;
    }
    outlet->last = &outlet->first;
    outlet->held = 0;
}

void mock_outlet_done(mock_outlet *outlet) {
    free_segments(outlet);
    outlet->timer = dx_timer_free(outlet->timer);
    outlet->closed = true;
}

void mock_outlet_drop(mock_outlet *outlet) {
    free_segments(outlet);
    outlet->closed = true;
}

static struct mock_segment *add(mock_outlet *outlet, dx_text bytes) {
    struct mock_segment *segment;
    if (outlet->closed || !outlet->last)
        return NULL;
    if (outlet->held + sizeof *segment + bytes.len > HELD_MAX) {
        mock_fail(outlet->mock, CLI_LATE,
                  "the output is not being read: more than %d MiB are"
                  " waiting",
                  HELD_MAX >> 20);
        return NULL;
    }
    segment = malloc(sizeof *segment + bytes.len);
    if (!segment) {
        mock_fail(outlet->mock, CLI_NO_START, "out of memory");
        return NULL;
    }
    *segment = (struct mock_segment){.len = bytes.len};
    if (bytes.len)
        memcpy(segment->bytes, bytes.at, bytes.len);
    *outlet->last = segment;
    outlet->last = &segment->next;
    outlet->held += sizeof *segment + bytes.len;
    return segment;
}

void mock_outlet_put(mock_outlet *outlet, dx_text bytes) {
    if (bytes.len && add(outlet, bytes))
        mock_outlet_pump(outlet);
}

void mock_outlet_split(mock_outlet *outlet, dx_text bytes, size_t piece, uint64_t pause_ms) {
    struct mock_segment *segment = bytes.len ? add(outlet, bytes) : NULL;
    if (!segment)
        return;
    segment->piece = piece;
    segment->pause_ms = pause_ms;
    mock_outlet_pump(outlet);
}

void mock_outlet_fill(mock_outlet *outlet, char byte, uint64_t count) {
    struct mock_segment *segment = count ? add(outlet, (dx_text){NULL, 0}) : NULL;
    if (!segment)
        return;
    segment->making = ONE_BYTE;
    segment->byte = byte;
    segment->left = count;
    mock_outlet_pump(outlet);
}

void mock_outlet_garbage(mock_outlet *outlet, uint64_t count) {
    struct mock_segment *segment = count ? add(outlet, (dx_text){NULL, 0}) : NULL;
    if (!segment)
        return;
    segment->making = ANY_BYTES;
    segment->left = count;
    mock_outlet_pump(outlet);
}

static bool is_done(const struct mock_segment *segment) {
    return segment->making == AS_IT_IS ? segment->at == segment->len : !segment->left;
}

static void write_made(mock_outlet *outlet, struct mock_segment *segment) {
    char made[PORTION];
    size_t len = segment->left < sizeof made ? (size_t)segment->left : sizeof made;
    for (size_t i = 0; i < len; i++)
        made[i] = segment->making == ONE_BYTE ? segment->byte : (char)mock_random(outlet->mock);
    segment->left -= len;
    outlet->closed |= !cli_wire_write(outlet->mock->wire, (dx_text){made, len});
}

static void write_bytes(mock_outlet *outlet, struct mock_segment *segment) {
    size_t most = segment->piece ? segment->piece : PORTION;
    size_t len = segment->len - segment->at;
    if (len > most)
        len = most;
    dx_text bytes = {segment->bytes + segment->at, len};
    segment->at += len;
    outlet->held -= len;
    outlet->closed |= !cli_wire_write(outlet->mock->wire, bytes);
}

static void drop_first(mock_outlet *outlet) {
    struct mock_segment *segment = outlet->first;
    outlet->held -= sizeof *segment;
    outlet->first = segment->next;
    if (!outlet->first)
        outlet->last = &outlet->first;
    free(segment);
}

/* A portion of the first segment; false: the next has to wait. */
static bool pump_once(mock_outlet *outlet) {
    struct mock_segment *segment = outlet->first;
    size_t waits = cli_wire_waiting(outlet->mock->wire);
    if (segment->piece ? waits > 0 : waits > WAITING)
        return false;
    if (segment->making == THE_END) {
        cli_wire_finish(outlet->mock->wire);
        outlet->closed = true;
    } else if (segment->making == AS_IT_IS)
        write_bytes(outlet, segment);
    else
        write_made(outlet, segment);
    if (outlet->closed)
        return false;
    bool rests = segment->piece && segment->pause_ms && !is_done(segment);
    if (rests) {
        outlet->resting = true;
        dx_timer_set(outlet->timer, segment->pause_ms);
    }
    if (is_done(segment))
        drop_first(outlet);
    return !rests;
}

void mock_outlet_pump(mock_outlet *outlet) {
    unsigned turn = 0;
    if (outlet->pumping || !outlet->mock->wire)
        return;
    outlet->pumping = true;
    while (outlet->first && !outlet->resting && !outlet->closed) {
        if (!pump_once(outlet))
            break;
        if (++turn == TURN) {
            outlet->resting = true;
            dx_timer_set(outlet->timer, 0);
        }
    }
    outlet->pumping = false;
    if (outlet->closed)
        free_segments(outlet);
}

bool mock_outlet_empty(const mock_outlet *outlet) {
    return outlet->closed ||
           (!outlet->first && (!outlet->mock->wire || !cli_wire_waiting(outlet->mock->wire)));
}

bool mock_outlet_full(const mock_outlet *outlet) {
    return !outlet->closed &&
           (outlet->held > FULL || (outlet->first && outlet->first->making != AS_IT_IS));
}

void mock_outlet_close(mock_outlet *outlet) {
    struct mock_segment *segment = add(outlet, (dx_text){NULL, 0});
    if (!segment)
        return;
    segment->making = THE_END;
    mock_outlet_pump(outlet);
}
