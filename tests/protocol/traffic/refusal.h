/* refusal.h: what a peer that checks does with a message that the document does not allow. */
#ifndef TRAFFIC_REFUSAL_H
#define TRAFFIC_REFUSAL_H

#include "protocol/traffic/pair.h"

struct refusal {
    dx_fault fault;
    int64_t code;
    const char *message;
    const char *pointer; /* NULL: the data of the answer is the reason alone */
    const char *reason;
};

/* The name of a method as it stands in phrases: not too long, and nothing that is no text. */
static inline void cut_name(char room[120], const char *name) {
    size_t len = strnlen(name, 119);
    while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
        len--;
    for (size_t i = 0; i < len; i++)
        room[i] = strchr("\n\t\x1b\x7f", name[i]) ? '?' : name[i];
    room[len] = '\0';
}

static inline void put(dx_buf *buf, const char *text) {
    must(dx_buf_append(buf, text, strlen(text)) == DX_OK);
}

static inline void put_quoted(dx_buf *buf, const char *before, const char *text) {
    put(buf, before);
    must(dx_json_write_string(buf, dx_str(text)) == DX_OK);
}

static inline void write_error(dx_buf *buf, const struct refusal *refusal, const char *part) {
    char place[300];
    char code[32];
    snprintf(code, sizeof code, "{\"code\":%lld", (long long)refusal->code);
    put(buf, code);
    put_quoted(buf, ",\"message\":", refusal->message);
    if (refusal->pointer) {
        snprintf(place, sizeof place, "%s%s", part, refusal->pointer);
        put_quoted(buf, ",\"data\":{\"pointer\":", place);
        put_quoted(buf, ",\"reason\":", refusal->reason);
        put(buf, "}");
    } else {
        put_quoted(buf, ",\"data\":", refusal->reason);
    }
    put(buf, "}");
}

/* The whole answer as it stands on the wire. */
static inline void write_answer(const struct book *book, dx_text id, dx_text error, dx_buf *wire) {
    static const char start[] = "{\"jsonrpc\":\"2.0\",\"id\":";
    static const char middle[] = ",\"error\":";
    size_t len = strlen(start) + id.len + strlen(middle) + error.len + 1;
    if (book->facts->framing == DX_FRAMING_HEADER) {
        char line[48];
        snprintf(line, sizeof line, "Content-Length: %zu\r\n", len);
        put(wire, line);
        if (book->facts->content_type) {
            put(wire, "Content-Type: ");
            put(wire, book->facts->content_type);
            put(wire, "\r\n");
        }
        put(wire, "\r\n");
    }
    put(wire, start);
    must(dx_buf_append(wire, id.at, id.len) == DX_OK);
    put(wire, middle);
    must(dx_buf_append(wire, error.at, error.len) == DX_OK);
    put(wire, book->facts->framing == DX_FRAMING_HEADER ? "}" : "}\n");
}

static inline bool is_text(dx_text one, dx_text other) {
    return one.len == other.len && (!one.len || memcmp(one.at, other.at, one.len) == 0);
}

/* The answer goes back, and is what the caller gets. A host that is silent sends none. */
static inline void check_answer(struct pair *pair, const struct step *step, dx_text id,
                                const struct refusal *refusal) {
    if (pair->book->facts->host_silent && step->from == DX_SIDE_PLUGIN) {
        dx_text none = carry(pair, DX_SIDE_HOST);
        expect(pair, step, none.len == 0, "it was answered");
        return;
    }
    dx_buf error;
    dx_buf wire;
    dx_buf_init(&error, 1 << 16, NULL);
    dx_buf_init(&wire, 1 << 16, NULL);
    write_error(&error, refusal, "/params");
    dx_text body = {error.data, error.len};
    write_answer(pair->book, id, body, &wire);
    dx_text answer = carry(pair, other_side(step->from));
    if (!is_text(answer, (dx_text){wire.data, wire.len}))
        failed("%s: %s: the answer is\n  %.*s\nand should be\n  %.*s", pair->book->name, pair->what,
               (int)answer.len, answer.at, (int)wire.len, wire.data);
    dx_event *done = take(pair, step->from);
    expect(pair, step,
           done && done->kind == DX_EVENT_DONE && done->outcome == DX_OUTCOME_ERROR &&
               done->code == refusal->code && is_text(done->body, body),
           "the sender was told something else");
    dx_event_free(done);
    dx_buf_done(&error);
    dx_buf_done(&wire);
}

/* The phrase of a violation, which ends where its room does. */
static inline void write_phrase(char phrase[200], const char *name, const char *part,
                                const struct refusal *refusal) {
    char whole[1200];
    char cut[120];
    cut_name(cut, name);
    if (refusal->pointer)
        snprintf(whole, sizeof whole, "%s: %s%s: %s", cut, part, refusal->pointer, refusal->reason);
    else
        snprintf(whole, sizeof whole, "%s", refusal->reason);
    size_t len = strnlen(whole, 199);
    memcpy(phrase, whole, len);
    phrase[len] = '\0';
}

/* Whose params do not fit has crossed the wire all the same, as one that is answered with an error.
 */
static inline void cross(struct pair *pair, const struct step *step, bool is_request) {
    const dx_protocol *protocol = pair->book->protocol;
    pair->state = dx_protocol_after(protocol, pair->state, step->method, step->from, DX_MOVE_SENT);
    if (is_request)
        pair->state =
            dx_protocol_after(protocol, pair->state, step->method, step->from, DX_MOVE_ERROR);
}

/* Sends what is not allowed from the side that does not check to the one that does. That side tells
 * it, and answers a request and nothing else. */
static inline void expect_refused(struct pair *pair, const struct step *step, const char *name,
                                  bool is_request, const char *params,
                                  const struct refusal *refusal) {
    dx_side to = other_side(step->from);
    dx_peer_stats before = dx_peer_statistics(peer_of(pair, to));
    bool crosses = refusal->fault == DX_FAULT_PARAMS_FIT;
    bool early = crosses && dx_protocol_may_send(pair->book->protocol, pair->state, step->method,
                                                 step->from, NULL, NULL) == DX_LEAVE_EARLY;
    char phrase[200];
    if (!expect(pair, step, say(pair, step->from, name, is_request, params) == DX_OK,
                "could not be sent"))
        return;
    carry(pair, step->from);
    dx_text text = last_seen(pair, step->from);
    dx_message message;
    dx_rpc_scan(text, DX_DEPTH_MAX, 0, &message);
    char id[128];
    must(message.id.len < sizeof id);
    memcpy(id, text.at + message.id.at, message.id.len);
    write_phrase(phrase, name, "/params", refusal);
    dx_event *event = take(pair, to);
    if (expect(pair, step, event, "nothing came of it")) {
        expect(pair, step,
               event->kind == DX_EVENT_VIOLATION && event->error.fault == refusal->fault,
               event->error.fault ? event->error.phrase : "was let through");
        expect(pair, step, is_same(event->error.phrase, phrase), event->error.phrase);
        expect(pair, step, is_text(event->message, text), "the message is not told");
    }
    dx_event_free(event);
    if (is_request)
        check_answer(pair, step, (dx_text){id, message.id.len}, refusal);
    dx_peer_stats after = dx_peer_statistics(peer_of(pair, to));
    expect(pair, step,
           after.violations == before.violations + 1 && after.early == before.early + early,
           "is counted otherwise");
    expect(pair, step, is_quiet(pair, to) && is_quiet(pair, step->from), "more came of it");
    if (crosses)
        cross(pair, step, is_request);
    expect(pair, step, in_state(pair, to, pair->state), "it moved the conversation");
    expect(pair, step, !crosses || in_state(pair, step->from, pair->state),
           "the two ends are in different states");
}

/* A side that checks what it sends does not send it. */
static inline void expect_unsent(struct pair *pair, const struct step *step, const char *name,
                                 bool is_request, const char *params,
                                 const struct refusal *refusal) {
    dx_peer *peer = peer_of(pair, step->from);
    uint64_t early = dx_peer_statistics(peer).early;
    expect(pair, step, say(pair, step->from, name, is_request, params) == DX_MISFIT, "was sent");
    const dx_misfit *why = dx_peer_why(peer);
    expect(pair, step,
           refusal->pointer ? is_same(why->instance, refusal->pointer)
                            : is_same(why->phrase, refusal->reason),
           why->phrase);
    expect(pair, step,
           is_quiet(pair, step->from) &&
               dx_peer_pending(peer) == (pair->waiting && pair->left.from == step->from) &&
               in_state(pair, step->from, pair->state) && dx_peer_statistics(peer).early == early,
           "but left something behind");
}

#endif
