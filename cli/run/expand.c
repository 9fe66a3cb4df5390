/* Variables in the texts of a configuration. They are replaced once: what a variable holds is not
 * looked into, and no shell sees it. */
#include "cli/run/entry.h"

#include <stdlib.h>
#include <string.h>

static bool is_identifier(dx_text name) {
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (!i || c < '0' || c > '9'))
            return false;
    }
    return name.len;
}

static const char *environment(struct reading *reading, dx_text name) {
    const char *copy = config_copy(reading, name.at, name.len);
    return copy ? getenv(copy) : NULL;
}

/* What stands for ${NAME}; absent if that was told. */
static dx_text value_of(struct reading *reading, const char *place, dx_text whole) {
    static const dx_text absent = {NULL, 0};
    dx_text name = whole;
    if (dx_text_is(name, "workspaceFolder"))
        return dx_str(reading->folder);
    if (dx_text_is(name, "userHome"))
        name = dx_str("HOME");
    if (name.len > 4 && memcmp(name.at, "env:", 4) == 0)
        name = (dx_text){name.at + 4, name.len - 4};
    const char *other = memmem(name.at, name.len, ":-", 2);
    dx_text otherwise = absent;
    if (other) {
        otherwise = (dx_text){other + 2, name.len - (size_t)(other + 2 - name.at)};
        name.len = (size_t)(other - name.at);
    }
    if (!is_identifier(name)) {
        config_flaw(reading, place, 0, "unknown variable ${%.*s}", (int)whole.len, whole.at);
        return absent;
    }
    const char *value = environment(reading, name);
    if (value)
        return dx_str(value);
    if (!other)
        config_flaw(reading, place, 0, "the variable %.*s is not set", (int)name.len, name.at);
    return otherwise;
}

/* One piece of the text from *at on is added. False if that was told. */
static bool add_piece(struct reading *reading, const char *place, dx_text text, size_t *at,
                      dx_buf *buf) {
    const char *from = text.at + *at;
    size_t left = text.len - *at;
    dx_text piece = {from, 1};
    size_t used = 1;
    if (left > 2 && memcmp(from, "$${", 3) == 0) {
        piece = (dx_text){from + 1, 2};
        used = 3;
    } else if (left > 1 && memcmp(from, "${", 2) == 0) {
        const char *end = memchr(from, '}', left);
        if (!end) {
            config_flaw(reading, place, 0, "missing } after ${");
            return false;
        }
        used = (size_t)(end - from) + 1;
        piece = value_of(reading, place, (dx_text){from + 2, used - 3});
        if (!piece.at)
            return false;
    } else {
        const char *next = memchr(from + 1, '$', left - 1);
        used = piece.len = next ? (size_t)(next - from) : left;
    }
    *at += used;
    dx_status status = dx_buf_append(buf, piece.at, piece.len);
    if (status == DX_ERR_LIMIT)
        config_flaw(reading, place, 0, "the value is longer than %d bytes", CONFIG_TEXT_MAX);
    reading->no_memory |= status == DX_ERR_NOMEM;
    return status == DX_OK;
}

const char *config_expand(struct reading *reading, const char *place, yyjson_val *string) {
    dx_text text = dx_json_string(string);
    const char *copy = NULL;
    dx_buf buf;
    size_t at = 0;
    if (memchr(text.at, '\0', text.len)) {
        config_flaw(reading, place, 0, "the value contains a NUL character");
        return NULL;
    }
    dx_buf_init(&buf, CONFIG_TEXT_MAX, NULL);
    bool good = true;
    while (good && at < text.len)
        good = add_piece(reading, place, text, &at, &buf);
    if (good)
        copy = config_copy(reading, buf.data ? buf.data : "", buf.len);
    dx_buf_done(&buf);
    return copy;
}
