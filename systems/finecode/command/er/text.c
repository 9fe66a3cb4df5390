/* The text of results: plain, or styled as {"parts": ["text", {"text", "bold", "foreground"}]}. */
#include "systems/finecode/command/er/external.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static bool is_part(yyjson_val *part) {
    return yyjson_is_str(part) || yyjson_is_str(yyjson_obj_get(part, "text"));
}

/* One of the texts of an array, or the only one: a string, or styled. */
static bool add(yyjson_mut_doc *doc, yyjson_mut_val *parts, yyjson_val *text, int *ret_styled) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(text, "parts"));
    if (yyjson_is_str(text))
        return yyjson_mut_arr_append(parts, yyjson_val_mut_copy(doc, text));
    if (!yyjson_is_arr(yyjson_obj_get(text, "parts")))
        return false;
    *ret_styled = 1;
    for (yyjson_val *part; (part = yyjson_arr_iter_next(&iter));)
        if (!is_part(part) || !yyjson_mut_arr_append(parts, yyjson_val_mut_copy(doc, part)))
            return false;
    return true;
}

static bool collect(yyjson_mut_doc *doc, yyjson_mut_val *parts, yyjson_val *value,
                    int *ret_styled) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    if (!yyjson_is_arr(value))
        return add(doc, parts, value, ret_styled);
    for (yyjson_val *text; (text = yyjson_arr_iter_next(&iter));)
        if (!add(doc, parts, text, ret_styled))
            return false;
    return true;
}

static dx_status write_plain(yyjson_mut_val *parts, dx_buf *text) {
    dx_status status = DX_OK;
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(parts);
    for (yyjson_mut_val *part; status == DX_OK && (part = yyjson_mut_arr_iter_next(&iter));)
        status = dx_buf_append(text, yyjson_mut_get_str(part), yyjson_mut_get_len(part));
    return status;
}

dx_status text_format(yyjson_val *result, dx_buf *text, int *ret_styled, void *user) {
    const struct spec_action *action = user;
    yyjson_val *value = yyjson_ptr_get(result, action->text ? action->text : "/text");
    yyjson_mut_doc *doc = value ? yyjson_mut_doc_new(NULL) : NULL;
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *parts = root ? yyjson_mut_obj_add_arr(doc, root, "parts") : NULL;
    dx_status status = !value ? DX_AGAIN : parts ? DX_OK : DX_ERR_NOMEM;
    *ret_styled = 0;
    if (status == DX_OK && !collect(doc, parts, value, ret_styled)) {
        *ret_styled = 0;
        status = DX_AGAIN; /* something else has that name */
    }
    if (status == DX_OK && *ret_styled)
        status = dx_json_write(text, dx_json_built(root));
    else if (status == DX_OK)
        status = write_plain(parts, text);
    yyjson_mut_doc_free(doc);
    return status;
}

yyjson_doc *text_result(dx_text output) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *list = root ? yyjson_mut_obj_add_arr(doc, root, "text") : NULL;
    char *clean = list ? malloc(output.len) : NULL;
    yyjson_doc *result = NULL;
    if (clean) {
        memcpy(clean, output.at, output.len);
        for (size_t i = 0, len; i < output.len; i += len ? len : 1) {
            len = dx__utf8(clean + i, output.len - i);
            if (!len)
                clean[i] = '?';
        }
        if (yyjson_mut_arr_add_strn(doc, list, clean, output.len)) {
            yyjson_mut_doc_set_root(doc, root);
            result = yyjson_mut_doc_imut_copy(doc, NULL);
        }
    }
    free(clean);
    yyjson_mut_doc_free(doc);
    return result;
}
