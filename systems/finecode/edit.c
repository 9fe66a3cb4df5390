/* Workspace edits, applied to files. */
#include "systems/finecode/edit_parts.h"
#include <duplex/finecode-wm.h>

static dx_status edit_document(dx__finecode_stage *stage, dx_text uri, yyjson_val *edits,
                               dx_error *reterr) {
    dx_allocator alloc = dx__finecode_allocator(NULL);
    dx__finecode_staged *file = NULL;
    char *path = NULL;
    char shown[100] = "";
    dx__say(shown, sizeof shown, uri);
    dx_status status = dx__finecode_path_of(NULL, uri, &path);
    if (status == DX_MISFIT)
        return dx__finecode_stage_fail(reterr, shown, "not a local file", 0);
    if (status == DX_OK)
        status = dx__finecode_stage_file(stage, path, &file, reterr);
    if (status == DX_OK) {
        status = dx__finecode_text_edit(&file->text, edits);
        file->changed = file->changed || yyjson_arr_size(edits) > 0;
        if (status == DX_MISFIT || status == DX_ERR_LIMIT)
            status = dx__finecode_stage_fail(
                reterr, path, status == DX_MISFIT ? "overlapping or invalid edits" : "too long", 0);
    }
    dx__free(&alloc, path);
    return status;
}

static dx_status stage_documents(dx__finecode_stage *stage, yyjson_val *changes, dx_error *reterr) {
    size_t index;
    size_t count;
    yyjson_val *change;
    yyjson_arr_foreach(changes, index, count, change) {
        yyjson_val *document = yyjson_obj_get(change, "textDocument");
        if (!document)
            return dx__finecode_stage_fail(reterr, "edit",
                                           "an edit cannot create, rename or delete files here", 0);
        dx_status status = edit_document(stage, dx__finecode_string(document, "uri"),
                                         yyjson_obj_get(change, "edits"), reterr);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

static dx_status stage_changes(dx__finecode_stage *stage, yyjson_val *changes, dx_error *reterr) {
    size_t index;
    size_t count;
    yyjson_val *uri;
    yyjson_val *edits;
    yyjson_obj_foreach(changes, index, count, uri, edits) {
        dx_status status = edit_document(stage, dx_json_string(uri), edits, reterr);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

dx_status dx__finecode_stage_edit(dx__finecode_stage *stage, yyjson_val *params, dx_error *reterr) {
    yyjson_val *inner = yyjson_obj_get(params, "edit");
    yyjson_val *edit = inner ? inner : params;
    yyjson_val *documents = yyjson_obj_get(edit, "documentChanges");
    yyjson_val *changes = yyjson_obj_get(edit, "changes");
    /* LSP: whoever understands documentChanges takes these and not the others. */
    if (yyjson_is_arr(documents))
        return stage_documents(stage, documents, reterr);
    bool none = !documents || yyjson_is_null(documents);
    if (none && yyjson_is_obj(changes))
        return stage_changes(stage, changes, reterr);
    none = none && yyjson_is_obj(edit) && (!changes || yyjson_is_null(changes));
    return none ? DX_OK : dx__finecode_stage_fail(reterr, "edit", "not a workspace edit", 0);
}

dx_status dx__finecode_apply_below(yyjson_val *edit, char *const *folders, size_t count,
                                   dx_error *reterr) {
    dx__finecode_stage stage = {.below = folders, .below_count = count};
    dx_status status = dx__finecode_stage_edit(&stage, edit, reterr);
    if (status == DX_OK)
        status = dx__finecode_stage_commit(&stage, reterr);
    dx__finecode_stage_done(&stage);
    if (status == DX_ERR_NOMEM)
        (void)dx__finecode_stage_fail(reterr, "edit", "out of memory", 0);
    return status;
}

dx_status dx_finecode_apply(yyjson_val *edit, dx_error *reterr) {
    return dx__finecode_apply_below(edit, NULL, 0, reterr);
}
