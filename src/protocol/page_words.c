#include "base/buf.h"
#include "protocol/page.h"

#include <duplex/rpc.h>

/* How deep words go into a schema, and how many of a list are named. */
enum { DEPTH_MAX = 4, NAMED_MAX = 12 };

void dx__page_put(dx__page *page, const char *text) {
    if (page->status == DX_OK)
        page->status = dx__buf_put(page->out, text, strlen(text));
}

void dx__page_num(dx__page *page, uint64_t number) {
    char digits[21];
    digits[dx__digits(number, digits)] = '\0';
    dx__page_put(page, digits);
}

static void put_char(dx__page *page, char c) {
    if (page->status == DX_OK)
        page->status = dx__buf_put(page->out, &c, 1);
}

void dx__page_text(dx__page *page, const char *text) {
    for (; text && *text; text++) {
        if (*text == '|' || *text == '<')
            put_char(page, '\\');
        put_char(page, *text == '\n' || *text == '\r' ? ' ' : *text);
    }
}

void dx__page_cell(dx__page *page, const char *text) {
    dx__page_put(page, " ");
    dx__page_text(page, text);
    dx__page_put(page, text && *text ? " |" : "|");
}

/* Between backquotes nothing but "|" means anything, and only in tables; a text with a backquote
 * gets two of them around it. */
static void put_code(dx__page *page, const char *text, size_t len) {
    bool quote = memchr(text, '`', len);
    dx__page_put(page, quote ? "`` " : "`");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '|')
            put_char(page, '\\');
        put_char(page, text[i] == '\n' || text[i] == '\r' ? ' ' : text[i]);
    }
    dx__page_put(page, quote ? " ``" : "`");
}

void dx__page_code(dx__page *page, const char *text) {
    put_code(page, text, strlen(text));
}

void dx__page_time(dx__page *page, uint64_t ms) {
    if (ms == DX_NEVER) {
        dx__page_put(page, "no limit");
        return;
    }
    uint64_t unit = ms % 60000 == 0 ? 60000 : ms % 1000 == 0 ? 1000 : 1;
    dx__page_num(page, ms / unit);
    dx__page_put(page, unit == 60000 ? " min" : unit == 1000 ? " s" : " ms");
}

void dx__page_json(dx__page *page, yyjson_val *value) {
    if (page->status == DX_OK)
        page->status = dx_json_write(page->out, dx_json_value(value));
}

void dx__page_value(dx__page *page, yyjson_val *value) {
    dx_buf text;
    dx_buf_init(&text, page->out->max, &page->protocol->alloc);
    if (page->status == DX_OK)
        page->status = dx_json_write(&text, dx_json_value(value));
    if (page->status == DX_OK)
        put_code(page, text.data, text.len);
    dx_buf_done(&text);
}

static void put_words(dx__page *page, yyjson_val *schema, unsigned depth);

static void separate(dx__page *page, size_t index, size_t count) {
    if (index)
        dx__page_put(page, index + 1 == count ? " or " : ", ");
}

static void put_values(dx__page *page, yyjson_val *list) {
    size_t count = yyjson_arr_size(list);
    size_t named = count > NAMED_MAX ? NAMED_MAX : count;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; i < named; i++) {
        separate(page, i, count);
        dx__page_value(page, yyjson_arr_iter_next(&iter));
    }
    if (named < count)
        dx__page_put(page, ", …");
}

static void put_choices(dx__page *page, yyjson_val *list, const char *word, unsigned depth) {
    size_t count = yyjson_arr_size(list);
    size_t named = count > NAMED_MAX ? NAMED_MAX : count;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (size_t i = 0; i < named; i++) {
        if (i)
            dx__page_put(page, i + 1 == count ? word : ", ");
        put_words(page, yyjson_arr_iter_next(&iter), depth);
    }
    if (named < count)
        dx__page_put(page, ", …");
}

/* ", at least 1", ", 0 to 9" */
static void put_bounds(dx__page *page, yyjson_val *schema) {
    yyjson_val *least = dx__get(schema, "minimum");
    yyjson_val *most = dx__get(schema, "maximum");
    if (!least && !most)
        return;
    dx__page_put(page, !most ? ", at least " : !least ? ", at most " : ", ");
    if (least)
        dx__page_json(page, least);
    if (least && most)
        dx__page_put(page, " to ");
    if (most)
        dx__page_json(page, most);
}

static void put_string(dx__page *page, yyjson_val *schema) {
    yyjson_val *pattern = dx__get(schema, "pattern");
    yyjson_val *format = dx__get(schema, "format");
    yyjson_val *least = dx__get(schema, "minLength");
    dx__page_put(page, "string");
    if (format) {
        dx__page_put(page, " (");
        dx__page_text(page, yyjson_get_str(format));
        dx__page_put(page, ")");
    }
    if (dx__integer(least) == 1)
        dx__page_put(page, ", not empty");
    if (pattern) {
        dx__page_put(page, " like ");
        dx__page_code(page, yyjson_is_str(pattern) ? yyjson_get_str(pattern) : "?");
    }
}

static void put_type(dx__page *page, yyjson_val *schema, yyjson_val *type, unsigned depth) {
    yyjson_val *more = dx__get(schema, "additionalProperties");
    yyjson_val *items = dx__get(schema, "items");
    if (yyjson_equals_str(type, "string")) {
        put_string(page, schema);
    } else if (yyjson_equals_str(type, "integer") || yyjson_equals_str(type, "number")) {
        dx__page_text(page, yyjson_get_str(type));
        put_bounds(page, schema);
    } else if (yyjson_equals_str(type, "array") && items) {
        dx__page_put(page, "array of ");
        put_words(page, items, depth + 1);
    } else if (yyjson_equals_str(type, "object") && yyjson_is_obj(more) &&
               !dx__get(schema, "properties")) {
        dx__page_put(page, "object of ");
        put_words(page, more, depth + 1);
    } else {
        dx__page_text(page, yyjson_is_str(type) ? yyjson_get_str(type) : "?");
    }
}

static void put_types(dx__page *page, yyjson_val *schema, yyjson_val *types, unsigned depth) {
    size_t count = yyjson_arr_size(types);
    yyjson_arr_iter iter = yyjson_arr_iter_with(types);
    for (size_t i = 0; i < count && i < NAMED_MAX; i++) {
        separate(page, i, count);
        put_type(page, schema, yyjson_arr_iter_next(&iter), depth);
    }
}

/* The name of a schema that is listed under Types. */
static void put_reference(dx__page *page, yyjson_val *reference) {
    static const char prefix[] = "#/components/schemas/";
    dx_text text = dx__text(reference);
    size_t skip = sizeof prefix - 1;
    if (text.at && text.len > skip && !memcmp(text.at, prefix, skip))
        put_code(page, text.at + skip, text.len - skip);
    else
        put_code(page, text.at ? text.at : "?", text.at ? text.len : 1);
}

static void put_words(dx__page *page, yyjson_val *schema, unsigned depth) {
    static const struct {
        const char *keyword;
        const char *word;
    } groups[] = {{"anyOf", " or "}, {"oneOf", " or "}, {"allOf", " and "}};
    yyjson_val *value;
    if (yyjson_is_bool(schema)) {
        dx__page_put(page, yyjson_get_bool(schema) ? "anything" : "nothing");
    } else if (depth == DEPTH_MAX) {
        dx__page_put(page, "…");
    } else if ((value = dx__get(schema, "$ref"))) {
        put_reference(page, value);
    } else if ((value = dx__get(schema, "const"))) {
        dx__page_value(page, value);
    } else if ((value = dx__get(schema, "enum"))) {
        put_values(page, value);
    } else if ((value = dx__get(schema, "type"))) {
        if (yyjson_is_arr(value))
            put_types(page, schema, value, depth);
        else
            put_type(page, schema, value, depth);
    } else {
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            if ((value = dx__get(schema, groups[i].keyword))) {
                put_choices(page, value, groups[i].word, depth + 1);
                return;
            }
        dx__page_put(page, "anything");
    }
}

void dx__page_schema(dx__page *page, yyjson_val *schema) {
    put_words(page, schema, 0);
}

static bool is_required(yyjson_val *schema, dx_text name) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(schema, "required"));
    for (yyjson_val *it; (it = yyjson_arr_iter_next(&iter));)
        if (dx__same(dx__text(it), name))
            return true;
    return false;
}

void dx__page_members(dx__page *page, yyjson_val *schema) {
    yyjson_val *properties = dx__get(schema, "properties");
    if (!yyjson_obj_size(properties))
        return;
    dx__page_put(page, "\n| member | type | required | |\n| --- | --- | --- | --- |\n");
    yyjson_obj_iter iter = yyjson_obj_iter_with(properties);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter));) {
        yyjson_val *member = yyjson_obj_iter_get_val(key);
        dx__page_put(page, "| ");
        dx__page_code(page, unsafe_yyjson_get_str(key));
        dx__page_put(page, " | ");
        dx__page_schema(page, member);
        dx__page_put(page, is_required(schema, dx__text_of(key)) ? " | yes |" : " | |");
        dx__page_cell(page, yyjson_get_str(dx__get(member, "description")));
        dx__page_put(page, "\n");
    }
}
