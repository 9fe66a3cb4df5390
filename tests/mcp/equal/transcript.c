/* What real programs have said: one JSON object a line, with the message and who sent it. */
#include "mcp/equal/equal.h"
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 256 };

struct call {
    dx_side from;
    int64_t id;
    const struct message *message;
};

struct conversation {
    const struct published *published;
    const struct ours *ours;
    const struct messages *messages;
    struct call calls[CALLS_MAX];
    size_t count;
};

static const struct message *with_method(const struct messages *messages, yyjson_val *method) {
    for (size_t i = 0; i < messages->count; i++)
        if (messages->of[i].method && yyjson_equals_str(method, messages->of[i].method))
            return &messages->of[i];
    return NULL;
}

static bool fits_def(const struct conversation *talk, const char *def, yyjson_val *value) {
    const struct published *published = talk->published;
    return fits(published_schema(published, AS_PUBLISHED, 0, def, ""), value, published->check);
}

static bool fits_part(const struct conversation *talk, const struct message *message, dx_side from,
                      dx_part part, yyjson_val *value) {
    dx_protocol *protocol = talk->ours->protocol;
    const dx_method *method = dx_protocol_find(protocol, dx_str(message->method));
    return method && (from == DX_SIDE_HOST ? method->from_host : method->from_plugin) &&
           dx_protocol_check(protocol, method, from, part, value, 0, NULL) == DX_OK;
}

static bool take_request(struct conversation *talk, dx_side from, yyjson_val *value) {
    yyjson_val *id = yyjson_obj_get(value, "id");
    const struct message *message = with_method(talk->messages, yyjson_obj_get(value, "method"));
    if (!message || talk->count == CALLS_MAX || message->notification != !id)
        return false;
    if (id)
        talk->calls[talk->count++] = (struct call){from, yyjson_get_sint(id), message};
    return fits_def(talk, message->def, value) &&
           fits_def(talk, published_envelope(talk->published, message, false), value) &&
           fits_part(talk, message, from, DX_PART_PARAMS, yyjson_obj_get(value, "params"));
}

/* The codes that our document lists for that method. */
static bool may_fail_with(const struct conversation *talk, const struct message *message,
                          yyjson_val *error) {
    yyjson_val *document = dx_protocol_document(talk->ours->protocol);
    const dx_method *method = dx_protocol_find(talk->ours->protocol, dx_str(message->method));
    char place[64];
    snprintf(place, sizeof place, "/methods/%zu/errors", method->index);
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_ptr_get(document, place));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        const char *reference = yyjson_get_str(yyjson_obj_get(it, "$ref"));
        yyjson_val *known = reference ? yyjson_ptr_get(document, reference + 1) : it;
        if (yyjson_equals(yyjson_obj_get(known, "code"), yyjson_obj_get(error, "code")))
            return true;
    }
    return false;
}

static bool take_answer(struct conversation *talk, dx_side from, yyjson_val *value) {
    int64_t id = yyjson_get_sint(yyjson_obj_get(value, "id"));
    yyjson_val *error = yyjson_obj_get(value, "error");
    yyjson_val *result = yyjson_obj_get(value, "result");
    const struct message *message = NULL;
    dx_side caller = from == DX_SIDE_HOST ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
    for (size_t i = 0; i < talk->count; i++)
        if (talk->calls[i].from == caller && talk->calls[i].id == id)
            message = talk->calls[i].message;
    if (!message || !fits_def(talk, "JSONRPCResponse", value))
        return false;
    if (error)
        return may_fail_with(talk, message, error);
    bool theirs = false;
    for (size_t i = 0; i < message->result_count; i++)
        theirs |= fits_def(talk, message->results[i], result);
    return theirs && fits_part(talk, message, caller, DX_PART_RESULT, result);
}

static bool take(struct conversation *talk, yyjson_val *line) {
    yyjson_val *from = yyjson_obj_get(line, "from");
    yyjson_val *message = yyjson_obj_get(line, "message");
    dx_side side = yyjson_equals_str(from, "client") ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    return yyjson_obj_get(message, "method") ? take_request(talk, side, message)
                                             : take_answer(talk, side, message);
}

void transcript_check(const struct published *published, const struct ours *ours,
                      const struct messages *messages, const char *path) {
    struct conversation talk = {.published = published, .ours = ours, .messages = messages};
    size_t count = 0;
    char *bytes = read_whole(path, NULL);
    char *rest = NULL;
    for (char *line = bytes ? strtok_r(bytes, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        yyjson_doc *doc = yyjson_read(line, strlen(line), 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        if (!root)
            failed("%s: not JSON: %s", path, line);
        /* Other lines tell what the processes did besides. */
        if (yyjson_obj_get(root, "message")) {
            count++;
            if (!take(&talk, root))
                failed("%s: does not fit: %s", path, line);
        }
        yyjson_doc_free(doc);
    }
    if (!count)
        failed("%s: no messages", path);
    printf("%zu messages in the transcript\n", count);
    free(bytes);
}
