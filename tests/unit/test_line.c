#include "unit/unit.h"

#include "base/line.h"

static void strings_and_numbers_in_a_row(void **state) {
    (void)state;
    char room[64];
    dx__line line = dx__line_on(room, sizeof room);
    assert_string_equal(room, "");
    dx__line_str(&line, "declared ");
    dx__line_num(&line, 52);
    dx__line_str(&line, "");
    dx__line_str(&line, ", ended at ");
    dx__line_num(&line, 0);
    assert_string_equal(room, "declared 52, ended at 0");
    assert_int_equal(line.len, strlen(room));
}

/* Whatever the room, what is there is the beginning, and nothing is written behind it. */
static void cuts_off_what_does_not_fit(void **state) {
    (void)state;
    static const char whole[] = "abc18446744073709551615xyz";
    for (size_t size = 1; size <= sizeof whole + 3; size++) {
        char room[40];
        memset(room, '#', sizeof room);
        dx__line line = dx__line_on(room, size);
        dx__line_str(&line, "abc");
        dx__line_num(&line, UINT64_MAX);
        dx__line_str(&line, "xyz");
        size_t expected = size - 1 < sizeof whole - 1 ? size - 1 : sizeof whole - 1;
        assert_int_equal(strlen(room), expected);
        assert_memory_equal(room, whole, expected);
        for (size_t i = size; i < sizeof room; i++)
            assert_int_equal(room[i], '#');
    }
}

static void digits_of_numbers(void **state) {
    (void)state;
    static const struct {
        uint64_t number;
        const char *digits;
    } cases[] = {
        {0, "0"},
        {9, "9"},
        {10, "10"},
        {1000000, "1000000"},
        {9007199254740991, "9007199254740991"},
        {UINT64_MAX, "18446744073709551615"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char digits[20];
        size_t len = dx__digits(cases[i].number, digits);
        unit_same((dx_text){digits, len}, dx_str(cases[i].digits));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_and_numbers_in_a_row),
        cmocka_unit_test(cuts_off_what_does_not_fit),
        cmocka_unit_test(digits_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
