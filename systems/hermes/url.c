/* Is it a URL that a browser may be given? */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

static bool is_host_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80 || (c && strchr(".-_~%", c));
}

/* In brackets: an address of IPv6. */
static size_t bracket_len(dx_text text) {
    size_t i = 1;
    while (i < text.len && text.at[i] && strchr("0123456789abcdefABCDEF:.", text.at[i]))
        i++;
    return i > 2 && i < text.len && text.at[i] == ']' ? i + 1 : 0;
}

static const char *check_port(dx_text text) {
    unsigned port = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return "the port is not a number";
        port = port * 10 + (unsigned)(text.at[i] - '0');
        if (port > 65535)
            return "the port is above 65535";
    }
    return NULL;
}

/* Between "//" and the path: a user, a host, a port. */
static const char *check_authority(dx_text text) {
    const char *at = text.len ? memrchr(text.at, '@', text.len) : NULL;
    if (at)
        text = (dx_text){at + 1, text.len - (size_t)(at + 1 - text.at)};
    size_t len = 0;
    if (text.len && text.at[0] == '[') {
        len = bracket_len(text);
    } else {
        while (len < text.len && is_host_character(text.at[len]))
            len++;
    }
    if (!len)
        return "the host is missing";
    if (len == text.len)
        return NULL;
    if (text.at[len] != ':')
        return "the host is invalid";
    return check_port((dx_text){text.at + len + 1, text.len - len - 1});
}

/* Letters of a scheme may be of either case; the signs behind it have that bit anyway. */
static bool begins_with(dx_text url, const char *scheme) {
    size_t i = 0;
    while (scheme[i] && i < url.len && (url.at[i] | 0x20) == scheme[i])
        i++;
    return !scheme[i];
}

/* How long the scheme is, with "://"; 0 if it is another one. */
static size_t scheme_len(dx_text url) {
    return begins_with(url, "http://") ? 7 : begins_with(url, "https://") ? 8 : 0;
}

static bool is_letter(char c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Has it one at all, which then is another one? */
static bool has_scheme(dx_text url) {
    size_t i = 0;
    while (i < url.len &&
           (is_letter(url.at[i]) || (i && url.at[i] && strchr("0123456789+-.", url.at[i]))))
        i++;
    return i && i < url.len && url.at[i] == ':' && !begins_with(url, "http:") &&
           !begins_with(url, "https:");
}

const char *hermes_url_check(dx_text url, bool *ret_is_scheme) {
    *ret_is_scheme = false;
    if (url.len > HERMES_URL_MAX)
        return "it is too long";
    for (size_t i = 0; i < url.len; i++) {
        unsigned char c = (unsigned char)url.at[i];
        if (c <= 0x20 || c == 0x7f)
            return "it contains a space or a control character";
        if (strchr("\"<>\\`", c))
            return "it contains a character that is not allowed in a URL";
    }
    size_t start = scheme_len(url);
    *ret_is_scheme = has_scheme(url);
    if (!start)
        return *ret_is_scheme ? "the scheme must be http or https"
                              : "it must begin with http:// or https://";
    size_t end = start;
    while (end < url.len && !strchr("/?#", url.at[end]))
        end++;
    return check_authority((dx_text){url.at + start, end - start});
}
