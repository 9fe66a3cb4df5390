/* Which hooks an occasion concerns. */
#include "systems/autohand/hooks_parts.h"

/* What the matcher of a hook looks at; absent: it does not count for that event. */
static dx_text matched_text(const struct dx__autohand_occasion *occasion) {
    dx_text text = {NULL, 0};
    switch (occasion->event) {
    case DX__HOOK_PRE_TOOL:
    case DX__HOOK_POST_TOOL:
    case DX__HOOK_PERMISSION_REQUEST:
        text = occasion->tool;
        break;
    case DX__HOOK_SESSION_START:
        text = occasion->session_type;
        break;
    case DX__HOOK_SESSION_END:
        text = occasion->end_reason;
        break;
    default:
        return text;
    }
    return text.at ? text : dx_str("");
}

static bool is_listed(char *const *list, dx_text text) {
    for (size_t i = 0; text.at && list[i]; i++)
        if (dx_text_is(text, list[i]))
            return true;
    return false;
}

dx_status dx__autohand_hook_path(const dx_autohand_agent *agent, dx_text path, char **ret_path) {
    const struct dx__autohand_workspace *space = &agent->workspace;
    dx_error why;
    *ret_path = NULL;
    if (!path.at)
        return DX_OK;
    dx_status status = dx__autohand_path_clean(space, path, ret_path, &why);
    if (status == DX_OK || status == DX_ERR_NOMEM)
        return status;
    *ret_path = dx__text_copy(&space->alloc, path);
    return *ret_path ? DX_OK : DX_ERR_NOMEM;
}

/* A tool's path is what its arguments say, if nobody says more. */
static dx_status fits_path(const dx_autohand_agent *agent, char *const *globs,
                           const struct dx__autohand_occasion *occasion) {
    char *path = NULL;
    dx_text given =
        occasion->path.at ? occasion->path : dx_json_string(yyjson_obj_get(occasion->args, "path"));
    dx_status status = dx__autohand_hook_path(agent, given, &path);
    if (status != DX_OK)
        return status;
    status = DX_AGAIN;
    for (size_t i = 0; path && *path && status != DX_OK && globs[i]; i++)
        if (dx__autohand_glob_fits(globs[i], dx_str(path)))
            status = DX_OK;
    dx__free(&agent->workspace.alloc, path);
    return status;
}

/* The first version runs these never, or for one tool only. */
static bool is_deaf(const dx_autohand_agent *agent, const struct dx__autohand_occasion *occasion) {
    if (agent->config.compat != DX_AUTOHAND_0_6)
        return false;
    return occasion->event == DX__HOOK_PRE_PROMPT || occasion->event == DX__HOOK_STOP ||
           (occasion->event == DX__HOOK_PERMISSION_REQUEST &&
            !dx_text_is(occasion->tool, "write_file"));
}

dx_status dx__autohand_hook_fits(const dx_autohand_agent *agent,
                                 const struct dx__autohand_hook *hook,
                                 const struct dx__autohand_occasion *occasion) {
    if (hook->event != occasion->event || hook->disabled || is_deaf(agent, occasion) ||
        (hook->tools && !is_listed(hook->tools, occasion->tool)))
        return DX_AGAIN;
    dx_status status = hook->paths ? fits_path(agent, hook->paths, occasion) : DX_OK;
    if (status != DX_OK)
        return status;
    dx_text text = matched_text(occasion);
    if (!hook->matcher || !text.at)
        return DX_OK;
    return hook->pattern ? dx__autohand_matcher_find(hook->pattern, text) : DX_AGAIN;
}
