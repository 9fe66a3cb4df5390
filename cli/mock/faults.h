/* faults.h: what a peer can do wrong, by name. The names are part of the interface: scripts and
 * docs/mock.md have them, and they stay. `duplex mock` does each of them, and `duplex check` finds
 * each of those that are wrong. */
#ifndef CLI_MOCK_FAULTS_H
#define CLI_MOCK_FAULTS_H

/* clang-format off */

/* X(NAME, "name", row of the catalogue, is it wrong (or only a strain that others must bear),
 *   which framing it needs (0: any, else DX_FRAMING_…), "what it does"). */
#define CLI_FAULTS(X) \
    X(SPLIT,            "split",             "F01", 0, 0, "writes one byte at a time") \
    X(GLUED,            "glued",             "F02", 0, 0, "writes several messages at once") \
    X(HEADER_FORM,      "header-form",       "F03", 0, 1, "writes cOnTeNt-LeNgTh, with spaces") \
    X(HEADER_EXTRA,     "header-extra",      "F04", 0, 1, "adds fields to its headers") \
    X(CHARSET,          "charset",           "F04", 1, 1, "declares its charset as UTF-16") \
    X(HEADER_LF,        "header-lf",         "F05", 1, 1, "ends header lines with LF alone") \
    X(LENGTH_MISSING,   "length-missing",    "F06", 1, 1, "omits Content-Length") \
    X(LENGTH_TWICE,     "length-twice",      "F07", 1, 1, "sends Content-Length twice") \
    X(LENGTH_DIFFERS,   "length-differs",    "F07", 1, 1, "sends two different Content-Lengths") \
    X(LENGTH_FORM,      "length-form",       "F08", 1, 1, "writes the length as +58, 0x3a, 58e0 or similar") \
    X(LENGTH_DIGITS,    "length-digits",     "F09", 1, 1, "writes a length of 400 digits, or one that is 2^64 too large") \
    X(LENGTH_LIMIT,     "length-limit",      "F10", 1, 1, "declares a length beyond any reader's limit") \
    X(LENGTH_UNMET,     "length-unmet",      "F11", 1, 1, "declares 1 MiB, sends 10 bytes") \
    X(LENGTH_SHORT,     "length-short",      "F12", 1, 1, "declares fewer bytes than it sends") \
    X(LENGTH_LONG,      "length-long",       "F13", 1, 1, "declares more bytes than it sends") \
    X(LENGTH_ZERO,      "length-zero",       "F14", 1, 1, "sends a message of 0 bytes") \
    X(HEADER_FLOOD,     "header-flood",      "F15", 1, 1, "writes 10,000 header fields") \
    X(HEADER_NUL,       "header-nul",        "F16", 1, 1, "writes NUL, \\x01 and \\xff in a header") \
    X(STRAY_BEFORE,     "stray-before",      "F17", 1, 1, "writes text before a header") \
    X(LENGTH_IN_BODY,   "length-in-body",    "F18", 0, 1, "has Content-Length: inside a message") \
    X(CUT_HEADER,       "cut-header",        "F19", 1, 1, "exits in the middle of a header") \
    X(CUT_BODY,         "cut-body",          "F19", 1, 0, "exits in the middle of a message") \
    X(LINE_ENDLESS,     "line-endless",      "F20", 1, 2, "never ends its line") \
    X(CRLF,             "crlf",              "F21", 0, 2, "ends lines with CR LF, and sends empty ones") \
    X(BOM,              "bom",               "F21", 1, 2, "begins with a byte order mark") \
    X(PRETTY,           "pretty",            "F22", 1, 2, "spreads a message over several lines") \
    X(LAST_LINE,        "last-line",         "F23", 1, 2, "does not end its last line") \
    X(STRAY,            "stray",             "F24", 1, 0, "logs to its standard output") \
    X(STRAY_JSON,       "stray-json",        "F25", 1, 0, "sends JSON that is not a message") \
    X(OTHER_FRAMING,    "other-framing",     "F26", 1, 0, "uses the wrong framing") \
    X(FRAMING_SWITCH,   "framing-switch",    "F27", 1, 0, "switches the framing halfway") \
    X(INTERLEAVED,      "interleaved",       "F28", 1, 0, "interleaves the halves of two messages") \
    X(RAW_NEWLINE,      "raw-newline",       "F29", 1, 0, "has a bare newline in a string") \
    X(DEEP,             "deep",              "F30", 1, 0, "nests 100,000 arrays") \
    X(UTF8_INVALID,     "utf8-invalid",      "F31", 1, 0, "writes bytes that are not UTF-8") \
    X(UTF8_OVERLONG,    "utf8-overlong",     "F32", 1, 0, "writes overlong UTF-8, and surrogates encoded as UTF-8") \
    X(SURROGATE,        "surrogate",         "F33", 1, 0, "writes half of a surrogate pair") \
    X(NUL,              "nul",               "F34", 0, 0, "writes \\u0000 in its data") \
    X(MEMBER_TWICE,     "member-twice",      "F35", 1, 0, "writes a member of the envelope twice") \
    X(NUMBER_HUGE,      "number-huge",       "F36", 1, 0, "writes 1e400 and a number of 10,000 digits") \
    X(ID_LARGE,         "id-large",          "F37", 0, 0, "sends a request with the id 18446744073709551615") \
    X(ID_FRACTION,      "id-fraction",       "F38", 1, 0, "sends a request with the id 1.5") \
    X(TRAILING,         "trailing",          "F39", 1, 0, "writes extra data after a message") \
    X(NOT_JSON,         "not-json",          "F40", 1, 0, "writes NaN, comments, single quotes") \
    X(HUGE,             "huge",              "F41", 0, 0, "responds with 16 MiB") \
    X(KEYS,             "keys",              "F41", 0, 0, "responds with an object of 100,000 members") \
    X(ID_UNKNOWN,       "id-unknown",        "F43", 1, 0, "responds to a request that does not exist instead of the one it got") \
    X(LATE,             "late",              "F44", 1, 0, "responds after the timeout") \
    X(ANSWER_TWICE,     "answer-twice",      "F45", 1, 0, "responds twice") \
    X(ID_FORM,          "id-form",           "F46", 1, 0, "responds to id 1 with \"1\"") \
    X(RESULT_AND_ERROR, "result-and-error",  "F47", 1, 0, "responds with both a result and an error") \
    X(RESULT_MISSING,   "result-missing",    "F47", 1, 0, "responds with neither a result nor an error") \
    X(METHOD_AND_RESULT,"method-and-result", "F48", 1, 0, "sends a request and a response in one message") \
    X(ID_EQUAL,         "id-equal",          "F49", 0, 0, "sends a request with the id of a request that it has yet to answer") \
    X(ID_IN_USE,        "id-in-use",         "F50", 1, 0, "sends two requests with the same id") \
    X(ID_TYPE,          "id-type",           "F51", 1, 0, "sends a request with the id null, or an object") \
    X(VERSION_MISSING,  "version-missing",   "F52", 1, 0, "omits \"jsonrpc\"") \
    X(VERSION_WRONG,    "version-wrong",     "F52", 1, 0, "sends \"jsonrpc\": \"1.0\"") \
    X(METHOD_UNKNOWN,   "method-unknown",    "F53", 1, 0, "sends methods that its protocol does not have") \
    X(ANSWERS_UNKNOWN,  "answers-unknown",   "F53", 1, 0, "responds with a result to methods that do not exist") \
    X(PARAMS_TYPE,      "params-type",       "F54", 1, 0, "sends params that are a string") \
    X(PARAMS_TAKEN,     "params-taken",      "F54", 1, 0, "accepts params that do not match their schema") \
    X(RESULT_FIT,       "result-fit",        "F54", 1, 0, "responds with a result that does not match its schema") \
    X(ANSWERS_NOTICE,   "answers-notice",    "F55", 1, 0, "responds to a notification") \
    X(BATCH,            "batch",             "F56", 1, 0, "sends a batch although the protocol has none") \
    X(BATCH_EMPTY,      "batch-empty",       "F56", 1, 0, "sends an empty batch") \
    X(EARLY,            "early",             "F57", 1, 0, "sends a request before the handshake") \
    X(SERVES_EARLY,     "serves-early",      "F58", 1, 0, "serves requests before the handshake") \
    X(CANCEL_UNKNOWN,   "cancel-unknown",    "F59", 1, 0, "cancels a request that it never sent") \
    X(CANCEL_IGNORED,   "cancel-ignored",    "F61", 1, 0, "ignores a cancellation") \
    X(PROGRESS_UNKNOWN, "progress-unknown",  "F62", 1, 0, "reports progress with an unknown token") \
    X(PROGRESS_ENDLESS, "progress-endless",  "F63", 1, 0, "reports progress and never responds") \
    X(ERROR_SHAPE,      "error-shape",       "F64", 1, 0, "responds with an error that is a string") \
    X(SILENT,           "silent",            "F65", 1, 0, "never responds") \
    X(LOSES,            "loses",             "F67", 1, 0, "loses one of many responses") \
    X(WRITES_FIRST,     "writes-first",      "F68", 0, 0, "does not read while it writes") \
    X(DEAF,             "deaf",              "F69", 1, 0, "never reads") \
    X(FLOOD,            "flood",             "F70", 0, 0, "sends 100,000 notifications at once") \
    X(STDERR_FLOOD,     "stderr-flood",      "F71", 0, 0, "floods its stderr") \
    X(DIES_WRITING,     "dies-writing",      "F73", 1, 0, "is killed in the middle of a message") \
    X(EOF_IGNORED,      "eof-ignored",       "F74", 1, 0, "keeps running after its input was closed") \
    X(STUCK,            "stuck",             "F76", 1, 0, "holds each response back until more input arrives") \
    X(EXIT,             "exit",              "F79", 1, 0, "exits before it responds") \
    X(SIGNAL,           "signal",            "F80", 1, 0, "dies from a signal before it responds") \
    X(CLOSES_OUTPUT,    "closes-output",     "F81", 1, 0, "closes its output and keeps running") \
    X(GRANDCHILD,       "grandchild",        "F82", 1, 0, "leaves a process running that holds its output open") \
    X(TERM_IGNORED,     "term-ignored",      "F83", 1, 0, "ignores SIGTERM and the end of its input")

/* clang-format on */

#endif
