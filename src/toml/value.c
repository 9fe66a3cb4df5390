/* Values. Arrays and inline tables that are open lie on a stack of our own. */
#include "base/alloc.h"
#include "toml/reader.h"

struct dx__toml_frame {
    dx__toml_place place; /* where the next value goes */
    dx__toml_table table; /* an inline one */
    const char *opened;
    bool in_table;
    bool first;
};

static bool literal(dx__toml_reader *reader, const char *word, bool truth, yyjson_mut_val *value) {
    size_t len = strlen(word);
    if (dx__toml_left(reader) < len || memcmp(reader->at, word, len) != 0)
        return dx__toml_expected(reader, "a value");
    reader->at += len;
    yyjson_mut_set_bool(value, truth);
    return true;
}

static bool typed(dx__toml_reader *reader, yyjson_mut_val *value) {
    dx_text text;
    int c = dx__toml_peek(reader);
    switch (c) {
    case '"':
    case '\'':
        if (!dx__toml_string(reader, true, &text))
            return false;
        yyjson_mut_set_strn(value, text.at, text.len);
        return true;
    case 't':
        return literal(reader, "true", true, value);
    case 'f':
        return literal(reader, "false", false, value);
    case '+':
    case '-':
        return dx__toml_number(reader, value);
    default:
        if (dx__toml_is_digit(c))
            return dx__toml_is_time(reader) ? dx__toml_time(reader, value)
                                            : dx__toml_number(reader, value);
        if (dx__toml_left(reader) >= 3 &&
            (memcmp(reader->at, "inf", 3) == 0 || memcmp(reader->at, "nan", 3) == 0))
            return dx__toml_number(reader, value);
        return dx__toml_expected(reader, "a value");
    }
}

static bool scalar(dx__toml_reader *reader, yyjson_mut_val *value) {
    const char *from = reader->at;
    if (!typed(reader, value))
        return false;
    bool is_other = *from == '"' || *from == '\'' || *from == 't' || *from == 'f';
    if (reader->config.raw_numbers && !is_other)
        yyjson_mut_set_raw(value, from, (size_t)(reader->at - from));
    return true;
}

static bool reserve_frame(dx__toml_reader *reader, size_t count) {
    if (count < reader->frame_cap)
        return true;
    size_t cap = reader->frame_cap ? reader->frame_cap * 2 : 8;
    struct dx__toml_frame *frames = dx__realloc(
        &reader->alloc, reader->frames, reader->frame_cap * sizeof *frames, cap * sizeof *frames);
    if (!frames)
        return dx__toml_no_memory(reader);
    reader->frames = frames;
    reader->frame_cap = cap;
    return true;
}

/* At a bracket or a brace, which becomes the frame with that number. */
static bool enter(dx__toml_reader *reader, dx__toml_place place, yyjson_mut_val *value,
                  size_t count) {
    if (!dx__toml_deeper(reader, place.depth) || !reserve_frame(reader, count))
        return false;
    bool in_table = *reader->at == '{';
    struct dx__toml_frame *frame = &reader->frames[count];
    *frame = (struct dx__toml_frame){
        .place = {.in = value, .depth = place.depth + 1},
        .opened = reader->at++,
        .in_table = in_table,
        .first = true,
    };
    if (in_table) {
        dx__toml_table_init(reader, &frame->table, value, place.depth + 1, DX__TOML_INLINE);
    } else {
        yyjson_mut_set_arr(value);
    }
    return true;
}

/* In arrays, lines may end and comments stand between everything. */
static bool skip_lines(dx__toml_reader *reader) {
    do {
        dx__toml_space(reader);
        if (!dx__toml_comment(reader))
            return false;
    } while (dx__toml_newline(reader));
    return true;
}

static bool not_closed(dx__toml_reader *reader, const struct dx__toml_frame *frame) {
    if (reader->at == reader->end)
        return dx__toml_refuse(reader, frame->opened,
                               frame->in_table ? "the inline table is not closed"
                                               : "the array is not closed");
    return dx__toml_expected(reader, frame->in_table ? "',' or '}' in the inline table"
                                                     : "',' or ']' in the array");
}

/* Goes to where the next value of an array begins, or behind its end. */
static bool next_item(dx__toml_reader *reader, struct dx__toml_frame *frame, bool *ret_closed) {
    if (!skip_lines(reader))
        return false;
    if (!frame->first && dx__toml_peek(reader) != ']') {
        if (!dx__toml_take(reader, ','))
            return not_closed(reader, frame);
        if (!skip_lines(reader))
            return false;
    }
    frame->first = false;
    if (reader->at == reader->end)
        return not_closed(reader, frame);
    *ret_closed = dx__toml_take(reader, ']');
    return true;
}

/* An inline table stands in one line, and no comma stands before its end. */
static bool next_member(dx__toml_reader *reader, struct dx__toml_frame *frame, bool *ret_closed) {
    dx__toml_space(reader);
    *ret_closed = dx__toml_take(reader, '}');
    if (*ret_closed)
        return true;
    if (reader->at == reader->end || (!frame->first && !dx__toml_take(reader, ',')))
        return not_closed(reader, frame);
    frame->first = false;
    return dx__toml_assign(reader, &frame->table, &frame->place);
}

bool dx__toml_value(dx__toml_reader *reader, dx__toml_place place) {
    size_t count = 0;
    for (;;) {
        yyjson_mut_val *value = dx__toml_new(reader);
        if (!value)
            return false;
        int c = dx__toml_peek(reader);
        bool opens = c == '[' || c == '{';
        if (!(opens ? enter(reader, place, value, count) : scalar(reader, value)) ||
            !dx__toml_put(reader, place, value))
            return false;
        count += opens;
        bool closed = true;
        while (closed && count) {
            struct dx__toml_frame *frame = &reader->frames[count - 1];
            if (!(frame->in_table ? next_member : next_item)(reader, frame, &closed))
                return false;
            count -= closed;
        }
        if (!count)
            return true;
        place = reader->frames[count - 1].place;
    }
}
