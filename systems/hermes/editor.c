/* The message in the editor. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

yyjson_alc hermes_alc(const dx_hermes *editor) {
    const dx_allocator *alloc = &editor->alloc;
    return (yyjson_alc){alloc->malloc, alloc->realloc, alloc->free, alloc->ctx};
}

static dx_status new_version(dx_hermes *editor, dx_text text, hermes_version *ret_version) {
    if (text.len > editor->config.hl7.text_max)
        return DX_ERR_LIMIT;
    char *copy = dx__text_copy(&editor->alloc, text);
    if (!copy)
        return DX_ERR_NOMEM;
    *ret_version = (hermes_version){.at = copy, .len = text.len, .number = ++editor->number};
    return DX_OK;
}

void hermes_editor_tell(dx_hermes *editor, dx_hermes_guest *guest) {
    if (editor->config.on_message)
        editor->config.on_message(editor, guest, editor->config.user);
}

dx_status dx_hermes_open(dx_hermes *editor, dx_text text, const char *path, int is_new,
                         dx_error *reterr) {
    hermes_version version = {0};
    char *copy = path ? dx__text_copy(&editor->alloc, dx_str(path)) : NULL;
    dx_status status = path && !copy ? DX_ERR_NOMEM : new_version(editor, text, &version);
    if (status == DX_OK && dx_hermes_is_changed(editor))
        status = hermes_discarded_push(editor);
    if (status != DX_OK) {
        dx__free(&editor->alloc, version.at);
        dx__free(&editor->alloc, copy);
        if (status == DX_ERR_LIMIT)
            hermes_fail(reterr, DX_FAULT_MESSAGE_LIMIT, "the message is too large", "");
        return status;
    }
    hermes_undo_done(&editor->undo, &editor->alloc);
    hermes_version_done(&editor->text, &editor->alloc);
    dx__free(&editor->alloc, editor->path);
    editor->text = version;
    editor->saved = version.number;
    editor->path = copy;
    editor->tag = 0;
    dx_hermes_set_file(editor, NULL);
    hermes_news_opened(editor, is_new != 0);
    hermes_editor_tell(editor, NULL);
    return DX_OK;
}

void hermes_editor_changed(dx_hermes *editor, uint64_t number, dx_hermes_guest *guest) {
    hermes_version *version = &editor->text;
    version->number = number;
    if (version->hl7) { /* the text is written again when somebody wants it */
        dx__free(&editor->alloc, version->at);
        version->at = NULL;
    }
    hermes_news_changed(editor);
    hermes_editor_tell(editor, guest);
}

dx_status hermes_editor_set(dx_hermes *editor, dx_text text, dx_hermes_guest *guest) {
    hermes_version version;
    dx_text old;
    dx_status status = hermes_version_text(&editor->text, &editor->alloc, &old);
    if (status != DX_OK)
        return status;
    if (text.len == old.len && (!text.len || memcmp(text.at, old.at, text.len) == 0))
        return DX_OK;
    status = hermes_undo_reserve(&editor->undo, &editor->alloc);
    if (status == DX_OK)
        status = new_version(editor, text, &version);
    if (status != DX_OK)
        return status;
    hermes_step step = {.version = editor->text, .is_whole = true};
    hermes_undo_push(&editor->undo, &editor->alloc, step);
    editor->text = version;
    hermes_editor_changed(editor, version.number, guest);
    return DX_OK;
}

/* Only what is remembered about the text changes when it is written or read. */
static hermes_version *version_of(const dx_hermes *editor) {
    return (hermes_version *)(uintptr_t)&editor->text;
}

dx_status hermes_editor_read(const dx_hermes *editor, const dx_hl7 **ret_hl7, dx_error *reterr) {
    hermes_version *version = version_of(editor);
    dx_status status = hermes_version_read(version, &editor->config.hl7, reterr);
    *ret_hl7 = version->hl7;
    return status;
}

dx_status hermes_editor_take(dx_hermes *editor, const dx_hl7 *hl7, dx_hermes_guest *guest) {
    dx_buf out;
    dx_buf_init(&out, editor->config.hl7.text_max, &editor->alloc);
    dx_status status = dx_hl7_write(hl7, &out);
    if (status == DX_OK)
        status = hermes_editor_set(editor, (dx_text){out.data, out.len}, guest);
    dx_buf_done(&out);
    return status;
}

void dx_hermes_set_file(dx_hermes *editor, dx_hl7_file *take_file) {
    dx_hl7_file_free(editor->config.hl7.file);
    editor->config.hl7.file = take_file;
    hermes_version_attach(&editor->text, take_file);
}

dx_status dx_hermes_write(const dx_hermes *editor, dx_buf *out, dx_error *reterr) {
    dx_text text;
    dx_hl7_file *file = editor->config.hl7.file;
    dx_status status = hermes_version_text(version_of(editor), &editor->alloc, &text);
    if (status != DX_OK)
        return status;
    return file ? dx_hl7_file_write(file, text, out, reterr)
                : dx_buf_append(out, text.at, text.len);
}

dx_status dx_hermes_edit(dx_hermes *editor, dx_text text) {
    dx_hl7_file *file = editor->exact ? NULL : editor->config.hl7.file;
    dx_status status = file ? dx_hl7_file_write(file, text, NULL, NULL) : DX_OK;
    return status == DX_OK ? hermes_editor_set(editor, text, NULL) : status;
}

dx_status dx_hermes_saved(dx_hermes *editor, const char *path, int save_as) {
    char *copy = path ? dx__text_copy(&editor->alloc, dx_str(path)) : NULL;
    if (!copy)
        return path ? DX_ERR_NOMEM : DX_ERR_INVALID;
    dx__free(&editor->alloc, editor->path);
    editor->path = copy;
    editor->saved = editor->text.number;
    hermes_news_saved(editor, save_as != 0);
    return DX_OK;
}

dx_text dx_hermes_text(const dx_hermes *editor) {
    dx_text text = {NULL, 0};
    (void)hermes_version_text(version_of(editor), &editor->alloc, &text);
    return text;
}

void dx_hermes_set_tag(dx_hermes *editor, uint64_t tag) {
    editor->tag = tag;
}

uint64_t dx_hermes_tag(const dx_hermes *editor) {
    return editor->tag;
}

uint64_t dx_hermes_opened(const dx_hermes *editor) {
    return editor->opened;
}

const char *dx_hermes_path(const dx_hermes *editor) {
    return editor->path;
}

int dx_hermes_is_changed(const dx_hermes *editor) {
    return editor->text.number != editor->saved;
}

dx_status dx_hermes_export(const dx_hermes *editor, dx_hl7_format format, dx_hl7_shape shape,
                           dx_buf *out, dx_error *reterr) {
    const hermes_version *version = &editor->text;
    const dx_hl7 *hl7;
    if (format == DX_HL7_TEXT)
        return version->hl7 ? dx_hl7_write(version->hl7, out)
                            : dx_buf_append(out, version->at, version->len);
    dx_status status = hermes_editor_read(editor, &hl7, reterr);
    return status == DX_OK ? dx_hl7_export(hl7, format, shape, out, reterr) : status;
}

dx_status dx_hermes_get(const dx_hermes *editor, dx_text path, dx_buf *out, dx_error *reterr) {
    const dx_hl7 *hl7;
    dx_status status = hermes_editor_read(editor, &hl7, reterr);
    if (status != DX_OK)
        return status;
    dx_text raw;
    status = dx_hl7_get(hl7, path, &raw);
    if (status == DX_OK)
        status = raw.at ? dx_hl7_get_text(hl7, path, out) : (dx_status)DX_GONE;
    if (status == DX_MISFIT && reterr) {
        hermes_fail(reterr, DX_FAULT_PARAMS_FIT, "invalid path: ", "");
        dx__say(reterr->phrase, sizeof reterr->phrase, path);
    }
    return status;
}
