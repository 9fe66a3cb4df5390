/* An edit of the message in place: what it changes is noted, so that it can be taken back at once
 * if it fails, and later by an undo. */
#include "systems/hermes/hermes_parts.h"

/* Hermes 0.1.0 rebuilds the whole message for a patch, so its defects get a copy. */
static dx_status begin_copy(dx_hermes *editor, hermes_edit *edit, dx_error *reterr) {
    hermes_version copy = {0};
    dx_text text;
    dx_status status = hermes_version_text(&editor->text, &editor->alloc, &text);
    if (status != DX_OK)
        return status;
    copy.at = (char *)(uintptr_t)text.at; /* only read */
    copy.len = text.len;
    status = hermes_version_read(&copy, &editor->config.hl7, reterr);
    edit->hl7 = copy.hl7;
    return status;
}

dx_status hermes_edit_begin(dx_hermes *editor, hermes_edit *edit, dx_error *reterr) {
    *edit = (hermes_edit){.hl7 = NULL};
    dx_status status = hermes_undo_reserve(&editor->undo, &editor->alloc);
    if (status != DX_OK)
        return status;
    if (editor->config.hl7.exact)
        return begin_copy(editor, edit, reterr);
    status = hermes_version_read(&editor->text, &editor->config.hl7, reterr);
    if (status != DX_OK)
        return status;
    edit->hl7 = editor->text.hl7;
    hl7_journal_begin(edit->hl7, &edit->journal);
    return DX_OK;
}

dx_status hermes_edit_end(dx_hermes *editor, hermes_edit *edit, dx_status status,
                          dx_hermes_guest *guest) {
    if (editor->config.hl7.exact) {
        if (status == DX_OK)
            status = hermes_editor_take(editor, edit->hl7, guest);
        dx_hl7_free(edit->hl7);
        return status;
    }
    hl7_journal_end(edit->hl7);
    /* What cannot be taken back, for lack of memory, is an edit that can be undone later. */
    bool is_edit = edit->journal.log.len &&
                   (status == DX_OK || hl7_journal_undo(edit->hl7, &edit->journal) != DX_OK);
    if (!is_edit) {
        hl7_journal_done(&edit->journal);
        return status;
    }
    hermes_step step = {.version.number = editor->text.number, .journal = edit->journal};
    hermes_undo_push(&editor->undo, &editor->alloc, step);
    hermes_editor_changed(editor, ++editor->number, guest);
    return status;
}

static dx_status apply(dx_hl7 *hl7, const dx_hl7_patch *patches, size_t count, dx_buf *why,
                       dx_error *reterr) {
    dx_status status = DX_OK;
    for (size_t i = 0; i < count && status == DX_OK; i++)
        status = dx_hl7_apply(hl7, &patches[i], why);
    if (status != DX_MISFIT && status != DX_ERR_LIMIT)
        return status;
    if (reterr) {
        *reterr = (dx_error){.fault = DX_FAULT_PARAMS_FIT};
        dx__say(reterr->phrase, sizeof reterr->phrase, (dx_text){why->data, why->len});
    }
    return DX_MISFIT;
}

dx_status dx_hermes_patch(dx_hermes *editor, const dx_hl7_patch *patches, size_t count,
                          dx_error *reterr) {
    hermes_edit edit;
    dx_buf why;
    dx_status status = hermes_edit_begin(editor, &edit, reterr);
    if (status != DX_OK)
        return status;
    dx_buf_init(&why, sizeof((dx_error *)0)->phrase * 4, &editor->alloc);
    status = hermes_edit_end(editor, &edit, apply(edit.hl7, patches, count, &why, reterr), NULL);
    dx_buf_done(&why);
    return status;
}

dx_status dx_hermes_undo(dx_hermes *editor) {
    hermes_step *step = hermes_undo_last(&editor->undo);
    dx_status status = DX_OK;
    if (!step)
        return hermes_discarded_pop(editor);
    uint64_t number = step->version.number;
    if (step->is_whole) {
        hermes_version_done(&editor->text, &editor->alloc);
        editor->text = step->version;
        hermes_version_attach(&editor->text, editor->config.hl7.file);
    } else {
        status = hl7_journal_undo(editor->text.hl7, &step->journal);
    }
    if (status == DX_OK)
        hermes_undo_pop(&editor->undo);
    hermes_editor_changed(editor, status == DX_OK ? number : ++editor->number, NULL);
    return status;
}

size_t dx_hermes_undo_dropped(const dx_hermes *editor) {
    return editor->undo.dropped;
}
