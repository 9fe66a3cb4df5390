/* Work: a request from the time when it is handed to its handler until it was answered. */
#include "systems/mcp/server_parts.h"

#include <string.h>

static dx_text key_of(const dx_mcp_work *work) {
    return (dx_text){(const char *)&work->request, sizeof work->request};
}

static void init_texts(dx_mcp_work *work) {
    dx__mcp_out *all[] = {&work->pieces, &work->structured, &work->description, &work->answer,
                          &work->state};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dx__mcp_out_init(all[i], &work->session->alloc);
}

static void done_texts(dx_mcp_work *work) {
    dx__mcp_out *all[] = {&work->pieces, &work->structured, &work->description, &work->answer,
                          &work->state};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        dx__mcp_out_done(all[i]);
}

dx_mcp_work *dx__mcp_work_new(dx_mcp_session *session, const dx_event *event,
                              dx__mcp_purpose purpose, dx__mcp_item *item) {
    if (session->work_count >= session->server->config.work_max) {
        dx__mcp_refuse(session, event->request, DX_CODE_BUSY, "Too many requests at once");
        return NULL;
    }
    dx_mcp_work *work = dx__malloc(&session->alloc, sizeof *work);
    if (!work)
        return NULL; /* here and below the engine answers with an internal error */
    *work = (dx_mcp_work){.session = session, .purpose = purpose, .item = item};
    if (dx_link_keep(session->link, &work->event) != DX_OK) {
        dx__free(&session->alloc, work);
        return NULL;
    }
    work->request = work->event->request;
    init_texts(work);
    if (dx__mcp_table_put(&session->by_request, key_of(work), work) != DX_OK) {
        dx_event_free(work->event);
        dx__free(&session->alloc, work);
        return NULL;
    }
    if (item)
        item->refs++;
    yyjson_val *token =
        yyjson_obj_get(yyjson_obj_get(work->event->value, "_meta"), "progressToken");
    work->token = yyjson_is_str(token) || yyjson_is_int(token) ? token : NULL;
    work->next = session->works;
    if (work->next)
        work->next->prev = work;
    session->works = work;
    session->work_count++;
    dx__mcp_session_hold(session);
    return work;
}

static void release(dx_mcp_work *work) {
    dx_mcp_session *session = work->session;
    *(work->prev ? &work->prev->next : &session->works) = work->next;
    if (work->next)
        work->next->prev = work->prev;
    session->work_count--;
    if (session->cursor == work)
        session->cursor = work->next;
    dx__mcp_questions_drop(work);
    if (work->task)
        work->task->work = NULL;
    if (work->event)
        dx__mcp_table_drop(&session->by_request, key_of(work));
    dx_event_free(work->event);
    dx__mcp_item_release(work->item);
    yyjson_doc_free(work->extra);
    yyjson_doc_free(work->state_doc);
    dx__mcp_puts_done(work);
    done_texts(work);
    dx__free(&session->alloc, work);
    dx__mcp_session_release(session);
}

static void release_if_done(dx_mcp_work *work) {
    if (!work->busy && work->ended && !work->waits)
        release(work);
}

void dx__mcp_work_enter(dx_mcp_work *work) {
    work->busy++;
}

void dx__mcp_work_leave(dx_mcp_work *work) {
    work->busy--;
    release_if_done(work);
}

void dx__mcp_work_ran(dx_mcp_work *work) {
    if (!work->ended && !work->kept)
        dx__mcp_work_refused(work, DX_CODE_INTERNAL, dx_str("The handler sent no response"),
                             dx_json_none());
    dx__mcp_work_leave(work);
}

void dx__mcp_work_cancel(dx_mcp_work *work) {
    if (work->cancelled)
        return;
    work->cancelled = true;
    dx__mcp_work_enter(work);
    if (work->waits) { /* nobody wants the answer any more */
        work->waits = false;
    } else if (!work->ended) {
        if (work->on_cancel)
            work->on_cancel(work, work->cancel_user);
        if (!work->ended)
            dx__mcp_questions_cancel(work);
    }
    dx__mcp_work_leave(work);
}

void dx__mcp_work_abandon(dx_mcp_work *work) {
    work->cancelled = true;
    if (work->held || !work->asking)
        return;
    work->ended = true;
    dx__mcp_questions_drop(work);
    release_if_done(work);
}

/* The answer that is stored in the work. False: it has to be tried again. */
static bool send(dx_mcp_work *work) {
    dx_link *link = work->session->link;
    dx_text text = dx__mcp_out_text(&work->answer);
    dx_status status;
    if (!link || work->cancelled)
        return true;
    if (work->code) {
        dx_text message = dx__mcp_out_text(&work->description);
        status =
            dx_link_refuse(link, work->request, work->code, message.len ? message : dx_str(NULL),
                           text.len ? dx_json_checked(text) : dx_json_none());
    } else {
        status = dx_link_reply(link, work->request, dx_json_checked(text));
    }
    if (status == DX_MISFIT || status == DX_ERR_INVALID || status == DX_ERR_LIMIT) {
        const char *why = status == DX_MISFIT      ? dx_link_why(link)->phrase
                          : status == DX_ERR_LIMIT ? "The result is too large"
                                                   : "The result is not valid JSON";
        status = dx_link_refuse(link, work->request, DX_CODE_INTERNAL, dx_str(why), dx_json_none());
    }
    return status != DX_BUSY && status != DX_ERR_NOMEM;
}

/* The work's owner has let go of it; what is in work->answer is the answer. */
static void conclude(dx_mcp_work *work) {
    work->ended = true;
    dx__mcp_questions_drop(work);
    if (work->task) {
        dx__mcp_task_finish(work, &work->answer, work->code);
    } else if (!send(work)) {
        work->waits = true;
        dx__mcp_session_soon(work->session, DX__MCP_RETRY_MS);
    }
    release_if_done(work);
}

void dx__mcp_work_refused(dx_mcp_work *work, int64_t code, dx_text message, dx_json data) {
    if (work->ended || work->over)
        return;
    dx__mcp_out_done(&work->answer);
    dx__mcp_out_done(&work->description);
    work->code = code ? code : DX_CODE_INTERNAL;
    dx__mcp_out_raw(&work->description, message);
    if (dx_json_write(&work->answer.buf, data) != DX_OK)
        dx__mcp_out_done(&work->answer);
    conclude(work);
}

void dx__mcp_work_finish(dx_mcp_work *work, dx__mcp_out *result) {
    if (work->ended || work->over) {
        dx__mcp_out_done(result);
    } else if (result->status != DX_OK) {
        dx_status status = result->status;
        dx__mcp_out_done(result);
        dx__mcp_work_refused(work, DX_CODE_INTERNAL,
                             dx_str(status == DX_ERR_NOMEM
                                        ? "Out of memory"
                                        : "The handler's result does not match the protocol"),
                             dx_json_none());
    } else {
        dx__mcp_out_done(&work->answer);
        work->answer = *result;
        work->code = 0;
        conclude(work);
    }
}

bool dx__mcp_works_retry(dx_mcp_session *session) {
    bool again = false;
    dx_mcp_work *next;
    for (dx_mcp_work *work = session->works; work; work = next) {
        next = work->next;
        if (!work->waits)
            continue;
        work->waits = !send(work);
        again |= work->waits;
        release_if_done(work);
    }
    return again;
}

dx_mcp_session *dx_mcp_work_session(const dx_mcp_work *work) {
    return work->session;
}

dx_loop *dx_mcp_work_loop(const dx_mcp_work *work) {
    return work->session->loop;
}

yyjson_val *dx_mcp_work_params(const dx_mcp_work *work) {
    return work->event->value;
}

void dx_mcp_work_keep(dx_mcp_work *work) {
    work->kept = work->held = true;
}

int dx_mcp_work_is_cancelled(const dx_mcp_work *work) {
    return work->cancelled || work->over;
}

void dx_mcp_work_on_cancel(dx_mcp_work *work, void (*on_cancel)(dx_mcp_work *work, void *user),
                           void *user) {
    work->on_cancel = on_cancel;
    work->cancel_user = user;
}
