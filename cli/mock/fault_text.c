/* Faults in the text of a message. */
#include "cli/mock/mock.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 100000, KEYS = 100000, DIGITS = 10000, HUGE_TEXT = 16 << 20 };

static bool put(dx_buf *buf, dx_text text) {
    return dx_buf_append(buf, text.at, text.len) == DX_OK;
}

static bool put_str(dx_buf *buf, const char *text) {
    return put(buf, dx_str(text));
}

static bool put_times(dx_buf *buf, char byte, size_t count) {
    if (dx_buf_reserve(buf, count) != DX_OK)
        return false;
    memset(buf->data + buf->len, byte, count);
    buf->len += count;
    return true;
}

/* Where more members can stand: in the result or the params if that is an object, else in the
 * message itself. */
static size_t place_of(dx_text message) {
    dx_message parts;
    dx_rpc_scan(message, DX_DEPTH_MAX, DX_LENIENT_ID_ANY | DX_LENIENT_LAST_MEMBER, &parts);
    dx_slice body = parts.result.len ? parts.result : parts.params;
    return body.len && message.at[body.at] == '{' ? body.at + 1 : 1;
}

/* The value of the member "note" that carries the fault. */
static bool put_value(mock_fault fault, dx_buf *buf) {
    char key[32];
    bool good = true;
    switch (fault) {
    case MOCK_FAULT_LENGTH_IN_BODY:
        return put_str(buf, "\"Content-Length: 7\\r\\n\\r\\nContent-Length: 7\"");
    case MOCK_FAULT_RAW_NEWLINE:
        return put_str(buf, "\"two\nlines\"");
    case MOCK_FAULT_DEEP:
        return put_times(buf, '[', DEPTH) && put_times(buf, ']', DEPTH);
    case MOCK_FAULT_UTF8_INVALID:
        return put_str(buf, "\"\xff\xfe\x80\"");
    case MOCK_FAULT_UTF8_OVERLONG:
        return put_str(buf, "\"\xc0\xaf\xed\xa0\x80\"");
    case MOCK_FAULT_SURROGATE:
        return put_str(buf, "\"\\ud800\"");
    case MOCK_FAULT_NUL:
        return put_str(buf, "\"a\\u0000b\"");
    case MOCK_FAULT_NUMBER_HUGE:
        return put_str(buf, "[1e400,") && put_times(buf, '7', DIGITS) && put_str(buf, "]");
    case MOCK_FAULT_HUGE:
        return put_str(buf, "\"") && put_times(buf, 'x', HUGE_TEXT) && put_str(buf, "\"");
    case MOCK_FAULT_KEYS:
        good = put_str(buf, "{");
        for (int i = 0; good && i < KEYS; i++) {
            snprintf(key, sizeof key, "%s\"key%d\":%d", i ? "," : "", i, i);
            good = put_str(buf, key);
        }
        return good && put_str(buf, "}");
    default:
        return put_str(buf, "null");
    }
}

static bool add_note(mock_fault fault, dx_text message, dx_buf *changed) {
    size_t place = place_of(message);
    bool is_json = fault != MOCK_FAULT_NOT_JSON;
    size_t next = place;
    while (next < message.len && strchr(" \t\r\n", message.at[next]))
        next++;
    bool last = next < message.len && message.at[next] == '}';
    return put(changed, (dx_text){message.at, place}) &&
           put_str(changed, is_json ? "\"note\":" : "/* a note */ 'note': NaN") &&
           (!is_json || put_value(fault, changed)) && (last || put_str(changed, ",")) &&
           put(changed, (dx_text){message.at + place, message.len - place});
}

/* A member of the envelope once more, before the others. */
static bool add_twice(dx_text message, dx_buf *changed) {
    dx_message parts;
    dx_rpc_scan(message, DX_DEPTH_MAX, DX_LENIENT_ID_ANY, &parts);
    dx_slice value = parts.id.len ? parts.id : parts.method;
    return put_str(changed, parts.id.len ? "{\"id\":" : "{\"method\":") &&
           put(changed, (dx_text){message.at + value.at, value.len}) && put_str(changed, ",") &&
           put(changed, (dx_text){message.at + 1, message.len - 1});
}

bool mock_fault_text(struct mock *mock, mock_fault fault, dx_text message, dx_buf *changed) {
    static const char version[] = "\"jsonrpc\":\"2.0\",";
    (void)mock;
    const char *found = memmem(message.at, message.len, version, sizeof version - 1);
    size_t before = found ? (size_t)(found - message.at) : 0;
    size_t after = found ? before + sizeof version - 1 : 0;
    switch (fault) {
    case MOCK_FAULT_VERSION_MISSING:
    case MOCK_FAULT_VERSION_WRONG:
        return put(changed, (dx_text){message.at, before}) &&
               put_str(changed,
                       found && fault == MOCK_FAULT_VERSION_WRONG ? "\"jsonrpc\":\"1.0\"," : "") &&
               put(changed, (dx_text){message.at + after, message.len - after});
    case MOCK_FAULT_TRAILING:
        return put(changed, message) && put_str(changed, " {\"more\":true}");
    case MOCK_FAULT_BATCH:
        return put_str(changed, "[") && put(changed, message) && put_str(changed, "]");
    case MOCK_FAULT_MEMBER_TWICE:
        return add_twice(message, changed);
    default:
        return add_note(fault, message, changed);
    }
}

/* Answers. */

static dx_text part(dx_text message, dx_slice slice) {
    return (dx_text){slice.len ? message.at + slice.at : NULL, slice.len};
}

/* The same id in another form. */
static bool put_other_form(dx_text id, dx_buf *buf) {
    if (id.len && id.at[0] != '"')
        return put_str(buf, "\"") && put(buf, id) && put_str(buf, "\"");
    bool digits = id.len > 2;
    for (size_t i = 1; i + 1 < id.len; i++)
        digits = digits && id.at[i] >= '0' && id.at[i] <= '9';
    return digits && id.at[1] != '0' ? put(buf, (dx_text){id.at + 1, id.len - 2})
                                     : put_str(buf, "1");
}

/* A result that the schema does not let pass; a number where anything goes. */
static const char *misfit(struct mock *mock, const mock_message *about) {
    static const char *const tries[] = {"42", "\"a text\"", "[]", "{}", "null"};
    dx_side from = mock_other_side(mock);
    const dx_method *method =
        about ? dx_protocol_find(mock->protocol, dx_str(about->method)) : NULL;
    for (size_t i = 0; method && i < sizeof tries / sizeof tries[0]; i++) {
        yyjson_doc *doc = yyjson_read(tries[i], strlen(tries[i]), 0);
        dx_status status = dx_protocol_check(mock->protocol, method, from, DX_PART_RESULT,
                                             yyjson_doc_get_root(doc), DX_CHECK_OPEN, NULL);
        yyjson_doc_free(doc);
        if (status == DX_MISFIT)
            return tries[i];
    }
    return tries[0];
}

static const char *behind_id(struct mock *mock, mock_fault fault, const mock_message *about) {
    switch (fault) {
    case MOCK_FAULT_RESULT_AND_ERROR:
        return ",\"result\":null,\"error\":{\"code\":-32000,\"message\":\"both\"}";
    case MOCK_FAULT_RESULT_MISSING:
        return "";
    case MOCK_FAULT_ERROR_SHAPE:
        return ",\"error\":\"something went wrong\"";
    case MOCK_FAULT_RESULT_FIT:
        return misfit(mock, about);
    default:
        return NULL;
    }
}

bool mock_fault_answer(struct mock *mock, mock_fault fault, const mock_message *about,
                       dx_text message, dx_buf *changed) {
    dx_message parts;
    dx_rpc_scan(message, DX_DEPTH_MAX, DX_LENIENT_ID_ANY | DX_LENIENT_LAST_MEMBER, &parts);
    dx_text id = part(message, parts.id);
    const char *instead = behind_id(mock, fault, about);
    if (!id.at)
        id = dx_str("4711");
    bool good = put_str(changed, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (fault == MOCK_FAULT_ID_UNKNOWN)
        good = good && put_str(changed, "987654321");
    else if (fault == MOCK_FAULT_ID_FORM)
        good = good && put_other_form(id, changed);
    else
        good = good && put(changed, id);
    if (fault == MOCK_FAULT_METHOD_AND_RESULT)
        good = good && put_str(changed, ",\"method\":\"mock/note\"");
    if (fault == MOCK_FAULT_RESULT_FIT)
        good = good && put_str(changed, ",\"result\":");
    if (instead)
        good = good && put_str(changed, instead);
    else if (parts.error.len)
        good = good && put_str(changed, ",\"error\":") && put(changed, part(message, parts.error));
    else
        good = good && put_str(changed, ",\"result\":") &&
               put(changed, parts.result.len ? part(message, parts.result) : dx_str("null"));
    return good && put_str(changed, "}");
}
