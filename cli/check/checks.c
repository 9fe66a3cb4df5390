#include "cli/check/checks.h"

static const struct {
    const char *name;
    bool is_note;
    check_need need;
    const char *text;
} rows[CHECK__COUNT] = {
#define X(name, id, note, need, text) [CHECK_##name] = {id, note, need, text},
    CHECKS(X)
#undef X
};

const char *check_name(check_id id) {
    return rows[id].name;
}

const char *check_text(check_id id) {
    return rows[id].text;
}

bool check_is_note(check_id id) {
    return rows[id].is_note;
}

check_need check_need_of(check_id id) {
    return rows[id].need;
}

/* Those that are not here are of traces, or have been looked at before the books see a message. */
check_id check_of_flaw(cli_flaw flaw) {
    switch (flaw) {
    case CLI_FLAW_STRAY:
        return CHECK_FRAMING_STRAY;
    case CLI_FLAW_BROKEN:
        return CHECK_JSON_VALID;
    case CLI_FLAW_MESSAGE_LIMIT:
        return CHECK_FRAMING_LIMIT;
    case CLI_FLAW_JSON_DEPTH:
        return CHECK_JSON_DEPTH;
    case CLI_FLAW_JSON_VALUE:
        return CHECK_JSON_VALUE;
    case CLI_FLAW_NOT_A_MESSAGE:
    case CLI_FLAW_METHOD_MISSING:
        return CHECK_ENVELOPE_KIND;
    case CLI_FLAW_VERSION:
        return CHECK_ENVELOPE_VERSION;
    case CLI_FLAW_MEMBER_REPEATED:
        return CHECK_ENVELOPE_MEMBERS;
    case CLI_FLAW_METHOD_TYPE:
        return CHECK_ENVELOPE_METHOD;
    case CLI_FLAW_PARAMS_TYPE:
        return CHECK_ENVELOPE_PARAMS;
    case CLI_FLAW_ID_TYPE:
    case CLI_FLAW_ID_MISSING:
    case CLI_FLAW_ID_LIMIT:
        return CHECK_ENVELOPE_ID;
    case CLI_FLAW_RESULT_ERROR:
    case CLI_FLAW_RESULT_MISSING:
    case CLI_FLAW_METHOD_RESULT:
        return CHECK_ENVELOPE_ANSWER;
    case CLI_FLAW_ERROR_SHAPE:
        return CHECK_ENVELOPE_ERROR;
    case CLI_FLAW_BATCH:
    case CLI_FLAW_BATCH_EMPTY:
        return CHECK_ENVELOPE_BATCH;
    case CLI_FLAW_ID_UNKNOWN:
        return CHECK_ID_KNOWN;
    case CLI_FLAW_ID_ANSWERED:
        return CHECK_ID_ONCE;
    case CLI_FLAW_ID_FORM:
        return CHECK_ID_ECHOED;
    case CLI_FLAW_ID_IN_USE:
        return CHECK_ID_UNIQUE;
    case CLI_FLAW_ID_NULL:
        return CHECK_ID_NULL;
    case CLI_FLAW_METHOD_UNKNOWN:
        return CHECK_METHOD_KNOWN;
    case CLI_FLAW_METHOD_SIDE:
        return CHECK_METHOD_SIDE;
    case CLI_FLAW_METHOD_KIND:
        return CHECK_METHOD_KIND;
    case CLI_FLAW_STATE:
        return CHECK_STATE_KEPT;
    case CLI_FLAW_EARLY:
        return CHECK_STATE_EARLY;
    case CLI_FLAW_PARAMS_FIT:
        return CHECK_SCHEMA_PARAMS;
    case CLI_FLAW_RESULT_FIT:
        return CHECK_SCHEMA_RESULT;
    case CLI_FLAW_UNCHECKED:
        return CHECK_SCHEMA_UNCHECKED;
    case CLI_FLAW_CANCEL_UNKNOWN:
        return CHECK_CANCEL_KNOWN;
    case CLI_FLAW_PROGRESS_UNKNOWN:
        return CHECK_PROGRESS_ASKED;
    default:
        return CHECK__COUNT;
    }
}

check_id check_of_fault(dx_fault fault) {
    switch (fault) {
    case DX_FAULT_OTHER_FRAMING:
        return CHECK_FRAMING_KIND;
    case DX_FAULT_HEADER_LIMIT:
        return CHECK_FRAMING_HEADER_LIMIT;
    case DX_FAULT_HEADER_BLANK:
    case DX_FAULT_HEADER_SYNTAX:
    case DX_FAULT_FIELD_NAME:
        return CHECK_FRAMING_HEADER;
    case DX_FAULT_HEADER_LF:
        return CHECK_FRAMING_LINE_END;
    case DX_FAULT_LENGTH_MISSING:
    case DX_FAULT_LENGTH_SYNTAX:
    case DX_FAULT_LENGTH_TAB:
    case DX_FAULT_LENGTH_PLUS:
    case DX_FAULT_LENGTH_REPEATED:
    case DX_FAULT_LENGTH_CONFLICT:
    case DX_FAULT_LENGTH_SHORT:
        return CHECK_FRAMING_LENGTH;
    case DX_FAULT_CHARSET:
        return CHECK_FRAMING_CHARSET;
    case DX_FAULT_MESSAGE_LIMIT:
        return CHECK_FRAMING_LIMIT;
    case DX_FAULT_TRUNCATED:
    case DX_FAULT_STALLED:
        return CHECK_FRAMING_WHOLE;
    case DX_FAULT_BOM:
        return CHECK_FRAMING_BOM;
    case DX_FAULT_UNTERMINATED:
        return CHECK_FRAMING_LAST;
    case DX_FAULT_JSON_UTF8:
        return CHECK_JSON_UTF8;
    case DX_FAULT_JSON_DEPTH:
        return CHECK_JSON_DEPTH;
    case DX_FAULT_STRAY:
    case DX_FAULT_STRAY_LIMIT:
        return CHECK_FRAMING_STRAY;
    default:
        return CHECK_JSON_VALID;
    }
}
