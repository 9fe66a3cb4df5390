/* What is worked out from what was measured. */
#include "cli/bench/bench.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    const uint64_t *one = a;
    const uint64_t *two = b;
    return (*one > *two) - (*one < *two);
}

cli_spread cli_spread_of(uint64_t *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    uint64_t low = values[(count - 1) / 2];
    uint64_t high = values[count / 2];
    return (cli_spread){values[0], low + (high - low) / 2, values[count - 1]};
}

double cli_load_rate(const cli_load *load) {
    return load->elapsed_ns ? (double)load->results / ((double)load->elapsed_ns / 1e9) : 0;
}

uint64_t cli_load_answered(const cli_load *load) {
    return load->results + load->errors + load->invalid;
}

const cli_load *cli_bench_failure(const cli_bench *bench) {
    for (size_t i = 0; i < bench->runs; i++)
        if (bench->run[i].failed)
            return &bench->run[i];
    return NULL;
}
