#include "systems/hermes/hermes_parts.h"

#include <string.h>

char *hermes_copy(const dx_allocator *alloc, dx_text text) {
    char *copy = text.len < SIZE_MAX ? dx__malloc(alloc, text.len + 1) : NULL;
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    return copy;
}

/* How many bytes the character at the beginning has; 0 if it is none. */
static size_t character(const unsigned char *at, size_t len) {
    if (at[0] < 0x80)
        return 1;
    size_t more = at[0] >= 0xf0 ? 3 : at[0] >= 0xe0 ? 2 : 1;
    if (at[0] < 0xc2 || at[0] > 0xf4 || len <= more)
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] >= 0xa0;
    bool beyond = at[0] == 0xf4 && at[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : more + 1;
}

bool hermes_is_utf8(dx_text text) {
    const unsigned char *at = (const unsigned char *)text.at;
    for (size_t i = 0; i < text.len;) {
        size_t len = character(at + i, text.len - i);
        if (!len)
            return false;
        i += len;
    }
    return true;
}

void hermes_say(char *to, size_t room, dx_text text) {
    size_t used = strlen(to);
    for (size_t i = 0; i < text.len;) {
        const unsigned char *at = (const unsigned char *)text.at + i;
        size_t len = character(at, text.len - i);
        bool plain = len > 1 || (len == 1 && at[0] >= 0x20 && at[0] != 0x7f);
        if (!len)
            len = 1;
        if (used + len >= room)
            break;
        if (plain)
            memcpy(to + used, at, len);
        else
            to[used] = '?';
        used += len;
        i += len;
    }
    to[used] = '\0';
}

void hermes_say_str(char *to, size_t room, const char *text) {
    hermes_say(to, room, dx_str(text));
}

dx_status hermes_fail(dx_error *reterr, dx_fault fault, const char *before, const char *after) {
    if (reterr) {
        *reterr = (dx_error){.fault = fault};
        hermes_say_str(reterr->phrase, sizeof reterr->phrase, before);
        hermes_say_str(reterr->phrase, sizeof reterr->phrase, after);
    }
    return DX_ERR_INVALID;
}

dx_text hermes_string(yyjson_val *value) {
    return (dx_text){yyjson_get_str(value), yyjson_get_len(value)};
}
