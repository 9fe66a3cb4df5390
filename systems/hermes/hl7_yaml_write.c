#include "systems/hermes/hl7_parts.h"

#include <string.h>
#include <yaml.h>

/* Deeper than any message: see hl7_tree.c. */
enum { DEPTH_MAX = 8 };

struct writer {
    yaml_emitter_t emitter;
    dx_buf *out;
    dx_status status;
    bool bare;
};

static int append(void *data, unsigned char *bytes, size_t len) {
    struct writer *writer = data;
    if (writer->status == DX_OK)
        writer->status = dx_buf_append(writer->out, bytes, len);
    return writer->status == DX_OK;
}

/* Hands an event over, which libyaml then owns whether it can do anything with it or not. */
static void emit(struct writer *writer, yaml_event_t *event, int made) {
    if (writer->status != DX_OK) {
        if (made)
            yaml_event_delete(event);
    } else if (!made) {
        writer->status = DX_ERR_NOMEM;
    } else if (!yaml_emitter_emit(&writer->emitter, event) && writer->status == DX_OK) {
        writer->status = writer->emitter.error == YAML_MEMORY_ERROR ? DX_ERR_NOMEM : DX_ERR_INVALID;
    }
}

static bool is_letter(char c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Words that some reader of YAML takes for something else. */
static bool is_word_of_yaml(dx_text text) {
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t at = 0;
        while (at < text.len && words[i][at] && (text.at[at] | 0x20) == words[i][at])
            at++;
        if (at == text.len && !words[i][at])
            return true;
    }
    return false;
}

/* A text that nobody can take for anything but a string: the rest gets quotes. */
static bool is_plain(dx_text text) {
    if (!text.len || !is_letter(text.at[0]) || text.at[text.len - 1] == ' ' ||
        is_word_of_yaml(text))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (!is_letter(c) && !is_digit(c) && c != '_' && c != '.' && c != '-' && c != '/' &&
            c != ' ')
            return false;
    }
    return true;
}

static bool is_number(dx_text text) {
    for (size_t i = 0; i < text.len; i++)
        if (!is_digit(text.at[i]))
            return false;
    return text.len > 0;
}

static void scalar(struct writer *writer, yyjson_mut_val *value, bool key) {
    dx_text text = {yyjson_mut_get_str(value), yyjson_mut_get_len(value)};
    bool null = yyjson_mut_is_null(value);
    if (null)
        text = HL7_PIECE("null");
    bool plain = null || is_plain(text) || (key && writer->bare && is_number(text));
    yaml_event_t event;
    /* It can't be told from a lack of memory, but the other reason is text that is not UTF-8. */
    int made = yaml_scalar_event_initialize(
        &event, NULL, NULL, (const yaml_char_t *)text.at, (int)text.len, 1, 1,
        plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    emit(writer, &event, made);
}

static void begin(struct writer *writer, yyjson_mut_val *value) {
    yaml_event_t event;
    int made =
        yyjson_mut_is_arr(value)
            ? yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE)
            : yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
    emit(writer, &event, made);
}

static void end(struct writer *writer, yyjson_mut_val *value) {
    yaml_event_t event;
    int made = yyjson_mut_is_arr(value) ? yaml_sequence_end_event_initialize(&event)
                                        : yaml_mapping_end_event_initialize(&event);
    emit(writer, &event, made);
}

struct level {
    yyjson_mut_val *value;
    yyjson_mut_obj_iter members;
    yyjson_mut_arr_iter items;
};

static yyjson_mut_val *next(struct writer *writer, struct level *level) {
    if (yyjson_mut_is_arr(level->value))
        return yyjson_mut_arr_iter_next(&level->items);
    yyjson_mut_val *key = yyjson_mut_obj_iter_next(&level->members);
    if (!key)
        return NULL;
    scalar(writer, key, true);
    return yyjson_mut_obj_iter_get_val(key);
}

static void walk(struct writer *writer, yyjson_mut_val *root) {
    struct level levels[DEPTH_MAX];
    size_t depth = 0;
    yyjson_mut_val *value = root;
    while (writer->status == DX_OK) {
        if (value && yyjson_mut_is_ctn(value)) {
            if (depth == DEPTH_MAX) {
                writer->status = DX_ERR_INVALID;
                return;
            }
            begin(writer, value);
            levels[depth++] = (struct level){.value = value,
                                             .members = yyjson_mut_obj_iter_with(value),
                                             .items = yyjson_mut_arr_iter_with(value)};
        } else if (value) {
            scalar(writer, value, false);
        } else {
            end(writer, levels[--depth].value);
        }
        if (!depth)
            return;
        value = next(writer, &levels[depth - 1]);
    }
}

/* libyaml says "no memory" for text that is not UTF-8; our own JSON writer knows better. */
static dx_status look(yyjson_mut_doc *doc, dx_error *reterr) {
    size_t len;
    yyjson_write_err error;
    char *text = yyjson_mut_write_opts(doc, 0, &doc->alc, &len, &error);
    if (text) {
        doc->alc.free(doc->alc.ctx, text);
        return DX_OK;
    }
    return error.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION
               ? DX_ERR_NOMEM
               : hl7_misfit(reterr, "yaml", "Failed to serialise to YAML: ", dx_str(error.msg));
}

dx_status hl7_yaml_write(yyjson_mut_doc *doc, bool bare, dx_buf *out, dx_error *reterr) {
    dx_status status = look(doc, reterr);
    if (status != DX_OK)
        return status;
    struct writer writer = {.out = out, .bare = bare};
    size_t start = out->len;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&writer.emitter))
        return DX_ERR_NOMEM;
    yaml_emitter_set_output(&writer.emitter, append, &writer);
    yaml_emitter_set_unicode(&writer.emitter, 1);
    yaml_emitter_set_width(&writer.emitter, -1);
    emit(&writer, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&writer, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    walk(&writer, yyjson_mut_doc_get_root(doc));
    emit(&writer, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&writer, &event, yaml_stream_end_event_initialize(&event));
    if (writer.status == DX_OK && !yaml_emitter_flush(&writer.emitter) && writer.status == DX_OK)
        writer.status = DX_ERR_NOMEM;
    yaml_emitter_delete(&writer.emitter);
    if (writer.status != DX_OK)
        out->len = start;
    return writer.status;
}
