/* Tasks of 2025-11-25: a call that is answered at once, and whose result is fetched later. */
#include "systems/mcp/server_parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { POLL_MS = 500 };

static const char *const names[] = {"working", "input_required", "completed", "failed",
                                    "cancelled"};

static void stamp(char to[32]) {
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t len = strftime(to, 32, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(to + len, 32 - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static void write_members(const dx__mcp_task *task, dx__mcp_out *out) {
    dx__mcp_out_text_member(out, "taskId", task->id);
    dx__mcp_out_text_member(out, "status", names[task->status]);
    dx__mcp_out_text_member(out, "createdAt", task->created);
    dx__mcp_out_text_member(out, "lastUpdatedAt", task->updated);
    dx__mcp_out_key(out, dx_str("ttl"));
    dx__mcp_out_integer(out, (int64_t)task->ttl);
    dx__mcp_out_key(out, dx_str("pollInterval"));
    dx__mcp_out_integer(out, POLL_MS);
}

void dx__mcp_task_write(const dx__mcp_task *task, dx__mcp_out *out) {
    dx__mcp_out_open(out, '{');
    write_members(task, out);
    dx__mcp_out_close(out, '}');
}

static void write_meta(const dx__mcp_task *task, dx__mcp_out *out) {
    dx__mcp_out_json_member(out, "_meta", "{\"" DX__MCP_META "related-task\":");
    dx__mcp_out_open(out, '{');
    dx__mcp_out_text_member(out, "taskId", task->id);
    dx__mcp_out_raw(out, dx_str("}}"));
}

void dx__mcp_task_meta(const dx_mcp_work *work, dx__mcp_out *out) {
    write_meta(work->task, out);
}

static void set_status(dx_mcp_session *session, dx__mcp_task *task, int status) {
    dx__mcp_out out;
    task->status = status;
    stamp(task->updated);
    if (status >= DX__MCP_COMPLETED)
        task->ended_at = dx_loop_now(session->loop);
    if (!session->link)
        return;
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_task_write(task, &out);
    if (out.status == DX_OK)
        (void)dx_link_notify(session->link, dx_str("notifications/tasks/status"),
                             dx_json_checked(dx__mcp_out_text(&out)));
    dx__mcp_out_done(&out);
}

void dx__mcp_task_waits(dx_mcp_work *work, bool waits) {
    dx__mcp_task *task = work->task;
    task->asking += waits ? 1U : 0U;
    task->asking -= !waits && task->asking ? 1U : 0U;
    int status = task->asking ? DX__MCP_INPUT_REQUIRED : DX__MCP_WORKING;
    if (task->status < DX__MCP_COMPLETED && (int)task->status != status)
        set_status(work->session, task, status);
}

void dx__mcp_wait_free(dx_mcp_session *session, dx__mcp_listen *wait) {
    dx_event_free(wait->event);
    dx__free(&session->alloc, wait);
    session->wait_count--;
}

static void forget(dx_mcp_session *session, dx__mcp_task *task) {
    *(task->prev ? &task->prev->next : &session->tasks) = task->next;
    *(task->next ? &task->next->prev : &session->last_task) = task->prev;
    session->task_count--;
    if (task->work)
        task->work->task = NULL;
    while (task->waiting) {
        dx__mcp_listen *wait = task->waiting;
        task->waiting = wait->next;
        dx__mcp_wait_free(session, wait);
    }
    dx__mcp_out_done(&task->answer);
    dx__mcp_out_done(&task->message);
    dx__free(&session->alloc, task);
}

void dx__mcp_tasks_done(dx_mcp_session *session) {
    while (session->tasks)
        forget(session, session->tasks);
}

void dx__mcp_tasks_purge(dx_mcp_session *session) {
    uint64_t now = dx_loop_now(session->loop);
    dx__mcp_task *next;
    for (dx__mcp_task *task = session->tasks; task; task = next) {
        next = task->next;
        if (task->status >= DX__MCP_COMPLETED && now - task->ended_at >= task->ttl)
            forget(session, task);
    }
}

static dx__mcp_task *task_new(dx_mcp_work *work, yyjson_val *wish) {
    dx_mcp_session *session = work->session;
    uint64_t most = session->server->config.task_ms;
    yyjson_val *ttl = yyjson_obj_get(wish, "ttl");
    uint8_t random[16];
    dx__mcp_task *task = dx__malloc(&session->alloc, sizeof *task);
    if (!task)
        return NULL;
    *task = (dx__mcp_task){.work = work, .serial = ++session->task_serial};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        dx__free(&session->alloc, task);
        return NULL;
    }
    for (int i = 0; i < 16; i++)
        (void)snprintf(task->id + (size_t)i * 2, 3, "%02x", random[i]);
    task->ttl = yyjson_is_uint(ttl) && yyjson_get_uint(ttl) < most ? yyjson_get_uint(ttl) : most;
    if (task->ttl > INT32_MAX)
        task->ttl = INT32_MAX;
    stamp(task->created);
    memcpy(task->updated, task->created, sizeof task->updated);
    dx__mcp_out_init(&task->answer, &session->alloc);
    dx__mcp_out_init(&task->message, &session->alloc);
    task->prev = session->last_task;
    *(session->last_task ? &session->last_task->next : &session->tasks) = task;
    session->last_task = task;
    session->task_count++;
    return task;
}

bool dx__mcp_task_start(dx_mcp_work *work, yyjson_val *wish) {
    dx_mcp_session *session = work->session;
    dx__mcp_out out;
    dx__mcp_tasks_purge(session);
    if (session->task_count >= session->server->config.tasks_max) {
        dx__mcp_work_refused(work, DX_CODE_BUSY, dx_str("Too many tasks"), dx_json_none());
        return false;
    }
    dx__mcp_task *task = task_new(work, wish);
    dx__mcp_out_init(&out, &session->alloc);
    dx__mcp_out_raw(&out, dx_str("{\"task\":"));
    if (task)
        dx__mcp_task_write(task, &out);
    dx__mcp_out_close(&out, '}');
    dx_status status = task ? out.status : DX_ERR_NOMEM;
    if (status == DX_OK)
        status =
            dx_link_reply(session->link, work->request, dx_json_checked(dx__mcp_out_text(&out)));
    dx__mcp_out_done(&out);
    if (status == DX_OK) {
        work->task = task;
        return true;
    }
    if (task) {
        task->work = NULL;
        forget(session, task);
    }
    dx__mcp_work_refused(work, DX_CODE_INTERNAL, dx_str(NULL), dx_json_none());
    return false;
}

/* A result with the member that says which task it is of. */
static dx_status write_result(dx_mcp_session *session, const dx__mcp_task *task, dx__mcp_out *out) {
    yyjson_alc alc = dx__mcp_alc(&session->alloc);
    yyjson_doc *doc = NULL;
    dx_status status = dx__mcp_out_parse(&task->answer, &doc);
    yyjson_mut_doc *made = status == DX_OK ? yyjson_doc_mut_copy(doc, &alc) : NULL;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(made);
    yyjson_mut_val *meta = yyjson_mut_obj_get(root, "_meta");
    if (!meta)
        meta = yyjson_mut_obj_add_obj(made, root, "_meta");
    yyjson_mut_val *mark = yyjson_mut_obj_add_obj(made, meta, DX__MCP_META "related-task");
    bool built = yyjson_mut_obj_add_strcpy(made, mark, "taskId", task->id);
    if (built)
        dx__mcp_out_json(out, dx_json_built(root));
    yyjson_mut_doc_free(made);
    yyjson_doc_free(doc);
    return built ? out->status : DX_ERR_NOMEM;
}

void dx__mcp_task_give(dx_mcp_session *session, const dx__mcp_task *task, dx_request request) {
    dx__mcp_out out;
    dx_text data = dx__mcp_out_text(&task->answer);
    dx_text message = dx__mcp_out_text(&task->message);
    if (task->status == DX__MCP_CANCELLED) {
        dx__mcp_refuse(session, request, DX_CODE_PARAMS, "The task was cancelled");
        return;
    }
    if (task->code) {
        (void)dx_link_refuse(session->link, request, task->code,
                             message.len ? message : dx_str(NULL),
                             data.len ? dx_json_checked(data) : dx_json_none());
        return;
    }
    dx__mcp_out_init(&out, &session->alloc);
    dx_status status = write_result(session, task, &out);
    if (status != DX_OK)
        out.status = status;
    dx__mcp_answer(session, request, &out);
}

static void give_all(dx_mcp_session *session, dx__mcp_task *task) {
    while (task->waiting) {
        dx__mcp_listen *wait = task->waiting;
        task->waiting = wait->next;
        if (session->link)
            dx__mcp_task_give(session, task, wait->event->request);
        dx__mcp_wait_free(session, wait);
    }
}

/* What the call is answered with has to fit, though it is not sent as its answer. */
static bool fits(dx_mcp_session *session, const dx__mcp_out *answer) {
    dx_protocol *protocol = session->speech->protocols[session->rev];
    const dx_method *method = dx_protocol_find(protocol, dx_str("tools/call"));
    yyjson_doc *doc = NULL;
    bool good = dx__mcp_out_parse(answer, &doc) == DX_OK &&
                dx_protocol_check(protocol, method, DX_SIDE_HOST, DX_PART_RESULT,
                                  yyjson_doc_get_root(doc), 0, NULL) == DX_OK;
    yyjson_doc_free(doc);
    return good;
}

void dx__mcp_task_finish(dx_mcp_work *work, dx__mcp_out *answer, int64_t code) {
    dx_mcp_session *session = work->session;
    dx__mcp_task *task = work->task;
    work->task = NULL;
    task->work = NULL;
    if (task->status >= DX__MCP_COMPLETED)
        return;
    if (!code && !fits(session, answer)) {
        dx__mcp_out_done(answer);
        dx__mcp_out_raw(&task->message, dx_str("The tool's result does not match the protocol"));
        code = DX_CODE_INTERNAL;
    } else if (code) {
        dx__mcp_out_raw(&task->message, dx__mcp_out_text(&work->description));
    }
    dx__mcp_out_done(&task->answer);
    task->answer = *answer;
    dx__mcp_out_init(answer, &session->alloc);
    task->code = code;
    dx_text failed = dx_rpc_member(dx__mcp_out_text(&task->answer), dx_str("isError"));
    set_status(session, task,
               code || dx_text_is(failed, "true") ? DX__MCP_FAILED : DX__MCP_COMPLETED);
    give_all(session, task);
}

void dx__mcp_task_give_up(dx_mcp_session *session, dx__mcp_task *task) {
    set_status(session, task, DX__MCP_CANCELLED);
    give_all(session, task);
}
