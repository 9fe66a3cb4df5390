/* Reading one file: the tool read_file, and resources. */
#include "systems/mcp/command/serve/files.h"

#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void files_fail(dx_mcp_work *work, dx_text path, const char *why) {
    char *text = NULL;
    int len = path.at && path.len ? asprintf(&text, "%.*s: %s",
                                             (int)(path.len < 4096 ? path.len : 4096), path.at, why)
                                  : asprintf(&text, "%s", why);
    bool good = len >= 0 && dx__is_utf8((dx_text){text, (size_t)len});
    dx_mcp_work_fail(work, dx_str(good ? text : why));
    if (len >= 0)
        free(text);
}

void files_answer(dx_mcp_work *work, yyjson_mut_doc *doc) {
    dx_mcp_work_structured(work, dx_json_built(yyjson_mut_doc_get_root(doc)));
    yyjson_mut_doc_free(doc);
    dx_mcp_work_done(work);
}

char *files_argument(struct files *files, dx_mcp_work *work, yyjson_val *value) {
    dx_text given = dx_json_string(value);
    char *path = NULL;
    const char *why = value ? folder_path(&files->folder, given, &path) : NULL;
    if (!value)
        path = strdup("");
    if (why || !path)
        files_fail(work, given, why ? why : "out of memory");
    return why ? NULL : path;
}

bool files_check_glob(dx_mcp_work *work, yyjson_val *glob) {
    size_t len = yyjson_get_len(glob);
    bool good = !glob || (len <= FILES_GLOB && strlen(yyjson_get_str(glob)) == len);
    if (!good)
        dx_mcp_work_fail(work, dx_str("a glob can have at most 256 bytes and no NUL byte"));
    return good;
}

size_t files_count(yyjson_val *value, size_t otherwise) {
    const double most = 1e15;
    double number = yyjson_get_num(value);
    if (!value)
        return otherwise;
    return (size_t)(number < 0 ? 0 : number < most ? number : most);
}

size_t files_json_size(dx_text text) {
    size_t size = text.len + 2;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\' || (c >= '\b' && c <= '\r' && c != '\v'))
            size += 1;
        else if (c < ' ')
            size += 5;
    }
    return size;
}

bool files_add(const struct files *files, yyjson_mut_val *list, yyjson_mut_val *item,
               size_t *used) {
    size_t len = 0;
    char *text = yyjson_mut_val_write(item, 0, &len);
    if (text)
        *used += len + files_json_size((dx_text){text, len});
    bool fits = text && *used <= files->answer_max;
    free(text);
    return fits && yyjson_mut_arr_append(list, item);
}

void files_add_path(const struct files *files, yyjson_mut_doc *doc, yyjson_mut_val *item,
                    const char *path) {
    bool is_clean = cli_add_text(doc, item, "path", dx_str(path));
    char *uri = is_clean ? NULL : folder_uri(&files->folder, path);
    if (uri)
        yyjson_mut_obj_add_strcpy(doc, item, "uri", uri);
    free(uri);
}

/* Lines [from, from + most) of a text. */
struct lines {
    dx_text text;
    size_t count;
    size_t total;
};

static struct lines cut_lines(dx_text text, size_t from, size_t most) {
    struct lines lines = {.text = {text.at + text.len, 0}};
    const char *end = text.at + text.len;
    for (const char *at = text.at; at < end; lines.total++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;
        if (lines.total >= from && lines.count < most) {
            if (lines.count++ == 0)
                lines.text.at = at;
            lines.text.len = (size_t)(next - lines.text.at);
        }
        at = next;
    }
    return lines;
}

static const char *find_binary(dx_text text) {
    if (memchr(text.at, '\0', text.len))
        return "it is a binary file; read it as a resource";
    return dx__is_utf8(text) ? NULL : "it is not valid UTF-8; read it as a resource";
}

/* What was not read, and how to read it. */
static void tell_rest(dx_mcp_work *work, struct lines lines, size_t from) {
    char text[160];
    size_t end = from + lines.count;
    if (lines.count && end < lines.total)
        snprintf(text, sizeof text,
                 "[Lines %zu to %zu of %zu. Read on with offset %zu, or set a larger limit.]",
                 from + 1, end, lines.total, end + 1);
    else if (!lines.count && from)
        snprintf(text, sizeof text, "[The file has %zu lines.]", lines.total);
    else
        return;
    dx_mcp_work_text(work, dx_str(text));
}

static void answer_lines(dx_mcp_work *work, const char *path, struct lines lines, size_t from) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    cli_add_text(doc, root, "path", dx_str(path));
    yyjson_mut_obj_add_uint(doc, root, "offset", from + 1);
    yyjson_mut_obj_add_uint(doc, root, "lines", lines.count);
    yyjson_mut_obj_add_uint(doc, root, "total", lines.total);
    yyjson_mut_obj_add_strn(doc, root, "text", lines.text.at, lines.text.len);
    dx_mcp_work_text(work, lines.text);
    tell_rest(work, lines, from);
    files_answer(work, doc);
}

/* NULL, or why so many lines cannot be sent, in `room`. */
static const char *check_size(const struct files *files, struct lines lines, size_t from,
                              char *room, size_t room_len) {
    size_t size = 2 * files_json_size(lines.text);
    if (size <= files->answer_max)
        return NULL;
    if (lines.count > 1)
        snprintf(room, room_len,
                 "lines %zu to %zu take %zu bytes in a response, the limit is %zu: read fewer at a"
                 " time with offset and limit",
                 from + 1, from + lines.count, size, files->answer_max);
    else
        snprintf(room, room_len,
                 "line %zu takes %zu bytes in a response, the limit is %zu (--max-size); read other"
                 " lines with offset and limit",
                 from + 1, size, files->answer_max);
    return room;
}

void files_read_tool(dx_mcp_work *work, yyjson_val *arguments, void *user) {
    struct files *files = user;
    yyjson_val *given = yyjson_obj_get(arguments, "path");
    size_t from = files_count(yyjson_obj_get(arguments, "offset"), 1) - 1;
    size_t most = files_count(yyjson_obj_get(arguments, "limit"), FILES_LINES);
    char room[200];
    char *text = NULL;
    size_t len = 0;
    char *path = files_argument(files, work, given);
    if (!path)
        return;
    const char *why = folder_read(&files->folder, path, room, sizeof room, &text, &len);
    struct lines lines = {.text = {NULL, 0}};
    if (!why)
        why = find_binary((dx_text){text, len});
    if (!why) {
        lines = cut_lines((dx_text){text, len}, from, most);
        why = check_size(files, lines, from, room, sizeof room);
    }
    if (why)
        files_fail(work, dx_str(path), why);
    else
        answer_lines(work, path, lines, from);
    free(text);
    free(path);
}

static void answer_resource(dx_mcp_work *work, dx_text uri, const char *path, dx_text content) {
    const char *mime = folder_mime_of(path, content);
    if (find_binary(content)) {
        dx_mcp_work_bytes(work, content, mime);
        dx_mcp_work_done(work);
        return;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_strn(doc, item, "uri", uri.at, uri.len);
    yyjson_mut_obj_add_str(doc, item, "mimeType", mime);
    yyjson_mut_obj_add_strn(doc, item, "text", content.at, content.len);
    dx_mcp_work_content(work, dx_json_built(item));
    yyjson_mut_doc_free(doc);
    dx_mcp_work_done(work);
}

/* NULL, or why it cannot be sent, in `room`. */
static const char *check_resource(const struct files *files, dx_text uri, dx_text content,
                                  char *room, size_t room_len) {
    bool binary = find_binary(content);
    size_t size = binary ? (content.len + 2) / 3 * 4 : files_json_size(content);
    size += files_json_size(uri);
    if (size <= files->answer_max)
        return NULL;
    snprintf(room, room_len, "it takes %zu bytes in a response, the limit is %zu (--max-size)%s",
             size, files->answer_max,
             binary ? "" : ": read parts of it with the tool read_file, offset and limit");
    return room;
}

/* What is not there, or not to be seen, or leads out, is all the same: there is no such resource.
 * What is there and can't be read says why. */
void files_read(dx_mcp_work *work, dx_text uri, yyjson_val *variables, void *user) {
    struct files *files = user;
    struct stat status;
    char room[200];
    char *path = NULL;
    char *text = NULL;
    size_t len = 0;
    (void)variables;
    if (folder_from_uri(&files->folder, uri, &path) ||
        folder_stat(&files->folder, path, &status) != 0 || !S_ISREG(status.st_mode)) {
        dx_mcp_work_no_resource(work, uri);
        free(path);
        return;
    }
    const char *why = folder_read(&files->folder, path, room, sizeof room, &text, &len);
    if (!why)
        why = check_resource(files, uri, (dx_text){text, len}, room, sizeof room);
    if (why)
        dx_mcp_work_refuse(work, DX_CODE_INTERNAL, dx_str(why), dx_json_none());
    else
        answer_resource(work, uri, path, (dx_text){text, len});
    free(text);
    free(path);
}
