/* The histogram of duplex bench, beside the sorted values themselves. */
#include "cli/bench/histogram.h"
#include "unit/unit.h"

static cli_histogram histogram;

static int reset(void **state) {
    (void)state;
    memset(&histogram, 0, sizeof histogram);
    return 0;
}

static void of_nothing(void **state) {
    (void)state;
    cli_histogram_row row;
    assert_int_equal(cli_histogram_at(&histogram, 0), 0);
    assert_int_equal(cli_histogram_at(&histogram, 500), 0);
    assert_int_equal(cli_histogram_at(&histogram, 1000), 0);
    assert_int_equal(cli_histogram_rows(&histogram, &row, 1), 0);
}

static void of_one(void **state) {
    (void)state;
    cli_histogram_add(&histogram, 123456789);
    for (unsigned i = 0; i <= 1000; i += 100)
        assert_int_equal(cli_histogram_at(&histogram, i), 123456789);
}

/* Small ones are exact, and ranks are those of the sorted values: of 1 to 200, half do not exceed
 * 100, and 999 of a thousand are all but none. */
static void ranks(void **state) {
    (void)state;
    for (uint64_t i = 200; i >= 1; i--)
        cli_histogram_add(&histogram, i);
    assert_int_equal(histogram.count, 200);
    assert_int_equal(histogram.sum, 20100);
    assert_int_equal(histogram.min, 1);
    assert_int_equal(histogram.max, 200);
    assert_int_equal(cli_histogram_at(&histogram, 0), 1);
    assert_int_equal(cli_histogram_at(&histogram, 5), 1);
    assert_int_equal(cli_histogram_at(&histogram, 6), 2);
    assert_int_equal(cli_histogram_at(&histogram, 500), 100);
    assert_int_equal(cli_histogram_at(&histogram, 501), 101);
    assert_int_equal(cli_histogram_at(&histogram, 900), 180);
    assert_int_equal(cli_histogram_at(&histogram, 999), 200);
    assert_int_equal(cli_histogram_at(&histogram, 1000), 200);
}

/* Every power of two, and what stands around it, up to the end: alone in the middle of three it is
 * found with an error below 0.4 %. */
static void errors(void **state) {
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int around = -3; around <= 3; around++) {
            uint64_t value = ((uint64_t)1 << bit) + (uint64_t)around;
            uint64_t odd = value / 100 * 137;
            uint64_t values[] = {value, odd > value ? odd : value};
            for (size_t i = 0; i < LENGTH(values); i++) {
                reset(NULL);
                cli_histogram_add(&histogram, values[i]);
                cli_histogram_add(&histogram, 0);
                cli_histogram_add(&histogram, UINT64_MAX);
                uint64_t found = cli_histogram_at(&histogram, 500);
                uint64_t off = found > values[i] ? found - values[i] : values[i] - found;
                assert_true(off <= values[i] / 250);
            }
        }
}

static int by_value(const void *a, const void *b) {
    const uint64_t *one = a;
    const uint64_t *two = b;
    return (*one > *two) - (*one < *two);
}

static void beside_sorted(void **state) {
    (void)state;
    enum { COUNT = 12347 };
    static uint64_t values[COUNT];
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        values[i] = (seed >> 33) >> (seed >> 20 & 15);
        cli_histogram_add(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof *values, by_value);
    for (unsigned i = 1; i < 1000; i++) {
        uint64_t wanted = values[((size_t)COUNT * i + 999) / 1000 - 1];
        uint64_t found = cli_histogram_at(&histogram, i);
        uint64_t off = found > wanted ? found - wanted : wanted - found;
        assert_true(off <= wanted / 250);
    }
}

static void rows(void **state) {
    (void)state;
    cli_histogram_row row[12];
    static const uint64_t values[] = {1024, 1279, 1280, 2047, 2048, 2048};
    for (size_t i = 0; i < LENGTH(values); i++)
        cli_histogram_add(&histogram, values[i]);
    assert_int_equal(cli_histogram_rows(&histogram, row, 12), 5);
    assert_int_equal(row[0].from, 1024);
    assert_int_equal(row[0].to, 1280);
    assert_int_equal(row[0].count, 2);
    assert_int_equal(row[1].count, 1);
    assert_int_equal(row[2].count, 0);
    assert_int_equal(row[3].count, 1);
    assert_int_equal(row[4].from, 2048);
    assert_int_equal(row[4].count, 2);
    /* Five are one too many for four. */
    assert_int_equal(cli_histogram_rows(&histogram, row, 5), 5);
    assert_int_equal(cli_histogram_rows(&histogram, row, 4), 3);
    assert_int_equal(cli_histogram_rows(&histogram, row, 1), 1);
    assert_int_equal(row[0].count, LENGTH(values));
}

/* However far the values lie apart, all are in the rows, which follow each other. */
static void rows_of_all(void **state) {
    (void)state;
    cli_histogram_row row[12];
    uint64_t sum = 0;
    cli_histogram_add(&histogram, 0);
    for (unsigned bit = 0; bit < 64; bit++)
        cli_histogram_add(&histogram, (uint64_t)1 << bit);
    cli_histogram_add(&histogram, UINT64_MAX);
    size_t count = cli_histogram_rows(&histogram, row, LENGTH(row));
    assert_in_range(count, 2, LENGTH(row));
    for (size_t i = 0; i < count; i++) {
        assert_true(row[i].from < row[i].to);
        assert_true(!i || row[i].from == row[i - 1].to);
        sum += row[i].count;
    }
    assert_int_equal(sum, 66);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_nothing, reset),    cmocka_unit_test_setup(of_one, reset),
        cmocka_unit_test_setup(ranks, reset),         cmocka_unit_test_setup(errors, reset),
        cmocka_unit_test_setup(beside_sorted, reset), cmocka_unit_test_setup(rows, reset),
        cmocka_unit_test_setup(rows_of_all, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
