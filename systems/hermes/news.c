/* What extensions are told without having asked: message/… and window/closed. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

enum { FORMATS = 4 };

/* The message in the formats that somebody wanted, each made once. */
struct contents {
    dx_buf texts[FORMATS];
    bool known[FORMATS];
    bool good[FORMATS];
};

static bool has_method(const dx_hermes *editor, const char *method) {
    return dx_protocol_find(editor->protocol, dx_str(method)) != NULL;
}

/* One that can't be told, because it does not read or there is no memory, misses it. */
static void notify(dx_hermes_guest *guest, const char *method, yyjson_mut_val *params) {
    if (dx_link_notify(hermes_guest_link(guest), dx_str(method), dx_json_built(params)) == DX_OK &&
        (strcmp(method, "message/opened") == 0 || strcmp(method, "message/changed") == 0))
        hermes_guest_told(guest);
}

/* Has the message a file whose name can be told? */
static bool add_path(const dx_hermes *editor, yyjson_mut_doc *doc, yyjson_mut_val *to) {
    if (!editor->path || !dx__is_utf8(dx_str(editor->path)))
        return true;
    return yyjson_mut_obj_add_str(doc, to, "filePath", editor->path);
}

static dx_hl7_format format_of(yyjson_val *options) {
    dx_hl7_format format = DX_HL7_TEXT;
    yyjson_val *name = yyjson_obj_get(options, "format");
    if (!yyjson_is_str(name) || dx_hl7_format_named(dx_json_string(name), &format) != DX_OK)
        return DX_HL7_TEXT;
    return format;
}

/* False if the message has no such form. */
static bool content(const dx_hermes *editor, struct contents *contents, dx_hl7_format format) {
    if (!contents->known[format]) {
        dx_buf *buf = &contents->texts[format];
        contents->known[format] = true;
        dx_buf_init(buf, SIZE_MAX / 4, &editor->alloc);
        contents->good[format] =
            dx_hermes_export(editor, format, editor->config.shape, buf, NULL) == DX_OK &&
            dx__is_utf8((dx_text){buf->data, buf->len});
    }
    return contents->good[format];
}

/* What can't be converted goes out as HL7, and says so; the real editor says otherwise (H25). */
static bool add_content(const dx_hermes *editor, struct contents *contents, yyjson_val *options,
                        yyjson_mut_doc *doc, yyjson_mut_val *to, bool is_name) {
    dx_hl7_format asked = format_of(options);
    if (!yyjson_get_bool(yyjson_obj_get(options, "includeContent")))
        return true;
    dx_hl7_format sent = content(editor, contents, asked) ? asked : DX_HL7_TEXT;
    if (!content(editor, contents, sent))
        return true;
    if (is_name)
        return yyjson_mut_obj_add_str(doc, to, "format",
                                      dx_hl7_format_name(editor->exact ? asked : sent));
    const dx_buf *text = &contents->texts[sent];
    return yyjson_mut_obj_add_strn(doc, to, "message", text->data ? text->data : "", text->len);
}

/* Members in the order of their names, as the editor has it. */
static void tell_changed(dx_hermes_guest *guest, struct contents *contents, yyjson_val *options) {
    dx_hermes *editor = guest->editor;
    yyjson_alc alc = hermes_alc(editor);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    if (params && add_path(editor, doc, params) &&
        add_content(editor, contents, options, doc, params, true) &&
        yyjson_mut_obj_add_bool(doc, params, "hasFile", editor->path != NULL) &&
        add_content(editor, contents, options, doc, params, false))
        notify(guest, "message/changed", params);
    yyjson_mut_doc_free(doc);
}

static void on_rest(dx_timer *timer, void *user) {
    dx_hermes *editor = user;
    struct contents contents = {0};
    (void)timer;
    for (size_t i = 0; i < editor->guest_count; i++) {
        yyjson_val *options;
        if (hermes_facts_wants(editor->guests[i], "message/changed", &options))
            tell_changed(editor->guests[i], &contents, options);
    }
    for (size_t i = 0; i < FORMATS; i++)
        if (contents.known[i])
            dx_buf_done(&contents.texts[i]);
}

dx_status hermes_news_init(dx_hermes *editor) {
    return dx_timer_new(editor->loop, on_rest, editor, &editor->rest);
}

void hermes_news_changed(dx_hermes *editor) {
    if (has_method(editor, "message/changed"))
        dx_timer_set(editor->rest, editor->config.changed_ms);
}

/* To all that want it (`only` one, if that is not NULL), with one flag besides the path. */
static void tell(dx_hermes *editor, const dx_hermes_guest *only, const char *method,
                 const char *flag, bool value, bool with_path) {
    yyjson_alc alc = hermes_alc(editor);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    if (params && (!with_path || add_path(editor, doc, params)) &&
        yyjson_mut_obj_add_bool(doc, params, flag, value))
        for (size_t i = 0; i < editor->guest_count; i++)
            if ((!only || only == editor->guests[i]) &&
                hermes_facts_wants(editor->guests[i], method, NULL))
                notify(editor->guests[i], method, params);
    yyjson_mut_doc_free(doc);
}

/* A new message that has text already was made of something: that counts as a change, too, and for
 * the real editor as nothing else (H24). What was still to be told of the old one is void. */
void hermes_news_opened(dx_hermes *editor, bool is_new) {
    bool is_made = is_new && hermes_version_size(&editor->text);
    editor->has_opened = true;
    editor->opened++;
    editor->is_new = is_new;
    dx_timer_set(editor->rest, DX_NEVER);
    if (!has_method(editor, "message/opened"))
        return;
    if (is_made)
        hermes_news_changed(editor);
    if (!is_made || !editor->exact)
        tell(editor, NULL, "message/opened", "isNew", is_new, !is_new);
}

/* The real editor does not: its extensions are there first. */
void hermes_news_welcome(dx_hermes_guest *guest) {
    dx_hermes *editor = guest->editor;
    if (editor->has_opened && !editor->exact && has_method(editor, "message/opened"))
        tell(editor, guest, "message/opened", "isNew", editor->is_new, !editor->is_new);
}

void hermes_news_saved(dx_hermes *editor, bool save_as) {
    if (has_method(editor, "message/saved") && dx__is_utf8(dx_str(editor->path)))
        tell(editor, NULL, "message/saved", "saveAs", save_as, true);
}

void hermes_news_window(dx_hermes_guest *guest, const char *id, const char *reason) {
    yyjson_alc alc = hermes_alc(guest->editor);
    if (!hermes_guest_link(guest) || !has_method(guest->editor, "window/closed"))
        return;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *params = yyjson_mut_obj(doc);
    if (params && yyjson_mut_obj_add_str(doc, params, "reason", reason) &&
        yyjson_mut_obj_add_str(doc, params, "windowId", id))
        notify(guest, "window/closed", params);
    yyjson_mut_doc_free(doc);
}
