/* The params of a prompt. */
#include "systems/autohand/client_parts.h"

enum { IMAGE_MAX = 10 << 20 };

static dx_status invalid(dx_error *reterr, const char *phrase) {
    if (reterr)
        dx__autohand_client_set_error(reterr, DX_FAULT_NONE, phrase);
    return DX_ERR_INVALID;
}

static bool is_image(const char *type) {
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static dx_status check(const dx_autohand_prompt *prompt, dx_error *reterr) {
    if (!prompt->message.len || !dx__is_utf8(prompt->message))
        return invalid(reterr, "the prompt's message is missing or not valid UTF-8");
    for (size_t i = 0; prompt->files && prompt->files[i]; i++)
        if (!dx__is_utf8(dx_str(prompt->files[i])))
            return invalid(reterr, "a file name is not valid UTF-8");
    if (prompt->selection_file &&
        (!dx__is_utf8(dx_str(prompt->selection_file)) || !dx__is_utf8(prompt->selection_text)))
        return invalid(reterr, "the selected text is not valid UTF-8");
    for (size_t i = 0; i < prompt->image_count; i++) {
        const dx_autohand_image *image = &prompt->images[i];
        if (!is_image(image->mime_type))
            return invalid(
                reterr, "an image's type must be image/png, image/jpeg, image/gif or image/webp");
        if (image->bytes.len > IMAGE_MAX)
            return invalid(reterr, "an image is larger than 10 MiB");
        if (image->filename && !dx__is_utf8(dx_str(image->filename)))
            return invalid(reterr, "an image's file name is not valid UTF-8");
    }
    return DX_OK;
}

/* Base64. */

static size_t encode(dx_text bytes, char *to) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = (const unsigned char *)bytes.at;
    size_t used = 0;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        unsigned long group = (unsigned long)at[i] << 16 |
                              (left > 1 ? (unsigned long)at[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned long)at[i + 2] : 0);
        to[used++] = letters[group >> 18 & 63];
        to[used++] = letters[group >> 12 & 63];
        to[used++] = (char)(left > 1 ? letters[group >> 6 & 63] : '=');
        to[used++] = (char)(left > 2 ? letters[group & 63] : '=');
    }
    return used;
}

static bool add_data(const dx_autohand_client *client, yyjson_mut_doc *doc, yyjson_mut_val *object,
                     dx_text bytes) {
    char *room = dx__malloc(&client->alloc, (bytes.len + 2) / 3 * 4 + 1);
    bool added = room && yyjson_mut_obj_add_strncpy(doc, object, "data", room, encode(bytes, room));
    dx__free(&client->alloc, room);
    return added;
}

/* The parts. */

static bool add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, dx_text text) {
    return yyjson_mut_obj_add_strncpy(doc, object, key, text.at ? text.at : "", text.len);
}

static bool add_files(const dx_autohand_prompt *prompt, yyjson_mut_doc *doc,
                      yyjson_mut_val *context) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, context, "files");
    for (size_t i = 0; prompt->files[i]; i++)
        if (!yyjson_mut_arr_add_strcpy(doc, list, prompt->files[i]))
            return false;
    return list;
}

static bool add_selection(const dx_autohand_prompt *prompt, yyjson_mut_doc *doc,
                          yyjson_mut_val *context) {
    yyjson_mut_val *selection = yyjson_mut_obj_add_obj(doc, context, "selection");
    return add_text(doc, selection, "file", dx_str(prompt->selection_file)) &&
           yyjson_mut_obj_add_uint(doc, selection, "startLine", prompt->selection_start) &&
           yyjson_mut_obj_add_uint(doc, selection, "endLine", prompt->selection_end) &&
           add_text(doc, selection, "text", prompt->selection_text);
}

static bool add_context(const dx_autohand_prompt *prompt, yyjson_mut_doc *doc,
                        yyjson_mut_val *root) {
    bool has_files = prompt->files && prompt->files[0];
    if (!has_files && !prompt->selection_file)
        return true;
    yyjson_mut_val *context = yyjson_mut_obj_add_obj(doc, root, "context");
    return context && (!has_files || add_files(prompt, doc, context)) &&
           (!prompt->selection_file || add_selection(prompt, doc, context));
}

static bool add_images(const dx_autohand_client *client, const dx_autohand_prompt *prompt,
                       yyjson_mut_doc *doc, yyjson_mut_val *root) {
    yyjson_mut_val *list = prompt->image_count ? yyjson_mut_obj_add_arr(doc, root, "images") : NULL;
    for (size_t i = 0; i < prompt->image_count; i++) {
        const dx_autohand_image *image = &prompt->images[i];
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
        if (!add_data(client, doc, object, image->bytes) ||
            !add_text(doc, object, "mimeType", dx_str(image->mime_type)) ||
            (image->filename && !add_text(doc, object, "filename", dx_str(image->filename))))
            return false;
    }
    return list || !prompt->image_count;
}

dx_status dx__autohand_client_prompt_build(const dx_autohand_client *client,
                                           const dx_autohand_prompt *prompt,
                                           yyjson_mut_doc **ret_doc, dx_error *reterr) {
    dx_status status = check(prompt, reterr);
    if (status != DX_OK)
        return status;
    yyjson_mut_doc *doc = dx__autohand_client_object(client);
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    if (add_text(doc, root, "message", prompt->message) && add_context(prompt, doc, root) &&
        add_images(client, prompt, doc, root)) {
        *ret_doc = doc;
        return DX_OK;
    }
    yyjson_mut_doc_free(doc);
    if (reterr)
        dx__autohand_client_set_error(reterr, DX_FAULT_NONE, "out of memory");
    return DX_ERR_NOMEM;
}
