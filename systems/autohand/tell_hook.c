/* What is told of changes and of hooks. */
#include "systems/autohand/core_parts.h"

void dx__autohand_tell_batch_start(dx_autohand_agent *agent, const char *batch, const char *turn) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, agent))
        return;
    dx__autohand_note_text(&note, note.params, "batchId", dx_str(batch));
    dx__autohand_note_text(&note, note.params, "turnId", dx_str(turn));
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send(&note, "autohand.changesBatchStart");
}

void dx__autohand_tell_change(dx_autohand_agent *agent, const char *batch,
                              const struct dx__autohand_told_change *change,
                              const struct dx__autohand_call *call) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, agent))
        return;
    bool named = call && dx__autohand_core_is_doc(agent);
    yyjson_mut_val *told = yyjson_mut_obj(note.doc);
    if (told) {
        dx__autohand_note_text(&note, told, "id", dx_str(change->id));
        dx__autohand_note_text(&note, told, "filePath", dx_str(change->path));
        dx__autohand_note_text(&note, told, "changeType", dx_str(change->type));
        dx__autohand_note_text(&note, told, "originalContent", change->before);
        dx__autohand_note_text(&note, told, "proposedContent", change->after);
        dx__autohand_note_text(&note, told, "description", dx_str(change->description));
        dx__autohand_note_text(&note, told, "toolId", dx_str(named ? call->tool_id : ""));
        dx__autohand_note_text(&note, told, "toolName", dx_str(named ? call->tool_name : ""));
    }
    if (note.params)
        dx__autohand_note_text(&note, note.params, "batchId", dx_str(batch));
    if (!told || !note.params || !yyjson_mut_obj_add_val(note.doc, note.params, "change", told))
        note.params = NULL;
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send(&note, "autohand.changesBatchUpdate");
}

void dx__autohand_tell_batch_end(dx_autohand_agent *agent, const char *batch, size_t count) {
    struct dx__autohand_note note;
    if (!dx__autohand_note_begin(&note, agent))
        return;
    dx__autohand_note_text(&note, note.params, "batchId", dx_str(batch));
    if (note.params)
        (void)yyjson_mut_obj_add_uint(note.doc, note.params, "changeCount", count);
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send(&note, "autohand.changesBatchEnd");
}

static void put(struct dx__autohand_note *note, const char *name, dx_text text) {
    if (note->params && text.at)
        dx__autohand_note_text(note, note->params, name, text);
}

static void put_value(struct dx__autohand_note *note, const char *name, yyjson_val *value,
                      bool as_list) {
    yyjson_mut_val *copy = value     ? yyjson_val_mut_copy(note->doc, value)
                           : as_list ? yyjson_mut_arr(note->doc)
                                     : yyjson_mut_obj(note->doc);
    if (!copy || !note->params || !yyjson_mut_obj_add_val(note->doc, note->params, name, copy))
        note->params = NULL;
}

static void put_number(struct dx__autohand_note *note, const char *name, double number) {
    uint64_t whole = number > 0 && number < 9e15 ? (uint64_t)number : 0;
    if (note->params && !yyjson_mut_obj_add_uint(note->doc, note->params, name, whole))
        note->params = NULL;
}

static dx_text or_empty(dx_text text) {
    return text.at ? text : dx_str("");
}

static void put_tool(struct dx__autohand_note *note, const struct dx__autohand_occasion *of) {
    put(note, "toolId", or_empty(of->tool_id));
    put(note, "toolName", or_empty(of->tool));
}

/* NULL: not told. */
static const char *put_facts(struct dx__autohand_note *note,
                             const struct dx__autohand_occasion *of) {
    switch (of->event) {
    case DX__HOOK_PRE_TOOL:
        put_tool(note, of);
        put_value(note, "args", of->args, false);
        return "autohand.hook.preTool";
    case DX__HOOK_POST_TOOL:
        put_tool(note, of);
        if (note->params)
            (void)yyjson_mut_obj_add_bool(note->doc, note->params, "success", of->success == 1);
        put_number(note, "duration", of->duration_ms);
        put(note, "output", of->output);
        return "autohand.hook.postTool";
    case DX__HOOK_FILE_MODIFIED:
        put(note, "filePath", or_empty(of->path));
        put(note, "changeType", or_empty(of->change_type));
        put(note, "toolId", or_empty(of->tool_id));
        return "autohand.hook.fileModified";
    case DX__HOOK_PRE_PROMPT:
        put(note, "instruction", or_empty(of->instruction));
        put_value(note, "mentionedFiles", of->files, true);
        return "autohand.hook.prePrompt";
    case DX__HOOK_STOP:
        put_number(note, "tokensUsed", (double)of->tokens);
        put_number(note, "toolCallsCount",
                   dx__autohand_core_is_doc(note->agent) ? (double)of->calls : 0);
        put_number(note, "duration", of->duration_ms);
        return dx__autohand_core_is_doc(note->agent) ? "autohand.hook.postResponse"
                                                     : "autohand.hook.stop";
    case DX__HOOK_SESSION_ERROR:
        put(note, "error", or_empty(of->error));
        put(note, "code", of->error_code);
        return "autohand.hook.sessionError";
    case DX__HOOK_PERMISSION_REQUEST:
        put(note, "tool", or_empty(of->tool));
        put(note, "path", of->path);
        put(note, "command", of->command);
        put_value(note, "args", of->args, false);
        return "autohand.hook.permissionRequest";
    default: /* not in the document */
        return NULL;
    }
}

void dx__autohand_tell_hook(dx_autohand_agent *agent,
                            const struct dx__autohand_occasion *occasion) {
    struct dx__autohand_note note;
    bool told = dx__autohand_core_is_doc(agent) ||
                (agent->config.compat == DX_AUTOHAND_0_8 && occasion->event == DX__HOOK_STOP);
    if (!told || !dx__autohand_note_begin(&note, agent))
        return;
    const char *method = put_facts(&note, occasion);
    if (!method) {
        yyjson_mut_doc_free(note.doc);
        return;
    }
    dx__autohand_note_stamp(&note);
    (void)dx__autohand_note_send_cut(&note, method);
}
