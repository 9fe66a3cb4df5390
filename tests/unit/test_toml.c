#include "unit/unit.h"

#include <duplex/schema.h>
#include <duplex/toml.h>

#include <math.h>
#include <stdio.h>

static yyjson_doc *read_text(dx_text text) {
    yyjson_doc *doc = NULL;
    dx_toml_error why = {.phrase = "?"};
    /* Nothing behind the end may be looked at. */
    struct unit_fence fence = unit_fence_new(text.len);
    dx_status status = dx_toml_read(unit_fence_put(&fence, text.at, text.len), NULL, &doc, &why);
    unit_fence_done(&fence);
    if (status != DX_OK)
        fail_msg("%s", why.phrase);
    return doc;
}

/* Reads as that JSON, members in that order. */
static void reads_as(dx_text text, const char *json) {
    yyjson_doc *doc = read_text(text);
    char *written = yyjson_write(doc, 0, NULL);
    assert_non_null(written);
    assert_string_equal(written, json);
    free(written);
    yyjson_doc_free(doc);
}

#define READS_AS(literal, json) reads_as(TEXT(literal), json)

static void reads_values(void **state) {
    (void)state;
    READS_AS("", "{}");
    READS_AS("\xef\xbb\xbf# mark\n", "{}");
    READS_AS("a=1", "{\"a\":1}");
    READS_AS(" a\t=\t+1_000 # x\r\n\r\n\t\n", "{\"a\":1000}");
    READS_AS("a=[0xfF_0,0o17,0b1_1,-0,+0]", "{\"a\":[4080,15,3,0,0]}");
    READS_AS("a=9223372036854775807\nb=-9223372036854775808",
             "{\"a\":9223372036854775807,\"b\":-9223372036854775808}");
    READS_AS("a=0x7fffffffffffffff", "{\"a\":9223372036854775807}");
    READS_AS("a=[1.0,-0.0,1e3,1_0.2_5E-0_1,+1.5]", "{\"a\":[1.0,-0.0,1000.0,1.025,1.5]}");
    READS_AS("a=[true,\nfalse, # x\n\n]", "{\"a\":[true,false]}");
    READS_AS("a={}\nb={ c.d = 1 , e=[ ] }", "{\"a\":{},\"b\":{\"c\":{\"d\":1},\"e\":[]}}");
}

/* As they are written, whatever their size; what is wrong stays wrong. */
static void reads_raw_numbers(void **state) {
    (void)state;
    dx_toml_config config = dx_toml_defaults();
    yyjson_doc *doc = NULL;
    dx_toml_error why;
    config.raw_numbers = 1;
    dx_text text =
        TEXT("a = 1.50\nb = 12345678901234567890123\nc = [0x1F, 1_0, -0, inf,1e999]\n"
             "d = {e = 2031-10-04 08:15:30z, f = \"1.50\", g = '1', h = true, i = false}");
    assert_int_equal(dx_toml_read(text, &config, &doc, &why), DX_OK);
    char *written = yyjson_write(doc, 0, NULL);
    assert_non_null(written);
    assert_string_equal(written, "{\"a\":1.50,\"b\":12345678901234567890123,"
                                 "\"c\":[0x1F,1_0,-0,inf,1e999],"
                                 "\"d\":{\"e\":2031-10-04 08:15:30z,\"f\":\"1.50\",\"g\":\"1\","
                                 "\"h\":true,\"i\":false}}");
    free(written);
    yyjson_doc_free(doc);
    static const char *const wrong[] = {"a = 01",         "a = 1_", "a = 1.",
                                        "a = 2031-13-01", "a = x",  "a ="};
    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_int_equal(dx_toml_read(dx_str(wrong[i]), &config, &doc, &why), DX_ERR_INVALID);
}

static void reads_strings(void **state) {
    (void)state;
    READS_AS("a=\"\\b\\t\\n\\f\\r\\\"\\\\\\u00E9\\U0001f600\"",
             "{\"a\":\"\\b\\t\\n\\f\\r\\\"\\\\é😀\"}");
    READS_AS("a='\\n\"'", "{\"a\":\"\\\\n\\\"\"}");
    READS_AS("a=''\nb=\"\"\nc=''''''\nd=\"\"\"\"\"\"",
             "{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\"}");
    READS_AS("a=\"\"\"\n x\ny\\  \n \n\t z\"\"\"", "{\"a\":\" x\\nyz\"}");
    READS_AS("a=\"\"\"\r\nx\r\ny\\\r\n z\"\"\"", "{\"a\":\"x\\r\\nyz\"}");
    READS_AS("a=\"\"\"\"\"q\"\"\"\"\"", "{\"a\":\"\\\"\\\"q\\\"\\\"\"}");
    READS_AS("a='''''q'''''", "{\"a\":\"''q''\"}");
    READS_AS("a=\"\\u0000\"", "{\"a\":\"\\u0000\"}");
    READS_AS("a=\"\"\"\\\"\"\"\\\\\"\"\"", "{\"a\":\"\\\"\\\"\\\"\\\\\"}");
}

/* Longer than what memory is taken in, and not as it stands in the text. */
static void reads_long_strings(void **state) {
    (void)state;
    for (size_t len = 100; len < 1000000; len *= 7) {
        char *text = malloc(len + 20);
        assert_non_null(text);
        memcpy(text, "a = \"", 5);
        memset(text + 5, 'x', len);
        memcpy(text + 5 + len, "\\n\"", 4);
        yyjson_doc *doc = read_text((dx_text){text, len + 8});
        yyjson_val *value = yyjson_obj_get(yyjson_doc_get_root(doc), "a");
        assert_int_equal(yyjson_get_len(value), len + 1);
        assert_int_equal(memcmp(yyjson_get_str(value), text + 5, len), 0);
        assert_int_equal(yyjson_get_str(value)[len], '\n');
        yyjson_doc_free(doc);
        free(text);
    }
}

static void reads_keys_and_tables(void **state) {
    (void)state;
    READS_AS("1.2=3", "{\"1\":{\"2\":3}}");
    READS_AS("\"a.b\" . 'c d' .-_=1", "{\"a.b\":{\"c d\":{\"-_\":1}}}");
    READS_AS("\"\"=1\n\"\\u0041\"=2", "{\"\":1,\"A\":2}");
    READS_AS("[a.b]\nx=1\n[a]\ny=2\n[ c . d ]",
             "{\"a\":{\"b\":{\"x\":1},\"y\":2},\"c\":{\"d\":{}}}");
    READS_AS("[[a]]\n[a.b]\nx=1\n[[a]]\n[[a.c]]\n[[a.c]]\ny=1",
             "{\"a\":[{\"b\":{\"x\":1}},{\"c\":[{},{\"y\":1}]}]}");
    READS_AS("a.b=1\na.c=2\n[a.d]", "{\"a\":{\"b\":1,\"c\":2,\"d\":{}}}");
    /* A header went through a.b, but nothing has defined it yet. */
    READS_AS("[a.b.c]\n[a]\nb.d=1", "{\"a\":{\"b\":{\"c\":{},\"d\":1}}}");
}

static void keeps_inf_and_nan(void **state) {
    (void)state;
    yyjson_doc *doc = read_text(TEXT("a=[inf,+inf,-inf,nan,+nan,-nan]"));
    yyjson_val *list = yyjson_obj_get(yyjson_doc_get_root(doc), "a");
    for (size_t i = 0; i < 6; i++) {
        yyjson_val *value = yyjson_arr_get(list, i);
        assert_true(yyjson_is_real(value));
        double number = yyjson_get_real(value);
        assert_int_equal(isinf(number) != 0, i < 3);
        assert_int_equal(isnan(number) != 0, i >= 3);
        assert_int_equal(signbit(number) != 0, i == 2 || i == 5);
    }
    assert_null(yyjson_write(doc, 0, NULL));
    char *text = yyjson_write(doc, YYJSON_WRITE_INF_AND_NAN_AS_NULL, NULL);
    assert_string_equal(text, "{\"a\":[null,null,null,null,null,null]}");
    free(text);
    yyjson_doc_free(doc);
}

static const struct {
    const char *toml;
    const char *text;
    dx_toml_kind kind;
} times[] = {
    {"2031-10-04T08:15:30Z", "2031-10-04T08:15:30Z", DX_TOML_OFFSET_DATETIME},
    {"2031-10-04 08:15:30.120z", "2031-10-04T08:15:30.120Z", DX_TOML_OFFSET_DATETIME},
    {"2031-10-04t08:15:30-23:59", "2031-10-04T08:15:30-23:59", DX_TOML_OFFSET_DATETIME},
    {"2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z", DX_TOML_OFFSET_DATETIME},
    {"2017-01-01T05:44:60+05:45", "2017-01-01T05:44:60+05:45", DX_TOML_OFFSET_DATETIME},
    {"0000-02-29T00:00:00", "0000-02-29T00:00:00", DX_TOML_LOCAL_DATETIME},
    {"2024-02-29 23:59:59.9", "2024-02-29T23:59:59.9", DX_TOML_LOCAL_DATETIME},
    {"2000-02-29", "2000-02-29", DX_TOML_LOCAL_DATE},
    {"9999-12-31 # date", "9999-12-31", DX_TOML_LOCAL_DATE},
    {"23:59:60", "23:59:60", DX_TOML_LOCAL_TIME},
    {"00:00:00.000000000001", "00:00:00.000000000001", DX_TOML_LOCAL_TIME},
    {"\"2031-10-04\"", "2031-10-04", DX_TOML_OTHER},
};

/* yyjson takes a date for the string that it is, and all of its copies keep the mark. */
static void marks_times(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(times); i++) {
        char text[100];
        char json[100];
        snprintf(text, sizeof text, "a = %s", times[i].toml);
        snprintf(json, sizeof json, "{\"a\":\"%s\"}", times[i].text);
        reads_as(dx_str(text), json);
        yyjson_doc *doc = read_text(dx_str(text));
        yyjson_val *value = yyjson_obj_get(yyjson_doc_get_root(doc), "a");
        assert_true(yyjson_is_str(value));
        assert_true(yyjson_equals_str(value, times[i].text));
        assert_int_equal(dx_toml_kind_of(value), times[i].kind);
        yyjson_mut_doc *copy = yyjson_doc_mut_copy(doc, NULL);
        yyjson_mut_doc *other = yyjson_mut_doc_mut_copy(copy, NULL);
        yyjson_doc *last = yyjson_mut_doc_imut_copy(other, NULL);
        assert_int_equal(
            dx_toml_kind_of_mut(yyjson_mut_obj_get(yyjson_mut_doc_get_root(other), "a")),
            times[i].kind);
        assert_int_equal(dx_toml_kind_of(yyjson_obj_get(yyjson_doc_get_root(last), "a")),
                         times[i].kind);
        yyjson_doc_free(last);
        yyjson_mut_doc_free(other);
        yyjson_mut_doc_free(copy);
        yyjson_doc_free(doc);
    }
    assert_int_equal(dx_toml_kind_of(NULL), DX_TOML_OTHER);
    assert_int_equal(dx_toml_kind_of_mut(NULL), DX_TOML_OTHER);
}

static void a_date_fits_a_schema_of_strings(void **state) {
    (void)state;
    static const char text[] = "{\"properties\":{\"a\":{\"type\":\"string\",\"format\":\"date\"},"
                               "\"b\":{\"enum\":[\"08:15:30\"]}}}";
    yyjson_doc *doc = read_text(TEXT("a=2031-10-04\nb=08:15:30"));
    yyjson_doc *schema_doc = yyjson_read(text, sizeof text - 1, 0);
    dx_schemas_config config = dx_schemas_defaults();
    config.flags = DX_SCHEMA_FORMAT;
    dx_schemas *schemas = NULL;
    dx_schema *schema = NULL;
    dx_check *check = NULL;
    dx_misfit why = {.phrase = ""};
    assert_int_equal(dx_schemas_new(&config, &schemas), DX_OK);
    assert_int_equal(dx_check_new(NULL, &check), DX_OK);
    assert_int_equal(dx_schemas_add(schemas, dx_str(""), yyjson_doc_get_root(schema_doc), NULL),
                     DX_OK);
    assert_int_equal(dx_schemas_compile(schemas, dx_str(""), &schema, NULL), DX_OK);
    dx_status status = dx_schema_check(schema, yyjson_doc_get_root(doc), 0, check, &why);
    if (status != DX_OK)
        fail_msg("%s", why.phrase);
    dx_check_free(check);
    dx_schemas_free(schemas);
    yyjson_doc_free(schema_doc);
    yyjson_doc_free(doc);
}

static const struct {
    dx_text text;
    const char *phrase;
} refused[] = {
    {{"a", 1}, "1:2: expected '=' after the key, found the end of the text"},
    {{"x=1\n  key  \n", 12}, "2:8: expected '=' after the key, found the end of the line"},
    {{"a =\r\n", 5}, "1:4: expected a value, found the end of the line"},
    {{"é = 1", 6}, "1:1: expected a key, found 'é'"},
    {{"a = \"é\" é", 11}, "1:9: expected the end of the line, found 'é'"},
    {{"a = 1 b = 2", 11}, "1:7: expected the end of the line, found 'b'"},
    {{"a = 'x\nb = 1", 12}, "1:5: the string is not closed in its line"},
    {{"a = \"\"\"\nx\"\"", 11}, "1:5: the string is not closed"},
    {{"a = \"\\q\"", 8}, "1:6: TOML 1.0 has no such escape"},
    {{"a = \"\"\"\n\\ud800\"\"\"", 17}, "2:1: the escape is not a Unicode character"},
    {{"a = \"\\u12\"", 10}, "1:6: \\u takes four hexadecimal digits, \\U eight"},
    {{"a = \"\\U00110000\"", 16}, "1:6: the escape is not a Unicode character"},
    {{"a = \"x\x01\"", 8}, "1:7: a control character in a string"},
    {{"a = 1 # \x7f", 9}, "1:9: a control character in a comment"},
    {{"a = 1\rb = 2", 11}, "1:6: expected the end of the line, found a control character"},
    {{"a = '\xc3(' ", 9}, "1:6: the text is not UTF-8"},
    {{"a = '\xf0\x9f\x98'", 9}, "1:6: the text is not UTF-8"},
    {{"a = '\xc0\xaf'", 8}, "1:6: the text is not UTF-8"},
    {{"a = '\xf4\x90\x80\x80'", 10}, "1:6: the text is not UTF-8"},
    {{"a = '\xff'", 7}, "1:6: the text is not UTF-8"},
    {{"a = '\xed\xa0\x80'", 9}, "1:6: the text is not UTF-8"},
    {{"a = 9223372036854775808", 23}, "1:5: the integer does not fit in 64 bits"},
    {{"a = -9223372036854775809", 24}, "1:6: the integer does not fit in 64 bits"},
    {{"a = 0x8000000000000000", 22}, "1:7: the integer does not fit in 64 bits"},
    {{"a = 01", 6}, "1:5: a number cannot begin with 0"},
    {{"a = 1__0", 8}, "1:7: expected a digit after '_', found '_'"},
    {{"a = 1.", 6}, "1:7: expected a digit, found the end of the text"},
    {{"a = 1.e5", 8}, "1:7: expected a digit, found 'e'"},
    {{"a = 1e+", 7}, "1:8: expected a digit, found the end of the text"},
    {{"a = 0x", 6}, "1:7: expected a digit, found the end of the text"},
    {{"a = 0o7_8", 9}, "1:9: expected a digit after '_', found '8'"},
    {{"a = tru", 7}, "1:5: expected a value, found 't'"},
    {{"a = 1e400", 9}, "1:5: the float is too large for 64 bits"},
    {{"a = 0b12", 8}, "1:8: expected the end of the line, found '2'"},
    {{"a = 2023-02-29", 14}, "1:5: there is no such day"},
    {{"a = 1900-02-29", 14}, "1:5: there is no such day"},
    {{"a = 2023-2-9", 12}, "1:5: a date is written YYYY-MM-DD"},
    {{"a = 24:00:00", 12}, "1:5: there is no such time"},
    {{"a = 12:00", 9}, "1:5: a time is written HH:MM:SS"},
    {{"a = 12:00:00.", 13}, "1:5: expected a digit after the point of the seconds"},
    {{"a = 2023-02-01T12:00:00+2400", 28}, "1:5: an offset is written +HH:MM, -HH:MM or Z"},
    {{"a = 2023-02-01T12:00Z", 21}, "1:5: a time is written HH:MM:SS"},
    {{"a = 2023-02-01T12:00:00+24:00", 29}, "1:5: there is no such offset"},
    {{"a = 2023-02-01T12:00:60Z", 24}, "1:5: a leap second is the last second of a day in UTC"},
    {{"a = [1 2]", 9}, "1:8: expected ',' or ']' in the array, found '2'"},
    {{"a = [1,\n2", 9}, "1:5: the array is not closed"},
    {{"a = [1,\n# \x01\n]", 13}, "2:3: a control character in a comment"},
    {{"a = [1 # \x01\n]", 12}, "1:10: a control character in a comment"},
    {{"a = [1,", 7}, "1:5: the array is not closed"},
    {{"a = [,]", 7}, "1:6: expected a value, found ','"},
    {{"a = {b = 1", 10}, "1:5: the inline table is not closed"},
    {{"a = {b = 1,}", 12}, "1:12: expected a key, found '}'"},
    {{"a = {b = 1\n}", 12},
     "1:11: expected ',' or '}' in the inline table, found the end of the line"},
    {{"[a", 2}, "1:3: expected ']' after the key, found the end of the text"},
    {{"[[a]\n", 5}, "1:5: expected ']]' after the key, found the end of the line"},
    {{"[]", 2}, "1:2: expected a key, found ']'"},
    {{"a = 1\n\na = 2", 12}, "3:1: 'a' has a value already, first in line 1"},
    {{"a.b = 1\na.b.c = 2", 17}, "2:3: 'b' has a value already, first in line 1"},
    {{"[a]\nb = {}\n[a.b]", 17}, "3:4: 'b' has a value already, first in line 2"},
    {{"[a]\n[a]", 7}, "2:2: 'a' is a table already, first in line 1"},
    {{"[a]\n[[a]]", 9}, "2:3: 'a' is a table already, first in line 1"},
    {{"[[a]]\n[a]", 9}, "2:2: 'a' is an array of tables already, first in line 1"},
    {{"a = [{}]\n[[a]]", 14}, "2:3: 'a' has a value already, first in line 1"},
    {{"a.b = 1\n[a]", 11}, "2:2: 'a' is a table defined by dotted keys, first in line 1"},
    {{"[a.b]\n[a]\nb.c = 1", 17}, "3:1: 'b' is a table already, first in line 1"},
    {{"\"a\\nb\"=1\n\"a\\nb\"=2", 17}, "2:1: 'a?b' has a value already, first in line 1"},
};

static void says_what_is_wrong_and_where(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(refused); i++) {
        yyjson_doc *doc = NULL;
        dx_toml_error why;
        char place[50];
        memset(&why, 'x', sizeof why);
        struct unit_fence fence = unit_fence_new(refused[i].text.len);
        dx_text text = unit_fence_put(&fence, refused[i].text.at, refused[i].text.len);
        assert_int_equal(dx_toml_read(text, NULL, &doc, &why), DX_ERR_INVALID);
        assert_null(doc);
        assert_string_equal(why.phrase, refused[i].phrase);
        assert_string_equal(why.place, "");
        snprintf(place, sizeof place, "%zu:%zu: ", why.line, why.column);
        assert_int_equal(strncmp(why.phrase, place, strlen(place)), 0);
        assert_int_equal(dx_toml_read(text, NULL, &doc, NULL), DX_ERR_INVALID);
        unit_fence_done(&fence);
    }
}

/* Long keys are cut between characters. */
static void phrases_have_an_end(void **state) {
    (void)state;
    enum { LONG = 1000 };
    char text[2 * LONG + 20];
    char *to = text;
    for (int twice = 0; twice < 2; twice++) {
        *to++ = '"';
        for (int i = 0; i < LONG / 3; i++, to += 3)
            memcpy(to, "€", 3);
        memcpy(to, "\"=1\n", 4);
        to += 4;
    }
    yyjson_doc *doc;
    dx_toml_error why;
    assert_int_equal(dx_toml_read((dx_text){text, (size_t)(to - text)}, NULL, &doc, &why),
                     DX_ERR_INVALID);
    assert_int_equal(strncmp(why.phrase, "2:1: '€€", 12), 0);
    assert_non_null(strstr(why.phrase, "€…' has a value already, first in line 1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_values),
        cmocka_unit_test(reads_raw_numbers),
        cmocka_unit_test(reads_strings),
        cmocka_unit_test(reads_long_strings),
        cmocka_unit_test(reads_keys_and_tables),
        cmocka_unit_test(keeps_inf_and_nan),
        cmocka_unit_test(marks_times),
        cmocka_unit_test(a_date_fits_a_schema_of_strings),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(phrases_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
