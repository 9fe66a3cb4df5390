/* Frames -> events: what each message means for the books. */
#include "base/alloc.h"
#include "base/line.h"
#include "peer/peer.h"
#include "rpc/double.h"

#include <string.h>

/* How much of a text is looked at where it is not scanned in steps: for a member of the params, for
 * a message that was cut off, for the spaces around a line. And the longest method. */
enum { LOOK_MAX = 1 << 20, BLANKS_MAX = 4 << 10, METHOD_MAX = 256 << 10 };

/* The message at hand while it is taken in. */
struct intake {
    dx_text text; /* the frame */
    dx_message message;
    dx__batch *batch;  /* the batch it is an element of, or NULL */
    uint32_t elements; /* if it is a batch */
    yyjson_doc *doc;   /* if it was parsed already … */
    size_t trees;      /* … and where the trees end with it */
};

uint64_t dx__needed_from(const dx_peer *peer) {
    const dx__queued *head = dx__queue_head(&peer->queue);
    uint64_t from = peer->framer.base + peer->framer.pos;
    if (peer->has_frame && peer->frame.offset < from)
        from = peer->frame.offset;
    if (peer->may_be_short && peer->short_at < from)
        from = peer->short_at;
    if (head && head->offset < from)
        from = head->offset;
    return from;
}

void dx__end(dx_peer *peer, dx_fault fault, uint64_t found, uint64_t expected) {
    if (peer->ending)
        return;
    peer->ending = true;
    dx__framer_cut(&peer->framer);
    peer->broke = fault;
    peer->broke_found = found;
    peer->broke_expected = expected;
    if (!peer->given_why)
        dx__error_set(&peer->why, fault, peer->frame.offset, found, expected);
}

/* A new event about the message at hand, in its place. Room must have been reserved. */
static inline dx__queued *event(dx_peer *peer, const struct intake *in, dx_event_kind kind) {
    dx__queued *queued = dx__queue_place(peer, in->text.len);
    queued->kind = kind;
    queued->fault = DX_FAULT_NONE;
    queued->found = queued->expected = 0;
    queued->offset = peer->frame.offset;
    queued->len = (uint32_t)in->text.len;
    queued->message = in->message;
    queued->call = NULL;
    queued->request = NULL;
    queued->handle = 0;
    queued->doc = in->doc;
    if (in->doc)
        peer->trees_used = in->trees;
    return queued;
}

static void push_violation(dx_peer *peer, const struct intake *in, dx_fault fault, uint64_t found,
                           uint64_t expected) {
    dx__queued *queued = event(peer, in, DX_EVENT_VIOLATION);
    queued->fault = fault;
    queued->found = found;
    queued->expected = expected;
    peer->stats.violations++;
}

/* What the numbers of a fault mean that dx_rpc_scan() found. */
static uint64_t expected_of(const dx_peer *peer, dx_fault fault) {
    switch (fault) {
    case DX_FAULT_JSON_DEPTH:
        return peer->config.depth_max;
    case DX_FAULT_ID_LIMIT:
        return peer->config.id_max;
    case DX_FAULT_METHOD_LIMIT:
        return METHOD_MAX;
    case DX_FAULT_VALUES_LIMIT:
        return peer->config.values_max;
    case DX_FAULT_BATCH_LIMIT:
        return peer->config.batch_max;
    default:
        return 0;
    }
}

/* Tells a violation, and answers it with an error if `code` is not 0. */
static dx_status violation(dx_peer *peer, const struct intake *in, dx_fault fault, uint64_t found,
                           int64_t code, dx_text id) {
    uint64_t expected = expected_of(peer, fault);
    if (dx__queue_reserve(peer) != DX_OK)
        return DX_ERR_NOMEM;
    if (code) {
        dx_error error;
        dx__error_set(&error, fault, found, found, expected);
        dx_status status = dx__send_error(peer, in->batch, id, code, &error);
        if (status != DX_OK)
            return status;
    }
    push_violation(peer, in, fault, found, expected);
    return DX_OK;
}

static const dx_text no_id = {NULL, 0};

static dx_status stray(dx_peer *peer, const struct intake *in) {
    if (dx__queue_reserve(peer) != DX_OK)
        return DX_ERR_NOMEM;
    peer->stats.stray_lines++;
    peer->stats.stray_bytes += in->text.len;
    peer->stray_bytes += in->text.len;
    if (peer->now - peer->stray_since >= 60000) {
        peer->stray_since = peer->now;
        peer->stray_lines = 0;
    }
    peer->stray_lines++;
    /* Under strict rules and past the limits the text is still shown, as the last thing. */
    bool strict = !(peer->config.lenient & DX_LENIENT_STRAY);
    event(peer, in, DX_EVENT_STRAY);
    if (strict)
        dx__end(peer, DX_FAULT_STRAY, 0, 0);
    else if (peer->stray_bytes > peer->config.stray_max)
        dx__end(peer, DX_FAULT_STRAY_LIMIT, peer->stray_bytes, peer->config.stray_max);
    else if (peer->stray_lines > peer->config.stray_rate)
        dx__end(peer, DX_FAULT_STRAY_LIMIT, peer->stray_lines, peer->config.stray_rate);
    return DX_OK;
}

/* Text between two messages in header framing: was the message before it cut off by its length? */
static dx_status between(dx_peer *peer, const struct intake *in) {
    if (peer->may_be_short && peer->short_at + peer->short_len == peer->frame.offset) {
        size_t whole = peer->short_len + in->text.len;
        dx_text both = {in->text.at - peer->short_len, whole};
        if (whole <= LOOK_MAX &&
            dx_json_check(both, peer->config.depth_max, NULL) == DX_FAULT_NONE) {
            if (dx__queue_reserve(peer) != DX_OK)
                return DX_ERR_NOMEM;
            push_violation(peer, in, DX_FAULT_LENGTH_SHORT, whole, peer->short_len);
            return DX_OK;
        }
    }
    return stray(peer, in);
}

static dx_status take_request(dx_peer *peer, const struct intake *in) {
    dx_text id = dx__part(in->text, in->message.id);
    char room[DX__DOUBLE_ROOM];
    if (peer->config.lenient & DX_LENIENT_ID_DOUBLE)
        id = dx__double_text(id, room);
    if (id.len > peer->config.id_max)
        return violation(peer, in, DX_FAULT_ID_LIMIT, id.len, DX_CODE_REQUEST, no_id);
    uint64_t hash = dx__hash(peer->config.seed, id);
    if (dx__request_by_id(peer, id, hash))
        return violation(peer, in, DX_FAULT_ID_IN_USE, 0, DX_CODE_REQUEST, id);
    if (dx__queue_reserve(peer) != DX_OK)
        return DX_ERR_NOMEM;
    dx__request *request = dx__request_add(peer, id, hash, in->batch);
    if (!request)
        return DX_ERR_NOMEM;
    event(peer, in, DX_EVENT_REQUEST)->request = request;
    peer->stats.requests++;
    return DX_OK;
}

static bool is_method(const struct intake *in, const char *name) {
    if (!name)
        return false;
    dx_text quoted = dx__part(in->text, in->message.method);
    size_t len = strlen(name);
    char room[256];
    dx_text method;
    if (quoted.len == len + 2)
        return memcmp(quoted.at + 1, name, len) == 0;
    return quoted.len <= sizeof room && quoted.len > len + 2 &&
           dx_rpc_string(quoted, room, &method) == DX_OK && method.len == len &&
           memcmp(method.at, name, len) == 0;
}

/* One that is about nothing we have. All that can be said of it is whether it fits the protocol. */
static dx_status take_idle(dx_peer *peer, const struct intake *in, dx_event_kind kind) {
    if (peer->config.protocol && peer->config.checking != DX_CHECKING_OFF)
        event(peer, in, kind)->handle = 0;
    return DX_OK;
}

static bool digits_of(dx_text text, uint64_t *ret) {
    uint64_t number = 0;
    if (!text.len || text.len > 16 || (text.at[0] == '0' && text.len > 1))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text.at[i] - '0');
    }
    *ret = number;
    return true;
}

/* 7.0, 7e0, 70e-1 are not looked through in every disguise: a whole part, zeros behind the point,
 * and an exponent of zero. */
static bool whole_of(dx_text text, uint64_t *ret) {
    size_t len = 0;
    while (len < text.len && text.at[len] >= '0' && text.at[len] <= '9')
        len++;
    for (size_t i = len; i < text.len; i++)
        if (!memchr(".eE+-0", text.at[i], 6))
            return false;
    return digits_of((dx_text){text.at, len}, ret);
}

/* The call that an id answers. NULL with *ret_fault: NONE if the answer is late. `number` is the id
 * if the scan knows it as one. */
static dx__call *find_call(dx_peer *peer, dx_text id, uint64_t number, dx_fault *ret_fault,
                           uint64_t *ret_number) {
    unsigned leniency = 0;
    bool counts = peer->config.ids == DX_IDS_COUNTER;
    bool known = counts ? number || digits_of(id, &number) : dx__id_read(peer, id, &number);
    if (counts && !known && id.len > 2 && id.at[0] == '"') {
        known = digits_of((dx_text){id.at + 1, id.len - 2}, &number);
        leniency = DX_LENIENT_ID_STRING;
    } else if (counts && !known) {
        known = whole_of(id, &number);
        leniency = DX_LENIENT_ID_VALUE;
    }
    dx__call *call = known ? dx__call_by_id(peer, number) : NULL;
    *ret_number = number;
    *ret_fault = DX_FAULT_ID_UNKNOWN;
    if (call && leniency && !(peer->config.lenient & leniency)) {
        *ret_fault = DX_FAULT_ID_FORM;
        return NULL;
    }
    if (!call && known && !leniency && dx__call_is_tombstone(peer, number))
        *ret_fault = DX_FAULT_NONE;
    return call;
}

/* Who has to answer a call of ours gives it up. */
static void give_up(dx_peer *peer, dx_text id) {
    dx_fault fault;
    uint64_t number = 0;
    dx__call *call = id.at ? find_call(peer, id, 0, &fault, &number) : NULL;
    if (call)
        dx__call_end(peer, call, DX_OUTCOME_CANCELLED, DX_FAULT_GIVEN_UP, false);
}

/* A member of the params, if it is not too far back in them. */
static dx_text member_of(const struct intake *in, const char *name) {
    dx_text params = dx__part(in->text, in->message.params);
    if (params.len > LOOK_MAX)
        params.len = LOOK_MAX;
    return dx_rpc_member(params, dx_str(name));
}

static dx_status take_cancel(dx_peer *peer, const struct intake *in) {
    dx_text id = member_of(in, peer->config.cancel.id_member);
    dx__request *request =
        id.at ? dx__request_by_id(peer, id, dx__hash(peer->config.seed, id)) : NULL;
    if (request && request->state == REQUEST_QUEUED)
        request->cancelled = true; /* the rest when its turn comes */
    if (!request && peer->config.cancel.mutual)
        give_up(peer, id);
    if (!request || request->cancelled || request->state != REQUEST_GIVEN)
        return take_idle(peer, in, DX_EVENT_CANCEL);
    request->cancelled = true;
    event(peer, in, DX_EVENT_CANCEL)->handle = dx__pool_handle(&request->pooled);
    if (!peer->config.cancel.answered) {
        peer->stats.cancelled_by_peer++;
        dx__request_end(peer, request, NULL, 0);
    }
    return DX_OK;
}

static dx_status take_progress(dx_peer *peer, const struct intake *in, dx__call *call) {
    event(peer, in, DX_EVENT_PROGRESS)->handle = dx__pool_handle(&call->pooled);
    peer->stats.progress++;
    dx__call_progress(peer, call);
    return DX_OK;
}

static dx_status take_notification(dx_peer *peer, const struct intake *in) {
    if (dx__queue_reserve(peer) != DX_OK)
        return DX_ERR_NOMEM;
    if (is_method(in, peer->config.cancel.method))
        return take_cancel(peer, in);
    if (is_method(in, peer->config.progress.method)) {
        const dx_progress_style *style = &peer->config.progress;
        dx_text token = member_of(in, style->token_member);
        dx__call *call = token.at ? dx__call_by_token(peer, token) : NULL;
        if (call)
            return take_progress(peer, in, call);
        if (!style->pass_unknown) {
            peer->stats.progress_dropped++;
            return take_idle(peer, in, DX_EVENT_PROGRESS);
        }
    }
    peer->stats.notifications++;
    event(peer, in, DX_EVENT_NOTIFICATION);
    return DX_OK;
}

/* Is it wrong in a way that still says which call it answers? */
static bool ends_call(dx_fault fault) {
    return fault == DX_FAULT_NONE || fault == DX_FAULT_VERSION ||
           fault == DX_FAULT_MEMBER_REPEATED || fault == DX_FAULT_RESULT_AND_ERROR ||
           fault == DX_FAULT_RESULT_MISSING || fault == DX_FAULT_VALUES_LIMIT;
}

static dx_status take_response(dx_peer *peer, const struct intake *in) {
    dx_text id = dx__part(in->text, in->message.id);
    dx_fault fault = in->message.fault;
    uint64_t number = in->message.fault_at;
    dx__call *call = NULL;
    if (fault == DX_FAULT_NONE && id.at[0] == 'n')
        fault = DX_FAULT_ID_NULL;
    else if (id.at && ends_call(fault))
        call = find_call(peer, id, in->message.number,
                         fault == DX_FAULT_NONE ? &fault : &(dx_fault){0}, &number);
    if (!call && fault == DX_FAULT_NONE) {
        peer->stats.late++;
        return DX_OK;
    }
    if (dx__queue_reserve(peer) != DX_OK)
        return DX_ERR_NOMEM;
    /* It answers nothing of ours, so it may well have been meant to be a request. */
    if (!call && fault == DX_FAULT_RESULT_MISSING)
        return violation(peer, in, DX_FAULT_METHOD_MISSING, in->message.fault_at, DX_CODE_REQUEST,
                         id);
    if (!call) {
        peer->stats.unknown_ids += fault == DX_FAULT_ID_UNKNOWN || fault == DX_FAULT_ID_FORM;
        /* Who never asks for anything takes it for a request that is none. */
        if (peer->config.flags & DX_PEER_NO_STRAY)
            return violation(peer, in, fault, number, DX_CODE_REQUEST, no_id);
        push_violation(peer, in, fault, number,
                       fault == DX_FAULT_VALUES_LIMIT ? peer->config.values_max : number);
        return DX_OK;
    }
    bool cancelled = call->state == CALL_CANCELLING;
    bool is_error = in->message.error.len != 0;
    dx_fault bad = in->message.fault;
    dx_outcome outcome = bad != DX_FAULT_NONE ? DX_OUTCOME_INVALID
                         : !is_error          ? DX_OUTCOME_RESULT
                         : cancelled          ? DX_OUTCOME_CANCELLED
                                              : DX_OUTCOME_ERROR;
    if (bad != DX_FAULT_NONE)
        peer->stats.violations++;
    dx__call_end(peer, call, outcome, outcome == DX_OUTCOME_CANCELLED ? DX_FAULT_CANCELLED : bad,
                 true);
    dx__queued *queued = event(peer, in, DX_EVENT_DONE);
    queued->call = call;
    queued->found = in->message.fault_at;
    queued->expected = expected_of(peer, bad);
    return DX_OK;
}

static bool is_json_fault(dx_fault fault) {
    return fault >= DX_FAULT_JSON_EMPTY && fault <= DX_FAULT_JSON_VALUE;
}

static dx_status take_invalid(dx_peer *peer, const struct intake *in) {
    const dx_message *message = &in->message;
    bool asks = message->method.len || message->kind == DX_KIND_REQUEST;
    bool id_is_good = message->fault != DX_FAULT_ID_TYPE && message->id.len &&
                      message->id.len <= peer->config.id_max &&
                      (in->text.at[message->id.at] == '"' || in->text.at[message->id.at] == '-' ||
                       (in->text.at[message->id.at] >= '0' && in->text.at[message->id.at] <= '9'));
    dx_text id = id_is_good ? dx__part(in->text, message->id) : no_id;
    bool counts = asks || in->batch || peer->config.flags & DX_PEER_NO_STRAY;
    if (in->batch && peer->config.flags & DX_PEER_BATCH_LAX)
        counts = false;
    int64_t code = counts ? DX_CODE_REQUEST : 0;
    return violation(peer, in, message->fault, message->fault_at, code, asks ? id : no_id);
}

static dx_status take_message(dx_peer *peer, struct intake *in) {
    if (in->message.method.len > METHOD_MAX && in->message.fault == DX_FAULT_NONE) {
        in->message.fault = DX_FAULT_METHOD_LIMIT;
        in->message.fault_at = in->message.method.len;
    }
    if (in->message.kind == DX_KIND_RESPONSE)
        return take_response(peer, in);
    if (in->message.fault != DX_FAULT_NONE)
        return take_invalid(peer, in);
    if (in->message.kind == DX_KIND_REQUEST)
        return take_request(peer, in);
    return take_notification(peer, in);
}

/* The id in front of the place where a message can't be read, as far as one looks; absent: none. */
static dx_text early_id(const dx_peer *peer, const struct intake *in) {
    size_t fault_at = in->message.fault_at;
    dx_text before = {in->text.at, fault_at < LOOK_MAX ? fault_at : LOOK_MAX};
    if (!(peer->config.flags & DX_PEER_ID_EARLY))
        return no_id;
    dx_text id = dx_rpc_member(before, dx_str("id"));
    bool is_whole = id.len && id.at + id.len < before.at + before.len;
    bool is_id = is_whole && id.len <= peer->config.id_max && !memchr(id.at, '\\', id.len) &&
                 (id.at[0] == '"' || id.at[0] == '-' || (id.at[0] >= '0' && id.at[0] <= '9'));
    return is_id ? id : no_id;
}

static dx_status take_unreadable(dx_peer *peer, const struct intake *in) {
    dx_fault fault = in->message.fault;
    bool answers =
        peer->config.side == DX_SIDE_PLUGIN || peer->config.flags & DX_PEER_ANSWER_UNREADABLE;
    dx_status status = violation(peer, in, fault, in->message.fault_at, answers ? DX_CODE_PARSE : 0,
                                 early_id(peer, in));
    if (status == DX_OK && fault == DX_FAULT_JSON_INCOMPLETE &&
        peer->config.framing == DX_FRAMING_HEADER) {
        peer->may_be_short = true;
        peer->short_at = peer->frame.offset;
        peer->short_len = (uint32_t)in->text.len;
    }
    return status;
}

/* A line that is no JSON and does not look as if it wanted to be: printed, not sent. */
static bool is_stray_line(const dx_peer *peer, const struct intake *in) {
    if (peer->framer.config.framing != DX_FRAMING_LINE || !is_json_fault(in->message.fault) ||
        peer->config.flags & DX_PEER_NO_STRAY)
        return false;
    size_t i = 0;
    while (i < in->text.len && i < BLANKS_MAX && (in->text.at[i] == ' ' || in->text.at[i] == '\t'))
        i++;
    return i == in->text.len || (in->text.at[i] != '{' && in->text.at[i] != '[');
}

/* A line that stops where a pretty-printer breaks lines. */
static bool is_pretty(const dx_peer *peer, const struct intake *in) {
    if (peer->framer.config.framing != DX_FRAMING_LINE ||
        in->message.fault != DX_FAULT_JSON_INCOMPLETE)
        return false;
    size_t len = in->text.len;
    while (len && in->text.len - len < BLANKS_MAX &&
           (in->text.at[len - 1] == ' ' || in->text.at[len - 1] == '\t'))
        len--;
    return len && memchr("{[,", in->text.at[len - 1], 3);
}

/* Is there anything in it that asks for something? */
static bool has_request(const dx_peer *peer, const struct intake *in) {
    uint32_t cursor = 0;
    dx_message one;
    while (dx_rpc_element(in->text, &in->message, peer->config.depth_max, peer->config.lenient,
                          &cursor, &one) != DX_AGAIN)
        if (one.fault == DX_FAULT_NONE &&
            (one.kind == DX_KIND_REQUEST || one.kind == DX_KIND_NOTIFICATION))
            return true;
    return false;
}

static dx_status open_batch(dx_peer *peer, struct intake *in) {
    if (!(peer->config.flags & DX_PEER_BATCH))
        return violation(peer, in, DX_FAULT_BATCH, in->message.body.at, DX_CODE_REQUEST, no_id);
    if (!in->elements)
        return violation(peer, in, DX_FAULT_BATCH_EMPTY, in->message.body.at, DX_CODE_REQUEST,
                         no_id);
    if (in->elements > peer->config.batch_max)
        return violation(peer, in, DX_FAULT_BATCH_LIMIT, in->elements, DX_CODE_REQUEST, no_id);
    if (in->message.fault != DX_FAULT_NONE)
        return violation(peer, in, in->message.fault, in->message.fault_at, DX_CODE_REQUEST, no_id);
    if (peer->config.flags & DX_PEER_BATCH_LAX && !has_request(peer, in))
        return violation(peer, in, DX_FAULT_BATCH, in->message.body.at, DX_CODE_REQUEST, no_id);
    dx__batch *batch = dx__malloc(&peer->alloc, sizeof *batch);
    if (!batch)
        return DX_ERR_NOMEM;
    *batch = (dx__batch){.next = peer->batches, .reading = true};
    if (batch->next)
        batch->next->prev = batch;
    dx_buf_init(&batch->replies, SIZE_MAX / 4, &peer->alloc);
    peer->batches = peer->reading = batch;
    peer->batch_message = in->message;
    peer->batch_cursor = 0;
    return DX_OK;
}

/* Scans on, as far as this step goes: DX_AGAIN if that is not to the end. */
static dx_status scan_on(dx_peer *peer, dx__rpc_scan *scan, dx_text text) {
    bool in_steps = scan == peer->scan;
    size_t from = in_steps ? scan->at : 0;
    size_t most = in_steps ? peer->left : SIZE_MAX;
    bool done = dx__rpc_scan_go(scan, text, peer->config.depth_max, peer->config.lenient, most);
    if (in_steps) {
        size_t used = scan->at - from;
        peer->left -= used < peer->left ? used : peer->left;
        peer->scanning = !done;
    }
    return done ? DX_OK : DX_AGAIN;
}

/* Where the scan of a text that takes more than one step lives on; others have `room`. NULL: no
 * memory. */
static dx__rpc_scan *scan_of(dx_peer *peer, dx_text text, dx__rpc_scan *room) {
    if (text.len <= peer->step)
        return room;
    if (!peer->scan)
        peer->scan = dx__malloc(&peer->alloc, sizeof *peer->scan);
    return peer->scan;
}

/* Element by element, so that a failure in the middle goes on there. */
static dx_status read_batch(dx_peer *peer, struct intake *in) {
    dx__rpc_scan room;
    dx__rpc_scan *scan = scan_of(peer, in->text, &room);
    if (!scan)
        return DX_ERR_NOMEM;
    in->batch = peer->reading;
    while (peer->scanning ||
           dx__rpc_element_begin(scan, &peer->batch_message, peer->batch_cursor)) {
        dx_status status = peer->left || scan == &room ? scan_on(peer, scan, in->text) : DX_AGAIN;
        in->message = scan->message;
        if (status == DX_OK)
            status = take_message(peer, in);
        if (status != DX_OK)
            return status;
        peer->batch_cursor = scan->at;
    }
    in->batch->reading = false;
    peer->reading = NULL;
    if (!in->batch->waiting)
        dx__batch_complete(peer, in->batch);
    return DX_OK;
}

/* The envelope of the message at hand. DX_AGAIN: it takes another step. */
static dx_status scan_text(dx_peer *peer, struct intake *in) {
    size_t values_max = peer->config.values_max;
    /* A value takes two bytes at the least. */
    if (in->text.len <= peer->step && in->text.len / 2 <= values_max &&
        dx__rpc_scan_usual(in->text, peer->config.depth_max, &in->message))
        return DX_OK;
    dx__rpc_scan room;
    dx__rpc_scan *scan = scan_of(peer, in->text, &room);
    if (!scan)
        return DX_ERR_NOMEM;
    if (!peer->scanning)
        dx__rpc_scan_begin(scan);
    dx_status status = scan_on(peer, scan, in->text);
    if (status != DX_OK)
        return status;
    in->message = scan->message;
    in->elements = scan->walk.elements;
    if (scan->walk.values > values_max && !is_json_fault(in->message.fault)) {
        in->message.fault = DX_FAULT_VALUES_LIMIT;
        in->message.fault_at = scan->walk.values;
    }
    return DX_OK;
}

static dx_status take_text(dx_peer *peer, struct intake *in) {
    if (peer->reading)
        return read_batch(peer, in);
    if (!peer->scanning && dx__parse_ahead(peer, in->text, &in->message, &in->doc, &in->trees)) {
        dx_status status = DX_AGAIN;
        peer->stray_bytes = 0;
        if (peer->frame.fault == DX_FAULT_NONE)
            status = take_message(peer, in);
        if (!dx__queue_has(&peer->queue, in->doc))
            dx__parse_drop(peer, in->doc);
        if (status != DX_AGAIN)
            return status;
        in->doc = NULL;
    }
    dx_status status = scan_text(peer, in);
    if (status != DX_OK)
        return status;
    if (is_stray_line(peer, in))
        return stray(peer, in);
    bool unterminated = peer->frame.fault == DX_FAULT_UNTERMINATED;
    if (is_json_fault(in->message.fault) && unterminated) {
        dx__end(peer, DX_FAULT_TRUNCATED, in->text.len, 0);
        return DX_OK;
    }
    if (is_pretty(peer, in))
        in->message.fault = DX_FAULT_JSON_PRETTY;
    if (unterminated) {
        if (dx__queue_reserve(peer) != DX_OK)
            return DX_ERR_NOMEM;
        push_violation(peer, in, DX_FAULT_UNTERMINATED, 0, 0);
        peer->frame.fault = DX_FAULT_NONE; /* told; what follows may be repeated */
    }
    if (is_json_fault(in->message.fault))
        return take_unreadable(peer, in);
    peer->stray_bytes = 0;
    if (in->message.kind != DX_KIND_BATCH)
        return take_message(peer, in);
    status = open_batch(peer, in);
    if (status == DX_OK && peer->reading)
        status = read_batch(peer, in);
    return status;
}

/* The framer has changed over. To whom our lines went they are the beginning of a header, which
 * needs an end. */
static dx_status follow(dx_peer *peer) {
    dx_status status = peer->stats.messages_out ? dx_buf_append(&peer->out, "\r\n", 2) : DX_OK;
    if (status == DX_OK)
        peer->config.framing = peer->framer.config.framing;
    return status;
}

/* Out of the way of what comes all the time. */
__attribute__((cold, noinline)) static dx_status take_fault(dx_peer *peer,
                                                            const struct intake *in) {
    const dx_frame *frame = &peer->frame;
    if (frame->fatal) {
        dx__end(peer, frame->fault, frame->found, frame->expected);
        return DX_OK;
    }
    if (dx__queue_reserve(peer) != DX_OK)
        return DX_ERR_NOMEM;
    if (frame->fault == DX_FAULT_MESSAGE_LIMIT && peer->config.side == DX_SIDE_PLUGIN) {
        dx_error error;
        dx__error_set(&error, frame->fault, frame->offset, frame->found, frame->expected);
        dx_status status = dx__send_error(peer, NULL, no_id, DX_CODE_REQUEST, &error);
        if (status != DX_OK)
            return status;
    }
    if (peer->framer.config.framing == DX_FRAMING_HEADER &&
        peer->config.framing == DX_FRAMING_LINE && follow(peer) != DX_OK)
        return DX_ERR_NOMEM;
    push_violation(peer, in, frame->fault, frame->found, frame->expected);
    return DX_OK;
}

static dx_status take_frame(dx_peer *peer) {
    const dx_frame *frame = &peer->frame;
    struct intake in;
    in.text = (dx_text){"", frame->text.len};
    in.batch = NULL;
    in.doc = NULL;
    if (frame->kind != DX_FRAME_MESSAGE) /* else it is scanned */
        in.message = (dx_message){0};
    if (frame->text.len)
        in.text.at = peer->framer.in.data + (frame->offset - peer->framer.base);
    bool was_short = peer->may_be_short;
    dx_status status = DX_OK;
    switch (frame->kind) {
    case DX_FRAME_MESSAGE:
        status = take_text(peer, &in);
        break;
    case DX_FRAME_STRAY:
        status = between(peer, &in);
        break;
    case DX_FRAME_FAULT:
        status = take_fault(peer, &in);
        break;
    case DX_FRAME_END:
        dx__end(peer, DX_FAULT_NONE, 0, 0);
        break;
    }
    if (status == DX_OK && was_short && peer->short_at != frame->offset)
        peer->may_be_short = false; /* it can only be what follows at once */
    return status;
}

static void show_frame(dx_peer *peer) {
    uint64_t end = peer->framer.base + peer->framer.pos;
    size_t framed = (size_t)(end - peer->framed);
    peer->framed = end;
    if (peer->frame.text.len)
        peer->config.observe(peer->config.observe_user, 0, peer->frame.text, framed);
}

dx_status dx__intake(dx_peer *peer) {
    if (peer->unsent)
        dx__flush_batches(peer);
    peer->behind = true; /* until everything that is there was taken in */
    peer->silent = peer->paused = false;
    peer->left = peer->step;
    while (!peer->ending) {
        if (!peer->has_frame) {
            if (dx_framer_next(&peer->framer, &peer->frame) != DX_OK) {
                peer->behind = peer->unsent != 0;
                return DX_OK;
            }
            peer->has_frame = true;
            peer->stall_told = false;
            peer->stats.messages_in += peer->frame.kind == DX_FRAME_MESSAGE;
            if (peer->config.observe)
                show_frame(peer);
        }
        dx_status status = take_frame(peer);
        peer->paused = status == DX_AGAIN;
        if (status != DX_OK)
            return status;
        peer->has_frame = false;
    }
    return DX_OK;
}
