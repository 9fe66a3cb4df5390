/*
 * Messages as programs send them, and others that nobody may send:
 * tests/protocol/samples/NAME.json. A sample has a method, who sends it, params and result. An
 * invalid one says why; if it is `taken`, it may be received all the same.
 */
#include "protocol/files.h"

#include <stdlib.h>
#include <string.h>

static size_t samples;

static dx_side side_of(yyjson_val *sample) {
    return yyjson_equals_str(yyjson_obj_get(sample, "from"), "host") ? DX_SIDE_HOST
                                                                     : DX_SIDE_PLUGIN;
}

/* Why it does not fit; NULL if it does. */
static const char *judge(dx_protocol *protocol, yyjson_val *sample, yyjson_val *params,
                         yyjson_val *result, unsigned flags) {
    static dx_misfit why;
    yyjson_val *name = yyjson_obj_get(sample, "method");
    dx_side from = side_of(sample);
    const dx_method *method = dx_protocol_find(protocol, dx_str(yyjson_get_str(name)));
    if (!method)
        return dx_protocol_facts_of(protocol)->open ? NULL : "no such method";
    if (!(from == DX_SIDE_HOST ? method->from_host : method->from_plugin))
        return "sent by the wrong side";
    dx_status status =
        dx_protocol_check(protocol, method, from, DX_PART_PARAMS, params, flags, &why);
    if (status == DX_OK && result && method->notification)
        return "the answer to a notification";
    if (status == DX_OK && result)
        status = dx_protocol_check(protocol, method, from, DX_PART_RESULT, result, flags, &why);
    if (status == DX_OK)
        return NULL;
    if (status != DX_MISFIT || !why.phrase[0])
        failed("%s: status %d", yyjson_get_str(name), status);
    return why.phrase;
}

static const char *judge_sample(dx_protocol *protocol, yyjson_val *sample, unsigned flags) {
    return judge(protocol, sample, yyjson_obj_get(sample, "params"),
                 yyjson_obj_get(sample, "result"), flags);
}

static void tell(const char *file, yyjson_val *sample, const char *what, const char *why) {
    char *text = yyjson_val_write(sample, 0, NULL);
    failed("%s: %s: %s: %s", file, what, text, why ? why : "");
    free(text);
}

/* A copy with one more member; the same if it is no object, or an empty one. */
static yyjson_doc *with_more(yyjson_val *value) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, value);
    if (yyjson_mut_obj_size(copy))
        yyjson_mut_obj_add_int(doc, copy, "x-unknown", 1);
    yyjson_mut_doc_set_root(doc, copy);
    yyjson_doc *whole = yyjson_mut_doc_imut_copy(doc, NULL);
    yyjson_mut_doc_free(doc);
    return whole;
}

static void check_valid(dx_protocol *protocol, const char *file, yyjson_val *sample) {
    const char *why = judge_sample(protocol, sample, 0);
    if (why)
        tell(file, sample, "should fit", why);
    if (yyjson_get_bool(yyjson_obj_get(sample, "map")))
        return;
    yyjson_doc *params = with_more(yyjson_obj_get(sample, "params"));
    yyjson_doc *result = with_more(yyjson_obj_get(sample, "result"));
    why = judge(protocol, sample, yyjson_doc_get_root(params), yyjson_doc_get_root(result),
                DX_CHECK_OPEN);
    if (why)
        tell(file, sample, "should be taken with one more member", why);
    yyjson_doc_free(params);
    yyjson_doc_free(result);
}

static void check_invalid(dx_protocol *protocol, const char *file, yyjson_val *sample) {
    if (!yyjson_obj_get(sample, "why"))
        tell(file, sample, "says not why", NULL);
    if (!judge_sample(protocol, sample, 0))
        tell(file, sample, "should not fit", NULL);
    const char *why = judge_sample(protocol, sample, DX_CHECK_OPEN);
    if (yyjson_get_bool(yyjson_obj_get(sample, "taken")) && why)
        tell(file, sample, "should be taken", why);
}

/* Every message, and every result, has a sample that fits. */
static void check_complete(const dx_protocol *protocol, const char *file, yyjson_val *valid) {
    const dx_method *method;
    for (size_t i = 0; (method = dx_protocol_method(protocol, i)); i++) {
        bool sent = false;
        bool answered = false;
        yyjson_arr_iter iter = yyjson_arr_iter_with(valid);
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
            if (yyjson_equals_str(yyjson_obj_get(it, "method"), method->name)) {
                sent = true;
                answered |= yyjson_obj_get(it, "result") != NULL;
            }
        if (!sent || (!answered && !method->notification))
            failed("%s: no sample of %s", file, method->name);
    }
}

static void check_file(const char *folder, const char *file) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    size_t len;
    char *bytes = read_whole(path, &len);
    yyjson_doc *doc = yyjson_read(bytes, len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    dx_text name = {file, strlen(file) - strlen(".json")};
    dx_protocol *protocol = NULL;
    dx_misfit why = {.instance = ""};
    if (!root || dx_protocol_open(name, NULL, &protocol, &why) != DX_OK) {
        failed("%s: %s", file, why.phrase);
    } else {
        yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(root, "valid"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)); samples++)
            check_valid(protocol, file, it);
        iter = yyjson_arr_iter_with(yyjson_obj_get(root, "invalid"));
        for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter)); samples++)
            check_invalid(protocol, file, it);
        if (yyjson_get_bool(yyjson_obj_get(root, "complete")))
            check_complete(protocol, file, yyjson_obj_get(root, "valid"));
    }
    dx_protocol_free(protocol);
    yyjson_doc_free(doc);
    free(bytes);
}

int main(void) {
    const char *folder = in_source("tests/protocol/samples");
    char **files = list_folder(folder, ".json");
    for (char **it = files; *it; it++)
        check_file(folder, *it);
    free_list(files);
    return verdict("samples", samples);
}
