#include "systems/finecode/command/report.h"

#include "cli/event.h"
#include "cli/say.h"
#include "cli/wait.h"

#include <string.h>

int report_code(const dx_finecode_result *result) {
    static const int codes[] = {[DX_FINECODE_REFUSED] = CLI_BROKEN,
                                [DX_FINECODE_NO_RUNNER] = CLI_NO_START,
                                [DX_FINECODE_ENDED] = CLI_ENDED,
                                [DX_FINECODE_LATE] = CLI_LATE,
                                [DX_FINECODE_VIOLATION] = CLI_VIOLATION};
    if (result->status == DX_FINECODE_GIVEN_UP)
        return cli_interrupts() ? CLI_INTERRUPTED : CLI_BROKEN;
    if (result->status != DX_FINECODE_FAILED)
        return CLI_OK;
    /* How runners say that a payload does not fit. */
    bool misfit = result->code == DX_CODE_PARAMS ||
                  (result->why && strstr(result->why, "Invalid payload for action"));
    return misfit && result->cause == DX_FINECODE_REFUSED ? CLI_MISFIT : codes[result->cause];
}

/* null: there is none, as something failed. */
static yyjson_mut_val *code_value(yyjson_mut_doc *event, bool failed, int64_t code) {
    return failed ? yyjson_mut_null(event) : yyjson_mut_sint(event, code);
}

static void report_json(const struct row *row, const char *action, const dx_finecode_result *result,
                        bool with_result) {
    yyjson_mut_doc *event = cli_event_new("project");
    news_add_project(event, row->project);
    cli_event_add(event, "action", action);
    cli_event_add(event, "status", dx_finecode_status_name(result->status));
    cli_event_add_value(event, "returnCode",
                        code_value(event, report_code(result) != CLI_OK, result->return_code));
    if (with_result && result->by_format)
        cli_event_add_value(event, "result", yyjson_val_mut_copy(event, result->by_format));
    if (result->why && *result->why)
        cli_event_add(event, "why", result->why);
    if (result->code)
        cli_event_add_value(event, "code", yyjson_mut_sint(event, result->code));
    cli_event_add_number(event, "ms", result->ms);
    cli_event_put(event);
}

static void put_seconds(uint64_t ms) {
    fprintf(stderr, "%s%llu.%02us%s", cli_paint(stderr, CLI_DIM), (unsigned long long)(ms / 1000),
            (unsigned)(ms % 1000 / 10), cli_paint(stderr, CLI_PLAIN));
}

static void put_head(const struct row *row, const char *word, cli_colour colour,
                     const char *action) {
    fprintf(stderr, "%s%-9s%s ", cli_paint(stderr, colour), word, cli_paint(stderr, CLI_PLAIN));
    cli_put_safe(stderr, dx_str(dx_finecode_project_label(row->project)));
    fputs(": ", stderr);
    cli_put_safe(stderr, dx_str(action));
}

static const char *word_of(const dx_finecode_result *result, cli_colour *ret_colour) {
    bool found = result->return_code != 0;
    *ret_colour = CLI_RED;
    switch (result->status) {
    case DX_FINECODE_FAILED:
        return "failed";
    case DX_FINECODE_GIVEN_UP:
        return "cancelled";
    default:
        *ret_colour = found ? CLI_YELLOW : CLI_GREEN;
        return found                                       ? "findings"
               : result->status == DX_FINECODE_STOPPED     ? "stopped"
               : result->status == DX_FINECODE_NO_HANDLERS ? "skipped"
                                                           : "done";
    }
}

void report_project(struct work *work, const struct row *row, const char *action,
                    const dx_finecode_result *result, bool with_result) {
    cli_colour colour;
    const char *word = word_of(result, &colour);
    if (cli_voice.json) {
        report_json(row, action, result, with_result);
        return;
    }
    work_clear(work);
    put_head(row, word, colour, action);
    if (result->why && *result->why) {
        fputs(": ", stderr);
        cli_put_safe(stderr, dx_str(result->why));
    }
    if (result->status == DX_FINECODE_NO_HANDLERS)
        fputs(" has no handlers", stderr);
    if (result->return_code && report_code(result) == CLI_OK)
        fprintf(stderr, ", return code %lld", (long long)result->return_code);
    fputs(", ", stderr);
    put_seconds(result->ms);
    fputc('\n', stderr);
}

void report_invalid(struct work *work, const struct row *row, const char *action, const char *why) {
    dx_finecode_result result = {.status = DX_FINECODE_FAILED, .why = why};
    report_project(work, row, action, &result, false);
}

struct counts {
    size_t done;
    size_t found;
    size_t failed;
    size_t not_run;
    int64_t return_code; /* the largest */
    int code;            /* the exit code */
    uint64_t ms;
};

/* With several actions, a project has several rows. */
static size_t count_projects(const struct rows *rows) {
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t first = 0;
        while (rows->at[first].project != rows->at[i].project)
            first++;
        count += first == i;
    }
    return count;
}

static void put_summary(struct work *work, const struct rows *rows, const struct counts *counts) {
    if (cli_voice.json) {
        yyjson_mut_doc *event = cli_event_new("summary");
        cli_event_add_number(event, "projects", count_projects(rows));
        cli_event_add_number(event, "done", counts->done);
        cli_event_add_number(event, "found", counts->found);
        cli_event_add_number(event, "failed", counts->failed);
        cli_event_add_number(event, "notRun", counts->not_run);
        cli_event_add_value(event, "returnCode",
                            code_value(event, counts->failed > 0, counts->return_code));
        cli_event_add_number(event, "exitCode", (uint64_t)counts->code);
        cli_event_add_number(event, "ms", counts->ms);
        cli_event_put(event);
        return;
    }
    work_clear(work);
    size_t projects = count_projects(rows);
    fprintf(stderr, "%zu project%s: ", projects, projects == 1 ? "" : "s");
    if (rows->count > projects)
        fprintf(stderr, "of %zu runs ", rows->count);
    fprintf(stderr, "%zu done, %zu with findings, %zu failed", counts->done, counts->found,
            counts->failed);
    if (counts->not_run)
        fprintf(stderr, ", %zu not run", counts->not_run);
    fputs("; ", stderr);
    put_seconds(counts->ms);
    fputc('\n', stderr);
}

int report_summary(struct work *work, const struct rows *rows, bool interrupted, int otherwise) {
    struct counts counts = {.ms = cli_now() - work->began_ms};
    int code = CLI_OK;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->at[i];
        if (row->state != ROW_OVER) {
            counts.not_run++;
            continue;
        }
        counts.failed += row->code != CLI_OK;
        counts.found += row->code == CLI_OK && row->return_code != 0;
        counts.done += row->code == CLI_OK && row->return_code == 0;
        if (row->return_code > counts.return_code || (row->return_code && !counts.return_code))
            counts.return_code = row->return_code;
        if (code == CLI_OK)
            code = row->code;
    }
    counts.code = interrupted    ? CLI_INTERRUPTED
                  : code         ? code
                  : counts.found ? CLI_REFUSED
                                 : otherwise;
    put_summary(work, rows, &counts);
    if (interrupted)
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    if (code == CLI_OK)
        return counts.code;
    char message[100];
    snprintf(message, sizeof message, "%zu of %zu %s failed", counts.failed, rows->count,
             rows->count > count_projects(rows) ? "runs" : "projects");
    return cli_tail_fail(&work->tail, NULL, code, message, NULL, NULL);
}
