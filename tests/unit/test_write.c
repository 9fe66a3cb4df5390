/* Messages that we write, byte for byte; and a buffer that stays as it was when that fails. */
#include "unit/unit.h"

#include <duplex/rpc.h>

#include <math.h>
#include <stdio.h>

#define V "{\"jsonrpc\":\"2.0\""

static dx_buf new_buf(void) {
    dx_buf buf;
    dx_buf_init(&buf, (size_t)1 << 30, NULL);
    return buf;
}

static void expect_buf(dx_buf *buf, dx_text expected) {
    unit_same((dx_text){buf->data, buf->len}, expected);
    buf->len = 0;
}

static void requests_and_notifications(void **state) {
    (void)state;
    dx_buf buf = new_buf();
    dx_json params = dx_json_text("[1, 2]", 6);
    assert_int_equal(dx_rpc_write_request(&buf, TEXT("1"), TEXT("a/b"), params), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":1,\"method\":\"a/b\",\"params\":[1, 2]}"));
    assert_int_equal(dx_rpc_write_request(&buf, TEXT("\"x\""), TEXT(""), dx_json_none()), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":\"x\",\"method\":\"\"}"));
    assert_int_equal(dx_rpc_write_notification(&buf, TEXT("a\"\n\0\xc3\xa9"), dx_json_none()),
                     DX_OK);
    expect_buf(&buf, TEXT(V ",\"method\":\"a\\\"\\n\\u0000\xc3\xa9\"}"));
    assert_int_equal(dx_rpc_write_notification(&buf, TEXT("n"), params), DX_OK);
    expect_buf(&buf, TEXT(V ",\"method\":\"n\",\"params\":[1, 2]}"));
    dx_buf_done(&buf);
}

static void results_and_errors(void **state) {
    (void)state;
    dx_buf buf = new_buf();
    dx_text none = {NULL, 0};
    assert_int_equal(dx_rpc_write_result(&buf, TEXT("1"), dx_json_text("3", 1)), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":1,\"result\":3}"));
    assert_int_equal(dx_rpc_write_result(&buf, TEXT("1"), dx_json_none()), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":1,\"result\":null}"));
    assert_int_equal(dx_rpc_write_result(&buf, none, dx_json_none()), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":null,\"result\":null}"));
    assert_int_equal(
        dx_rpc_write_error(&buf, TEXT("1"), DX_CODE_METHOD, TEXT("no \"x\""), dx_json_none()),
        DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no \\\"x\\\"\"}}"));
    assert_int_equal(dx_rpc_write_error(&buf, none, 0, TEXT(""), dx_json_text("[]", 2)), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":null,\"error\":{\"code\":0,\"message\":\"\",\"data\":[]}}"));
    assert_int_equal(dx_rpc_write_error(&buf, none, INT64_MIN, TEXT("m"), dx_json_none()), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":null,\"error\":{\"code\":-9223372036854775808,"
                            "\"message\":\"m\"}}"));
    assert_int_equal(dx_rpc_write_error(&buf, none, INT64_MAX, TEXT("m"), dx_json_none()), DX_OK);
    expect_buf(&buf, TEXT(V ",\"id\":null,\"error\":{\"code\":9223372036854775807,"
                            "\"message\":\"m\"}}"));
    dx_buf_done(&buf);
}

static void batches(void **state) {
    (void)state;
    dx_buf buf = new_buf();
    assert_int_equal(dx_rpc_write_batch(&buf, DX_BATCH_OPEN), DX_OK);
    assert_int_equal(dx_rpc_write_notification(&buf, TEXT("a"), dx_json_none()), DX_OK);
    assert_int_equal(dx_rpc_write_batch(&buf, DX_BATCH_NEXT), DX_OK);
    assert_int_equal(dx_rpc_write_notification(&buf, TEXT("b"), dx_json_none()), DX_OK);
    assert_int_equal(dx_rpc_write_batch(&buf, DX_BATCH_CLOSE), DX_OK);
    expect_buf(&buf, TEXT("[" V ",\"method\":\"a\"}," V ",\"method\":\"b\"}]"));
    dx_buf_done(&buf);
}

static void values_in_every_form(void **state) {
    (void)state;
    static const char text[] = "{\"a\":[1,-2.5,\"\xc3\xa9\\n\",null,true]}";
    yyjson_doc *doc = yyjson_read(text, sizeof text - 1, 0);
    yyjson_mut_doc *built = yyjson_doc_mut_copy(doc, NULL);
    dx_buf buf = new_buf();
    assert_int_equal(dx_json_write(&buf, dx_json_value(yyjson_doc_get_root(doc))), DX_OK);
    expect_buf(&buf, dx_str(text));
    assert_int_equal(dx_json_write(&buf, dx_json_built(yyjson_mut_doc_get_root(built))), DX_OK);
    expect_buf(&buf, dx_str(text));
    assert_int_equal(dx_json_write(&buf, dx_json_text(text, sizeof text - 1)), DX_OK);
    expect_buf(&buf, dx_str(text));
    assert_int_equal(dx_json_write(&buf, dx_json_checked(dx_str(text))), DX_OK);
    expect_buf(&buf, dx_str(text));
    /* No value is the same in every form, too. */
    const dx_json nothing[] = {dx_json_none(), dx_json_value(NULL), dx_json_built(NULL),
                               dx_json_text(NULL, 0), dx_json_checked((dx_text){NULL, 0})};
    for (size_t i = 0; i < LENGTH(nothing); i++) {
        assert_int_equal(dx_json_write(&buf, nothing[i]), DX_OK);
        assert_int_equal(dx_rpc_write_request(&buf, TEXT("1"), TEXT("a"), nothing[i]), DX_OK);
        expect_buf(&buf, TEXT(V ",\"id\":1,\"method\":\"a\"}"));
    }
    dx_buf_done(&buf);
    yyjson_mut_doc_free(built);
    yyjson_doc_free(doc);
}

/* Every character below U+0100 and some more come back as they went. */
static void strings_come_back(void **state) {
    (void)state;
    char string[600];
    size_t len = 0;
    for (int c = 0; c < 0x80; c++)
        string[len++] = (char)c;
    for (int c = 0x80; c < 0x100; c++) {
        string[len++] = (char)(0xc0 | c >> 6);
        string[len++] = (char)(0x80 | (c & 0x3f));
    }
    memcpy(string + len, "\xf0\x9f\x98\x80", 4);
    len += 4;
    dx_buf buf = new_buf();
    assert_int_equal(dx_json_write_string(&buf, (dx_text){string, len}), DX_OK);
    for (size_t i = 0; i < buf.len; i++)
        assert_true((unsigned char)buf.data[i] >= 0x20); /* fits on one line */
    yyjson_doc *doc = yyjson_read(buf.data, buf.len, 0);
    yyjson_val *value = yyjson_doc_get_root(doc);
    assert_true(yyjson_is_str(value));
    unit_same((dx_text){yyjson_get_str(value), yyjson_get_len(value)}, (dx_text){string, len});
    yyjson_doc_free(doc);
    dx_buf_done(&buf);
}

static void expect_refused(dx_buf *buf, dx_status status) {
    assert_int_equal(status, DX_ERR_INVALID);
    assert_int_equal(buf->len, 4);
    assert_memory_equal(buf->data, "kept", 4);
}

static dx_buf kept_buf(void) {
    dx_buf buf = new_buf();
    assert_int_equal(dx_buf_append(&buf, "kept", 4), DX_OK);
    return buf;
}

static void ids(void **state) {
    (void)state;
    static const char *const good[] = {
        "18446744073709551615", "\"\"", "1.0", "1e0", "-0", "1.5", "\"\\u0041\"", "\"\xc3\xa9\""};
    static const char *const bad[] = {
        "",    "null", "true",    "{}", "[1]",     "\"a", "1 2",      " 1",     "01", "-",  "+1",
        "abc", "1,2",  "\"\\x\"", "1}", "\"a\"\"", "1.",  "\"\xff\"", "\"\n\"", "1 ", "1\n"};
    dx_buf buf = kept_buf();
    dx_json none = dx_json_none();
    for (size_t i = 0; i < LENGTH(bad); i++) {
        expect_refused(&buf, dx_rpc_write_request(&buf, dx_str(bad[i]), TEXT("a"), none));
        expect_refused(&buf, dx_rpc_write_result(&buf, dx_str(bad[i]), none));
        expect_refused(&buf, dx_rpc_write_error(&buf, dx_str(bad[i]), 1, TEXT("a"), none));
    }
    expect_refused(&buf, dx_rpc_write_request(&buf, (dx_text){NULL, 0}, TEXT("a"), none));
    for (size_t i = 0; i < LENGTH(good); i++) {
        char expected[100];
        snprintf(expected, sizeof expected, V ",\"id\":%s,\"result\":null}", good[i]);
        buf.len = 0;
        assert_int_equal(dx_rpc_write_result(&buf, dx_str(good[i]), none), DX_OK);
        expect_buf(&buf, dx_str(expected));
    }
    dx_buf_done(&buf);
}

static void what_is_not_utf8(void **state) {
    (void)state;
    static const char *const bad[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80",
                                      "\xf4\x90\x80\x80"};
    dx_buf buf = kept_buf();
    dx_json none = dx_json_none();
    for (size_t i = 0; i < LENGTH(bad); i++) {
        dx_text text = dx_str(bad[i]);
        char quoted[16];
        snprintf(quoted, sizeof quoted, "[\"%s\"]", bad[i]);
        expect_refused(&buf, dx_rpc_write_request(&buf, TEXT("1"), text, none));
        expect_refused(&buf, dx_rpc_write_notification(&buf, text, none));
        expect_refused(&buf, dx_rpc_write_error(&buf, TEXT("1"), 1, text, none));
        expect_refused(&buf, dx_json_write_string(&buf, text));
        expect_refused(&buf, dx_json_write(&buf, dx_json_text(quoted, strlen(quoted))));
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *value = yyjson_mut_strcpy(doc, bad[i]);
        expect_refused(&buf, dx_rpc_write_result(&buf, TEXT("1"), dx_json_built(value)));
        yyjson_mut_doc_free(doc);
    }
    dx_buf_done(&buf);
}

static void numbers_without_a_json_form(void **state) {
    (void)state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    dx_buf buf = kept_buf();
    for (size_t i = 0; i < LENGTH(bad); i++) {
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *array = yyjson_mut_arr(doc);
        yyjson_mut_arr_add_int(doc, array, 1);
        yyjson_mut_arr_add_real(doc, array, bad[i]);
        dx_json value = dx_json_built(array);
        expect_refused(&buf, dx_json_write(&buf, value));
        expect_refused(&buf, dx_json_write(&buf, dx_json_built(yyjson_mut_real(doc, bad[i]))));
        expect_refused(&buf, dx_rpc_write_request(&buf, TEXT("1"), TEXT("a"), value));
        expect_refused(&buf, dx_rpc_write_result(&buf, TEXT("1"), value));
        expect_refused(&buf, dx_rpc_write_error(&buf, TEXT("1"), 1, TEXT("a"), value));
        yyjson_mut_doc_free(doc);
    }
    dx_buf_done(&buf);
}

static void texts_that_are_no_json(void **state) {
    (void)state;
    static const char *const bad[] = {"", " ", "[1", "[] []", "{a:1}", "[1],\"id\":2", "nul"};
    dx_buf buf = kept_buf();
    for (size_t i = 0; i < LENGTH(bad); i++) {
        dx_json value = dx_json_text(bad[i], strlen(bad[i]));
        expect_refused(&buf, dx_json_write(&buf, value));
        expect_refused(&buf, dx_rpc_write_notification(&buf, TEXT("a"), value));
        expect_refused(&buf, dx_rpc_write_result(&buf, TEXT("1"), value));
        expect_refused(&buf, dx_rpc_write_error(&buf, TEXT("1"), 1, TEXT("a"), value));
    }
    dx_buf_done(&buf);
}

static void params_that_are_no_container(void **state) {
    (void)state;
    static const char *const bad[] = {"1", "\"[]\"", "null", " true"};
    dx_buf buf = kept_buf();
    for (size_t i = 0; i < LENGTH(bad); i++) {
        size_t len = strlen(bad[i]);
        yyjson_doc *doc = yyjson_read(bad[i], len, 0);
        yyjson_mut_doc *built = yyjson_doc_mut_copy(doc, NULL);
        const dx_json forms[] = {dx_json_text(bad[i], len), dx_json_checked(dx_str(bad[i])),
                                 dx_json_value(yyjson_doc_get_root(doc)),
                                 dx_json_built(yyjson_mut_doc_get_root(built))};
        for (size_t k = 0; k < LENGTH(forms); k++) {
            expect_refused(&buf, dx_rpc_write_request(&buf, TEXT("1"), TEXT("a"), forms[k]));
            expect_refused(&buf, dx_rpc_write_notification(&buf, TEXT("a"), forms[k]));
        }
        yyjson_mut_doc_free(built);
        yyjson_doc_free(doc);
    }
    dx_buf_done(&buf);
}

/* An array has what yyjson calls a length, and no characters. */
static void reads_strings_only(void **state) {
    static const char text[] = "[\"a\\u0000b\",\"\",[1,2,3],{\"x\":1},7,null,true]";
    yyjson_doc *doc = yyjson_read(text, sizeof text - 1, 0);
    (void)state;
    dx_text first = dx_json_string(yyjson_arr_get(yyjson_doc_get_root(doc), 0));
    assert_int_equal(first.len, 3);
    assert_memory_equal(first.at, "a\0b", 3);
    dx_text empty = dx_json_string(yyjson_arr_get(yyjson_doc_get_root(doc), 1));
    assert_non_null(empty.at);
    assert_int_equal(empty.len, 0);
    for (size_t i = 2; i < 8; i++) {
        dx_text none = dx_json_string(yyjson_arr_get(yyjson_doc_get_root(doc), i));
        assert_null(none.at);
        assert_int_equal(none.len, 0);
    }
    yyjson_doc_free(doc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_strings_only),
        cmocka_unit_test(requests_and_notifications),
        cmocka_unit_test(results_and_errors),
        cmocka_unit_test(batches),
        cmocka_unit_test(values_in_every_form),
        cmocka_unit_test(strings_come_back),
        cmocka_unit_test(ids),
        cmocka_unit_test(what_is_not_utf8),
        cmocka_unit_test(numbers_without_a_json_form),
        cmocka_unit_test(texts_that_are_no_json),
        cmocka_unit_test(params_that_are_no_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
