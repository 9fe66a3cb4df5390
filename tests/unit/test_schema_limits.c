#include "unit/schema.h"

#include <stdbool.h>
#include <stdio.h>

/* A schema that lies in `depth` others. */
static char *nested(size_t depth) {
    char *head = repeated("", "{\"allOf\":[", depth, "{}");
    char *text = repeated(head, "]}", depth, "");
    free(head);
    return text;
}

static void schemas_nest_up_to_a_limit(void **state) {
    (void)state;
    dx_misfit why;
    for (unsigned max = 1; max < 700; max = max * 3 + 1) {
        dx_schemas_config config = dx_schemas_defaults();
        config.nesting_max = max;
        char *text = nested(max - 1);
        assert_int_equal(refusal(text, &config, &why), DX_OK);
        free(text);
        text = nested(max);
        assert_int_equal(refusal(text, &config, &why), DX_ERR_LIMIT);
        free(text);
    }
    char *text = nested(10000);
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_LIMIT);
    assert_string_equal(strrchr(why.phrase, ':'), ": schemas are nested too deep");
    free(text);
}

static void so_many_schemas_are_compiled(void **state) {
    (void)state;
    dx_schemas_config config = dx_schemas_defaults();
    dx_misfit why;
    char *text = repeated("{\"allOf\":[{}", ",{}", 98, "]}"); /* 100 with the whole */
    config.nodes_max = 100;
    assert_int_equal(refusal(text, &config, &why), DX_OK);
    config.nodes_max = 99;
    assert_int_equal(refusal(text, &config, &why), DX_ERR_LIMIT);
    assert_string_equal(strrchr(why.phrase, ':'), ": more schemas than are allowed");
    free(text);
}

static void patterns_have_a_length(void **state) {
    (void)state;
    dx_schemas_config config = dx_schemas_defaults();
    dx_misfit why;
    config.pattern_max = 100;
    for (int properties = 0; properties < 2; properties++) {
        const char *head = properties ? "{\"patternProperties\":{\"" : "{\"pattern\":\"";
        const char *tail = properties ? "\":true}}" : "\"}";
        char *text = repeated(head, "a", 100, tail);
        assert_int_equal(refusal(text, &config, &why), DX_OK);
        free(text);
        text = repeated(head, "a", 101, tail);
        assert_int_equal(refusal(text, &config, &why), DX_ERR_LIMIT);
        free(text);
        text = repeated(head, "(a*)*", 200000, tail);
        assert_int_equal(refusal(text, NULL, &why), DX_ERR_LIMIT);
        free(text);
    }
}

/* The least memory that something works with; one byte less is too little, and said to be. */
static void set_memory_has_a_limit(void **state) {
    (void)state;
    static const char schema[] =
        "{\"$id\":\"x\",\"properties\":{\"a\":{\"pattern\":\"^a\"},\"b\":{\"$ref\":\"#c\"}},"
        "\"$defs\":{\"c\":{\"$anchor\":\"c\",\"enum\":[1,\"b\"]}}}";
    dx_schemas_config config = dx_schemas_defaults();
    size_t low = 0;
    size_t high = config.memory_max;
    dx_misfit why;
    while (high - low > 1) {
        config.memory_max = low + (high - low) / 2;
        dx_status status = refusal(schema, &config, &why);
        assert_true(status == DX_OK || status == DX_ERR_LIMIT);
        if (status == DX_OK) {
            high = config.memory_max;
        } else {
            assert_string_equal(why.phrase, "#: more memory than is allowed");
            low = config.memory_max;
        }
    }
    assert_in_range(high, 1000, 100000);
}

static char *chain(size_t count, const char *last) {
    char *text = malloc(count * 40 + 200);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
    for (size_t i = 0; i < count; i++)
        len += (size_t)sprintf(text + len, "\"%zu\":{\"$ref\":\"#/$defs/%zu\"},", i, i + 1);
    sprintf(text + len, "\"%zu\":%s}}", count, last);
    return text;
}

static void references_lead_through_so_many_others(void **state) {
    (void)state;
    dx_schemas_config config = dx_schemas_defaults();
    dx_misfit why;
    config.nesting_max = 20;
    char *text = chain(20, "{}");
    assert_int_equal(refusal(text, &config, &why), DX_OK);
    free(text);
    text = chain(21, "{}");
    assert_int_equal(refusal(text, &config, &why), DX_ERR_LIMIT);
    free(text);
    text = chain(10000, "{}");
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_LIMIT);
    free(text);
    text = chain(10, "{\"$ref\":\"#/$defs/5\"}");
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_INVALID);
    free(text);
}

/* Each of these would take long or much if nobody watched. */
static void hostile_schemas_end_soon(void **state) {
    (void)state;
    dx_misfit why;
    enum { MANY = 1000000, SOME = 60000 };
    char *text = malloc((size_t)MANY * 20 + 100);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, "{\"properties\":{\"\":true");
    for (size_t i = 0; i < MANY; i++)
        len += (size_t)sprintf(text + len, ",\"%zu\":{}", i);
    sprintf(text + len, "}}");
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_LIMIT);
    len = (size_t)sprintf(text, "{\"required\":[\"\"");
    for (size_t i = 0; i < MANY; i++)
        len += (size_t)sprintf(text + len, ",\"%zu\"", i);
    sprintf(text + len, "]}");
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_LIMIT);
    free(text);
    /* References to the end of a long list, each counted from its beginning. */
    char item[60];
    snprintf(item, sizeof item, ",{\"not\":{\"$ref\":\"#/anyOf/%d\"}}", SOME);
    text = repeated("{\"anyOf\":[{}", item, SOME, "]}");
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_LIMIT);
    free(text);
    /* A URI that is written again for each reference. */
    char *head = repeated("{\"$id\":\"http://a/", "x", 100000, "\",\"allOf\":[{}");
    text = repeated(head, ",{\"$ref\":\"y\"}", 50000, "]}");
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_INVALID);
    free(text);
    text = repeated(head, ",{\"not\":{\"$ref\":\"\"}}", 50000, "]}");
    assert_int_equal(refusal(text, NULL, &why), DX_ERR_LIMIT);
    free(text);
    free(head);
    /* Branches of which each has all the strings there are. */
    head = repeated(
        "{\"$defs\":{\"o\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":"
        "{\"enum\":[\"",
        "a\",\"b", 10000, "\"]}}}},\"anyOf\":[{}");
    text = repeated(head, ",{\"$ref\":\"#/$defs/o\"}", 20000, "]}");
    assert_int_equal(refusal(text, NULL, &why), DX_OK);
    free(text);
    free(head);
}

#define LIST "{\"items\":{\"$ref\":\"#\"},\"type\":\"array\"}"
#define UNION "{\"anyOf\":[{\"type\":\"null\"},{\"items\":{\"$ref\":\"#\"}}]}"

static char *deep(size_t depth) {
    char *head = repeated("", "[", depth, "");
    char *text = repeated(head, "]", depth, "");
    free(head);
    return text;
}

static void values_go_so_deep(void **state) {
    (void)state;
    static const struct {
        const char *schema;
        unsigned frames; /* for each level of the value */
    } rows[] = {{LIST, 1}, {UNION, 2}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (unsigned depth = 3; depth < 5000; depth = depth * 4 + 1) {
            dx_check_config config = dx_check_defaults();
            config.depth_max = depth * rows[i].frames;
            struct subject subject = subject_with(rows[i].schema, NULL, &config);
            dx_misfit why = {.phrase = "?"};
            char *text = deep(depth);
            assert_int_equal(subject_check(&subject, text, 0, &why), DX_OK);
            free(text);
            text = deep(depth + 1);
            assert_int_equal(subject_check(&subject, text, 0, &why), DX_ERR_LIMIT);
            assert_string_equal(why.phrase, "the check goes deeper than is allowed");
            free(text);
            subject_done(&subject);
        }
    /* A schema that is part of itself in a way that only a value shows. */
    struct subject subject = subject_of("{\"anyOf\":[{\"type\":\"null\"},{\"$ref\":\"#\"}]}");
    assert_int_equal(subject_check(&subject, "null", 0, NULL), DX_OK);
    assert_int_equal(subject_check(&subject, "1", 0, NULL), DX_ERR_LIMIT);
    subject_done(&subject);
}

/* The least that a value needs; one less is too little, and said to be so. */
static void threshold(const char *schema, const char *value, bool memory, const char *phrase) {
    dx_misfit why = {.phrase = "?"};
    uint64_t low = 0;
    uint64_t high = 1 << 24;
    while (high - low > 1) {
        dx_check_config config = dx_check_defaults();
        uint64_t middle = low + (high - low) / 2;
        if (memory)
            config.memory_max = (size_t)middle;
        else
            config.steps_max = middle;
        struct subject subject = subject_with(schema, NULL, &config);
        dx_status status = subject_check(&subject, value, 0, &why);
        if (status == DX_OK) {
            high = middle;
        } else {
            assert_int_equal(status, DX_ERR_LIMIT);
            assert_string_equal(why.phrase, phrase);
            low = middle;
        }
        subject_done(&subject);
    }
    assert_in_range(high, 2, 1 << 20);
}

static void steps_and_memory_have_limits(void **state) {
    (void)state;
    static const char *const schemas[] = {
        LIST,
        UNION,
        "{\"uniqueItems\":true}",
        "{\"enum\":[[],[[[],[]]],[[],[],[],[],[],[],[],[],[],[],[],[{\"b\":[2],\"a\":1}]]]}",
        "{\"contains\":{\"items\":{\"not\":{\"minLength\":1}}}}",
        "{\"allOf\":[{\"prefixItems\":[{}]},{\"items\":true}],\"unevaluatedItems\":false}",
    };
    static const char value[] = "[[],[],[],[],[],[],[],[],[],[],[],[{\"a\":1,\"b\":[2]}]]";
    static const char different[] = "[[],[1],[2],[3],[4],[5],[6],[7],[8],[9],[10],[{\"a\":1}]]";
    for (size_t i = 0; i < LENGTH(schemas); i++) {
        const char *text = i == 2 ? different : value;
        if (i < 2)
            text = "[[],[],[[],[]]]";
        threshold(schemas[i], text, false, "the check takes more steps than are allowed");
        threshold(schemas[i], text, true, "the check needs more memory than is allowed");
    }
}

static void a_search_takes_so_much_effort(void **state) {
    (void)state;
    static const char *const schemas[] = {"{\"pattern\":\"^(a+)+$\"}",
                                          "{\"patternProperties\":{\"^(a+)+$\":false}}"};
    static const char *const values[] = {"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
                                         "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}"};
    for (size_t i = 0; i < LENGTH(schemas); i++) {
        struct subject subject = subject_of(schemas[i]);
        dx_misfit why = {.phrase = "?"};
        assert_int_equal(subject_check(&subject, values[i], 0, &why), DX_ERR_LIMIT);
        assert_string_equal(why.phrase, "a pattern takes longer to search than is allowed");
        assert_int_equal(subject_check(&subject, i ? "{\"aa!\":1}" : "\"aa!\"", 0, &why),
                         i ? DX_OK : DX_MISFIT);
        subject_done(&subject);
    }
}

static void many_items_are_compared_soon(void **state) {
    (void)state;
    struct subject subject = subject_of("{\"uniqueItems\":true}");
    enum { COUNT = 100000 };
    char *text = malloc((size_t)COUNT * 20);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, "[\"x\"");
    for (int i = 0; i < COUNT; i++)
        len += (size_t)sprintf(text + len, i % 2 ? ",%d" : ",[%d]", i);
    strcpy(text + len, "]");
    assert_int_equal(subject_check(&subject, text, 0, NULL), DX_OK);
    strcpy(text + len, ",[0.0]]");
    dx_misfit why = {.phrase = "?"};
    assert_int_equal(subject_check(&subject, text, 0, &why), DX_MISFIT);
    assert_string_equal(why.phrase, "the items 1 and 100001 are the same");
    free(text);
    subject_done(&subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_nest_up_to_a_limit),
        cmocka_unit_test(so_many_schemas_are_compiled),
        cmocka_unit_test(patterns_have_a_length),
        cmocka_unit_test(set_memory_has_a_limit),
        cmocka_unit_test(references_lead_through_so_many_others),
        cmocka_unit_test(hostile_schemas_end_soon),
        cmocka_unit_test(values_go_so_deep),
        cmocka_unit_test(steps_and_memory_have_limits),
        cmocka_unit_test(a_search_takes_so_much_effort),
        cmocka_unit_test(many_items_are_compared_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
