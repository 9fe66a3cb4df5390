#include "systems/hermes/hl7_parts.h"

/* One character that a name may have, 0 if there is none. What is beyond ASCII is taken as a
 * letter: that saves the tables of Unicode, and no name of HL7 is there. */
static uint32_t name_char(dx_text text, size_t *at) {
    if (*at >= text.len)
        return 0;
    size_t len = dx__utf8(text.at + *at, text.len - *at);
    uint32_t c = len ? dx__utf8_code(text.at + *at, len) : 0;
    bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (len < 2 && !plain)
        return 0;
    *at += len;
    return c;
}

/* Three characters of 21 bits each fit into 64. */
static uint64_t name_key(dx_text text, size_t *at) {
    uint64_t key = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t c = name_char(text, at);
        if (!c)
            return 0;
        key = key << 21 | c;
    }
    return key;
}

uint64_t hl7_key(dx_text name) {
    size_t at = 0;
    uint64_t key = name_key(name, &at);
    return at == name.len ? key : 0;
}

/* A number from 1 to the limit; 0 if there is none, and then `at` stays. */
static uint32_t number(dx_text text, size_t *at) {
    uint32_t value = 0;
    size_t i = *at;
    for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++) {
        value = value * 10 + (uint32_t)(text.at[i] - '0');
        if (value > DX_HL7_NUMBER_MAX)
            return 0;
    }
    if (value)
        *at = i;
    return value;
}

static uint32_t in_brackets(dx_text text, size_t *at) {
    size_t i = *at + 1;
    if (*at >= text.len || text.at[*at] != '[')
        return 0;
    uint32_t value = number(text, &i);
    if (!value || i >= text.len || text.at[i] != ']')
        return 0;
    *at = i + 1;
    return value;
}

static uint32_t behind_separator(dx_text text, size_t *at) {
    size_t i = *at + 1;
    if (*at >= text.len || (text.at[*at] != '.' && text.at[*at] != '-' && text.at[*at] != ' '))
        return 0;
    uint32_t value = number(text, &i);
    if (value)
        *at = i;
    return value;
}

size_t hl7_path_parse(dx_text text, hl7_path *ret_path) {
    size_t at = 0;
    hl7_path path = {.text = text, .key = name_key(text, &at)};
    if (!path.key)
        return 0;
    path.name = (dx_text){text.at, at};
    path.segment = in_brackets(text, &at);
    if ((path.field = behind_separator(text, &at))) {
        path.repetition = in_brackets(text, &at);
        if ((path.component = behind_separator(text, &at)))
            path.subcomponent = behind_separator(text, &at);
    }
    *ret_path = path;
    return at;
}
