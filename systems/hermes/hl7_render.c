/* From a tree to the text of a message. */
#include "systems/hermes/hl7_parts.h"

#include <stdio.h>
#include <string.h>

/* A text under way: the first failure sticks. */
struct render {
    dx_buf *out;
    hl7_marks marks;
    bool exact;
    const char *place;
    dx_error *reterr;
    dx_status status;
    /* Scratch for each level of parts, so that one can be walked while another is. */
    hl7_numbers fields;
    hl7_numbers components;
    hl7_numbers subcomponents;
};

static dx_text text_of(yyjson_mut_val *value) {
    return (dx_text){yyjson_mut_get_str(value), yyjson_mut_get_len(value)};
}

static void misfit(struct render *render, const char *phrase, dx_text detail) {
    if (render->status == DX_OK)
        render->status = hl7_misfit(render->reterr, render->place, phrase, detail);
}

static void put(struct render *render, dx_text text) {
    if (render->status == DX_OK)
        render->status = dx_buf_append(render->out, text.at, text.len);
}

static void repeat(struct render *render, char mark, uint64_t count) {
    if (render->status != DX_OK || !count)
        return;
    if (!mark) {
        misfit(render, "MSH.2 has too few separators for the message", (dx_text){NULL, 0});
        return;
    }
    render->status = dx_buf_reserve(render->out, count);
    if (render->status != DX_OK)
        return;
    memset(render->out->data + render->out->len, mark, count);
    render->out->len += count;
}

/* A string as it is, but for what would become a part or a line of its own. */
static void leaf_text(struct render *render, dx_text text) {
    hl7_escapes escapes = render->exact ? HL7_ESCAPE_ALL : HL7_ESCAPE_NONE;
    size_t size = hl7_escaped_size(&render->marks, text, escapes);
    if (size == SIZE_MAX)
        misfit(render, "MSH.2 has no escape character, which is needed for: ", text);
    if (render->status == DX_OK)
        render->status = dx_buf_reserve(render->out, size);
    if (render->status != DX_OK)
        return;
    hl7_escape(&render->marks, text, escapes, render->out->data + render->out->len);
    render->out->len += size;
}

/* A number is raw: as it was written. */
static bool leaf(struct render *render, yyjson_mut_val *value) {
    if (yyjson_mut_is_null(value))
        return true;
    if (yyjson_mut_is_str(value))
        leaf_text(render, text_of(value));
    else if (yyjson_mut_is_bool(value))
        leaf_text(render, dx_str(yyjson_mut_get_bool(value) ? "true" : "false"));
    else if (yyjson_mut_is_raw(value))
        leaf_text(render, (dx_text){yyjson_mut_get_raw(value), yyjson_mut_get_len(value)});
    else
        return false;
    return true;
}

/* A key that is a number: 0 if it is none, or none that a part can have. */
static uint64_t key_number(dx_text key) {
    uint64_t number = 0;
    for (size_t i = 0; i < key.len; i++) {
        if (key.at[i] < '0' || key.at[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(key.at[i] - '0');
        if (number > DX_HL7_NUMBER_MAX)
            return number;
    }
    return number;
}

static void wrong_key(struct render *render, const char *kind, dx_text key) {
    char phrase[80];
    snprintf(phrase, sizeof phrase, "the key of a %s must be a number from 1: ", kind);
    misfit(render, phrase, key);
}

/* Lists the members of an object by number. The editor ignores keys of fields that are not numbers,
 * and all but the last of those with one number. */
static void collect(struct render *render, yyjson_mut_val *object, const char *kind,
                    hl7_numbers *numbers) {
    bool is_field = numbers == &render->fields;
    numbers->count = 0;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; render->status == DX_OK && (key = yyjson_mut_obj_iter_next(&iter));) {
        uint64_t number = key_number(text_of(key));
        if (number > DX_HL7_NUMBER_MAX)
            misfit(render, "a key is too large: ", text_of(key));
        else if (number)
            render->status = hl7_numbers_add(numbers, number, (dx_text){NULL, 0},
                                             yyjson_mut_obj_iter_get_val(key));
        else if (!is_field || !render->exact)
            wrong_key(render, kind, text_of(key));
    }
    hl7_numbers_sort(numbers);
    size_t kept = 0;
    for (size_t i = 0; i < numbers->count; i++)
        if (i + 1 == numbers->count || numbers->at[i + 1].number != numbers->at[i].number)
            numbers->at[kept++] = numbers->at[i];
    if (kept < numbers->count && !render->exact)
        misfit(render, "two keys have the same number, each that of a ", dx_str(kind));
    numbers->count = kept;
}

static void component(struct render *render, yyjson_mut_val *value) {
    if (leaf(render, value))
        return;
    if (!yyjson_mut_is_obj(value)) {
        misfit(render, "expected a component, got an array", (dx_text){NULL, 0});
        return;
    }
    hl7_numbers *parts = &render->subcomponents;
    collect(render, value, "component", parts);
    uint64_t number = 1;
    for (size_t i = 0; render->status == DX_OK && i < parts->count; i++) {
        repeat(render, render->marks.subcomponent, parts->at[i].number - number);
        number = parts->at[i].number;
        if (render->status == DX_OK && !leaf(render, parts->at[i].value))
            misfit(render, "a subcomponent is not a string", (dx_text){NULL, 0});
    }
}

static void repetition(struct render *render, yyjson_mut_val *value) {
    if (leaf(render, value))
        return;
    if (!yyjson_mut_is_obj(value)) {
        misfit(render, "an array inside another array", (dx_text){NULL, 0});
        return;
    }
    hl7_numbers *parts = &render->components;
    collect(render, value, "component", parts);
    uint64_t number = 1;
    for (size_t i = 0; render->status == DX_OK && i < parts->count; i++) {
        repeat(render, render->marks.component, parts->at[i].number - number);
        number = parts->at[i].number;
        component(render, parts->at[i].value);
    }
}

static void field(struct render *render, yyjson_mut_val *value) {
    if (!yyjson_mut_is_arr(value)) {
        repetition(render, value);
        return;
    }
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
    bool first = true;
    for (yyjson_mut_val *item; render->status == DX_OK && (item = yyjson_mut_arr_iter_next(&iter));
         first = false) {
        repeat(render, render->marks.repetition, !first);
        repetition(render, item);
    }
}

static bool is_one_line(const struct render *render, dx_text text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == render->marks.field || text.at[i] == '\r' || text.at[i] == '\n')
            return false;
    return true;
}

/* The editor writes a segment MSH without fields as a name, and any other one with a separator
 * after MSH.2. Says how many fields these are. */
static size_t exact_msh_marks(struct render *render) {
    const hl7_marks *marks = &render->marks;
    const hl7_numbers *parts = &render->fields;
    char text[] = {marks->field,  marks->component,    marks->repetition,
                   marks->escape, marks->subcomponent, marks->field};
    size_t at = 0;
    if (parts->count && parts->at[parts->count - 1].number >= 2)
        put(render, (dx_text){text, sizeof text});
    while (at < parts->count && parts->at[at].number <= 2)
        at++;
    return at;
}

/* The separators of a segment MSH, which are not escaped; says how many fields they are. */
static size_t msh_marks(struct render *render, bool first) {
    hl7_numbers *parts = &render->fields;
    dx_text marks = first ? HL7_PIECE("^~\\&") : HL7_PIECE("");
    size_t at = 0;
    for (; at < parts->count && parts->at[at].number <= 2; at++) {
        yyjson_mut_val *value = parts->at[at].value;
        bool is_text = yyjson_mut_is_str(value);
        if (parts->at[at].number == 2 && is_text && yyjson_mut_get_len(value))
            marks = text_of(value);
        if (!is_text && !yyjson_mut_is_null(value))
            misfit(render, "MSH.1 and MSH.2 must be texts", HL7_PIECE(""));
        else if (is_text && parts->at[at].number == 1 && yyjson_mut_get_len(value) &&
                 !dx_text_is(text_of(value), (char[]){render->marks.field, '\0'}))
            misfit(render, "MSH.1 is not the separator of fields: ", text_of(value));
    }
    repeat(render, render->marks.field, 1);
    if (!is_one_line(render, marks))
        misfit(render, "MSH.2 is not a list of separators: ", marks);
    put(render, marks);
    return at;
}

static void segment(struct render *render, dx_text name, yyjson_mut_val *fields, bool first) {
    size_t start = render->out->len;
    if (!first)
        put(render, HL7_PIECE("\r"));
    if (!is_one_line(render, name))
        misfit(render, "the name of a segment contains a separator: ", name);
    size_t empty = render->out->len;
    put(render, name);
    render->fields.count = 0;
    if (fields && !yyjson_mut_is_null(fields)) {
        if (!yyjson_mut_is_obj(fields))
            misfit(render, "the fields of a segment must be an object: ", name);
        else
            collect(render, fields, "field", &render->fields);
    }
    size_t i = 0;
    uint64_t number = 0;
    if (render->status == DX_OK && dx_text_is(name, "MSH") && (first || render->fields.count)) {
        i = render->exact ? exact_msh_marks(render) : msh_marks(render, first);
        number = render->exact ? 3 : 2;
    }
    for (; render->status == DX_OK && i < render->fields.count; i++) {
        const hl7_numbered *part = &render->fields.at[i];
        repeat(render, render->marks.field, part->number - number);
        number = part->number;
        field(render, part->value);
    }
    /* A line without anything would be no segment. */
    if (render->out->len == empty)
        render->out->len = start;
}

/* The last member of that name, as with every reader that makes a map of an object. */
static yyjson_mut_val *member(yyjson_mut_val *object, const char *name) {
    yyjson_mut_val *found = NULL;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
        if (dx_text_is(text_of(key), name))
            found = yyjson_mut_obj_iter_get_val(key);
    return found;
}

/* What nobody reads would be lost without a word. The editor does not mind. */
static void check_keys(struct render *render, yyjson_mut_val *object, const char *one,
                       const char *two) {
    unsigned seen[2] = {0, 0};
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; !render->exact && (key = yyjson_mut_obj_iter_next(&iter));) {
        bool is_one = dx_text_is(text_of(key), one);
        if (!is_one && !dx_text_is(text_of(key), two))
            misfit(render, "unknown key: ", text_of(key));
        else if (seen[is_one]++)
            misfit(render, "the same key twice: ", text_of(key));
    }
}

static void in_order(struct render *render, yyjson_mut_val *list) {
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    bool first = true;
    for (yyjson_mut_val *item; render->status == DX_OK && (item = yyjson_mut_arr_iter_next(&iter));
         first = false) {
        yyjson_mut_val *name = member(item, "segment");
        check_keys(render, item, "segment", "fields");
        if (!yyjson_mut_is_str(name))
            misfit(render, "missing field `segment`", (dx_text){NULL, 0});
        else
            segment(render, text_of(name), member(item, "fields"), first);
    }
}

/* The segments of one name. */
static void group(struct render *render, dx_text name, yyjson_mut_val *value, bool *first) {
    yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(value);
    if (!yyjson_mut_is_arr(value)) {
        segment(render, name, value, *first);
        *first = false;
    }
    for (yyjson_mut_val *item; render->status == DX_OK && (item = yyjson_mut_arr_iter_next(&items));
         *first = false)
        segment(render, name, item, *first);
}

/* MSH is the first segment, wherever its key stands: many programs sort keys. */
static void by_keys(struct render *render, yyjson_mut_val *root) {
    bool first = true;
    yyjson_mut_val *msh = member(root, "MSH");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(root);
    if (msh)
        group(render, HL7_PIECE("MSH"), msh, &first);
    for (yyjson_mut_val *key; render->status == DX_OK && (key = yyjson_mut_obj_iter_next(&iter));)
        if (!dx_text_is(text_of(key), "MSH"))
            group(render, text_of(key), yyjson_mut_obj_iter_get_val(key), &first);
}

/* The fields of the first segment, if that is MSH. */
static yyjson_mut_val *first_fields(yyjson_mut_val *root, yyjson_mut_val *list) {
    if (list) {
        yyjson_mut_val *first = yyjson_mut_arr_get_first(list);
        return yyjson_mut_equals_str(member(first, "segment"), "MSH") ? member(first, "fields")
                                                                      : NULL;
    }
    yyjson_mut_val *value = member(root, "MSH");
    return yyjson_mut_is_arr(value) ? yyjson_mut_arr_get_first(value) : value;
}

/* Separators come from MSH, the usual ones stand in for what it does not say. The editor knows only
 * one separator of fields. */
static void read_marks(struct render *render, yyjson_mut_val *fields) {
    char text[8] = {'M', 'S', 'H', '|', '^', '~', '\\', '&'};
    yyjson_mut_val *one = member(fields, "1");
    yyjson_mut_val *two = member(fields, "2");
    size_t len = sizeof text;
    if (yyjson_mut_is_str(one) && yyjson_mut_get_len(one) == 1 && !render->exact)
        text[3] = yyjson_mut_get_str(one)[0];
    if (yyjson_mut_is_str(two) && yyjson_mut_get_len(two)) {
        size_t given = yyjson_mut_get_len(two) < 4 ? yyjson_mut_get_len(two) : 4;
        memcpy(text + 4, yyjson_mut_get_str(two), given);
        len = render->exact ? sizeof text : 4 + given;
    }
    const char *flaw = hl7_marks_read((dx_text){text, len}, render->exact, &render->marks);
    if (flaw)
        misfit(render, flaw, (dx_text){NULL, 0});
}

bool hl7_tree_has_keys(yyjson_mut_doc *doc) {
    return !member(yyjson_mut_doc_get_root(doc), "segments");
}

dx_status hl7_tree_text(yyjson_mut_doc *doc, bool exact, const char *place, dx_buf *out,
                        dx_error *reterr) {
    dx_allocator alloc = out->alloc;
    struct render render = {.out = out,
                            .exact = exact,
                            .place = place,
                            .reterr = reterr,
                            .fields = {.alloc = alloc},
                            .components = {.alloc = alloc},
                            .subcomponents = {.alloc = alloc}};
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *list = member(root, "segments");
    if (!yyjson_mut_is_obj(root))
        misfit(&render, "the document is not an object", (dx_text){NULL, 0});
    else if (!list && exact)
        misfit(&render, "missing field `segments`", (dx_text){NULL, 0});
    else if (list && !yyjson_mut_is_arr(list))
        misfit(&render, "segments is not an array", (dx_text){NULL, 0});
    else
        read_marks(&render, first_fields(root, list));
    if (list)
        check_keys(&render, root, "segments", "segments");
    if (render.status == DX_OK && list)
        in_order(&render, list);
    else if (render.status == DX_OK)
        by_keys(&render, root);
    hl7_numbers_done(&render.fields);
    hl7_numbers_done(&render.components);
    hl7_numbers_done(&render.subcomponents);
    return render.status;
}
