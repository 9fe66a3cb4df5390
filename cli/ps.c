/* duplex ps: the peers of a run. */
#include "cli/cli.h"

#include "cli/run/control.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 9, COMMAND = COLUMNS - 1, STATE = 1 };

struct row {
    char cells[COMMAND][80]; /* all but the command, which is as long as it is */
};

static cli_colour colour_of(const char *state) {
    static const struct {
        const char *state;
        cli_colour colour;
    } colours[] = {{"ready", CLI_GREEN}, {"failed", CLI_RED}, {"stopped", CLI_DIM}};
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        if (strcmp(colours[i].state, state) == 0)
            return colours[i].colour;
    return CLI_YELLOW;
}

/* 950ms, 12s, 3m04s, 2h05m, 3d04h. */
static void put_time(char *room, size_t len, uint64_t ms) {
    uint64_t s = ms / 1000;
    if (s < 1)
        snprintf(room, len, "%llums", (unsigned long long)ms);
    else if (s < 60)
        snprintf(room, len, "%llus", (unsigned long long)s);
    else if (s < 3600)
        snprintf(room, len, "%llum%02llus", (unsigned long long)s / 60, (unsigned long long)s % 60);
    else if (s < 86400)
        snprintf(room, len, "%lluh%02llum", (unsigned long long)s / 3600,
                 (unsigned long long)s / 60 % 60);
    else
        snprintf(room, len, "%llud%02lluh", (unsigned long long)s / 86400,
                 (unsigned long long)s / 3600 % 24);
}

/* 812K, 4.1M, 70M, 1.2G. */
static void put_size(char *room, size_t len, uint64_t bytes) {
    static const char units[] = "KMGT";
    double size = (double)bytes / 1024;
    size_t unit = 0;
    for (; size >= 1000 && unit < sizeof units - 2; unit++)
        size /= 1024;
    snprintf(room, len, "%.*f%c", size < 9.95 && unit ? 1 : 0, size, units[unit]);
}

static void put_text(char *room, yyjson_val *peer, const char *member) {
    const char *text = yyjson_get_str(yyjson_obj_get(peer, member));
    snprintf(room, sizeof((struct row *)0)->cells[0], "%s", text ? text : "-");
}

static void put_number(char *room, yyjson_val *peer, const char *member) {
    yyjson_val *value = yyjson_obj_get(peer, member);
    snprintf(room, sizeof((struct row *)0)->cells[0], value ? "%llu" : "-",
             (unsigned long long)yyjson_get_uint(value));
}

static void fill(struct row *row, yyjson_val *peer) {
    yyjson_val *uptime = yyjson_obj_get(peer, "uptimeMs");
    yyjson_val *memory = yyjson_obj_get(peer, "memory");
    put_text(row->cells[0], peer, "name");
    put_text(row->cells[STATE], peer, "state");
    put_number(row->cells[2], peer, "pid");
    put_number(row->cells[3], peer, "runs");
    snprintf(row->cells[4], sizeof row->cells[4], "-");
    if (uptime)
        put_time(row->cells[4], sizeof row->cells[4], yyjson_get_uint(uptime));
    snprintf(row->cells[5], sizeof row->cells[5], "-");
    if (memory)
        put_size(row->cells[5], sizeof row->cells[5], yyjson_get_uint(memory));
    put_number(row->cells[6], peer, "calls");
    put_text(row->cells[7], peer, "protocol");
}

static void print_row(const struct row *row, const size_t *widths, bool painted) {
    for (size_t i = 0; i < COMMAND; i++) {
        const char *cell = row->cells[i];
        bool paint = painted && i == STATE;
        fputs(paint ? cli_paint(stdout, colour_of(cell)) : "", stdout);
        cli_put_safe(stdout, dx_str(cell));
        printf("%s%*s", paint ? cli_paint(stdout, CLI_PLAIN) : "",
               (int)(widths[i] + 2 - strlen(cell)), "");
    }
}

static void print_command(yyjson_val *peer) {
    size_t i;
    size_t max;
    yyjson_val *word;
    yyjson_val *command = yyjson_obj_get(peer, "command");
    yyjson_arr_foreach(command, i, max, word) {
        fputs(i ? " " : "", stdout);
        cli_put_safe(stdout, dx_json_string(word));
    }
    putchar('\n');
}

/* A second line: why it is not well, or why it last failed. */
static void print_reason(yyjson_val *peer) {
    yyjson_val *why = yyjson_obj_get(peer, "why");
    yyjson_val *failure = yyjson_obj_get(peer, "lastFailure");
    /* The failure says more: the line of stderr that tells why. */
    if (yyjson_is_str(why) && yyjson_is_str(failure) &&
        strncmp(yyjson_get_str(failure), yyjson_get_str(why), yyjson_get_len(why)) == 0)
        why = failure;
    if (!why && !failure)
        return;
    fputs(cli_paint(stdout, why ? CLI_RED : CLI_DIM), stdout);
    fputs(why ? "  reason: " : "  last failure: ", stdout);
    cli_put_safe(stdout, dx_json_string(why ? why : failure));
    if (!why) {
        char ago[32];
        put_time(ago, sizeof ago, yyjson_get_uint(yyjson_obj_get(peer, "lastFailureMs")));
        printf(" (%s ago)", ago);
    }
    puts(cli_paint(stdout, CLI_PLAIN));
}

static int print_table(yyjson_val *peers) {
    static const struct row head = {
        {"NAME", "STATE", "PID", "STARTS", "UPTIME", "MEMORY", "CALLS", "PROTOCOL"}};
    size_t widths[COMMAND] = {0};
    size_t count = yyjson_arr_size(peers);
    struct row *rows = calloc(count + 1, sizeof *rows);
    if (!rows)
        return cli_fail(CLI_NO_START, "out of memory");
    rows[0] = head;
    for (size_t i = 0; i < count; i++)
        fill(&rows[i + 1], yyjson_arr_get(peers, i));
    for (size_t i = 0; i <= count; i++)
        for (size_t k = 0; k < COMMAND; k++)
            if (strlen(rows[i].cells[k]) > widths[k])
                widths[k] = strlen(rows[i].cells[k]);
    print_row(&rows[0], widths, false);
    puts("COMMAND");
    for (size_t i = 0; i < count; i++) {
        print_row(&rows[i + 1], widths, true);
        print_command(yyjson_arr_get(peers, i));
        print_reason(yyjson_arr_get(peers, i));
    }
    free(rows);
    return CLI_OK;
}

static int run(const cli_words *words, void *user) {
    cli_control *control;
    cli_reply reply = {.done = false};
    if (words->count || words->command)
        return cli_fail(CLI_USAGE, "unexpected argument '%s'", words->count ? words->at[0] : "--");
    int code = cli_control_open(user, &control);
    if (code != CLI_OK)
        return code;
    code = cli_control_call(control, "ps", NULL, &reply);
    if (code == CLI_OK && cli_voice.json)
        cli_put_json(stdout, reply.event->body);
    else if (code == CLI_OK)
        code = print_table(yyjson_obj_get(reply.event->value, "peers"));
    cli_reply_done(&reply);
    cli_control_close(control);
    return code;
}

static const cli_group groups[] = {{"Which run", cli_run_table, 0}, {NULL, NULL, 0}};

static const char *const examples[] = {
    "List the servers of the run:",
    "duplex ps",
    "List the servers of the run named 'work':",
    "duplex ps --name work",
    "Print the same as JSON, with the reasons for failures:",
    "duplex ps --json",
    NULL,
};

const cli_verb cli_ps = {
    .name = "ps",
    .words = "[OPTION...]",
    .summary = "List the servers of duplex run: state, uptime, memory, last failure",
    .text = "Shows each server's state (starting, ready, degraded, backoff, failed, stopping,"
            " stopped), process id, number of starts, uptime, memory and number of calls made by"
            " other programs. A second line gives the reason if a server is not running normally, "
            "or why and"
            " when it last failed.",
    .details =
        "Memory is the resident memory of the server's process group.\n\n"
        "With --json the output is one object, {\"run\":…,\"pid\":…,\"config\":…,\"peers\":[…]}."
        " Each server has its command as an array, \"uptimeMs\", \"memory\" in bytes, in \"why\""
        " the reason for its state, in \"lastFailure\" why it last failed, and in \"lastFailureMs\""
        " how many milliseconds ago that was.",
    .groups = groups,
    .examples = examples,
    .codes = "34",
    .word = CLI_ANY,
    .size = sizeof(cli_run_options),
    .run = run,
};
