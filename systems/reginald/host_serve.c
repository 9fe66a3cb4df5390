/* What a plugin sends by itself: logs, questions, and what breaks a rule. */
#include "systems/reginald/host_parts.h"

#include <stdio.h>

static void tell(dx_reginald_guest *guest, const char *phrase) {
    dx_reginald *host = guest->host;
    if (host->config.on_violation)
        host->config.on_violation(host, guest, phrase, host->config.user);
}

/* One that is on its way out is only told of. */
static void violation(dx_reginald_guest *guest, const char *phrase) {
    char why[64];
    tell(guest, phrase);
    if (guest->state != DX_REGINALD_STARTING && guest->state != DX_REGINALD_READY)
        return;
    if (++guest->errors < guest->host->config.errors_max)
        return;
    snprintf(why, sizeof why, "made %u protocol errors", guest->errors);
    dx__reginald_host_guest_kill(guest, why);
}

/* The message that follows counts, and the real host takes it without a word. */
static bool is_accepted(dx_fault fault) {
    return fault == DX_FAULT_HEADER_BLANK || fault == DX_FAULT_HEADER_LF ||
           fault == DX_FAULT_FIELD_NAME || fault == DX_FAULT_LENGTH_TAB ||
           fault == DX_FAULT_LENGTH_PLUS || fault == DX_FAULT_LENGTH_REPEATED ||
           fault == DX_FAULT_LENGTH_CONFLICT;
}

/* The real host takes a log with other members for an error. */
static bool has_others(yyjson_val *params) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(params);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        if (!yyjson_equals_str(key, "level") && !yyjson_equals_str(key, "msg") &&
            !yyjson_equals_str(key, "fields"))
            return true;
    return false;
}

static void log_line(dx_reginald_guest *guest, const dx_event *event) {
    dx_reginald *host = guest->host;
    yyjson_val *level = yyjson_obj_get(event->value, "level");
    yyjson_val *text = yyjson_obj_get(event->value, "msg");
    int number = 0;
    if (!dx_reginald_level_read(dx_json_string(level), &number)) {
        violation(guest, "log: unknown level");
        return;
    }
    if (host->exact && has_others(event->value)) {
        violation(guest, "log: unknown members");
        return;
    }
    if (host->config.on_log)
        host->config.on_log(host, guest, number, dx_json_string(text),
                            yyjson_obj_get(event->value, "fields"), host->config.user);
}

static void notification(dx_reginald_guest *guest, const dx_event *event) {
    char phrase[200] = "";
    if (dx_text_is(event->method, "log")) {
        log_line(guest, event);
        return;
    }
    dx__say(phrase, sizeof phrase - 48, event->method);
    dx__say_str(phrase, sizeof phrase, ": unknown notification");
    /* The document lets a plugin send any, and JSON-RPC lets it be ignored. */
    if (guest->host->seed)
        tell(guest, phrase);
    else
        violation(guest, phrase);
}

/* Its own settings: as it was given them, else the defaults. */
static dx_status answer_config(dx_reginald_guest *guest, dx_link *link, dx_request request) {
    dx_buf json;
    dx_buf_init(&json, REGINALD_PARAMS_MAX, &guest->host->alloc);
    dx_status status = guest->values.len
                           ? dx_buf_append(&json, guest->values.data, guest->values.len)
                           : dx__reginald_host_settings_write(guest->settings, &json);
    if (status == DX_OK)
        status = dx_link_reply(link, request, dx_json_text(json.data, json.len));
    dx_buf_done(&json);
    return status;
}

static void request(dx_reginald_guest *guest, dx_link *link, const dx_event *event) {
    /* One that can't be answered so is answered with an internal error by the link. */
    if (dx_text_is(event->method, "config"))
        (void)answer_config(guest, link, event->request);
    else
        (void)dx_link_refuse(link, event->request, DX_CODE_METHOD, (dx_text){NULL, 0},
                             dx_json_none());
}

void dx__reginald_host_serve(dx_link *link, const dx_event *event, void *user) {
    dx_reginald_guest *guest = user;
    char phrase[200] = "";
    switch (event->kind) {
    case DX_EVENT_REQUEST:
        request(guest, link, event);
        break;
    case DX_EVENT_NOTIFICATION:
        notification(guest, event);
        break;
    case DX_EVENT_STRAY:
        dx__say_str(phrase, sizeof phrase, "text on stdout that is not JSON-RPC: ");
        dx__say(phrase, sizeof phrase, event->message);
        tell(guest, phrase);
        break;
    case DX_EVENT_VIOLATION:
        dx__say_str(phrase, sizeof phrase, event->error.phrase);
        if (event->error.fault == DX_FAULT_UNREAD || is_accepted(event->error.fault))
            tell(guest, phrase);
        else
            violation(guest, phrase);
        break;
    default:
        break;
    }
}
