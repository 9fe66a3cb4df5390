#include "unit/unit.h"

#include "base/line.h"

#include <duplex/version.h>

static void every_fault_has_a_name_of_its_own(void **state) {
    (void)state;
    for (int fault = 0; fault < DX_FAULT__COUNT; fault++) {
        const char *name = dx_fault_name((dx_fault)fault);
        assert_non_null(name);
        size_t len = strlen(name);
        assert_true(len > 0);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), len);
        assert_true(name[0] != '-' && name[len - 1] != '-' && !strstr(name, "--"));
        for (int other = 0; other < fault; other++)
            assert_string_not_equal(name, dx_fault_name((dx_fault)other));
    }
}

static void names_of_no_fault(void **state) {
    (void)state;
    assert_string_equal(dx_fault_name(DX_FAULT__COUNT), "unknown fault");
    assert_string_equal(dx_fault_name((dx_fault)-1), "unknown fault");
}

/* The documented examples: the names are the enum's, so that one can be found from the other. */
static void names_are_those_of_the_enum(void **state) {
    (void)state;
    assert_string_equal(dx_fault_name(DX_FAULT_NONE), "none");
    assert_string_equal(dx_fault_name(DX_FAULT_LENGTH_MISSING), "length-missing");
    assert_string_equal(dx_fault_name(DX_FAULT_JSON_UTF8), "json-utf8");
    assert_string_equal(dx_fault_name(DX_FAULT_ID_TYPE), "id-type");
    assert_string_equal(dx_fault_name(DX_FAULT_ENDED), "ended");
}

static void check_phrase(dx_fault fault, uint64_t found, uint64_t expected) {
    dx_error error;
    memset(&error, '#', sizeof error);
    dx__error_set(&error, fault, 12, found, expected);
    assert_int_equal(error.fault, fault);
    assert_true(error.offset == 12);
    size_t len = strnlen(error.phrase, sizeof error.phrase);
    assert_in_range(len, 1, sizeof error.phrase - 2); /* the last byte would say it was cut */
    assert_true(strnlen(error.place, sizeof error.place) < sizeof error.place - 1);
    assert_null(strpbrk(error.phrase, "$\r\n"));
    for (size_t i = 0; i < len; i++)
        assert_in_range(error.phrase[i], ' ', '~'); /* dx__send_error() counts on ASCII */
}

static void every_fault_has_a_phrase_that_fits(void **state) {
    (void)state;
    static const uint64_t numbers[] = {0, 1, UINT64_MAX};
    for (int fault = 0; fault < DX_FAULT__COUNT; fault++)
        for (size_t i = 0; i < LENGTH(numbers); i++)
            for (size_t k = 0; k < LENGTH(numbers); k++)
                check_phrase((dx_fault)fault, numbers[i], numbers[k]);
}

static void phrases_carry_the_numbers(void **state) {
    (void)state;
    dx_error error;
    dx__error_set(&error, DX_FAULT_LENGTH_SHORT, 0, 58, 52);
    assert_non_null(strstr(error.phrase, "declared 52"));
    assert_non_null(strstr(error.phrase, "ended at 58"));
    assert_string_equal(error.place, "body");
    dx__error_set(&error, DX_FAULT_TRUNCATED, 0, 10, 17);
    assert_non_null(strstr(error.phrase, "10 of 17"));
    dx__error_set(&error, DX_FAULT_TRUNCATED, 0, 10, 0); /* how much was to come is not known */
    assert_null(strstr(error.phrase, "of 0"));
    dx__error_set(&error, DX_FAULT_OTHER_FRAMING, 0, 0, 1);
    assert_non_null(strstr(error.phrase, "expected header framing"));
    dx__error_set(&error, DX_FAULT_OTHER_FRAMING, 0, 0, 0);
    assert_non_null(strstr(error.phrase, "expected line framing"));
}

static void every_status_has_a_name_of_its_own(void **state) {
    (void)state;
    for (int status = DX_ERR_INVALID; status <= DX_CLOSED; status++) {
        const char *name = dx_status_name((dx_status)status);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz "), strlen(name));
        assert_string_not_equal(name, "unknown status");
        for (int other = DX_ERR_INVALID; other < status; other++)
            assert_string_not_equal(name, dx_status_name((dx_status)other));
    }
    assert_string_equal(dx_status_name(DX_OK), "ok");
    assert_string_equal(dx_status_name((dx_status)99), "unknown status");
}

static void version_is_the_one_of_the_header(void **state) {
    (void)state;
    assert_string_equal(dx_version(), DX_VERSION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_has_a_name_of_its_own),
        cmocka_unit_test(names_of_no_fault),
        cmocka_unit_test(names_are_those_of_the_enum),
        cmocka_unit_test(every_fault_has_a_phrase_that_fits),
        cmocka_unit_test(phrases_carry_the_numbers),
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(version_is_the_one_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
