/* The usual text of a result: what linters have found, one message a line, or JSON. */
#include "systems/finecode/shared.h"

#include <inttypes.h>
#include <stdio.h>

static dx_status say(dx_buf *text, const char *words) {
    return dx_buf_append(text, words, strlen(words));
}

/* One line remains one line, and steers no terminal. */
static dx_status say_clean(dx_buf *text, dx_text words) {
    dx_status status = DX_OK;
    for (size_t i = 0, len; status == DX_OK && i < words.len; i += len ? len : 1) {
        unsigned char first = (unsigned char)words.at[i];
        len = dx__utf8(words.at + i, words.len - i);
        bool steers = !len || first < 0x20 || first == 0x7f ||
                      (first == 0xc2 && (unsigned char)words.at[i + 1] < 0xa0);
        status = steers ? say(text, " ") : dx_buf_append(text, words.at + i, len);
    }
    return status;
}

static dx_text severity(yyjson_val *message) {
    static const char *const names[] = {"error", "warning", "info", "hint"};
    yyjson_val *value = yyjson_obj_get(message, "severity");
    uint64_t number = yyjson_get_uint(value);
    if (yyjson_is_str(value))
        return dx_json_string(value);
    return number >= 1 && number <= 4 ? dx_str(names[number - 1]) : (dx_text){0};
}

/* Positions count from 0, as everywhere in the protocol; people count from 1. */
static dx_status say_place(dx_buf *text, yyjson_val *message) {
    yyjson_val *start = yyjson_obj_get(yyjson_obj_get(message, "range"), "start");
    yyjson_val *line = yyjson_obj_get(start, "line");
    yyjson_val *column = yyjson_obj_get(start, "character");
    char room[64] = ":";
    if (yyjson_is_uint(line) && yyjson_is_uint(column) && yyjson_get_uint(line) < UINT64_MAX &&
        yyjson_get_uint(column) < UINT64_MAX)
        (void)snprintf(room, sizeof room, ":%" PRIu64 ":%" PRIu64 ":", yyjson_get_uint(line) + 1,
                       yyjson_get_uint(column) + 1);
    return say(text, room);
}

static dx_status say_part(dx_buf *text, const char *before, dx_text part, const char *after) {
    if (!part.len)
        return DX_OK;
    dx_status status = say(text, before);
    if (status == DX_OK)
        status = say_clean(text, part);
    return status == DX_OK ? say(text, after) : status;
}

/* Not "<stdin>", and not a URI. */
static bool is_relative(dx_text file) {
    return file.len && file.at[0] != '/' && file.at[0] != '<' &&
           !memmem(file.at, file.len, "://", 3);
}

static dx_status say_file(dx_buf *text, const char *project, dx_text file) {
    dx_status status = text->len ? say(text, "\n") : DX_OK;
    if (status == DX_OK && project && is_relative(file))
        status = say_part(text, "", dx_str(project), "/");
    return status == DX_OK ? say_clean(text, file) : status;
}

static dx_status say_message(dx_buf *text, yyjson_val *message) {
    char code[32] = "";
    yyjson_val *number = yyjson_obj_get(message, "code");
    dx_text name = dx_json_string(number);
    if (yyjson_is_uint(number))
        (void)snprintf(code, sizeof code, "%" PRIu64, yyjson_get_uint(number));
    else if (yyjson_is_int(number))
        (void)snprintf(code, sizeof code, "%" PRId64, yyjson_get_sint(number));
    if (*code)
        name = dx_str(code);
    dx_status status = say_place(text, message);
    if (status == DX_OK)
        status = say_part(text, " ", severity(message), ":");
    if (status == DX_OK)
        status = say_part(text, " ", dx__finecode_string(message, "message"), "");
    if (status == DX_OK)
        status = say_part(text, " [", name, "]");
    return status == DX_OK ? say_part(text, " (", dx__finecode_string(message, "source"), ")")
                           : status;
}

static bool has_messages(yyjson_val *result) {
    yyjson_val *files = yyjson_obj_get(result, "messages");
    size_t index;
    size_t count;
    yyjson_val *file;
    yyjson_val *messages;
    if (!yyjson_is_obj(files))
        return false;
    yyjson_obj_foreach(files, index, count, file, messages) {
        (void)file;
        if (!yyjson_is_arr(messages))
            return false;
    }
    return true;
}

static dx_status say_messages(dx_buf *text, const char *project, yyjson_val *files) {
    size_t file_index;
    size_t file_count;
    yyjson_val *file;
    yyjson_val *messages;
    yyjson_obj_foreach(files, file_index, file_count, file, messages) {
        size_t index;
        size_t count;
        yyjson_val *message;
        yyjson_arr_foreach(messages, index, count, message) {
            dx_status status = say_file(text, project, dx_json_string(file));
            if (status == DX_OK)
                status = say_message(text, message);
            if (status != DX_OK)
                return status;
        }
    }
    return DX_OK;
}

static dx_status say_json(dx_buf *text, yyjson_val *value) {
    yyjson_alc alc = dx__finecode_alc(&text->alloc);
    yyjson_write_err error = {0};
    size_t len;
    char *json = yyjson_val_write_opts(value, YYJSON_WRITE_PRETTY_TWO_SPACES, &alc, &len, &error);
    if (!json)
        return error.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION ? DX_ERR_NOMEM : DX_ERR_INVALID;
    dx_status status = dx_buf_append(text, json, len);
    alc.free(alc.ctx, json);
    return status;
}

dx_status dx__finecode_format(yyjson_val *result, const char *project, dx_buf *text) {
    size_t before = text->len;
    if (!result)
        return DX_OK;
    dx_status status = has_messages(result)
                           ? say_messages(text, project, yyjson_obj_get(result, "messages"))
                           : say_json(text, result);
    if (status != DX_OK)
        text->len = before;
    return status;
}
