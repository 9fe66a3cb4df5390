#include "base/alloc.h"
#include "base/line.h"
#include "peer/peer.h"

#include <string.h>

enum { TOKEN_MAX = 1024, SLOTS_MIN = 16 };

static const uint64_t ID_MAX = (UINT64_C(1) << 53) - 1; /* what every JSON reader can count to */

static void append(dx__calls *list, dx__call *call) {
    call->prev = list->last;
    call->next = NULL;
    *(list->last ? &list->last->next : &list->first) = call;
    list->last = call;
    list->count++;
}

static void unlink_call(dx__calls *list, dx__call *call) {
    *(call->prev ? &call->prev->next : &list->first) = call->next;
    *(call->next ? &call->next->prev : &list->last) = call->prev;
    list->count--;
}

dx__call *dx__calls_take(dx__calls *list) {
    dx__call *call = list->first;
    if (call)
        unlink_call(list, call);
    return call;
}

/* One form for each token, however its string was escaped: strings keep their opening quote only,
 * so that "1" and 1 stay different. False for what can't be a token. */
static bool canonical(dx_text token, char room[TOKEN_MAX], dx_text *ret) {
    if (!token.len || token.len > TOKEN_MAX)
        return false;
    if (token.at[0] != '"') {
        *ret = token;
        return token.at[0] == '-' || (token.at[0] >= '0' && token.at[0] <= '9');
    }
    dx_text characters;
    if (dx_rpc_string(token, room + 1, &characters) != DX_OK)
        return false;
    room[0] = '"';
    *ret = characters.at == room + 1 ? (dx_text){room, characters.len + 1}
                                     : (dx_text){token.at, token.len - 1};
    return true;
}

static dx__call *find_token(const dx_peer *peer, dx_text token, uint64_t hash) {
    size_t cursor = 0;
    dx__call *call;
    while ((call = dx__map_find(&peer->by_token, hash, &cursor)))
        if (call->token_len == token.len && memcmp(call->token, token.at, token.len) == 0)
            return call;
    return NULL;
}

dx__call *dx__call_by_token(dx_peer *peer, dx_text token) {
    char room[TOKEN_MAX];
    dx_text key;
    if (!peer->by_token.count || !canonical(token, room, &key))
        return NULL;
    return find_token(peer, key, dx__hash(peer->config.seed, key));
}

bool dx__call_is_tombstone(const dx_peer *peer, uint64_t id) {
    /* Places that were never used hold 0, which is no id of ours. */
    for (unsigned i = 0; id && peer->tombstones && i < TOMBSTONES; i++)
        if (peer->tombstones[i] == id)
            return true;
    return false;
}

/* At most half of the slots are taken, so that an id whose slot is free is never far. */
static dx_status reserve_id(dx_peer *peer) {
    size_t old = peer->by_id_cap;
    if (dx_peer_pending(peer) < old / 2)
        return DX_OK;
    size_t cap = old ? old * 2 : SLOTS_MIN;
    dx__call **slots = dx__malloc(&peer->alloc, cap * sizeof *slots);
    if (!slots)
        return DX_ERR_NOMEM;
    memset(slots, 0, cap * sizeof *slots);
    for (size_t i = 0; i < old; i++)
        if (peer->by_id[i])
            slots[peer->by_id[i]->id & (cap - 1)] = peer->by_id[i];
    dx__free(&peer->alloc, peer->by_id);
    peer->by_id = slots;
    peer->by_id_cap = cap;
    return DX_OK;
}

static dx__call **slot_of(const dx_peer *peer, uint64_t id) {
    return &peer->by_id[id & (peer->by_id_cap - 1)];
}

/* The text of an id: most often it is that of the last one, counted up by one. */
static dx_text write_id(dx_peer *peer, uint64_t id) {
    char *text = peer->sent_text;
    bool counts = peer->config.ids == DX_IDS_COUNTER && id == peer->sent_id + 1;
    size_t at = counts ? peer->sent_len : 0;
    for (; at && text[at - 1] == '9'; at--)
        text[at - 1] = '0';
    if (at)
        text[at - 1]++;
    else
        peer->sent_len = dx__id_write(peer, id, text);
    peer->sent_id = id;
    return (dx_text){text, peer->sent_len};
}

static uint64_t take_id(dx_peer *peer) {
    uint64_t id;
    do {
        id = peer->next_id;
        peer->next_id = id >= ID_MAX ? 1 : id + 1;
    } while (*slot_of(peer, id));
    return id;
}

static dx_status set_token(dx_peer *peer, dx__call *call, dx_text token) {
    char room[TOKEN_MAX];
    dx_text key;
    if (dx_json_check(token, 1, NULL) != DX_FAULT_NONE || !canonical(token, room, &key) ||
        (key.at[0] != '"' && (memchr(key.at, '.', key.len) || memchr(key.at, 'e', key.len) ||
                              memchr(key.at, 'E', key.len))))
        return DX_ERR_INVALID;
    call->token_hash = dx__hash(peer->config.seed, key);
    if (find_token(peer, key, call->token_hash))
        return DX_ERR_INVALID;
    if (dx__map_reserve(&peer->by_token) != DX_OK)
        return DX_ERR_NOMEM;
    call->token = dx__malloc(&peer->alloc, key.len);
    if (!call->token)
        return DX_ERR_NOMEM;
    memcpy(call->token, key.at, key.len);
    call->token_len = key.len;
    return DX_OK;
}

static dx_status prepare(dx_peer *peer, dx__call *call, const dx_call_options *options,
                         dx_text method, dx_json params) {
    uint64_t before = peer->next_id;
    if (peer->config.protocol) {
        dx_status fits = dx__rules_say(peer, method, true, params, &call->rule);
        if (fits != DX_OK)
            return fits;
    }
    dx_status status = options->token.at ? set_token(peer, call, options->token) : DX_OK;
    if (status == DX_OK)
        status = reserve_id(peer);
    if (status == DX_OK)
        status = dx__heap_reserve(&peer->heap, peer->calls.live + peer->requests.live);
    /* The ring of late answers is made here, where it can fail without harm. */
    if (status == DX_OK && !peer->tombstones) {
        peer->tombstones = dx__malloc(&peer->alloc, TOMBSTONES * sizeof *peer->tombstones);
        if (!peer->tombstones)
            return DX_ERR_NOMEM;
        memset(peer->tombstones, 0, TOMBSTONES * sizeof *peer->tombstones);
    }
    if (status != DX_OK)
        return status;
    call->id = take_id(peer);
    dx__outgoing outgoing = {
        .what = DX__REQUEST, .id = write_id(peer, call->id), .method = method, .body = params};
    status = dx__send(peer, NULL, &outgoing, peer->config.out_max);
    if (status != DX_OK)
        peer->next_id = before;
    return status;
}

void dx__calls_carry(dx_peer *peer, size_t bytes) {
    peer->calls.size = sizeof(dx__call) + bytes;
}

dx_status dx_peer_call(dx_peer *peer, dx_text method, dx_json params,
                       const dx_call_options *options, uint64_t now_ms, dx_call *ret_call) {
    dx__call *call;
    dx_status status = dx__call_new(peer, method, params, options, now_ms, &call);
    if (status == DX_OK && ret_call)
        *ret_call = dx__pool_handle(&call->pooled);
    return status;
}

dx_status dx__call_new(dx_peer *peer, dx_text method, dx_json params,
                       const dx_call_options *options, uint64_t now_ms, dx__call **ret_call) {
    static const dx_call_options plain = {0};
    if (dx__is_over(peer))
        return DX_CLOSED;
    if (dx_peer_pending(peer) >= peer->config.calls_max)
        return DX_BUSY;
    if (!options)
        options = &plain;
    dx__call *call = dx__pool_take(&peer->calls);
    if (!call)
        return DX_ERR_NOMEM;
    call->timer = (dx__timer){.tag = TIMER_CALL};
    call->state = CALL_PENDING;
    call->rule = NULL;
    call->token = NULL;
    dx_status status = prepare(peer, call, options, method, params);
    if (status != DX_OK) {
        dx__free(&peer->alloc, call->token);
        dx__pool_give(&peer->calls, call);
        return status;
    }
    if (now_ms > peer->now)
        peer->now = now_ms;
    peer->last_use = peer->now;
    call->user = peer->calls.size > sizeof *call ? call + 1 : options->user;
    call->reset = options->reset;
    call->no_cancel = options->no_cancel;
    uint64_t deadline = call->rule ? call->rule->deadline_ms[peer->config.side] : 0;
    call->timeout_ms = options->timeout_ms ? options->timeout_ms
                       : deadline          ? deadline
                                           : peer->config.timeout_ms;
    call->total_ms = options->total_ms ? options->total_ms : peer->config.total_ms;
    call->total_at = dx__later(peer->now, call->total_ms);
    uint64_t at = dx__later(peer->now, call->timeout_ms);
    call->timer.when = at < call->total_at ? at : call->total_at;
    call->steady =
        call->timeout_ms == peer->config.timeout_ms && !options->total_ms && !options->reset;
    if (!call->steady)
        dx__heap_add(&peer->heap, &call->timer, call->timer.when);
    *slot_of(peer, call->id) = call;
    if (call->token)
        dx__map_put(&peer->by_token, call->token_hash, call);
    append(call->steady ? &peer->steady : &peer->pending, call);
    peer->stats.calls++;
    if (peer->config.protocol)
        dx__rules_said(peer, call->rule);
    *ret_call = call;
    return DX_OK;
}

size_t dx_peer_pending(const dx_peer *peer) {
    return peer->pending.count + peer->steady.count;
}

dx_text dx_peer_call_id(const dx_peer *peer, dx_call handle, char room[DX_CALL_ID_ROOM]) {
    const dx__call *call = dx__pool_find(&peer->calls, handle);
    if (!call || call->state > CALL_CANCELLING)
        return dx_str(NULL);
    return (dx_text){room, dx__id_write(peer, call->id, room)};
}

static bool read_counter(dx_text id, uint64_t *ret_number) {
    enum { DIGITS_MAX = 16 }; /* of ID_MAX */
    *ret_number = 0;
    for (size_t i = 0; i < id.len && id.at[i] >= '0' && id.at[i] <= '9'; i++)
        *ret_number = *ret_number * 10 + (uint64_t)(id.at[i] - '0');
    return id.len <= DIGITS_MAX && *ret_number;
}

dx_call dx_peer_find(const dx_peer *peer, dx_text id) {
    uint64_t number;
    char room[DX__ID_ROOM];
    bool known = peer->config.ids == DX_IDS_COUNTER ? read_counter(id, &number)
                                                    : dx__id_read(peer, id, &number);
    const dx__call *call = known ? dx__call_by_id(peer, number) : NULL;
    /* 07 and 7x are not 7. */
    bool same =
        call && dx__id_write(peer, number, room) == id.len && memcmp(room, id.at, id.len) == 0;
    return same ? dx__pool_handle(&call->pooled) : 0;
}

dx__call *dx__calls_first(const dx_peer *peer) {
    dx__call *one = peer->pending.first;
    dx__call *other = peer->steady.first;
    return !one || (other && other->id < one->id) ? other : one;
}

static void count(dx_peer_stats *stats, dx_outcome outcome) {
    switch (outcome) {
    case DX_OUTCOME_RESULT:
        stats->results++;
        break;
    case DX_OUTCOME_ERROR:
        stats->errors++;
        break;
    case DX_OUTCOME_TIMED_OUT:
        stats->timed_out++;
        break;
    case DX_OUTCOME_CANCELLED:
        stats->cancelled++;
        break;
    case DX_OUTCOME_LOST:
        stats->lost++;
        break;
    case DX_OUTCOME_INVALID:
        stats->invalid++;
        break;
    }
}

void dx__call_end(dx_peer *peer, dx__call *call, dx_outcome outcome, dx_fault fault,
                  bool by_answer) {
    unlink_call(call->steady ? &peer->steady : &peer->pending, call);
    peer->warm = true;
    peer->last_use = peer->now;
    dx__heap_drop(&peer->heap, &call->timer);
    *slot_of(peer, call->id) = NULL;
    if (call->token)
        dx__map_drop(&peer->by_token, call->token_hash, call);
    dx__free(&peer->alloc, call->token);
    call->token = NULL;
    call->outcome = outcome;
    call->fault = fault;
    count(&peer->stats, outcome);
    if (by_answer) {
        call->state = CALL_ANSWERED;
        return;
    }
    call->state = CALL_ENDED;
    peer->silent = false;
    peer->tombstones[peer->tombstone++ % TOMBSTONES] = call->id;
    append(&peer->ended, call);
}

void dx__call_progress(dx_peer *peer, dx__call *call) {
    if (!call->reset || call->state != CALL_PENDING)
        return;
    uint64_t at = dx__later(peer->now, call->timeout_ms);
    dx__heap_move(&peer->heap, &call->timer, at < call->total_at ? at : call->total_at);
}

/* Writes {"id":7,"reason":"…"} with the style's own names. */
static dx_status write_params(const dx_peer *peer, uint64_t id, dx_text reason, dx_buf *buf) {
    const dx_cancel_style *style = &peer->config.cancel;
    char text[DX__ID_ROOM];
    size_t len = dx__id_write(peer, id, text);
    dx_status status = dx_buf_append(buf, "{", 1);
    if (status == DX_OK)
        status = dx_json_write_string(buf, dx_str(style->id_member));
    if (status == DX_OK)
        status = dx_buf_append(buf, ":", 1);
    if (status == DX_OK)
        status = dx_buf_append(buf, text, len);
    if (status == DX_OK && reason.at && style->reason_member) {
        status = dx_buf_append(buf, ",", 1);
        if (status == DX_OK)
            status = dx_json_write_string(buf, dx_str(style->reason_member));
        if (status == DX_OK)
            status = dx_buf_append(buf, ":", 1);
        if (status == DX_OK)
            status = dx_json_write_string(buf, reason);
    }
    return status == DX_OK ? dx_buf_append(buf, "}", 1) : status;
}

static bool is_told(dx_peer *peer, const dx__call *call) {
    return peer->config.cancel.method && !call->no_cancel && dx__rules_may_cancel(peer);
}

static dx_status tell_cancelled(dx_peer *peer, const dx__call *call, dx_text reason) {
    const dx_cancel_style *style = &peer->config.cancel;
    if (!is_told(peer, call))
        return DX_OK;
    dx_buf params;
    dx_buf_init(&params, peer->config.message_max, &peer->alloc);
    dx_status status = write_params(peer, call->id, reason, &params);
    dx__outgoing outgoing = {.what = DX__NOTIFICATION,
                             .method = dx_str(style->method),
                             .body = dx_json_checked((dx_text){params.data, params.len})};
    if (status == DX_OK)
        status = dx__send(peer, NULL, &outgoing, SIZE_MAX);
    dx_buf_done(&params);
    return status;
}

dx_status dx_peer_cancel(dx_peer *peer, dx_call handle, dx_text reason, uint64_t now_ms) {
    if (peer->behind)
        (void)dx__intake(peer); /* an answer that is here already counts */
    dx__call *call = dx__pool_find(&peer->calls, handle);
    if (!call || call->state != CALL_PENDING)
        return DX_GONE;
    if (now_ms > peer->now)
        peer->now = now_ms;
    bool silent = dx__is_over(peer);
    dx_status status = silent ? DX_OK : tell_cancelled(peer, call, reason);
    if (status != DX_OK)
        return status;
    const dx_cancel_style *style = &peer->config.cancel;
    if (silent || !style->answered || !is_told(peer, call)) {
        dx__call_end(peer, call, DX_OUTCOME_CANCELLED, DX_FAULT_CANCELLED, false);
        return DX_OK;
    }
    uint64_t grace = dx__later(peer->now, style->grace_ms);
    call->state = CALL_CANCELLING;
    if (call->steady) { /* its time is now its own */
        unlink_call(&peer->steady, call);
        append(&peer->pending, call);
        call->steady = false;
    }
    dx__heap_move(&peer->heap, &call->timer, grace < call->total_at ? grace : call->total_at);
    return DX_OK;
}

void dx__call_due(dx_peer *peer, dx__call *call) {
    if (call->state == CALL_CANCELLING) {
        dx__call_end(peer, call, DX_OUTCOME_CANCELLED, DX_FAULT_CANCELLED, false);
        return;
    }
    /* That we no longer want it is told as well as memory allows; the call ends in any case. */
    bool tell = !call->rule || call->rule->late[peer->config.side] == DX_LATE_CANCEL;
    if (tell && !dx__is_over(peer))
        (void)tell_cancelled(peer, call, dx_str("timed out"));
    bool total = call->timer.when >= call->total_at;
    dx__call_end(peer, call, DX_OUTCOME_TIMED_OUT, total ? DX_FAULT_TOTAL : DX_FAULT_TIMEOUT,
                 false);
}
