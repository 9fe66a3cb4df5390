/* The parts of a scanned text: elements of a batch, members of an object, characters of a string.
 */
#include "unit/unit.h"

#include <duplex/rpc.h>

#define V "\"jsonrpc\":\"2.0\""

static dx_message open_batch(dx_text text) {
    dx_message batch;
    dx_rpc_scan(text, 100, 0, &batch);
    assert_int_equal(batch.kind, DX_KIND_BATCH);
    assert_int_equal(batch.fault, DX_FAULT_NONE);
    return batch;
}

static void empty_batches(void **state) {
    (void)state;
    static const char *const texts[] = {"[]", " [ ] ", "[\n\n]\n"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        dx_message batch = open_batch(dx_str(texts[i]));
        dx_message element;
        uint32_t cursor = 0;
        assert_int_equal(dx_rpc_element(dx_str(texts[i]), &batch, 100, 0, &cursor, &element),
                         DX_AGAIN);
    }
}

static void elements_in_their_order(void **state) {
    (void)state;
    static const char text[] =
        " [ {" V ",\"id\":1,\"method\":\"a\"} ,{" V ",\"method\":\"b\"},"
        "7 , [{" V ",\"method\":\"c\"}],{},{" V ",\"id\":2,\"result\":[]}\n] ";
    static const struct {
        dx_kind kind;
        dx_fault fault;
        const char *body;
    } expected[] = {
        {DX_KIND_REQUEST, DX_FAULT_NONE, "{" V ",\"id\":1,\"method\":\"a\"}"},
        {DX_KIND_NOTIFICATION, DX_FAULT_NONE, "{" V ",\"method\":\"b\"}"},
        {DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "7"},
        {DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "[{" V ",\"method\":\"c\"}]"},
        {DX_KIND_NONE, DX_FAULT_NOT_A_MESSAGE, "{}"},
        {DX_KIND_RESPONSE, DX_FAULT_NONE, "{" V ",\"id\":2,\"result\":[]}"},
    };
    dx_message batch = open_batch(dx_str(text));
    dx_message element;
    uint32_t cursor = 0;
    for (size_t i = 0; i < LENGTH(expected); i++) {
        assert_int_equal(dx_rpc_element(dx_str(text), &batch, 100, 0, &cursor, &element), DX_OK);
        assert_int_equal(element.kind, expected[i].kind);
        assert_int_equal(element.fault, expected[i].fault);
        unit_same((dx_text){text + element.body.at, element.body.len}, dx_str(expected[i].body));
        if (element.fault != DX_FAULT_NONE)
            assert_int_equal(element.fault_at, element.body.at);
    }
    /* Slices are relative to the whole text. */
    assert_memory_equal(text + element.id.at, "2", element.id.len);
    assert_memory_equal(text + element.result.at, "[]", element.result.len);
    for (int i = 0; i < 2; i++)
        assert_int_equal(dx_rpc_element(dx_str(text), &batch, 100, 0, &cursor, &element), DX_AGAIN);
}

static void elements_need_the_version_too(void **state) {
    (void)state;
    dx_text text = TEXT("[{\"method\":\"a\"}]");
    dx_message batch = open_batch(text);
    dx_message element;
    uint32_t cursor = 0;
    assert_int_equal(dx_rpc_element(text, &batch, 100, 0, &cursor, &element), DX_OK);
    assert_int_equal(element.fault, DX_FAULT_VERSION);
}

static void members_of_an_object(void **state) {
    (void)state;
    dx_text object = TEXT(" { \"a\" : 1 , \"b\":{\"c\":2},\"\":\"e\",\"a\":3,\"\\u0064\":[ ] ,"
                          "\"x\\ny\":true,\"\\ud83d\\ude00\":null}");
    assert_text(dx_rpc_member(object, dx_str("a")), "1"); /* the first of several */
    assert_text(dx_rpc_member(object, dx_str("b")), "{\"c\":2}");
    assert_text(dx_rpc_member(object, dx_str("")), "\"e\"");
    assert_text(dx_rpc_member(object, dx_str("d")), "[ ]");
    assert_text(dx_rpc_member(object, dx_str("x\ny")), "true");
    assert_text(dx_rpc_member(object, dx_str("\xf0\x9f\x98\x80")), "null");
    assert_null(dx_rpc_member(object, dx_str("c")).at);
    assert_null(dx_rpc_member(object, dx_str("aa")).at);
    assert_null(dx_rpc_member(object, dx_str("\\u0064")).at); /* a name, not its spelling */
}

static void members_of_what_has_none(void **state) {
    (void)state;
    static const char *const texts[] = {"{}", " { } ", "[]", "[\"a\",1]", "1", "\"a\"", "null"};
    for (size_t i = 0; i < LENGTH(texts); i++)
        assert_null(dx_rpc_member(dx_str(texts[i]), dx_str("a")).at);
    assert_null(dx_rpc_member((dx_text){NULL, 0}, dx_str("a")).at);
}

static void members_with_long_names(void **state) {
    (void)state;
    char name[1000];
    char object[1100] = "{\"short\":1,\"";
    memset(name, 'n', sizeof name);
    size_t len = strlen(object);
    memcpy(object + len, name, sizeof name);
    memcpy(object + len + sizeof name, "\":2}", 5);
    assert_text(dx_rpc_member(dx_str(object), (dx_text){name, sizeof name}), "2");
    assert_null(dx_rpc_member(dx_str(object), (dx_text){name, sizeof name - 1}).at);
}

static void characters_of_strings(void **state) {
    (void)state;
    static const struct {
        dx_text string;
        dx_text characters;
    } cases[] = {
        {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), TEXT("\"\\/\b\f\n\r\t")},
        {TEXT("\"\\u0000x\""), TEXT("\0x")},
        {TEXT("\"\\u007f\\u0080\\u07ff\""), TEXT("\x7f\xc2\x80\xdf\xbf")},
        {TEXT("\"\\u0800\\ud7ff\\uE000\\uFFFF\""),
         TEXT("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf")},
        {TEXT("\"\\ud800\\udc00\\uDBFF\\uDFFF\""), TEXT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")},
        {TEXT("\"\xc3\xa9\\u00e9\""), TEXT("\xc3\xa9\xc3\xa9")},
        {TEXT("\"\\\\u0041\""), TEXT("\\u0041")},
    };
    struct unit_fence from = unit_fence_new(100);
    struct unit_fence to = unit_fence_new(100);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t len = cases[i].string.len;
        dx_text string = unit_fence_put(&from, cases[i].string.at, len);
        dx_text characters = {NULL, 0};
        char *room = to.area + to.room - len; /* no more than is promised to be enough */
        assert_int_equal(dx_rpc_string(string, room, &characters), DX_OK);
        assert_ptr_equal(characters.at, room);
        unit_same(characters, cases[i].characters);
    }
    unit_fence_done(&from);
    unit_fence_done(&to);
}

static void plain_strings_are_not_copied(void **state) {
    (void)state;
    dx_text string = TEXT("\"a\xc3\xa9\"");
    dx_text characters;
    assert_int_equal(dx_rpc_string(string, NULL, &characters), DX_OK);
    assert_ptr_equal(characters.at, string.at + 1);
    assert_int_equal(characters.len, 3);
    assert_int_equal(dx_rpc_string(TEXT("\"\""), NULL, &characters), DX_OK);
    assert_int_equal(characters.len, 0);
    assert_non_null(characters.at);
}

static void what_has_no_characters(void **state) {
    (void)state;
    static const dx_text strings[] = {
        TEXT("\"\\ud800\""),
        TEXT("\"\\udc00\""),
        TEXT("\"\\udc00\\ud800\""),
        TEXT("\"\\ud800\\u0041\""),
        TEXT("\"\\ud800\\ue000\""),
        TEXT("\"\\ud800xx\""),
        TEXT("\"\\ud800\\n12345\""),
        TEXT("\"\\ud83d\\ud83d\""),
        TEXT("1"),
        TEXT("\""),
        TEXT(""),
    };
    struct unit_fence fence = unit_fence_new(100);
    char room[100];
    for (size_t i = 0; i < LENGTH(strings); i++) {
        dx_text string = unit_fence_put(&fence, strings[i].at, strings[i].len);
        dx_text characters;
        assert_int_equal(dx_rpc_string(string, room, &characters), DX_ERR_INVALID);
    }
    unit_fence_done(&fence);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_batches),
        cmocka_unit_test(elements_in_their_order),
        cmocka_unit_test(elements_need_the_version_too),
        cmocka_unit_test(members_of_an_object),
        cmocka_unit_test(members_of_what_has_none),
        cmocka_unit_test(members_with_long_names),
        cmocka_unit_test(characters_of_strings),
        cmocka_unit_test(plain_strings_are_not_copied),
        cmocka_unit_test(what_has_no_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
