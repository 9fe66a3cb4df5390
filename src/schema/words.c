#include "schema/words.h"

#include <string.h>

static const struct row {
    const char *name;
    unsigned char len;
    unsigned char holds;
} rows[] = {
#define X(name, text, holds) {(text), sizeof(text) - 1, DX__HOLDS_##holds},
    DX__WORDS(X)
#undef X
};

const char *dx__word_name(dx__word word) {
    return rows[word].name;
}

dx__holds dx__word_holds(dx__word word) {
    return word < DX__WORD__COUNT ? (dx__holds)rows[word].holds : DX__HOLDS_NOTHING;
}

static int compare(dx_text text, const struct row *row) {
    size_t common = text.len < row->len ? text.len : row->len;
    int order = common ? memcmp(text.at, row->name, common) : 0;
    return order ? order : (text.len > row->len) - (text.len < row->len);
}

dx__word dx__word_of(dx_text text) {
    unsigned low = 0;
    unsigned high = DX__WORD__COUNT;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        int order = compare(text, &rows[middle]);
        if (!order)
            return (dx__word)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return DX__WORD__COUNT;
}

unsigned dx__words_gather(yyjson_val *schema, dx__words *ret_words) {
    memset(ret_words, 0, sizeof *ret_words);
    unsigned count = 0;
    size_t left = unsafe_yyjson_get_len(schema);
    for (yyjson_val *key = unsafe_yyjson_get_first(schema); left--;
         key = unsafe_yyjson_get_next(key + 1)) {
        dx__word word = dx__word_of(dx__text_of(key));
        if (word == DX__WORD__COUNT)
            continue;
        count += !ret_words->at[word];
        ret_words->at[word] = key + 1;
    }
    return count;
}

bool dx__word_is_in(dx__word word, bool draft7) {
    switch (word) {
    case DX__WORD_ANCHOR:
    case DX__WORD_DEFS:
    case DX__WORD_DYNAMIC_ANCHOR:
    case DX__WORD_DYNAMIC_REF:
    case DX__WORD_VOCABULARY:
    case DX__WORD_CONTENT_SCHEMA:
    case DX__WORD_DEPENDENT_REQUIRED:
    case DX__WORD_DEPENDENT_SCHEMAS:
    case DX__WORD_MAX_CONTAINS:
    case DX__WORD_MIN_CONTAINS:
    case DX__WORD_PREFIX_ITEMS:
    case DX__WORD_UNEVALUATED_ITEMS:
    case DX__WORD_UNEVALUATED_PROPERTIES:
        return !draft7;
    case DX__WORD_ADDITIONAL_ITEMS:
        return draft7;
    default:
        return true;
    }
}

void dx__words_keep(dx__words *words, bool draft7) {
    for (unsigned word = 0; word < DX__WORD__COUNT; word++)
        if (words->at[word] && !dx__word_is_in((dx__word)word, draft7))
            words->at[word] = NULL;
}
