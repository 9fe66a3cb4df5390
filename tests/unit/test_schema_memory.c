#include "unit/schema.h"

#include <stdbool.h>

static const char schema_text[] =
    "{\"$id\":\"http://a/b\",\"type\":\"object\",\"properties\":{"
    "\"a\":{\"pattern\":\"^a\",\"minLength\":1},\"b\":{\"$ref\":\"#list\"},"
    "\"c\":{\"$ref\":\"c\"},\"d\":{\"enum\":[1,\"x\",[2]]},"
    "\"e\":{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"}},"
    "\"required\":[\"k\"]},{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"b\"}},"
    "\"required\":[\"k\"]}]},\"s\":{\"contentMediaType\":\"application/json\","
    "\"contentSchema\":{\"items\":{\"type\":\"integer\"}}},"
    "\"m\":{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}},"
    "\"patternProperties\":{\"^x\":{\"multipleOf\":0.5}},\"required\":[\"a\"],"
    "\"dependentSchemas\":{\"a\":{\"properties\":{\"f\":{\"type\":\"null\"}}}},"
    "\"unevaluatedProperties\":false,\"$defs\":{\"list\":{\"$anchor\":\"list\","
    "\"uniqueItems\":true,\"contains\":{\"const\":1},\"items\":{\"anyOf\":[{\"type\":\"integer\"},"
    "{\"$ref\":\"#list\"}]}},\"c\":{\"$id\":\"c\",\"not\":{\"type\":\"null\"},"
    "\"if\":{\"type\":\"string\"},\"then\":{\"maxLength\":3},\"else\":{\"maximum\":9}}}}";

static const char value_text[] =
    "{\"b\":[1,2,3,4,5,6,7,8,9,10,[1,[1]]],\"c\":\"abc\",\"a\":\"ab\",\"d\":[2],"
    "\"e\":{\"k\":\"b\"},\"f\":null,\"x1\":1.5,\"s\":\"[1,2]\",\"m\":{\"properties\":{\"a\":{}}}}";

/* Everything from an empty set to the answer; whatever was made is given back. */
static dx_status whole_life(const dx_allocator *alloc, yyjson_val *root, yyjson_val *value) {
    dx_schemas_config config = dx_schemas_defaults();
    dx_check_config check_config = dx_check_defaults();
    config.allocator = check_config.allocator = alloc;
    config.flags = DX_SCHEMA_CONTENT;
    dx_schemas *set = NULL;
    dx_check *check = NULL;
    dx_schema *schema = NULL;
    dx_misfit why = {.phrase = "?"};
    dx_status status = dx_schemas_new(&config, &set);
    if (status == DX_OK)
        status = dx_check_new(&check_config, &check);
    if (status == DX_OK)
        status = dx_schemas_add(set, dx_str(""), root, &why);
    if (status == DX_OK)
        status = dx_schemas_compile(set, dx_str("http://a/b"), &schema, &why);
    if (status == DX_OK)
        status = dx_schema_check(schema, value, 0, check, &why);
    if (status != DX_OK && status != DX_ERR_NOMEM)
        fail_msg("%d: %s", (int)status, why.phrase);
    dx_check_free(check);
    dx_schemas_free(set);
    return status;
}

static void survives_every_allocation_that_fails(void **state) {
    (void)state;
    yyjson_doc *doc = parse(schema_text);
    yyjson_doc *value = parse(value_text);
    size_t failures = 0;
    for (size_t fail = 1;; fail++) {
        struct unit_memory memory = {.fail_at = fail};
        dx_allocator alloc = unit_allocator(&memory);
        dx_status status = whole_life(&alloc, yyjson_doc_get_root(doc), yyjson_doc_get_root(value));
        assert_int_equal(memory.blocks, 0);
        if (status == DX_OK)
            break;
        failures++;
    }
    assert_true(failures > 20);
    yyjson_doc_free(doc);
    yyjson_doc_free(value);
}

/* The same call again, when there is memory again, does what it should have done. */
static void a_call_can_be_repeated(void **state) {
    (void)state;
    yyjson_doc *doc = parse(schema_text);
    yyjson_doc *value = parse(value_text);
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_schemas_config config = dx_schemas_defaults();
    dx_check_config check_config = dx_check_defaults();
    config.allocator = check_config.allocator = &alloc;
    config.flags = DX_SCHEMA_CONTENT;
    dx_schemas *set;
    dx_check *check;
    dx_schema *schema = NULL;
    assert_int_equal(dx_schemas_new(&config, &set), DX_OK);
    assert_int_equal(dx_check_new(&check_config, &check), DX_OK);
    dx_status status[3] = {DX_ERR_NOMEM, DX_ERR_NOMEM, DX_ERR_NOMEM};
    for (int call = 0; call < 3; call++)
        for (size_t more = 1; status[call] != DX_OK; more++) {
            memory.fail_at = memory.count + more;
            if (call == 0)
                status[0] = dx_schemas_add(set, dx_str(""), yyjson_doc_get_root(doc), NULL);
            else if (call == 1)
                status[1] = dx_schemas_compile(set, dx_str(""), &schema, NULL);
            else
                status[2] = dx_schema_check(schema, yyjson_doc_get_root(value), 0, check, NULL);
            memory.fail_at = 0;
            assert_true(status[call] == DX_OK || status[call] == DX_ERR_NOMEM);
        }
    dx_check_free(check);
    dx_schemas_free(set);
    assert_int_equal(memory.blocks, 0);
    yyjson_doc_free(doc);
    yyjson_doc_free(value);
}

/* Once a check has grown to what a value needs, it allocates nothing more, fit or misfit. */
static void a_warm_check_allocates_nothing(void **state) {
    (void)state;
    static const char good[] =
        "{\"b\":[1,2,3,4,5,6,7,8,9,10,[1,[1]]],\"c\":\"abc\",\"a\":\"ab\",\"d\":[2],"
        "\"e\":{\"k\":\"b\"},\"f\":null,\"x1\":1.5,\"m\":{\"properties\":{\"a\":{}}}}";
    static const char *const values[] = {good,
                                         "{\"b\":[1,2,3,4,5,6,7,8,9,10,[1,[2]]],\"a\":\"ab\"}",
                                         "{\"a\":\"b\"}", "{\"a\":\"a\",\"z\":1}", "[]"};
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_check_config config = dx_check_defaults();
    config.allocator = &alloc;
    struct subject subject = subject_with(schema_text, NULL, &config);
    yyjson_doc *docs[LENGTH(values)];
    for (size_t i = 0; i < LENGTH(values); i++)
        docs[i] = parse(values[i]);
    for (int round = 0; round < 3; round++) {
        size_t before = memory.count;
        for (size_t i = 0; i < LENGTH(values); i++) {
            dx_misfit why;
            dx_status status = dx_schema_check(subject.schema, yyjson_doc_get_root(docs[i]), 0,
                                               subject.check, &why);
            assert_int_equal(status, i ? DX_MISFIT : DX_OK);
        }
        if (round)
            assert_int_equal(memory.count, before);
    }
    for (size_t i = 0; i < LENGTH(values); i++)
        yyjson_doc_free(docs[i]);
    subject_done(&subject);
    assert_int_equal(memory.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_every_allocation_that_fails),
        cmocka_unit_test(a_call_can_be_repeated),
        cmocka_unit_test(a_warm_check_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
