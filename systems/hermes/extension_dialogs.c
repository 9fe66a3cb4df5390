/* The six dialogs. */
#include "systems/hermes/extension_parts.h"

static const dx_hermes_question nothing = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};

static bool add_filter(yyjson_mut_doc *doc, yyjson_mut_val *list, const dx_hermes_filter *filter) {
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
    bool done = item && yyjson_mut_obj_add_str(doc, item, "name", filter->name);
    yyjson_mut_val *names = done ? yyjson_mut_obj_add_arr(doc, item, "extensions") : NULL;
    done = names;
    for (const char *const *name = filter->extensions; done && name && *name; name++)
        done = yyjson_mut_arr_add_str(doc, names, *name);
    return done;
}

static void add_filters(extension_params *params, const dx_hermes_filter *filters) {
    if (!filters || params->status != DX_OK)
        return;
    yyjson_mut_val *list = yyjson_mut_arr(params->doc);
    for (; list && filters->name; filters++)
        if (!add_filter(params->doc, list, filters))
            params->status = DX_ERR_NOMEM;
    extension_params_add_value(params, "filters", list);
}

/* The two that say something. */
static dx_status show(dx_hermes_extension *extension, const char *method,
                      const dx_hermes_question *question, const char *choice, const char *chosen,
                      const dx_hermes_ask *ask) {
    if (!question->message)
        return DX_ERR_INVALID;
    extension_params params = extension_params_new();
    extension_params_add(&params, "message", question->message);
    extension_params_add(&params, "title", question->title);
    extension_params_add(&params, choice, chosen);
    return extension_ask(extension, method, &params, ask);
}

dx_status dx_hermes_show_message(dx_hermes_extension *extension, const dx_hermes_question *question,
                                 const dx_hermes_ask *ask) {
    question = question ? question : &nothing;
    return show(extension, "ui/showMessage", question, "kind", question->kind, ask);
}

dx_status dx_hermes_show_confirm(dx_hermes_extension *extension, const dx_hermes_question *question,
                                 const dx_hermes_ask *ask) {
    question = question ? question : &nothing;
    return show(extension, "ui/showConfirm", question, "buttons", question->buttons, ask);
}

/* The four that choose a path. */
static dx_status choose(dx_hermes_extension *extension, const char *method,
                        const dx_hermes_question *question, const char *default_name,
                        const dx_hermes_filter *filters, const dx_hermes_ask *ask) {
    extension_params params = extension_params_new();
    extension_params_add(&params, "title", question->title);
    extension_params_add(&params, "defaultPath", question->default_path);
    extension_params_add(&params, "defaultName", default_name);
    add_filters(&params, filters);
    return extension_ask(extension, method, &params, ask);
}

dx_status dx_hermes_open_file(dx_hermes_extension *extension, const dx_hermes_question *question,
                              const dx_hermes_ask *ask) {
    question = question ? question : &nothing;
    return choose(extension, "ui/openFile", question, NULL, question->filters, ask);
}

dx_status dx_hermes_open_files(dx_hermes_extension *extension, const dx_hermes_question *question,
                               const dx_hermes_ask *ask) {
    question = question ? question : &nothing;
    return choose(extension, "ui/openFiles", question, NULL, question->filters, ask);
}

dx_status dx_hermes_save_file(dx_hermes_extension *extension, const dx_hermes_question *question,
                              const dx_hermes_ask *ask) {
    question = question ? question : &nothing;
    return choose(extension, "ui/saveFile", question, question->default_name, question->filters,
                  ask);
}

dx_status dx_hermes_select_directory(dx_hermes_extension *extension,
                                     const dx_hermes_question *question, const dx_hermes_ask *ask) {
    question = question ? question : &nothing;
    return choose(extension, "ui/selectDirectory", question, NULL, NULL, ask);
}
