/* One line of a trace: from its text to a record. */
#include "base/line.h"
#include "rpc/json.h"
#include "trace/trace.h"

#include <string.h>

enum member {
    HEADER,
    UNIT,
    PART,
    UNIX,
    TIME,
    FROM,
    PEER,
    RUN,
    BYTES,
    MESSAGE,
    BROKEN,
    STRAY,
    STDERR,
    BASE64,
    EVENT,
    FACTS,
    DROPPED,
    MEMBERS
};

static const char *const names[MEMBERS] = {
    [HEADER] = DX__TRACE_HEADER,   [UNIT] = DX__TRACE_UNIT,       [PART] = DX__TRACE_PART,
    [UNIX] = DX__TRACE_UNIX,       [TIME] = DX__TRACE_TIME,       [FROM] = DX__TRACE_FROM,
    [PEER] = DX__TRACE_PEER,       [RUN] = DX__TRACE_RUN,         [BYTES] = DX__TRACE_BYTES,
    [MESSAGE] = DX__TRACE_MESSAGE, [BROKEN] = DX__TRACE_BROKEN,   [STRAY] = DX__TRACE_STRAY,
    [STDERR] = DX__TRACE_STDERR,   [BASE64] = DX__TRACE_BASE64,   [EVENT] = DX__TRACE_EVENT,
    [FACTS] = DX__TRACE_FACTS,     [DROPPED] = DX__TRACE_DROPPED,
};

struct line {
    char *at;
    size_t len;
    const dx__trace_line *whole;
    dx_text value[MEMBERS]; /* the first of that name; absent: there is none */
    dx_error *error;
};

dx__line dx__trace_complain(const dx__trace_line *line, dx_fault fault, size_t offset,
                            dx_error *error) {
    error->fault = fault;
    error->offset = offset;
    dx__line place = dx__line_on(error->place, sizeof error->place);
    dx__line_str(&place, "line ");
    dx__line_num(&place, line->number);
    dx__line phrase = dx__line_on(error->phrase, sizeof error->phrase);
    dx__line_str(&phrase, error->place);
    dx__line_str(&phrase, ": ");
    return phrase;
}

static dx__line complain(const struct line *line, dx_fault fault, size_t offset) {
    return dx__trace_complain(line->whole, fault, offset, line->error);
}

static dx_status bad_json(const struct line *line, dx_fault fault, size_t offset) {
    if (fault == DX_FAULT_JSON_INCOMPLETE && line->whole->last) {
        dx__line phrase = complain(line, DX_FAULT_TRUNCATED, offset);
        dx__line_str(&phrase, "the trace ends in the middle of it");
        return DX_ERR_INVALID;
    }
    dx_error error;
    dx__error_set(&error, fault, offset, offset, DX_DEPTH_MAX);
    dx__line phrase = complain(line, fault, offset);
    dx__line_str(&phrase, error.phrase);
    return DX_ERR_INVALID;
}

static dx_status bad_record(const struct line *line, const char *why) {
    dx__line phrase = complain(line, DX_FAULT_NOT_A_MESSAGE, 0);
    dx__line_str(&phrase, why);
    return DX_ERR_INVALID;
}

static dx_status bad_member(const struct line *line, enum member member, const char *why) {
    dx__line phrase =
        complain(line, DX_FAULT_NOT_A_MESSAGE, (size_t)(line->value[member].at - line->at));
    dx__line_str(&phrase, "\"");
    dx__line_str(&phrase, names[member]);
    dx__line_str(&phrase, "\" must be ");
    dx__line_str(&phrase, why);
    return DX_ERR_INVALID;
}

static enum member named(dx_text quoted) {
    char room[80]; /* the longest name with every character escaped */
    dx_text name = {quoted.at + 1, quoted.len - 2};
    if (memchr(name.at, '\\', name.len) &&
        (quoted.len > sizeof room || dx_rpc_string(quoted, room, &name) != DX_OK))
        return MEMBERS;
    for (int i = 0; i < MEMBERS; i++)
        if (dx_text_is(name, names[i]))
            return (enum member)i;
    return MEMBERS;
}

static dx_status find_members(struct line *line) {
    dx__json json = dx__json_reader((dx_text){line->at, line->len}, DX_DEPTH_MAX);
    if (!dx__json_take(&json, '{')) {
        size_t at;
        dx_fault fault = dx_json_check((dx_text){line->at, line->len}, DX_DEPTH_MAX, &at);
        return fault != DX_FAULT_NONE ? bad_json(line, fault, at)
                                      : bad_record(line, "expected a JSON object");
    }
    if (!dx__json_take(&json, '}')) {
        do {
            dx_text quoted;
            dx__json_skip_name(&json, &quoted);
            if (json.fault != DX_FAULT_NONE)
                break;
            enum member member = named(quoted);
            const char *from = json.at;
            dx__json_skip(&json);
            if (json.fault != DX_FAULT_NONE)
                break;
            if (member != MEMBERS && !line->value[member].at)
                line->value[member] = (dx_text){from, (size_t)(json.at - from)};
        } while (dx__json_take(&json, ','));
        if (!dx__json_take(&json, '}'))
            dx__json_fail(&json, DX_FAULT_JSON_SYNTAX, json.at);
    }
    if (json.fault == DX_FAULT_NONE && (dx__json_peek(&json), json.at < json.end))
        json.fault = DX_FAULT_JSON_TRAILING;
    return json.fault == DX_FAULT_NONE ? DX_OK
                                       : bad_json(line, json.fault, (size_t)(json.at - json.start));
}

/* Without the member it is 0. */
static dx_status number(const struct line *line, enum member member, uint64_t *ret_number) {
    dx_text text = line->value[member];
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.at[i] - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return bad_member(line, member, "a whole number below 2^64");
        number = number * 10 + digit;
    }
    *ret_number = number;
    return DX_OK;
}

/* Its characters; without the member it is absent. */
static dx_status string(const struct line *line, enum member member, dx_text *ret_text) {
    dx_text text = line->value[member];
    if (!text.at || (text.at[0] == '"' &&
                     dx_rpc_string(text, line->at + (text.at - line->at), &text) == DX_OK)) {
        *ret_text = text;
        return DX_OK;
    }
    return bad_member(line, member, "a string of Unicode characters");
}

/* Raw bytes: a string, in base64 if the line says so. */
static dx_status bytes(const struct line *line, enum member member, dx_text *ret_text) {
    dx_text text;
    dx_status status = string(line, member, &text);
    if (status != DX_OK || !line->value[BASE64].at || dx_text_is(line->value[BASE64], "false")) {
        if (status == DX_OK)
            *ret_text = text;
        return status;
    }
    if (!dx_text_is(line->value[BASE64], "true"))
        return bad_member(line, BASE64, "true or false");
    size_t len = dx__base64_read(line->at + (text.at - line->at), text.len);
    if (len == SIZE_MAX)
        return bad_member(line, member, "base64 (RFC 4648, with padding)");
    *ret_text = (dx_text){text.at, len};
    return DX_OK;
}

/* A value as it stands, with the white space around it, which came with it. */
static dx_text json_text(const struct line *line, enum member member) {
    dx_text text = line->value[member];
    if (!text.at)
        return text;
    const char *end = dx__json_space(text.at + text.len, line->at + line->len);
    while (text.at[-1] != ':')
        text.at--;
    return (dx_text){text.at, (size_t)(end - text.at)};
}

static dx_status read_from(const struct line *line, dx_trace_from *ret_from) {
    dx_text from = line->value[FROM];
    if (!from.at)
        *ret_from = DX_TRACE_NOBODY;
    else if (dx_text_is(from, "\"host\""))
        *ret_from = DX_TRACE_HOST;
    else if (dx_text_is(from, "\"plugin\""))
        *ret_from = DX_TRACE_PLUGIN;
    else
        return bad_member(line, FROM, "\"host\" or \"plugin\"");
    return DX_OK;
}

static dx_status read_header(const struct line *line, dx_trace_record *record) {
    uint64_t version;
    dx_status status = number(line, HEADER, &version);
    if (status != DX_OK)
        return status;
    if (version != DX_TRACE_VERSION) {
        dx__line phrase =
            complain(line, DX_FAULT_VERSION, (size_t)(line->value[HEADER].at - line->at));
        dx__line_str(&phrase, "a trace of version ");
        dx__line_num(&phrase, version);
        dx__line_str(&phrase, ", but only version ");
        dx__line_num(&phrase, DX_TRACE_VERSION);
        dx__line_str(&phrase, " can be read here");
        return DX_ERR_INVALID;
    }
    if (line->value[UNIT].at && !dx_text_is(line->value[UNIT], "\"us\"")) {
        status = bad_member(line, UNIT, "\"us\"");
        line->error->fault = DX_FAULT_VERSION; /* what follows has times of another kind */
        return status;
    }
    record->kind = DX_TRACE_HEADER;
    status = number(line, PART, &record->count);
    return status == DX_OK ? number(line, UNIX, &record->unix_ms) : status;
}

static dx_status read_content(const struct line *line, dx_trace_record *record) {
    static const struct {
        enum member member;
        dx_trace_kind kind;
    } kinds[] = {
        {MESSAGE, DX_TRACE_MESSAGE}, {BROKEN, DX_TRACE_BROKEN}, {STRAY, DX_TRACE_STRAY},
        {STDERR, DX_TRACE_STDERR},   {EVENT, DX_TRACE_EVENT},   {DROPPED, DX_TRACE_DROPPED},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !record->kind; i++)
        if (line->value[kinds[i].member].at)
            record->kind = kinds[i].kind;
    switch (record->kind) {
    case DX_TRACE_MESSAGE:
        record->text = json_text(line, MESSAGE);
        record->checked = 1;
        return DX_OK;
    case DX_TRACE_BROKEN:
        return bytes(line, BROKEN, &record->text);
    case DX_TRACE_STRAY:
        return bytes(line, STRAY, &record->text);
    case DX_TRACE_STDERR:
        return bytes(line, STDERR, &record->text);
    case DX_TRACE_EVENT:
        record->text = json_text(line, FACTS);
        record->checked = record->text.at != NULL;
        return string(line, EVENT, &record->event);
    case DX_TRACE_DROPPED:
        return number(line, DROPPED, &record->count);
    default:
        return bad_record(line, "a JSON object, but not a trace record");
    }
}

static dx_status read_record(const struct line *line, dx_trace_record *record) {
    if (line->value[HEADER].at)
        return read_header(line, record);
    dx_status status = number(line, TIME, &record->time_us);
    if (status == DX_OK)
        status = number(line, RUN, &record->run);
    if (status == DX_OK)
        status = number(line, BYTES, &record->bytes);
    if (status == DX_OK)
        status = read_from(line, &record->from);
    /* Strings last: they overwrite the line. */
    if (status == DX_OK)
        status = read_content(line, record);
    if (status == DX_OK)
        status = string(line, PEER, &record->peer);
    if (status == DX_OK && record->from == DX_TRACE_NOBODY && record->kind <= DX_TRACE_STDERR)
        status = bad_record(line, "expected \"from\": who sent it");
    return status;
}

dx_status dx__trace_parse(const dx__trace_line *line, dx_trace_record *ret_record,
                          dx_error *reterr) {
    struct line found = {.at = line->at, .len = line->len, .whole = line, .error = reterr};
    dx_trace_record record = {.line = line->number};
    dx_status status = find_members(&found);
    if (status == DX_OK)
        status = read_record(&found, &record);
    if (status == DX_OK)
        *ret_record = record;
    return status;
}
