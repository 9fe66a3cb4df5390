/* What extensions want fields to look like (initialize.result.schema), laid over each other. The
 * result is an override itself: absent leaves what the embedder has there, null takes it away. */
#include "systems/hermes/hermes_parts.h"

#include <string.h>

/* One override of one extension. */
struct entry {
    dx_text segment;
    uint64_t field;
    uint64_t component; /* 0: it is about the field */
    size_t order;
    size_t guest;
    yyjson_val *members;
};

struct entries {
    struct entry *at;
    size_t count;
    size_t cap;
    bool exact;
};

static const char *const members[] = {"name",      "group",       "note",     "pattern",
                                      "datatype",  "placeholder", "template", "required",
                                      "minlength", "maxlength",   "values"};
enum { MEMBERS = sizeof members / sizeof *members, FIRST = 32 };

static dx_status add(struct entries *entries, const dx_allocator *alloc,
                     const struct entry *entry) {
    if (entries->count == entries->cap) {
        size_t cap = entries->cap ? entries->cap * 2 : FIRST;
        struct entry *at =
            dx__realloc(alloc, entries->at, entries->cap * sizeof *at, cap * sizeof *at);
        if (!at)
            return DX_ERR_NOMEM;
        entries->at = at;
        entries->cap = cap;
    }
    entries->at[entries->count] = *entry;
    entries->at[entries->count].order = entries->count;
    entries->count++;
    return DX_OK;
}

/* The real editor looks at the lowest byte only (H44). */
static uint64_t number_of(const struct entries *entries, yyjson_val *value) {
    uint64_t number =
        yyjson_is_uint(value) ? yyjson_get_uint(value) : (uint64_t)yyjson_get_num(value);
    return entries->exact ? number & 0xff : number;
}

static dx_status collect_segment(struct entries *entries, const dx_allocator *alloc, size_t guest,
                                 dx_text segment, yyjson_val *fields) {
    dx_status status = DX_OK;
    yyjson_val *field;
    size_t i;
    size_t count;
    yyjson_arr_foreach(fields, i, count, field) {
        struct entry entry = {
            .segment = segment,
            .field = number_of(entries, yyjson_obj_get(field, "field")),
            .component = number_of(entries, yyjson_obj_get(field, "component")),
            .guest = guest,
            .members = field,
        };
        if (status == DX_OK)
            status = add(entries, alloc, &entry);
    }
    return status;
}

static dx_status collect(struct entries *entries, const dx_hermes *editor) {
    dx_status status = DX_OK;
    for (size_t i = 0; i < editor->guest_count; i++) {
        const dx_hermes_guest *guest = editor->guests[i];
        yyjson_val *schema = yyjson_obj_get(dx_hermes_guest_facts(guest), "schema");
        yyjson_val *segments = yyjson_obj_get(schema, "segments");
        yyjson_val *name;
        size_t at;
        size_t count;
        yyjson_val *segment;
        if (guest->state != DX_HERMES_RUNNING)
            continue;
        yyjson_obj_foreach(segments, at, count, name, segment) {
            if (status == DX_OK)
                status = collect_segment(entries, &editor->alloc, i, dx_json_string(name),
                                         yyjson_obj_get(segment, "fields"));
        }
    }
    return status;
}

static int compare_segments(const struct entry *a, const struct entry *b) {
    size_t len = a->segment.len < b->segment.len ? a->segment.len : b->segment.len;
    int sign = len ? memcmp(a->segment.at, b->segment.at, len) : 0;
    return sign ? sign : (a->segment.len > b->segment.len) - (a->segment.len < b->segment.len);
}

static int compare(const struct entry *a, const struct entry *b) {
    int sign = compare_segments(a, b);
    if (!sign)
        sign = (a->field > b->field) - (a->field < b->field);
    if (!sign)
        sign = (a->component > b->component) - (a->component < b->component);
    return sign ? sign : (a->order > b->order) - (a->order < b->order);
}

/* Sorting in place: qsort() may ask for memory by itself. */

static void sift(struct entry *at, size_t root, size_t count) {
    struct entry moved = at[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare(&at[child], &at[child + 1]) < 0)
            child++;
        if (compare(&moved, &at[child]) >= 0)
            break;
        at[root] = at[child];
    }
    at[root] = moved;
}

static void sort(struct entry *at, size_t count) {
    for (size_t i = count / 2; i-- > 0;)
        sift(at, i, count);
    while (count > 1) {
        struct entry last = at[--count];
        at[count] = at[0];
        at[0] = last;
        sift(at, 0, count);
    }
}

static bool is_same(const struct entry *a, const struct entry *b) {
    return compare_segments(a, b) == 0 && a->field == b->field && a->component == b->component;
}

/* Does that value count? */
static bool counts(const struct entries *entries, const char *member, yyjson_val *value,
                   bool is_last) {
    if (!value)
        return false;
    if (yyjson_is_null(value))
        return !entries->exact || (strcmp(member, "name") != 0 && is_last); /* H46 */
    return strcmp(member, "datatype") != 0 || yyjson_equals_str(value, "date") ||
           yyjson_equals_str(value, "datetime"); /* H45 */
}

static yyjson_mut_val *copy(const struct entries *entries, yyjson_mut_doc *doc, const char *member,
                            yyjson_val *value) {
    bool is_length = strcmp(member, "minlength") == 0 || strcmp(member, "maxlength") == 0;
    if (entries->exact && is_length && yyjson_get_num(value) > UINT16_MAX)
        return yyjson_mut_uint(doc, UINT16_MAX); /* H44 */
    return yyjson_val_mut_copy(doc, value);
}

/* Those from `from` to `to` are about one place: of each member, the last that says anything. */
static yyjson_mut_val *lay_over(const struct entries *entries, size_t from, size_t to,
                                size_t last_guest, yyjson_mut_doc *doc) {
    yyjson_mut_val *field = yyjson_mut_obj(doc);
    const struct entry *first = &entries->at[from];
    bool ok = field && yyjson_mut_obj_add_uint(doc, field, "field", first->field);
    if (first->component)
        ok = ok && yyjson_mut_obj_add_uint(doc, field, "component", first->component);
    for (size_t i = 0; i < MEMBERS; i++) {
        yyjson_val *value = NULL;
        for (size_t at = from; at < to; at++) {
            yyjson_val *found = yyjson_obj_get(entries->at[at].members, members[i]);
            if (counts(entries, members[i], found, entries->at[at].guest == last_guest))
                value = found;
        }
        yyjson_mut_val *copied = value ? copy(entries, doc, members[i], value) : NULL;
        if (value)
            ok = ok && copied && yyjson_mut_obj_add_val(doc, field, members[i], copied);
    }
    return ok ? field : NULL;
}

/* All of one segment, from `from` to `to`. */
static bool add_segment(const struct entries *entries, size_t from, size_t to, yyjson_mut_doc *doc,
                        yyjson_mut_val *segments) {
    const struct entry *first = &entries->at[from];
    yyjson_mut_val *name = yyjson_mut_strn(doc, first->segment.at, first->segment.len);
    yyjson_mut_val *segment = yyjson_mut_obj(doc);
    yyjson_mut_val *fields = yyjson_mut_arr(doc);
    size_t last_guest = 0;
    for (size_t i = from; i < to; i++)
        last_guest = entries->at[i].guest > last_guest ? entries->at[i].guest : last_guest;
    for (size_t end = from; from < to; from = end) {
        while (end < to && is_same(&entries->at[from], &entries->at[end]))
            end++;
        yyjson_mut_val *field = lay_over(entries, from, end, last_guest, doc);
        if (!field || !yyjson_mut_arr_add_val(fields, field))
            return false;
    }
    return yyjson_mut_obj_add_val(doc, segment, "fields", fields) &&
           yyjson_mut_obj_add(segments, name, segment);
}

static yyjson_mut_val *build(const struct entries *entries, yyjson_mut_doc *doc) {
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *segments = yyjson_mut_obj(doc);
    bool ok = yyjson_mut_obj_add_val(doc, root, "segments", segments);
    for (size_t from = 0, to = 0; ok && from < entries->count; from = to) {
        while (to < entries->count && compare_segments(&entries->at[from], &entries->at[to]) == 0)
            to++;
        ok = add_segment(entries, from, to, doc, segments);
    }
    return ok ? root : NULL;
}

dx_status dx_hermes_schema(const dx_hermes *editor, dx_buf *json) {
    struct entries entries = {.exact = editor->exact};
    yyjson_alc alc = hermes_alc(editor);
    dx_status status = collect(&entries, editor);
    if (status == DX_OK) {
        sort(entries.at, entries.count);
        yyjson_mut_doc *doc = yyjson_mut_doc_new(&alc);
        yyjson_mut_val *root = doc ? build(&entries, doc) : NULL;
        status = root ? dx_json_write(json, dx_json_built(root)) : DX_ERR_NOMEM;
        yyjson_mut_doc_free(doc);
    }
    dx__free(&editor->alloc, entries.at);
    return status;
}
