#include "base/alloc.h"
#include "base/words.h"
#include "schema/check.h"

#include <string.h>

static uint64_t count_characters(dx_text text) {
    uint64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return count;
}

/* A character has one to four bytes, which most often is enough to know. */
static dx__out check_length(dx_check *check, const dx__node *node, yyjson_val *string,
                            dx_text text) {
    const dx__string_rules *rules = node->string;
    if (text.len <= rules->max && (text.len + 3) / 4 >= rules->min)
        return DX__FITS;
    uint64_t count = count_characters(text);
    dx__detail detail = {.number = count};
    if (count < rules->min)
        return dx__misfit(check, node, string, DX__WORD_MIN_LENGTH, &detail);
    if (count > rules->max)
        return dx__misfit(check, node, string, DX__WORD_MAX_LENGTH, &detail);
    return DX__FITS;
}

static dx__out check_pattern(dx_check *check, const dx__node *node, yyjson_val *string,
                             dx_text text) {
    dx_status status = dx__pattern_find(node->string->pattern, check->room, text);
    if (status == DX_OK)
        return DX__FITS;
    if (status != DX_AGAIN)
        return dx__stop(check, status);
    return dx__misfit(check, node, string, DX__WORD_PATTERN, NULL);
}

dx__out dx__check_string(dx_check *check, const dx__node *node, yyjson_val *string) {
    const dx__string_rules *rules = node->string;
    dx_text text = dx__text_of(string);
    bool searched = rules->pattern && !dx__pattern_is_anchored(rules->pattern);
    /* What a string costs is in proportion to its length, a search in all of it more than others.
     */
    if (!dx__step(check, (searched ? text.len : text.len / 16) + (rules->pattern ? 16 : 0)))
        return dx__stop_steps(check);
    dx__out out = check_length(check, node, string, text);
    if (out == DX__FITS && rules->pattern)
        out = check_pattern(check, node, string, text);
    if (out == DX__FITS && rules->format && !rules->format->fits(text))
        out = dx__misfit(check, node, string, DX__WORD_FORMAT, NULL);
    return out;
}

dx__out dx__check_number(dx_check *check, const dx__node *node, yyjson_val *number) {
    const dx__number_rules *rules = node->number;
    dx__out out = DX__FITS;
    if (rules->min && dx__number_compare(number, rules->min) < 0)
        out = dx__misfit(check, node, number, DX__WORD_MINIMUM, NULL);
    if (out == DX__FITS && rules->max && dx__number_compare(number, rules->max) > 0)
        out = dx__misfit(check, node, number, DX__WORD_MAXIMUM, NULL);
    if (out == DX__FITS && rules->above && dx__number_compare(number, rules->above) <= 0)
        out = dx__misfit(check, node, number, DX__WORD_EXCLUSIVE_MINIMUM, NULL);
    if (out == DX__FITS && rules->below && dx__number_compare(number, rules->below) >= 0)
        out = dx__misfit(check, node, number, DX__WORD_EXCLUSIVE_MAXIMUM, NULL);
    if (out == DX__FITS && rules->unit) {
        dx__decimal decimal;
        if (!dx__decimal_of(number, &decimal) ||
            !dx__decimal_is_multiple(decimal, rules->unit_decimal))
            out = dx__misfit(check, node, number, DX__WORD_MULTIPLE_OF, NULL);
    }
    return out;
}

/* Decodes base64 (RFC 4648, with padding) into `to`, which has room for three quarters of it. */
static bool decode(dx_text text, char *to, size_t *ret_len) {
    if (text.len % 4)
        return false;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i += 4) {
        size_t digits = 4;
        if (i + 4 == text.len)
            while (digits > 2 && text.at[i + digits - 1] == '=')
                digits--;
        uint32_t group = 0;
        for (size_t j = 0; j < 4; j++) {
            int value = j < digits ? dx__base64_value(text.at[i + j]) : 0;
            if (value < 0)
                return false;
            group = group << 6 | (uint32_t)value;
        }
        for (size_t j = 0; j + 1 < digits; j++)
            to[len++] = (char)(group >> (16 - 8 * j));
    }
    *ret_len = len;
    return true;
}

static bool keep_inner(dx_check *check, yyjson_doc *doc) {
    if (check->inner_count == check->inner_cap) {
        uint32_t cap = check->inner_cap ? check->inner_cap * 2 : 4;
        struct dx__inner *inners = dx__realloc(
            &check->alloc, check->inners, check->inner_cap * sizeof *inners, cap * sizeof *inners);
        if (!inners)
            return false;
        check->inners = inners;
        check->inner_cap = cap;
    }
    check->inners[check->inner_count++] = (struct dx__inner){doc, check->frame_count};
    return true;
}

void dx__inners_drop(dx_check *check, uint32_t frame_count) {
    while (check->inner_count && check->inners[check->inner_count - 1].frame >= frame_count)
        yyjson_doc_free(check->inners[--check->inner_count].doc);
}

/* The text is in the cells, or in the string itself. */
static dx__out read_json(dx_check *check, const dx__node *node, yyjson_val *string, dx_text text,
                         yyjson_val **ret_root) {
    yyjson_alc alc = {check->alloc.malloc, check->alloc.realloc, check->alloc.free,
                      check->alloc.ctx};
    yyjson_read_err error;
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)text.at, text.len, YYJSON_READ_NOFLAG, &alc, &error);
    if (!doc && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return dx__stop_memory(check);
    if (!doc)
        return dx__misfit(check, node, string, DX__WORD_CONTENT_MEDIA_TYPE, NULL);
    if (!node->string->content) {
        yyjson_doc_free(doc);
        return DX__FITS;
    }
    if (!keep_inner(check, doc)) {
        yyjson_doc_free(doc);
        return dx__stop_memory(check);
    }
    *ret_root = yyjson_doc_get_root(doc);
    return DX__FITS;
}

dx__out dx__check_content(dx_check *check, const dx__node *node, yyjson_val *string,
                          yyjson_val **ret_root) {
    const dx__string_rules *rules = node->string;
    dx_text text = dx__text_of(string);
    *ret_root = NULL;
    if (!dx__step(check, text.len / 16))
        return dx__stop_steps(check);
    size_t floor = check->cell_count;
    if (rules->base64) {
        size_t at;
        if (!dx__cells_push(check, text.len / 8 + 1, &at))
            return dx__stop_memory(check);
        char *room = (char *)(check->cells + at);
        size_t len;
        if (!decode(text, room, &len)) {
            check->cell_count = floor;
            return dx__misfit(check, node, string, DX__WORD_CONTENT_ENCODING, NULL);
        }
        text = (dx_text){room, len};
    }
    dx__out out = rules->json ? read_json(check, node, string, text, ret_root) : DX__FITS;
    check->cell_count = floor;
    return out;
}
