/* dx_rpc_scan() and what goes with it: which message a text is, and what is wrong with it. */
#include "rpc/scan.h"
#include "unit/unit.h"

#include <duplex/frame.h>
#include <duplex/rpc.h>

#include <stdio.h>

#define V "\"jsonrpc\":\"2.0\""

static dx_message scan(const char *text, unsigned lenient) {
    dx_message message;
    memset(&message, '#', sizeof message);
    dx_rpc_scan(dx_str(text), 100, lenient, &message);
    return message;
}

static void expect_slice(const char *text, dx_slice slice, const char *expected) {
    if (!expected) {
        assert_int_equal(slice.len, 0);
        return;
    }
    unit_same((dx_text){text + slice.at, slice.len}, dx_str(expected));
}

static void good_messages(void **state) {
    (void)state;
    static const struct {
        const char *text;
        dx_kind kind;
        const char *id, *method, *params, *result, *error;
    } cases[] = {
        {"{" V ",\"id\":1,\"method\":\"a\",\"params\":[1]}", DX_KIND_REQUEST, "1", "\"a\"", "[1]",
         NULL, NULL},
        {"{\"params\" : {\"id\":2} ,\"method\":\"\",\"id\":\"x\"," V "}", DX_KIND_REQUEST, "\"x\"",
         "\"\"", "{\"id\":2}", NULL, NULL},
        {"{" V ",\"method\":\"a\"}", DX_KIND_NOTIFICATION, NULL, "\"a\"", NULL, NULL, NULL},
        {"{" V ",\"id\":7,\"result\":null}", DX_KIND_RESPONSE, "7", NULL, NULL, "null", NULL},
        {"{" V ",\"id\":7,\"error\":{\"code\":1,\"message\":\"\"}}", DX_KIND_RESPONSE, "7", NULL,
         NULL, NULL, "{\"code\":1,\"message\":\"\"}"},
        {"{" V ",\"id\":null,\"error\":{}}", DX_KIND_RESPONSE, "null", NULL, NULL, NULL, "{}"},
        {"{" V ",\"id\":1,\"method\":\"a\",\"more\":1,\"more\":2}", DX_KIND_REQUEST, "1", "\"a\"",
         NULL, NULL, NULL},
        {"[]", DX_KIND_BATCH, NULL, NULL, NULL, NULL, NULL},
        {"[1,{}]", DX_KIND_BATCH, NULL, NULL, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *text = cases[i].text;
        dx_message message = scan(text, 0);
        assert_int_equal(message.kind, cases[i].kind);
        assert_int_equal(message.fault, DX_FAULT_NONE);
        expect_slice(text, message.id, cases[i].id);
        expect_slice(text, message.method, cases[i].method);
        expect_slice(text, message.params, cases[i].params);
        expect_slice(text, message.result, cases[i].result);
        expect_slice(text, message.error, cases[i].error);
        expect_slice(text, message.body, text);
    }
}

static void body_is_the_text_without_space(void **state) {
    (void)state;
    static const char text[] = "\r\n {" V ",\"method\":\"a\"}\t\n";
    dx_message message = scan(text, 0);
    assert_int_equal(message.fault, DX_FAULT_NONE);
    expect_slice(text, message.body, "{" V ",\"method\":\"a\"}");
}

static void ids_are_the_bytes_that_came(void **state) {
    (void)state;
    static const char *const ids[] = {
        "18446744073709551615",
        "\"\"",
        "1.0",
        "1e0",
        "-0",
        "1.5",
        "0",
        "-1",
        "1e400",
        "123456789012345678901234567890123456789012345678901234567890",
        "\"\\u0041\"",
        "\"\\\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\\uD83D\\uDE00\"",
        "\"\xc3\xa9\\u0000\"",
    };
    for (size_t i = 0; i < LENGTH(ids); i++) {
        char text[200];
        snprintf(text, sizeof text, "{" V ",\"id\" : %s , \"method\":\"a\"}", ids[i]);
        dx_message message = scan(text, 0);
        assert_int_equal(message.kind, DX_KIND_REQUEST);
        assert_int_equal(message.fault, DX_FAULT_NONE);
        expect_slice(text, message.id, ids[i]);
    }
}

static void faults_of_the_envelope(void **state) {
    (void)state;
    static const struct {
        const char *text;
        dx_kind kind;
        dx_fault fault;
        const char *where; /* how the text goes on from the place of the fault */
    } cases[] = {
        {"42", DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "42"},
        {" \"ok\"", DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "\"ok\""},
        {"null", DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "null"},
        {"{}", DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "{}"},
        {"{" V "}", DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "{"},
        {"{" V ",\"params\":[]}", DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "{"},
        {"{\"method\":\"a\"}", DX_KIND_NOTIFICATION, DX_FAULT_VERSION, "{"},
        {"{\"id\":1,\"method\":\"a\",\"jsonrpc\":\"1.0\"}", DX_KIND_REQUEST, DX_FAULT_VERSION,
         "\"1.0\""},
        {"{\"jsonrpc\":2.0,\"id\":1,\"result\":1}", DX_KIND_RESPONSE, DX_FAULT_VERSION, "2.0"},
        {"{" V ",\"id\":1,\"method\":\"a\",\"id\":2}", DX_KIND_REQUEST, DX_FAULT_MEMBER_REPEATED,
         "\"id\":2"},
        {"{" V ",\"method\":\"a\",\"method\":\"a\"}", DX_KIND_NOTIFICATION,
         DX_FAULT_MEMBER_REPEATED, "\"method\":\"a\"}"},
        {"{" V ",\"method\":\"a\"," V "}", DX_KIND_NOTIFICATION, DX_FAULT_MEMBER_REPEATED, V "}"},
        {"{" V ",\"method\":\"a\",\"params\":[],\"params\":{}}", DX_KIND_NOTIFICATION,
         DX_FAULT_MEMBER_REPEATED, "\"params\":{}"},
        {"{" V ",\"id\":1,\"result\":1,\"result\":2}", DX_KIND_RESPONSE, DX_FAULT_MEMBER_REPEATED,
         "\"result\":2"},
        {"{" V ",\"id\":1,\"error\":{},\"error\":1}", DX_KIND_RESPONSE, DX_FAULT_MEMBER_REPEATED,
         "\"error\":1"},
        {"{" V ",\"id\":1,\"method\":7}", DX_KIND_REQUEST, DX_FAULT_METHOD_TYPE, "7}"},
        {"{" V ",\"method\":null}", DX_KIND_NOTIFICATION, DX_FAULT_METHOD_TYPE, "null"},
        {"{" V ",\"method\":\"\\ud800\"}", DX_KIND_NOTIFICATION, DX_FAULT_METHOD_TYPE,
         "\"\\ud800\""},
        {"{" V ",\"id\":1,\"method\":\"a\",\"params\":1}", DX_KIND_REQUEST, DX_FAULT_PARAMS_TYPE,
         "1}"},
        {"{" V ",\"method\":\"a\",\"params\":null}", DX_KIND_NOTIFICATION, DX_FAULT_PARAMS_TYPE,
         "null"},
        {"{" V ",\"method\":\"a\",\"params\":\"x\"}", DX_KIND_NOTIFICATION, DX_FAULT_PARAMS_TYPE,
         "\"x\""},
        {"{" V ",\"method\":\"a\",\"id\":null}", DX_KIND_REQUEST, DX_FAULT_ID_TYPE, "null"},
        {"{" V ",\"method\":\"a\",\"id\":[1]}", DX_KIND_REQUEST, DX_FAULT_ID_TYPE, "[1]"},
        {"{" V ",\"method\":\"a\",\"id\":{}}", DX_KIND_REQUEST, DX_FAULT_ID_TYPE, "{}}"},
        {"{" V ",\"method\":\"a\",\"id\":true}", DX_KIND_REQUEST, DX_FAULT_ID_TYPE, "true"},
        {"{" V ",\"method\":\"a\",\"id\":\"\\udc00\"}", DX_KIND_REQUEST, DX_FAULT_ID_TYPE,
         "\"\\udc00\""},
        {"{" V ",\"result\":1,\"id\":false}", DX_KIND_RESPONSE, DX_FAULT_ID_TYPE, "false"},
        {"{" V ",\"result\":1,\"id\":null}", DX_KIND_RESPONSE, DX_FAULT_ID_TYPE, "null"},
        {" {" V ",\"result\":1}", DX_KIND_RESPONSE, DX_FAULT_ID_MISSING, "{"},
        {"{" V ",\"error\":{}}", DX_KIND_RESPONSE, DX_FAULT_ID_MISSING, "{"},
        {" {" V ",\"id\":1,\"result\":1,\"error\":{}}", DX_KIND_RESPONSE, DX_FAULT_RESULT_AND_ERROR,
         "{"},
        {" {" V ",\"id\":1}", DX_KIND_RESPONSE, DX_FAULT_RESULT_MISSING, "{"},
        {"{" V ",\"id\":1,\"params\":{}}", DX_KIND_REQUEST, DX_FAULT_METHOD_MISSING, "{"},
        {"{" V ",\"id\":1,\"method\":\"a\",\"result\":1}", DX_KIND_NONE, DX_FAULT_METHOD_AND_RESULT,
         "\"a\""},
        {"{" V ",\"method\":\"a\",\"error\":{}}", DX_KIND_NONE, DX_FAULT_METHOD_AND_RESULT,
         "\"a\""},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const char *text = cases[i].text;
        dx_message message = scan(text, 0);
        const char *where = strstr(text, cases[i].where);
        assert_non_null(where);
        size_t at = (size_t)(where - text);
        if (message.kind != cases[i].kind || message.fault != cases[i].fault ||
            message.fault_at != at)
            fail_msg("%s: kind %d, %s at %u, expected %s at %zu", text, message.kind,
                     dx_fault_name(message.fault), message.fault_at, dx_fault_name(cases[i].fault),
                     at);
    }
}

/* The specification wants an answer to these, so what they carry must be known. */
static void parts_are_found_in_spite_of_a_fault(void **state) {
    (void)state;
    static const char text[] = "{\"id\":\"x\",\"method\":\"a\",\"params\":3}";
    dx_message message = scan(text, 0);
    assert_int_equal(message.fault, DX_FAULT_VERSION);
    expect_slice(text, message.id, "\"x\"");
    expect_slice(text, message.method, "\"a\"");
    expect_slice(text, message.params, "3");
    expect_slice(text, message.body, text);
}

static void what_is_no_json_has_no_parts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        dx_fault fault;
        uint32_t at;
    } cases[] = {
        {"", DX_FAULT_JSON_EMPTY, 0},
        {"  ", DX_FAULT_JSON_EMPTY, 2},
        {"{" V ",\"id\":1,\"method\":\"a\"", DX_FAULT_JSON_INCOMPLETE, 36},
        {"{" V ",\"id\":1,}", DX_FAULT_JSON_SYNTAX, 24},
        {"{" V ",\"id\" 1}", DX_FAULT_JSON_SYNTAX, 22},
        {"{\"id\":1} {}", DX_FAULT_JSON_TRAILING, 9},
        {"[{\"id\":1},]", DX_FAULT_JSON_SYNTAX, 10},
        {"{\"id\":\"\xff\"}", DX_FAULT_JSON_UTF8, 7},
        {"log line", DX_FAULT_JSON_SYNTAX, 0},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        dx_message message = scan(cases[i].text, 0);
        assert_int_equal(message.kind, DX_KIND_NONE);
        assert_string_equal(dx_fault_name(message.fault), dx_fault_name(cases[i].fault));
        assert_int_equal(message.fault_at, cases[i].at);
        assert_int_equal(message.id.len + message.method.len + message.body.len, 0);
    }
}

static void depth_of_an_envelope(void **state) {
    (void)state;
    static const char text[] = "{" V ",\"method\":\"a\",\"params\":[[]]}";
    dx_message message;
    dx_rpc_scan(dx_str(text), 3, 0, &message);
    assert_int_equal(message.fault, DX_FAULT_NONE);
    for (unsigned depth = 0; depth < 3; depth++) {
        dx_rpc_scan(dx_str(text), depth, 0, &message);
        assert_int_equal(message.fault, DX_FAULT_JSON_DEPTH);
        assert_int_equal(message.kind, DX_KIND_NONE);
    }
}

static void version_may_be_missing_by_leniency(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"id\":1,\"method\":\"a\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"}",
        "{\"jsonrpc\":2,\"id\":1,\"method\":\"a\"}",
    };
    for (size_t i = 0; i < LENGTH(texts); i++) {
        assert_int_equal(scan(texts[i], ~(unsigned)DX_LENIENT_NO_VERSION).fault, DX_FAULT_VERSION);
        assert_int_equal(scan(texts[i], DX_LENIENT_NO_VERSION).fault, DX_FAULT_NONE);
        assert_int_equal(scan(texts[i], DX_LENIENT_NO_VERSION).kind, DX_KIND_REQUEST);
    }
}

static void null_params_are_none_by_leniency(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}",
        "{\"method\":\"m\",\"params\" : null , \"jsonrpc\":\"2.0\"}"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        dx_message message;
        dx_rpc_scan(dx_str(texts[i]), 1000, 0, &message);
        assert_int_equal(message.fault, DX_FAULT_PARAMS_TYPE);
        dx_rpc_scan(dx_str(texts[i]), 1000, DX_LENIENT_NULL_PARAMS, &message);
        assert_int_equal(message.fault, DX_FAULT_NONE);
        assert_int_equal(message.params.len, 0);
        assert_int_equal(message.kind, i ? DX_KIND_NOTIFICATION : DX_KIND_REQUEST);
    }
}

static void escaped_names_count(void **state) {
    (void)state;
    static const char text[] = "{\"\\u006a\\u0073\\u006f\\u006e\\u0072\\u0070\\u0063\":\"2.0\","
                               "\"\\u0069d\":1,\"m\\u0065thod\":\"a\",\"\\u0070arams\":[2]}";
    dx_message message = scan(text, 0);
    assert_int_equal(message.kind, DX_KIND_REQUEST);
    assert_int_equal(message.fault, DX_FAULT_NONE);
    expect_slice(text, message.id, "1");
    expect_slice(text, message.method, "\"a\"");
    expect_slice(text, message.params, "[2]");
}

static void escaped_names_collide(void **state) {
    (void)state;
    static const char text[] = "{" V ",\"id\":1,\"method\":\"a\",\"\\u0069\\u0064\":2}";
    dx_message message = scan(text, 0);
    assert_int_equal(message.fault, DX_FAULT_MEMBER_REPEATED);
    assert_string_equal(text + message.fault_at, "\"\\u0069\\u0064\":2}");
    /* Others only look alike. */
    assert_int_equal(scan("{" V ",\"method\":\"a\",\"Method\":1,\"method \":1}", 0).fault,
                     DX_FAULT_NONE);
    assert_int_equal(scan("{" V ",\"method\":\"a\",\"method\\u0000\":1}", 0).fault, DX_FAULT_NONE);
    assert_int_equal(scan("{" V ",\"method\":\"a\",\"i\\ud800d\":1}", 0).fault, DX_FAULT_NONE);
}

/* "2.0" is "2.0" however it was written. */
static void an_escaped_version_is_the_version(void **state) {
    (void)state;
    assert_int_equal(scan("{\"jsonrpc\":\"\\u0032.0\",\"method\":\"a\"}", 0).fault, DX_FAULT_NONE);
}

static bool same_slice(dx_slice a, dx_slice b) {
    return a.at == b.at && a.len == b.len;
}

static bool same_message(const dx_message *a, const dx_message *b) {
    return a->kind == b->kind && a->fault == b->fault && a->fault_at == b->fault_at &&
           a->escaped == b->escaped && same_slice(a->body, b->body) && same_slice(a->id, b->id) &&
           same_slice(a->method, b->method) && same_slice(a->params, b->params) &&
           same_slice(a->result, b->result) && same_slice(a->error, b->error);
}

/* A scan in steps finds what a scan in one go finds. */
static void steps_make_no_difference(void **state) {
    static const char *const texts[] = {
        "",
        " ",
        "1",
        " 12 ",
        "-",
        "-1.5e+3",
        "tru",
        "true",
        "\"a\"",
        "\"a",
        "\"\\u00",
        "[",
        "[]",
        " [ ] ",
        "[1,2 , 3]",
        "[1,",
        "[1 2]",
        "{",
        "{}",
        "{ }",
        "{\"a\"",
        "{\"a\" :",
        "{\"a\":1 , \"b\" : [ { } ] }",
        "{\"a\":1,}",
        "{1:2}",
        "{" V ",\"id\":1,\"method\":\"a\"}",
        "{" V ", \"id\" : 12.5 , \"method\" : \"a\\nb\" , \"params\" : [ 1 ] } ",
        "{" V ",\"id\":1,\"id\":2,\"result\":{\"id\":{\"method\":3}}}",
        "{" V ",\"\\u0069d\":7,\"result\":null}",
        "{" V ",\"method\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}",
        "{" V ",\"method\":\"\xc3\"}",
        "{" V "} x",
        "{" V ",\"error\":{\"code\":1,\"message\":\"\"},\"id\":null}",
        "[{" V ",\"method\":\"a\"},[],1]",
        "[[[[[[]]]]]]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (unsigned depth = 1; depth < 8; depth += 6)
            for (size_t step = 1; step < 9; step++) {
                dx_text text = dx_str(texts[i]);
                dx_message whole;
                dx__rpc_scan scan;
                dx_rpc_scan(text, depth, 0, &whole);
                dx__rpc_scan_begin(&scan);
                size_t steps = 1;
                while (!dx__rpc_scan_go(&scan, text, depth, 0, step))
                    assert_true(steps++ <= text.len);
                if (!same_message(&scan.message, &whole))
                    fail_msg("%s, depth %u, step %zu", texts[i], depth, step);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_messages),
        cmocka_unit_test(body_is_the_text_without_space),
        cmocka_unit_test(ids_are_the_bytes_that_came),
        cmocka_unit_test(faults_of_the_envelope),
        cmocka_unit_test(parts_are_found_in_spite_of_a_fault),
        cmocka_unit_test(what_is_no_json_has_no_parts),
        cmocka_unit_test(depth_of_an_envelope),
        cmocka_unit_test(version_may_be_missing_by_leniency),
        cmocka_unit_test(null_params_are_none_by_leniency),
        cmocka_unit_test(escaped_names_count),
        cmocka_unit_test(escaped_names_collide),
        cmocka_unit_test(an_escaped_version_is_the_version),
        cmocka_unit_test(steps_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
