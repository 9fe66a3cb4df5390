/* What a formatter changes, and the way to the files: through the manager, whose client may have
 * them open. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <duplex/finecode-wm.h>

#include <stdlib.h>
#include <string.h>

bool edits_begin(struct edits *edits, struct work_file *file) {
    if (!edits->doc)
        edits->doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc *doc = edits->doc;
    if (doc && !edits->list)
        edits->list = yyjson_mut_arr(doc);
    char *uri = uri_of(file->path);
    bool added = false;
    if (edits->list && uri && words_add(&edits->changed, file->path)) {
        file->changed = true;
        yyjson_mut_val *change = yyjson_mut_arr_add_obj(doc, edits->list);
        yyjson_mut_val *document = yyjson_mut_obj_add_obj(doc, change, "textDocument");
        yyjson_mut_obj_add_strcpy(doc, document, "uri", uri);
        yyjson_mut_obj_add_null(doc, document, "version");
        added = yyjson_mut_obj_add_arr(doc, change, "edits") != NULL;
    }
    free(uri);
    return added;
}

static void put_position(yyjson_mut_doc *doc, yyjson_mut_val *range, const char *name,
                         struct place *place, size_t offset) {
    yyjson_mut_val *position = yyjson_mut_obj_add_obj(doc, range, name);
    size_t units = place_to_byte(place, offset);
    yyjson_mut_obj_add_uint(doc, position, "line", place->line);
    yyjson_mut_obj_add_uint(doc, position, "character", units);
}

bool edits_add(struct edits *edits, struct place *place, const struct edit *edit) {
    yyjson_mut_doc *doc = edits->doc;
    yyjson_mut_val *list = yyjson_mut_obj_get(yyjson_mut_arr_get_last(edits->list), "edits");
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_val *range = yyjson_mut_obj_add_obj(doc, one, "range");
    put_position(doc, range, "start", place, edit->offset);
    put_position(doc, range, "end", place, edit->offset + edit->len);
    return yyjson_mut_obj_add_strncpy(doc, one, "newText", edit->text.at, edit->text.len);
}

/* What is the same at the beginning, or at the end: in whole lines, so that no character and no
 * end of a line is cut. */
static size_t same_begin(dx_text old, dx_text new) {
    size_t same = 0;
    for (size_t i = 0; i < old.len && i < new.len &&old.at[i] == new.at[i]; i++)
        if (old.at[i] == '\n')
            same = i + 1;
    return same;
}

static size_t same_end(dx_text old, dx_text new) {
    size_t same = 0;
    for (size_t i = 1; i <= old.len && i <= new.len; i++) {
        if (old.at[old.len - i] == '\n' && new.at[new.len - i] == '\n')
            same = i - 1;
        if (old.at[old.len - i] != new.at[new.len - i])
            break;
    }
    return same;
}

static bool is_blank(dx_text text) {
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n", text.at[i]))
            return false;
    return true;
}

void edits_replace(struct work *work, struct work_file *file, dx_text text) {
    char room[400];
    const char *why = NULL;
    struct place place;
    dx_text old = {file->text, file->len};
    if (!old.at)
        old.at = messages_text(work, file->path, &old.len);
    if (!old.at || !dx__is_utf8(old) || !dx__is_utf8(text))
        why = "not valid UTF-8; convert the file, or exclude it";
    else if (!text.len && !is_blank(old))
        why = "the new text is empty";
    else if (old.len != text.len || memcmp(old.at, text.at, text.len) != 0) {
        size_t begin = same_begin(old, text);
        dx_text rest = {old.at + begin, old.len - begin};
        dx_text new = {text.at + begin, text.len - begin};
        size_t end = same_end(rest, new);
        struct edit edit = {begin, rest.len - end, {new.at, new.len - end}};
        place_begin(&place, old.at, old.len);
        if (!edits_begin(&work->edits, file) || !edits_add(&work->edits, &place, &edit))
            why = "out of memory";
    }
    if (!why)
        return;
    snprintf(room, sizeof room, "%s: %s", file->path, why);
    work_fail(work, room);
}

/* {"changed": [path]}, and messages if there are any. */
static yyjson_mut_val *result_of(struct work *work) {
    struct edits *edits = &work->edits;
    if (work->given)
        return work->given;
    if (!edits->doc)
        edits->doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = edits->doc ? yyjson_mut_obj(edits->doc) : NULL;
    if (root && work->messages.by_path &&
        !yyjson_mut_obj_add_val(edits->doc, root, "messages",
                                yyjson_mut_val_mut_copy(edits->doc, work->messages.by_path)))
        return NULL;
    yyjson_mut_val *list = root ? yyjson_mut_obj_add_arr(edits->doc, root, "changed") : NULL;
    for (size_t i = 0; list && i < edits->changed.count; i++)
        if (!yyjson_mut_arr_append(list, clean_string(edits->doc, dx_str(edits->changed.at[i]))))
            return NULL;
    return list ? root : NULL;
}

static yyjson_mut_val *edit_of(struct edits *edits, const char *name) {
    yyjson_mut_val *root = yyjson_mut_obj(edits->doc);
    yyjson_mut_obj_add_val(edits->doc, root, name, edits->list);
    return root;
}

/* Without a manager that can do it, what is on the disk is edited here. */
static void apply_here(struct work *work) {
    dx_error error = {.fault = DX_FAULT_NONE};
    if (er_is_dry_run())
        work_fail(work, "the manager cannot show edits, and --dry-run writes none");
    yyjson_mut_val *edit = edit_of(&work->edits, "documentChanges");
    yyjson_doc *doc = edit ? yyjson_mut_val_imut_copy(edit, NULL) : NULL;
    if (!doc)
        work_fail(work, "out of memory");
    for (size_t i = 0; i < work->files.count; i++)
        if (work->files.at[i].changed && work->files.at[i].text)
            work_fail_file(work, work->files.at[i].path,
                           "the document is open in an editor that cannot be reached");
    if (!work->why[0] && dx_finecode_apply(yyjson_doc_get_root(doc), &error) != DX_OK)
        work_fail(work, error.phrase[0] ? error.phrase : "out of memory");
    yyjson_doc_free(doc);
}

static void on_answer(dx_finecode_job *job, const dx_event *event, void *user) {
    struct work *work = user;
    char room[300] = "the edits were not applied: ";
    yyjson_val *value = event->outcome == DX_OUTCOME_RESULT ? event->value : NULL;
    yyjson_val *reason = yyjson_obj_get(value, "failureReason");
    (void)job;
    work->asking = false;
    if (work->cancelled || yyjson_get_bool(yyjson_obj_get(value, "applied"))) {
        /* As it was wanted. */
    } else if (value) {
        dx__say_str(room, sizeof room,
                    yyjson_is_str(reason) ? yyjson_get_str(reason) : "the manager gave no reason");
        work_fail(work, room);
    } else if (event->outcome == DX_OUTCOME_ERROR) {
        apply_here(work);
    } else {
        dx__say_str(room, sizeof room, "the manager sent no response");
        work_fail(work, room);
    }
    if (work->cancelled || work->why[0])
        work_step(work);
    else
        work_done(work, result_of(work));
}

/* Somebody may have written a file while the formatter looked at it, and then the edits are for
 * another text. */
static void check_texts(struct work *work) {
    for (size_t i = 0; i < work->files.count && !work->why[0]; i++) {
        const struct work_file *file = &work->files.at[i];
        char *text = NULL;
        size_t len = 0;
        if (!file->changed)
            continue;
        if (dx_finecode_job_read(work->job, file->path, &text, &len, NULL) != DX_OK ||
            text_hash(text, len) != file->hash)
            work_fail_file(work, file->path, "the file changed in the meantime");
        free(text);
    }
}

void edits_apply(struct work *work) {
    struct edits *edits = &work->edits;
    check_texts(work);
    if (work->why[0]) {
        work_step(work);
        return;
    }
    if (!edits->changed.count) {
        work_done(work, result_of(work));
        return;
    }
    yyjson_mut_val *params = yyjson_mut_obj(edits->doc);
    yyjson_mut_val *edit = edit_of(edits, "documentChanges");
    bool made = params && edit && yyjson_mut_obj_add_val(edits->doc, params, "edit", edit);
    work->asking = true;
    if (!made || dx_finecode_job_ask(work->job, "workspace/applyEdit", dx_json_built(params),
                                     on_answer, work) != DX_OK) {
        work->asking = false;
        work_fail(work, "cannot ask the manager to apply the edits");
        work_step(work);
    }
}

void edits_done(struct edits *edits) {
    words_done(&edits->changed);
    yyjson_mut_doc_free(edits->doc);
    *edits = (struct edits){0};
}
