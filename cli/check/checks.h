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
    X(START_ANSWERED,   "start.answered",         0, CHECK_TRIED,    "the handshake is done, in time") \
    X(START_EARLY,      "start.early",            0, CHECK_TRIED,    "a request before the handshake is refused") \
    X(START_EARLY_SERVED, "start.early-served",   1, CHECK_TRIED,    "… also where the protocol has no error of its own for that") \
    X(START_EARLY_CODE, "start.early-code",       1, CHECK_TRIED,    "… with the error code that the protocol has for it") \
    X(START_AFTER,      "start.after-early",      0, CHECK_TRIED,    "the handshake is taken after a refused request") \
    X(FRAMING_KIND,     "framing.kind",           0, CHECK_ANYTHING, "messages come in the framing of the protocol, always") \
    X(FRAMING_STRAY,    "framing.stray",          0, CHECK_ANYTHING, "nothing but messages is written to the standard output") \
    X(FRAMING_WHOLE,    "framing.whole",          0, CHECK_ANYTHING, "a message that begins comes to its end") \
    X(FRAMING_HEADER,   "framing.header",         0, CHECK_HEADERS,  "headers are ASCII fields, NAME: VALUE") \
    X(FRAMING_HEADER_LIMIT, "framing.header-limit", 0, CHECK_HEADERS, "a header has at most 64 fields and 16 KiB") \
    X(FRAMING_LINE_END, "framing.line-end",       0, CHECK_HEADERS,  "lines of a header end with CR LF") \
    X(FRAMING_LENGTH,   "framing.length",         0, CHECK_HEADERS,  "Content-Length is there once, and is the length in bytes") \
    X(FRAMING_CHARSET,  "framing.charset",        0, CHECK_HEADERS,  "the charset of Content-Type is UTF-8") \
    X(FRAMING_BOM,      "framing.bom",            0, CHECK_LINES,    "there is no byte order mark") \
    X(FRAMING_LAST,     "framing.last-line",      0, CHECK_LINES,    "the last line ends with a newline") \
    X(FRAMING_LIMIT,    "framing.limit",          0, CHECK_ANYTHING, "no message is longer than the protocol allows") \
    X(JSON_VALID,       "json.valid",             0, CHECK_MESSAGES, "each message is one JSON text") \
    X(JSON_UTF8,        "json.utf8",              0, CHECK_MESSAGES, "JSON is UTF-8") \
    X(JSON_DEPTH,       "json.depth",             0, CHECK_MESSAGES, "JSON is not nested deeper than 1,000 levels") \
    X(JSON_VALUE,       "json.value",             0, CHECK_MESSAGES, "numbers and strings are such that everybody can hold them") \
    X(ENVELOPE_KIND,    "envelope.kind",          0, CHECK_MESSAGES, "each message is a request, a notification or an answer") \
    X(ENVELOPE_VERSION, "envelope.version",       0, CHECK_MESSAGES, "\"jsonrpc\" is \"2.0\"") \
    X(ENVELOPE_MEMBERS, "envelope.members",       0, CHECK_MESSAGES, "no member of the envelope stands twice") \
    X(ENVELOPE_METHOD,  "envelope.method",        0, CHECK_SPEECH,   "\"method\" is a string") \
    X(ENVELOPE_PARAMS,  "envelope.params",        0, CHECK_SPEECH,   "\"params\" is an object or array") \
    X(ENVELOPE_ID,      "envelope.id",            0, CHECK_MESSAGES, "\"id\" is a string or number, and is there in an answer") \
    X(ENVELOPE_ANSWER,  "envelope.answer",        0, CHECK_ANSWERS,  "an answer has a result or an error, and nothing else") \
    X(ENVELOPE_ERROR,   "envelope.error",         0, CHECK_ANSWERS,  "an error is an object with an integer code and a message") \
    X(ENVELOPE_BATCH,   "envelope.batch",         0, CHECK_MESSAGES, "batches come only where the protocol has them, and not empty") \
    X(ID_ECHOED,        "id.echoed",              0, CHECK_TRIED,    "an answer has the id of its request, of whatever form") \
    X(ID_LARGE,         "id.large",               1, CHECK_TRIED,    "an id beyond 2^53 comes back unchanged") \
    X(ID_FRACTION,      "id.fraction",            1, CHECK_TRIED,    "an id with a fraction comes back unchanged, or is refused") \
    X(ID_KNOWN,         "id.known",               0, CHECK_ANSWERS,  "nothing is answered that was not asked") \
    X(ID_ONCE,          "id.once",                0, CHECK_ANSWERS,  "nothing is answered twice") \
    X(ID_UNIQUE,        "id.unique",              0, CHECK_REQUESTS, "no request has the id of one that is still open") \
    X(ID_WHOLE,         "id.whole",               0, CHECK_REQUESTS, "the ids of its requests have no fraction") \
    X(ID_NULL,          "id.null",                1, CHECK_ANSWERS,  "no error with id null answers what was right") \
    X(ID_DUPLICATE,     "id.duplicate",           0, CHECK_TRIED,    "two requests at once with one id don't hurt") \
    X(METHOD_KNOWN,     "method.known",           0, CHECK_SPEECH,   "it sends only what the protocol has") \
    X(METHOD_SIDE,      "method.side",            0, CHECK_SPEECH,   "it sends only what its side sends") \
    X(METHOD_KIND,      "method.kind",            0, CHECK_SPEECH,   "requests are requests, and notifications are notifications") \
    X(STATE_KEPT,       "state.kept",             0, CHECK_SPEECH,   "it sends only what may come now") \
    X(STATE_EARLY,      "state.early",            1, CHECK_SPEECH,   "… not even where the protocol lets it pass") \
    X(SCHEMA_PARAMS,    "schema.params",          0, CHECK_SPEECH,   "params fit their schema") \
    X(SCHEMA_RESULT,    "schema.result",          0, CHECK_ANSWERS,  "results fit their schema") \
    X(SCHEMA_UNCHECKED, "schema.unchecked",       1, CHECK_MESSAGES, "all values can be held against their schema in time") \
    X(REQUEST_UNKNOWN,  "request.unknown-method", 0, CHECK_TRIED,    "a method that does not exist is refused with -32601") \
    X(REQUEST_METHOD_NAME, "request.method-name", 0, CHECK_TRIED,    "… whatever it is called: constructor, or nothing") \
    X(REQUEST_PARAMS_TYPE, "request.params-type", 0, CHECK_TRIED,    "a text for params is refused with -32600 or -32602") \
    X(REQUEST_PARAMS_FIT, "request.params-fit",   0, CHECK_TRIED,    "params that do not fit are refused") \
    X(REQUEST_PARAMS_CODE, "request.params-code", 1, CHECK_TRIED,    "… with -32602") \
    X(REQUEST_NOT_ONE,  "request.not-a-request",  0, CHECK_TRIED,    "JSON that is no message is refused (-32600) or ignored") \
    X(REQUEST_INVALID,  "request.invalid-json",   0, CHECK_TRIED,    "no JSON is refused (-32700) or ignored, and survived") \
    X(REQUEST_BATCH,    "request.batch",          0, CHECK_TRIED,    "a batch is answered where there are such, else survived") \
    X(REQUEST_BATCH_REFUSED, "request.batch-refused", 1, CHECK_TRIED, "… and is not refused as a whole where there are batches") \
    X(REQUEST_BATCH_EMPTY, "request.batch-empty", 0, CHECK_TRIED,    "an empty batch is refused with -32600, or ignored") \
    X(NOTIFICATION_SILENT, "notification.silent", 0, CHECK_TRIED,    "no notification is answered") \
    X(RESPONSE_UNKNOWN, "response.unknown",       0, CHECK_TRIED,    "an answer to what it did not ask is ignored") \
    X(ANSWER_GIVEN,     "answer.given",           0, CHECK_TRIED,    "each request is answered") \
    X(ANSWER_IN_TIME,   "answer.in-time",         0, CHECK_TRIED,    "… within the time of --timeout") \
    X(ANSWER_FLUSHED,   "answer.flushed",         0, CHECK_TRIED,    "… without waiting for more to come") \
    X(MANY_ANSWERED,    "many.answered",          0, CHECK_TRIED,    "of 50 requests at once each is answered once, in any order") \
    X(INPUT_READ,       "input.read",             0, CHECK_TRIED,    "its standard input is read") \
    X(INPUT_TOGETHER,   "input.together",         0, CHECK_TRIED,    "several messages in one write are all taken") \
    X(INPUT_PIECES,     "input.pieces",           0, CHECK_TRIED,    "a message that comes byte by byte is taken") \
    X(INPUT_HEADER_CASE, "input.header-case",     0, CHECK_TRIED,    "content-length may be written in any case") \
    X(INPUT_HEADER_BLANKS, "input.header-blanks", 1, CHECK_TRIED,    "any number of blanks may stand around a length") \
    X(INPUT_HEADER_EXTRA, "input.header-extra",   0, CHECK_TRIED,    "a header may have other fields, and Content-Type") \
    X(INPUT_LINE_ENDS,  "input.line-ends",        0, CHECK_TRIED,    "lines may end with CR LF, and may be empty") \
    X(INPUT_SPACE,      "input.space",            0, CHECK_TRIED,    "white space and escapes in JSON make no difference") \
    X(INPUT_LARGE,      "input.large",            0, CHECK_TRIED,    "a message of 1 MiB is taken or refused, and survived") \
    X(INPUT_DEEP,       "input.deep",             1, CHECK_TRIED,    "JSON of 20,000 levels is taken or refused, and survived") \
    X(OUTPUT_SLOW,      "output.slow-reader",     0, CHECK_TRIED,    "nothing is lost if its output is read late") \
    X(CANCEL_HEEDED,    "cancel.heeded",          0, CHECK_TRIED,    "a request that is cancelled is not worked on for long") \
    X(CANCEL_ANSWERED,  "cancel.answered",        0, CHECK_TRIED,    "what is cancelled is answered, if the protocol wants it") \
    X(CANCEL_UNKNOWN,   "cancel.unknown",         0, CHECK_TRIED,    "cancelling what is not there is ignored") \
    X(CANCEL_KNOWN,     "cancel.known",           0, CHECK_SPEECH,   "it cancels only what it asked") \
    X(PROGRESS_ASKED,   "progress.asked",         0, CHECK_PROGRESS, "progress comes only with a token that is open") \
    X(PROGRESS_ORDER,   "progress.order",         0, CHECK_PROGRESS, "progress begins, goes forward, and ends once") \
    X(LIFE_STAYS,       "life.stays",             0, CHECK_TRIED,    "it does not leave before it is asked to") \
    X(LIFE_OUTPUT,      "life.output",            0, CHECK_TRIED,    "its output stays open for as long as it lives") \
    X(END_STOP,         "end.stop",               0, CHECK_TRIED,    "it leaves when it is asked to as the protocol wants it") \
    X(END_STOP_ANSWERED, "end.stop-answered",     0, CHECK_TRIED,    "the request to leave is answered") \
    X(END_CODE,         "end.code",               1, CHECK_TRIED,    "it leaves with exit code 0") \
    X(END_EOF,          "end.eof",                0, CHECK_TRIED,    "it leaves when its standard input ends") \
    X(END_EOF_QUIET,    "end.eof-quiet",          1, CHECK_TRIED,    "… and writes nothing after that") \
    X(END_TERM,         "end.term",               0, CHECK_TRIED,    "it leaves on SIGTERM") \
    X(END_PROCESSES,    "end.processes",          0, CHECK_TRIED,    "it leaves no process behind, and nobody holds its output") \
    X(END_KILLED,       "end.killed",             1, CHECK_TRIED,    "nothing lives on when it is killed")

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
