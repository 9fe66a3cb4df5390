#include "cli/describe/example.h"

#include "cli/describe/parts.h"

#include <duplex/rpc.h>

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

/* Appends a part; false if it does not fit after all. */
static bool put_part(dx_protocol *protocol, const dx_method *method, dx_side from, dx_part part,
                     dx_buf *buf) {
    size_t start = buf->len;
    if (dx_protocol_example(protocol, method, from, part, buf) != DX_OK)
        return false;
    yyjson_doc *doc = yyjson_read(buf->data + start, buf->len - start, YYJSON_READ_NOFLAG);
    bool fits = doc && dx_protocol_check(protocol, method, from, part, yyjson_doc_get_root(doc), 0,
                                         NULL) == DX_OK;
    yyjson_doc_free(doc);
    return fits;
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

void cli_example_done(cli_example *example) {
    dx_buf_done(&example->request);
    dx_buf_done(&example->answer);
}

bool cli_example_frame(const dx_protocol *protocol, const dx_buf *message, dx_buf *framed) {
    const dx_protocol_facts *facts = dx_protocol_facts_of(protocol);
    return dx_frame_write(framed, facts->framing, facts->content_type,
                          (dx_text){message->data, message->len}) == DX_OK;
}
