/* The connection to the server. */
#include "systems/mcp/client_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

dx_link *dx__mcp_client_link(const dx_mcp_client *client) {
    return client->child ? dx_child_link(client->child) : client->link;
}

dx_status dx__mcp_client_protocol(dx_mcp_client *client, int revision, dx_protocol **ret_protocol) {
    static const char *const names[] = {"mcp@2026-07-28", "mcp", "mcp@2025-06-18", "mcp@2025-03-26",
                                        "mcp@2024-11-05"};
    dx_protocol_config config = dx_protocol_defaults();
    config.allocator = &client->alloc;
    dx_status status = DX_OK;
    if (!client->protocols[revision])
        status =
            dx_protocol_open(dx_str(names[revision]), &config, &client->protocols[revision], NULL);
    if (status == DX_OK)
        *ret_protocol = client->protocols[revision];
    return status;
}

/* What comes. */

/* Nothing of the peer may be called here: who frees the client in it is heard a moment later. */
static void observe(void *user, int out, dx_text text, size_t framed) {
    dx_mcp_client *client = user;
    (void)framed;
    if (client->freed)
        return;
    client->depth++;
    if (out && client->id_wanted)
        dx__mcp_client_listen_seen(client, text);
    if (client->config.on_traffic)
        client->config.on_traffic(client, out, text, client->config.user);
    client->depth--;
    if (client->freed)
        dx__mcp_client_soon(client);
}

static void on_event(dx_link *link, const dx_event *event, void *user) {
    dx_mcp_client *client = user;
    dx__mcp_client_enter(client);
    if (!client->freed)
        dx__mcp_client_serve(client, link, event);
    dx__mcp_client_leave(client);
}

/* The end. */

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    dx_mcp_client *client = user;
    dx__mcp_client_enter(client);
    client->child = NULL;
    if (!client->freed)
        dx__mcp_client_over(client, gone);
    dx_child_free(child);
    dx__mcp_client_leave(client);
}

void dx__mcp_client_note(dx_mcp_client *client, const dx_error *error) {
    bool is_end = error->fault == DX_FAULT_NONE || error->fault == DX_FAULT_ENDED ||
                  error->fault == DX_FAULT_EXITED || error->fault == DX_FAULT_KILLED;
    if (!is_end && client->phase < DX__MCP_CLOSING && client->error.fault == DX_FAULT_NONE)
        client->error = *error;
}

static void end_of(dx_mcp_client *client, const dx_error *why) {
    if (client->phase >= DX__MCP_CLOSING)
        return;
    if (why->fault != DX_FAULT_NONE)
        client->error = *why;
    else if (!client->was_ready)
        dx__mcp_client_error(&client->error, DX_FAULT_ENDED,
                             "the server closed the connection before it was ready", dx_str(""));
    client->phase = DX__MCP_CLOSING;
}

/* It is on its way out: on_gone() comes. */
static void on_child_closed(dx_child *child, const dx_error *why, void *user) {
    dx_mcp_client *client = user;
    (void)child;
    dx__mcp_client_enter(client);
    if (!client->freed) {
        end_of(client, why);
        if (client->error.fault == DX_FAULT_NONE)
            dx__mcp_client_error(&client->error, DX_FAULT_ENDED, "the server closed its output",
                                 dx_str(""));
        dx__mcp_client_lose(client);
        dx__mcp_client_questions_end(client);
    }
    dx__mcp_client_leave(client);
}

static void on_link_closed(dx_link *link, const dx_error *why, void *user) {
    dx_mcp_client *client = user;
    dx__mcp_client_enter(client);
    client->stats = dx_link_statistics(link);
    if (!client->freed)
        end_of(client, why);
    client->link = NULL;
    dx_link_free(link);
    if (!client->freed)
        dx__mcp_client_over(client, NULL);
    dx__mcp_client_leave(client);
}

static void on_errors(dx_child *child, dx_text line, void *user) {
    dx_mcp_client *client = user;
    (void)child;
    dx__mcp_client_enter(client);
    if (!client->freed && client->config.on_errors)
        client->config.on_errors(client, line, client->config.user);
    dx__mcp_client_leave(client);
}

void dx__mcp_client_hang_up(dx_mcp_client *client) {
    if (client->child)
        dx_child_stop(client->child);
    else if (client->link)
        dx_link_close(client->link);
    else
        dx__mcp_client_soon(client);
}

void dx__mcp_client_fail(dx_mcp_client *client, dx_fault fault, const char *before, dx_text after) {
    if (client->phase >= DX__MCP_CLOSING)
        return;
    dx__mcp_client_error(&client->error, fault, before, after);
    client->phase = DX__MCP_CLOSING;
    dx__mcp_client_hang_up(client);
}

/* The beginning. */

dx_link_config dx__mcp_client_link_config(dx_mcp_client *client, dx_protocol *protocol) {
    const dx_mcp_client_config *config = &client->config;
    dx_link_config link = dx_link_for(protocol, DX_SIDE_HOST);
    if (config->strict)
        link.peer.lenient &= ~(unsigned)DX_LENIENT_VALUE;
    link.peer.ids = config->ids;
    link.peer.message_max = config->message_max;
    link.peer.timeout_ms = config->timeout_ms;
    link.peer.total_ms = DX_NEVER;
    link.peer.choose = dx__mcp_client_choose;
    link.peer.choose_user = client;
    link.peer.observe = observe;
    link.peer.observe_user = client;
    link.peer.allocator = &client->alloc;
    if (link.peer.out_max < config->message_max)
        link.peer.out_max = config->message_max;
    link.on_event = on_event;
    link.on_closed = on_link_closed;
    link.user = client;
    link.recorder = config->recorder;
    link.run = config->mode != DX_MCP_AUTO ? 0 : client->phase == DX__MCP_PROBING ? 1 : 2;
    return link;
}

dx_child_config dx__mcp_client_child_config(dx_mcp_client *client, dx_protocol *protocol) {
    const dx_mcp_client_config *config = &client->config;
    dx_child_config child = dx_child_for(protocol, config->argv);
    child.cwd = config->cwd;
    child.env = config->env;
    child.inherit_env = config->inherit_env;
    child.ladder = config->ladder;
    child.errors_max = config->errors_max;
    child.link = dx__mcp_client_link_config(client, protocol);
    child.on_gone = on_gone;
    child.on_closed = on_child_closed;
    child.on_errors = on_errors;
    child.user = client;
    return child;
}

void dx__mcp_client_close_given(int in, int out) {
    close(in);
    if (out != in)
        close(out);
}

/* Copies, so that those of the user stay the user's until it is sure that all goes well. */
static dx_status open_given(dx_mcp_client *client, const dx_link_config *link, dx_error *reterr) {
    const dx_mcp_client_config *config = &client->config;
    int in = fcntl(config->in, F_DUPFD_CLOEXEC, 3);
    int out = config->in == config->out ? in : fcntl(config->out, F_DUPFD_CLOEXEC, 3);
    dx_status status = DX_ERR_SYSTEM;
    if (in >= 0 && out >= 0)
        status = dx_link_open(client->loop, in, out, link, &client->link, reterr);
    else if (reterr)
        dx__mcp_client_error(reterr, DX_FAULT_SYSTEM,
                             "cannot duplicate a file descriptor: ", dx_str(strerror(errno)));
    if (status == DX_OK)
        return DX_OK;
    if (in >= 0)
        close(in);
    if (out >= 0 && out != in)
        close(out);
    return status;
}

dx_status dx__mcp_client_connect(dx_mcp_client *client, dx_protocol *protocol, dx_error *reterr) {
    const dx_mcp_client_config *config = &client->config;
    if (config->argv) {
        dx_child_config child = dx__mcp_client_child_config(client, protocol);
        return dx_child_start(client->loop, &child, &client->child, reterr);
    }
    dx_link_config link = dx__mcp_client_link_config(client, protocol);
    if (config->address)
        return dx_link_connect(client->loop, config->address, &link, &client->link, reterr);
    return open_given(client, &link, reterr);
}
