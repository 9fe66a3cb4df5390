/* What plugins are told, as JSON text, so that its members stand in the order of the protocol. */
#include "systems/reginald/host_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef dx__reginald_host_params params_text;

static dx_status put(dx_buf *json, const char *text) {
    return dx_buf_append(json, text, strlen(text));
}

params_text dx__reginald_host_params_new(const dx_reginald *host) {
    params_text params = {.status = DX_OK};
    dx_buf_init(&params.text, REGINALD_PARAMS_MAX, &host->alloc);
    return params;
}

static void begin_member(params_text *params, const char *name) {
    if (params->status == DX_OK)
        params->status = put(&params->text, params->text.len ? "," : "{");
    if (params->status == DX_OK)
        params->status = dx_json_write_string(&params->text, dx_str(name));
    if (params->status == DX_OK)
        params->status = put(&params->text, ":");
}

void dx__reginald_host_params_string(params_text *params, const char *name, const char *value) {
    begin_member(params, name);
    if (params->status == DX_OK)
        params->status = dx_json_write_string(&params->text, dx_str(value));
}

void dx__reginald_host_params_json(params_text *params, const char *name, dx_json value) {
    size_t before = params->text.len;
    begin_member(params, name);
    size_t start = params->text.len;
    if (params->status == DX_OK)
        params->status = dx_json_write(&params->text, value);
    if (params->status == DX_OK && params->text.len == start)
        params->text.len = before;
}

void dx__reginald_host_params_words(params_text *params, const char *name,
                                    const char *const *words) {
    begin_member(params, name);
    if (params->status == DX_OK)
        params->status = put(&params->text, words ? "[" : "null");
    for (size_t i = 0; words && words[i] && params->status == DX_OK; i++) {
        if (i)
            params->status = put(&params->text, ",");
        if (params->status == DX_OK)
            params->status = dx_json_write_string(&params->text, dx_str(words[i]));
    }
    if (params->status == DX_OK && words)
        params->status = put(&params->text, "]");
}

/* The escape that Go has for what is at that place, and how many bytes that has; NULL: none. */
static const char *escape_of(const char *at, size_t len, size_t *ret_len) {
    *ret_len = 1;
    if (*at == '<')
        return "\\u003c";
    if (*at == '>')
        return "\\u003e";
    if (*at == '&')
        return "\\u0026";
    if (len < 3 || memcmp(at, "\xe2\x80", 2) != 0)
        return NULL;
    *ret_len = 3;
    return at[2] == '\xa8' ? "\\u2028" : at[2] == '\xa9' ? "\\u2029" : NULL;
}

/* As the real host writes it. These characters stand in strings only. */
static void escape(params_text *params) {
    dx_buf text;
    dx_buf_init(&text, params->text.max, &params->text.alloc);
    for (size_t i = 0, len; i < params->text.len && params->status == DX_OK; i += len) {
        const char *escaped = escape_of(params->text.data + i, params->text.len - i, &len);
        if (!escaped)
            len = 1;
        params->status =
            escaped ? put(&text, escaped) : dx_buf_append(&text, params->text.data + i, 1);
    }
    dx_buf_done(&params->text);
    params->text = text;
}

dx_status dx__reginald_host_params_call(params_text *params, dx_reginald_guest *guest,
                                        const char *method, const dx_link_call_options *options) {
    if (params->status == DX_OK)
        params->status = put(&params->text, "}");
    if (params->status == DX_OK && guest->host->exact)
        escape(params);
    if (params->status == DX_OK)
        params->status =
            dx_link_call(dx__reginald_host_link(guest), dx_str(method),
                         dx_json_text(params->text.data, params->text.len), options, NULL);
    dx_buf_done(&params->text);
    return params->status;
}

static dx_status write_value(const dx_reginald_value *value, dx_buf *json) {
    char number[32];
    switch (value->type) {
    case DX_REGINALD_BOOL:
        return put(json, value->number ? "true,\"type\":\"bool\"}" : "false,\"type\":\"bool\"}");
    case DX_REGINALD_INT:
        snprintf(number, sizeof number, "%" PRId64, value->number);
        return put(json, number) == DX_OK ? put(json, ",\"type\":\"int\"}") : DX_ERR_NOMEM;
    case DX_REGINALD_STRING:
        break;
    }
    dx_status status = dx_json_write_string(json, dx_str(value->text ? value->text : ""));
    return status == DX_OK ? put(json, ",\"type\":\"string\"}") : status;
}

dx_status dx__reginald_host_settings_write(const dx_reginald_entry *settings, dx_buf *json) {
    dx_status status = put(json, "[");
    for (size_t i = 0; settings && settings[i].value.key && status == DX_OK; i++) {
        status = put(json, i ? ",{\"key\":" : "{\"key\":");
        if (status == DX_OK)
            status = dx_json_write_string(json, dx_str(settings[i].value.key));
        if (status == DX_OK)
            status = put(json, ",\"value\":");
        if (status == DX_OK)
            status = write_value(&settings[i].value, json);
    }
    return status == DX_OK ? put(json, "]") : status;
}
