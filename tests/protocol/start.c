/*
 * The handshake of every built-in protocol that has one, between two peers that check everything:
 * each step may be sent where the one before led, every request of it is answered with the smallest
 * result that fits, both ends are in the same state after each step, and in the last one the host
 * may say something more.
 */
#include "protocol/files.h"

#include <duplex/peer.h>

#include <stdlib.h>
#include <string.h>

struct talk {
    const char *name;
    dx_protocol *protocol;
    dx_peer *host;
    dx_peer *plugin;
};

static size_t steps;
static size_t handshakes;

static dx_peer *new_peer(dx_protocol *protocol, dx_side side) {
    dx_peer_config config = dx_peer_for(protocol, side);
    dx_peer *peer = NULL;
    if (config.checking != DX_CHECKING_BOTH || dx_peer_new(&config, &peer) != DX_OK)
        abort();
    return peer;
}

static void carry(dx_peer *from, dx_peer *to) {
    dx_text output = dx_peer_output(from);
    if (dx_peer_feed(to, output.at, output.len, 1, NULL) != DX_OK)
        abort();
    dx_peer_sent(from, output.len);
}

static const dx_event *expect(const struct talk *talk, dx_peer *peer, const dx_step *step,
                              dx_event_kind kind) {
    const dx_event *event = NULL;
    if (dx_peer_next(peer, &event) != DX_OK || event->kind != kind) {
        failed("%s: %s: %s", talk->name, step->method, event ? event->error.phrase : "nothing");
        return NULL;
    }
    return event;
}

static void answer(const struct talk *talk, const dx_step *step, const dx_event *request) {
    dx_buf result;
    dx_buf_init(&result, 1 << 20, NULL);
    if (dx_protocol_example(talk->protocol, request->rule, DX_SIDE_HOST, DX_PART_RESULT, &result) !=
            DX_OK ||
        dx_peer_reply(talk->plugin, request->request, dx_json_text(result.data, result.len)) !=
            DX_OK)
        failed("%s: %s is not answered: %s", talk->name, step->method,
               dx_peer_why(talk->plugin)->phrase);
    dx_buf_done(&result);
    carry(talk->plugin, talk->host);
    const dx_event *done = expect(talk, talk->host, step, DX_EVENT_DONE);
    if (done && done->outcome != DX_OUTCOME_RESULT)
        failed("%s: %s: %s", talk->name, step->method, done->error.phrase);
}

static void take(const struct talk *talk, const dx_step *step) {
    dx_json params =
        step->params ? dx_json_text(step->params, strlen(step->params)) : dx_json_none();
    dx_text method = dx_str(step->method);
    dx_status status = step->notification ? dx_peer_notify(talk->host, method, params)
                                          : dx_peer_call(talk->host, method, params, NULL, 1, NULL);
    steps++;
    if (status != DX_OK) {
        failed("%s: %s cannot be sent: %s", talk->name, step->method,
               dx_peer_why(talk->host)->phrase);
        return;
    }
    carry(talk->host, talk->plugin);
    const dx_event *event = expect(talk, talk->plugin, step,
                                   step->notification ? DX_EVENT_NOTIFICATION : DX_EVENT_REQUEST);
    if (event && !step->notification)
        answer(talk, step, event);
    if (strcmp(dx_peer_state(talk->host), dx_peer_state(talk->plugin)) != 0)
        failed("%s: after %s one end is in %s, the other in %s", talk->name, step->method,
               dx_peer_state(talk->host), dx_peer_state(talk->plugin));
    /* Nothing was only let through. */
    if (dx_peer_statistics(talk->plugin).early || dx_peer_statistics(talk->host).early)
        failed("%s: %s is early", talk->name, step->method);
}

static bool is_about(const dx_protocol *protocol, const char *name) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    return (facts->cancel_method && !strcmp(name, facts->cancel_method)) ||
           (facts->progress_method && !strcmp(name, facts->progress_method));
}

/* Cancelling and progress are always allowed, and so say nothing. */
static bool may_go_on(const struct talk *talk) {
    unsigned state = 0;
    while (strcmp(dx_protocol_state_name(talk->protocol, state), dx_peer_state(talk->host)) != 0)
        state++;
    const dx_method *method;
    for (size_t i = 0; (method = dx_protocol_method(talk->protocol, i)); i++)
        if (!is_about(talk->protocol, method->name) &&
            dx_protocol_may_send(talk->protocol, state, method, DX_SIDE_HOST, NULL, NULL) ==
                DX_LEAVE_YES)
            return true;
    return false;
}

static void start(const char *name) {
    struct talk talk = {.name = name};
    dx_misfit why = {.phrase = ""};
    if (dx_protocol_open(dx_str(name), NULL, &talk.protocol, &why) != DX_OK) {
        failed("%s: %s", name, why.phrase);
        return;
    }
    const dx_step *step = dx_protocol_facts_of(talk.protocol)->start;
    if (step) {
        handshakes++;
        talk.host = new_peer(talk.protocol, DX_SIDE_HOST);
        talk.plugin = new_peer(talk.protocol, DX_SIDE_PLUGIN);
        for (; step->method; step++)
            take(&talk, step);
        if (!may_go_on(&talk))
            failed("%s: nothing may follow in the state %s", name, dx_peer_state(talk.host));
        dx_peer_free(talk.host);
        dx_peer_free(talk.plugin);
    }
    dx_protocol_free(talk.protocol);
}

int main(void) {
    const char *name;
    for (size_t i = 0; (name = dx_protocol_builtin(i)); i++)
        start(name);
    if (handshakes < 10)
        failed("only %zu protocols have a handshake", handshakes);
    return verdict("steps", steps);
}
