/* What is told of a turn: its beginning and end, its message, its tools. */
#include "systems/autohand/core_parts.h"

static bool is_doc(const struct dx__autohand_turn *turn) {
    return dx__autohand_core_is_doc(turn->agent);
}

void dx__autohand_tell_turn_start(struct dx__autohand_turn *turn) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, turn->agent))
        return;
    dx__autohand_note_text(&note, note.params, "turnId", dx_str(turn->id));
    if (is_doc(turn)) {
        dx__autohand_note_text(&note, note.params, "sessionId", dx_str(turn->agent->session));
        dx__autohand_note_text(&note, note.params, "instruction", turn->instruction);
    }
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send_cut(&note, "autohand.turnStart");
}

static void put_stats(struct dx__autohand_note *note, int64_t tokens, uint64_t duration, int free) {
    yyjson_mut_val *stats = yyjson_mut_obj(note->doc);
    if (!stats || !yyjson_mut_obj_add_sint(note->doc, stats, "tokensUsed", tokens) ||
        !yyjson_mut_obj_add_uint(note->doc, stats, "duration", duration) ||
        !yyjson_mut_obj_add_int(note->doc, stats, "contextPercent", free) ||
        !yyjson_mut_obj_add_val(note->doc, note->params, "stats", stats))
        note->params = NULL;
}

void dx__autohand_tell_turn_end(struct dx__autohand_turn *turn, const char *reason) {
    struct dx__autohand_note note;
    uint64_t duration = dx__autohand_core_since(turn->agent, turn->began);
    int free = dx__autohand_agent_free_percent(turn->agent);
    if (!dx__autohand_note_begin(&note, turn->agent))
        return;
    dx__autohand_note_text(&note, note.params, "turnId", dx_str(turn->id));
    if (is_doc(turn)) {
        dx__autohand_note_text(&note, note.params, "sessionId", dx_str(turn->agent->session));
        put_stats(&note, turn->tokens, duration, free);
    }
    dx__autohand_note_stamp(&note);
    if (note.params) {
        (void)yyjson_mut_obj_add_int(note.doc, note.params, "contextPercent", free);
        (void)yyjson_mut_obj_add_sint(note.doc, note.params, "tokensUsed", turn->tokens);
        (void)yyjson_mut_obj_add_uint(note.doc, note.params, "durationMs", duration);
    }
    if (is_doc(turn))
        dx__autohand_note_text(&note, note.params, "reason", dx_str(reason));
    (void)dx__autohand_note_send(&note, "autohand.turnEnd");
}

void dx__autohand_tell_message_start(struct dx__autohand_turn *turn) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, turn->agent))
        return;
    dx__autohand_note_text(&note, note.params, "messageId", dx_str(turn->message_id));
    if (is_doc(turn))
        dx__autohand_note_text(&note, note.params, "turnId", dx_str(turn->id));
    dx__autohand_note_text(&note, note.params, "role", dx_str("assistant"));
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send(&note, "autohand.messageStart");
}

static void tell_update(struct dx__autohand_turn *turn, dx_text delta, dx_text thought) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, turn->agent))
        return;
    dx__autohand_note_text(&note, note.params, "messageId", dx_str(turn->message_id));
    dx__autohand_note_text(&note, note.params, "delta", delta);
    if (thought.at)
        dx__autohand_note_text(&note, note.params, "thought", thought);
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send_cut(&note, "autohand.messageUpdate");
}

/* In as many pieces as it takes: a byte may need six in JSON. */
void dx__autohand_tell_text(struct dx__autohand_turn *turn, dx_text delta) {
    size_t most = turn->agent->config.line_max / 8 + 4;
    while (delta.len > most) {
        size_t len = most;
        while (len > 1 && ((unsigned char)delta.at[len] & 0xc0) == 0x80)
            len--;
        tell_update(turn, (dx_text){delta.at, len}, dx_str(NULL));
        delta = (dx_text){delta.at + len, delta.len - len};
    }
    tell_update(turn, delta, dx_str(NULL));
}

void dx__autohand_tell_thought(struct dx__autohand_turn *turn, dx_text thought) {
    tell_update(turn, dx_str(""), thought);
}

static dx_status message_end(struct dx__autohand_turn *turn, bool aborted, dx_text content,
                             bool with_calls) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, turn->agent))
        return DX_CLOSED;
    dx__autohand_note_text(&note, note.params, "messageId", dx_str(turn->message_id));
    dx__autohand_note_text(&note, note.params, "content", content);
    if (with_calls && note.params)
        (void)yyjson_mut_obj_add_val(
            note.doc, note.params, "toolCalls",
            yyjson_mut_val_mut_copy(note.doc, yyjson_mut_doc_get_root(turn->told)));
    if (aborted && note.params)
        (void)yyjson_mut_obj_add_bool(note.doc, note.params, "aborted", true);
    dx__autohand_note_stamp(&note);
    return dx__autohand_note_send(&note, "autohand.messageEnd");
}

/* It must come: if it is longer than a message may be, it comes without what makes it so. */
void dx__autohand_tell_message_end(struct dx__autohand_turn *turn, bool aborted) {
    bool calls = is_doc(turn) && turn->told && yyjson_mut_doc_get_root(turn->told);
    bool silent = aborted && !is_doc(turn);
    dx_text content = {turn->content.data, silent ? 0 : turn->content.len};
    dx_status status = message_end(turn, aborted, content, calls);
    if (status == DX_ERR_LIMIT || status == DX_ERR_NOMEM)
        (void)message_end(turn, aborted, dx_str(""), false);
}

void dx__autohand_tell_ping(struct dx__autohand_turn *turn) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, turn->agent))
        return;
    dx__autohand_note_stamp(&note);
    dx__autohand_note_text(&note, note.params, "status",
                           dx_str(dx__autohand_agent_status(turn->agent)));
    dx__autohand_note_text(&note, note.params, "turnId", dx_str(turn->id));
    (void)dx__autohand_note_send(&note, "autohand.ping");
}

/* The versions before had the tool's name among the arguments, and the text of write_file twice. */
static yyjson_mut_val *old_args(struct dx__autohand_note *note,
                                const struct dx__autohand_work *work, yyjson_mut_val *args) {
    yyjson_mut_val *all = yyjson_mut_obj(note->doc);
    yyjson_mut_obj_iter members;
    yyjson_mut_val *name;
    if (!all || !args || !yyjson_mut_obj_iter_init(args, &members) ||
        !yyjson_mut_obj_add_str(note->doc, all, "type", work->call.tool_name))
        return NULL;
    dx_text contents = {0};
    while ((name = yyjson_mut_obj_iter_next(&members))) {
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(name);
        if (yyjson_mut_equals_str(name, "contents") && yyjson_mut_is_str(value))
            contents = (dx_text){yyjson_mut_get_str(value), yyjson_mut_get_len(value)};
        (void)yyjson_mut_obj_add(all, yyjson_mut_val_mut_copy(note->doc, name),
                                 yyjson_mut_val_mut_copy(note->doc, value));
    }
    if (contents.at && !yyjson_mut_obj_get(all, "content") &&
        strcmp(work->call.tool_name, "write_file") == 0)
        (void)yyjson_mut_obj_add_strn(note->doc, all, "content", contents.at, contents.len);
    return all;
}

void dx__autohand_tell_tool_start(const struct dx__autohand_work *work) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, work->call.agent))
        return;
    dx__autohand_note_text(&note, note.params, "toolId", dx_str(work->call.tool_id));
    dx__autohand_note_text(&note, note.params, "toolName", dx_str(work->call.tool_name));
    yyjson_mut_val *args =
        work->call.args ? yyjson_val_mut_copy(note.doc, work->call.args) : yyjson_mut_obj(note.doc);
    if (!is_doc(work->turn))
        args = old_args(&note, work, args);
    if (!args || !note.params || !yyjson_mut_obj_add_val(note.doc, note.params, "args", args))
        note.params = NULL;
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send_cut(&note, "autohand.toolStart");
}

void dx__autohand_tell_tool_update(const struct dx__autohand_work *work, bool errors,
                                   dx_text text) {
    struct dx__autohand_note note;
    if (!is_doc(work->turn) || !work->call.agent->config.tool_updates ||
        !dx__autohand_note_begin(&note, work->call.agent))
        return;
    dx__autohand_note_text(&note, note.params, "toolId", dx_str(work->call.tool_id));
    dx__autohand_note_text(&note, note.params, "output", text);
    dx__autohand_note_text(&note, note.params, "stream", dx_str(errors ? "stderr" : "stdout"));
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send_cut(&note, "autohand.toolUpdate");
}

void dx__autohand_tell_tool_end(const struct dx__autohand_work *work, bool success,
                                dx_text output) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, work->call.agent))
        return;
    dx__autohand_note_text(&note, note.params, "toolId", dx_str(work->call.tool_id));
    dx__autohand_note_text(&note, note.params, "toolName", dx_str(work->call.tool_name));
    if (note.params)
        (void)yyjson_mut_obj_add_bool(note.doc, note.params, "success", success);
    bool is_error = !success && is_doc(work->turn);
    dx__autohand_note_text(&note, note.params, is_error ? "error" : "output", output);
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send_cut(&note, "autohand.toolEnd");
}
