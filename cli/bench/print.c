/* What was measured, for people. */
#include "cli/bench/bench.h"

#include "cli/describe/paper.h"
#include "cli/describe/times.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

/* A terminal whose locale says so; whatever is not one gets plain ASCII. */
static bool has_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    if (!cli_voice.terminal)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

typedef char room[40];

/* Three digits and a unit. */
static const char *number_text(double number, const char *unit, room into) {
    snprintf(into, sizeof(room), "%.*f %s",
             number < 9.995   ? 2
             : number < 99.95 ? 1
                              : 0,
             number, unit);
    return into;
}

static const char *ns_text(double ns, room into) {
    if (ns < 999.5) {
        snprintf(into, sizeof(room), "%.0f ns", ns);
        return into;
    }
    if (ns < 999.5e3)
        return number_text(ns / 1e3, has_utf8() ? "µs" : "us", into);
    return ns < 999.5e6 ? number_text(ns / 1e6, "ms", into) : number_text(ns / 1e9, "s", into);
}

static const char *bytes_text(uint64_t bytes, room into) {
    double kib = (double)bytes / 1024;
    if (kib < 1023.5)
        return number_text(kib, "KiB", into);
    return kib / 1024 < 1023.5 ? number_text(kib / 1024, "MiB", into)
                               : number_text(kib / 1024 / 1024, "GiB", into);
}

static void print_spread(FILE *out, const char *what, uint64_t *us, size_t count) {
    room one;
    room two;
    room three;
    cli_spread spread = cli_spread_of(us, count);
    fprintf(out, "  %-14s  %s, from %s to %s\n", what, ns_text((double)spread.median * 1e3, one),
            ns_text((double)spread.min * 1e3, two), ns_text((double)spread.max * 1e3, three));
}

static void print_starts(cli_bench *bench, FILE *out) {
    if (!bench->starts)
        return;
    fprintf(out, "%s%s%s, median of %zu\n", cli_paint(out, CLI_BOLD),
            bench->starts_none ? "Connecting" : "Startup", cli_paint(out, CLI_PLAIN),
            bench->starts);
    if (bench->has_handshake)
        print_spread(out, "handshake", bench->handshake_us, bench->starts);
    print_spread(out, "first response", bench->answer_us, bench->starts);
}

/* The runs side by side: a row for each thing that is known of them. */

static void cell_count(cli_table *table, uint64_t number) {
    char text[32];
    cli_table_add(table, cli_count_text(number, text), CLI_PLAIN);
}

static void cell_ns(cli_table *table, const cli_load *load, double ns) {
    room text;
    cli_table_add(table, load->latency_ns.count ? ns_text(ns, text) : "-", CLI_PLAIN);
}

static void row_ns(cli_table *table, const cli_bench *bench, const char *name,
                   unsigned of_thousand) {
    cli_table_add(table, name, CLI_PLAIN);
    for (size_t i = 0; i < bench->runs; i++)
        cell_ns(table, &bench->run[i],
                (double)cli_histogram_at(&bench->run[i].latency_ns, of_thousand));
}

static void row_mean(cli_table *table, const cli_bench *bench) {
    cli_table_add(table, "mean", CLI_PLAIN);
    for (size_t i = 0; i < bench->runs; i++) {
        const cli_histogram *histogram = &bench->run[i].latency_ns;
        cell_ns(table, &bench->run[i],
                histogram->count ? (double)histogram->sum / (double)histogram->count : 0);
    }
}

static void row_cpu(cli_table *table, const cli_bench *bench) {
    room text;
    cli_table_add(table, "CPU/call", CLI_PLAIN);
    for (size_t i = 0; i < bench->runs; i++) {
        const cli_load *load = &bench->run[i];
        uint64_t answered = cli_load_answered(load);
        cli_table_add(table,
                      load->has_toll && answered
                          ? ns_text((double)load->cpu_ns / (double)answered, text)
                          : "-",
                      CLI_PLAIN);
    }
}

/* Ways to fail, which have a row only if a call went that way. */
static void row_failed(cli_table *table, const cli_bench *bench, const char *name, size_t offset) {
    uint64_t sum = 0;
    for (size_t i = 0; i < bench->runs; i++)
        sum += *(const uint64_t *)((const char *)&bench->run[i] + offset);
    if (!sum)
        return;
    cli_table_add(table, name, CLI_RED);
    for (size_t i = 0; i < bench->runs; i++)
        cell_count(table, *(const uint64_t *)((const char *)&bench->run[i] + offset));
}

/* Only where it is not what was asked for. */
static void row_most(cli_table *table, const cli_bench *bench) {
    bool all = true;
    for (size_t i = 0; i < bench->runs; i++)
        all &= bench->run[i].most == bench->run[i].concurrency;
    if (all)
        return;
    cli_table_add(table, "reached", CLI_YELLOW);
    for (size_t i = 0; i < bench->runs; i++)
        cell_count(table, bench->run[i].most);
}

static void fill_runs(cli_table *table, const cli_bench *bench) {
    cli_table_add(table, "concurrency", CLI_PLAIN);
    for (size_t i = 0; i < bench->runs; i++)
        cell_count(table, bench->run[i].concurrency);
    row_most(table, bench);
    cli_table_add(table, "calls", CLI_PLAIN);
    for (size_t i = 0; i < bench->runs; i++)
        cell_count(table, bench->run[i].calls);
    row_failed(table, bench, "errors", offsetof(cli_load, errors));
    row_failed(table, bench, "timed out", offsetof(cli_load, late));
    row_failed(table, bench, "invalid", offsetof(cli_load, invalid));
    row_failed(table, bench, "lost", offsetof(cli_load, lost));
    cli_table_add(table, "results/s", CLI_PLAIN);
    for (size_t i = 0; i < bench->runs; i++)
        cell_count(table, (uint64_t)(cli_load_rate(&bench->run[i]) + 0.5));
    row_ns(table, bench, "min", 0);
    row_ns(table, bench, "p50", 500);
    row_ns(table, bench, "p90", 900);
    row_ns(table, bench, "p95", 950);
    row_ns(table, bench, "p99", 990);
    row_ns(table, bench, "max", 1000);
    row_mean(table, bench);
    row_cpu(table, bench);
}

static void print_table(FILE *out, const cli_table *table) {
    if (!table || !cli_table_print(table, out, 2))
        cli_warn("out of memory: the table is incomplete");
}

static void print_runs(const cli_bench *bench, FILE *out) {
    if (!bench->runs)
        return;
    fprintf(out, "\n%sCalls%s of ", cli_paint(out, CLI_BOLD), cli_paint(out, CLI_PLAIN));
    cli_put_safe(out, dx_str(bench->method));
    fputc('\n', out);
    cli_table *table = cli_table_new(bench->runs + 1, ~1U);
    if (table)
        fill_runs(table, bench);
    print_table(out, table);
    cli_table_free(table);
}

/* Eighths of a column where there are characters for that. */
static void print_bar(FILE *out, uint64_t part, uint64_t whole) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    enum { COLUMNS = 40 };
    uint64_t length = (uint64_t)((double)part / (double)whole * COLUMNS * 8);
    bool fine = has_utf8();
    if (part && length < (fine ? 1 : 8)) /* none is told from few */
        length = fine ? 1 : 8;
    for (uint64_t i = 0; i < length / 8; i++)
        fputs(fine ? "█" : "#", out);
    fputs(fine ? eighths[length % 8] : "", out);
}

static void print_histogram(const cli_histogram *histogram, FILE *out) {
    cli_histogram_row rows[CLI_BENCH_ROWS];
    room from;
    room to;
    char number[32];
    uint64_t most = 0;
    size_t count = cli_histogram_rows(histogram, rows, CLI_BENCH_ROWS);
    if (!count)
        return;
    fprintf(out, "\n%sLatency%s with one call at a time\n", cli_paint(out, CLI_BOLD),
            cli_paint(out, CLI_PLAIN));
    for (size_t i = 0; i < count; i++)
        most = rows[i].count > most ? rows[i].count : most;
    for (size_t i = 0; i < count; i++) {
        const char *low = ns_text((double)rows[i].from, from);
        const char *high = ns_text((double)rows[i].to, to);
        fprintf(out, "  %*s%s - %*s%s  %9s  ", (int)(8 - cli_text_width(low)), "", low,
                (int)(8 - cli_text_width(high)), "", high, cli_count_text(rows[i].count, number));
        print_bar(out, rows[i].count, most);
        fputc('\n', out);
    }
}

static void memory_row(cli_table *table, const cli_bench *bench, const char *name, size_t offset) {
    room text;
    cli_table_add(table, name, CLI_PLAIN);
    const cli_toll *tolls[] = {bench->has_before ? &bench->before : NULL,
                               bench->has_after ? &bench->after : NULL};
    for (size_t i = 0; i < 2; i++)
        cli_table_add(
            table,
            tolls[i] ? bytes_text(*(const uint64_t *)((const char *)tolls[i] + offset), text) : "-",
            CLI_PLAIN);
}

static void print_memory(const cli_bench *bench, FILE *out) {
    if (!bench->has_before && !bench->has_after)
        return;
    fprintf(out, "\n%sMemory%s of the server\n", cli_paint(out, CLI_BOLD),
            cli_paint(out, CLI_PLAIN));
    cli_table *table = cli_table_new(3, 6);
    if (table) {
        cli_table_add(table, NULL, CLI_PLAIN);
        cli_table_add(table, "before", CLI_PLAIN);
        cli_table_add(table, "after", CLI_PLAIN);
        memory_row(table, bench, "VmRSS", offsetof(cli_toll, rss_bytes));
        memory_row(table, bench, "VmHWM", offsetof(cli_toll, peak_bytes));
        memory_row(table, bench, "whole group", offsetof(cli_toll, group_rss_bytes));
        cli_table_add(table, "processes", CLI_PLAIN);
        cell_count(table, bench->has_before ? bench->before.processes : 0);
        cell_count(table, bench->has_after ? bench->after.processes : 0);
    }
    print_table(out, table);
    cli_table_free(table);
}

void cli_bench_print(cli_bench *bench, FILE *out) {
    const cli_load *failed = cli_bench_failure(bench);
    print_starts(bench, out);
    print_runs(bench, out);
    if (failed) {
        fputs("  first failure: ", out);
        cli_put_safe(out, dx_str(failed->phrase));
        fputc('\n', out);
    }
    if (bench->runs)
        print_histogram(&bench->run[0].latency_ns, out);
    print_memory(bench, out);
}
