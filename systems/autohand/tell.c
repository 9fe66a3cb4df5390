/* What the agent says unasked: how a notification is made, and those that are of no turn. */
#include "systems/autohand/core_parts.h"

#include <stdarg.h>
#include <stdio.h>

void dx__autohand_stamp(const dx_autohand_agent *agent, char room[32]) {
    dx__autohand_core_iso(dx__autohand_core_now(agent), room);
}

void dx__autohand_new_id(dx_autohand_agent *agent, const char *prefix, char room[64]) {
    (void)snprintf(room, 64, "%.16s_%llu_%llu", prefix, (unsigned long long)++agent->ids,
                   (unsigned long long)dx__autohand_core_now(agent));
}

void dx__autohand_log(dx_autohand_agent *agent, const char *level, const char *format, ...) {
    char text[1000];
    char line[1000] = "";
    va_list arguments;
    if (!agent->config.on_log)
        return;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was started above. */
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dx__say_str(line, sizeof line, text);
    agent->config.on_log(agent, level, line, agent->config.user);
}

bool dx__autohand_note_begin(struct dx__autohand_note *note, dx_autohand_agent *agent) {
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    *note = (struct dx__autohand_note){.agent = agent};
    if (!agent->link)
        return false;
    note->doc = yyjson_mut_doc_new(&alc);
    note->params = note->doc ? yyjson_mut_obj(note->doc) : NULL;
    if (note->params)
        return true;
    yyjson_mut_doc_free(note->doc);
    dx__autohand_log(agent, "error", "a notification was lost: out of memory");
    return false;
}

/* The text need only live until the note is sent. */
void dx__autohand_note_text(struct dx__autohand_note *note, yyjson_mut_val *object,
                            const char *name, dx_text text) {
    yyjson_mut_val *value = NULL;
    if (dx__is_utf8(text)) {
        value = yyjson_mut_strn(note->doc, text.at ? text.at : "", text.len);
    } else {
        size_t len = 0;
        char *mended = dx__autohand_core_mend(&note->agent->alloc, text, &len);
        value = mended ? yyjson_mut_strncpy(note->doc, mended, len) : NULL;
        dx__free(&note->agent->alloc, mended);
    }
    if (!object || !value || !yyjson_mut_obj_add(object, yyjson_mut_str(note->doc, name), value))
        note->params = NULL;
}

void dx__autohand_note_stamp(struct dx__autohand_note *note) {
    char stamp[32];
    dx__autohand_stamp(note->agent, stamp);
    if (note->params && !yyjson_mut_obj_add_strcpy(note->doc, note->params, "timestamp", stamp))
        note->params = NULL;
}

static dx_status try_to_send(const struct dx__autohand_note *note, const char *method) {
    if (!note->params)
        return DX_ERR_NOMEM;
    return dx_link_notify(note->agent->link, dx_str(method), dx_json_built(note->params));
}

static dx_status end_note(struct dx__autohand_note *note, const char *method, dx_status status) {
    yyjson_mut_doc_free(note->doc);
    if (status != DX_OK && status != DX_CLOSED)
        dx__autohand_log(note->agent, "error", "cannot send %s: %s", method,
                         dx_status_name(status));
    return status;
}

dx_status dx__autohand_note_send(struct dx__autohand_note *note, const char *method) {
    return end_note(note, method, try_to_send(note, method));
}

/* Long texts keep their beginning; arguments and files, which may be of any form, are left out. */
static void shorten(struct dx__autohand_note *note) {
    enum { KEPT = 256 };
    yyjson_mut_obj_iter members = yyjson_mut_obj_iter_with(note->params);
    for (yyjson_mut_val *name; (name = yyjson_mut_obj_iter_next(&members));) {
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(name);
        const char *text = yyjson_mut_get_str(value);
        size_t len = KEPT;
        if (yyjson_mut_equals_str(name, "args") || yyjson_mut_equals_str(name, "mentionedFiles")) {
            (void)yyjson_mut_obj_clear(value);
            (void)yyjson_mut_arr_clear(value);
        }
        if (!text || yyjson_mut_get_len(value) <= KEPT)
            continue;
        while (((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
        (void)yyjson_mut_set_strn(value, text, len);
    }
}

dx_status dx__autohand_note_send_cut(struct dx__autohand_note *note, const char *method) {
    dx_status status = try_to_send(note, method);
    if (status == DX_ERR_LIMIT) {
        shorten(note);
        status = try_to_send(note, method);
    }
    return end_note(note, method, status);
}

void dx__autohand_tell_agent_start(dx_autohand_agent *agent, bool is_reset) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, agent))
        return;
    dx__autohand_note_text(&note, note.params, "sessionId", dx_str(agent->session));
    dx__autohand_note_text(&note, note.params, "model", dx_str(dx__autohand_agent_model(agent)));
    dx__autohand_note_text(&note, note.params, "workspace", dx_str(agent->workspace.path));
    dx__autohand_note_stamp(&note);
    if (!is_reset || dx__autohand_core_is_doc(agent))
        (void)yyjson_mut_obj_add_int(note.doc, note.params, "contextPercent",
                                     dx__autohand_agent_free_percent(agent));
    (void)dx__autohand_note_send(&note, "autohand.agentStart");
}

void dx__autohand_tell_agent_end(dx_autohand_agent *agent, const char *reason) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, agent))
        return;
    dx__autohand_note_text(&note, note.params, "sessionId", dx_str(agent->session));
    dx__autohand_note_text(&note, note.params, "reason", dx_str(reason));
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send(&note, "autohand.agentEnd");
}

void dx__autohand_tell_error(dx_autohand_agent *agent, int64_t code, const char *type,
                             bool recoverable, dx_text message) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, agent))
        return;
    (void)yyjson_mut_obj_add_sint(note.doc, note.params, "code", code);
    dx__autohand_note_text(&note, note.params, "message", message);
    if (type && *type && dx__autohand_core_is_doc(agent))
        dx__autohand_note_text(&note, note.params, "errorType", dx_str(type));
    if (note.params)
        (void)yyjson_mut_obj_add_bool(note.doc, note.params, "recoverable", recoverable);
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send_cut(&note, "autohand.error");
}

/* The document's own context has the arguments, too; the versions before had one text. */
static void put_context(struct dx__autohand_note *note, const struct dx__autohand_asking *asking) {
    yyjson_mut_val *context = yyjson_mut_obj(note->doc);
    bool is_doc = dx__autohand_core_is_doc(note->agent);
    if (!context) {
        note->params = NULL;
        return;
    }
    if (asking->path.at)
        dx__autohand_note_text(note, context, "path", asking->path);
    if (asking->command.at)
        dx__autohand_note_text(note, context, "command", asking->command);
    if (is_doc && asking->args)
        (void)yyjson_mut_obj_add_val(note->doc, context, "args",
                                     yyjson_val_mut_copy(note->doc, asking->args));
    if (note->params && !yyjson_mut_obj_add_val(note->doc, note->params, "context", context))
        note->params = NULL;
}

void dx__autohand_tell_permission(dx_autohand_agent *agent, const char *id,
                                  const struct dx__autohand_asking *asking) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, agent))
        return;
    dx__autohand_note_text(&note, note.params, "requestId", dx_str(id));
    dx__autohand_note_text(&note, note.params, "tool", dx_str(asking->tool));
    dx__autohand_note_text(&note, note.params, "description", dx_str(asking->description));
    put_context(&note, asking);
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send(&note, "autohand.permissionRequest");
}
