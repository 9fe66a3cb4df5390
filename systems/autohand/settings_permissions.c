/* What is never asked, what is always refused, and what is asked in between. */
#include "systems/autohand/guard.h"

static dx_status take_patterns(const struct dx__autohand_setting *setting, const char *member,
                               char ***list) {
    dx_status status = DX_OK;
    yyjson_arr_iter iter =
        yyjson_arr_iter_with(yyjson_obj_get(yyjson_obj_get(setting->root, "permissions"), member));
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));)
        status = dx__autohand_list_add(list, setting->alloc,
                                       dx__text_copy(setting->alloc, dx_json_string(it)));
    return status;
}

/* {"tool", "pattern"?, "action"} is a pattern of one of the lists. */
static dx_status take_rules(const struct dx__autohand_setting *setting) {
    struct dx__autohand_settings *settings = setting->settings;
    dx_status status = DX_OK;
    yyjson_arr_iter iter =
        yyjson_arr_iter_with(yyjson_obj_get(yyjson_obj_get(setting->root, "permissions"), "rules"));
    for (yyjson_val *it; status == DX_OK && (it = yyjson_arr_iter_next(&iter));) {
        const char *pattern = yyjson_get_str(yyjson_obj_get(it, "pattern"));
        const char *pieces[] = {yyjson_get_str(yyjson_obj_get(it, "tool")), pattern ? ":" : NULL,
                                pattern};
        dx_text action = dx_json_string(yyjson_obj_get(it, "action"));
        char ***list = dx_text_is(action, "allow")  ? &settings->allow
                       : dx_text_is(action, "deny") ? &settings->deny
                                                    : &settings->ask;
        status = dx__autohand_list_add(list, setting->alloc,
                                       dx__autohand_joined(setting->alloc, pieces, 3));
    }
    return status;
}

dx_status dx__autohand_settings_permissions(const struct dx__autohand_setting *setting) {
    static const char *const allow[] = {"allow", "allowList", "whitelist"};
    static const char *const deny[] = {"deny", "denyList", "blacklist"};
    static const char *const names[] = {"mode",      "rules", "rememberSession", "allow",
                                        "allowList", "deny",  "denyList",        "blacklist",
                                        "whitelist", NULL};
    struct dx__autohand_settings *settings = setting->settings;
    yyjson_val *permissions = yyjson_obj_get(setting->root, "permissions");
    dx_text mode = dx_json_string(yyjson_obj_get(permissions, "mode"));
    settings->allow_all = dx_text_is(mode, "unrestricted");
    settings->restricted = dx_text_is(mode, "restricted");
    dx_status status = dx__autohand_settings_unknown(setting, "/permissions", permissions, names);
    for (size_t i = 0; status == DX_OK && i < 3; i++) {
        status = take_patterns(setting, allow[i], &settings->allow);
        if (status == DX_OK)
            status = take_patterns(setting, deny[i], &settings->deny);
    }
    return status == DX_OK ? take_rules(setting) : status;
}
