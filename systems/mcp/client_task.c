/* A tool that runs as a task: it is started, looked at until it has ended, and its result fetched.
 */
#include "systems/mcp/client_parts.h"

#include <inttypes.h>
#include <stdio.h>

enum { POLL_MS = 1000, POLL_MIN_MS = 50 };

typedef enum step { STARTING = 0, POLLING, FETCHING } step;

struct dx__mcp_client_task {
    step step;
    char *id;
    uint64_t poll_ms;
};

void dx__mcp_client_task_free(dx__mcp_client_ask *ask) {
    const dx_allocator *alloc = &ask->client->alloc;
    if (ask->task)
        dx__free(alloc, ask->task->id);
    dx__free(alloc, ask->task);
    ask->task = NULL;
}

static dx_status params_of(const dx__mcp_client_ask *ask, dx_text id, yyjson_mut_doc **ret_doc) {
    yyjson_mut_doc *doc = NULL;
    dx_status status = dx__mcp_client_params(ask->client, dx_json_none(), &doc);
    if (status == DX_OK &&
        !yyjson_mut_obj_add_strncpy(doc, yyjson_mut_doc_get_root(doc), "taskId", id.at, id.len)) {
        yyjson_mut_doc_free(doc);
        status = DX_ERR_NOMEM;
    }
    if (status == DX_OK)
        *ret_doc = doc;
    return status;
}

static dx_status ask_about(dx__mcp_client_ask *ask, const char *method, uint64_t timeout_ms) {
    yyjson_mut_doc *doc = NULL;
    dx_status status = params_of(ask, dx_str(ask->task->id), &doc);
    if (status == DX_OK)
        status = dx__mcp_client_ask_send_built(ask, dx_str(method), doc, timeout_ms);
    if (status == DX_OK && ask->timer)
        dx_timer_set(ask->timer, DX_NEVER);
    yyjson_mut_doc_free(doc);
    return status;
}

/* Nobody waits for the answer. */
static dx_status tell_cancelled(dx__mcp_client_ask *ask, dx_text id) {
    yyjson_mut_doc *doc = NULL;
    if (!dx__mcp_client_has(ask->client, "tasks", "cancel", NULL))
        return DX_OK;
    dx_status status = params_of(ask, id, &doc);
    if (status == DX_OK)
        status = dx_link_call(dx__mcp_client_link(ask->client), dx_str("tasks/cancel"),
                              dx_json_built(yyjson_mut_doc_get_root(doc)), NULL, NULL);
    yyjson_mut_doc_free(doc);
    return status;
}

static void fail(dx__mcp_client_ask *ask, dx_status status) {
    if (status == DX_CLOSED)
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_LOST, DX_FAULT_ENDED,
                                "the connection closed before the task ended");
    else
        dx__mcp_client_ask_fail(ask, DX_OUTCOME_INVALID, DX_FAULT_SYSTEM,
                                status == DX_ERR_NOMEM ? "out of memory for the task"
                                                       : "cannot request the state of the task");
}

/* While it waits for input, its result is asked for: the server's questions come meanwhile. */
static void go_on(dx__mcp_client_ask *ask, yyjson_val *state) {
    yyjson_val *status = yyjson_obj_get(state, "status");
    yyjson_val *poll = yyjson_obj_get(state, "pollInterval");
    bool works = yyjson_equals_str(status, "working");
    bool waits = yyjson_equals_str(status, "input_required");
    dx_status done;
    if (yyjson_is_uint(poll))
        ask->task->poll_ms = yyjson_get_uint(poll);
    if (ask->task->poll_ms < POLL_MIN_MS)
        ask->task->poll_ms = POLL_MIN_MS;
    if (works) {
        ask->task->step = POLLING;
        done = dx__mcp_client_ask_sleep(ask, ask->task->poll_ms);
    } else {
        ask->task->step = FETCHING;
        done = ask_about(ask, "tasks/result", waits ? DX_NEVER : 0);
    }
    if (done != DX_OK)
        fail(ask, done);
}

static void tell(dx__mcp_client_ask *ask, yyjson_val *state) {
    dx_mcp_client *client = ask->client;
    if (client->config.on_task)
        client->config.on_task(client, state, client->config.user);
}

static void looked(dx__mcp_client_ask *ask, yyjson_val *state) {
    dx_mcp_client *client = ask->client;
    dx_mcp_call handle = ask->handle;
    tell(ask, state);
    if (!client->freed && dx__mcp_client_ask_find(client, handle) == ask &&
        !dx__mcp_client_ask_has_ended(ask))
        go_on(ask, state);
}

void dx__mcp_client_task_result(dx__mcp_client_ask *ask, const dx_event *event) {
    yyjson_val *state = yyjson_obj_get(event->value, "task");
    dx_text id = dx__mcp_client_string(state, "taskId");
    switch (ask->task->step) {
    case STARTING:
        if (!id.at) { /* it was done on the spot */
            dx__mcp_client_ask_done(ask, event);
            break;
        }
        ask->task->id = dx__text_copy(&ask->client->alloc, id);
        if (!ask->task->id) {
            (void)tell_cancelled(ask, id);
            fail(ask, DX_ERR_NOMEM);
            break;
        }
        looked(ask, state);
        break;
    case POLLING:
        looked(ask, event->value);
        break;
    case FETCHING:
        dx__mcp_client_ask_done(ask, event);
        break;
    }
}

void dx__mcp_client_task_wake(dx__mcp_client_ask *ask) {
    dx_status status = ask_about(ask, "tasks/get", 0);
    if (status == DX_BUSY)
        status = dx__mcp_client_ask_sleep(ask, ask->task->poll_ms);
    if (status != DX_OK)
        fail(ask, status);
}

void dx__mcp_client_task_told(dx_mcp_client *client, yyjson_val *state) {
    dx_text id = dx__mcp_client_string(state, "taskId");
    if (!id.at || yyjson_equals_str(yyjson_obj_get(state, "status"), "working"))
        return;
    for (dx__mcp_client_ask *ask = client->asks.first; ask; ask = ask->next)
        if (ask->task && ask->task->id && ask->task->step == POLLING && !ask->wire &&
            dx_text_is(id, ask->task->id))
            (void)dx__mcp_client_ask_sleep(ask, 0);
}

/* It was cancelled before it was known under which name it runs. */
void dx__mcp_client_task_orphan(dx__mcp_client_ask *ask, const dx_event *event) {
    dx_text id = dx__mcp_client_string(yyjson_obj_get(event->value, "task"), "taskId");
    if (event->outcome == DX_OUTCOME_RESULT && id.at)
        (void)tell_cancelled(ask, id);
}

void dx__mcp_client_task_late(dx__mcp_client_ask *ask) {
    if (ask->task->id)
        (void)tell_cancelled(ask, dx_str(ask->task->id));
}

/* A request for a task is not cancelled as other requests are: the task is, once it has a name. */
dx_status dx__mcp_client_task_cancel(dx__mcp_client_ask *ask, dx_text reason) {
    dx_link *link = dx__mcp_client_link(ask->client);
    if (ask->task->step == STARTING && ask->client->phase == DX__MCP_READY && !ask->client->by_us) {
        dx__mcp_client_ask_end(ask, DX_OUTCOME_CANCELLED, DX_FAULT_CANCELLED, "cancelled");
        return DX_OK;
    }
    dx_status status = DX_OK;
    if (ask->task->id)
        status = tell_cancelled(ask, dx_str(ask->task->id));
    if (status < DX_OK)
        return status;
    if (ask->wire)
        return dx_link_cancel(link, ask->wire, reason);
    dx__mcp_client_ask_end(ask, DX_OUTCOME_CANCELLED, DX_FAULT_CANCELLED, "cancelled");
    return DX_OK;
}

static dx_status write_params(const dx_mcp_client *client, dx_text name, dx_json arguments,
                              uint64_t ttl_ms, yyjson_mut_doc *doc) {
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_doc *given = NULL;
    dx_json none = dx_json_none();
    if (!name.at)
        return DX_ERR_INVALID;
    if (!yyjson_mut_obj_add_strncpy(doc, root, "name", name.at, name.len))
        return DX_ERR_NOMEM;
    if (arguments.form != none.form) {
        dx_status status = dx__mcp_client_params_exact(client, arguments, &given);
        if (status != DX_OK)
            return status;
        yyjson_mut_val *copy = yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(given));
        yyjson_mut_doc_free(given);
        if (!copy || !yyjson_mut_obj_add_val(doc, root, "arguments", copy))
            return DX_ERR_NOMEM;
    }
    yyjson_mut_val *task = yyjson_mut_obj_add_obj(doc, root, "task");
    return task && (!ttl_ms || yyjson_mut_obj_add_uint(doc, task, "ttl", ttl_ms)) ? DX_OK
                                                                                  : DX_ERR_NOMEM;
}

static dx_status begin(dx__mcp_client_ask *ask, dx_text name, dx_json arguments, uint64_t ttl_ms) {
    dx_mcp_client *client = ask->client;
    yyjson_mut_doc *doc = NULL;
    ask->way = DX__MCP_TASK;
    ask->task = dx__malloc(&client->alloc, sizeof *ask->task);
    if (!ask->task)
        return DX_ERR_NOMEM;
    *ask->task = (struct dx__mcp_client_task){.poll_ms = POLL_MS};
    dx_status status = dx__mcp_client_params(client, dx_json_none(), &doc);
    if (status == DX_OK)
        status = write_params(client, name, arguments, ttl_ms, doc);
    if (status == DX_OK)
        status = dx__mcp_client_ask_send_built(ask, dx_str("tools/call"), doc, 0);
    yyjson_mut_doc_free(doc);
    return status;
}

dx_status dx_mcp_client_task(dx_mcp_client *client, dx_text name, dx_json arguments,
                             uint64_t ttl_ms, const dx_mcp_call_options *options,
                             dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call) {
    dx__mcp_client_ask *ask = NULL;
    dx_status status = dx__mcp_client_may_call(client, dx_str("tools/call"));
    if (status != DX_OK)
        return status;
    yyjson_val *tasks = yyjson_obj_get(dx_mcp_client_capabilities(client), "tasks");
    if (client->modern || client->revision > DX__MCP_2025_11_25 ||
        !yyjson_ptr_get(tasks, "/requests/tools/call"))
        return dx__mcp_client_misfit(client, "the server does not offer tasks.requests.tools.call",
                                     dx_str(""));
    dx__mcp_client_enter(client);
    status = dx__mcp_client_ask_new(client, dx_str("tools/call"), options, on_answer, user, &ask);
    if (status == DX_OK && (status = begin(ask, name, arguments, ttl_ms)) != DX_OK)
        dx__mcp_client_ask_free(ask);
    else if (status == DX_OK && ret_call)
        *ret_call = ask->handle;
    dx__mcp_client_leave(client);
    return status;
}
