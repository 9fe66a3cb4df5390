/* acts.h: everything that can be done with one of two joined peers, each thing at random. */
#ifndef MODEL_ACTS_H
#define MODEL_ACTS_H

#include "model/books.h"

static inline bool no_memory(const struct side *side, dx_status status) {
    CHECK(side->pair, status != DX_ERR_NOMEM || side->memory.failed);
    return status == DX_ERR_NOMEM;
}

/* A JSON value in one of the forms in which it can be handed over. */
struct said {
    dx_json json;
    char text[8000];
    size_t len;
    yyjson_doc *doc;
    yyjson_mut_doc *built;
};

static inline void said_add(struct said *said, const char *text) {
    size_t len = strlen(text);
    if (len > sizeof said->text - said->len)
        abort();
    memcpy(said->text + said->len, text, len);
    said->len += len;
}

static inline void said_number(struct said *said, const char *before, unsigned number) {
    char text[40];
    snprintf(text, sizeof text, "%s%u", before, number);
    said_add(said, text);
}

static inline void said_write(struct said *said, struct chance *chance, unsigned number,
                              unsigned sequence, bool token, bool odd) {
    said->len = 0;
    said_number(said, "{\"n\":", number);
    said_number(said, ",\"s\":", sequence);
    if (token)
        said_number(said, ",\"token\":", number);
    said_add(said, ",\"pad\":\"");
    unsigned more = once_in(chance, 8)    ? pick(chance, 10)
                    : once_in(chance, 32) ? pick(chance, 100)
                                          : 0;
    for (; more > 0; more--)
        said_add(said, "some text that only makes the message longer, \\n, \\u00fc, \xc3\xa9; ");
    said_add(said, "\"");
    if (odd)
        said_add(said, ",\"odd\":1e999");
    said_add(said, "}");
}

static inline void said_form(struct said *said, struct chance *chance, bool odd) {
    unsigned form = odd ? 0 : pick(chance, 4);
    said->doc = NULL;
    said->built = NULL;
    if (form >= 2)
        said->doc = yyjson_read(said->text, said->len, 0);
    if (form == 3)
        said->built = yyjson_doc_mut_copy(said->doc, NULL);
    said->json = form == 0   ? dx_json_text(said->text, said->len)
                 : form == 1 ? dx_json_checked((dx_text){said->text, said->len})
                 : form == 2 ? dx_json_value(yyjson_doc_get_root(said->doc))
                             : dx_json_built(yyjson_mut_doc_get_root(said->built));
}

static inline void said_done(struct said *said) {
    yyjson_doc_free(said->doc);
    yyjson_mut_doc_free(said->built);
}

static inline void check_said(const struct side *side, dx_status status) {
    const struct pair *pair = side->pair;
    if (no_memory(side, status))
        return;
    CHECK(pair, status != DX_ERR_LIMIT || pair->message_max);
    CHECK(pair, status != DX_CLOSED || side->finished || pair->hostile);
    CHECK(pair, status != DX_ERR_INVALID && status != DX_GONE && status != DX_AGAIN);
}

static inline void act_call(struct side *side) {
    struct chance *chance = &side->pair->chance;
    if (side->call_count == CALLS_MAX)
        return;
    unsigned number = side->call_count + 1;
    struct call call = {.has_token = side->config.progress.method && once_in(chance, 3),
                        .odd = once_in(chance, 50),
                        .no_cancel = once_in(chance, 10)};
    struct said said;
    said_write(&said, chance, number, side->sequence + 1, call.has_token, call.odd);
    said_form(&said, chance, call.odd);
    char token[16];
    int len = snprintf(token, sizeof token, "%u", number);
    dx_call_options options = {.reset = once_in(chance, 2),
                               .no_cancel = call.no_cancel,
                               .user = (void *)(uintptr_t)number};
    if (call.has_token)
        options.token = (dx_text){token, (size_t)len};
    if (!side->pair->no_time && once_in(chance, 4))
        options.timeout_ms = 1 + pick(chance, 3000);
    dx_status status = dx_peer_call(side->peer, dx_str("work"), said.json, &options,
                                    side->pair->now, &call.handle);
    check_said(side, status);
    said_done(&said);
    if (status != DX_OK)
        return;
    side->sequence++;
    side->calls[number] = call;
    side->call_count = number;
}

static inline void act_notify(struct side *side) {
    struct chance *chance = &side->pair->chance;
    struct said said;
    said_write(&said, chance, side->notes_sent + 1, side->sequence + 1, false, false);
    said_form(&said, chance, false);
    dx_status status = dx_peer_notify(side->peer, dx_str("note"), said.json);
    check_said(side, status);
    said_done(&said);
    if (status != DX_OK)
        return;
    side->sequence++;
    side->notes_sent++;
}

/* What cannot be right is refused, and nothing happens. */
static inline void act_nonsense(struct side *side) {
    struct chance *chance = &side->pair->chance;
    dx_status status;
    if (once_in(chance, 2))
        status = dx_peer_notify(side->peer, (dx_text){"\xff", 1}, dx_json_none());
    else if (once_in(chance, 2))
        status = dx_peer_notify(side->peer, dx_str("note"), dx_json_text("[1,", 3));
    else
        status = dx_peer_call(side->peer, dx_str("work"), dx_json_text("12", 2), NULL,
                              side->pair->now, NULL);
    CHECK(side->pair, status == DX_ERR_INVALID || status == DX_BUSY || status == DX_CLOSED ||
                          no_memory(side, status));
}

static inline void act_cancel(struct side *side) {
    struct pair *pair = side->pair;
    if (!side->call_count)
        return;
    unsigned recent = side->call_count < 40 ? side->call_count : 40;
    struct call *call = &side->calls[side->call_count - pick(&pair->chance, recent)];
    dx_text reason = dx_str(once_in(&pair->chance, 2) ? "no \"need\"" : NULL);
    dx_status status = dx_peer_cancel(side->peer, call->handle, reason, pair->now);
    if (no_memory(side, status))
        return;
    CHECK(pair, status == DX_OK || status == DX_GONE ||
                    (status == DX_ERR_LIMIT && side->config.message_max < 200));
    CHECK(pair, status != DX_OK || (!call->ended && !call->cancelled));
    call->cancelled |= status == DX_OK;
}

/* Answers a request that was lent or kept; false if it is still unanswered. */
static inline bool answer(struct side *side, dx_request request, dx_text body, unsigned number) {
    struct pair *pair = side->pair;
    struct call *call = call_of(side->other, number);
    struct call stranger = {0};
    if (!call)
        call = &stranger;
    enum answer how = once_in(&pair->chance, 4) ? ANSWER_REFUSAL : ANSWER_REPLY;
    bool odd = how == ANSWER_REPLY && once_in(&pair->chance, 60) && number;
    int64_t code = 1000 + number % 7;
    char text[80];
    int len = snprintf(text, sizeof text, "{\"n\":%u,\"odd\":-1e999}", number);
    /* The book is written first: the answer may be read while it is given. */
    struct call before = *call;
    call->answer = how;
    call->code = code;
    call->odd_answer = how == ANSWER_REPLY && (odd || call->odd);
    dx_status status;
    if (how == ANSWER_REFUSAL)
        status = dx_peer_refuse(side->peer, request, code, dx_str("no"), dx_json_none());
    else if (odd)
        status = dx_peer_reply(side->peer, request, dx_json_text(text, (size_t)len));
    else
        status = dx_peer_reply(side->peer, request, dx_json_checked(body));
    if (status != DX_OK)
        *call = before;
    CHECK(pair,
          status == DX_OK || status == DX_GONE || status == DX_BUSY || no_memory(side, status));
    /* Only what was withdrawn or came too late is gone before it was answered. */
    if (status == DX_GONE && !pair->hostile)
        CHECK(pair, side->config.handle_ms != DX_NEVER ||
                        (side->config.cancel.method && !side->config.cancel.answered));
    if (status == DX_OK) /* answered exactly once */
        CHECK(pair, dx_peer_reply(side->peer, request, dx_json_none()) == DX_GONE);
    return status != DX_BUSY && status != DX_ERR_NOMEM;
}

static inline void forget_kept(struct side *side, unsigned index) {
    side->kept[index] = side->kept[--side->kept_count];
}

static inline void act_answer_kept(struct side *side) {
    if (!side->kept_count)
        return;
    unsigned index = pick(&side->pair->chance, side->kept_count);
    struct kept kept = side->kept[index];
    if (!answer(side, kept.event->request, kept.event->body, kept.number))
        return;
    dx_event_free(kept.event);
    forget_kept(side, index);
}

/* Nobody answers it any more, so an internal error does. */
static inline void dropped(struct side *side, unsigned number) {
    struct call *call = call_of(side->other, number);
    if (call && call->answer == ANSWER_NONE)
        call->answer = ANSWER_DROP;
}

static inline void act_free_kept(struct side *side) {
    if (!side->kept_count)
        return;
    unsigned index = pick(&side->pair->chance, side->kept_count);
    dropped(side, side->kept[index].number);
    CHECK(side->pair, dx_event_free(side->kept[index].event) == NULL);
    forget_kept(side, index);
}

static inline void act_progress(struct side *side) {
    if (!side->kept_count)
        return;
    struct kept *kept = &side->kept[pick(&side->pair->chance, side->kept_count)];
    struct call *call = call_of(side->other, kept->number);
    if (!call || !call->has_token)
        return;
    char text[64];
    int len = snprintf(text, sizeof text, "{\"token\":%u,\"step\":%u}", kept->number,
                       call->progress_sent + 1);
    dx_status status =
        dx_peer_notify(side->peer, dx_str("progress"), dx_json_text(text, (size_t)len));
    check_said(side, status);
    call->progress_sent += status == DX_OK;
}

static inline void keep(struct side *side, unsigned number) {
    struct kept kept = {.number = number};
    dx_status status = dx_peer_keep(side->peer, &kept.event);
    if (no_memory(side, status))
        return;
    CHECK(side->pair, status == DX_OK);
    side->kept[side->kept_count++] = kept;
    side->lent = NULL;
    side->loan = NULL;
}

/* Was everything that the other side said taken in, as far as can be told from outside? */
static inline bool has_all(const struct side *side) {
    const struct wire *wire = &side->wire;
    return !wire_waiting(wire).len && !wire->raw.len && !wire->batch.len && !side->pair->cut &&
           !dx_peer_output(side->other->peer).len && !side->memory.failed &&
           side->config.in_max > 100000 && side->config.out_max > 100000;
}

static inline void on_request(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    unsigned number = pair->hostile ? 0 : number_in(ev->body, "n");
    struct call *call = call_of(side->other, number);
    if (!pair->hostile) {
        CHECK(pair, call && !call->delivered && same_text(ev->method, "work"));
        CHECK(pair, !call->odd || side->config.flags & DX_PEER_TEXT);
        /* A cancellation that came before its turn did spares us the request. */
        bool told = call->cancelled && !call->no_cancel && side->config.cancel.method;
        CHECK(pair, !told || !has_all(side));
        call->delivered = true;
        heard(side, ev->body);
    }
    side->lent = ev;
    side->lent_number = number;
    unsigned what = pick(&pair->chance, 8);
    if (what < 4 && answer(side, ev->request, ev->body, number))
        side->lent = NULL;
    else if (what < 7 && side->kept_count < KEPT_MAX)
        keep(side, number);
}

/* Any event can be kept, and says the same then. */
static inline void keep_other(struct side *side, const dx_event *ev) {
    struct pair *pair = side->pair;
    dx_event before = *ev;
    char body[64];
    size_t len = ev->body.len < sizeof body ? ev->body.len : sizeof body;
    if (len)
        memcpy(body, ev->body.at, len);
    dx_event *kept;
    dx_status status = dx_peer_keep(side->peer, &kept);
    if (no_memory(side, status))
        return;
    CHECK(pair, status == DX_OK && kept->kind == before.kind && kept->user == before.user);
    CHECK(pair, kept->body.len == before.body.len && (!len || !memcmp(kept->body.at, body, len)));
    CHECK(pair, !kept->value == !before.value);
    CHECK(pair, dx_peer_keep(side->peer, &kept) == DX_GONE);
    side->loan = NULL;
    dx_event_free(kept);
}

static inline void on_event(struct side *side, const dx_event *ev) {
    CHECK(side->pair, !side->closed);
    switch (ev->kind) {
    case DX_EVENT_REQUEST:
        on_request(side, ev);
        break;
    case DX_EVENT_NOTIFICATION:
        on_note(side, ev);
        break;
    case DX_EVENT_DONE:
        on_done(side, ev);
        break;
    case DX_EVENT_PROGRESS:
        on_progress(side, ev);
        break;
    case DX_EVENT_CANCEL:
        on_cancel(side, ev);
        break;
    case DX_EVENT_OVERDUE:
        on_overdue(side, ev);
        break;
    case DX_EVENT_STRAY:
        side->strays++;
        break;
    case DX_EVENT_VIOLATION:
        side->violations++;
        CHECK(side->pair, ev->error.fault != DX_FAULT_NONE);
        break;
    case DX_EVENT_CLOSED:
        on_closed(side, ev);
        break;
    }
    if (ev->kind != DX_EVENT_REQUEST && once_in(&side->pair->chance, 16))
        keep_other(side, ev);
}

static inline void act_next(struct side *side, unsigned most) {
    while (most--) {
        const dx_event *ev;
        if (side->lent)
            dropped(side, side->lent_number);
        side->loan = NULL;
        dx_status status = dx_peer_next(side->peer, &ev);
        if (no_memory(side, status))
            return;
        side->lent = NULL;
        CHECK(side->pair, status == DX_OK || status == DX_AGAIN);
        if (status == DX_AGAIN)
            return;
        side->loan = ev;
        side->loan_sum = sum_event(ev);
        on_event(side, ev);
    }
}

static inline size_t some(struct chance *chance, size_t len) {
    switch (pick(chance, 3)) {
    case 0:
        return len;
    case 1:
        return len ? 1 : 0;
    default:
        return len ? pick(chance, (unsigned)(len < 65536 ? len : 65536)) : 0;
    }
}

static inline void act_send(struct side *side, size_t most) {
    dx_text out = dx_peer_output(side->peer);
    size_t len = out.len < most ? out.len : most;
    /* What was said after the line was cut reaches nobody. */
    if (!side->other->finished && !side->pair->cut && len)
        wire_push(&side->other->wire, out.at, len);
    dx_peer_sent(side->peer, len);
}

static inline void act_feed(struct side *side, size_t most) {
    struct pair *pair = side->pair;
    dx_text in = wire_waiting(&side->wire);
    size_t len = in.len < most ? in.len : most;
    size_t used = 0;
    dx_status status;
    if (!len || side->finished)
        return;
    if (once_in(&pair->chance, 2)) {
        status = dx_peer_feed(side->peer, in.at, len, pair->now, &used);
        CHECK(pair, status == DX_OK ? used == len : used <= len);
    } else {
        void *room;
        status = dx_peer_reserve(side->peer, len, &room, &used);
        if (status == DX_OK) {
            CHECK(pair, used && used <= len);
            memcpy(room, in.at, used);
            dx_peer_commit(side->peer, used, pair->now);
        } else {
            used = 0;
        }
    }
    CHECK(pair, status == DX_OK || status == DX_BUSY || no_memory(side, status));
    wire_took(&side->wire, used);
}

static inline void act_tick(struct side *side) {
    struct pair *pair = side->pair;
    size_t failed = side->memory.failed;
    dx_peer_tick(side->peer, pair->now);
    /* A loop that waits for the deadline must not spin. */
    if (failed == side->memory.failed && !side->memory.fail_one_in && !side->loan)
        CHECK(pair, dx_peer_deadline(side->peer) > pair->now);
}

static inline void act_finish(struct side *side) {
    dx_error why = {.fault = DX_FAULT_ENDED, .phrase = "the test ended it"};
    bool plain = once_in(&side->pair->chance, 2);
    if (plain) /* what is still on the way comes first, or is lost */
        act_feed(side, SIZE_MAX);
    dx_peer_finish(side->peer, plain ? NULL : &why, side->pair->now);
    side->finished = true;
    wire_took(&side->wire, side->wire.ready.len - side->wire.fed);
}

#endif
