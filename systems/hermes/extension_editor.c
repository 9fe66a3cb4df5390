/* The message in the editor, and windows. */
#include "systems/hermes/extension_parts.h"

static dx_status invalid(extension_params *params) {
    yyjson_mut_doc_free(params->doc);
    return DX_ERR_INVALID;
}

dx_status dx_hermes_get_message(dx_hermes_extension *extension, dx_hl7_format format,
                                const dx_hermes_ask *ask) {
    extension_params params = extension_params_new();
    extension_params_add(&params, "format", dx_hl7_format_name(format));
    return extension_ask(extension, "editor/getMessage", &params, ask);
}

dx_status dx_hermes_set_message(dx_hermes_extension *extension, dx_text message,
                                dx_hl7_format format, const dx_hermes_ask *ask) {
    extension_params params = extension_params_new();
    if (!message.at)
        return invalid(&params);
    extension_params_add_text(&params, "message", message);
    extension_params_add(&params, "format", dx_hl7_format_name(format));
    return extension_ask(extension, "editor/setMessage", &params, ask);
}

static bool add_patch(yyjson_mut_doc *doc, yyjson_mut_val *list, const dx_hl7_patch *patch) {
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
    return item && yyjson_mut_obj_add_strn(doc, item, "path", patch->path.at, patch->path.len) &&
           (!patch->value.at ||
            yyjson_mut_obj_add_strn(doc, item, "value", patch->value.at, patch->value.len)) &&
           (!patch->remove || yyjson_mut_obj_add_true(doc, item, "remove")) &&
           (!patch->create || yyjson_mut_obj_add_true(doc, item, "create"));
}

dx_status dx_hermes_patch_message(dx_hermes_extension *extension, const dx_hl7_patch *patches,
                                  size_t count, const dx_hermes_ask *ask) {
    extension_params params = extension_params_new();
    yyjson_mut_val *list = params.status == DX_OK ? yyjson_mut_arr(params.doc) : NULL;
    for (size_t i = 0; list && i < count; i++) {
        if (!patches[i].path.at)
            return invalid(&params);
        if (!add_patch(params.doc, list, &patches[i]))
            params.status = DX_ERR_NOMEM;
    }
    extension_params_add_value(&params, "patches", list);
    return extension_ask(extension, "editor/patchMessage", &params, ask);
}

dx_status dx_hermes_open_window(dx_hermes_extension *extension, const dx_hermes_page *page,
                                const dx_hermes_ask *ask) {
    extension_params params = extension_params_new();
    if (!page->url || !page->title)
        return invalid(&params);
    extension_params_add(&params, "url", page->url);
    extension_params_add(&params, "title", page->title);
    /* The editor's own defaults are those of the header: only what differs is said. */
    if (page->width)
        extension_params_add_value(&params, "width", yyjson_mut_uint(params.doc, page->width));
    if (page->height)
        extension_params_add_value(&params, "height", yyjson_mut_uint(params.doc, page->height));
    if (page->modal)
        extension_params_add_value(&params, "modal", yyjson_mut_true(params.doc));
    if (page->fixed)
        extension_params_add_value(&params, "resizable", yyjson_mut_false(params.doc));
    return extension_ask(extension, "ui/openWindow", &params, ask);
}

dx_status dx_hermes_close_window(dx_hermes_extension *extension, dx_text window,
                                 const dx_hermes_ask *ask) {
    extension_params params = extension_params_new();
    if (!window.at)
        return invalid(&params);
    extension_params_add_text(&params, "windowId", window);
    return extension_ask(extension, "ui/closeWindow", &params, ask);
}
