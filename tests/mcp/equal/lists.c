/* The two sides have the same messages, sent by the same sides, and the same errors. */
#include "mcp/equal/equal.h"
#include "protocol/files.h"

#include <string.h>

static void check_message(const struct published *published, const struct ours *ours,
                          const struct message *message) {
    const dx_method *method = dx_protocol_find(ours->protocol, dx_str(message->method));
    if (!method)
        failed("%s: ours lacks %s", published->revision, message->method);
    else if (!method->from_host != !message->from_host ||
             !method->from_plugin != !message->from_plugin)
        failed("%s: %s comes from another side", published->revision, message->method);
    else if (!method->notification != !message->notification)
        failed("%s: %s is a notification on one side only", published->revision, message->method);
}

static bool is_published(const struct messages *messages, const char *method) {
    for (size_t i = 0; i < messages->count; i++)
        if (messages->of[i].method && strcmp(messages->of[i].method, method) == 0)
            return true;
    return false;
}

static void check_erratum(const struct published *published, const struct ours *ours,
                          const char *id) {
    yyjson_val *document = dx_protocol_document(ours->protocol);
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_ptr_get(document, "/x-duplex/errata"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (yyjson_equals_str(yyjson_obj_get(it, "id"), id))
            return;
    failed("%s: our document does not tell of %s", published->revision, id);
}

/* An error's code stands in it, or in the second half of what a whole answer must fit. */
static void check_errors(const struct published *published, const struct ours *ours) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(published->defs);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *def = yyjson_obj_iter_get_val(key);
        yyjson_val *code = yyjson_ptr_get(def, "/properties/code/const");
        if (!code)
            code = yyjson_ptr_get(def, "/properties/error/allOf/1/properties/code/const");
        if (code && !dx_protocol_error_name(ours->protocol, yyjson_get_sint(code), NULL))
            failed("%s: ours lacks the code of %s", published->revision, yyjson_get_str(key));
    }
}

void compare_lists(const struct published *published, const struct ours *ours,
                   const struct messages *messages) {
    const dx_method *method;
    for (size_t i = 0; i < messages->count; i++)
        if (messages->of[i].method)
            check_message(published, ours, &messages->of[i]);
    for (size_t i = 0; (method = dx_protocol_method(ours->protocol, i)); i++)
        if (!is_published(messages, method->name))
            failed("%s: %s is not published", published->revision, method->name);
    for (size_t i = 0; i < published->errata_count; i++)
        check_erratum(published, ours, published->errata[i]->id);
    check_errors(published, ours);
}
