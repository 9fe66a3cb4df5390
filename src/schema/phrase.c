#include "schema/check.h"
#include "schema/place.h"

#include <string.h>

enum { VALUE_MAX = 40, LISTED = 8 };

static void count_of(dx__line *line, uint64_t count, const char *what) {
    dx__line_num(line, count);
    dx__line_str(line, " ");
    dx__line_str(line, what);
    if (count != 1)
        dx__line_str(line, "s");
}

static const char *type_name(uint8_t type) {
    switch (type) {
    case DX__TYPE_NULL:
        return "null";
    case DX__TYPE_BOOL:
        return "boolean";
    case DX__TYPE_STRING:
        return "string";
    case DX__TYPE_ARRAY:
        return "array";
    case DX__TYPE_OBJECT:
        return "object";
    default:
        return "number";
    }
}

static void write_value(dx__line *line, yyjson_val *value) {
    char number[DX__NUMBER_ROOM];
    uint8_t type = dx__type_of(value);
    switch (type) {
    case DX__TYPE_STRING:
        dx__line_quote(line, (dx_text){value->uni.str, unsafe_yyjson_get_len(value)}, VALUE_MAX);
        break;
    case DX__TYPE_INT:
    case DX__TYPE_REAL:
        dx__number_write(value, number);
        dx__line_str(line, number);
        break;
    case DX__TYPE_BOOL:
        dx__line_str(line, unsafe_yyjson_get_bool(value) ? "true" : "false");
        break;
    case DX__TYPE_ARRAY:
        dx__line_str(line, "an array of ");
        count_of(line, unsafe_yyjson_get_len(value), "item");
        break;
    case DX__TYPE_OBJECT:
        dx__line_str(line, "an object of ");
        count_of(line, unsafe_yyjson_get_len(value), "member");
        break;
    default:
        dx__line_str(line, "null");
        break;
    }
}

static void found(dx__line *line, yyjson_val *value) {
    dx__line_str(line, ", found ");
    write_value(line, value);
}

/* "a", "a or b", "a, b or c" */
static void separate(dx__line *line, size_t index, size_t count) {
    if (index)
        dx__line_str(line, index + 1 == count ? " or " : ", ");
}

static void write_types(dx__line *line, uint8_t types, yyjson_val *value) {
    const char *names[8];
    size_t count = 0;
    if ((types & DX__TYPE_INT) && !(types & DX__TYPE_REAL))
        names[count++] = "integer";
    else if (types & DX__TYPE_INT)
        names[count++] = "number";
    static const uint8_t others[] = {DX__TYPE_STRING, DX__TYPE_OBJECT, DX__TYPE_ARRAY,
                                     DX__TYPE_BOOL, DX__TYPE_NULL};
    for (size_t i = 0; i < sizeof others; i++)
        if (types & others[i])
            names[count++] = type_name(others[i]);
    dx__line_str(line, "expected ");
    for (size_t i = 0; i < count; i++) {
        separate(line, i, count);
        dx__line_str(line, names[i]);
    }
    uint8_t type = dx__type_of(value);
    if (type == DX__TYPE_REAL && (types & DX__TYPE_WHOLE)) {
        found(line, value);
        return;
    }
    dx__line_str(line, ", found ");
    dx__line_str(line, type_name(type));
}

static void write_enum(dx__line *line, yyjson_val *list, yyjson_val *value) {
    size_t count = unsafe_yyjson_get_len(list);
    size_t listed = count > LISTED ? LISTED : count;
    dx__line_str(line, count ? "expected one of " : "expected nothing");
    yyjson_val *at = unsafe_yyjson_get_first(list);
    for (size_t i = 0; i < listed; i++, at = unsafe_yyjson_get_next(at)) {
        if (i)
            dx__line_str(line, ", ");
        write_value(line, at);
    }
    if (count > listed) {
        dx__line_str(line, " or ");
        count_of(line, count - listed, "other");
    }
    found(line, value);
}

/* The strings that tell branches apart. */
static void write_choice(dx__line *line, const dx__choice *choice, yyjson_val *value) {
    size_t count = choice->strings.count;
    size_t listed = count > LISTED ? LISTED : count;
    dx__line_str(line, "expected one of ");
    for (size_t i = 0; i < listed; i++) {
        if (i)
            dx__line_str(line, ", ");
        const dx__name *name = &choice->strings.list[i];
        dx__line_quote(line, (dx_text){name->at, name->len}, VALUE_MAX);
    }
    if (count > listed) {
        dx__line_str(line, " or ");
        count_of(line, count - listed, "other");
    }
    found(line, value);
}

static void write_bound(dx__line *line, const char *how, yyjson_val *bound, yyjson_val *value) {
    dx__line_str(line, "expected ");
    dx__line_str(line, how);
    write_value(line, bound);
    found(line, value);
}

static void write_count(dx__line *line, bool least, uint64_t bound, const char *what,
                        uint64_t count) {
    dx__line_str(line, least ? "expected at least " : "expected at most ");
    count_of(line, bound, what);
    dx__line_str(line, ", found ");
    dx__line_num(line, count);
}

static void write_missing(dx__line *line, const dx__detail *detail) {
    dx__line_str(line, "missing member ");
    dx__line_quote(line, detail->text, VALUE_MAX);
    if (detail->reason.at) {
        dx__line_str(line, ", which ");
        dx__line_quote(line, detail->reason, VALUE_MAX);
        dx__line_str(line, " needs");
    }
}

static void write_branches(dx__line *line, yyjson_val *value, const dx__detail *detail) {
    uint8_t types = 0;
    for (uint32_t i = 0; i < detail->op->count; i++)
        types |= detail->op->nodes[i]->types;
    if (types && !dx__lets_in(types, dx__type_of(value))) {
        write_types(line, types, value);
        return;
    }
    dx__line_str(line, detail->number ? "fits more than one of the " : "fits none of the ");
    dx__line_num(line, detail->op->count);
    dx__line_str(line,
                 detail->number ? " forms, of which it must fit exactly one" : " allowed forms");
}

static void write_unique(dx__line *line, const dx__detail *detail) {
    dx__line_str(line, "the items ");
    dx__line_num(line, detail->number);
    dx__line_str(line, " and ");
    dx__line_num(line, detail->other);
    dx__line_str(line, " are the same");
}

static void write_scalar(dx__line *line, const dx__node *node, yyjson_val *value, dx__word word,
                         const dx__detail *detail) {
    switch (word) {
    case DX__WORD_MINIMUM:
        write_bound(line, "at least ", node->number->min, value);
        break;
    case DX__WORD_MAXIMUM:
        write_bound(line, "at most ", node->number->max, value);
        break;
    case DX__WORD_EXCLUSIVE_MINIMUM:
        write_bound(line, "more than ", node->number->above, value);
        break;
    case DX__WORD_EXCLUSIVE_MAXIMUM:
        write_bound(line, "less than ", node->number->below, value);
        break;
    case DX__WORD_MULTIPLE_OF:
        write_bound(line, "a multiple of ", node->number->unit, value);
        break;
    case DX__WORD_MIN_LENGTH:
        write_count(line, true, node->string->min, "character", detail->number);
        break;
    case DX__WORD_MAX_LENGTH:
        write_count(line, false, node->string->max, "character", detail->number);
        break;
    case DX__WORD_PATTERN:
        write_bound(line, "a match of ", node->string->pattern_text, value);
        break;
    case DX__WORD_FORMAT:
        dx__line_str(line, "expected the format ");
        dx__line_str(line, node->string->format->name);
        found(line, value);
        break;
    case DX__WORD_CONTENT_ENCODING:
        dx__line_str(line, "expected base64");
        found(line, value);
        break;
    default:
        dx__line_str(line, "expected JSON in the string");
        found(line, value);
        break;
    }
}

static void write_container(dx__line *line, const dx__node *node, yyjson_val *value, dx__word word,
                            const dx__detail *detail) {
    switch (word) {
    case DX__WORD_MIN_ITEMS:
        write_count(line, true, node->array->min, "item", unsafe_yyjson_get_len(value));
        break;
    case DX__WORD_MAX_ITEMS:
        write_count(line, false, node->array->max, "item", unsafe_yyjson_get_len(value));
        break;
    case DX__WORD_MIN_PROPERTIES:
        write_count(line, true, node->object->min, "member", unsafe_yyjson_get_len(value));
        break;
    case DX__WORD_MAX_PROPERTIES:
        write_count(line, false, node->object->max, "member", unsafe_yyjson_get_len(value));
        break;
    case DX__WORD_CONTAINS:
        write_count(line, true, node->array->contains_min, "fitting item", detail->number);
        break;
    case DX__WORD_MAX_CONTAINS:
        write_count(line, false, node->array->contains_max, "fitting item", detail->number);
        break;
    case DX__WORD_UNIQUE_ITEMS:
        write_unique(line, detail);
        break;
    default:
        dx__line_str(line, "unexpected item");
        break;
    }
}

/* They are told of an item, which may be anything. */
static bool is_of_items(dx__word word) {
    return word == DX__WORD_ITEMS || word == DX__WORD_ADDITIONAL_ITEMS ||
           word == DX__WORD_UNEVALUATED_ITEMS;
}

static void write_phrase(dx__line *line, const dx__node *node, yyjson_val *value, dx__word word,
                         const dx__detail *detail) {
    switch (word) {
    case DX__WORD__COUNT:
        dx__line_str(line, "nothing is allowed here");
        break;
    case DX__WORD_TYPE:
        write_types(line, node->types, value);
        break;
    case DX__WORD_ENUM: {
        const dx__values *values = node->values;
        write_enum(line, values->also ? values->also->all : values->all, value);
        break;
    }
    case DX__WORD_CONST:
        dx__line_str(line, "expected ");
        write_value(line, node->values->all);
        found(line, value);
        break;
    case DX__WORD_REQUIRED:
    case DX__WORD_DEPENDENT_REQUIRED:
    case DX__WORD_DEPENDENCIES:
        write_missing(line, detail);
        break;
    case DX__WORD_ADDITIONAL_PROPERTIES:
    case DX__WORD_UNEVALUATED_PROPERTIES:
        dx__line_str(line, "unexpected member");
        break;
    case DX__WORD_NOT:
        dx__line_str(line, "has a form that is not allowed");
        break;
    case DX__WORD_ANY_OF:
    case DX__WORD_ONE_OF:
        write_branches(line, value, detail);
        break;
    default:
        if (yyjson_is_ctn(value) || is_of_items(word))
            write_container(line, node, value, word, detail);
        else
            write_scalar(line, node, value, word, detail);
        break;
    }
}

/* The pointer to the value, from what the frames stand at. */
static void write_path(dx__path *path, const dx_check *check, yyjson_val *value,
                       dx_text *ret_name) {
    for (uint32_t i = 0; i < check->frame_count; i++) {
        const dx__frame *frame = &check->frames[i];
        yyjson_val *next = i + 1 < check->frame_count ? frame[1].value : value;
        if (next == frame->value || frame->phase == DX__PHASE_CONTENT ||
            frame->phase == DX__PHASE_OPS)
            continue;
        if (!yyjson_is_obj(frame->value))
            dx__path_index(path, frame->index);
        else if (next == frame->at)
            *ret_name = dx__text_of(frame->at);
        else
            dx__path_token(path, dx__text_of(frame->at));
    }
}

/* Where no branch is left because of what one member has, that member is what does not fit. */
static yyjson_val *find_culprit(yyjson_val *value, dx__word word, const dx__detail *detail) {
    if ((word != DX__WORD_ANY_OF && word != DX__WORD_ONE_OF) || detail->number)
        return NULL;
    const dx__choice *choice = detail->op->choice;
    if (!choice || choice->rest->count || dx__type_of(value) != DX__TYPE_OBJECT)
        return NULL;
    yyjson_val *culprit = yyjson_obj_getn(value, choice->member.at, choice->member.len);
    if (culprit && dx__type_of(culprit) == DX__TYPE_STRING &&
        dx__names_find(&choice->strings, culprit->uni.str, unsafe_yyjson_get_len(culprit)))
        return NULL;
    return culprit ? culprit : value;
}

void dx__misfit_write(const dx_check *check, const dx__node *node, yyjson_val *value, dx__word word,
                      const dx__detail *detail, dx_misfit *ret_misfit) {
    if (node->never && word == DX__WORD_TYPE)
        word = DX__WORD__COUNT;
    yyjson_val *culprit = find_culprit(value, word, detail);
    dx__path path;
    path.len = 0;
    dx_text name = {0};
    write_path(&path, check, value, &name);
    if (culprit && culprit != value)
        dx__path_token(&path, detail->op->choice->member);
    dx__path_write(&path, ret_misfit->instance, sizeof ret_misfit->instance);
    dx__place_write(dx__place_of(node), word, check->schema->document, ret_misfit->schema,
                    sizeof ret_misfit->schema);
    dx__line line = dx__line_on(ret_misfit->keyword, sizeof ret_misfit->keyword);
    dx__line_str(&line, word != DX__WORD__COUNT ? dx__word_name(word) : "false");
    line = dx__line_on(ret_misfit->phrase, sizeof ret_misfit->phrase);
    dx__line_str(&line, ret_misfit->instance);
    if (line.len)
        dx__line_str(&line, ": ");
    if (name.at) {
        dx__line_str(&line, "the name ");
        dx__line_quote(&line, name, VALUE_MAX);
        dx__line_str(&line, ": ");
    }
    dx__detail missing = {.text = culprit ? detail->op->choice->member : (dx_text){0}};
    if (culprit == value)
        write_missing(&line, &missing);
    else if (culprit)
        write_choice(&line, detail->op->choice, culprit);
    else
        write_phrase(&line, node, value, word, detail);
    dx__line_whole(&line);
}

/* Its title, or what it is called where it is defined, or which one it is. */
static void write_form(dx__line *line, const dx__node *node, uint32_t index) {
    yyjson_val *given = yyjson_obj_get(node->schema, "title");
    dx_text title = yyjson_is_str(given) ? dx__text_of(given) : (dx_text){0};
    char place[64];
    dx__place_write(dx__place_of(node), DX__WORD__COUNT, NULL, place, sizeof place);
    const char *last = strrchr(place, '/');
    if (title.len || (last && last[1] && (last[1] < '0' || last[1] > '9'))) {
        dx__line_quote(line, title.len ? title : dx_str(last + 1), VALUE_MAX);
        return;
    }
    dx__line_str(line, "form ");
    dx__line_num(line, (uint64_t)index + 1);
}

void dx__misfit_add(dx_misfit *misfit, const dx__node *node, uint32_t index,
                    const dx_misfit *nearest) {
    size_t len = strlen(misfit->phrase);
    dx__line line = dx__line_on(misfit->phrase + len, sizeof misfit->phrase - len);
    dx__line_str(&line, "; nearest is ");
    write_form(&line, node, index);
    dx__line_str(&line, nearest->instance[0] ? ": at " : ": ");
    dx__line_str(&line, nearest->phrase);
    dx__line_whole(&line);
}

void dx__stop_write(const dx_check *check, dx_misfit *ret_misfit) {
    *ret_misfit = (dx_misfit){0};
    dx__line line = dx__line_on(ret_misfit->phrase, sizeof ret_misfit->phrase);
    if (check->status == DX_ERR_NOMEM)
        dx__line_str(&line, "out of memory");
    else if (!check->steps)
        dx__line_str(&line, "the check takes more steps than are allowed");
    else if (check->frame_count >= check->config.depth_max)
        dx__line_str(&line, "the check goes deeper than is allowed");
    else if (check->budget.refused)
        dx__line_str(&line, "the check needs more memory than is allowed");
    else
        dx__line_str(&line, "a pattern takes longer to search than is allowed");
}
