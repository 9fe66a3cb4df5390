/* What a client asks about its tasks. */
#include "systems/mcp/server_parts.h"

static dx__mcp_task *find(dx_mcp_session *session, const dx_event *event) {
    dx_text id = dx__mcp_member(event->value, "taskId");
    dx__mcp_task *task;
    dx__mcp_tasks_purge(session);
    for (task = session->tasks; task && !dx_text_is(id, task->id); task = task->next)
        ;
    if (!task)
        dx__mcp_refuse(session, event->request, DX_CODE_PARAMS, "Unknown task");
    return task;
}

static void answer_with(dx_mcp_session *session, dx_request request, const dx__mcp_task *task) {
    dx__mcp_out out;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_task_write(task, &out);
    dx__mcp_answer(session, request, &out);
}

void dx__mcp_task_get(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_task *task = find(session, event);
    if (task)
        answer_with(session, event->request, task);
}

void dx__mcp_task_cancel(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_task *task = find(session, event);
    if (!task)
        return;
    if (task->status >= DX__MCP_COMPLETED) {
        dx__mcp_refuse(session, event->request, DX_CODE_PARAMS, "The task has ended");
        return;
    }
    dx_mcp_work *work = task->work;
    task->work = NULL;
    if (work)
        work->task = NULL;
    dx__mcp_task_give_up(session, task);
    answer_with(session, event->request, task);
    if (work)
        dx__mcp_work_cancel(work);
}

void dx__mcp_task_list(dx_mcp_session *session, const dx_event *event) {
    dx_text cursor = dx__mcp_member(event->value, "cursor");
    uint64_t after = 0;
    size_t count = 0;
    dx__mcp_out out;
    dx__mcp_tasks_purge(session);
    if (cursor.at && !dx__mcp_cursor_read(cursor, session->task_serial, &after)) {
        dx__mcp_refuse(session, event->request, DX_CODE_PARAMS, "Unknown cursor");
        return;
    }
    const dx__mcp_task *task = session->tasks;
    while (task && task->serial <= after)
        task = task->next;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_raw(&out, dx_str("{\"tasks\":["));
    for (; task && count < session->server->config.page; task = task->next, count++) {
        dx__mcp_task_write(task, &out);
        after = task->serial;
    }
    dx__mcp_out_close(&out, ']');
    if (task)
        dx__mcp_cursor_write(&out, after);
    dx__mcp_out_close(&out, '}');
    dx__mcp_answer(session, event->request, &out);
}

void dx__mcp_task_result(dx_mcp_session *session, const dx_event *event) {
    dx__mcp_task *task = find(session, event);
    if (!task)
        return;
    if (task->status >= DX__MCP_COMPLETED) {
        dx__mcp_task_give(session, task, event->request);
        return;
    }
    if (session->wait_count >= DX__MCP_WAITS_MAX) {
        dx__mcp_refuse(session, event->request, DX_CODE_BUSY, "Too many requests at once");
        return;
    }
    dx__mcp_listen *wait = dx__malloc(&session->alloc, sizeof *wait);
    if (!wait)
        return; /* here and below the engine answers with an internal error */
    *wait = (dx__mcp_listen){.event = NULL};
    if (dx_link_keep(session->link, &wait->event) != DX_OK) {
        dx__free(&session->alloc, wait);
        return;
    }
    wait->next = task->waiting;
    if (wait->next)
        wait->next->prev = wait;
    task->waiting = wait;
    session->wait_count++;
}

bool dx__mcp_task_wait_cancel(dx_mcp_session *session, dx_request request) {
    for (dx__mcp_task *task = session->tasks; task; task = task->next)
        for (dx__mcp_listen *wait = task->waiting; wait; wait = wait->next) {
            if (wait->event->request != request)
                continue;
            *(wait->prev ? &wait->prev->next : &task->waiting) = wait->next;
            if (wait->next)
                wait->next->prev = wait->prev;
            dx__mcp_wait_free(session, wait);
            return true;
        }
    return false;
}
