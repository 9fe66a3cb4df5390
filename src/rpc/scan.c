/* The envelope: which members a message has, and what that makes it. */
#include "rpc/scan.h"
#include "rpc/json.h"

#include <string.h>

enum member { JSONRPC = 1, ID = 2, METHOD = 4, PARAMS = 8, RESULT = 16, ERROR = 32 };

struct envelope {
    dx_message *message;
    dx_slice version;
    unsigned seen;
    unsigned repeated; /* members that stand twice */
    uint32_t repeated_at;
};

static dx_text part(dx_text text, dx_slice slice) {
    return (dx_text){text.at + slice.at, slice.len};
}

static int same(dx_text text, const char *word, size_t len) {
    return text.len == len && memcmp(text.at, word, len) == 0;
}

/* Are these the characters of a quoted string? */
static int is_string(dx_text quoted, char *room, size_t len, dx_text characters) {
    dx_text plain = {quoted.at + 1, quoted.len - 2};
    if (!memchr(plain.at, '\\', plain.len))
        return same(plain, characters.at, characters.len);
    return quoted.len <= len && dx_rpc_string(quoted, room, &plain) == DX_OK &&
           same(plain, characters.at, characters.len);
}

static enum member which(dx_text name) {
    switch (name.len) {
    case 2:
        return same(name, "id", 2) ? ID : 0;
    case 5:
        return same(name, "error", 5) ? ERROR : 0;
    case 6:
        return same(name, "method", 6)   ? METHOD
               : same(name, "params", 6) ? PARAMS
               : same(name, "result", 6) ? RESULT
                                         : 0;
    case 7:
        return same(name, "jsonrpc", 7) ? JSONRPC : 0;
    default:
        return 0;
    }
}

/* A name that is written with escapes is still that name: "\u0069d" is "id". The longest name of
 * interest has 7 characters, so 44 bytes hold every way to write it. */
static enum member named(dx_text quoted) {
    char room[44];
    dx_text name = {quoted.at + 1, quoted.len - 2};
    enum member member = which(name);
    if (member || quoted.len > sizeof room || !memchr(name.at, '\\', name.len))
        return member;
    return dx_rpc_string(quoted, room, &name) == DX_OK ? which(name) : 0;
}

static dx_slice *slot(struct envelope *envelope, enum member member) {
    switch (member) {
    case ID:
        return &envelope->message->id;
    case METHOD:
        return &envelope->message->method;
    case PARAMS:
        return &envelope->message->params;
    case RESULT:
        return &envelope->message->result;
    case ERROR:
        return &envelope->message->error;
    default:
        return &envelope->version;
    }
}

/* Walks over the object at json->at and notes the members of interest. */
static void members(dx__json *json, struct envelope *envelope) {
    json->at++;
    json->depth--;
    if (dx__json_take(json, '}'))
        return;
    do {
        dx_text name;
        dx__json_skip_name(json, &name);
        if (json->fault != DX_FAULT_NONE)
            return;
        enum member member = named(name);
        const char *value = json->at;
        json->escaped = 0;
        dx__json_skip(json);
        if (json->fault != DX_FAULT_NONE)
            return;
        if (!member)
            continue;
        if (member == METHOD)
            envelope->message->escaped = json->escaped;
        if (envelope->seen & member) {
            if (!envelope->repeated)
                envelope->repeated_at = (uint32_t)(name.at - json->start);
            envelope->repeated |= member;
        }
        envelope->seen |= member;
        *slot(envelope, member) =
            (dx_slice){(uint32_t)(value - json->start), (uint32_t)(json->at - value)};
    } while (dx__json_take(json, ','));
    if (!dx__json_take(json, '}'))
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, json->at);
}

static void blame(dx_message *message, dx_fault fault, uint32_t at) {
    if (message->fault != DX_FAULT_NONE)
        return;
    message->fault = fault;
    message->fault_at = at;
}

/* An id or a method must be a string that has a UTF-8 form. Escapes are rare: only then look. */
static int is_unicode(dx_text string) {
    const char *at = string.at;
    const char *end = string.at + string.len;
    while ((at = memchr(at, '\\', (size_t)(end - at)))) {
        unsigned high = at[1] == 'u' && (at[2] | 0x20) == 'd' ? (unsigned char)(at[3] | 0x20) : '0';
        int is_high = (high >= '8' && high <= '9') || high == 'a' || high == 'b';
        int is_low = high >= 'c' && high <= 'f';
        if (is_low)
            return 0;
        at += at[1] == 'u' ? 6 : 2;
        if (!is_high)
            continue;
        if (end - at < 6 || at[0] != '\\' || at[1] != 'u' || (at[2] | 0x20) != 'd' ||
            (at[3] | 0x20) < 'c')
            return 0;
        at += 6;
    }
    return 1;
}

static int good_id(dx_text text, dx_slice id) {
    char first = text.at[id.at];
    if (first == '"')
        return is_unicode(part(text, id));
    return first == '-' || (first >= '0' && first <= '9');
}

static void check_id(dx_text text, dx_message *message) {
    if (!good_id(text, message->id))
        blame(message, DX_FAULT_ID_TYPE, message->id.at);
}

static void classify_asking(dx_text text, const struct envelope *envelope, unsigned lenient,
                            dx_message *message) {
    message->kind = envelope->seen & ID ? DX_KIND_REQUEST : DX_KIND_NOTIFICATION;
    if (envelope->seen & (RESULT | ERROR)) {
        blame(message, DX_FAULT_METHOD_AND_RESULT, message->method.at);
        message->kind = DX_KIND_NONE;
    }
    dx_text method = part(text, message->method);
    if (method.at[0] != '"' || (message->escaped && !is_unicode(method)))
        blame(message, DX_FAULT_METHOD_TYPE, message->method.at);
    char params = envelope->seen & PARAMS ? text.at[message->params.at] : '{';
    if (params == 'n' && lenient & DX_LENIENT_NULL_PARAMS)
        message->params = (dx_slice){0, 0};
    else if (params != '{' && params != '[')
        blame(message, DX_FAULT_PARAMS_TYPE, message->params.at);
    if (envelope->seen & ID && !(lenient & DX_LENIENT_ID_ANY))
        check_id(text, message);
}

/* No answer has params: it was meant to be a request. */
static void classify_nameless(dx_text text, dx_message *message) {
    message->kind = DX_KIND_REQUEST;
    blame(message, DX_FAULT_METHOD_MISSING, message->body.at);
    check_id(text, message);
}

static void classify_answering(dx_text text, const struct envelope *envelope, dx_message *message) {
    message->kind = DX_KIND_RESPONSE;
    if (!(envelope->seen & ID)) {
        blame(message, DX_FAULT_ID_MISSING, message->body.at);
        return;
    }
    /* An error may carry id null: the peer could not read what it answers. */
    if (!(envelope->seen & ERROR && text.at[message->id.at] == 'n'))
        check_id(text, message);
    if ((envelope->seen & (RESULT | ERROR)) == (RESULT | ERROR))
        blame(message, DX_FAULT_RESULT_AND_ERROR, message->body.at);
    if (!(envelope->seen & (RESULT | ERROR)))
        blame(message, DX_FAULT_RESULT_MISSING, message->body.at);
}

static int is_version(dx_text version) {
    char room[20]; /* enough for "2.0" with every character escaped */
    return same(version, "\"2.0\"", 5) ||
           (version.len > 5 && version.at[0] == '"' &&
            is_string(version, room, sizeof room, (dx_text){"2.0", 3}));
}

static void classify(dx_text text, const struct envelope *envelope, unsigned lenient,
                     dx_message *message) {
    if (envelope->repeated && !(lenient & DX_LENIENT_LAST_MEMBER))
        blame(message, DX_FAULT_MEMBER_REPEATED, envelope->repeated_at);
    if (envelope->seen & (METHOD | RESULT | ERROR | ID) && !(lenient & DX_LENIENT_NO_VERSION) &&
        !is_version(part(text, envelope->version)))
        blame(message, DX_FAULT_VERSION, envelope->version.at);
    if (envelope->seen & METHOD)
        classify_asking(text, envelope, lenient, message);
    else if ((envelope->seen & (RESULT | ERROR | ID | PARAMS)) == (ID | PARAMS))
        classify_nameless(text, message);
    else if (envelope->seen & (RESULT | ERROR | ID))
        classify_answering(text, envelope, message);
    else
        blame(message, DX_FAULT_NOT_A_MESSAGE, message->body.at);
    /* Of two ids nobody can say which one it is. */
    if (envelope->repeated & ID && !(lenient & DX_LENIENT_LAST_MEMBER))
        message->id = (dx_slice){0, 0};
}

/* One value at json->at: an object is a message, an array a batch, anything else nothing. */
static void scan_value(dx_text text, dx__json *json, unsigned lenient, dx_message *message) {
    struct envelope envelope = {.message = message};
    char first = dx__json_peek(json);
    message->body.at = (uint32_t)(json->at - json->start);
    if (first == '{' && json->depth)
        members(json, &envelope);
    else
        dx__json_skip(json);
    message->body.len = (uint32_t)(json->at - json->start) - message->body.at;
    if (json->fault != DX_FAULT_NONE)
        return;
    if (first == '{')
        classify(text, &envelope, lenient, message);
    else if (first == '[')
        message->kind = DX_KIND_BATCH;
    else
        blame(message, DX_FAULT_NOT_A_MESSAGE, message->body.at);
}

/* Does the text go on with this word? Then it is behind it. */
#define TAKE(at, end, word)                                                                   \
    ((size_t)((end) - (at)) >= sizeof(word) && memcmp((at), (word), sizeof(word) - 1) == 0 && \
     ((at) += sizeof(word) - 1))

/* Counters and plain strings, up to what follows them; NULL for any other id. */
static inline const char *usual_id(const char *at, const char *end, uint64_t *ret_number) {
    enum { MOST = 16 }; /* digits that can't overflow */
    if (*at == '"') {
        at = dx__json_plain(at + 1, end);
        return at < end && *at == '"' ? at + 1 : NULL;
    }
    if (*at < '1' || *at > '9')
        return NULL;
    uint64_t number = 0;
    const char *from = at;
    for (unsigned digit; (digit = (unsigned char)*at - (unsigned)'0') <= 9; at++)
        number = number * 10 + digit;
    *ret_number = at - from <= MOST ? number : 0;
    return at;
}

static dx_slice slice(dx_text text, const char *from, const char *to) {
    return (dx_slice){(uint32_t)(from - text.at), (uint32_t)(to - from)};
}

const char *dx__rpc_usual(dx_text text, dx_message *ret) {
    const char *at = text.at;
    const char *end = text.at + text.len;
    const char *from;
    /* The last brace also ends the digits of an id. */
    if (!text.len || text.len >= UINT32_MAX || end[-1] != '}' ||
        !TAKE(at, end, "{\"jsonrpc\":\"2.0\"") || *at++ != ',')
        return NULL;
    *ret = (dx_message){.kind = DX_KIND_NOTIFICATION, .body = {0, (uint32_t)text.len}};
    if (TAKE(at, end, "\"id\":")) {
        from = at;
        at = usual_id(at, end, &ret->number);
        if (!at || at >= end || *at++ != ',')
            return NULL;
        ret->id = slice(text, from, at - 1);
        ret->kind = DX_KIND_REQUEST;
    }
    /* In words of 8 bytes, which are compared without a call. */
    if (TAKE(at, end, "\"method\"")) {
        if (!TAKE(at, end, ":\""))
            return NULL;
        from = at - 1;
        at = dx__json_plain(at, end);
        if (at >= end || *at++ != '"')
            return NULL;
        ret->method = slice(text, from, at);
        return TAKE(at, end, ",\"params") && TAKE(at, end, "\":") && (*at == '{' || *at == '[')
                   ? at
                   : NULL;
    }
    if (ret->kind != DX_KIND_REQUEST || !TAKE(at, end, "\"result\"") || *at++ != ':')
        return NULL;
    ret->kind = DX_KIND_RESPONSE;
    return at;
}

static int scan_usual(dx_text text, unsigned depth, dx_message *message) {
    const char *body = dx__rpc_usual(text, message);
    if (!body)
        return 0;
    enum { SHORT = 4 << 10 }; /* no long text is walked over twice */
    const char *end = text.at + text.len;
    const char *to = text.len <= SHORT ? dx__json_quick(body, end, depth - 1) : NULL;
    if (to)
        return dx__rpc_usual_end(text, body, to, message);
    dx__json json = {.start = text.at, .end = end, .at = body, .depth = depth - 1};
    dx__json_skip(&json);
    return json.fault == DX_FAULT_NONE && dx__rpc_usual_end(text, body, json.at, message);
}

void dx_rpc_scan(dx_text text, unsigned depth, unsigned lenient, dx_message *ret_message) {
    dx_message *message = ret_message;
    if (depth > 0 && depth <= DX_DEPTH_MAX && scan_usual(text, depth, message))
        return;
    *message = (dx_message){0};
    if (text.len >= UINT32_MAX) {
        blame(message, DX_FAULT_MESSAGE_LIMIT, 0);
        return;
    }
    dx__json json = dx__json_reader(text, depth);
    dx__json_peek(&json);
    if (json.at == json.end) {
        blame(message, DX_FAULT_JSON_EMPTY, (uint32_t)text.len);
        return;
    }
    scan_value(text, &json, lenient, message);
    if (json.fault == DX_FAULT_NONE) {
        dx__json_peek(&json);
        if (json.at < json.end)
            json.fault = DX_FAULT_JSON_TRAILING;
    }
    if (json.fault != DX_FAULT_NONE) {
        uint32_t at = (uint32_t)(json.at - json.start);
        *message = (dx_message){.fault = json.fault, .fault_at = at};
    }
}

dx_status dx_rpc_element(dx_text text, const dx_message *batch, unsigned depth, unsigned lenient,
                         uint32_t *cursor, dx_message *ret_message) {
    dx__json json = dx__json_reader(text, depth);
    json.depth--;
    json.at = text.at + (*cursor ? *cursor : batch->body.at);
    json.at++; /* the "[", or the "," behind the element before */
    if (!*cursor && dx__json_peek(&json) == ']')
        return DX_AGAIN;
    if (json.at >= text.at + batch->body.at + batch->body.len)
        return DX_AGAIN;
    *ret_message = (dx_message){0};
    scan_value(text, &json, lenient, ret_message);
    if (ret_message->kind == DX_KIND_BATCH) {
        ret_message->kind = DX_KIND_NONE;
        blame(ret_message, DX_FAULT_NOT_A_MESSAGE, ret_message->body.at);
    }
    dx__json_peek(&json);
    *cursor = (uint32_t)(json.at - json.start);
    return DX_OK;
}

dx_text dx_rpc_member(dx_text object, dx_text name) {
    dx__json json = dx__json_reader(object, DX_DEPTH_MAX);
    dx_text found = {NULL, 0};
    char room[256]; /* names with escapes may be this long; others any length */
    if (!dx__json_take(&json, '{') || dx__json_take(&json, '}'))
        return found;
    do {
        dx_text quoted;
        dx__json_skip_name(&json, &quoted);
        if (json.fault != DX_FAULT_NONE)
            return found;
        int hit = is_string(quoted, room, sizeof room, name);
        const char *value = json.at;
        dx__json_skip(&json);
        if (json.fault != DX_FAULT_NONE)
            return found;
        if (hit)
            return (dx_text){value, (size_t)(json.at - value)};
    } while (dx__json_take(&json, ','));
    return found;
}
