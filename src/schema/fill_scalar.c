#include "schema/set.h"

#include <string.h>

dx_status dx__fill_count(dx_schemas *set, const dx__node *node, const dx__words *words,
                         dx__word word, uint64_t *ret_count) {
    yyjson_val *value = words->at[word];
    if (value && !dx__number_count(value, ret_count))
        return dx__blame(set, dx__place_of(node), word, "must be a non-negative integer",
                         (dx_text){0});
    return DX_OK;
}

dx_status dx__fill_pattern(dx_schemas *set, const dx__node *node, dx__word word, dx_text source,
                           const dx__pattern **ret_pattern) {
    dx__place place = dx__place_of(node);
    if (source.len > set->config.pattern_max)
        return dx__blame_limit(set, place, word, "a pattern that is too long");
    dx__entry *entry = dx__store_take(&set->store, sizeof *entry, 1);
    if (!entry)
        return dx__blame_memory(set);
    dx__pattern *pattern;
    char what[160] = "";
    dx_status status = dx__pattern_new(&set->store.alloc, source, &pattern, what, sizeof what);
    if (status == DX_ERR_INVALID)
        return dx__blame(set, place, word, what, source);
    if (status != DX_OK)
        return dx__blame_memory(set);
    entry->owned = pattern;
    dx__store_put(&set->store, DX__KIND_PATTERN, 0, entry);
    *ret_pattern = pattern;
    return DX_OK;
}

static dx_status fill_values(dx_schemas *set, dx__node *node, dx__word word, yyjson_val *value) {
    dx__values *values = dx__store_take(&set->store, sizeof *values, 1);
    bool list = word == DX__WORD_ENUM;
    size_t count = list ? unsafe_yyjson_get_len(value) : 1;
    if (values)
        values->others = dx__store_take(&set->store, sizeof *values->others, count);
    if (!values || !values->others)
        return dx__blame_memory(set);
    values->all = value;
    values->word = word;
    dx__names_draft draft;
    dx__names_begin(&draft, &set->store);
    for (yyjson_val *at = list ? unsafe_yyjson_get_first(value) : value; count;
         count--, at = unsafe_yyjson_get_next(at)) {
        if (!yyjson_is_str(at)) {
            values->others[values->other_count++] = at;
        } else if (!dx__names_add(&draft, dx__text_of(at))) {
            dx__names_drop(&draft);
            return dx__blame_memory(set);
        }
    }
    if (dx__names_make(&draft, &values->strings) != DX_OK)
        return dx__blame_memory(set);
    node->values = values;
    return DX_OK;
}

/* A schema may have both; then the const is asked, and the enum says whether it can be met. */
static dx_status fill_enum(dx_schemas *set, dx__node *node, const dx__words *words) {
    yyjson_val *list = words->at[DX__WORD_ENUM];
    yyjson_val *one = words->at[DX__WORD_CONST];
    if (list && !yyjson_is_arr(list))
        return dx__blame(set, dx__place_of(node), DX__WORD_ENUM, "must be an array", (dx_text){0});
    if (list) {
        dx_status status = fill_values(set, node, DX__WORD_ENUM, list);
        if (status != DX_OK || !one)
            return status;
        const dx__values *enumerated = node->values;
        status = fill_values(set, node, DX__WORD_CONST, one);
        if (status == DX_OK)
            ((dx__values *)(uintptr_t)node->values)->also = enumerated;
        return status;
    }
    return one ? fill_values(set, node, DX__WORD_CONST, one) : DX_OK;
}

static dx_status take_number(dx_schemas *set, const dx__node *node, const dx__words *words,
                             dx__word word, yyjson_val **ret_number) {
    *ret_number = words->at[word];
    if (*ret_number && !yyjson_is_num(*ret_number))
        return dx__blame(set, dx__place_of(node), word, "must be a number", (dx_text){0});
    return DX_OK;
}

static dx_status fill_number(dx_schemas *set, dx__node *node, const dx__words *words) {
    dx__number_rules rules = {0};
    dx_status status = take_number(set, node, words, DX__WORD_MINIMUM, &rules.min);
    if (status == DX_OK)
        status = take_number(set, node, words, DX__WORD_MAXIMUM, &rules.max);
    if (status == DX_OK)
        status = take_number(set, node, words, DX__WORD_EXCLUSIVE_MINIMUM, &rules.above);
    if (status == DX_OK)
        status = take_number(set, node, words, DX__WORD_EXCLUSIVE_MAXIMUM, &rules.below);
    if (status == DX_OK)
        status = take_number(set, node, words, DX__WORD_MULTIPLE_OF, &rules.unit);
    if (status != DX_OK)
        return status;
    if (rules.unit &&
        (yyjson_get_num(rules.unit) <= 0 || !dx__decimal_of(rules.unit, &rules.unit_decimal)))
        return dx__blame(set, dx__place_of(node), DX__WORD_MULTIPLE_OF,
                         "must be a number greater than 0", (dx_text){0});
    if (!rules.min && !rules.max && !rules.above && !rules.below && !rules.unit)
        return DX_OK;
    dx__number_rules *kept = dx__store_take(&set->store, sizeof *kept, 1);
    if (!kept)
        return dx__blame_memory(set);
    *kept = rules;
    node->number = kept;
    return DX_OK;
}

/* A keyword that has a string; NULL if it is not there. */
static dx_status take_string(dx_schemas *set, const dx__node *node, const dx__words *words,
                             dx__word word, yyjson_val **ret_string) {
    *ret_string = words->at[word];
    if (*ret_string && !yyjson_is_str(*ret_string))
        return dx__blame(set, dx__place_of(node), word, "must be a string", (dx_text){0});
    return DX_OK;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_word(yyjson_val *string, const char *word) {
    size_t len = strlen(word);
    if (!string || unsafe_yyjson_get_len(string) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (lower(unsafe_yyjson_get_str(string)[i]) != word[i])
            return false;
    return true;
}

static dx_status fill_content(dx_schemas *set, const dx__node *node, const dx__words *words,
                              dx__string_rules *rules) {
    yyjson_val *encoding;
    yyjson_val *media;
    dx_status status = take_string(set, node, words, DX__WORD_CONTENT_ENCODING, &encoding);
    if (status == DX_OK)
        status = take_string(set, node, words, DX__WORD_CONTENT_MEDIA_TYPE, &media);
    if (status != DX_OK || !(set->config.flags & DX_SCHEMA_CONTENT))
        return status;
    rules->base64 = is_word(encoding, "base64");
    /* What is encoded in a way that is not known can't be read as JSON. */
    rules->json = is_word(media, "application/json") && (!encoding || rules->base64);
    if (rules->json && words->at[DX__WORD_CONTENT_SCHEMA])
        status = dx__declare_below(set, node, words->at[DX__WORD_CONTENT_SCHEMA], &rules->content);
    return status;
}

static dx_status fill_string(dx_schemas *set, dx__node *node, const dx__words *words,
                             const dx__dialect *dialect) {
    dx__string_rules rules = {.max = UINT64_MAX};
    yyjson_val *format;
    dx_status status = dx__fill_count(set, node, words, DX__WORD_MIN_LENGTH, &rules.min);
    if (status == DX_OK)
        status = dx__fill_count(set, node, words, DX__WORD_MAX_LENGTH, &rules.max);
    if (status == DX_OK)
        status = take_string(set, node, words, DX__WORD_PATTERN, &rules.pattern_text);
    if (status == DX_OK && rules.pattern_text)
        status = dx__fill_pattern(set, node, DX__WORD_PATTERN, dx__text_of(rules.pattern_text),
                                  &rules.pattern);
    if (status == DX_OK)
        status = take_string(set, node, words, DX__WORD_FORMAT, &format);
    if (status != DX_OK)
        return status;
    if (format &&
        ((set->config.flags & DX_SCHEMA_FORMAT) || (dialect->vocabularies & DX__VOCABULARY_FORMAT)))
        rules.format = dx__format_named(dx__text_of(format));
    status = fill_content(set, node, words, &rules);
    if (status != DX_OK)
        return status;
    if (!rules.min && rules.max == UINT64_MAX && !rules.pattern && !rules.format && !rules.base64 &&
        !rules.json)
        return DX_OK;
    dx__string_rules *kept = dx__store_take(&set->store, sizeof *kept, 1);
    if (!kept)
        return dx__blame_memory(set);
    *kept = rules;
    node->string = kept;
    return DX_OK;
}

dx_status dx__fill_scalar(dx_schemas *set, dx__node *node, const dx__words *words,
                          const dx__dialect *dialect) {
    dx_status status = fill_enum(set, node, words);
    if (status == DX_OK)
        status = fill_number(set, node, words);
    return status == DX_OK ? fill_string(set, node, words, dialect) : status;
}
