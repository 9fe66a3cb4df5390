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

/* The real editor: why its parser can't read a text. It wants MSH and five separators, and quotes
 * seven characters from the place where they are missing. */
static void name_parse_failure(char *to, size_t room, const char *before, dx_text text) {
    bool is_msh = text.len >= 3 && memcmp(text.at, "MSH", 3) == 0;
    dx_text rest = is_msh ? (dx_text){text.at + 3, text.len - 3} : text;
    size_t len = 0;
    for (int i = 0; i < 7 && len < rest.len; i++) {
        size_t one = dx__utf8(rest.at + len, rest.len - len);
        len += one ? one : 1;
    }
    to[0] = '\0';
    dx__say_str(to, room, before);
    dx__say_str(to, room, "Message parsing failed at position ");
    dx__say_str(to, room, is_msh ? "3: `" : "0: `");
    dx__say(to, room, (dx_text){rest.at, len});
    dx__say_str(to, room, "`");
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
    char failure[160];
    const char *phrase = error->phrase;
    bool is_none = strcmp(error->place, "message") == 0;
    /* Empty repetitions have no TOML form there (H43), and this is how it says so. */
    bool is_unit = guest->editor->exact && format == DX_HL7_TOML && !is_none &&
                   dx__is_utf8(dx_hermes_text(guest->editor));
    name_failure(prefix, sizeof prefix, "[-32603] failed to export to ", format, ": ");
    if (guest->editor->exact && is_none) {
        name_parse_failure(failure, sizeof failure,
                           "Failed to parse message: ", dx_hermes_text(guest->editor));
        phrase = failure;
    }
    if (!guest->editor->exact && !hermes_version_size(&guest->editor->text))
        hermes_refuse(guest, event->request, HERMES_NO_MESSAGE, "the editor is empty");
    else
        hermes_refuse_exactly(guest, event->request, DX_CODE_INTERNAL, prefix,
                              is_unit ? "Failed to serialise to TOML: unsupported unit type"
                                      : phrase);
}

void hermes_get_message(dx_hermes_guest *guest, const dx_event *event, yyjson_val *params) {
    const dx_hermes *editor = guest->editor;
    dx_hl7_format format = format_of(params);
    dx_error error = {0};
    dx_buf out;
    dx_buf_init(&out, SIZE_MAX / 4, &editor->alloc);
    dx_status status = dx_hermes_export(editor, format, editor->config.shape, &out, &error);
    guest->got = status == DX_OK ? editor->opened : guest->got;
    if (status == DX_OK)
        send_message(guest, event, (dx_text){out.data, out.len});
    else if (status == DX_MISFIT)
        refuse_export(guest, event, format, &error);
    else if (status == DX_ERR_LIMIT)
        hermes_refuse(guest, event->request, DX_CODE_INTERNAL,
                      "the message would be too long in that format");
    else
        hermes_refuse_nomem(guest, event->request);
    dx_buf_done(&out);
}

/* Setting it. */

/* HL7 that is none is a result; a document that can't be read is an error (H27). */
static void refuse_text(dx_hermes_guest *guest, const dx_event *event, dx_hl7_format format,
                        dx_status status, const dx_error *error) {
    char prefix[80];
    name_failure(prefix, sizeof prefix, "failed to import from ", format, ": ");
    if (status == DX_ERR_LIMIT)
        hermes_answer_success(guest, event->request, "Message is too large");
    else if (status != DX_MISFIT)
        hermes_refuse_nomem(guest, event->request);
    else if (format == DX_HL7_TEXT || strcmp(error->place, "message") == 0 ||
             strcmp(error->place, "encoding") == 0)
        hermes_answer_success(guest, event->request, error->phrase);
    else
        hermes_refuse_exactly(guest, event->request, HERMES_BAD_MESSAGE, prefix, error->phrase);
}

/* What a document does not say, such as line endings, is as in the open message. With segments as
 * keys, that is the order of different segments as well: it is refused if that is not known. */
static dx_status read_message(const dx_hermes *editor, dx_text text, dx_hl7_format format,
                              dx_hl7 **ret_hl7, dx_error *reterr) {
    const dx_hl7 *open = NULL;
    const dx_hl7_config *config = &editor->config.hl7;
    dx_error none;
    if (editor->exact || format == DX_HL7_TEXT)
        return dx_hl7_import(config, text, format, ret_hl7, reterr);
    dx_status status = hermes_editor_read(editor, &open, &none);
    if (status == DX_OK || status == DX_MISFIT)
        status = dx_hl7_import_like(config, text, format, open, ret_hl7, reterr);
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
        if (editor->exact && format == DX_HL7_TEXT && strncmp(error.phrase, "Invalid ", 8) == 0)
            name_parse_failure(error.phrase, sizeof error.phrase, "Invalid HL7 message: ", text);
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
    else if (!hermes_version_size(&guest->editor->text))
        hermes_refuse(guest, event->request, HERMES_NO_MESSAGE, "the editor is empty");
    else
        hermes_refuse(guest, event->request, DX_CODE_INTERNAL, error->phrase);
}

/* The phrase of the error of a patch; NULL if it has none. */
static const char *error_of(yyjson_mut_val *result, size_t index) {
    yyjson_mut_arr_iter errors = yyjson_mut_arr_iter_with(yyjson_mut_obj_get(result, "errors"));
    for (yyjson_mut_val *error; (error = yyjson_mut_arr_iter_next(&errors));)
        if (yyjson_mut_get_uint(yyjson_mut_obj_get(error, "index")) == index)
            return yyjson_mut_get_str(yyjson_mut_obj_get(error, "message"));
    return NULL;
}

/* The real editor reads the message again for every patch: a text that it can't read fails each of
 * them, unless there is something wrong with the patch that it sees before. */
static dx_status fail_all(dx_hermes_guest *guest, yyjson_val *patches, yyjson_mut_doc *doc,
                          yyjson_mut_val **ret_result, dx_error *reterr) {
    const dx_hermes *editor = guest->editor;
    yyjson_mut_val *tried = NULL;
    dx_hl7 *hl7 = NULL;
    char failure[160];
    name_parse_failure(failure, sizeof failure,
                       "failed to parse message: ", dx_hermes_text(editor));
    dx_status status = dx_hl7_new(&editor->config.hl7, dx_str("MSH|^~\\&|"), &hl7, reterr);
    if (status == DX_OK)
        status = dx_hl7_apply_all(hl7, patches, doc, &tried, reterr);
    dx_hl7_free(hl7);
    if (status != DX_OK)
        return status;
    yyjson_mut_val *errors = yyjson_mut_arr(doc);
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    bool ok = result &&
              (!yyjson_arr_size(patches) || yyjson_mut_obj_add_val(doc, result, "errors", errors));
    yyjson_arr_iter iter = yyjson_arr_iter_with(patches);
    yyjson_val *patch;
    for (size_t i = 0; ok && (patch = yyjson_arr_iter_next(&iter)); i++) {
        const char *own = error_of(tried, i);
        dx_text path = dx_json_string(yyjson_obj_get(patch, "path"));
        yyjson_mut_val *error = yyjson_mut_arr_add_obj(doc, errors);
        if (!own || strncmp(own, "Segment ", 8) == 0)
            own = failure;
        ok = error && yyjson_mut_obj_add_uint(doc, error, "index", i) &&
             yyjson_mut_obj_add_strcpy(doc, error, "message", own) &&
             yyjson_mut_obj_add_strncpy(doc, error, "path", path.at, path.len);
    }
    ok = ok && yyjson_mut_obj_add_uint(doc, result, "patchesApplied", 0) &&
         yyjson_mut_obj_add_bool(doc, result, "success", !yyjson_arr_size(patches));
    *ret_result = result;
    return ok ? DX_OK : DX_ERR_NOMEM;
}

static dx_status patch(dx_hermes_guest *guest, yyjson_val *params, yyjson_mut_doc *doc,
                       yyjson_mut_val **ret_result, dx_error *reterr) {
    hermes_edit edit;
    yyjson_val *patches = yyjson_obj_get(params, "patches");
    dx_status status = hermes_edit_begin(guest->editor, &edit, reterr);
    if (status == DX_MISFIT && guest->editor->exact && strcmp(reterr->place, "message") == 0)
        return fail_all(guest, patches, doc, ret_result, reterr);
    if (status != DX_OK)
        return status;
    status = dx_hl7_apply_all(edit.hl7, patches, doc, ret_result, reterr);
    return hermes_edit_end(guest->editor, &edit, status, guest);
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
