#include "schema/set.h"

#include <string.h>

/* What is at work on one schema's object keywords. */
struct work {
    dx_schemas *set;
    dx__node *node;
    dx__object_rules *rules;
    dx__names_draft names;
    dx__op *whens;
    uint32_t *when_count;
};

static dx_status wrong(const struct work *work, dx__word word, const char *what) {
    return dx__blame(work->set, dx__place_of(work->node), word, what, (dx_text){0});
}

/* The number of a name whose presence matters. */
static dx_status add_bit(struct work *work, dx_text text, uint32_t *ret_bit) {
    dx__name *name = dx__names_add(&work->names, text);
    if (!name)
        return dx__blame_memory(work->set);
    if (name->bit == DX__NO_BIT)
        name->bit = work->rules->bit_count++;
    *ret_bit = name->bit;
    return DX_OK;
}

static dx_status add_bits(struct work *work, dx__word word, yyjson_val *list, uint32_t **ret_bits,
                          uint32_t *ret_count) {
    if (!yyjson_is_arr(list))
        return wrong(work, word, "must be an array of strings");
    uint32_t count = (uint32_t)unsafe_yyjson_get_len(list);
    uint32_t *bits = dx__store_take(&work->set->store, sizeof *bits, count);
    if (!bits)
        return dx__blame_memory(work->set);
    yyjson_val *at = unsafe_yyjson_get_first(list);
    for (uint32_t i = 0; i < count; i++, at = unsafe_yyjson_get_next(at)) {
        if (!yyjson_is_str(at))
            return wrong(work, word, "must be an array of strings");
        dx_status status = add_bit(work, dx__text_of(at), &bits[i]);
        if (status != DX_OK)
            return status;
    }
    *ret_bits = bits;
    *ret_count = count;
    return DX_OK;
}

static dx_status fill_properties(struct work *work, yyjson_val *map) {
    if (!map)
        return DX_OK;
    if (!yyjson_is_obj(map))
        return wrong(work, DX__WORD_PROPERTIES, "must be an object of schemas");
    yyjson_val *key = unsafe_yyjson_get_first(map);
    for (size_t left = unsafe_yyjson_get_len(map); left; left--) {
        const dx__node *node;
        dx_status status = dx__declare_below(work->set, work->node, key + 1, &node);
        if (status != DX_OK)
            return status;
        dx__name *name = dx__names_add(&work->names, dx__text_of(key));
        if (!name)
            return dx__blame_memory(work->set);
        name->node = node;
        key = unsafe_yyjson_get_next(key + 1);
    }
    return DX_OK;
}

static dx_status fill_patterns(struct work *work, yyjson_val *map) {
    if (!map)
        return DX_OK;
    if (!yyjson_is_obj(map))
        return wrong(work, DX__WORD_PATTERN_PROPERTIES, "must be an object of schemas");
    dx__object_rules *rules = work->rules;
    rules->pattern_count = (uint32_t)unsafe_yyjson_get_len(map);
    rules->patterns =
        dx__store_take(&work->set->store, sizeof *rules->patterns, rules->pattern_count);
    if (!rules->patterns)
        return dx__blame_memory(work->set);
    yyjson_val *key = unsafe_yyjson_get_first(map);
    for (uint32_t i = 0; i < rules->pattern_count; i++) {
        dx__pattern_rule *rule = &rules->patterns[i];
        dx_status status = dx__fill_pattern(work->set, work->node, DX__WORD_PATTERN_PROPERTIES,
                                            dx__text_of(key), &rule->pattern);
        if (status == DX_OK)
            status = dx__declare_below(work->set, work->node, key + 1, &rule->node);
        if (status != DX_OK)
            return status;
        key = unsafe_yyjson_get_next(key + 1);
    }
    return DX_OK;
}

static dx_status add_when(struct work *work, dx__word word, yyjson_val *key) {
    dx__op *op = &work->whens[*work->when_count];
    *op = (dx__op){.kind = DX__OP_WHEN, .word = word, .count = 1};
    op->nodes = dx__store_take(&work->set->store, sizeof *op->nodes, 1);
    if (!op->nodes)
        return dx__blame_memory(work->set);
    ++*work->when_count;
    dx_status status = add_bit(work, dx__text_of(key), &op->bit);
    return status == DX_OK ? dx__declare_below(work->set, work->node, key + 1, &op->nodes[0])
                           : status;
}

static dx_status add_need(struct work *work, dx__word word, yyjson_val *key) {
    dx__need *need = &work->rules->needs[work->rules->need_count++];
    need->word = word;
    dx_status status = add_bit(work, dx__text_of(key), &need->bit);
    return status == DX_OK ? add_bits(work, word, key + 1, &need->needs, &need->count) : status;
}

/* "dependencies" has both: names that are needed and schemas that must fit. */
static dx_status fill_dependents(struct work *work, dx__word word, yyjson_val *map) {
    if (!map)
        return DX_OK;
    if (!yyjson_is_obj(map))
        return wrong(work, word, "must be an object");
    yyjson_val *key = unsafe_yyjson_get_first(map);
    for (size_t left = unsafe_yyjson_get_len(map); left; left--) {
        bool names = word == DX__WORD_DEPENDENT_REQUIRED ||
                     (word == DX__WORD_DEPENDENCIES && yyjson_is_arr(key + 1));
        dx_status status = names ? add_need(work, word, key) : add_when(work, word, key);
        if (status != DX_OK)
            return status;
        key = unsafe_yyjson_get_next(key + 1);
    }
    return DX_OK;
}

static size_t size_of(yyjson_val *map) {
    return yyjson_is_obj(map) ? unsafe_yyjson_get_len(map) : 0;
}

static dx_status fill_presence(struct work *work, const dx__words *words) {
    dx__object_rules *rules = work->rules;
    size_t need_max =
        size_of(words->at[DX__WORD_DEPENDENT_REQUIRED]) + size_of(words->at[DX__WORD_DEPENDENCIES]);
    rules->needs = dx__store_take(&work->set->store, sizeof *rules->needs, need_max);
    if (!rules->needs)
        return dx__blame_memory(work->set);
    dx_status status = DX_OK;
    if (words->at[DX__WORD_REQUIRED])
        status = add_bits(work, DX__WORD_REQUIRED, words->at[DX__WORD_REQUIRED], &rules->required,
                          &rules->required_count);
    rules->required_bits = rules->bit_count;
    static const dx__word dependents[] = {DX__WORD_DEPENDENT_REQUIRED, DX__WORD_DEPENDENT_SCHEMAS,
                                          DX__WORD_DEPENDENCIES};
    for (int i = 0; status == DX_OK && i < 3; i++)
        status = fill_dependents(work, dependents[i], words->at[dependents[i]]);
    return status;
}

static dx_status fill_others(struct work *work, const dx__words *words) {
    dx__object_rules *rules = work->rules;
    dx_schemas *set = work->set;
    dx_status status = dx__fill_count(set, work->node, words, DX__WORD_MIN_PROPERTIES, &rules->min);
    if (status == DX_OK)
        status = dx__fill_count(set, work->node, words, DX__WORD_MAX_PROPERTIES, &rules->max);
    if (status == DX_OK && words->at[DX__WORD_ADDITIONAL_PROPERTIES])
        status = dx__declare_below(set, work->node, words->at[DX__WORD_ADDITIONAL_PROPERTIES],
                                   &rules->additional);
    if (status == DX_OK && words->at[DX__WORD_PROPERTY_NAMES])
        status = dx__declare_below(set, work->node, words->at[DX__WORD_PROPERTY_NAMES],
                                   &rules->property_names);
    return status;
}

/* The table of names, and what is known of the bits of presence. */
static dx_status make_names(struct work *work) {
    dx__object_rules *rules = work->rules;
    dx__store *store = &work->set->store;
    if (dx__names_make(&work->names, &rules->names) != DX_OK)
        return dx__blame_memory(work->set);
    rules->bit_names = dx__store_take(store, sizeof *rules->bit_names, rules->bit_count);
    if (!rules->bit_names)
        return dx__blame_memory(work->set);
    for (uint32_t i = 0; i < rules->names.count; i++) {
        dx__name *name = &rules->names.list[i];
        if (name->bit != DX__NO_BIT)
            rules->bit_names[name->bit] = (dx_text){name->at, name->len};
        if (name->bit < 64)
            name->flag = UINT64_C(1) << name->bit;
    }
    for (uint32_t i = 0; i < rules->required_count && rules->bit_count <= 64; i++)
        rules->required_mask |= UINT64_C(1) << rules->required[i];
    return DX_OK;
}

dx_status dx__fill_object(dx_schemas *set, dx__node *node, const dx__words *words, dx__op *whens,
                          uint32_t *when_count) {
    static const dx__word all[] = {
        DX__WORD_PROPERTIES,       DX__WORD_PATTERN_PROPERTIES, DX__WORD_ADDITIONAL_PROPERTIES,
        DX__WORD_PROPERTY_NAMES,   DX__WORD_REQUIRED,           DX__WORD_MIN_PROPERTIES,
        DX__WORD_MAX_PROPERTIES,   DX__WORD_DEPENDENCIES,       DX__WORD_DEPENDENT_REQUIRED,
        DX__WORD_DEPENDENT_SCHEMAS};
    size_t i = 0;
    while (i < sizeof all / sizeof *all && !words->at[all[i]])
        i++;
    if (i == sizeof all / sizeof *all)
        return DX_OK;
    dx__object_rules *rules = dx__store_take(&set->store, sizeof *rules, 1);
    if (!rules)
        return dx__blame_memory(set);
    rules->max = UINT64_MAX;
    rules->additional_word = DX__WORD_ADDITIONAL_PROPERTIES;
    struct work work = {set, node, rules, {0}, whens, when_count};
    dx__names_begin(&work.names, &set->store);
    dx_status status = fill_presence(&work, words);
    if (status == DX_OK)
        status = fill_properties(&work, words->at[DX__WORD_PROPERTIES]);
    if (status == DX_OK)
        status = fill_patterns(&work, words->at[DX__WORD_PATTERN_PROPERTIES]);
    if (status == DX_OK)
        status = fill_others(&work, words);
    if (status == DX_OK)
        status = make_names(&work);
    dx__names_drop(&work.names);
    node->object = rules;
    return status;
}
