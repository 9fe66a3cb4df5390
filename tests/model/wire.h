/*
 * wire.h: one direction of the pipe between two peers.
 *
 * A plain wire passes bytes on as they come. One that meddles knows where messages begin and end:
 * it puts several of them into one batch, and other things between them.
 */
#ifndef MODEL_WIRE_H
#define MODEL_WIRE_H

#include <duplex/frame.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wire {
    dx_framing framing;
    bool meddles;
    dx_buf raw;   /* meddling: the beginning of a message */
    dx_buf ready; /* what can be fed */
    size_t fed;   /* … and how much of that was */
    dx_buf batch; /* messages that are to become one */
    unsigned batched;
    unsigned gather; /* that many */
};

static inline void wire_init(struct wire *wire, dx_framing framing, bool meddles) {
    *wire = (struct wire){.framing = framing, .meddles = meddles};
    dx_buf_init(&wire->raw, SIZE_MAX / 4, NULL);
    dx_buf_init(&wire->ready, SIZE_MAX / 4, NULL);
    dx_buf_init(&wire->batch, SIZE_MAX / 4, NULL);
}

static inline void wire_done(struct wire *wire) {
    dx_buf_done(&wire->raw);
    dx_buf_done(&wire->ready);
    dx_buf_done(&wire->batch);
}

static inline void wire_add(dx_buf *buf, const void *bytes, size_t len) {
    if (dx_buf_append(buf, bytes, len) != DX_OK)
        abort();
}

static inline dx_text wire_waiting(const struct wire *wire) {
    if (!wire->ready.len)
        return (dx_text){"", 0};
    return (dx_text){wire->ready.data + wire->fed, wire->ready.len - wire->fed};
}

static inline void wire_took(struct wire *wire, size_t len) {
    wire->fed += len;
    if (wire->fed == wire->ready.len)
        wire->fed = wire->ready.len = 0;
}

/* The first message of `raw`: its body, and how long it is with its framing; 0 if incomplete. */
static inline size_t wire_message(const struct wire *wire, dx_text *ret_body) {
    const dx_buf *raw = &wire->raw;
    if (!raw->len)
        return 0;
    if (wire->framing == DX_FRAMING_LINE) {
        const char *newline = memchr(raw->data, '\n', raw->len);
        if (!newline)
            return 0;
        *ret_body = (dx_text){raw->data, (size_t)(newline - raw->data)};
        return ret_body->len + 1;
    }
    const char *end = memmem(raw->data, raw->len, "\r\n\r\n", 4);
    if (!end)
        return 0;
    size_t head = (size_t)(end - raw->data) + 4;
    size_t len = strtoul(raw->data + strlen("Content-Length: "), NULL, 10);
    if (raw->len < head + len)
        return 0;
    *ret_body = (dx_text){raw->data + head, len};
    return head + len;
}

static inline void wire_write(struct wire *wire, dx_text body) {
    if (dx_frame_write(&wire->ready, wire->framing, NULL, body) != DX_OK)
        abort();
}

static inline void wire_flush_batch(struct wire *wire) {
    if (wire->batch.len) {
        wire_add(&wire->batch, "]", 1);
        wire_write(wire, (dx_text){wire->batch.data, wire->batch.len});
    }
    wire->batch.len = 0;
    wire->batched = wire->gather = 0;
}

static inline void wire_pass(struct wire *wire, dx_text body) {
    bool is_batch = body.len && body.at[0] == '[';
    if (!wire->gather || is_batch) { /* a batch in a batch would be none */
        wire_flush_batch(wire);
        wire_write(wire, body);
        return;
    }
    wire_add(&wire->batch, wire->batch.len ? "," : "[", 1);
    wire_add(&wire->batch, body.at, body.len);
    if (++wire->batched >= wire->gather)
        wire_flush_batch(wire);
}

static inline void wire_push(struct wire *wire, const char *bytes, size_t len) {
    wire_add(wire->meddles ? &wire->raw : &wire->ready, bytes, len);
    dx_text body;
    for (size_t whole; wire->meddles && (whole = wire_message(wire, &body));) {
        wire_pass(wire, body);
        memmove(wire->raw.data, wire->raw.data + whole, wire->raw.len - whole);
        wire->raw.len -= whole;
    }
}

/* What is on the way breaks off somewhere. */
static inline void wire_cut(struct wire *wire, size_t keep) {
    wire_flush_batch(wire);
    if (wire->raw.len)
        wire_add(&wire->ready, wire->raw.data, wire->raw.len);
    wire->raw.len = 0;
    if (keep < wire->ready.len - wire->fed)
        wire->ready.len = wire->fed + keep;
}

#endif
