/* Texts that are changed by positions: lines, and UTF-16 units in them. */
#include "systems/finecode/shared.h"

#include <stdlib.h>

/* A text with a hole in it, where it was changed last: of many changes that are near each other
 * none moves all that is behind it. */
struct text {
    const char *at;
    size_t len;   /* without the hole */
    size_t hole;  /* how much stands before it */
    size_t width; /* of it */
};

static const char *bytes_at(const struct text *text, size_t at) {
    return text->at + (at < text->hole ? at : at + text->width);
}

/* A place in a text. It goes from one position to the next, so that any number of positions that
 * stand in their order, or in the other, cost one walk. */
#define UNKNOWN UINT64_MAX
struct walker {
    const struct text *text;
    size_t at;
    uint64_t line;
    uint64_t unit; /* UNKNOWN: behind the last one of the line */
};

typedef struct position {
    uint64_t line;
    uint64_t unit;
} position;

static bool is_one(const struct text *text, size_t at, char c) {
    return *bytes_at(text, at) == c;
}

static bool is_line_end(const struct text *text, size_t at) {
    return is_one(text, at, '\n') || is_one(text, at, '\r');
}

static void walk_line(struct walker *walker) {
    const struct text *text = walker->text;
    size_t at = walker->at;
    while (at < text->len && !is_line_end(text, at))
        at++;
    walker->at = at;
    if (at == text->len) {
        walker->unit = UNKNOWN;
        return;
    }
    bool two = is_one(text, at, '\r') && at + 1 < text->len && is_one(text, at + 1, '\n');
    walker->at = at + (two ? 2 : 1);
    walker->line++;
    walker->unit = 0;
}

/* A byte that is no character counts as one unit. A position inside of a surrogate pair is the one
 * before it. */
static void walk_unit(struct walker *walker, uint64_t unit) {
    const struct text *text = walker->text;
    while (walker->unit < unit && walker->at < text->len && !is_line_end(text, walker->at)) {
        size_t end = walker->at < text->hole ? text->hole : text->len;
        size_t len = dx__utf8(bytes_at(text, walker->at), end - walker->at);
        uint64_t units = len == 4 ? 2 : 1;
        if (walker->unit + units > unit)
            return;
        walker->unit += units;
        walker->at += len ? len : 1;
    }
}

/* To the beginning of a line that is not behind it. */
static void walk_back(struct walker *walker, uint64_t line) {
    const struct text *text = walker->text;
    for (;;) {
        while (walker->at && !is_line_end(text, walker->at - 1))
            walker->at--;
        if (walker->line == line)
            break;
        bool two = walker->at > 1 && is_one(text, walker->at - 1, '\n') &&
                   is_one(text, walker->at - 2, '\r');
        walker->at -= two ? 2 : 1;
        walker->line--;
    }
    walker->unit = 0;
}

static size_t walk(struct walker *walker, position to) {
    bool back = to.line < walker->line ||
                (to.line == walker->line && (to.unit < walker->unit || walker->unit == UNKNOWN));
    if (back && to.line < walker->line / 2)
        *walker = (struct walker){.text = walker->text};
    else if (back)
        walk_back(walker, to.line);
    while (walker->line < to.line && walker->at < walker->text->len)
        walk_line(walker);
    if (walker->line == to.line)
        walk_unit(walker, to.unit);
    return walker->at;
}

static dx_status read_position(yyjson_val *value, position *ret_position) {
    yyjson_val *line = yyjson_obj_get(value, "line");
    yyjson_val *unit = yyjson_obj_get(value, "character");
    if (!yyjson_is_uint(line) || !yyjson_is_uint(unit))
        return DX_MISFIT;
    *ret_position = (position){yyjson_get_uint(line), yyjson_get_uint(unit)};
    return DX_OK;
}

static bool is_before(position a, position b) {
    return a.line < b.line || (a.line == b.line && a.unit < b.unit);
}

static dx_status read_range(yyjson_val *value, position *ret_start, position *ret_end) {
    dx_status status = read_position(yyjson_obj_get(value, "start"), ret_start);
    if (status == DX_OK)
        status = read_position(yyjson_obj_get(value, "end"), ret_end);
    return status == DX_OK && is_before(*ret_end, *ret_start) ? DX_MISFIT : status;
}

static void move_hole(const dx_buf *buf, struct text *text, size_t to) {
    char *data = buf->data;
    if (to < text->hole)
        memmove(data + to + text->width, data + to, text->hole - to);
    else if (to > text->hole)
        memmove(data + text->hole, data + text->hole + text->width, to - text->hole);
    text->hole = to;
}

/* Room for so much in the hole. */
static dx_status widen_hole(dx_buf *buf, struct text *text, size_t width) {
    size_t rest = text->len - text->hole;
    if (width <= text->width)
        return DX_OK;
    buf->len = text->len + text->width;
    dx_status status = dx_buf_reserve(buf, width - text->width);
    if (status != DX_OK)
        return status;
    memmove(buf->data + buf->cap - rest, buf->data + text->hole + text->width, rest);
    text->at = buf->data;
    text->width = buf->cap - text->len;
    return DX_OK;
}

static dx_status splice(dx_buf *buf, struct text *text, size_t start, size_t end, dx_text with) {
    move_hole(buf, text, start);
    text->width += end - start;
    text->len -= end - start;
    dx_status status = widen_hole(buf, text, with.len);
    if (status != DX_OK || !with.len)
        return status;
    memcpy(buf->data + start, with.at, with.len);
    text->hole += with.len;
    text->width -= with.len;
    text->len += with.len;
    return DX_OK;
}

/* What stands before a change is as it was, and the walker stays there; but a CR there may have got
 * its LF only now. */
static void step_behind(struct walker *walker, const struct walker *start) {
    bool whole = start->at && is_one(walker->text, start->at - 1, '\r');
    *walker = whole ? (struct walker){.text = walker->text} : *start;
}

static dx_status change_one(dx_buf *buf, struct text *text, struct walker *walker,
                            yyjson_val *change) {
    yyjson_val *range = yyjson_obj_get(change, "range");
    yyjson_val *with = yyjson_obj_get(change, "text");
    dx_text new_text = dx_json_string(with);
    struct walker start_at = {.text = text};
    size_t to = text->len;
    if (!yyjson_is_str(with))
        return DX_MISFIT;
    if (range && !yyjson_is_null(range)) {
        position start;
        position end;
        if (read_range(range, &start, &end) != DX_OK)
            return DX_MISFIT;
        (void)walk(walker, start);
        start_at = *walker;
        to = walk(walker, end);
    }
    dx_status status = splice(buf, text, start_at.at, to, new_text);
    if (status == DX_OK)
        step_behind(walker, &start_at);
    return status;
}

static void swap_in(dx_buf *text, dx_buf *changed) {
    dx_buf old = *text;
    *text = *changed;
    dx_buf_done(&old);
}

dx_status dx__finecode_text_change(dx_buf *text, yyjson_val *changes) {
    if (!yyjson_is_arr(changes))
        return DX_MISFIT;
    dx_buf changed;
    dx_buf_init(&changed, text->max, &text->alloc);
    dx_status status = text->len ? dx_buf_append(&changed, text->data, text->len) : DX_OK;
    struct text with_hole = {changed.data, changed.len, changed.len, changed.cap - changed.len};
    struct walker walker = {.text = &with_hole};
    size_t index;
    size_t count;
    yyjson_val *change;
    yyjson_arr_foreach(changes, index, count, change) {
        if (status != DX_OK)
            break;
        status = change_one(&changed, &with_hole, &walker, change);
    }
    if (status == DX_OK) {
        move_hole(&changed, &with_hole, with_hole.len);
        changed.len = with_hole.len;
        swap_in(text, &changed);
    } else {
        dx_buf_done(&changed);
    }
    return status;
}

typedef struct edit {
    position start;
    position end;
    size_t index;
    dx_text with;
} edit;

static int by_start(const void *left, const void *right) {
    const edit *a = left;
    const edit *b = right;
    if (is_before(a->start, b->start))
        return -1;
    if (is_before(b->start, a->start))
        return 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static dx_status read_edits(yyjson_val *array, edit *edits) {
    size_t index;
    size_t count;
    yyjson_val *value;
    yyjson_arr_foreach(array, index, count, value) {
        yyjson_val *with = yyjson_obj_get(value, "newText");
        edit *to = &edits[index];
        *to = (edit){.index = index, .with = {yyjson_get_str(with), yyjson_get_len(with)}};
        if (!yyjson_is_str(with) ||
            read_range(yyjson_obj_get(value, "range"), &to->start, &to->end) != DX_OK)
            return DX_MISFIT;
    }
    /* Several that insert at one place stay in their order, one that replaces may follow them. */
    if (count)
        qsort(edits, count, sizeof *edits, by_start);
    for (size_t i = 1; i < count; i++)
        if (is_before(edits[i].start, edits[i - 1].end))
            return DX_MISFIT;
    return DX_OK;
}

static dx_status write_edits(dx_buf *to, dx_text text, const edit *edits, size_t count) {
    const struct text whole = {.at = text.at, .len = text.len};
    struct walker walker = {.text = &whole};
    size_t done = 0;
    dx_status status = DX_OK;
    for (size_t i = 0; status == DX_OK && i < count; i++) {
        size_t start = walk(&walker, edits[i].start);
        status = dx_buf_append(to, text.at + done, start - done);
        if (status == DX_OK)
            status = dx_buf_append(to, edits[i].with.at, edits[i].with.len);
        done = walk(&walker, edits[i].end);
    }
    return status == DX_OK ? dx_buf_append(to, text.at + done, text.len - done) : status;
}

dx_status dx__finecode_text_edit(dx_buf *text, yyjson_val *edits) {
    size_t count = yyjson_arr_size(edits);
    if (!yyjson_is_arr(edits))
        return DX_MISFIT;
    if (!count)
        return DX_OK;
    edit *list =
        count < SIZE_MAX / sizeof *list ? dx__malloc(&text->alloc, count * sizeof *list) : NULL;
    if (!list)
        return DX_ERR_NOMEM;
    dx_buf edited;
    dx_buf_init(&edited, text->max, &text->alloc);
    dx_status status = read_edits(edits, list);
    if (status == DX_OK)
        status =
            write_edits(&edited, (dx_text){text->data ? text->data : "", text->len}, list, count);
    if (status == DX_OK)
        swap_in(text, &edited);
    else
        dx_buf_done(&edited);
    dx__free(&text->alloc, list);
    return status;
}
