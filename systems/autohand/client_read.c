/* A notification of any version as one dx_autohand_event. */
#include "systems/autohand/client_parts.h"

dx_text dx__autohand_client_text(yyjson_val *object, const char *member) {
    return dx_json_string(yyjson_obj_get(object, member));
}

static double number_of(yyjson_val *object, const char *member) {
    yyjson_val *value = yyjson_obj_get(object, member);
    return yyjson_is_num(value) ? yyjson_get_num(value) : -1;
}

static int bool_of(yyjson_val *object, const char *member) {
    yyjson_val *value = yyjson_obj_get(object, member);
    return yyjson_is_bool(value) ? yyjson_get_bool(value) : -1;
}

/* What is no integer, or none that fits, is -1; codes are asked for with `least` below that. */
static int64_t integer_of(yyjson_val *object, const char *member, int64_t least) {
    double number = 0;
    yyjson_val *value = yyjson_obj_get(object, member);
    if (!yyjson_is_num(value))
        return -1;
    number = yyjson_get_num(value);
    return number >= (double)least && number <= 9007199254740992.0 ? (int64_t)number : -1;
}

/* Which one is it? */

struct kind {
    const char *name; /* behind "autohand." */
    dx_autohand_event_kind kind;
};

static dx_autohand_event_kind kind_of(dx_text method) {
    static const char prefix[] = "autohand.";
    static const struct kind kinds[] = {
        {"agentStart", DX_AUTOHAND_AGENT_START},
        {"agentEnd", DX_AUTOHAND_AGENT_END},
        {"turnStart", DX_AUTOHAND_TURN_START},
        {"turnEnd", DX_AUTOHAND_TURN_END},
        {"messageStart", DX_AUTOHAND_MESSAGE_START},
        {"messageUpdate", DX_AUTOHAND_TEXT},
        {"messageEnd", DX_AUTOHAND_MESSAGE_END},
        {"toolStart", DX_AUTOHAND_TOOL_START},
        {"toolUpdate", DX_AUTOHAND_TOOL_OUTPUT},
        {"toolEnd", DX_AUTOHAND_TOOL_END},
        {"error", DX_AUTOHAND_ERROR},
        {"ping", DX_AUTOHAND_PING},
        {"changesBatchStart", DX_AUTOHAND_BATCH_START},
        {"changesBatchUpdate", DX_AUTOHAND_BATCH_CHANGE},
        {"changesBatchEnd", DX_AUTOHAND_BATCH_END},
        {"permissionRequest", DX_AUTOHAND_PERMISSION},
        {"directoryAccessRequest", DX_AUTOHAND_PERMISSION},
    };
    size_t len = sizeof prefix - 1;
    if (!method.at || method.len <= len || memcmp(method.at, prefix, len) != 0)
        return DX_AUTOHAND_OTHER;
    dx_text name = {method.at + len, method.len - len};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (dx_text_is(name, kinds[i].name))
            return kinds[i].kind;
    return name.len > 5 && memcmp(name.at, "hook.", 5) == 0 ? DX_AUTOHAND_HOOK : DX_AUTOHAND_OTHER;
}

/* What it says. */

/* The figures stand in stats, as the document has it, or beside it, as the programs do. */
static void read_stats(yyjson_val *params, dx_autohand_event *event) {
    yyjson_val *stats = yyjson_obj_get(params, "stats");
    event->tokens = integer_of(params, "tokensUsed", 0);
    event->duration_ms = number_of(params, "durationMs");
    event->context_percent = number_of(params, "contextPercent");
    if (event->tokens < 0)
        event->tokens = integer_of(stats, "tokensUsed", 0);
    if (event->duration_ms < 0)
        event->duration_ms = number_of(stats, "durationMs");
    if (event->duration_ms < 0)
        event->duration_ms = number_of(stats, "duration");
    if (event->context_percent < 0)
        event->context_percent = number_of(stats, "contextPercent");
}

static void read_update(dx_text method, yyjson_val *params, dx_autohand_event *event,
                        dx_autohand_event *ret_thought) {
    dx_text thought = dx__autohand_client_text(params, "thought");
    event->text = dx__autohand_client_text(params, "delta");
    if (!thought.len)
        return;
    *ret_thought = *event;
    ret_thought->kind = DX_AUTOHAND_THOUGHT;
    ret_thought->method = method;
    ret_thought->text = thought;
    if (!event->text.len)
        event->kind = 0;
}

static void read_tool_end(yyjson_val *params, dx_autohand_event *event) {
    dx_text why = dx__autohand_client_text(params, "error");
    event->success = bool_of(params, "success");
    event->text = dx__autohand_client_text(params, "output");
    if (event->success != 1 && why.at)
        event->text = why;
}

static void read_change(yyjson_val *params, dx_autohand_event *event,
                        dx_autohand_change *ret_change) {
    yyjson_val *change = yyjson_obj_get(params, "change");
    *ret_change = (dx_autohand_change){
        .id = dx__autohand_client_text(change, "id"),
        .path = dx__autohand_client_text(change, "filePath"),
        .type = dx__autohand_client_text(change, "changeType"),
        .before = dx__autohand_client_text(change, "originalContent"),
        .after = dx__autohand_client_text(change, "proposedContent"),
        .description = dx__autohand_client_text(change, "description"),
        .tool = dx__autohand_client_text(change, "toolName"),
    };
    event->change = ret_change;
    event->tool = dx__autohand_client_text(change, "toolId");
}

static void read_error(yyjson_val *params, dx_autohand_event *event) {
    event->code = integer_of(params, "code", -9007199254740992);
    event->text = dx__autohand_client_text(params, "message");
    event->recoverable = bool_of(params, "recoverable");
    event->reason = dx__autohand_client_text(params, "errorType");
}

static void read_more(yyjson_val *params, dx_autohand_event *event, dx_autohand_change *change) {
    switch (event->kind) {
    case DX_AUTOHAND_TURN_START:
        event->text = dx__autohand_client_text(params, "instruction");
        break;
    case DX_AUTOHAND_TURN_END:
        read_stats(params, event);
        break;
    case DX_AUTOHAND_MESSAGE_END:
        event->text = dx__autohand_client_text(params, "content");
        event->aborted = bool_of(params, "aborted") == 1;
        break;
    case DX_AUTOHAND_TOOL_OUTPUT:
        event->text = dx__autohand_client_text(params, "output");
        event->is_errors = dx_text_is(dx__autohand_client_text(params, "stream"), "stderr");
        break;
    case DX_AUTOHAND_TOOL_END:
        read_tool_end(params, event);
        break;
    case DX_AUTOHAND_ERROR:
        read_error(params, event);
        break;
    case DX_AUTOHAND_HOOK:
        event->name = event->method;
        event->name.at += strlen("autohand.hook.");
        event->name.len -= strlen("autohand.hook.");
        break;
    case DX_AUTOHAND_BATCH_CHANGE:
        read_change(params, event, change);
        break;
    case DX_AUTOHAND_BATCH_END:
        event->count = integer_of(params, "changeCount", 0);
        break;
    case DX_AUTOHAND_PERMISSION:
        event->batch = dx__autohand_client_text(params, "requestId");
        event->name = dx__autohand_client_text(params, "tool");
        event->text = dx__autohand_client_text(params, "description");
        break;
    default:
        break;
    }
}

void dx__autohand_client_read(dx_text method, yyjson_val *params, dx_autohand_event *ret_event,
                              dx_autohand_event *ret_thought, dx_autohand_change *ret_change) {
    *ret_thought = (dx_autohand_event){.kind = 0};
    *ret_event = (dx_autohand_event){
        .kind = kind_of(method),
        .method = method,
        .session = dx__autohand_client_text(params, "sessionId"),
        .turn = dx__autohand_client_text(params, "turnId"),
        .message = dx__autohand_client_text(params, "messageId"),
        .tool = dx__autohand_client_text(params, "toolId"),
        .batch = dx__autohand_client_text(params, "batchId"),
        .name = dx__autohand_client_text(params, "toolName"),
        .reason = dx__autohand_client_text(params, "reason"),
        .model = dx__autohand_client_text(params, "model"),
        .workspace = dx__autohand_client_text(params, "workspace"),
        .success = -1,
        .recoverable = -1,
        .code = -1,
        .tokens = -1,
        .count = -1,
        .duration_ms = -1,
        .context_percent = number_of(params, "contextPercent"),
        .args = yyjson_obj_get(params, "args"),
        .value = params,
    };
    if (ret_event->kind == DX_AUTOHAND_TEXT)
        read_update(method, params, ret_event, ret_thought);
    else
        read_more(params, ret_event, ret_change);
}
