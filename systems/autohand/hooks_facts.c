/* What a hook is told: an object on its standard input, and HOOK_… in its environment. */
#include "systems/autohand/hooks_parts.h"

#include <duplex/rpc.h>

#include <stdio.h>

/* Linux takes 128 KiB for one variable, and not many of them; the whole is in the object. */
enum { VALUE_MAX = 16 << 10 };

const char *dx__autohand_hook_event_name(dx__autohand_hook_event event) {
    static const char *const names[DX__HOOK_EVENTS] = {
        [DX__HOOK_PRE_TOOL] = "pre-tool",
        [DX__HOOK_POST_TOOL] = "post-tool",
        [DX__HOOK_FILE_MODIFIED] = "file-modified",
        [DX__HOOK_PRE_PROMPT] = "pre-prompt",
        [DX__HOOK_STOP] = "stop",
        [DX__HOOK_SESSION_START] = "session-start",
        [DX__HOOK_SESSION_END] = "session-end",
        [DX__HOOK_SESSION_ERROR] = "session-error",
        [DX__HOOK_RATE_LIMIT] = "rate-limit",
        [DX__HOOK_PERMISSION_REQUEST] = "permission-request",
    };
    return names[event];
}

void dx__autohand_facts_release(struct dx__autohand_facts *facts) {
    if (!facts || --facts->refs)
        return;
    dx_allocator alloc = facts->alloc;
    dx__free(&alloc, facts->input);
    dx__autohand_list_free(facts->env, &alloc);
    dx__free(&alloc, facts);
}

/* Both forms are written at once. */
struct writer {
    struct dx__autohand_facts *facts;
    dx_buf input;
    dx_status status;
};

static void add(struct writer *writer, const char *text) {
    if (writer->status == DX_OK)
        writer->status = dx_buf_append(&writer->input, text, strlen(text));
}

static void add_name(struct writer *writer, const char *name) {
    add(writer, writer->input.len > 1 ? ",\"" : "\"");
    add(writer, name);
    add(writer, "\":");
}

/* What is no character becomes one that says so. */
static dx_status add_mended(dx_buf *to, dx_text text) {
    static const char instead[] = "\xef\xbf\xbd";
    dx_buf mended;
    dx_status status = DX_OK;
    dx_buf_init(&mended, to->max, &to->alloc);
    for (size_t i = 0, len; status == DX_OK && i < text.len; i += len ? len : 1) {
        len = dx__utf8(text.at + i, text.len - i);
        status = len ? dx_buf_append(&mended, text.at + i, len)
                     : dx_buf_append(&mended, instead, sizeof instead - 1);
    }
    if (status == DX_OK)
        status = dx_json_write_string(to, (dx_text){mended.data ? mended.data : "", mended.len});
    dx_buf_done(&mended);
    return status;
}

static void add_env(struct writer *writer, const char *name, dx_text value) {
    if (writer->status != DX_OK || !name)
        return;
    size_t len = value.len;
    /* Not in the middle of a character. */
    if (len > VALUE_MAX)
        for (len = VALUE_MAX; len && ((unsigned char)value.at[len] & 0xc0) == 0x80;)
            len--;
    const dx_allocator *alloc = &writer->facts->alloc;
    char *text = dx__malloc(alloc, strlen(name) + len + 2);
    if (text) {
        char *to = text + strlen(name) + 1;
        memcpy(text, name, strlen(name));
        to[-1] = '=';
        for (size_t i = 0; i < len; i++)
            to[i] = value.at[i];
        to[len] = '\0';
        for (size_t i = 0; i < len; i++)
            if (!to[i])
                to[i] = '?';
    }
    writer->status = dx__autohand_list_add(&writer->facts->env, alloc, text);
}

static void add_text(struct writer *writer, const char *name, const char *variable, dx_text text) {
    if (!text.at)
        return;
    add_name(writer, name);
    if (writer->status == DX_OK)
        writer->status = dx__is_utf8(text) ? dx_json_write_string(&writer->input, text)
                                           : add_mended(&writer->input, text);
    add_env(writer, variable, text);
}

static void add_path(struct writer *writer, const dx_autohand_agent *agent, dx_text path) {
    char *clean = NULL;
    if (writer->status == DX_OK)
        writer->status = dx__autohand_hook_path(agent, path, &clean);
    add_text(writer, "file_path", "HOOK_PATH", dx_str(clean));
    dx__free(&agent->workspace.alloc, clean);
}

/* JSON that was cut is none: a long one is only in the object. */
static void add_value(struct writer *writer, const char *name, const char *variable,
                      yyjson_val *value) {
    if (!value)
        return;
    add_name(writer, name);
    size_t from = writer->input.len;
    if (writer->status == DX_OK)
        writer->status = dx_json_write(&writer->input, dx_json_value(value));
    dx_text text = {writer->input.data + from, writer->input.len - from};
    if (writer->status == DX_OK && text.len <= VALUE_MAX)
        add_env(writer, variable, text);
}

static void add_number(struct writer *writer, const char *name, const char *variable,
                       double number) {
    char text[32];
    if (!(number >= 0 && number < 1e15))
        return;
    (void)snprintf(text, sizeof text, "%.0f", number);
    add_name(writer, name);
    add(writer, text);
    add_env(writer, variable, dx_str(text));
}

static void add_flag(struct writer *writer, const char *name, const char *variable, int flag) {
    if (flag < 0)
        return;
    add_name(writer, name);
    add(writer, flag ? "true" : "false");
    add_env(writer, variable, dx_str(flag ? "true" : "false"));
}

static void add_all(struct writer *writer, const dx_autohand_agent *agent,
                    const struct dx__autohand_occasion *it) {
    bool stops = it->event == DX__HOOK_STOP;
    dx_text kind = {NULL, 0};
    if (it->event == DX__HOOK_PERMISSION_REQUEST)
        kind = dx_str(it->command.at ? "command" : it->path.at ? "path" : "tool");
    add(writer, "{");
    add_text(writer, "session_id", "HOOK_SESSION_ID", dx_str(agent->session));
    add_text(writer, "cwd", "HOOK_WORKSPACE", dx_str(agent->workspace.path));
    add_text(writer, "hook_event_name", "HOOK_EVENT",
             dx_str(dx__autohand_hook_event_name(it->event)));
    add_text(writer, "tool_name", "HOOK_TOOL", it->tool);
    add_value(writer, "tool_input", "HOOK_ARGS", it->args);
    add_text(writer, "tool_use_id", "HOOK_TOOL_CALL_ID", it->tool_id);
    add_text(writer, "tool_response", "HOOK_OUTPUT", it->output);
    add_flag(writer, "tool_success", "HOOK_SUCCESS", it->success);
    add_path(writer, agent, it->path);
    add_text(writer, "change_type", "HOOK_CHANGE_TYPE", it->change_type);
    add_text(writer, "command", "HOOK_COMMAND", it->command);
    add_text(writer, "instruction", "HOOK_INSTRUCTION", it->instruction);
    add_value(writer, "mentioned_files", "HOOK_MENTIONED_FILES", it->files);
    add_number(writer, "tokens_used", "HOOK_TOKENS", (double)it->tokens);
    add_number(writer, "tool_calls_count", "HOOK_TOOL_CALLS_COUNT", (double)it->calls);
    if (stops)
        add_number(writer, "turn_duration", "HOOK_TURN_DURATION", it->duration_ms);
    add_number(writer, "duration", "HOOK_DURATION", it->duration_ms);
    add_text(writer, "error", "HOOK_ERROR", it->error);
    add_text(writer, "error_code", "HOOK_ERROR_CODE", it->error_code);
    add_text(writer, "session_type", "HOOK_SESSION_TYPE", it->session_type);
    add_text(writer, "session_end_reason", "HOOK_SESSION_END_REASON", it->end_reason);
    add_text(writer, "permission_type", "HOOK_PERMISSION_TYPE", kind);
    add(writer, "}\n");
}

dx_status dx__autohand_facts_new(const dx_autohand_agent *agent,
                                 const struct dx__autohand_occasion *occasion,
                                 struct dx__autohand_facts **ret) {
    struct dx__autohand_facts *facts = dx__malloc(&agent->alloc, sizeof *facts);
    if (!facts)
        return DX_ERR_NOMEM;
    *facts = (struct dx__autohand_facts){.refs = 1, .alloc = agent->alloc};
    struct writer writer = {.facts = facts};
    dx_buf_init(&writer.input, SIZE_MAX / 2, &agent->alloc);
    add_all(&writer, agent, occasion);
    if (writer.status == DX_OK) {
        facts->input_len = writer.input.len;
        /* The buffer has room for the worst case; what waits for its turn shall not. */
        facts->input = dx__text_copy(&agent->alloc, (dx_text){writer.input.data, writer.input.len});
        writer.status = facts->input ? DX_OK : DX_ERR_NOMEM;
    }
    dx_buf_done(&writer.input);
    if (writer.status == DX_OK)
        *ret = facts;
    else
        dx__autohand_facts_release(facts);
    return writer.status;
}
