#include "schema/set.h"

static dx_status fill_prefix(dx_schemas *set, const dx__node *node, dx__word word, yyjson_val *list,
                             dx__array_rules *rules) {
    rules->prefix_word = word;
    rules->prefix_count = unsafe_yyjson_get_len(list);
    rules->prefix = dx__store_take(&set->store, sizeof *rules->prefix, rules->prefix_count);
    if (!rules->prefix)
        return dx__blame_memory(set);
    yyjson_val *at = unsafe_yyjson_get_first(list);
    for (size_t i = 0; i < rules->prefix_count; i++, at = unsafe_yyjson_get_next(at)) {
        dx_status status = dx__declare_below(set, node, at, &rules->prefix[i]);
        if (status != DX_OK)
            return status;
    }
    return DX_OK;
}

/* In draft 7 "items" may be the list, and "additionalItems" what follows it. */
static dx_status fill_items(dx_schemas *set, const dx__node *node, const dx__words *words,
                            const dx__dialect *dialect, dx__array_rules *rules) {
    yyjson_val *items = words->at[DX__WORD_ITEMS];
    yyjson_val *list = words->at[DX__WORD_PREFIX_ITEMS];
    dx__word list_word = DX__WORD_PREFIX_ITEMS;
    rules->items_word = DX__WORD_ITEMS;
    if (dialect->draft == DX__DRAFT_7 && yyjson_is_arr(items)) {
        list = items;
        list_word = DX__WORD_ITEMS;
        items = words->at[DX__WORD_ADDITIONAL_ITEMS];
        rules->items_word = DX__WORD_ADDITIONAL_ITEMS;
    }
    if (list && (!yyjson_is_arr(list) ||
                 (!unsafe_yyjson_get_len(list) && list_word == DX__WORD_PREFIX_ITEMS)))
        return dx__blame(set, dx__place_of(node), list_word, "must be a non-empty array of schemas",
                         (dx_text){0});
    dx_status status = list ? fill_prefix(set, node, list_word, list, rules) : DX_OK;
    if (status == DX_OK && items)
        status = dx__declare_below(set, node, items, &rules->items);
    return status;
}

static dx_status fill_contains(dx_schemas *set, const dx__node *node, const dx__words *words,
                               dx__array_rules *rules) {
    rules->contains_min = 1;
    rules->contains_max = UINT64_MAX;
    dx_status status =
        dx__fill_count(set, node, words, DX__WORD_MIN_CONTAINS, &rules->contains_min);
    if (status == DX_OK)
        status = dx__fill_count(set, node, words, DX__WORD_MAX_CONTAINS, &rules->contains_max);
    if (status == DX_OK && words->at[DX__WORD_CONTAINS])
        status = dx__declare_below(set, node, words->at[DX__WORD_CONTAINS], &rules->contains);
    return status;
}

static dx_status fill_unique(dx_schemas *set, const dx__node *node, const dx__words *words,
                             dx__array_rules *rules) {
    yyjson_val *unique = words->at[DX__WORD_UNIQUE_ITEMS];
    if (unique && !yyjson_is_bool(unique))
        return dx__blame(set, dx__place_of(node), DX__WORD_UNIQUE_ITEMS, "must be true or false",
                         (dx_text){0});
    rules->unique = yyjson_is_true(unique);
    return DX_OK;
}

dx_status dx__fill_array(dx_schemas *set, dx__node *node, const dx__words *words,
                         const dx__dialect *dialect) {
    static const dx__word all[] = {
        DX__WORD_ITEMS,     DX__WORD_PREFIX_ITEMS, DX__WORD_CONTAINS,     DX__WORD_MIN_ITEMS,
        DX__WORD_MAX_ITEMS, DX__WORD_UNIQUE_ITEMS, DX__WORD_MIN_CONTAINS, DX__WORD_MAX_CONTAINS};
    size_t i = 0;
    while (i < sizeof all / sizeof *all && !words->at[all[i]])
        i++;
    if (i == sizeof all / sizeof *all)
        return DX_OK;
    dx__array_rules *rules = dx__store_take(&set->store, sizeof *rules, 1);
    if (!rules)
        return dx__blame_memory(set);
    rules->max = UINT64_MAX;
    dx_status status = dx__fill_count(set, node, words, DX__WORD_MIN_ITEMS, &rules->min);
    if (status == DX_OK)
        status = dx__fill_count(set, node, words, DX__WORD_MAX_ITEMS, &rules->max);
    if (status == DX_OK)
        status = fill_items(set, node, words, dialect, rules);
    if (status == DX_OK)
        status = fill_contains(set, node, words, rules);
    if (status == DX_OK)
        status = fill_unique(set, node, words, rules);
    node->array = rules;
    return status;
}
