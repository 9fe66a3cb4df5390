/* Commands of extensions. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

static void log_line(dx_hermes_guest *guest, dx_hermes_level level, const char *before,
                     dx_text text) {
    dx_hermes *editor = guest->editor;
    char line[1024] = "";
    dx__say_str(line, sizeof line, before);
    dx__say(line, sizeof line, text);
    if (editor->config.on_log)
        editor->config.on_log(editor, guest, level, dx_str(line), editor->config.user);
}

/* Only the revision of 2025-11-24 has answers; people read them in the log. */
static void on_done(dx_link *link, const dx_event *event, void *user) {
    dx_hermes_guest *guest = user;
    dx_hermes *editor = guest->editor;
    yyjson_val *message = yyjson_obj_get(event->value, "message");
    bool ok = event->outcome == DX_OUTCOME_RESULT &&
              yyjson_get_bool(yyjson_obj_get(event->value, "success"));
    (void)link;
    guest->commands -= guest->commands != 0;
    if (ok) {
        if (yyjson_is_str(message))
            log_line(guest, DX_HERMES_INFO, "", dx_json_string(message));
    } else if (event->outcome == DX_OUTCOME_RESULT || event->outcome == DX_OUTCOME_ERROR) {
        log_line(guest, DX_HERMES_ERROR, "the command failed: ", dx_json_string(message));
    } else {
        log_line(guest, DX_HERMES_ERROR,
                 "no response to the command: ", dx_str(event->error.phrase));
    }
    if (editor->config.on_answered)
        editor->config.on_answered(editor, guest, ok, editor->config.user);
}

static dx_status send(dx_hermes_guest *guest, dx_text command) {
    const dx_hermes *editor = guest->editor;
    const dx_text method = dx_str("command/execute");
    const dx_method *rule = dx_protocol_find(editor->protocol, method);
    dx_link_call_options options = {.on_done = on_done};
    yyjson_alc alc = hermes_alc(editor);
    dx_status status = DX_ERR_NOMEM;
    options.peer.user = guest;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    if (params && yyjson_mut_obj_add_strn(doc, params, "command", command.at, command.len)) {
        dx_json body = dx_json_built(params);
        if (rule->notification)
            status = dx_link_notify(hermes_guest_link(guest), method, body);
        else
            status = dx_link_call(hermes_guest_link(guest), method, body, &options, NULL);
    }
    yyjson_mut_doc_free(doc);
    if (status != DX_OK)
        return status;
    guest->commands += !rule->notification;
    hermes_guest_told(guest);
    return DX_OK;
}

dx_status dx_hermes_run(dx_hermes *editor, dx_text command, dx_hermes_guest **ret_guest) {
    for (size_t i = 0; i < editor->guest_count; i++) {
        dx_hermes_guest *guest = editor->guests[i];
        if (guest->state != DX_HERMES_RUNNING || !hermes_facts_has_command(guest, command))
            continue;
        dx_status status = send(guest, command);
        if (status == DX_OK && ret_guest)
            *ret_guest = guest;
        return status;
    }
    return DX_GONE;
}
