/* One client's conversation: its birth, its end, and what is done for it later. */
#include "systems/mcp/server_parts.h"

#include <errno.h>
#include <string.h>

void dx__mcp_session_hold(dx_mcp_session *session) {
    session->refs++;
}

void dx__mcp_session_release(dx_mcp_session *session) {
    if (--session->refs)
        return;
    dx_allocator alloc = session->alloc;
    dx__mcp_speech_release(session->speech);
    yyjson_doc_free(session->client);
    dx__mcp_table_done(&session->by_request);
    dx__mcp_table_done(&session->watches);
    dx__free(&alloc, session);
}

static void unlink_session(dx_mcp_session *session) {
    dx_mcp_server *server = session->server;
    if (!server)
        return;
    *(session->prev ? &session->prev->next : &server->sessions) = session->next;
    if (session->next)
        session->next->prev = session->prev;
    session->prev = session->next = NULL;
}

static void each_work(dx_mcp_session *session, void (*apply)(dx_mcp_work *work)) {
    for (dx_mcp_work *work = session->works; work; work = session->cursor) {
        session->cursor = work->next;
        apply(work);
    }
}

/* A client that quits closes both pipes at once, and then it is chance which of the two ends is
 * noticed first: neither is a fault. */
static bool is_plain_end(const dx_error *why) {
    return why->fault == DX_FAULT_NONE || (why->fault == DX_FAULT_SYSTEM && why->system == EPIPE);
}

/* why NULL: without a word to anybody. The server may be freed in the callbacks. */
static void end(dx_mcp_session *session, const dx_error *why) {
    dx_link *link = session->link;
    if (!link)
        return;
    session->link = NULL;
    session->closing = true;
    dx__mcp_listens_done(session);
    each_work(session, why ? dx__mcp_work_cancel : dx__mcp_work_abandon);
    dx__mcp_tasks_done(session);
    dx__mcp_questions_done(session, why != NULL);
    if (session->server)
        dx__mcp_watches_done(session);
    const dx_mcp_server_config *config = session->server ? &session->server->config : NULL;
    if (why && config && config->on_session_end)
        config->on_session_end(session, why, config->user);
    if (why && session->server && session->server->runs) {
        session->server->code = !is_plain_end(why);
        dx_loop_stop(session->loop);
    }
    unlink_session(session);
    session->server = NULL;
    session->timer = dx_timer_free(session->timer);
    dx_link_free(link);
    dx__mcp_works_retry(session);
    dx__mcp_session_release(session);
}

void dx__mcp_session_abandon(dx_mcp_session *session) {
    if (session->link) {
        end(session, NULL);
        return;
    }
    unlink_session(session); /* it is ending already, and a callback of that freed the server */
    session->server = NULL;
}

static void on_closed(dx_link *link, const dx_error *why, void *user) {
    (void)link;
    end(user, why);
}

void dx__mcp_session_soon(dx_mcp_session *session, uint64_t ms) {
    if (!session->timer || (session->due && ms))
        return;
    session->due = true;
    dx_timer_set(session->timer, ms);
}

static void on_time(dx_timer *timer, void *user) {
    (void)timer;
    dx_mcp_session *session = user;
    bool again = false;
    session->due = false;
    dx__mcp_session_hold(session);
    if (session->link)
        again |= dx__mcp_changes_tell(session);
    if (session->link)
        dx__mcp_questions_answer(session);
    if (session->link)
        dx__mcp_rounds_end(session);
    if (session->link)
        again |= dx__mcp_works_retry(session);
    if (session->link && again)
        dx__mcp_session_soon(session, DX__MCP_RETRY_MS);
    dx__mcp_session_release(session);
}

static void observe(void *user, int out, dx_text text, size_t framed) {
    dx_mcp_session *session = user;
    (void)framed;
    if (session->server && session->server->config.on_traffic)
        session->server->config.on_traffic(session, out, text, session->server->config.user);
}

/* Up to 2025-06-18 the schema wants an id in every error. Later ones leave it out where it may not
 * be the one that was meant. */
static void on_refuse(void *user, dx_refusal *refusal) {
    const dx_mcp_session *session = user;
    refusal->no_id = session->rev > DX__MCP_2025_06 && refusal->code == DX_CODE_PARSE &&
                     refusal->fault != DX_FAULT_JSON_VALUE;
}

static dx_link_config link_config(dx_mcp_session *session) {
    dx_mcp_server *server = session->server;
    dx_protocol *start =
        server->speech->start ? server->speech->start : server->speech->protocols[DX__MCP_2025_11];
    dx_link_config config = dx_link_for(start, DX_SIDE_PLUGIN);
    config.peer.flags |= DX_PEER_ID_EARLY;
    config.peer.refuse = on_refuse;
    config.peer.refuse_user = session;
    config.peer.choose = dx__mcp_choose;
    config.peer.choose_user = session;
    config.peer.allocator = &session->alloc;
    config.peer.message_max = server->config.message_max;
    config.peer.requests_max = server->config.work_max + DX__MCP_SPARE;
    config.peer.timeout_ms = server->config.ask_ms;
    config.peer.total_ms = DX_NEVER;
    if (server->config.on_traffic) {
        config.peer.observe = observe;
        config.peer.observe_user = session;
    }
    config.on_event = dx__mcp_on_event;
    config.on_closed = on_closed;
    config.user = session;
    config.recorder = server->config.recorder;
    return config;
}

static dx_mcp_session *session_new(dx_mcp_server *server, dx_loop *loop) {
    dx_mcp_session *session = dx__malloc(&server->alloc, sizeof *session);
    if (!session)
        return NULL;
    *session = (dx_mcp_session){.server = server,
                                .speech = server->speech,
                                .alloc = server->alloc,
                                .loop = loop,
                                .refs = 1,
                                .rev = DX__MCP_2025_11,
                                .level = DX_MCP_DEBUG};
    session->speech->refs++;
    dx__mcp_table_init(&session->by_request, &server->alloc, server->key);
    dx__mcp_table_init(&session->watches, &server->alloc, server->key);
    if (dx_timer_new(loop, on_time, session, &session->timer) != DX_OK) {
        dx__mcp_session_release(session);
        return NULL;
    }
    return session;
}

/* in < 0: the standard input and output. */
static dx_status open_session(dx_mcp_server *server, dx_loop *loop, int in, int out,
                              dx_mcp_session **ret_session, dx_error *reterr) {
    dx_mcp_session *session = session_new(server, loop);
    if (!session) {
        if (reterr)
            *reterr = (dx_error){.fault = DX_FAULT_SYSTEM, .phrase = "out of memory"};
        return DX_ERR_NOMEM;
    }
    dx_link_config config = link_config(session);
    dx_status status = in < 0 ? dx_link_stdio(loop, &config, &session->link, reterr)
                              : dx_link_open(loop, in, out, &config, &session->link, reterr);
    if (status != DX_OK) {
        dx_timer_free(session->timer);
        dx__mcp_session_release(session);
        return status;
    }
    session->next = server->sessions;
    if (session->next)
        session->next->prev = session;
    server->sessions = session;
    if (ret_session)
        *ret_session = session;
    return DX_OK;
}

dx_status dx_mcp_server_open(dx_mcp_server *server, dx_loop *loop, int in, int out,
                             dx_mcp_session **ret_session, dx_error *reterr) {
    if (in < 0 || out < 0)
        return DX_ERR_INVALID;
    return open_session(server, loop, in, out, ret_session, reterr);
}

dx_status dx_mcp_server_stdio(dx_mcp_server *server, dx_loop *loop, dx_mcp_session **ret_session,
                              dx_error *reterr) {
    return open_session(server, loop, -1, -1, ret_session, reterr);
}

void dx_mcp_session_close(dx_mcp_session *session) {
    if (!session->link || session->closing)
        return;
    session->closing = true;
    dx__mcp_listens_close(session);
    dx_link_close(session->link);
}

dx_mcp_server *dx_mcp_session_server(const dx_mcp_session *session) {
    return session->server;
}

dx_loop *dx_mcp_session_loop(const dx_mcp_session *session) {
    return session->loop;
}

const char *dx_mcp_session_revision(const dx_mcp_session *session) {
    return session->opened ? dx__mcp_rev_name(session->rev) : NULL;
}

int dx_mcp_session_is_modern(const dx_mcp_session *session) {
    return session->opened && dx__mcp_is_modern(session);
}

yyjson_val *dx_mcp_session_client(const dx_mcp_session *session) {
    return yyjson_obj_get(yyjson_doc_get_root(session->client), "info");
}

yyjson_val *dx_mcp_session_capabilities(const dx_mcp_session *session) {
    return yyjson_obj_get(yyjson_doc_get_root(session->client), "capabilities");
}
