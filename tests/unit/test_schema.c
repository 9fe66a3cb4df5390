#include "unit/schema.h"

#include <stdio.h>

static void says_what_is_wrong_with_a_schema(void **state) {
    (void)state;
    static const struct {
        const char *schema;
        const char *keyword;
        const char *phrase;
    } rows[] = {
        {"3", "", "#: not a schema"},
        {"{\"not\":3}", "", "#/not: a schema must be an object or a boolean"},
        {"{\"properties\":{\"a\":{\"type\":\"text\"}}}", "type",
         "#/properties/a/type: not the name of a type \"text\""},
        {"{\"type\":[1]}", "type", "#/type: not the name of a type"},
        {"{\"required\":\"a\"}", "required", "#/required: must be an array of strings"},
        {"{\"required\":[1]}", "required", "#/required: must be an array of strings"},
        {"{\"minLength\":-1}", "minLength", "#/minLength: must be a non-negative integer"},
        {"{\"maxItems\":1.5}", "maxItems", "#/maxItems: must be a non-negative integer"},
        {"{\"minimum\":\"1\"}", "minimum", "#/minimum: must be a number"},
        {"{\"multipleOf\":0}", "multipleOf", "#/multipleOf: must be a number greater than 0"},
        {"{\"enum\":1}", "enum", "#/enum: must be an array"},
        {"{\"allOf\":[]}", "allOf", "#/allOf: must be a non-empty array of schemas"},
        {"{\"oneOf\":{}}", "oneOf", "#/oneOf: must be a non-empty array of schemas"},
        {"{\"prefixItems\":{}}", "prefixItems",
         "#/prefixItems: must be a non-empty array of schemas"},
        {"{\"items\":[{}]}", "", "#/items: a schema must be an object or a boolean"},
        {"{\"properties\":[]}", "properties", "#/properties: must be an object of schemas"},
        {"{\"patternProperties\":1}", "patternProperties",
         "#/patternProperties: must be an object of schemas"},
        {"{\"dependentRequired\":[]}", "dependentRequired",
         "#/dependentRequired: must be an object"},
        {"{\"uniqueItems\":1}", "uniqueItems", "#/uniqueItems: must be true or false"},
        {"{\"format\":1}", "format", "#/format: must be a string"},
        {"{\"pattern\":1}", "pattern", "#/pattern: must be a string"},
        {"{\"$ref\":1}", "$ref", "#/$ref: must be a string"},
        {"{\"$ref\":\"#/$defs/a\"}", "$ref", "#/$ref: leads nowhere: \"#/$defs/a\""},
        {"{\"$ref\":\"#a\"}", "$ref", "#/$ref: leads nowhere: \"#a\""},
        {"{\"allOf\":[{\"$ref\":\"http://a/b?c#d\"}]}", "$ref",
         "#/allOf/0/$ref: no document has the URI \"http://a/b?c\""},
        {"{\"$ref\":\"#%\"}", "$ref", "#/$ref: a % without two hex digits in \"#%\""},
        {"{\"$ref\":\"#/x\",\"x\":3}", "$ref",
         "#/$ref: refers to something that is not a schema: \"#/x\""},
        {"{\"$ref\":\"#\"}", "$ref", "#/$ref: refers to itself"},
        {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
         "\"b\":{\"$ref\":\"#/$defs/a\"}}}",
         "$ref", "#/$defs/a/$ref: refers to itself"},
        {"{\"allOf\":[{\"$ref\":\"#\"}]}", "allOf", "#/allOf: the schema is part of itself"},
        {"{\"$id\":1}", "$id", "#/$id: must be a string"},
        {"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"a#b\"}", "$id",
         "#/$id: may not have a fragment \"a#b\""},
        {"{\"$id\":\"a b\"}", "$id", "#/$id: not a URI \"a b\""},
        {"{\"$anchor\":\"1\"}", "$anchor", "#/$anchor: not a name for an anchor \"1\""},
        {"{\"$anchor\":null}", "$anchor", "#/$anchor: must be a string"},
        {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}", "$anchor",
         "#/$defs/a/$anchor: another schema has the same anchor \"x\""},
        {"{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}", "$id",
         "#/$defs/a/$id: another schema has the same URI \"x\""},
        {"{\"$schema\":\"http://a/b\"}", "$schema", "#/$schema: unknown metaschema \"http://a/b\""},
        {"{\"$schema\":3}", "$schema", "#/$schema: must be a string"},
        {"{\"$schema\":\"m\",\"$defs\":{\"m\":{\"$id\":\"m\",\"$vocabulary\":{\"x\":true}}}}",
         "$vocabulary", "#/$defs/m/$vocabulary: unknown vocabulary \"x\""},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_misfit why = {.instance = "?", .keyword = "?", .phrase = "?"};
        dx_status status = refusal(rows[i].schema, NULL, &why);
        if (status != DX_ERR_INVALID || strcmp(why.phrase, rows[i].phrase) != 0 ||
            strcmp(why.keyword, rows[i].keyword) != 0)
            fail_msg("%s: %d, %s: '%s'", rows[i].schema, (int)status, why.keyword, why.phrase);
        assert_string_equal(why.instance, "");
    }
    dx_misfit why = {.phrase = "?"};
    assert_int_equal(refusal("{\"pattern\":\"(\"}", NULL, &why), DX_ERR_INVALID);
    assert_memory_equal(why.phrase, "#/pattern: ", 11);
    assert_int_equal(refusal("{\"pattern\":\"(\"}", NULL, NULL), DX_ERR_INVALID);
}

static void a_refusal_leaves_the_set_as_it_was(void **state) {
    (void)state;
    struct unit_memory memory = {0};
    dx_allocator alloc = unit_allocator(&memory);
    dx_schemas_config config = dx_schemas_defaults();
    config.allocator = &alloc;
    dx_schemas *set;
    dx_schema *schema = NULL;
    dx_schema *again = NULL;
    dx_misfit why;
    yyjson_doc *doc = parse("{\"$defs\":{\"good\":{\"type\":\"null\"},"
                            "\"bad\":{\"$ref\":\"#/$defs/good\",\"not\":{\"$ref\":\"#gone\"}}},"
                            "\"x-inside\":{\"$anchor\":\"deep\",\"$dynamicAnchor\":\"dyn\","
                            "\"allOf\":[{\"$ref\":\"#gone\"}]}}");
    yyjson_doc *other =
        parse("{\"$id\":\"b\",\"$defs\":{\"c\":{\"$id\":\"c\"},\"d\":{\"$id\":3}}}");
    assert_int_equal(dx_schemas_new(&config, &set), DX_OK);
    assert_int_equal(dx_schemas_add(set, dx_str("a"), yyjson_doc_get_root(doc), &why), DX_OK);
    assert_int_equal(dx_schemas_add(set, dx_str("e"), yyjson_doc_get_root(other), &why),
                     DX_ERR_INVALID);
    assert_int_equal(dx_schemas_compile(set, dx_str("c"), &schema, &why), DX_ERR_INVALID);
    size_t bytes = 0;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(dx_schemas_compile(set, dx_str("a#/$defs/bad"), &schema, &why),
                         DX_ERR_INVALID);
        assert_int_equal(dx_schemas_compile(set, dx_str("a#/x-inside"), &schema, &why),
                         DX_ERR_INVALID);
        assert_int_equal(dx_schemas_compile(set, dx_str("a#deep"), &schema, &why), DX_ERR_INVALID);
        if (i)
            assert_int_equal(memory.bytes, bytes);
        bytes = memory.bytes;
    }
    assert_null(schema);
    assert_int_equal(dx_schemas_compile(set, dx_str("a#/$defs/good"), &schema, &why), DX_OK);
    assert_int_equal(dx_schemas_compile(set, dx_str("a#/%24defs/good"), &again, &why), DX_OK);
    assert_ptr_equal(schema, again);
    dx_schemas_free(set);
    assert_int_equal(memory.blocks, 0);
    yyjson_doc_free(doc);
    yyjson_doc_free(other);
}

static void documents_are_added_once(void **state) {
    (void)state;
    dx_schemas *set;
    dx_misfit why;
    yyjson_doc *doc = parse("{\"$id\":\"http://a/b\"}");
    yyjson_doc *other = parse("{}");
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_int_equal(dx_schemas_new(NULL, &set), DX_OK);
    assert_int_equal(dx_schemas_add(set, dx_str("a b"), root, &why), DX_ERR_INVALID);
    assert_string_equal(why.phrase, "#: not a URI without a fragment \"a b\"");
    assert_int_equal(dx_schemas_add(set, dx_str("a#b"), root, NULL), DX_ERR_INVALID);
    assert_int_equal(dx_schemas_add(set, dx_str("a"), NULL, NULL), DX_ERR_INVALID);
    assert_int_equal(dx_schemas_add(set, dx_str("a#"), root, &why), DX_OK);
    assert_int_equal(dx_schemas_add(set, dx_str("c"), root, &why), DX_ERR_INVALID);
    assert_string_equal(why.phrase, "#: a document that was added before \"c\"");
    root = yyjson_doc_get_root(other);
    assert_int_equal(dx_schemas_add(set, dx_str("a"), root, &why), DX_ERR_INVALID);
    assert_string_equal(why.phrase, "#: another document has the same URI \"a\"");
    assert_int_equal(dx_schemas_add(set, dx_str("http://a/x/../b"), root, &why), DX_ERR_INVALID);
    assert_int_equal(dx_schemas_add(set, dx_str("http://a/c"), root, &why), DX_OK);
    dx_schema *one;
    dx_schema *two;
    assert_int_equal(dx_schemas_compile(set, dx_str("a"), &one, &why), DX_OK);
    assert_int_equal(dx_schemas_compile(set, dx_str("http://a/b#"), &two, &why), DX_OK);
    assert_ptr_equal(one, two);
    dx_schemas_free(set);
    assert_null(dx_schemas_free(NULL));
    assert_null(dx_check_free(NULL));
    yyjson_doc_free(doc);
    yyjson_doc_free(other);
}

/* Only what is reached is looked at: what is wrong elsewhere is not found. */
static void compiles_only_what_is_asked_for(void **state) {
    (void)state;
    dx_schemas_config config = dx_schemas_defaults();
    config.nodes_max = 2;
    dx_schemas *set;
    dx_schema *schema;
    dx_check *check;
    dx_misfit why;
    yyjson_doc *doc = parse(
        "{\"openrpc\":\"1.3.2\",\"methods\":[{\"params\":[{\"schema\":"
        "{\"items\":{\"$ref\":\"#/components/schemas/Pet\"}}}]}],\"components\":"
        "{\"schemas\":{\"Bad\":{\"type\":7},\"Pet\":{\"$anchor\":\"pet\",\"type\":\"null\"}}}}");
    assert_int_equal(dx_schemas_new(&config, &set), DX_OK);
    assert_int_equal(dx_check_new(NULL, &check), DX_OK);
    assert_int_equal(dx_schemas_add(set, dx_str("o"), yyjson_doc_get_root(doc), &why), DX_OK);
    assert_int_equal(dx_schemas_compile(set, dx_str("o#/methods/0/params/0/schema"), &schema, &why),
                     DX_OK);
    yyjson_doc *value = parse("[null]");
    assert_int_equal(dx_schema_check(schema, yyjson_doc_get_root(value), 0, check, NULL), DX_OK);
    yyjson_doc_free(value);
    value = parse("[null,[]]");
    assert_int_equal(dx_schema_check(schema, yyjson_doc_get_root(value), 0, check, &why),
                     DX_MISFIT);
    assert_string_equal(why.schema, "#/components/schemas/Pet/type");
    yyjson_doc_free(value);
    assert_int_equal(dx_schemas_compile(set, dx_str("o#/components/schemas/Bad"), &schema, &why),
                     DX_ERR_LIMIT);
    dx_check_free(check);
    dx_schemas_free(set);
    yyjson_doc_free(doc);
}

static void each_resource_has_its_draft(void **state) {
    (void)state;
    static const char mixed[] =
        "{\"properties\":{\"new\":{\"prefixItems\":[{\"type\":\"null\"}]},"
        "\"old\":{\"$id\":\"old\",\"$schema\":\"http://json-schema.org/draft-07/schema#\","
        "\"items\":[{\"type\":\"null\"}],\"prefixItems\":[false],\"additionalItems\":false}}}";
    fits(mixed, "{\"new\":[null,1]}");
    misfits(mixed, "{\"new\":[1]}");
    fits(mixed, "{\"old\":[null]}");
    misfits(mixed, "{\"old\":[1]}");
    misfits(mixed, "{\"old\":[null,1]}");
    /* A schema somewhere in a document that is none. */
    yyjson_doc *doc = parse("{\"tools\":[{\"in\":{\"$schema\":\"http://json-schema.org/draft-07/"
                            "schema\",\"items\":[{\"$ref\":\"#/x\",\"type\":\"null\"}]}}],"
                            "\"x\":{\"type\":\"string\"}}");
    dx_schemas *set;
    dx_schema *schema;
    dx_check *check;
    dx_misfit why;
    assert_int_equal(dx_schemas_new(NULL, &set), DX_OK);
    assert_int_equal(dx_check_new(NULL, &check), DX_OK);
    assert_int_equal(dx_schemas_add(set, dx_str(""), yyjson_doc_get_root(doc), &why), DX_OK);
    assert_int_equal(dx_schemas_compile(set, dx_str("#/tools/0/in"), &schema, &why), DX_OK);
    yyjson_doc *value = parse("[\"a\"]");
    assert_int_equal(dx_schema_check(schema, yyjson_doc_get_root(value), 0, check, NULL), DX_OK);
    yyjson_doc_free(value);
    dx_check_free(check);
    dx_schemas_free(set);
    yyjson_doc_free(doc);
}

static void unknown_members_pass_where_that_is_asked(void **state) {
    (void)state;
    static const struct {
        const char *schema;
        const char *value;
        dx_status open;
    } rows[] = {
        {"{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"b\":1}", DX_OK},
        {"{\"patternProperties\":{\"^a\":true},\"additionalProperties\":false}", "{\"b\":1}",
         DX_OK},
        {"{\"properties\":{\"a\":{\"type\":\"null\"}},\"additionalProperties\":false}",
         "{\"b\":1,\"a\":1}", DX_MISFIT},
        {"{\"allOf\":[{\"properties\":{\"a\":true}}],\"unevaluatedProperties\":false}", "{\"b\":1}",
         DX_OK},
        {"{\"unevaluatedProperties\":false}", "{\"b\":1}", DX_OK},
        {"{\"properties\":{\"b\":false}}", "{\"b\":1}", DX_MISFIT},
        {"{\"items\":false}", "[1]", DX_MISFIT},
        {"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"b\":1}", DX_MISFIT},
        {"{\"oneOf\":[{\"required\":[\"a\"]},{\"properties\":{\"c\":true},"
         "\"additionalProperties\":false}]}",
         "{\"b\":1}", DX_OK},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct subject subject = subject_of(rows[i].schema);
        assert_int_equal(subject_check(&subject, rows[i].value, 0, NULL), DX_MISFIT);
        assert_int_equal(subject_check(&subject, rows[i].value, DX_CHECK_OPEN, NULL), rows[i].open);
        subject_done(&subject);
    }
}

static void flags_assert_what_else_is_annotation(void **state) {
    (void)state;
    static const struct {
        unsigned flag;
        const char *schema;
        const char *good;
        const char *bad;
        const char *phrase;
    } rows[] = {
        {DX_SCHEMA_FORMAT, "{\"format\":\"ipv4\"}", "\"1.2.3.4\"", "\"1.2.3\"",
         "expected the format ipv4, found \"1.2.3\""},
        {DX_SCHEMA_CONTENT, "{\"contentEncoding\":\"base64\"}", "\"aGk=\"", "\"aGk\"",
         "expected base64, found \"aGk\""},
        {DX_SCHEMA_CONTENT, "{\"contentMediaType\":\"application/json\"}", "\"[1]\"", "\"[\"",
         "expected JSON in the string, found \"[\""},
        {DX_SCHEMA_CONTENT,
         "{\"properties\":{\"a\":{\"contentEncoding\":\"BASE64\",\"contentMediaType\":"
         "\"application/json\",\"contentSchema\":{\"items\":{\"type\":\"null\"}}}}}",
         "{\"a\":\"W251bGxd\"}", "{\"a\":\"WzFd\"}", "/a/0: expected null, found number"},
        {DX_SCHEMA_CONTENT,
         "{\"anyOf\":[{\"contentMediaType\":\"application/json\",\"contentSchema\":"
         "{\"items\":{\"not\":{}}}},{\"maxLength\":1}]}",
         "\"[]\"", "\"[{}]\"",
         "fits none of the 2 allowed forms; nearest is form 2: expected at most 1 character, found "
         "4"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        dx_schemas_config config = dx_schemas_defaults();
        struct subject subject = subject_with(rows[i].schema, &config, NULL);
        assert_int_equal(subject_check(&subject, rows[i].bad, 0, NULL), DX_OK);
        subject_done(&subject);
        config.flags = rows[i].flag;
        subject = subject_with(rows[i].schema, &config, NULL);
        dx_misfit why = {.phrase = "?"};
        assert_int_equal(subject_check(&subject, rows[i].good, 0, &why), DX_OK);
        assert_int_equal(subject_check(&subject, rows[i].bad, 0, &why), DX_MISFIT);
        assert_string_equal(why.phrase, rows[i].phrase);
        subject_done(&subject);
    }
}

static void metaschemas_know_what_a_schema_is(void **state) {
    (void)state;
    static const char *const uris[] = {"https://json-schema.org/draft/2020-12/schema",
                                       "http://json-schema.org/draft-07/schema#"};
    for (size_t i = 0; i < LENGTH(uris); i++) {
        dx_schemas *set;
        dx_schema *schema;
        dx_check *check;
        dx_misfit why = {.phrase = "?"};
        assert_int_equal(dx_schemas_new(NULL, &set), DX_OK);
        assert_int_equal(dx_check_new(NULL, &check), DX_OK);
        assert_int_equal(dx_schemas_compile(set, dx_str(uris[i]), &schema, &why), DX_OK);
        static const char *const good[] = {
            "true", "{}", "{\"properties\":{\"a\":{\"type\":[\"null\",\"array\"]}}}",
            "{\"allOf\":[{\"not\":{\"minLength\":2.0}}],\"if\":false,\"enum\":[1]}"};
        static const char *const bad[] = {"3",
                                          "{\"properties\":{\"a\":{\"type\":\"text\"}}}",
                                          "{\"allOf\":[{\"not\":{\"minLength\":-2}}]}",
                                          "{\"anyOf\":[]}",
                                          "{\"required\":[\"a\",\"a\"]}",
                                          "{\"patternProperties\":{\"a\":3}}",
                                          "{\"multipleOf\":0}",
                                          "{\"if\":[]}"};
        for (size_t j = 0; j < LENGTH(good) + LENGTH(bad); j++) {
            const char *text = j < LENGTH(good) ? good[j] : bad[j - LENGTH(good)];
            yyjson_doc *value = parse(text);
            dx_status status = dx_schema_check(schema, yyjson_doc_get_root(value), 0, check, &why);
            if (status != (j < LENGTH(good) ? DX_OK : DX_MISFIT))
                fail_msg("%s: %s: %d", uris[i], text, (int)status);
            yyjson_doc_free(value);
        }
        dx_check_free(check);
        dx_schemas_free(set);
    }
}

/* Members in another order than the last time, names of all lengths, and names that come again. */
static void members_are_found_in_any_order(void **state) {
    (void)state;
    char schema[20000] = "{\"properties\":{";
    char value[20000];
    enum { NAMES = 60 };
    size_t len = strlen(schema);
    for (size_t i = 0; i < NAMES; i++)
        len += (size_t)snprintf(schema + len, sizeof schema - len,
                                "%s\"%.*s%02zu\":{\"const\":%zu}", i ? "," : "", (int)(i / 2),
                                "abcdefghijklmnopqrstuvwxyzabcdefghij", i, i);
    snprintf(schema + len, sizeof schema - len, "},\"additionalProperties\":{\"type\":\"null\"}}");
    struct subject subject = subject_of(schema);
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        size_t wrong = round % 3 == 0 ? unit_random(&seed, NAMES) : NAMES;
        len = (size_t)snprintf(value, sizeof value, "{\"x\":null");
        for (size_t n = 0; n < NAMES; n++) {
            size_t i = round % 2 ? unit_random(&seed, NAMES) : n;
            if (n == 30)
                i = wrong < NAMES ? wrong : i;
            len += (size_t)snprintf(value + len, sizeof value - len, ",\"%.*s%02zu\":%zu",
                                    (int)(i / 2), "abcdefghijklmnopqrstuvwxyzabcdefghij", i,
                                    n == 30 && wrong < NAMES ? i + 1 : i);
        }
        snprintf(value + len, sizeof value - len, "}");
        dx_misfit why;
        assert_int_equal(subject_check(&subject, value, 0, &why),
                         wrong < NAMES ? DX_MISFIT : DX_OK);
    }
    subject_done(&subject);
}

static void there_must_be_something_to_check(void **state) {
    (void)state;
    struct subject subject = subject_of("true");
    yyjson_doc *doc = parse("1");
    yyjson_val *value = yyjson_doc_get_root(doc);
    assert_int_equal(dx_schema_check(subject.schema, value, 0, subject.check, NULL), DX_OK);
    assert_int_equal(dx_schema_check(subject.schema, NULL, 0, subject.check, NULL), DX_ERR_INVALID);
    assert_int_equal(dx_schema_check(NULL, value, 0, subject.check, NULL), DX_ERR_INVALID);
    yyjson_doc_free(doc);
    doc = yyjson_read("1", 1, YYJSON_READ_NUMBER_AS_RAW);
    dx_misfit why;
    assert_int_equal(
        dx_schema_check(subject.schema, yyjson_doc_get_root(doc), 0, subject.check, &why), DX_OK);
    yyjson_doc_free(doc);
    subject_done(&subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_wrong_with_a_schema),
        cmocka_unit_test(a_refusal_leaves_the_set_as_it_was),
        cmocka_unit_test(documents_are_added_once),
        cmocka_unit_test(compiles_only_what_is_asked_for),
        cmocka_unit_test(each_resource_has_its_draft),
        cmocka_unit_test(unknown_members_pass_where_that_is_asked),
        cmocka_unit_test(flags_assert_what_else_is_annotation),
        cmocka_unit_test(metaschemas_know_what_a_schema_is),
        cmocka_unit_test(members_are_found_in_any_order),
        cmocka_unit_test(there_must_be_something_to_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
