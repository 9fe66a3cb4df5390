#include "systems/hermes/hl7_parts.h"

#include <duplex/rpc.h>
#include <string.h>

enum { SENTENCE_MOST = 4096 };

static bool is_flag(yyjson_val *value) {
    return !value || yyjson_is_bool(value) || yyjson_is_null(value);
}

/* The last of several members of one name counts, as with everybody who reads JSON into a map. */
static yyjson_val *member(yyjson_val *object, const char *name) {
    yyjson_val *found = NULL;
    size_t i;
    size_t count;
    yyjson_val *key;
    yyjson_val *value;
    yyjson_obj_foreach(object, i, count, key, value) {
        if (yyjson_equals_str(key, name))
            found = value;
    }
    return found;
}

/* What is wrong with a patch; NULL if nothing is. */
static const char *read_patch(yyjson_val *from, dx_hl7_patch *ret_patch) {
    if (!yyjson_is_obj(from))
        return "a patch is not an object";
    yyjson_val *path = member(from, "path");
    yyjson_val *value = member(from, "value");
    yyjson_val *remove = member(from, "remove");
    yyjson_val *create = member(from, "create");
    if (!path)
        return "missing field `path`";
    if (!yyjson_is_str(path))
        return "path is not a string";
    if (value && !yyjson_is_str(value) && !yyjson_is_null(value))
        return "value is neither a string nor null";
    if (!is_flag(remove) || !is_flag(create))
        return "remove or create is neither a boolean nor null";
    *ret_patch = (dx_hl7_patch){.path = dx_json_string(path),
                                .remove = yyjson_is_true(remove),
                                .create = yyjson_is_true(create)};
    if (yyjson_is_str(value))
        ret_patch->value = dx_json_string(value);
    return NULL;
}

static const char *look(yyjson_val *patches) {
    size_t i;
    size_t count;
    yyjson_val *item;
    dx_hl7_patch patch;
    if (!yyjson_is_arr(patches))
        return "patches is not an array";
    const char *flaw = NULL;
    yyjson_arr_foreach(patches, i, count, item) {
        if (!flaw)
            flaw = read_patch(item, &patch);
    }
    return flaw;
}

/* The members are in the order of their names, as the editor sends them. */
static dx_status add_error(yyjson_mut_doc *doc, yyjson_mut_val *errors, size_t index, dx_text path,
                           const dx_buf *why) {
    yyjson_mut_val *error = yyjson_mut_arr_add_obj(doc, errors);
    bool done =
        error && yyjson_mut_obj_add_uint(doc, error, "index", index) &&
        yyjson_mut_obj_add_strncpy(doc, error, "message", why->data ? why->data : "", why->len) &&
        yyjson_mut_obj_add_strncpy(doc, error, "path", path.at, path.len);
    return done ? DX_OK : DX_ERR_NOMEM;
}

static dx_status refuse(dx_buf *why) {
    dx_status status = HL7_SAY(why, HL7_PIECE("Too much work for one list of patches"));
    return status == DX_OK ? DX_ERR_LIMIT : status;
}

dx_status dx_hl7_apply_all(dx_hl7 *hl7, yyjson_val *patches, yyjson_mut_doc *doc,
                           yyjson_mut_val **ret_result, dx_error *reterr) {
    const char *flaw = look(patches);
    if (flaw)
        return hl7_misfit(reterr, "params", flaw, (dx_text){NULL, 0});
    yyjson_mut_val *errors = yyjson_mut_arr(doc);
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    dx_status status = errors && result ? DX_OK : DX_ERR_NOMEM;
    dx_buf why;
    dx_buf_init(&why, SENTENCE_MOST, &hl7->alloc);
    size_t applied = 0;
    uint64_t before = hl7->list.work;
    yyjson_arr_iter items = yyjson_arr_iter_with(patches);
    for (size_t i = 0; status == DX_OK && yyjson_arr_iter_has_next(&items); i++) {
        dx_hl7_patch patch = {.path = {NULL, 0}};
        read_patch(yyjson_arr_iter_next(&items), &patch);
        why.len = 0;
        status = hl7->list.work - before > hl7->work_max ? refuse(&why)
                                                         : dx_hl7_apply(hl7, &patch, &why);
        applied += status == DX_OK;
        if (status == DX_MISFIT || status == DX_ERR_LIMIT)
            status = add_error(doc, errors, i, patch.path, &why);
    }
    dx_buf_done(&why);
    if (status != DX_OK)
        return status;
    bool success = yyjson_mut_arr_size(errors) == 0;
    if ((!success && !yyjson_mut_obj_add_val(doc, result, "errors", errors)) ||
        !yyjson_mut_obj_add_uint(doc, result, "patchesApplied", applied) ||
        !yyjson_mut_obj_add_bool(doc, result, "success", success))
        return DX_ERR_NOMEM;
    *ret_result = result;
    return DX_OK;
}
