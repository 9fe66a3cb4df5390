/* Answers to requests. What can't be sent for lack of memory or room is answered by the link, with
 * an internal error. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

enum { MESSAGE = 1024 };

dx_status hermes_answer(dx_hermes_guest *guest, dx_request request, yyjson_mut_val *result) {
    if (!hermes_guest_link(guest))
        return DX_CLOSED;
    if (!result) {
        hermes_refuse_nomem(guest, request);
        return DX_ERR_NOMEM;
    }
    dx_status status = dx_link_reply(hermes_guest_link(guest), request, dx_json_built(result));
    if (status == DX_ERR_LIMIT)
        hermes_refuse(guest, request, DX_CODE_INTERNAL, "the response would be too long");
    else if (status == DX_ERR_INVALID)
        hermes_refuse(guest, request, DX_CODE_INTERNAL,
                      "the response contains text that is not valid UTF-8");
    return status;
}

void hermes_answer_success(dx_hermes_guest *guest, dx_request request, const char *why) {
    yyjson_alc alc = hermes_alc(guest->editor);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    bool ok = result && (!why || yyjson_mut_obj_add_str(doc, result, "error", why)) &&
              yyjson_mut_obj_add_bool(doc, result, "success", !why);
    (void)hermes_answer(guest, request, ok ? result : NULL);
    yyjson_mut_doc_free(doc);
}

void hermes_refuse_nomem(dx_hermes_guest *guest, dx_request request) {
    if (!hermes_guest_link(guest))
        return;
    (void)dx_link_refuse(hermes_guest_link(guest), request, DX_CODE_INTERNAL, dx_str(NULL),
                         dx_json_none());
}

/* The usual message, and what it is about as its data (H30). */
static void refuse_plainly(dx_hermes_guest *guest, dx_request request, int64_t code,
                           const char *detail) {
    const dx_hermes *editor = guest->editor;
    yyjson_alc alc = hermes_alc(editor);
    const char *message = NULL;
    (void)dx_protocol_error_name(editor->protocol, code, &message);
    yyjson_mut_doc *doc = detail ? yyjson_mut_doc_new(&alc) : NULL;
    yyjson_mut_val *data = detail ? yyjson_mut_str(doc, detail) : NULL;
    (void)dx_link_refuse(hermes_guest_link(guest), request, code, dx_str(message),
                         data ? dx_json_built(data) : dx_json_none());
    yyjson_mut_doc_free(doc);
}

void hermes_refuse_exactly(dx_hermes_guest *guest, dx_request request, int64_t code,
                           const char *prefix, const char *detail) {
    char message[MESSAGE] = "";
    if (!hermes_guest_link(guest))
        return;
    if (!guest->editor->exact) {
        refuse_plainly(guest, request, code, detail);
        return;
    }
    dx__say_str(message, sizeof message, prefix);
    dx__say_str(message, sizeof message, detail);
    (void)dx_link_refuse(hermes_guest_link(guest), request, code, dx_str(message), dx_json_none());
}

void hermes_refuse(dx_hermes_guest *guest, dx_request request, int64_t code, const char *detail) {
    hermes_refuse_exactly(guest, request, code, "", detail);
}
