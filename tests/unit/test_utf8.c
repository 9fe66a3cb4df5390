/* UTF-8, and text in a fixed room. */
#include "base/utf8.h"
#include "unit/unit.h"

static void test_utf8(void **state) {
    static const char *const bad[] = {"\x80",
                                      "\xc1\x81",
                                      "\xc3",
                                      "\xc3(",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "a\xe2\x82"};
    (void)state;
    assert_true(dx__is_utf8(dx_str("")));
    assert_true(dx__is_utf8((dx_text){NULL, 0}));
    assert_true(dx__is_utf8(dx_str("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf")));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(dx__is_utf8(dx_str(bad[i])));
}

static void test_say(void **state) {
    char line[8] = "";
    (void)state;
    dx__say(line, sizeof line, (dx_text){"a\n\0\xff", 4});
    assert_string_equal(line, "a???");
    dx__say_str(line, sizeof line, "bc\xc3\xa9");
    assert_string_equal(line, "a???bc"); /* the last character does not fit as a whole */
    dx__say_str(line, sizeof line, "de");
    assert_string_equal(line, "a???bcd");
    dx__say_str(line, sizeof line, "e");
    assert_string_equal(line, "a???bcd");
    /* Control characters of two bytes steer some terminals. */
    char other[20] = "";
    dx__say_str(other, sizeof other, "a\xc2\x9b\xc2\xa0\xc2\x80z\x7f");
    assert_string_equal(other, "a?\xc2\xa0?z?");
}

/* What is taken is what has a number: every character, as it would be written. */
static void test_all_codes(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x110fff; code++) {
        char text[4];
        size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        text[0] = (char)code;
        for (size_t i = len - 1; i && len > 1; i--)
            text[i] = (char)(0x80 | (code >> 6 * (len - 1 - i) & 0x3f));
        if (len > 1)
            text[0] = (char)(0xff00U >> len | code >> 6 * (len - 1));
        bool good = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
        assert_int_equal(dx__utf8(text, len), good ? len : 0);
        if (good)
            assert_int_equal(dx__utf8_code(text, len), code);
        if (good && len > 1)
            assert_int_equal(dx__utf8(text, len - 1), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_say),
        cmocka_unit_test(test_all_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
