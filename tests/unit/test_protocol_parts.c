/* What protocols are read and shown with: tables, texts that match, values that fit. */
#include "unit/unit.h"

#include "protocol/like.h"
#include "protocol/sample.h"
#include "protocol/table.h"

#include <stdio.h>

static void a_table_keeps_names_in_order(void **state) {
    (void)state;
    enum { MANY = 1000 };
    static char names[MANY][8];
    static yyjson_val values[MANY];
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx__table table;
    dx__table_init(&table, &alloc);
    assert_null(dx__table_find(&table, TEXT("")));
    for (size_t i = 0; i < MANY; i++) {
        yyjson_val *old = &values[0];
        snprintf(names[i], sizeof names[i], "n%zu", i);
        assert_int_equal(dx__table_put(&table, dx_str(names[i]), &values[i], &old), DX_OK);
        assert_null(old);
    }
    yyjson_val *old = NULL;
    assert_int_equal(dx__table_put(&table, TEXT("n7"), &values[8], &old), DX_OK);
    assert_ptr_equal(old, &values[7]);
    assert_int_equal(dx__table_put(&table, TEXT(""), &values[9], &old), DX_OK);
    assert_null(old);
    assert_int_equal(table.count, MANY + 1);
    for (size_t i = 0; i < MANY; i++) {
        assert_string_equal(table.rows[i].name.at, names[i]);
        const dx__row *row = dx__table_find(&table, dx_str(names[i]));
        assert_ptr_equal(row, &table.rows[i]);
        assert_ptr_equal(row->value, &values[i == 7 ? 8 : i]);
    }
    assert_ptr_equal(dx__table_find(&table, TEXT(""))->value, &values[9]);
    assert_null(dx__table_find(&table, TEXT("n1000")));
    dx__table_done(&table);
    assert_int_equal(memory.blocks, 0);
}

static void a_table_is_unchanged_without_memory(void **state) {
    (void)state;
    static yyjson_val value;
    for (size_t fail_at = 1; fail_at <= 4; fail_at++) {
        struct unit_memory memory = {.fail_at = fail_at};
        dx_allocator alloc = unit_allocator(&memory);
        dx__table table;
        dx__table_init(&table, &alloc);
        char names[40][4];
        size_t count = 0;
        for (; count < 40; count++) {
            snprintf(names[count], sizeof names[count], "%zu", count);
            if (dx__table_put(&table, dx_str(names[count]), &value, NULL) != DX_OK)
                break;
        }
        assert_true(count < 40);
        assert_int_equal(table.count, count);
        assert_null(dx__table_find(&table, dx_str(names[count])));
        for (size_t i = 0; i < count; i++)
            assert_non_null(dx__table_find(&table, dx_str(names[i])));
        dx__table_done(&table);
        assert_int_equal(memory.blocks, 0);
    }
}

static void simple_patterns_have_a_text(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"^abc$", "abc"},
        {"^[a-z0-9][a-z0-9-]*$", "a"},
        {"^[A-Za-z][A-Za-z0-9+.-]*:", "A:"},
        {"^\\s*\\{\\s*\\}$", "{}"},
        {"^(a|b)+(c|d)?$", "a"},
        {"x{3}", "xxx"},
        {"x{2,}y{1,4}?", "xxy"},
        {"(ab){2}", "abab"},
        {"(?:a|b)c", "ac"},
        {"a|b", "a"},
        {"\\d\\w\\s\\.\\t", "0a .\t"},
        {"[\\]a]", "]"},
        {"[a\\]b]c", "ac"},
        {"a.c", "axc"},
        {"((((((a))))))", "a"},
        {"é", "é"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[DX__LIKE_ROOM];
        assert_true(dx__like(dx_str(rows[i][0]), text));
        assert_string_equal(text, rows[i][1]);
    }
}

static void other_patterns_have_none(void **state) {
    (void)state;
    static const char *const patterns[] = {
        "[^a]",  "(",
        "a)",    "[a",
        "[]a]",  "*",
        "a**",   "a{",
        "a{,3}", "(?=a)b",
        "\\b",   "\\1",
        "\\",    "x{129}",
        "x{65}", "((((((((a))))))))",
        "+a",    "a{2",
        "(a|",   "(?<n>a)",
        "a{x}",  "(ab){64}c{9}",
    };
    for (size_t i = 0; i < LENGTH(patterns); i++) {
        char text[DX__LIKE_ROOM];
        assert_false(dx__like(dx_str(patterns[i]), text));
    }
    char text[DX__LIKE_ROOM];
    assert_false(dx__like((dx_text){NULL, 0}, text));
}

static void expect_sample(const char *schema, int container, const char *expected) {
    yyjson_doc *doc = yyjson_read(schema, strlen(schema), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    dx_buf json;
    dx_buf_init(&json, 1 << 20, NULL);
    assert_non_null(root);
    assert_int_equal(dx__sample_write(root, root, container, &json), DX_OK);
    assert_int_equal(dx_buf_append(&json, "", 1), DX_OK);
    assert_string_equal(json.data, expected);
    dx_buf_done(&json);
    yyjson_doc_free(doc);
}

static void the_smallest_value_fits(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"true", "null"},
        {"{}", "null"},
        {"{\"type\":\"string\"}", "\"\""},
        {"{\"type\":\"string\",\"minLength\":3}", "\"xxx\""},
        {"{\"type\":\"string\",\"pattern\":\"^a+$\"}", "\"a\""},
        {"{\"type\":\"string\",\"format\":\"uri\"}", "\"x:\""},
        {"{\"format\":\"date-time\"}", "\"2025-01-01T00:00:00Z\""},
        {"{\"type\":\"integer\"}", "0"},
        {"{\"type\":\"integer\",\"minimum\":5}", "5"},
        {"{\"type\":\"number\",\"minimum\":-5,\"maximum\":-2.5}", "-2.5"},
        {"{\"minimum\":1}", "1"},
        {"{\"type\":\"boolean\"}", "false"},
        {"{\"type\":\"null\"}", "null"},
        {"{\"type\":[\"null\",\"object\"]}", "null"},
        {"{\"const\":{\"a\":[1]}}", "{\"a\":[1]}"},
        {"{\"enum\":[\"b\",\"a\"]}", "\"b\""},
        {"{\"type\":\"array\"}", "[]"},
        {"{\"items\":{}}", "[]"},
        {"{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"integer\"}}", "[0,0]"},
        {"{\"minItems\":2,\"prefixItems\":[{\"const\":1}],\"items\":{\"const\":2}}", "[1,2]"},
        {"{\"type\":\"object\"}", "{}"},
        {"{\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{\"type\":\"string\"}}}",
         "{\"a\":\"\",\"b\":null}"},
        {"{\"required\":[\"a\"],\"additionalProperties\":{\"type\":\"integer\"}}", "{\"a\":0}"},
        {"{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}", "0"},
        {"{\"oneOf\":[{\"const\":1}]}", "1"},
        {"{\"allOf\":[{\"required\":[\"a\"]},{\"required\":[\"a\",\"b\"]},{\"properties\":{\"a\":"
         "{\"type\":\"integer\"},\"b\":{\"const\":2}}}]}",
         "{\"a\":0,\"b\":2}"},
        {"{\"$defs\":{\"a/b\":{\"const\":7}},\"$ref\":\"#/$defs/a~1b\"}", "7"},
        {"{\"$defs\":{\"a b\":{\"const\":7}},\"$ref\":\"#/$defs/a%20b\"}", "7"},
        {"{\"$ref\":\"#/nowhere\"}", "null"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        expect_sample(rows[i][0], 0, rows[i][1]);
    expect_sample("{}", 1, "{}");
    expect_sample("{\"type\":[\"array\",\"object\"]}", 1, "{}");
    expect_sample("{\"type\":\"array\"}", 1, "[]");
}

/* A value without end is cut. */
static void what_has_no_end_is_cut(void **state) {
    (void)state;
    static const char *const schemas[] = {
        ("{\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{\"$ref\":\"#/properties/b\"},"
         "\"b\":{\"required\":[\"a\",\"b\"],\"properties\":{\"a\":{\"$ref\":\"#/properties/b\"},"
         "\"b\":{\"$ref\":\"#/properties/b\"}}}}}"),
        "{\"$ref\":\"#/not\",\"not\":{\"$ref\":\"#/not\"}}",
        "{\"type\":\"string\",\"minLength\":18446744073709551615}",
        "{\"type\":\"string\",\"minLength\":-1e300}",
        "{\"type\":\"array\",\"minItems\":1e300,\"items\":{\"minLength\":1e300}}",
    };
    for (size_t i = 0; i < LENGTH(schemas); i++) {
        yyjson_doc *doc = yyjson_read(schemas[i], strlen(schemas[i]), 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        dx_buf json;
        dx_buf_init(&json, 1 << 20, NULL);
        assert_int_equal(dx__sample_write(root, root, 0, &json), DX_OK);
        yyjson_doc *value = yyjson_read(json.data, json.len, 0);
        assert_non_null(value);
        yyjson_doc_free(value);
        dx_buf_done(&json);
        yyjson_doc_free(doc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_keeps_names_in_order),
        cmocka_unit_test(a_table_is_unchanged_without_memory),
        cmocka_unit_test(simple_patterns_have_a_text),
        cmocka_unit_test(other_patterns_have_none),
        cmocka_unit_test(the_smallest_value_fits),
        cmocka_unit_test(what_has_no_end_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
