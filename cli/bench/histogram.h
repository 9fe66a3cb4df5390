/* histogram.h: how long many things took, in memory that does not grow with their number. Up to 255
 * ns every value has a bucket of its own, beyond that each power of two has 128: a percentile is
 * off by less than 0.4 %. */
#ifndef CLI_HISTOGRAM_H
#define CLI_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_HISTOGRAM_BUCKETS = 58 * 128 };

/* Begins as zeros. */
typedef struct cli_histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t min; /* these are exact; 0 while there is none */
    uint64_t max;
    uint64_t buckets[CLI_HISTOGRAM_BUCKETS];
} cli_histogram;

void cli_histogram_add(cli_histogram *histogram, uint64_t value);
/* The value that so many of a thousand do not exceed (500: the median); 0 if there is none. */
uint64_t cli_histogram_at(const cli_histogram *histogram, unsigned of_thousand);

/* The same for people: how many lie in [from, to). */
typedef struct cli_histogram_row {
    uint64_t from;
    uint64_t to;
    uint64_t count;
} cli_histogram_row;

/* From the row of the smallest value to that of the largest, no more than `max` (at least 1) of
 * them. A row is a quarter of a power of two, a half, one, two, …, whichever is enough. How many
 * there are. */
size_t cli_histogram_rows(const cli_histogram *histogram, cli_histogram_row *rows, size_t max);

#endif
