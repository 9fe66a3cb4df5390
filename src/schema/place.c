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

void dx__line_whole(dx__line *line) {
    size_t len = line->len;
    if (len + 1 < line->room)
        return;
    /* Back over the last character, if not all of its bytes are there. */
    size_t last = len;
    while (last && ((unsigned char)line->at[last - 1] & 0xc0) == 0x80)
        last--;
    unsigned char first = last ? (unsigned char)line->at[last - 1] : 0;
    size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    if (last && len - (last - 1) < need)
        len = last - 1;
    line->len = len;
    line->at[len] = '\0';
}

enum { PATH_END = 512 }; /* what is kept of either end, at least */

/* What does not fit goes from the middle, which is left out in the end. */
static void path_char(dx__path *path, char c) {
    if (path->len == sizeof path->at) {
        memmove(path->at + PATH_END, path->at + path->len - PATH_END, PATH_END);
        path->len = (size_t)2 * PATH_END;
    }
    path->at[path->len++] = c;
}

void dx__path_text(dx__path *path, dx_text text) {
    for (size_t i = 0; i < text.len; i++)
        path_char(path, text.at[i]);
}

void dx__path_token(dx__path *path, dx_text token) {
    path_char(path, '/');
    for (size_t i = 0; i < token.len; i++) {
        char c = token.at[i];
        if (c == '~' || c == '/') {
            path_char(path, '~');
            c = c == '~' ? '0' : '1';
        }
        path_char(path, c);
    }
}

void dx__path_index(dx__path *path, uint64_t index) {
    char digits[20];
    path_char(path, '/');
    dx__path_text(path, (dx_text){digits, dx__digits(index, digits)});
}

void dx__path_write(const dx__path *path, char *to, size_t room) {
    static const char gap[] = "…";
    size_t len = path->len;
    if (len < room) {
        memcpy(to, path->at, len);
        to[len] = '\0';
        return;
    }
    size_t half = (room - sizeof gap) / 2;
    size_t head = cut((dx_text){path->at, len}, half);
    size_t tail = len - half;
    while (tail < len && ((unsigned char)path->at[tail] & 0xc0) == 0x80)
        tail++;
    memcpy(to, path->at, head);
    memcpy(to + head, gap, sizeof gap - 1);
    memcpy(to + head + sizeof gap - 1, path->at + tail, len - tail);
    to[head + sizeof gap - 1 + len - tail] = '\0';
}

/* A value lies in a container if it lies between it and what follows: values of a document are in
 * one row. So the way down is found without having been kept. */
static void write_pointer(dx__path *path, yyjson_val *root, yyjson_val *target) {
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
            dx__path_token(path, dx__text_of(key));
        else
            dx__path_index(path, index);
        at = next;
    }
}

void dx__place_write(dx__place place, dx__word word, const dx__document *home, char *to,
                     size_t room) {
    dx__path path;
    path.len = 0;
    const dx__document *document = place.resource ? place.resource->document : NULL;
    if (document && home && document != home)
        dx__path_text(&path, document->uri);
    dx__path_text(&path, dx_str("#"));
    if (document)
        write_pointer(&path, document->root, place.value);
    if (word != DX__WORD__COUNT)
        dx__path_token(&path, dx_str(dx__word_name(word)));
    dx__path_write(&path, to, room);
}

static void blame(dx_schemas *set, dx__place place, dx__word word, const char *what,
                  dx_text detail) {
    dx_misfit *why = set->why;
    if (!why)
        return;
    why->instance[0] = '\0';
    dx__place_write(place, word, set->home, why->schema, sizeof why->schema);
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
    dx__line_whole(&line);
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

dx_status dx__effort(dx_schemas *set, uint64_t cost) {
    static const dx__place nowhere = {NULL, NULL};
    if (cost > set->effort)
        return dx__blame_limit(set, nowhere, DX__WORD__COUNT, "references take too long to follow");
    set->effort -= cost;
    return DX_OK;
}

dx_status dx__blame_memory(dx_schemas *set) {
    dx_status status = dx__store_status(&set->store);
    dx__place nowhere = {NULL, NULL};
    if (status == DX_ERR_LIMIT)
        blame(set, nowhere, DX__WORD__COUNT, "more memory than is allowed", (dx_text){0});
    return status;
}
