/* duplex logs: what the peers of a run wrote to their standard error. */
#include "cli/cli.h"

#include "cli/run/config.h"
#include "cli/run/control.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct logs_options {
    cli_run_options run;
    bool follow;
    const char *lines;
};

struct logs {
    cli_control *control;
    const char *name; /* NULL: all */
    bool follow;
    int width; /* of the names that came */
};

static void print_time(uint64_t unix_ms) {
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm parts;
    char text[40] = "";
    if (localtime_r(&seconds, &parts))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    printf("%s%s.%03u%s ", cli_paint(stdout, CLI_DIM), text, (unsigned)(unix_ms % 1000),
           cli_paint(stdout, CLI_PLAIN));
}

/* What the run says itself stands behind two dashes. */
static void print_line(struct logs *logs, yyjson_val *line) {
    yyjson_val *text = yyjson_obj_get(line, "text");
    const char *peer = yyjson_get_str(yyjson_obj_get(line, "peer"));
    bool own = yyjson_get_bool(yyjson_obj_get(line, "own"));
    if (cli_voice.json) {
        char *json = yyjson_val_write(line, 0, NULL);
        puts(json ? json : "{}");
        free(json);
        return;
    }
    print_time(yyjson_get_uint(yyjson_obj_get(line, "time")));
    if (!logs->name && peer) {
        int len = (int)strlen(peer);
        logs->width = len > logs->width && len <= CONFIG_NAME_MAX ? len : logs->width;
        fputs(cli_paint(stdout, CLI_CYAN), stdout);
        cli_put_safe(stdout, dx_str(peer));
        printf("%s%*s ", cli_paint(stdout, CLI_PLAIN), logs->width > len ? logs->width - len : 0,
               "");
    }
    fputs(own ? cli_paint(stdout, CLI_DIM) : "", stdout);
    fputs(own ? "-- " : "", stdout);
    cli_put_safe(stdout, dx_json_string(text));
    puts(own ? cli_paint(stdout, CLI_PLAIN) : "");
}

/* The params of the next question; to be freed. */
static char *question(const struct logs *logs, const char *member, uint64_t number, bool wait) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    if (logs->name)
        yyjson_mut_obj_add_str(doc, root, "name", logs->name);
    if (member)
        yyjson_mut_obj_add_uint(doc, root, member, number);
    if (wait)
        yyjson_mut_obj_add_bool(doc, root, "wait", true);
    char *text = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    return text;
}

/* Asks for a page, prints it; *ret_next is where the next one begins. */
static int print_page(struct logs *logs, char *params, bool first, uint64_t *ret_next,
                      bool *ret_more) {
    cli_reply reply = {.done = false};
    int code = CLI_USAGE;
    if (!params)
        return cli_fail(CLI_NO_START, "out of memory");
    if (cli_control_ask(logs->control, "logs", params, &reply))
        code = cli_control_wait(&reply, logs->follow && !first);
    free(params);
    if (code == CLI_OK) {
        yyjson_val *root = reply.event->value;
        size_t i;
        size_t max;
        yyjson_val *line;
        yyjson_val *lines = yyjson_obj_get(root, "lines");
        *ret_next = yyjson_get_uint(yyjson_obj_get(root, "next"));
        *ret_more = yyjson_get_bool(yyjson_obj_get(root, "more"));
        if (!first && yyjson_get_bool(yyjson_obj_get(root, "lost")))
            cli_note("lines are missing here: the log was full (--log-max of duplex run)");
        yyjson_arr_foreach(lines, i, max, line) {
            print_line(logs, line);
        }
        fflush(stdout);
    }
    cli_reply_done(&reply);
    return code;
}

static int print_all(struct logs *logs, const uint64_t *count) {
    uint64_t next = 0;
    bool more = false;
    int code = print_page(logs, question(logs, count ? "last" : NULL, count ? *count : 0, false),
                          true, &next, &more);
    while (code == CLI_OK && (more || logs->follow) && !ferror(stdout))
        code = print_page(logs, question(logs, "from", next, logs->follow), false, &next, &more);
    if (code == CLI_ENDED && logs->follow && cli_control_is_over(logs->control)) {
        cli_note("the run has ended");
        return CLI_OK;
    }
    return code;
}

static int run(const cli_words *words, void *user) {
    const struct logs_options *options = user;
    struct logs logs = {.name = words->at[0], .follow = options->follow};
    uint64_t count = 0;
    if (words->count > 1 || words->command)
        return cli_fail(CLI_USAGE, "expected at most one NAME, got '%s'",
                        words->count > 1 ? words->at[1] : "--");
    if (options->lines && !cli_parse_size(options->lines, &count))
        return cli_fail(CLI_USAGE, "--lines: expected a number, got '%s'", options->lines);
    int code = cli_control_open(&options->run, &logs.control);
    if (code != CLI_OK)
        return code;
    code = print_all(&logs, options->lines ? &count : NULL);
    cli_control_close(logs.control);
    return code;
}

#define AT(member) offsetof(struct logs_options, member)

static const cli_option own_options[] = {
    {"follow", 'f', CLI_FLAG, NULL, "keep printing new lines until the run ends", AT(follow)},
    {"lines", 'n', CLI_TEXT, "LINES", "start with the last LINES lines (all)", AT(lines)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", own_options, 0},
    {"Which run", cli_run_table, AT(run)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Show what the server 'adder' wrote to stderr:",
    "duplex logs adder",
    "Follow new lines of all servers:",
    "duplex logs -f -n 0",
    "Show the last 20 lines of a server in the run named 'work':",
    "duplex logs --name work -n 20 adder",
    NULL,
};

const cli_verb cli_logs = {
    .name = "logs",
    .words = "[OPTION...] [NAME]",
    .summary = "Show what the servers of duplex run wrote to stderr",
    .text = "Prints the lines that the server NAME, or every server, wrote to stderr, with the time"
            " each arrived. Lines that begin with -- are the run's own: why a server died, protocol"
            " violations, and how many lines were dropped.",
    .details =
        "The run keeps the last lines of each server, even after it has exited; --log-max of duplex"
        " run"
        " sets how many bytes. For each server, at most 1,000 lines and 1 MiB per second are kept, "
        "and only the first five of identical lines in a row.\n\n"
        "With --json a line is {\"time\":…,\"peer\":…,\"run\":…,\"text\":…}, with the time in"
        " milliseconds since 1970, and \"own\":true if it is the run's own. Bytes that are not"
        " valid UTF-8 are shown as \\xff.",
    .groups = groups,
    .examples = examples,
    .codes = "34",
    .word = CLI_A_PEER,
    .size = sizeof(struct logs_options),
    .run = run,
};
