#include "toml/equal.h"
#include "unit/unit.h"

#include <stdio.h>

static yyjson_doc *json(const char *text) {
    yyjson_doc *doc = yyjson_read(text, strlen(text), YYJSON_READ_ALLOW_INF_AND_NAN);
    assert_non_null(doc);
    return doc;
}

static void writes_as(const char *from, unsigned flags, const char *toml) {
    yyjson_doc *doc = json(from);
    yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
    for (int mut = 0; mut < 2; mut++) {
        dx_buf buf;
        dx_toml_error why = {.phrase = "?"};
        dx_buf_init(&buf, 10000, NULL);
        assert_int_equal(dx_buf_append(&buf, "x", 1), DX_OK);
        dx_status status = mut ? dx_toml_write_mut(yyjson_mut_doc_get_root(copy), flags, &buf, &why)
                               : dx_toml_write(yyjson_doc_get_root(doc), flags, &buf, &why);
        if (status != DX_OK)
            fail_msg("%s", why.phrase);
        assert_int_equal(dx_buf_append(&buf, "", 1), DX_OK);
        assert_string_equal(buf.data + 1, toml);
        dx_buf_done(&buf);
    }
    yyjson_mut_doc_free(copy);
    yyjson_doc_free(doc);
}

static void writes_tables(void **state) {
    (void)state;
    writes_as("{}", 0, "");
    writes_as("{\"a\":{\"b\":{\"c\":1}},\"d\":2}", 0, "d = 2\n\n[a.b]\nc = 1\n");
    writes_as("{\"a\":{\"x\":1,\"b\":{}}}", 0, "[a]\nx = 1\n\n[a.b]\n");
    writes_as("{\"a\":[{\"b\":1,\"c\":[{}]},{}]}", 0, "[[a]]\nb = 1\n\n[[a.c]]\n\n[[a]]\n");
    writes_as("{\"a\":[{\"b\":1},2,{\"c\":{\"d\":[[{}]]}}],\"e\":[]}", 0,
              "a = [{ b = 1 }, 2, { c = { d = [[{}]] } }]\ne = []\n");
    writes_as("{\"a\":[[{\"b\":1}]]}", 0, "a = [[{ b = 1 }]]\n");
    writes_as("{\"a b\":{\"\":{\"c.d\":{\"-1_\":true}}}}", 0,
              "[\"a b\".\"\".\"c.d\"]\n-1_ = true\n");
}

static void writes_scalars(void **state) {
    (void)state;
    writes_as("{\"a\":\"\\b\\t\\n\\f\\r\\\"\\\\\\u000b\\u001f\\u007fé\"}", 0,
              "a = \"\\b\\t\\n\\f\\r\\\"\\\\\\u000B\\u001F\\u007Fé\"\n");
    writes_as("{\"a\":[9223372036854775807,-9223372036854775808,0,-0]}", 0,
              "a = [9223372036854775807, -9223372036854775808, 0, 0]\n");
    writes_as("{\"a\":[1.0,-0.0,1e300,5e-324,0.1,123456789012345680000.0]}", 0,
              "a = [1.0, -0.0, 1e300, 5e-324, 0.1, 123456789012345680000.0]\n");
    writes_as("{\"a\":[Infinity,-Infinity,NaN]}", 0, "a = [inf, -inf, nan]\n");
    writes_as("{\"a\":[true,false,\"2031-10-04\"]}", 0, "a = [true, false, \"2031-10-04\"]\n");
}

static void writes_literals_if_asked(void **state) {
    (void)state;
    writes_as("{\"a\\\\b\":{\"a\":\"^~\\\\&\",\"b\":\"\\\"\\t\"}}", DX_TOML_LITERAL,
              "['a\\b']\na = '^~\\&'\nb = '\"\t'\n");
    writes_as("{\"a\":\"\\\\'\",\"b\":\"\\\\\\n\",\"c\":\"plain\"}", DX_TOML_LITERAL,
              "a = \"\\\\'\"\nb = \"\\\\\\n\"\nc = \"plain\"\n");
}

static void leaves_null_out_if_asked(void **state) {
    (void)state;
    writes_as("{\"a\":null,\"b\":{\"c\":null},\"d\":[1,{\"e\":null,\"f\":2}]}", DX_TOML_SKIP_NULL,
              "d = [1, { f = 2 }]\n\n[b]\n");
}

static const struct {
    const char *json;
    unsigned flags;
    const char *place;
    const char *phrase;
} refused[] = {
    {"[1]", 0, "", "the root is not an object"},
    {"{\"a\":null}", 0, "/a", "/a: TOML has no null"},
    {"{\"a\":{\"b\":[1,null]}}", DX_TOML_SKIP_NULL, "/a/b/1", "/a/b/1: TOML has no null"},
    {"{\"a\":[{},{\"x~/y\":[{\"z\":null}]}]}", 0, "/a/1/x~0~1y/0/z",
     "/a/1/x~0~1y/0/z: TOML has no null"},
    {"{\"a\":9223372036854775808}", 0, "/a",
     "/a: TOML integers are limited to 64 bits with a sign"},
    {"{\"a\":{\"b\":1,\"b\":{}}}", 0, "/a/b", "/a/b: the key is defined twice"},
    {"{\"a\":[0,{\"b\":1,\"b\":2}]}", 0, "/a/1/b", "/a/1/b: the key is defined twice"},
    {"{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,\"5\":2}", 0, "/5",
     "/5: the key is defined twice"},
};

static void says_what_can_not_be_written(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(refused); i++) {
        yyjson_doc *doc = json(refused[i].json);
        dx_buf buf;
        dx_toml_error why;
        memset(&why, 'x', sizeof why);
        dx_buf_init(&buf, 10000, NULL);
        assert_int_equal(dx_buf_append(&buf, "kept", 4), DX_OK);
        yyjson_val *root = yyjson_doc_get_root(doc);
        assert_int_equal(dx_toml_write(root, refused[i].flags, &buf, &why), DX_ERR_INVALID);
        assert_string_equal(why.place, refused[i].place);
        assert_string_equal(why.phrase, refused[i].phrase);
        assert_int_equal(why.line, 0);
        assert_int_equal(why.column, 0);
        assert_int_equal(dx_toml_write(root, refused[i].flags, &buf, NULL), DX_ERR_INVALID);
        assert_text(((dx_text){buf.data, buf.len}), "kept");
        dx_buf_done(&buf);
        yyjson_doc_free(doc);
    }
    dx_buf buf;
    dx_buf_init(&buf, 10000, NULL);
    assert_int_equal(dx_toml_write(NULL, 0, &buf, NULL), DX_ERR_INVALID);
    assert_int_equal(dx_toml_write_mut(NULL, 0, &buf, NULL), DX_ERR_INVALID);
    dx_buf_done(&buf);
}

static void refuses_what_only_programs_make(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int raw;
        const char *phrase;
    } values[] = {{"\xff", 0, "/k: the string is not UTF-8"},
                  {"12", 1, "/k: TOML cannot represent a raw value"}};
    for (size_t i = 0; i < LENGTH(values); i++) {
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *root = yyjson_mut_obj(doc);
        dx_buf buf;
        dx_toml_error why;
        dx_buf_init(&buf, 10000, NULL);
        yyjson_mut_obj_add(root, yyjson_mut_str(doc, "k"),
                           values[i].raw ? yyjson_mut_raw(doc, values[i].text)
                                         : yyjson_mut_str(doc, values[i].text));
        assert_int_equal(dx_toml_write_mut(root, 0, &buf, &why), DX_ERR_INVALID);
        assert_string_equal(why.phrase, values[i].phrase);
        dx_buf_done(&buf);
        yyjson_mut_doc_free(doc);
    }
}

/* What comes after the first failure does not replace it. */
static void the_first_failure_is_told(void **state) {
    (void)state;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    dx_buf buf;
    dx_toml_error why;
    dx_buf_init(&buf, 10000, NULL);
    yyjson_mut_obj_add(root, yyjson_mut_str(doc, "\xc3("), yyjson_mut_null(doc));
    assert_int_equal(dx_toml_write_mut(root, 0, &buf, &why), DX_ERR_INVALID);
    assert_string_equal(why.phrase, "/?: the string is not UTF-8");
    dx_buf_done(&buf);
    yyjson_mut_doc_free(doc);
}

static void long_places_are_cut(void **state) {
    (void)state;
    char text[1000] = "{\"";
    for (int i = 0; i < 200; i++)
        memcpy(text + 2 + 3 * (size_t)i, "€", 4);
    memcpy(text + 602, "\":null}", 8);
    yyjson_doc *doc = json(text);
    dx_buf buf;
    dx_toml_error why;
    dx_buf_init(&buf, 10000, NULL);
    assert_int_equal(dx_toml_write(yyjson_doc_get_root(doc), 0, &buf, &why), DX_ERR_INVALID);
    size_t len = strlen(why.place);
    assert_in_range(len, 240, sizeof why.place - 1);
    assert_string_equal(why.place + len - 6, "€…");
    assert_non_null(strstr(why.phrase, "€…: TOML has no null"));
    dx_buf_done(&buf);
    yyjson_doc_free(doc);
}

static void makes_times(void **state) {
    (void)state;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *when = dx_toml_time_new(doc, TEXT("2031-10-04 08:15:30z"));
    assert_int_equal(dx_toml_kind_of_mut(when), DX_TOML_OFFSET_DATETIME);
    yyjson_mut_obj_add(root, yyjson_mut_str(doc, "when"), when);
    yyjson_mut_obj_add(root, yyjson_mut_str(doc, "day"), dx_toml_time_new(doc, TEXT("2031-10-04")));
    assert_null(dx_toml_time_new(doc, TEXT("2031-10-04x")));
    assert_null(dx_toml_time_new(doc, TEXT("1979-02-30")));
    assert_null(dx_toml_time_new(doc, TEXT("")));
    assert_null(dx_toml_time_new(doc, (dx_text){NULL, 0}));
    dx_buf buf;
    dx_buf_init(&buf, 10000, NULL);
    assert_int_equal(dx_toml_write_mut(root, 0, &buf, NULL), DX_OK);
    assert_text(((dx_text){buf.data, buf.len}), "when = 2031-10-04T08:15:30Z\nday = 2031-10-04\n");
    dx_buf_done(&buf);
    yyjson_mut_doc_free(doc);
}

/* Trees of JSON that nobody wrote by hand. */
static void fill(yyjson_mut_doc *doc, yyjson_mut_val *in, uint64_t *seed, int depth) {
    static const char *const words[] = {"a", "b c", "", "é\n", "\"\\'", "2000-01-01", "x.y", "7"};
    bool is_obj = yyjson_mut_is_obj(in);
    size_t only = unit_random(seed, 3) ? 9 : 8; /* arrays of nothing but tables, too */
    for (size_t i = 0; i < unit_random(seed, 6); i++) {
        yyjson_mut_val *value;
        size_t what = only == 8 ? 8 : unit_random(seed, 9);
        if (what > 5 && depth) {
            value = what > 6 ? yyjson_mut_obj(doc) : yyjson_mut_arr(doc);
            fill(doc, value, seed, depth - 1);
        } else if (what > 3) {
            value = yyjson_mut_str(doc, words[unit_random(seed, LENGTH(words))]);
        } else if (what > 1) {
            value = yyjson_mut_sint(doc, (int64_t)unit_random(seed, 1000) - 500);
        } else if (what) {
            value = yyjson_mut_real(doc, (double)unit_random(seed, 1000) / 7);
        } else {
            value = dx_toml_time_new(doc, TEXT("2000-01-01"));
        }
        if (is_obj) {
            const char *name = words[unit_random(seed, LENGTH(words))];
            if (!yyjson_mut_obj_get(in, name))
                yyjson_mut_obj_add(in, yyjson_mut_str(doc, name), value);
        } else {
            yyjson_mut_arr_append(in, value);
        }
    }
}

static void what_is_written_reads_the_same(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (unsigned i = 0; i < 3000; i++) {
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *root = yyjson_mut_obj(doc);
        yyjson_mut_doc_set_root(doc, root);
        fill(doc, root, &seed, 5);
        dx_buf buf;
        yyjson_doc *again = NULL;
        dx_toml_error why = {.phrase = "another"};
        dx_buf_init(&buf, 1 << 20, NULL);
        assert_int_equal(dx_toml_write_mut(root, i % 4, &buf, NULL), DX_OK);
        yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
        if (dx_toml_read((dx_text){buf.data, buf.len}, NULL, &again, &why) != DX_OK ||
            !values_equal(yyjson_doc_get_root(copy), yyjson_doc_get_root(again)))
            fail_msg("%s\n%.*s", why.phrase, (int)buf.len, buf.data);
        yyjson_doc_free(again);
        yyjson_doc_free(copy);
        yyjson_mut_doc_free(doc);
        dx_buf_done(&buf);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_tables),
        cmocka_unit_test(writes_scalars),
        cmocka_unit_test(writes_literals_if_asked),
        cmocka_unit_test(leaves_null_out_if_asked),
        cmocka_unit_test(says_what_can_not_be_written),
        cmocka_unit_test(refuses_what_only_programs_make),
        cmocka_unit_test(the_first_failure_is_told),
        cmocka_unit_test(long_places_are_cut),
        cmocka_unit_test(makes_times),
        cmocka_unit_test(what_is_written_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
