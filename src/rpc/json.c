#include "rpc/json.h"

#include <stdbool.h>
#include <string.h>

void dx__json_fail(dx__json *json, dx_fault fault, const char *at) {
    if (json->fault != DX_FAULT_NONE)
        return;
    json->fault =
        fault == DX_FAULT_JSON_SYNTAX && at >= json->end ? DX_FAULT_JSON_INCOMPLETE : fault;
    json->at = at;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int is_hex(char c) {
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* A number is walked over in one go, so its length is limited. */
enum { DIGITS_MAX = 1 << 20 };

/* At least one digit. */
static inline const char *digits(dx__json *json, const char *at) {
    const char *from = at;
    while (at < json->end && is_digit(*at))
        if (++at - from > DIGITS_MAX) {
            dx__json_fail(json, DX_FAULT_JSON_VALUE, from);
            break;
        }
    if (at == from)
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
    return at;
}

static inline const char *number(dx__json *json, const char *at) {
    at += *at == '-';
    if (at < json->end && *at == '0')
        at++;
    else
        at = digits(json, at);
    /* Most numbers end here: with a comma, a bracket or a space. */
    if (at < json->end && *at == '.')
        at = digits(json, at + 1);
    if (at < json->end && (*at | 0x20) == 'e') {
        at++;
        at += at < json->end && (*at == '+' || *at == '-');
        at = digits(json, at);
    }
    return at;
}

static inline const char *literal(dx__json *json, const char *at, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(json->end - at) >= len && memcmp(at, word, len) == 0)
        return at + len;
    for (; *word; word++, at++)
        if (at >= json->end || *at != *word) {
            dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
            return at;
        }
    return at;
}

/* How long the UTF-8 sequence at `at` is (RFC 3629: no overlong form, no surrogate, at most
 * U+10FFFF): 2 to 4; 0 if it is none; -1 if the text ends inside it. */
static int sequence(const char *at, const char *end) {
    unsigned char first = (unsigned char)at[0];
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    int len;
    if (first >= 0xc2 && first <= 0xdf) {
        len = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
        len = 3;
        if (first == 0xe0)
            low = 0xa0;
        if (first == 0xed)
            high = 0x9f;
    } else if (first >= 0xf0 && first <= 0xf4) {
        len = 4;
        if (first == 0xf0)
            low = 0x90;
        if (first == 0xf4)
            high = 0x8f;
    } else {
        return 0;
    }
    for (int i = 1; i < len; i++) {
        if (at + i >= end)
            return -1;
        unsigned char c = (unsigned char)at[i];
        if (c < low || c > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return len;
}

static const char *escape(dx__json *json, const char *at) {
    json->escaped = 1;
    at++;
    if (at >= json->end) {
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
        return at;
    }
    switch (*at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return at + 1;
    case 'u':
        for (int i = 0; i < 4; i++)
            if (++at >= json->end || !is_hex(*at)) {
                dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
                return at;
            }
        return at + 1;
    default:
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
        return at;
    }
}

/* Nothing more can be seen: of the text, or for now. */
static void run_out(dx__json *json, const char *at) {
    dx__json_fail(json, at < json->end ? DX__JSON_PAUSED : DX_FAULT_JSON_SYNTAX, at);
}

const char *dx__json_string_rest(dx__json *json, const char *at) {
    const char *end = json->end;
    for (;; at = dx__json_plain(at, json->stop)) {
        if (at >= json->stop) {
            run_out(json, at);
            return at;
        }
        if (*at == '"')
            return at + 1;
        if (*at == '\\') {
            at = escape(json, at);
            if (json->fault != DX_FAULT_NONE)
                return at;
        } else if ((unsigned char)*at < 0x20) {
            dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
            return at;
        } else {
            int len = sequence(at, end);
            if (len <= 0) {
                dx__json_fail(json, len ? DX_FAULT_JSON_INCOMPLETE : DX_FAULT_JSON_UTF8, at);
                return at;
            }
            at += len;
        }
    }
}

static inline const char *scalar(dx__json *json, const char *at) {
    if (is_digit(*at))
        return number(json, at);
    switch (*at) {
    case 't':
        return literal(json, at, "true");
    case 'f':
        return literal(json, at, "false");
    case 'n':
        return literal(json, at, "null");
    default:
        if (*at == '-')
            return number(json, at);
        dx__json_fail(json, (unsigned char)*at < 0x80 ? DX_FAULT_JSON_SYNTAX : DX_FAULT_JSON_UTF8,
                      at);
        return at;
    }
}

/* A member's name and its colon. */
__attribute__((always_inline)) static inline const char *name(dx__json *json, const char *at) {
    at = dx__json_space(at, json->end);
    if (at >= json->end || *at != '"') {
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
        return at;
    }
    at = dx__json_string(json, at + 1);
    if (at < json->end && *at == ':') /* also behind a fault, which is looked for by who called */
        return at + 1;
    at = dx__json_space(at, json->end);
    if (at >= json->end || *at != ':') {
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
        return at;
    }
    return at + 1;
}

void dx__json_skip_name(dx__json *json, dx_text *ret_quoted) {
    const char *key = json->at = dx__json_space(json->at, json->end);
    const char *at = name(json, key);
    if (json->fault != DX_FAULT_NONE)
        return;
    json->at = dx__json_space(at, json->end);
    for (at--; at[-1] != '"'; at--) /* back over the colon and the space before it */
        ;
    *ret_quoted = (dx_text){key, (size_t)(at - key)};
}

/* Where a walk goes on that paused. */
enum { AT_VALUE, IN_STRING, AT_FIRST, AFTER_VALUE, AT_NAME, IN_NAME, AT_COLON, AT_MEMBER };

static inline bool is_open(const uint64_t *levels, unsigned level) {
    return levels[level / 64] >> (level % 64) & 1;
}

static inline void open_level(uint64_t *levels, unsigned level, int in_object) {
    uint64_t bit = UINT64_C(1) << (level % 64);
    uint64_t others = level % 64 ? levels[level / 64] & ~bit : 0;
    levels[level / 64] = in_object ? others | bit : others;
}

/* The levels that are open live as bits: no recursion. Each place where the text may run out is one
 * where the walk can pause; `step` says which, and the switch leads back to it. */
void dx__json_go(dx__json *json, dx__json_walk *walk) {
    uint64_t *levels = walk->levels;
    unsigned level = walk->level;
    unsigned step = walk->step;
    int in_object = walk->in_object; /* what the innermost open level is */
    uint32_t values = walk->values;
    const char *at = json->at;
    const char *stop = json->stop;
    const char *quote = json->start + walk->name_at; /* where the name at hand begins */
    switch (step) {
    case IN_STRING:
        goto in_string;
    case AT_FIRST:
        goto at_first;
    case AFTER_VALUE:
        goto after_value;
    case AT_NAME:
        goto at_name;
    case IN_NAME:
        goto in_name;
    case AT_COLON:
        goto at_colon;
    case AT_MEMBER:
        goto at_member;
    default:
        break;
    }
    for (;;) {
        step = AT_VALUE;
        at = dx__json_space(at, stop);
        if (at >= stop)
            break;
        values++;
        if (*at == '"') {
            at++;
        in_string:
            step = IN_STRING;
            at = dx__json_string(json, at);
            if (json->fault != DX_FAULT_NONE)
                goto out;
        } else if (*at == '{' || *at == '[') {
            if (level == json->depth) {
                dx__json_fail(json, DX_FAULT_JSON_DEPTH, at);
                goto out;
            }
            open_level(levels, level++, in_object);
            in_object = *at++ == '{';
        at_first:
            step = AT_FIRST;
            at = dx__json_space(at, stop);
            if (at >= stop)
                break;
            if (*at == (in_object ? '}' : ']'))
                goto after_value;
            if (in_object)
                goto at_name;
            continue;
        } else {
            at = scalar(json, at);
            if (json->fault != DX_FAULT_NONE)
                goto out;
        }
        /* A value has ended: what follows closes levels, or is the next one. */
        for (;;) {
            if (!level)
                goto out;
            if (level == 1) {
                walk->elements++;
                if (walk->value && in_object)
                    walk->value(walk->user, json, at);
            }
        after_value:
            step = AFTER_VALUE;
            at = dx__json_space(at, stop);
            if (at >= stop)
                goto ran_out;
            if (*at == ',')
                break;
            if (*at != (in_object ? '}' : ']')) {
                dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
                goto out;
            }
            at++;
            in_object = is_open(levels, --level);
        }
        at++;
        if (!in_object)
            continue;
    at_name:
        step = AT_NAME;
        at = dx__json_space(at, stop);
        if (at >= stop)
            break;
        if (*at != '"') {
            dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
            goto out;
        }
        quote = at++;
        values++;
    in_name:
        step = IN_NAME;
        at = dx__json_string(json, at);
        if (json->fault != DX_FAULT_NONE)
            goto out;
        if (at < stop && *at == ':' && level > 1) {
            at++;
            continue;
        }
        walk->name_len = (uint32_t)(at - quote);
    at_colon:
        step = AT_COLON;
        at = dx__json_space(at, stop);
        if (at >= stop)
            break;
        if (*at != ':') {
            dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
            goto out;
        }
        at++;
        if (level > 1)
            continue;
        if (walk->name)
            walk->name(walk->user, json, (dx_text){quote, walk->name_len});
    at_member:
        step = AT_MEMBER;
        at = dx__json_space(at, stop);
        if (at >= stop)
            break;
        walk->value_at = (uint32_t)(at - json->start);
    }
ran_out:
    run_out(json, at);
out:
    if (json->fault == DX_FAULT_NONE)
        json->at = at;
    walk->step = step;
    walk->level = level;
    walk->in_object = in_object;
    walk->values = values;
    walk->name_at = (uint32_t)(quote - json->start);
}

void dx__json_skip(dx__json *json) {
    dx__json_walk walk;
    dx__json_walk_begin(&walk);
    dx__json_go(json, &walk);
}

/* A name and its colon, or NULL. */
static inline const char *quick_name(const char *at, const char *end) {
    if (*at != '"')
        return NULL;
    at = dx__json_plain(at + 1, end);
    return at[0] == '"' && at[1] == ':' ? at + 2 : NULL;
}

/* A value that holds no other, or NULL. */
static inline const char *quick_scalar(const char *at, const char *end) {
    const char *from = at;
    if (*at == '"') {
        at = dx__json_plain(at + 1, end);
        return *at == '"' ? at + 1 : NULL;
    }
    while (is_digit(*at))
        at++;
    if (at > from)
        return (*from == '0' && at > from + 1) || *at == '.' || (*at | 0x20) == 'e' ? NULL : at;
    if (end - at < 4)
        return NULL;
    if (memcmp(at, "true", 4) == 0 || memcmp(at, "null", 4) == 0)
        return at + 4;
    return memcmp(at, "fals", 4) == 0 && at[4] == 'e' ? at + 5 : NULL;
}

const char *dx__json_quick(const char *at, const char *end, unsigned depth) {
    uint64_t levels = 0; /* the lowest bit is the innermost: 1 for an object */
    unsigned level = 0;
    end--; /* the brace, which ends everything that could run on; it closes no level of the value */
    for (;;) {
        if (*at == '{' || *at == '[') {
            bool in_object = *at++ == '{';
            if (level == depth || level == 64 || at == end)
                return NULL;
            if (*at != (in_object ? '}' : ']')) {
                levels = levels << 1 | in_object;
                level++;
                if (in_object && !(at = quick_name(at, end)))
                    return NULL;
                continue;
            }
            at++;
        } else if (!(at = quick_scalar(at, end))) {
            return NULL;
        }
        for (; level && *at != ','; level--, levels >>= 1)
            if (at == end || *at++ != (levels & 1 ? '}' : ']'))
                return NULL;
        if (!level)
            return at;
        at++;
        if (levels & 1 && !(at = quick_name(at, end)))
            return NULL;
    }
}

dx_fault dx_json_check(dx_text text, unsigned depth, size_t *ret_at) {
    dx__json json = dx__json_reader(text, depth);
    if (!dx__json_peek(&json) && json.at == json.end) {
        json.fault = DX_FAULT_JSON_EMPTY;
    } else {
        dx__json_skip(&json);
        if (json.fault == DX_FAULT_NONE) {
            dx__json_peek(&json);
            if (json.at < json.end)
                json.fault = DX_FAULT_JSON_TRAILING;
        }
    }
    if (ret_at)
        *ret_at = (size_t)(json.at - json.start);
    return json.fault;
}
