#include "unit/schema.h"

#include <stdbool.h>
#include <stdio.h>

struct row {
    const char *schema;
    const char *value;
    const char *place; /* in the schema */
    const char *phrase;
};

static const struct row rows[] = {
    {"{\"type\":\"string\"}", "1", "#/type", "expected string, found number"},
    {"{\"type\":[\"null\",\"array\",\"string\"]}", "{}", "#/type",
     "expected string, array or null, found object"},
    {"{\"type\":\"integer\"}", "1.5", "#/type", "expected integer, found 1.5"},
    {"{\"type\":\"integer\"}", "true", "#/type", "expected integer, found boolean"},
    {"{\"properties\":{\"patches\":{\"items\":{\"properties\":{\"path\":{\"type\":\"string\"}}}}}}",
     "{\"patches\":[{\"path\":\"a\"},{\"path\":7}]}",
     "#/properties/patches/items/properties/path/type",
     "/patches/1/path: expected string, found number"},
    {"{\"properties\":{\"a\":{\"required\":[\"path\"]}}}", "{\"a\":{}}", "#/properties/a/required",
     "/a: missing member \"path\""},
    {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "#/dependentRequired",
     "missing member \"b\", which \"a\" needs"},
    {"{\"properties\":{\"mode\":{\"enum\":[\"add\",\"remove\"]}}}", "{\"mode\":\"x\"}",
     "#/properties/mode/enum", "/mode: expected one of \"add\", \"remove\", found \"x\""},
    {"{\"enum\":[1,2,3,4,5,6,7,8,9,10]}", "0", "#/enum",
     "expected one of 1, 2, 3, 4, 5, 6, 7, 8 or 2 others, found 0"},
    {"{\"enum\":[]}", "0", "#/enum", "expected nothing, found 0"},
    {"{\"const\":null}", "[1]", "#/const", "expected null, found an array of 1 item"},
    {"{\"const\":\"2.0\"}", "{\"a\":1,\"b\":2}", "#/const",
     "expected \"2.0\", found an object of 2 members"},
    {"{\"const\":\"a\",\"enum\":[\"b\"]}", "\"a\"", "#/enum", "expected one of \"b\", found \"a\""},
    {"{\"minLength\":3}", "\"\u00e4\"", "#/minLength", "expected at least 3 characters, found 1"},
    {"{\"maxLength\":1}", "\"ab\"", "#/maxLength", "expected at most 1 character, found 2"},
    {"{\"pattern\":\"^a\"}", "\"b\\n\"", "#/pattern", "expected a match of \"^a\", found \"b\\n\""},
    {"{\"minimum\":3}", "2", "#/minimum", "expected at least 3, found 2"},
    {"{\"maximum\":-0.5}", "2", "#/maximum", "expected at most -0.5, found 2"},
    {"{\"exclusiveMinimum\":3}", "3", "#/exclusiveMinimum", "expected more than 3, found 3"},
    {"{\"exclusiveMaximum\":3}", "3.0", "#/exclusiveMaximum", "expected less than 3, found 3.0"},
    {"{\"multipleOf\":0.01}", "0.005", "#/multipleOf", "expected a multiple of 0.01, found 0.005"},
    {"{\"minItems\":1}", "[]", "#/minItems", "expected at least 1 item, found 0"},
    {"{\"maxItems\":2}", "[1,2,3]", "#/maxItems", "expected at most 2 items, found 3"},
    {"{\"minProperties\":1}", "{}", "#/minProperties", "expected at least 1 member, found 0"},
    {"{\"maxProperties\":0}", "{\"a\":1}", "#/maxProperties",
     "expected at most 0 members, found 1"},
    {"{\"uniqueItems\":true}", "[1,2,1.0]", "#/uniqueItems", "the items 0 and 2 are the same"},
    {"{\"contains\":{\"type\":\"null\"}}", "[1]", "#/contains",
     "expected at least 1 fitting item, found 0"},
    {"{\"contains\":true,\"maxContains\":1}", "[1,2]", "#/maxContains",
     "expected at most 1 fitting item, found 2"},
    {"{\"additionalProperties\":false}", "{\"a~/b\":1}", "#/additionalProperties",
     "/a~0~1b: unexpected member"},
    {"{\"allOf\":[{\"properties\":{\"a\":true}}],\"unevaluatedProperties\":false}",
     "{\"a\":1,\"b\":1}", "#/unevaluatedProperties", "/b: unexpected member"},
    {"{\"properties\":{\"a\":true},\"unevaluatedProperties\":false}", "{\"b\":1}",
     "#/unevaluatedProperties", "/b: unexpected member"},
    {"{\"prefixItems\":[true],\"items\":false}", "[1,2]", "#/items", "/1: unexpected item"},
    {"{\"items\":false}", "[1]", "#/items", "/0: unexpected item"},
    {"{\"allOf\":[{\"prefixItems\":[true]}],\"unevaluatedItems\":false}", "[1,2]",
     "#/unevaluatedItems", "/1: unexpected item"},
    {"{\"properties\":{\"a\":false}}", "{\"a\":1}", "#/properties/a",
     "/a: nothing is allowed here"},
    {"{\"propertyNames\":{\"maxLength\":2}}", "{\"abc\":1}", "#/propertyNames/maxLength",
     "the name \"abc\": expected at most 2 characters, found 3"},
    {"{\"not\":{\"type\":\"null\"}}", "null", "#/not", "has a form that is not allowed"},
    {"{\"anyOf\":[{\"type\":\"object\",\"required\":[\"a\"]},"
     "{\"type\":\"object\",\"required\":[\"b\"]},{\"type\":\"object\",\"required\":[\"c\"]}]}",
     "{}", "#/anyOf", "fits none of the 3 allowed forms; nearest is form 1: missing member \"a\""},
    {"{\"oneOf\":[{\"minimum\":1},{\"maximum\":5}]}", "3", "#/oneOf",
     "fits more than one of the 2 forms, of which it must fit exactly one"},
    {"{\"if\":{\"type\":\"null\"},\"else\":{\"type\":\"string\"}}", "1", "#/else/type",
     "expected string, found number"},
    {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"null\"}}}", "1", "#/$defs/a/type",
     "expected null, found number"},
    {"{\"properties\":{\"a\":{\"items\":[{\"type\":\"null\"}]}},"
     "\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
     "{\"a\":[1]}", "#/properties/a/items/0/type", "/a/0: expected null, found number"},
    {"{\"const\":\"012345678901234567890123456789012345678\u00e9\"}", "1", "#/const",
     "expected \"012345678901234567890123456789012345678…\", found 1"},
};

static void says_what_does_not_fit(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct row *row = &rows[i];
        struct subject subject = subject_of(row->schema);
        dx_misfit why = {.phrase = "?"};
        dx_status status = subject_check(&subject, row->value, 0, &why);
        if (status != DX_MISFIT || strcmp(why.phrase, row->phrase) != 0 ||
            strcmp(why.schema, row->place) != 0)
            fail_msg("%s under %s: %d, '%s' of %s", row->value, row->schema, (int)status,
                     why.phrase, why.schema);
        size_t len = strlen(why.instance);
        assert_memory_equal(why.phrase, why.instance, len);
        const char *last = strrchr(why.schema, '/');
        if (strcmp(why.keyword, "false") != 0 && row->place[0] && !strstr(row->place, "/items/0"))
            assert_string_equal(last + 1, why.keyword);
        subject_done(&subject);
    }
}

/* Branches that a member or the type tells apart. */
#define FORMS                                                                                     \
    "{\"anyOf\":["                                                                                \
    "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"a\"},\"x\":{\"type\":\"null\"}}," \
    "\"required\":[\"kind\"]},"                                                                   \
    "{\"type\":\"object\",\"properties\":{\"kind\":{\"enum\":[\"b\",\"c\"]}},"                    \
    "\"required\":[\"kind\",\"y\"]}"

static void explains_the_branch_that_was_meant(void **state) {
    (void)state;
    static const struct row forms[] = {
        {FORMS "]}", "{\"kind\":\"a\",\"x\":1}", "#/anyOf/0/properties/x/type",
         "/x: expected null, found number"},
        {FORMS "]}", "{\"kind\":\"c\"}", "#/anyOf/1/required", "missing member \"y\""},
        {FORMS "]}", "{\"kind\":\"d\"}", "#/anyOf",
         "/kind: expected one of \"a\", \"b\", \"c\", found \"d\""},
        {FORMS "]}", "{\"kind\":1}", "#/anyOf",
         "/kind: expected one of \"a\", \"b\", \"c\", found 1"},
        {FORMS "]}", "{}", "#/anyOf", "missing member \"kind\""},
        {FORMS "]}", "1", "#/anyOf", "expected object, found number"},
        {"{\"anyOf\":[{\"type\":\"null\"},{\"type\":[\"string\",\"integer\"]}]}", "[]", "#/anyOf",
         "expected integer, string or null, found array"},
        {FORMS ",{\"type\":\"array\",\"items\":{\"type\":\"null\"}}]}", "[null,1]",
         "#/anyOf/2/items/type", "/1: expected null, found number"},
        {FORMS ",{\"type\":\"object\",\"required\":[\"z\"]}]}", "{\"kind\":\"d\"}",
         "#/anyOf/2/required", "missing member \"z\""},
    };
    for (size_t i = 0; i < LENGTH(forms); i++) {
        struct subject subject = subject_of(forms[i].schema);
        dx_misfit why = {.phrase = "?"};
        assert_int_equal(subject_check(&subject, forms[i].value, 0, &why), DX_MISFIT);
        assert_string_equal(why.phrase, forms[i].phrase);
        assert_string_equal(why.schema, forms[i].place);
        subject_done(&subject);
    }
}

/* Nothing tells the branches apart: the one that came furthest is the nearest. */
#define RESULTS                                                                                    \
    "{\"anyOf\":[{\"title\":\"a "                                                                  \
    "task\",\"type\":\"object\",\"required\":[\"task\"],\"properties\":"                           \
    "{\"task\":{\"type\":\"object\",\"required\":[\"id\"]}}},{\"$ref\":\"#/$defs/Result\"},"       \
    "{\"type\":\"object\",\"required\":[\"more\"],\"properties\":{\"more\":{\"type\":\"null\"}}}]" \
    ","                                                                                            \
    "\"$defs\":{\"Result\":{\"type\":\"object\",\"required\":[\"content\"],\"properties\":{"       \
    "\"content\":"                                                                                 \
    "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"type\":{"    \
    "\"const\":"                                                                                   \
    "\"image\"},\"data\":{\"type\":\"string\"}}},{\"type\":\"object\",\"properties\":{\"type\":{"  \
    "\"enum\":[\"text\",\"words\"]},\"text\":{\"type\":\"string\"}}}]}}}}}}"
#define NONE "fits none of the 3 allowed forms"

static void names_the_nearest_branch(void **state) {
    static const struct row forms[] = {
        {RESULTS, "{\"task\":{}}", "#/anyOf",
         NONE "; nearest is \"a task\": at /task: missing member \"id\""},
        {RESULTS, "{\"content\":1}", "#/anyOf",
         NONE "; nearest is \"Result\": at /content: expected array, found number"},
        {RESULTS, "{\"more\":1}", "#/anyOf",
         NONE "; nearest is form 3: at /more: expected null, found number"},
        {RESULTS, "{}", "#/anyOf", NONE "; nearest is \"a task\": missing member \"task\""},
        {RESULTS, "{\"other\":5}", "#/anyOf",
         NONE "; nearest is \"a task\": missing member \"task\""},
        /* The type says which one is meant, although it comes last. */
        {RESULTS, "{\"content\":[{\"text\":7,\"type\":\"text\"}]}", "#/anyOf",
         NONE "; nearest is \"Result\": at /content/0/text: expected string, found number"},
        {RESULTS, "{\"content\":[{\"data\":7,\"type\":\"image\"}]}", "#/anyOf",
         NONE "; nearest is \"Result\": at /content/0/data: expected string, found number"},
        {RESULTS, "{\"content\":[{\"type\":\"text\",\"text\":7}]}", "#/anyOf",
         NONE "; nearest is \"Result\": at /content/0/text: expected string, found number"},
        {RESULTS, "{\"content\":[{\"type\":\"video\"}]}", "#/anyOf",
         NONE "; nearest is \"Result\": at /content/0: fits none of the 2 allowed forms"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(forms); i++) {
        struct subject subject = subject_of(forms[i].schema);
        dx_misfit why = {.phrase = "?"};
        assert_int_equal(subject_check(&subject, forms[i].value, 0, &why), DX_MISFIT);
        assert_string_equal(why.phrase, forms[i].phrase);
        assert_string_equal(why.schema, forms[i].place);
        assert_string_equal(why.instance, "");
        assert_int_equal(subject_check(&subject, forms[i].value, 0, NULL), DX_MISFIT);
        subject_done(&subject);
    }
}

/* A hostile title, and a value whose nearest branches would take the square of its depth. */
static void the_nearest_branch_is_bounded(void **state) {
    (void)state;
    char *text = repeated("{\"anyOf\":[{\"required\":[\"z\"]},{\"title\":\"", "\u00e9\\n", 1000,
                          "\",\"properties\":{\"a\":{\"type\":\"null\"}}}]}");
    struct subject subject = subject_of(text);
    dx_misfit why;
    assert_int_equal(subject_check(&subject, "{\"a\":1}", 0, &why), DX_MISFIT);
    assert_null(strchr(why.phrase, '\n'));
    assert_non_null(strstr(why.phrase, "…\": at /a: expected null, found number"));
    subject_done(&subject);
    free(text);
    subject =
        subject_of("{\"anyOf\":[{\"type\":\"object\",\"required\":[\"z\"]},{\"type\":\"object\","
                   "\"required\":[\"a\"],\"properties\":{\"a\":{\"$ref\":\"#\"}}}]}");
    text = repeated("", "{\"a\":", 5, "1}}}}}");
    assert_int_equal(subject_check(&subject, text, 0, &why), DX_MISFIT);
    assert_string_equal(why.phrase, "fits none of the 2 allowed forms; nearest is form 2: at "
                                    "/a/a/a/a/a: expected object, found number");
    free(text);
    char *open = repeated("", "{\"a\":", 2000, "1");
    text = repeated(open, "}", 2000, "");
    assert_int_equal(subject_check(&subject, text, 0, &why), DX_MISFIT);
    assert_string_equal(why.phrase, "fits none of the 2 allowed forms");
    free(open);
    free(text);
    subject_done(&subject);
}

/* The verdict is that of all branches one by one, whatever tells them apart. */
static void a_choice_changes_no_verdict(void **state) {
    (void)state;
    fits(FORMS "]}", "{\"kind\":\"a\",\"x\":null}");
    fits(FORMS "]}", "{\"kind\":\"b\",\"y\":null}");
    misfits(FORMS "]}", "{\"kind\":\"b\"}");
    fits(FORMS ",{\"type\":\"object\",\"required\":[\"z\"]}]}", "{\"kind\":\"a\",\"x\":1,\"z\":1}");
    /* A name that comes twice must be right twice. */
    misfits(FORMS "]}", "{\"kind\":\"a\",\"kind\":\"b\",\"y\":1}");
    /* The member is not required in one of them, so that one is always tried. */
    static const char loose[] =
        "{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"}}},"
        "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"b\"}},\"required\":[\"k\"]},"
        "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"c\"}},\"required\":[\"k\"]}]}";
    fits(loose, "{}");
    fits(loose, "{\"k\":\"a\"}");
    fits(loose, "{\"k\":\"c\"}");
    misfits(loose, "{\"k\":\"d\"}");
    misfits(loose, "{\"k\":[]}");
}

struct heard {
    char text[2000];
    size_t count;
    size_t most; /* 0: no end */
};

static int hear(const dx_misfit *misfit, void *user) {
    struct heard *heard = user;
    size_t len = strlen(heard->text);
    snprintf(heard->text + len, sizeof heard->text - len, "%s; ", misfit->phrase);
    return ++heard->count != heard->most;
}

static void tells_all_in_the_order_of_the_value(void **state) {
    (void)state;
    struct subject subject = subject_of(
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[\"x\"]},"
        "\"b\":{\"items\":{\"type\":\"null\"}},\"c\":{\"anyOf\":[{\"type\":\"null\"},"
        "{\"type\":\"array\",\"items\":{\"type\":\"null\"}}]},"
        "\"d\":{\"not\":{\"required\":[\"p\"]}}},\"required\":[\"e\",\"f\"],"
        "\"additionalProperties\":false}");
    yyjson_doc *doc = parse("{\"c\":[null,1,2],\"b\":[null,1,2],\"z\":1,\"a\":3,\"d\":{\"p\":1}}");
    struct heard heard = {.count = 0};
    dx_misfit why = {.phrase = "?"};
    assert_int_equal(dx_schema_check_all(subject.schema, yyjson_doc_get_root(doc), 0, subject.check,
                                         hear, &heard, &why),
                     DX_MISFIT);
    assert_string_equal(heard.text,
                        "/c/1: expected null, found number; /c/2: expected null, found number; "
                        "/b/1: expected null, found number; /b/2: expected null, found number; "
                        "/z: unexpected member; /a: expected string, found number; "
                        "/d: has a form that is not allowed; "
                        "missing member \"e\"; missing member \"f\"; ");
    assert_string_equal(why.phrase, "?");
    heard = (struct heard){.most = 2};
    assert_int_equal(dx_schema_check_all(subject.schema, yyjson_doc_get_root(doc), 0, subject.check,
                                         hear, &heard, NULL),
                     DX_MISFIT);
    assert_int_equal(heard.count, 2);
    yyjson_doc_free(doc);
    doc = parse("{\"e\":1,\"f\":1}");
    heard = (struct heard){.count = 0};
    assert_int_equal(dx_schema_check_all(subject.schema, yyjson_doc_get_root(doc), DX_CHECK_OPEN,
                                         subject.check, hear, &heard, NULL),
                     DX_OK);
    assert_int_equal(heard.count, 0);
    yyjson_doc_free(doc);
    subject_done(&subject);
}

/* One misfit for branches of which none fits, and then what else there is. */
static void tells_a_nearest_branch_once(void **state) {
    static const char all[] = "/r: fits none of the 2 allowed forms; nearest is form 2: at /r/c/0: "
                              "expected null, found number; /s: expected null, found number; ";
    (void)state;
    struct subject subject = subject_of(
        "{\"properties\":{\"r\":{\"anyOf\":[{\"type\":\"object\",\"required\":[\"t\"]},{\"type\":"
        "\"object\",\"properties\":{\"c\":{\"items\":{\"type\":\"null\"}}}}]},\"s\":{\"type\":"
        "\"null\"}}}");
    yyjson_doc *doc = parse("{\"r\":{\"c\":[1,2,{}]},\"s\":1}");
    for (size_t most = 0; most < 3; most++) {
        struct heard heard = {.most = most};
        assert_int_equal(dx_schema_check_all(subject.schema, yyjson_doc_get_root(doc), 0,
                                             subject.check, hear, &heard, NULL),
                         DX_MISFIT);
        assert_int_equal(heard.count, most == 1 ? 1 : 2);
        assert_memory_equal(heard.text, all, strlen(heard.text));
    }
    yyjson_doc_free(doc);
    subject_done(&subject);
}

static void cuts_long_paths_in_the_middle(void **state) {
    (void)state;
    struct subject subject =
        subject_of("{\"additionalProperties\":{\"$ref\":\"#\"},\"type\":\"object\"}");
    for (size_t depth = 1; depth < 3000; depth = depth * 3 / 2 + 1) {
        char *head = repeated("", "{\"\u00e4b\":", depth, "7");
        char *value = repeated(head, "}", depth, "");
        dx_misfit why;
        assert_int_equal(subject_check(&subject, value, 0, &why), DX_MISFIT);
        size_t len = strlen(why.instance);
        bool cut = depth * 4 >= sizeof why.instance;
        assert_int_equal(strstr(why.instance, "…") != NULL, cut);
        assert_memory_equal(why.instance, "/\u00e4b", 4);
        assert_string_equal(why.instance + len - 4, "/\u00e4b");
        if (cut)
            assert_in_range(len, sizeof why.instance - 8, sizeof why.instance - 1);
        /* Whole characters only: no byte of one stands alone. */
        yyjson_doc *quoted = NULL;
        char *text = repeated("\"", why.instance, 1, "\"");
        quoted = yyjson_read(text, strlen(text), 0);
        assert_non_null(quoted);
        yyjson_doc_free(quoted);
        free(text);
        free(value);
        free(head);
    }
    subject_done(&subject);
}

static void names_other_documents(void **state) {
    (void)state;
    yyjson_doc *one = parse("{\"properties\":{\"a\":{\"$ref\":\"two.json#/$defs/x\"}}}");
    yyjson_doc *two = parse("{\"$defs\":{\"x\":{\"type\":\"null\"}}}");
    dx_schemas *set;
    dx_schema *schema;
    dx_check *check;
    dx_misfit why = {.phrase = "?"};
    assert_int_equal(dx_schemas_new(NULL, &set), DX_OK);
    assert_int_equal(dx_check_new(NULL, &check), DX_OK);
    dx_schemas_add(set, dx_str("file:///d/one.json"), yyjson_doc_get_root(one), &why);
    dx_schemas_add(set, dx_str("file:///d/two.json"), yyjson_doc_get_root(two), &why);
    assert_int_equal(dx_schemas_compile(set, dx_str("file:///d/one.json"), &schema, &why), DX_OK);
    yyjson_doc *value = parse("{\"a\":1}");
    assert_int_equal(dx_schema_check(schema, yyjson_doc_get_root(value), 0, check, &why),
                     DX_MISFIT);
    assert_string_equal(why.schema, "file:///d/two.json#/$defs/x/type");
    yyjson_doc_free(value);
    dx_check_free(check);
    dx_schemas_free(set);
    yyjson_doc_free(one);
    yyjson_doc_free(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_does_not_fit),
        cmocka_unit_test(explains_the_branch_that_was_meant),
        cmocka_unit_test(names_the_nearest_branch),
        cmocka_unit_test(the_nearest_branch_is_bounded),
        cmocka_unit_test(a_choice_changes_no_verdict),
        cmocka_unit_test(tells_all_in_the_order_of_the_value),
        cmocka_unit_test(tells_a_nearest_branch_once),
        cmocka_unit_test(cuts_long_paths_in_the_middle),
        cmocka_unit_test(names_other_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
