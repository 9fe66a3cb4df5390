/* duplex replay: has a recorded conversation again, with one side of it, and compares. */
#include "cli/cli.h"

#include "cli/input.h"
#include "cli/replay/replay.h"
#include "cli/say.h"

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
        return cli_fail(CLI_USAGE, "--speed: expected a number from 0.001 to 1000, found '%s'",
                        options->speed);
    return CLI_OK;
}

static int check_words(const cli_words *words, const struct replay_options *options) {
    if (!words->count)
        return cli_fail(CLI_USAGE, "a trace is missing; 'duplex replay --help' says more");
    if (options->as_plugin && words->command)
        return cli_fail(CLI_USAGE, "--as-plugin takes no command: whoever starts it is the host");
    if (!options->as_plugin && (!words->command || !words->command[0]))
        return cli_fail(CLI_USAGE, "the command is missing: duplex replay FILE -- COMMAND; or"
                                   " --as-plugin");
    for (size_t i = 0; i < options->ignore.count; i++)
        if (!options->ignore.at[i][0])
            return cli_fail(CLI_USAGE, "--ignore: expected a JSON Pointer or a name");
    /* A recording is begun anew before the trace is read again. */
    for (size_t i = 0; options->record && i < words->count; i++)
        if (cli_writes_over(options->record, words->at[i]))
            return cli_fail(CLI_USAGE, "--record: %s is what is replayed", options->record);
    return cli_check_start(&options->start);
}

static void tell_redacted(const struct replay *replay) {
    uint64_t count = replay->talk->redacted[replay->side];
    if (count)
        cli_warn("%llu value%s of the %s's side %s redacted, and sent as \"***\"; --set and"
                 " --redacted put others there",
                 (unsigned long long)count, count == 1 ? "" : "s",
                 replay->side == DX_SIDE_HOST ? "host" : "plugin", count == 1 ? "was" : "were");
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
        return code != CLI_OK ? code : cli_fail(CLI_NO_START, "no memory");
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
    {"as-plugin", 0, CLI_FLAG, NULL,
     "play the plugin's side: the standard input and output are the wire", AT(as_plugin)},
    {"peer", 0, CLI_TEXT, "NAME", "the conversation with this plugin, if several are recorded",
     AT(peer)},
    {"run", 0, CLI_COUNT, "N", "its incarnation, if there were several", AT(run)},
    {"protocol", 'p', CLI_PROTOCOL, "NAME[@REV]|FILE",
     "what was spoken: where ids and tokens stand in cancellations and progress (jsonrpc)",
     AT(protocol)},
    {"framing", 'f', CLI_CHOICE, "header|line",
     "Content-Length headers, or one JSON text a line (the recorded one, or the other if that"
     " comes)",
     AT(framing)},
    {"timing", 0, CLI_CHOICE, "fast|real",
     "as soon as what came before has come again, or not earlier than recorded (fast)", AT(timing)},
    {"speed", 0, CLI_TEXT, "X", "with --timing real: so many times as fast (1)", AT(speed)},
    {"timeout", 't', CLI_TIME, "TIME",
     "for what has to come next; then it is missing (30s longer than it took then; as a plugin"
     " never)",
     AT(timeout_ms)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on the standard error", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record what is said now: the trace of the next replay",
     AT(record)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option compare_options[] = {
    {"strict", 0, CLI_FLAG, NULL,
     "compare bytes and order, stray text too; end at the first that does not come", AT(strict)},
    {"ignore", 'i', CLI_TEXTS, "POINTER|NAME",
     "what lies there in a message, or in a member of that name, may differ; * is any one step; may"
     " be repeated",
     AT(ignore)},
    {"skip", 0, CLI_TEXTS, "METHOD",
     "notifications of this method may come or not, answers to it may be any; may be repeated",
     AT(skip)},
    {"max", 0, CLI_COUNT, "N", "tell so many differences and as many notes; 0: all (100)", AT(max)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option send_options[] = {
    {"set", 0, CLI_TEXTS, "POINTER=JSON",
     "send this where a recorded message has something at that place; may be repeated", AT(set)},
    {"redacted", 0, CLI_TEXT, "TEXT", "send this for what was redacted (\"***\")", AT(redacted)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", options, 0},
    {"Comparing", compare_options, 0},
    {"Sending", send_options, 0},
    {"The command", cli_start_table, AT(start)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Does the new version answer as the old one did?",
    "duplex replay talk.jsonl -- ./server",
    "The same, but times and versions may differ:",
    "duplex replay talk.jsonl -i time -i /result/serverInfo/version -- ./server",
    "What a language server logs is another matter:",
    "duplex replay talk.jsonl -p lsp --skip window/logMessage -- ./server",
    "The recording in place of the plugin, for tests of a host:",
    "duplex call -p mcp tools/list -- duplex replay talk.jsonl --as-plugin",
    "As slowly as it was, and recorded anew:",
    "duplex replay talk.jsonl --timing real --record new.jsonl -- ./server",
    NULL,
};

const cli_verb cli_replay = {
    .name = "replay",
    .words = "[OPTION...] FILE... -- COMMAND [ARG...]\n"
             "[OPTION...] FILE... --as-plugin",
    .summary = "have a recorded conversation again, and compare",
    .text =
        "Reads a trace (the parts of one that was rotated in their order), starts COMMAND, says"
        " what the host said, and compares what comes with what came then. With --as-plugin it is"
        " the other way round: whoever starts it is the host.\n\n"
        "What we say keeps its place: each message waits until all that was recorded before it has"
        " come, answers by their ids, all else by method and params, or else by method alone."
        " Answers to requests of the other side get the ids that these have now.\n\n"
        "Told is what is missing, unexpected, or different, member by member; another order is a"
        " note. Values are compared: 1.0 is 1, and the order of members is free. docs/replay.md"
        " says more.\n\n"
        "With --json each is an object with event (\"difference\" or \"note\"), kind, file, line,"
        " time, from and message, and with changes (pointer, was, is), was or is; the last line"
        " has the event \"summary\". The exit code is 7 if anything differs. As a plugin, all of"
        " this goes to the standard error.",
    .groups = groups,
    .examples = examples,
    .codes = "34567",
    .word = CLI_A_FILE,
    .has_command = true,
    .size = sizeof(struct replay_options),
    .usual = &usual,
    .run = run,
};
