/* duplex check: does a program follow its protocol? */
#include "cli/cli.h"

#include "cli/check/scene.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/subreaper.h"
#include "cli/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TIMEOUT_MS = 5000, START_MS = 20000, JOBS_MAX = 4, DAY_MS = 24 * 3600 * 1000 };

static const struct check_options usual = {.jobs = JOBS_MAX};

static const char *format_of(const struct check_options *options) {
    return options->tap ? "tap" : options->junit ? "junit" : cli_voice.json ? "json" : "text";
}

static int check_words(const cli_words *words, const struct check_options *options) {
    if (words->count)
        return cli_unexpected(words->at[0]);
    if (words->command && !words->command[0])
        return cli_fail(CLI_USAGE, "missing command after --");
    if (!options->protocol)
        return cli_fail_hint(CLI_USAGE,
                             "add --protocol NAME; 'duplex list' lists the built-in protocols",
                             "missing --protocol");
    if (!words->command && !options->as_plugin)
        return cli_fail_hint(CLI_USAGE, "duplex check -p NAME -- COMMAND [ARG...]",
                             "missing command after --");
    if (options->tap + options->junit + cli_voice.json > 1)
        return cli_fail(CLI_USAGE, "--json, --tap and --junit cannot be used together");
    if (!options->jobs || options->jobs > JOBS_MAX)
        return cli_fail(CLI_USAGE, "--jobs: expected 1 to %d, got %llu", JOBS_MAX,
                        (unsigned long long)options->jobs);
    if (!words->command && (cli_start_is_given(&options->start)))
        return cli_fail(CLI_USAGE,
                        "--env, --clean-env, --cwd and --keep-daemons need a command after --");
    return cli_check_start(&options->start);
}

/* Rather told before the run than after it. What is no file can't be tried. */
static int try_output(const char *output) {
    struct stat status;
    bool is_there = stat(output, &status) == 0;
    if (is_there && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return CLI_OK;
    FILE *file = fopen(output, "ae");
    if (!file)
        return cli_fail(CLI_USAGE, "cannot write %s: %s", output, strerror(errno));
    fclose(file);
    if (!is_there)
        unlink(output);
    return CLI_OK;
}

static int write_file(const check_plan *plan, const char *path, const char *subject) {
    FILE *file = fopen(path, "we");
    if (!file)
        return cli_fail(CLI_USAGE, "cannot write %s: %s", path, strerror(errno));
    plan->report->out = file;
    check_show(plan->report, format_of(plan->options), subject);
    bool good = fflush(file) == 0 && !ferror(file);
    int number = errno;
    if (fclose(file) != 0 || !good)
        return cli_fail(CLI_USAGE, "cannot write %s: %s", path, strerror(number));
    return CLI_OK;
}

/* Where the results go: a file, or the standard output, which may be the wire by now. A file is
 * whole at any time, since whoever started us may look into it. */
static int show(const check_plan *plan, const char *subject) {
    const char *output = plan->options->output;
    char part[4096];
    struct stat status;
    if (!output) {
        plan->report->out = stdout;
        check_show(plan->report, format_of(plan->options), subject);
        return CLI_OK;
    }
    bool is_other = stat(output, &status) == 0 && !S_ISREG(status.st_mode);
    if (is_other || snprintf(part, sizeof part, "%s.part", output) >= (int)sizeof part)
        return write_file(plan, output, subject);
    int code = write_file(plan, part, subject);
    if (code == CLI_OK && rename(part, output) != 0)
        code = cli_fail(CLI_USAGE, "cannot write %s: %s", output, strerror(errno));
    return code;
}

/* A host may end us at any time: what is known is written before. */
static void tell(check_plan *plan) {
    plan->report->quiet = true;
    if (plan->options->output)
        (void)show(plan, plan->options->protocol);
    plan->report->quiet = false;
}

static int finish(check_plan *plan, char **command) {
    dx_buf subject;
    dx_buf_init(&subject, 4000, NULL);
    for (char **word = command; word && *word; word++) {
        (void)dx_buf_append(&subject, " ", word != command);
        (void)dx_buf_append(&subject, *word, strlen(*word));
    }
    bool whole = dx_buf_append(&subject, "", 1) == DX_OK;
    int code = show(plan, command && whole ? subject.data : plan->options->protocol);
    dx_buf_done(&subject);
    return code != CLI_OK ? code : check_count(plan->report, CHECK_FAIL) ? CLI_MISFIT : CLI_OK;
}

/* "never" is a day: times are added up. */
static uint64_t time_of(uint64_t ms, uint64_t usual_ms) {
    return !ms ? usual_ms : ms < DAY_MS ? ms : (uint64_t)DAY_MS;
}

static int run_plan(check_plan *plan, char **command) {
    const struct check_options *options = plan->options;
    bool is_host = options->as_plugin && command;
    int code = options->output ? try_output(options->output) : CLI_OK;
    if (code != CLI_OK)
        return code;
    cli_catch_signals();
    if (command)
        cli_subreaper_begin(options->start.keep_daemons);
    code = is_host              ? check_run_host(plan, command)
           : options->as_plugin ? check_run_inside(plan, tell)
                                : check_run_scenes(plan);
    if (code == CLI_INTERRUPTED)
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    return code == CLI_OK ? finish(plan, command) : code;
}

static int run(const cli_words *words, void *user) {
    struct check_options *options = user;
    if (options->list) {
        check_list();
        return CLI_OK;
    }
    int code = check_words(words, options);
    if (code != CLI_OK)
        return code;
    if (options->stop_ms)
        options->stop_ms = time_of(options->stop_ms, 0);
    dx_protocol *protocol = cli_protocol(options->protocol);
    if (!protocol)
        return CLI_USAGE;
    check_report *report = calloc(1, sizeof *report);
    check_plan plan = {
        .options = options,
        .command = options->as_plugin ? NULL : words->command,
        .report = report,
        .framing = options->framing ? dx_framing_named(options->framing)
                                    : dx_protocol_facts_of(protocol)->framing,
        .timeout_ms = time_of(options->timeout_ms, TIMEOUT_MS),
        .start_ms = time_of(options->start_ms, START_MS),
    };
    code = report ? check_report_init(report, &options->only, &options->skip)
                  : cli_fail(CLI_NO_START, "out of memory");
    if (report && code == CLI_OK) {
        report->framing = plan.framing;
        code =
            check_find_calls(&plan, protocol, options->as_plugin ? DX_SIDE_PLUGIN : DX_SIDE_HOST);
    }
    dx_protocol_free(protocol);
    if (code == CLI_OK)
        code = run_plan(&plan, words->command);
    check_free_calls(&plan);
    free(report);
    return code;
}

#define AT(member) offsetof(struct check_options, member)

static const cli_option options[] = {
    {"protocol", 'p', CLI_PROTOCOL, "NAME[@REV]|FILE",
     "the protocol to check: a built-in one or an OpenRPC document", AT(protocol)},
    {"framing", 'f', CLI_CHOICE, "header|line",
     "Content-Length headers, or one message per line (the protocol's)", AT(framing)},
    {"as-plugin", 0, CLI_FLAG, NULL, "test a host, with duplex as its plugin", AT(as_plugin)},
    {"call", 0, CLI_TEXTS, "METHOD[=PARAMS]", "also send this request; may be repeated", AT(calls)},
    {"no-calls", 0, CLI_FLAG, NULL,
     "send no requests of the protocol except the handshake and the shutdown", AT(no_calls)},
    {"only", 0, CLI_TEXTS, "GLOB", "run and report only these checks; may be repeated", AT(only)},
    {"skip", 0, CLI_TEXTS, "GLOB", "don't report these checks; may be repeated", AT(skip)},
    {"list", 0, CLI_FLAG, NULL, "list the checks", AT(list)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option output_options[] = {
    {"tap", 0, CLI_FLAG, NULL, "print TAP 14", AT(tap)},
    {"junit", 0, CLI_FLAG, NULL, "print JUnit XML", AT(junit)},
    {"output", 'o', CLI_FILE, "FILE", "write the results to this file instead of standard output",
     AT(output)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option time_options[] = {
    {"timeout", 't', CLI_LIMIT, "TIME", "how long to wait for a response (5s)", AT(timeout_ms)},
    {"start-timeout", 0, CLI_LIMIT, "TIME", "how long to wait for each handshake response (20s)",
     AT(start_ms)},
    {"stop-timeout", 0, CLI_LIMIT, "TIME",
     "how long to wait for the program to exit (the protocol's time, or 2s)", AT(stop_ms)},
    {"jobs", 'j', CLI_COUNT, "N", "run this many conversations at once, 1 to 4 (4)", AT(jobs)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", options, 0},
    {"Output", output_options, 0},
    {"Timeouts", time_options, 0},
    {"Command", cli_start_table, AT(start)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Check an MCP server:",
    "duplex check -p mcp -- build/examples/mcp-adder",
    "Also call one of its tools, and check the result:",
    ("duplex check -p mcp --call 'tools/call={\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2}}'"
     " -- build/examples/mcp-adder"),
    "Run one group of checks:",
    "duplex check -p mcp --only 'id.*' -- build/examples/mcp-adder",
    "Write a report for CI:",
    "duplex check -p mcp --junit -o report.xml -- build/examples/mcp-adder",
    "Check a host, which starts {} as its plugin:",
    "duplex check -p mcp --as-plugin -- duplex call -p mcp tools/list -- {}",
    NULL,
};

#define CHECK(name, id, note, need, text) "\n  " id ":\n    " text

const cli_verb cli_check = {
    .name = "check",
    .words = "[OPTION...] --protocol NAME -- COMMAND [ARG...]\n"
             "[OPTION...] --protocol NAME --as-plugin [-- COMMAND [ARG...] {}]\n"
             "--list",
    .summary = "Check that a program follows its protocol",
    .text = "Starts COMMAND several times, sends it valid and invalid messages, and reports every"
            " violation of JSON-RPC or its protocol, with the bytes that prove it.\n\n"
            "A check passes, fails, is skipped (it could not run) or is a note (worth knowing, but"
            " not a failure). The exit code is 7 if any check failed.",
    .details =
        "Nothing is sent that could change anything: only the handshake, the shutdown, requests"
        " with unknown methods, requests of the protocol that, going by their names, only read"
        " (ping,"
        " list, get, read, status, version), and the requests of --call.\n\n"
        "With --as-plugin, COMMAND is a host. {} in its arguments is replaced with the path of a"
        " program that the host has to start as its plugin; that program is duplex check. Without"
        " COMMAND, duplex check is that plugin itself: it talks over its standard input and output,"
        " and writes the results to standard error, or to the file of --output.\n\n"
        "With --json, each check is an object with check, outcome and, unless it passed, message,"
        " count, scene, sent, came and offset; the last line is {\"summary\":…}.\n\n"
        "The checks, which 'duplex docs check' explains:\n" CHECKS(CHECK),
    .shown = "protocol framing as-plugin call only skip list junit output timeout start-timeout"
             " env cwd",
    .groups = groups,
    .examples = examples,
    .codes = "3457",
    .has_command = true,
    .size = sizeof(struct check_options),
    .usual = &usual,
    .run = run,
};
