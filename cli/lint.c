/* duplex lint: does a recorded conversation follow its protocol? */
#include "cli/cli.h"

#include "cli/describe/times.h"
#include "cli/input.h"
#include "cli/lint/talks.h"
#include "cli/say.h"
#include "cli/traces.h"

#include <duplex/rpc.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The default of --max; the most that one finding takes in JSON. */
enum { SHOWN_MAX = 100, JSON_MAX = 1 << 20 };

struct lint_options {
    const char *protocol;
    const char *max;
};

struct lint {
    cli_talks talks;
    char *const *files;
    size_t file;   /* at hand */
    uint64_t part; /* of the trace; 0: there was none yet */
    uint64_t unix_ms;
    uint64_t records; /* of the file at hand, its header included */
    uint64_t messages;
    uint64_t found[2]; /* findings, notes */
    uint64_t shown[2];
    uint64_t max; /* of either that are shown */
};

/* Showing. */

static void put_string(dx_buf *line, dx_text text) {
    if (dx_json_write_string(line, text) != DX_ERR_INVALID)
        return;
    /* The name of a file may be anything. */
    (void)dx_buf_append(line, "\"", 1);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '"' || c == '\\')
            (void)dx_buf_append(line, "\\", 1);
        (void)dx_buf_append(line, c >= ' ' && c <= '~' ? &c : "?", 1);
    }
    (void)dx_buf_append(line, "\"", 1);
}

static void put_member(dx_buf *line, const char *name, dx_text text) {
    (void)dx_buf_append(line, ",\"", 2);
    (void)dx_buf_append(line, name, strlen(name));
    (void)dx_buf_append(line, "\":", 2);
    put_string(line, text);
}

static void put_number(dx_buf *line, const char *name, uint64_t number) {
    char text[64];
    int len = snprintf(text, sizeof text, ",\"%s\":%llu", name, (unsigned long long)number);
    (void)dx_buf_append(line, text, (size_t)len);
}

static const char *from_word(dx_trace_from from) {
    return from == DX_TRACE_HOST ? "host" : "plugin";
}

static void show_json(const char *file, const cli_talk *talk, const cli_finding *finding) {
    dx_buf line;
    dx_buf_init(&line, JSON_MAX, NULL);
    (void)dx_buf_append(&line, "{\"file\":", 8);
    put_string(&line, dx_str(file));
    put_number(&line, "line", finding->place.line);
    put_number(&line, "time", finding->place.time_us);
    if (finding->from != DX_TRACE_NOBODY)
        put_member(&line, "from", dx_str(from_word(finding->from)));
    if (talk && talk->peer.at)
        put_member(&line, "peer", talk->peer);
    if (talk && talk->run)
        put_number(&line, "run", talk->run);
    put_member(&line, "kind", dx_str(cli_flaw_name(finding->flaw)));
    put_member(&line, "severity", dx_str(cli_flaw_is_note(finding->flaw) ? "note" : "finding"));
    put_member(&line, "message", dx_str(finding->message));
    if (finding->pointer[0])
        put_member(&line, "pointer", dx_str(finding->pointer));
    if (finding->reason[0])
        put_member(&line, "reason", dx_str(finding->reason));
    printf("%.*s}\n", (int)line.len, line.data ? line.data : "{");
    dx_buf_done(&line);
}

static void show_text(const char *file, const cli_talk *talk, const cli_finding *finding) {
    bool is_note = cli_flaw_is_note(finding->flaw);
    cli_put_safe(stdout, dx_str(file));
    printf(":%llu: %s%s%s%s: ", (unsigned long long)finding->place.line,
           cli_paint(stdout, is_note ? CLI_YELLOW : CLI_RED), is_note ? "note: " : "",
           cli_flaw_name(finding->flaw), cli_paint(stdout, CLI_PLAIN));
    if (talk && talk->peer.at) {
        cli_put_safe(stdout, talk->peer);
        if (talk->run)
            printf("/%llu", (unsigned long long)talk->run);
        fputs(": ", stdout);
    }
    if (finding->from != DX_TRACE_NOBODY)
        printf("%s: ", from_word(finding->from));
    cli_put_safe(stdout, dx_str(finding->message));
    putchar('\n');
}

static void show(const cli_talk *talk, const cli_finding *finding, void *user) {
    struct lint *lint = user;
    bool is_note = cli_flaw_is_note(finding->flaw);
    lint->found[is_note]++;
    if (lint->max && lint->shown[is_note] >= lint->max)
        return;
    lint->shown[is_note]++;
    const char *file = lint->files[finding->place.file];
    if (cli_voice.json)
        show_json(file, talk, finding);
    else
        show_text(file, talk, finding);
}

static const char *plural(uint64_t number) {
    return number == 1 ? "" : "s";
}

static void summarize(const struct lint *lint) {
    char one[32];
    char two[32];
    char three[32];
    char four[32];
    char five[64] = "";
    uint64_t hidden = lint->found[0] + lint->found[1] - lint->shown[0] - lint->shown[1];
    if (cli_voice.json) {
        printf("{\"summary\":{\"findings\":%llu,\"notes\":%llu,\"hidden\":%llu,\"messages\":%llu,"
               "\"conversations\":%llu}}\n",
               (unsigned long long)lint->found[0], (unsigned long long)lint->found[1],
               (unsigned long long)hidden, (unsigned long long)lint->messages,
               (unsigned long long)lint->talks.opened);
        return;
    }
    if (hidden)
        snprintf(five, sizeof five, "; %s not shown", cli_count_text(hidden, one));
    cli_note("%s finding%s, %s note%s in %s message%s of %s conversation%s%s",
             cli_count_text(lint->found[0], one), plural(lint->found[0]),
             cli_count_text(lint->found[1], two), plural(lint->found[1]),
             cli_count_text(lint->messages, three), plural(lint->messages),
             cli_count_text(lint->talks.opened, four), plural(lint->talks.opened), five);
}

/* Reading. */

/* `message` NULL: the sentence of the flaw. */
static void tell_line(struct lint *lint, cli_flaw flaw, cli_place place, const char *message) {
    cli_finding finding = {.flaw = flaw, .place = place};
    if (message)
        cli_finding_say(&finding, message);
    else
        cli_finding_flaw(&finding, flaw);
    show(NULL, &finding, lint);
}

/* A header: parts of a trace follow each other, or another trace begins. */
static void take_header(struct lint *lint, const dx_trace_record *record, cli_place place) {
    uint64_t part = record->count ? record->count : 1;
    bool goes_on = lint->part && lint->unix_ms == record->unix_ms && part > 1;
    char message[160] = "";
    if (!goes_on)
        cli_talks_end(&lint->talks);
    if (!goes_on && part > 1)
        snprintf(message, sizeof message,
                 "the trace begins with part %llu: requests from before it are unknown",
                 (unsigned long long)part);
    else if (goes_on && part != lint->part + 1)
        snprintf(message, sizeof message, "part %llu follows part %llu%s", (unsigned long long)part,
                 (unsigned long long)lint->part,
                 part <= lint->part ? ": give the oldest part first" : "");
    if (message[0]) {
        tell_line(lint, CLI_FLAW_PARTS, place, message);
        cli_talks_gap(&lint->talks);
    }
    lint->part = part;
    lint->unix_ms = record->unix_ms;
}

static bool take_record(struct lint *lint, const dx_trace_record *record) {
    cli_place place = {.file = lint->file, .line = record->line, .time_us = record->time_us};
    char message[80];
    lint->records++;
    lint->messages += record->kind == DX_TRACE_MESSAGE;
    switch (record->kind) {
    case DX_TRACE_HEADER:
        take_header(lint, record, place);
        return true;
    case DX_TRACE_DROPPED:
        snprintf(message, sizeof message, "%llu record%s missing here",
                 (unsigned long long)record->count, record->count == 1 ? " is" : "s are");
        tell_line(lint, CLI_FLAW_DROPPED, place, message);
        cli_talks_gap(&lint->talks);
        return true;
    case DX_TRACE_STDERR:
        return true;
    default:
        return cli_talks_take(&lint->talks, record, place);
    }
}

/* What a line that is none was, nobody knows: so something is missing, but for a header alone. */
static void take_error(struct lint *lint, const dx_error *error) {
    const char *colon = strchr(error->phrase, ':');
    unsigned long long line = strtoull(error->place + strlen("line "), NULL, 10);
    cli_place place = {.file = lint->file, .line = line};
    bool is_cut = error->fault == DX_FAULT_TRUNCATED;
    tell_line(lint, is_cut ? CLI_FLAW_CUT : CLI_FLAW_RECORD, place,
              is_cut  ? NULL
              : colon ? colon + 2
                      : error->phrase);
    if (!is_cut && !(error->fault == DX_FAULT_VERSION && !error->offset))
        cli_talks_gap(&lint->talks);
}

/* Of a file that has no record at all, no line is told: it is something else. */
static int open_trace(const char *file, cli_trace **ret_trace) {
    dx_trace_record record;
    dx_error error;
    cli_got got;
    bool has_wrong = false;
    struct stat what;
    int code = cli_trace_open(file, NULL, ret_trace);
    if (code != CLI_OK || stat(file, &what) < 0 || !S_ISREG(what.st_mode))
        return code;
    while ((got = cli_trace_next(*ret_trace, &record, &error)) == CLI_GOT_WRONG)
        has_wrong = true;
    cli_trace_close(*ret_trace);
    return has_wrong && got == CLI_GOT_END ? cli_fail(CLI_USAGE, "%s is not a Duplex trace", file)
                                           : cli_trace_open(file, NULL, ret_trace);
}

static int lint_file(struct lint *lint, const char *file) {
    cli_trace *trace;
    dx_trace_record record;
    dx_error error;
    cli_got got;
    int code = open_trace(file, &trace);
    if (code != CLI_OK)
        return code;
    lint->records = 0;
    while ((got = cli_trace_next(trace, &record, &error)) < CLI_GOT_END && code == CLI_OK)
        if (got == CLI_GOT_WRONG)
            take_error(lint, &error);
        else if (!take_record(lint, &record))
            code = cli_fail(CLI_NO_START, "out of memory");
    if (got == CLI_GOT_FAILED)
        code = cli_trace_code(trace);
    /* The last part may be there and have nothing in it yet. */
    else if (code == CLI_OK && !lint->records && (cli_trace_bytes(trace) || !lint->part))
        code = cli_fail(CLI_USAGE, "%s is not a Duplex trace", cli_trace_name(trace));
    cli_trace_close(trace);
    return code;
}

static bool read_max(const char *text, uint64_t *ret_max) {
    *ret_max = SHOWN_MAX;
    if (!text)
        return true;
    char *end;
    errno = 0;
    *ret_max = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno)
        return true;
    cli_fail(CLI_USAGE, "--max: expected a number, got '%s'", text);
    return false;
}

static int run(const cli_words *words, void *user) {
    const struct lint_options *options = user;
    uint64_t max;
    if (!words->count)
        return cli_fail_hint(CLI_USAGE, CLI_RECORD_HINT, "missing trace file");
    if (words->command)
        return cli_fail(CLI_USAGE, "unexpected command after --: it only reads traces");
    if (!read_max(options->max, &max))
        return CLI_USAGE;
    dx_protocol *protocol = cli_protocol(options->protocol ? options->protocol : "jsonrpc");
    if (!protocol)
        return CLI_USAGE;
    struct lint *lint = calloc(1, sizeof *lint);
    int code = lint ? CLI_OK : cli_fail(CLI_NO_START, "out of memory");
    if (lint) {
        lint->talks.protocol = protocol;
        lint->talks.tell = show;
        lint->talks.user = lint;
        lint->files = words->at;
        lint->max = max;
        cli_talks_init(&lint->talks);
        for (; lint->file < words->count && code == CLI_OK; lint->file++)
            code = lint_file(lint, words->at[lint->file]);
        if (code == CLI_OK) {
            cli_talks_end(&lint->talks);
            summarize(lint);
            code = lint->found[0] ? CLI_MISFIT : CLI_OK;
        }
        cli_talks_done(&lint->talks);
    }
    free(lint);
    dx_protocol_free(protocol);
    return code;
}

static const cli_option options[] = {
    {"protocol", 'p', CLI_PROTOCOL, "NAME[@REV]|FILE", "the protocol of the trace (jsonrpc)",
     offsetof(struct lint_options, protocol)},
    {"max", 0, CLI_TEXT, "N", "report at most this many findings, and as many notes; 0: all (100)",
     offsetof(struct lint_options, max)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {{"Options", options, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "Record a session to work with:",
    CLI_RECORD_EXAMPLE,
    "Check it against MCP:",
    "duplex lint -p mcp talk.jsonl",
    "Report everything, for a script:",
    "duplex lint -p mcp --json --max 0 talk.jsonl",
    NULL,
};

#define KIND(name, word, note, text) "\n  " word ": " text
#define KINDS CLI_FLAWS(KIND)

const cli_verb cli_lint = {
    .name = "lint",
    .words = "[OPTION...] FILE...",
    .summary = "Check recorded sessions for protocol violations",
    .text = "Reads traces (- is standard input) and reports every place where a session violates"
            " JSON-RPC or its protocol, one line each. Give the parts of a rotated trace oldest"
            " first. The exit code is 7 if there are findings, whether or not there are notes.",
    .details =
        "Memory use does not grow with the trace.\n\n"
        "With --json, each finding or note is an object with file, line, time, from, peer, run,"
        " kind, severity and message, and if it is about a value in a message, pointer and reason;"
        " the last line is {\"summary\":…}.\n\n"
        "The kinds, which 'duplex docs lint' explains:\n" KINDS,
    .groups = groups,
    .examples = examples,
    .codes = "7",
    .word = CLI_A_FILE,
    .size = sizeof(struct lint_options),
    .run = run,
};
