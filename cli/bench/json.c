/* What was measured, as JSON. docs/bench.md has the members; they stay. */
#include "cli/bench/bench.h"

#include "cli/say.h"

/* Three decimals. */
static double rounded(double number) {
    return number < 1e12 ? (double)(uint64_t)(number * 1000 + 0.5) / 1000 : number;
}

static void add_us(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, uint64_t ns) {
    yyjson_mut_obj_add_real(doc, object, name, rounded((double)ns / 1000));
}

static yyjson_mut_val *spread(yyjson_mut_doc *doc, uint64_t *values, size_t count) {
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    cli_spread of = cli_spread_of(values, count);
    yyjson_mut_obj_add_uint(doc, object, "min", of.min);
    yyjson_mut_obj_add_uint(doc, object, "median", of.median);
    yyjson_mut_obj_add_uint(doc, object, "max", of.max);
    return object;
}

static yyjson_mut_val *starts(cli_bench *bench, yyjson_mut_doc *doc) {
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    size_t count = bench->starts;
    yyjson_mut_obj_add_uint(doc, object, "count", count);
    yyjson_mut_obj_add_val(doc, object, "handshake_us",
                           count && bench->has_handshake ? spread(doc, bench->handshake_us, count)
                                                         : yyjson_mut_null(doc));
    yyjson_mut_obj_add_val(doc, object, "first_answer_us",
                           count ? spread(doc, bench->answer_us, count) : yyjson_mut_null(doc));
    return object;
}

static yyjson_mut_val *latency(const cli_histogram *histogram, yyjson_mut_doc *doc) {
    if (!histogram->count)
        return yyjson_mut_null(doc);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    add_us(doc, object, "min", histogram->min);
    add_us(doc, object, "p50", cli_histogram_at(histogram, 500));
    add_us(doc, object, "p90", cli_histogram_at(histogram, 900));
    add_us(doc, object, "p95", cli_histogram_at(histogram, 950));
    add_us(doc, object, "p99", cli_histogram_at(histogram, 990));
    add_us(doc, object, "max", histogram->max);
    yyjson_mut_obj_add_real(doc, object, "mean",
                            rounded((double)histogram->sum / (double)histogram->count / 1000));
    return object;
}

static yyjson_mut_val *rows(const cli_histogram *histogram, yyjson_mut_doc *doc) {
    cli_histogram_row row[CLI_BENCH_ROWS];
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    size_t count = cli_histogram_rows(histogram, row, CLI_BENCH_ROWS);
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, array);
        add_us(doc, object, "from_us", row[i].from);
        add_us(doc, object, "to_us", row[i].to);
        yyjson_mut_obj_add_uint(doc, object, "count", row[i].count);
    }
    return array;
}

static yyjson_mut_val *run(const cli_load *load, yyjson_mut_doc *doc) {
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    uint64_t answered = cli_load_answered(load);
    yyjson_mut_obj_add_uint(doc, object, "concurrency", load->concurrency);
    yyjson_mut_obj_add_uint(doc, object, "most_under_way", load->most);
    yyjson_mut_obj_add_uint(doc, object, "calls", load->calls);
    yyjson_mut_obj_add_uint(doc, object, "results", load->results);
    yyjson_mut_obj_add_uint(doc, object, "errors", load->errors);
    yyjson_mut_obj_add_uint(doc, object, "late", load->late);
    yyjson_mut_obj_add_uint(doc, object, "invalid", load->invalid);
    yyjson_mut_obj_add_uint(doc, object, "lost", load->lost);
    add_us(doc, object, "elapsed_us", load->elapsed_ns);
    yyjson_mut_obj_add_real(doc, object, "results_per_second", rounded(cli_load_rate(load)));
    yyjson_mut_obj_add_val(doc, object, "latency_us", latency(&load->latency_ns, doc));
    if (load->has_toll && answered)
        add_us(doc, object, "cpu_us_per_call", load->cpu_ns / answered);
    else
        yyjson_mut_obj_add_null(doc, object, "cpu_us_per_call");
    yyjson_mut_obj_add_val(doc, object, "histogram", rows(&load->latency_ns, doc));
    return object;
}

static yyjson_mut_val *toll(bool known, const cli_toll *toll, yyjson_mut_doc *doc) {
    if (!known)
        return yyjson_mut_null(doc);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_uint(doc, object, "rss_bytes", toll->rss_bytes);
    yyjson_mut_obj_add_uint(doc, object, "peak_rss_bytes", toll->peak_bytes);
    yyjson_mut_obj_add_uint(doc, object, "group_rss_bytes", toll->group_rss_bytes);
    yyjson_mut_obj_add_uint(doc, object, "processes", toll->processes);
    return object;
}

static yyjson_mut_val *failure(const cli_load *load, yyjson_mut_doc *doc) {
    if (!load)
        return yyjson_mut_null(doc);
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, object, "kind", cli_code_name(load->failed));
    if (load->failed == CLI_REFUSED)
        yyjson_mut_obj_add_sint(doc, object, "code", load->error_code);
    cli_add_text(doc, object, "message", dx_str(load->phrase));
    return object;
}

yyjson_mut_val *cli_bench_json(cli_bench *bench, yyjson_mut_doc *doc) {
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    cli_add_text(doc, object, "method", dx_str(bench->method));
    cli_add_text(doc, object, "protocol", dx_str(bench->protocol));
    if (bench->revision[0])
        cli_add_text(doc, object, "revision", dx_str(bench->revision));
    else
        yyjson_mut_obj_add_null(doc, object, "revision");
    yyjson_mut_obj_add_str(doc, object, "framing", dx_framing_name(bench->framing));
    yyjson_mut_obj_add_val(doc, object, "starts", starts(bench, doc));
    for (size_t i = 0; i < bench->runs; i++)
        yyjson_mut_arr_add_val(array, run(&bench->run[i], doc));
    yyjson_mut_obj_add_val(doc, object, "runs", array);
    yyjson_mut_val *memory = yyjson_mut_obj_add_obj(doc, object, "memory");
    yyjson_mut_obj_add_val(doc, memory, "before", toll(bench->has_before, &bench->before, doc));
    yyjson_mut_obj_add_val(doc, memory, "after", toll(bench->has_after, &bench->after, doc));
    yyjson_mut_obj_add_uint(doc, object, "violations", bench->violations);
    yyjson_mut_obj_add_val(doc, object, "first_failure", failure(cli_bench_failure(bench), doc));
    return object;
}
