#include "systems/mcp/command/put.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80 };

dx_text member_of(yyjson_val *object, const char *key) {
    yyjson_val *value = yyjson_obj_get(object, key);
    return dx_json_string(value);
}

char *put_suggestion(char *near) {
    char *text = NULL;
    size_t best = near ? strcspn(near, ", ") : 0; /* others may follow */
    if (best && asprintf(&text, "did you mean '%.*s'?", (int)best, near) < 0)
        text = NULL;
    free(near);
    return text;
}

void put_spaces(FILE *out, size_t count) {
    fprintf(out, "%*s", (int)count, "");
}

/* Columns, as far as that can be known without tables: one for each character. */
static size_t columns_of(dx_text text) {
    size_t columns = 0;
    for (size_t i = 0; i < text.len; i++)
        columns += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return columns;
}

static dx_text next_line(dx_text *rest) {
    const char *end = memchr(rest->at, '\n', rest->len);
    dx_text line = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = line.len + (end != NULL);
    *rest = (dx_text){rest->at + used, rest->len - used};
    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    return line;
}

static dx_text next_word(dx_text *rest) {
    size_t from = 0;
    while (from < rest->len && (rest->at[from] == ' ' || rest->at[from] == '\t'))
        from++;
    size_t end = from;
    while (end < rest->len && rest->at[end] != ' ' && rest->at[end] != '\t')
        end++;
    dx_text word = {rest->at + from, end - from};
    *rest = (dx_text){rest->at + end, rest->len - end};
    return word;
}

static void put_line(FILE *out, dx_text line, size_t column, size_t indent) {
    bool first = true;
    for (dx_text word = next_word(&line); word.len; word = next_word(&line)) {
        size_t wide = columns_of(word);
        if (!first && column + 1 + wide > WIDTH) {
            putc('\n', out);
            put_spaces(out, indent);
            column = indent;
        } else if (!first) {
            putc(' ', out);
            column++;
        }
        cli_put_document(out, word);
        column += wide;
        first = false;
    }
    putc('\n', out);
}

void put_wrapped(FILE *out, dx_text text, size_t column, size_t indent) {
    while (text.len && strchr(" \t\r\n", text.at[text.len - 1]))
        text.len--;
    bool first = true;
    do {
        dx_text line = text.len ? next_line(&text) : text;
        if (!first && line.len)
            put_spaces(out, indent);
        put_line(out, line, first ? column : indent, indent);
        first = false;
    } while (text.len);
}

void put_lines(FILE *out, dx_text text, size_t indent) {
    while (text.len) {
        dx_text line = next_line(&text);
        if (line.len)
            put_spaces(out, indent);
        cli_put_document(out, line);
        putc('\n', out);
    }
}

void put_value(FILE *out, yyjson_val *value) {
    if (yyjson_is_str(value)) {
        cli_put_safe(out, yyjson_get_len(value) ? dx_json_string(value) : dx_str("\"\""));
        return;
    }
    size_t len;
    char *text = value ? yyjson_val_write(value, 0, &len) : NULL;
    if (text)
        cli_put_line(out, (dx_text){text, len});
    free(text);
}

bool size_of(yyjson_val *object, uint64_t *ret_size) {
    yyjson_val *size = yyjson_obj_get(object, "size");
    double number = yyjson_is_num(size) ? yyjson_get_num(size) : -1;
    if (!(number >= 0 && number < 0x1p63))
        return false;
    *ret_size = (uint64_t)number;
    return true;
}

void put_size(FILE *out, uint64_t size) {
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    double amount = (double)size / 1024;
    size_t unit = 0;
    if (size < 1024) {
        fprintf(out, "%u byte%s", (unsigned)size, size == 1 ? "" : "s");
        return;
    }
    while (amount >= 1024 && unit < 2) {
        amount /= 1024;
        unit++;
    }
    fprintf(out, "%.1f %s", amount, units[unit]);
}
