/* What tools find. */
#include "systems/finecode/command/er/tools.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MAX = 100000 };

int severity_of(dx_text name) {
    static const struct {
        const char *name;
        int severity;
    } names[] = {
        {"error", MESSAGE_ERROR},         {"fatal error", MESSAGE_ERROR},
        {"warning", MESSAGE_WARNING},     {"style", MESSAGE_INFO},
        {"performance", MESSAGE_WARNING}, {"portability", MESSAGE_WARNING},
        {"information", MESSAGE_INFO},    {"info", MESSAGE_INFO},
        {"remark", MESSAGE_INFO},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (dx_text_is(name, names[i].name))
            return names[i].severity;
    return 0;
}

static const uint64_t hash_begin = 0xcbf29ce484222325;

static uint64_t mix(uint64_t hash, const void *bytes, size_t len) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * 0x100000001b3;
    return (hash ^ len) * 0x100000001b3;
}

uint64_t text_hash(const char *text, size_t len) {
    return mix(hash_begin, text, len);
}

static uint64_t hash_of(const struct message *message) {
    uint64_t hash = hash_begin;
    hash = mix(hash, message->path, strlen(message->path));
    hash = mix(hash, &message->line, sizeof message->line);
    hash = mix(hash, &message->column, sizeof message->column);
    hash = mix(hash, message->code.at, message->code.len);
    hash = mix(hash, message->text.at, message->text.len);
    return hash ? hash : 1;
}

static bool grow(struct messages *messages) {
    size_t room = messages->set_room ? 2 * messages->set_room : 1024;
    uint64_t *set = calloc(room, sizeof *set);
    if (!set)
        return false;
    for (size_t i = 0; i < messages->set_room; i++) {
        size_t at = messages->set[i] & (room - 1);
        while (messages->set[i] && set[at])
            at = (at + 1) & (room - 1);
        if (messages->set[i])
            set[at] = messages->set[i];
    }
    free(messages->set);
    messages->set = set;
    messages->set_room = room;
    return true;
}

/* A header is looked at as often as it is included. 1: it is new, 0: it is not, -1: no memory. */
static int note_down(struct messages *messages, const struct message *message) {
    uint64_t hash = hash_of(message);
    if (2 * (messages->count + 1) > messages->set_room && !grow(messages))
        return -1;
    size_t at = hash & (messages->set_room - 1);
    for (; messages->set[at]; at = (at + 1) & (messages->set_room - 1))
        if (messages->set[at] == hash)
            return 0;
    messages->set[at] = hash;
    messages->count++;
    return 1;
}

const char *messages_text(struct work *work, const char *path, size_t *ret_len) {
    struct messages *messages = &work->messages;
    if (!messages->path || strcmp(messages->path, path) != 0) {
        free(messages->path);
        free(messages->text);
        messages->list = NULL;
        messages->text = NULL;
        messages->text_len = 0;
        messages->path = strdup(path);
        if (dx_finecode_job_read(work->job, path, &messages->text, &messages->text_len, NULL) !=
            DX_OK)
            messages->text = NULL;
        place_begin(&messages->place, messages->text ? messages->text : "", messages->text_len);
    }
    *ret_len = messages->text_len;
    return messages->text;
}

yyjson_mut_val *clean_string(yyjson_mut_doc *doc, dx_text text) {
    char room[4096] = "";
    if (dx__is_utf8(text))
        return yyjson_mut_strncpy(doc, text.at, text.len);
    dx__say(room, sizeof room, text);
    return yyjson_mut_strcpy(doc, room);
}

static void put_position(yyjson_mut_doc *doc, yyjson_mut_val *range, const char *name, size_t line,
                         size_t character) {
    yyjson_mut_val *position = yyjson_mut_obj_add_obj(doc, range, name);
    yyjson_mut_obj_add_uint(doc, position, "line", line);
    yyjson_mut_obj_add_uint(doc, position, "character", character);
}

static void put_range(yyjson_mut_doc *doc, yyjson_mut_val *to, struct place *place,
                      const struct message *message) {
    yyjson_mut_val *range = yyjson_mut_obj_add_obj(doc, to, "range");
    place_to_line(place, message->line);
    size_t column = place_bytes(place, message->column, message->columns);
    put_position(doc, range, "start", message->line, place_units(place, column));
    size_t end = place_word_end(place, column);
    if (message->has_end) {
        place_to_line(place, message->end_line);
        end = place_bytes(place, message->end_column, message->columns);
    }
    put_position(doc, range, "end", message->has_end ? message->end_line : message->line,
                 place_units(place, end));
}

static yyjson_mut_val *list_of(const struct messages *messages, const char *path) {
    yyjson_mut_val *name = clean_string(messages->doc, dx_str(path));
    yyjson_mut_val *list = yyjson_mut_obj_get(messages->by_path, yyjson_mut_get_str(name));
    if (list)
        return list;
    list = yyjson_mut_arr(messages->doc);
    return yyjson_mut_obj_add(messages->by_path, name, list) ? list : NULL;
}

static bool put(struct work *work, const struct message *message) {
    struct messages *messages = &work->messages;
    size_t len;
    if (!messages->doc) {
        messages->doc = yyjson_mut_doc_new(NULL);
        messages->by_path = messages->doc ? yyjson_mut_obj(messages->doc) : NULL;
    }
    yyjson_mut_doc *doc = messages->doc;
    if (!messages->by_path)
        return false;
    messages_text(work, message->path, &len);
    if (!messages->list)
        messages->list = list_of(messages, message->path);
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, messages->list);
    put_range(doc, one, &messages->place, message);
    yyjson_mut_obj_add_val(doc, one, "message", clean_string(doc, message->text));
    yyjson_mut_obj_add_val(doc, one, "code", clean_string(doc, message->code));
    const char *program = work->tool->program ? work->tool->program : work->settings.program;
    const char *slash = strrchr(program, '/');
    yyjson_mut_obj_add_val(doc, one, "source",
                           clean_string(doc, dx_str(slash ? slash + 1 : program)));
    return yyjson_mut_obj_add_int(doc, one, "severity", message->severity);
}

void messages_add(struct work *work, const struct message *message) {
    if (work->why[0])
        return;
    if (work->messages.count >= MESSAGES_MAX) {
        work_fail(work, "it reported more than 100,000 findings");
        return;
    }
    int is_new = note_down(&work->messages, message);
    if (is_new < 0 || (is_new && !put(work, message)))
        work_fail(work, "out of memory");
}

void messages_done(struct messages *messages) {
    yyjson_mut_doc_free(messages->doc);
    free(messages->set);
    free(messages->path);
    free(messages->text);
    *messages = (struct messages){0};
}
