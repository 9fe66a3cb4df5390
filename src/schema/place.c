#include "schema/place.h"

#include <string.h>

enum { QUOTE_MAX = 200 };

void dx__line_text(dx__line *line, dx_text text) {
    size_t left = line->room - 1 - line->len;
    size_t len = text.len < left ? text.len : left;
    if (len)
        memcpy(line->at + line->len, text.at, len);
    line->len += len;
    line->at[line->len] = '\0';
}

static void put_char(dx__line *line, char c) {
    dx__line_text(line, (dx_text){&c, 1});
}

/* Where a text can be cut without tearing a character apart. */
static size_t cut(dx_text text, size_t most) {
    if (text.len <= most)
        return text.len;
    while (most && ((unsigned char)text.at[most] & 0xc0) == 0x80)
        most--;
    return most;
}

void dx__line_quote(dx__line *line, dx_text text, size_t most) {
    static const char hex[] = "0123456789abcdef";
    size_t len = cut(text, most);
    put_char(line, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\') {
            put_char(line, '\\');
            put_char(line, (char)c);
        } else if (c < 0x20 || c == 0x7f) {
            dx__line_str(line, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\u00");
            if (c != '\n' && c != '\t') {
                put_char(line, hex[c >> 4]);
                put_char(line, hex[c & 15]);
            }
        } else {
            put_char(line, (char)c);
        }
    }
    dx__line_str(line, len < text.len ? "…\"" : "\"");
}

void dx__line_token(dx__line *line, dx_text token) {
    put_char(line, '/');
    for (size_t i = 0; i < token.len && line->len + 1 < line->room; i++) {
        char c = token.at[i];
        if (c == '~' || c == '/')
            dx__line_str(line, c == '~' ? "~0" : "~1");
        else
            put_char(line, c);
    }
}

void dx__line_index(dx__line *line, uint64_t index) {
    put_char(line, '/');
    dx__line_num(line, index);
}

void dx__path_cut(const char *path, size_t len, char *to, size_t room) {
    static const char gap[] = "…";
    if (len < room) {
        memcpy(to, path, len);
        to[len] = '\0';
        return;
    }
    size_t half = (room - sizeof gap) / 2;
    size_t head = cut((dx_text){path, len}, half);
    size_t tail = len - half;
    while (tail < len && ((unsigned char)path[tail] & 0xc0) == 0x80)
        tail++;
    memcpy(to, path, head);
    memcpy(to + head, gap, sizeof gap - 1);
    memcpy(to + head + sizeof gap - 1, path + tail, len - tail);
    to[head + sizeof gap - 1 + len - tail] = '\0';
}

/* A value lies in a container if it lies between it and what follows: values of a document are in
 * one row. So the way down is found without having been kept. */
static void write_pointer(dx__line *line, yyjson_val *root, yyjson_val *target) {
    yyjson_val *at = root;
    while (at != target && yyjson_is_ctn(at)) {
        bool map = yyjson_is_obj(at);
        yyjson_val *next = unsafe_yyjson_get_first(at);
        yyjson_val *key = next;
        size_t left = unsafe_yyjson_get_len(at);
        size_t index = 0;
        for (; index < left; index++) {
            key = next;
            next += map;
            yyjson_val *end = unsafe_yyjson_get_next(next);
            if (target < end)
                break;
            next = end;
        }
        if (index == left || target < next)
            return; /* not in this document */
        if (map)
            dx__line_token(line, dx__text_of(key));
        else
            dx__line_index(line, index);
        at = next;
    }
}

void dx__place_write(dx__place place, dx__word word, dx_text token, const dx__document *home,
                     char *to, size_t room) {
    char path[DX__PATH_ROOM];
    dx__line line = dx__line_on(path, sizeof path);
    const dx__document *document = place.resource ? place.resource->document : NULL;
    if (document && home && document != home)
        dx__line_text(&line, document->uri);
    dx__line_str(&line, "#");
    if (document)
        write_pointer(&line, document->root, place.value);
    if (word != DX__WORD__COUNT)
        dx__line_token(&line, dx_str(dx__word_name(word)));
    if (token.at)
        dx__line_token(&line, token);
    dx__path_cut(path, line.len, to, room);
}

static void blame(dx_schemas *set, dx__place place, dx__word word, const char *what,
                  dx_text detail) {
    dx_misfit *why = set->why;
    if (!why)
        return;
    why->instance[0] = '\0';
    dx__place_write(place, word, (dx_text){0}, set->home, why->schema, sizeof why->schema);
    dx__line line = dx__line_on(why->keyword, sizeof why->keyword);
    if (word != DX__WORD__COUNT)
        dx__line_str(&line, dx__word_name(word));
    line = dx__line_on(why->phrase, sizeof why->phrase);
    dx__line_str(&line, why->schema);
    dx__line_str(&line, ": ");
    dx__line_str(&line, what);
    if (detail.at) {
        dx__line_str(&line, " ");
        dx__line_quote(&line, detail, QUOTE_MAX);
    }
}

dx_status dx__blame(dx_schemas *set, dx__place place, dx__word word, const char *what,
                    dx_text detail) {
    blame(set, place, word, what, detail);
    return DX_ERR_INVALID;
}

dx_status dx__blame_limit(dx_schemas *set, dx__place place, dx__word word, const char *what) {
    blame(set, place, word, what, (dx_text){0});
    return DX_ERR_LIMIT;
}

dx_status dx__blame_memory(dx_schemas *set) {
    dx_status status = dx__store_status(&set->store);
    dx__place nowhere = {NULL, NULL};
    if (status == DX_ERR_LIMIT)
        blame(set, nowhere, DX__WORD__COUNT, "more memory than is allowed", (dx_text){0});
    return status;
}
