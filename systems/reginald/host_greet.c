/* How a plugin is met: handshake, then, once all have answered that, initialize. */
#include "systems/reginald/host_parts.h"

#include <stdio.h>
#include <string.h>

/* 0 is "the usual" for a call. */
static uint64_t time_of(uint64_t ms) {
    return ms ? ms : 1;
}

/* Why a call did not bring what it should. */
static void fail_by(dx_reginald_guest *guest, const char *method, const dx_event *event) {
    char before[64] = "";
    char text[200] = "";
    dx__say_str(text, sizeof text, event->error.phrase);
    switch (event->outcome) {
    case DX_OUTCOME_ERROR:
        snprintf(before, sizeof before, "answered %s with an error: ", method);
        text[0] = '\0';
        dx__reginald_host_say_error(text, sizeof text, event);
        break;
    case DX_OUTCOME_TIMED_OUT:
        snprintf(before, sizeof before, "did not answer %s in time", method);
        text[0] = '\0';
        break;
    case DX_OUTCOME_INVALID:
        snprintf(before, sizeof before, "sent an invalid response to %s: ", method);
        break;
    case DX_OUTCOME_LOST:
        snprintf(before, sizeof before, "%s before it responded to %s: ",
                 event->error.fault == DX_FAULT_EXITED || event->error.fault == DX_FAULT_KILLED
                     ? "exited"
                     : "was disconnected",
                 method);
        break;
    default:
        snprintf(before, sizeof before, "did not answer %s", method);
        break;
    }
    dx__reginald_host_guest_fail(guest, before, text);
}

static void take_name(dx_reginald_guest *guest) {
    guest->name[0] = '\0';
    dx__say_str(guest->name, sizeof guest->name, guest->own_name);
}

static void take_facts(dx_reginald_guest *guest, dx_link *link) {
    char reason[200] = "";
    dx_status status = dx_link_keep(link, &guest->facts);
    if (status == DX_OK)
        status = dx__reginald_host_offers_read(guest, reason);
    if (status != DX_OK) {
        dx__reginald_host_guest_fail(guest, "sent an invalid response to handshake: ",
                                     status == DX_MISFIT ? reason : "out of memory");
        return;
    }
    take_name(guest);
    guest->phase = REGINALD_SHOOK;
    dx__reginald_host_admit(guest->host);
}

/* Those of 2025-06-27 and later call the protocol by another name, and have other messages. */
static bool is_generation_b(const dx_event *event) {
    return (event->outcome == DX_OUTCOME_RESULT || event->outcome == DX_OUTCOME_INVALID) &&
           yyjson_equals_str(yyjson_obj_get(event->value, "protocol"), "reginald");
}

static void on_handshake(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_guest *guest = user;
    if (guest->phase != REGINALD_SHAKING)
        return;
    if (is_generation_b(event))
        dx__reginald_host_guest_fail(
            guest,
            "uses generation B of the protocol (\"reginald\"); this host supports generation A",
            " (\"rpp\")");
    else if (event->outcome == DX_OUTCOME_RESULT)
        take_facts(guest, link);
    else
        fail_by(guest, "handshake", event);
}

dx_status dx__reginald_host_greet(dx_reginald_guest *guest) {
    static const char version[] = "0";
    dx_link_call_options options = {.on_done = on_handshake};
    options.peer.timeout_ms = time_of(guest->host->config.handshake_ms);
    options.peer.user = guest;
    dx__reginald_host_params params = dx__reginald_host_params_new(guest->host);
    dx__reginald_host_params_string(&params, "protocol", "rpp");
    dx__reginald_host_params_json(&params, "protocolVersion", dx_json_text(version, 1));
    return dx__reginald_host_params_call(&params, guest, "handshake", &options);
}

static void on_initialize(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_guest *guest = user;
    dx_reginald *host = guest->host;
    (void)link;
    if (guest->phase != REGINALD_INITIALIZING)
        return;
    if (event->outcome != DX_OUTCOME_RESULT) {
        fail_by(guest, "initialize", event);
        return;
    }
    guest->phase = REGINALD_IDLE;
    dx__reginald_host_set_state(guest, DX_REGINALD_READY);
    dx__reginald_host_settle(host);
}

static dx_status initialize(dx_reginald_guest *guest, char reason[200]) {
    const dx_reginald_config *config = &guest->host->config;
    char level[24];
    char logging[64];
    dx_link_call_options options = {.on_done = on_initialize};
    options.peer.timeout_ms = time_of(config->initialize_ms);
    options.peer.user = guest;
    guest->values.len = 0;
    if (config->on_settings) {
        dx_status status =
            config->on_settings(guest->host, guest, &guest->values, reason, config->user);
        if (status != DX_OK)
            return status;
    }
    snprintf(logging, sizeof logging, "{\"enabled\":%s,\"level\":\"%s\"}",
             config->log_off ? "false" : "true", dx_reginald_level_write(config->log_level, level));
    dx__reginald_host_params params = dx__reginald_host_params_new(guest->host);
    if (guest->values.len)
        dx__reginald_host_params_json(&params, "config",
                                      dx_json_text(guest->values.data, guest->values.len));
    dx__reginald_host_params_json(&params, "logging", dx_json_text(logging, strlen(logging)));
    return dx__reginald_host_params_call(&params, guest, "initialize", &options);
}

static void admit(dx_reginald_guest *guest) {
    char reason[200] = "";
    dx_status status = dx__reginald_host_offers_admit(guest, reason);
    if (status == DX_OK) {
        guest->phase = REGINALD_INITIALIZING;
        status = initialize(guest, reason);
    }
    if (status == DX_OK)
        return;
    if (!reason[0] && status == DX_MISFIT && dx__reginald_host_link(guest))
        dx__say_str(reason, sizeof reason, dx_link_why(dx__reginald_host_link(guest))->phrase);
    dx__reginald_host_guest_fail(guest, "", reason[0] ? reason : dx_status_name(status));
}

void dx__reginald_host_admit(dx_reginald *host) {
    for (size_t i = 0; i < host->guest_count; i++)
        if (host->guests[i]->phase == REGINALD_SHAKING)
            return;
    for (size_t i = 0; i < host->guest_count; i++)
        if (host->guests[i]->phase == REGINALD_SHOOK)
            admit(host->guests[i]);
    dx__reginald_host_settle(host);
}
