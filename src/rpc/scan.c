/* The envelope: which members a message has, and what that makes it. */
#include "rpc/scan.h"

#include <string.h>

enum member { JSONRPC = 1, ID = 2, METHOD = 4, PARAMS = 8, RESULT = 16, ERROR = 32 };

/* How far a scan is. */
enum { BEFORE, INSIDE, BEHIND };

/* Whether a longer id or method is Unicode is not looked at: nobody has such a one. */
enum { LOOK_MAX = 256 << 10 };

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

static dx_slice *slot(dx__rpc_scan *scan, unsigned member) {
    switch (member) {
    case ID:
        return &scan->message.id;
    case METHOD:
        return &scan->message.method;
    case PARAMS:
        return &scan->message.params;
    case RESULT:
        return &scan->message.result;
    case ERROR:
        return &scan->message.error;
    default:
        return &scan->version;
    }
}

/* The walk is at a member of the message, … */
static void on_name(void *user, dx__json *json, dx_text quoted) {
    dx__rpc_scan *scan = user;
    scan->member = named(quoted);
    json->escaped = 0;
    if (scan->seen & scan->member) {
        if (!scan->repeated)
            scan->repeated_at = (uint32_t)(quoted.at - json->start);
        scan->repeated |= scan->member;
    }
}

/* … and behind its value. */
static void on_value(void *user, const dx__json *json, const char *end) {
    dx__rpc_scan *scan = user;
    if (!scan->member)
        return;
    if (scan->member == METHOD)
        scan->message.escaped = json->escaped;
    scan->seen |= scan->member;
    uint32_t at = scan->walk.value_at;
    *slot(scan, scan->member) = (dx_slice){at, (uint32_t)(end - json->start) - at};
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
    if (string.len > LOOK_MAX)
        return 1;
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

static void classify_asking(dx_text text, const dx__rpc_scan *scan, unsigned lenient,
                            dx_message *message) {
    int has_id = (scan->seen & ID) != 0;
    if (has_id && lenient & DX_LENIENT_NULL_ID && text.at[message->id.at] == 'n') {
        message->id = (dx_slice){0, 0};
        has_id = 0;
    }
    message->kind = has_id ? DX_KIND_REQUEST : DX_KIND_NOTIFICATION;
    if (scan->seen & (RESULT | ERROR)) {
        blame(message, DX_FAULT_METHOD_AND_RESULT, message->method.at);
        message->kind = DX_KIND_NONE;
    }
    dx_text method = part(text, message->method);
    if (method.at[0] != '"' || (message->escaped && !is_unicode(method)))
        blame(message, DX_FAULT_METHOD_TYPE, message->method.at);
    char params = scan->seen & PARAMS ? text.at[message->params.at] : '{';
    if (params == 'n' && lenient & DX_LENIENT_NULL_PARAMS)
        message->params = (dx_slice){0, 0};
    else if (params != '{' && params != '[')
        blame(message, DX_FAULT_PARAMS_TYPE, message->params.at);
    if (has_id && !(lenient & DX_LENIENT_ID_ANY))
        check_id(text, message);
}

/* No answer has params: it was meant to be a request. */
static void classify_nameless(dx_text text, dx_message *message) {
    message->kind = DX_KIND_REQUEST;
    blame(message, DX_FAULT_METHOD_MISSING, message->body.at);
    check_id(text, message);
}

static void classify_answering(dx_text text, const dx__rpc_scan *scan, dx_message *message) {
    message->kind = DX_KIND_RESPONSE;
    if (!(scan->seen & ID)) {
        blame(message, DX_FAULT_ID_MISSING, message->body.at);
        return;
    }
    /* An error may carry id null: the peer could not read what it answers. */
    if (!(scan->seen & ERROR && text.at[message->id.at] == 'n'))
        check_id(text, message);
    if ((scan->seen & (RESULT | ERROR)) == (RESULT | ERROR))
        blame(message, DX_FAULT_RESULT_AND_ERROR, message->body.at);
    if (!(scan->seen & (RESULT | ERROR)))
        blame(message, DX_FAULT_RESULT_MISSING, message->body.at);
}

static int is_version(dx_text version) {
    char room[20]; /* enough for "2.0" with every character escaped */
    return same(version, "\"2.0\"", 5) ||
           (version.len > 5 && version.at[0] == '"' &&
            is_string(version, room, sizeof room, (dx_text){"2.0", 3}));
}

static void classify(dx_text text, const dx__rpc_scan *scan, unsigned lenient,
                     dx_message *message) {
    if (scan->repeated && !(lenient & DX_LENIENT_LAST_MEMBER))
        blame(message, DX_FAULT_MEMBER_REPEATED, scan->repeated_at);
    if (scan->seen & (METHOD | RESULT | ERROR | ID) && !(lenient & DX_LENIENT_NO_VERSION) &&
        !is_version(part(text, scan->version)))
        blame(message, DX_FAULT_VERSION, scan->version.at);
    if (scan->seen & METHOD)
        classify_asking(text, scan, lenient, message);
    else if ((scan->seen & (RESULT | ERROR | ID | PARAMS)) == (ID | PARAMS))
        classify_nameless(text, message);
    else if (scan->seen & (RESULT | ERROR | ID))
        classify_answering(text, scan, message);
    else
        blame(message, DX_FAULT_NOT_A_MESSAGE, message->body.at);
    /* Of two ids nobody can say which one it is. */
    if (scan->repeated & ID && !(lenient & DX_LENIENT_LAST_MEMBER))
        message->id = (dx_slice){0, 0};
}

void dx__rpc_scan_begin(dx__rpc_scan *scan) {
    dx__json_walk_begin(&scan->walk);
    scan->message = (dx_message){0};
    scan->version = (dx_slice){0, 0};
    scan->at = scan->repeated_at = 0;
    scan->seen = scan->repeated = scan->member = 0;
    scan->stage = BEFORE;
    scan->escaped = scan->is_element = 0;
}

int dx__rpc_element_begin(dx__rpc_scan *scan, const dx_message *batch, uint32_t cursor) {
    dx__rpc_scan_begin(scan);
    scan->is_element = 1;
    scan->at = (cursor ? cursor : batch->body.at) + 1; /* behind the "[" or a "," */
    return scan->at < batch->body.at + batch->body.len;
}

/* At the first byte of the value: an object is a message. */
static void enter(dx__rpc_scan *scan, const dx__json *json) {
    scan->message.body.at = (uint32_t)(json->at - json->start);
    scan->stage = INSIDE;
    if (*json->at == '{') {
        scan->walk.name = on_name;
        scan->walk.value = on_value;
    }
}

/* Behind it: an array is a batch, but not inside of one, and anything else is nothing. */
static void leave(dx__rpc_scan *scan, dx_text text, const dx__json *json, unsigned lenient) {
    dx_message *message = &scan->message;
    char first = text.at[message->body.at];
    message->body.len = (uint32_t)(json->at - json->start) - message->body.at;
    scan->stage = BEHIND;
    if (first == '{')
        classify(text, scan, lenient, message);
    else if (first == '[' && !scan->is_element)
        message->kind = DX_KIND_BATCH;
    else
        blame(message, DX_FAULT_NOT_A_MESSAGE, message->body.at);
}

/* White space, up to where the scan may go: it may end or pause there. */
static int is_at_stop(dx__json *json, dx_fault at_end) {
    json->at = dx__json_space(json->at, json->stop);
    if (json->at < json->stop)
        return 0;
    json->fault = json->at < json->end ? DX__JSON_PAUSED : at_end;
    return 1;
}

int dx__rpc_scan_go(dx__rpc_scan *scan, dx_text text, unsigned depth, unsigned lenient,
                    size_t most) {
    dx__json json = dx__json_reader(text, depth);
    json.depth -= scan->is_element != 0;
    json.at += scan->at;
    json.escaped = scan->escaped;
    if (most < (size_t)(json.end - json.at))
        json.stop = json.at + most;
    if (scan->stage == BEFORE && !is_at_stop(&json, DX_FAULT_JSON_EMPTY))
        enter(scan, &json);
    if (scan->stage == INSIDE) {
        scan->walk.user = scan;
        dx__json_go(&json, &scan->walk);
        if (json.fault == DX_FAULT_NONE)
            leave(scan, text, &json, lenient);
    }
    if (scan->stage == BEHIND && !is_at_stop(&json, DX_FAULT_NONE) && !scan->is_element)
        json.fault = DX_FAULT_JSON_TRAILING;
    scan->at = (uint32_t)(json.at - json.start);
    scan->escaped = json.escaped;
    if (json.fault == DX__JSON_PAUSED)
        return 0;
    if (json.fault != DX_FAULT_NONE)
        scan->message = (dx_message){.fault = json.fault, .fault_at = scan->at};
    return 1;
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

int dx__rpc_scan_usual(dx_text text, unsigned depth, dx_message *ret) {
    const char *body = depth > 0 && depth <= DX_DEPTH_MAX ? dx__rpc_usual(text, ret) : NULL;
    if (!body)
        return 0;
    enum { SHORT = 4 << 10 }; /* no long text is walked over twice */
    const char *end = text.at + text.len;
    const char *to = text.len <= SHORT ? dx__json_quick(body, end, depth - 1) : NULL;
    if (to)
        return dx__rpc_usual_end(text, body, to, ret);
    dx__json json = dx__json_reader(text, depth - 1);
    json.at = body;
    dx__json_skip(&json);
    return json.fault == DX_FAULT_NONE && dx__rpc_usual_end(text, body, json.at, ret);
}

void dx_rpc_scan(dx_text text, unsigned depth, unsigned lenient, dx_message *ret_message) {
    if (dx__rpc_scan_usual(text, depth, ret_message))
        return;
    if (text.len >= UINT32_MAX) {
        *ret_message = (dx_message){.fault = DX_FAULT_MESSAGE_LIMIT};
        return;
    }
    dx__rpc_scan scan;
    dx__rpc_scan_begin(&scan);
    (void)dx__rpc_scan_go(&scan, text, depth, lenient, SIZE_MAX);
    *ret_message = scan.message;
}

dx_status dx_rpc_element(dx_text text, const dx_message *batch, unsigned depth, unsigned lenient,
                         uint32_t *cursor, dx_message *ret_message) {
    dx__rpc_scan scan;
    const char *end = text.at + batch->body.at + batch->body.len;
    if (!dx__rpc_element_begin(&scan, batch, *cursor) ||
        (!*cursor && *dx__json_space(text.at + scan.at, end) == ']'))
        return DX_AGAIN;
    (void)dx__rpc_scan_go(&scan, text, depth, lenient, SIZE_MAX);
    *ret_message = scan.message;
    *cursor = scan.at;
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
