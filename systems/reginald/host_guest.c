/* A plugin's process, from its start to its end. */
#include "systems/reginald/host_parts.h"

#include <string.h>

/* How long one that is of no use has to leave by itself, and how long SIGTERM has at the end. */
enum { GRACE_MS = 2000 };

static uint64_t grace(const dx_reginald *host) {
    uint64_t quarter = host->config.stop_ms / 4;
    return quarter < GRACE_MS ? quarter + 1 : GRACE_MS;
}

static uint64_t stop_ms(const dx_reginald *host) {
    return host->config.stop_ms ? host->config.stop_ms : 1;
}

dx_link *dx__reginald_host_link(const dx_reginald_guest *guest) {
    return guest->child ? dx_child_link(guest->child) : NULL;
}

void dx__reginald_host_set_state(dx_reginald_guest *guest, dx_reginald_state state) {
    dx_reginald *host = guest->host;
    guest->state = state;
    if (host->config.on_state)
        host->config.on_state(host, guest, host->config.user);
}

static void set_why(dx_reginald_guest *guest, const char *before, const char *after) {
    guest->why[0] = '\0';
    dx__say_str(guest->why, sizeof guest->why, before);
    dx__say_str(guest->why, sizeof guest->why, after);
}

static bool is_leaving(const dx_reginald_guest *guest) {
    return guest->state == DX_REGINALD_FAILED || guest->state == DX_REGINALD_STOPPING ||
           guest->state == DX_REGINALD_STOPPED;
}

/* Its end. */

/* The process is gone, and `child` was freed. */
static void on_no_process(dx_reginald_guest *guest) {
    dx_reginald *host = guest->host;
    dx_timer_set(guest->limit, DX_NEVER);
    guest->phase = REGINALD_IDLE;
    if (guest->state == DX_REGINALD_STOPPING)
        dx__reginald_host_set_state(guest, DX_REGINALD_STOPPED);
    else if (guest->state != DX_REGINALD_FAILED)
        dx__reginald_host_set_state(guest, DX_REGINALD_FAILED);
    dx__reginald_host_admit(host);
}

static void on_gone(dx_child *child, const dx_gone *gone, void *user) {
    dx_reginald_guest *guest = user;
    const char *reason =
        gone->error.fault != DX_FAULT_NONE ? gone->error.phrase : "the program exited with code 0";
    if (!is_leaving(guest))
        set_why(guest, "exited on its own: ", reason);
    else if (guest->state == DX_REGINALD_STOPPING && gone->signal)
        set_why(guest, "was killed: ", "it did not exit in time");
    guest->child = NULL;
    dx_child_free(child);
    on_no_process(guest);
}

void dx__reginald_host_guest_fail(dx_reginald_guest *guest, const char *before, const char *after) {
    dx_reginald *host = guest->host;
    if (is_leaving(guest))
        return;
    set_why(guest, before, after);
    guest->phase = REGINALD_IDLE;
    if (guest->child) {
        dx_child_stop(guest->child);
        dx_timer_set(guest->limit, grace(host));
    }
    dx__reginald_host_set_state(guest, DX_REGINALD_FAILED);
    dx__reginald_host_admit(host);
}

void dx__reginald_host_guest_kill(dx_reginald_guest *guest, const char *why) {
    dx_child *child = guest->child;
    if (!child)
        return;
    if (guest->state == DX_REGINALD_READY || guest->state == DX_REGINALD_STARTING) {
        set_why(guest, why, "");
        guest->state = DX_REGINALD_FAILED;
        guest->phase = REGINALD_IDLE;
        guest->child = NULL;
        dx_child_free(child);
        dx__reginald_host_works_end(guest);
        dx__reginald_host_set_state(guest, DX_REGINALD_FAILED);
    } else {
        if (guest->state == DX_REGINALD_STOPPING)
            set_why(guest, "was killed: ", why);
        guest->child = NULL;
        dx_child_free(child);
        dx__reginald_host_works_end(guest);
    }
    on_no_process(guest);
}

/* It closed its output, or what it sent can't be read any more. */
static void on_closed(dx_child *child, const dx_error *why, void *user) {
    (void)child;
    dx__reginald_host_guest_fail(user, "was disconnected: ",
                                 why->fault != DX_FAULT_NONE ? why->phrase
                                                             : "it closed its standard output");
}

/* Its beginning. */

static void on_errors(dx_child *child, dx_text line, void *user) {
    dx_reginald_guest *guest = user;
    dx_reginald *host = guest->host;
    (void)child;
    if (host->config.on_errors)
        host->config.on_errors(host, guest, line, host->config.user);
}

static void observe(void *user, int out, dx_text text, size_t framed) {
    dx_reginald_guest *guest = user;
    dx_reginald *host = guest->host;
    (void)framed;
    host->config.on_traffic(host, guest, out, text, host->config.user);
}

/* Good-bye is said here and not by the child, since the time for all of it is one. */
static dx_child_config child_config(dx_reginald_guest *guest, const char *const *argv) {
    const dx_reginald *host = guest->host;
    dx_child_config child = dx_child_for(host->protocol, argv);
    child.cwd = host->config.cwd;
    child.inherit_env = !host->config.small_env;
    child.on_gone = on_gone;
    child.on_errors = on_errors;
    child.on_closed = on_closed;
    child.user = guest;
    child.ladder.farewell_call = NULL;
    child.ladder.farewell_notify = NULL;
    child.ladder.term_ms = grace(host);
    child.ladder.close_ms = stop_ms(host) > grace(host) ? stop_ms(host) - grace(host) : 1;
    child.link.on_event = dx__reginald_host_serve;
    child.link.user = guest;
    child.link.recorder = host->config.recorder;
    child.link.name = guest->label;
    if (host->config.on_traffic) {
        child.link.peer.observe = observe;
        child.link.peer.observe_user = guest;
    }
    return child;
}

void dx__reginald_host_guest_start(dx_reginald_guest *guest) {
    const char *const argv[] = {guest->path, NULL};
    dx_error error = {0};
    dx_child_config config = child_config(guest, argv);
    guest->state = DX_REGINALD_STARTING;
    dx_status status = dx_child_start(guest->host->loop, &config, &guest->child, &error);
    if (status == DX_OK) {
        guest->phase = REGINALD_SHAKING;
        status = dx__reginald_host_greet(guest);
    }
    if (status == DX_OK)
        dx__reginald_host_set_state(guest, DX_REGINALD_STARTING);
    else
        dx__reginald_host_guest_fail(guest, "",
                                     error.phrase[0] ? error.phrase : dx_status_name(status));
}

/* Good-bye. */

/* Whatever it said to shutdown. */
static void on_shutdown(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_guest *guest = user;
    (void)event;
    if (guest->state != DX_REGINALD_STOPPING || !guest->child)
        return;
    (void)dx_link_notify(link, dx_str("exit"), dx_json_none());
    if (!guest->host->exact) /* which leaves the input open */
        dx_child_stop(guest->child);
}

static dx_status say_goodbye(dx_reginald_guest *guest) {
    dx_link_call_options options = {.on_done = on_shutdown};
    options.peer.timeout_ms = stop_ms(guest->host);
    options.peer.user = guest;
    return dx_link_call(dx__reginald_host_link(guest), dx_str("shutdown"), dx_json_none(), &options,
                        NULL);
}

void dx__reginald_host_guest_stop(dx_reginald_guest *guest) {
    const dx_reginald *host = guest->host;
    bool was_ready = guest->state == DX_REGINALD_READY;
    if (guest->state == DX_REGINALD_NEW) {
        dx__reginald_host_set_state(guest, DX_REGINALD_STOPPED);
        return;
    }
    if (is_leaving(guest) || !guest->child)
        return;
    guest->phase = REGINALD_IDLE;
    guest->state = DX_REGINALD_STOPPING;
    dx_timer_set(guest->limit, was_ready ? stop_ms(host) : grace(host));
    if (!was_ready || say_goodbye(guest) != DX_OK)
        dx_child_stop(guest->child);
    dx__reginald_host_set_state(guest, DX_REGINALD_STOPPING);
}

dx_reginald_guest *dx__reginald_host_guest_free(dx_reginald_guest *guest) {
    dx_allocator alloc = guest->host->alloc;
    dx_child_free(guest->child);
    dx_timer_free(guest->limit);
    dx__reginald_host_works_free(guest);
    dx__reginald_host_offers_free(guest);
    dx_buf_done(&guest->values);
    dx__free(&alloc, guest->path);
    dx__free(&alloc, guest);
    return NULL;
}
