/* Edits that a runner wants applied: by whoever has the documents open, else to the files. */
#include "systems/finecode/edit_parts.h"
#include "systems/finecode/run_parts.h"

struct dx__finecode_edit {
    uint64_t id;
    dx_finecode_runner *runner;
    dx_link *link;
    dx_event *event; /* the request */
    struct dx__finecode_edit *next;
};

static void answer(const dx_finecode_wm *wm, dx_link *link, dx_request request, int applied,
                   const char *why) {
    yyjson_alc alc = dx__finecode_alc(&wm->alloc);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *result = doc ? yyjson_mut_obj(doc) : NULL;
    char text[300] = "";
    dx__say_str(text, sizeof text, why ? why : "");
    if (result && yyjson_mut_obj_add_bool(doc, result, "applied", applied) &&
        (applied || !text[0] || yyjson_mut_obj_add_str(doc, result, "failureReason", text)))
        (void)dx_link_reply(link, request, dx_json_built(result));
    else
        dx__finecode_back_refuse(link, request, DX_CODE_INTERNAL, "out of memory", "");
    yyjson_mut_doc_free(doc);
}

/* Out of the list, if it is there. */
static struct dx__finecode_edit *take(dx_finecode_wm *wm, struct dx__finecode_edit *edit) {
    struct dx__finecode_edit **at = &wm->edits;
    while (*at && *at != edit)
        at = &(*at)->next;
    if (*at)
        *at = edit->next;
    return edit;
}

static void drop(dx_finecode_wm *wm, struct dx__finecode_edit *edit) {
    dx_event_free(edit->event);
    dx__free(&wm->alloc, edit);
}

/* NULL: refused already. */
static struct dx__finecode_edit *hold(dx_link *link, const dx_event *event,
                                      dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    dx_request request = event->request;
    struct dx__finecode_edit *edit = dx__malloc(&wm->alloc, sizeof *edit);
    if (edit)
        *edit = (struct dx__finecode_edit){
            .id = ++wm->last_edit, .runner = runner, .link = link, .next = wm->edits};
    if (!edit || dx_link_keep(link, &edit->event) != DX_OK) {
        dx__free(&wm->alloc, edit);
        dx__finecode_back_refuse(link, request, DX_CODE_INTERNAL, "out of memory", "");
        return NULL;
    }
    wm->edits = edit;
    return edit;
}

static dx_text text_of(const dx__finecode_staged *file) {
    return (dx_text){file->text.data ? file->text.data : "", file->text.len};
}

/* An earlier preview is what counts. */
static dx_status read_document(dx__finecode_staged *file, void *user) {
    dx_finecode_wm *wm = user;
    dx_status status = DX_OK;
    const dx__finecode_document *document = dx__finecode_documents_find(&wm->documents, file->path);
    if (document)
        file->text.len = 0;
    if (document && document->text.len)
        status = dx_buf_append(&file->text, document->text.data, document->text.len);
    if (status == DX_OK &&
        !wm->config.on_preview(wm, file->path, text_of(file), 0, wm->config.user))
        status = DX_MISFIT;
    return status;
}

static dx_status preview_file(dx_finecode_wm *wm, const dx__finecode_staged *file,
                              dx_error *reterr) {
    dx_buf uri;
    if (!wm->config.on_preview(wm, file->path, text_of(file), 1, wm->config.user))
        return dx__finecode_stage_fail(reterr, file->path, "cannot show the change", 0);
    dx_buf_init(&uri, SIZE_MAX / 4, &wm->alloc);
    dx_status status = dx__finecode_uri_of(&uri, file->path);
    /* One that is too long, or not UTF-8, stays as it was for whoever reads it next. */
    if (status == DX_OK)
        (void)dx_finecode_wm_open(wm, (dx_text){uri.data, uri.len}, 0, text_of(file));
    dx_buf_done(&uri);
    return status;
}

static dx_status preview(dx_finecode_wm *wm, yyjson_val *edit, dx_error *reterr) {
    dx__finecode_stage stage = {
        .below = wm->roots, .below_count = wm->root_count, .on_read = read_document, .user = wm};
    dx_status status = dx__finecode_stage_edit(&stage, edit, reterr);
    for (dx__finecode_staged *file = stage.files; status == DX_OK && file; file = file->next)
        if (file->changed)
            status = preview_file(wm, file, reterr);
    dx__finecode_stage_done(&stage);
    return status;
}

static void apply(dx_link *link, const dx_event *event, dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    dx_error error = {0};
    dx_status status = wm->config.on_preview ? preview(wm, event->value, &error)
                                             : dx__finecode_apply_below(event->value, wm->roots,
                                                                        wm->root_count, &error);
    runner->has_edited |= status == DX_OK && !wm->config.on_preview;
    answer(wm, link, event->request, status == DX_OK,
           error.phrase[0] ? error.phrase : dx_status_name(status));
}

void dx__finecode_back_edit(dx_link *link, const dx_event *event, dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    if (!wm->config.on_edit && !wm->server) {
        apply(link, event, runner);
        return;
    }
    struct dx__finecode_edit *edit = hold(link, event, runner);
    if (!edit)
        return;
    if (wm->config.on_edit)
        wm->config.on_edit(wm, edit->id, edit->event->value, wm->config.user);
    else if (dx__finecode_server_edit(wm->server, edit->id, edit->event->value) != 1) {
        apply(link, edit->event, runner);
        drop(wm, take(wm, edit));
    }
}

void dx_finecode_wm_edited(dx_finecode_wm *wm, uint64_t id, int applied, const char *why) {
    struct dx__finecode_edit *edit = wm->edits;
    while (edit && edit->id != id)
        edit = edit->next;
    if (!edit)
        return;
    (void)take(wm, edit);
    answer(wm, edit->link, edit->event->request, applied, why);
    drop(wm, edit);
}

void dx__finecode_back_edit_cancel(dx_finecode_runner *runner, dx_request request) {
    dx_finecode_wm *wm = runner->wm;
    struct dx__finecode_edit *edit = wm->edits;
    while (edit && (edit->runner != runner || edit->event->request != request))
        edit = edit->next;
    if (!edit)
        return;
    (void)take(wm, edit);
    dx__finecode_back_refuse(edit->link, request, DX_FINECODE_CANCELLED, "cancelled", "");
    drop(wm, edit);
}

void dx__finecode_back_edit_forget(dx_finecode_runner *runner) {
    dx_finecode_wm *wm = runner->wm;
    for (struct dx__finecode_edit *edit = wm->edits, *next; edit; edit = next) {
        next = edit->next;
        if (edit->runner == runner)
            drop(wm, take(wm, edit));
    }
}
