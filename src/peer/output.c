#include "base/alloc.h"
#include "peer/peer.h"
#include "rpc/write.h"

#include <string.h>

static dx_json params_of(const dx_peer *peer, const dx__outgoing *outgoing) {
    bool is_null = peer->config.flags & DX_PEER_PARAMS_NULL && outgoing->body.form == DX__NONE;
    return is_null ? dx__json_null() : outgoing->body;
}

static dx_status write_body(const dx_peer *peer, dx_buf *buf, const dx__outgoing *outgoing) {
    switch (outgoing->what) {
    case DX__REQUEST:
        return dx__rpc_put_request(buf, outgoing->id, outgoing->method, params_of(peer, outgoing));
    case DX__NOTIFICATION:
        return dx_rpc_write_notification(buf, outgoing->method, params_of(peer, outgoing));
    case DX__RESULT:
        return dx__rpc_put_result(buf, outgoing->id, outgoing->body);
    case DX__ERROR:
        return dx__rpc_put_error(buf, outgoing->id, outgoing->code, outgoing->message,
                                 outgoing->body);
    case DX__ANY:
        return dx_buf_append(buf, outgoing->message.at, outgoing->message.len);
    }
    return DX_ERR_INVALID;
}

/* What was sent makes room when it is at least half of the buffer. */
static void slide(dx_peer *peer) {
    size_t left = dx__out_waiting(peer);
    if (!peer->out_sent || peer->out_sent < left)
        return;
    memmove(peer->out.data, peer->out.data + peer->out_sent, left);
    peer->out.len = left;
    peer->out_sent = 0;
}

/* A message was just written: the last `body` bytes of the output, but for a line's end, with the
 * frame around it from `start` on. */
static void sent_message(dx_peer *peer, size_t start, size_t body) {
    size_t end = peer->out.len - (peer->config.framing == DX_FRAMING_LINE);
    peer->stats.messages_out++;
    peer->warm = true;
    if (peer->config.observe)
        peer->config.observe(peer->config.observe_user, 1,
                             (dx_text){peer->out.data + end - body, body}, peer->out.len - start);
}

static dx_status send_in_batch(dx_peer *peer, dx__batch *batch, const dx__outgoing *outgoing,
                               size_t beyond) {
    size_t start = batch->replies.len;
    /* What is gathered does not count here: it goes out only when the rest may be added. */
    if (dx__out_waiting(peer) && dx__out_waiting(peer) >= beyond)
        return DX_BUSY;
    dx_status status = dx_rpc_write_batch(&batch->replies, start ? DX_BATCH_NEXT : DX_BATCH_OPEN);
    if (status == DX_OK)
        status = write_body(peer, &batch->replies, outgoing);
    /* They go out as one message. */
    if (status == DX_OK && beyond != SIZE_MAX && batch->replies.len >= peer->config.message_max)
        status = DX_ERR_LIMIT;
    if (status != DX_OK)
        batch->replies.len = start;
    peer->gathered += batch->replies.len - start;
    return status;
}

dx_status dx__send(dx_peer *peer, dx__batch *batch, const dx__outgoing *outgoing, size_t beyond) {
    if (batch)
        return send_in_batch(peer, batch, outgoing, beyond);
    size_t before = dx__out_waiting(peer);
    if (before && before >= beyond)
        return DX_BUSY;
    slide(peer);
    const dx_peer_config *config = &peer->config;
    size_t guess = 100 + outgoing->method.len + dx__json_size(outgoing->body);
    dx__frame_mark mark;
    dx_status status =
        dx__frame_open(&peer->out, config->framing, config->content_type, guess, &mark);
    if (status != DX_OK)
        return status;
    status = write_body(peer, &peer->out, outgoing);
    if (status == DX_OK && beyond != SIZE_MAX && peer->out.len - mark.body > config->message_max)
        status = DX_ERR_LIMIT;
    size_t body = peer->out.len - mark.body;
    if (status == DX_OK)
        status = dx__frame_close(&peer->out, config->framing, &mark,
                                 dx__json_size(outgoing->body) != 0 && !outgoing->is_line);
    if (status == DX_OK && before && beyond != SIZE_MAX && dx__out_waiting(peer) > beyond)
        status = DX_BUSY;
    if (status != DX_OK) {
        peer->out.len = mark.start;
        return status;
    }
    sent_message(peer, mark.start, body);
    return DX_OK;
}

dx_status dx__send_error(dx_peer *peer, dx__batch *batch, dx_text id, int64_t code,
                         const dx_error *error) {
    if (peer->config.flags & DX_PEER_NO_ERRORS ||
        (!id.at && peer->config.flags & DX_PEER_ID_SILENT))
        return DX_OK;
    dx_refusal refusal = {.fault = error->fault, .code = code};
    if (peer->config.refuse)
        peer->config.refuse(peer->config.refuse_user, &refusal);
    if (!refusal.code)
        return DX_OK;
    if (refusal.no_id)
        id = (dx_text){NULL, 0};
    /* A phrase is plain ASCII of our own; quoting it can at most double it. */
    char room[2 * sizeof error->phrase + 2];
    size_t len = 0;
    room[len++] = '"';
    for (const char *at = error->phrase; *at; at++) {
        if (*at == '"' || *at == '\\')
            room[len++] = '\\';
        room[len++] = *at;
    }
    room[len++] = '"';
    dx__outgoing outgoing = {
        .what = DX__ERROR,
        .id = !id.at && peer->config.flags & DX_PEER_ID_ABSENT ? dx_str("") : id,
        .code = refusal.code,
        .message = refusal.message,
        .body = refusal.no_data ? dx_json_none() : dx_json_checked((dx_text){room, len}),
    };
    return dx__send(peer, batch, &outgoing, SIZE_MAX);
}

static dx_status send_replies(dx_peer *peer, dx__batch *batch) {
    if (!batch->replies.len)
        return DX_OK; /* a batch of notifications: nothing is said */
    slide(peer);
    dx__frame_mark mark;
    dx_status status = dx__frame_open(&peer->out, peer->config.framing, peer->config.content_type,
                                      batch->replies.len + 1, &mark);
    if (status != DX_OK)
        return status;
    status = dx_buf_append(&peer->out, batch->replies.data, batch->replies.len);
    if (status == DX_OK)
        status = dx_rpc_write_batch(&peer->out, DX_BATCH_CLOSE);
    size_t body = peer->out.len - mark.body;
    if (status == DX_OK)
        status = dx__frame_close(&peer->out, peer->config.framing, &mark, true);
    if (status != DX_OK) {
        peer->out.len = mark.start;
        return status;
    }
    peer->gathered -= batch->replies.len;
    batch->replies.len = 0;
    sent_message(peer, mark.start, body);
    return DX_OK;
}

dx_status dx__send_last(dx_peer *peer, dx__batch *batch, const dx__outgoing *outgoing,
                        size_t beyond) {
    size_t before = batch->replies.len;
    dx_status status = send_in_batch(peer, batch, outgoing, beyond);
    if (status == DX_OK && batch->waiting == 1 && !batch->reading) {
        status = send_replies(peer, batch);
        if (status != DX_OK) {
            peer->gathered -= batch->replies.len - before;
            batch->replies.len = before;
        }
    }
    return status;
}

void dx__batch_complete(dx_peer *peer, dx__batch *batch) {
    peer->unsent -= batch->complete;
    batch->complete = send_replies(peer, batch) != DX_OK;
    peer->unsent += batch->complete;
    if (batch->complete)
        return;
    *(batch->prev ? &batch->prev->next : &peer->batches) = batch->next;
    if (batch->next)
        batch->next->prev = batch->prev;
    dx_buf_done(&batch->replies);
    dx__free(&peer->alloc, batch);
}

void dx__flush_batches(dx_peer *peer) {
    for (dx__batch *batch = peer->batches, *next; batch && peer->unsent; batch = next) {
        next = batch->next;
        if (batch->complete)
            dx__batch_complete(peer, batch);
    }
}

dx_text dx_peer_output(const dx_peer *peer) {
    return (dx_text){peer->out.data ? peer->out.data + peer->out_sent : "", dx__out_waiting(peer)};
}

void dx_peer_sent(dx_peer *peer, size_t len) {
    if (len > dx__out_waiting(peer))
        len = dx__out_waiting(peer);
    peer->stats.bytes_out += len;
    peer->out_sent += len;
    if (peer->out_sent == peer->out.len) {
        peer->out.len = peer->out_sent = 0;
        peer->warm |= len > 0;
    }
}

/* Answers may wait for twice as long as calls, and then nothing more is asked for. */
static size_t tell_room(const dx_peer *peer) {
    size_t max = peer->config.out_max;
    if (!(peer->config.flags & DX_PEER_TELL_ROOM))
        return max;
    return max > SIZE_MAX / 3 ? SIZE_MAX - 1 : max * 3;
}

dx_status dx_peer_notify(dx_peer *peer, dx_text method, dx_json params) {
    if (dx__is_over(peer))
        return DX_CLOSED;
    dx__outgoing outgoing = {.what = DX__NOTIFICATION, .method = method, .body = params};
    const dx_method *rule = NULL;
    dx_status status =
        peer->config.protocol ? dx__rules_say(peer, method, false, params, &rule) : DX_OK;
    if (status == DX_OK)
        status = dx__send(peer, NULL, &outgoing, tell_room(peer));
    if (status == DX_OK && peer->config.protocol)
        dx__rules_said(peer, rule);
    return status;
}

dx_status dx_peer_send(dx_peer *peer, dx_text text) {
    bool ends_line = peer->config.framing == DX_FRAMING_LINE && text.at &&
                     (memchr(text.at, '\n', text.len) || memchr(text.at, '\r', text.len));
    if (dx__is_over(peer))
        return DX_CLOSED;
    if (!text.at || ends_line)
        return DX_ERR_INVALID;
    dx__outgoing outgoing = {.what = DX__ANY, .message = text};
    return dx__send(peer, NULL, &outgoing, peer->config.out_max);
}
