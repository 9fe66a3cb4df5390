/* next(): one event at a time, parsed, lent; and keep(). */
#include "base/alloc.h"
#include "base/line.h"
#include "peer/peer.h"

#include <string.h>

static dx_status set_method(dx_peer *peer, dx_event *ev, dx_text quoted, bool escaped) {
    if (!escaped) {
        ev->method = (dx_text){quoted.at + 1, quoted.len - 2};
        return DX_OK;
    }
    if (quoted.len > peer->room_cap) {
        char *room = dx__malloc(&peer->alloc, quoted.len);
        if (!room)
            return DX_ERR_NOMEM;
        dx__free(&peer->alloc, peer->room);
        peer->room = room;
        peer->room_cap = quoted.len;
    }
    return dx_rpc_string(quoted, peer->room, &ev->method);
}

/* The loan of the last event ends: a request in it that nobody took is answered. */
static dx_status end_loan(dx_peer *peer) {
    if (!peer->lent)
        return DX_OK;
    dx__request *request = peer->event.kind == DX_EVENT_REQUEST
                               ? dx__pool_find(&peer->requests, peer->event.request)
                               : NULL;
    if (request && request->state == REQUEST_GIVEN) {
        dx_status status = dx__request_drop(peer, request);
        if (status != DX_OK)
            return status;
    }
    dx__event_done(peer);
    return DX_OK;
}

void dx__event_done(dx_peer *peer) {
    dx__parse_free(peer);
    peer->lent = false;
    dx_framer_release(&peer->framer, dx__needed_from(peer));
}

static dx_text own_id(dx_peer *peer, const dx__call *call) {
    return (dx_text){peer->id_text, dx__id_write(peer, call->id, peer->id_text)};
}

static void tell_end(const dx_peer *peer, dx_event *ev, const dx__call *call) {
    ev->kind = DX_EVENT_DONE;
    ev->outcome = call->outcome;
    ev->call = dx__pool_handle(&call->pooled);
    ev->user = call->user;
    ev->rule = call->rule;
    if (call->outcome == DX_OUTCOME_LOST && peer->why.fault != DX_FAULT_NONE)
        ev->error = peer->why;
    else if (call->fault != DX_FAULT_NONE)
        dx__error_set(&ev->error, call->fault, 0, 0,
                      call->fault == DX_FAULT_TOTAL ? call->total_ms : call->timeout_ms);
}

/* An error object's code; 0 and a fault if it has none that is an integer, or no message. */
static int64_t code_of(dx_event *ev) {
    enum { LOOK_MAX = 1 << 20 }; /* not in steps, so not further */
    dx_text error = {ev->body.at, ev->body.len < LOOK_MAX ? ev->body.len : LOOK_MAX};
    dx_text code = dx_rpc_member(error, dx_str("code"));
    dx_text message = dx_rpc_member(error, dx_str("message"));
    uint64_t number = 0;
    size_t i = code.len && code.at[0] == '-' ? 1 : 0;
    bool good = code.len > i && code.len - i <= 19 && message.at && message.at[0] == '"';
    for (; good && i < code.len; i++) {
        good = code.at[i] >= '0' && code.at[i] <= '9';
        number = number * 10 + (uint64_t)(code.at[i] - '0');
    }
    bool negative = good && code.at[0] == '-';
    good = good && number <= (uint64_t)INT64_MAX + negative;
    if (!good) {
        dx__error_set(&ev->error, DX_FAULT_ERROR_SHAPE, 0, 0, 0);
        return 0;
    }
    return negative ? (int64_t)(0 - number) : (int64_t)number;
}

/* What looked like a result is none. */
static void end_as_invalid(dx_peer *peer, dx_event *ev) {
    ev->outcome = DX_OUTCOME_INVALID;
    peer->stats.results--;
    peer->stats.invalid++;
    peer->stats.violations++;
}

static dx_status hand_done(dx_peer *peer, const dx__queued *queued, dx_event *ev, dx_text text) {
    dx__call *call = queued->call;
    tell_end(peer, ev, call);
    ev->id = dx__part(text, queued->message.id);
    if (queued->message.number != call->id)
        ev->id = own_id(peer, call); /* it may have come in another form than we sent it */
    ev->body =
        dx__part(text, queued->message.error.len ? queued->message.error : queued->message.result);
    if (ev->outcome == DX_OUTCOME_INVALID)
        dx__error_set(&ev->error, call->fault, queued->found, queued->found, queued->expected);
    if (ev->outcome == DX_OUTCOME_ERROR)
        ev->code = code_of(ev);
    dx_status status = ev->outcome == DX_OUTCOME_INVALID ? DX_OK : dx__parse(peer, ev);
    if (status == DX_ERR_NOMEM)
        return status;
    if (status == DX_ERR_INVALID && ev->outcome == DX_OUTCOME_CANCELLED)
        dx__error_set(&ev->error, DX_FAULT_CANCELLED, 0, 0, 0); /* that is what matters of it */
    if (status == DX_ERR_INVALID && ev->outcome == DX_OUTCOME_RESULT)
        end_as_invalid(peer, ev);
    if (status == DX_OK && peer->config.protocol) {
        if (ev->outcome == DX_OUTCOME_RESULT)
            dx__rules_choose(peer, ev);
        status = dx__rules_answered(peer, call, ev);
        if (status == DX_ERR_NOMEM)
            return status;
        if (status == DX_MISFIT) {
            dx__rules_explain(peer, dx_str(call->rule->name), DX_FAULT_RESULT_FIT, &ev->error);
            end_as_invalid(peer, ev);
        }
    }
    dx__pool_give(&peer->calls, call);
    return DX_OK;
}

/* The event at hand is not handed out: in its place comes what is wrong with it. */
static void become_violation(dx_peer *peer, dx_event *ev, const dx_error *error) {
    dx_error why = *error;
    *ev = (dx_event){.kind = DX_EVENT_VIOLATION, .message = ev->message, .error = why};
    peer->stats.violations++;
}

/* A request that the protocol does not allow is answered with what it says about that. */
static dx_status refuse_request(dx_peer *peer, dx__request *request, dx_event *ev,
                                const dx__refusal *refusal) {
    dx_error error;
    dx_buf data;
    dx__rules_explain(peer, ev->method, refusal->fault, &error);
    dx_buf_init(&data, SIZE_MAX / 4, &peer->alloc);
    dx_status status = dx__rules_data(peer, refusal->fault, &data);
    dx__outgoing answer = {.what = DX__ERROR, .code = refusal->code, .body = dx_json_none()};
    if (refusal->message)
        answer.message = dx_str(refusal->message);
    if (status == DX_OK)
        answer.body = dx_json_checked((dx_text){data.data, data.len});
    bool is_silent = peer->config.flags & DX_PEER_NO_ERRORS;
    if (status != DX_ERR_NOMEM) /* without its data, if that can't be written as JSON */
        status = dx__request_end(peer, request, is_silent ? NULL : &answer, SIZE_MAX);
    dx_buf_done(&data);
    if (status == DX_OK) {
        dx__rules_refused(peer, ev, true, refusal->fault);
        become_violation(peer, ev, &error);
    }
    return status;
}

/* A request whose turn has come. DX_AGAIN: it is none any more. */
/* A request that nobody hears of: it came too late, was cancelled, or is one too many. DX_AGAIN. */
__attribute__((cold, noinline)) static dx_status end_unheard(dx_peer *peer, dx__request *request) {
    const dx_cancel_style *style = &peer->config.cancel;
    dx__outgoing answer = {.what = DX__ERROR, .code = DX_CODE_BUSY, .body = dx_json_none()};
    dx_status status;
    if (request->state == REQUEST_OVERDUE) {
        status = dx__request_overdue(peer, request);
    } else if (request->cancelled) {
        answer.message = dx_str("Request cancelled");
        answer.code = style->code;
        status = dx__request_end(peer, request, style->answered ? &answer : NULL, SIZE_MAX);
        peer->stats.cancelled_by_peer += status == DX_OK;
    } else {
        status = dx__request_end(peer, request, &answer, SIZE_MAX);
        peer->stats.busy += status == DX_OK;
    }
    return status == DX_OK ? DX_AGAIN : status;
}

/* The id is known, so the answer can find its way, unlike that to other parse errors. */
__attribute__((cold, noinline)) static dx_status
refuse_unparsed(dx_peer *peer, dx__request *request, dx_event *ev) {
    dx_error error = ev->error;
    dx_status status = dx__send_error(peer, request->batch, (dx_text){request->id, request->id_len},
                                      DX_CODE_PARSE, &error);
    if (status != DX_OK)
        return status;
    dx__request_end(peer, request, NULL, 0);
    become_violation(peer, ev, &error);
    return DX_OK;
}

static dx_status give(dx_peer *peer, dx__request *request, dx_event *ev) {
    request->state = REQUEST_GIVEN;
    peer->given++;
    ev->request = dx__pool_handle(&request->pooled);
    return DX_OK;
}

__attribute__((noinline)) static dx_status give_by_the_rules(dx_peer *peer, dx__request *request,
                                                             dx_event *ev) {
    dx__refusal refusal;
    dx__rules_choose(peer, ev);
    dx_status status = dx__rules_came(peer, ev, true, &ev->rule, &refusal);
    if (status == DX_MISFIT)
        return refuse_request(peer, request, ev, &refusal);
    if (status != DX_OK)
        return status;
    request->rule = ev->rule;
    return give(peer, request, ev);
}

static dx_status hand_request(dx_peer *peer, const dx__queued *queued, dx_event *ev, dx_text text) {
    dx__request *request = queued->request;
    dx_status status;
    if (request->state == REQUEST_OVERDUE || request->cancelled ||
        peer->given >= peer->config.requests_max)
        return end_unheard(peer, request);
    ev->id = dx__part(text, queued->message.id);
    ev->body = dx__part(text, queued->message.params);
    status = set_method(peer, ev, dx__part(text, queued->message.method), queued->message.escaped);
    if (status == DX_OK)
        status = dx__parse(peer, ev);
    if (status == DX_ERR_NOMEM)
        return status;
    if (status == DX_ERR_INVALID)
        return refuse_unparsed(peer, request, ev);
    return peer->config.protocol ? give_by_the_rules(peer, request, ev) : give(peer, request, ev);
}

/* Progress and cancellation. DX_AGAIN: nobody wants to hear of it. */
static dx_status hand_about(dx_peer *peer, const dx__queued *queued, dx_event *ev) {
    if (!queued->handle)
        return DX_AGAIN;
    if (queued->kind == DX_EVENT_CANCEL) {
        ev->request = queued->handle;
        return DX_OK;
    }
    const dx__call *call = dx__pool_find(&peer->calls, queued->handle);
    /* It may have ended here since. */
    if (!call || call->state == CALL_ENDED) {
        peer->stats.progress--;
        peer->stats.progress_dropped++;
        return DX_AGAIN;
    }
    ev->call = queued->handle;
    ev->user = call->user;
    return DX_OK;
}

/* Notifications, progress and cancellation: a method and params. */
static dx_status hand_notification(dx_peer *peer, const dx__queued *queued, dx_event *ev,
                                   dx_text text) {
    ev->body = dx__part(text, queued->message.params);
    dx_status status =
        set_method(peer, ev, dx__part(text, queued->message.method), queued->message.escaped);
    if (status == DX_OK)
        status = dx__parse(peer, ev);
    if (status == DX_OK && peer->config.protocol) {
        dx__refusal refusal;
        dx__rules_choose(peer, ev);
        status = dx__rules_came(peer, ev, false, &ev->rule, &refusal);
        if (status == DX_MISFIT) {
            dx__rules_explain(peer, ev->method, refusal.fault, &ev->error);
            dx__rules_refused(peer, ev, false, refusal.fault);
        }
    }
    if (status == DX_ERR_NOMEM)
        return status;
    bool is_cancel = queued->kind == DX_EVENT_CANCEL && queued->handle;
    if (status != DX_OK && !is_cancel) {
        become_violation(peer, ev, &ev->error);
        return DX_OK;
    }
    peer->stats.violations +=
        status != DX_OK; /* what is to be cancelled is understood all the same */
    return queued->kind == DX_EVENT_NOTIFICATION ? DX_OK : hand_about(peer, queued, ev);
}

static dx_status hand_queued(dx_peer *peer, dx_event *ev) {
    const dx__queued *queued = dx__queue_head(&peer->queue); /* stays there until it is popped */
    dx_text text = {"", 0};
    ev->kind = queued->kind;
    if (queued->len) {
        text = (dx_text){dx__framer_at(&peer->framer, queued->offset), queued->len};
        /* An element of a batch is a message of its own. */
        dx_slice whole = queued->message.body;
        ev->message = whole.len ? dx__part(text, whole) : text;
        if (queued->doc) {
            peer->doc = queued->doc;
            peer->home = dx__parse_home(peer, queued->doc);
        }
    }
    dx_status status = DX_OK;
    switch (queued->kind) {
    case DX_EVENT_REQUEST:
        status = hand_request(peer, queued, ev, text);
        break;
    case DX_EVENT_DONE:
        status = hand_done(peer, queued, ev, text);
        break;
    case DX_EVENT_NOTIFICATION:
    case DX_EVENT_PROGRESS:
    case DX_EVENT_CANCEL:
        status = hand_notification(peer, queued, ev, text);
        break;
    case DX_EVENT_OVERDUE:
        ev->request = queued->handle;
        dx__error_set(&ev->error, queued->fault, 0, 0, queued->expected);
        break;
    default:
        if (queued->fault != DX_FAULT_NONE)
            dx__error_set(&ev->error, queued->fault, queued->found, queued->found,
                          queued->expected);
        break;
    }
    if (status == DX_OK || status == DX_AGAIN)
        dx__queue_pop(peer);
    if (status != DX_OK)
        dx__event_done(peer); /* nothing was lent after all */
    return status;
}

/* Everything but the insides of the error, which its fault and its two empty strings make void. */
static void clear(dx_event *ev) {
    memset(ev, 0, offsetof(dx_event, error));
    ev->error.fault = DX_FAULT_NONE;
    ev->error.system = 0;
    ev->error.offset = 0;
    ev->error.place[0] = ev->error.phrase[0] = '\0';
}

/* A call that ended here, without an answer. */
static void hand_ended(dx_peer *peer, dx_event *ev) {
    dx__call *call = dx__calls_take(&peer->ended);
    clear(ev);
    tell_end(peer, ev, call);
    ev->id = own_id(peer, call);
    dx__pool_give(&peer->calls, call);
}

/* After everything that came: what is still pending is lost, then it is over. */
static dx_status hand_end(dx_peer *peer, dx_event *ev) {
    if (!peer->ending || peer->closed)
        return DX_AGAIN;
    dx__call *call = dx__calls_first(peer);
    if (call) {
        dx__call_end(peer, call, DX_OUTCOME_LOST, DX_FAULT_ENDED, false);
        hand_ended(peer, ev);
        return DX_OK;
    }
    clear(ev);
    peer->closed = true;
    dx__trim(peer); /* what is not needed for the last answers goes back at once */
    ev->kind = DX_EVENT_CLOSED;
    ev->error = peer->why;
    return DX_OK;
}

/* What came, then what is left to say at the end. DX_AGAIN: neither. */
static dx_status hand_next(dx_peer *peer, dx_event *ev) {
    dx_status status;
    do {
        status = peer->behind ? dx__intake(peer) : DX_OK;
        if (!peer->queue.count)
            return status == DX_OK ? hand_end(peer, ev) : status;
        clear(ev);
        status = hand_queued(peer, ev);
    } while (status == DX_AGAIN);
    return status;
}

/* Apart, so that the short way of dx_peer_next() stays short. */
__attribute__((noinline)) static dx_status next(dx_peer *peer) {
    dx_status status = end_loan(peer);
    if (status != DX_OK)
        return status;
    dx_event *ev = &peer->event;
    peer->warm = true;
    if (peer->ended.first)
        hand_ended(peer, ev);
    else
        status = hand_next(peer, ev);
    if (status != DX_OK) {
        peer->silent = status == DX_AGAIN && !peer->behind;
        return status;
    }
    peer->lent = true;
    return DX_OK;
}

dx_status dx_peer_next(dx_peer *peer, const dx_event **ret_event) {
    /* Most often asked when there is nothing: that answer should cost nothing. */
    if (peer->silent)
        return DX_AGAIN;
    dx_status status = next(peer);
    if (status == DX_OK)
        *ret_event = &peer->event;
    return status;
}

/* The same text in its new place, if it is a part of what moved. */
static dx_text moved(dx_text text, dx_text from, char *to) {
    uintptr_t offset = (uintptr_t)text.at - (uintptr_t)from.at;
    if (text.at && from.at && offset <= from.len)
        text.at = to + offset;
    return text;
}

dx_status dx_peer_keep(dx_peer *peer, dx_event **ret_event) {
    if (!peer->lent)
        return DX_GONE;
    const dx_event *ev = &peer->event;
    bool apart = ev->method.at && ev->method.at == peer->room;
    size_t method_len = apart ? ev->method.len : 0;
    size_t id_len = ev->id.at == peer->id_text ? ev->id.len : 0;
    dx__kept *kept = dx__malloc(&peer->alloc, sizeof *kept + ev->message.len + method_len + id_len);
    if (!kept)
        return DX_ERR_NOMEM;
    *kept = (dx__kept){.event = *ev, .alloc = peer->alloc, .peer = peer};
    char *to = kept->text;
    dx_text from = ev->message;
    if (from.len)
        memcpy(to, from.at, from.len);
    kept->event.message = moved(ev->message, from, to);
    kept->event.body = moved(ev->body, from, to);
    kept->event.id = moved(ev->id, from, to);
    kept->event.method = moved(ev->method, from, to);
    to += from.len;
    if (apart) {
        memcpy(to, ev->method.at, method_len);
        kept->event.method.at = to;
        to += method_len;
    }
    if (id_len) {
        memcpy(to, ev->id.at, id_len);
        kept->event.id.at = to;
    }
    dx_status status = dx__parse_keep(peer, kept);
    if (status != DX_OK) {
        dx__free(&peer->alloc, kept);
        return status;
    }
    kept->next = peer->kept;
    if (kept->next)
        kept->next->prev = kept;
    peer->kept = kept;
    peer->lent = false;
    dx__event_done(peer);
    *ret_event = &kept->event;
    return DX_OK;
}

static void forget_kept(dx__kept *kept) {
    dx_peer *peer = kept->peer;
    *(kept->prev ? &kept->prev->next : &peer->kept) = kept->next;
    if (kept->next)
        kept->next->prev = kept->prev;
    dx__request *request = kept->event.kind == DX_EVENT_REQUEST
                               ? dx__pool_find(&peer->requests, kept->event.request)
                               : NULL;
    if (request && request->state == REQUEST_GIVEN && dx__request_drop(peer, request) != DX_OK) {
        request->state = REQUEST_DROPPED; /* the next tick answers it */
        dx__heap_move(&peer->heap, &request->timer, 0);
    }
    if (request && peer->spoke)
        peer->spoke(peer->spoke_user);
}

dx_event *dx_event_free(dx_event *event) {
    if (!event)
        return NULL;
    dx__kept *kept = (dx__kept *)event;
    dx_allocator alloc = kept->alloc;
    if (kept->peer)
        forget_kept(kept);
    if (kept->arena)
        dx__free(&alloc, kept->arena);
    else if (kept->doc)
        yyjson_doc_free(kept->doc);
    dx__free(&alloc, kept);
    return NULL;
}
