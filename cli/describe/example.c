#include "cli/describe/example.h"

#include "cli/describe/parts.h"

#include <duplex/rpc.h>

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 20 };

static bool put(dx_buf *buf, const char *text) {
    return dx_buf_append(buf, text, strlen(text)) == DX_OK;
}

/* An id as the protocol's calls have it. */
static const char *id_of(const dx_protocol *protocol) {
    switch (dx_protocol_facts_of(protocol)->ids) {
    case DX_IDS_RANDOM:
        return "\"req_abcdefghijklm\"";
    case DX_IDS_UUID:
        return "\"01234567-89ab-4def-8123-456789abcdef\"";
    default:
        return "1";
    }
}

static bool fits(dx_protocol *protocol, const dx_method *method, dx_side from, dx_part part,
                 dx_text json) {
    yyjson_doc *doc = yyjson_read(json.at, json.len, YYJSON_READ_NOFLAG);
    bool does = doc && dx_protocol_check(protocol, method, from, part, yyjson_doc_get_root(doc), 0,
                                         NULL) == DX_OK;
    yyjson_doc_free(doc);
    return does;
}

/* Appends a part; false if it does not fit after all. */
static bool put_part(dx_protocol *protocol, const dx_method *method, dx_side from, dx_part part,
                     dx_buf *buf) {
    size_t start = buf->len;
    return dx_protocol_example(protocol, method, from, part, buf) == DX_OK &&
           fits(protocol, method, from, part, (dx_text){buf->data + start, buf->len - start});
}

static bool put_request(dx_protocol *protocol, const dx_method *method, dx_side from, dx_buf *buf) {
    bool good = put(buf, "{\"jsonrpc\":\"2.0\",");
    if (!method->notification)
        good = good && put(buf, "\"id\":") && put(buf, id_of(protocol)) && put(buf, ",");
    good =
        good && put(buf, "\"method\":") && dx_json_write_string(buf, dx_str(method->name)) == DX_OK;
    if (method->has_params[from] && !method->optional[from])
        good = good && put(buf, ",\"params\":") &&
               put_part(protocol, method, from, DX_PART_PARAMS, buf);
    return good && put(buf, "}");
}

static bool put_answer(dx_protocol *protocol, const dx_method *method, dx_side from, dx_buf *buf) {
    return put(buf, "{\"jsonrpc\":\"2.0\",\"id\":") && put(buf, id_of(protocol)) &&
           put(buf, ",\"result\":") && put_part(protocol, method, from, DX_PART_RESULT, buf) &&
           put(buf, "}");
}

bool cli_example_make(dx_protocol *protocol, const dx_method *method, dx_side from,
                      cli_example *ret_example) {
    dx_buf_init(&ret_example->request, LONGEST, NULL);
    dx_buf_init(&ret_example->answer, LONGEST, NULL);
    if (put_request(protocol, method, from, &ret_example->request) &&
        (method->notification || put_answer(protocol, method, from, &ret_example->answer)))
        return true;
    cli_example_done(ret_example);
    return false;
}

/* The texts of the params in place of the empty ones of the example, to be freed; NULL: it is fine
 * as it is. */
static char *fill(dx_text example, dx_text params, size_t *ret_len) {
    yyjson_doc *result = yyjson_read(example.at, example.len, 0);
    yyjson_doc *asked = params.at ? yyjson_read(params.at, params.len, 0) : NULL;
    yyjson_mut_doc *doc = result && asked ? yyjson_doc_mut_copy(result, NULL) : NULL;
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    bool changed = false;
    size_t at;
    size_t max;
    yyjson_mut_val *key;
    yyjson_mut_val *value;
    yyjson_mut_obj_foreach(root, at, max, key, value) {
        dx_text given =
            dx_json_string(yyjson_obj_get(yyjson_doc_get_root(asked), yyjson_mut_get_str(key)));
        if (!yyjson_mut_equals_str(value, "") || !given.at)
            continue;
        yyjson_mut_set_strn(value, given.at, given.len);
        changed = true;
    }
    char *text = changed ? yyjson_mut_write(doc, 0, ret_len) : NULL;
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(result);
    yyjson_doc_free(asked);
    return text;
}

dx_status cli_example_result(dx_protocol *protocol, const dx_method *method, dx_side from,
                             dx_text params, dx_buf *json) {
    size_t len = 0;
    dx_buf example;
    dx_buf_init(&example, LONGEST, NULL);
    dx_status status = dx_protocol_example(protocol, method, from, DX_PART_RESULT, &example);
    dx_text text = {example.data, example.len};
    if (status == DX_OK && !fits(protocol, method, from, DX_PART_RESULT, text))
        status = DX_MISFIT;
    char *filled = status == DX_OK ? fill(text, params, &len) : NULL;
    if (filled && fits(protocol, method, from, DX_PART_RESULT, (dx_text){filled, len}))
        text = (dx_text){filled, len};
    if (status == DX_OK)
        status = dx_buf_append(json, text.at, text.len);
    free(filled);
    dx_buf_done(&example);
    return status;
}

void cli_example_done(cli_example *example) {
    dx_buf_done(&example->request);
    dx_buf_done(&example->answer);
}

bool cli_example_frame(const dx_protocol *protocol, const dx_buf *message, dx_buf *framed) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    return dx_frame_write(framed, facts->framing, facts->content_type,
                          (dx_text){message->data, message->len}) == DX_OK;
}
