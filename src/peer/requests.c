#include "base/alloc.h"
#include "peer/peer.h"
#include "rpc/write.h"

#include <string.h>

dx__request *dx__request_by_id(const dx_peer *peer, dx_text id, uint64_t hash) {
    size_t cursor = 0;
    dx__request *request;
    while ((request = dx__map_find(&peer->by_request_id, hash, &cursor)))
        if (request->id_len == id.len && memcmp(request->id, id.at, id.len) == 0)
            return request;
    return NULL;
}

dx__request *dx__request_add(dx_peer *peer, dx_text id, uint64_t hash, dx__batch *batch) {
    if (dx__map_reserve(&peer->by_request_id) != DX_OK ||
        dx__heap_reserve(&peer->heap, peer->calls.live + peer->requests.live + 1) != DX_OK)
        return NULL;
    dx__request *request = dx__pool_take(&peer->requests);
    if (!request)
        return NULL;
    *request = (dx__request){.pooled = request->pooled, .timer = {.tag = TIMER_REQUEST}};
    request->id =
        id.len <= sizeof request->id_room ? request->id_room : dx__malloc(&peer->alloc, id.len);
    if (!request->id) {
        dx__pool_give(&peer->requests, request);
        return NULL;
    }
    memcpy(request->id, id.at, id.len);
    request->id_len = id.len;
    request->id_hash = hash;
    request->batch = batch;
    if (batch)
        batch->waiting++;
    dx__heap_add(&peer->heap, &request->timer, dx__later(peer->now, peer->config.handle_ms));
    dx__map_put(&peer->by_request_id, request->id_hash, request);
    return request;
}

dx_status dx__request_end(dx_peer *peer, dx__request *request, const dx__outgoing *answer,
                          size_t beyond) {
    if (answer) {
        dx__outgoing outgoing = *answer;
        outgoing.id = (dx_text){request->id, request->id_len};
        dx_status status = request->batch ? dx__send_last(peer, request->batch, &outgoing, beyond)
                                          : dx__send(peer, NULL, &outgoing, beyond);
        if (status != DX_OK)
            return status;
        if (request->rule)
            dx__rules_gave(peer, request->rule, answer->what == DX__RESULT);
    }
    peer->given -= request->state != REQUEST_QUEUED && request->state != REQUEST_OVERDUE;
    peer->warm = true;
    peer->last_use = peer->now;
    dx__heap_drop(&peer->heap, &request->timer);
    dx__map_drop(&peer->by_request_id, request->id_hash, request);
    if (request->id != request->id_room)
        dx__free(&peer->alloc, request->id);
    dx__batch *batch = request->batch;
    dx__pool_give(&peer->requests, request);
    if (batch && !--batch->waiting && !batch->reading)
        dx__batch_complete(peer, batch);
    return DX_OK;
}

static const dx__outgoing internal_error = {.what = DX__ERROR, .code = DX_CODE_INTERNAL};

dx_status dx__request_drop(dx_peer *peer, dx__request *request) {
    dx_status status = dx__request_end(peer, request, &internal_error, SIZE_MAX);
    if (status == DX_OK)
        peer->stats.dropped++;
    return status;
}

dx_status dx__request_overdue(dx_peer *peer, dx__request *request) {
    dx__outgoing answer = internal_error;
    answer.body = dx_json_checked(dx_str("\"not answered in time\""));
    dx_status status = dx__request_end(peer, request, &answer, SIZE_MAX);
    if (status == DX_OK)
        peer->stats.overdue++;
    return status;
}

void dx__request_due(dx_peer *peer, dx__request *request) {
    /* One that was dropped when there was no memory for the answer comes here again. */
    if (request->state == REQUEST_DROPPED) {
        if (dx__request_drop(peer, request) != DX_OK)
            dx__heap_add(&peer->heap, &request->timer, 0);
        return;
    }
    /* A queued one is ended when its turn comes: its event still points to it. */
    if (request->state == REQUEST_QUEUED) {
        request->state = REQUEST_OVERDUE;
        return;
    }
    dx_request handle = dx__pool_handle(&request->pooled);
    if (dx__queue_reserve(peer) != DX_OK || dx__request_overdue(peer, request) != DX_OK) {
        dx__heap_add(&peer->heap, &request->timer, 0);
        return;
    }
    if (peer->closed)
        return; /* the end was the last word */
    dx__queue_push(peer, &(dx__queued){.kind = DX_EVENT_OVERDUE,
                                       .fault = DX_FAULT_OVERDUE,
                                       .expected = peer->config.handle_ms,
                                       .offset = dx__needed_from(peer),
                                       .handle = handle});
}

static dx__request *find_open(dx_peer *peer, dx_request handle) {
    dx__request *request = dx__pool_find(&peer->requests, handle);
    return request && request->state == REQUEST_GIVEN ? request : NULL;
}

/* Answers may wait for twice as long as calls: who stops taking them gets no more requests in. */
static size_t reply_room(const dx_peer *peer) {
    return peer->config.out_max > SIZE_MAX / 2 ? SIZE_MAX - 1 : peer->config.out_max * 2;
}

dx_status dx_peer_reply(dx_peer *peer, dx_request handle, dx_json result) {
    dx__request *request = find_open(peer, handle);
    if (!request)
        return DX_GONE;
    dx__outgoing answer = {.what = DX__RESULT, .body = result};
    if (peer->lent) {
        answer.body = dx__json_as_it_came(result, peer->event.value, peer->event.body);
        answer.is_line = answer.body.at == peer->event.body.at;
    }
    dx_status status = request->rule ? dx__rules_answer(peer, request, result) : DX_OK;
    if (status == DX_OK)
        status = dx__request_end(peer, request, &answer, reply_room(peer));
    if (status == DX_OK)
        peer->stats.replies++;
    return status;
}

dx_status dx_peer_refuse(dx_peer *peer, dx_request handle, int64_t code, dx_text message,
                         dx_json data) {
    dx__request *request = find_open(peer, handle);
    if (!request)
        return DX_GONE;
    dx__outgoing answer = {.what = DX__ERROR, .code = code, .message = message, .body = data};
    dx_status status = dx__request_end(peer, request, &answer, reply_room(peer));
    if (status == DX_OK)
        peer->stats.refusals++;
    return status;
}
