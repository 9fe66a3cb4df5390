#include "protocol/load.h"

/* A name as long as paths can be would leave no room for what is wrong. */
enum { FILE_ROOM = 128 };

/* Where a value stands, from a value that holds it. */
static void write_path(dx__line *line, yyjson_val *root, yyjson_val *value) {
    dx__document document = {.root = root};
    dx__resource resource = {.document = &document};
    char path[DX__PATH_ROOM];
    dx__place_write((dx__place){value, &resource}, DX__WORD__COUNT, NULL, path, sizeof path);
    dx__line_str(line, path + 1); /* without the "#" */
}

/* The item or member in which a value lies, or which it is; NULL: it is the container itself. The
 * values of a document are in one row. */
static yyjson_val *child_with(yyjson_val *container, yyjson_val *value, dx_text *ret_name,
                              size_t *ret_index) {
    if (!yyjson_is_ctn(container))
        return NULL;
    bool map = yyjson_is_obj(container);
    yyjson_val *at = unsafe_yyjson_get_first(container);
    size_t count = unsafe_yyjson_get_len(container);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *child = at + map;
        yyjson_val *next = unsafe_yyjson_get_next(child);
        if (child <= value && value < next) {
            *ret_name = map ? dx__text_of(at) : (dx_text){0};
            *ret_index = i;
            return child;
        }
        at = next;
    }
    return NULL;
}

/* A part of the whole document, and the same where it was written. */
struct part {
    const dx__source *source;
    yyjson_val *there;
    yyjson_val *here;
};

static yyjson_val *method_named(const dx__source *source, dx_text name) {
    yyjson_arr_iter iter = yyjson_arr_iter_with(dx__get(source->root, "methods"));
    for (yyjson_val *method; (method = yyjson_arr_iter_next(&iter));)
        if (dx__same(dx__text(dx__get(method, "name")), name))
            return method;
    return NULL;
}

static yyjson_val *component_named(const dx__source *source, dx_text kind, dx_text name) {
    yyjson_val *group = yyjson_obj_getn(dx__get(source->root, "components"), kind.at, kind.len);
    return yyjson_obj_getn(group, name.at, name.len);
}

/* Errata are added behind those of what is extended. */
static yyjson_val *erratum_at(const dx__source *source, size_t index) {
    for (const dx__source *it = source->extended; it; it = it->extended) {
        size_t count = yyjson_arr_size(dx__get(it->duplex, "errata"));
        if (index < count)
            return NULL;
        index -= count;
    }
    return yyjson_arr_get(dx__get(source->duplex, "errata"), index);
}

static struct part find_part(const dx__load *load, yyjson_val *value) {
    yyjson_val *root = load->protocol->root;
    struct part part = {load->first, load->first->root, root};
    dx_text first;
    dx_text second = {0};
    dx_text third = {0};
    size_t index = 0;
    yyjson_val *group = child_with(root, value, &first, &index);
    yyjson_val *child = group ? child_with(group, value, &second, &index) : NULL;
    if (!child)
        return part;
    bool is_method = dx_text_is(first, "methods");
    bool is_erratum = dx_text_is(first, "x-duplex") && dx_text_is(second, "errata");
    if (dx_text_is(first, "components") || is_erratum)
        child = child_with(child, value, &third, &index);
    dx_text name = is_method ? dx__text(dx__get(child, "name")) : second;
    for (const dx__source *it = load->first; it && child; it = it->extended) {
        yyjson_val *there = is_method                         ? method_named(it, name)
                            : is_erratum                      ? erratum_at(it, index)
                            : dx_text_is(first, "components") ? component_named(it, second, third)
                            : dx_text_is(first, "x-duplex")
                                ? yyjson_obj_getn(it->duplex, second.at, second.len)
                                : NULL;
        if (there)
            return (struct part){it, there, child};
    }
    return part;
}

static const dx__source *source_with(const dx__load *load, yyjson_val *value) {
    for (const dx__source *it = load->first; it; it = it->extended)
        if (value >= it->root && value < it->root + yyjson_doc_get_val_count(it->doc))
            return it;
    return NULL;
}

dx__line dx__flaw_in(dx__load *load, dx_text file) {
    load->why->instance[0] = load->why->schema[0] = load->why->keyword[0] = '\0';
    dx__line line = dx__line_on(load->why->phrase, sizeof load->why->phrase);
    char name[FILE_ROOM];
    dx__path_cut(file.at ? file.at : "", file.len, name, sizeof name);
    dx__line_str(&line, name);
    return line;
}

dx__line dx__flaw_at(dx__load *load, yyjson_val *place) {
    const dx__source *source = source_with(load, place);
    struct part part = {source, NULL, NULL};
    if (!source)
        part = find_part(load, place);
    char path[2 * DX__PATH_ROOM];
    dx__line pointer = dx__line_on(path, sizeof path);
    if (source) {
        write_path(&pointer, source->root, place);
    } else {
        write_path(&pointer, part.source->root, part.there);
        write_path(&pointer, part.here, place);
    }
    load->blamed = source ? NULL : part.source;
    dx__line line = dx__flaw_in(load, part.source->file);
    dx__path_cut(path, pointer.len, load->why->instance, sizeof load->why->instance);
    dx__line_str(&line, ": ");
    if (pointer.len) {
        dx__line_str(&line, load->why->instance);
        dx__line_str(&line, ": ");
    }
    return line;
}

dx_status dx__flaw(dx__load *load, yyjson_val *place, const char *what) {
    dx__line line = dx__flaw_at(load, place);
    dx__line_str(&line, what);
    return DX_ERR_INVALID;
}

dx_status dx__flaw_named(dx__load *load, yyjson_val *place, const char *before, dx_text name,
                         const char *after) {
    enum { NAME_MAX_BYTES = 80 };
    dx__line line = dx__flaw_at(load, place);
    dx__line_str(&line, before);
    dx__line_quote(&line, name, NAME_MAX_BYTES);
    dx__line_str(&line, after);
    return DX_ERR_INVALID;
}
