#include "cli/bench/histogram.h"

enum { BITS = 7, PARTS = 1 << BITS };

/* How far a value is shifted until it is below 2 * PARTS. */
static unsigned shift_of(uint64_t value) {
    unsigned top = 63 - (unsigned)__builtin_clzll(value | 1);
    return top > BITS ? top - BITS : 0;
}

static size_t index_of(uint64_t value) {
    unsigned shift = shift_of(value);
    return ((size_t)shift << BITS) + (size_t)(value >> shift);
}

/* The smallest value of a bucket. That of the one behind the last is the largest there is. */
static uint64_t begin_of(size_t index) {
    size_t row = index >> BITS;
    if (row < 2)
        return index;
    if (index >= CLI_HISTOGRAM_BUCKETS)
        return UINT64_MAX;
    return (uint64_t)(PARTS + (index & (PARTS - 1))) << (row - 1);
}

void cli_histogram_add(cli_histogram *histogram, uint64_t value) {
    if (!histogram->count || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += value;
    histogram->buckets[index_of(value)]++;
}

static uint64_t within(const cli_histogram *histogram, uint64_t value) {
    if (value < histogram->min)
        return histogram->min;
    return value > histogram->max ? histogram->max : value;
}

uint64_t cli_histogram_at(const cli_histogram *histogram, unsigned of_thousand) {
    uint64_t whole = histogram->count / 1000 * of_thousand;
    uint64_t rank = whole + (histogram->count % 1000 * of_thousand + 999) / 1000;
    uint64_t seen = 0;
    if (of_thousand >= 1000)
        return histogram->max;
    if (!rank)
        return histogram->min;
    for (size_t i = index_of(histogram->min); i < CLI_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank)
            return within(histogram, begin_of(i) + (begin_of(i + 1) - begin_of(i)) / 2);
    }
    return histogram->max;
}

size_t cli_histogram_rows(const cli_histogram *histogram, cli_histogram_row *rows, size_t max) {
    size_t first = index_of(histogram->min);
    size_t last = index_of(histogram->max);
    size_t step = PARTS / 4;
    if (!histogram->count)
        return 0;
    while (last / step - first / step + 1 > max)
        step *= 2;
    size_t begin = first / step;
    size_t count = last / step - begin + 1;
    for (size_t i = 0; i < count; i++) {
        size_t from = (begin + i) * step;
        rows[i] = (cli_histogram_row){.from = begin_of(from), .to = begin_of(from + step)};
        for (size_t at = from; at < from + step && at <= last; at++)
            rows[i].count += histogram->buckets[at];
    }
    return count;
}
