/* Values of a script with "${params.name}" and so on filled in. */
#include "cli/mock/task.h"

#include <stdlib.h>
#include <string.h>

static bool put(dx_buf *buf, dx_text text) {
    return dx_buf_append(buf, text.at, text.len) == DX_OK;
}

/* What is no UTF-8 can't be a JSON string. */
static bool put_string(dx_buf *json, dx_text text) {
    dx_status status = dx_json_write_string(json, text);
    return status == DX_ERR_INVALID ? put(json, dx_str("null")) : status == DX_OK;
}

/* "${NAME}" at the beginning of a text: its name; absent if there is none. */
static dx_text template_at(dx_text text) {
    if (text.len < 4 || memcmp(text.at, "${", 2) != 0)
        return dx_str(NULL);
    const char *end = memchr(text.at, '}', text.len);
    return end ? (dx_text){text.at + 2, (size_t)(end - text.at) - 2} : dx_str(NULL);
}

static bool starts(dx_text name, const char *root) {
    size_t len = strlen(root);
    return name.len >= len && memcmp(name.at, root, len) == 0 &&
           (name.len == len || name.at[len] == '.');
}

static const char *const roots[] = {"params", "id", "method", "count", "result", "error", NULL};

static bool has_path(const char *root) {
    return strcmp(root, "params") == 0 || strcmp(root, "result") == 0 || strcmp(root, "error") == 0;
}

static const char *name_flaw(dx_text name, char *room, size_t room_len) {
    int len = name.len < 60 ? (int)name.len : 60;
    if (name.len > 4 && memcmp(name.at, "env:", 4) == 0) {
        char variable[256];
        snprintf(variable, sizeof variable, "%.*s", (int)name.len - 4, name.at + 4);
        if (name.len - 4 < sizeof variable && getenv(variable))
            return NULL;
        snprintf(room, room_len, "the environment variable of ${%.*s} is not set", len, name.at);
        return room;
    }
    for (const char *const *root = roots; *root; root++)
        if (starts(name, *root) && (has_path(*root) || name.len == strlen(*root)))
            return NULL;
    snprintf(room, room_len, "unknown template ${%.*s}", len, name.at);
    return room;
}

const char *mock_template_flaw(dx_text string, char *room, size_t room_len) {
    while (string.len > 1) {
        size_t step = 1;
        if (string.len > 2 && memcmp(string.at, "$${", 3) == 0) {
            step = 3;
        } else if (memcmp(string.at, "${", 2) == 0) {
            dx_text name = template_at(string);
            if (!name.at) {
                snprintf(room, room_len,
                         "missing } of the template; write \"$${\" for a literal \"${\"");
                return room;
            }
            const char *flaw = name_flaw(name, room, room_len);
            if (flaw)
                return flaw;
            step = name.len + 3;
        }
        string.at += step;
        string.len -= step;
    }
    return NULL;
}

/* A value within another: ".name.0"; NULL: there is none. */
static yyjson_val *walk(yyjson_val *value, dx_text path) {
    while (value && path.len) {
        path.at++;
        path.len--;
        const char *dot = memchr(path.at, '.', path.len);
        size_t len = dot ? (size_t)(dot - path.at) : path.len;
        if (yyjson_is_arr(value)) {
            char number[24];
            char *end;
            snprintf(number, sizeof number, "%.*s", len < 20 ? (int)len : 20, path.at);
            unsigned long long index = strtoull(number, &end, 10);
            value = *number && !*end ? yyjson_arr_get(value, index) : NULL;
        } else {
            value = yyjson_obj_getn(value, path.at, len);
        }
        path.at += len;
        path.len -= len;
    }
    return value;
}

/* A part of what came, by its path, as JSON. */
static bool put_part(mock_message *message, dx_text path, dx_buf *json) {
    if (!path.len && message && message->body.at)
        return put(json, message->body);
    yyjson_val *value = message ? walk(mock_message_body(message), path) : NULL;
    if (!value)
        return put(json, dx_str("null"));
    size_t len;
    char *text = yyjson_val_write(value, 0, &len);
    bool good = text && put(json, (dx_text){text, len});
    free(text);
    return good;
}

static bool put_number(uint64_t number, dx_buf *json) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return put(json, dx_str(text));
}

/* What a template stands for, as JSON. */
static bool put_template(const struct mock_task *task, dx_text name, dx_buf *json) {
    mock_message *asked = task->about;
    mock_message *known = asked ? asked : task->answer;
    if (name.len > 4 && memcmp(name.at, "env:", 4) == 0) {
        char variable[256];
        snprintf(variable, sizeof variable, "%.*s", (int)name.len - 4, name.at + 4);
        return put_string(json, dx_str(getenv(variable)));
    }
    if (dx_text_is(name, "count"))
        return put_number(task->count, json);
    if (dx_text_is(name, "id"))
        return put(json, known && known->id.at ? known->id : dx_str("null"));
    if (dx_text_is(name, "method"))
        return known ? put_string(json, (dx_text){known->method, known->method_len})
                     : put(json, dx_str("null"));
    bool is_params = starts(name, "params");
    bool is_result = starts(name, "result");
    size_t root = is_params || is_result ? 6 : 5;
    mock_message *from = is_params ? asked : task->answer ? task->answer : asked;
    mock_kind kind = is_result ? MOCK_RESULT : MOCK_ERROR;
    bool fits = from && (is_params ? from->kind <= MOCK_NOTIFICATION : from->kind == kind);
    return put_part(fits ? from : NULL, (dx_text){name.at + root, name.len - root}, json);
}

/* The same within a longer string: a string as its characters, null as nothing. */
static bool put_characters(const struct mock_task *task, dx_text name, dx_buf *text) {
    dx_buf json;
    dx_buf_init(&json, 256 << 20, NULL);
    bool good = put_template(task, name, &json);
    dx_text value = {json.data, json.len};
    dx_text characters;
    size_t start = text->len;
    if (good && value.len && value.at[0] == '"') {
        good = dx_buf_reserve(text, value.len) == DX_OK;
        if (good && dx_rpc_string(value, text->data + start, &characters) == DX_OK)
            good = characters.at == text->data + start ? (text->len = start + characters.len, true)
                                                       : put(text, characters);
    } else if (good && !dx_text_is(value, "null")) {
        good = put(text, value);
    }
    dx_buf_done(&json);
    return good;
}

static dx_text string_of(yyjson_val *string) {
    return (dx_text){yyjson_get_str(string), yyjson_get_len(string)};
}

bool mock_expand_text(struct mock_task *task, yyjson_val *string, dx_buf *text) {
    dx_text left = string_of(string);
    bool good = true;
    while (good && left.len) {
        dx_text name = template_at(left);
        size_t step;
        if (left.len > 2 && memcmp(left.at, "$${", 3) == 0) {
            good = put(text, dx_str("${"));
            step = 3;
        } else if (name.at) {
            good = put_characters(task, name, text);
            step = name.len + 3;
        } else {
            const char *dollar = left.len > 1 ? memchr(left.at + 1, '$', left.len - 1) : NULL;
            step = dollar ? (size_t)(dollar - left.at) : left.len;
            good = put(text, (dx_text){left.at, step});
        }
        left.at += step;
        left.len -= step;
    }
    return good;
}

static bool expand_string(struct mock_task *task, yyjson_val *string, dx_buf *json) {
    dx_text text = string_of(string);
    dx_text name = template_at(text);
    if (name.at && name.len + 3 == text.len)
        return put_template(task, name, json);
    if (!memchr(text.at, '$', text.len))
        return dx_json_write_string(json, text) == DX_OK;
    dx_buf characters;
    dx_buf_init(&characters, 256 << 20, NULL);
    bool good = mock_expand_text(task, string, &characters) &&
                dx_json_write_string(json, (dx_text){characters.data ? characters.data : "",
                                                     characters.len}) == DX_OK;
    dx_buf_done(&characters);
    return good;
}

/* The script is not nested deeper than its reader allows. */
static bool expand_object(struct mock_task *task, yyjson_val *value, dx_buf *json) {
    bool good = put(json, dx_str("{"));
    size_t at;
    size_t max;
    yyjson_val *key;
    yyjson_val *member;
    yyjson_obj_foreach(value, at, max, key, member) {
        good = good && (!at || put(json, dx_str(","))) &&
               dx_json_write_string(json, string_of(key)) == DX_OK && put(json, dx_str(":")) &&
               mock_expand(task, member, json);
    }
    return good && put(json, dx_str("}"));
}

static bool expand_array(struct mock_task *task, yyjson_val *value, dx_buf *json) {
    bool good = put(json, dx_str("["));
    size_t at;
    size_t max;
    yyjson_val *item;
    yyjson_arr_foreach(value, at, max, item) {
        good = good && (!at || put(json, dx_str(","))) && mock_expand(task, item, json);
    }
    return good && put(json, dx_str("]"));
}

bool mock_expand(struct mock_task *task, yyjson_val *value, dx_buf *json) {
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_STR:
        return expand_string(task, value, json);
    case YYJSON_TYPE_OBJ:
        return expand_object(task, value, json);
    case YYJSON_TYPE_ARR:
        return expand_array(task, value, json);
    case YYJSON_TYPE_RAW:
        return put(json, (dx_text){yyjson_get_raw(value), yyjson_get_len(value)});
    case YYJSON_TYPE_BOOL:
        return put(json, dx_str(yyjson_get_bool(value) ? "true" : "false"));
    default:
        return put(json, dx_str("null"));
    }
}
