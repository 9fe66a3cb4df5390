/* finding.h: what can be wrong with a recorded conversation, by name. The names are part of the
 * interface: docs/lint.md has them, and they stay. Those of faults are the library's. */
#ifndef CLI_FINDING_H
#define CLI_FINDING_H

#include <duplex/trace.h>

#include <stdbool.h>

/* clang-format off */

/* X(NAME, "name", is it a note, "what was seen"). */
#define CLI_FLAWS(X) \
    X(RECORD,          "record",          0, "a line that is no record of a trace") \
    X(CUT,             "cut",             1, "the last line is cut off") \
    X(PARTS,           "parts",           1, "a part of the trace is missing") \
    X(DROPPED,         "dropped",         1, "records were dropped when it was recorded") \
    X(CONVERSATIONS,   "conversations",   0, "more conversations at once than fit in the books") \
    X(STRAY,           "stray",           0, "text that belongs to no message") \
    X(BROKEN,          "broken",          0, "a message that is no JSON") \
    X(MESSAGE_LIMIT,   "message-limit",   0, "a message longer than the protocol allows") \
    X(JSON_DEPTH,      "json-depth",      0, "a message that is nested too deep") \
    X(JSON_VALUE,      "json-value",      0, "JSON that can't be held (1e400, \"\\ud800\")") \
    X(NOT_A_MESSAGE,   "not-a-message",   0, "neither request, notification nor answer") \
    X(VERSION,         "version",         0, "\"jsonrpc\" is not \"2.0\"") \
    X(MEMBER_REPEATED, "member-repeated", 0, "a member of the envelope stands twice") \
    X(METHOD_MISSING,  "method-missing",  0, "params and an id, but no method") \
    X(METHOD_TYPE,     "method-type",     0, "\"method\" is no string") \
    X(PARAMS_TYPE,     "params-type",     0, "\"params\" is neither object nor array") \
    X(ID_TYPE,         "id-type",         0, "\"id\" is neither string nor number") \
    X(ID_MISSING,      "id-missing",      0, "an answer without \"id\"") \
    X(ID_LIMIT,        "id-limit",        0, "an \"id\" of more than 1,024 bytes") \
    X(RESULT_ERROR,    "result-and-error", 0, "an answer with both result and error") \
    X(RESULT_MISSING,  "result-missing",  0, "an answer with neither result nor error") \
    X(METHOD_RESULT,   "method-and-result", 0, "a request and an answer at once") \
    X(ERROR_SHAPE,     "error-shape",     0, "an error without integer code or message") \
    X(BATCH,           "batch",           0, "a batch where the protocol has none") \
    X(BATCH_EMPTY,     "batch-empty",     0, "a batch of nothing") \
    X(ID_UNKNOWN,      "id-unknown",      0, "an answer to what was never asked") \
    X(ID_ANSWERED,     "id-answered",     0, "an answer to what was answered already") \
    X(ID_FORM,         "id-form",         0, "an answer whose id has another form (\"1\" for 1)") \
    X(ID_IN_USE,       "id-in-use",       0, "a request whose id an open request has") \
    X(ID_NULL,         "id-null",         1, "an error with id null: something was not read") \
    X(UNANSWERED,      "unanswered",      0, "a request without answer when all was over") \
    X(OPEN_AT_END,     "open-at-end",     1, "a request not answered by the end of the trace") \
    X(OPEN_LIMIT,      "open-limit",      0, "more open requests than fit in the books") \
    X(METHOD_UNKNOWN,  "method-unknown",  0, "a message that the protocol does not have") \
    X(METHOD_SIDE,     "method-side",     0, "a message of the wrong side") \
    X(METHOD_KIND,     "method-kind",     0, "a request that is a notification, or vice versa") \
    X(STATE,           "state",           0, "a message that may not come now") \
    X(EARLY,           "early",           1, "a message that comes too early, but is let pass") \
    X(PARAMS_FIT,      "params-fit",      0, "params that do not fit their schema") \
    X(RESULT_FIT,      "result-fit",      0, "a result that does not fit its schema") \
    X(REDACTED,        "redacted",        1, "a value that can't be judged: it is redacted") \
    X(UNCHECKED,       "unchecked",       1, "a value whose check takes too long") \
    X(CANCEL_UNKNOWN,  "cancel-unknown",  1, "a request is cancelled that is not open") \
    X(PROGRESS_UNKNOWN, "progress-unknown", 1, "progress of what is not open")

/* clang-format on */

typedef enum cli_flaw {
#define X(name, word, note, text) CLI_FLAW_##name,
    CLI_FLAWS(X)
#undef X
        CLI_FLAW__COUNT
} cli_flaw;

const char *cli_flaw_name(cli_flaw flaw);
/* What was seen, in a phrase. */
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
void cli_finding_quote(cli_finding *finding, dx_text text, size_t max);
void cli_finding_number(cli_finding *finding, uint64_t number);

#endif
