/* finding.h: what can be wrong with a recorded conversation, by name. The names are part of the
 * interface: docs/lint.md has them, and they stay. Those of faults are the library's. */
#ifndef CLI_FINDING_H
#define CLI_FINDING_H

#include <duplex/trace.h>

#include <stdbool.h>

/* clang-format off */

/* X(NAME, "name", is it a note, "what is wrong", a sentence). */
#define CLI_FLAWS(X) \
    X(RECORD,          "record",          0, "A line is not a trace record") \
    X(CUT,             "cut",             1, "The last line of the file is cut off") \
    X(PARTS,           "parts",           1, "A part of the trace is missing") \
    X(DROPPED,         "dropped",         1, "Records are missing here because the recorder dropped them") \
    X(CONVERSATIONS,   "conversations",   0, "More conversations are open at once than lint can track") \
    X(STRAY,           "stray",           0, "The output has text that is not part of a message") \
    X(BROKEN,          "broken",          0, "A message is not valid JSON") \
    X(MESSAGE_LIMIT,   "message-limit",   0, "A message is longer than the protocol allows") \
    X(JSON_DEPTH,      "json-depth",      0, "A message is nested too deeply") \
    X(JSON_VALUE,      "json-value",      0, "A number or string is out of range (1e400, \"\\ud800\")") \
    X(NOT_A_MESSAGE,   "not-a-message",   0, "The JSON is not a request, a notification or a response") \
    X(VERSION,         "version",         0, "The member \"jsonrpc\" is not \"2.0\"") \
    X(MEMBER_REPEATED, "member-repeated", 0, "A member of the envelope appears twice") \
    X(METHOD_MISSING,  "method-missing",  0, "A message has params and an id, but no method") \
    X(METHOD_TYPE,     "method-type",     0, "The \"method\" is not a string") \
    X(PARAMS_TYPE,     "params-type",     0, "The \"params\" is neither an object nor an array") \
    X(ID_TYPE,         "id-type",         0, "The \"id\" is neither a string nor a number") \
    X(ID_MISSING,      "id-missing",      0, "A response has no \"id\"") \
    X(ID_LIMIT,        "id-limit",        0, "The \"id\" of a request is longer than 1,024 bytes") \
    X(RESULT_ERROR,    "result-and-error", 0, "A response has both a result and an error") \
    X(RESULT_MISSING,  "result-missing",  0, "A response has neither a result nor an error") \
    X(METHOD_RESULT,   "method-and-result", 0, "A message is both a request and a response") \
    X(ERROR_SHAPE,     "error-shape",     0, "An error is not an object with an integer code and a message") \
    X(BATCH,           "batch",           0, "A batch was sent, but the protocol does not allow batches") \
    X(BATCH_EMPTY,     "batch-empty",     0, "A batch is empty") \
    X(ID_UNKNOWN,      "id-unknown",      0, "A response does not match any request") \
    X(ID_ANSWERED,     "id-answered",     0, "A request got a second response") \
    X(ID_FORM,         "id-form",         0, "A response has the id of its request in another form (\"1\" for 1)") \
    X(ID_IN_USE,       "id-in-use",       0, "A request has the id of a request that is still open") \
    X(ID_NULL,         "id-null",         1, "An error has the id null: its sender could not read a message") \
    X(UNANSWERED,      "unanswered",      0, "A request got no response before the plugin exited") \
    X(OPEN_AT_END,     "open-at-end",     1, "A request got no response before the end of the trace") \
    X(OPEN_LIMIT,      "open-limit",      0, "More requests are open at once than lint can track") \
    X(METHOD_UNKNOWN,  "method-unknown",  0, "A method is not part of the protocol") \
    X(METHOD_SIDE,     "method-side",     0, "A message was sent by the wrong side") \
    X(METHOD_KIND,     "method-kind",     0, "A request was sent as a notification, or vice versa") \
    X(STATE,           "state",           0, "A message is not allowed in the current state") \
    X(EARLY,           "early",           1, "A message was sent too early, but the protocol tolerates it") \
    X(PARAMS_FIT,      "params-fit",      0, "The params do not match their schema") \
    X(RESULT_FIT,      "result-fit",      0, "A result does not match its schema") \
    X(REDACTED,        "redacted",        1, "A value cannot be checked because it was redacted") \
    X(UNCHECKED,       "unchecked",       1, "A value cannot be checked because checking it takes too long") \
    X(CANCEL_UNKNOWN,  "cancel-unknown",  1, "A cancellation names a request that is not open") \
    X(PROGRESS_UNKNOWN, "progress-unknown", 1, "Progress was reported for a request that is not open")

/* clang-format on */

typedef enum cli_flaw {
#define X(name, word, note, text) CLI_FLAW_##name,
    CLI_FLAWS(X)
#undef X
        CLI_FLAW__COUNT
} cli_flaw;

const char *cli_flaw_name(cli_flaw flaw);
/* What is wrong: a sentence that begins with a capital letter and has no full stop. */
const char *cli_flaw_text(cli_flaw flaw);
/* A note is worth knowing, but nothing is wrong with the conversation. */
bool cli_flaw_is_note(cli_flaw flaw);
/* The flaw that a fault of the library is; what has no name of its own is no JSON. */
cli_flaw cli_flaw_of(dx_fault fault);

/* Where something was seen. */
typedef struct cli_place {
    size_t file; /* whatever the caller counts */
    uint64_t line;
    uint64_t time_us;
} cli_place;

typedef struct cli_finding {
    cli_flaw flaw;
    cli_place place;
    dx_trace_from from;
    char message[900];
    char pointer[272]; /* into the message: "/params/name"; "" for none */
    char reason[512];  /* what is wrong there; "" for none */
} cli_finding;

/* Appends to a message that is built bit by bit: what is too long is cut, between two characters.
 * Text of others is cut to `max` bytes; what is not UTF-8 becomes "?". */
void cli_finding_say(cli_finding *finding, const char *text);
/* The sentence of a flaw, in the middle of a line: it begins with a small letter. */
void cli_finding_flaw(cli_finding *finding, cli_flaw flaw);
void cli_finding_quote(cli_finding *finding, dx_text text, size_t max);
void cli_finding_number(cli_finding *finding, uint64_t number);

#endif
