/* The names of levels, both ways. */
#include "unit/unit.h"

#include <duplex/reginald.h>

#include <limits.h>

static void writes_levels(void **state) {
    (void)state;
    static const struct {
        int level;
        const char *text;
    } rows[] = {
        {-8, "TRACE"},
        {-4, "DEBUG"},
        {0, "INFO"},
        {4, "WARN"},
        {8, "ERROR"},
        {2, "INFO+2"},
        {-7, "TRACE+1"},
        {-9, "TRACE-1"},
        {-1, "DEBUG+3"},
        {9, "ERROR+1"},
        {7, "WARN+3"},
        {INT_MAX, "ERROR+2147483639"},
        {INT_MIN, "TRACE-2147483640"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char room[24];
        int level = 0;
        assert_ptr_equal(dx_reginald_level_write(rows[i].level, room), room);
        assert_string_equal(room, rows[i].text);
        assert_int_equal(dx_reginald_level_read(dx_str(room), &level), 1);
        assert_int_equal(level, rows[i].level);
    }
}

static void reads_levels_of_any_case_with_offsets(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int level;
    } rows[] = {{"warn", 4},    {"Info-1", -1},      {"INFO+2", 2}, {"trace-3", -11},
                {"eRRoR+0", 8}, {"INFO+0000007", 7}, {"debug+4", 0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int level = 99;
        assert_int_equal(dx_reginald_level_read(dx_str(rows[i].text), &level), 1);
        assert_int_equal(level, rows[i].level);
    }
}

static void refuses_what_is_none(void **state) {
    (void)state;
    static const char *const rows[] = {"",
                                       "NOTICE",
                                       "INFO+",
                                       "INFO2",
                                       " INFO",
                                       "INFO ",
                                       "INFO+-2",
                                       "WARNING",
                                       "INFO+2x",
                                       "INF",
                                       "INFO+0x1",
                                       "ERROR+2147483640",
                                       "TRACE-2147483641",
                                       "INFO+99999999999999999999999999999999999999999"};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int level = 99;
        assert_int_equal(dx_reginald_level_read(dx_str(rows[i]), &level), 0);
        assert_int_equal(level, 99);
    }
    int level = 99;
    assert_int_equal(dx_reginald_level_read((dx_text){NULL, 0}, &level), 0);
    assert_int_equal(dx_reginald_level_read((dx_text){"INFO\0", 5}, &level), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_levels),
        cmocka_unit_test(reads_levels_of_any_case_with_offsets),
        cmocka_unit_test(refuses_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
