/* A prompt: checked, and a turn begun for it. */
#include "systems/autohand/core_parts.h"

static bool are_strings(yyjson_val *list) {
    yyjson_arr_iter each;
    yyjson_val *one;
    if (!yyjson_is_arr(list))
        return false;
    for (yyjson_arr_iter_init(list, &each); (one = yyjson_arr_iter_next(&each));)
        if (!yyjson_is_str(one))
            return false;
    return true;
}

static bool is_line(yyjson_val *number) {
    double line = yyjson_is_num(number) ? yyjson_get_num(number) : -1;
    return line >= 0 && line < 1e15;
}

static bool is_selection(yyjson_val *value) {
    return yyjson_is_obj(value) && yyjson_is_str(yyjson_obj_get(value, "file")) &&
           yyjson_is_str(yyjson_obj_get(value, "text")) &&
           is_line(yyjson_obj_get(value, "startLine")) && is_line(yyjson_obj_get(value, "endLine"));
}

static yyjson_val *given(yyjson_val *object, const char *name) {
    yyjson_val *value = yyjson_obj_get(object, name);
    return yyjson_is_null(value) ? NULL : value;
}

/* NULL: it is good. */
static const char *read_prompt(yyjson_val *params, struct dx__autohand_prompt *ret) {
    yyjson_val *message = given(params, "message");
    yyjson_val *context = given(params, "context");
    *ret = (struct dx__autohand_prompt){.message = dx_json_string(message)};
    if (message && !yyjson_is_str(message))
        return "Invalid parameter: message must be a string";
    if (!ret->message.len)
        return "Missing required parameter: message";
    if (context && !yyjson_is_obj(context))
        return "Invalid parameter: context";
    ret->files = given(context, "files");
    if (ret->files && !are_strings(ret->files))
        return "Invalid parameter: context.files";
    ret->selection = given(context, "selection");
    if (ret->selection && !is_selection(ret->selection))
        return "Invalid parameter: context.selection";
    ret->images = given(params, "images");
    if (ret->images && !yyjson_is_arr(ret->images))
        return "Invalid parameter: images";
    return NULL;
}

/* The params are needed for as long as the turn runs: those of a request are kept with it, those of
 * a notification are copied. */
static void begin(dx_autohand_agent *agent, const dx_event *event) {
    struct dx__autohand_prompt asked;
    yyjson_alc alc = dx__autohand_core_alc(&agent->alloc);
    dx_event *kept = NULL;
    yyjson_doc *copy = NULL;
    yyjson_val *params = NULL;
    if (event->kind == DX_EVENT_REQUEST) {
        if (dx_link_keep(agent->link, &kept) == DX_OK)
            params = kept->value;
    } else {
        yyjson_mut_doc *built = yyjson_mut_doc_new(&alc);
        if (built) {
            yyjson_mut_doc_set_root(built, yyjson_val_mut_copy(built, event->value));
            copy = yyjson_mut_doc_imut_copy(built, &alc);
        }
        yyjson_mut_doc_free(built);
        params = yyjson_doc_get_root(copy);
    }
    if (!params || read_prompt(params, &asked)) {
        dx_event_free(kept);
        yyjson_doc_free(copy);
        return;
    }
    dx__autohand_turn_begin(agent, kept, copy, &asked);
}

void dx__autohand_serve_prompt(dx_link *link, const dx_event *event, void *user) {
    dx_autohand_agent *agent = user;
    struct dx__autohand_prompt asked;
    (void)link;
    const char *wrong = read_prompt(event->value, &asked);
    dx__autohand_agent_enter(agent);
    if (wrong)
        dx__autohand_serve_error(agent, event->request, DX_CODE_PARAMS, dx_str(wrong));
    else if (agent->turn)
        dx__autohand_serve_error(agent, event->request,
                                 dx__autohand_core_is_doc(agent) ? DX_AUTOHAND_BUSY
                                                                 : DX_CODE_INTERNAL,
                                 dx_str("Agent is already processing"));
    else if (agent->leaving)
        dx__autohand_serve_error(agent, event->request, DX_AUTOHAND_ABORTED, dx_str("Aborted"));
    else
        begin(agent, event);
    dx__autohand_agent_exit(agent);
}
