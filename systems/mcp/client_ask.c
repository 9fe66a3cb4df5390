/* A call of the user, from its handle to its end. */
#include "systems/mcp/client_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SLOTS_MIN = 16 };

/* The books. */

static void append(dx__mcp_client_asks *list, dx__mcp_client_ask *ask) {
    ask->home = list;
    ask->prev = list->last;
    ask->next = NULL;
    *(list->last ? &list->last->next : &list->first) = ask;
    list->last = ask;
}

static void take_out(dx__mcp_client_ask *ask) {
    dx__mcp_client_asks *list = ask->home;
    if (!list)
        return;
    *(ask->prev ? &ask->prev->next : &list->first) = ask->next;
    *(ask->next ? &ask->next->prev : &list->last) = ask->prev;
    ask->home = NULL;
}

static dx__mcp_client_ask **slot_of(const dx_mcp_client *client, dx_mcp_call handle) {
    return &client->slots[handle & (client->slots_cap - 1)];
}

static dx_status reserve(dx_mcp_client *client) {
    size_t old = client->slots_cap;
    if (client->live < old / 2)
        return DX_OK;
    size_t cap = old ? old * 2 : SLOTS_MIN;
    dx__mcp_client_ask **slots = dx__malloc(&client->alloc, cap * sizeof *slots);
    if (!slots)
        return DX_ERR_NOMEM;
    memset(slots, 0, cap * sizeof *slots);
    for (size_t i = 0; i < old; i++)
        if (client->slots[i])
            slots[client->slots[i]->handle & (cap - 1)] = client->slots[i];
    dx__free(&client->alloc, client->slots);
    client->slots = slots;
    client->slots_cap = cap;
    return DX_OK;
}

dx__mcp_client_ask *dx__mcp_client_ask_find(const dx_mcp_client *client, dx_mcp_call handle) {
    dx__mcp_client_ask *ask = client->slots_cap ? *slot_of(client, handle) : NULL;
    return ask && ask->handle == handle ? ask : NULL;
}

bool dx__mcp_client_ask_has_ended(const dx__mcp_client_ask *ask) {
    return ask->home != &ask->client->asks;
}

static void forget(dx__mcp_client_ask *ask) {
    dx_mcp_client *client = ask->client;
    if (dx__mcp_client_ask_find(client, ask->handle) == ask) {
        *slot_of(client, ask->handle) = NULL;
        client->live--;
    }
    client->pending -= ask->home == &client->asks;
    take_out(ask);
}

/* The loop's clock, which stands still between its turns. */
uint64_t dx__mcp_client_clock(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

dx_status dx__mcp_client_ask_new(dx_mcp_client *client, dx_text method,
                                 const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                                 void *user, dx__mcp_client_ask **ret_ask) {
    if (reserve(client) != DX_OK)
        return DX_ERR_NOMEM;
    dx__mcp_client_ask *ask = dx__malloc(&client->alloc, sizeof *ask);
    if (!ask)
        return DX_ERR_NOMEM;
    *ask = (dx__mcp_client_ask){.client = client, .on_answer = on_answer, .user = user};
    if (options)
        ask->options = *options;
    uint64_t total = ask->options.total_ms ? ask->options.total_ms : client->config.total_ms;
    uint64_t now = dx__mcp_client_clock();
    ask->began_at = now;
    ask->total_at = total > DX_NEVER - now ? DX_NEVER : now + total;
    dx__mcp_client_buf(client, &ask->params);
    ask->method = dx__text_copy(&client->alloc, method);
    if (!ask->method) {
        dx__free(&client->alloc, ask);
        return DX_ERR_NOMEM;
    }
    do
        ask->handle = ++client->last_handle;
    while (*slot_of(client, ask->handle));
    *slot_of(client, ask->handle) = ask;
    client->live++;
    client->pending++;
    append(&client->asks, ask);
    *ret_ask = ask;
    return DX_OK;
}

void dx__mcp_client_ask_free(dx__mcp_client_ask *ask) {
    const dx_allocator *alloc = &ask->client->alloc;
    forget(ask);
    dx_timer_free(ask->timer);
    dx__mcp_client_list_free(ask);
    dx__mcp_client_task_free(ask);
    dx__mcp_client_rounds_free(ask);
    yyjson_doc_free(ask->doc);
    dx_buf_done(&ask->params);
    dx__free(alloc, ask->method);
    dx__free(alloc, ask);
}

/* Its end. */

void dx__mcp_client_ask_done(dx__mcp_client_ask *ask, const dx_event *event) {
    dx_mcp_client *client = ask->client;
    dx_event end = *event;
    end.call = ask->handle;
    end.user = ask->user;
    if (ask->rounds) /* which it no longer waits for */
        dx__mcp_client_questions_of(client, ask);
    forget(ask);
    if (!client->freed && ask->on_answer)
        ask->on_answer(client, ask->handle, &end, ask->user);
    if (ask->wire)
        append(&client->orphans, ask);
    else
        dx__mcp_client_ask_free(ask);
}

static dx_event ended(dx_outcome outcome, dx_fault fault, const char *phrase) {
    dx_event event = {.kind = DX_EVENT_DONE, .outcome = outcome};
    dx__mcp_client_error(&event.error, fault, phrase, dx_str(""));
    return event;
}

void dx__mcp_client_ask_fail(dx__mcp_client_ask *ask, dx_outcome outcome, dx_fault fault,
                             const char *phrase) {
    dx_event event = ended(outcome, fault, phrase);
    dx__mcp_client_ask_done(ask, &event);
}

static void end_with(dx__mcp_client_ask *ask, const dx_event *event) {
    dx_mcp_client *client = ask->client;
    if (dx__mcp_client_ask_has_ended(ask))
        return;
    ask->event = *event;
    client->pending--;
    take_out(ask);
    append(&client->ended, ask);
    dx__mcp_client_soon(client);
}

void dx__mcp_client_ask_end(dx__mcp_client_ask *ask, dx_outcome outcome, dx_fault fault,
                            const char *phrase) {
    dx_event event = ended(outcome, fault, phrase);
    end_with(ask, &event);
}

void dx__mcp_client_ask_end_text(dx__mcp_client_ask *ask, dx_outcome outcome, int64_t code,
                                 dx_text text) {
    ask->params.len = 0;
    if (dx_buf_append(&ask->params, text.at, text.len) != DX_OK ||
        dx__mcp_client_parse(ask->client, (dx_text){ask->params.data, ask->params.len},
                             YYJSON_READ_NOFLAG, &ask->doc) != DX_OK) {
        dx__mcp_client_ask_end(ask, DX_OUTCOME_INVALID, DX_FAULT_SYSTEM,
                               "out of memory for the response");
        return;
    }
    dx_event event = {.kind = DX_EVENT_DONE,
                      .outcome = outcome,
                      .code = code,
                      .body = {ask->params.data, ask->params.len},
                      .value = yyjson_doc_get_root(ask->doc)};
    end_with(ask, &event);
}

void dx__mcp_client_ask_settle(dx_mcp_client *client) {
    while (client->ended.first && !client->freed) {
        dx_event event = client->ended.first->event;
        dx__mcp_client_ask_done(client->ended.first, &event);
    }
}

/* Its time. */

static uint64_t time_left(const dx__mcp_client_ask *ask) {
    uint64_t now = dx__mcp_client_clock();
    if (ask->total_at == DX_NEVER)
        return DX_NEVER;
    return ask->total_at > now ? ask->total_at - now : 0;
}

static void wake(dx_timer *timer, void *user) {
    dx__mcp_client_ask *ask = user;
    dx_mcp_client *client = ask->client;
    (void)timer;
    dx__mcp_client_enter(client);
    if (!client->freed && !dx__mcp_client_ask_has_ended(ask)) {
        if (ask->wakes_late) {
            if (ask->task)
                (void)dx__mcp_client_task_cancel(ask, dx_str("timed out"));
            dx__mcp_client_questions_of(client, ask);
            if (!client->freed)
                dx__mcp_client_ask_fail(ask, DX_OUTCOME_TIMED_OUT, DX_FAULT_TOTAL,
                                        "no response within the total time limit of the call");
        } else if (ask->task && !ask->wire) {
            dx__mcp_client_task_wake(ask);
        } else if (ask->way == DX__MCP_LOCAL) {
            dx__mcp_client_listen_late(ask);
        }
    }
    dx__mcp_client_leave(client);
}

dx_status dx__mcp_client_ask_sleep(dx__mcp_client_ask *ask, uint64_t ms) {
    dx_status status = DX_OK;
    if (!ask->timer)
        status = dx_timer_new(ask->client->loop, wake, ask, &ask->timer);
    if (status != DX_OK)
        return status;
    uint64_t left = time_left(ask);
    ask->wakes_late = left != DX_NEVER && left <= ms;
    dx_timer_set(ask->timer, ask->wakes_late ? left : ms);
    return DX_OK;
}

/* On the wire. */

static void route(dx__mcp_client_ask *ask, const dx_event *event) {
    switch (ask->way) {
    case DX__MCP_LIST:
        dx__mcp_client_list_result(ask, event);
        break;
    case DX__MCP_TASK:
        dx__mcp_client_task_result(ask, event);
        break;
    default:
        if (ask->client->modern)
            dx__mcp_client_rounds_result(ask, event);
        else
            dx__mcp_client_ask_done(ask, event);
        break;
    }
}

static void on_done(dx_link *link, const dx_event *event, void *user) {
    dx__mcp_client_ask *ask = user;
    dx_mcp_client *client = ask->client;
    (void)link;
    dx__mcp_client_enter(client);
    ask->wire = 0;
    if (!client->freed) {
        bool orphan = ask->home == &client->orphans;
        if (dx__mcp_client_ask_has_ended(ask)) {
            dx__mcp_client_task_orphan(ask, event);
            if (orphan)
                dx__mcp_client_ask_free(ask);
        } else if (event->outcome == DX_OUTCOME_RESULT) {
            route(ask, event);
        } else {
            if (event->outcome == DX_OUTCOME_LOST)
                dx__mcp_client_note(client, &event->error);
            if (ask->task && event->outcome == DX_OUTCOME_TIMED_OUT)
                dx__mcp_client_task_late(ask);
            dx__mcp_client_ask_done(ask, event);
        }
    }
    dx__mcp_client_leave(client);
}

static void on_progress(dx_link *link, const dx_event *event, void *user) {
    const dx__mcp_client_ask *ask = user;
    dx_mcp_client *client = ask->client;
    yyjson_val *total = yyjson_obj_get(event->value, "total");
    dx_mcp_progress progress = {
        .progress = yyjson_get_num(yyjson_obj_get(event->value, "progress")),
        .has_total = yyjson_is_num(total),
        .total = yyjson_get_num(total),
        .message = dx__mcp_client_string(event->value, "message"),
    };
    (void)link;
    dx__mcp_client_enter(client);
    if (!client->freed && !dx__mcp_client_ask_has_ended(ask) && ask->options.on_progress)
        ask->options.on_progress(client, ask->handle, &progress, ask->user);
    dx__mcp_client_leave(client);
}

static bool wants_token(const dx__mcp_client_ask *ask) {
    return ask->options.on_progress || ask->options.reset;
}

static dx_status send(dx__mcp_client_ask *ask, dx_text method, dx_json params,
                      uint64_t timeout_ms) {
    const dx_mcp_client *client = ask->client;
    char token[24];
    dx_link_call_options options = {.on_done = on_done, .on_progress = on_progress};
    if (!timeout_ms)
        timeout_ms = ask->options.timeout_ms ? ask->options.timeout_ms : client->config.timeout_ms;
    options.peer.timeout_ms = timeout_ms;
    if (ask->total_at != DX_NEVER)
        options.peer.total_ms = time_left(ask);
    if (ask->total_at != DX_NEVER && !options.peer.total_ms)
        options.peer.total_ms = 1;
    options.peer.reset = ask->options.reset;
    options.peer.user = ask;
    if (wants_token(ask)) {
        int len = snprintf(token, sizeof token, "%" PRIu64, ask->handle);
        options.peer.token = (dx_text){token, (size_t)len};
    }
    return dx__mcp_client_explain(ask->client, dx_link_call(dx__mcp_client_link(client), method,
                                                            params, &options, &ask->wire));
}

dx_status dx__mcp_client_ask_send_built(dx__mcp_client_ask *ask, dx_text method,
                                        yyjson_mut_doc *params, uint64_t timeout_ms) {
    dx_status status = dx__mcp_client_meta(ask->client, params, wants_token(ask) ? ask->handle : 0,
                                           ask->options.log_level);
    if (status != DX_OK)
        return status;
    return send(ask, method, dx_json_built(yyjson_mut_doc_get_root(params)), timeout_ms);
}

dx_status dx__mcp_client_ask_send(dx__mcp_client_ask *ask, dx_text method, dx_json params) {
    yyjson_mut_doc *doc = NULL;
    if (!ask->client->modern && !wants_token(ask))
        return send(ask, method, params, 0);
    dx_status status = dx__mcp_client_params_exact(ask->client, params, &doc);
    if (status == DX_OK)
        status = dx__mcp_client_ask_send_built(ask, method, doc, 0);
    yyjson_mut_doc_free(doc);
    return status;
}
