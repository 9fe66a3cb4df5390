/* Questions of extensions to the user. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

/* A question of more bytes than that is for nobody. */
enum { PARAMS_MAX = 1 << 20 };

dx_hermes_dialog_kind dx_hermes_dialog_kind_of(const dx_hermes_dialog *dialog) {
    return dialog->kind;
}

const char *dx_hermes_dialog_method(const dx_hermes_dialog *dialog) {
    static const char *const names[] = {
        [DX_HERMES_SHOW_MESSAGE] = "ui/showMessage",
        [DX_HERMES_SHOW_CONFIRM] = "ui/showConfirm",
        [DX_HERMES_OPEN_FILE] = "ui/openFile",
        [DX_HERMES_OPEN_FILES] = "ui/openFiles",
        [DX_HERMES_SAVE_FILE] = "ui/saveFile",
        [DX_HERMES_SELECT_DIRECTORY] = "ui/selectDirectory",
    };
    return names[dialog->kind];
}

yyjson_val *dx_hermes_dialog_params(const dx_hermes_dialog *dialog) {
    return dialog->event->value;
}

dx_hermes_guest *dx_hermes_dialog_guest(const dx_hermes_dialog *dialog) {
    return dialog->guest;
}

static void release(dx_hermes_dialog *dialog) {
    const dx_allocator *alloc = &dialog->guest->editor->alloc;
    dx_event_free(dialog->event);
    dx__free(alloc, dialog);
}

/* Takes it out of the books: whatever happens then, it is nobody else's any more. */
static void take(dx_hermes_dialog *dialog) {
    dx_hermes_guest *guest = dialog->guest;
    dx_hermes_dialog **at = &guest->dialogs;
    while (*at != dialog)
        at = &(*at)->next;
    *at = dialog->next;
    guest->dialog_count--;
}

static yyjson_mut_val *list(yyjson_mut_doc *doc, const char *const *paths) {
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    for (; paths && *paths; paths++)
        if (!yyjson_mut_arr_add_strcpy(doc, array, *paths))
            return NULL;
    return array;
}

static yyjson_mut_val *result_of(const dx_hermes_dialog *dialog, yyjson_mut_doc *doc, bool yes,
                                 const char *const *paths) {
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    const char *name = "path";
    yyjson_mut_val *value = NULL;
    if (dialog->kind == DX_HERMES_SHOW_MESSAGE) {
        name = "acknowledged";
        value = yyjson_mut_bool(doc, true);
    } else if (dialog->kind == DX_HERMES_SHOW_CONFIRM) {
        name = "confirmed";
        value = yyjson_mut_bool(doc, yes);
    } else if (dialog->kind == DX_HERMES_OPEN_FILES) {
        name = "paths";
        value = paths && paths[0] ? list(doc, paths) : yyjson_mut_null(doc);
    } else {
        value = paths && paths[0] ? yyjson_mut_str(doc, paths[0]) : yyjson_mut_null(doc);
    }
    return result && value && yyjson_mut_obj_add_val(doc, result, name, value) ? result : NULL;
}

void dx_hermes_dialog_answer(dx_hermes_dialog *dialog, int confirmed, const char *const *paths) {
    dx_hermes_guest *guest = dialog->guest;
    yyjson_alc alc = hermes_alc(guest->editor);
    take(dialog);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    (void)hermes_answer(guest, dialog->event->request,
                        result_of(dialog, doc, confirmed != 0, paths));
    yyjson_mut_doc_free(doc);
    release(dialog);
    hermes_serve_next(guest);
}

void dx_hermes_dialog_fail(dx_hermes_dialog *dialog, const char *why) {
    dx_hermes_guest *guest = dialog->guest;
    take(dialog);
    hermes_refuse(guest, dialog->event->request, HERMES_DIALOG_ERROR,
                  why ? why : "cannot show the dialog");
    release(dialog);
    hermes_serve_next(guest);
}

/* Why it may not be shown, or NULL. */
static const char *objection(const dx_hermes_guest *guest, const dx_event *event) {
    if (guest->leaving)
        return "the extension is shutting down";
    if (guest->dialog_count >= HERMES_DIALOGS_MAX)
        return "the extension has too many dialogs open";
    if (event->body.len > PARAMS_MAX)
        return "the text of the dialog is too long";
    return NULL;
}

/* The event, which is lent by the link or was kept while others had their turn. */
static dx_status own_event(dx_hermes_guest *guest, const dx_event *event, dx_event **ret_event) {
    if (guest->kept != event)
        return dx_link_keep(hermes_guest_link(guest), ret_event);
    *ret_event = guest->kept;
    guest->kept = NULL;
    return DX_OK;
}

void hermes_dialog_open(dx_hermes_guest *guest, const dx_event *event, dx_hermes_dialog_kind kind) {
    dx_hermes *editor = guest->editor;
    const char *why = objection(guest, event);
    if (why) {
        hermes_refuse(guest, event->request, HERMES_DIALOG_ERROR, why);
        return;
    }
    dx_hermes_dialog *dialog = dx__malloc(&editor->alloc, sizeof *dialog);
    if (!dialog) {
        hermes_refuse_nomem(guest, event->request);
        return;
    }
    *dialog = (dx_hermes_dialog){.guest = guest, .kind = kind};
    if (own_event(guest, event, &dialog->event) != DX_OK) {
        dx__free(&editor->alloc, dialog);
        hermes_refuse_nomem(guest, event->request);
        return;
    }
    dx_hermes_dialog **at = &guest->dialogs;
    while (*at)
        at = &(*at)->next;
    *at = dialog;
    guest->dialog_count++;
    if (editor->config.on_dialog)
        editor->config.on_dialog(editor, dialog, editor->config.user);
    else
        dx_hermes_dialog_answer(dialog, 0, NULL);
}

void hermes_dialogs_end(dx_hermes_guest *guest, const char *why) {
    dx_hermes *editor = guest->editor;
    while (guest->dialogs) {
        dx_hermes_dialog *dialog = guest->dialogs;
        take(dialog);
        if (why && hermes_guest_link(guest))
            hermes_refuse(guest, dialog->event->request, HERMES_DIALOG_ERROR, why);
        if (editor->config.on_dialog_gone)
            editor->config.on_dialog_gone(editor, dialog, editor->config.user);
        release(dialog);
    }
}

void hermes_dialogs_free(dx_hermes_guest *guest) {
    while (guest->dialogs) {
        dx_hermes_dialog *dialog = guest->dialogs;
        take(dialog);
        release(dialog);
    }
}
