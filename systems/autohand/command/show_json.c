/* Events as lines of JSON. */
#include "systems/autohand/command/show.h"

#include "cli/event.h"

#include <stdlib.h>

static void add_text(yyjson_mut_doc *event, const char *key, dx_text text) {
    if (text.at)
        cli_event_add_text(event, key, text);
}

static void add_value(yyjson_mut_doc *event, const char *key, yyjson_val *value) {
    if (event && value)
        cli_event_add_value(event, key, yyjson_val_mut_copy(event, value));
}

static void add_int(yyjson_mut_doc *event, const char *key, int64_t number) {
    cli_event_add_value(event, key, yyjson_mut_sint(event, number));
}

static void add_real(yyjson_mut_doc *event, const char *key, double number) {
    bool whole = number >= 0 && number < 1e15 && number == (double)(uint64_t)number;
    if (number >= 0)
        cli_event_add_value(event, key,
                            whole ? yyjson_mut_uint(event, (uint64_t)number)
                                  : yyjson_mut_real(event, number));
}

static void add_change(yyjson_mut_doc *line, const dx_autohand_change *change) {
    add_text(line, "id", change->id);
    add_text(line, "path", change->path);
    add_text(line, "type", change->type);
    add_text(line, "before", change->before);
    add_text(line, "after", change->after);
    add_text(line, "description", change->description);
}

static const char *name_of(dx_autohand_event_kind kind) {
    static const char *const names[] = {
        [DX_AUTOHAND_AGENT_START] = "agent-start",
        [DX_AUTOHAND_AGENT_END] = "agent-end",
        [DX_AUTOHAND_TURN_START] = "turn-start",
        [DX_AUTOHAND_TURN_END] = "turn-end",
        [DX_AUTOHAND_MESSAGE_START] = "message-start",
        [DX_AUTOHAND_TEXT] = "text",
        [DX_AUTOHAND_THOUGHT] = "thought",
        [DX_AUTOHAND_MESSAGE_END] = "message-end",
        [DX_AUTOHAND_TOOL_START] = "tool-start",
        [DX_AUTOHAND_TOOL_OUTPUT] = "tool-output",
        [DX_AUTOHAND_TOOL_END] = "tool-end",
        [DX_AUTOHAND_ERROR] = "error",
        [DX_AUTOHAND_PING] = "ping",
        [DX_AUTOHAND_HOOK] = "hook",
        [DX_AUTOHAND_BATCH_START] = "changes-start",
        [DX_AUTOHAND_BATCH_CHANGE] = "change",
        [DX_AUTOHAND_BATCH_END] = "changes-end",
        [DX_AUTOHAND_PERMISSION] = "permission",
        [DX_AUTOHAND_LATE] = "late",
        [DX_AUTOHAND_OTHER] = "notification",
    };
    return names[kind];
}

static void add_ids(yyjson_mut_doc *line, const dx_autohand_event *event) {
    bool is_change = event->kind == DX_AUTOHAND_BATCH_START ||
                     event->kind == DX_AUTOHAND_BATCH_CHANGE ||
                     event->kind == DX_AUTOHAND_BATCH_END;
    add_text(line, "session", event->session);
    add_text(line, "model", event->model);
    add_text(line, "workspace", event->workspace);
    add_text(line, "turn", event->turn);
    add_text(line, "message", event->message);
    add_text(line, is_change ? "batch" : "id", event->batch);
    add_text(line, "tool", event->tool);
    add_text(line, "name", event->name);
}

static void add_figures(yyjson_mut_doc *line, const dx_autohand_event *event) {
    if (event->tokens >= 0)
        add_int(line, "tokens", event->tokens);
    if (event->count >= 0)
        add_int(line, "count", event->count);
    add_real(line, "durationMs", event->duration_ms);
    add_real(line, "contextPercent", event->context_percent);
    if (event->aborted)
        cli_event_add_bool(line, "aborted", 1);
    if (event->success >= 0)
        cli_event_add_bool(line, "success", event->success);
}

/* Members that are not told are not there. */
void show_json_event(const dx_autohand_event *event) {
    yyjson_mut_doc *line = cli_event_new(name_of(event->kind));
    bool has_params = event->kind == DX_AUTOHAND_HOOK || event->kind == DX_AUTOHAND_LATE ||
                      event->kind == DX_AUTOHAND_OTHER || event->kind == DX_AUTOHAND_PERMISSION;
    add_ids(line, event);
    if (event->kind == DX_AUTOHAND_TOOL_START)
        add_value(line, "args", event->args);
    if (event->kind == DX_AUTOHAND_TOOL_OUTPUT)
        cli_event_add(line, "stream", event->is_errors ? "stderr" : "stdout");
    if (event->kind == DX_AUTOHAND_ERROR) {
        if (event->code != -1)
            add_int(line, "code", event->code);
        if (event->recoverable >= 0)
            cli_event_add_bool(line, "recoverable", event->recoverable);
    }
    add_text(line, "text", event->text);
    add_text(line, "reason", event->reason);
    add_figures(line, event);
    if (event->change)
        add_change(line, event->change);
    if (event->kind == DX_AUTOHAND_LATE || event->kind == DX_AUTOHAND_OTHER)
        add_text(line, "method", event->method);
    if (has_params)
        add_value(line, "params", event->value);
    cli_event_put(line);
}

void show_json_turn(const dx_autohand_turn *turn) {
    yyjson_mut_doc *line = cli_event_new("turn");
    cli_event_add_bool(line, "success", turn->success);
    cli_event_add_bool(line, "aborted", turn->aborted);
    if (turn->code)
        add_int(line, "code", turn->code);
    add_text(line, "error", turn->error);
    add_text(line, "content", turn->content);
    add_text(line, "batch", turn->batch);
    if (turn->tokens >= 0)
        add_int(line, "tokens", turn->tokens);
    add_real(line, "durationMs", turn->duration_ms);
    add_real(line, "contextPercent", turn->context_percent);
    cli_event_add_number(line, "toolCalls", turn->tool_calls);
    cli_event_add_number(line, "toolFailures", turn->tool_failures);
    cli_event_add_number(line, "denied", turn->denied);
    cli_event_put(line);
}

void show_json_permit(const dx_autohand_permission *permission, const char *decision,
                      const char *by) {
    yyjson_mut_doc *line = cli_event_new("permission-answer");
    add_text(line, "id", permission->id);
    add_text(line, "name", permission->tool);
    cli_event_add(line, "decision", decision);
    cli_event_add(line, "by", by);
    cli_event_put(line);
}

void show_json_decision(yyjson_val *result) {
    yyjson_mut_doc *line = cli_event_new("decision");
    add_value(line, "success", yyjson_obj_get(result, "success"));
    add_value(line, "applied", yyjson_obj_get(result, "appliedCount"));
    add_value(line, "skipped", yyjson_obj_get(result, "skippedCount"));
    add_value(line, "errors", yyjson_obj_get(result, "errors"));
    cli_event_put(line);
}

void show_json_ask(const char *about, const char *id) {
    yyjson_mut_doc *line = cli_event_new("ask");
    cli_event_add(line, "about", about);
    cli_event_add(line, "id", id);
    cli_event_put(line);
}

void show_json_remark(const char *event, dx_text text) {
    yyjson_mut_doc *line = cli_event_new(event);
    add_text(line, "text", text);
    cli_event_put(line);
}
