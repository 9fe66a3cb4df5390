/* duplex mock: a host or a plugin that does what it is told, right or wrong. */
#include "cli/cli.h"

#include "cli/input.h"
#include "cli/mock/mock.h"
#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

static void list_faults(void) {
    for (mock_fault fault = 0; fault < MOCK_FAULT_COUNT; fault++) {
        const mock_fault_row *row = mock_fault_row_of(fault);
        const char *framing = row->framing ? dx_framing_name(row->framing) : "any";
        if (cli_voice.json) {
            dx_buf line;
            dx_buf_init(&line, 1 << 16, NULL);
            (void)dx_json_write_string(&line, dx_str(row->text));
            printf(
                "{\"name\":\"%s\",\"row\":\"%s\",\"wrong\":%s,\"framing\":\"%s\",\"text\":%.*s}\n",
                row->name, row->row, row->wrong ? "true" : "false", framing, (int)line.len,
                line.data ? line.data : "");
            dx_buf_done(&line);
        } else {
            printf("%s%-18s%s %-6s %s%s\n", cli_paint(stdout, CLI_BOLD), row->name,
                   cli_paint(stdout, CLI_PLAIN), framing, row->text,
                   row->wrong ? "" : " (which is allowed)");
        }
    }
}

static int check_words(const cli_words *words, const struct mock_options *options) {
    if (words->count > 1)
        return cli_fail(CLI_USAGE, "one SCRIPT is enough, found '%s'", words->at[1]);
    if (words->count && options->trace)
        return cli_fail(CLI_USAGE, "SCRIPT and --trace exclude each other");
    const char *file = options->trace ? options->trace : words->count ? words->at[0] : "";
    if (!words->command && strcmp(file, "-") == 0)
        return cli_fail(CLI_USAGE, "the standard input is the wire: it can't be %s, too",
                        options->trace ? "the trace" : "the script");
    if (options->record && *file && cli_writes_over(options->record, file))
        return cli_fail(CLI_USAGE, "--record: %s is the %s that is played", options->record,
                        options->trace ? "trace" : "script");
    if (words->command && !words->command[0])
        return cli_fail(CLI_USAGE, "the command is missing behind --");
    if (!words->count && !options->trace && !options->faults.count && !options->protocol)
        return cli_fail(CLI_USAGE,
                        "a SCRIPT, --trace, --fault or --protocol is missing; 'duplex mock"
                        " --help' says more");
    if (!options->trace && (options->peer || options->timing))
        return cli_fail(CLI_USAGE, "--%s goes with --trace", options->peer ? "peer" : "timing");
    if (!words->command && (cli_start_is_given(&options->start) || options->stay))
        return cli_fail(CLI_USAGE, "--env, --clean-env, --cwd, --keep-daemons and --stay are for a"
                                   " command after --");
    return cli_check_start(&options->start);
}

static int read_sources(struct mock *mock, const cli_words *words) {
    const struct mock_options *options = mock->options;
    int code = CLI_OK;
    if (words->count)
        code = mock_script_read(words->at[0], &mock->script);
    if (code == CLI_OK && options->trace)
        code = mock_trace_read(options->trace, options->peer, mock->side, &mock->trace);
    if (code != CLI_OK)
        return code;
    if (mock->trace)
        mock->trace->real = options->timing && strcmp(options->timing, "real") == 0;
    const char *name = options->protocol ? options->protocol
                       : mock->script    ? mock->script->protocol
                                         : NULL;
    mock->has_protocol = name;
    mock->protocol = cli_protocol(name ? name : "jsonrpc");
    return mock->protocol ? CLI_OK : CLI_USAGE;
}

/* The framing that a fault needs must be the one that is spoken. */
static int check_framing(struct mock *mock) {
    const char *asked = mock->options->framing ? mock->options->framing
                        : mock->script         ? mock->script->framing
                                               : NULL;
    dx_framing framing = asked                ? dx_framing_named(asked)
                         : mock->has_protocol ? dx_protocol_facts_of(mock->protocol)->framing
                                              : 0;
    for (size_t i = 0; i < mock->use_count; i++) {
        const mock_fault_row *row = mock_fault_row_of(mock->uses[i].fault);
        if (!row->framing)
            continue;
        if (framing && row->framing != framing && mock->has_protocol && !asked)
            return cli_fail(CLI_USAGE,
                            "%s needs the %s framing, which the protocol does not have:"
                            " pass --framing %s",
                            row->name, dx_framing_name(row->framing),
                            dx_framing_name(row->framing));
        if (framing && row->framing != framing)
            return cli_fail(CLI_USAGE, "%s needs the %s framing, not %s", row->name,
                            dx_framing_name(row->framing), dx_framing_name(framing));
        framing = mock->needed_framing = row->framing;
    }
    return CLI_OK;
}

static void choose_otherwise(struct mock *mock) {
    mock->otherwise = mock->script ? mock->script->otherwise : MOCK_UNSAID;
    bool lists = mock->has_protocol && dx_protocol_method(mock->protocol, 0);
    if (mock->otherwise == MOCK_UNSAID || (mock->otherwise == MOCK_EXAMPLE && !lists))
        mock->otherwise = lists ? MOCK_EXAMPLE : mock->trace ? MOCK_REFUSE : MOCK_ECHO;
}

static int run(const cli_words *words, void *user) {
    const struct mock_options *options = user;
    if (options->list_faults) {
        list_faults();
        return CLI_OK;
    }
    int code = check_words(words, options);
    if (code != CLI_OK)
        return code;
    struct mock *mock = calloc(1, sizeof *mock);
    if (!mock)
        return cli_fail(CLI_NO_START, "no memory");
    mock->options = options;
    mock->command = words->command;
    mock->side = words->command ? DX_SIDE_HOST : DX_SIDE_PLUGIN;
    mock->random = options->seed * 0x9e3779b97f4a7c15ULL + 1;
    mock->forms = (unsigned)options->seed;
    code = read_sources(mock, words);
    if (code == CLI_OK)
        code = mock_faults_take(mock);
    if (code == CLI_OK)
        code = check_framing(mock);
    if (code == CLI_OK) {
        choose_otherwise(mock);
        code = mock_run(mock);
    }
    mock_trace_free(mock->trace);
    mock_script_free(mock->script);
    dx_protocol_free(mock->protocol);
    for (size_t i = 0; i < mock->use_count; i++)
        free(mock->uses[i].method);
    free(mock->uses);
    free(mock);
    return code;
}

#define AT(member) offsetof(struct mock_options, member)

static const cli_option options[] = {
    {"protocol", 'p', CLI_PROTOCOL, "NAME|FILE",
     "what is spoken: a built-in protocol or an OpenRPC document (the script's, else jsonrpc)",
     AT(protocol)},
    {"framing", 'f', CLI_CHOICE, "header|line",
     "Content-Length headers, or one JSON text a line (the script's or the protocol's, or the other"
     " one if that comes)",
     AT(framing)},
    {"trace", 0, CLI_FILE, "FILE", "answer as recorded there", AT(trace)},
    {"peer", 0, CLI_TEXT, "NAME", "which plugin of the trace (the first)", AT(peer)},
    {"timing", 0, CLI_CHOICE, "real|fast", "with the times of the trace, or at once (fast)",
     AT(timing)},
    {"fault", 0, CLI_TEXTS, "NAME[@METHOD],...",
     "do this wrong, in answers to that method or in all; may be repeated", AT(faults)},
    {"from-start", 0, CLI_FLAG, NULL, "from the first byte on, not only after the handshake",
     AT(from_start)},
    {"list-faults", 0, CLI_FLAG, NULL, "list them", AT(list_faults)},
    {"late", 0, CLI_TIME, "TIME",
     "for the fault late: answer after so long (half a second after the protocol's time)",
     AT(late_ms)},
    {"timeout", 't', CLI_TIME, "TIME",
     "for answers to our requests (the script's; else as a host 30s, as a plugin never)",
     AT(timeout_ms)},
    {"seed", 0, CLI_COUNT, "N", "another one gives other garbage (0)", AT(seed)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on the standard error", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic", AT(record)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option host_options[] = {
    {"stay", 0, CLI_FLAG, NULL, "don't leave when there is nothing more to do", AT(stay)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", options, 0},
    {"As a host", host_options, 0},
    {"The command", cli_start_table, AT(start)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "A server that does the handshake and answers everything, for tests of a client:",
    "./client -- duplex mock --protocol mcp",
    "How does a client take it if a server dies in the middle of an answer?",
    "./client -- duplex mock --protocol lsp --fault dies-writing",
    "A host that says what the script has, for tests of a plugin:",
    "duplex mock script.json -- ./plugin",
    "Answer as it was recorded:",
    "duplex call -p mcp tools/list -- duplex mock --trace talk.jsonl",
    NULL,
};

const cli_verb cli_mock = {
    .name = "mock",
    .words = "[OPTION...] SCRIPT\n"
             "[OPTION...] SCRIPT -- COMMAND [ARG...]\n"
             "[OPTION...] --trace FILE [-- COMMAND [ARG...]]\n"
             "[OPTION...] --fault NAME[,NAME...] [--protocol NAME] [-- COMMAND [ARG...]]\n"
             "[OPTION...] --protocol NAME [-- COMMAND [ARG...]]\n"
             "--list-faults",
    .summary = "be a host or plugin that does what a script says, right or wrong",
    .text =
        "Without a command, it is a plugin: its standard input and output are the wire. With one, "
        "it"
        " starts COMMAND and is its host: it does the protocol's handshake, what the script has,"
        " and says goodbye as the protocol wants it.\n\n"
        "SCRIPT is JSON: rules that say what is done when a message comes. What no rule is for is"
        " answered with the smallest result that the protocol's document lets pass, or without a"
        " protocol with the params. docs/mock.md tells all of it.\n\n"
        "With --trace, requests are answered as they were in a recording: by method and params, or"
        " else by method in their order, with what that side said besides.\n\n"
        "With --fault, it behaves well but for that: after the handshake, in each answer. As a"
        " host it sends something for a fault to be in. A fault that needs another framing than"
        " that of the protocol is refused, unless --framing asks for it.\n\n"
        "As a plugin it ends with 0 at the end of its input or by SIGTERM, or as the script says,"
        " and with 4 if its output can't be written. As a host it ends when there is nothing left"
        " to do.",
    .groups = groups,
    .examples = examples,
    .codes = "13456",
    .word = CLI_A_FILE,
    .has_command = true,
    .size = sizeof(struct mock_options),
    .run = run,
};
