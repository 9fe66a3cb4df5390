/* Which commands are run at which events. */
#include "systems/autohand/guard.h"

#include <stdio.h>

enum { TIMEOUT_MS = 5000 };

static const struct {
    const char *name;
    dx__autohand_hook_event event;
} events[] = {
    {"pre-tool", DX__HOOK_PRE_TOOL},
    {"post-tool", DX__HOOK_POST_TOOL},
    {"file-modified", DX__HOOK_FILE_MODIFIED},
    {"pre-prompt", DX__HOOK_PRE_PROMPT},
    {"stop", DX__HOOK_STOP},
    {"post-response", DX__HOOK_STOP},
    {"session-start", DX__HOOK_SESSION_START},
    {"session-end", DX__HOOK_SESSION_END},
    {"session-error", DX__HOOK_SESSION_ERROR},
    {"rate-limit", DX__HOOK_RATE_LIMIT},
    {"permission-request", DX__HOOK_PERMISSION_REQUEST},
};

static bool find_event(dx_text name, dx__autohand_hook_event *ret_event) {
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (dx_text_is(name, events[i].name)) {
            *ret_event = events[i].event;
            return true;
        }
    return false;
}

static char *copy_of(const struct dx__autohand_setting *setting, yyjson_val *value) {
    return dx__text_copy(setting->alloc, dx_json_string(value));
}

static dx_status take_list(const struct dx__autohand_setting *setting, yyjson_val *texts,
                           char ***list) {
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(texts);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));)
        status = dx__autohand_list_add(list, setting->alloc, copy_of(setting, it));
    return status;
}

static dx_status note(const struct dx__autohand_setting *setting, size_t number, const char *member,
                      const char *what) {
    char where[64];
    (void)snprintf(where, sizeof where, "/hooks/hooks/%zu/%s", number, member);
    return dx__autohand_settings_note(setting, where, what);
}

static dx_status take_globs(const struct dx__autohand_setting *setting, size_t number,
                            yyjson_val *texts, char ***list) {
    dx_status status = DX_OK;
    yyjson_arr_iter iter = yyjson_arr_iter_with(texts);
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        status = dx__autohand_glob_expand(list, setting->alloc, yyjson_get_str(it));
        if (status == DX_MISFIT)
            status = note(setting, number, "filter/path",
                          "too many {…} groups: not all of them are expanded");
    }
    return status;
}

static dx_status take_matcher(const struct dx__autohand_setting *setting, size_t number,
                              yyjson_val *value, struct dx__autohand_hook *hook) {
    yyjson_val *matcher = yyjson_obj_get(value, "matcher");
    if (!matcher || !yyjson_get_len(matcher))
        return DX_OK;
    char why[200];
    hook->matcher = copy_of(setting, matcher);
    if (!hook->matcher)
        return DX_ERR_NOMEM;
    dx_status status = dx__autohand_matcher_new(setting->alloc, hook->matcher, &hook->pattern, why);
    if (status != DX_ERR_INVALID)
        return status;
    return hook->disabled ? DX_OK : note(setting, number, "matcher", why);
}

static dx_status take_hook(const struct dx__autohand_setting *setting, size_t number,
                           yyjson_val *value, struct dx__autohand_hook *hook) {
    yyjson_val *filter = yyjson_obj_get(value, "filter");
    yyjson_val *timeout = yyjson_obj_get(value, "timeout");
    hook->disabled = yyjson_is_false(yyjson_obj_get(value, "enabled"));
    hook->is_async = yyjson_is_true(yyjson_obj_get(value, "async"));
    hook->timeout_ms = timeout ? (uint64_t)yyjson_get_num(timeout) : TIMEOUT_MS;
    hook->command = copy_of(setting, yyjson_obj_get(value, "command"));
    dx_status status = hook->command ? take_matcher(setting, number, value, hook) : DX_ERR_NOMEM;
    if (status == DX_OK)
        status = take_list(setting, yyjson_obj_get(filter, "tool"), &hook->tools);
    if (status == DX_OK)
        status = take_globs(setting, number, yyjson_obj_get(filter, "path"), &hook->paths);
    return status;
}

static dx_status note_unknown(const struct dx__autohand_setting *setting, size_t number,
                              yyjson_val *value) {
    static const char *const names[] = {"event", "command", "description", "enabled", "timeout",
                                        "async", "matcher", "filter",      NULL};
    static const char *const filters[] = {"tool", "path", NULL};
    char where[64];
    (void)snprintf(where, sizeof where, "/hooks/hooks/%zu", number);
    dx_status status = dx__autohand_settings_unknown(setting, where, value, names);
    return status == DX_OK ? dx__autohand_settings_unknown(setting, where,
                                                           yyjson_obj_get(value, "filter"), filters)
                           : status;
}

/* One of an event that never comes here is left out; that is worth a word if it is enabled. */
static dx_status take_known(const struct dx__autohand_setting *setting, size_t number,
                            yyjson_val *value) {
    struct dx__autohand_settings *settings = setting->settings;
    struct dx__autohand_hook *hook = &settings->hooks[settings->hook_count];
    *hook = (struct dx__autohand_hook){.disabled = false};
    if (!find_event(dx_json_string(yyjson_obj_get(value, "event")), &hook->event))
        return yyjson_is_false(yyjson_obj_get(value, "enabled"))
                   ? DX_OK
                   : note(setting, number, "event", "unknown event");
    settings->hook_count++;
    dx_status status = note_unknown(setting, number, value);
    return status == DX_OK ? take_hook(setting, number, value, hook) : status;
}

dx_status dx__autohand_settings_hooks(const struct dx__autohand_setting *setting) {
    static const char *const names[] = {"enabled", "hooks", NULL};
    struct dx__autohand_settings *settings = setting->settings;
    yyjson_val *hooks = yyjson_obj_get(setting->root, "hooks");
    yyjson_val *list = yyjson_obj_get(hooks, "hooks");
    settings->hooks_off = yyjson_is_false(yyjson_obj_get(hooks, "enabled"));
    size_t count = yyjson_arr_size(list);
    dx_status status = dx__autohand_settings_unknown(setting, "/hooks", hooks, names);
    if (status != DX_OK || !count)
        return status;
    settings->hooks = dx__malloc(setting->alloc, count * sizeof *settings->hooks);
    status = settings->hooks ? DX_OK : DX_ERR_NOMEM;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    size_t number = 0;
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter)); number++)
        status = take_known(setting, number, it);
    return status;
}
