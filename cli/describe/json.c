/* A protocol, or a message, as one JSON object. */
#include "cli/describe/describe.h"

#include "cli/describe/bundle.h"
#include "cli/describe/example.h"
#include "cli/describe/parts.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* The object while it is made. Where memory is short, yyjson gives NULL and takes NULL: the object
 * then can't be written. */
struct facts {
    yyjson_mut_doc *doc;
    const dx_protocol *protocol;
};

static void add_text(const struct facts *facts, yyjson_mut_val *object, const char *name,
                     const char *text) {
    if (text)
        yyjson_mut_obj_add_strcpy(facts->doc, object, name, text);
    else
        yyjson_mut_obj_add_null(facts->doc, object, name);
}

static void add_ms(const struct facts *facts, yyjson_mut_val *object, const char *name,
                   uint64_t ms) {
    if (ms == DX_NEVER)
        yyjson_mut_obj_add_null(facts->doc, object, name);
    else
        yyjson_mut_obj_add_uint(facts->doc, object, name, ms);
}

/* A part of the document as it stands there; null if it has none. */
static void add_value(const struct facts *facts, yyjson_mut_val *object, const char *name,
                      yyjson_val *value) {
    if (value)
        yyjson_mut_obj_add_val(facts->doc, object, name, yyjson_val_mut_copy(facts->doc, value));
    else
        yyjson_mut_obj_add_null(facts->doc, object, name);
}

/* A list, empty if the document has none. */
static void add_list(const struct facts *facts, yyjson_mut_val *object, const char *name,
                     yyjson_val *list) {
    if (list)
        add_value(facts, object, name, list);
    else
        yyjson_mut_obj_add_arr(facts->doc, object, name);
}

static void add_direction(const struct facts *facts, yyjson_mut_val *object, bool by_host,
                          bool by_plugin) {
    char *text = cli_direction(dx_protocol_facts_of(facts->protocol), by_host, by_plugin);
    add_text(facts, object, "direction", text);
    free(text);
}

static int put_object(struct facts *facts, yyjson_mut_val *object, int code) {
    char *text = code == CLI_OK ? yyjson_mut_val_write(object, YYJSON_WRITE_NOFLAG, NULL) : NULL;
    if (text)
        puts(text);
    else if (code == CLI_OK)
        code = cli_fail(CLI_NO_START, "out of memory");
    free(text);
    yyjson_mut_doc_free(facts->doc);
    return code;
}

static void add_error(const struct facts *facts, yyjson_mut_val *list, const char *name,
                      yyjson_val *error) {
    yyjson_mut_val *made = yyjson_mut_arr_add_obj(facts->doc, list);
    add_value(facts, made, "code", yyjson_obj_get(error, "code"));
    add_text(facts, made, "name", name);
    add_value(facts, made, "message", yyjson_obj_get(error, "message"));
}

static void add_messages(const struct facts *facts, yyjson_mut_val *object) {
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(facts->doc, object, "messages");
    const dx_method *method;
    for (size_t i = 0; (method = dx_protocol_method(facts->protocol, i)); i++) {
        yyjson_mut_val *made = yyjson_mut_arr_add_obj(facts->doc, list);
        add_text(facts, made, "name", method->name);
        add_text(facts, made, "from", cli_sender(method));
        add_direction(facts, made, method->from_host, method->from_plugin);
        add_text(facts, made, "kind", method->notification ? "notification" : "request");
        add_text(facts, made, "summary", method->summary);
    }
}

static void add_plain(const struct facts *facts, yyjson_mut_val *object) {
    const dx_protocol_facts *said = dx_protocol_facts_of(facts->protocol);
    yyjson_val *info = yyjson_obj_get(dx_protocol_document(facts->protocol), "info");
    const char *name;
    add_text(facts, object, "name", said->name);
    add_text(facts, object, "revision", said->revision);
    add_text(facts, object, "title", said->title);
    add_value(facts, object, "description", yyjson_obj_get(info, "description"));
    add_text(facts, object, "version", said->version);
    add_text(facts, object, "host", said->host);
    add_text(facts, object, "plugin", said->plugin);
    add_text(facts, object, "framing", dx_framing_name(said->framing));
    add_text(facts, object, "contentType", said->content_type);
    yyjson_mut_val *lenient = yyjson_mut_obj_add_arr(facts->doc, object, "lenient");
    for (size_t i = 0; (name = cli_lenient_name(said, i)); i++)
        yyjson_mut_arr_add_str(facts->doc, lenient, name);
    yyjson_mut_obj_add_uint(facts->doc, object, "messageMax", said->message_max);
    add_text(facts, object, "ids", cli_ids_name(said->ids));
    yyjson_mut_obj_add_bool(facts->doc, object, "batch", said->batch);
    yyjson_mut_obj_add_bool(facts->doc, object, "open", said->open);
    add_ms(facts, object, "deadline", said->deadline_ms);
}

int cli_describe_protocol_json(const dx_protocol *protocol) {
    struct facts facts = {yyjson_mut_doc_new(NULL), protocol};
    yyjson_mut_val *object = yyjson_mut_obj(facts.doc);
    yyjson_val *root = dx_protocol_document(protocol);
    yyjson_val *duplex = yyjson_obj_get(root, "x-duplex");
    yyjson_val *errors = yyjson_obj_get(yyjson_obj_get(root, "components"), "errors");
    add_plain(&facts, object);
    add_list(&facts, object, "start", yyjson_obj_get(duplex, "start"));
    add_value(&facts, object, "lifecycle", yyjson_obj_get(duplex, "lifecycle"));
    add_value(&facts, object, "stop", yyjson_obj_get(duplex, "stop"));
    add_value(&facts, object, "cancel", yyjson_obj_get(duplex, "cancel"));
    add_value(&facts, object, "progress", yyjson_obj_get(duplex, "progress"));
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(facts.doc, object, "errors");
    yyjson_obj_iter iter = yyjson_obj_iter_with(errors);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));)
        add_error(&facts, list, yyjson_get_str(key), yyjson_obj_iter_get_val(key));
    add_list(&facts, object, "errata", yyjson_obj_get(duplex, "errata"));
    add_messages(&facts, object);
    return put_object(&facts, object, CLI_OK);
}

/* The message itself, and its bytes on the wire. */
static void add_example(const struct facts *facts, yyjson_mut_val *object, const char *name,
                        const dx_buf *message) {
    yyjson_doc *doc = yyjson_read(message->data, message->len, YYJSON_READ_NOFLAG);
    char wire[40];
    dx_buf framed;
    dx_buf_init(&framed, SIZE_MAX / 4, NULL);
    add_value(facts, object, name, yyjson_doc_get_root(doc));
    snprintf(wire, sizeof wire, "%sBytes", name);
    if (cli_example_frame(facts->protocol, message, &framed))
        yyjson_mut_obj_add(object, yyjson_mut_strcpy(facts->doc, wire),
                           yyjson_mut_strncpy(facts->doc, framed.data, framed.len));
    dx_buf_done(&framed);
    yyjson_doc_free(doc);
}

static void add_examples(const struct facts *facts, yyjson_mut_val *object, dx_protocol *protocol,
                         const dx_method *method, dx_side side) {
    cli_example example;
    if (!cli_example_make(protocol, method, side, &example)) {
        yyjson_mut_obj_add_null(facts->doc, object, "example");
        return;
    }
    yyjson_mut_val *made = yyjson_mut_obj_add_obj(facts->doc, object, "example");
    add_example(facts, made, "message", &example.request);
    if (!method->notification)
        add_example(facts, made, "answer", &example.answer);
    cli_example_done(&example);
}

/* What holds when that side sends it. */
static int add_side(const struct facts *facts, yyjson_mut_val *list, dx_protocol *protocol,
                    const dx_method *method, dx_side side) {
    bool host = side == DX_SIDE_HOST;
    int code = CLI_OK;
    yyjson_mut_val *made = yyjson_mut_arr_add_obj(facts->doc, list);
    add_text(facts, made, "from", host ? "host" : "plugin");
    add_direction(facts, made, host, !host);
    add_text(facts, made, "summary", cli_summary(protocol, method, side));
    yyjson_mut_obj_add_bool(facts->doc, made, "hasParams", method->has_params[side]);
    yyjson_mut_obj_add_bool(facts->doc, made, "optional", method->optional[side]);
    yyjson_mut_obj_add_val(facts->doc, made, "params",
                           cli_bundle(facts->doc, protocol, method, side, DX_PART_PARAMS, &code));
    if (code == CLI_OK && !method->notification) {
        yyjson_mut_obj_add_val(
            facts->doc, made, "result",
            cli_bundle(facts->doc, protocol, method, side, DX_PART_RESULT, &code));
        add_ms(facts, made, "deadline", method->deadline_ms[side]);
        add_text(facts, made, "late", cli_late_name(method->late[side]));
    }
    if (code == CLI_OK)
        add_examples(facts, made, protocol, method, side);
    return code;
}

int cli_describe_method_json(dx_protocol *protocol, const dx_method *method) {
    struct facts facts = {yyjson_mut_doc_new(NULL), protocol};
    yyjson_mut_val *object = yyjson_mut_obj(facts.doc);
    yyjson_val *root = dx_protocol_document(protocol);
    const dx_protocol_facts *said = dx_protocol_facts_of(protocol);
    int code = CLI_OK;
    add_text(&facts, object, "protocol", said->name);
    add_text(&facts, object, "revision", said->revision);
    add_text(&facts, object, "name", method->name);
    add_text(&facts, object, "kind", method->notification ? "notification" : "request");
    add_text(&facts, object, "from", cli_sender(method));
    add_direction(&facts, object, method->from_host, method->from_plugin);
    add_text(&facts, object, "summary", method->summary);
    add_text(&facts, object, "description", method->description);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(facts.doc, object, "errors");
    yyjson_arr_iter iter =
        yyjson_arr_iter_with(yyjson_obj_get(cli_method_object(protocol, method), "errors"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));) {
        yyjson_val *error = cli_error_of(root, it);
        int64_t number = (int64_t)yyjson_get_num(yyjson_obj_get(error, "code"));
        add_error(&facts, list, dx_protocol_error_name(protocol, number, NULL), error);
    }
    list = yyjson_mut_obj_add_arr(facts.doc, object, "directions");
    for (dx_side side = DX_SIDE_HOST; code == CLI_OK && side <= DX_SIDE_PLUGIN; side++)
        if (cli_sends(method, side))
            code = add_side(&facts, list, protocol, method, side);
    return put_object(&facts, object, code);
}
