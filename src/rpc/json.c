#include "rpc/json.h"

#include <string.h>

void dx__json_fail(dx__json *json, dx_fault fault, const char *at) {
    if (json->fault != DX_FAULT_NONE)
        return;
    json->fault =
        fault == DX_FAULT_JSON_SYNTAX && at >= json->end ? DX_FAULT_JSON_INCOMPLETE : fault;
    json->at = at;
}

static inline const char *space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

char dx__json_peek(dx__json *json) {
    json->at = space(json->at, json->end);
    return json->at < json->end ? *json->at : '\0';
}

int dx__json_take(dx__json *json, char byte) {
    if (dx__json_peek(json) != byte || json->at == json->end)
        return 0;
    json->at++;
    return 1;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int is_hex(char c) {
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static const char *digits(dx__json *json, const char *at) {
    if (at >= json->end || !is_digit(*at)) {
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
        return at;
    }
    while (at < json->end && is_digit(*at))
        at++;
    return at;
}

static const char *number(dx__json *json, const char *at) {
    if (*at == '-')
        at++;
    if (at < json->end && *at == '0')
        at++;
    else
        at = digits(json, at);
    if (at < json->end && *at == '.')
        at = digits(json, at + 1);
    if (at < json->end && (*at | 0x20) == 'e') {
        at++;
        if (at < json->end && (*at == '+' || *at == '-'))
            at++;
        at = digits(json, at);
    }
    return at;
}

static const char *literal(dx__json *json, const char *at, const char *word) {
    for (; *word; word++, at++)
        if (at >= json->end || *at != *word) {
            dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
            return at;
        }
    return at;
}

/* One UTF-8 sequence of more than one byte (RFC 3629: no overlong form, no surrogate, at most
 * U+10FFFF). Returns its end, or NULL. */
static const char *sequence(const char *at, const char *end) {
    unsigned char first = (unsigned char)at[0];
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    int more;
    if (first >= 0xc2 && first <= 0xdf) {
        more = 1;
    } else if (first >= 0xe0 && first <= 0xef) {
        more = 2;
        if (first == 0xe0)
            low = 0xa0;
        if (first == 0xed)
            high = 0x9f;
    } else if (first >= 0xf0 && first <= 0xf4) {
        more = 3;
        if (first == 0xf0)
            low = 0x90;
        if (first == 0xf4)
            high = 0x8f;
    } else {
        return NULL;
    }
    if (end - at <= more)
        return NULL;
    for (int i = 1; i <= more; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c < low || c > high)
            return NULL;
        low = 0x80;
        high = 0xbf;
    }
    return at + more + 1;
}

/* Bytes of a string that need no look, eight at a time: printable ASCII but for " and \. */
static inline const char *plain(const char *at, const char *end) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t tops = UINT64_C(0x8080808080808080);
    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t quote = word ^ (ones * '"');
        uint64_t slash = word ^ (ones * '\\');
        uint64_t odd = (quote - ones) | (slash - ones) | (word - ones * 0x20) | word;
        if (odd & tops)
            break;
        at += 8;
    }
    while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' &&
           *at != '\\')
        at++;
    return at;
}

static const char *escape(dx__json *json, const char *at) {
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

/* `at` is behind the opening quote; returns behind the closing one. */
static const char *string(dx__json *json, const char *at) {
    const char *end = json->end;
    for (;;) {
        at = plain(at, end);
        if (at >= end) {
            dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
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
            const char *next = sequence(at, end);
            if (!next) {
                dx__json_fail(json, DX_FAULT_JSON_UTF8, at);
                return at;
            }
            at = next;
        }
    }
}

void dx__json_skip_string(dx__json *json) {
    if (dx__json_peek(json) != '"') {
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, json->at);
        return;
    }
    const char *at = string(json, json->at + 1);
    if (json->fault == DX_FAULT_NONE)
        json->at = at;
}

static const char *scalar(dx__json *json, const char *at) {
    switch (*at) {
    case '"':
        return string(json, at + 1);
    case 't':
        return literal(json, at, "true");
    case 'f':
        return literal(json, at, "false");
    case 'n':
        return literal(json, at, "null");
    default:
        if (*at == '-' || is_digit(*at))
            return number(json, at);
        dx__json_fail(json, (unsigned char)*at < 0x80 ? DX_FAULT_JSON_SYNTAX : DX_FAULT_JSON_UTF8,
                      at);
        return at;
    }
}

/* A member's name and its colon. */
static const char *name(dx__json *json, const char *at) {
    at = space(at, json->end);
    if (at >= json->end || *at != '"') {
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
        return at;
    }
    at = space(string(json, at + 1), json->end);
    if (json->fault != DX_FAULT_NONE)
        return at;
    if (at >= json->end || *at != ':') {
        dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
        return at;
    }
    return at + 1;
}

/* The levels that are open live as bits: 1 for an object, 0 for an array. No recursion. */
void dx__json_skip(dx__json *json) {
    uint64_t objects[DX_DEPTH_MAX / 64];
    unsigned level = 0;
    const char *at = json->at;
    const char *end = json->end;
    for (;;) {
        at = space(at, end);
        if (at >= end) {
            dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
            return;
        }
        if (*at == '{' || *at == '[') {
            uint64_t bit = UINT64_C(1) << (level % 64);
            if (level == json->depth) {
                dx__json_fail(json, DX_FAULT_JSON_DEPTH, at);
                return;
            }
            uint64_t others = level % 64 ? objects[level / 64] & ~bit : 0;
            objects[level / 64] = *at == '{' ? others | bit : others;
            char close = *at == '{' ? '}' : ']';
            level++;
            at = space(at + 1, end);
            if (at >= end || *at != close) {
                if (close == '}')
                    at = name(json, at);
                if (json->fault != DX_FAULT_NONE)
                    return;
                continue; /* the first value inside */
            }
            at++;
            level--;
        } else {
            at = scalar(json, at);
            if (json->fault != DX_FAULT_NONE)
                return;
        }
        /* A value has ended: what follows closes levels or goes on with the next value. */
        for (;;) {
            if (!level) {
                json->at = at;
                return;
            }
            int object = (int)(objects[(level - 1) / 64] >> ((level - 1) % 64) & 1);
            at = space(at, end);
            if (at < end && *at == ',') {
                at++;
                if (object)
                    at = name(json, at);
                if (json->fault != DX_FAULT_NONE)
                    return;
                break;
            }
            if (at >= end || *at != (object ? '}' : ']')) {
                dx__json_fail(json, DX_FAULT_JSON_SYNTAX, at);
                return;
            }
            at++;
            level--;
        }
    }
}

dx_fault dx_json_check(dx_text text, unsigned depth, size_t *ret_at) {
    dx__json json = {.start = text.at,
                     .end = text.at + text.len,
                     .at = text.at,
                     .depth = depth < DX_DEPTH_MAX ? depth : DX_DEPTH_MAX};
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
