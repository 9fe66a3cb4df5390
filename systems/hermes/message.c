/* editor/getMessage, editor/setMessage, editor/patchMessage. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

static const char *const upper[] = {"HL7", "JSON", "YAML", "TOML"};

static dx_hl7_format format_of(yyjson_val *params) {
    dx_hl7_format format = DX_HL7_TEXT;
    (void)dx_hl7_format_named(dx_json_string(yyjson_obj_get(params, "format")), &format);
    return format;
}

/* What is wrong with the message, as the editor says it: "failed to export to JSON: …". */
static void name_failure(char *to, size_t room, const char *verb, dx_hl7_format format,
                         const char *between) {
    to[0] = '\0';
    dx__say_str(to, room, verb);
    dx__say_str(to, room, upper[format]);
    dx__say_str(to, room, between);
}

/* Getting it. Members are in the order of their names, as the editor has it. */

static yyjson_mut_val *message_result(dx_hermes_guest *guest, yyjson_mut_doc *doc, dx_text text) {
    const dx_hermes *editor = guest->editor;
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    bool has_file = editor->path && !editor->exact;
    bool ok = result != NULL;
    if (has_file && dx__is_utf8(dx_str(editor->path)))
        ok = ok && yyjson_mut_obj_add_str(doc, result, "filePath", editor->path);
    ok = ok && yyjson_mut_obj_add_bool(doc, result, "hasFile", has_file) &&
         yyjson_mut_obj_add_strn(doc, result, "message", text.at ? text.at : "", text.len);
    return ok ? result : NULL;
}

static void send_message(dx_hermes_guest *guest, const dx_event *event, dx_text text) {
    yyjson_alc alc = hermes_alc(guest->editor);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    (void)hermes_answer(guest, event->request, message_result(guest, doc, text));
    yyjson_mut_doc_free(doc);
}

static void refuse_export(dx_hermes_guest *guest, const dx_event *event, dx_hl7_format format,
                          const dx_error *error) {
    char prefix[80];
    bool is_none = strcmp(error->place, "message") == 0;
    /* Empty repetitions have no TOML form there (H43), and this is how it says so. */
    bool is_unit = guest->editor->exact && format == DX_HL7_TOML && !is_none &&
                   dx__is_utf8(dx_hermes_text(guest->editor));
    name_failure(prefix, sizeof prefix, "[-32603] failed to export to ", format,
                 is_none ? ": Failed to parse message: " : ": ");
    if (!guest->editor->exact && !guest->editor->text.len)
        hermes_refuse(guest, event->request, HERMES_NO_MESSAGE, "the editor is empty");
    else
        hermes_refuse_exactly(guest, event->request, DX_CODE_INTERNAL, prefix,
                              is_unit ? "Failed to serialise to TOML: unsupported unit type"
                                      : error->phrase);
}

void hermes_get_message(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params) {
    const dx_hermes *editor = guest->editor;
    dx_hl7_format format = format_of(params);
    dx_error error = {0};
    dx_buf out;
    if (format == DX_HL7_TEXT) {
        send_message(guest, event, dx_hermes_text(editor));
        return;
    }
    dx_buf_init(&out, SIZE_MAX / 4, &editor->alloc);
    dx_status status = dx_hermes_export(editor, format, editor->config.shape, &out, &error);
    if (status == DX_OK)
        send_message(guest, event, (dx_text){out.data, out.len});
    else if (status == DX_MISFIT)
        refuse_export(guest, event, format, &error);
    else
        hermes_refuse_nomem(guest, event->request);
    dx_buf_done(&out);
}

/* Setting it. */

/* "Message is empty" and the like are whole sentences; of others it is said what they are about. */
static void send_bad_message(dx_hermes_guest *guest, const dx_event *event, const char *phrase) {
    char sentence[256] = "";
    if (strncmp(phrase, "Message ", 8) != 0)
        dx__say_str(sentence, sizeof sentence, "Invalid HL7 message: ");
    dx__say_str(sentence, sizeof sentence, phrase);
    hermes_answer_success(guest, event->request, sentence);
}

/* HL7 that is none is a result; a document that can't be read is an error (H27). */
static void refuse_text(dx_hermes_guest *guest, const dx_event *event, dx_hl7_format format,
                        dx_status status, const dx_error *error) {
    char prefix[80];
    name_failure(prefix, sizeof prefix, "failed to import from ", format, ": ");
    if (status == DX_ERR_LIMIT)
        hermes_answer_success(guest, event->request, "Message is too large");
    else if (status != DX_MISFIT)
        hermes_refuse_nomem(guest, event->request);
    else if (strcmp(error->place, "encoding") == 0)
        hermes_answer_success(guest, event->request, error->phrase);
    else if (format == DX_HL7_TEXT || strcmp(error->place, "message") == 0)
        send_bad_message(guest, event, error->phrase);
    else
        hermes_refuse_exactly(guest, event->request, HERMES_BAD_MESSAGE, prefix, error->phrase);
}

/* Unless the configuration wants segments as keys, the order of the open message is the one that
 * counts for those. */
static dx_status read_message(const dx_hermes *editor, dx_text text, dx_hl7_format format,
                              dx_hl7 **ret_hl7, dx_error *reterr) {
    dx_hl7 *open = NULL;
    dx_error none;
    if (editor->exact || format == DX_HL7_TEXT || editor->config.shape == DX_HL7_KEYS)
        return dx_hl7_import(&editor->config.hl7, text, format, ret_hl7, reterr);
    dx_status status = hermes_editor_read(editor, &open, &none);
    if (status == DX_OK || status == DX_MISFIT)
        status = dx_hl7_import_like(&editor->config.hl7, text, format, open, ret_hl7, reterr);
    dx_hl7_free(open);
    return status;
}

void hermes_set_message(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params) {
    dx_hermes *editor = guest->editor;
    dx_text text = dx_json_string(yyjson_obj_get(params, "message"));
    dx_hl7_format format = format_of(params);
    dx_error error = {0};
    dx_hl7 *hl7 = NULL;
    dx_status status = read_message(editor, text, format, &hl7, &error);
    if (status == DX_OK && !editor->exact)
        status = dx_hl7_check(hl7, &error);
    if (status != DX_OK) {
        refuse_text(guest, event, format, status, &error);
        dx_hl7_free(hl7);
        return;
    }
    status = format == DX_HL7_TEXT ? hermes_editor_set(editor, text, guest)
                                   : hermes_editor_take(editor, hl7, guest);
    if (status == DX_OK)
        hermes_answer_success(guest, event->request, NULL);
    else
        refuse_text(guest, event, format, status, &error);
    dx_hl7_free(hl7);
}

/* Patching it. */

static void refuse_patches(dx_hermes_guest *guest, const dx_event *event, dx_status status,
                           const dx_error *error) {
    if (status == DX_ERR_LIMIT)
        hermes_refuse(guest, event->request, DX_CODE_INTERNAL, "the message would be too large");
    else if (status != DX_MISFIT)
        hermes_refuse_nomem(guest, event->request);
    else if (!guest->editor->exact && !guest->editor->text.len)
        hermes_refuse(guest, event->request, HERMES_NO_MESSAGE, "the editor is empty");
    else
        hermes_refuse_exactly(guest, event->request, DX_CODE_INTERNAL,
                              "Failed to parse message: ", error->phrase);
}

static dx_status patch(dx_hermes_guest *guest, yyjson_val *params, yyjson_mut_doc *doc,
                       yyjson_mut_val **ret_result, dx_error *reterr) {
    dx_hl7 *hl7 = NULL;
    dx_status status = hermes_editor_read(guest->editor, &hl7, reterr);
    if (status == DX_OK)
        status = dx_hl7_apply_all(hl7, yyjson_obj_get(params, "patches"), doc, ret_result, reterr);
    if (status == DX_OK && yyjson_mut_get_uint(yyjson_mut_obj_get(*ret_result, "patchesApplied")))
        status = hermes_editor_take(guest->editor, hl7, guest);
    dx_hl7_free(hl7);
    return status;
}

void hermes_patch_message(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params) {
    yyjson_alc alc = hermes_alc(guest->editor);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *result = NULL;
    dx_error error = {0};
    dx_status status = doc ? patch(guest, params, doc, &result, &error) : (dx_status)DX_ERR_NOMEM;
    if (status == DX_OK)
        (void)hermes_answer(guest, event->request, result);
    else
        refuse_patches(guest, event, status, &error);
    yyjson_mut_doc_free(doc);
}
