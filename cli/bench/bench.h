/* bench.h: what duplex bench has measured, and how it is told. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli/bench/load.h"

/* The most starts and runs, and the most rows of a histogram. */
enum { CLI_BENCH_STARTS = 1000, CLI_BENCH_RUNS = 9, CLI_BENCH_ROWS = 12 };

typedef struct cli_bench {
    const char *method;
    char protocol[200]; /* "mcp", and its revision, "" for none */
    char revision[100];
    dx_framing framing;

    bool starts_none; /* a start is only a connection */
    bool has_handshake;
    size_t starts; /* how many of these there are */
    uint64_t handshake_us[CLI_BENCH_STARTS];
    uint64_t answer_us[CLI_BENCH_STARTS]; /* the first one */

    size_t runs;
    cli_load run[CLI_BENCH_RUNS]; /* the first one is one call at a time */

    uint64_t violations; /* what the peer did against the rules besides */

    bool has_before; /* a connection has no process that is known */
    bool has_after;
    cli_toll before; /* after the first answer of the last start */
    cli_toll after;
} cli_bench;

/* Smallest, median and largest. */
typedef struct cli_spread {
    uint64_t min;
    uint64_t median;
    uint64_t max;
} cli_spread;
/* Sorts them; there is at least one. */
cli_spread cli_spread_of(uint64_t *values, size_t count);

/* Calls that had a result, in a second. */
double cli_load_rate(const cli_load *load);
/* Calls that were answered, in whatever way. */
uint64_t cli_load_answered(const cli_load *load);
/* The first run with a call that failed; NULL: none did. */
const cli_load *cli_bench_failure(const cli_bench *bench);

void cli_bench_print(cli_bench *bench, FILE *out);
/* As an object; NULL: no memory. */
yyjson_mut_val *cli_bench_json(cli_bench *bench, yyjson_mut_doc *doc);

#endif
