/* duplex mock: simulates a correct or faulty host or plugin. */
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
                   row->wrong ? "" : " (allowed)");
        }
    }
}

static int check_words(const cli_words *words, const struct mock_options *options) {
    if (words->count > 1)
        return cli_fail(CLI_USAGE, "expected one SCRIPT, but also got '%s'", words->at[1]);
    if (words->count && options->trace)
        return cli_fail(CLI_USAGE, "SCRIPT and --trace cannot be used together");
    const char *file = options->trace ? options->trace : words->count ? words->at[0] : "";
    if (!words->command && strcmp(file, "-") == 0)
        return cli_fail(CLI_USAGE,
                        "cannot read the %s from standard input: it carries the messages",
                        options->trace ? "trace" : "script");
    if (options->record && *file && cli_writes_over(options->record, file))
        return cli_fail(CLI_USAGE, "--record: %s is the %s to play", options->record,
                        options->trace ? "trace" : "script");
    if (words->command && !words->command[0])
        return cli_fail(CLI_USAGE, "missing command after --");
    if (!words->count && !options->trace && !options->faults.count && !options->protocol)
        return cli_fail_hint(CLI_USAGE, "duplex mock --protocol mcp",
                             "expected a SCRIPT, --trace, --fault or --protocol");
    if (!options->trace && (options->peer || options->timing))
        return cli_fail(CLI_USAGE, "--%s needs --trace", options->peer ? "peer" : "timing");
    if (!words->command && (cli_start_is_given(&options->start) || options->stay))
        return cli_fail(CLI_USAGE, "--env, --clean-env, --cwd, --keep-daemons and --stay need a"
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
            return cli_fail_hint(CLI_USAGE,
                                 row->framing == DX_FRAMING_LINE ? "add --framing line"
                                                                 : "add --framing header",
                                 "the fault %s needs the %s framing, which the protocol does not"
                                 " use",
                                 row->name, dx_framing_name(row->framing));
        if (framing && row->framing != framing)
            return cli_fail(CLI_USAGE, "the fault %s needs the %s framing, not %s", row->name,
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
        return cli_fail(CLI_NO_START, "out of memory");
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
     "a built-in protocol or an OpenRPC document (the script's, or jsonrpc)", AT(protocol)},
    {"framing", 'f', CLI_CHOICE, "header|line",
     "Content-Length headers, or one message per line (the script's or the protocol's; a plugin"
     " follows its host)",
     AT(framing)},
    {"trace", 0, CLI_FILE, "FILE", "play one side of this recorded session", AT(trace)},
    {"peer", 0, CLI_TEXT, "NAME", "the plugin of the trace to play (the first)", AT(peer)},
    {"timing", 0, CLI_CHOICE, "real|fast", "with the delays of the trace, or without (fast)",
     AT(timing)},
    {"fault", 0, CLI_TEXTS, "NAME[@METHOD],...",
     "commit this fault, in responses to METHOD or in all; may be repeated", AT(faults)},
    {"from-start", 0, CLI_FLAG, NULL,
     "commit faults from the first byte on, not only after the handshake", AT(from_start)},
    {"list-faults", 0, CLI_FLAG, NULL, "list the faults", AT(list_faults)},
    {"late", 0, CLI_TIME, "TIME",
     "with the fault late: respond after this time; 0: at once (half a second after the protocol's"
     " timeout)",
     AT(late_ms)},
    {"timeout", 't', CLI_LIMIT, "TIME",
     "how long to wait for responses to its own requests (the script's, or 30s as a host, no limit"
     " as a plugin)",
     AT(timeout_ms)},
    {"seed", 0, CLI_COUNT, "N", "the seed of random bytes (0)", AT(seed)},
    {"show", 's', CLI_FLAG, NULL, "show all traffic on stderr", AT(show)},
    {"record", 'o', CLI_FILE, "FILE", "record the traffic", AT(record)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_option host_options[] = {
    {"stay", 0, CLI_FLAG, NULL, "keep running when there is nothing left to do", AT(stay)},
    {NULL, 0, CLI_FLAG, NULL, NULL, 0},
};

static const cli_group groups[] = {
    {"Options", options, 0},
    {"As a host", host_options, 0},
    {"Command", cli_start_table, AT(start)},
    {NULL, NULL, 0},
};

static const char *const examples[] = {
    "Stand in for an MCP server, to test a client:",
    "duplex call -p mcp tools/list -- duplex mock -p mcp",
    "The same server, dying in the middle of its response:",
    ("duplex call -p mcp tools/list -- duplex mock -p mcp --fault dies-writing; echo \"exit code"
     " $?\""),
    "A server that follows a script:",
    ("echo '{\"duplex-mock\":1,\"on\":[{\"method\":\"greet\",\"do\":{\"result\":\"Hello\"}}]}'"
     " >greet.json && duplex call greet -- duplex mock greet.json"),
    "Stand in for a host, to test a plugin:",
    "duplex mock -p mcp -- build/examples/mcp-adder",
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
    .summary = "Simulate a correct or faulty server or host",
    .text = "Without COMMAND, duplex mock is a plugin (a server) and talks over its standard input"
            " and output. With COMMAND, it is the host: it starts COMMAND and talks to it.\n\n"
            "Requests get the smallest valid response, or the one that SCRIPT or the recorded"
            " session of --trace has. --fault adds a protocol violation to it.",
    .details =
        "SCRIPT is a JSON file with rules that say what to do when a message arrives; 'duplex docs "
        "mock'"
        " describes it. A request that no rule matches gets the smallest result that the protocol's"
        " document allows, or its own params if there is no protocol.\n\n"
        "With --trace, a request gets its recorded response. It is matched by method and params, or"
        " else by method in the recorded order. The other messages of that side follow as"
        " recorded.\n\n"
        "With --fault, the handshake succeeds and the fault is in every response after it. A host"
        " sends a request to carry the fault. A fault that needs a framing which the protocol does"
        " not use is rejected, unless --framing asks for it.\n\n"
        "As a host, it performs the handshake, runs the script, and shuts the plugin down when"
        " nothing is left to do. As a plugin, it exits when its input is closed or on SIGTERM,"
        " with code 0 or the script's exit code, or with 4 if it cannot write its output.",
    .shown = "protocol framing trace fault list-faults timeout show record stay env",
    .groups = groups,
    .examples = examples,
    .codes = "13456",
    .word = CLI_A_FILE,
    .has_command = true,
    .size = sizeof(struct mock_options),
    .run = run,
};
