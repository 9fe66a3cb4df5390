#include "base/alloc.h"
#include "peer/peer.h"

#include <string.h>

enum { SMALLEST = 8 };

dx_status dx__queue_grow(dx_peer *peer) {
    dx__queue *queue = &peer->queue;
    size_t cap = queue->cap ? queue->cap * 2 : SMALLEST;
    dx__queued *ring = dx__malloc(&peer->alloc, cap * sizeof *ring);
    if (!ring)
        return DX_ERR_NOMEM;
    size_t first = queue->cap - queue->head;
    if (first > queue->count)
        first = queue->count;
    if (queue->count) {
        memcpy(ring, queue->ring + queue->head, first * sizeof *ring);
        memcpy(ring + first, queue->ring, (queue->count - first) * sizeof *ring);
    }
    dx__free(&peer->alloc, queue->ring);
    queue->ring = ring;
    queue->cap = cap;
    queue->head = 0;
    return DX_OK;
}
