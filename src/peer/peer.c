#include "peer/peer.h"
#include "base/alloc.h"
#include "base/line.h"

#include <string.h>

enum { PIECE = 64 << 10 };

dx_peer_config dx_peer_defaults(dx_framing framing, dx_side side) {
    dx_frame_config frame = dx_frame_defaults(framing);
    return (dx_peer_config){
        .framing = framing,
        .side = side,
        .lenient = frame.lenient,
        .message_max = frame.message_max,
        .header_max = frame.header_max,
        .fields_max = frame.fields_max,
        .stray_max = frame.stray_max,
        .stray_rate = 1000,
        .depth_max = 1000,
        .values_max = 4000000,
        .batch_max = 1000,
        .tree_max = SIZE_MAX,
        .id_max = 1024,
        .calls_max = 100000,
        .requests_max = 10000,
        .in_max = (size_t)16 << 20,
        .out_max = (size_t)64 << 20,
        .timeout_ms = 30000,
        .total_ms = 600000,
        .handle_ms = DX_NEVER,
        .stall_ms = 10000,
        .idle_ms = 5000,
        .first_id = 1,
    };
}

/* Who wants no limit says SIZE_MAX; sums of limits must not come around to small numbers. */
static size_t sum(size_t a, size_t b) {
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static bool is_sensible(const dx_peer_config *config) {
    size_t pool_max = (size_t)1 << DX__POOL_BITS;
    return (config->framing == DX_FRAMING_HEADER || config->framing == DX_FRAMING_LINE) &&
           (config->side == DX_SIDE_HOST || config->side == DX_SIDE_PLUGIN) &&
           config->message_max > 0 && config->message_max < UINT32_MAX && config->depth_max > 0 &&
           config->depth_max <= DX_DEPTH_MAX && config->calls_max < pool_max &&
           config->requests_max < pool_max && config->in_max > 0 && config->first_id > 0 &&
           config->values_max > 0 && config->batch_max > 0 &&
           config->first_id < UINT64_C(1) << 53 &&
           (!config->cancel.method || config->cancel.id_member) &&
           (!config->progress.method || config->progress.token_member) &&
           !(config->protocol && config->checking && config->flags & DX_PEER_TEXT) &&
           !(config->choose && !config->protocol);
}

void dx__peer_style(const dx_protocol_facts *facts, dx_peer_config *config) {
    config->flags =
        (config->flags & (DX_PEER_TEXT | DX_PEER_ID_EARLY)) | (facts->batch ? DX_PEER_BATCH : 0) |
        (facts->id_absent ? DX_PEER_ID_ABSENT : 0) | (facts->id_silent ? DX_PEER_ID_SILENT : 0) |
        (facts->host_silent && config->side == DX_SIDE_HOST ? DX_PEER_NO_ERRORS : 0) |
        (facts->params_null ? DX_PEER_PARAMS_NULL : 0);
    config->cancel = (dx_cancel_style){
        .method = facts->cancel_method,
        .id_member = facts->cancel_id,
        .reason_member = facts->cancel_reason,
        .answered = facts->cancel_answered,
        .mutual = facts->cancel_mutual,
        .code = facts->cancel_code,
        .grace_ms = facts->cancel_grace_ms,
    };
    config->progress = (dx_progress_style){
        .method = facts->progress_method,
        .token_member = facts->progress_token,
        .pass_unknown = facts->progress_pass_unknown,
    };
}

dx_peer_config dx_peer_for(dx_protocol *protocol, dx_side side) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    dx_peer_config config = dx_peer_defaults(facts->framing, side);
    config.protocol = protocol;
    config.checking = DX_CHECKING_BOTH;
    config.lenient = facts->lenient;
    config.fields = facts->fields;
    dx__peer_style(facts, &config);
    config.content_type = facts->content_type;
    config.message_max = facts->message_max;
    config.ids = facts->ids;
    config.timeout_ms = facts->deadline_ms;
    config.total_ms = DX_NEVER; /* what a method may take is its own */
    return config;
}

const dx_misfit *dx_peer_why(const dx_peer *peer) {
    static const dx_misfit nothing = {{0}, {0}, {0}, {0}};
    return peer->why_not ? peer->why_not : &nothing;
}

const char *dx_peer_state(const dx_peer *peer) {
    return peer->config.protocol ? dx_protocol_state_name(peer->config.protocol, peer->state)
                                 : NULL;
}

/* Handles of one peer shall mean nothing to another: the generations of their places begin
 * elsewhere, with most of the room above still free. Even, since nothing lives there yet; 0 for 0.
 */
static uint64_t first_era(uint64_t seed) {
    return (seed * UINT64_C(0x9e3779b97f4a7c15) >> (DX__POOL_BITS + 2)) & ~UINT64_C(1);
}

dx_status dx_peer_new(const dx_peer_config *config, dx_peer **ret_peer) {
    if (!is_sensible(config))
        return DX_ERR_INVALID;
    dx_allocator alloc = dx__allocator(config->allocator);
    dx_peer *peer = dx__malloc(&alloc, sizeof *peer);
    if (!peer)
        return DX_ERR_NOMEM;
    memset(peer, 0, sizeof *peer);
    if (config->protocol) {
        peer->why_not = dx__malloc(&alloc, sizeof *peer->why_not);
        if (!peer->why_not) {
            dx__free(&alloc, peer);
            return DX_ERR_NOMEM;
        }
        memset(peer->why_not, 0, sizeof *peer->why_not);
    }
    peer->config = *config;
    peer->config.allocator = NULL;
    peer->alloc = alloc;
    peer->next_id = config->first_id;
    /* Events that wait, one message under way, and the piece that was read last. */
    dx_frame_config frame = {
        .framing = config->framing,
        .lenient = config->lenient,
        .message_max = config->message_max,
        .header_max = config->header_max,
        .fields_max = config->fields_max,
        .stray_max = config->stray_max,
        .buffer_max =
            sum(sum(config->in_max, config->header_max), 2 * config->message_max + (1 << 20)),
        .allocator = &alloc,
        .fields = config->fields,
    };
    if (config->flags & DX_PEER_LINES_FIRST) {
        frame.framing = DX_FRAMING_LINE;
        frame.lenient |= DX_LENIENT_FOLLOW;
    }
    peer->step = SIZE_MAX;
    dx__framer_init(&peer->framer, &frame);
    dx__pool_init(&peer->calls, sizeof(dx__call), &alloc);
    dx__pool_init(&peer->requests, sizeof(dx__request), &alloc);
    peer->calls.era = peer->requests.era = first_era(config->seed);
    dx__map_init(&peer->by_token, &alloc);
    dx__map_init(&peer->by_request_id, &alloc);
    dx__heap_init(&peer->heap, &alloc);
    dx_buf_init(&peer->out, SIZE_MAX / 4, &alloc); /* dx__send() holds the limit */
    *ret_peer = peer;
    return DX_OK;
}

static void free_books(dx_peer *peer) {
    uint32_t cursor = 0;
    for (dx__call *call; (call = dx__pool_each(&peer->calls, &cursor));)
        dx__free(&peer->alloc, call->token);
    cursor = 0;
    for (dx__request *request; (request = dx__pool_each(&peer->requests, &cursor));)
        if (request->id != request->id_room)
            dx__free(&peer->alloc, request->id);
    for (dx__batch *batch; (batch = peer->batches);) {
        peer->batches = batch->next;
        dx_buf_done(&batch->replies);
        dx__free(&peer->alloc, batch);
    }
    dx__pool_done(&peer->calls);
    dx__pool_done(&peer->requests);
    dx__free(&peer->alloc, peer->by_id);
    dx__map_done(&peer->by_token);
    dx__map_done(&peer->by_request_id);
    dx__heap_done(&peer->heap);
    dx__free(&peer->alloc, peer->tombstones);
    dx__free(&peer->alloc, peer->why_not);
}

dx_peer *dx_peer_free(dx_peer *peer) {
    if (!peer)
        return NULL;
    for (dx__kept *kept = peer->kept; kept; kept = kept->next)
        kept->peer = NULL;
    dx__event_done(peer);
    for (; peer->queue.count; dx__queue_pop(peer))
        dx__parse_drop(peer, dx__queue_head(&peer->queue)->doc);
    free_books(peer);
    dx__framer_done(&peer->framer);
    dx_buf_done(&peer->out);
    dx__free(&peer->alloc, peer->queue.ring);
    dx__parse_trim(peer);
    dx__free(&peer->alloc, peer->arena);
    dx__free(&peer->alloc, peer->trees);
    dx__free(&peer->alloc, peer->room);
    dx__free(&peer->alloc, peer->scan);
    dx_allocator alloc = peer->alloc;
    dx__free(&alloc, peer);
    return NULL;
}

dx_peer_stats dx_peer_statistics(const dx_peer *peer) {
    dx_peer_stats stats = peer->stats;
    stats.lf_lines = peer->framer.lf_lines;
    stats.bytes_in = peer->framer.base + peer->framer.in.len;
    return stats;
}

static void pass_time(dx_peer *peer, uint64_t now_ms) {
    if (now_ms > peer->now)
        peer->now = now_ms;
}

/* What is taken is taken in at once, so that an answer finds its call in time; but no more is taken
 * while too much waits, here or to be sent. */
bool dx__peer_is_full(const dx_peer *peer) {
    return peer->queue.bytes >= peer->config.in_max ||
           dx__out_held(peer) / 2 > peer->config.out_max;
}

static void bytes_came(dx_peer *peer) {
    peer->last_byte = peer->now;
    peer->warm = true;
    /* Inside a long message there is nothing to do but to wait. */
    dx_framer *framer = &peer->framer;
    if (!framer->in_body || framer->in.len - framer->pos >= framer->need)
        (void)dx__intake(peer); /* without memory, next() takes it up again */
    if (peer->behind || peer->ending)
        framer->quiet = 0;
    else
        dx__framer_settle(framer);
}

/* As much as may come before events have to be taken; a message under way is taken whole. */
static size_t piece(const dx_peer *peer, size_t len) {
    const dx_framer *framer = &peer->framer;
    size_t most = peer->config.in_max - peer->queue.bytes;
    if (most > PIECE)
        most = PIECE;
    if (framer->in_body && framer->need > most)
        most = framer->need;
    return len < most ? len : most;
}

/* Apart, so that the short way of dx_peer_feed() stays short. */
__attribute__((noinline)) static dx_status feed(dx_peer *peer, const char *bytes, size_t len,
                                                size_t *ret_used) {
    size_t used = 0;
    dx_status status = DX_OK;
    while (used < len) {
        if (dx__is_over(peer)) {
            used = len;
            break;
        }
        /* What could not be taken in, for lack of memory or of time, comes first. */
        if (peer->behind && (status = dx__intake(peer)) != DX_OK)
            break;
        if (dx__peer_is_full(peer)) {
            status = DX_BUSY;
            break;
        }
        size_t part = piece(peer, len - used);
        status = dx_framer_feed(&peer->framer, bytes + used, part);
        if (status != DX_OK)
            break;
        used += part;
        bytes_came(peer);
    }
    if (ret_used)
        *ret_used = used;
    return status == DX_ERR_LIMIT || status == DX_AGAIN ? DX_BUSY : status;
}

dx_status dx_peer_feed(dx_peer *peer, const void *bytes, size_t len, uint64_t now_ms,
                       size_t *ret_used) {
    if (len != 1 || now_ms != peer->last_byte ||
        !dx__framer_quick(&peer->framer, *(const char *)bytes)) {
        pass_time(peer, now_ms);
        return feed(peer, bytes, len, ret_used);
    }
    if (ret_used)
        *ret_used = 1;
    return DX_OK;
}

dx_status dx_peer_reserve(dx_peer *peer, size_t want, void **ret_room, size_t *ret_len) {
    dx_status status = peer->behind ? dx__intake(peer) : DX_OK;
    if (status != DX_OK)
        return status == DX_AGAIN ? DX_BUSY : status;
    if (dx__peer_is_full(peer))
        return DX_BUSY;
    status = dx_framer_reserve(&peer->framer, piece(peer, want), ret_room, ret_len);
    return status == DX_ERR_LIMIT ? DX_BUSY : status;
}

void dx_peer_commit(dx_peer *peer, size_t len, uint64_t now_ms) {
    pass_time(peer, now_ms);
    if (!len || dx__is_over(peer))
        return;
    dx_framer_commit(&peer->framer, len);
    bytes_came(peer);
}

void dx_peer_finish(dx_peer *peer, const dx_error *why, uint64_t now_ms) {
    pass_time(peer, now_ms);
    if (why && !dx__is_over(peer)) {
        peer->given_why = true;
        peer->why = *why;
    }
    dx_framer_finish(&peer->framer);
    peer->framer.quiet = 0;
    peer->behind = true;
    peer->silent = false;
}

void dx__trim(dx_peer *peer) {
    dx_framer_release(&peer->framer, dx__needed_from(peer));
    dx__framer_trim(&peer->framer);
    if (!peer->out.len)
        dx_buf_done(&peer->out);
    if (!peer->queue.count) {
        dx__free(&peer->alloc, peer->queue.ring);
        dx__free(&peer->alloc, peer->trees);
        peer->queue = (dx__queue){0};
        peer->trees = NULL;
        peer->trees_cap = peer->trees_used = 0;
    }
    dx__parse_trim(peer);
    dx__free(&peer->alloc, peer->arena);
    dx__free(&peer->alloc, peer->room);
    if (!peer->scanning) {
        dx__free(&peer->alloc, peer->scan);
        peer->scan = NULL;
    }
    peer->arena = NULL;
    peer->room = NULL;
    peer->arena_cap = peer->room_cap = 0;
    dx__pool_trim(&peer->calls);
    dx__pool_trim(&peer->requests);
    if (!dx_peer_pending(peer)) {
        dx__free(&peer->alloc, peer->by_id);
        peer->by_id = NULL;
        peer->by_id_cap = 0;
    }
    if (!peer->by_token.count)
        dx__map_done(&peer->by_token);
    if (!peer->by_request_id.count)
        dx__map_done(&peer->by_request_id);
    if (!peer->calls.live && !peer->requests.live)
        dx__heap_done(&peer->heap);
    peer->warm = false;
}

/* When an idle peer gives its memory back; not while an event is lent out of it. */
static uint64_t idle_at(const dx_peer *peer) {
    uint64_t since = peer->last_use > peer->last_byte ? peer->last_use : peer->last_byte;
    return peer->warm && !peer->lent ? dx__later(since, peer->config.idle_ms) : DX_NEVER;
}

static uint64_t stall_at(const dx_peer *peer) {
    if (!dx__framer_is_partial(&peer->framer) || peer->stall_told || peer->paused || peer->ending ||
        peer->config.stall_ms == DX_NEVER)
        return DX_NEVER;
    return dx__later(peer->last_byte, peer->config.stall_ms);
}

static void tell_stall(dx_peer *peer) {
    uint64_t have;
    uint64_t missing;
    if (dx__queue_reserve(peer) != DX_OK)
        return;
    dx__framer_partial(&peer->framer, &have, &missing);
    peer->stall_told = true;
    peer->stats.violations++;
    dx__queue_push(peer, &(dx__queued){.kind = DX_EVENT_VIOLATION,
                                       .fault = DX_FAULT_STALLED,
                                       .offset = dx__needed_from(peer),
                                       .found = have,
                                       .expected = missing});
}

#define OWNER(timer, type) ((type *)((char *)(timer)-offsetof(type, timer)))

void dx_peer_tick(dx_peer *peer, uint64_t now_ms) {
    pass_time(peer, now_ms);
    if (peer->behind)
        (void)dx__intake(peer); /* an answer that is here already is not late */
    /* No more than there are now: one that can't be dealt with comes back at once. */
    size_t most = peer->heap.count;
    for (;;) {
        dx__call *call = peer->steady.first;
        uint64_t next = call && call->timer.when < peer->now ? call->timer.when : peer->now;
        dx__timer *timer = most ? dx__heap_due(&peer->heap, next) : NULL;
        if (!timer && (!call || call->timer.when > peer->now))
            break;
        most -= timer != NULL;
        if (timer && timer->tag == TIMER_REQUEST)
            dx__request_due(peer, OWNER(timer, dx__request));
        else
            dx__call_due(peer, timer ? OWNER(timer, dx__call) : call);
    }
    if (stall_at(peer) <= peer->now)
        tell_stall(peer);
    if (idle_at(peer) <= peer->now)
        dx__trim(peer);
}

uint64_t dx_peer_deadline(const dx_peer *peer) {
    uint64_t when = dx__heap_next(&peer->heap);
    if (peer->steady.first && peer->steady.first->timer.when < when)
        when = peer->steady.first->timer.when;
    uint64_t stall = stall_at(peer);
    uint64_t idle = idle_at(peer);
    if (stall < when)
        when = stall;
    return idle < when ? idle : when;
}
