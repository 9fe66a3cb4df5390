#include "cli/demo/traffic.h"

#include "cli/field.h"
#include "cli/say.h"
#include "cli/traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void count_message(struct demo_counts *counts, const dx_trace_record *record) {
    counts->sent += record->from == DX_TRACE_HOST;
    counts->received += record->from == DX_TRACE_PLUGIN;
    if (!counts->framing)
        counts->framing = cli_trace_framing(record);
    if (record->from != DX_TRACE_PLUGIN)
        return;
    yyjson_doc *doc = yyjson_read(record->text.at, record->text.len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    counts->results += yyjson_obj_get(root, "result") != NULL;
    counts->refused += yyjson_obj_get(root, "error") != NULL;
    counts->asked_back += yyjson_obj_get(root, "method") && yyjson_obj_get(root, "id");
    yyjson_doc_free(doc);
}

/* One line: when, which peer if there are several, which way, what. */
static void show_message(size_t columns, uint64_t us, const dx_trace_record *record) {
    bool sent = record->from == DX_TRACE_HOST;
    size_t used = 14;
    printf("  %s%8.3f%s ", cli_paint(stdout, CLI_DIM), (double)us / 1000000,
           cli_paint(stdout, CLI_PLAIN));
    if (record->peer.at) {
        cli_put_safe(stdout, record->peer);
        putchar(' ');
        used += record->peer.len + 1;
    }
    printf("%s%s%s ", cli_paint(stdout, sent ? CLI_CYAN : CLI_GREEN), sent ? "->" : "<-",
           cli_paint(stdout, CLI_PLAIN));
    cli_put_start(stdout, record->text, columns > used ? columns - used : 1);
    putchar('\n');
}

static void list_message(yyjson_mut_doc *doc, yyjson_mut_val *list, const dx_trace_record *record) {
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, object, "from", record->from == DX_TRACE_HOST ? "host" : "plugin");
    if (record->peer.at)
        cli_add_text(doc, object, "peer", record->peer);
    yyjson_mut_obj_add_val(doc, object, "message",
                           yyjson_mut_rawncpy(doc, record->text.at, record->text.len));
}

/* The first one begins the trace. */
static bool begin(struct demo_traffic *traffic, uint64_t unix_ms) {
    dx_trace_writer_config config = dx_trace_writer_defaults();
    if (traffic->writer)
        return true;
    traffic->unix_ms = config.unix_ms = unix_ms;
    return dx_trace_writer_new(&config, &traffic->writer) == DX_OK;
}

static void write_record(struct demo_traffic *traffic, const char *system, uint64_t start_us,
                         const dx_trace_record *record) {
    dx_trace_record copy = *record;
    char name[256];
    snprintf(name, sizeof name, "%s%s%.*s", system, record->peer.at ? " " : "",
             (int)(record->peer.len < 200 ? record->peer.len : 200),
             record->peer.at ? record->peer.at : "");
    copy.peer = dx_str(name);
    copy.time_us += start_us;
    dx_trace_write(traffic->writer, &copy);
    dx_text out = dx_trace_output(traffic->writer);
    fwrite(out.at, 1, out.len, traffic->file);
    dx_trace_sent(traffic->writer, out.len);
}

int demo_traffic_add(struct demo_traffic *traffic, const char *system, const char *trace,
                     struct demo_counts *counts, yyjson_mut_doc *doc, yyjson_mut_val *list) {
    cli_trace *reader;
    dx_trace_record record;
    dx_error error;
    cli_got got;
    uint64_t start_us = 0;
    uint64_t first_us = UINT64_MAX;
    int code = cli_trace_open(trace, NULL, &reader);
    if (code != CLI_OK)
        return code;
    while (code == CLI_OK && (got = cli_trace_next(reader, &record, &error)) < CLI_GOT_END) {
        if (got == CLI_GOT_WRONG) {
            code = cli_fail(CLI_VIOLATION, "%s: its trace is damaged: %s", system, error.phrase);
        } else if (record.kind == DX_TRACE_HEADER) {
            if (!begin(traffic, record.unix_ms))
                code = cli_fail(CLI_NO_START, "out of memory");
            start_us = (record.unix_ms - traffic->unix_ms) * 1000;
            continue;
        }
        if (code == CLI_OK)
            write_record(traffic, system, start_us, &record);
        if (code != CLI_OK || record.kind != DX_TRACE_MESSAGE)
            continue;
        if (first_us == UINT64_MAX)
            first_us = record.time_us;
        count_message(counts, &record);
        if (list)
            list_message(doc, list, &record);
        else if (traffic->columns)
            show_message(traffic->columns, record.time_us - first_us, &record);
    }
    if (code == CLI_OK && got == CLI_GOT_FAILED)
        code = cli_trace_code(reader);
    cli_trace_close(reader);
    return code;
}

int demo_traffic_finish(struct demo_traffic *traffic) {
    bool good = !traffic->file || !ferror(traffic->file);
    if (traffic->file && fclose(traffic->file) != 0)
        good = false;
    int number = errno;
    dx_trace_writer_free(traffic->writer);
    traffic->file = NULL;
    traffic->writer = NULL;
    return good ? CLI_OK : cli_fail(CLI_USAGE, "cannot write the trace: %s", strerror(number));
}
