/* The conversation with the client: its beginning and its end. */
#include "systems/autohand/core_parts.h"

#include <errno.h>

enum { WAIT_MS = 5 };

static void on_leave_time(dx_timer *timer, void *user);

/* Before the model is given back, which belongs to the agent. */
static void gone(dx_autohand_agent *agent, int code) {
    if (agent->has_left)
        return;
    agent->has_left = true;
    agent->leaving = true;
    if (agent->turn)
        dx__autohand_turn_abort(agent->turn, false, 0);
    dx__autohand_decision_hurry(agent, agent->config.leave_ms / 5 * 2);
    dx__autohand_hooks_drop(agent->farewell);
    agent->farewell = NULL;
    dx__autohand_hooks_end(agent);
    dx__autohand_store_sync(agent, "completed", true);
    dx_timer_set(agent->leave_timer, DX_NEVER);
    if (agent->config.on_left)
        agent->config.on_left(agent, code, agent->config.user);
}

/* One that quits closes both directions at once, and then it is chance which end is noticed first.
 */
static bool is_plain_end(const dx_error *why) {
    return why->fault == DX_FAULT_NONE ||
           (why->fault == DX_FAULT_SYSTEM && (why->system == EPIPE || why->system == ECONNRESET));
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    (void)link;
    dx_autohand_agent *agent = user;
    bool plain = agent->leaving || is_plain_end(why);
    dx__autohand_agent_enter(agent);
    if (!plain)
        dx__autohand_log(agent, "error", "the connection closed: %s", why->phrase);
    agent->link = dx_link_free(agent->link);
    gone(agent, plain ? 0 : 1);
    dx__autohand_agent_exit(agent);
}

/* agentEnd is the last word. */
static void say_farewell(dx_autohand_agent *agent) {
    static const char *const reasons[] = {"aborted", NULL, "disconnected"};
    if (agent->said_end)
        return;
    agent->said_end = true;
    const char *reason = reasons[agent->config.compat];
    if (agent->is_completed && dx__autohand_core_is_doc(agent))
        reason = "completed";
    if (reason)
        dx__autohand_tell_agent_end(agent, reason);
    if (agent->link)
        dx_link_close(agent->link);
    else
        dx_timer_set(agent->leave_timer, 0);
}

static void on_farewell_hooks(void *user, const struct dx__autohand_reply *reply) {
    (void)reply;
    dx_autohand_agent *agent = user;
    agent->farewell = NULL;
    dx_timer_set(agent->leave_timer, 0);
}

void dx__autohand_agent_leave_now(dx_autohand_agent *agent) {
    struct dx__autohand_occasion end = dx__autohand_occasion_of(DX__HOOK_SESSION_END);
    uint64_t patience = agent->config.leave_ms / 5 * 2;
    if (agent->leave_at != DX_NEVER)
        return;
    agent->leaving = true;
    agent->leave_at = dx_loop_now(agent->loop) + agent->config.leave_ms;
    agent->hooks_until = agent->leave_at - agent->config.leave_ms + patience;
    if (agent->turn)
        dx__autohand_turn_abort(agent->turn, false, 0);
    dx__autohand_decision_hurry(agent, patience);
    end.end_reason = dx_str("exit");
    end.duration_ms = (double)dx__autohand_core_since(agent, agent->began_ms);
    dx_timer_set(agent->leave_timer, patience);
    if (dx__autohand_hooks_run(agent, &end, on_farewell_hooks, agent, &agent->farewell) != DX_OK)
        say_farewell(agent);
}

static void on_leave_time(dx_timer *timer, void *user) {
    dx_autohand_agent *agent = user;
    dx__autohand_agent_enter(agent);
    uint64_t now = dx_loop_now(agent->loop);
    if (agent->leave_at == DX_NEVER) {
        dx__autohand_agent_leave_now(agent);
    } else if (agent->link && !agent->farewell && agent->hookings && now < agent->hooks_until) {
        /* Those that nobody waits for: one that formats a file must not be killed in the middle. */
        dx_timer_set(timer, WAIT_MS);
    } else if (agent->link && now < agent->leave_at) {
        /* The hooks took too long; what they are told of happens without them. */
        dx__autohand_hooks_drop(agent->farewell);
        agent->farewell = NULL;
        say_farewell(agent);
        dx_timer_set(agent->leave_timer, agent->leave_at - now);
    } else {
        agent->link = dx_link_free(agent->link);
        gone(agent, 0);
    }
    dx__autohand_agent_exit(agent);
}

static void on_ended(dx_link *link, void *user) {
    (void)link;
    dx_autohand_agent *agent = user;
    dx__autohand_agent_enter(agent);
    dx__autohand_agent_leave_now(agent);
    dx__autohand_agent_exit(agent);
}

void dx_autohand_agent_leave(dx_autohand_agent *agent) {
    if (agent->leave_timer && agent->leave_at == DX_NEVER)
        dx_timer_set(agent->leave_timer, 0);
}

static dx_link_config link_config(dx_autohand_agent *agent, dx_framing framing, dx_text first) {
    dx_link_config config = dx_link_defaults(framing ? framing : DX_FRAMING_LINE, DX_SIDE_PLUGIN);
    config.peer.allocator = &agent->alloc;
    config.peer.flags |= DX_PEER_BATCH | DX_PEER_NO_STRAY | DX_PEER_TELL_ROOM;
    config.peer.message_max = agent->config.line_max;
    /* Room for one more than wait when a change is told: notifications have three times out_max,
     * and that is all that ever waits, 128 MiB unless a message may be longer. */
    config.peer.out_max = 2 *
                          (config.peer.out_max > agent->config.line_max ? config.peer.out_max
                                                                        : agent->config.line_max) /
                          3;
    config.peer.refuse = dx__autohand_serve_refuse;
    config.peer.refuse_user = agent;
    config.peer.lenient |= DX_LENIENT_NULL_PARAMS | DX_LENIENT_LONG_LINE;
    if (!framing)
        config.peer.lenient |= DX_LENIENT_FOLLOW;
    if (!dx__autohand_core_is_doc(agent)) {
        config.peer.flags |= DX_PEER_BATCH_LAX;
        config.peer.lenient |=
            DX_LENIENT_ID_ANY | DX_LENIENT_ID_DOUBLE | DX_LENIENT_LAST_MEMBER | DX_LENIENT_UTF8;
    }
    config.handlers = dx__autohand_handlers;
    config.on_event = dx__autohand_serve_other;
    config.on_ended = on_ended;
    config.on_closed = on_closed;
    config.user = agent;
    config.first = first;
    config.drain_ms = agent->config.leave_ms / 2;
    config.recorder = agent->config.recorder;
    config.name = "client";
    return config;
}

dx_status dx_autohand_agent_open(dx_autohand_agent *agent, int in, int out, dx_framing framing,
                                 dx_text first, dx_error *reterr) {
    dx_link_config config = link_config(agent, framing, first);
    struct dx__autohand_occasion start = dx__autohand_occasion_of(DX__HOOK_SESSION_START);
    if (agent->link || agent->has_left)
        return dx__autohand_core_fail(reterr, "the agent is already open", "");
    agent->in_headers = framing == DX_FRAMING_HEADER;
    if (!agent->leave_timer &&
        dx_timer_new(agent->loop, on_leave_time, agent, &agent->leave_timer) != DX_OK) {
        (void)dx__autohand_core_fail(reterr, "out of memory", "");
        return DX_ERR_NOMEM;
    }
    dx_status status = dx_link_open(agent->loop, in, out, &config, &agent->link, reterr);
    if (status != DX_OK)
        return status;
    dx__autohand_tell_agent_start(agent, false);
    start.session_type = dx_str("startup");
    dx__autohand_agent_occasion(agent, &start);
    return DX_OK;
}
