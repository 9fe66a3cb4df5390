/* Results that are added up again and again: memory for what they are, not for what they were. */
#include "systems/finecode/er_parts.h"
#include "unit/unit.h"

enum { PARTS = 20000 };

static void add_many(const char *part, const char *rules, size_t expected) {
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx__finecode_er_sum sum = {.doc = NULL};
    yyjson_doc *result = yyjson_read(part, strlen(part), 0);
    yyjson_doc *merge = yyjson_read(rules, strlen(rules), 0);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(dx__finecode_er_sum_add(&alloc, &sum, yyjson_doc_get_root(result),
                                                 yyjson_doc_get_root(merge)),
                         DX_OK);
    yyjson_mut_val *texts = yyjson_mut_obj_get(sum.value, "texts");
    if (yyjson_mut_is_obj(texts))
        texts = yyjson_mut_obj_get(texts, "a");
    assert_int_equal(yyjson_mut_get_len(texts), expected);
    dx__finecode_er_sum_done(&sum);
    assert_int_equal(memory.blocks, 0);
    assert_true(memory.peak < (size_t)16 << 20);
    yyjson_doc_free(result);
    yyjson_doc_free(merge);
}

static void joins_strings(void **state) {
    (void)state;
    add_many("{\"texts\":\"0123456789\"}", "{\"texts\":\"concat\"}", 10 * PARTS);
    add_many("{\"texts\":{\"a\":\"0123456789\"}}", "{\"texts\":\"merge\",\"a\":\"concat\"}",
             10 * PARTS);
}

static void joins_lists(void **state) {
    (void)state;
    add_many("{\"texts\":[\"0123456789\"]}", "{\"texts\":\"concat\"}", PARTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_strings),
        cmocka_unit_test(joins_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
