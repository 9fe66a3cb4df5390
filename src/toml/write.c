/* A tree as TOML: what stands in one line first, then what has a header. */
#include "base/alloc.h"
#include "toml/error.h"
#include "toml/writer.h"

static dx__toml_level *top(const dx__toml_writer *writer) {
    return &writer->levels[writer->count - 1];
}

/* A table of nothing but tables is named by their headers. */
static bool needs_header(const dx__toml_writer *writer, void *table) {
    dx__toml_level level = {.container = table};
    dx__toml_level_start(writer, &level);
    bool empty = true;
    for (; dx__toml_level_next(writer, &level); empty = false)
        if (!dx__toml_is_block(writer, level.value))
            return true;
    return empty;
}

/* The keys that lead to the level that is about to be pushed. */
static void put_header(dx__toml_writer *writer, bool item) {
    if (writer->buf->len > writer->start)
        DX__TOML_PUT(writer, "\n");
    dx__toml_put_text(writer, "[[", item ? 2 : 1);
    for (size_t i = 0; i < writer->count; i++) {
        if (writer->levels[i].shape != DX__TOML_TABLES)
            continue;
        if (i)
            DX__TOML_PUT(writer, ".");
        dx__toml_put_key(writer, dx__toml_text_of(writer->levels[i].key));
    }
    dx__toml_put_text(writer, "]]", item ? 2 : 1);
    DX__TOML_PUT(writer, "\n");
}

/* A value in a line: containers are opened only, and go on as a level. */
static void put_value(dx__toml_writer *writer, void *value) {
    if (unsafe_yyjson_is_arr(value)) {
        DX__TOML_PUT(writer, "[");
        dx__toml_level_push(writer, value, DX__TOML_ARRAY);
    } else if (unsafe_yyjson_is_obj(value)) {
        DX__TOML_PUT(writer, "{");
        dx__toml_level_push(writer, value, DX__TOML_INLINE_TABLE);
    } else {
        dx__toml_put_scalar(writer, value);
    }
}

static void put_name(dx__toml_writer *writer) {
    dx__toml_put_key(writer, dx__toml_text_of(top(writer)->key));
    DX__TOML_PUT(writer, " = ");
}

/* A level has ended: so has the line, if what it is in is a table and not a value itself. */
static void pop(dx__toml_writer *writer) {
    writer->count--;
    if (writer->count && top(writer)->shape == DX__TOML_VALUES)
        DX__TOML_PUT(writer, "\n");
}

static void next_value(dx__toml_writer *writer) {
    dx__toml_level *level = top(writer);
    if (!dx__toml_level_next(writer, level)) {
        level->shape = DX__TOML_TABLES;
        dx__toml_level_start(writer, level);
        return;
    }
    if (dx__toml_is_block(writer, level->value))
        return;
    size_t count = writer->count;
    put_name(writer);
    put_value(writer, level->value);
    if (writer->count == count)
        DX__TOML_PUT(writer, "\n");
}

static void next_table(dx__toml_writer *writer) {
    dx__toml_level *level = top(writer);
    if (!dx__toml_level_next(writer, level)) {
        pop(writer);
        return;
    }
    void *value = level->value;
    if (!dx__toml_is_block(writer, value))
        return;
    if (unsafe_yyjson_is_arr(value)) {
        dx__toml_level_push(writer, value, DX__TOML_ITEMS);
        return;
    }
    if (needs_header(writer, value))
        put_header(writer, false);
    dx__toml_level_push(writer, value, DX__TOML_VALUES);
}

static void next_item(dx__toml_writer *writer) {
    dx__toml_level *level = top(writer);
    if (!dx__toml_level_next(writer, level)) {
        pop(writer);
        return;
    }
    void *value = level->value;
    put_header(writer, true);
    dx__toml_level_push(writer, value, DX__TOML_VALUES);
}

static void next_inline(dx__toml_writer *writer) {
    dx__toml_level *level = top(writer);
    bool in_table = level->shape == DX__TOML_INLINE_TABLE;
    bool first = !level->value;
    if (!dx__toml_level_next(writer, level)) {
        if (in_table && !first)
            DX__TOML_PUT(writer, " ");
        dx__toml_put_text(writer, in_table ? "}" : "]", 1);
        pop(writer);
        return;
    }
    if (!first)
        DX__TOML_PUT(writer, ", ");
    else if (in_table)
        DX__TOML_PUT(writer, " ");
    if (in_table)
        put_name(writer);
    put_value(writer, level->value);
}

static void next(dx__toml_writer *writer) {
    switch (top(writer)->shape) {
    case DX__TOML_VALUES:
        next_value(writer);
        return;
    case DX__TOML_TABLES:
        next_table(writer);
        return;
    case DX__TOML_ITEMS:
        next_item(writer);
        return;
    default:
        next_inline(writer);
        return;
    }
}

static dx_status write(void *root, bool mut, unsigned flags, dx_buf *buf, dx_toml_error *reterr) {
    dx__toml_writer writer = {
        .buf = buf, .start = buf->len, .flags = flags, .mut = mut, .error = reterr};
    if (!root || !unsafe_yyjson_is_obj(root)) {
        dx__toml_error_plain(reterr, "the root is not an object");
        return DX_ERR_INVALID;
    }
    dx__toml_level_push(&writer, root, DX__TOML_VALUES);
    while (writer.status == DX_OK && writer.count)
        next(&writer);
    dx__free(&buf->alloc, writer.levels);
    if (writer.status != DX_OK)
        buf->len = writer.start;
    return writer.status;
}

dx_status dx_toml_write(const yyjson_val *root, unsigned flags, dx_buf *buf,
                        dx_toml_error *reterr) {
    return write((void *)(uintptr_t)root, false, flags, buf, reterr);
}

dx_status dx_toml_write_mut(const yyjson_mut_val *root, unsigned flags, dx_buf *buf,
                            dx_toml_error *reterr) {
    return write((void *)(uintptr_t)root, true, flags, buf, reterr);
}
