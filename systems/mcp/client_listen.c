/* Hearing of changes in the modern era: one subscriptions/listen for all that is wanted. When that
 * changes, a new one takes the place of the old one, which ends when the new one holds. */
#include "systems/mcp/client_parts.h"

#include <string.h>

static const char SUBSCRIPTION[] = "io.modelcontextprotocol/subscriptionId";

static void drop(dx_mcp_client *client, dx__mcp_client_listen *listen) {
    dx__mcp_client_listen **place = &client->listens;
    while (*place && *place != listen)
        place = &(*place)->next;
    if (*place)
        *place = listen->next;
    if (client->id_wanted == listen)
        client->id_wanted = NULL;
    dx__free(&client->alloc, listen);
}

static void free_watch(const dx_mcp_client *client, dx__mcp_client_watch *watch) {
    dx__free(&client->alloc, watch->uri);
    dx__free(&client->alloc, watch);
}

void dx__mcp_client_listens_free(dx_mcp_client *client) {
    while (client->listens)
        drop(client, client->listens);
    while (client->watches) {
        dx__mcp_client_watch *watch = client->watches;
        client->watches = watch->next;
        free_watch(client, watch);
    }
}

/* Those who subscribed or unsubscribed since wait for that one. */
static void answer_all(dx_mcp_client *client, const dx__mcp_client_listen *listen,
                       const dx_event *event) {
    for (;;) {
        dx__mcp_client_ask *ask = client->asks.first;
        while (ask && ask->listen != listen)
            ask = ask->next;
        if (!ask || client->freed)
            return;
        ask->listen = NULL;
        dx__mcp_client_ask_done(ask, event);
    }
}

/* It ended: by the server, or because a newer one has taken its place. */
static void on_done(dx_link *link, const dx_event *event, void *user) {
    dx__mcp_client_listen *listen = user;
    dx_mcp_client *client = listen->client;
    (void)link;
    dx__mcp_client_enter(client);
    listen->wire = 0;
    if (!client->freed) {
        answer_all(client, listen, event);
        if (!client->freed)
            drop(client, listen);
    }
    dx__mcp_client_leave(client);
}

/* The id of a request is known when it goes out. */
void dx__mcp_client_listen_seen(dx_mcp_client *client, dx_text text) {
    dx_text id = dx_rpc_member(text, dx_str("id"));
    dx__mcp_client_listen *listen = client->id_wanted;
    if (id.len && id.len < sizeof listen->id) {
        memcpy(listen->id, id.at, id.len);
        listen->id[id.len] = '\0';
    }
}

static bool add_flag(const dx_mcp_client *client, yyjson_mut_doc *doc, yyjson_mut_val *filter,
                     const char *kind, const char *name) {
    return !client->config.on_changed || !dx__mcp_client_has(client, kind, "listChanged", NULL) ||
           yyjson_mut_obj_add_bool(doc, filter, name, true);
}

static dx_status write_filter(const dx_mcp_client *client, yyjson_mut_doc *doc) {
    yyjson_mut_val *filter =
        yyjson_mut_obj_add_obj(doc, yyjson_mut_doc_get_root(doc), "notifications");
    if (!filter || !add_flag(client, doc, filter, "tools", "toolsListChanged") ||
        !add_flag(client, doc, filter, "prompts", "promptsListChanged") ||
        !add_flag(client, doc, filter, "resources", "resourcesListChanged"))
        return DX_ERR_NOMEM;
    if (!client->watches)
        return yyjson_mut_obj_size(filter) ? DX_OK : DX_AGAIN;
    yyjson_mut_val *uris = yyjson_mut_obj_add_arr(doc, filter, "resourceSubscriptions");
    bool done = uris;
    for (const dx__mcp_client_watch *watch = client->watches; done && watch; watch = watch->next)
        done = yyjson_mut_arr_add_str(doc, uris, watch->uri);
    return done ? DX_OK : DX_ERR_NOMEM;
}

static dx_status send(dx_mcp_client *client, yyjson_mut_doc *doc) {
    dx__mcp_client_listen *listen = dx__malloc(&client->alloc, sizeof *listen);
    if (!listen)
        return DX_ERR_NOMEM;
    *listen = (dx__mcp_client_listen){.client = client};
    dx_link_call_options options = {.on_done = on_done};
    options.peer.timeout_ms = options.peer.total_ms = DX_NEVER;
    options.peer.user = listen;
    client->id_wanted = listen;
    dx_status status =
        dx_link_call(dx__mcp_client_link(client), dx_str("subscriptions/listen"),
                     dx_json_built(yyjson_mut_doc_get_root(doc)), &options, &listen->wire);
    client->id_wanted = NULL;
    if (status != DX_OK) {
        dx__free(&client->alloc, listen);
        return dx__mcp_client_explain(client, status);
    }
    listen->next = client->listens;
    client->listens = listen;
    return DX_OK;
}

static void cancel_older(dx_mcp_client *client, const dx__mcp_client_listen *newest) {
    for (dx__mcp_client_listen *listen = client->listens; listen; listen = listen->next)
        if (listen != newest && listen->wire && !listen->dropped) {
            listen->dropped = true;
            (void)dx_link_cancel(dx__mcp_client_link(client), listen->wire,
                                 dx_str("replaced by another subscription"));
        }
}

/* DX_AGAIN: nothing is wanted any more. */
dx_status dx__mcp_client_listen_start(dx_mcp_client *client) {
    yyjson_mut_doc *doc = NULL;
    dx_status status = dx__mcp_client_params(client, dx_json_none(), &doc);
    if (status == DX_OK)
        status = write_filter(client, doc);
    if (status == DX_OK)
        status = dx__mcp_client_meta(client, doc, 0, DX_MCP_NO_LEVEL);
    if (status == DX_OK)
        status = send(client, doc);
    yyjson_mut_doc_free(doc);
    return status;
}

/* Are two ids the same, however the one that came is escaped? */
static bool is_id(dx_text came, const char *ours) {
    char room[sizeof((dx__mcp_client_listen *)0)->id];
    dx_text text;
    if (dx_text_is(came, ours))
        return true;
    return came.len && came.at[0] == '"' && came.len < sizeof room && ours[0] == '"' &&
           dx_rpc_string(came, room, &text) == DX_OK && text.len + 2 == strlen(ours) &&
           memcmp(text.at, ours + 1, text.len) == 0;
}

static dx__mcp_client_listen *find(const dx_mcp_client *client, dx_text params) {
    dx_text id = dx_rpc_member(dx_rpc_member(params, dx_str("_meta")), dx_str(SUBSCRIPTION));
    dx__mcp_client_listen *listen = client->listens;
    while (listen && id.at && !is_id(id, listen->id))
        listen = listen->next;
    return listen;
}

bool dx__mcp_client_listen_is_mine(const dx_mcp_client *client, dx_text params) {
    const dx__mcp_client_listen *listen = client->modern ? find(client, params) : NULL;
    return !client->modern || (listen && !listen->dropped);
}

void dx__mcp_client_listen_acknowledged(dx_mcp_client *client, const dx_event *event) {
    dx__mcp_client_listen *listen = find(client, event->body);
    if (!listen || listen->acknowledged)
        return;
    listen->acknowledged = true;
    if (listen == client->listens)
        cancel_older(client, listen);
    dx_event done = *event;
    done.kind = DX_EVENT_DONE;
    done.outcome = DX_OUTCOME_RESULT;
    answer_all(client, listen, &done);
}

/* Subscribing. */

static dx__mcp_client_watch **place_of(dx_mcp_client *client, dx_text uri) {
    dx__mcp_client_watch **place = &client->watches;
    while (*place && !dx_text_is(uri, (*place)->uri))
        place = &(*place)->next;
    return place;
}

static dx_status add_watch(dx_mcp_client *client, dx_text uri) {
    dx__mcp_client_watch **place = place_of(client, uri);
    if (*place)
        return DX_GONE; /* it is there */
    dx__mcp_client_watch *watch = dx__malloc(&client->alloc, sizeof *watch);
    if (!watch)
        return DX_ERR_NOMEM;
    *watch = (dx__mcp_client_watch){.uri = dx__text_copy(&client->alloc, uri)};
    if (!watch->uri) {
        dx__free(&client->alloc, watch);
        return DX_ERR_NOMEM;
    }
    *place = watch;
    return DX_OK;
}

/* Nothing is wanted any more, so that there is nobody who acknowledges it. */
static void end_all(dx_mcp_client *client, dx__mcp_client_ask *ask) {
    cancel_older(client, NULL);
    dx__mcp_client_ask_end_text(ask, DX_OUTCOME_RESULT, 0, dx_str("{\"notifications\":{}}"));
}

/* As if it had never been asked for: the one before still holds. */
static void withdraw(dx__mcp_client_ask *ask, dx_text reason) {
    dx_mcp_client *client = ask->client;
    dx__mcp_client_listen *listen = ask->listen;
    dx_text uri = {ask->params.data, ask->params.len};
    ask->listen = NULL;
    if (ask->adds) {
        dx__mcp_client_watch **place = place_of(client, uri);
        dx__mcp_client_watch *watch = *place;
        if (watch) {
            *place = watch->next;
            free_watch(client, watch);
        }
    }
    if (listen && listen->wire && !listen->dropped) {
        listen->dropped = true;
        (void)dx_link_cancel(dx__mcp_client_link(client), listen->wire, reason);
    }
}

void dx__mcp_client_listen_late(dx__mcp_client_ask *ask) {
    withdraw(ask, dx_str("timed out"));
    dx__mcp_client_ask_fail(ask, DX_OUTCOME_TIMED_OUT, DX_FAULT_TIMEOUT,
                            "the subscription was not acknowledged in time");
}

void dx__mcp_client_listen_cancel(dx__mcp_client_ask *ask, dx_text reason) {
    withdraw(ask, reason);
    dx__mcp_client_ask_end(ask, DX_OUTCOME_CANCELLED, DX_FAULT_CANCELLED, "cancelled");
}

static dx_status change(dx_mcp_client *client, dx_text uri, bool more, dx__mcp_client_ask *ask) {
    dx__mcp_client_watch **place = place_of(client, uri);
    dx__mcp_client_watch *gone = NULL;
    dx_status added = DX_OK;
    if (more) {
        added = dx_buf_append(&ask->params, uri.at, uri.len);
        if (added == DX_OK)
            added = add_watch(client, uri);
        if (added < DX_OK)
            return added;
        ask->adds = added == DX_OK;
    } else if ((gone = *place)) {
        *place = gone->next;
    }
    dx_status status = dx__mcp_client_listen_start(client);
    if (status == DX_OK)
        ask->listen = client->listens;
    else if (status == DX_AGAIN)
        end_all(client, ask);
    if (status == DX_OK || status == DX_AGAIN) {
        if (gone)
            free_watch(client, gone);
        return DX_OK;
    }
    if (gone) {
        gone->next = *place;
        *place = gone;
    } else if (more && added == DX_OK && *(place = place_of(client, uri))) {
        gone = *place;
        *place = gone->next;
        free_watch(client, gone);
    }
    return status;
}

static dx_status change_modern(dx_mcp_client *client, dx_text uri, bool more,
                               dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call) {
    dx__mcp_client_ask *ask = NULL;
    if (!dx__mcp_client_has(client, "resources", "subscribe", NULL))
        return dx__mcp_client_misfit(client, "the server does not offer resources.subscribe",
                                     dx_str(""));
    dx_status status =
        dx__mcp_client_ask_new(client, dx_str("subscriptions/listen"), NULL, on_answer, user, &ask);
    if (status != DX_OK)
        return status;
    ask->way = DX__MCP_LOCAL;
    /* An acknowledgement is not waited for longer than any other answer. */
    status = dx__mcp_client_ask_sleep(ask, client->config.timeout_ms);
    if (status == DX_OK)
        status = change(client, uri, more, ask);
    if (status != DX_OK)
        dx__mcp_client_ask_free(ask);
    else if (ret_call)
        *ret_call = ask->handle;
    return status;
}

static dx_status subscribe(dx_mcp_client *client, dx_text uri, bool more,
                           dx_mcp_on_answer on_answer, void *user, dx_mcp_call *ret_call) {
    const char *method = more ? "resources/subscribe" : "resources/unsubscribe";
    yyjson_mut_doc *doc = NULL;
    if (!uri.at)
        return DX_ERR_INVALID;
    dx__mcp_client_enter(client);
    dx_status status;
    if (client->modern && client->phase == DX__MCP_READY && !client->freed) {
        status = change_modern(client, uri, more, on_answer, user, ret_call);
    } else {
        status = dx__mcp_client_params(client, dx_json_none(), &doc);
        yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
        if (status == DX_OK && !yyjson_mut_obj_add_strncpy(doc, root, "uri", uri.at, uri.len))
            status = DX_ERR_NOMEM;
        if (status == DX_OK)
            status = dx_mcp_client_call(client, dx_str(method), dx_json_built(root), NULL,
                                        on_answer, user, ret_call);
        yyjson_mut_doc_free(doc);
    }
    dx__mcp_client_leave(client);
    return status;
}

dx_status dx_mcp_client_subscribe(dx_mcp_client *client, dx_text uri, dx_mcp_on_answer on_answer,
                                  void *user, dx_mcp_call *ret_call) {
    return subscribe(client, uri, true, on_answer, user, ret_call);
}

dx_status dx_mcp_client_unsubscribe(dx_mcp_client *client, dx_text uri, dx_mcp_on_answer on_answer,
                                    void *user, dx_mcp_call *ret_call) {
    return subscribe(client, uri, false, on_answer, user, ret_call);
}
