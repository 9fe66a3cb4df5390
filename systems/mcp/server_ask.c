/* Questions to the client while one of its requests is worked on. */
#include "systems/mcp/server_parts.h"

#include <stdio.h>
#include <string.h>

static dx__mcp_question *question_new(dx_mcp_session *session, dx_mcp_work *work) {
    dx__mcp_question *question = dx__malloc(&session->alloc, sizeof *question);
    if (!question)
        return NULL;
    *question = (dx__mcp_question){.session = session, .work = work, .next = session->questions};
    if (question->next)
        question->next->prev = question;
    session->questions = question;
    if (work)
        work->asking++;
    return question;
}

static void question_free(dx__mcp_question *question) {
    dx_mcp_session *session = question->session;
    *(question->prev ? &question->prev->next : &session->questions) = question->next;
    if (question->next)
        question->next->prev = question->prev;
    if (question->work)
        question->work->asking--;
    dx__free(&session->alloc, question);
}

/* The end of a question; it is freed. The texts stay valid while the work is there. */
static void deliver(dx__mcp_question *question, yyjson_val *value, int64_t code, dx_text error) {
    dx__mcp_question was = *question;
    dx_mcp_work *work = was.work;
    question_free(question);
    if (was.on_roots)
        was.on_roots(was.session, value ? yyjson_obj_get(value, "roots") : NULL, was.user);
    if (!work)
        return;
    if (work->task)
        dx__mcp_task_waits(work, false);
    dx__mcp_work_enter(work);
    work->lacks = was.lacks;
    if (was.on_reply)
        was.on_reply(work, value, code, error, was.user);
    else if (!value)
        dx_mcp_work_fail(work, error);
    work->lacks = NULL;
    dx__mcp_work_leave(work);
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    (void)link;
    dx__mcp_question *question = user;
    dx_mcp_session *session = question->session;
    dx__mcp_session_hold(session);
    question->call = 0;
    if (event->outcome == DX_OUTCOME_RESULT)
        deliver(question, event->value, 0, dx_str(NULL));
    else if (event->outcome == DX_OUTCOME_ERROR)
        deliver(question, NULL, event->code, dx__mcp_member(event->value, "message"));
    else
        deliver(question, NULL, 0, dx_str(event->error.phrase));
    dx__mcp_session_release(session);
}

/* Those that are marked; what is asked in the meantime waits for its turn. */
static void deliver_marked(dx_mcp_session *session, const char *reason) {
    dx__mcp_question *question;
    do { /* a callback may end others: it is looked through anew */
        for (question = session->questions; question && !question->marked;
             question = question->next)
            ;
        if (question) {
            char why[sizeof question->why];
            memcpy(why, reason ? reason : question->why, reason ? strlen(reason) + 1 : sizeof why);
            yyjson_val *value = reason ? NULL : question->value;
            deliver(question, value, 0, value ? dx_str(NULL) : dx_str(why));
        }
    } while (question && (reason || session->link));
}

/* Those that need not go to the client: from the loop, so that nobody is called back from a
 * function of the server. */
void dx__mcp_questions_answer(dx_mcp_session *session) {
    for (dx__mcp_question *question = session->questions; question; question = question->next)
        question->marked = !question->call && (question->value || question->why[0]);
    deliver_marked(session, NULL);
}

void dx__mcp_questions_drop(dx_mcp_work *work) {
    dx_mcp_session *session = work->session;
    dx__mcp_question *next;
    for (dx__mcp_question *question = session->questions; question && work->asking;
         question = next) {
        next = question->next;
        if (question->work != work)
            continue;
        question->work = NULL;
        work->asking--;
        if (question->posted)
            continue;
        if (question->call && session->link)
            (void)dx_link_cancel(session->link, question->call, dx_str("no longer needed"));
        else
            question_free(question);
    }
}

void dx__mcp_questions_cancel(dx_mcp_work *work) {
    dx_mcp_session *session = work->session;
    for (dx__mcp_question *question = session->questions; question; question = question->next) {
        if (question->work != work)
            continue;
        if (question->call && session->link) {
            (void)dx_link_cancel(session->link, question->call,
                                 dx_str("the request was cancelled"));
        } else if (!question->value && !question->why[0]) {
            (void)snprintf(question->why, sizeof question->why, "the request was cancelled");
            dx__mcp_session_soon(session, 0);
        }
    }
}

void dx__mcp_questions_done(dx_mcp_session *session, bool tell) {
    dx__mcp_question *next;
    for (dx__mcp_question *question = session->questions; question; question = question->next)
        question->marked = tell && !question->posted;
    if (tell)
        deliver_marked(session, "the client has disconnected");
    for (dx__mcp_question *question = session->questions; question; question = next) {
        next = question->next;
        if (!question->posted)
            question_free(question);
    }
}

static void on_posted(void *user) {
    dx__mcp_question *question = user;
    dx_mcp_session *session = question->session;
    deliver(question, NULL, 0, dx_str("the client has disconnected"));
    dx__mcp_session_release(session);
}

/* There is no timer of the session any more. */
static void post(dx__mcp_question *question) {
    dx_mcp_session *session = question->session;
    dx__mcp_session_hold(session);
    question->posted = true;
    if (dx_loop_post(session->loop, on_posted, question) != DX_OK)
        on_posted(question);
}

/* Params of a question that belongs to a task say so. */
static dx_status call_params(dx_mcp_work *work, dx_text given, dx__mcp_out *out) {
    dx_text body = given.len ? given : dx_str("{}");
    dx_text old = dx_rpc_member(body, dx_str("_meta"));
    if (!work->task || old.at) {
        dx__mcp_out_raw(out, given);
        return out->status;
    }
    yyjson_doc *doc = NULL;
    size_t i;
    size_t n;
    yyjson_val *key;
    yyjson_val *value;
    dx_status status = dx__mcp_parse(&work->session->alloc, body, &doc);
    if (status != DX_OK)
        return status;
    dx__mcp_out_open(out, '{');
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, n, key, value) {
        dx__mcp_out_key(out, dx_json_string(key));
        dx__mcp_out_json(out, dx_json_value(value));
    }
    dx__mcp_task_meta(work, out);
    dx__mcp_out_close(out, '}');
    yyjson_doc_free(doc);
    return out->status;
}

static void call(dx__mcp_question *question, const char *method, dx_text params) {
    dx_mcp_session *session = question->session;
    dx_link_call_options options = {.on_done = on_done};
    options.peer.timeout_ms = session->server ? session->server->config.ask_ms : 0;
    options.peer.total_ms = DX_NEVER;
    options.peer.user = question;
    dx_status status = session->link
                           ? dx_link_call(session->link, dx_str(method),
                                          params.len ? dx_json_checked(params) : dx_json_none(),
                                          &options, &question->call)
                           : DX_CLOSED;
    if (status == DX_OK)
        return;
    (void)snprintf(question->why, sizeof question->why, "%s",
                   status == DX_MISFIT ? dx_link_why(session->link)->phrase
                                       : dx_status_name(status));
    dx__mcp_session_soon(session, 0);
}

static void call_for(dx_mcp_work *work, const char *method, dx_text params,
                     dx__mcp_question *question) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &work->session->alloc);
    if (call_params(work, params, &out) == DX_OK) {
        call(question, method, dx__mcp_out_text(&out));
        if (question->call && work->task)
            dx__mcp_task_waits(work, true);
    } else {
        (void)snprintf(question->why, sizeof question->why, "out of memory");
        dx__mcp_session_soon(work->session, 0);
    }
    dx__mcp_out_done(&out);
}

static bool is_url(dx_text params) {
    return dx_text_is(dx_rpc_member(params, dx_str("mode")), "\"url\"");
}

void dx_mcp_work_ask(dx_mcp_work *work, const char *key, const char *method, dx_json params,
                     dx_mcp_on_reply on_reply, void *user) {
    dx_mcp_session *session = work->session;
    dx__mcp_out text;
    if (work->ended)
        return;
    dx__mcp_question *question = question_new(session, work);
    work->kept = true;
    if (!question) {
        dx_mcp_work_fail(work, dx_str("out of memory"));
        return;
    }
    question->on_reply = on_reply;
    question->user = user;
    if (!session->link) {
        post(question);
        return;
    }
    dx__mcp_out_init(&text, &session->alloc);
    text.status = dx_json_write(&text.buf, params);
    const char *lacks = dx__mcp_lacks(session, dx__mcp_capabilities_of(work), method,
                                      is_url(dx__mcp_out_text(&text)));
    if (text.status != DX_OK || work->cancelled) {
        (void)snprintf(question->why, sizeof question->why, "%s",
                       text.status != DX_OK ? "the params are not valid JSON" : "cancelled");
    } else if (lacks) {
        question->lacks = lacks;
        (void)snprintf(question->why, sizeof question->why, "the client does not support %s",
                       method);
    } else if (dx__mcp_is_modern(session)) {
        dx__mcp_round_ask(work, key, method, dx__mcp_out_text(&text), question);
    } else {
        call_for(work, method, dx__mcp_out_text(&text), question);
    }
    dx__mcp_session_soon(session, 0);
    dx__mcp_out_done(&text);
}

dx_status dx_mcp_session_roots(dx_mcp_session *session,
                               void (*on_roots)(dx_mcp_session *session, yyjson_val *roots,
                                                void *user),
                               void *user) {
    if (!session->link)
        return DX_CLOSED;
    if (dx__mcp_is_modern(session) ||
        dx__mcp_lacks(session, dx_mcp_session_capabilities(session), "roots/list", false))
        return DX_MISFIT;
    dx__mcp_question *question = question_new(session, NULL);
    if (!question)
        return DX_ERR_NOMEM;
    question->on_roots = on_roots;
    question->user = user;
    call(question, "roots/list", dx_str(NULL));
    return DX_OK;
}

void dx_mcp_session_elicited(dx_mcp_session *session, dx_text id) {
    dx__mcp_out out;
    if (!session->link || session->rev != DX__MCP_2025_11)
        return;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_open(&out, '{');
    dx__mcp_out_key(&out, dx_str("elicitationId"));
    dx__mcp_out_string(&out, id);
    dx__mcp_out_close(&out, '}');
    if (out.status == DX_OK)
        (void)dx_link_notify(session->link, dx_str("notifications/elicitation/complete"),
                             dx_json_checked(dx__mcp_out_text(&out)));
    dx__mcp_out_done(&out);
}
