/* Results that are added up by the rules of their action. */
#include "systems/finecode/er_parts.h"

enum { ROOM = 64 << 10 };

static size_t strings_of(const yyjson_mut_doc *doc) {
    size_t bytes = 0;
    for (const yyjson_str_chunk *chunk = doc->str_pool.chunks; chunk; chunk = chunk->next)
        bytes += chunk->chunk_size;
    return bytes;
}

/* Of strings that are joined the document keeps every stage, and gives nothing back: when it has
 * grown to twice its size, the sum moves into a new one. */
static dx_status renew(dx__finecode_er_sum *sum, const yyjson_alc *alc) {
    if (!sum->value || strings_of(sum->doc) < 2 * sum->kept + ROOM)
        return DX_OK;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(alc);
    yyjson_mut_val *value = doc ? yyjson_mut_val_mut_copy(doc, sum->value) : NULL;
    if (!value) {
        yyjson_mut_doc_free(doc);
        return DX_ERR_NOMEM;
    }
    yyjson_mut_doc_free(sum->doc);
    *sum = (dx__finecode_er_sum){.doc = doc, .value = value, .kept = strings_of(doc)};
    return DX_OK;
}

dx_status dx__finecode_er_sum_add(const dx_allocator *alloc, dx__finecode_er_sum *sum,
                                  yyjson_val *result, yyjson_val *rules) {
    yyjson_alc alc = dx__finecode_alc(alloc);
    if (!sum->doc)
        sum->doc = yyjson_mut_doc_new(&alc);
    if (!sum->doc)
        return DX_ERR_NOMEM;
    if (renew(sum, &alc) != DX_OK)
        return DX_ERR_NOMEM;
    yyjson_mut_val *value = dx__finecode_merge_results(sum->doc, sum->value, result, rules);
    if (!value)
        return DX_ERR_NOMEM;
    sum->value = value;
    return DX_OK;
}

dx_status dx__finecode_er_sum_read(const dx_allocator *alloc, const dx__finecode_er_sum *sum,
                                   yyjson_doc **ret_doc) {
    yyjson_alc alc = dx__finecode_alc(alloc);
    yyjson_doc *doc = sum->value ? yyjson_mut_val_imut_copy(sum->value, &alc) : NULL;
    if (sum->value && !doc)
        return DX_ERR_NOMEM;
    *ret_doc = doc;
    return DX_OK;
}

dx_status dx__finecode_er_sum_join(const dx_allocator *alloc, dx__finecode_er_sum *sum,
                                   const dx__finecode_er_sum *other, yyjson_val *rules) {
    yyjson_doc *doc = NULL;
    dx_status status = dx__finecode_er_sum_read(alloc, other, &doc);
    if (status == DX_OK && doc)
        status = dx__finecode_er_sum_add(alloc, sum, yyjson_doc_get_root(doc), rules);
    yyjson_doc_free(doc);
    return status;
}

void dx__finecode_er_sum_done(dx__finecode_er_sum *sum) {
    yyjson_mut_doc_free(sum->doc);
    *sum = (dx__finecode_er_sum){.doc = NULL};
}

/* Whether a member can be what its rule merges; null can be anything that is not there. */
static bool fits(yyjson_val *value, dx_text rule) {
    if (!value || yyjson_is_null(value))
        return true;
    if (dx_text_is(rule, "concat"))
        return yyjson_is_arr(value) || yyjson_is_str(value);
    if (dx_text_is(rule, "merge"))
        return yyjson_is_obj(value);
    if (dx_text_is(rule, "or") || dx_text_is(rule, "and"))
        return yyjson_is_bool(value);
    if (dx_text_is(rule, "sum") || dx_text_is(rule, "max") || dx_text_is(rule, "min"))
        return yyjson_is_num(value);
    return true;
}

bool dx__finecode_er_is_result(yyjson_val *value, yyjson_val *rules) {
    yyjson_obj_iter iter = yyjson_obj_iter_with(rules);
    if (!yyjson_is_obj(value))
        return false;
    for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
        yyjson_val *rule = yyjson_obj_iter_get_val(name);
        yyjson_val *member = yyjson_obj_getn(value, yyjson_get_str(name), yyjson_get_len(name));
        if (!fits(member, dx_json_string(rule)))
            return false;
    }
    return true;
}
