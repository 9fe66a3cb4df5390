/* What each fault is called and how it is told: one row each, in the order of the enum. */
#include "base/line.h"

static const struct fault_row {
    const char *name;
    const char *place;
    const char *phrase;  /* $f and $e stand for the number found and the number expected */
    const char *phrase0; /* where there is no number expected, if that makes a difference */
} rows[DX_FAULT__COUNT] = {
    [DX_FAULT_NONE] = {"none", "", "the conversation ended"},
    [DX_FAULT_STRAY] = {"stray", "", "text that is not part of a message"},
    [DX_FAULT_STRAY_LIMIT] = {"stray-limit", "",
                              "too much text that is not part of a message: $f, the limit is $e"},
    [DX_FAULT_OTHER_FRAMING] =
        {"other-framing", "",
         "expected header framing (Content-Length), but the peer sends "
         "line framing (one JSON text per line)",
         "expected line framing (one JSON text per line), but the peer sends "
         "header framing (Content-Length)"},
    [DX_FAULT_HEADER_BLANK] = {"header-blank", "header", "an empty line before a header"},
    [DX_FAULT_HEADER_SYNTAX] = {"header-syntax", "header",
                                "not a header line: expected 'Name: value' in ASCII"},
    [DX_FAULT_HEADER_LF] = {"header-lf", "header",
                            "a header line ends in LF alone, expected CR LF"},
    [DX_FAULT_HEADER_LIMIT] = {"header-limit", "header",
                               "header too large: more than $e (bytes or fields)"},
    [DX_FAULT_FIELD_NAME] = {"field-name", "header",
                             "a header field name with more than letters and hyphens"},
    [DX_FAULT_LENGTH_MISSING] = {"length-missing", "header", "a header without Content-Length"},
    [DX_FAULT_LENGTH_SYNTAX] = {"length-syntax", "header",
                                "Content-Length is not a plain decimal number"},
    [DX_FAULT_LENGTH_TAB] = {"length-tab", "header",
                             "a tab next to the value of Content-Length, expected spaces"},
    [DX_FAULT_LENGTH_PLUS] = {"length-plus", "header", "Content-Length has a plus sign"},
    [DX_FAULT_LENGTH_REPEATED] = {"length-repeated", "header", "Content-Length appears twice: $f"},
    [DX_FAULT_LENGTH_CONFLICT] = {"length-conflict", "header",
                                  "two different Content-Length fields: $e, then $f"},
    [DX_FAULT_LENGTH_SHORT] = {"length-short", "body",
                               "Content-Length is too short: declared $e, document ended at $f"},
    [DX_FAULT_CHARSET] = {"charset", "header", "Content-Type asks for a charset other than UTF-8"},
    [DX_FAULT_MESSAGE_LIMIT] = {"message-limit", "", "message too long: the limit is $e bytes"},
    [DX_FAULT_TRUNCATED] = {"truncated", "", "truncated message: got $f of $e bytes",
                            "truncated message: the stream ended $f bytes into it"},
    [DX_FAULT_STALLED] = {"stalled", "", "incomplete message: $e bytes are missing after $f",
                          "incomplete message: its end is missing after $f bytes"},
    [DX_FAULT_BOM] = {"bom", "line", "a byte order mark at the start was skipped"},
    [DX_FAULT_UNTERMINATED] = {"unterminated", "line", "the last line has no newline"},
    [DX_FAULT_JSON_EMPTY] = {"json-empty", "body", "empty message, expected JSON"},
    [DX_FAULT_JSON_SYNTAX] = {"json-syntax", "body", "invalid JSON at byte $f"},
    [DX_FAULT_JSON_INCOMPLETE] = {"json-incomplete", "body", "JSON ends too early, at byte $f"},
    [DX_FAULT_JSON_PRETTY] =
        {"json-pretty", "body",
         "JSON that spans several lines: this framing needs one message per line"},
    [DX_FAULT_JSON_TRAILING] = {"json-trailing", "body",
                                "bytes after the JSON document, which ended at byte $f"},
    [DX_FAULT_JSON_UTF8] = {"json-utf8", "body", "invalid UTF-8 at byte $f"},
    [DX_FAULT_JSON_DEPTH] = {"json-depth", "body", "nested deeper than $e at byte $f"},
    [DX_FAULT_JSON_VALUE] = {"json-value", "body",
                             "a number or string that cannot be represented, at byte $f"},
    [DX_FAULT_NOT_A_MESSAGE] = {"not-a-message", "body",
                                "JSON, but neither request, notification nor response"},
    [DX_FAULT_VERSION] = {"version", "jsonrpc", "member \"jsonrpc\" must be \"2.0\""},
    [DX_FAULT_MEMBER_REPEATED] = {"member-repeated", "body", "duplicate member at byte $f"},
    [DX_FAULT_METHOD_MISSING] = {"method-missing", "method", "missing required field: method"},
    [DX_FAULT_METHOD_TYPE] = {"method-type", "method", "\"method\" must be a Unicode string"},
    [DX_FAULT_PARAMS_TYPE] = {"params-type", "params", "\"params\" must be an object or an array"},
    [DX_FAULT_ID_TYPE] = {"id-type", "id", "\"id\" must be a string or a number"},
    [DX_FAULT_ID_MISSING] = {"id-missing", "id", "a response without \"id\""},
    [DX_FAULT_ID_LIMIT] = {"id-limit", "id", "\"id\" has $f bytes, the limit is $e"},
    [DX_FAULT_RESULT_AND_ERROR] = {"result-and-error", "body",
                                   "a response with both \"result\" and \"error\""},
    [DX_FAULT_RESULT_MISSING] = {"result-missing", "body",
                                 "a response with neither \"result\" nor \"error\""},
    [DX_FAULT_METHOD_AND_RESULT] = {"method-and-result", "body",
                                    "\"method\" together with \"result\" or \"error\""},
    [DX_FAULT_ERROR_SHAPE] = {"error-shape", "error",
                              "\"error\" is not an object with an integer code and a message"},
    [DX_FAULT_BATCH] = {"batch", "body", "a batch, which this conversation does not allow"},
    [DX_FAULT_BATCH_EMPTY] = {"batch-empty", "body", "an empty batch"},
    [DX_FAULT_BATCH_LIMIT] = {"batch-limit", "body", "a batch of $f elements, the limit is $e"},
    [DX_FAULT_METHOD_LIMIT] = {"method-limit", "method",
                               "\"method\" has $f bytes, the limit is $e"},
    [DX_FAULT_VALUES_LIMIT] = {"values-limit", "body", "a message of $f values, the limit is $e"},
    [DX_FAULT_ID_UNKNOWN] = {"id-unknown", "id", "a response to an unknown request"},
    [DX_FAULT_ID_FORM] = {"id-form", "id",
                          "a response whose id has another type: expected the number $e"},
    [DX_FAULT_ID_IN_USE] = {"id-in-use", "id", "a request with the id of a pending request"},
    [DX_FAULT_ID_NULL] = {"id-null", "id",
                          "the peer reports an error for a message that it could not read"},
    [DX_FAULT_TIMEOUT] = {"timeout", "", "no response within $e ms"},
    [DX_FAULT_TOTAL] = {"total", "", "no response within $e ms in total"},
    [DX_FAULT_OVERDUE] = {"overdue", "", "not answered within $e ms"},
    [DX_FAULT_CANCELLED] = {"cancelled", "", "cancelled"},
    [DX_FAULT_GIVEN_UP] = {"given-up", "", "cancelled by the other side"},
    [DX_FAULT_ENDED] = {"ended", "", "the conversation ended before the response arrived"},
    [DX_FAULT_UNREAD] = {"unread", "",
                         "the peer is not reading: $f bytes have been waiting for $e ms"},
    [DX_FAULT_METHOD_UNKNOWN] = {"method-unknown", "method", "not a method of the protocol"},
    [DX_FAULT_METHOD_KIND] = {"method-kind", "method",
                              "a notification instead of a request, or vice versa"},
    [DX_FAULT_STATE] = {"state", "method", "a message that is not allowed now"},
    [DX_FAULT_PARAMS_FIT] = {"params-fit", "params", "the params do not match their schema"},
    [DX_FAULT_RESULT_FIT] = {"result-fit", "result", "the result does not match its schema"},
    [DX_FAULT_SYSTEM] = {"system", "", "the operating system reported an error"},
    [DX_FAULT_START] = {"start", "", "the program cannot be started"},
    [DX_FAULT_EXITED] = {"exited", "", "the program exited with code $f"},
    [DX_FAULT_KILLED] = {"killed", "", "the program was killed by signal $f"},
};

const char *dx_fault_name(dx_fault fault) {
    return fault >= 0 && fault < DX_FAULT__COUNT ? rows[fault].name : "unknown fault";
}

void dx__error_set(dx_error *error, dx_fault fault, uint64_t offset, uint64_t found,
                   uint64_t expected) {
    const struct fault_row *row = &rows[fault];
    const char *phrase = row->phrase0 && !expected ? row->phrase0 : row->phrase;
    error->fault = fault;
    error->system = 0;
    error->offset = offset;
    dx__line place = dx__line_on(error->place, sizeof error->place);
    dx__line_str(&place, row->place);
    dx__line line = dx__line_on(error->phrase, sizeof error->phrase);
    char piece[2] = {0, 0};
    for (; *phrase; phrase++) {
        if (phrase[0] == '$' && (phrase[1] == 'f' || phrase[1] == 'e')) {
            dx__line_num(&line, phrase[1] == 'f' ? found : expected);
            phrase++;
        } else {
            piece[0] = *phrase;
            dx__line_str(&line, piece);
        }
    }
}
