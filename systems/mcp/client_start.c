/* The beginning of a conversation, in both eras. */
#include "systems/mcp/client_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void be_ready(dx_mcp_client *client, int revision) {
    client->revision = revision;
    client->phase = DX__MCP_READY;
    client->was_ready = true;
    if (client->modern) /* without memory it does not hear of changes, no more */
        (void)dx__mcp_client_listen_start(client);
    if (!client->freed && client->config.on_ready)
        client->config.on_ready(client, client->config.user);
}

static yyjson_val *supported(const dx_event *event) {
    return yyjson_obj_get(yyjson_obj_get(event->value, "data"), "supported");
}

/* "initialize: …": what came in place of a result. */
static void fail_hello(dx_mcp_client *client, const dx_event *event) {
    const char *method = client->modern ? "server/discover" : "initialize";
    char text[sizeof client->error.phrase] = "";
    switch (event->outcome) {
    case DX_OUTCOME_ERROR:
        snprintf(text, sizeof text, "the server answered %s with an error: [%" PRId64 "] ", method,
                 event->code);
        client->no_revision =
            event->code == DX_MCP_CODE_UNSUPPORTED || yyjson_arr_size(supported(event)) > 0;
        client->refused = event->code ? event->code : DX_CODE_INTERNAL;
        dx__mcp_client_fail(client, DX_FAULT_ENDED, text,
                            dx__mcp_client_string(event->value, "message"));
        break;
    case DX_OUTCOME_TIMED_OUT:
        snprintf(text, sizeof text, "the server did not answer %s within %" PRIu64 " ms", method,
                 client->config.start_ms);
        dx__mcp_client_fail(client, event->error.fault, text, dx_str(""));
        break;
    case DX_OUTCOME_INVALID:
    case DX_OUTCOME_CANCELLED:
        if (strncmp(event->error.phrase, method, strlen(method)) != 0)
            snprintf(text, sizeof text, "%s: ", method);
        dx__mcp_client_fail(client, event->error.fault, text, dx_str(event->error.phrase));
        break;
    default: /* lost: how it ended is told by the connection, as a rule */
        dx__mcp_client_note(client, &event->error);
        break;
    }
}

static void fail_revision(dx_mcp_client *client, dx_text revision) {
    client->no_revision = true;
    dx__mcp_client_fail(client, DX_FAULT_RESULT_FIT,
                        "no protocol revision in common: the server offers ", revision);
}

static bool keep_facts(dx_mcp_client *client, dx_link *link) {
    if (dx_link_keep(link, &client->facts) == DX_OK)
        return true;
    dx__mcp_client_fail(client, DX_FAULT_SYSTEM, "out of memory for the server's response",
                        dx_str(""));
    return false;
}

/* The legacy era. */

static void greet_back(dx_mcp_client *client, dx_link *link, const dx_event *event) {
    int revision =
        dx__mcp_client_revision_of(dx__mcp_client_string(event->value, "protocolVersion"));
    if (event->outcome == DX_OUTCOME_INVALID) {
        fail_hello(client, event);
        return;
    }
    if (!client->protocols[revision]) {
        dx__mcp_client_fail(client, DX_FAULT_SYSTEM, "out of memory for the protocol revision",
                            dx_str(""));
        return;
    }
    if (!keep_facts(client, link))
        return;
    if (dx_link_notify(link, dx_str("notifications/initialized"), dx_json_none()) != DX_OK)
        dx__mcp_client_fail(client, DX_FAULT_SYSTEM, "cannot send notifications/initialized",
                            dx_str(""));
    else
        be_ready(client, revision);
}

static dx_status initialize(dx_mcp_client *client);

/* Some servers don't name another revision in the result, but refuse, and say which they speak. */
static void on_no(dx_mcp_client *client, const dx_event *event) {
    int picked = dx__mcp_client_pick(event, DX__MCP_2025_11_25);
    bool again = event->outcome == DX_OUTCOME_ERROR && picked != DX__MCP_UNKNOWN &&
                 picked != client->wanted && !client->initialized_again;
    if (again) {
        client->initialized_again = true;
        client->wanted = picked;
        again = initialize(client) == DX_OK;
    }
    if (!again)
        fail_hello(client, event);
}

static void on_initialized(dx_link *link, const dx_event *event, void *user) {
    dx_mcp_client *client = user;
    dx__mcp_client_enter(client);
    if (!client->freed && client->phase == DX__MCP_OPENING) {
        bool is_result =
            event->outcome == DX_OUTCOME_RESULT || event->outcome == DX_OUTCOME_INVALID;
        dx_text name = dx__mcp_client_string(event->value, "protocolVersion");
        if (!is_result)
            on_no(client, event);
        else if (name.at && dx__mcp_client_revision_of(name) <= DX__MCP_2026_07_28)
            fail_revision(client, name);
        else
            greet_back(client, link, event);
    }
    dx__mcp_client_leave(client);
}

static dx_status say(dx_mcp_client *client, const char *method, yyjson_mut_doc *doc,
                     uint64_t timeout_ms,
                     void (*on_done)(dx_link *link, const dx_event *event, void *user)) {
    dx_link_call_options options = {.on_done = on_done};
    options.peer.timeout_ms = timeout_ms;
    options.peer.no_cancel = 1;
    options.peer.user = client;
    return dx_link_call(dx__mcp_client_link(client), dx_str(method),
                        dx_json_built(yyjson_mut_doc_get_root(doc)), &options, &client->hello);
}

static dx_status initialize(dx_mcp_client *client) {
    yyjson_mut_doc *doc = NULL;
    dx_status status = dx__mcp_client_params(client, dx_json_none(), &doc);
    if (status != DX_OK)
        return status;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *offer = dx__mcp_client_offer(client, doc, client->wanted);
    yyjson_mut_val *info = dx__mcp_client_info(client, doc);
    status = DX_ERR_NOMEM;
    if (offer && info &&
        yyjson_mut_obj_add_str(doc, root, "protocolVersion",
                               dx_mcp_revision((size_t)client->wanted)) &&
        yyjson_mut_obj_add_val(doc, root, "capabilities", offer) &&
        yyjson_mut_obj_add_val(doc, root, "clientInfo", info))
        status = say(client, "initialize", doc, client->config.start_ms, on_initialized);
    yyjson_mut_doc_free(doc);
    return status;
}

/* The modern era. */

static dx_status discover(dx_mcp_client *client);

static bool speaks(yyjson_val *facts, int revision) {
    yyjson_val *versions = yyjson_obj_get(facts, "supportedVersions");
    yyjson_arr_iter iter;
    yyjson_arr_iter_init(versions, &iter);
    yyjson_val *one;
    while ((one = yyjson_arr_iter_next(&iter)))
        if (yyjson_equals_str(one, dx_mcp_revision((size_t)revision)))
            return true;
    return false;
}

int dx__mcp_client_pick(const dx_event *event, int from) {
    yyjson_arr_iter iter;
    yyjson_arr_iter_init(supported(event), &iter);
    int best = DX__MCP_UNKNOWN;
    yyjson_val *one;
    while ((one = yyjson_arr_iter_next(&iter))) {
        int revision = dx__mcp_client_revision_of(dx_json_string(one));
        if (revision >= from && (best == DX__MCP_UNKNOWN || revision < best))
            best = revision;
    }
    return best;
}

/* On the only connection that there is, a server that does not know the modern era is greeted as in
 * the other one. */
static bool may_fall_back(const dx_mcp_client *client, const dx_event *event) {
    return client->either && event->outcome != DX_OUTCOME_LOST && !client->asked_again &&
           !(event->outcome == DX_OUTCOME_ERROR && event->code == DX_MCP_CODE_UNSUPPORTED &&
             dx__mcp_client_pick(event, DX__MCP_2026_07_28) <= DX__MCP_2026_07_28);
}

static void fall_back(dx_mcp_client *client, const dx_event *event) {
    int picked = event->code == DX_MCP_CODE_UNSUPPORTED
                     ? dx__mcp_client_pick(event, DX__MCP_2026_07_28)
                     : DX__MCP_UNKNOWN;
    client->modern = false;
    if (picked > DX__MCP_2026_07_28)
        client->wanted = picked;
    else if (client->wanted == DX__MCP_2026_07_28)
        client->wanted = DX__MCP_2025_11_25;
    dx_status status = initialize(client);
    if (status != DX_OK)
        dx__mcp_client_fail(client, DX_FAULT_SYSTEM,
                            "cannot send initialize: ", dx_str(dx_status_name(status)));
}

static void on_refused(dx_mcp_client *client, const dx_event *event) {
    if (may_fall_back(client, event)) {
        fall_back(client, event);
    } else if (event->outcome == DX_OUTCOME_ERROR && event->code == DX_MCP_CODE_UNSUPPORTED &&
               !client->asked_again &&
               dx__mcp_client_pick(event, DX__MCP_2026_07_28) == DX__MCP_2026_07_28) {
        client->asked_again = true;
        if (discover(client) != DX_OK)
            fail_hello(client, event);
    } else {
        fail_hello(client, event);
    }
}

static void on_discovered(dx_link *link, const dx_event *event, void *user) {
    dx_mcp_client *client = user;
    dx__mcp_client_enter(client);
    if (!client->freed && client->phase == DX__MCP_OPENING) {
        yyjson_val *versions = yyjson_obj_get(event->value, "supportedVersions");
        if (event->outcome != DX_OUTCOME_RESULT)
            on_refused(client, event);
        else if (!speaks(event->value, DX__MCP_2026_07_28) && client->either)
            fall_back(client, event);
        else if (!speaks(event->value, DX__MCP_2026_07_28))
            fail_revision(client, dx_json_string(yyjson_arr_get_first(versions)));
        else if (keep_facts(client, link))
            be_ready(client, DX__MCP_2026_07_28);
    }
    dx__mcp_client_leave(client);
}

static dx_status discover(dx_mcp_client *client) {
    yyjson_mut_doc *doc = NULL;
    uint64_t ms = client->either ? client->config.probe_ms : client->config.start_ms;
    dx_status status = dx__mcp_client_params(client, dx_json_none(), &doc);
    if (status == DX_OK)
        status = dx__mcp_client_meta(client, doc, 0, DX_MCP_NO_LEVEL);
    if (status == DX_OK)
        status = say(client, "server/discover", doc, ms, on_discovered);
    yyjson_mut_doc_free(doc);
    return status;
}

/* Both. */

/* The answer to the first question says what is spoken from there on. */
dx_protocol *dx__mcp_client_choose(void *user, const dx_event *event) {
    dx_mcp_client *client = user;
    dx_protocol *chosen = NULL;
    if (event->kind != DX_EVENT_DONE || event->call != client->hello || client->freed ||
        client->phase != DX__MCP_OPENING)
        return NULL;
    if (!client->modern) {
        int revision =
            dx__mcp_client_revision_of(dx__mcp_client_string(event->value, "protocolVersion"));
        if (revision <= DX__MCP_2026_07_28 ||
            dx__mcp_client_protocol(client, revision, &chosen) != DX_OK)
            return NULL;
        return chosen;
    }
    if (!client->either || !speaks(event->value, DX__MCP_2026_07_28) ||
        dx__mcp_client_protocol(client, DX__MCP_2026_07_28, &chosen) != DX_OK ||
        dx_protocol_check(chosen, dx_protocol_find(chosen, dx_str("server/discover")), DX_SIDE_HOST,
                          DX_PART_RESULT, event->value, DX_CHECK_OPEN, NULL) != DX_OK)
        return NULL;
    return chosen;
}

dx_status dx__mcp_client_start(dx_mcp_client *client, dx_error *reterr) {
    dx_protocol *protocol = client->either;
    client->phase = DX__MCP_OPENING;
    dx_status status =
        protocol ? DX_OK : dx__mcp_client_protocol(client, client->wanted, &protocol);
    if (status == DX_OK)
        status = dx__mcp_client_connect(client, protocol, reterr);
    if (status == DX_OK)
        status = client->modern ? discover(client) : initialize(client);
    if (status == DX_MISFIT) /* a name that is no UTF-8, say */
        status = DX_ERR_INVALID;
    return status;
}
