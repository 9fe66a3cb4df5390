#include "schema/set.h"

#include <string.h>

static dx_status fill_types(dx_schemas *set, dx__node *node, const dx__words *words) {
    static const struct {
        const char *name;
        uint8_t types;
    } rows[] = {
        {"null", DX__TYPE_NULL},     {"boolean", DX__TYPE_BOOL},
        {"number", DX__TYPE_NUMBER}, {"integer", DX__TYPE_INT | DX__TYPE_WHOLE},
        {"string", DX__TYPE_STRING}, {"array", DX__TYPE_ARRAY},
        {"object", DX__TYPE_OBJECT},
    };
    yyjson_val *value = words->at[DX__WORD_TYPE];
    if (!value)
        return DX_OK;
    bool list = yyjson_is_arr(value);
    size_t left = list ? yyjson_arr_size(value) : 1;
    node->types = 0;
    for (yyjson_val *at = list ? unsafe_yyjson_get_first(value) : value; left;
         left--, at = unsafe_yyjson_get_next(at)) {
        size_t row = 0;
        while (row < sizeof rows / sizeof *rows && !yyjson_equals_str(at, rows[row].name))
            row++;
        if (row == sizeof rows / sizeof *rows)
            return dx__blame(set, dx__place_of(node), DX__WORD_TYPE, "not the name of a type",
                             yyjson_is_str(at) ? dx__text_of(at) : (dx_text){0});
        node->types |= rows[row].types;
    }
    if (node->types & DX__TYPE_REAL)
        node->types &= (uint8_t)~DX__TYPE_WHOLE;
    return DX_OK;
}

/* The words that mean nothing without their vocabulary. */
static void keep_vocabularies(dx__words *words, const dx__dialect *dialect) {
    static const uint8_t needs[DX__WORD__COUNT] = {
        [DX__WORD_ADDITIONAL_PROPERTIES] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_ALL_OF] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_ANY_OF] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_CONST] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_CONTAINS] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_CONTENT_ENCODING] = DX__VOCABULARY_CONTENT,
        [DX__WORD_CONTENT_MEDIA_TYPE] = DX__VOCABULARY_CONTENT,
        [DX__WORD_CONTENT_SCHEMA] = DX__VOCABULARY_CONTENT,
        [DX__WORD_DEPENDENCIES] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_DEPENDENT_REQUIRED] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_DEPENDENT_SCHEMAS] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_ELSE] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_ENUM] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_EXCLUSIVE_MAXIMUM] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_EXCLUSIVE_MINIMUM] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_IF] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_ITEMS] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_MAX_CONTAINS] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MAX_ITEMS] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MAX_LENGTH] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MAX_PROPERTIES] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MAXIMUM] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MIN_CONTAINS] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MIN_ITEMS] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MIN_LENGTH] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MIN_PROPERTIES] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MINIMUM] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_MULTIPLE_OF] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_NOT] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_ONE_OF] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_PATTERN] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_PATTERN_PROPERTIES] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_PREFIX_ITEMS] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_PROPERTIES] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_PROPERTY_NAMES] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_REQUIRED] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_THEN] = DX__VOCABULARY_APPLICATOR,
        [DX__WORD_TYPE] = DX__VOCABULARY_VALIDATION,
        [DX__WORD_UNEVALUATED_ITEMS] = DX__VOCABULARY_UNEVALUATED,
        [DX__WORD_UNEVALUATED_PROPERTIES] = DX__VOCABULARY_UNEVALUATED,
        [DX__WORD_UNIQUE_ITEMS] = DX__VOCABULARY_VALIDATION,
    };
    for (unsigned word = 0; word < DX__WORD__COUNT; word++)
        if (needs[word] & ~dialect->vocabularies)
            words->at[word] = NULL;
}

/* The branches under a keyword, which must be a list that is not empty. */
static dx_status fill_branches(dx_schemas *set, const dx__node *node, dx__word word,
                               yyjson_val *list, dx__op *op) {
    if (!yyjson_is_arr(list) || !yyjson_arr_size(list))
        return dx__blame(set, dx__place_of(node), word, "must be a non-empty array of schemas",
                         (dx_text){0});
    op->word = word;
    op->count = (uint32_t)yyjson_arr_size(list);
    op->nodes = dx__store_take(&set->store, sizeof *op->nodes, op->count);
    if (!op->nodes)
        return dx__blame_memory(set);
    yyjson_val *at = unsafe_yyjson_get_first(list);
    for (uint32_t i = 0; i < op->count; i++, at = unsafe_yyjson_get_next(at)) {
        dx_status status = dx__declare_below(set, node, at, &op->nodes[i]);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

/* An operation on one to three nodes. */
static dx_status new_op(dx_schemas *set, dx__op *op, dx__op_kind kind, dx__word word,
                        uint32_t count) {
    *op = (dx__op){.kind = kind, .word = word, .count = count};
    op->nodes = dx__store_take(&set->store, sizeof *op->nodes, count);
    return op->nodes ? DX_OK : dx__blame_memory(set);
}

static dx_status fill_if(dx_schemas *set, const dx__node *node, const dx__words *words,
                         dx__op *op) {
    dx_status status = new_op(set, op, DX__OP_IF, DX__WORD_IF, 3);
    static const dx__word parts[] = {DX__WORD_IF, DX__WORD_THEN, DX__WORD_ELSE};
    for (int i = 0; status == DX_OK && i < 3; i++)
        if (words->at[parts[i]])
            status = dx__declare_below(set, node, words->at[parts[i]], &op->nodes[i]);
    return status;
}

static dx_status fill_references(dx_schemas *set, const dx__node *node, const dx__words *words,
                                 dx__op *ops, uint32_t *count) {
    static const dx__word references[] = {DX__WORD_REF, DX__WORD_DYNAMIC_REF};
    dx_status status = DX_OK;
    for (int i = 0; status == DX_OK && i < 2; i++) {
        yyjson_val *reference = words->at[references[i]];
        if (!reference)
            continue;
        dx__op *op = &ops[(*count)++];
        status = new_op(set, op, DX__OP_SUB, references[i], 1);
        if (status == DX_OK)
            status = dx__declare_reference(set, node, references[i], reference, &op->nodes[0]);
    }
    return status;
}

static dx_status fill_combinations(dx_schemas *set, const dx__node *node, const dx__words *words,
                                   dx__op *ops, uint32_t *count) {
    static const struct {
        dx__word word;
        dx__op_kind kind;
    } rows[] = {{DX__WORD_ALL_OF, DX__OP_SUB},
                {DX__WORD_ANY_OF, DX__OP_ANY},
                {DX__WORD_ONE_OF, DX__OP_ONE}};
    dx_status status = DX_OK;
    for (int i = 0; status == DX_OK && i < 3; i++)
        if (words->at[rows[i].word]) {
            dx__op *op = &ops[(*count)++];
            op->kind = rows[i].kind;
            status = fill_branches(set, node, rows[i].word, words->at[rows[i].word], op);
        }
    if (status == DX_OK && words->at[DX__WORD_NOT]) {
        dx__op *op = &ops[(*count)++];
        status = new_op(set, op, DX__OP_NOT, DX__WORD_NOT, 1);
        if (status == DX_OK)
            status = dx__declare_below(set, node, words->at[DX__WORD_NOT], &op->nodes[0]);
    }
    if (status == DX_OK && words->at[DX__WORD_IF])
        status = fill_if(set, node, words, &ops[(*count)++]);
    return status;
}

/* How many members the two keywords have that may say what follows from a member. */
static size_t count_whens(const dx__words *words) {
    size_t count = 0;
    if (yyjson_is_obj(words->at[DX__WORD_DEPENDENT_SCHEMAS]))
        count += unsafe_yyjson_get_len(words->at[DX__WORD_DEPENDENT_SCHEMAS]);
    if (yyjson_is_obj(words->at[DX__WORD_DEPENDENCIES]))
        count += unsafe_yyjson_get_len(words->at[DX__WORD_DEPENDENCIES]);
    return count;
}

enum { OTHER_OPS = 8 };

static dx_status fill_parts(dx_schemas *set, dx__node *node, const dx__words *words,
                            const dx__dialect *dialect) {
    size_t when_max = count_whens(words);
    dx__op *ops = dx__store_take(&set->store, sizeof *ops, OTHER_OPS + when_max);
    if (!ops)
        return dx__blame_memory(set);
    node->ops = ops;
    dx_status status = fill_types(set, node, words);
    if (status == DX_OK)
        status = dx__fill_scalar(set, node, words, dialect);
    if (status == DX_OK)
        status = dx__fill_array(set, node, words, dialect);
    if (status == DX_OK)
        status = dx__fill_object(set, node, words, ops, &node->op_count);
    if (status == DX_OK)
        status = fill_references(set, node, words, ops, &node->op_count);
    if (status == DX_OK)
        status = fill_combinations(set, node, words, ops, &node->op_count);
    return status;
}

static dx_status fill_left(dx_schemas *set, dx__node *node, const dx__words *words) {
    dx_status status = DX_OK;
    if (words->at[DX__WORD_UNEVALUATED_ITEMS])
        status =
            dx__declare_below(set, node, words->at[DX__WORD_UNEVALUATED_ITEMS], &node->left_items);
    if (status == DX_OK && words->at[DX__WORD_UNEVALUATED_PROPERTIES])
        status = dx__declare_below(set, node, words->at[DX__WORD_UNEVALUATED_PROPERTIES],
                                   &node->left_members);
    return status;
}

dx_status dx__fill(dx_schemas *set, dx__node *node) {
    if (yyjson_is_bool(node->schema)) {
        node->never = !unsafe_yyjson_get_bool(node->schema);
        node->types = node->never ? 0 : DX__TYPE_ALL;
        return DX_OK;
    }
    if (!yyjson_is_obj(node->schema))
        return dx__blame(set, dx__place_of(node), DX__WORD__COUNT,
                         "a schema must be an object or a boolean", (dx_text){0});
    node->types = DX__TYPE_ALL;
    dx__words words;
    dx__dialect dialect;
    dx_status status = dx__dialect_of(set, node->resource, &dialect);
    if (status != DX_OK || !dx__words_gather(node->schema, &words))
        return status;
    dx__words_keep(&words, dialect.draft == DX__DRAFT_7);
    keep_vocabularies(&words, &dialect);
    status = fill_parts(set, node, &words, &dialect);
    return status == DX_OK ? fill_left(set, node, &words) : status;
}
