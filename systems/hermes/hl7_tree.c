/* From the message to a tree, which json, yaml and toml share. */
#include "systems/hermes/hl7_parts.h"

#include <string.h>

/* A tree under way: the first failure sticks, and then nothing more is made. */
struct tree {
    const hl7_marks *marks;
    yyjson_mut_doc *doc;
    size_t left; /* values that may still be made */
    bool exact;
    bool nulls;
    dx_status status;
    hl7_numbers sorted; /* only for `exact` */
};

static yyjson_mut_val *made(struct tree *tree, yyjson_mut_val *value) {
    if (!value && tree->status == DX_OK)
        tree->status = DX_ERR_NOMEM;
    return value;
}

static bool may(struct tree *tree) {
    if (tree->status == DX_OK && !tree->left)
        tree->status = DX_ERR_LIMIT;
    if (tree->status != DX_OK)
        return false;
    tree->left--;
    return true;
}

static yyjson_mut_val *string(struct tree *tree, dx_text text) {
    return may(tree) ? made(tree, yyjson_mut_strn(tree->doc, text.at, text.len)) : NULL;
}

static yyjson_mut_val *object(struct tree *tree) {
    return may(tree) ? made(tree, yyjson_mut_obj(tree->doc)) : NULL;
}

static yyjson_mut_val *array(struct tree *tree) {
    return may(tree) ? made(tree, yyjson_mut_arr(tree->doc)) : NULL;
}

static yyjson_mut_val *nothing(struct tree *tree) {
    if (!tree->nulls)
        return string(tree, HL7_PIECE(""));
    return may(tree) ? made(tree, yyjson_mut_null(tree->doc)) : NULL;
}

/* A number as key, at most 20 digits. */
static yyjson_mut_val *number_key(struct tree *tree, size_t number) {
    char digits[20];
    char *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    size_t len = (size_t)(digits + sizeof digits - at);
    return may(tree) ? made(tree, yyjson_mut_strncpy(tree->doc, at, len)) : NULL;
}

static void add(struct tree *tree, yyjson_mut_val *to, size_t number, yyjson_mut_val *value) {
    yyjson_mut_val *key = value ? number_key(tree, number) : NULL;
    if (key)
        yyjson_mut_obj_add(to, key, value);
}

static bool has(dx_text text, char mark) {
    return mark && text.len && memchr(text.at, mark, text.len);
}

/* Cuts the next part off; false after the last one, and an empty text has one part. */
static bool next_part(dx_text *rest, char mark, dx_text *ret_part) {
    if (!rest->at)
        return false;
    const char *end = mark && rest->len ? memchr(rest->at, mark, rest->len) : NULL;
    *ret_part = (dx_text){rest->at, end ? (size_t)(end - rest->at) : rest->len};
    *rest = end ? (dx_text){end + 1, rest->len - ret_part->len - 1} : (dx_text){NULL, 0};
    return true;
}

/* The editor sorts the parts of a field by their keys as text: 1, 10, 2. */
static void sort_keys(struct tree *tree, yyjson_mut_val *parts) {
    tree->sorted.count = 0;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(parts);
    for (yyjson_mut_val *key; tree->status == DX_OK && (key = yyjson_mut_obj_iter_next(&iter));) {
        dx_text name = {yyjson_mut_get_str(key), yyjson_mut_get_len(key)};
        tree->status = hl7_numbers_add(&tree->sorted, 0, name, key);
    }
    if (tree->status != DX_OK)
        return;
    hl7_numbers_sort(&tree->sorted);
    yyjson_mut_obj_clear(parts);
    for (size_t i = 0; i < tree->sorted.count; i++) {
        yyjson_mut_val *key = tree->sorted.at[i].value;
        yyjson_mut_obj_add(parts, key, yyjson_mut_obj_iter_get_val(key));
    }
}

/* What an object of parts becomes when all are empty. */
static yyjson_mut_val *finish_parts(struct tree *tree, yyjson_mut_val *parts) {
    if (!tree->exact || tree->status != DX_OK)
        return parts;
    if (!yyjson_mut_obj_size(parts))
        return NULL;
    sort_keys(tree, parts);
    return parts;
}

static bool is_kept(const struct tree *tree, dx_text part, dx_text rest) {
    /* The last part is told even if it is empty: that keeps what stands before it. */
    return part.len || (!rest.at && !tree->exact);
}

static yyjson_mut_val *component(struct tree *tree, dx_text text) {
    if (!has(text, tree->marks->subcomponent))
        return string(tree, text);
    yyjson_mut_val *parts = object(tree);
    dx_text part;
    for (size_t n = 1; parts && next_part(&text, tree->marks->subcomponent, &part); n++)
        if (is_kept(tree, part, text))
            add(tree, parts, n, string(tree, part));
    return parts ? finish_parts(tree, parts) : NULL;
}

static yyjson_mut_val *repetition(struct tree *tree, dx_text text) {
    if (!has(text, tree->marks->component) && !has(text, tree->marks->subcomponent))
        return string(tree, text);
    yyjson_mut_val *parts = object(tree);
    dx_text part;
    for (size_t n = 1; parts && next_part(&text, tree->marks->component, &part); n++)
        if (is_kept(tree, part, text))
            add(tree, parts, n, component(tree, part));
    return parts ? finish_parts(tree, parts) : NULL;
}

static yyjson_mut_val *field(struct tree *tree, dx_text text) {
    if (!has(text, tree->marks->repetition))
        return repetition(tree, text);
    yyjson_mut_val *list = array(tree);
    dx_text part;
    while (list && next_part(&text, tree->marks->repetition, &part)) {
        yyjson_mut_val *value = part.len ? repetition(tree, part) : NULL;
        if (!value)
            value = nothing(tree);
        if (!value)
            return NULL;
        yyjson_mut_arr_append(list, value);
    }
    return list;
}

static yyjson_mut_val *fields(struct tree *tree, const hl7_segment *segment, dx_text name) {
    yyjson_mut_val *all = object(tree);
    dx_text part;
    dx_text rest = hl7_segment_text(segment);
    size_t number = 0;
    next_part(&rest, tree->marks->field, &part);
    if (dx_text_is(name, "MSH") && rest.at) {
        add(tree, all, 1, string(tree, (dx_text){segment->at + 3, 1}));
        next_part(&rest, tree->marks->field, &part);
        if (part.len)
            add(tree, all, 2, string(tree, part));
        number = 2;
    }
    while (all && tree->status == DX_OK && next_part(&rest, tree->marks->field, &part)) {
        number++;
        if (part.len)
            add(tree, all, number, field(tree, part));
    }
    return all;
}

static yyjson_mut_val *in_order(struct tree *tree, const dx_hl7 *hl7) {
    yyjson_mut_val *root = object(tree);
    yyjson_mut_val *list = array(tree);
    if (tree->status != DX_OK)
        return NULL;
    yyjson_mut_obj_add(root, yyjson_mut_str(tree->doc, "segments"), list);
    hl7_place place = {0, 0};
    for (hl7_segment *at; tree->status == DX_OK && (at = hl7_list_next(&hl7->list, &place));) {
        dx_text name = hl7_segment_name(at, tree->marks);
        yyjson_mut_val *segment = object(tree);
        yyjson_mut_val *keys[] = {string(tree, HL7_PIECE("segment")),
                                  string(tree, HL7_PIECE("fields"))};
        yyjson_mut_val *values[] = {string(tree, name), fields(tree, at, name)};
        if (tree->status != DX_OK)
            return NULL;
        yyjson_mut_obj_add(segment, keys[0], values[0]);
        yyjson_mut_obj_add(segment, keys[1], values[1]);
        yyjson_mut_arr_append(list, segment);
    }
    return root;
}

/* One member of the root: an object, or an array if there are several segments of that name. */
static yyjson_mut_val *group(struct tree *tree, const hl7_numbered *from, size_t count) {
    if (count == 1)
        return from->value;
    yyjson_mut_val *list = array(tree);
    for (size_t i = 0; list && i < count; i++)
        yyjson_mut_arr_append(list, from[i].value);
    return list;
}

/* Groups what has one name, in the order of the first of each. */
static void by_name(struct tree *tree, hl7_numbers *all, hl7_numbers *groups) {
    hl7_numbers_sort(all);
    for (size_t i = 0, count; tree->status == DX_OK && i < all->count; i += count) {
        const hl7_numbered *from = &all->at[i];
        for (count = 1; i + count < all->count; count++) {
            const hl7_numbered *other = &all->at[i + count];
            if (other->name.len != from->name.len ||
                memcmp(other->name.at, from->name.at, from->name.len) != 0)
                break;
        }
        yyjson_mut_val *value = group(tree, from, count);
        if (tree->status == DX_OK)
            tree->status = hl7_numbers_add(groups, from->order, from->name, value);
    }
    hl7_numbers_sort(groups);
}

static yyjson_mut_val *by_keys(struct tree *tree, const dx_hl7 *hl7) {
    hl7_numbers all = {.alloc = hl7->alloc};
    hl7_numbers groups = {.alloc = hl7->alloc};
    yyjson_mut_val *root = object(tree);
    hl7_place place = {0, 0};
    for (hl7_segment *at; tree->status == DX_OK && (at = hl7_list_next(&hl7->list, &place));) {
        dx_text name = hl7_segment_name(at, tree->marks);
        yyjson_mut_val *value = fields(tree, at, name);
        if (tree->status == DX_OK)
            tree->status = hl7_numbers_add(&all, 0, name, value);
    }
    if (tree->status == DX_OK)
        by_name(tree, &all, &groups);
    for (size_t i = 0; tree->status == DX_OK && i < groups.count; i++) {
        yyjson_mut_val *key = string(tree, groups.at[i].name);
        if (key)
            yyjson_mut_obj_add(root, key, groups.at[i].value);
    }
    hl7_numbers_done(&all);
    hl7_numbers_done(&groups);
    return root;
}

dx_status hl7_tree(const dx_hl7 *hl7, dx_hl7_shape shape, dx_hl7_format format, size_t most,
                   yyjson_mut_doc *doc) {
    struct tree tree = {.marks = &hl7->marks,
                        .doc = doc,
                        .left = most,
                        .exact = hl7->exact,
                        .nulls = format != DX_HL7_TOML || hl7->exact,
                        .sorted = {.alloc = hl7->alloc}};
    yyjson_mut_val *root = shape == DX_HL7_KEYS ? by_keys(&tree, hl7) : in_order(&tree, hl7);
    hl7_numbers_done(&tree.sorted);
    if (tree.status == DX_OK)
        yyjson_mut_doc_set_root(doc, root);
    return tree.status;
}
