/* checks.h: what `duplex check` looks at, by name. The names are part of the interface: scripts and
 * docs/check.md have them, and they stay. */
#ifndef CLI_CHECK_CHECKS_H
#define CLI_CHECK_CHECKS_H

#include "cli/lint/finding.h"

/* What must have come from the peer before anybody can say that a check passed. Those with none are
 * tried by somebody. */
typedef enum check_need {
    CHECK_TRIED,
    CHECK_ANYTHING, /* bytes */
    CHECK_HEADERS,  /* bytes, in the header framing */
    CHECK_LINES,    /* bytes, in the line framing */
    CHECK_MESSAGES,
    CHECK_ANSWERS,
    CHECK_REQUESTS, /* of its own */
    CHECK_SPEECH,   /* requests or notifications of its own */
    CHECK_PROGRESS,
    CHECK_NEED__COUNT
} check_need;

/* clang-format off */

/* X(NAME, "id", is it a note only, what it needs, "what is wanted"). */
#define CHECKS(X) \
    X(START_ANSWERED,   "start.answered",         0, CHECK_TRIED,    "The program completes the handshake in time") \
    X(START_EARLY,      "start.early",            0, CHECK_TRIED,    "The program refuses a request that is sent before the handshake") \
    X(START_EARLY_SERVED, "start.early-served",   1, CHECK_TRIED,    "The program refuses early requests even if the protocol has no error for it") \
    X(START_EARLY_CODE, "start.early-code",       1, CHECK_TRIED,    "The program refuses early requests with the protocol's own error code") \
    X(START_AFTER,      "start.after-early",      0, CHECK_TRIED,    "The program completes the handshake after it has refused an early request") \
    X(FRAMING_KIND,     "framing.kind",           0, CHECK_ANYTHING, "Every message uses the framing of the protocol") \
    X(FRAMING_STRAY,    "framing.stray",          0, CHECK_ANYTHING, "The program writes nothing but messages to its standard output") \
    X(FRAMING_WHOLE,    "framing.whole",          0, CHECK_ANYTHING, "The program completes every message that it begins") \
    X(FRAMING_HEADER,   "framing.header",         0, CHECK_HEADERS,  "Headers consist of ASCII fields of the form NAME: VALUE") \
    X(FRAMING_HEADER_LIMIT, "framing.header-limit", 0, CHECK_HEADERS, "No header has more than 64 fields or is longer than 16 KiB") \
    X(FRAMING_LINE_END, "framing.line-end",       0, CHECK_HEADERS,  "Header lines end with CR LF") \
    X(FRAMING_LENGTH,   "framing.length",         0, CHECK_HEADERS,  "Every header has one Content-Length: the length of the message in bytes") \
    X(FRAMING_CHARSET,  "framing.charset",        0, CHECK_HEADERS,  "The charset in every Content-Type is UTF-8") \
    X(FRAMING_BOM,      "framing.bom",            0, CHECK_LINES,    "The output has no byte order mark") \
    X(FRAMING_LAST,     "framing.last-line",      0, CHECK_LINES,    "The last line of the output ends with a newline") \
    X(FRAMING_LIMIT,    "framing.limit",          0, CHECK_ANYTHING, "No message is longer than the protocol allows") \
    X(JSON_VALID,       "json.valid",             0, CHECK_MESSAGES, "Every message is exactly one valid JSON value") \
    X(JSON_UTF8,        "json.utf8",              0, CHECK_MESSAGES, "Every message is valid UTF-8") \
    X(JSON_DEPTH,       "json.depth",             0, CHECK_MESSAGES, "No message is nested deeper than 1,000 levels") \
    X(JSON_VALUE,       "json.value",             0, CHECK_MESSAGES, "Numbers and strings are within the range that every JSON parser supports") \
    X(ENVELOPE_KIND,    "envelope.kind",          0, CHECK_MESSAGES, "Every message is a request, a notification or a response") \
    X(ENVELOPE_VERSION, "envelope.version",       0, CHECK_MESSAGES, "The member \"jsonrpc\" of every message is \"2.0\"") \
    X(ENVELOPE_MEMBERS, "envelope.members",       0, CHECK_MESSAGES, "No member of the envelope appears twice in a message") \
    X(ENVELOPE_METHOD,  "envelope.method",        0, CHECK_SPEECH,   "The \"method\" of every request and notification is a string") \
    X(ENVELOPE_PARAMS,  "envelope.params",        0, CHECK_SPEECH,   "The \"params\" of every request and notification is an object or an array") \
    X(ENVELOPE_ID,      "envelope.id",            0, CHECK_MESSAGES, "Every \"id\" is a string or a number, and every response has one") \
    X(ENVELOPE_ANSWER,  "envelope.answer",        0, CHECK_ANSWERS,  "Every response has either a result or an error, and no method") \
    X(ENVELOPE_ERROR,   "envelope.error",         0, CHECK_ANSWERS,  "Every error is an object with an integer code and a message") \
    X(ENVELOPE_BATCH,   "envelope.batch",         0, CHECK_MESSAGES, "The program sends batches only if the protocol allows them, none empty") \
    X(ID_ECHOED,        "id.echoed",              0, CHECK_TRIED,    "Every response has exactly the id of its request, whether number or string") \
    X(ID_LARGE,         "id.large",               1, CHECK_TRIED,    "A request id beyond 2^53 comes back unchanged") \
    X(ID_FRACTION,      "id.fraction",            1, CHECK_TRIED,    "A request id with a fraction comes back unchanged, or the request is refused") \
    X(ID_KNOWN,         "id.known",               0, CHECK_ANSWERS,  "Every response belongs to a request that was sent") \
    X(ID_ONCE,          "id.once",                0, CHECK_ANSWERS,  "No request gets two responses") \
    X(ID_UNIQUE,        "id.unique",              0, CHECK_REQUESTS, "No request from the program reuses the id of one that is still open") \
    X(ID_WHOLE,         "id.whole",               0, CHECK_REQUESTS, "The ids of the program's own requests have no fraction") \
    X(ID_NULL,          "id.null",                1, CHECK_ANSWERS,  "The program sends errors with the id null only for invalid messages") \
    X(ID_DUPLICATE,     "id.duplicate",           0, CHECK_TRIED,    "The program survives two concurrent requests with the same id") \
    X(METHOD_KNOWN,     "method.known",           0, CHECK_SPEECH,   "The program sends only methods that the protocol has") \
    X(METHOD_SIDE,      "method.side",            0, CHECK_SPEECH,   "The program sends only methods that its side may send") \
    X(METHOD_KIND,      "method.kind",            0, CHECK_SPEECH,   "The program sends requests as requests and notifications as notifications") \
    X(STATE_KEPT,       "state.kept",             0, CHECK_SPEECH,   "The program sends only messages that are allowed in the current state") \
    X(STATE_EARLY,      "state.early",            1, CHECK_SPEECH,   "The program sends no message too early, even if the protocol tolerates it") \
    X(SCHEMA_PARAMS,    "schema.params",          0, CHECK_SPEECH,   "The params of every request and notification match their schema") \
    X(SCHEMA_RESULT,    "schema.result",          0, CHECK_ANSWERS,  "Every result matches its schema") \
    X(SCHEMA_UNCHECKED, "schema.unchecked",       1, CHECK_MESSAGES, "Every value can be checked against its schema in time") \
    X(REQUEST_UNKNOWN,  "request.unknown-method", 0, CHECK_TRIED,    "The program answers an unknown method with error -32601") \
    X(REQUEST_METHOD_NAME, "request.method-name", 0, CHECK_TRIED,    "The program refuses unknown methods whatever their name (\"constructor\", \"\")") \
    X(REQUEST_PARAMS_TYPE, "request.params-type", 0, CHECK_TRIED,    "The program refuses params that are a string with error -32600 or -32602") \
    X(REQUEST_PARAMS_FIT, "request.params-fit",   0, CHECK_TRIED,    "The program refuses params that do not match their schema") \
    X(REQUEST_PARAMS_CODE, "request.params-code", 1, CHECK_TRIED,    "The program refuses params that do not match their schema with error -32602") \
    X(REQUEST_NOT_ONE,  "request.not-a-request",  0, CHECK_TRIED,    "The program refuses JSON that is not a message (error -32600) or ignores it") \
    X(REQUEST_INVALID,  "request.invalid-json",   0, CHECK_TRIED,    "The program refuses or ignores invalid JSON (error -32700) and keeps running") \
    X(REQUEST_BATCH,    "request.batch",          0, CHECK_TRIED,    "The program answers a batch, or survives it if batches are not allowed") \
    X(REQUEST_BATCH_REFUSED, "request.batch-refused", 1, CHECK_TRIED, "The program does not refuse a whole batch if the protocol allows batches") \
    X(REQUEST_BATCH_EMPTY, "request.batch-empty", 0, CHECK_TRIED,    "The program refuses an empty batch (error -32600) if it accepts batches") \
    X(NOTIFICATION_SILENT, "notification.silent", 0, CHECK_TRIED,    "The program sends no response to a notification") \
    X(RESPONSE_UNKNOWN, "response.unknown",       0, CHECK_TRIED,    "The program ignores a response to a request that it never sent") \
    X(ANSWER_GIVEN,     "answer.given",           0, CHECK_TRIED,    "Every request gets a response") \
    X(ANSWER_IN_TIME,   "answer.in-time",         0, CHECK_TRIED,    "Every response arrives within the time set by --timeout") \
    X(ANSWER_FLUSHED,   "answer.flushed",         0, CHECK_TRIED,    "The program sends every response without waiting for more input") \
    X(MANY_ANSWERED,    "many.answered",          0, CHECK_TRIED,    "Each of 50 concurrent requests gets exactly one response, in any order") \
    X(INPUT_READ,       "input.read",             0, CHECK_TRIED,    "The program reads its standard input") \
    X(INPUT_TOGETHER,   "input.together",         0, CHECK_TRIED,    "The program accepts several messages in one write") \
    X(INPUT_PIECES,     "input.pieces",           0, CHECK_TRIED,    "The program accepts a message that arrives one byte at a time") \
    X(INPUT_HEADER_CASE, "input.header-case",     0, CHECK_TRIED,    "The program accepts Content-Length in any mix of upper and lower case") \
    X(INPUT_HEADER_BLANKS, "input.header-blanks", 1, CHECK_TRIED,    "The program accepts any number of spaces around a Content-Length value") \
    X(INPUT_HEADER_EXTRA, "input.header-extra",   0, CHECK_TRIED,    "The program accepts headers with Content-Type and other fields") \
    X(INPUT_LINE_ENDS,  "input.line-ends",        0, CHECK_TRIED,    "The program accepts lines that end with CR LF, and empty lines") \
    X(INPUT_SPACE,      "input.space",            0, CHECK_TRIED,    "The program accepts any white space and any escapes in JSON") \
    X(INPUT_LARGE,      "input.large",            0, CHECK_TRIED,    "The program accepts or refuses a message of 1 MiB, and keeps running") \
    X(INPUT_DEEP,       "input.deep",             1, CHECK_TRIED,    "The program survives JSON that is nested 20,000 levels deep") \
    X(OUTPUT_SLOW,      "output.slow-reader",     0, CHECK_TRIED,    "The program loses no output when it is read late") \
    X(CANCEL_HEEDED,    "cancel.heeded",          0, CHECK_TRIED,    "The program promptly stops working on a cancelled request") \
    X(CANCEL_ANSWERED,  "cancel.answered",        0, CHECK_TRIED,    "A cancelled request gets a response if the protocol requires one") \
    X(CANCEL_UNKNOWN,   "cancel.unknown",         0, CHECK_TRIED,    "The program ignores the cancellation of an unknown request") \
    X(CANCEL_KNOWN,     "cancel.known",           0, CHECK_SPEECH,   "The program cancels only requests that it has sent") \
    X(PROGRESS_ASKED,   "progress.asked",         0, CHECK_PROGRESS, "The program reports progress only with a token that is in use") \
    X(PROGRESS_ORDER,   "progress.order",         0, CHECK_PROGRESS, "Progress begins once, only moves forward, and ends once") \
    X(LIFE_STAYS,       "life.stays",             0, CHECK_TRIED,    "The program keeps running until it is asked to exit") \
    X(LIFE_OUTPUT,      "life.output",            0, CHECK_TRIED,    "The program keeps its standard output open as long as it runs") \
    X(END_STOP,         "end.stop",               0, CHECK_TRIED,    "The program exits when it is shut down as the protocol requires") \
    X(END_STOP_ANSWERED, "end.stop-answered",     0, CHECK_TRIED,    "The program responds to the shutdown request") \
    X(END_CODE,         "end.code",               1, CHECK_TRIED,    "The program exits with code 0 after a shutdown") \
    X(END_EOF,          "end.eof",                0, CHECK_TRIED,    "The program exits when its standard input is closed") \
    X(END_EOF_QUIET,    "end.eof-quiet",          1, CHECK_TRIED,    "The program writes nothing after its standard input is closed") \
    X(END_TERM,         "end.term",               0, CHECK_TRIED,    "The program exits on SIGTERM") \
    X(END_PROCESSES,    "end.processes",          0, CHECK_TRIED,    "No child process outlives the program or holds its output open") \
    X(END_KILLED,       "end.killed",             1, CHECK_TRIED,    "No child process keeps running when the program is killed")

/* clang-format on */

typedef enum check_id {
#define X(name, id, note, need, text) CHECK_##name,
    CHECKS(X)
#undef X
        CHECK__COUNT
} check_id;

const char *check_name(check_id id);
const char *check_text(check_id id);
bool check_is_note(check_id id);
check_need check_need_of(check_id id);
/* The check that a flaw of the books, or of the framing, is a failure of; CHECK__COUNT: of none. */
check_id check_of_flaw(cli_flaw flaw);
check_id check_of_fault(dx_fault fault);

#endif
