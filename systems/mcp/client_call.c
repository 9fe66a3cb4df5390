/* Calling, and no longer wanting the answer. */
#include "systems/mcp/client_parts.h"

#include <string.h>

/* Those that the server may answer with a question. */
static bool is_repeatable(dx_text method) {
    return dx_text_is(method, "tools/call") || dx_text_is(method, "prompts/get") ||
           dx_text_is(method, "resources/read");
}

static dx_status call(dx_mcp_client *client, dx_text method, dx_json params,
                      const dx_mcp_call_options *options, dx_mcp_on_answer on_answer, void *user,
                      dx_mcp_call *ret_call) {
    dx__mcp_client_ask *ask = NULL;
    dx_status status = dx__mcp_client_ask_new(client, method, options, on_answer, user, &ask);
    if (status != DX_OK)
        return status;
    if (client->modern && is_repeatable(method))
        status = dx_json_write(&ask->params, params);
    if (status == DX_OK)
        status = dx__mcp_client_ask_send(ask, method, params);
    if (status != DX_OK)
        dx__mcp_client_ask_free(ask);
    else if (ret_call)
        *ret_call = ask->handle;
    return status;
}

dx_status dx__mcp_client_may_call(dx_mcp_client *client, dx_text method) {
    if (client->phase < DX__MCP_READY)
        return DX_AGAIN;
    if (client->phase > DX__MCP_READY || client->freed)
        return DX_CLOSED;
    if (!method.at)
        return DX_ERR_INVALID;
    const char *missing = dx__mcp_client_missing(client, method);
    return missing ? dx__mcp_client_misfit(client, "the server does not offer ", dx_str(missing))
                   : DX_OK;
}

dx_status dx_mcp_client_call(dx_mcp_client *client, dx_text method, dx_json params,
                             const dx_mcp_call_options *options, dx_mcp_on_answer on_answer,
                             void *user, dx_mcp_call *ret_call) {
    dx__mcp_client_enter(client);
    dx_status status = dx__mcp_client_may_call(client, method);
    if (status == DX_OK)
        status = call(client, method, params, options, on_answer, user, ret_call);
    dx__mcp_client_leave(client);
    return status;
}

/* Cancelling. */

static dx_status cancel(dx_mcp_client *client, dx__mcp_client_ask *ask, dx_text reason) {
    if (!reason.at)
        reason = dx_str("client cancelled");
    if (ask->task)
        return dx__mcp_client_task_cancel(ask, reason);
    if (ask->listen) {
        dx__mcp_client_listen_cancel(ask, reason);
        return DX_OK;
    }
    if (ask->wire) /* its end comes from there */
        return dx_link_cancel(dx__mcp_client_link(client), ask->wire, reason);
    dx__mcp_client_ask_end(ask, DX_OUTCOME_CANCELLED, DX_FAULT_CANCELLED, "cancelled");
    dx__mcp_client_questions_of(client, ask);
    return DX_OK;
}

dx_status dx_mcp_client_cancel(dx_mcp_client *client, dx_mcp_call call_, dx_text reason) {
    dx__mcp_client_ask *ask = dx__mcp_client_ask_find(client, call_);
    if (!ask || dx__mcp_client_ask_has_ended(ask) || client->freed)
        return DX_GONE;
    dx__mcp_client_enter(client);
    dx_status status = cancel(client, ask, reason);
    dx__mcp_client_leave(client);
    return status;
}

/* That one, or the next that has not ended: they stand in the order of their handles. */
static dx__mcp_client_ask *from(const dx_mcp_client *client, dx_mcp_call handle) {
    dx__mcp_client_ask *ask = dx__mcp_client_ask_find(client, handle);
    if (ask && !dx__mcp_client_ask_has_ended(ask))
        return ask;
    for (ask = client->asks.first; ask && ask->handle < handle;)
        ask = ask->next;
    return ask;
}

/* One that is cancelled stays in its place until its end comes, unless that is known at once: hence
 * the look at the next one before. What a callback does to that in between is seen by its handle.
 */
dx_status dx_mcp_client_cancel_all(dx_mcp_client *client, dx_text reason, dx_mcp_call *calls,
                                   size_t max, size_t *ret_count) {
    size_t count = 0;
    dx_status status = DX_OK;
    dx__mcp_client_enter(client);
    dx_mcp_call last = client->last_handle;
    dx_mcp_call next = client->asks.first ? client->asks.first->handle : 0;
    while (next && next <= last && !client->freed) {
        dx__mcp_client_ask *ask = from(client, next);
        if (!ask || ask->handle > last)
            break;
        dx_mcp_call handle = ask->handle;
        next = ask->next ? ask->next->handle : 0;
        dx_status one = cancel(client, ask, reason);
        if (one == DX_OK && count < max)
            calls[count] = handle;
        count += one == DX_OK;
        if (one < DX_OK)
            status = one;
    }
    dx__mcp_client_leave(client);
    if (ret_count)
        *ret_count = count;
    return status;
}

size_t dx_mcp_client_pending(const dx_mcp_client *client) {
    return client->pending;
}

size_t dx_mcp_client_calls(const dx_mcp_client *client, dx_mcp_pending *list, size_t max) {
    const dx_link *link = dx__mcp_client_link(client);
    uint64_t now = dx__mcp_client_clock();
    size_t count = 0;
    for (const dx__mcp_client_ask *ask = client->asks.first; ask; ask = ask->next, count++) {
        if (count >= max)
            continue;
        list[count] = (dx_mcp_pending){
            .call = ask->handle, .method = ask->method, .age_ms = now - ask->began_at};
        (void)dx_link_call_id(link, ask->wire, list[count].id);
    }
    return count;
}

dx_mcp_call dx_mcp_client_find(const dx_mcp_client *client, dx_text id) {
    dx_call wire = dx_link_find(dx__mcp_client_link(client), id);
    const dx__mcp_client_ask *ask = wire ? client->asks.first : NULL;
    while (ask && ask->wire != wire)
        ask = ask->next;
    return ask ? ask->handle : 0;
}
