/* Redaction: a walk over the text from string to string that builds nothing. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/secret_name.h"
#include "rpc/json.h"
#include "trace/trace.h"

#include <string.h>

/* The longest name; of an escaped string so much is looked at; pointers; how deep variables and
 * headers are looked into, since each level of them is looked over twice. */
enum { LONGEST = 64, ESCAPED = 6 * LONGEST + 2, POINTERS = 32, DEPTH = 16 };

/* Places in a text that are replaced, in their order. */
struct spans {
    size_t count;
    dx_text at[POINTERS];
};

struct walk {
    const dx__secrets *secrets;
    dx__json json;
    dx_buf *buf;
    const char *done;      /* everything before it is in the buffer */
    const char *words_end; /* before it: the words of a command line */
    unsigned depth;        /* levels of variables or headers that the walk is in */
    struct spans spans;    /* what pointers lead to, and the next of them */
    size_t span;
    uint64_t count;
};

dx_status dx__secrets_init(dx__secrets *secrets, const char *const *list,
                           const dx_allocator *alloc) {
    *secrets = (dx__secrets){.alloc = *alloc};
    size_t size = 0;
    size_t pointers = 0;
    size_t longest = 0;
    for (size_t i = 0; list && list[i]; i++) {
        size_t len = strlen(list[i]);
        bool is_pointer = list[i][0] == '/';
        pointers += is_pointer;
        longest = is_pointer && len > longest ? len : longest;
        if (len < 1 || (len > LONGEST && !is_pointer) || pointers > POINTERS)
            return DX_ERR_INVALID;
        size += 1 + len;
    }
    if (!size)
        return DX_OK;
    secrets->room_len = 6 * longest + 2;
    secrets->names = dx__malloc(alloc, size + secrets->room_len);
    if (!secrets->names)
        return DX_ERR_NOMEM;
    secrets->room = (char *)secrets->names + size;
    unsigned char *to = secrets->names;
    for (size_t i = 0; list[i]; i++) {
        size_t len = strlen(list[i]);
        if (list[i][0] == '/')
            continue;
        if (len == 1 && list[i][0] == DX_TRACE_USUAL_SECRETS[0]) {
            secrets->usual = true;
            continue;
        }
        *to++ = (unsigned char)len;
        for (size_t k = 0; k < len; k++)
            *to++ = (unsigned char)dx__lower(list[i][k]);
        secrets->lengths |= UINT64_C(1) << (len - 1);
    }
    secrets->len = (size_t)(to - secrets->names);
    secrets->pointers = (char *)to;
    for (size_t i = 0; list[i]; i++)
        if (list[i][0] == '/') {
            size_t len = strlen(list[i]) + 1;
            memcpy(to, list[i], len);
            to += len;
        }
    secrets->pointers_len = (size_t)(to - (unsigned char *)secrets->pointers);
    return DX_OK;
}

void dx__secrets_done(dx__secrets *secrets) {
    dx__free(&secrets->alloc, secrets->names);
    secrets->names = NULL;
}

bool dx__secrets_any(const dx__secrets *secrets) {
    return secrets->len || secrets->pointers_len || secrets->usual;
}

/* Pointers. */

/* Is that the member that the pointer goes on with? `token` stands behind the slash. One that is
 * too long for the room has more characters than the token. */
static bool is_token(const dx__secrets *secrets, dx_text quoted, const char *token, size_t len) {
    dx_text name = {quoted.at + 1, quoted.len - 2};
    size_t at = 0;
    if (quoted.len > secrets->room_len || dx_rpc_string(quoted, secrets->room, &name) != DX_OK)
        return false;
    for (size_t i = 0; i < len; i++, at++) {
        char c = token[i];
        if (c == '~' && i + 1 < len && (token[i + 1] == '0' || token[i + 1] == '1'))
            c = token[++i] == '0' ? '~' : '/';
        if (at == name.len || name.at[at] != c)
            return false;
    }
    return at == name.len;
}

/* The value that one step leads to. A member that stands twice has two: readers do not agree on
 * which counts, so that all of its object is hidden. */
static bool step(const dx__secrets *secrets, dx__json *json, const char *token, size_t len,
                 bool *ret_twice) {
    bool is_object = dx__json_take(json, '{');
    bool found = false;
    dx__json first = *json;
    char digits[20];
    if (!is_object && !dx__json_take(json, '['))
        return false;
    for (uint64_t index = 0; json->fault == DX_FAULT_NONE; index++) {
        char next = dx__json_peek(json);
        dx_text name;
        if (next == '}' || next == ']' || json->at == json->end)
            break;
        if (is_object)
            dx__json_skip_name(json, &name);
        if (json->fault != DX_FAULT_NONE)
            break;
        if (is_object ? is_token(secrets, name, token, len)
                      : dx__digits(index, digits) == len && memcmp(digits, token, len) == 0) {
            *ret_twice = found;
            if (found || !is_object)
                return true;
            found = true;
            first = *json;
        }
        dx__json_skip(json);
        (void)dx__json_take(json, ',');
    }
    *json = first;
    return found;
}

static void find_spans(const dx__secrets *secrets, dx_text text, struct spans *spans) {
    const char *end = secrets->pointers + secrets->pointers_len;
    spans->count = 0;
    for (const char *at = secrets->pointers; at < end; at += strlen(at) + 1) {
        dx__json json = dx__json_reader(text, DX_DEPTH_MAX);
        bool found = true;
        bool twice = false;
        for (const char *token = at; found && !twice && *token == '/';) {
            dx__json_peek(&json);
            const char *container = json.at;
            size_t len = 0;
            while (token[1 + len] && token[1 + len] != '/')
                len++;
            found = step(secrets, &json, token + 1, len, &twice);
            token += 1 + len;
            if (twice)
                json.at = container;
        }
        dx__json_peek(&json);
        const char *from = json.at;
        dx__json_skip(&json);
        if (!found || json.fault != DX_FAULT_NONE)
            continue;
        size_t place = spans->count++;
        for (; place && spans->at[place - 1].at > from; place--)
            spans->at[place] = spans->at[place - 1];
        spans->at[place] = (dx_text){from, (size_t)(json.at - from)};
    }
}

/* Names. */

static bool is_listed(const dx__secrets *secrets, dx_text quoted, dx_text name) {
    if (quoted.len > ESCAPED || name.len < 1 || name.len > LONGEST ||
        !(secrets->lengths >> (name.len - 1) & 1))
        return false;
    const unsigned char *end = secrets->names + secrets->len;
    for (const unsigned char *at = secrets->names; at < end; at += 1 + *at) {
        size_t same = 0;
        if (*at == name.len)
            while (same < name.len && at[1 + same] == (unsigned char)dx__lower(name.at[same]))
                same++;
        if (same && same == name.len)
            return true;
    }
    return false;
}

static bool is_word(dx_text name, const char *word) {
    return name.len == strlen(word) && dx__ends_with(name, word);
}

/* A member whose value, if it is a list or an object, holds variables or headers. */
static bool holds_headers(dx_text name) {
    return dx__ends_with(name, "headers") || is_word(name, "header");
}

static bool holds_variables(dx_text name) {
    static const char *const words[] = {"env", "environment", "envvars", "env_vars",
                                        "environmentvariables"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(name, words[i]))
            return true;
    return holds_headers(name);
}

static bool holds_words(dx_text name) {
    return is_word(name, "argv") || is_word(name, "args") || is_word(name, "command");
}

/* The characters of a string, in `room` if it has escapes: of a long one only those at its
 * beginning. */
static dx_text characters(dx_text quoted, int escaped, char room[ESCAPED]) {
    char head[ESCAPED];
    dx_text text = {quoted.at + 1, quoted.len - 2};
    size_t len = 1;
    if (!escaped)
        return text;
    if (quoted.len <= ESCAPED) {
        (void)dx_rpc_string(quoted, room, &text);
        return text;
    }
    while (len + 1 < quoted.len && len < ESCAPED - 7)
        len += quoted.at[len] != '\\' ? 1 : quoted.at[len + 1] == 'u' ? 6 : 2;
    memcpy(head, quoted.at, len);
    head[len++] = '"';
    (void)dx_rpc_string((dx_text){head, len}, room, &text);
    return text;
}

static bool is_secret_name(dx_text name) {
    return !memchr(name.at, ' ', name.len) && dx__name_is_secret(name);
}

/* The walk. */

static dx_status replace(struct walk *walk, const char *from, const char *to, const char *with) {
    dx_status status = dx__buf_put(walk->buf, walk->done, (size_t)(from - walk->done));
    if (status == DX_OK)
        status = dx__buf_put(walk->buf, with, strlen(with));
    walk->done = to;
    walk->count++;
    return status;
}

static dx_status hide_value(struct walk *walk) {
    dx__json_peek(&walk->json);
    const char *from = walk->json.at;
    dx__json_skip(&walk->json);
    return replace(walk, from, walk->json.at, "\"***\"");
}

/* Is there a pointer to the value that comes next, or into what was passed? */
static bool is_pointed_at(struct walk *walk) {
    dx__json_peek(&walk->json);
    while (walk->span < walk->spans.count && walk->spans.at[walk->span].at < walk->json.at)
        walk->span++; /* a part of what is hidden */
    return walk->span < walk->spans.count && walk->spans.at[walk->span].at == walk->json.at;
}

/* The string that comes next, with its quotes; empty if something else does. */
static dx_text take_quoted(dx__json *json) {
    bool is_string = dx__json_peek(json) == '"';
    const char *from = json->at;
    json->escaped = 0;
    if (is_string)
        dx__json_skip(json);
    return (dx_text){from, json->fault == DX_FAULT_NONE ? (size_t)(json->at - from) : 0};
}

/* A string that the walk has passed: "NAME=VALUE" or "Name: VALUE". */
static dx_status hide_assigned(struct walk *walk, dx_text quoted, bool *ret_hidden) {
    char room[ESCAPED];
    size_t value = dx__secret_value(characters(quoted, walk->json.escaped, room));
    *ret_hidden = value != 0;
    if (!value)
        return DX_OK;
    /* Where escapes are, the value does not begin where it does in the characters. */
    return walk->json.escaped ? replace(walk, quoted.at, walk->json.at, "\"***\"")
                              : replace(walk, quoted.at + 1 + value, walk->json.at, "***\"");
}

static dx_status walk_strings(struct walk *walk, const char *end);
static dx_status hide_variables(struct walk *walk, bool headers);

/* Of an object that comes next: {"name":…,"value":…}, or with "key". */
enum pair { NO_PAIR, PLAIN_PAIR, SECRET_PAIR };

static enum pair pair_ahead(dx__json json) {
    char room[ESCAPED];
    bool has_value = false;
    enum pair pair = NO_PAIR;
    if (!dx__json_take(&json, '{'))
        return NO_PAIR;
    while (dx__json_peek(&json) != '}' && json.fault == DX_FAULT_NONE) {
        dx_text quoted;
        json.escaped = 0;
        dx__json_skip_name(&json, &quoted);
        if (json.fault != DX_FAULT_NONE)
            break;
        dx_text name = characters(quoted, json.escaped, room);
        has_value |= is_word(name, "value");
        bool is_name = is_word(name, "name") || is_word(name, "key");
        dx_text string = is_name ? take_quoted(&json) : (dx_text){"", 0};
        if (string.len) {
            bool is_secret = is_secret_name(characters(string, json.escaped, room));
            pair = is_secret || pair == SECRET_PAIR ? SECRET_PAIR : PLAIN_PAIR;
        } else {
            dx__json_skip(&json);
        }
        (void)dx__json_take(&json, ',');
    }
    return has_value ? pair : NO_PAIR;
}

static dx_status hide_members(struct walk *walk, bool headers) {
    dx__json *json = &walk->json;
    enum pair pair = pair_ahead(*json);
    dx_status status = DX_OK;
    (void)dx__json_take(json, '{');
    while (status == DX_OK && dx__json_peek(json) != '}' && json->fault == DX_FAULT_NONE) {
        char room[ESCAPED];
        dx_text quoted;
        json->escaped = 0;
        dx__json_skip_name(json, &quoted);
        if (json->fault != DX_FAULT_NONE)
            break;
        dx_text name = characters(quoted, json->escaped, room);
        /* "key" is a secret's name itself. */
        bool is_label = pair != NO_PAIR && is_word(name, "key");
        bool hides = (pair == SECRET_PAIR && is_word(name, "value")) ||
                     (!is_label && dx__name_is_secret(name));
        if (hides || is_listed(walk->secrets, quoted, name))
            status = hide_value(walk);
        else
            status = hide_variables(walk, headers);
        (void)dx__json_take(json, ',');
    }
    (void)dx__json_take(json, '}');
    return status;
}

/* Does nothing follow but one value and the end of the list? */
static bool is_last_ahead(dx__json json) {
    dx__json_skip(&json);
    return json.fault == DX_FAULT_NONE && dx__json_peek(&json) == ']';
}

/* "NAME=VALUE" strings; ["Authorization", "Bearer …"]; headers one after the other. */
static dx_status hide_elements(struct walk *walk, bool headers) {
    dx__json *json = &walk->json;
    dx_status status = DX_OK;
    (void)dx__json_take(json, '[');
    for (size_t i = 0; status == DX_OK && dx__json_peek(json) != ']'; i++) {
        char room[ESCAPED];
        bool hidden = false;
        if (json->fault != DX_FAULT_NONE)
            break;
        if (dx__json_peek(json) == '"' && !is_pointed_at(walk)) {
            dx_text quoted = take_quoted(json);
            if (!quoted.len)
                break;
            int escaped = json->escaped;
            status = hide_assigned(walk, quoted, &hidden);
            bool is_name =
                !hidden && i % 2 == 0 && is_secret_name(characters(quoted, escaped, room));
            if (status == DX_OK && dx__json_take(json, ',') && is_name &&
                (headers || (i == 0 && is_last_ahead(*json)))) {
                status = hide_value(walk);
                (void)dx__json_take(json, ',');
                i++;
            }
            continue;
        }
        status = hide_variables(walk, headers);
        (void)dx__json_take(json, ',');
    }
    (void)dx__json_take(json, ']');
    return status;
}

/* The value that comes next holds variables or headers. */
static dx_status hide_variables(struct walk *walk, bool headers) {
    dx__json *json = &walk->json;
    dx_status status;
    bool hidden;
    if (is_pointed_at(walk))
        return hide_value(walk);
    char next = dx__json_peek(json);
    if (next == '"') {
        dx_text quoted = take_quoted(json);
        return quoted.len ? hide_assigned(walk, quoted, &hidden) : DX_OK;
    }
    if (next != '{' && next != '[') {
        dx__json_skip(json);
        return DX_OK;
    }
    if (walk->depth == DEPTH) {
        dx__json ahead = *json;
        dx__json_skip(&ahead);
        return walk_strings(walk, ahead.at);
    }
    walk->depth++;
    status = next == '{' ? hide_members(walk, headers) : hide_elements(walk, headers);
    walk->depth--;
    return status;
}

/* A member: its name, and its value comes next. */
static dx_status take_name(struct walk *walk, dx_text quoted) {
    char room[ESCAPED];
    dx_text name = characters(quoted, walk->json.escaped, room);
    if (is_listed(walk->secrets, quoted, name))
        return hide_value(walk);
    char next = dx__json_peek(&walk->json);
    if (!walk->secrets->usual || (next != '{' && next != '['))
        return DX_OK;
    if (walk->depth < DEPTH && holds_variables(name))
        return hide_variables(walk, holds_headers(name));
    if (next == '[' && holds_words(name) && walk->json.at >= walk->words_end) {
        dx__json ahead = walk->json;
        dx__json_skip(&ahead);
        walk->words_end = ahead.at;
    }
    return DX_OK;
}

/* From string to string, up to `end`: only they can be of interest, and what pointers lead to. */
static dx_status walk_strings(struct walk *walk, const char *end) {
    dx__json *json = &walk->json;
    dx_status status = DX_OK;
    while (status == DX_OK && json->fault == DX_FAULT_NONE && json->at < end) {
        const char *quote = memchr(json->at, '"', (size_t)(end - json->at));
        bool pointed = is_pointed_at(walk);
        const char *span = walk->span < walk->spans.count ? walk->spans.at[walk->span].at : NULL;
        if (span && span < end && (pointed || !quote || span <= quote)) {
            json->at = span;
            status = hide_value(walk);
            continue;
        }
        if (!quote)
            break;
        json->at = quote;
        dx_text string = take_quoted(json);
        bool hidden;
        if (!string.len)
            break;
        /* Only a member's name has a colon behind it. */
        if (dx__json_take(json, ':'))
            status = take_name(walk, string);
        else if (quote < walk->words_end)
            status = hide_assigned(walk, string, &hidden);
    }
    if (json->fault == DX_FAULT_NONE && status == DX_OK && json->at < end)
        json->at = end;
    return json->fault != DX_FAULT_NONE ? DX_ERR_INVALID : status;
}

static dx_status hide_in(struct walk *walk, dx_text text) {
    walk->json = dx__json_reader(text, DX_DEPTH_MAX);
    walk->spans.count = walk->span = 0;
    if (walk->secrets->pointers_len)
        find_spans(walk->secrets, text, &walk->spans);
    return walk_strings(walk, text.at + text.len);
}

dx_status dx__secrets_hide(const dx__secrets *secrets, dx_text text, dx_buf *buf,
                           uint64_t *ret_count) {
    struct walk walk = {.secrets = secrets, .buf = buf, .done = text.at, .words_end = text.at};
    dx__json json = dx__json_reader(text, DX_DEPTH_MAX);
    dx_status status = DX_OK;
    /* A pointer is meant for each message of a batch. */
    if (!secrets->pointers_len || !dx__json_take(&json, '[')) {
        status = hide_in(&walk, text);
    } else {
        while (status == DX_OK && dx__json_peek(&json) != ']') {
            const char *from = json.at;
            dx__json_skip(&json);
            if (json.fault != DX_FAULT_NONE)
                return DX_ERR_INVALID;
            status = hide_in(&walk, (dx_text){from, (size_t)(json.at - from)});
            (void)dx__json_take(&json, ',');
        }
    }
    *ret_count = walk.count;
    if (status == DX_OK)
        status = dx__buf_put(buf, walk.done, (size_t)(text.at + text.len - walk.done));
    return status;
}
