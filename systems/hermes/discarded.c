/* Messages with unsaved changes that another one took the place of: an undo brings them back. */
#include "systems/hermes/hermes_parts.h"

struct hermes_discarded {
    hermes_version text;
    uint64_t saved;
    char *path;
    uint64_t tag;
    dx_hl7_file *file;
    bool is_new;
    hermes_undo undo;
    hermes_discarded *before;
};

static void forget(hermes_discarded *one, const dx_allocator *alloc) {
    hermes_undo_done(&one->undo, alloc);
    dx_hl7_file_free(one->file);
    hermes_version_done(&one->text, alloc);
    dx__free(alloc, one->path);
    dx__free(alloc, one);
}

/* They are bounded as steps of undo are: the oldest ones go. */
static void trim(dx_hermes *editor) {
    hermes_discarded **at = &editor->discarded;
    size_t bytes = 0;
    for (unsigned count = 0; *at && count < editor->undo.max; count++) {
        size_t size = hermes_version_size(&(*at)->text) + (*at)->undo.bytes;
        if (size > editor->undo.bytes_max - bytes)
            break;
        bytes += size;
        at = &(*at)->before;
    }
    while (*at) {
        hermes_discarded *one = *at;
        *at = one->before;
        forget(one, &editor->alloc);
    }
}

void hermes_discarded_done(dx_hermes *editor) {
    while (editor->discarded) {
        hermes_discarded *one = editor->discarded;
        editor->discarded = one->before;
        forget(one, &editor->alloc);
    }
}

dx_status hermes_discarded_push(dx_hermes *editor) {
    hermes_discarded *one = dx__malloc(&editor->alloc, sizeof *one);
    if (!one)
        return DX_ERR_NOMEM;
    *one = (hermes_discarded){.text = editor->text,
                              .saved = editor->saved,
                              .path = editor->path,
                              .tag = editor->tag,
                              .file = editor->config.hl7.file,
                              .is_new = editor->is_new,
                              .undo = editor->undo,
                              .before = editor->discarded};
    editor->discarded = one;
    editor->text = (hermes_version){0};
    editor->path = NULL;
    editor->config.hl7.file = NULL;
    editor->undo = (hermes_undo){.max = one->undo.max, .bytes_max = one->undo.bytes_max};
    trim(editor);
    return DX_OK;
}

dx_status hermes_discarded_pop(dx_hermes *editor) {
    hermes_discarded *one = editor->discarded;
    if (!one || dx_hermes_is_changed(editor))
        return one ? DX_BUSY : DX_AGAIN;
    hermes_undo_done(&editor->undo, &editor->alloc);
    hermes_version_done(&editor->text, &editor->alloc);
    dx__free(&editor->alloc, editor->path);
    editor->text = one->text;
    editor->saved = one->saved;
    editor->path = one->path;
    editor->tag = one->tag;
    editor->undo = one->undo;
    editor->discarded = one->before;
    dx_hermes_set_file(editor, one->file);
    hermes_news_opened(editor, one->is_new);
    dx__free(&editor->alloc, one);
    hermes_editor_tell(editor, NULL);
    return DX_OK;
}
