/* duplex replay: replays one side of a recorded session and compares the other. */
#include "cli/cli.h"

#include "cli/input.h"
#include "cli/replay/replay.h"
#include "cli/say.h"
#include "cli/traces.h"

#include <stdlib.h>
#include <string.h>

/* How long something may take if a host is waiting for it. */
enum { TIMEOUT_MS = 30000 };

static const struct replay_options usual = {.max = 100};

static int read_speed(const struct replay_options *options, double *ret_speed) {
    char *end;
    bool is_real = options->timing && strcmp(options->timing, "real") == 0;
    *ret_speed = is_real ? 1 : 0;
    if (!options->speed)
        return CLI_OK;
    if (!is_real)
        return cli_fail(CLI_USAGE, "--speed needs --timing real");
    *ret_speed = strtod(options->speed, &end);
    if (end == options->speed || *end || !(*ret_speed >= 0.001 && *ret_speed <= 1000))
        return cli_fail(CLI_USAGE, "--speed: expected a number from 0.001 to 1000, got '%s'",
                        options->speed);
    return CLI_OK;
}

static int check_words(const cli_words *words, const struct replay_options *options) {
    if (!words->count)
        return cli_fail_hint(CLI_USAGE, CLI_RECORD_HINT, "missing trace file");
    if (options->as_plugin && words->command)
        return cli_fail(CLI_USAGE,
                        "--as-plugin takes no command: the program that starts it is the host");
    if (!options->as_plugin && (!words->command || !words->command[0]))
        return cli_fail_hint(CLI_USAGE, "duplex replay FILE -- COMMAND, or --as-plugin",
                             "missing command after --");
    for (size_t i = 0; i < options->ignore.count; i++)
        if (!options->ignore.at[i][0])
            return cli_fail(CLI_USAGE, "--ignore: expected a JSON Pointer or a name");
    /* A recording is begun anew before the trace is read again. */
    for (size_t i = 0; options->record && i < words->count; i++)
        if (cli_writes_over(options->record, words->at[i]))
            return cli_fail(CLI_USAGE, "--record: %s is the trace to replay", options->record);
    return cli_check_start(&options->start);
}

static void tell_redacted(const struct replay *replay) {
    uint64_t count = replay->talk->redacted[replay->side];
    if (count)
        cli_warn("%llu value%s of the %s %s redacted in the trace and will be sent as \"***\";"
                 " --set or --redacted replaces %s",
                 (unsigned long long)count, count == 1 ? "" : "s",
                 replay->side == DX_SIDE_HOST ? "host" : "plugin", count == 1 ? "was" : "were",
                 count == 1 ? "it" : "them");
}

static int play(struct replay *replay, const cli_words *words) {
    const struct replay_options *options = replay->options;
    replay->survey = (replay_survey){.files = words->at,
                                     .file_count = words->count,
                                     .peer = options->peer,
                                     .run = options->run,
                                     .edits = &replay->edits};
    int code = replay_survey_make(&replay->survey);
    if (code == CLI_OK) {
        replay->talk = replay->survey.talks;
        replay->ahead =
            (replay_tape){.files = words->at, .file_count = words->count, .talk = replay->talk};
        replay->tape = replay->ahead;
        tell_redacted(replay);
        code = replay_play(replay);
    }
    replay_survey_done(&replay->survey);
    return code;
}

static int run(const cli_words *words, void *user) {
    const struct replay_options *options = user;
    int code = check_words(words, options);
    struct replay *replay = code == CLI_OK ? calloc(1, sizeof *replay) : NULL;
    if (!replay)
        return code != CLI_OK ? code : cli_fail(CLI_NO_START, "out of memory");
    replay->options = options;
    replay->command = words->command;
    replay->side = options->as_plugin ? DX_SIDE_PLUGIN : DX_SIDE_HOST;
    replay->timeout_ms = options->timeout_ms  ? options->timeout_ms
                         : options->as_plugin ? DX_NEVER
                                              : TIMEOUT_MS;
    replay->report = (replay_report){.files = words->at,
                                     .from = options->as_plugin ? "host" : "plugin",
                                     .max = options->max ? options->max : UINT64_MAX};
    code = read_speed(options, &replay->speed);
    if (code == CLI_OK)
        code = replay_edits_read(&replay->edits, &options->set, options->redacted);
    if (code == CLI_OK) {
        replay->protocol = cli_protocol(options->protocol ? options->protocol : "jsonrpc");
        replay->facts = replay->protocol ? dx_protocol_facts_of(replay->protocol) : NULL;
        code = replay->protocol ? play(replay, words) : CLI_USAGE;
    }
    replay_edits_done(&replay->edits);
    dx_protocol_free(replay->protocol);
    free(replay);
    return code;
}

#define AT(member) offsetof(struct replay_options, member)

static const cli_option options[] = {
    {"as-plugin", 0, CLI_FLAG, NULL, "replay the plugin's side, over standard input and output",
     AT(as_plugin)},
    {"peer", 0, CLI_TEXT, "NAME", "the plugin to select, if the trace has several", AT(peer)},
    {"run", 0, CLI_COUNT, "N", "the run of that plugin to select, if it was started several times",
     AT(run)},
    {"protocol", 'p', CLI_PROTOCOL, "NAME[@REV]|FILE",
     "the protocol, used to find the ids in cancellations and the tokens in progress (jsonrpc)",
     AT(protocol)},
    {"framing", 'f', CLI_CHOICE, "header|line",
     "Content-Length headers, or one message per line (as recorded; a plugin follows its host)",
     AT(framing)},
    {"timing", 0, CLI_CHOICE, "fast|real", "send at once, or no earlier than recorded (fast)",
     AT(timing)},
    {"speed", 0, CLI_TEXT, "X", "with --timing real: this many times as fast (1)", AT(speed)},
    {"timeout", 't', CLI_LIMIT, "TIME",
     "how long to wait for the next expected message (30s plus the recorded time; no limit as a"
     " plugin)",
     AT(timeout_ms)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record this replay to FILE", AT(record)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option compare_options[] = {
    {"strict", 0, CLI_FLAG, NULL,
     "compare bytes, order and stray text; stop at the first message that does not arrive",
     AT(strict)},
    {"ignore", 'i', CLI_TEXTS, "POINTER|NAME",
     "ignore the value at this JSON Pointer (* is any step) or of members with this name; may be"
     " repeated",
     AT(ignore)},
    {"skip", 0, CLI_TEXTS, "METHOD",
     "ignore notifications of this method and the contents of responses to it; may be repeated",
     AT(skip)},
    {"max", 0, CLI_COUNT, "N",
     "report at most this many differences, and as many notes; 0: all (100)", AT(max)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option send_options[] = {
    {"set", 0, CLI_TEXTS, "POINTER=JSON",
     "send this value at this JSON Pointer of recorded messages; may be repeated", AT(set)},
    {"redacted", 0, CLI_TEXT, "TEXT", "send this instead of redacted values (\"***\")",
     AT(redacted)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", options, 0},
    {"Comparing", compare_options, 0},
    {"Sending", send_options, 0},
    {"Command", cli_start_table, AT(start)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Record a session to work with:",
    CLI_RECORD_EXAMPLE,
    "Check that the server still responds the same way:",
    "duplex replay talk.jsonl -- build/examples/mcp-adder",
    "Ignore its version and every member named time:",
    "duplex replay talk.jsonl -i /result/serverInfo/version -i time -- build/examples/mcp-adder",
    "Replay at the recorded speed, and record it again:",
    "duplex replay talk.jsonl --timing real --record new.jsonl -- build/examples/mcp-adder",
    NULL,
};

const cli_verb cli_replay = {
    .name = "replay",
    .words = "[OPTION...] FILE... -- COMMAND [ARG...]\n"
             "[OPTION...] FILE... --as-plugin",
    .summary = "Replay a recorded session and compare the responses",
    .text = "Starts COMMAND, sends it everything that the host sent in the recorded session, and"
            " reports what is missing, unexpected or different in its responses. The exit code is 7"
            " if anything differs. With --as-plugin, it replays the plugin's side to the host that"
            " starts it.",
    .details =
        "Give the parts of a rotated trace oldest first.\n\n"
        "Each message is sent when everything that was recorded before it has arrived: responses"
        " are matched by id, requests and notifications by method and params, or else by method"
        " alone. Responses to the other side's requests carry the ids from this session, not the"
        " recorded ones.\n\n"
        "Values are compared, not bytes: 1.0 equals 1, and the order of members does not matter."
        " Messages in a different order are only a note. 'duplex docs replay' has the details.\n\n"
        "With --json, each difference is an object with event (\"difference\" or \"note\"), kind,"
        " file, line, time, from and message, and with changes (pointer, was, is), was or is; the"
        " last line has the event \"summary\". As a plugin, all of this goes to standard error.",
    .shown =
        "as-plugin protocol timing timeout show record strict ignore skip max set redacted env",
    .groups = groups,
    .examples = examples,
    .codes = "34567",
    .word = CLI_A_FILE,
    .has_command = true,
    .size = sizeof(struct replay_options),
    .usual = &usual,
    .run = run,
};
