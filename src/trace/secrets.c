/* Redaction: a walk over the text from string to string that builds nothing. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/secret_name.h"
#include "rpc/json.h"
#include "trace/trace.h"

#include <string.h>

enum { LONGEST = 64, POINTERS = 32 };

/* Places in a text that are replaced, in their order. */
struct spans {
    size_t count;
    dx_text at[POINTERS];
};

/* What the walk is in: the value of a member that holds variables or headers (with their names), or
 * the words of a command line. */
enum place { ELSEWHERE, VARIABLES, WORDS };

struct walk {
    const dx__secrets *secrets;
    dx__json json;
    dx_buf *buf;
    const char *done; /* everything before it is in the buffer */
    const char *end;  /* of the place */
    enum place place;
    bool is_pair;       /* {"name":…} was of a secret, so "value" is */
    bool value_is_past; /* the name at hand stands after its value */
    uint64_t count;
};

dx_status dx__secrets_init(dx__secrets *secrets, const char *const *list,
                           const dx_allocator *alloc) {
    *secrets = (dx__secrets){.alloc = *alloc};
    size_t size = 0;
    size_t pointers = 0;
    for (size_t i = 0; list && list[i]; i++) {
        size_t len = strlen(list[i]);
        bool is_pointer = list[i][0] == '/';
        pointers += is_pointer;
        if (len < 1 || (len > LONGEST && !is_pointer) || pointers > POINTERS)
            return DX_ERR_INVALID;
        size += 1 + len;
    }
    if (!size)
        return DX_OK;
    secrets->names = dx__malloc(alloc, size);
    if (!secrets->names)
        return DX_ERR_NOMEM;
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

/* Is that the member that the pointer goes on with? `token` stands behind the slash. */
static bool is_token(dx_text quoted, const char *token, size_t len) {
    char room[6 * LONGEST + 2];
    dx_text name = {quoted.at + 1, quoted.len - 2};
    size_t at = 0;
    if (quoted.len <= sizeof room && dx_rpc_string(quoted, room, &name) != DX_OK)
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
static bool step(dx__json *json, const char *token, size_t len, bool *ret_twice) {
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
        if (is_object ? is_token(name, token, len)
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
            found = step(&json, token + 1, len, &twice);
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

static bool is_listed(const dx__secrets *secrets, dx_text name) {
    if (name.len < 1 || name.len > LONGEST || !(secrets->lengths >> (name.len - 1) & 1))
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

static enum place place_of(dx_text name) {
    if (is_word(name, "env") || is_word(name, "environment") || dx__ends_with(name, "headers"))
        return VARIABLES;
    return is_word(name, "argv") || is_word(name, "args") || is_word(name, "command") ? WORDS
                                                                                      : ELSEWHERE;
}

/* The characters of a string. `room` is for one with escapes; a longer one is none that is looked
 * for, and empty. */
static dx_text characters(const struct walk *walk, dx_text quoted, char room[6 * LONGEST + 2]) {
    dx_text text = {quoted.at + 1, quoted.len - 2};
    if (walk->json.escaped &&
        (quoted.len > 6 * LONGEST + 2 || dx_rpc_string(quoted, room, &text) != DX_OK))
        text.len = 0;
    return text;
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

/* The string that comes next; empty if something else does. */
static dx_text string_ahead(dx__json *json) {
    const char *from = json->at;
    json->escaped = 0;
    if (dx__json_peek(json) != '"')
        return (dx_text){"", 0};
    from = json->at;
    dx__json_skip(json);
    return (dx_text){from, json->fault == DX_FAULT_NONE ? (size_t)(json->at - from) : 0};
}

static bool is_secret_string(const struct walk *walk, dx_text quoted) {
    char room[6 * LONGEST + 2];
    dx_text name = quoted.len ? characters(walk, quoted, room) : quoted;
    return !memchr(name.at, ' ', name.len) && dx__name_is_secret(name);
}

/* {"value":…, "name":"API_KEY"}, of which the walk has come to the value. */
static bool is_named_after(const struct walk *walk) {
    struct walk ahead = *walk;
    char room[6 * LONGEST + 2];
    if (!string_ahead(&ahead.json).len || !dx__json_take(&ahead.json, ','))
        return false;
    dx_text quoted = string_ahead(&ahead.json);
    dx_text name = quoted.len ? characters(&ahead, quoted, room) : quoted;
    return (is_word(name, "name") || is_word(name, "key")) && dx__json_take(&ahead.json, ':') &&
           is_secret_string(&ahead, string_ahead(&ahead.json));
}

/* A member: its name, and its value comes next. */
static dx_status take_name(struct walk *walk, dx_text quoted) {
    char room[6 * LONGEST + 2];
    dx_text name = characters(walk, quoted, room);
    bool variables = walk->place == VARIABLES;
    if (variables && is_word(name, "value"))
        walk->value_is_past = is_named_after(walk);
    if (is_listed(walk->secrets, name) ||
        (variables && (dx__name_is_secret(name) ||
                       (is_word(name, "value") && (walk->is_pair || walk->value_is_past)))))
        return hide_value(walk);
    char next = dx__json_peek(&walk->json);
    dx__json ahead = walk->json;
    if (variables && next == '"' && (is_word(name, "name") || is_word(name, "key"))) {
        struct walk at_name = *walk;
        walk->is_pair =
            !walk->value_is_past && is_secret_string(&at_name, string_ahead(&at_name.json));
        walk->value_is_past = false;
    }
    if (walk->place != ELSEWHERE || !walk->secrets->usual || (next != '{' && next != '['))
        return DX_OK;
    walk->place = place_of(name);
    if (walk->place != ELSEWHERE)
        dx__json_skip(&ahead);
    walk->end = ahead.at;
    walk->is_pair = false;
    return DX_OK;
}

/* Inside of a container, so that something stands before it. */
static bool is_first_of_list(dx_text quoted) {
    const char *at = quoted.at - 1;
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at--;
    return *at == '[';
}

static dx_status take_string(struct walk *walk, dx_text quoted) {
    size_t value =
        walk->place != ELSEWHERE ? dx__secret_value((dx_text){quoted.at + 1, quoted.len - 2}) : 0;
    if (value)
        return replace(walk, quoted.at + 1 + value, walk->json.at, "***\"");
    /* ["Authorization", "Bearer …"] */
    if (walk->place == VARIABLES && is_first_of_list(quoted) && is_secret_string(walk, quoted) &&
        dx__json_take(&walk->json, ',') && dx__json_peek(&walk->json) == '"')
        return hide_value(walk);
    return DX_OK;
}

static dx_status hide_in(struct walk *walk, dx_text text) {
    struct spans spans = {.count = 0};
    dx__json *json = &walk->json;
    dx_status status = DX_OK;
    size_t span = 0;
    *json = dx__json_reader(text, DX_DEPTH_MAX);
    if (walk->secrets->pointers_len)
        find_spans(walk->secrets, text, &spans);
    while (status == DX_OK && json->fault == DX_FAULT_NONE) {
        const char *quote = memchr(json->at, '"', (size_t)(json->end - json->at));
        while (span < spans.count && spans.at[span].at < json->at)
            span++; /* a part of what is hidden */
        if (span < spans.count && (!quote || spans.at[span].at <= quote)) {
            json->at = spans.at[span].at + spans.at[span].len;
            status = replace(walk, spans.at[span].at, json->at, "\"***\"");
            continue;
        }
        if (!quote)
            break;
        if (quote >= walk->end)
            walk->place = ELSEWHERE;
        json->at = quote;
        json->escaped = 0;
        dx__json_skip(json);
        dx_text string = {quote, (size_t)(json->at - quote)};
        /* Only a member's name has a colon behind it. */
        if (json->fault == DX_FAULT_NONE)
            status = dx__json_take(json, ':') ? take_name(walk, string) : take_string(walk, string);
    }
    return json->fault != DX_FAULT_NONE ? DX_ERR_INVALID : status;
}

dx_status dx__secrets_hide(const dx__secrets *secrets, dx_text text, dx_buf *buf,
                           uint64_t *ret_count) {
    struct walk walk = {.secrets = secrets, .buf = buf, .done = text.at, .end = text.at};
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
